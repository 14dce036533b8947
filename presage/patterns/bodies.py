"""Rules as clauses that unfolding can use: literals, each at a time that is a variable plus a distance.

A body becomes alternatives of conjunctions. Operators disappear: `once` opens a time variable that
is bounded by another (`TimeDistance`), `historically` becomes one literal for each time point or, on dense time, one
that holds throughout a stretch, negation moves inwards until it stands over atoms. What has no such form is refused by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, product

from presage.core.formulas import (
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Lasts,
    Measured,
    Not,
    Only,
    Rows,
    Seen,
    Shift,
    Some,
    Whole,
    both,
    either,
)
from presage.core.printer import word_of
from presage.core.reach import EVERYWHERE, Reach
from presage.core.rules import Conclusion, CoreRule
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Now, Number, Variable
from presage.patterns import measured
from presage.patterns.body_questions import asks_for_facts, asks_of_no_times, is_steady, looks_at_all
from presage.patterns.clause import (
    RULE_TIME,
    START,
    Clause,
    ClauseBody,
    ClauseLiteral,
    Distance,
    NoClauses,
    StretchFrom,
    TimeDistance,
    When,
)
from presage.patterns.edges import Edge
from presage.patterns.hopping import check_hopping, hops
from presage.patterns.instances import existing, may_begin_early, named_times
from presage.patterns.places import (
    FormulaPlace,
    check_throughout,
    has_now,
    lasting_cases,
    later,
    sides_of,
    span_of,
    throughout,
    until,
    windowed,
)
from presage.support import NO_PATTERNS

MOST_ALTERNATIVES = 256
MOST_POINTS = 1_000


def clauses(
    rule: CoreRule,
    discrete: bool,
    static: frozenset[str] = frozenset(),
    derived: frozenset[str] = frozenset(),
    stretches: bool = False,
    unsteady: frozenset[str] = frozenset(),
    non_negative: frozenset[tuple[str, int]] = frozenset(),
    heads: tuple[Atom, ...] = (),
) -> list[Clause]:
    """The clauses of a rule, given the predicates that belong to no stream and those that rules derive; raises
    `NoClauses`. With `stretches` what must hold at all times of a stretch is one literal on discrete time too, except
    below predicates that are `unsteady`, and a choice of times may have no end. `non_negative` are the columns whose
    values are declared not to be negative. `heads` are the atoms of the head, with what the rule invents."""
    if not rule.conclusions:
        return []
    if rule.is_choice:
        raise NoClauses(NO_PATTERNS["alternatives"])
    expand = _Expand(discrete, static, derived, stretches, unsteady, non_negative)
    bodies = expand.all(rule.body, FormulaPlace(When(RULE_TIME)), True)
    times = named_times(rule)
    found: list[Clause] = []
    for conclusion, atom in zip(rule.conclusions, heads or (each.atom for each in rule.conclusions), strict=True):
        when, reaches = expand.head(conclusion)
        for body in bodies:
            body = existing(times, when, body + ClauseBody(reaches=reaches))
            if may_begin_early(when, body, static):
                body += ClauseBody(reaches=(TimeDistance(When(RULE_TIME), START, 0, None),))
            found.append(Clause(atom, when, body, rule.rule))
    return found


class _Expand:
    def __init__(
        self,
        discrete: bool,
        static: frozenset[str],
        derived: frozenset[str],
        stretches: bool = False,
        unsteady: frozenset[str] = frozenset(),
        non_negative: frozenset[tuple[str, int]] = frozenset(),
    ) -> None:
        self.discrete, self.static, self.derived = discrete, static, derived
        self.stretches, self.unsteady, self.non_negative = stretches, unsteady, non_negative
        self.numbers = count(1)

    def fresh(self) -> When:
        """A time that an operator chooses; no variable of a rule is called so."""
        return When(f"#{next(self.numbers)}")

    def head(self, conclusion: Conclusion) -> tuple[When, tuple[TimeDistance, ...]]:
        when = self.when(conclusion.base, 0)
        step = conclusion.reach.step
        if step is not None:
            return when.later(step), ()
        held = self.fresh()
        return held, (TimeDistance(held, when, *distances(conclusion.reach)),)

    def when(self, base: Variable | Now | None, offset: Number) -> When:
        return When(None if base is None else RULE_TIME if isinstance(base, Now) else base.name, offset)

    def all(self, formulas: tuple[CoreFormula, ...], place: FormulaPlace, positive: bool) -> list[ClauseBody]:
        """Alternatives for all of the formulas together."""
        parts = [self.one(formula, place, positive) for formula in formulas]
        size = 1
        for part in parts:
            size *= len(part)
        if size > MOST_ALTERNATIVES:
            raise NoClauses("the body has too many alternatives")
        return [sum(chosen, ClauseBody()) for chosen in product(*parts)]

    def any(self, formulas: tuple[CoreFormula, ...], place: FormulaPlace, positive: bool) -> list[ClauseBody]:
        found = [body for formula in formulas for body in self.one(formula, place, positive)]
        if len(found) > MOST_ALTERNATIVES:
            raise NoClauses("the body has too many alternatives")
        return found

    def one(self, formula: CoreFormula, place: FormulaPlace, positive: bool) -> list[ClauseBody]:
        if place.stretch is not None and not self.stretches:
            check_throughout(formula, positive)
        match formula:
            case Atom():
                return self.atom(formula, place, positive, "false" if positive else "true")
            case Comparison():
                return [ClauseBody(comparisons=((formula, positive),))]
            case Measured():
                return self.counted(formula, place, positive)
            case Not(part=inner):
                return self.one(inner, place, not positive)
            case All(parts=parts):
                return self.all(parts, place, True) if positive else self.any(parts, place, False)
            case Any(parts=parts):
                return self.any(parts, place, True) if positive else self.all(parts, place, False)
            case At(base=base, offset=offset, part=inner):
                return self.pinned(inner, replace(place, when=self.when(base, offset)), positive)
            case Shift(distance=distance, part=inner):
                return self.one(inner, later(place, distance), positive)
            case Some(reach=reach, clip=False) | Every(reach=reach, clip=False):
                return self.moved(formula, place, *distances(reach), positive)
            case Some(reach=reach) | Every(reach=reach):
                seen = place if reach == EVERYWHERE else windowed(place, reach.near, reach.far)
                return self.modal(formula, formula.part, seen, positive)
            case Lasts():
                return self.lasting(formula, place, positive)
            case Seen(reach=reach, hop=None, part=inner):
                return self.one(inner, windowed(place, reach.near, reach.far), positive)
            case Seen(reach=reach, hop=hop, part=inner):
                return self.hopping(inner, place, (reach.near, reach.far), hop, positive)
            case Rows() | Only():
                raise NoClauses(NO_PATTERNS["rows"])
            case Whole(part=inner):
                return self.one(inner, replace(place, windows=()), positive)
            case _:
                raise NoClauses("the body has no premise patterns")

    def counted(self, formula: Measured, place: FormulaPlace, positive: bool) -> list[ClauseBody]:
        if not self.stretches:
            raise NoClauses(measured.OTHERS)
        if place.stretch is not None:
            raise NoClauses("an aggregate has no premise patterns throughout a stretch of time")
        times = {RULE_TIME, place.when.base, *(at.base for at, _, _ in place.windows)}
        return measured.bodies(
            formula,
            positive,
            lambda formulas: self.all(formulas, place, True),
            self.non_negative,
            frozenset(each for each in times if each is not None),
            next(self.numbers),
        )

    def hopping(
        self,
        inner: CoreFormula,
        place: FormulaPlace,
        window: tuple[Number | None, Number | None],
        hop: Number | None,
        positive: bool,
    ) -> list[ClauseBody]:
        if not self.discrete or not isinstance(hop, int):
            raise NoClauses(NO_PATTERNS["hop on dense time"])
        check_hopping(inner, place, hop, MOST_ALTERNATIVES)
        found = [case + body for case, moved in hops(place, window, hop) for body in self.one(inner, moved, positive)]
        if len(found) > MOST_ALTERNATIVES:
            raise NoClauses("the body has too many alternatives")
        return found

    def atom(self, atom: Atom, place: FormulaPlace, positive: bool, outside: str) -> list[ClauseBody]:
        if atom.predicate in self.static:
            place = replace(place, windows=())  # it holds at every time, whatever a window selects
        if any(at == place.when and not has_now(low, high) for at, low, high in place.windows):
            # A window that hops may not cover the time it is looked at.
            return [] if positive else [ClauseBody()]
        literal = ClauseBody(
            (ClauseLiteral(atom, place.when, positive, outside, place.stretch),), reaches=self.within(place)
        )
        return [literal] if positive else [literal, *self.beyond(place)]

    def beyond(self, place: FormulaPlace) -> Iterator[ClauseBody]:
        return (
            ClauseBody(reaches=(TimeDistance(place.when, at, *side),))
            for at, low, high in place.windows
            if at != place.when
            for side in sides_of(low, high, self.discrete)
        )

    def within(self, place: FormulaPlace) -> tuple[TimeDistance, ...]:
        ends = (place.when,) if place.stretch is None else (place.when, place.stretch.until)
        return tuple(
            TimeDistance(end, at, low, high)
            for at, low, high in place.windows
            for end in ends
            if at != end and (low, high) != (None, None)
        )

    def pinned(self, inner: CoreFormula, place: FormulaPlace, positive: bool) -> list[ClauseBody]:
        """A pinned time lies in the stream and in the current windows, or the pinned formula does not hold."""
        if isinstance(inner, Atom):
            found = self.atom(inner, place, positive, "false")
            if inner.predicate not in self.static:
                return found
            on_timeline = ClauseBody(reaches=(TimeDistance(place.when, START, 0, None),))
            if positive:
                on_timeline += ClauseBody(reaches=self.within(place))
            return [on_timeline + body for body in (*found, *(() if positive else self.beyond(place)))]
        inside = ClauseBody(reaches=(TimeDistance(place.when, START, 0, None), *self.within(place)))
        found = [inside + body for body in self.one(inner, place, positive)]
        if not positive and place.windows:
            raise NoClauses("a negated formula that is pinned inside a window has no premise patterns")
        return found

    def moved(
        self, formula: Some | Every, place: FormulaPlace, low: Distance | None, high: Distance | None, positive: bool
    ) -> list[ClauseBody]:
        inner, some, word = formula.part, isinstance(formula, Some) == positive, word_of(formula)
        if not self.stretches and not self.discrete and not positive:
            raise NoClauses(f"`not` over `{word}` has no premise patterns on dense time")
        if some:
            if (low is None or high is None) and not self.stretches:
                raise NoClauses(f"`{word}` without an upper bound opens infinitely many times")
            chosen = self.fresh()
            reach = ClauseBody(reaches=(TimeDistance(chosen, place.when, low, high),))
            return [reach + body for body in self.one(inner, replace(place, when=chosen), positive)]
        if self.stretches and self.is_steady(inner, place, positive):
            if low is None:
                # Nothing holds before the start: what had to, does not; what had to be absent, is.
                if asks_for_facts(inner, positive):
                    return []
                begun = replace(place, when=START, stretch=StretchFrom(place.when))
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

    def is_steady(self, formula: CoreFormula, place: FormulaPlace, positive: bool) -> bool:
        return is_steady(formula, positive, self.unsteady, bool(place.windows))

    def lasting(self, formula: Lasts, place: FormulaPlace, positive: bool) -> list[ClauseBody]:
        """`since` and `until`: the right side at a time that is chosen, the left side at all times in between."""
        word = word_of(formula)
        if not self.stretches or not positive or place.stretch is not None:
            raise NoClauses(f"`{'' if positive else 'not … '}{word}` has no premise patterns")
        if not self.is_steady(formula.left, place, True):
            raise NoClauses(f"what stands left of `{word}` can hold in several ways: it has no premise patterns")
        low, high = distances(formula.reach)
        chosen = self.fresh()
        first, last = (chosen, place.when) if formula.is_past else (place.when, chosen)
        between = StretchFrom(last.later(-1)) if self.discrete else StretchFrom(last, False, False)
        held = replace(place, when=first.later(1) if self.discrete else first, stretch=between)
        right = self.one(formula.right, replace(place, when=chosen), True)
        found = []
        told_apart = bool(place.windows) or asks_of_no_times(formula.left, self.static, self.derived)
        for nearest, farthest, is_between in lasting_cases(low, high, formula.is_past, self.discrete, told_apart):
            reach = ClauseBody(reaches=(TimeDistance(chosen, place.when, nearest, farthest),))
            left = self.one(formula.left, held, True) if is_between else [ClauseBody()]
            found += [reach + one + other for one in right for other in left]
        return found

    def every(
        self, low: Number | None, high: Number | None, word: str, at: Callable[[Number], list[ClauseBody]]
    ) -> list[ClauseBody]:
        if low is None or high is None:
            raise NoClauses(f"`{word}` without an upper bound asks for infinitely many times")
        if high - low >= MOST_POINTS:
            raise NoClauses(f"`{word}` over {high - low + 1} time points is more than {MOST_POINTS}")
        if low == high:
            return at(low)
        found = [ClauseBody()]
        for distance in range(int(low), int(high) + 1):
            here = at(distance)
            if len(found) * len(here) > MOST_ALTERNATIVES:
                raise NoClauses("the body has too many alternatives")
            found = [before + body for before in found for body in here]
        return found

    def modal(self, formula: Some | Every, inner: CoreFormula, place: FormulaPlace, positive: bool) -> list[ClauseBody]:
        """`some` or `all` over a part of what it is over, in the windows of a place."""
        some, word = isinstance(formula, Some) == positive, word_of(formula)
        if not some and isinstance(inner, (All, Any)):
            compared = tuple((each, positive) for each in inner.parts if isinstance(each, Comparison))
            parts = tuple(each for each in inner.parts if not isinstance(each, Comparison))
            if compared and parts:
                # A comparison is true at all times or at none.
                rest = self.modal(formula, both(parts) if isinstance(inner, All) else either(parts), place, positive)
                if isinstance(inner, All) == positive:
                    return [ClauseBody(comparisons=compared) + body for body in rest]
                return [*rest, *(ClauseBody(comparisons=(each,)) for each in compared)]
        bounds = [(at, low, high) for at, low, high in place.windows]
        if some and self.discrete and looks_at_all(inner, positive):
            return self.at_some(inner, place, word, positive)
        if some:
            chosen = self.fresh()
            reaches = [TimeDistance(chosen, START, 0, None)]
            reaches += [TimeDistance(chosen, at, low, high) for at, low, high in bounds if (low, high) != (None, None)]
            return [
                ClauseBody(reaches=tuple(reaches)) + body
                for body in self.one(inner, replace(place, when=chosen), positive)
            ]
        anchor, low, high = span_of(place, word)
        found = self.throughout_window(inner, place, (anchor, low, high), word, positive)
        last = None if high is None else anchor.later(high)
        if positive and last is not None and last.base is not None and (last.base != RULE_TIME or last.offset < 0):
            # Nothing holds before the start, not even what a window without times would say.
            return [ClauseBody(reaches=(TimeDistance(last, START, 0, None),)) + body for body in found]
        return found

    def throughout_window(
        self,
        inner: CoreFormula,
        place: FormulaPlace,
        span: tuple[When, Number | None, Number | None],
        word: str,
        positive: bool,
    ) -> list[ClauseBody]:
        anchor, low, high = span
        atom, sign = (inner.part, not positive) if isinstance(inner, Not) else (inner, positive)
        if not self.discrete:
            if not isinstance(atom, Atom):
                raise NoClauses(f"`{word}` has premise patterns over an atom only on dense time")
            if not sign and self.stretches and low is not None and high is not None:
                return self.atom(
                    atom, throughout(replace(place, when=anchor, windows=()), low, high, word), False, "true"
                )
            return self.all_of_window(atom, replace(place, when=anchor, windows=()), (low, high), word, sign)
        whole = low is not None and high is not None and self.stretches and self.is_steady(atom, place, sign)
        if whole and isinstance(atom, Atom) and not (sign and atom.predicate in self.derived):
            held = throughout(replace(place, when=anchor, windows=()), low, high, word)
            return self.atom(atom, held, sign, "true")
        if isinstance(atom, Atom) and not (sign and atom.predicate in self.derived):

            def simple(distance: Number) -> list[ClauseBody]:
                return self.atom(atom, FormulaPlace(anchor.later(distance)), sign, "true")

            return self.every(low, high, word, simple)
        # Only an atom can be told apart before the start, where the window has no times: it may begin inside of it.
        if low is None or high is None or high - low >= MOST_ALTERNATIVES:
            raise NoClauses(f"`{word}` has premise patterns over an atom in a bounded window only")
        found = []
        for first in range(int(low), int(high) + 1):
            begins = TimeDistance(anchor.later(first), START, 0, None if first == low else 0)
            rest = self.every(
                first, high, word, lambda each: self.one(inner, replace(place, when=anchor.later(each)), positive)
            )
            found += [ClauseBody(reaches=(begins,)) + body for body in rest]
            if len(found) > MOST_ALTERNATIVES:
                raise NoClauses("the body has too many alternatives")
        return found

    def at_some(self, inner: CoreFormula, place: FormulaPlace, word: str, positive: bool) -> list[ClauseBody]:
        """Some time of a window, by cases: what must hold at all times of a window around it is another for each."""
        anchor, low, high = span_of(place, word)
        if low is None or high is None or high - low >= MOST_ALTERNATIVES:
            raise NoClauses(f"`{word}` over all times of windows has premise patterns in a bounded window only")
        found: list[ClauseBody] = []
        for distance in range(int(low), int(high) + 1):
            when = anchor.later(distance)
            begun = ClauseBody(reaches=(TimeDistance(when, START, 0, None),))
            found += [begun + body for body in self.one(inner, replace(place, when=when), positive)]
            if len(found) > MOST_ALTERNATIVES:
                raise NoClauses("the body has too many alternatives")
        return found

    def all_of_window(
        self, atom: Atom, place: FormulaPlace, window: tuple[Number | None, Number | None], word: str, positive: bool
    ) -> list[ClauseBody]:
        """An atom throughout a window of dense time, which may begin before the stream does."""
        if not positive:
            raise NoClauses(f"`not` over or under `{word}` has no premise patterns on dense time")
        whole = throughout(place, *window, word)
        assert whole.stretch is not None
        begun, clipped = TimeDistance(whole.when, START, 0, None), TimeDistance(whole.when, START, None, Edge(0, -1))
        last = TimeDistance(whole.stretch.until, START, 0, None)
        return [
            *(ClauseBody(reaches=(begun,)) + body for body in self.atom(atom, whole, True, "false")),
            *(
                ClauseBody(reaches=(clipped, last)) + body
                for body in self.atom(atom, replace(whole, when=START), True, "false")
            ),
        ]


def distances(reach: Reach) -> tuple[Distance | None, Distance | None]:
    """The ends of a reach, those that are not attained as edges."""
    low: Distance | None = reach.near
    high: Distance | None = reach.far
    if reach.near is not None and reach.open_near:
        low = Edge(reach.near, 1)
    if reach.far is not None and reach.open_far:
        high = Edge(reach.far, -1)
    return low, high
