"""What a checkpoint of Spark was begun with, and what it goes on with: rules, sources in their order, shards.

Spark's own files know sources by their places and state by its bytes. So the checkpoint has a file beside them that
says which rules it had from which micro-batch on, as plain data under a seal. A stream that starts with other rules is
compared with it, query by query; the shards then change their rules with the first micro-batch that was not begun
before (`streaming.py`). Sources keep their places, and new ones come after them: Spark's note of how far each source
was read gets an empty place for them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from presage.checking import check_program
from presage.errors import PresageError
from presage.run.changed_queries import Slices, compared
from presage.run.saving import program_of
from presage.sealed import opened, reading, sealed
from presage.spark.handing_over import FOLDER, marker, why_not
from presage.spark.history import as_uri
from presage.spark.job import EarlierRules, FrameSource, Job, static_predicates
from presage.spark.pipeline.folders import WHOLE, SparkFolder

RULES = "presage.rules"
KIND, FORMAT = "rules", 1
NOT_READ = "-"
"""How Spark says that nothing of a source was read yet."""
Frame = TypeVar("Frame")


@dataclass(frozen=True)
class KeptRules:
    """The rules of a checkpoint from a micro-batch on."""

    rules: EarlierRules
    emit: str
    shards: int
    static: tuple[tuple[str, str], ...]
    """Static tables, each with a fingerprint of its rows."""
    inputs: tuple[str, ...]
    """The inputs that are streams, in the order of Spark's sources."""
    clock_place: int | None
    """How many sources come before the stream of the clock; `None` where there is no such stream."""
    divisions: tuple[tuple[int, int], ...] = ()
    """How many shards there were before, and the micro-batch from which on these hand over."""

    @property
    def streams(self) -> int:
        """How many sources Spark reads."""
        return len(self.inputs) + (self.clock_place is not None)

    def has_rules_of(self, other: KeptRules) -> bool:
        """Whether rules and sources are the same, whatever the shards."""
        of, others = dict(self.rules.of), dict(other.rules.of)
        keys = [{source.predicate: source.key for source in each.rules.sources} for each in (self, other)]
        return of | {"shards": ""} == others | {"shards": ""} and keys[0] == keys[1] and self.inputs == other.inputs

    def plain(self) -> dict[str, Any]:
        rules = self.rules
        sources = [[each.predicate, each.arguments, list(each.when), list(each.key)] for each in rules.sources]
        return {
            "program": rules.program.plain(), "sources": sources, "everywhere": sorted(rules.everywhere),
            "of": dict(rules.of), "begin": rules.begin, "backfill": rules.backfill, "emit": self.emit,
            "shards": self.shards, "static": dict(self.static), "inputs": list(self.inputs),
            "clock_place": self.clock_place, "divisions": list(map(list, self.divisions)),
        }  # fmt: skip

    @staticmethod
    def of_plain(said: Mapping[str, Any]) -> KeptRules:
        sources = tuple(
            FrameSource(str(name), int(arguments), tuple(map(str, when)), tuple(map(int, key)))
            for name, arguments, when, key in said["sources"]
        )
        of = tuple((str(name), str(value)) for name, value in said["of"].items())
        rules = EarlierRules(
            program_of(said["program"]), sources, frozenset(map(str, said["everywhere"])), of, int(said["begin"]),
            bool(said["backfill"]),
        )  # fmt: skip
        static = tuple((str(name), str(value)) for name, value in said["static"].items())
        inputs, place = tuple(map(str, said["inputs"])), said["clock_place"]
        place = None if place is None else int(place)
        divisions = tuple((int(shards), int(turn)) for shards, turn in said.get("divisions", ()))
        return KeptRules(rules, str(said["emit"]), int(said["shards"]), static, inputs, place, divisions)


class BegunCheckpoint:
    """A checkpoint that a pipeline begins, or goes on from."""

    def __init__(self, folder: SparkFolder, has_clock: bool, backfill: bool, history: int) -> None:
        self.folder, self.has_clock, self.backfill, self.history = folder, has_clock, backfill, history
        self.said: list[str] = []
        """What is to be said before it starts: what became of each query, and what stays as it was."""
        folder.mend(RULES)
        self.kept = self._read()
        self._is_noted = bool(self.kept)
        self._job: Job | None = None
        self._inputs: tuple[str, ...] = ()

    def _read(self) -> list[KeptRules]:
        data = self.folder.read_bytes(RULES)
        if data is None:
            return []
        what = f"{RULES} of the checkpoint"
        _, content = opened(KIND, range(1, FORMAT + 1), data, what)
        with reading(what):
            return [KeptRules.of_plain(each) for each in json.loads(content)]

    @property
    def zone(self) -> str | None:
        """The zone of the moments that times are shown as; none where they are numbers."""
        return None if self._job is None else self._job.zone

    # -- before there is a job --------------------------------------------------------------------

    def in_order(self, frames: Mapping[str, Frame]) -> dict[str, Frame]:
        """Sources in the places that they have in the checkpoint; those that are new come last."""
        known = self.kept[-1].inputs if self.kept else ()
        found = {name: frames[name] for name in (*(each for each in known if each in frames), *frames)}
        self._inputs = tuple(found)
        return found

    # -- the job ----------------------------------------------------------------------------------

    def taken(self, job: Job) -> Job:
        """The job that goes on from the checkpoint."""
        last = self._last_batch()
        room = self.kept[-1].streams if self.kept else 0
        if len(self.kept) > 1 and self.kept[-1].rules.begin > last:
            self.kept.pop()  # No micro-batch was ever begun under these.
        if not self.kept or last < 0:
            self._job = replace(job, history=self.history)
            # Of a checkpoint that does not say its rules, the shards know whether they are these.
            if last < 0:
                self.kept = []
                self.note()
            return self._job
        before = self.kept[-1]
        now = self._kept(job, before)
        if before.has_rules_of(now):
            begin, earlier, backfill = before.rules.begin, self.kept[:-1], before.rules.backfill
        else:
            self._compare(before, now)
            begin, earlier, backfill = last + 1, self.kept, self.backfill
        divisions = self._divisions(before, job, last)
        self._job = replace(
            job, earlier=tuple(each.rules for each in earlier), begin=begin, backfill=backfill,
            history=self.history, clock_place=now.clock_place, divisions=tuple(shards for shards, _ in divisions),
            turns=tuple(turn for _, turn in divisions), checkpoint=as_uri(self.folder.folder),
        )  # fmt: skip
        if not room == before.streams == now.streams:
            self._make_room(last, now.streams, before.streams)
        rules = replace(now.rules, begin=begin, backfill=backfill)
        self.kept = [*earlier, replace(now, rules=rules, divisions=divisions)]
        self._write()
        return self._job

    def _divisions(self, before: KeptRules, job: Job, last: int) -> tuple[tuple[int, int], ...]:
        """How facts were divided among shards before, where they are divided otherwise now."""
        found, shards = before.divisions, before.shards
        if found and not self.folder.exists(f"{FOLDER}/{marker(len(found))}"):
            shards, found = found[-1][0], found[:-1]  # Nothing came, so that nothing was handed over.
        if shards == job.shards:
            return found
        if why := why_not(replace(job, checkpoint=as_uri(self.folder.folder)), shards):
            raise PresageError(
                f"shards: the checkpoint has {shards}, not {job.shards}, and {why}. Go on with `shards = {shards}`, or "
                "start with a new checkpoint"
            )
        self.said.append(
            f"shards: {shards} become {job.shards}, with the first facts that come: each takes over what was "
            "remembered of its keys"
        )
        tasks = self._tasks(last)
        if tasks is not None and shards <= tasks < job.shards:
            self.said.append(
                f"a micro-batch has {tasks} tasks for them as before, which Spark cannot change on a checkpoint: more "
                "shards than that share tasks"
            )
        return (*found, (shards, last + 1))

    def _tasks(self, last: int) -> int | None:
        """Among how many tasks Spark divides the shards of a micro-batch, as long as the checkpoint lives."""
        text = SparkFolder(self.folder.spark, self.folder.path("offsets")).read(str(last))
        try:
            found = json.loads((text or "").split("\n")[1])["conf"]["spark.sql.shuffle.partitions"]
        except (ValueError, KeyError, IndexError, TypeError):
            return None
        return int(found)

    def note(self) -> None:
        """Writes down the rules that the checkpoint has, if it does not say them yet: shards have gone on with them."""
        if self._is_noted and self.kept:
            return
        assert self._job is not None
        self.kept = [self._kept(self._job, None)]
        self._write()

    def _kept(self, job: Job, before: KeptRules | None) -> KeptRules:
        """The rules of a job, from the first micro-batch on."""
        of = tuple(job.fingerprints.items())
        rules = EarlierRules(job.report.program, job.sources, job.everywhere, of, 0, False)
        place = None
        if self.has_clock:
            place = len(self._inputs) if before is None or before.clock_place is None else before.clock_place
        return KeptRules(rules, job.emit, job.shards, tuple(_static(job)), self._inputs, place)

    def _write(self) -> None:
        self._is_noted = True
        content = json.dumps([each.plain() for each in self.kept], ensure_ascii=False).encode()
        self.folder.put(RULES, sealed(KIND, FORMAT, content))

    def _compare(self, before: KeptRules, now: KeptRules) -> None:
        """Says what became of each query; refuses what cannot go on."""
        for each in (before, now):
            if each.rules.program.meaning is not None:
                raise PresageError(
                    f"the program changed since the checkpoint was begun, and {each.rules.program.meaning.engine} has "
                    "no rules that could be told apart: start with a new checkpoint"
                )
        for what, was, found in (
            ("emit", before.emit, now.emit),
            ("clock", before.clock_place is not None, now.clock_place is not None),
        ):
            if was != found:
                raise PresageError(
                    f"`{what}` changed since the checkpoint was begun: go on as before, or start with a new checkpoint"
                )
        tables = dict(before.static)
        changed = sorted(name for name, rows in now.static if tables.get(name, rows) != rows)
        if changed:
            raise PresageError(
                f"static facts changed since the checkpoint was begun: the rows of {_names(changed)}. What is "
                "remembered rests on them: go on as before, or start with a new checkpoint. A table that changes while "
                "a stream runs is declared `input`, and given in [tables]"
            )
        sources = {each.predicate: each for each in now.rules.sources}
        gone = [each.predicate for each in before.rules.sources if each.predicate not in sources]
        gone_static = [name for name, _ in before.static if name not in dict(now.static)]
        if gone or gone_static:
            raise PresageError(
                f"the checkpoint reads {_names([*gone, *gone_static])}: keep the declaration and the table in the "
                "file, though no rule reads it any more, or start with a new checkpoint"
            )
        moved = [each.predicate for each in before.rules.sources if sources[each.predicate].key != each.key]
        if before.shards > 1 and moved:
            raise PresageError(
                f"the new rules need facts to be divided otherwise among the {before.shards} shards of the checkpoint: "
                f"those of {_names(moved)}. Start with a new checkpoint, over the history if you have it"
            )
        queries = compared(*(Slices(check_program(each.rules.program).or_raise()) for each in (before, now)))
        self.said.append("the rules have changed since the last start:")
        self.said += map(str, queries)
        if self.backfill:
            self.said.append("queries that are new begin with the history that each shard has kept")

    # -- Spark's own files ------------------------------------------------------------------------

    def _last_batch(self) -> int:
        """The last micro-batch that was begun, -1 if there was none."""
        offsets = SparkFolder(self.folder.spark, self.folder.path("offsets"))
        for name in offsets.entries():
            if name.endswith(WHOLE):
                offsets.mend(name.removesuffix(WHOLE))
        return max((int(name) for name in offsets.entries() if name.isdigit()), default=-1)

    def _make_room(self, last: int, wanted: int, known: int) -> None:
        """Gives sources that are new a place in what Spark goes on from: the last micro-batch and, should that come
        again, the one before."""
        offsets = SparkFolder(self.folder.spark, self.folder.path("offsets"))
        for batch in (last, last - 1):
            text = offsets.read(str(batch))
            if text is None:
                continue
            head, places = text.split("\n")[:2], text.split("\n")[2:]
            if head[0] != "v1":
                raise PresageError(f"the checkpoint cannot be gone on from: {offsets.path(str(batch))} is damaged")
            while len(places) > wanted and places[-1] == NOT_READ:
                places.pop()
            if wanted > known and len(places) not in (known, wanted):
                raise PresageError(
                    f"the checkpoint knows {len(places)} sources where the pipeline had {known}: two inputs are read "
                    "from one place there, and no other can be added. Start with a new checkpoint"
                )
            places += [NOT_READ] * (wanted - len(places))
            if "\n".join([*head, *places]) != text:
                offsets.put(str(batch), "\n".join([*head, *places]))


def _static(job: Job) -> Iterable[tuple[str, str]]:
    for name in sorted(static_predicates(job.report.program)):
        rows = sorted(repr(arguments) for predicate, arguments in job.static if predicate == name)
        yield name, hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
