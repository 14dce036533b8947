"""What a reasoner has inside: an engine, whichever runs its program, and the one place that says which that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from presage.analysis.route import CLINGO
from presage.analysis.subject import Subject
from presage.answers import Answer, Answers
from presage.checking import Report
from presage.errors import PresageError
from presage.io.facts import Checker, Fact
from presage.io.tables import Columns
from presage.model.terms import Number
from presage.plan.subformulas import Unsupported
from presage.run.choice import ALL, Choice
from presage.run.no_hypotheses import NoHypotheses
from presage.run.stratified import StratifiedEngine
from presage.sealed import Arrays


class Engine(Protocol):
    """Takes the steps of a program. Facts are checked already, and steps go forward in time."""

    subject: Subject
    checker: Checker
    may_repeat: bool
    """Whether there may be another step at the time of the last one: for what is only supposed."""

    @property
    def now(self) -> Number | None:
        """The time of the last step."""

    @property
    def late(self) -> list[Fact]:
        """What came too late, and was left out."""

    @property
    def reads_now(self) -> bool:
        """Whether each step is an evaluation of its own, so that one nobody asks for can be left out."""

    @property
    def looks_ahead(self) -> bool:
        """Whether answers about times after the last step belong to a run."""

    @property
    def longest_lag(self) -> Number:
        """How long after the last arrival everything is decided."""

    def end_after(self, last: Number) -> Number:
        """The last step of a run that nobody ends, whose facts speak of times up to `last`."""

    @property
    def first_decision(self) -> Number | None:
        """The first step, though nothing has arrived yet; nothing, if steps begin with the first arrival."""

    @property
    def told_as(self) -> str | None:
        """The `emit` with which an engine like this one is made."""

    @property
    def remembered(self) -> int:
        """How much is in memory."""

    def add_static(self, fact: Fact) -> None: ...

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Sequence[Answer]:
        """Takes what arrives at a time; gives the answers that change by it."""

    def standing(self, told: Answers) -> Sequence[Answer]:
        """What is possible now, and what the last step, which told so much, confirmed."""

    def confirmed(self, told: Answers) -> Sequence[Answer]:
        """What the last step, which told so much, confirmed."""

    def next_decision(self) -> Number | None:
        """The earliest time after now at which something may be decided though nothing arrives."""

    def lag(self, predicate: str) -> Number:
        """How long after its time an answer of a predicate is settled."""

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table."""

    def save(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All that a step depends on, as plain values and arrays."""

    def load(self, header: dict[str, Any], arrays: Arrays) -> None:
        """Goes on from what was saved."""


STRATIFIED = "interval"
ANSWER_STREAMS = CLINGO
OWN = "own"


def needs_answer_streams(report: Report) -> bool:
    """Whether a program is run by answer streams, and not by the interval engine, which knows one model and rules that
    hold at every time."""
    assert report.findings is not None
    return report.findings.route.engine == CLINGO or report.findings.subject.reading == "now"


def engine_kind(report: Report) -> str:
    """Which engine runs a program: what its language brings along, answer streams where there may be none or several
    models or rules hold at the time of evaluation alone, and otherwise what knows one model that holds at every time.
    `presage check` says it, with its reason."""
    if report.program.meaning is not None:
        return OWN
    return ANSWER_STREAMS if needs_answer_streams(report) else STRATIFIED


def make_engine(
    report: Report,
    emit: str | None = None,
    choice: Choice = ALL,
    chase_limit: int | None = None,
    *,
    brave: bool = False,
    gives_way: bool = False,
) -> Engine:
    """The engine of a program. With `brave`, what holds in some of several models only is told as possible. Where
    nobody has said what to tell, one that turns out to have no hypothetical answers is refused, or `gives_way`."""
    assert report.findings is not None
    kind = engine_kind(report)
    if brave and kind != ANSWER_STREAMS:
        raise PresageError(f"--brave: {report.source.name} has one model: {report.findings.route.reason}")
    if kind == OWN:
        assert report.program.meaning is not None
        return cast(Engine, report.program.meaning.steps(report.findings.subject, emit))
    if kind == ANSWER_STREAMS:
        if brave and emit == "confirmed":
            raise PresageError("--brave: what holds in some models only is not confirmed: leave out `--emit confirmed`")
        if emit not in (None, "confirmed") and not brave:
            raise PresageError(
                f"{report.source.name}: a program with several models, or with `reading now`, tells what is "
                f'confirmed only: leave out emit={emit!r}, or give emit="confirmed" '
                f"({report.findings.queries[0].hypothetical.reason})"
            )
        # What most runs do without is loaded where it is needed: a run over three facts is over before it would be.
        from presage.answer_streams.stepping_brave import BraveSteps
        from presage.answer_streams.stepping_kept import steps_of

        return BraveSteps(report) if brave else steps_of(report)
    try:
        return StratifiedEngine(report, emit, choice, chase_limit)
    except (Unsupported, NoHypotheses) as refused:
        if isinstance(refused, NoHypotheses) and emit is None and gives_way:
            return make_engine(report, "confirmed", choice, chase_limit)
        if not report.findings.subject.discrete or (isinstance(refused, NoHypotheses) and emit != "confirmed"):
            raise
    # What the interval engine does not run is worked out from the whole stream at each step.
    from presage.answer_streams.stepping_one import OneModelSteps

    return OneModelSteps(report, chase_limit)


def add_statics(engine: Engine, facts: Sequence[Fact]) -> None:
    """What is known before the stream, by the column where an engine takes it so."""
    if isinstance(engine, StratifiedEngine):
        engine.add_statics(facts)
        return
    for fact in facts:
        engine.add_static(fact)
