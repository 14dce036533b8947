"""Which values make a formula true, and when: the definitions on sets of times.

A `Solver` knows formulas; where facts come from is its user's business (`answers`), and so is who answers
for what stands below a negation (`opposite`). A solver that only *may* be right (`sure` is false) leaves
variables open whose values are not known, and takes what hangs on them for possible.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from presage.errors import PresageError
from presage.evidence.proof import Value
from presage.model import values
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Over,
    Pinned,
    Reset,
    Top,
    Windowed,
    walk,
)
from presage.model.terms import Constant, Now, Number, Term, Variable, subterms, term_variables
from presage.model.time import Pin
from presage.model.windows import TimeWindow
from presage.time.pieces import ALWAYS, NEVER, Line, Times, hull, meet, union, without

Binding = dict[str, Value]
Solution = tuple[Binding, Times]
Pattern = tuple[Value | None, ...]
"""Arguments; `None` where any value is asked for, or where it is open."""


class NotExplained(PresageError):
    """Something the prover does not know."""


class Solver(ABC):
    line: Line
    sure: bool
    statics: dict[str, set[tuple[Value, ...]]]

    @abstractmethod
    def answers(self, predicate: str, pattern: Pattern, during: Times) -> Iterator[tuple[Pattern, Times]]:
        """What is known of a predicate, as far as it matches the pattern and matters during those times."""

    @property
    @abstractmethod
    def opposite(self) -> Solver: ...

    def solve(self, formula: Formula, binding: Binding, during: Times) -> list[Solution]:
        """All extensions of the binding, each with the times among `during` at which the formula then holds."""
        if not during:
            return []
        match formula:
            case Top():
                return [(binding, during)]
            case Comparison():
                return self._compare(formula, binding, during)
            case Atom():
                return self._atom(formula, binding, during)
            case And(parts=parts):
                return self.all_of(parts, binding, during)
            case Or(parts=parts):
                return [found for part in parts for found in self.solve(part, binding, during)]
            case Implies(left=left, right=right):
                return self.solve(Or((Not(left), right)), binding, during)
            case Not(formula=inner):
                if names(inner) - binding.keys():
                    return [] if self.sure else [(binding, during)]
                held = union(times for _, times in self.opposite.solve(inner, binding, during))
                absent = without(during, held)
                return [(binding, absent)] if absent else []
            case Pinned(formula=inner, pin=pin):
                return self._pinned(inner, pin, binding, during)
            case Metric():
                return self._metric(formula, binding, during)
            case BinaryMetric():
                return self._lasting(formula, binding, during)
            case Windowed(window=TimeWindow() as window, formula=Modal(operator=operator, formula=inner)):
                return self._seen(window, operator == "all", inner, binding, during)
            case _:
                raise NotExplained("explanations do not know this window")

    def times(self, formula: Formula, binding: Binding, during: Times) -> Times:
        """When a formula holds whose variables all have values."""
        return union(times for _, times in self.solve(formula, binding, during))

    def all_of(self, parts: Sequence[Formula], binding: Binding, during: Times) -> list[Solution]:
        """A conjunction: what can bind variables first, what needs them bound when they are."""
        if not parts:
            return [(binding, during)]
        chosen = min(range(len(parts)), key=lambda place: _urgency(parts[place], binding))
        rest = [part for place, part in enumerate(parts) if place != chosen]
        return [
            found
            for more, times in self.solve(parts[chosen], binding, during)
            for found in self.all_of(rest, more, times)
        ]

    def _atom(self, atom: Atom, binding: Binding, during: Times) -> list[Solution]:
        pattern = tuple(known(term, binding) for term in atom.arguments)
        if atom.predicate in self.statics:
            rows: Iterator[tuple[Pattern, Times]] = ((row, ALWAYS) for row in self.statics[atom.predicate])
        else:
            rows = self.answers(atom.predicate, pattern, during)
        found: list[Solution] = []
        for arguments, when in rows:
            times = meet(when, during)
            more = matched(atom, arguments, binding) if times else None
            if more is not None:
                found.append((more, times))
        return found

    def _compare(self, comparison: Comparison, binding: Binding, during: Times) -> list[Solution]:
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if comparison.operator == "=" and isinstance(side, Variable) and side.name not in binding:
                if term_names(other) <= binding.keys():
                    value = value_of(other, binding)
                    return [] if value is None else [({**binding, side.name: value}, during)]
        if names(comparison) - binding.keys():
            return [] if self.sure else [(binding, during)]
        return [(binding, during)] if compare(comparison, binding) else []

    def _pinned(self, inner: Formula, pin: Pin, binding: Binding, during: Times) -> list[Solution]:
        offset = as_number(pin.offset)
        if pin.base is None:
            there = self.solve(inner, binding, self.line.point(offset))
            return [(more, during) for more, times in there if times]
        shifted = self.solve(inner, binding, self.line.shifted(during, offset))
        return [(more, self.line.shifted(times, -offset)) for more, times in shifted]

    def _metric(self, formula: Metric, binding: Binding, during: Times) -> list[Solution]:
        reach = self.line.interval(formula.interval)
        back = formula.operator in ("once", "historically")
        if not reach:
            return [(binding, during)] if formula.operator in ("historically", "always") else []
        looked_at = hull(self.line.earlier(during, reach) if back else self.line.later(during, reach))
        found: list[Solution] = []
        for more, times in self._grouped(self.solve(formula.formula, binding, looked_at)):
            if formula.operator in ("historically", "always"):
                missing = without(looked_at, times)
                spoilt = self.line.later(missing, reach) if back else self.line.earlier(missing, reach)
                held = without(during, spoilt)
            else:
                held = meet(during, self.line.later(times, reach) if back else self.line.earlier(times, reach))
            if held:
                found.append((more, held))
        return found

    def _seen(
        self, window: TimeWindow, always: bool, inner: Formula, binding: Binding, during: Times
    ) -> list[Solution]:
        """`some` or `all` in a window, which begins with the stream at the earliest."""
        reach = window_reach(self.line, window)
        looked_at = meet(hull(self.line.earlier(during, reach)), from_start(self.line))
        found: list[Solution] = []
        for more, times in self._grouped(self.solve(inner, binding, looked_at)):
            if always:
                held = without(during, self.line.later(without(looked_at, times), reach))
            else:
                held = meet(during, self.line.later(times, reach))
            if held:
                found.append((more, held))
        return found

    def _lasting(self, formula: BinaryMetric, binding: Binding, during: Times) -> list[Solution]:
        reach = self.line.interval(formula.interval)
        if not reach:
            return []
        move = self.line.later if formula.operator == "since" else self.line.earlier
        looked_at = hull((self.line.earlier if formula.operator == "since" else self.line.later)(during, reach))
        found: list[Solution] = []
        for more, right in self._grouped(self.solve(formula.right, binding, looked_at)):
            between = hull(union((looked_at, during)))
            left = [(more, NEVER), *self._grouped(self.solve(formula.left, more, between))]
            for most, left_times in left:
                held = meet(during, union(lasting(self.line, left_times, right, reach, move)))
                if held:
                    found.append((most, held))
        return found

    def _grouped(self, solutions: list[Solution]) -> list[Solution]:
        """One solution for each binding, with all times at which the formula holds (or may hold) for its values."""
        by_values: dict[frozenset[tuple[str, Value]], list[Times]] = {}
        bindings: dict[frozenset[tuple[str, Value]], Binding] = {}
        for binding, times in solutions:
            key = frozenset(binding.items())
            by_values.setdefault(key, []).append(times)
            bindings[key] = binding
        if len({frozenset(binding) for binding in bindings.values()}) < 2:
            return [(bindings[key], union(times)) for key, times in by_values.items()]
        counts = _includes if self.sure else _agree
        return [
            (own, union(times for key, found in by_values.items() if counts(own, bindings[key]) for times in found))
            for own in bindings.values()
        ]


def lasting(
    line: Line, left: Times, right: Times, reach: Times, move: Callable[[Times, Times], Times]
) -> Iterator[Times]:
    """Where `since` or `until` hold: the right side's times moved by the distances, as long as the left side
    lasts. Where nothing lies between two times, the left side need not hold."""
    immediate = meet(reach, union((line.point(0), line.point(1)) if line.discrete else (line.point(0),)))
    yield move(right, immediate)
    for piece in left:
        inside = line.closure(piece)
        yield meet(move(meet(right, inside), reach), inside)


def _includes(first: Binding, second: Binding) -> bool:
    """Whether the second says nothing that the first does not."""
    return second.items() <= first.items()


def _agree(first: Binding, second: Binding) -> bool:
    return all(second.get(name, value) == value for name, value in first.items())


def _urgency(formula: Formula, binding: Binding) -> tuple[int, int]:
    """What is best looked at first: what is ready and bound, then what binds; what is not ready comes last."""
    open_names = names(formula) - binding.keys()
    if not open_names:
        return (0, isinstance(formula, Not))
    if isinstance(formula, Comparison):
        sides = ((formula.left, formula.right), (formula.right, formula.left))
        for side, other in sides:
            if formula.operator == "=" and isinstance(side, Variable) and term_names(other) <= binding.keys():
                return (0, 1)
        return (9, 0)
    if open_names - binds(formula):
        return (8, 0)
    return (1, len(open_names))


def names(formula: Formula) -> set[str]:
    """The variables that stand for values; the one that stands for the rule's time is not among them."""
    found: set[str] = set()
    for node in walk(formula):
        if isinstance(node, Atom):
            found.update(each.name for each in node.arguments if isinstance(each, Variable))
        elif isinstance(node, Comparison):
            found |= term_names(node.left) | term_names(node.right)
    return found


def term_names(term: Term) -> set[str]:
    return {each.name for each in term_variables(term)}


def binds(formula: Formula) -> set[str]:
    """The variables to which a formula gives values."""
    match formula:
        case Atom():
            return names(formula)
        case Pinned(formula=inner) | Metric(formula=inner) | BinaryMetric(right=inner):
            return binds(inner)
        case Windowed(formula=inner) | Modal(formula=inner):
            return binds(inner)
        case And(parts=parts):
            found = set[str]().union(*(binds(part) for part in parts))
            equations = [part for part in parts if isinstance(part, Comparison) and part.operator == "="]
            for _ in equations:
                for each in equations:
                    for side, other in ((each.left, each.right), (each.right, each.left)):
                        if isinstance(side, Variable) and term_names(other) <= found:
                            found.add(side.name)
            return found
        case Or(parts=parts):
            return set.intersection(*(binds(part) for part in parts))
        case _:
            return set()


def is_seen_at_one_time(formula: Windowed) -> bool:
    """`some` or `all` in a window of time that moves with now, over what looks at one time."""
    window, modal = formula.window, formula.formula
    if not isinstance(window, TimeWindow) or window.hop is not None or not isinstance(modal, Modal):
        return False
    beyond = (Pinned, Metric, BinaryMetric, Windowed, Modal, Reset)
    return not any(isinstance(part, beyond) for part in walk(modal.formula))


def window_reach(line: Line, window: TimeWindow) -> Times:
    """How far before now a window reaches; what lies ahead is less than nothing before."""
    ahead = math.inf if window.ahead is None else as_number(window.ahead)
    return line.piece(-ahead, math.inf if window.back is None else as_number(window.back))


def from_start(line: Line) -> Times:
    return line.piece(0, math.inf)


def known(term: Term, binding: Binding) -> Value | None:
    """The value of an argument, if it has one."""
    return term.value if isinstance(term, Constant) else binding.get(term.name) if isinstance(term, Variable) else None


def matched(atom: Atom, arguments: Pattern, binding: Binding) -> Binding | None:
    """The binding extended such that the atom has these arguments; open ones fit everything."""
    found = dict(binding)
    for term, value in zip(atom.arguments, arguments, strict=True):
        if value is None:
            continue
        if isinstance(term, Constant):
            if term.value != value:
                return None
        elif isinstance(term, Variable) and found.setdefault(term.name, value) != value:
            return None
    return found


def as_number(value: object) -> Number:
    assert isinstance(value, (int, Fraction)), "the program is normalised: every time is a number"
    return value


def value_of(term: Term, binding: Binding) -> Value | None:
    """The value of a term; none where it cannot be computed."""
    if any(isinstance(part, Now) for part in subterms(term)):
        raise NotExplained("explanations do not know times among the values")
    return values.value_of(term, binding.get)


def compare(comparison: Comparison, binding: Binding) -> bool:
    return values.is_true(comparison.operator, value_of(comparison.left, binding), value_of(comparison.right, binding))


def head_atom(head: Formula) -> Atom:
    while not isinstance(head, Atom):
        assert isinstance(head, (Pinned, Over, Metric))
        head = head.formula
    return head


def head_times(line: Line, head: Formula, body: Times) -> Times:
    """When the atom of a head holds, if the body holds at these times."""
    match head:
        case Pinned(formula=inner, pin=pin) if pin.base is None:
            return head_times(line, inner, line.point(as_number(pin.offset)) if body else NEVER)
        case Pinned(formula=inner, pin=pin):
            return head_times(line, inner, line.shifted(body, as_number(pin.offset)))
        case Over(formula=inner, interval=interval):
            return head_times(line, inner, line.interval(interval) if body else NEVER)
        case Metric(operator=name, interval=interval, formula=inner):
            reach = line.interval(interval)
            moved = line.later(body, reach) if name == "always" else line.earlier(body, reach)
            return head_times(line, inner, moved)
        case _:
            return body


def body_times(line: Line, head: Formula, wanted: Times) -> Times:
    """The other way round: where the body must hold for the head to cover any of the wanted times."""
    match head:
        case Pinned(formula=inner, pin=pin) if pin.base is None:
            return ALWAYS if meet(body_times(line, inner, wanted), line.point(as_number(pin.offset))) else NEVER
        case Pinned(formula=inner, pin=pin):
            return line.shifted(body_times(line, inner, wanted), -as_number(pin.offset))
        case Over(formula=inner, interval=interval):
            return ALWAYS if meet(body_times(line, inner, wanted), line.interval(interval)) else NEVER
        case Metric(operator=name, interval=interval, formula=inner):
            reach, there = line.interval(interval), body_times(line, inner, wanted)
            return line.earlier(there, reach) if name == "always" else line.later(there, reach)
        case _:
            return wanted
