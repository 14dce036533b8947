"""When a reasoner steps: at the times at which something arrives or is decided, and at no others.

`presage run` and every shard of a run on Spark step by the same rule, so that they give the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from presage.answers import NONE, Answer, Answers
from presage.engine.waking import first_step
from presage.io.arriving import ArrivingColumns, GatheredFacts
from presage.io.facts import Fact
from presage.io.reading_back import as_pushed
from presage.io.tables import Columns, together
from presage.model.terms import Number, number
from presage.run.passages import FACTS_AT_ONCE, Passage, cut
from presage.run.passing import joined, of_last_step, takes_passages, through
from presage.run.state_passages import states_through, takes_states, told_at
from presage.run.states import HOLDS
from presage.run.stratified import StratifiedEngine

if TYPE_CHECKING:
    from presage.run.reasoner import Reasoner


@dataclass(frozen=True, slots=True)
class Arrival:
    """What arrives at one time; nothing, where only the time is to be looked at."""

    time: Number
    facts: Sequence[Fact] = ()
    tables: Sequence[Columns] = ()
    parts: int = 1
    """Times that arrive now, here or on another shard, are multiples of one unit divided by this."""


def steps(
    reasoner: Reasoner,
    facts: Sequence[Fact],
    until: Number | None,
    every: bool = False,
    pull: Number | None = None,
) -> Iterator[Sequence[Answer]]:
    """One step for each time at which something arrives or is decided, up to the end; with `every`, for each time
    point. With `pull` the answers of steps are given together, at the multiples of that length and at the end."""
    end = until if until is not None else default_end(reasoner, facts)
    arrivals = arrivals_of(facts)
    if pull is None:
        yield from walk(reasoner, arrivals, end, every=every)
    else:
        pulled = Pulled(reasoner, pull, every)
        yield from pulled.take(walk(reasoner, arrivals, end, pull=pulled.pull))
        yield from pulled.end()


def passages(reasoner: Reasoner, facts: Sequence[Fact], until: Number | None) -> Iterator[Sequence[Answer]]:
    """The same answers as those of `steps`, of as many steps at a time as the reasoner can take."""
    end = until if until is not None else default_end(reasoner, facts)
    if not isinstance(facts, GatheredFacts) or not isinstance(end, int) or facts.facts:
        yield from steps(reasoner, facts, until)
        return
    first = first_step(reasoner.first_decision, facts.first if len(facts) else None)
    more = [first, end] if isinstance(first, int) and first < end else [end]
    for passage in cut(facts.arriving, more, end):
        yield from _taken(reasoner, passage, end, passage.until == end)


def _taken(reasoner: Reasoner, passage: Passage, end: Number, last: bool) -> Iterator[Sequence[Answer]]:
    """What changes by a passage of a run that ends: all steps together, or one after the other."""
    found = _through(reasoner, passage, None if reasoner.looks_ahead else end)
    if found is not None:
        yield found
        return
    for answers in walk(reasoner, _steps_of(passage), passage.until, closed=last, through=True):
        yield answers if last else _clipped(reasoner, answers, end)


def strides(
    reasoner: Reasoner, arrivals: Iterable[Arrival], end: Number, *, closed: bool = True, through: bool = False
) -> Iterator[Sequence[Answer]]:
    """The same answers as those of `walk`, of as many steps at a time as the reasoner can take: `told_late` says when
    facts were late."""
    coming: Iterable[Arrival] = iter(arrivals)
    if _takes_passages(reasoner):
        due = takewhile(lambda each: each.time < end or (each.time == end and (closed or through)), coming)
        for some in _some_at_once(due):
            passage = _passage_of(reasoner, some) if len(some) > 1 or reasoner._states is not None else None
            found = None
            if passage is not None:
                found = _through(reasoner, passage, None if reasoner.looks_ahead or not closed else end)
            if found is not None:
                yield found
                continue
            for answers in walk(reasoner, some, some[-1].time, closed=False, through=True):
                yield _clipped(reasoner, answers, end) if closed else answers
        coming = ()
        if reasoner._states is not None and reasoner.now is not None:
            # What goes on may change at each time, without facts.
            until = end if closed or through else end - 1
            rest = None
            if reasoner.now < until:
                rest = _through(reasoner, Passage(np.array([until], np.int64), [], until))
            if rest is not None:
                yield rest
            if reasoner.now >= until:
                return
    yield from walk(reasoner, coming, end, closed=closed, through=through)


def through_stretches(
    reasoner: Reasoner, stretches: Iterable[Sequence[ArrivingColumns]], first: int, end: int
) -> Iterator[Sequence[Answer]]:
    """The same answers as those of `walk` to the end of a run, where all that arrives comes by the column, a stretch of
    time after the other; there is a step at `first`, though nothing arrives then."""
    begin = first_step(reasoner.first_decision, first)
    more = sorted({first, *([begin] if isinstance(begin, int) else [])})
    for arriving in stretches:
        last = min(max(int(each.arrivals[-1]) for each in arriving), end)
        for passage in cut(arriving, [time for time in more if time <= last], last):
            yield from _taken(reasoner, passage, end, last=False)
        more = [time for time in more if time > last]
    if reasoner.now is None or reasoner.now < end:
        for passage in cut((), [*(time for time in more if time < end), end], end):
            yield from _taken(reasoner, passage, end, last=passage.until == end)


def told_late(reasoner: Reasoner) -> list[tuple[Fact, Number]]:
    """The facts that were late since somebody asked, each with the step at which it was."""
    now, late = reasoner.now, list(reasoner.late)
    reasoner.late.clear()
    assert now is not None
    if isinstance(reasoner.engine, StratifiedEngine):
        return [(fact, fact.arrival) for fact in late]
    return [(fact, now) for fact in late]


def _takes_passages(reasoner: Reasoner) -> bool:
    engine = reasoner.engine
    if not isinstance(engine, StratifiedEngine):
        return False
    return takes_passages(engine) if reasoner._states is None else takes_states(engine)


def _some_at_once(arrivals: Iterable[Arrival]) -> Iterator[list[Arrival]]:
    """Arrivals of so many facts each as a passage has."""
    held: list[Arrival] = []
    size = 0
    for each in arrivals:
        held.append(each)
        size += len(each.facts) + sum(map(len, each.tables))
        if size >= FACTS_AT_ONCE:
            yield held
            held, size = [], 0
    if held:
        yield held


def _passage_of(reasoner: Reasoner, arrivals: Sequence[Arrival]) -> Passage | None:
    """Arrivals as a passage, where all that arrives are facts that can be taken by the column."""
    parts: dict[str, list[tuple[int, Columns]]] = {}
    steps = []
    if reasoner.now is None:
        first = first_step(reasoner.first_decision, arrivals[0].time)
        if first is not None and first < arrivals[0].time:
            steps.append(first)
    for each in arrivals:
        tables, facts = each.tables, each.facts
        if facts and isinstance(reasoner.engine, StratifiedEngine):
            # When they arrive is said by their step.
            plain = [fact if fact.arrives is None else replace(fact, arrives=None) for fact in facts]
            columns, facts = reasoner.engine.tuples.sort(plain)
            tables = [*tables, *columns]
        if facts or each.parts > 1:
            return None
        for table in tables:
            parts.setdefault(table.predicate, []).append((len(steps), table))
        steps.append(each.time)
    if not all(isinstance(step, int) for step in steps):
        return None
    found = []
    for own in parts.values():
        counts = np.bincount([place for place, _ in own], [len(table) for _, table in own], len(steps))
        begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        found.append((together([table for _, table in own]), begins))
    return Passage(np.array(steps, np.int64), found, steps[-1])


def _through(reasoner: Reasoner, passage: Passage, end: Number | None = None) -> Answers | None:
    """The answers of many steps, where the engine takes them at once; otherwise nothing, and nothing has changed."""
    if not isinstance(reasoner.engine, StratifiedEngine):
        return None
    if reasoner._states is not None:
        told = states_through(reasoner, passage)
        if told is not None:
            reasoner._told, reasoner._restored = told_at(told, passage.until), []
        return told
    found = through(reasoner.engine, passage, end)
    if found is not None:
        reasoner._told, reasoner._restored = of_last_step(found), []
    return found


def run_tables(reasoner: Reasoner, tables: Mapping[str, Any], until: Any) -> Answers:
    """The answers of all steps by the facts of tables, through a time or the last arrival."""
    facts = reasoner.given.arriving(tables)
    end = reasoner.now if not len(facts) else facts.last_arrival
    end = end if until is None else reasoner.checker.time(until, "until")
    whole = reasoner.subject.discrete
    if end is None:
        return NONE.with_times(whole)
    reasoner._check_now(facts.first if len(facts) else end)
    reasoner._check_now(end)
    before = len(reasoner.late)
    found = joined(list(run_through(reasoner, facts, end)), whole)
    late = reasoner.late[before:]
    return found.with_late(tuple(map(as_pushed, late))) if late else found


def run_through(reasoner: Reasoner, facts: GatheredFacts, until: Number) -> Iterator[Answers]:
    """What changes by facts, and by the time up to `until`, after which the stream goes on."""
    if facts.facts or not isinstance(until, int):
        for answers in walk(reasoner, arrivals_of(facts), until, closed=False, through=True):
            yield answers if isinstance(answers, Answers) else Answers(len(answers), lambda made=list(answers): made)  # type: ignore[misc]
        if reasoner.now is None or reasoner.now < until:
            yield reasoner.step([], until)
        return
    more = [until]
    if reasoner.now is None:
        first = first_step(reasoner.first_decision, facts.first if len(facts) else until)
        more = [first, until] if isinstance(first, int) and first < until else more
    for passage in cut(facts.arriving, more, until):
        found = _through(reasoner, passage)
        if found is not None:
            yield found
            continue
        for answers in walk(reasoner, _steps_of(passage), passage.until, closed=False, through=True):
            assert isinstance(answers, Answers)
            yield answers
        if reasoner.now is None or reasoner.now < passage.until:
            yield reasoner.step([], passage.until)


def _steps_of(passage: Passage) -> Iterator[Arrival]:
    """A passage one step after the other."""
    for place, time in enumerate(passage.steps.tolist()):
        spans = [(columns, int(begins[place]), int(begins[place + 1])) for columns, begins in passage.parts]
        yield Arrival(time, tables=[columns.between(begin, end) for columns, begin, end in spans if end > begin])


def arrivals_of(facts: Sequence[Fact]) -> Iterator[Arrival]:
    """What arrives, time after time."""
    arriving: dict[Number, tuple[list[Fact], list[Columns]]] = {}
    time: Number
    for fact in facts.facts if isinstance(facts, GatheredFacts) else facts:
        arriving.setdefault(fact.arrival, ([], []))[0].append(fact)
    if not arriving and isinstance(facts, GatheredFacts):
        for passage in cut(facts.arriving, (), facts.last_arrival):
            yield from _steps_of(passage)
        return
    if isinstance(facts, GatheredFacts):
        for each in facts.arriving:
            for time, table in each.columns.by(each.arrivals):
                arriving.setdefault(time, ([], []))[1].append(table)
    for time in sorted(arriving):
        yield Arrival(time, *arriving.pop(time))


def default_end(reasoner: Reasoner, facts: Iterable[Fact]) -> Number:
    """The last step of a run where nobody says which: everything is decided by then, also of what facts say of times
    after the last arrival."""
    last = facts.last if isinstance(facts, GatheredFacts) else max((fact.last for fact in facts), default=0)
    return reasoner.end_after(last)


@dataclass
class _Collected:
    """What has changed since answers were given the last time: the latest line of each answer. What came and went in
    between, and was never shown, is left out."""

    shown: dict[str, Answer] = field(default_factory=dict)
    waiting: dict[str, Answer] = field(default_factory=dict)

    def take(self, answers: Iterable[Answer]) -> None:
        for answer in answers:
            self.waiting.pop(answer.answer, None)
            self.waiting[answer.answer] = answer

    def give(self, now: Number) -> list[Answer]:
        found = []
        for text, answer in self.waiting.items():
            before = self.shown.pop(text, None)
            if answer.status in ("possible", "unsupported"):
                self.shown[text] = answer
                is_news = answer.status == "possible" or before is not None
                if not is_news:
                    del self.shown[text]
                if not is_news or (before is not None and replace(before, now=answer.now) == answer):
                    continue
            elif answer.status == "refuted" and before is None:
                continue
            shown = replace(answer, now=now)
            shown.text = answer.text
            found.append(shown)
        self.waiting = {}
        return sorted(found, key=lambda answer: answer.answer)


class Pulled:
    """Steps whose answers are given together, at the multiples of a length and at the end."""

    def __init__(self, reasoner: Reasoner, length: Number, every: bool) -> None:
        self.reasoner, self.every = reasoner, every
        self.collected = _Collected()
        self.given: Number | None = None
        self.pull = Pull(length, self._coming)

    def _coming(self) -> Number | None:
        now = self.reasoner.now
        if now is None or not (self.every or self.collected.waiting):
            return None
        return number((now // self.pull.length + 1) * self.pull.length)

    def take(self, steps: Iterable[Sequence[Answer]]) -> Iterator[list[Answer]]:
        """The answers that are due within some steps."""
        for answers in steps:
            self.collected.take(answers)
            now = self.reasoner.now
            if now is not None and now % self.pull.length == 0:
                self.given = now
                yield self.collected.give(now)

    def end(self) -> Iterator[list[Answer]]:
        """What is left when the run is over."""
        if self.reasoner.now is not None and self.given != self.reasoner.now:
            yield self.collected.give(self.reasoner.now)


def now_and_then(answers: Iterable[Answer], length: Number, end: Number) -> Iterator[list[Answer]]:
    """What a run has told, in the order of its steps, as one that is asked at the multiples of a length and at the end
    would have told it."""
    collected = _Collected()
    due: Number | None = None
    for answer in answers:
        asked = min(number(ceil(answer.now / length) * length), end)
        if due is not None and asked > due:
            yield collected.give(due)
        due = asked
        collected.take([answer])
    if due is not None:
        yield collected.give(due)


@dataclass(frozen=True, slots=True)
class Pull:
    """When answers are asked for: at the multiples of a length."""

    length: Number
    coming: Callable[[], Number | None] = lambda: None
    """The next time at which a step must be made for it."""


def walk(
    reasoner: Reasoner,
    arrivals: Iterable[Arrival],
    end: Number,
    *,
    closed: bool = True,
    through: bool = False,
    every: bool = False,
    pull: Pull | None = None,
) -> Iterator[Sequence[Answer]]:
    """Steps through arrivals in the order of their times, to the end of the run, which is the last step. If the run
    is not `closed`, it goes on later: steps lie before `end`, or with `through` not after it, and a reasoner that has
    stepped before goes on."""
    coming = iter(arrivals)
    following = next(coming, None)
    while True:
        step = _next_step(reasoner, following, end, closed, through, every, None if pull is None else pull.coming())
        if step is None:
            return
        due = Arrival(step)
        if following is not None and following.time == step:
            due, following = following, next(coming, None)
        if due.parts > 1:
            reasoner.refine(due.parts)
        if pull is not None and reasoner.reads_now and step % pull.length != 0 and step != end:
            # Each step would be an evaluation of its own, and nobody asks for this one.
            reasoner.take(due.facts, step)
            answers: Sequence[Answer] = []
        else:
            answers = reasoner.step(due.facts, step, due.tables)
        yield _clipped(reasoner, answers, end) if closed else answers


def _clipped(reasoner: Reasoner, answers: Sequence[Answer], end: Number) -> Sequence[Answer]:
    """The answers of a run that ends, with what is said of intervals up to there."""
    if reasoner.looks_ahead or all(answer.time is not None for answer in answers):
        return answers
    return [clipped for answer in answers if (clipped := clip(answer, end)) is not None]


def _next_step(
    reasoner: Reasoner,
    following: Arrival | None,
    end: Number,
    closed: bool,
    through: bool,
    every: bool,
    pull: Number | None,
) -> Number | None:
    now = reasoner.now
    candidates: list[Number] = [] if following is None else [following.time]
    if now is not None:
        wake = reasoner.next_decision()
    else:
        wake = first_step(reasoner.first_decision, None if following is None else following.time)
    candidates += [each for each in (wake, pull) if each is not None]
    if closed and (now is None or now < end):
        candidates.append(end)
    if every and now is not None and reasoner.subject.discrete:
        candidates.append(now + 1)
    step = min(candidates, default=None)
    if step is None or step > end or (step == end and not (closed or through)) or (now is not None and step <= now):
        return None
    return step


def clip(answer: Answer, end: Number) -> Answer | None:
    """What is said of an interval ends with the run; an answer at a single time, or at an open one, is told, whenever
    that is, and so is what goes on."""
    if answer.time is not None or answer.open_time or answer.status == HOLDS:
        return answer
    if answer.start is not None and (answer.start > end or (answer.start == end and answer.bounds[0] == "(")):
        return None
    if answer.end is None or answer.end > end:
        if answer.start == end:
            return replace(answer, time=end, start=None, end=None, bounds="")
        return replace(answer, end=end, bounds=answer.bounds[0] + "]")
    return answer
