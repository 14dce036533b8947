"""What is left of a formula when positions have passed, and whether anything can still fulfil it.

After a position, what is left of a formula is a set of alternatives, each a set of formulas that must hold at the next
position (a disjunction of conjunctions, without those that another makes superfluous): `{∅}` is true, `{}` false. What
the past says is in `Memory`: for each formula below yesterday what is left of it, as of the position before; so that
the future may stand below the past and the past below the future.

Whether some infinite continuation fulfils what is left is a search for a lasso in the graph of alternatives. An
until that is put off is marked; on a lasso that counts each mark is absent at some state. The search gives up after
`MOST_STATES`, and then nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Union

from presage.languages.ltl.formulas import (
    Before,
    Both,
    Either,
    LtlFormula,
    Next,
    SignedAtom,
    Truth,
    UntilRelease,
    facts_of,
)

MOST_STATES = 20_000
MOST_ALTERNATIVES = 5_000


class TooMuch(Exception):
    """A formula whose alternatives are more than can be looked at."""


@dataclass(frozen=True, slots=True)
class PutOff:
    """An until that was not fulfilled at a position and is still owed. It says the same as the until itself."""

    owed: UntilRelease


Duty = Union[LtlFormula, PutOff]
Duties = frozenset[Duty]
"""What must all hold at the next position."""
Left = frozenset[Duties]
"""What is left of a formula: one of these must be done."""
DONE: Left = frozenset((frozenset(),))
HOPELESS: Left = frozenset()
Progressed = dict[LtlFormula, Left]


def any_of(left: Left, right: Left) -> Left:
    if left == DONE or right == DONE:
        return DONE
    if not left or not right:
        return left or right
    return _least(left | right)


def all_of(left: Left, right: Left) -> Left:
    if left == DONE:
        return right
    if right == DONE:
        return left
    if len(left) * len(right) > MOST_ALTERNATIVES:
        raise TooMuch
    return _least(frozenset(_joined(one | other) for one in left for other in right))


def _least(alternatives: Iterable[Duties]) -> Left:
    """Without those that ask for more than another."""
    kept: list[Duties] = []
    for duties in sorted(alternatives, key=len):
        if not any(_asks_no_more(each, duties) for each in kept):
            kept.append(duties)
    if len(kept) > 1:
        kept = [one for one in kept if not any(other is not one and _asks_less(other, one) for other in kept)]
    return frozenset(kept)


def _asks_no_more(one: Duties, other: Duties) -> bool:
    return one <= other


def _asks_less(one: Duties, other: Duties) -> bool:
    """Whether whatever does the other does the one, by bounds of the same until or release alone."""
    if one == other or len(one) > len(other):
        return False
    return all(any(_implied(mine, theirs) for theirs in other) for mine in one)


def _implied(mine: Duty, theirs: Duty) -> bool:
    if mine == theirs:
        return True
    if not isinstance(mine, UntilRelease) or not isinstance(theirs, UntilRelease):
        return False
    if (mine.past, mine.dual, mine.left, mine.right) != (theirs.past, theirs.dual, theirs.left, theirs.right):
        return False
    if mine.past or mine.low != 0 or theirs.low != 0:
        return False
    wider = mine.high is None or (theirs.high is not None and theirs.high <= mine.high)
    narrower = theirs.high is None or (mine.high is not None and mine.high <= theirs.high)
    return narrower if mine.dual else wider


def _joined(duties: Duties) -> Duties:
    """Without duties that others of them imply."""
    bounded = [each for each in duties if isinstance(each, UntilRelease) and not each.past]
    if len(bounded) < 2:
        return duties
    superfluous = {
        mine
        for mine in bounded
        if any(theirs != mine and _implied(mine, theirs) and not _implied(theirs, mine) for theirs in bounded)
    }
    return duties - superfluous


class TracePosition:
    """One position: which facts hold there, and what the past has left."""

    def __init__(self, holds: frozenset[SignedAtom], memory: Progressed | None, marks: bool = False) -> None:
        """`memory` is `None` at position 0. With `marks` an until that is put off is marked."""
        self.holds, self.memory, self.marks = holds, memory, marks
        self._known: dict[Duty, Left] = {}

    def left(self, alternatives: Left) -> Left:
        """What is left after this position of what was left before it."""
        found = HOPELESS
        for duties in alternatives:
            done = DONE
            for duty in duties:
                done = all_of(done, self.after(duty))
                if not done:
                    break
            found = any_of(found, done)
            if found == DONE:
                break
        return found

    def after(self, formula: Duty) -> Left:
        """What is left after this position of a formula that is to hold at it."""
        known = self._known.get(formula)
        if known is None:
            known = self._known[formula] = self._after(formula)
        return known

    def _after(self, formula: Duty) -> Left:
        match formula:
            case SignedAtom(predicate, arguments, present):
                return DONE if (SignedAtom(predicate, arguments) in self.holds) == present else HOPELESS
            case Truth(value):
                return DONE if value else HOPELESS
            case Both(left, right):
                return all_of(self.after(left), self.after(right))
            case Either(left, right):
                return any_of(self.after(left), self.after(right))
            case Next(inner):
                return duty(inner)
            case Before(inner, at_start):
                if self.memory is None:
                    return DONE if at_start else HOPELESS
                return self.left(self.memory[inner])
            case UntilRelease():
                return self._lasting(formula)
            case PutOff(owed):
                return self._lasting(owed)

    def _lasting(self, formula: UntilRelease) -> Left:
        later = shifted(formula)
        left = self.after(formula.left)
        if formula.past:
            rest = HOPELESS if later is None else self.after(Before(later, formula.dual))
            if later is None and formula.dual:
                rest = DONE
        elif later is None:
            rest = DONE if formula.dual else HOPELESS
        elif self.marks and not formula.dual and formula.high is None and formula.low == 0:
            rest = frozenset((frozenset((PutOff(later),)),))
        else:
            rest = duty(later)
        if formula.dual:
            rest = any_of(left, rest)
            return rest if formula.low > 0 else all_of(self.after(formula.right), rest)
        rest = all_of(left, rest)
        return rest if formula.low > 0 else any_of(self.after(formula.right), rest)


def duty(formula: LtlFormula) -> Left:
    if isinstance(formula, Truth):
        return DONE if formula.value else HOPELESS
    return frozenset((frozenset((formula,)),))


def shifted(formula: UntilRelease) -> UntilRelease | None:
    """The same seen from the next position (or, of the past, the one before); `None` where its bounds have gone by."""
    if formula.high == 0:
        return None
    if formula.low == 0 and formula.high is None:
        return formula
    high = None if formula.high is None else formula.high - 1
    return replace(formula, low=max(0, formula.low - 1), high=high)


def remembered(formulas: Iterable[LtlFormula]) -> tuple[LtlFormula, ...]:
    """The formulas that stand below yesterday, those among them that since and its bounds bring about."""
    found: dict[LtlFormula, None] = {}
    seen: set[LtlFormula] = set()
    waiting = list(formulas)
    while waiting:
        formula = waiting.pop()
        if formula in seen:
            continue
        seen.add(formula)
        match formula:
            case Both(left, right) | Either(left, right):
                waiting += (left, right)
            case Next(inner):
                waiting.append(inner)
            case Before(inner, _):
                found[inner] = None
                waiting.append(inner)
            case UntilRelease():
                waiting += (formula.left, formula.right)
                later = shifted(formula)
                if later is not None and formula.past:
                    found[later] = None
                    waiting.append(later)
            case _:
                pass
    return tuple(found)


def next_memory(position: TracePosition, below: tuple[LtlFormula, ...]) -> Progressed:
    return {formula: position.after(formula) for formula in below}


@dataclass(frozen=True, slots=True)
class _State:
    duties: Duties
    memory: tuple[Left, ...] | None
    """As of the position before; `None` before position 0."""
    depth: int
    """How many positions with facts that are known already lie behind, counted up to the last of them."""


class Continuations:
    """Whether an infinite continuation does what is left, for one property."""

    def __init__(self, facts: Iterable[SignedAtom], below: tuple[LtlFormula, ...]) -> None:
        self.facts = sorted(facts, key=repr)
        self.below = below
        self._known: dict[
            tuple[Left, tuple[Left, ...] | None, tuple[frozenset[SignedAtom], ...], frozenset[SignedAtom]], bool
        ] = {}

    def exists(
        self,
        left: Left,
        memory: Mapping[LtlFormula, Left] | None,
        coming: tuple[frozenset[SignedAtom], ...] = (),
        lasting: frozenset[SignedAtom] = frozenset(),
    ) -> bool:
        """`coming` are facts that are known of the next positions, `lasting` those that hold from now on. Raises
        `TooMuch` where there are too many states to say."""
        if left == DONE:
            return True
        if not left:
            return False
        kept = None if memory is None else tuple(memory[each] for each in self.below)
        key = (left, kept, coming, lasting)
        if key not in self._known:
            if len(self._known) > MOST_STATES:
                self._known.clear()
            self._known[key] = self._search(left, kept, coming, lasting)
        return self._known[key]

    def _search(
        self,
        left: Left,
        memory: tuple[Left, ...] | None,
        coming: tuple[frozenset[SignedAtom], ...],
        lasting: frozenset[SignedAtom],
    ) -> bool:
        """Tarjan's components, found along the way; the first that counts ends the search."""
        number: dict[_State, int] = {}
        low: dict[_State, int] = {}
        stack: list[_State] = []
        on_stack: set[_State] = set()
        for duties in left:
            first = _State(duties, memory, 0)
            if first in number:
                continue
            work: list[tuple[_State, Iterator[_State]]] = []
            number[first] = low[first] = len(number)
            stack.append(first)
            on_stack.add(first)
            work.append((first, self._following(first, coming, lasting)))
            while work:
                state, following = work[-1]
                if not state.duties and state.depth >= len(coming):
                    return True
                for after in following:
                    if after not in number:
                        if len(number) > MOST_STATES:
                            raise TooMuch
                        number[after] = low[after] = len(number)
                        stack.append(after)
                        on_stack.add(after)
                        work.append((after, self._following(after, coming, lasting)))
                        break
                    if after in on_stack:
                        low[state] = min(low[state], number[after])
                else:
                    work.pop()
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[state])
                    if low[state] == number[state]:
                        component = []
                        while True:
                            member = stack.pop()
                            on_stack.discard(member)
                            component.append(member)
                            if member == state:
                                break
                        if self._counts(component, coming, lasting):
                            return True
        return False

    def _counts(
        self, component: list[_State], coming: tuple[frozenset[SignedAtom], ...], lasting: frozenset[SignedAtom]
    ) -> bool:
        if len(component) == 1 and component[0] not in set(self._following(component[0], coming, lasting)):
            return False
        marks = [{each for each in state.duties if isinstance(each, PutOff)} for state in component]
        return not set.intersection(*marks)

    def _following(
        self, state: _State, coming: tuple[frozenset[SignedAtom], ...], lasting: frozenset[SignedAtom]
    ) -> Iterator[_State]:
        depth = min(state.depth + 1, len(coming))
        known = (coming[state.depth] if state.depth < len(coming) else frozenset()) | lasting
        memory = None if state.memory is None else dict(zip(self.below, state.memory, strict=True))
        free = [fact for fact in self._facts_that_matter(state) if fact not in known]
        seen: set[_State] = set()
        # From all to none: most of what is asked for is that something happens.
        for choice in range((1 << len(free)) - 1, -1, -1):
            holds = known | {fact for place, fact in enumerate(free) if choice >> place & 1}
            position = TracePosition(holds, memory, marks=True)
            left = position.left(frozenset((state.duties,)))
            if not left:
                continue
            kept = tuple(position.after(formula) for formula in self.below)
            for duties in left:
                after = _State(duties, kept, depth)
                if after not in seen:
                    seen.add(after)
                    yield after

    def _facts_that_matter(self, state: _State) -> list[SignedAtom]:
        if self.below:
            return self.facts
        found: set[SignedAtom] = set()
        for each in state.duties:
            found |= facts_of(each.owed if isinstance(each, PutOff) else each)
        return [fact for fact in self.facts if fact in found]
