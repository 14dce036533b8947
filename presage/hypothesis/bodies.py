"""Rules as clauses that unfolding can use: literals, each at a time that is a variable plus a distance.

A body becomes alternatives of conjunctions. Operators disappear: `once` opens a time variable that
is bounded by another (`Reach`), `historically` becomes one literal for each time point or, on dense time, one
that holds throughout a stretch, negation moves inwards until it stands over atoms. What has no such form is refused by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, product

from presage.analysis.timing import offsets, plain
from presage.hypothesis.clause import (
    RULE_TIME,
    START,
    Body,
    Clause,
    Distance,
    Literal,
    NoClauses,
    Reach,
    When,
)
from presage.hypothesis.edges import Edge
from presage.hypothesis.places import Place, check_throughout, later, throughout
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
)
from presage.model.statements import Rule
from presage.model.terms import Constant, Now, Number, Term, Variable
from presage.model.time import Interval, Pin
from presage.model.windows import OnlyWindow, RowsWindow, TimeWindow

MOST_ALTERNATIVES = 256
MOST_POINTS = 1_000


def clauses(
    rule: Rule, discrete: bool, static: frozenset[str] = frozenset(), derived: frozenset[str] = frozenset()
) -> list[Clause]:
    """The clauses of a rule, given the predicates that belong to no stream and those that rules derive; raises
    `NoClauses`."""
    if rule.head is None:
        return []
    if rule.head.choice:
        raise NoClauses("a rule with alternatives in its head has several models")
    if rule.head.exists:
        raise NoClauses("a rule that invents values has no premise patterns")
    expand = _Expand(discrete, static, derived)
    bodies = expand.all(rule.body, Place(When(RULE_TIME)), True)
    instance = tuple(
        Reach(expand.pin(part.pin), START, 0, None) for formula in rule.body for part in _alternative_pins(formula)
    )
    found: list[Clause] = []
    for formula in rule.head.atoms:
        atom, when, reaches = expand.head(formula, When(RULE_TIME))
        for body in bodies:
            body += Body(reaches=(*reaches, *instance))
            if _may_begin_early(when, body):
                body += Body(reaches=(Reach(When(RULE_TIME), START, 0, None),))
            found.append(Clause(atom, when, body, rule))
    return found


def _alternative_pins(formula: Formula, among: bool = False) -> Iterator[Pinned]:
    """Pins in alternatives: where one lies before the start, the rule has no instance, whichever is chosen."""
    match formula:
        case Pinned(formula=inner, pin=pin):
            if among and pin.base is not None:
                yield formula
            yield from _alternative_pins(inner, among)
        case Or(parts=parts):
            for part in parts:
                yield from _alternative_pins(part, True)
        case Implies(left=left, right=right):
            for part in (left, right):
                yield from _alternative_pins(part, True)
        case And(parts=parts):
            for part in parts:
                yield from _alternative_pins(part, among)
        case Not(formula=inner):
            # Of what is negated, one part is enough.
            yield from _alternative_pins(inner, among or isinstance(inner, And))
        case Metric(formula=inner) | Modal(formula=inner) | Windowed(formula=inner) | Reset(formula=inner):
            yield from _alternative_pins(inner, True)
        case _:
            return


def _may_begin_early(head: When, body: Body) -> bool:
    """Whether nothing yet says that a rule is looked at after the start: its head lies elsewhere, and no fact is asked
    for at its own time or before."""
    times = [
        head,
        *(each.when for each in body.literals),
        *(side for each in body.reaches for side in (each.x, each.y)),
    ]
    if all(when.base != RULE_TIME for when in times) or (head.base == RULE_TIME and head.offset <= 0):
        return False
    return not any(
        each.positive and each.outside == "false" and each.when.base == RULE_TIME and each.when.offset <= 0
        for each in body.literals
    )


class _Expand:
    def __init__(self, discrete: bool, static: frozenset[str], derived: frozenset[str]) -> None:
        self.discrete, self.static, self.derived = discrete, static, derived
        self.numbers = count(1)

    def fresh(self) -> When:
        return When(f"C{next(self.numbers)}")

    def head(self, formula: Formula, when: When) -> tuple[Atom, When, tuple[Reach, ...]]:
        match formula:
            case Atom():
                return formula, when, ()
            case Pinned(formula=inner, pin=pin):
                return self.head(inner, self.pin(pin))
            case Over(formula=inner, interval=interval):
                held = self.fresh()
                low, high = self.distances(interval)
                atom, when, reaches = self.head(inner, held)
                return atom, when, (*reaches, Reach(held, START, low, high))
            case Metric(operator=operator, interval=interval, formula=inner):
                low, high = self.distances(interval)
                if operator == "historically":
                    low, high = _negative(high), _negative(low)
                if low == high and low is not None and not isinstance(low, Edge):
                    return self.head(inner, when.later(low))
                moved = self.fresh()
                atom, held, reaches = self.head(inner, moved)
                return atom, held, (*reaches, Reach(moved, when, low, high))
            case _:
                raise NoClauses("the head has no premise patterns")

    def distances(self, interval: Interval) -> tuple[Distance | None, Distance | None]:
        low, high = offsets(interval, self.discrete)
        last = None if isinstance(high, float) else plain(high)
        if self.discrete:
            return plain(low), last
        return (
            plain(low) if interval.closed_low else Edge(plain(low), 1),
            last if interval.closed_high or last is None else Edge(last, -1),
        )

    def pin(self, pin: Pin) -> When:
        offset = plain(pin.offset)
        if pin.base is None:
            return When(None, offset)
        if isinstance(pin.base, Now):
            return When(RULE_TIME, offset)
        return When(pin.base.name, offset)

    def all(self, formulas: tuple[Formula, ...], place: Place, positive: bool) -> list[Body]:
        """Alternatives for all of the formulas together."""
        parts = [self.one(formula, place, positive) for formula in formulas]
        size = 1
        for part in parts:
            size *= len(part)
        if size > MOST_ALTERNATIVES:
            raise NoClauses("the body has too many alternatives")
        return [sum(chosen, Body()) for chosen in product(*parts)]

    def any(self, formulas: tuple[Formula, ...], place: Place, positive: bool) -> list[Body]:
        found = [body for formula in formulas for body in self.one(formula, place, positive)]
        if len(found) > MOST_ALTERNATIVES:
            raise NoClauses("the body has too many alternatives")
        return found

    def one(self, formula: Formula, place: Place, positive: bool) -> list[Body]:
        if place.stretch is not None:
            check_throughout(formula, positive)
        match formula:
            case Atom():
                return self.atom(formula, place, positive, "false" if positive else "true")
            case Top():
                return [Body()] if positive else []
            case Comparison():
                return [Body(comparisons=((formula, positive),))]
            case Not(formula=inner):
                return self.one(inner, place, not positive)
            case And(parts=parts):
                return self.all(parts, place, True) if positive else self.any(parts, place, False)
            case Or(parts=parts):
                return self.any(parts, place, True) if positive else self.all(parts, place, False)
            case Implies(left=left, right=right):
                return self.one(Or((Not(left), right)), place, positive)
            case Pinned(formula=inner, pin=pin):
                return self.pinned(inner, replace(place, when=self.pin(pin)), positive)
            case Metric(operator=operator, interval=interval, formula=inner):
                low, high = self.distances(interval)
                if operator in ("once", "historically"):
                    low, high = _negative(high), _negative(low)
                some = (operator in ("once", "eventually")) == positive
                return self.moved(inner, place, low, high, some, operator, positive)
            case BinaryMetric(operator=operator):
                raise NoClauses(f"`{operator}` has no premise patterns")
            case Windowed(window=TimeWindow(back=back, ahead=ahead, hop=hop), formula=inner):
                if hop is not None:
                    raise NoClauses("a hopping window has no premise patterns: its reach changes with time")
                window = (
                    place.when,
                    None if back is None else -plain(back),
                    None if ahead is None else plain(ahead),
                )
                return self.one(inner, replace(place, windows=(*place.windows, window)), positive)
            case Windowed(window=RowsWindow()):
                raise NoClauses(
                    "a window of rows has no premise patterns: which times it covers depends on what arrives"
                )
            case Windowed(window=OnlyWindow(patterns=patterns), formula=inner):
                return self.one(inner, replace(place, filters=(*place.filters, patterns)), positive)
            case Modal(operator=operator, formula=inner):
                return self.modal(inner, place, (operator == "some") == positive, operator, positive)
            case Reset(formula=inner):
                return self.one(inner, replace(place, windows=(), filters=()), positive)
            case _:
                raise NoClauses("the body has no premise patterns")

    def atom(self, atom: Atom, place: Place, positive: bool, outside: str) -> list[Body]:
        literal = Body((Literal(atom, place.when, positive, outside, place.stretch),), reaches=self.within(place))
        filters = () if atom.predicate in self.static else place.filters
        selected = [
            [found for each in patterns if (found := _matching(each, atom)) is not None] for patterns in filters
        ]
        if positive:
            # For each filter one of its patterns, with what it asks of the atom.
            return [
                sum((Body(comparisons=tuple((each, True) for each in equations)) for equations in chosen), literal)
                for chosen in product(*selected)
            ]
        beyond = [
            Body(reaches=(Reach(place.when, at, *side),))
            for at, low, high in place.windows
            if at != place.when
            for side in self.sides_of(low, high)
        ]
        # Or the atom is filtered out: of each pattern of a filter, something is not as it asks.
        for options in selected:
            beyond += [Body(comparisons=tuple((each, False) for each in chosen)) for chosen in product(*options)]
        return [literal, *beyond] if all(selected) else [Body()]

    def sides_of(self, low: Number | None, high: Number | None) -> Iterator[tuple[Distance | None, Distance | None]]:
        """The distances outside a window."""
        if low is not None:
            yield None, low - 1 if self.discrete else Edge(low, -1)
        if high is not None:
            yield high + 1 if self.discrete else Edge(high, 1), None

    def within(self, place: Place) -> tuple[Reach, ...]:
        ends = (place.when,) if place.stretch is None else (place.when, place.stretch.until)
        return tuple(
            Reach(end, at, low, high)
            for at, low, high in place.windows
            for end in ends
            if at != end and (low, high) != (None, None)
        )

    def pinned(self, inner: Formula, place: Place, positive: bool) -> list[Body]:
        """A pinned time lies in the stream and in the current windows, or the pinned formula does not hold."""
        if isinstance(inner, Atom):
            on_timeline = Reach(place.when, START, 0, None)
            reaches = (on_timeline,) if inner.predicate in self.static else ()
            return [Body(reaches=reaches) + body for body in self.atom(inner, place, positive, "false")]
        inside = Body(reaches=(Reach(place.when, START, 0, None), *self.within(place)))
        found = [inside + body for body in self.one(inner, place, positive)]
        if not positive and place.windows:
            raise NoClauses("a negated formula that is pinned inside a window has no premise patterns")
        return found

    def moved(
        self,
        inner: Formula,
        place: Place,
        low: Distance | None,
        high: Distance | None,
        some: bool,
        word: str,
        positive: bool,
    ) -> list[Body]:
        if low is not None and low == high:
            return self.one(inner, later(place, low), positive)
        if not self.discrete and not positive:
            raise NoClauses(f"`not` over `{word}` has no premise patterns on dense time")
        if some:
            if low is None or high is None:
                raise NoClauses(f"`{word}` without an upper bound opens infinitely many times")
            chosen = self.fresh()
            reach = Body(reaches=(Reach(chosen, place.when, low, high),))
            return [reach + body for body in self.one(inner, replace(place, when=chosen), positive)]
        if not self.discrete:
            return self.one(inner, throughout(place, low, high, word), positive)
        assert not isinstance(low, Edge) and not isinstance(high, Edge)
        return self.every(
            low, high, word, lambda k: self.one(inner, replace(place, when=place.when.later(k)), positive)
        )

    def every(
        self, low: Number | None, high: Number | None, word: str, at: Callable[[Number], list[Body]]
    ) -> list[Body]:
        if low is None or high is None:
            raise NoClauses(f"`{word}` without an upper bound asks for infinitely many times")
        if high - low >= MOST_POINTS:
            raise NoClauses(f"`{word}` over {high - low + 1} time points is more than {MOST_POINTS}")
        if low == high:
            return at(low)
        found = [Body()]
        for distance in range(int(low), int(high) + 1):
            here = at(distance)
            if len(found) * len(here) > MOST_ALTERNATIVES:
                raise NoClauses("the body has too many alternatives")
            found = [before + body for before in found for body in here]
        return found

    def modal(self, inner: Formula, place: Place, some: bool, word: str, positive: bool) -> list[Body]:
        bounds = [(at, low, high) for at, low, high in place.windows]
        if some:
            chosen = self.fresh()
            reaches = [Reach(chosen, START, 0, None)]
            reaches += [Reach(chosen, at, low, high) for at, low, high in bounds if (low, high) != (None, None)]
            return [
                Body(reaches=tuple(reaches)) + body for body in self.one(inner, replace(place, when=chosen), positive)
            ]
        if len({at.base for at, _, _ in bounds}) != 1 or not isinstance(inner, (Atom, Not)):
            raise NoClauses(f"`{word}` has premise patterns over an atom in a bounded window only")
        anchor = bounds[0][0]
        lows = [at.offset - anchor.offset + low for at, low, _ in bounds if low is not None]
        highs = [at.offset - anchor.offset + high for at, _, high in bounds if high is not None]
        atom, sign = (inner.formula, not positive) if isinstance(inner, Not) else (inner, positive)
        if not isinstance(atom, Atom):
            raise NoClauses(f"`{word}` has premise patterns over an atom in a bounded window only")
        low, high = max(lows, default=None), min(highs, default=None)
        if not self.discrete:
            return self.all_of_window(atom, replace(place, when=anchor, windows=()), (low, high), word, sign)

        def at(distance: Number, outside: str = "true") -> list[Body]:
            return self.atom(atom, Place(anchor.later(distance), (), place.filters), sign, outside)

        if not sign or atom.predicate not in self.derived or low is None or high is None:
            return self.every(low, high, word, at)
        # What is derived has no premises before the start, where the window has no times: it may begin inside of it.
        if high - low >= MOST_ALTERNATIVES:
            raise NoClauses("the body has too many alternatives")
        found = []
        for first in range(int(low), int(high) + 1):
            begins = Reach(anchor.later(first), START, 0, None if first == low else 0)
            rest = self.every(first, high, word, lambda distance: at(distance, "false"))
            found += [Body(reaches=(begins,)) + body for body in rest]
        return found

    def all_of_window(
        self, atom: Atom, place: Place, window: tuple[Number | None, Number | None], word: str, positive: bool
    ) -> list[Body]:
        """An atom throughout a window of dense time, which may begin before the stream does."""
        if not positive:
            raise NoClauses(f"`not` over or under `{word}` has no premise patterns on dense time")
        whole = throughout(place, *window, word)
        assert whole.stretch is not None
        begun, clipped = Reach(whole.when, START, 0, None), Reach(whole.when, START, None, Edge(0, -1))
        last = Reach(whole.stretch.until, START, 0, None)
        return [
            *(Body(reaches=(begun,)) + body for body in self.atom(atom, whole, True, "false")),
            *(
                Body(reaches=(clipped, last)) + body
                for body in self.atom(atom, replace(whole, when=START), True, "false")
            ),
        ]


def _negative(value: Distance | None) -> Distance | None:
    return None if value is None else -value


def _matching(pattern: Atom, atom: Atom) -> tuple[Comparison, ...] | None:
    """What makes an atom one that a filter's pattern selects; `None` if nothing does. The pattern's variables are its
    own."""
    if (pattern.predicate, len(pattern.arguments)) != (atom.predicate, len(atom.arguments)):
        return None
    equations: list[Comparison] = []
    first: dict[str, Term] = {}
    for wanted, given in zip(pattern.arguments, atom.arguments, strict=True):
        if isinstance(wanted, Variable):
            wanted = given if wanted.is_anonymous else first.setdefault(wanted.name, given)
        if isinstance(wanted, Constant) and isinstance(given, Constant):
            if wanted.value != given.value:
                return None
        elif wanted != given:
            equations.append(Comparison("=", given, wanted))
    return tuple(equations)
