"""`presage.spark.answers`: from a program and DataFrames to a DataFrame of answers.

Here a call is checked, facts are divided among shards, and the work is given to `batch` or `streaming`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, overload

from pyspark.sql import DataFrame

from presage.checking import Report
from presage.errors import PresageError
from presage.io.facts import ISO, TICKS
from presage.io.moments import zone_called
from presage.model.program import Program
from presage.plan.relational import obstacles
from presage.run.choice import ALL, Choice
from presage.run.reasoner import what_is_told
from presage.spark.batch import batch_rows
from presage.spark.frames import Frames, PerPredicate, is_mixed
from presage.spark.history import as_uri
from presage.spark.job import Job
from presage.spark.relational import relational_rows
from presage.spark.rows import late_fields
from presage.spark.streaming import stream_rows
from presage.spark.windowed import windowed_rows


@overload
def answers(
    program: Program,
    facts: Mapping[str, DataFrame],
    *,
    time: PerPredicate = ...,
    arrives: PerPredicate = ...,
    columns: Mapping[str, Mapping[str, str]] | None = ...,
    static: Mapping[str, DataFrame] | None = ...,
    tables: Mapping[str, DataFrame] | None = ...,
    emit: str = ...,
    shards: int = ...,
    until: Any = ...,
    state: str | Path | None = ...,
    clock: DataFrame | None = ...,
    each_step: bool = ...,
    choice: Choice = ...,
    times: str | None = ...,
    zone: str | None = ...,
    late: Literal[False] = ...,
) -> DataFrame: ...


@overload
def answers(
    program: Program,
    facts: Mapping[str, DataFrame],
    *,
    time: PerPredicate = ...,
    arrives: PerPredicate = ...,
    columns: Mapping[str, Mapping[str, str]] | None = ...,
    static: Mapping[str, DataFrame] | None = ...,
    tables: Mapping[str, DataFrame] | None = ...,
    emit: str = ...,
    shards: int = ...,
    until: Any = ...,
    state: str | Path | None = ...,
    clock: DataFrame | None = ...,
    each_step: bool = ...,
    choice: Choice = ...,
    times: str | None = ...,
    zone: str | None = ...,
    late: Literal[True],
) -> tuple[DataFrame, DataFrame]: ...


def answers(
    program: Program,
    facts: Mapping[str, DataFrame],
    *,
    time: PerPredicate = "time",
    arrives: PerPredicate = None,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    static: Mapping[str, DataFrame] | None = None,
    tables: Mapping[str, DataFrame] | None = None,
    emit: str = "changes",
    shards: int = 8,
    until: Any = None,
    state: str | Path | None = None,
    clock: DataFrame | None = None,
    each_step: bool = True,
    choice: Choice = ALL,
    times: str | None = None,
    zone: str | None = None,
    late: bool = False,
) -> DataFrame | tuple[DataFrame, DataFrame]:
    """The answers of a program over DataFrames, one for each input; streaming if they stream.

    `time` names the column of a fact's time, for all or per input; `arrives` the one of its arrival, if there is one;
    `columns` says for an input which column is which argument, where names differ. `static` has what is always so,
    `tables` what changes while a stream runs: they are read again at each micro-batch. `emit` is `changes`,
    `confirmed` or `states`. Facts are divided among `shards` by the program's partition key. `until` ends a batch run
    early.
    `state` is a folder: a batch run leaves there what a stream with the same `state` goes on from. `clock` is a stream
    with a column of times that pass though no fact comes. Without `each_step` a stream tells of an answer once in a
    micro-batch, where it can. With `late` a second DataFrame has the facts that came too late.
    Where facts have timestamps answers do too, in `zone` (UTC); `times` says otherwise, `ticks` or `iso`."""
    discrete, rows = all_rows(
        program, facts, time=time, arrives=arrives, columns=columns, static=static, tables=tables, emit=emit,
        shards=shards, until=until, state=state, clock=clock, choice=choice, each_step=each_step, late=late,
        times=times, zone=zone,
    )  # fmt: skip
    # Filtering costs Java as much as taking the rows: without late facts there is nothing to filter.
    return (rows.where("late is null").drop("late"), late_facts(rows, discrete)) if late else rows


def late_facts(rows: DataFrame, discrete: bool) -> DataFrame:
    names = [f"late.`{name}`" for name, _ in late_fields(discrete)]
    return rows.where("late is not null").select(*names)


def all_rows(
    program: Program,
    facts: Mapping[str, DataFrame],
    *,
    time: PerPredicate = "time",
    arrives: PerPredicate = None,
    columns: Mapping[str, Mapping[str, str]] | None = None,
    static: Mapping[str, DataFrame] | None = None,
    tables: Mapping[str, DataFrame] | None = None,
    emit: str = "changes",
    shards: int = 8,
    until: Any = None,
    state: str | Path | None = None,
    clock: DataFrame | None = None,
    choice: Choice = ALL,
    each_step: bool = True,
    late: bool = True,
    times: str | None = None,
    zone: str | None = None,
    most_per_key: int | None = None,
    idle: int | None = None,
    tells_clock: bool = False,
    going_on: Callable[[Job], Job] | None = None,
) -> tuple[bool, DataFrame]:
    """Whether times are whole numbers, and all that leaves the reasoners: answers and, with `late`, late facts.
    With `idle`, in milliseconds, `clock` is this machine's, and time goes on when no fact has come for so long.
    `tells_clock`: rows say how far the clock is. `going_on` gives what a stream runs that goes on from a checkpoint."""
    if not isinstance(program, Program):
        raise PresageError(
            f"a {type(program).__name__} is not a program: take presage.load(path) or presage.parse(text)"
        )
    if emit not in ("changes", "confirmed", "states"):
        raise PresageError(f'emit is "changes", "confirmed" or "states", not {emit!r}')
    if type(shards) is not int or shards < 1:
        raise PresageError(f"shards is a whole number of at least 1, not {shards!r}")
    if not facts:
        raise PresageError("there are no facts: give a DataFrame for at least one input")
    job = Job(program, emit, choice)
    emit = what_is_told(job.report, emit)
    job = replace(job, emit=emit)
    division = division_of(job.report, emit, choice)
    key = division.columns
    frames = Frames(job.checker, columns or {}, time, arrives)
    given = [frames.source(name, frame, key.get(name, [])) for name, frame in facts.items()]
    streaming = _streams(facts)
    as_frames, one_shard = False, ""
    if division.reasons and shards > 1:
        others = _why_not_frames(job, streaming, state, [*facts.values(), *(static or {}).values()])
        as_frames = not others
        if others:
            why = "; ".join(dict.fromkeys(division.reasons))
            one_shard = (
                f"{program.source.name} runs as one shard: {why}. Nor does it run as DataFrames: {'; '.join(others)}"
            )
    changing = [
        (len(given) + place, *frames.table(name, frame, key.get(name, [])))
        for place, (name, frame) in enumerate((tables or {}).items())
    ]
    always = {name: frames.static(name, frame) for name, frame in (static or {}).items()}
    known = [] if as_frames else [row for name, frame in always.items() for row in frames.static_facts(name, frame)]
    job = Job(
        program=job.program,
        emit=emit,
        choice=choice,
        shards=shards if key else 1,
        sources=(*(source for source, _ in given), *(source for _, source, _ in changing)),
        static=tuple(dict.fromkeys(known)),
        everywhere=division.everywhere,
        each_step=each_step,
        late=late,
        state=None if state is None else as_uri(state),
        changing=bool(changing),
        zone=_zone(job, frames, times, zone),
        most_per_key=most_per_key,
        idle=idle,
        tells_clock=tells_clock,
    )
    if one_shard and streaming:
        warnings.warn(one_shard, stacklevel=3)
    job.reasoner()  # Says what it does not run, before Spark does anything.
    if not streaming:
        if not each_step:
            raise PresageError("`each_step=False` is for streams: a table has no micro-batches")
        if clock is not None:
            raise PresageError("`clock` is for streams: a table's last time is known")
        if changing:
            raise PresageError(
                "`tables` is for streams: in a batch run a table does not change. Give it with the facts, with columns "
                "`from` and `to`, or declare it static"
            )
        if state is not None and until is not None:
            raise PresageError("`until` ends a run for good: with `state` a stream is to go on from it")
        end = None if until is None else job.checker.time(until, "until")
        found = windowed_rows(replace(job, shards=shards), given, end)
        if found is None and one_shard:
            warnings.warn(one_shard, stacklevel=3)
        if found is not None:
            rows = found
        else:
            rows = relational_rows(job, given, always, end) if as_frames else batch_rows(job, given, end)
    elif until is not None:
        raise PresageError("`until` is for batch runs: a stream has no last step")
    else:
        job = job if going_on is None else going_on(job)
        rows = stream_rows(job, given, clock=None if clock is None else frames.clock(clock), tables=changing)
    return job.discrete, rows


def _zone(job: Job, frames: Frames, times: str | None, zone: str | None) -> str | None:
    """The zone that times are shown in, if they are to be shown as moments."""
    if times not in (None, TICKS, ISO):
        raise PresageError(f'times is "ticks" or "iso", not {times!r}')
    wanted = times or (ISO if zone is not None or frames.moments else TICKS)
    if wanted == TICKS:
        return None
    if job.checker.units.tick is None:
        raise PresageError(f"{'times' if times else 'zone'}: times are numbers without a `tick`")
    zone_called(zone or "UTC")
    return zone or "UTC"


def _streams(facts: Mapping[str, DataFrame]) -> bool:
    kinds = {frame.isStreaming: name for name, frame in facts.items()}
    if len(kinds) > 1:
        raise PresageError(
            f"`{kinds[True]}` streams and `{kinds[False]}` does not: give streams, or tables; what never changes "
            "is declared `static`"
        )
    return True in kinds


@dataclass(frozen=True, slots=True)
class Division:
    """For each input the columns to shard on and what all shards know; or why there are none."""

    columns: dict[str, list[str]]
    everywhere: frozenset[str]
    reasons: tuple[str, ...] = ()


def division_of(report: Report, emit: str, choice: Choice = ALL) -> Division:
    assert report.findings is not None
    subject, found = report.findings.subject, report.findings.partition
    reasons = [f"{subject.place(each.rule)}: {each.reason}" for each in found.blockers]
    if found.columns is not None and emit == "changes":
        reasons = [
            f"{subject.place(timing.rule)}: what may come true because of an absence alone is about all shards"
            for timing in subject.relevant_rules()
            if any(each.negative and each.atom.predicate not in found.everywhere for each in timing.occurrences)
        ]
        if (choice.top, choice.max_open, choice.confidence_step) != (None, None, None):
            reasons.append("`top`, `max_open` and `confidence_step` compare the answers of all shards")
    reasons += [
        f"{subject.place(rule)}: two shards would give values that they invent the same names"
        for rule in subject.program.rules
        if rule.head is not None and rule.head.exists
    ]
    if found.columns is not None and not reasons:
        return Division(found.columns, found.everywhere)
    return Division({}, frozenset(), tuple(reasons or ["no input has a column to shard on"]))


def _why_not_frames(job: Job, streaming: bool, state: str | Path | None, given: Iterable[DataFrame]) -> list[str]:
    """What keeps a run from being worked out as DataFrames; nothing, if it can be."""
    if streaming:
        return ["it is a stream"]
    if state is not None:
        return ["a stream is to go on from its `state`"]
    reasoner = job.reasoner()
    if reasoner.runs_as_a_whole:
        return ["it may have several models, or none; or the interval engine does not run it"]
    if job.emit != "confirmed":
        return ['they have what is entailed only, `emit="confirmed"`']
    if reasoner.supposing is not None:
        return ["how late a fact may be differs from fact to fact, and something rests on absence"]
    if any(is_mixed(column.dataType) for frame in given for column in frame.schema):
        return ["a column has texts and numbers"]
    return obstacles(reasoner.subject)
