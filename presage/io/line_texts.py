"""Answer lines in JSON made by the column, where they come so: a line costs no objects.

What a column does not say for certain, such as whether a bound value is the number 3 or the text "3", is left to who
makes lines one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_ABSENT = ("from", "to", "bounds", "confidence")
_LIKE_A_NUMBER = r"^[-+.0-9]"
_STEERING = r"[\x00-\x1f]"


def json_texts(table: Any, first: int) -> list[tuple[str, str, str]] | None:
    """The lines of a table of answers, numbered by `seq` from a number on and sorted by answer: each with its status
    and its key. `None` where it takes more than the columns say."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = table.num_rows
    if any(table.column(name).null_count != size for name in _ABSENT if name in table.column_names):
        return None
    if pc.sum(pc.list_value_length(table.column("ways"))).as_py() or table.column("time").null_count:
        return None
    if pc.sum(pc.list_value_length(table.column("unless"))).as_py():
        return None
    # What is sorted once is taken in this order for every column.
    order = pc.sort_indices(table, sort_keys=[("answer", "ascending"), ("status", "ascending")])
    table = table.take(order).combine_chunks()

    def column(name: str) -> Any:
        found = table.column(name)
        return found.chunk(0) if found.num_chunks else pa.array([], found.type)

    bindings = column("bindings")
    items, names = bindings.items, bindings.keys
    offsets = bindings.offsets.to_numpy()
    width = int(offsets[1] - offsets[0]) if size else 0
    if not (np.diff(offsets) == width).all():
        return None
    items = items.slice(int(offsets[0]), width * size)
    names = names.slice(int(offsets[0]), width * size)
    if pc.any(pc.match_substring_regex(items, _LIKE_A_NUMBER)).as_py():
        return None
    answer = _escaped(column("answer"))
    key = _escaped(column("key"))
    lists = [_escaped_lists(column(name)) for name in ("because", "needs")]
    values = _escaped(items)
    if answer is None or key is None or values is None or any(each is None for each in lists):
        return None
    bound: list[Any] = []
    for place in range(width):
        rows = pa.array(np.arange(size) * width + place)
        name = names[place].as_py()
        if not name.isidentifier():
            return None
        bound += [f'{", " if place else ""}"{name}": "', values.take(rows), '"']
    decided = pc.fill_null(pc.cast(column("decided_by"), pa.string()), "null")
    pieces = [
        '{"seq": ', pc.cast(pa.array(np.arange(first, first + size)), pa.string()),
        ', "now": ', pc.cast(column("now"), pa.string()), ', "status": "', column("status"),
        '", "answer": "', answer, '", "key": "', key, '", "bindings": {', *bound,
        '}, "time": ', pc.cast(column("time"), pa.string()), ', "because": [', lists[0], '], "needs": [', lists[1],
        '], "unless": [], "decided_by": ', decided, ', "confidence": null}',
    ]  # fmt: skip
    texts = pc.binary_join_element_wise(*pieces, "")
    keys = table.column("key").to_pylist()
    return list(zip(texts.to_pylist(), table.column("status").to_pylist(), keys, strict=True))


def _escaped(texts: Any) -> Any:
    """Texts as they stand between the quotes of JSON."""
    import pyarrow.compute as pc

    if pc.any(pc.match_substring_regex(texts, _STEERING)).as_py():
        return None
    for sign in ("\\", '"'):
        if pc.any(pc.match_substring(texts, sign)).as_py():
            texts = pc.replace_substring(texts, sign, "\\" + sign)
    return texts


def _escaped_lists(lists: Any) -> Any:
    """Lists of texts as JSON has them, without the brackets."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = _escaped(lists.flatten())
    if values is None:
        return None
    lengths = pc.list_value_length(lists).to_numpy()
    offsets = np.zeros(len(lists) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), values), '", "')
    quoted = pc.binary_join_element_wise('"', joined, '"', "")
    return pc.if_else(pa.array(lengths == 0), "", quoted)
