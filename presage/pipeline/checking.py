"""A pipeline held against its program and this machine, before Spark starts: predicates, columns, files, packages.

What only a database or a broker can tell is found when the pipeline starts.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from presage.analysis.predicates import Predicate
from presage.checking import Report, check_file
from presage.errors import Diagnostic, PresageError, WrongParameter, as_json, nearest, render
from presage.io.rows import column_names
from presage.pipeline import toml
from presage.pipeline.files import files_at, of_parquet
from presage.pipeline.keys import FILES, LIVE, NUMBERED
from presage.pipeline.one_process import check_alerts, check_clock, check_live, check_rows
from presage.pipeline.reading import Part, Pipeline, read_pipeline

POSTGRES = re.compile(r"jdbc:postgresql://[\w.\[\]:-]+(?:,[\w.\[\]:-]+)*/[^/?\s]+(?:\?\S*)?|jdbc:postgresql:[^/?\s]+")
BRINGING = ("sources", "static", "tables")
"""The tables of a file that bring facts, each named after a predicate."""
WHEN = ("time", "from", "to", "bounds", "arrives")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBERS = {"tinyint", "byte", "smallint", "short", "int", "integer", "bigint", "long", "float", "real", "double"}
_NUMBERS |= {"decimal", "dec", "numeric"}
_MOMENTS = {"timestamp", "timestamp_ntz", "timestamp_ltz", "date"}
_FITTING = {
    "text": {"string"},
    "int": _NUMBERS,
    "float": _NUMBERS,
    "bool": {"boolean", "string"},
    "time": _NUMBERS | _MOMENTS | {"string"},
    "any": _NUMBERS | {"string", "boolean"},
}
_ALL_TYPES = _NUMBERS | _MOMENTS | {"string", "boolean", "binary"}
_OF_KAFKA = {"key": "binary", "value": "binary", "topic": "string", "partition": "int", "offset": "bigint"}
_OF_KAFKA |= {"timestamp": "timestamp"}


_ADDRESSES = ("file", "s3", "gs", "hdfs", "abfss")
"""What the addresses of files begin with that are read without Spark."""


@dataclass(frozen=True)
class Checked:
    pipeline: Pipeline
    report: Report | None
    """What `presage check` says about its program, if that can be read."""

    @property
    def problems(self) -> list[Diagnostic]:
        return [*self.pipeline.problems, *(self.report.problems if self.report else ())]

    @property
    def ok(self) -> bool:
        return not any(each.severity == "error" for each in self.problems)

    def text(self) -> str:
        """Everything that is to be said, for a person."""
        blocks = [render(self.pipeline.document.source, self.pipeline.problems)] if self.pipeline.problems else []
        if self.report is not None and self.report.problems:
            blocks.append(render(self.report.source, self.report.problems))
        return self.pipeline.hidden("\n\n".join(blocks))

    def to_json(self) -> dict[str, Any]:
        """The object `presage pipeline --check` prints for programs."""
        own = [as_json(self.pipeline.document.source, each) for each in self.pipeline.problems]
        theirs = [] if self.report is None else [as_json(self.report.source, each) for each in self.report.problems]
        shown = [{"file": str(self.pipeline.path), **each} for each in own]
        shown += [{"file": self.report.source.name, **each} for each in theirs if self.report is not None]
        for each in shown:
            each["message"], each["hint"] = self.pipeline.hidden(each["message"]), self.pipeline.hidden(each["hint"])
        return {"ok": self.ok, "problems": shown}


def check_pipeline(
    path: Path, environment: Mapping[str, str], live: bool = False, params: Mapping[str, Any] | None = None
) -> Checked:
    """A pipeline for Spark or, with `live`, for one process. `params` are values of the program's parameters that go
    before those of the file."""
    pipeline = read_pipeline(path, environment)
    pipeline.params.update(params or {})
    report = _program(pipeline)
    if report is not None and report.findings is not None:
        _against_program(pipeline, report.findings.subject.predicates, live)
        check_alerts(pipeline, report)
    for part in (each for parts in pipeline.parts.values() for each in parts):
        _on_this_machine(pipeline, part, live)
    check_clock(pipeline, report, live)
    check_rows(pipeline, live)
    if live:
        check_live(pipeline)
    else:
        _packages(pipeline)
    _folders(pipeline)
    checkpoint = pipeline.values.get("checkpoint", "")
    if checkpoint and Path(pipeline.local(checkpoint)).is_file():
        pipeline.problem("C106", ("checkpoint",), f"`{checkpoint}` is a file", "a checkpoint is a folder of its own")
    metrics = pipeline.metrics.get("file")
    if metrics is not None and not Path(pipeline.local(metrics)).parent.is_dir():
        said = f"there is no folder for the file `{metrics}`"
        pipeline.problem("C106", ("metrics", "file"), said, _from_where(pipeline))
    elif metrics is not None and Path(pipeline.local(metrics)).is_dir():
        pipeline.problem("C106", ("metrics", "file"), f"`{metrics}` is a folder", "name a file, which is then replaced")
    for place, jar in enumerate(pipeline.spark.get("jars", [])):
        if "://" not in jar and not Path(pipeline.local(jar)).is_file():
            pipeline.problem("C106", ("spark", "jars", place), f"there is no file `{jar}`", _from_where(pipeline))
    return Checked(pipeline, report)


def _from_where(pipeline: Pipeline) -> str:
    return f"paths are taken from the folder of the pipeline file, {pipeline.path.resolve().parent}"


def _program(pipeline: Pipeline) -> Report | None:
    given = pipeline.values.get("program")
    if given is None:
        return None
    where = Path(pipeline.local(given))
    if not where.is_file():
        pipeline.problem("C106", ("program",), f"there is no program `{given}`", _from_where(pipeline))
        return None
    try:
        report = check_file(where, params=pipeline.params)
    except WrongParameter as wrong:
        said = "the value is given here, or with `--set`"
        pipeline.problem("C105", ("params", wrong.name), str(wrong), said)
        return None
    except PresageError as unreadable:
        pipeline.problem("C106", ("program",), str(unreadable).split("\n")[0], "a program is a text file in UTF-8")
        return None
    if report.ok:
        _runs(pipeline, report)
    return report


def _runs(pipeline: Pipeline, report: Report) -> None:
    """Whether the engine takes the program: what it refuses, it refuses before Spark starts."""
    from presage.run.reasoner import Reasoner, what_is_told

    try:
        Reasoner(report.program, emit=what_is_told(report, pipeline.emit), report=report)
    except PresageError as refused:
        hint = 'with `emit = "confirmed"` more programs run' if pipeline.emit == "changes" else "see `presage check`"
        pipeline.problem("C109", ("program",), f"the program does not run here: {refused}", hint)


# -- against the program ------------------------------------------------------------------------------


def _against_program(pipeline: Pipeline, predicates: dict[str, Predicate], live: bool) -> None:
    bringing = [part for section in BRINGING for part in pipeline.parts[section]]
    # What describes itself may bring facts of any predicate, and then has a name of its own.
    describes_itself = [part for part in pipeline.parts["sources"] if part.is_self_describing]
    if any(part.name not in predicates for part in describes_itself):
        bringing = [part for part in bringing if part not in describes_itself or part.name in predicates]
    for part in bringing:
        known = _predicate(pipeline, part, predicates)
        if known is not None:
            _columns(pipeline, part, known, live)
    given = {part.name for part in bringing}
    if describes_itself:
        given |= {each.name for each in predicates.values() if each.is_input}
    for each in predicates.values():
        if (each.is_input or each.is_static) and each.name not in given and each.kind != "derived":
            section = "static" if each.is_static else "sources"
            said = f"nothing brings facts of `{each.name}`, which the program uses"
            hint = f"add `[{section}.{each.name}]`, if there are any"
            pipeline.problem("C105", ("program",), said, hint, severity="warning")


def _predicate(pipeline: Pipeline, part: Part, predicates: dict[str, Predicate]) -> Predicate | None:
    path: toml.Path = (part.section, part.name)
    known = predicates.get(part.name)
    is_static = part.section == "static"
    fitting = [each.name for each in predicates.values() if (each.is_static if is_static else each.is_input)]
    what = "static predicate" if is_static else "input"
    if known is None:
        near = nearest(part.name, fitting)
        hint = f"did you mean `{near}`?" if near else f"it has {', '.join(f'`{each}`' for each in fitting) or 'none'}"
        pipeline.problem_of_key("C105", path, f"the program has no {what} `{part.name}`", hint)
        return None
    if known.name in fitting:
        return known
    if known.is_static or known.is_input:
        hint = f"write `[{'static' if known.is_static else 'sources'}.{part.name}]`"
        if part.section == "tables":
            hint += f", to read it once; a table that changes is declared `input {part.name}(…).`"
        elif is_static and pipeline.streams:
            hint += f", or `[tables.{part.name}]` for a table that changes while the pipeline runs"
        pipeline.problem_of_key("C105", path, f"`{part.name}` is not {_article(what)} of the program", hint)
    else:
        hint = f"declare `input {part.name}(…).` to feed it too"
        pipeline.problem_of_key("C105", path, f"`{part.name}` is derived by rules", hint)
    return None


def _article(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def _columns(pipeline: Pipeline, part: Part, known: Predicate, live: bool) -> None:
    """Whether every argument, and the time, has a column of a type that fits."""
    if part.section == "sources" and part.is_self_describing and (live or part.format not in ("json", "kafka")):
        return
    path: toml.Path = (part.section, part.name)
    arguments, mapped = column_names(known), part.table("columns")
    for name in mapped:
        if name not in arguments:
            near = nearest(name, arguments)
            many = f"it has {known.arity} arguments: {', '.join(arguments)}" if arguments else "it has no arguments"
            hint = f"did you mean `{near}`?" if near else many
            said = f"`{known.name}` has no argument `{name}`"
            pipeline.problem_of_key("C105", (*path, "columns", name), said, hint)
    if not known.columns and not set(arguments) <= mapped.keys():
        said = f"the {known.arity} arguments of `{known.name}` have no names in the program"
        example = ", ".join(f"a{place + 1}" for place in range(known.arity))
        hint = f'declare `input {known.name}({example}).`, or say it here: columns = {{ 1 = "…" }}'
        pipeline.problem_of_key("C105", path, said, hint)
        return
    columns = columns_of(pipeline, part)
    for place, name in enumerate(arguments):
        kind = known.columns[place].type if place < len(known.columns) else "any"
        at = (*path, "columns", name) if name in mapped else path
        _column(pipeline, at, mapped.get(name, name), columns, kind, f"`{name}: {kind}` of `{known.name}`")
    if part.section != "sources":
        return
    if "time" in part.values and "from" in part.values:
        pipeline.problem_of_key("C109", (*path, "from"), "facts have a `time`, or `from` and `to`", "keep one of them")
    for name in WHEN:
        if name in part.values or (name == "time" and "from" not in part.values):
            at = (*path, name) if name in part.values else path
            kind = "text" if name == "bounds" else "time"
            _column(pipeline, at, part.text(name, name), columns, kind, f"the `{name}` of a fact")
    if "arrives" in part.values and pipeline.streams:
        hint = 'leave it out, or use `mode = "batch"`'
        said = "in a stream facts arrive when they come"
        pipeline.problem_of_key("C109", (*path, "arrives"), said, hint)


def _column(pipeline: Pipeline, at: toml.Path, said: str, columns: dict[str, str] | None, kind: str, use: str) -> None:
    """A column, or an expression, that is to be an argument or a time."""
    if columns is None or (said not in columns and not _NAME.fullmatch(said)):
        return
    if said not in columns:
        near = nearest(said, columns)
        shown = ", ".join(f"`{each}`" for each in columns) or "none"
        hint = f"is it `{near}`?" if near else f"the columns are {shown}; `columns` says which is which"
        pipeline.problem("C105", at, f"the column `{said}` is missing, which is to be {use}", hint)
        return
    of_column = columns[said].lower().strip()
    plain = re.match(r"\w+", of_column)
    if plain is not None and plain[0] not in _FITTING[kind]:
        fitting = ", ".join(sorted(_FITTING[kind]))
        hint = f"read it as one of {fitting}; or say how in SQL, such as `cast({said} as …)`"
        pipeline.problem("C105", at, f"the column `{said}` is {of_column}, which cannot be {use}", hint)


def columns_of(pipeline: Pipeline, part: Part) -> dict[str, str] | None:
    """The columns a part has, with their types; `None` where only Spark can tell."""
    if part.format == "rate":
        return {"timestamp": "timestamp", "value": "bigint"}
    given = part.table("schema")
    if part.format == "kafka":
        return _OF_KAFKA | given
    if given:
        return given
    return of_parquet(pipeline, part) if part.format == "parquet" else None


# -- on this machine ----------------------------------------------------------------------------------


def _on_this_machine(pipeline: Pipeline, part: Part, live: bool) -> None:
    path: toml.Path = (part.section, part.name)
    if part.format in LIVE.get(part.section, ()) and not live:
        hint = "run the file with `presage serve`, in one process"
        if part.section == "sources":
            hint += "; or let what comes go through Kafka or files"
        pipeline.problem("C109", (*path, "format"), f"`{part.format}` is not for Spark", hint)
        return
    if part.section == "sinks" and not pipeline.streams and (part.format in NUMBERED or part.values.get("alerts")):
        what = "alerts are" if part.values.get("alerts") or part.format == "alertmanager" else f"`{part.format}` is"
        hint = 'leave out `mode = "batch"`, or choose another sink'
        pipeline.problem("C109", (*path, "format"), f"{what} for streams, and the mode is `batch`", hint)
    if part.section == "sinks":
        if part.values.get("late") and "statuses" in part.values:
            hint = "late facts have no status: leave out `statuses`"
            pipeline.problem_of_key("C109", (*path, "statuses"), "the sink is for late facts", hint)
    elif part.format in FILES:
        _source_files(pipeline, part)
    if part.section == "sources" and part.format == "jdbc" and pipeline.streams and not live:
        said = "a table of a database does not stream"
        hint = f"write `[tables.{part.name}]`, to read it again at each micro-batch; or declare it `static`"
        pipeline.problem("C109", (*path, "format"), said, f'{hint}, or use `mode = "batch"`')
    if part.section == "tables" and not pipeline.streams:
        hint = f"write `[sources.{part.name}]`, with times; or declare it `static`, and write `[static.{part.name}]`"
        pipeline.problem_of_key("C109", path, "in a batch a table does not change", hint)
    if part.section == "tables" and part.format in FILES:
        _read_anew(pipeline, part)
    if part.section == "sources" and not pipeline.streams and part.format in ("rate", "kafka"):
        said = f"`{part.format}` streams, and the mode is `batch`"
        pipeline.problem("C109", (*path, "format"), said, 'leave out `mode = "batch"`')
    for name, kind in part.table("schema").items():
        word = re.match(r"\w+", kind.lower().strip())
        if word is None or (word[0] not in _ALL_TYPES and word[0] not in ("array", "map", "struct")):
            near = nearest(kind, _ALL_TYPES)
            hint = f"did you mean `{near}`?" if near else "such as string, bigint, double, boolean or timestamp"
            pipeline.problem("C104", (*path, "schema", name), f"`{kind}` is not a type of Spark", hint)
    needs_schema = part.format in ("json", "csv", "kafka") and part.section != "sinks" and not live
    if needs_schema and not part.values.get("schema"):
        hint = 'add `schema = { device = "string", time = "bigint" }`, with all columns that are used'
        said = f"[{part.place}] has no `schema`: {part.format} does not say which types its columns have"
        pipeline.problem_of_key("C103", path, said, hint)
    if part.format == "jdbc":
        _database(pipeline, part)


def _source_files(pipeline: Pipeline, part: Part) -> None:
    given = part.text("path")
    where = pipeline.local(given)
    at = (part.section, part.name, "path")
    if not given or "://" in where:
        return
    if not glob(where):  # noqa: PTH207
        pipeline.problem("C106", at, f"there is no file or folder `{given}`", _from_where(pipeline))
    elif part.format == "parquet" and not part.values.get("schema") and next(files_at(where, ".parquet"), None) is None:
        said = f"`{given}` has no file yet, so nothing says which columns there are"
        pipeline.problem("C103", at, said, 'add `schema = { device = "string", time = "bigint" }`')


def _folders(pipeline: Pipeline) -> None:
    """Whether the checkpoint and each sink have folders of their own. Two sinks would take each other's micro-batches
    for theirs, and a source would read answers as facts."""
    bringing = [part for section in BRINGING for part in pipeline.parts[section] if part.text("path")]
    taken = {_whole_path(pipeline, part.text("path")): f"[{part.place}]" for part in bringing}
    if checkpoint := pipeline.values.get("checkpoint"):
        where = _whole_path(pipeline, checkpoint)
        if where in taken:
            said = f"the folder `{checkpoint}` belongs to {taken[where]} already"
            pipeline.problem("C109", ("checkpoint",), said, "a checkpoint is a folder of its own")
        taken[where] = "the checkpoint"
    for part in pipeline.parts["sinks"]:
        if not (given := part.text("path")):
            continue
        where = _whole_path(pipeline, given)
        around = [other for place, other in taken.items() if where == place or where.startswith(f"{place}/")]
        if around:
            said = f"the folder `{given}` belongs to {around[0]} already"
            pipeline.problem("C109", (part.section, part.name, "path"), said, "a sink has a folder of its own")
        taken[where] = f"[{part.place}]"


def _whole_path(pipeline: Pipeline, given: str) -> str:
    where = pipeline.local(given)
    return where.rstrip("/") if "://" in where else os.path.normpath(Path(where).absolute())


def _read_anew(pipeline: Pipeline, part: Part) -> None:
    """Files that change are read by Arrow, which knows other addresses than Spark."""
    path = part.text("path")
    scheme = path.partition("://")[0]
    if "://" in path and scheme not in _ADDRESSES:
        hint = f"it is a path, or begins with one of {', '.join(f'`{each}://`' for each in _ADDRESSES)}"
        said = f"a table at `{scheme}://` cannot be read again while the pipeline runs"
        pipeline.problem("C104", (part.section, part.name, "path"), said, hint)


def _database(pipeline: Pipeline, part: Part) -> None:
    path: toml.Path = (part.section, part.name)
    url = part.text("url")
    if url and not url.startswith("jdbc:"):
        hint = 'such as "jdbc:postgresql://localhost:5432/plant"'
        pipeline.problem("C104", (*path, "url"), "an address of a database begins with `jdbc:`", hint)
        return
    is_postgres = url.startswith("jdbc:postgresql:")
    if is_postgres and not POSTGRES.fullmatch(url):
        hint = 'such as "jdbc:postgresql://localhost:5432/plant"'
        pipeline.problem("C104", (*path, "url"), "the address is not one of PostgreSQL", hint)
    if part.section == "sinks" and url and not is_postgres:
        hint = "use `parquet` or `kafka`, and load from there"
        pipeline.problem("C104", (*path, "url"), "answers are written to PostgreSQL, and to no other database", hint)
    elif part.section != "sinks" and url and not is_postgres and not pipeline.spark.get("jars"):
        hint = 'name its file: [spark] jars = ["driver.jar"]'
        pipeline.problem("C110", (*path, "url"), "this database needs its JDBC driver", hint)
    if part.section != "sinks" and ("table" in part.values) == ("query" in part.values):
        pipeline.problem_of_key("C103", path, f"[{part.place}] needs a `table` or a `query`", 'add `table = "owners"`')
    if is_postgres and find_spec("psycopg") is None and needs_psycopg(pipeline, part):
        said = "PostgreSQL needs the package psycopg, which is not installed"
        pipeline.problem("C110", (*path, "format"), said, "pip install presage-streams[postgres]")


def needs_psycopg(pipeline: Pipeline, part: Part) -> bool:
    """Whether a database is spoken to from Python: answers always, tables where no driver is named."""
    return part.section == "sinks" or not pipeline.spark.get("jars")


def _packages(pipeline: Pipeline) -> None:
    if find_spec("pyspark") is None:
        said, hint = "a pipeline runs on Spark, which is not installed", "pip install presage-streams[spark]"
        pipeline.problem_of_key("C110", (), said, hint)
    uses = [part for parts in pipeline.parts.values() for part in parts if part.format == "kafka"]
    brought = {"spark.jars.packages", "spark.jars"} & pipeline.spark.keys() or pipeline.spark.get("jars")
    if uses and not brought and not connector_jars():
        path = (uses[0].section, uses[0].name, "format")
        said = "Kafka needs Spark's connector, which is not part of PySpark"
        hint = 'let Spark fetch it: [spark] "spark.jars.packages" = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"'
        pipeline.problem("C110", path, said, hint)


def jar_folder() -> Path:
    """Where Java classes lie that pipelines of this Python may use, such as the connector that `make kafka` fetches."""
    return Path(os.environ.get("PRESAGE_JARS") or Path(sys.prefix) / "share/presage/jars")


def connector_jars() -> list[str]:
    return [str(each) for each in sorted(jar_folder().glob("*.jar"))]
