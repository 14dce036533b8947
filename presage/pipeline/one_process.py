"""What only matters where a pipeline runs in one process: packages, columns without SQL, addresses, alerts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from ipaddress import ip_address

from presage.answers import binding_places, shown_name
from presage.checking import Report
from presage.errors import PresageError, nearest
from presage.io.facts import Checker
from presage.io.moments import zone_called
from presage.pipeline import toml
from presage.pipeline.conditions import SIMPLE, condition_in
from presage.pipeline.keys import BY_QUERY
from presage.pipeline.reading import Part, Pipeline
from presage.pipeline.time_formats import HINT, time_format

_NAME = re.compile(r"[A-Za-z_][\w. -]*|\d+")
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"\{([^{}]*)\}")
WORDS = ("time", "answer", "status", "deadline", "now", "severity", "count")
"""What the text of an alert may name besides the bindings of its query."""
LENGTHS = ("for", "cooldown", "resolve_after")
_PACKAGES = {"mqtt": ("paho", "mqtt"), "kafka": ("confluent_kafka", "kafka"), "jdbc": ("psycopg", "postgres")}


def check_live(pipeline: Pipeline) -> None:
    if not pipeline.streams:
        pipeline.problem("C109", ("mode",), "`presage serve` streams", "leave out `mode`, or use `presage pipeline`")
    for part in (each for parts in pipeline.parts.values() for each in parts):
        path: toml.Path = (part.section, part.name)
        if part.section == "tables":
            hint = f"write `[static.{part.name}]` for a table that stays, or run the file with `presage pipeline`"
            pipeline.problem_of_key("C109", path, "tables that change are read again on Spark only", hint)
        if part.format == "rate":
            hint = "run the file with `presage pipeline`, or let facts come over `http` or `stdin`"
            pipeline.problem("C109", (*path, "format"), "`rate` makes rows on Spark only", hint)
        for key, said in expressions_in(part):
            if key == "where":
                if condition_in(said) is None:
                    message = "`presage serve` knows simple conditions only"
                    pipeline.problem("C109", (*path, key), message, SIMPLE)
                continue
            hint = "name a column, or let the source say it (a `query`, a view); on Spark expressions are worked out"
            pipeline.problem("C109", (*path, *key.split(".")), f"`{said}` is an expression of SQL", hint)
        package, extra = _PACKAGES.get(part.format, ("", ""))
        if package and find_spec(package) is None:
            said = f"`{part.format}` needs the package {package}, which is not installed"
            pipeline.problem("C110", (*path, "format"), said, f"pip install 'presage-streams[{extra}]'")
        if part.section == "sources" and part.format == "jdbc" and "increasing" not in part.values:
            hint = 'add `increasing = "id"`: a column that is greater in each new row'
            pipeline.problem_of_key(
                "C103", path, f"[{part.place}] has no `increasing`, so nothing says what is new", hint
            )
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        said = "`presage serve` needs the packages starlette and uvicorn"
        pipeline.problem_of_key("C110", (), said, "pip install 'presage-streams[serve]'")
    _addresses(pipeline)


def check_rows(pipeline: Pipeline, live: bool) -> None:
    """How rows are written that one process reads itself, and Spark with functions of its own."""
    for part in (each for section in ("sources", "static") for each in pipeline.parts[section]):
        path: toml.Path = (part.section, part.name)
        given = part.text("time_format")
        if given and part.is_self_describing:
            hint = "leave it out, or say with `schema` or `columns` that these are rows"
            pipeline.problem_of_key(
                "C109", (*path, "time_format"), "facts in JSON lines say their times as facts do", hint
            )
        elif given and time_format(given) is None:
            pipeline.problem("C104", (*path, "time_format"), f"`{given}` is no way to write times", HINT)
        if live and part.format == "csv":
            for name, value in part.table("options").items():
                if name not in ("sep", "delimiter", "header") or (name == "header" and value != "true"):
                    said = f"`presage serve` has no option `{name}` of this kind"
                    pipeline.problem_of_key("C102", (*path, "options", name), said, 'it has `sep = ";"`')
                elif name != "header" and len(value) != 1:
                    hint = 'such as `sep = ";"`'
                    pipeline.problem("C104", (*path, "options", name), "a separator is one character", hint)


def check_clock(pipeline: Pipeline, report: Report | None, live: bool) -> None:
    """What moves the clock needs to know how long a unit of time is."""
    if pipeline.clock != "facts" and report is not None and report.program.tick is None:
        hint = "declare the length of a time unit in the program, such as `tick 1s.`"
        pipeline.problem("C109", ("clock",), "the program does not say how long a unit of time is", hint)
    shown = next((name for name in ("zone", "times") if pipeline.values.get(name, "ticks") != "ticks"), None)
    if shown is not None and report is not None and report.program.tick is None:
        hint = "declare the length of a time unit in the program, such as `tick 1s.`"
        pipeline.problem("C109", (shown,), "times are numbers without a `tick`", hint)
    if "zone" in pipeline.values:
        try:
            zone_called(str(pipeline.values["zone"]))
        except PresageError as found:
            pipeline.problem("C109", ("zone",), str(found), "name a zone of the calendar")
    host = str(pipeline.metrics.get("host", "127.0.0.1"))
    if not live and not is_loopback(host):
        _needs_token(pipeline, "metrics", host)


def expressions_in(part: Part) -> Iterator[tuple[str, str]]:
    """Keys whose values are more than the name of a column."""
    if part.section not in ("sources", "static"):
        return
    if "where" in part.values:
        yield "where", part.text("where")
    for name, said in part.table("columns").items():
        if not _NAME.fullmatch(said):
            yield f"columns.{name}", said
    for name in ("time", "from", "to", "bounds", "arrives"):
        if name in part.values and not _NAME.fullmatch(part.text(name)):
            yield name, part.text(name)


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _addresses(pipeline: Pipeline) -> None:
    for section in ("serve", "metrics"):
        host = str(getattr(pipeline, section).get("host", "127.0.0.1"))
        if not is_loopback(host):
            _needs_token(pipeline, section, host)


def _needs_token(pipeline: Pipeline, section: str, host: str) -> None:
    if not pipeline.serve.get("token_env"):
        said = f"`{host}` can be reached from elsewhere, and nothing says who may"
        hint = 'add `token_env = "PRESAGE_TOKEN"` below `[serve]`: requests then bear that token'
        pipeline.problem("C109", (section, "host"), said, hint)


def check_alerts(pipeline: Pipeline, report: Report) -> None:
    """Whether alerts are about queries, say what there is, and are told to somebody."""
    told = [part for part in pipeline.parts["sinks"] if part.values.get("alerts") or part.format == "alertmanager"]
    if pipeline.alerts and not told:
        hint = "add `alerts = true` to a sink of console, lines, webhook, kafka or mqtt, or one of alertmanager"
        said = "nobody is told of alerts"
        pipeline.problem_of_key("C109", (BY_QUERY, next(iter(pipeline.alerts))), said, hint, severity="warning")
    for part in told:
        if part.format == "alertmanager" and not pipeline.alerts:
            hint = "add a table such as `[alerts.malf]`, named after a query"
            pipeline.problem_of_key("C103", (part.section, part.name), "nothing says what is an alert", hint)
    assert report.findings is not None
    subject = report.findings.watched
    queries = {shown_name(query.atom.predicate): query for query in subject.queries}
    checker = Checker(subject.program, subject.predicates, subject.discrete)
    for name, values in pipeline.alerts.items():
        path: toml.Path = (BY_QUERY, name)
        if name not in queries:
            near = nearest(name, queries)
            hint = f"did you mean `{near}`?" if near else f"the queries are {', '.join(queries) or 'none'}"
            pipeline.problem_of_key("C105", path, f"the program has no query `{name}`", hint)
            continue
        bindings = [each for each, _ in binding_places(queries[name])]
        for word in _PLACE.findall(str(values.get("text", ""))):
            if word not in bindings and word not in WORDS:
                hint = f"it may be {', '.join([*bindings, *WORDS])}"
                pipeline.problem(
                    "C105", (*path, "text"), f"the text names `{word}`, which an answer does not have", hint
                )
        for word in values.get("group", ()):
            if word not in bindings:
                hint = f"the bindings of `{name}` are {', '.join(bindings) or 'none'}"
                pipeline.problem("C105", (*path, "group"), f"`{word}` is no binding of the query", hint)
        for label in values.get("labels", {}):
            if not _LABEL.fullmatch(label):
                hint = "letters, digits and `_`, as Prometheus has them"
                said = f"`{label}` is no label that Alertmanager takes"
                pipeline.problem_of_key("C104", (*path, "labels", label), said, hint)
        for key in LENGTHS:
            if key in values:
                try:
                    checker.length(str(values[key]), key)
                except PresageError as found:
                    pipeline.problem("C104", (*path, key), str(found), 'such as "10" or, with a `tick`, "5m"')
