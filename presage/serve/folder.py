"""The folder of a pipeline that runs in one process: whose it is, its snapshots, how far each sink is.

One process uses it at a time. A file is whole or not there: it is written beside its name, synced and renamed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import struct
import uuid
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from presage.errors import PresageError
from presage.receivers.growing_file import write_all
from presage.serve.log import Log, sync_folder

FORMAT = 1
IDENTITY = "presage.json"
SNAPSHOT = b"presage snapshot 1\n"
_SIZES = struct.Struct("<QQI")


class CheckpointFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
        except OSError as found:
            raise PresageError(f"{path}: the checkpoint cannot be used ({found.strerror or found})") from None
        if (path / "commits").is_dir() or (path / "offsets").is_dir():
            raise PresageError(
                f"{path}: this is a checkpoint of Spark, which `presage pipeline` goes on from: name another folder"
            )
        sweep(path)
        self.log = Log(path / "log")

    def _locked(self) -> IO[str]:
        file = (self.path / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            file.close()
            raise PresageError(f"{self.path}: the checkpoint is in use by {holder}: stop that first") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} of {os.uname().nodename}")
        file.flush()
        return file

    # -- whose it is ------------------------------------------------------------------------------

    def identity(self) -> dict[str, Any] | None:
        try:
            found = read_said(self.path / IDENTITY)
        except FileNotFoundError:
            return None
        if found.get("format") != FORMAT:
            raise PresageError(
                f"{self.path}: the checkpoint was written by another version of Presage: start with a new folder"
            )
        return found

    def begin(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """Makes the folder that of a new run."""
        found = {"format": FORMAT, "run": uuid.uuid4().hex, **about}
        self.change(found)
        return found

    def change(self, identity: Mapping[str, Any]) -> None:
        write_said(self.path / IDENTITY, identity)

    # -- snapshots --------------------------------------------------------------------------------

    def _snapshots(self) -> list[tuple[int, Path]]:
        return sorted((int(path.stem), path) for path in self.path.glob("*.snapshot") if path.stem.isdigit())

    def save(self, number: int, head: Mapping[str, Any], body: bytes) -> int:
        """Keeps the state after an entry; gives its size."""
        said = json.dumps(head, ensure_ascii=False).encode()
        data = SNAPSHOT + _SIZES.pack(len(said), len(body), zlib.crc32(body, zlib.crc32(said))) + said + body
        write_whole(self.path / f"{number:016d}.snapshot", data)
        return len(data)

    def newest(self, most: int) -> tuple[int, dict[str, Any], bytes] | None:
        """The latest snapshot in which no more than so many lines had been told."""
        for number, path in reversed(self._snapshots()):
            head, body = _read_snapshot(path)
            if head["told"] <= most:
                return number, head, body
        return None

    def forget(self, least: int, history: int = 0) -> None:
        """Removes snapshots that nobody begins from again, and the log before the first that is kept, as far as it is
        longer than so many bytes: of those that every sink is past, the latest is enough."""
        found = [(number, path, _read_snapshot(path)[0]["told"]) for number, path in self._snapshots()]
        past = [number for number, _, told in found if told <= least]
        if not past:
            return
        for number, path, _ in found:
            if number < past[-1]:
                path.unlink(missing_ok=True)
        # The identity says where the log begins; without it a lost snapshot would look like a new run.
        self.log.forget(past[-1], history)

    @property
    def has_snapshots(self) -> bool:
        return bool(self._snapshots())

    # -- sinks ------------------------------------------------------------------------------------

    def knows(self, sink: str) -> bool:
        return (self.path / f"sink-{sink}.json").exists()

    def told_by_newest(self) -> int:
        """The last line that had been told when the newest snapshot was made."""
        found = self._snapshots()
        return int(_read_snapshot(found[-1][1])[0]["told"]) if found else 0

    def told(self, sink: str) -> int:
        """The last line that a sink has surely taken, as far as this folder knows."""
        path = self.path / f"sink-{sink}.json"
        try:
            told = read_said(path).get("told")
        except FileNotFoundError:
            return 0
        if not isinstance(told, int):
            raise PresageError(f"{path}: the file does not say how far the sink is: restore the folder from a copy")
        return told

    def tell(self, sink: str, number: int) -> None:
        write_said(self.path / f"sink-{sink}.json", {"told": number})

    def put_aside(self, sink: str, said: Mapping[str, Any]) -> None:
        """Keeps what a sink will never take."""
        path = self.path / f"refused-{sink}.jsonl"
        with path.open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            try:
                write_all(file, json.dumps(said, ensure_ascii=False).encode() + b"\n")
                os.fsync(file.fileno())
            except OSError:
                os.truncate(path, before)
                raise

    def close(self) -> None:
        self.log.close()
        self._lock.close()


def _read_snapshot(path: Path) -> tuple[dict[str, Any], bytes]:
    data = path.read_bytes()
    start = len(SNAPSHOT) + _SIZES.size
    if data.startswith(SNAPSHOT) and len(data) >= start:
        head, body, check = _SIZES.unpack_from(data, len(SNAPSHOT))
        if len(data) == start + head + body and zlib.crc32(data[start:]) == check:
            return json.loads(data[start : start + head]), data[start + head :]
    raise PresageError(f"{path}: the snapshot is damaged, or of another version of Presage: restore it from a copy")


def sweep(folder: Path) -> None:
    """Removes files that a crash left half written."""
    for path in folder.glob("*.tmp"):
        path.unlink(missing_ok=True)


CHECKSUM = "checksum"


def write_said(path: Path, said: Mapping[str, Any]) -> None:
    """Puts a file in place that says something in JSON, for people too, with a checksum of what it says."""
    own = {name: value for name, value in said.items() if name != CHECKSUM}
    write_whole(path, json.dumps({**own, CHECKSUM: _checksum(own)}, ensure_ascii=False, indent=1).encode())


def read_said(path: Path) -> dict[str, Any]:
    """What such a file says; those of before have no checksum. Raises `FileNotFoundError`."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.pop(CHECKSUM, _checksum(found)) != _checksum(found):
        raise PresageError(f"{path}: the file is damaged, or cannot be read: restore the folder from a copy") from None
    return found


def _checksum(said: Mapping[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


def write_whole(path: Path, data: bytes) -> None:
    """Puts a file in place that is whole, whatever happens meanwhile."""
    beside = path.with_name(path.name + ".tmp")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        # Half a file would only keep a full disk full.
        with suppress(OSError):
            beside.unlink()
        raise
    sync_folder(path.parent)
