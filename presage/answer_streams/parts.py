"""Answer streams of a program that goes on, in parts that have nothing to do with one another.

Rule instances that share no uncertain fact can be solved apart: the answer streams of the whole are all combinations
of those of the parts. A part is solved again only when an instance is added to it. And what is behind need not
be kept as rules: facts that no rule to come derives split a program, so that its answer streams are those of the
bottom, each continued by the top. Of the bottom's answer streams a part keeps its `OpenState`s: what they say
of the facts that a rule to come may look at, and which facts hold in all streams that say so. A part no such
fact is left of is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from presage.answer_streams.expressions import TRUE, Candidate, GroundLiteral, candidates_of, some_of
from presage.answer_streams.grounding import GroundProgram, GroundRule
from presage.answer_streams.solving import ChosenFacts, answer_streams, consequences
from presage.answer_streams.streams import NOTHING
from presage.answer_streams.values import Ground
from presage.time.points import FAR, NEVER, Times

MOST_STREAMS = 256
"""As many answer streams of a part are told apart. A part with more keeps its rules, and is solved as a whole."""

Pending = Mapping[Ground, Times]
"""Facts that are asked for, and hold in all answer streams of a state but not in all there are."""


@dataclass(frozen=True, slots=True)
class OpenState:
    """Answer streams that agree on all that can still be looked at."""

    true: ChosenFacts
    pending: Pending


@dataclass(eq=False)
class OpenPart:
    """Some alternatives, of each of which one state holds, and rules over them."""

    choices: list[tuple[OpenState, ...]] = field(default_factory=list)
    rules: list[GroundRule] = field(default_factory=list)
    known: set[Candidate] = field(default_factory=set)
    said: set[Candidate] = field(default_factory=set)
    due: int = 0
    """When it is looked at again, though nothing is added to it."""

    def take_in(self, other: OpenPart) -> None:
        self.choices += other.choices
        self.rules += other.rules
        self.known |= other.known
        self.said |= other.said

    @property
    def heads(self) -> set[Candidate]:
        """The facts that its rules derive."""
        return {each for rule in self.rules for alternative in rule.alternatives for each in alternative}


@dataclass(frozen=True)
class Deadlines:
    """When facts are final, and until when rules to come may look at them."""

    lag: Mapping[str, int]
    reach: Mapping[str, int]
    alternatives: frozenset[str]
    """The predicates that are alternatives to others in some head."""
    is_asked: Callable[[Candidate], bool]

    def final(self, candidate: Candidate) -> int:
        return candidate[1] + self.lag[candidate[0][0]]

    def is_idle(self, candidate: Candidate) -> bool:
        """Whether a fact changes nothing for others: no rule looks at it, nor makes it an alternative to others."""
        return candidate[0][0] not in self.reach and candidate[0][0] not in self.alternatives

    def last_look(self, candidate: Candidate) -> int:
        reach = self.reach.get(candidate[0][0])
        return -1 if reach is None else candidate[1] + reach


class OpenParts:
    """All parts of a program in which something is open."""

    def __init__(self, deadlines: Deadlines) -> None:
        self.deadlines = deadlines
        self.is_inconsistent = False
        self._part_of: dict[Candidate, OpenPart] = {}
        self._parts: dict[OpenPart, None] = {}
        self._aside: dict[Candidate, list[GroundRule]] = {}
        """Facts that no rule looks at, and their rules, until they are final."""
        self._waited_for: set[Candidate] = set()
        """What these rules look at."""

    def __len__(self) -> int:
        return len(self._parts) + len(self._aside)

    @property
    def remembered(self) -> int:
        """How many rules and states there are."""
        return sum(len(part.rules) + sum(map(len, part.choices)) for part in self._parts)

    def memory(self) -> tuple[bool, list[OpenPart], dict[Candidate, list[GroundRule]]]:
        return self.is_inconsistent, list(self._parts), self._aside

    def remember(self, memory: tuple[bool, list[OpenPart], dict[Candidate, list[GroundRule]]]) -> None:
        self.is_inconsistent, parts, self._aside = memory
        self._parts = dict.fromkeys(parts)
        self._part_of = {candidate: part for part in parts for candidate in part.known}

    def now_certain(self, holds: Callable[[Candidate], bool]) -> None:
        """Facts that were open, as more instances could derive them, and that the stream has brought."""
        for part in list(self._parts):
            for candidate in part.heads:
                if holds(candidate) and (fact := GroundRule((frozenset((candidate,)),), TRUE)) not in part.rules:
                    part.rules.append(fact)
                    part.due = -1

    def advance(self, rules: Sequence[GroundRule], now: int) -> list[Candidate] | None:
        """Takes new rules; gives the facts asked for that now hold in all answer streams, none if there is none."""
        for rule in rules:
            if not self._put_aside(rule):
                self._add(rule)
        confirmed = self._ends(now)
        if confirmed is None:
            self.is_inconsistent = True
            return None
        self._waited_for = {
            each for rules_of in self._aside.values() for rule in rules_of for each in candidates_of(rule.body)
        }
        for part in list(self._parts):
            if part.due <= now:
                found = self._solve(part, now)
                if found is None:
                    self.is_inconsistent = True
                    return None
                confirmed += found
        return None if self.is_inconsistent else confirmed

    # -- facts no rule looks at ------------------------------------------------------------------------

    def _put_aside(self, rule: GroundRule) -> bool:
        """Facts that change nothing for others wait, if they are asked for, until they are final, and tie no parts
        together if they then turn out to hold in all answer streams, or never to."""
        if len(rule.alternatives) != 1 or not all(map(self.deadlines.is_idle, rule.alternatives[0])):
            return False
        for candidate in rule.alternatives[0]:
            if self.deadlines.is_asked(candidate) and candidate not in self._part_of:
                self._aside.setdefault(candidate, []).append(GroundRule((frozenset((candidate,)),), rule.body))
        return all(candidate not in self._part_of for candidate in rule.alternatives[0])

    def _ends(self, now: int) -> list[Candidate] | None:
        """Of the facts that no rule looks at and that have become final, those that hold in all answer streams."""
        together: dict[frozenset[OpenPart], list[Candidate]] = {}
        for candidate in [each for each in self._aside if self.deadlines.final(each) <= now]:
            seen = {each for rule in self._aside[candidate] for each in candidates_of(rule.body)}
            parts = frozenset(part for each in seen if (part := self._part_of.get(each)) is not None)
            together.setdefault(parts, []).append(candidate)
        confirmed: list[Candidate] = []
        for parts, candidates in together.items():
            rules = [self._aside.pop(candidate) for candidate in candidates]
            bodies = [some_of(rule.body for rule in each) for each in rules]
            choices = [states for part in parts for states in part.choices]
            program = GroundProgram(NOTHING, (*(rule for part in parts for rule in part.rules), *_chosen(choices)))
            truths = consequences(program, bodies, in_all=True)
            if truths is None:
                return None
            for part in parts:  # what was kept for these facts alone may go
                part.due = -1
            for candidate, true, each in zip(candidates, truths, rules, strict=True):
                if true:
                    confirmed.append(candidate)
                elif any(self._may_change(part, now) for part in parts):
                    for rule in each:
                        self._add(rule)
        return confirmed

    def _may_change(self, part: OpenPart, now: int) -> bool:
        """Whether a rule to come may look at something in a part, or derive it."""
        deadlines = self.deadlines
        return any(deadlines.last_look(each) > now for each in part.known) or any(
            deadlines.final(each) > now for each in part.heads
        )

    def _add(self, rule: GroundRule) -> None:
        told = {each for alternative in rule.alternatives for each in alternative}
        touched = told | set(candidates_of(rule.body))
        together = list(dict.fromkeys(part for each in touched if (part := self._part_of.get(each)) is not None))
        whole, *others = together or [OpenPart()]
        for other in others:
            if len(other.known) > len(whole.known):
                whole, other = other, whole
            whole.take_in(other)
            self._part_of.update(dict.fromkeys(other.known, whole))
            self._parts.pop(other, None)
        self._parts[whole] = None
        whole.rules.append(rule)
        whole.known |= touched
        whole.due = -1
        self._part_of.update(dict.fromkeys(touched, whole))

    # -- solving ---------------------------------------------------------------------------------------

    def _solve(self, part: OpenPart, now: int) -> list[Candidate] | None:
        deadlines = self.deadlines
        heads = part.heads
        bottom, top = split(part.rules, {each for each in heads if deadlines.final(each) > now})
        looked_at = {each for rule in top for each in _facts_of(rule)} | self._waited_for
        decided = {each for rule in bottom for each in _facts_of(rule)} | {
            each for states in part.choices for state in states for each in state.true
        }
        in_sight = {each for each in decided if deadlines.last_look(each) > now or each in looked_at}
        asked = [each for each in heads - part.said if deadlines.final(each) <= now and deadlines.is_asked(each)]
        program = GroundProgram(NOTHING, (*part.rules, *_chosen(part.choices)))
        streams = list(islice(answer_streams(program), MOST_STREAMS + 1)) if in_sight or top else None
        if streams is not None and len(streams) <= MOST_STREAMS:
            if not streams:
                return None
            found = self._fold(part, streams, in_sight, asked, top)
        else:
            by_marker = _pending(part.choices)
            facts = [*asked, *by_marker]
            expressions = [
                *map(GroundLiteral, asked),
                *(some_of(map(GroundLiteral, each)) for each in by_marker.values()),
            ]
            truths = consequences(program, expressions, in_all=True)
            if truths is None:
                return None
            found = [fact for fact, true in zip(facts, truths, strict=True) if true]
            if streams is None:  # nothing to come can look at it
                self._drop(part)
                return found
            part.said.update(found)
            part.choices = [tuple(_without(state, found) for state in states) for states in part.choices]
        left = {each for states in part.choices for state in states for each in state.true}
        left.update(each for rule in part.rules for each in _facts_of(rule))
        self._forget_behind(part, left)
        if left:
            part.due = self._due(part, now)
        else:
            self._drop(part)
        return found

    def _fold(
        self,
        part: OpenPart,
        streams: Sequence[ChosenFacts],
        in_sight: set[Candidate],
        asked: Sequence[Candidate],
        top: list[GroundRule],
    ) -> list[Candidate]:
        """Replaces the bottom's rules by what their answer streams say of the facts in sight."""
        groups: dict[ChosenFacts, dict[Ground, Times]] = {}
        for stream in streams:
            holds = _holding(part.choices, stream)
            for ground, time in asked:
                if (ground, time) in stream:
                    holds[ground] = holds.get(ground, NEVER) | Times.at(time)
            true = frozenset(stream & in_sight)
            before = groups.get(true)
            groups[true] = holds if before is None else _shared((before, holds))
        everywhere = _shared(list(groups.values()))
        states = tuple(
            OpenState(
                true, {each: rest for each, times in holds.items() if (rest := times - everywhere.get(each, NEVER))}
            )
            for true, holds in groups.items()
        )
        part.rules = top
        part.choices = [states] if len(states) > 1 or states[0].true else []
        confirmed = [(ground, time) for ground, times in everywhere.items() for time in times.points()]
        part.said = {each for each in part.said | set(confirmed) if each in part.heads}
        return confirmed

    def _forget_behind(self, part: OpenPart, needed: set[Candidate]) -> None:
        for candidate in part.known - needed:
            del self._part_of[candidate]
        part.known &= needed

    def _drop(self, part: OpenPart) -> None:
        self._forget_behind(part, set())
        del self._parts[part]

    def _due(self, part: OpenPart, now: int) -> int:
        """When a fact becomes final, or the last one is out of sight."""
        final = [at for each in part.heads if (at := self.deadlines.final(each)) > now]
        seen = [at for each in part.known if (at := self.deadlines.last_look(each)) > now]
        return min((*final, max(seen, default=FAR)))


def split(rules: Iterable[GroundRule], open_facts: set[Candidate]) -> tuple[list[GroundRule], list[GroundRule]]:
    """The rules that no rule to come can change anything about, and the others: those that derive open facts, or
    hang on what does."""
    rules = list(rules)
    raised = set(open_facts)
    growing = True
    while growing:
        growing = False
        for rule in rules:
            told = {each for alternative in rule.alternatives for each in alternative}
            if told - raised and any(each in raised for each in _facts_of(rule)):
                raised |= told
                growing = True
    top = [rule for rule in rules if any(each in raised for each in _facts_of(rule))]
    return [rule for rule in rules if not any(each in raised for each in _facts_of(rule))], top


def _facts_of(rule: GroundRule) -> Iterator[Candidate]:
    for alternative in rule.alternatives:
        yield from alternative
    yield from candidates_of(rule.body)


def _marker(choice: int, state: int) -> Candidate:
    """A fact of its own for each state; no program has such a predicate."""
    return ("", (choice, state)), -1


def _chosen(choices: Sequence[tuple[OpenState, ...]]) -> Iterator[GroundRule]:
    for number, states in enumerate(choices):
        yield GroundRule(tuple(state.true | {_marker(number, place)} for place, state in enumerate(states)), TRUE)


def _pending(choices: Sequence[tuple[OpenState, ...]]) -> dict[Candidate, list[Candidate]]:
    """Each pending fact with the markers of the states in which it holds."""
    found: dict[Candidate, list[Candidate]] = {}
    for number, states in enumerate(choices):
        for place, state in enumerate(states):
            for ground, times in state.pending.items():
                for time in times.points():
                    found.setdefault((ground, time), []).append(_marker(number, place))
    return found


def _holding(choices: Sequence[tuple[OpenState, ...]], stream: ChosenFacts) -> dict[Ground, Times]:
    """What is pending in the states of an answer stream."""
    found: dict[Ground, Times] = {}
    for number, states in enumerate(choices):
        for place, state in enumerate(states):
            if _marker(number, place) in stream:
                for ground, times in state.pending.items():
                    found[ground] = found.get(ground, NEVER) | times
    return found


def _shared(each: Sequence[Mapping[Ground, Times]]) -> dict[Ground, Times]:
    first, *others = each
    found = dict(first)
    for other in others:
        found = {ground: both for ground, times in found.items() if (both := times & other.get(ground, NEVER))}
    return found


def _without(state: OpenState, facts: Iterable[Candidate]) -> OpenState:
    pending = dict(state.pending)
    for ground, time in facts:
        if ground in pending:
            pending[ground] = pending[ground] - Times.at(time)
    return OpenState(state.true, {ground: times for ground, times in pending.items() if times})
