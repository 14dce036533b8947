"""Sources of a pipeline in one process: standard input, and what all sources share.

A source is read in a thread of its own. What it brings goes through the gate as facts in JSON lines, whatever it was,
so that the log needs nobody's mapping to be read again; with it goes the position from which the source is read on.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from presage.errors import PresageError
from presage.io.facts import Fact, FactError
from presage.io.piped import Pipe
from presage.pipeline.mapping import SourceMapping
from presage.pipeline.reading import Part
from presage.serve.alignment import Alignment
from presage.serve.gate import Closed, Gate
from presage.serve.log import LogEntry
from presage.serve.messages import Message, MessageReader

LOOK_AGAIN = 0.2
"""Seconds between two looks at what may have come."""
CLOCK = "clock"
"""The source of entries that only move the clock."""


class ServedSource(Protocol):
    catches_up: bool
    """Whether there may be much to be read at once, which others wait for."""

    def run(self, position: Any, stop: threading.Event) -> bool:
        """Brings what there is from a position on until it is asked to stop; says whether nothing will ever come."""


class Bringing:
    """What a source needs to bring something: how its rows become facts, and the gate."""

    def __init__(
        self,
        part: Part,
        gate: Gate,
        messages: MessageReader,
        mapped: SourceMapping | None,
        skipped: Callable[[str], None],
        counted: Callable[[int], None],
        alignment: Alignment,
    ) -> None:
        self.part, self.gate, self.messages, self.mapped = part, gate, messages, mapped
        self.alignment = alignment
        self.reader, self.more = part.name, False
        """Who reads what is brought, and whether there is more to be read at once."""
        self.skips, self.skipped, self.counted = part.text("bad_rows") == "skip", skipped, counted

    def lines(self, data: bytes, position: Any, where: str, patience: float | None = None) -> int:
        """Brings lines: facts, or rows of the source's own columns; gives how many facts they were."""
        if self.mapped is not None:
            return self.rows(self._parsed(data, where), position, patience)
        try:
            message = self.messages.read(data, where)
        except FactError:
            if not self.skips:
                raise
            message, data = self._fitting(data, where)
        return self.bring(data, message, position, patience)

    def _parsed(self, data: bytes, where: str) -> Iterator[tuple[Any, str]]:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                place = f"{where} {number}"
                try:
                    yield json_line(line, place), place
                except FactError as found:
                    if not self.skips:
                        raise
                    self.skipped(str(found))

    def _fitting(self, data: bytes, where: str) -> tuple[Message, bytes]:
        """Of lines those that are facts; the others are skipped, each counted and told of."""
        message, kept = Message(), []
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                place = f"{where} {number}"
                self.messages.take(json_line(line, place), place, message)
                kept.append(line)
            except FactError as found:
                self.skipped(str(found))
        return message, b"\n".join(kept)

    def rows(self, rows: Iterable[tuple[Any, str]], position: Any, patience: float | None = None) -> int:
        """Brings rows, each with where it stands."""
        assert self.mapped is not None
        message = Message()
        for row, where in rows:
            try:
                fact = self.mapped.fact(row, where)
            except FactError as found:
                if not self.skips:
                    raise
                self.skipped(str(found))
                continue
            if fact is not None:
                message.facts.append(fact)
        return self.bring("\n".join(map(fact_line, message.facts)).encode(), message, position, patience)

    def bring(self, data: bytes, message: Message, position: Any, patience: float | None = None) -> int:
        if len(message) or message.complete is not None or position is not None:
            times = self.messages.checker.times
            entry, reader, more = LogEntry(self.part.name, data, position, times=times), self.reader, self.more

            def mark(entry: LogEntry) -> LogEntry:
                return self.alignment.marked(entry, message, reader, more)

            self.gate.put(entry, message, patience, mark)
            self.counted(len(message))
        return len(message)

    def over(self) -> None:
        """There is nothing more to be read at the moment: what waited for it goes on."""
        if self.alignment.over(self.reader):
            self.gate.put(LogEntry(CLOCK), mark=lambda entry: self.alignment.marked(entry, None, self.reader, False))


def json_line(line: bytes, where: str) -> Any:
    from presage.io.files import read_line

    try:
        return read_line(line.decode("utf-8"), where)
    except UnicodeDecodeError:
        raise FactError(f"{where}: this is not UTF-8 text") from None


def fact_line(fact: Fact) -> str:
    """A fact as a JSON line that reads as the same fact."""
    from presage.answers import json_value

    line: dict[str, Any] = {"pred": fact.predicate, "args": [json_value(value) for value in fact.arguments]}
    if fact.low == fact.high:
        assert fact.low is not None
        line["time"] = json_value(fact.low)
    else:
        assert fact.low is not None
        line |= {"from": json_value(fact.low), "to": None if fact.high is None else json_value(fact.high)}
        line["bounds"] = ("[" if fact.closed_low else "(") + ("]" if fact.closed_high else ")")
    if fact.arrives is not None:
        line["arrives"] = json_value(fact.arrives)
    return json.dumps(line, ensure_ascii=False)


class StandardInput:
    """What is piped in. It cannot be read again: what has come is in the log."""

    catches_up = False

    def __init__(self, bringing: Bringing) -> None:
        self.bringing = bringing

    def run(self, position: Any, stop: threading.Event) -> bool:
        pipe = Pipe(0)
        read = 0
        while not pipe.ended and not stop.is_set():
            lines = list(pipe.lines(LOOK_AGAIN))
            if lines:
                self.bringing.lines(b"\n".join(lines) + b"\n", None, f"standard input, after line {read}, line")
                read += len(lines)
        return pipe.ended


class Working:
    """A source in its thread."""

    def __init__(
        self, part: Part, source: ServedSource, position: Any, failed: Callable[[BaseException], None]
    ) -> None:
        self.part, self.source, self.position, self._failed = part, source, position, failed
        self.stop = threading.Event()
        self.ended = False
        self._thread = threading.Thread(target=self._run, name=f"source {part.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            self.ended = self.source.run(self.position, self.stop)
        except Closed:
            pass
        except PresageError as found:
            self._failed(PresageError(f"[{self.part.place}] {found}"))
        except BaseException as found:
            self._failed(found)

    def finish(self) -> None:
        self.stop.set()
        self._thread.join(5)
