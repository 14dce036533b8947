"""A stream that goes on with another number of shards: what the shards of before hand over, and when.

With the first micro-batch that has something to do, the shards of before take it as ever, write what they remember to
files of the checkpoint, and are done: their state goes. From the next micro-batch on there are the new ones, each of
which takes over from those that had keys of its own. A micro-batch that comes again after a crash finds what it found
before: whether shards are the new ones is said by a file that names the micro-batch with which those of before were
done, and counts for later ones only.

Generations of shards are told apart by what they are called in packs, so that Spark keeps the state of each apart.
"""

from __future__ import annotations

import struct
import uuid
from functools import lru_cache
from math import gcd
from typing import Any

from pyarrow import fs
from pyspark import TaskContext

from presage.errors import PresageError
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.sealed import StateError
from presage.spark.heirs import Heir, cannot_be_divided, restored
from presage.spark.job import Job
from presage.spark.packs import kept_as, taken_from, time_of
from presage.spark.shard_reasoner import Live

FOLDER = "presage.shards"
"""The folder of a checkpoint that has what is handed over."""
GENERATION = 1 << 20
"""Shards of the next generation are called by numbers so much greater."""


def batch_number() -> int:
    """The number of the micro-batch at work."""
    context = TaskContext.get()
    said = None if context is None else context.getLocalProperty("streaming.sql.batchId")
    if said is None:
        raise PresageError(
            "Spark does not say which micro-batch this is: start with a new checkpoint, or go on as before"
        )
    return int(said)


def marker(generation: int) -> str:
    """The file that says with which micro-batch the generation before was done."""
    return f"begun-{generation:05d}"


def at_work(job: Job) -> tuple[Job, int]:
    """The job with the shards that take the micro-batch at work, and what the first of these is called in packs."""
    if not job.divisions:
        return job, 0
    generation, batch = 0, batch_number()
    while generation < len(job.divisions) and (done := _done(job, generation)) is not None and done < batch:
        generation += 1
    return job.divided(generation), generation * GENERATION


def hands_over(job: Job, generation: int) -> bool:
    """Whether a generation of shards is done with the micro-batch at work."""
    return generation < len(job.divisions) and batch_number() >= job.turns[generation]


def hand_over(job: Job, generation: int, shard: int, clock: Number, rules: int, live: Live) -> None:
    header = {"of": job.as_of(rules).fingerprints, "clock": show_number(clock), "rules": rules}
    _put(job, _name(generation, shard), kept_as("handed", header, live.save()))
    if shard == 0:
        _put(job, marker(generation + 1), str(batch_number()).encode())


def taken_over(job: Job, generation: int, shard: int) -> tuple[Number, int, Live]:
    """The clock and the number of the rules as shards of before left them, and a shard of now."""
    before = job.divided(generation - 1)
    lives: list[tuple[int, Live]] = []
    clock: Number = 0
    rules = 0
    # No other has a key of this one.
    for each in range(shard % gcd(before.shards, job.shards), before.shards, gcd(before.shards, job.shards)):
        name = _name(generation - 1, each)
        try:
            header, body = taken_from("handed", _read(job, name), f"{name} of the checkpoint")
            clock, rules = time_of(header["clock"]), int(header["rules"])
            of = header["of"]
        except (StateError, ValueError, KeyError, TypeError, struct.error):
            raise PresageError(f"the checkpoint is damaged: {FOLDER}/{name}. Restore it from a copy") from None
        then = before.as_of(rules)
        then.must_be_same(of, "the checkpoint")
        lives.append((each, restored(then, each, body)))
    return clock, rules, Heir.taking_over(job.as_of(rules), shard, lives, before.shards)


def forget(job: Job, generation: int) -> None:
    """Removes what a generation has handed over: the shards after it have state of their own."""
    system, folder = _folder(job)
    for shard in range(job.divided(generation).shards):
        path = f"{folder}/{_name(generation, shard)}"
        if system.get_file_info(path).type == fs.FileType.File:
            system.delete_file(path)


def why_not(job: Job, before: int) -> str:
    """Why so many shards cannot hand over what they remember; nothing, if they can."""
    try:
        fs.FileSystem.from_uri(job.checkpoint)
    except (ValueError, OSError) as found:
        return f"what is remembered cannot be handed over in {job.checkpoint} ({found})"
    whole = [number for number in range(before - 1, 0, -1) if before % number == 0]
    if before % job.shards and (names := cannot_be_divided(job.report)):
        said = f"answers of {', '.join(f'`{name}`' for name in names)} do not say which shard they are about"
        return f"{said}, so that what is remembered of them can be merged ({', '.join(map(str, whole))}), not divided"
    return ""


_known: dict[tuple[str, int], int] = {}


def _done(job: Job, generation: int) -> int | None:
    """The micro-batch with which a generation of shards was done."""
    key = job.checkpoint, generation
    if key not in _known:
        system, folder = _folder(job)
        path = f"{folder}/{marker(generation + 1)}"
        if system.get_file_info(path).type != fs.FileType.File:
            return None
        with system.open_input_stream(path) as given:
            said = given.read()
        # One that came again may come again: only what lies behind is known for good.
        if int(said) >= batch_number():
            return int(said)
        _known[key] = int(said)
    return _known[key]


def _name(generation: int, shard: int) -> str:
    return f"handed-{generation:05d}-{shard:05d}"


def _put(job: Job, name: str, data: bytes) -> None:
    system, folder = _folder(job)
    system.create_dir(folder, recursive=True)
    beside = f"{folder}/.{name}.{uuid.uuid4().hex}"
    with system.open_output_stream(beside) as out:
        out.write(data)
    system.move(beside, f"{folder}/{name}")


def _read(job: Job, name: str) -> bytes:
    system, folder = _folder(job)
    with system.open_input_stream(f"{folder}/{name}") as given:
        found: bytes = given.read()
    return found


@lru_cache(maxsize=4)
def _system(checkpoint: str) -> tuple[Any, str]:
    system, path = fs.FileSystem.from_uri(checkpoint)
    return system, f"{path.rstrip('/')}/{FOLDER}"


def _folder(job: Job) -> tuple[Any, str]:
    return _system(job.checkpoint)
