"""Answer lines as Arrow tables, from answers one by one or from columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from presage.answers import Answer, Answers
from presage.answers.schema import answers_table, schema_of_lines


class TextLists(Protocol):
    """Lists of texts: where those of each row begin, where each text begins, and the bytes."""

    @property
    def begins(self) -> Any: ...
    @property
    def offsets(self) -> Any: ...
    @property
    def data(self) -> Any: ...


class AnswerLines(Protocol):
    """Lines about answers at time points, each with one way at most."""

    @property
    def columns(self) -> Any: ...
    @property
    def times(self) -> Any: ...
    @property
    def decided_by(self) -> Any: ...
    @property
    def names(self) -> tuple[str, ...]: ...


def table_of(answers: Sequence[Answer], whole_times: bool) -> list[Any]:
    """The lines of answers as tables, in no particular order."""
    if isinstance(answers, Answers) and answers.columns is not None:
        return answers.columns.tables()
    return [answers_table(answers, whole_times)] if len(answers) else []


def texts_column(offsets: Any, data: Any) -> Any:
    """Texts as an Arrow column: where each begins, and their bytes."""
    import pyarrow as pa

    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def lines_table(lines: AnswerLines, now: Any) -> Any:
    """`now` is one time, or an array with that of each line."""
    import pyarrow as pa

    schema = schema_of_lines(True)
    size = len(lines.times)
    empty = pa.array(np.zeros(size + 1, np.int32))

    def texts(name: str) -> Any:
        given: TextLists = lines.columns[name]
        return texts_column(given.offsets, given.data)

    def lists(name: str) -> Any:
        return pa.ListArray.from_arrays(pa.array(lines.columns[name].begins), texts(name), schema.field(name).type)

    def empty_lists(name: str) -> Any:
        kind = schema.field(name).type
        return pa.ListArray.from_arrays(empty, pa.array([], kind.value_type), kind)

    def bindings() -> Any:
        begins = pa.array(lines.columns["bindings"].begins)
        return pa.MapArray.from_arrays(begins, names, texts("bindings"), schema.field("bindings").type)

    names = pa.array(lines.names, pa.string()).take(pa.array(np.tile(np.arange(len(lines.names)), size)))
    answer = texts("answer")
    known = {
        "now": pa.array(np.broadcast_to(np.asarray(now, np.int64), size)),
        "status": texts("status"),
        "answer": answer,
        "key": answer,
        "bindings": bindings(),
        "time": pa.array(lines.times),
        "because": lists("because"),
        "needs": lists("needs"),
        "unless": empty_lists("unless"),
        "decided_by": pa.array(lines.decided_by, mask=lines.decided_by < 0),
        "ways": empty_lists("ways"),
    }
    columns = [known.get(field.name) for field in schema]
    filled = [pa.nulls(size, field.type) if got is None else got for field, got in zip(schema, columns, strict=True)]
    return pa.Table.from_arrays(filled, schema=schema)
