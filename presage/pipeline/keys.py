"""Every key a pipeline file may have: what it means, what its value is, where it belongs.

The reader of files, the messages about them and the reference all go by this table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FILES = ("parquet", "json", "csv")
SOURCES = (*FILES, "kafka", "rate", "jdbc")
STATIC = (*FILES, "jdbc")
SINKS = ("console", "parquet", "json", "kafka", "jdbc")
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
    "schema", NAMES, "the columns that are read, each with its Spark type; of Kafka, the fields of a message's JSON",
    "of Parquet, what the files say", (*FILES, "kafka"), example='{ machine = "string", ts = "timestamp" }',
)  # fmt: skip
_COLUMNS = Key(
    "columns", NAMES, "for an argument the column it is taken from, or an SQL expression over columns",
    "the column of the same name", example='{ device = "machine" }',
)  # fmt: skip
_WHERE = Key("where", TEXT, "an SQL condition on rows; others are left out", "all rows", example='"level is not null"')
_OPTIONS = Key("options", SETTINGS, "further options of Spark's reader or writer", example="{ header = true }")
_DATABASE = (
    Key("url", TEXT, "the database", "", ("jdbc",), True, example='"jdbc:postgresql://localhost:5432/plant"'),
    Key("user", TEXT, "who logs in", "as the address says", ("jdbc",), example='"presage"'),
    Key(
        "password_env", TEXT, "the variable of the environment with the password", "no password", ("jdbc",),
        example='"PGPASSWORD"',
    ),
)  # fmt: skip
_TABLE = (
    *_DATABASE,
    Key("table", TEXT, "the table that is read; or a `query`", "", ("jdbc",), example='"owners"'),
    Key("query", TEXT, "the query that is read", "", ("jdbc",), example='"select id as device, team from owners"'),
)
_BROKERS = (
    Key("servers", TEXT, "the brokers", "", ("kafka",), True, example='"localhost:9092"'),
    Key("topic", TEXT, "the topic; of a source, several with commas between", "", ("kafka",), True, example='"temp"'),
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
            "emit", TEXT, "`changes` tells all that changes; `confirmed` only what is entailed, faster", "changes",
            choices=("changes", "confirmed"), example='"changes"',
        ),
        Key("shards", WHOLE, "how many reasoners share the work", "8", example="8"),
        Key("checkpoint", TEXT, "the folder of what a stream remembers; streams need one", example='"checkpoint"'),
        Key(
            "trigger", TEXT, "the least time between micro-batches, such as `500ms`, `10s` or `5m`; or "
            "`available-now`: take what there is, then end", "as soon as there is something", example='"1s"',
        ),
    ),
    "sources": (
        Key("format", TEXT, "what it is", "", (), True, SOURCES, example='"parquet"'),
        _PATH,
        *_BROKERS,
        *_TABLE,
        _SCHEMA,
        _COLUMNS,
        Key("time", TEXT, "the column, or SQL expression, of a fact's time", "time", example='"ts"'),
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
        Key("path", TEXT, "the folder that gets a folder for each micro-batch", "", FILES[:2], True, example='"out"'),
        *_BROKERS,
        *_DATABASE,
        Key("table", TEXT, "the table, made where missing; one row for each answer", "", ("jdbc",), True,
            example='"answers"'),
        Key("statuses", TEXTS, "which answers go there", "all", choices=STATUSES, example='["confirmed"]'),
        Key("late", FLAG, "facts that came too late go there, in place of answers", "false",
            ("console", "parquet", "json", "kafka"), example="true"),
        _OPTIONS,
    ),
    "metrics": (
        Key("port", WHOLE, "serve Prometheus text at `http://127.0.0.1:PORT/metrics`", "do not", example="9108"),
        Key("file", TEXT, "write Prometheus text to a file after each micro-batch", "do not", example='"presage.prom"'),
    ),
    "spark": (
        Key("master", TEXT, "where Spark runs", "local[*]", example='"local[2]"'),
        Key("jars", TEXTS, "files of Java classes, such as a database's driver", "none", example='["driver.jar"]'),
        Key("spark.…", TEXT, "any setting of Spark, its name in quotes", example='"4g"'),
    ),
}  # fmt: skip

NAMED = ("sources", "static", "tables", "sinks")
"""The tables that hold tables, each with a name of its own."""
REQUIRED_TABLES = ("sources", "sinks")


def key_of(section: str, name: str) -> Key | None:
    return next((key for key in KEYS[section] if key.name == name), None)
