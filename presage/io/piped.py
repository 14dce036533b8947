"""Lines of a pipe as they come, without waiting for a line longer than asked.

A thread of its own reads, a few pieces ahead and no more: who writes faster than the lines are worked off has to wait.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator

AT_ONCE = 1 << 16
PIECES_AHEAD = 16
LONGEST_LINE = 8 << 20
"""Bytes after which what has no end is no line."""


class TooLong(ValueError):
    """A line that has no end within what memory is for."""


class Pipe:
    """The lines of a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.pieces: queue.Queue[bytes] = queue.Queue(PIECES_AHEAD)
        self.begun = b""
        self.ended = False
        threading.Thread(target=self._read, args=(descriptor,), name="standard input", daemon=True).start()

    def _read(self, descriptor: int) -> None:
        while True:
            try:
                piece = os.read(descriptor, AT_ONCE)
            except OSError:
                piece = b""
            self.pieces.put(piece)
            if not piece:
                return

    @property
    def is_quiet(self) -> bool:
        """Whether nothing more has come than what was given."""
        return self.pieces.empty()

    def lines(self, patience: float | None) -> Iterator[bytes]:
        """The whole lines that have come, after waiting for the first of them no longer than so many seconds; at the
        end also what stands after the last line's end."""
        try:
            piece = self.pieces.get(timeout=patience) if patience is None or patience > 0 else self.pieces.get_nowait()
        except queue.Empty:
            return
        if not piece:
            self.ended = True
            whole, self.begun = [self.begun] if self.begun else [], b""
        else:
            *whole, self.begun = (self.begun + piece).split(b"\n")
        if len(self.begun) > LONGEST_LINE:
            raise TooLong(f"a line of more than {LONGEST_LINE} bytes")
        yield from whole
