"""Files of a pipeline as this machine sees them: which there are, and which columns Parquet says it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from glob import glob
from pathlib import Path

from presage.pipeline.reading import Part, Pipeline


def of_parquet(pipeline: Pipeline, part: Part) -> dict[str, str] | None:
    """The columns of Parquet files, with their types in Spark's words; `None` where there is no file yet."""
    first = next(files_at(pipeline.local(part.text("path")), ".parquet"), None)
    if first is None:
        return None
    try:
        from pyarrow import ArrowException, parquet

        schema = parquet.read_schema(first)
    except ImportError:
        return None
    except (OSError, ArrowException):
        path = (part.section, part.name, "path")
        said, hint = f"{first} is not Parquet", "is it still being written, or is `format` another one?"
        pipeline.problem("C106", path, said, hint)
        return None
    return {field.name: _spark_name(str(field.type)) for field in schema}


def _spark_name(arrow: str) -> str:
    arrow = re.sub(r"^dictionary<values=(\w+).*", r"\1", arrow)
    same = {"large_string": "string", "string_view": "string", "bool": "boolean", "int64": "bigint", "int32": "int"}
    same |= {"int16": "smallint", "int8": "tinyint", "float": "float", "halffloat": "float", "double": "double"}
    same |= {"uint8": "smallint", "uint16": "int", "uint32": "bigint", "uint64": "decimal"}
    for start, name in (("timestamp", "timestamp"), ("date", "date"), ("decimal", "decimal")):
        if arrow.startswith(start):
            return name
    return same.get(arrow, arrow)


def files_at(path: str, ending: str) -> Iterator[Path]:
    """The files that a path means, as far as this machine sees them."""
    if "://" in path:
        return
    for each in sorted(map(Path, glob(path))):  # noqa: PTH207
        if each.is_file():
            yield each
        else:
            inner = (found for found in sorted(each.rglob(f"*{ending}")) if found.is_file())
            yield from (found for found in inner if not any(name.startswith((".", "_")) for name in found.parts[-2:]))
