"""[LARS] by the book: formulas over explicit streams (Definitions 3 to 9), queries by trying all substitutions
(Definition 10), answer streams by trying all interpretations (Definition 12). For small cases only.

A stream is a timeline and a set of facts at times. What a window of rows counts is a set of its own: with `reading
every` the given facts, with `reading now` all. From times outside the whole stream, which metric operators
reach, a window selects what it reaches of the stream; if that is nothing, a stream of that one time without facts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from presage.model import (
    And,
    Arithmetic,
    Atom,
    BinaryMetric,
    Comparison,
    Constant,
    Formula,
    Implies,
    Interval,
    Metric,
    Modal,
    Negative,
    Not,
    Now,
    OnlyWindow,
    Or,
    Over,
    Pin,
    Pinned,
    Program,
    Reset,
    RowsWindow,
    Rule,
    Term,
    TimeWindow,
    Top,
    Variable,
    Window,
    Windowed,
)
from presage.model.formulas import variables, walk

from .streams import Ground, Value, canonical, match_atom

Binding = dict[str, Value]
At = tuple[int, Ground]
"""A fact at a time."""
MARGIN = 30
"""So far outside the timeline that nothing changes any more in the cases tried."""

_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Stream:
    low: int
    high: int
    rows: frozenset[At]
    """What windows of rows count."""
    others: frozenset[At] = frozenset()

    def keep(self, wanted: Callable[[At], bool]) -> Stream:
        return replace(self, rows=frozenset(filter(wanted, self.rows)), others=frozenset(filter(wanted, self.others)))

    def between(self, low: int, high: int) -> Stream:
        return replace(self.keep(lambda fact: low <= fact[0] <= high), low=low, high=high)


@dataclass(frozen=True)
class Structure:
    """Definition 8: a stream and background data."""

    stream: Stream
    background: frozenset[Ground] = frozenset()

    # -- Definition 9 ----------------------------------------------------------------------------------

    def entails(self, formula: Formula, t: int, binding: Binding | None = None, stream: Stream | None = None) -> bool:
        binding, s = binding or {}, stream or self.stream
        match formula:
            case Top():
                return True
            case Comparison():
                return compare(formula, binding)
            case Atom():
                ground = ground_atom(formula, binding)
                return ground in self.background or (t, ground) in s.rows or (t, ground) in s.others
            case Not(formula=a):
                return not self.entails(a, t, binding, s)
            case And(parts=parts):
                return all(self.entails(a, t, binding, s) for a in parts)
            case Or(parts=parts):
                return any(self.entails(a, t, binding, s) for a in parts)
            case Implies(left=a, right=b):
                return not self.entails(a, t, binding, s) or self.entails(b, t, binding, s)
            case Modal(operator="some", formula=a):
                return any(self.entails(a, u, binding, s) for u in range(s.low, s.high + 1))
            case Modal(operator="all", formula=a):
                return all(self.entails(a, u, binding, s) for u in range(s.low, s.high + 1))
            case Pinned(formula=a, pin=pin):
                u = pinned(pin, binding)
                return u is not None and s.low <= u <= s.high and self.entails(a, u, binding, s)
            case Windowed(window=window, formula=a):
                return self.entails(a, t, binding, self.select(window, s, t))
            case Reset(formula=a):
                return self.entails(a, t, binding, self.stream)
            case Metric(operator=name, interval=interval, formula=a):
                times = (t - d if name in ("once", "historically") else t + d for d in self.distances(interval, t))
                truths = (self.entails(a, u, binding, s) for u in times)
                return any(truths) if name in ("once", "eventually") else all(truths)
            case BinaryMetric(operator=name, interval=interval, left=a, right=b):
                sign = -1 if name == "since" else 1
                return any(
                    self.entails(b, t + sign * d, binding, s)
                    and all(self.entails(a, t + sign * e, binding, s) for e in range(1, d))
                    for d in self.distances(interval, t)
                )
        raise TypeError(f"{formula} is not a formula")

    def distances(self, interval: Interval, t: int) -> range:
        low, high = ends(interval)
        far = max(low, abs(t) + self.stream.high + MARGIN)
        return range(low, (far if high is None else min(high, far)) + 1)

    # -- Definitions 3 to 6 ----------------------------------------------------------------------------

    def select(self, window: Window, s: Stream, t: int) -> Stream:
        if isinstance(window, OnlyWindow):
            return s.keep(lambda fact: first_match(window.patterns, fact[1]) is not None)
        if self.stream.low <= t <= self.stream.high and not s.low <= t <= s.high:
            return s
        if isinstance(window, TimeWindow):
            pivot = t if window.hop is None else t // window.hop * window.hop
            low = s.low if window.back is None else pivot - window.back
            high = s.high if window.ahead is None else pivot + window.ahead
            kept = s
        else:
            low, high, rows = partitions(window, s, t) if window.by else tuples(window, s, s.rows, t)
            kept = replace(s, rows=rows)
        low, high = max(low, s.low), min(high, s.high)
        return kept.between(low, high) if low <= high else Stream(t, t, frozenset())


def tuples(window: RowsWindow, s: Stream, rows: Iterable[At], t: int) -> tuple[int, int, frozenset[At]]:
    """Definition 4, rows counted as facts."""
    ordered = sorted(rows, key=lambda row: (row[0], canonical(row[1])))
    past, future = [row for row in ordered if row[0] <= t], [row for row in ordered if row[0] > t]
    low = high = t
    if window.rows:
        low = max([s.low] + [u for u in range(s.low, t + 1) if len([r for r in past if r[0] >= u]) >= window.rows])
    if window.ahead:
        high = min(
            [s.high] + [u for u in range(t, s.high + 1) if len([r for r in future if r[0] <= u]) >= window.ahead]
        )
    kept = set(past[-window.rows :]) if window.rows else set()
    before_end = [row for row in future if row[0] < high]
    at_end = [row for row in future if row[0] == high]
    wanted = max(0, window.ahead - len(before_end))
    if window.ahead:
        kept |= set(before_end) | set(at_end[-wanted:] if wanted else [])
    return low, high, frozenset(kept)


def partitions(window: RowsWindow, s: Stream, t: int) -> tuple[int, int, frozenset[At]]:
    """Definition 5. The partitions are those with a row the window can reach; what fits no pattern is a partition
    of which no row is taken."""
    found: dict[tuple, list[At]] = {}
    for row in s.rows:
        key = first_match(window.by, row[1])
        if key is not None:
            found.setdefault(tuple(sorted(key.items(), key=repr)), []).append(row)
    parts = [tuples(window, s, rows, t) for rows in found.values() if window.ahead or any(row[0] <= t for row in rows)]
    parts.append((t, t, frozenset()))
    return min(p[0] for p in parts), max(p[1] for p in parts), frozenset().union(*(p[2] for p in parts))


def first_match(patterns: Iterable[Atom], ground: Ground) -> Binding | None:
    return next((found for each in patterns if (found := match_atom(each, ground, {})) is not None), None)


# -- terms ---------------------------------------------------------------------------------------------


def ends(interval: Interval) -> tuple[int, int | None]:
    low = interval.low + (not interval.closed_low)
    return low, None if interval.high is None else interval.high - (not interval.closed_high)


def pinned(pin: Pin, binding: Binding) -> int | None:
    if pin.base is None:
        return pin.offset
    base = binding["now" if isinstance(pin.base, Now) else pin.base.name]
    return base + pin.offset if isinstance(base, int) else None


def ground_atom(atom: Atom, binding: Binding) -> Ground:
    return atom.predicate, tuple(term(each, binding) for each in atom.arguments)


def term(each: Term, binding: Binding) -> Value | None:
    match each:
        case Constant(value=value):
            return value
        case Variable(name=name):
            return binding[name]
        case Now():
            return binding["now"]
        case Negative(term=inner):
            value = term(inner, binding)
            return -value if isinstance(value, (int, Fraction)) else None
        case Arithmetic(operator=sign, left=left, right=right):
            first, second = term(left, binding), term(right, binding)
            if not isinstance(first, (int, Fraction)) or not isinstance(second, (int, Fraction)):
                return None
            if sign == "/":
                result = None if second == 0 else Fraction(first) / second
            else:
                result = {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](first, second)
            return int(result) if result is not None and result == int(result) else result
    raise TypeError(f"{each} is not a term")


def compare(comparison: Comparison, binding: Binding) -> bool:
    first, second = term(comparison.left, binding), term(comparison.right, binding)
    if first is None or second is None:
        return False
    if comparison.operator in ("=", "!="):
        return (first == second) == (comparison.operator == "=")
    return isinstance(first, str) == isinstance(second, str) and _ORDER[comparison.operator](first, second)


# -- Definition 10 -------------------------------------------------------------------------------------


def substitutions(formulas: Iterable[Formula], constants: Iterable[Value], times: Iterable[int]) -> Iterator[Binding]:
    formulas = list(formulas)
    pins = {node.pin.base.name for each in formulas for node in walk(each) if is_pinned_to_variable(node)}
    names = sorted({variable.name for each in formulas for variable in variables(each)})
    values = [list(times) if name in pins else list(constants) for name in names]
    for chosen in product(*values):
        yield dict(zip(names, chosen, strict=True))


def is_pinned_to_variable(node: Formula) -> bool:
    return isinstance(node, Pinned) and isinstance(node.pin.base, Variable)


def answers(structure: Structure, formula: Formula, t: int, constants: Iterable[Value]) -> list[Binding]:
    """The substitutions over the constants and the timeline with which a formula holds at a time."""
    timeline = range(structure.stream.low, structure.stream.high + 1)
    return [
        binding
        for binding in substitutions([formula], constants, timeline)
        if structure.entails(formula, t, {**binding, "now": t})
    ]


# -- Definition 12 -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instance:
    """A ground rule at the time it is looked at: what it says for each alternative, and its body."""

    rule: Rule
    heads: tuple[frozenset[At], ...]
    binding: tuple[tuple[str, Value], ...]
    t: int


def answer_streams(
    program: Program, data: Stream, background: Iterable[Ground], constants: Iterable[Value], t: int
) -> set[frozenset[At]]:
    """The derived facts of each answer stream, by trying all sets of facts that heads can say."""
    every = program.reading == "every"
    looks = range(data.low, data.high + 1) if every else [t]
    background, constants = frozenset(background), list(constants)
    instances = [each for rule in program.rules for look in looks for each in ground(rule, look, data, constants)]
    told = sorted({fact for each in instances for head in each.heads for fact in head} - data.rows, key=repr)
    worlds = [frozenset(fact for place, fact in enumerate(told) if bits >> place & 1) for bits in range(1 << len(told))]

    def structure(derived: frozenset[At]) -> Structure:
        if every:
            return Structure(replace(data, others=derived), background)
        return Structure(replace(data, rows=data.rows | derived), background)

    true_bodies: list[frozenset[int]] = []
    fulfilled: list[frozenset[int]] = []
    for world in worlds:
        here = structure(world)
        true_bodies.append(
            frozenset(
                number
                for number, each in enumerate(instances)
                if all(here.entails(part, each.t, dict(each.binding)) for part in each.rule.body)
            )
        )
        facts = data.rows | world
        fulfilled.append(
            frozenset(number for number, each in enumerate(instances) if any(head <= facts for head in each.heads))
        )

    def is_answer(bits: int) -> bool:
        reduct = true_bodies[bits]
        if not reduct <= fulfilled[bits]:
            return False
        smaller = (bits - 1) & bits
        while smaller != bits:
            if reduct & true_bodies[smaller] <= fulfilled[smaller]:
                return False
            if smaller == 0:
                break
            smaller = (smaller - 1) & bits
        return True

    return {world for bits, world in enumerate(worlds) if is_answer(bits)}


def ground(rule: Rule, look: int, data: Stream, constants: list[Value]) -> Iterator[Instance]:
    pins = [node.pin for formula in rule.formulas() for node in walk(formula) if isinstance(node, Pinned)]
    most = max((abs(pin.offset) for pin in pins), default=0)
    for binding in substitutions(rule.formulas(), constants, range(data.low - most, data.high + most + 1)):
        full = {**binding, "now": look}
        # An instance with a pin before the start of the stream does not exist.
        if any((at := pinned(pin, full)) is None or at < data.low for pin in pins):
            continue
        heads = [set(said(head, full, look, data)) for head in rule.head_atoms]
        heads = [facts for head, facts in zip(rule.head_atoms, heads, strict=True) if facts]
        if rule.head_atoms and not heads:
            continue  # all it says lies outside the stream
        if rule.head is not None and not rule.head.choice:
            heads = [set().union(*heads)]
        yield Instance(rule, tuple(frozenset(each) for each in heads), tuple(full.items()), look)


def said(head: Formula, binding: Binding, t: int, data: Stream) -> Iterator[At]:
    match head:
        case Atom():
            if data.low <= t <= data.high:
                yield t, ground_atom(head, binding)
        case Pinned(formula=inner, pin=pin):
            at = pinned(pin, binding)
            assert at is not None
            yield from said(inner, binding, at, data)
        case Over(formula=inner, interval=interval):
            low, high = ends(interval)
            for at in range(low, (data.high if high is None else high) + 1):
                yield from said(inner, binding, at, data)
        case Metric(operator=name, interval=interval, formula=inner):
            low, high = ends(interval)
            for distance in range(low, (data.high if high is None else high) + 1):
                yield from said(inner, binding, t + distance if name == "always" else t - distance, data)
