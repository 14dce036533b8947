"""A pipeline in one process: begun again from its folder, fed, and ended without losing anything.

Three kinds of threads: sources bring, one reasons, sinks write. Between them are short queues, so that whoever is slow
makes the others wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from presage.io.clock import WallClock
from presage.io.facts import Fact, show_fact
from presage.model.terms import Number
from presage.pipeline.checking import Checked
from presage.pipeline.metrics import LOCAL, Measures, ShownMeasures
from presage.receivers.told_lines import ToldLine
from presage.serve.alignment import Alignment
from presage.serve.begun import BegunFolder, takes
from presage.serve.folder import CheckpointFolder
from presage.serve.gate import Closed, Gate
from presage.serve.http import Web
from presage.serve.log import LogEntry
from presage.serve.making import make_sink, make_source, read_statics
from presage.serve.messages import Message
from presage.serve.reasoning import Reasoning
from presage.serve.sinks import RunningSink
from presage.serve.sources import CLOCK, Working

LEAST_LOG = 4 << 20
"""Bytes of log below which no snapshot is worth its writing."""
PATIENCE = 20.0
"""Seconds that sinks get to write what is left when the pipeline ends."""
LOOK = 0.1
RULES = "rules"
"""The source of entries that change the rules."""
HISTORY = 256 << 20
"""Bytes of log that are kept as history for rules that come later."""


class Serving:
    """A pipeline from its start to its end. `heard` are called with the lines of each step, once they are told."""

    def __init__(
        self,
        checked: Checked,
        show: Callable[[list[dict[str, Any]]], None],
        backfill: bool = False,
        say: Callable[[str], None] = lambda said: None,
    ) -> None:
        """`backfill`: queries that are new are given the history that the log has. `say` is told what is to be known at
        the start, before facts are taken."""
        self.backfill, self.say = backfill, say
        assert checked.ok and checked.report is not None
        self.pipeline, self.report, self.show = checked.pipeline, checked.report, show
        self.measures = Measures(self.pipeline.name)
        self.heard: list[Callable[[list[ToldLine]], None]] = []
        self.failure: BaseException | None = None
        self.ready = threading.Event()
        """Set when the log has been worked off and facts are taken."""
        self.ended = threading.Event()
        self.skips: list[str] = []
        self._last_fact = time.monotonic()
        self._least_log = int(self.pipeline.serve.get("log_bytes", LEAST_LOG))
        self._stop = threading.Event()
        self.at_work = threading.RLock()
        """Held while the reasoner steps: who looks at it waits."""
        self.web: Web | None = None
        self.shown: ShownMeasures | None = None
        self._shown_at, self._not_kept = 0.0, ""
        self._idle_since: tuple[float, Number] | None = None

    # -- the beginning ----------------------------------------------------------------------------

    def start(self) -> None:
        """Goes on from the folder, and begins to take facts."""
        self.folder = CheckpointFolder(Path(self.pipeline.local(str(self.pipeline.values["checkpoint"]))))
        self.reasoning: Reasoning
        statics = read_statics(self.pipeline, self.report)
        self.begun = BegunFolder(self.folder, self.pipeline, self.report, statics)
        self.identity = self.begun.identity
        assert self.report.findings is not None
        whole_times = self.report.findings.subject.discrete
        self.sinks = [
            RunningSink(part, make_sink(self, part, whole_times), self.folder, self._failed)
            for part in self.pipeline.parts["sinks"]
        ]
        if self.listens or "serve" in self.pipeline.document.values:
            self.web = Web(self)  # A port that is taken is told before anything is done.
        self._restore(statics)
        for sink in self.sinks:
            sink.start()
        self._catch_up()
        self._go_on()
        self.gate = Gate(self.folder.log, self._failed)
        self.gate.start()
        self._thread = threading.Thread(target=self._reason, name="reasoner", daemon=True)
        self._thread.start()
        self.sources = []
        self.alignment = Alignment(self._by_wall, *self.reasoning.waits())
        for part in self.pipeline.parts["sources"]:
            source = make_source(self, part)
            if source is not None:
                position = self.reasoning.positions.get(part.name)
                self.sources.append(Working(part, source, position, self._failed))
        self.alignment.begin(each.part.name for each in self.sources if each.source.catches_up)
        for working in self.sources:
            working.start()
        if self.web is not None:
            self.web.start()
        said = self.pipeline.metrics
        file = Path(self.pipeline.local(said["file"])) if "file" in said else None
        token = self.pipeline.serve.get("token_env", "")
        self.shown = ShownMeasures(self.measures, said.get("port"), file, said.get("host", LOCAL), token, self.health)
        if self.clock is not None:
            threading.Thread(target=self._tick, name="clock", daemon=True).start()
        self.ready.set()

    def _restore(self, statics: list[Fact]) -> None:
        least = min((sink.told for sink in self.sinks), default=0)
        found = self.folder.newest(least)
        before = self.begun.rules_before(None if found is None else found[2])
        (times, zone), alerts = self._shown_times, self.begun.alerts_before(None if found is None else found[1])
        most = self.pipeline.values.get("most_per_key")
        if found is None:
            own = [fact for fact in statics if takes(before, fact)]
            self.reasoning = Reasoning(before, self.pipeline.emit, self._by_wall, own, alerts, times, zone, most)
            self.reasoning.statics = statics
        else:
            self.reasoning = Reasoning.restore(before, self._by_wall, alerts, statics, times, zone, *found, most)
        self.reasoning.history = self._history
        self._log_bytes, self._size = 0, 0
        self.clock = self._clock()

    def _go_on(self) -> None:
        """Goes on with the rules and alerts of the file, where they are others. That is an entry of the log like any
        other, so that whoever begins again from before it does the same."""
        found = self.begun.changed(self.reasoning.reasoner.program, self.reasoning.alert_tables, self.backfill)
        if found is None:
            return
        log = self.folder.log
        entry = LogEntry(RULES, rules=found)
        self._take(log.append([entry]), entry)
        if self.failure is not None:
            raise self.failure
        if "program" in found:
            self.say("the rules have changed since the last start:")
            for each in self.reasoning.changes:
                self.say(str(each))
            if self.backfill and log.first > 1:
                self.say(f"history: the log goes back to its entry {log.first}, not to the beginning")
        self._keep()
        self.begun.note()

    def _history(self, since: int, before: int) -> Iterator[tuple[int, LogEntry]]:
        for number, entry in self.folder.log.after(max(since, self.folder.log.first) - 1):
            if number >= before:
                return
            yield number, entry

    @property
    def _shown_times(self) -> tuple[str | None, str]:
        """How times are shown, where the file says it, and in which zone."""
        said = self.pipeline.values
        return said.get("times", "iso" if "zone" in said else None), str(said.get("zone", "UTC"))

    @property
    def _by_wall(self) -> bool:
        return self.pipeline.values.get("clock") == "wall"

    def _clock(self) -> WallClock | None:
        if "clock" not in self.pipeline.values or self.pipeline.values["clock"] == "facts":
            return None
        return WallClock(self.reasoning.reasoner.checker.units, "clock")

    def _catch_up(self) -> None:
        """Works off what the log has after the snapshot; sinks take what they do not have."""
        for number, entry in self.folder.log.after(self.reasoning.entry):
            self._take(number, entry)
            if self.failure is not None:
                raise self.failure

    # -- the reasoner -----------------------------------------------------------------------------

    def _reason(self) -> None:
        try:
            while (waiting := self.gate.logged.get()) is not None:
                began = time.monotonic()
                self._take(waiting.number, waiting.entry, waiting.message)
                self.gate.done(waiting)
                self.measures.step_seconds = time.monotonic() - began
                if waiting.entry.source != CLOCK:
                    self._last_fact = time.monotonic()
        except BaseException as found:
            self._failed(found)
        finally:
            self.ended.set()

    def _take(self, number: int, entry: LogEntry, message: Message | None = None) -> None:
        measures = self.measures
        with self.at_work:
            self._step(number, entry, message)
        for fact in self.reasoning.uncounted():
            self.skipped(f"{show_fact(fact)}: its time is too fine, beside those that came before")
        for fact in self.reasoning.beyond_budget():
            self.skipped(f"{show_fact(fact)}: more facts of one key than `most_per_key` at one time")
        measures.batches += 1
        measures.late, measures.open = self.reasoning.late, self.reasoning.open
        self._tell_clock()
        self._log_bytes += len(entry.payload) + 64
        if self._log_bytes > max(self._least_log, 2 * self._size):
            self.snapshot()

    def _step(self, number: int, entry: LogEntry, message: Message | None) -> None:
        measures = self.measures
        for lines in self.reasoning.take(number, entry, message):
            for line in lines:
                if line.status in measures.answers:
                    measures.answers[line.status] += 1
            for sink in self.sinks:
                sink.put(self.reasoning.told, lines)
            for heard in self.heard:
                heard(lines)
            if self.failure is not None:
                return

    def snapshot(self) -> None:
        """Keeps what is remembered; where the disk is full the log has it all, and it is tried again later."""
        try:
            self._keep()
            self._not_kept = ""
        except OSError as found:
            self._log_bytes = 0
            self._not_kept = f"what is remembered cannot be written ({found.strerror or found})"

    def _keep(self) -> None:
        """Keeps what is remembered, and forgets the log before it."""
        head, body = self.reasoning.save()
        self._size = self.folder.save(self.reasoning.entry, head, body)
        self.measures.state_bytes, self._log_bytes = self._size, 0
        kept = int(self.pipeline.serve.get("history_bytes", HISTORY))
        self.folder.forget(min((sink.saved for sink in self.sinks), default=self.reasoning.told), kept)

    def _tell_clock(self) -> None:
        from fractions import Fraction

        clock, units = self.reasoning.incoming.clock, self.reasoning.reasoner.checker.units
        if clock is not None:
            self.measures.clock = str(clock)
            if units.tick is not None:
                self.measures.moment = units.start.timestamp() + float(Fraction(clock) * units.tick / 1000)

    # -- the clock --------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Moves the clock where time alone decides something: with this machine's, or when nothing has come."""
        assert self.clock is not None
        idle = self.pipeline.idle_seconds
        tick_seconds = float(self.clock.tick_seconds)
        try:
            while not self._stop.wait(min(LOOK, self.clock.until_next() + 0.001)):
                due, clock = self.reasoning.due(), self.reasoning.incoming.clock
                if due is None:
                    continue
                if idle is None:
                    target: Number = self.clock.now()
                else:
                    quiet = time.monotonic() - self._last_fact
                    if quiet < idle or clock is None:
                        continue
                    # Silence lasts as long as it lasts: the clock goes on from where facts have left it.
                    if self._idle_since is None or self._idle_since[0] != self._last_fact:
                        self._idle_since = (self._last_fact, clock)
                    target = self._idle_since[1] + int(quiet / tick_seconds)
                if target > due and (clock is None or target > clock):
                    self.gate.put(LogEntry(CLOCK, clock=str(target)))
        except Closed:
            pass
        except BaseException as found:
            self._failed(found)

    # -- the end ----------------------------------------------------------------------------------

    def _failed(self, found: BaseException) -> None:
        self.failure = self.failure or found
        self._stop.set()

    def skipped(self, said: str) -> None:
        """A row was no fact, and its source is told to go on."""
        self.measures.skipped += 1
        if len(self.skips) < 20:
            self.skips.append(said)

    def counted(self, facts: int) -> None:
        self.measures.facts += facts

    @property
    def problems(self) -> list[str]:
        """What is wrong at the moment, though the pipeline goes on."""
        said = [
            f"[{sink.part.place}] {each}"
            for sink in self.sinks
            for each in (sink.delivering.problem, sink.unsaved)
            if each
        ]
        return [each for each in (self.gate.problem, self._not_kept) if each] + said

    def health(self) -> tuple[bool, list[str]]:
        """Whether it works, and what is wrong though it does."""
        if not self.ready.is_set():
            return self.failure is None, ["the log is being worked off"]
        full = ["facts come faster than they are worked off"] if self.gate.is_full else []
        ahead = [] if self.clock is None or not self._by_wall else self.clock.behind(self.reasoning.incoming.clock)
        return self.failure is None, [*self.problems, *full, *ahead]

    def wait(self, stop: threading.Event) -> None:
        """Until it is asked to stop, fails, or nothing can come any more."""
        while not stop.wait(LOOK) and self.failure is None:
            self.refresh()
            if self.sources and all(working.ended for working in self.sources) and not self.listens:
                return

    @property
    def listens(self) -> bool:
        """Whether facts may come over HTTP, or somebody may listen."""
        parts = [*self.pipeline.parts["sources"], *self.pipeline.parts["sinks"]]
        return any(part.format in ("http", "events") for part in parts)

    @property
    def address(self) -> str:
        return "" if self.web is None else self.web.address

    def page(self, hosts: list[str]) -> Any:
        """The live page."""
        from presage.serve.page import Page

        return Page(self, hosts)

    def standing_alerts(self) -> list[dict[str, Any]]:
        """What fires or is pending."""
        if not self.ready.is_set():
            return []
        with self.at_work:
            now = self.reasoning.reasoner.now
            return [] if now is None else self.reasoning.alerts.standing(now)

    def refresh(self) -> None:
        """Measures that change though nothing happens."""
        measures = self.measures
        if self.ready.is_set():
            measures.entries = self.folder.log.last - self.reasoning.entry
            measures.refusals = {sink.part.name: sink.delivering.refusals for sink in self.sinks}
            measures.aside = {sink.part.name: sink.delivering.aside for sink in self.sinks}
        if measures.moment is not None:
            measures.lag_seconds = time.time() - measures.moment
        if self.shown is not None and time.monotonic() - self._shown_at > 1.0:
            self._shown_at = time.monotonic()
            self.shown.refresh()

    def close(self) -> None:
        """Takes nothing more, works off what is there, and keeps what is remembered."""
        self._stop.set()
        if self.web is not None:
            self.web.close()
        if self.shown is not None:
            self.shown.close()
        for working in getattr(self, "sources", []):
            working.finish()
        if hasattr(self, "gate"):
            self.gate.close()
            self.ended.wait(60)
        for sink in getattr(self, "sinks", []):
            sink.finish(PATIENCE if self.failure is None else 1.0)
        if self.failure is None and self.ready.is_set() and self.ended.is_set():
            self.snapshot()
        if hasattr(self, "folder"):
            self.folder.close()
        if self.failure is not None:
            raise self.failure
