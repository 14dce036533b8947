"""Answer lines as rows of typed columns: Parquet files, DataFrames and `changes.table` have these."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from presage.answers import Answer


@lru_cache(maxsize=2)
def schema_of_lines(whole_times: bool) -> Any:
    return answer_schema(whole_times)


def answers_table(answers: Iterable[Answer], whole_times: bool) -> Any:
    import pyarrow as pa

    schema, told = schema_of_lines(whole_times), list(answers)
    for name in dict.fromkeys(name for answer in told for name, _ in answer.more if name != "key"):
        schema = schema.append(pa.field(name, pa.string()))
    rows = [fit_line(answer.to_json(), schema) for answer in told]
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def fit_line(line: dict[str, Any], schema: Any) -> dict[str, Any]:
    """An answer line as a row of typed columns."""
    return {field.name: _fit(line.get(field.name), field.name, field.type) for field in schema}


def _fit(value: Any, name: str, kind: Any) -> Any:
    """A field of an answer line as its column has it."""
    import pyarrow as pa

    if name == "bindings":
        return None if value is None else [(variable, str(bound)) for variable, bound in value.items()]
    if name == "ways":
        of_way = kind.value_type
        return [
            {field.name: _fit(way.get(field.name), field.name, field.type) for field in of_way} for way in value or ()
        ]
    if pa.types.is_list(kind):
        return value or []
    if pa.types.is_timestamp(kind) and value is not None:
        return datetime.fromisoformat(value)
    return str(value) if value is not None and pa.types.is_string(kind) else value


def answer_schema(whole_times: bool, moments: bool = False) -> Any:
    """The columns of a Parquet file of answers: the fields of an answer line. Moments between the ticks of dense time
    may be finer than any type of timestamp, and are text."""
    import pyarrow as pa

    def some(kind: Any) -> Any:
        # Readers need not look for missing ones: there are none.
        return pa.list_(pa.field("item", kind, nullable=False))

    texts = some(pa.string())
    time = pa.string() if not whole_times else pa.timestamp("us", "UTC") if moments else pa.int64()
    way = [
        ("because", texts),
        ("needs", texts),
        ("unless", texts),
        ("decided_by", time),
        ("confidence", pa.float64()),
    ]
    return pa.schema(
        [
            ("now", time),
            ("status", pa.string()),
            ("answer", pa.string()),
            ("key", pa.string()),
            ("bindings", pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False))),
            ("time", time),
            ("from", time),
            ("to", time),
            ("bounds", pa.string()),
            *way,
            ("ways", some(pa.struct(way))),
            ("ways_left_out", pa.int64()),
        ]
    )
