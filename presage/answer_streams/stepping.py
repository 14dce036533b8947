"""Answer streams tick by tick: what `presage run` does for programs that may have none or several.

At each step the program is grounded over what has arrived so far, and what holds in all its answer streams is
confirmed. With `reading every` only what is final counts (`settling.py`): what is confirmed stays so. With
`reading now` each step is an evaluation of its own. Grounding starts afresh at each step; `stepping_kept.py` is for
programs that can do better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from presage.analysis.differences import NOW
from presage.analysis.lookback import Unbounded, look_backs
from presage.analysis.subject import Subject
from presage.answer_streams import saving
from presage.answer_streams.evaluation import Evaluation, facts_at_times
from presage.answer_streams.expressions import TRUE, Candidate, GroundLiteral
from presage.answer_streams.grounding import GroundProgram, bounds, ground_program
from presage.answer_streams.program_world import ProgramWorld, span_of
from presage.answer_streams.settling import (
    ArrivedRows,
    SettlingTimes,
    check_steps,
    counts_ahead,
    lags,
    lead_of,
    longest_wait,
)
from presage.answer_streams.solving import consequences
from presage.answer_streams.streams import FactsInTime, extend
from presage.answer_streams.values import Invented
from presage.answer_streams.windows import length
from presage.answer_streams.words import NullNames
from presage.answers import Answer, Answers, arrow_column, bindings_of, inconsistent
from presage.checking import Report
from presage.errors import PresageError
from presage.io.facts import Checker, Fact
from presage.io.tables import Columns
from presage.model.printer import show_number
from presage.model.statements import Query
from presage.model.terms import Number
from presage.plan.aftermath import aftermath, last_fixed
from presage.rewrite import core_of
from presage.time.points import FAR


def how_far_back(subject: Subject) -> int | None:
    """With `reading now`: how far before a step any fact lies that it looks at or speaks of, if that is bounded."""
    found = look_backs(subject)
    if isinstance(found, Unbounded):
        return None
    behind = [distance for each in found for names in each.behind.values() for distance in names.values()]
    spoken = [timing.bounds.range(NOW, head.node)[1] for timing in subject.timings for head in timing.heads]
    farthest = max((0, *behind, *spoken))
    return farthest if isinstance(farthest, int) else None


class AnswerStreamSteps:
    """Feeds facts to a program and gives what holds in all its answer streams. Steps go forward in time."""

    may_repeat = False
    """Whether there may be another step at the time of the last one: for what is only supposed."""
    told_as: str | None = "confirmed"

    def __init__(self, report: Report, subject: Subject | None = None, invents: bool = False) -> None:
        assert report.findings is not None
        self.subject = subject or report.findings.subject
        check_steps(self.subject, invents)
        self.checker = Checker(self.subject.program, self.subject.predicates, self.subject.discrete)
        self.lags: SettlingTimes | None = None
        self.longest_lag = 0
        self.lead = 0
        """How much later than it is the clock shows that rules are looked at by."""
        if self.subject.reading == "every":
            self.longest_lag = longest_wait(self.subject, lags(self.subject))
            self.lead = lead_of(self.subject)
            self.lags = lags(self.subject, self.lead)
        self._counts_ahead = self.lags is not None and any(map(counts_ahead, core_of(self.subject).rules))
        """Whether what has arrived says how long windows take to be settled."""
        self.now: int | None = None
        self.late: list[Fact] = []
        self._given: list[Fact] = []
        self._said: set[Candidate] = set()
        self._reach = None if self.subject.reading == "every" else how_far_back(self.subject)
        self._is_idle = False
        self.certain = FactsInTime()
        """What holds in all models, as of the last step and as far as it is in memory."""

    def memory(self) -> dict[str, Any]:
        """All that a step depends on, as plain JSON values."""
        return {
            "now": self.now,
            "late": [saving.fact(each) for each in self.late],
            "given": [saving.fact(each) for each in self._given],
            "said": saving.candidates(self._said),
            "idle": self._is_idle,
        }

    def save(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"steps": self.memory()}, {}

    def load(self, header: dict[str, Any], arrays: object) -> None:
        self.remember(header["steps"])

    def remember(self, memory: dict[str, Any]) -> None:
        """Goes on from what was in memory."""
        self.now = saving.whole(memory["now"])
        self.late, self._given = ([saving.read_fact(each) for each in memory[name]] for name in ("late", "given"))
        self._said, self._is_idle = saving.read_candidates(memory["said"]), bool(memory["idle"])

    @property
    def remembered(self) -> int:
        """How many facts are in memory, given and derived ones."""
        return len(self._given) + sum(1 for _ in self.certain.ground())

    def end_after(self, last: Number) -> Number:
        """The last step of a run that nobody ends, whose facts speak of times up to `last`. With `reading now` answers
        are about the times of steps alone."""
        if self.subject.reading == "now":
            return last + self.longest_lag
        return max(last, last_fixed(self.subject)) + aftermath(self.subject) + self.longest_lag

    def lag(self, predicate: str) -> Number:
        """How long after its time an answer is settled."""
        return self.longest_lag

    def standing(self, told: Answers) -> Sequence[Answer]:
        """What stands now: what the last step, which told so much, confirmed."""
        return told

    def confirmed(self, told: Answers) -> Sequence[Answer]:
        return told

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate and holds in all models, as an Arrow table."""
        import pyarrow as pa

        known = self.subject.predicates[name]
        rows = [
            (arguments, low, high)
            for arguments in self.certain.arguments(name)
            for low, high in self.certain.times(name, arguments).spans
        ]
        columns: dict[str, list[Any]] = {}
        names = NullNames()
        for place in range(known.arity):
            title = known.columns[place].name if place < len(known.columns) else str(place + 1)
            columns[title] = [names.json(arguments[place]) for arguments, _, _ in rows]
        columns["from"] = [show_number(low) for _, low, _ in rows]
        columns["to"] = [None if high >= FAR else show_number(high) for _, _, high in rows]
        columns["bounds"] = ["[)" if high >= FAR else "[]" for _, _, high in rows]
        return pa.table({title: arrow_column(values) for title, values in columns.items()})

    @property
    def first_decision(self) -> Number | None:
        """Ticks start at 0, unless times are real ones: then with the first arrival."""
        return 0 if self.subject.program.tick is None else None

    @property
    def reads_now(self) -> bool:
        """Whether each step is an evaluation of its own."""
        return self.lags is None

    @property
    def looks_ahead(self) -> bool:
        """With `reading now` what is expected later is an answer now; else where it is final before its time."""
        return self.lags is None or self.lead > 0

    def next_decision(self) -> Number | None:
        """The next tick, unless nothing holds that a rule could go by before something arrives."""
        return None if self.now is None or self._is_idle else self.now + 1

    def add_static(self, fact: Fact) -> None:
        self._given.append(fact)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> list[Answer]:
        """Takes what arrives at a time; gives what is newly confirmed, or that there is no answer stream. A
        step that cannot be worked out is as if it had not been made, and can be made again."""
        before, given, late, idle = self.now, list(self._given), len(self.late), self._is_idle
        moment = self.take([*facts, *(fact for table in tables for fact in table.facts())], now)
        try:
            found = self._evaluated(moment) if self.lags is None else self._settled(moment + self.lead)
        except PresageError:
            self.now, self._given, self._is_idle = before, given, idle
            del self.late[late:]
            raise
        if found is None:
            return [inconsistent(moment)]
        self._remember(found)
        return sorted(self._answers(found, moment), key=lambda answer: answer.answer)

    def take(self, facts: Sequence[Fact], now: Number) -> int:
        """Takes what arrives at a time, to be looked at by a later step."""
        moment = length(now)
        if self.now is not None and (moment < self.now or (moment == self.now and not self.may_repeat)):
            raise PresageError(f"time goes forward: the last step was at {self.now}, this one is at {moment}")
        self.now = moment
        self._is_idle &= not facts
        for fact in facts:
            (self.late if self.checker.is_late(fact, moment) else self._given).append(fact)
        return moment

    def _remember(self, said: list[Candidate]) -> None:
        """Nothing is said twice."""
        self._said.update(said)

    def _settled(self, now: int) -> list[Candidate] | None:
        return self._common(self._world(now), now)

    def _world(self, now: int) -> ProgramWorld:
        world = ProgramWorld(self.subject, tuple(self._given), 0, now, lag=self.lags)
        if not self._counts_ahead:
            return world
        self.lags = lags(self.subject, self.lead, ArrivedRows(now, [time for time, *_ in world.data.rows()]))
        return replace(world, lag=self.lags)

    def _evaluated(self, now: int) -> list[Candidate] | None:
        if self._reach is not None:
            first = now - self._reach
            self._given = [fact for fact in self._given if fact.low is None or span_of(fact)[1] >= first]
            self._said = {each for each in self._said if each[1] >= first}
        return self._common(Evaluation(self.subject, self._given, now).world, now)

    def _common(self, world: ProgramWorld, now: int) -> list[Candidate] | None:
        """The facts asked for and not yet said that hold in all answer streams, as far as they are final."""
        looks = world.looks(now)
        around = bounds(world, looks)
        self.certain = around.certain
        self._is_idle = not any(around.possible.ground())
        open_facts = (
            each for each in facts_at_times(around.possible, until=self._latest(now)) if each not in self._said
        )
        asked = [each for each in open_facts if any(self._queries_for(each, now))]
        holds = [
            TRUE if time in around.certain.times(*ground) else GroundLiteral((ground, time)) for ground, time in asked
        ]
        program = ground_program(world, looks, around)
        truths = consequences(program, holds, in_all=True)
        if truths is None:
            self._is_idle = False
            return None
        self._look_at_others(program, [each for each, true in zip(asked, truths, strict=True) if not true])
        return [candidate for candidate, true in zip(asked, truths, strict=True) if true]

    def _look_at_others(self, program: GroundProgram, candidates: list[Candidate]) -> None:
        """What does not hold in all answer streams is nobody's concern here."""

    def _latest(self, now: int) -> int:
        """The last time about which something is said at a step."""
        return FAR if self.lags is None else now

    def _queries_for(self, candidate: Candidate, now: int) -> Iterator[Query]:
        (predicate, _), time = candidate
        if self.lags is None or time + self.lags.of[predicate] <= now:
            yield from self._asking(candidate)

    def _asking(self, candidate: Candidate) -> Iterator[Query]:
        (predicate, arguments), time = candidate
        for query in self.subject.queries:
            asked = query.atom
            fixed = query.pin is not None and query.pin.base is None and query.pin.offset != time
            if asked.predicate == predicate and not fixed and extend(asked, arguments, {}) is not None:
                yield query

    def _answers(self, confirmed: list[Candidate], now: int) -> Iterator[Answer]:
        for candidate in confirmed:
            (predicate, arguments), time = candidate
            values = tuple(value for value in arguments if not isinstance(value, Invented))
            for query in self._asking(candidate):
                yield Answer(now, "confirmed", predicate, values, bindings_of(query, values), time=time)
