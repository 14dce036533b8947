"""The write-ahead log: what has come, in the order in which it is reasoned about, on disk before anybody is told.

A log is a folder of segments, each named after its first entry. An entry is its length, a checksum, a checksum of these
two, and its bytes; what a crash has cut off at the very end was never acknowledged, and is dropped. Anything else that
does not fit is damage: without the second checksum a length that is too large would look like an end that is cut off.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from presage.errors import PresageError
from presage.receivers.growing_file import write_all

HEADER = b"presage log 2\n"
BEFORE = b"presage log 1\n"
"""How segments begin that have no checksum of lengths; nothing is added to them."""
_FRAME = struct.Struct("<III")
_FRAME_BEFORE = struct.Struct("<II")
LONGEST = 1 << 30
SEGMENT_BYTES = 32 << 20
"""A segment that is longer is followed by another."""


_SAID = ("position", "clock", "rules", "held", "complete", "times")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What came from one source at once: facts as JSON lines, a time that the clock has reached, or both. `position` is
    how far the source is read with it, where it can be read again."""

    source: str
    payload: bytes = b""
    position: Any = None
    clock: str | None = None
    rules: Any = None
    """Other rules from here on: the program in its plain form, and the first entry that is history for what is new."""
    held: bool = False
    """Whether its facts wait for the clock, since other sources catch up."""
    complete: bool = False
    """Whether the time that the clock has reached is over, too."""
    times: str | None = None
    """How facts say their times, `ticks` or `iso`, as far as that was known when it came."""

    def to_bytes(self) -> bytes:
        said: dict[str, Any] = {"source": self.source}
        if self.position is not None:
            said["position"] = self.position
        if self.clock is not None:
            said["clock"] = self.clock
        if self.rules is not None:
            said["rules"] = self.rules
        if self.times is not None:
            said["times"] = self.times
        if self.held:
            said["held"] = True
        if self.complete:
            said["complete"] = True
        return json.dumps(said).encode() + b"\n" + self.payload

    @classmethod
    def from_bytes(cls, data: bytes) -> LogEntry:
        head, _, payload = data.partition(b"\n")
        said = json.loads(head)
        more = {name: said[name] for name in _SAID if name in said}
        return cls(said["source"], payload, **more)


class Log:
    """Entries by number, from 1."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.last = 0
        """The number of the last entry."""
        self._file: IO[bytes] | None = None
        segments = self._segments()
        if segments:
            first, path = segments[-1]
            whole, end = 0, 0
            for reached, _ in _frames(path, last=True):
                whole, end = whole + 1, reached
            self.last = first + whole - 1
            with path.open("r+b") as file:
                if not end:
                    file.truncate()
                    file.write(HEADER)
                else:
                    file.truncate(end)
                file.flush()
                os.fsync(file.fileno())

    def _segments(self) -> list[tuple[int, Path]]:
        found = [(int(path.stem), path) for path in self.folder.glob("*.log") if path.stem.isdigit()]
        return sorted(found)

    def append(self, entries: Iterable[LogEntry]) -> int:
        """Writes entries; they are on disk when this returns. Gives the number of the first."""
        first = self.last + 1
        frames = []
        for entry in entries:
            data = entry.to_bytes()
            said = _FRAME_BEFORE.pack(len(data), zlib.crc32(data))
            frames.append(said + zlib.crc32(said).to_bytes(4, "little") + data)
        file = self._open()
        before = file.tell()
        try:
            write_all(file, b"".join(frames))
            os.fdatasync(file.fileno())
        except OSError:
            # A disk that is full has taken a part, perhaps: what was not acknowledged is not there.
            self._take_back(file, before)
            raise
        self.last += len(frames)
        return first

    def _take_back(self, file: IO[bytes], size: int) -> None:
        path = Path(file.name)
        self._file = None
        with suppress(OSError):
            file.close()
        os.truncate(path, size)

    def _open(self) -> IO[bytes]:
        if self._file is not None and self._file.tell() < SEGMENT_BYTES:
            return self._file
        segments = self._segments()
        if self._file is None and segments and _takes_more(segments[-1][1]):
            self._file = segments[-1][1].open("r+b", buffering=0)
            assert self._file is not None
            self._file.seek(0, os.SEEK_END)
            return self._file
        if self._file is not None:
            self._file.close()
            self._file = None
        path = self.folder / f"{self.last + 1:016d}.log"
        file = path.open("w+b", buffering=0)
        write_all(file, HEADER)
        os.fsync(file.fileno())
        sync_folder(self.folder)
        self._file = file
        return file

    def after(self, number: int) -> Iterator[tuple[int, LogEntry]]:
        """The entries after one, with their numbers."""
        segments = self._segments()
        for place, (first, path) in enumerate(segments):
            is_last = place == len(segments) - 1
            if not is_last and segments[place + 1][0] <= number + 1:
                continue
            if first > number + 1 and (place == 0 or segments[place - 1][0] > number + 1):
                raise PresageError(
                    f"{self.folder}: entries from {number + 1} to {first - 1} are missing: the log is damaged"
                )
            for count, (_, data) in enumerate(_frames(path, is_last)):
                if first + count > number:
                    yield first + count, LogEntry.from_bytes(data)

    def forget(self, number: int, kept: int = 0) -> None:
        """Removes segments whose entries are all up to one, but for so many bytes before it: history, for rules that
        come later."""
        segments = self._segments()
        done = [path for (_, path), (following, _) in pairwise(segments) if following <= number + 1]
        for path in reversed(done):
            kept -= path.stat().st_size
            if kept < 0:
                path.unlink(missing_ok=True)

    @property
    def first(self) -> int:
        """The number of the first entry that is still there."""
        segments = self._segments()
        return segments[0][0] if segments else 1

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _takes_more(path: Path) -> bool:
    with path.open("rb") as file:
        return path.stat().st_size < SEGMENT_BYTES and file.read(len(HEADER)) == HEADER


def _frames(path: Path, last: bool) -> Iterator[tuple[int, bytes]]:
    """The entries of a segment, each with where it ends. Of the last one, what is cut off at its end is left out."""
    with path.open("rb") as file:
        begin = file.read(len(HEADER))
        if begin not in (HEADER, BEFORE):
            if last and HEADER.startswith(begin):
                return
            raise PresageError(f"{path}: this is not a log of this version of Presage")
        frame = _FRAME if begin == HEADER else _FRAME_BEFORE
        end = len(HEADER)
        size = path.stat().st_size
        while True:
            head = file.read(frame.size)
            if not head or (last and len(head) < frame.size):
                return
            is_whole = len(head) == frame.size
            length, check = frame.unpack(head)[:2] if is_whole else (0, 0)
            is_known = is_whole and (frame is not _FRAME or zlib.crc32(head[:8]).to_bytes(4, "little") == head[8:])
            data = file.read(length) if is_known and length <= LONGEST else b""
            if not is_known or len(data) != length or zlib.crc32(data) != check:
                is_cut_off = end + frame.size + length >= size or length > LONGEST if is_known else not any(head)
                if last and is_cut_off:
                    return
                raise PresageError(f"{path}: the entry at byte {end} is damaged: restore the folder from a copy")
            end += frame.size + length
            yield end, data


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
