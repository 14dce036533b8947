"""Rules as clauses that unfolding can use: literals, each at a time that is a variable plus a distance.

A body becomes alternatives of conjunctions. Operators disappear: `once` opens a time variable that
is bounded by another (`Reach`), `historically` becomes one literal for each time point or, on dense time, one
that holds throughout a stretch, negation moves inwards until it stands over atoms. What has no such form is refused by
name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count, product

from presage.analysis.timing import offsets, plain
from presage.hypothesis.asking import (
    asks_for_facts,
    is_steady,
    looks_at_all,
    matching,
)
from presage.hypothesis.clause import (
    RULE_TIME,
    START,
    Body,
    Clause,
    Distance,
    Literal,
    NoClauses,
    Reach,
    Stretch,
    When,
)
from presage.hypothesis.edges import Edge
from presage.hypothesis.hopping import check_hopping, hops
from presage.hypothesis.instances import alternative_pins, may_begin_early
from presage.hypothesis.places import (
    Place,
    check_throughout,
    has_now,
    later,
    negative,
    sides_of,
    span_of,
    throughout,
    until,
    windowed,
)
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
from presage.model.terms import Now, Number
from presage.model.time import Interval, Pin
from presage.model.windows import OnlyWindow, RowsWindow, TimeWindow

MOST_ALTERNATIVES = 256
MOST_POINTS = 1_000


def clauses(
    rule: Rule,
    discrete: bool,
    static: frozenset[str] = frozenset(),
    derived: frozenset[str] = frozenset(),
    stretches: bool = False,
    unsteady: frozenset[str] = frozenset(),
) -> list[Clause]:
    """The clauses of a rule, given the predicates that belong to no stream and those that rules derive; raises
    `NoClauses`. With `stretches` what must hold at all times of a stretch is one literal on discrete time too, except
    below predicates that are `unsteady`, and a choice of times may have no end."""
    if rule.head is None:
        return []
    if rule.head.choice:
        raise NoClauses("a rule with alternatives in its head has several models")
    if rule.head.exists:
        raise NoClauses("a rule that invents values has no premise patterns")
    expand = _Expand(discrete, static, derived, stretches, unsteady)
    bodies = expand.all(rule.body, Place(When(RULE_TIME)), True)
    instance = tuple(
        Reach(expand.pin(part.pin), START, 0, None) for formula in rule.body for part in alternative_pins(formula)
    )
    found: list[Clause] = []
    for formula in rule.head.atoms:
        atom, when, reaches = expand.head(formula, When(RULE_TIME))
        for body in bodies:
            body += Body(reaches=(*reaches, *instance))
            if may_begin_early(when, body, static):
                body += Body(reaches=(Reach(When(RULE_TIME), START, 0, None),))
            found.append(Clause(atom, when, body, rule))
    return found


class _Expand:
    def __init__(
        self,
        discrete: bool,
        static: frozenset[str],
        derived: frozenset[str],
        stretches: bool = False,
        unsteady: frozenset[str] = frozenset(),
    ) -> None:
        self.discrete, self.static, self.derived = discrete, static, derived
        self.stretches, self.unsteady = stretches, unsteady
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
                    low, high = negative(high), negative(low)
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
        if place.stretch is not None and not self.stretches:
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
                    low, high = negative(high), negative(low)
                some = (operator in ("once", "eventually")) == positive
                return self.moved(inner, place, low, high, some, operator, positive)
            case BinaryMetric():
                return self.lasting(formula, place, positive)
            case Windowed(window=TimeWindow(back=back, ahead=ahead, hop=hop), formula=inner):
                window = (None if back is None else -plain(back), None if ahead is None else plain(ahead))
                if hop is not None:
                    return self.hopping(inner, place, window, plain(hop), positive)
                return self.one(inner, windowed(place, *window), positive)
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

    def hopping(
        self, inner: Formula, place: Place, window: tuple[Number | None, Number | None], hop: Number, positive: bool
    ) -> list[Body]:
        if not self.discrete or not isinstance(hop, int):
            raise NoClauses("a hopping window has premise patterns on whole time points only")
        check_hopping(inner, place, hop, MOST_ALTERNATIVES)
        found = [case + body for case, moved in hops(place, window, hop) for body in self.one(inner, moved, positive)]
        if len(found) > MOST_ALTERNATIVES:
            raise NoClauses("the body has too many alternatives")
        return found

    def atom(self, atom: Atom, place: Place, positive: bool, outside: str) -> list[Body]:
        if atom.predicate not in self.static and any(
            at == place.when and not has_now(low, high) for at, low, high in place.windows
        ):
            # A window that hops may not cover the time it is looked at.
            return [] if positive else [Body()]
        literal = Body((Literal(atom, place.when, positive, outside, place.stretch),), reaches=self.within(place))
        filters = () if atom.predicate in self.static else place.filters
        selected = [[found for each in patterns if (found := matching(each, atom)) is not None] for patterns in filters]
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
            for side in sides_of(low, high, self.discrete)
        ]
        # Or the atom is filtered out: of each pattern of a filter, something is not as it asks.
        for options in selected:
            beyond += [Body(comparisons=tuple((each, False) for each in chosen)) for chosen in product(*options)]
        return [literal, *beyond] if all(selected) else [Body()]

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
        if not self.stretches and not self.discrete and not positive:
            raise NoClauses(f"`not` over `{word}` has no premise patterns on dense time")
        if some:
            if (low is None or high is None) and not self.stretches:
                raise NoClauses(f"`{word}` without an upper bound opens infinitely many times")
            chosen = self.fresh()
            reach = Body(reaches=(Reach(chosen, place.when, low, high),))
            return [reach + body for body in self.one(inner, replace(place, when=chosen), positive)]
        if self.stretches and self.is_steady(inner, place, positive):
            if low is None:
                # Nothing holds before the start: what had to, does not; what had to be absent, is.
                if asks_for_facts(inner, positive):
                    return []
                begun = replace(place, when=START, stretch=Stretch(place.when))
                return self.one(inner, until(begun, high, word), positive)
            return self.one(inner, throughout(place, low, high, word), positive)
        if not self.discrete:
            if self.stretches:
                raise NoClauses(f"what `{word}` asks for at all times can come about in several ways")
            return self.one(inner, throughout(place, low, high, word), positive)
        assert not isinstance(low, Edge) and not isinstance(high, Edge)
        return self.every(
            low, high, word, lambda k: self.one(inner, replace(place, when=place.when.later(k)), positive)
        )

    def is_steady(self, formula: Formula, place: Place, positive: bool) -> bool:
        return is_steady(formula, positive, self.unsteady, bool(place.windows or place.filters))

    def lasting(self, formula: BinaryMetric, place: Place, positive: bool) -> list[Body]:
        """`since` and `until`: the right side at a time that is chosen, the left side at all times in between."""
        word = formula.operator
        if not self.stretches or not positive or place.stretch is not None:
            raise NoClauses(f"`{'' if positive else 'not … '}{word}` has no premise patterns")
        if not self.is_steady(formula.left, place, True):
            raise NoClauses(f"what stands left of `{word}` can hold in several ways: it has no premise patterns")
        low, high = self.distances(formula.interval)
        if word == "since":
            low, high = negative(high), negative(low)
        chosen = self.fresh()
        first, last = (chosen, place.when) if word == "since" else (place.when, chosen)
        between = Stretch(last.later(-1)) if self.discrete else Stretch(last, False, False)
        held = replace(place, when=first.later(1) if self.discrete else first, stretch=between)
        reach = Body(reaches=(Reach(chosen, place.when, low, high), Reach(chosen, START, 0, None)))
        right = self.one(formula.right, replace(place, when=chosen), True)
        return [reach + one + other for one in right for other in self.one(formula.left, held, True)]

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
        if some and self.discrete and looks_at_all(inner, positive):
            return self.at_some(inner, place, word, positive)
        if some:
            chosen = self.fresh()
            reaches = [Reach(chosen, START, 0, None)]
            reaches += [Reach(chosen, at, low, high) for at, low, high in bounds if (low, high) != (None, None)]
            return [
                Body(reaches=tuple(reaches)) + body for body in self.one(inner, replace(place, when=chosen), positive)
            ]
        found = self.throughout_window(inner, place, span_of(place, word), word, positive)
        if positive and place.when.base is not None and (place.when.base != RULE_TIME or place.when.offset < 0):
            # Nothing holds before the start, not even what a window without times would say.
            return [Body(reaches=(Reach(place.when, START, 0, None),)) + body for body in found]
        return found

    def throughout_window(
        self,
        inner: Formula,
        place: Place,
        span: tuple[When, Number | None, Number | None],
        word: str,
        positive: bool,
    ) -> list[Body]:
        anchor, low, high = span
        atom, sign = (inner.formula, not positive) if isinstance(inner, Not) else (inner, positive)
        if not self.discrete:
            if not isinstance(atom, Atom):
                raise NoClauses(f"`{word}` has premise patterns over an atom only on dense time")
            if not sign and self.stretches and low is not None and high is not None and not place.filters:
                return self.atom(
                    atom, throughout(replace(place, when=anchor, windows=()), low, high, word), False, "true"
                )
            return self.all_of_window(atom, replace(place, when=anchor, windows=()), (low, high), word, sign)
        whole = low is not None and high is not None and self.stretches and self.is_steady(atom, place, sign)
        if whole and isinstance(atom, Atom) and not (sign and atom.predicate in self.derived):
            held = throughout(replace(place, when=anchor, windows=()), low, high, word)
            return self.atom(atom, held, sign, "true")
        if isinstance(atom, Atom) and not (sign and atom.predicate in self.derived):

            def simple(distance: Number) -> list[Body]:
                return self.atom(atom, Place(anchor.later(distance), (), place.filters), sign, "true")

            return self.every(low, high, word, simple)
        # Only an atom can be told apart before the start, where the window has no times: it may begin inside of it.
        if low is None or high is None or high - low >= MOST_ALTERNATIVES:
            raise NoClauses(f"`{word}` has premise patterns over an atom in a bounded window only")
        found = []
        for first in range(int(low), int(high) + 1):
            begins = Reach(anchor.later(first), START, 0, None if first == low else 0)
            rest = self.every(
                first, high, word, lambda each: self.one(inner, replace(place, when=anchor.later(each)), positive)
            )
            found += [Body(reaches=(begins,)) + body for body in rest]
            if len(found) > MOST_ALTERNATIVES:
                raise NoClauses("the body has too many alternatives")
        return found

    def at_some(self, inner: Formula, place: Place, word: str, positive: bool) -> list[Body]:
        """Some time of a window, by cases: what must hold at all times of a window around it is another for each."""
        anchor, low, high = span_of(place, word)
        if low is None or high is None or high - low >= MOST_ALTERNATIVES:
            raise NoClauses(f"`{word}` over all times of windows has premise patterns in a bounded window only")
        found: list[Body] = []
        for distance in range(int(low), int(high) + 1):
            when = anchor.later(distance)
            begun = Body(reaches=(Reach(when, START, 0, None),))
            found += [begun + body for body in self.one(inner, replace(place, when=when), positive)]
            if len(found) > MOST_ALTERNATIVES:
                raise NoClauses("the body has too many alternatives")
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
