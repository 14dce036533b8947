"""`presage run --facts -`: facts from standard input as they come, answers as soon as they are known.

A line is a fact, or `{"now": t}`: all facts that arrive up to t have come. With `--clock` times are over when the clock
of this machine has passed them, whatever comes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.errors import PresageError
from presage.io.facts import FactError
from presage.io.files import read_line
from presage.io.piped import Pipe, TooLong

if TYPE_CHECKING:
    from presage.answers import Answer
    from presage.io.clock import WallClock
    from presage.io.facts import Fact
    from presage.run.arrivals import Incoming
    from presage.run.reasoner import Reasoner

STANDARD_INPUT = Path("-")
NOW = "now"


class Piped:
    """The facts of standard input on their way through a run."""

    def __init__(self, reasoner: Reasoner, incoming: Incoming, clock: WallClock | None) -> None:
        self.reasoner, self.incoming, self.clock = reasoner, incoming, clock
        self.line = 0

    def steps(self, facts: Sequence[Fact]) -> Iterator[Sequence[Answer]]:
        """The steps of a run: first through facts that were there before, then through what comes."""
        for fact in sorted(facts, key=lambda fact: fact.arrival):
            yield from self.incoming.take(fact, is_heard=self.clock is None)
        pipe = Pipe(sys.stdin.fileno())
        while not pipe.ended and not self.incoming.over:
            try:
                for line in pipe.lines(None if self.clock is None else self.clock.until_next()):
                    yield from self._take(line)
            except TooLong as found:
                raise FactError(f"standard input, line {self.line + 1}: {found}") from None
            if self.clock is not None:
                yield from self.incoming.advance(self.clock.now())
            if pipe.is_quiet:
                sys.stdout.flush()
        yield from self.incoming.end(None if self.clock is None or self.incoming.over else self.clock.now())

    def _take(self, line: bytes) -> Iterator[Sequence[Answer]]:
        self.line += 1
        if not line.strip() or self.incoming.over:
            return
        where = f"standard input, line {self.line}"
        try:
            text = line.decode("utf-8-sig" if self.line == 1 else "utf-8")
        except UnicodeDecodeError:
            raise FactError(f"{where}: this is not UTF-8 text") from None
        entry = read_line(text, where)
        if is_now(entry):
            moment = self.reasoner.checker.point(entry[NOW], where)
            if self.clock is None:
                yield from self.incoming.completed(moment)
            return
        fact = self.reasoner.checker.fact_if_named(entry, where)
        if fact is None:
            return
        if fact.low is None:
            try:
                self.reasoner.add_statics([fact])
            except PresageError as found:
                raise FactError(f"{where}: {found}") from None
            return
        if self.clock is not None:
            yield from self.incoming.advance(self.clock.now())
        yield from self.incoming.take(fact, is_heard=self.clock is None)


def is_now(entry: Any) -> bool:
    """Whether a line says that a time is complete."""
    return isinstance(entry, dict) and entry.keys() == {NOW}
