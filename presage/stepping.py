"""When a reasoner steps: at the times at which something arrives or is decided, and at no others.

`presage run` and every shard of a run on Spark step by the same rule, so that they give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from presage.answers import Answer
from presage.checking import Report
from presage.io.facts import Fact
from presage.io.tables import Columns
from presage.model.terms import Number
from presage.models.stepping import AnswerStreamSteps, needs_answer_streams
from presage.models.stepping_one import OneModelSteps
from presage.plan.parts import Unsupported
from presage.reasoner import Reasoner
from presage.supposing import ALL, Choice

Stepper = Reasoner | AnswerStreamSteps


def make_stepper(
    report: Report, emit: str | None = None, choice: Choice = ALL, chase_limit: int | None = None
) -> Stepper:
    """What runs a program: a reasoner or, where it has several models or windows that the engine does not know, what
    looks at it as a whole at each step. `emit` is as for the `Reasoner`."""
    report.or_raise()
    if needs_answer_streams(report):
        return AnswerStreamSteps(report)
    try:
        return Reasoner(report.program, emit=emit, choice=choice, report=report, chase_limit=chase_limit)
    except Unsupported:
        assert report.findings is not None
        if not report.findings.subject.discrete:
            raise
        return OneModelSteps(report, chase_limit)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What arrives at one time; nothing, where only the time is to be looked at."""

    time: Number
    facts: Sequence[Fact] = ()
    tables: Sequence[Columns] = ()
    parts: int = 1
    """Times that arrive now, here or on another shard, are multiples of one unit divided by this."""


def steps(
    reasoner: Stepper, facts: list[Fact], until: Number | None, every: bool = False
) -> Iterator[Sequence[Answer]]:
    """One step for each time at which something arrives or is decided, up to the end; with `every`, for each time
    point."""
    arriving: dict[Number, list[Fact]] = {}
    for fact in facts:
        arriving.setdefault(fact.arrival, []).append(fact)
    times = sorted(arriving)
    end = until if until is not None else (times[-1] if times else 0) + reasoner.longest_lag
    yield from walk(reasoner, (Arrival(time, arriving[time]) for time in times), end, every=every)


def walk(
    reasoner: Stepper, arrivals: Iterable[Arrival], end: Number, *, closed: bool = True, every: bool = False
) -> Iterator[Sequence[Answer]]:
    """Steps through arrivals in the order of their times, to the end of the run, which is the last step. If the run
    is not `closed`, it goes on later: steps lie before `end`, and a reasoner that has stepped before goes on."""
    coming = iter(arrivals)
    following = next(coming, None)
    while True:
        step = _next_step(reasoner, following, end, closed, every)
        if step is None:
            return
        due = Arrival(step)
        if following is not None and following.time == step:
            due, following = following, next(coming, None)
        if isinstance(reasoner, Reasoner):
            if due.parts > 1:
                reasoner.refine(due.parts)
            answers: Sequence[Answer] = reasoner.step(due.facts, step, due.tables)
        else:
            answers = reasoner.step(due.facts, step)
        if closed and not reasoner.looks_ahead:
            answers = [clipped for answer in answers if (clipped := clip(answer, end)) is not None]
        yield answers


def _next_step(reasoner: Stepper, following: Arrival | None, end: Number, closed: bool, every: bool) -> Number | None:
    now = reasoner.now
    candidates: list[Number] = [] if following is None else [following.time]
    wake = reasoner.next_decision() if now is not None else reasoner.first_decision
    if wake is not None:
        candidates.append(wake)
    if closed and (now is None or now < end):
        candidates.append(end)
    if every and now is not None and reasoner.subject.discrete:
        candidates.append(now + 1)
    step = min(candidates, default=None)
    if step is None or step > end or (step == end and not closed) or (now is not None and step <= now):
        return None
    return step


def clip(answer: Answer, end: Number) -> Answer | None:
    """An answer up to the end of the run."""
    if answer.time is not None:
        return answer if answer.time <= end else None
    if answer.start is not None and (answer.start > end or (answer.start == end and answer.bounds[0] == "(")):
        return None
    if answer.end is None or answer.end > end:
        if answer.start == end:
            return replace(answer, time=end, start=None, end=None, bounds="")
        return replace(answer, end=end, bounds=answer.bounds[0] + "]")
    return answer
