"""PostgreSQL spoken to from Python: tables read as Arrow, answers written by upsert. No file of Java classes is needed.

A micro-batch is one transaction: either all of its answers are in the table or none is. The latest line of an answer is
its state, so writing a micro-batch again, after a crash, leaves what was there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from presage.errors import PresageError
from presage.io.moments import in_order
from presage.pipeline.reading import Part

_LISTS = ("because", "needs", "unless")


class Unfit(PresageError):
    """A value that the database takes in no form: a NUL in a text, a key longer than its index allows."""


@contextmanager
def _connection(part: Part) -> Iterator[Any]:
    import psycopg

    url = part.text("url").removeprefix("jdbc:")
    where = url if "://" in url else f"dbname={url.removeprefix('postgresql:')}"
    given = {"user": part.text("user"), "password": part.text("password_env")}
    login: dict[str, Any] = {name: value for name, value in given.items() if value}
    try:
        with psycopg.connect(where, connect_timeout=10, **login) as connection:
            yield connection
    except psycopg.Error as found:
        said = " ".join(str(found).split())
        unfit = isinstance(found, (psycopg.DataError, psycopg.errors.ProgramLimitExceeded))
        kind = Unfit if unfit and part.section == "sinks" else PresageError
        raise kind(f"[{part.place}] PostgreSQL says: {said}") from None


def read_table(part: Part) -> Any:
    """A table or a query as an Arrow table."""
    import pyarrow as pa

    with _connection(part) as connection, connection.cursor() as cursor:
        if "query" in part.values:
            cursor.execute(part.text("query").encode())
        else:
            cursor.execute(_sql("select * from {}", part.text("table")))
        if cursor.description is None:
            raise PresageError(f"[{part.place}] the query gives no rows: it is not a `select`")
        columns = [(column.name, _arrow_type(column)) for column in cursor.description]
        rows = cursor.fetchall()
    arrays = [pa.array([_as(row[place], kind) for row in rows], kind) for place, (_, kind) in enumerate(columns)]
    return pa.table(arrays, names=[name for name, _ in columns])


def _arrow_type(column: Any) -> Any:
    import pyarrow as pa

    whole, real = pa.int64(), pa.float64()
    known = {16: pa.bool_(), 20: whole, 21: whole, 23: whole, 26: whole, 700: real, 701: real}
    known |= {1082: pa.date32(), 1114: pa.timestamp("us"), 1184: pa.timestamp("us", "UTC")}
    if column.type_code == 1700:
        # A numeric without a scale has any number of digits; text stays exact, and a `cast` can say more.
        scale = column.scale
        return pa.decimal128(38, scale) if scale is not None and scale <= 38 and column.precision else pa.string()
    return known.get(column.type_code, pa.string())


def _as(value: Any, kind: Any) -> Any:
    import pyarrow as pa

    if value is None or not pa.types.is_string(kind) or isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (dict, list)) else str(value)


def latest(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each key its last line."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        before = found.get(line["key"])
        if before is None or in_order(before["now"]) <= in_order(line["now"]):
            found[line["key"]] = line
    return list(found.values())


TOLD = "presage_told"
"""The table that says how far runs are, each sink of them: a row that changes with what it speaks of."""


def told(part: Part, run: str) -> int:
    """The number of the last line that a run has written to a table."""
    with _connection(part) as connection, connection.cursor() as cursor:
        cursor.execute(f"create table if not exists {TOLD} (run text, sink text, told bigint, primary key (run, sink))")
        cursor.execute(f"select told from {TOLD} where run = %s and sink = %s", (run, part.name))
        found = cursor.fetchone()
    return 0 if found is None else int(found[0])


def rows_beyond(part: Part, last: Any, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The rows of a table or a query whose `increasing` column is beyond a value, in its order, and the columns."""
    from psycopg import sql

    column = sql.Identifier(part.text("increasing"))
    if "query" in part.values:
        given: Any = sql.SQL("({}) as given").format(sql.SQL(part.text("query")))
    else:
        given = sql.Identifier(*part.text("table").split("."))
    beyond: Any = sql.SQL("where {} > {} ").format(column, sql.Literal(last)) if last is not None else sql.SQL("")
    asked = sql.SQL("select * from {} {}order by {} limit {}").format(given, beyond, column, sql.Literal(most))
    with _connection(part) as connection, connection.cursor() as cursor:
        cursor.execute(asked)
        return [each.name for each in cursor.description or ()], cursor.fetchall()


def upsert(
    part: Part, lines: Iterable[dict[str, Any]], whole_times: bool, up_to: tuple[str, int] | None = None
) -> None:
    """Writes answer lines, the latest of each; makes the table where there is none. With `up_to`, a run and the number
    of its last line, the same transaction says so."""
    table = part.text("table")
    rows = latest(lines)
    moments = bool(rows) and not isinstance(rows[0]["now"], int)
    columns = _columns(whole_times, moments)
    names = ", ".join(f'"{name}"' for name in columns)
    with _connection(part) as connection, connection.cursor() as cursor:
        _make_table(cursor, part, columns)
        cursor.execute(
            _sql(f"create temp table presage_batch on commit drop as select {names} from {{}} limit 0", table)
        )
        with cursor.copy(f"copy presage_batch ({names}) from stdin") as copy:
            for line in rows:
                copy.write_row([_cell(line.get(name), name) for name in columns])
        updates = ", ".join(f'"{name}" = excluded."{name}"' for name in columns if name != "key")
        insert = f"insert into {{}} ({names}) select {names} from presage_batch"
        cursor.execute(_sql(f"{insert} on conflict (key) do update set {updates}", table))
        if up_to is not None:
            cursor.execute(
                f"insert into {TOLD} (run, sink, told) values (%s, %s, %s) "
                "on conflict (run, sink) do update set told = excluded.told",
                (up_to[0], part.name, up_to[1]),
            )


REFUSED = "presage_refused"
"""The table of lines that others do not take: as they are, with what PostgreSQL said of them."""


def upsert_what_fits(part: Part, lines: Iterable[dict[str, Any]], whole_times: bool) -> int:
    """Writes answer lines; those that PostgreSQL takes in no form go to a table of their own, and are counted."""
    given = list(lines)
    try:
        upsert(part, given, whole_times)
        return 0
    except Unfit as found:
        if len(given) > 1:
            half = len(given) // 2
            return sum(upsert_what_fits(part, each, whole_times) for each in (given[:half], given[half:]))
        _put_aside(part, given[0], str(found).removeprefix(f"[{part.place}] "))
        return 1


def _put_aside(part: Part, line: dict[str, Any], why: str) -> None:
    said = json.dumps(line)  # ASCII, with escapes: there is nothing in it that a text cannot hold
    name = hashlib.sha256(said.encode()).hexdigest()
    with _connection(part) as connection, connection.cursor() as cursor:
        cursor.execute(
            f"create table if not exists {REFUSED} (sink text, name text, at timestamptz default now(), why text, "
            "line text, primary key (sink, name))"
        )
        cursor.execute(
            f"insert into {REFUSED} (sink, name, why, line) values (%s, %s, %s, %s) on conflict do nothing",
            (part.name, name, why, said),
        )


def _make_table(cursor: Any, part: Part, columns: Mapping[str, str]) -> None:
    """Makes the table where there is none. One of version 0.1, where an answer's text was its key, goes on: it gets the
    columns that have come since. Any other is not touched, but refused."""
    table = part.text("table")
    kinds = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
    cursor.execute(_sql(f"create table if not exists {{}} ({kinds}, primary key (key))", table))
    cursor.execute(_sql("select * from {} limit 0", table))
    kind = next((_TIMES.get(column.type_code) for column in cursor.description if column.name == "now"), None)
    missing = [name for name in columns if name not in {column.name for column in cursor.description}]
    if _SINCE.issuperset(missing) and kind is not None and kind != columns["now"]:
        raise PresageError(
            f"[{part.place}] the table {table} has times as {kind}, and they are {columns['now']} now: name another "
            "`table`, which is made, drop this one, or say with `times` how times are shown"
        )
    if not missing:
        return
    if not _SINCE.issuperset(missing):
        wanted = ", ".join(f'"{name}"' for name in missing)
        raise PresageError(
            f"[{part.place}] the table {table} is not one of answers: it has no column {wanted}; name another `table`, "
            "which is made, or drop this one"
        )
    for name in missing:
        cursor.execute(_sql(f'alter table {{}} add column "{name}" {columns[name]}', table))
    if "key" in missing:
        cursor.execute(_sql("update {} set key = answer", table))
        cursor.execute(
            "select conname from pg_constraint where conrelid = %s::regclass and contype = 'p'",
            (".".join(f'"{name}"' for name in table.split(".")),),
        )
        for (constraint,) in cursor.fetchall():
            cursor.execute(_sql(f'alter table {{}} drop constraint "{constraint}"', table))
        cursor.execute(_sql("alter table {} add primary key (key)", table))


_TIMES = {20: "bigint", 25: "text", 1184: "timestamptz"}
"""The types that times have in tables, by PostgreSQL's numbers."""
_SINCE = {"key", "ways_left_out"}
"""What tables of version 0.1 do not have."""


def _columns(whole_times: bool, moments: bool) -> dict[str, str]:
    time = "text" if not whole_times else "timestamptz" if moments else "bigint"
    found = {"key": "text", "answer": "text", "status": "text", "now": time, "bindings": "jsonb", "time": time}
    found |= {"from": time, "to": time, "bounds": "text", **dict.fromkeys(_LISTS, "jsonb"), "decided_by": time}
    return found | {"confidence": "double precision", "ways": "jsonb", "ways_left_out": "bigint"}


def _cell(value: Any, name: str) -> Any:
    return json.dumps(value, ensure_ascii=False) if name in ("bindings", "ways", *_LISTS) else value


def _sql(text: str, table: str) -> Any:
    """SQL with a table's name put in, quoted; a point separates it from its schema."""
    from psycopg import sql

    return sql.SQL(text).format(sql.Identifier(*table.split(".")))
