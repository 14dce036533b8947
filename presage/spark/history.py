"""What a batch run over history leaves behind, for a stream to go on from.

A folder with a file for each shard: its reasoner as it is when the clock stands at the last time of the history. Facts
of that very time wait in it, since the stream may bring more of them. Files are written by the workers, so the folder
must be one that all of them see. A task that is run again writes the same once more; a file is in place only when it
is whole.
"""

from __future__ import annotations

import struct
import uuid
from pathlib import Path
from typing import Any

from pyarrow import fs

from presage.errors import PresageError
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.sealed import StateError, reading
from presage.spark.job import Job
from presage.spark.packs import kept_as, taken_from, time_of
from presage.spark.shard_reasoner import Live

FORMAT = 2


def as_uri(folder: str | Path) -> str:
    """A folder as all file systems know it."""
    return str(folder) if "://" in str(folder) else Path(folder).absolute().as_uri()


def leave(job: Job, shard: int, clock: Number, live: Live) -> None:
    system, folder = _folder(job)
    system.create_dir(folder, recursive=True)
    path = f"{folder}/{_name(shard)}"
    beside = f"{path}.{uuid.uuid4().hex}"
    header = {"format": FORMAT, "of": job.fingerprints, "clock": show_number(clock)}
    with system.open_output_stream(beside) as out:
        out.write(kept_as("history", header, live.save()))
    system.move(beside, path)


def left(job: Job, shard: int) -> tuple[Number, Live]:
    """The clock and the reasoner of a shard as history left them."""
    system, folder = _folder(job)
    path = f"{folder}/{_name(shard)}"
    if system.get_file_info(path).type != fs.FileType.File:
        raise PresageError(
            f"{job.state}: no batch run has left the state of shard {shard} there: give `state` to the run over the "
            "history too, and write all of its answers before the stream starts"
        )
    with system.open_input_stream(path) as given:
        data = given.read()
    try:
        header, body = taken_from("history", data, _name(shard), unsealed=True)
        format = header["format"]
    except (StateError, ValueError, KeyError, TypeError, struct.error):
        raise PresageError(f"{job.state}: {_name(shard)} is damaged: run the batch over the history again") from None
    if format not in (1, FORMAT):
        raise PresageError(
            f"{job.state}: left by another version of Presage (format {format}; this one reads 1 and {FORMAT}): "
            "run the batch over the history again"
        )
    job.must_be_same(header["of"], f"what is in {job.state}")
    with reading(f"{job.state}: {_name(shard)}"):
        return time_of(header["clock"]), Live.restore(job, shard, body, unsealed=format == 1)


def _folder(job: Job) -> tuple[Any, str]:
    assert job.state is not None
    try:
        system, path = fs.FileSystem.from_uri(job.state)
    except (ValueError, OSError) as found:
        raise PresageError(f"{job.state}: state cannot be kept there ({found})") from None
    return system, path.rstrip("/")


def _name(shard: int) -> str:
    return f"shard-{shard:05d}"
