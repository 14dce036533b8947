"""What is kept on disk or in Spark's state, as bytes: plain data under a seal.

A seal says what kind of thing it is, in which version of its form, how long it is, and has a checksum over all of that
and the content: bytes that were cut, flipped or made for something else are refused before anything looks at them.
The content is JSON and arrays of numbers, as one row of an Arrow stream. Nothing in it is ever executed; who reads it
still checks that the numbers are in range (`Arrays`), since kernels go by them as addresses, and a checksum only says
that nobody damaged the bytes by accident.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from presage.errors import PresageError

MAGIC = b"PRESAGE\n"
_SEAL = struct.Struct("<8s16sIQ16s")
"""Magic, kind, version, length of the content, checksum."""

Array = npt.NDArray[Any]


class StateError(PresageError):
    """Bytes that are not what they were said to be."""


def sealed(kind: str, version: int, content: bytes) -> bytes:
    """The content under a seal."""
    return _SEAL.pack(MAGIC, kind.encode(), version, len(content), _checksum(kind, version, content)) + content


def _checksum(kind: str, version: int, content: Any) -> bytes:
    found = hashlib.blake2b(f"{kind}\n{version}\n{len(content)}\n".encode(), digest_size=16)
    found.update(content)
    return found.digest()


def is_sealed(blob: bytes) -> bool:
    return bytes(blob[: len(MAGIC)]) == MAGIC


def opened(kind: str, versions: range, blob: bytes, what: str) -> tuple[int, bytes]:
    """The version and the content of sealed bytes; `what` names them in messages."""
    if not is_sealed(blob) or len(blob) < _SEAL.size:
        raise StateError(f"these bytes are not {what.replace('the ', 'a ', 1)}, or are damaged")
    _, given, version, length, checksum = _SEAL.unpack_from(blob)
    content = bytes(blob[_SEAL.size :])
    name = given.rstrip(b"\0").decode("ascii", "replace")
    if len(content) != length or _checksum(name, version, content) != checksum:
        missing = f": {length - len(content)} bytes are missing" if 0 < length - len(content) < 1 << 48 else ""
        raise StateError(f"{what} is damaged{missing}: its checksum does not fit. Take a copy of it, or start anew")
    if name != kind:
        raise StateError(f"these bytes are not {what}, but of another kind: {name}")
    if version not in versions:
        newer = "a newer" if version > versions[-1] else "an older"
        raise StateError(
            f"{what} was written by {newer} version of Presage (format {version}; this one reads "
            f"{versions[0]} to {versions[-1]}): use that version, or start anew"
        )
    return version, content


def with_arrays(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """JSON values and arrays of numbers as the one row of an Arrow stream."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    shapes: dict[str, list[int]] = {}
    for name, given in arrays.items():
        array = np.asanyarray(given)
        if array.dtype.kind not in "iubf":
            raise TypeError(f"{name} is an array of {array.dtype}, not of numbers")
        shapes[name] = list(array.shape)
        flat = np.ascontiguousarray(array).ravel()
        values = pa.array(flat.view(np.uint8) if flat.dtype == np.bool_ else flat)
        columns[f"array {name}"] = pa.LargeListArray.from_arrays(pa.array([0, len(flat)], pa.int64()), values)
    flags = sorted(name for name, given in arrays.items() if np.asanyarray(given).dtype == np.bool_)
    text = json.dumps({"header": header, "shapes": shapes, "flags": flags}, separators=(",", ":"))
    columns["json"] = pa.array([text], pa.large_string())
    batch = pa.record_batch(columns)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def parted(content: bytes) -> tuple[Any, dict[str, Array]]:
    """The JSON values and the arrays that `with_arrays` was given."""
    import pyarrow as pa

    options = pa.ipc.IpcReadOptions(use_threads=False)
    with pa.ipc.open_stream(content, options=options) as reader:
        table = reader.read_all()
    table.validate(full=True)
    if table.num_rows != 1 or len(set(table.column_names)) != table.num_columns:
        raise ValueError("not one row")
    text = table.column("json")
    if text.type != pa.large_string() or text.null_count:
        raise ValueError("the JSON is no text")
    plain = json.loads(text[0].as_py())
    shapes, flags = plain["shapes"], plain["flags"]
    found: dict[str, Array] = {}
    for name, shape in shapes.items():
        column = table.column(f"array {name}")
        if not pa.types.is_large_list(column.type) or column.null_count or column.num_chunks != 1:
            raise ValueError(f"{name} is no array")
        values = column.chunk(0).flatten()
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)) or values.null_count:
            raise ValueError(f"{name} has items that are no numbers")
        sizes = [size for size in shape if isinstance(size, int) and not isinstance(size, bool) and size >= 0]
        array = values.to_numpy().reshape(sizes) if len(sizes) == len(shape) else None
        if array is None:
            raise ValueError(f"{name} has no shape")
        # Not a view of the bytes, which nobody may write to.
        found[name] = array.astype(np.bool_) if name in flags else array.copy()
    return plain["header"], found


class Arrays(Mapping[str, Array]):
    """Arrays as they were read, taken out under the condition that they are as somebody who wrote them left them."""

    def __init__(self, given: Mapping[str, Array]) -> None:
        self._given = given

    def __getitem__(self, name: str) -> Array:
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def part(self, prefix: str) -> Arrays:
        """Those whose name begins with a prefix, without it."""
        return Arrays({name.removeprefix(prefix): self[name] for name in self if name.startswith(prefix)})

    def numbers(
        self, name: str, kind: Any, *, least: int | None = None, below: int | None = None, size: int | None = None
    ) -> Array:
        """A row of numbers of a type, from `least` on and below a bound."""
        return self._checked(name, kind, (None,) if size is None else (size,), least, below)

    def rows(
        self,
        name: str,
        kind: Any,
        width: int,
        *,
        least: int | None = None,
        below: int | None = None,
        count: int | None = None,
    ) -> Array:
        """Rows of so many numbers each."""
        return self._checked(name, kind, (count, width), least, below)

    def _checked(
        self, name: str, kind: Any, shape: tuple[int | None, ...], least: int | None, below: int | None
    ) -> Array:
        array = self[name]
        if array.dtype != np.dtype(kind) or array.ndim != len(shape):
            raise ValueError(f"{name} has another type or shape")
        if any(wanted is not None and size != wanted for size, wanted in zip(array.shape, shape, strict=True)):
            raise ValueError(f"{name} has another size")
        if array.size and least is not None and int(array.min()) < least:
            raise ValueError(f"{name} has a number below {least}")
        if array.size and below is not None and int(array.max()) >= below:
            raise ValueError(f"{name} has a number that is too large")
        return array

    def spans(self, name: str, count: int, farthest: int) -> tuple[Array, Array]:
        """Intervals of cells: their first and last ones."""
        times = self.rows(name, np.int64, 2, least=-farthest, below=farthest + 1, count=count)
        low, high = times[:, 0].copy(), times[:, 1].copy()
        if (low > high).any():
            raise ValueError(f"{name} has an interval that ends before it begins")
        return low, high


def need(condition: bool, what: str) -> None:
    """Refuses what was read, where it cannot be what was written."""
    if not condition:
        raise ValueError(what)


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Content that is under a good seal and yet makes no sense, in words: somebody made it up, or we did something
    wrong when we wrote it."""
    try:
        yield
    except PresageError:
        raise
    except MemoryError:
        raise StateError(f"{what} cannot be read: it asks for more memory than there is") from None
    except Exception as found:
        raise StateError(f"{what} cannot be read: {type(found).__name__}: {str(found)[:200]}") from None
