"""Lines as server-sent events: the last of them are held, so that a reader that was away goes on where it was."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Sequence

from presage.receivers.told_lines import ToldLine

HELD = 10_000
"""Lines that a reader may be behind; what is older it has missed, and is told so."""
QUIET_SECONDS = 10.0
"""How often a reader is told that nothing has happened, so that both sides know of each other."""


class Events:
    """A sink that whoever listens reads from. Nobody waits for a slow reader."""

    linger = 0.0

    def __init__(self) -> None:
        self._held: deque[tuple[int, str]] = deque(maxlen=HELD)
        self._lock = threading.Lock()
        self._readers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def told(self) -> int | None:
        return None

    def write(self, lines: Sequence[ToldLine]) -> None:
        made = [(line.number, line.text) for line in lines]
        with self._lock:
            self._held.extend(made)
            readers = list(self._readers)
        for loop, woken in readers:
            loop.call_soon_threadsafe(woken.set)

    def close(self) -> None:
        """Readers are let go by the server."""

    async def read(self, after: int | None) -> AsyncIterator[str]:
        """Events after a number; without one, those that come from now on."""
        woken = asyncio.Event()
        reader = (asyncio.get_running_loop(), woken)
        with self._lock:
            self._readers.add(reader)
            if after is None:
                after = self._held[-1][0] if self._held else 0
        try:
            yield ": presage\n\n"
            while True:
                woken.clear()
                with self._lock:
                    missed = len(self._held) == HELD and self._held[0][0] > after + 1 > 1
                    found = [each for each in self._held if each[0] > after]
                if missed:
                    yield f"event: missed\ndata: {json.dumps({'after': after, 'before': found[0][0]})}\n\n"
                for number, text in found:
                    yield f"id: {number}\ndata: {text}\n\n"
                    after = number
                if not found:
                    try:
                        await asyncio.wait_for(woken.wait(), QUIET_SECONDS)
                    except TimeoutError:
                        yield ": nothing new\n\n"
        finally:
            with self._lock:
                self._readers.discard(reader)
