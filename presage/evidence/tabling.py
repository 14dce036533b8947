"""What holds, found from the question down: tables of goals, filled until nothing is new.

A goal is a predicate with some of its arguments given. Rules whose head fits ask further goals, over the
times that matter and no others; each goal collects answers until none is new. There are two worlds over the
same stream. In the *sure* one holds what is entailed whatever still arrives; in the other one whatever may
come to hold. Each asks the other about what it negates: something is surely absent if it cannot come to hold.
The two approach each other by turns ([HA]'s T-stratified programs have nothing left between them once
everything has arrived).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from presage.core.rules import CoreRule
from presage.errors import PresageError
from presage.evidence.proof import Asked, InputFact, NamedValues, Record
from presage.evidence.solve import Solver, body_times, head_times, known, matched
from presage.model.delays import longest_delay
from presage.model.statements import Input
from presage.model.terms import Constant, Number, Value, Variable
from presage.rewrite.lowering import lower
from presage.time.exact_sets import ALWAYS, LAST, NEVER, ExactTimes, PieceArithmetic, hull, meet, union, without

CalledAtom = tuple[str, tuple[Value, ...]]

MOST_TURNS = 500_000
"""So often a rule may be looked at before a program is taken for one that never ends."""
MOST_STEPS = 24
"""So often the times that matter for a goal may grow before all times on that side are taken to matter."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a ground atom came to hold at some times: a fact, or a rule with its values and the body's times.
    Everything it rests on was found at an earlier turn."""

    turn: int
    times: ExactTimes
    fact: InputFact | None = None
    rule: int = -1
    head: int = -1
    binding: tuple[tuple[str, Value], ...] = ()
    body: ExactTimes = NEVER


@dataclass(slots=True)
class TableGoal:
    needed: ExactTimes = NEVER
    """The times that matter."""
    ready: ExactTimes = NEVER
    """The part of them for which the answers are all there."""
    answers: dict[Asked, ExactTimes] = field(default_factory=dict)
    readers: set[tuple[str, Asked]] = field(default_factory=set)
    steps: int = 0


class SeenStream:
    """The facts a look at a time sees, and what the program says about them."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.line = PieceArithmetic(record.discrete)
        self.rules = lower(record.program, record.discrete).rules
        self.stream = self.line.piece(0, math.inf)
        self.statics: dict[str, set[tuple[Value, ...]]] = {each.predicate: set() for each in record.program.statics}
        for name, arguments in record.statics:
            self.statics.setdefault(name, set()).add(arguments)
        self.heads: dict[str, list[tuple[int, int]]] = {}
        for number, rule in enumerate(self.rules):
            for place, head in enumerate(rule.conclusions):
                name = head.atom.predicate
                if name in self.statics:
                    known = (each.value for each in head.atom.arguments if isinstance(each, Constant))
                    self.statics[name].add(tuple(known))
                else:
                    self.heads.setdefault(name, []).append((number, place))
        self.inputs: dict[str, list[Input]] = {}
        for declared in record.program.inputs:
            self.inputs.setdefault(declared.predicate, []).append(declared)
        self.by_argument: dict[tuple[str, int, Value], list[InputFact]] = {}
        self.by_name: dict[str, list[InputFact]] = {}
        self._take(record.facts)

    def go_on(self, at: Number, facts: Iterable[InputFact]) -> None:
        """The look is at a later time, and more facts are there."""
        self.record = replace(self.record, at=at)
        self._take(facts)

    def _take(self, facts: Iterable[InputFact]) -> None:
        for fact in facts:
            allowed = self._start(fact) + self.delay(fact.predicate, fact.arguments)
            if fact.arrives <= min(allowed, self.record.at):
                self.by_name.setdefault(fact.predicate, []).append(fact)
                for place, value in enumerate(fact.arguments):
                    self.by_argument.setdefault((fact.predicate, place, value), []).append(fact)

    @staticmethod
    def _start(fact: InputFact) -> Number:
        assert fact.span.low is not None
        return fact.span.low

    def is_input(self, name: str) -> bool:
        return name in self.inputs or (name not in self.heads and name not in self.statics)

    def delay(self, name: str, pattern: Asked) -> Number:
        """How late such a fact may be."""
        return longest_delay(self.inputs.get(name, []), pattern)

    def facts(self, name: str, pattern: Asked) -> Iterator[InputFact]:
        listed = [
            self.by_argument.get((name, place, value), []) for place, value in enumerate(pattern) if value is not None
        ]
        for fact in min(listed, key=len) if listed else self.by_name.get(name, []):
            if all(wanted is None or wanted == given for wanted, given in zip(pattern, fact.arguments, strict=True)):
                yield fact

    def may_arrive(self, name: str, pattern: Asked) -> ExactTimes:
        """The times at which such an input fact is still possible."""
        settled = self.record.at - self.delay(name, pattern)
        return meet(self.line.piece(settled, math.inf, False), self.stream)

    def rule_times(self, rule: CoreRule) -> ExactTimes:
        """When an instance of a rule exists: no pin, nor the look at an unpinned literal, lies before the start."""
        times = ALWAYS
        for pin in rule.pins:
            if pin.base is not None:
                times = meet(times, self.line.piece(-pin.offset, math.inf))
            elif pin.offset < 0:
                return NEVER
        if not any(isinstance(pin.base, Variable) for pin in rule.pins):
            times = meet(times, self.stream)
        return times


class StreamReading(Solver):
    """One of the two readings of the stream."""

    def __init__(self, stream: SeenStream, sure: bool) -> None:
        self.seen, self.sure = stream, sure
        self.line, self.statics = stream.line, stream.statics
        self.goals: dict[tuple[str, Asked], TableGoal] = {}
        self.reasons: dict[CalledAtom, list[Reason]] = {}
        self.todo: deque[tuple[str, Asked]] = deque()
        self.waiting: set[tuple[str, Asked]] = set()
        self.reading: tuple[str, Asked] | None = None
        self.turn = 0
        self.grew = False
        self.other: StreamReading | None = None

    @property
    def opposite(self) -> StreamReading:
        assert self.other is not None
        return self.other

    def answers(self, predicate: str, pattern: Asked, during: ExactTimes) -> Iterator[tuple[Asked, ExactTimes]]:
        key = (predicate, pattern)
        self.ask(key, during)
        goal = self.goals[key]
        if self.reading is not None:
            goal.readers.add(self.reading)
        elif not self.sure and without(meet(during, self.seen.stream), goal.ready):
            # Not worked out yet: until it is, everything may be.
            return iter([(pattern, self.seen.stream)])
        return iter(list(goal.answers.items()))

    def ask(self, key: tuple[str, Asked], during: ExactTimes) -> None:
        """Makes a goal matter during these times."""
        goal = self.goals.setdefault(key, TableGoal())
        wanted = hull(union((goal.needed, meet(during, self.seen.stream))))
        if wanted == goal.needed:
            return
        goal.steps += 1
        if goal.needed and goal.steps > MOST_STEPS:
            low, high = wanted[0]
            if low < goal.needed[0][0]:
                low = self.seen.stream[0][0]
            if high > goal.needed[0][1]:
                high = LAST
            wanted = ((low, high),)
        goal.needed = wanted
        self.grew = True
        self._later(key)

    def _later(self, key: tuple[str, Asked]) -> None:
        if key not in self.waiting:
            self.waiting.add(key)
            self.todo.append(key)

    def restart(self) -> None:
        """Forgets the answers but not what was asked."""
        for key, goal in self.goals.items():
            goal.answers.clear()
            self._later(key)

    def again(self) -> None:
        for key in self.goals:
            self._later(key)

    def saturate(self) -> bool:
        """Works until nothing is new; whether anything was."""
        changed = False
        while self.todo:
            key = self.todo.popleft()
            self.waiting.discard(key)
            self._next_turn()
            if self.turn > MOST_TURNS:
                raise PresageError("the rules reach too far through time or values for an explanation")
            self.reading = key
            found = self._look(key)
            self.reading = None
            if found:
                changed = True
                for reader in self.goals[key].readers:
                    self._later(reader)
        for goal in self.goals.values():
            goal.ready = goal.needed
        return changed

    def _next_turn(self) -> None:
        """What was added before now counts as found earlier."""
        self.turn += 1

    def _look(self, key: tuple[str, Asked]) -> bool:
        name, pattern = key
        goal = self.goals[key]
        during = goal.needed
        changed = False
        if self.seen.is_input(name):
            for fact in self.seen.facts(name, pattern):
                times = meet(self.line.span(fact.span), during)
                changed |= self._add(goal, name, fact.arguments, times, fact=fact)
            if not self.sure:
                changed |= self._add(goal, name, pattern, meet(self.seen.may_arrive(name, pattern), during))
        for number, place in self.seen.heads.get(name, []):
            rule = self.seen.rules[number]
            head = rule.conclusions[place]
            atom = head.atom
            binding = matched(atom, pattern, {})
            if binding is None:
                continue
            self._next_turn()
            looked_at = meet(hull(body_times(self.line, head, during)), self.seen.rule_times(rule))
            for more, body in self.all_of(rule.body, binding, looked_at):
                arguments = tuple(known(term, more) for term in atom.arguments)
                if self.sure and None in arguments:
                    continue
                times = meet(head_times(self.line, head, body), during)
                changed |= self._add(goal, name, arguments, times, rule=number, head=place, binding=more, body=body)
        return changed

    def _add(
        self,
        goal: TableGoal,
        name: str,
        arguments: Asked,
        times: ExactTimes,
        *,
        fact: InputFact | None = None,
        rule: int = -1,
        head: int = -1,
        binding: NamedValues | None = None,
        body: ExactTimes = NEVER,
    ) -> bool:
        before = goal.answers.get(arguments, NEVER)
        new = without(times, before)
        if not new:
            return False
        goal.answers[arguments] = union((before, new))
        if self.sure:
            values = tuple(value for value in arguments if value is not None)
            entry = Reason(self.turn, new, fact, rule, head, tuple(sorted((binding or {}).items())), body)
            self.reasons.setdefault((name, values), []).append(entry)
        return True


class Worlds:
    """Both worlds, asked about one ground atom."""

    def __init__(self, stream: SeenStream) -> None:
        self.stream = stream
        self.line = stream.line
        self.sure, self.maybe = StreamReading(self.stream, True), StreamReading(self.stream, False)
        self.sure.other, self.maybe.other = self.maybe, self.sure

    def find(self, name: str, arguments: tuple[Value, ...], times: ExactTimes) -> bool:
        """Whether the atom is entailed throughout these times."""
        key = (name, arguments)
        self.sure.ask(key, times)
        return self.settle(lambda: not self.not_found(name, arguments, times))

    def not_found(self, name: str, arguments: tuple[Value, ...], times: ExactTimes) -> ExactTimes:
        """Of the times an atom was looked for, those at which it is not entailed."""
        return without(times, self.sure.goals[name, arguments].answers.get(arguments, NEVER))

    def settle(self, enough: Callable[[], bool] = lambda: False) -> bool:
        """Works both worlds out by turns, until enough is known; whether that came about."""
        while True:
            self.sure.grew = self.maybe.grew = False
            changed = self.sure.saturate()
            if enough():
                return True
            self.maybe.restart()
            self.maybe.saturate()
            self.sure.again()
            changed |= self.sure.saturate()
            if not changed and not self.sure.grew and not self.maybe.grew:
                return False
