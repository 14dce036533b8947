"""Every key a pipeline file may have: what it means, what its value is, where it belongs.

The reader of files, the messages about them and the reference all go by this table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FILES = ("parquet", "json", "csv")
SOURCES = (*FILES, "kafka", "rate", "jdbc", "http", "stdin", "mqtt")
STATIC = (*FILES, "jdbc")
SINKS = ("console", "parquet", "json", "kafka", "jdbc", "lines", "mqtt", "webhook", "alertmanager", "events")
LIVE = {"sources": ("http", "stdin", "mqtt"), "sinks": ("events",)}
"""Formats that `presage serve` has, and Spark has not."""
NUMBERED = ("lines", "mqtt", "webhook", "alertmanager")
"""Formats of sinks whose lines have numbers, wherever the pipeline runs: streams alone have them."""
DESCRIBE_THEMSELVES = ("http", "stdin", "mqtt", "kafka", "json")
"""Formats whose lines may be facts, each with its predicate."""
STATUSES = ("possible", "unsupported", "confirmed", "refuted")

# What a value may be.
TEXT, WHOLE, FLAG, TEXTS, NAMES, SETTINGS = "text", "whole number", "true or false", "list", "names", "settings"


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    kind: str
    meaning: str
    default: str = ""
    """What holds where the key is missing, in words; empty where nothing does."""
    formats: tuple[str, ...] = ()
    """The formats it is for; all of them if none is named."""
    required: bool = False
    choices: tuple[str, ...] = ()
    example: str = ""


_SCHEMA = Key(
    "schema", NAMES, "the columns that are read, each with its Spark type; of messages, the fields of their JSON",
    "of Parquet, what the files say", (*FILES, "kafka", "http", "stdin", "mqtt"),
    example='{ machine = "string", ts = "timestamp" }',
)  # fmt: skip
_COLUMNS = Key(
    "columns", NAMES, "for an argument the column it is taken from, or an SQL expression over columns",
    "the column of the same name", example='{ device = "machine" }',
)  # fmt: skip
_WHERE = Key("where", TEXT, "an SQL condition on rows; others are left out", "all rows", example='"level is not null"')
_OPTIONS = Key("options", SETTINGS, "further options of Spark's reader or writer", example="{ header = true }")
_URL = Key("url", TEXT, "the database", "", ("jdbc",), True, example='"jdbc:postgresql://localhost:5432/plant"')
_LOGIN = (
    Key("user", TEXT, "who logs in", "as the address says", ("jdbc", "mqtt"), example='"presage"'),
    Key(
        "password_env", TEXT, "the variable of the environment with the password", "no password", ("jdbc", "mqtt"),
        example='"PGPASSWORD"',
    ),
)  # fmt: skip
_DATABASE = (_URL, *(replace(key, formats=("jdbc",)) for key in _LOGIN))
_QUERIED = (
    Key("table", TEXT, "the table that is read; or a `query`", "", ("jdbc",), example='"owners"'),
    Key("query", TEXT, "the query that is read", "", ("jdbc",), example='"select id as device, team from owners"'),
)
_TABLE = (*_DATABASE, *_QUERIED)
_BROKERS = (
    Key("servers", TEXT, "the brokers", "", ("kafka", "mqtt"), True, example='"localhost:9092"'),
    Key(
        "topic",
        TEXT,
        "the topic; of a source, several with commas between",
        "",
        ("kafka", "mqtt"),
        True,
        example='"temp"',
    ),
)
_PATH = Key("path", TEXT, "a file or folder, from the pipeline file's folder", "", FILES, True, example='"readings"')

KEYS: dict[str, tuple[Key, ...]] = {
    "": (
        Key("program", TEXT, "the program, from the pipeline file's folder", "", (), True, example='"turbines.psg"'),
        Key("name", TEXT, "what the pipeline is called", "the file's name", example='"turbines"'),
        Key(
            "mode", TEXT, "`stream` goes on until it is stopped; `batch` reads tables and settles everything", "stream",
            choices=("stream", "batch"), example='"stream"',
        ),
        Key(
            "emit", TEXT, "`changes` tells all that changes; `confirmed` only what is entailed, faster; `states` that "
            "too, what goes on once when it begins and once when it is over", "changes",
            choices=("changes", "confirmed", "states"), example='"changes"',
        ),
        Key("shards", WHOLE, "how many reasoners share the work", "8", example="8"),
        Key("checkpoint", TEXT, "the folder of what a stream remembers; streams need one", example='"checkpoint"'),
        Key(
            "trigger", TEXT, "the least time between micro-batches, such as `500ms`, `10s` or `5m`; or "
            "`available-now`: take what there is, then end", "as soon as there is something", example='"1s"',
        ),
        Key(
            "times", TEXT, "how times are shown, in every field and text: as numbers (`ticks`) or as timestamps "
            "(`iso`)", "as facts say theirs", choices=("ticks", "iso"), example='"iso"',
        ),
        Key("zone", TEXT, "the zone of timestamps; keys are in UTC always", "UTC", example='"Europe/Vienna"'),
        Key(
            "clock", TEXT, "what moves the clock: the times of `facts`; this machine's clock (`wall`); or facts and, "
            "when none has come for a time such as `30s`, the time that goes by", "facts", example='"wall"',
        ),
        Key(
            "most_per_key", WHOLE, "a budget for hot keys: of the facts of one key that arrive at one time, so many "
            "are taken at most; others are skipped, and counted", "no limit", example="1000",
        ),
    ),
    "sources": (
        Key("format", TEXT, "what it is", "", (), True, SOURCES, example='"parquet"'),
        _PATH,
        *_BROKERS,
        _URL,
        *_LOGIN,
        *_QUERIED,
        Key(
            "increasing", TEXT, "in `presage serve`, a column that grows from row to row: rows beyond the last are new",
            "", ("jdbc",), example='"id"',
        ),
        _SCHEMA,
        _COLUMNS,
        Key("time", TEXT, "the column, or SQL expression, of a fact's time", "time", example='"ts"'),
        Key(
            "time_format", TEXT, "how times are written: `s`, `ms`, `us` or `ns` since 1970, or as "
            "for Python's `strptime`", "numbers, or ISO 8601", (*FILES, "kafka", "http", "stdin", "mqtt", "jdbc"),
            example='"%d.%m.%Y %H:%M"',
        ),
        Key("from", TEXT, "in place of `time`, the start of a fact's interval", example='"begin"'),
        Key("to", TEXT, "the end of a fact's interval", "no end", example='"finish"'),
        Key("bounds", TEXT, "which ends belong to it: `[]`, `[)`, `(]` or `()`", "both", example='"bounds"'),
        Key("arrives", TEXT, "of tables, when a fact arrived", "at its time", example='"seen"'),
        _WHERE,
        Key(
            "bad_rows", TEXT, "rows with no time or no value where one is needed: `stop` the pipeline, or `skip` and "
            "count them", "stop", choices=("stop", "skip"), example='"skip"',
        ),
        Key(
            "per_batch", WHOLE, "the most files, or messages, of a micro-batch", "all there are", (*FILES, "kafka"),
            example="1000",
        ),
        Key(
            "starting", TEXT, "where to begin in a topic", "latest", ("kafka",), choices=("earliest", "latest"),
            example='"earliest"',
        ),
        Key("rows_per_second", WHOLE, "how many rows are made", "1", ("rate",), example="10"),
        _OPTIONS,
    ),
    "static": (
        Key("format", TEXT, "what it is", "", (), True, STATIC, example='"csv"'),
        _PATH,
        *_TABLE,
        replace(_SCHEMA, meaning="the columns that are read, each with its Spark type", formats=FILES),
        _COLUMNS,
        _WHERE,
        _OPTIONS,
    ),
    "tables": (
        Key("format", TEXT, "what it is", "", (), True, STATIC, example='"csv"'),
        _PATH,
        *_TABLE,
        replace(_SCHEMA, meaning="the columns that are read, each with its Spark type", formats=FILES),
        _COLUMNS,
        _WHERE,
        # Files are read anew without Spark's reader, which keeps the list of files that it has found first.
        replace(_OPTIONS, meaning="further options of Spark's reader", formats=("jdbc",)),
    ),
    "sinks": (
        Key("format", TEXT, "where answers go", "", (), True, SINKS, example='"console"'),
        Key(
            "path", TEXT, "the folder that gets a folder for each micro-batch, or in `presage serve` files; of "
            "`lines`, a file", "", (*FILES[:2], "lines"), True, example='"out"',
        ),
        *_BROKERS,
        Key(
            "url", TEXT, "the database, or where messages are posted to", "", ("jdbc", "webhook", "alertmanager"), True,
            example='"http://127.0.0.1:9093"',
        ),
        *_LOGIN,
        Key(
            "token_env", TEXT, "the variable of the environment with the token that is sent along", "no token",
            ("webhook", "alertmanager"), example='"HOOK_TOKEN"',
        ),
        Key("timeout", TEXT, "how long a receiver may take", "10s", ("webhook", "alertmanager"), example='"10s"'),
        Key(
            "alerts", FLAG, "alerts go there, as `[alerts.QUERY]` say, in place of answers", "false",
            ("console", "lines", "webhook", "kafka", "mqtt", "events"), example="true",
        ),
        Key("table", TEXT, "the table, made where missing; one row for each answer", "", ("jdbc",), True,
            example='"answers"'),
        Key("statuses", TEXTS, "which answers go there", "all", choices=STATUSES, example='["confirmed"]'),
        Key("late", FLAG, "facts that came too late go there, in place of answers", "false",
            ("console", "parquet", "json", "kafka", "lines", "webhook", "mqtt", "events"), example="true"),
        _OPTIONS,
    ),
    "alerts": (
        Key("severity", TEXT, "how bad it is", "warning; critical or info where the query is `bad` or `good`",
            example='"critical"'),
        Key("text", TEXT, "what is said, with `{X}` for a binding, `{time}`, `{answer}`, `{status}`, `{deadline}`",
            "the answer", example='"{X} failed at {time}"'),
        Key("for", TEXT, "how long it must be so before an alert fires: a number of time units, or a duration", "0",
            example='"5m"'),
        Key("cooldown", TEXT, "how long after an alert the same group is silent", "0", example='"1h"'),
        Key("group", TEXTS, "the bindings by which answers are one alert", "all of them", example='["X"]'),
        Key("pending", FLAG, "possible answers are told as pending, with their deadline", "true", example="false"),
        Key("resolved", FLAG, "the end of an alert is told", "true", example="false"),
        Key("resolve_after", TEXT, "how long after its last answer an alert is over that has no end of its own",
            "at the next time unit", example='"10m"'),
        Key("labels", NAMES, "further labels, for Alertmanager", "none", example='{ team = "west" }'),
    ),
    "serve": (
        Key("host", TEXT, "the address that `presage serve` listens on; other than this machine's own, with a token",
            "127.0.0.1", example='"0.0.0.0"'),
        Key("port", WHOLE, "the port", "8753", example="8753"),
        Key("token_env", TEXT, "the variable of the environment with the token that requests must bear", "no token",
            example='"PRESAGE_TOKEN"'),
        Key("history_bytes", WHOLE, "bytes of log that are kept though nobody needs them to go on: the history that "
            "new rules are given with `--backfill`", "268435456; on Spark 33554432, all shards together",
            example="1000000000"),
        Key("log_bytes", WHOLE, "bytes of log, at least, after which what is remembered is written down anew",
            "4194304", example="4194304"),
    ),
    "params": (
        Key("NAME", TEXT, "a value for the program's parameter of that name, of the kind that its default is",
            "the default", example="40"),
    ),
    "metrics": (
        Key("host", TEXT, "the address that measures are served on", "127.0.0.1", example='"0.0.0.0"'),
        Key("port", WHOLE, "serve Prometheus text at `http://HOST:PORT/metrics`, and `/healthz`", "do not",
            example="9108"),
        Key("file", TEXT, "write Prometheus text to a file after each micro-batch", "do not", example='"presage.prom"'),
    ),
    "spark": (
        Key("master", TEXT, "where Spark runs", "local[*]", example='"local[2]"'),
        Key("jars", TEXTS, "files of Java classes, such as a database's driver", "none", example='["driver.jar"]'),
        Key("spark.…", TEXT, "any setting of Spark, its name in quotes", example='"4g"'),
    ),
}  # fmt: skip

_OF_FILES = (
    "schema",
    "columns",
    "time",
    "time_format",
    "from",
    "to",
    "bounds",
    "arrives",
    "where",
    "bad_rows",
    "options",
)
MAP = (
    Key("predicate", TEXT, "the predicate of the facts", "the file's name", example='"temp"'),
    Key("format", TEXT, "what the file is", "by its suffix", choices=FILES, example='"csv"'),
    *(replace(key, formats=()) for key in KEYS["sources"] if key.name in _OF_FILES),
)  # fmt: skip
"""The keys of a file for `--map`, which says of one file of facts what `[sources.NAME]` says of a source."""
OF_MAP = "map"

BY_QUERY = "alerts"
"""The table that holds a table for each query that somebody is alerted by."""
PLAIN = ("serve", "metrics", "spark")
"""The tables that hold keys only."""
NAMED = ("sources", "static", "tables", "sinks")
"""The tables that hold tables, each with a name of its own."""
REQUIRED_TABLES = ("sources", "sinks")


def keys_of(section: str) -> tuple[Key, ...]:
    return MAP if section == OF_MAP else KEYS[section]


def key_of(section: str, name: str) -> Key | None:
    return next((key for key in keys_of(section) if key.name == name), None)
