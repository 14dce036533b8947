"""What a running pipeline measures, and how others see it: as Prometheus text, from an address or in a file."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from presage.errors import PresageError
from presage.pipeline.keys import STATUSES

LOCAL = "127.0.0.1"
Health = Callable[[], tuple[bool, Sequence[str]]]
"""Whether something works, and what is wrong with it though it does."""


@dataclass
class Measures:
    """Counts since the pipeline started, and how it stands after its last micro-batch."""

    pipeline: str = ""
    batches: int = 0
    facts: int = 0
    late: int = 0
    skipped: int = 0
    answers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    open: int = 0
    state_bytes: int = 0
    step_seconds: float = 0.0
    batch_seconds: float = 0.0
    rows_per_second: float = 0.0
    clock: str | None = None
    """The reasoner's time; exact text on the dense timeline."""
    moment: float | None = None
    """The same as seconds since 1970, where the program has a `tick`."""
    lag_seconds: float | None = None
    """How far the clock is behind this machine's."""
    entries: int | None = None
    """Entries of the log that are not reasoned about yet."""
    refusals: dict[str, int] = field(default_factory=dict)
    """How often sinks have refused what was written to them, by their names."""
    aside: dict[str, int] = field(default_factory=dict)
    """How many lines sinks will never take, and were put aside, by their names."""
    waiting: int | None = None
    """Messages that a broker has and the pipeline has not taken."""

    def samples(self) -> Iterator[tuple[str, str, str, str, float]]:
        """Name, kind, meaning, further labels and value of everything measured."""
        yield "batches_total", "counter", "micro-batches that are done", "", self.batches
        yield "facts_total", "counter", "rows taken from sources", "", self.facts
        yield "late_facts_total", "counter", "facts that came too late and were left out", "", self.late
        yield "skipped_rows_total", "counter", "rows without a time or a value that were skipped", "", self.skipped
        for status, count in self.answers.items():
            yield "answers_total", "counter", "answer lines told", f',status="{status}"', count
        yield "open_answers", "gauge", "answers that are possible now", "", self.open
        yield "state_bytes", "gauge", "what the shards remember", "", self.state_bytes
        yield (
            "step_seconds",
            "gauge",
            "how long the slowest shard worked on the last micro-batch",
            "",
            self.step_seconds,
        )
        yield "batch_seconds", "gauge", "how long the last micro-batch took", "", self.batch_seconds
        yield "rows_per_second", "gauge", "rows of the last micro-batch by its time", "", self.rows_per_second
        for name, meaning, value in (
            ("clock_seconds", "the reasoner's time, in seconds since 1970", self.moment),
            ("lag_seconds", "how far the reasoner's time is behind", self.lag_seconds),
            ("waiting_messages", "messages not taken yet", self.waiting),
            ("waiting_entries", "what is in the log of `presage serve` and not yet reasoned about", self.entries),
        ):
            if value is not None:
                yield name, "gauge", meaning, "", value
        for sink, count in self.refusals.items():
            yield "refusals_total", "counter", "writes that a sink of `presage serve` refused", f',sink="{sink}"', count
        for sink, count in self.aside.items():
            meaning = "lines that a sink will never take, and that were put aside"
            yield "refused_lines_total", "counter", meaning, f',sink="{sink}"', count

    def text(self) -> str:
        """Prometheus' text format."""
        label = self.pipeline.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines: list[str] = []
        for name, kind, meaning, labels, value in self.samples():
            full = f"presage_{name}"
            if not lines or not lines[-1].startswith(f"{full}{{"):
                lines += [f"# HELP {full} {meaning}", f"# TYPE {full} {kind}"]
            lines.append(f'{full}{{pipeline="{label}"{labels}}} {value}')
        return "\n".join(lines) + "\n"


class ShownMeasures:
    """Measures where others look for them. A file is replaced whole; an address answers on this machine only, unless it
    is told otherwise: then who asks bears a token."""

    def __init__(
        self,
        measures: Measures,
        port: int | None,
        file: Path | None,
        host: str = LOCAL,
        token: str = "",
        health: Health = lambda: (True, ()),
    ) -> None:
        self.measures, self.file, self.host = measures, file, host
        self.server = None if port is None else _serve(measures, host, port, token, health)

    @property
    def address(self) -> str | None:
        return None if self.server is None else f"http://{self.host}:{self.server.server_port}/metrics"

    def refresh(self) -> None:
        if self.file is None:
            return
        beside = self.file.with_name(self.file.name + ".tmp")
        try:
            beside.write_text(self.measures.text(), encoding="utf-8")
            beside.replace(self.file)
        except OSError as found:
            raise PresageError(f"{self.file}: the measures cannot be written ({found.strerror or found})") from None

    def close(self) -> None:
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()


def _serve(measures: Measures, host: str, port: int, token: str, health: Health) -> ThreadingHTTPServer:
    class MeasuresHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            bearer = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if path in ("/healthz", "/readyz"):
                healthy, problems = health()
                fine = healthy and (path == "/healthz" or not problems)
                said = "fine\n" if fine else "\n".join(problems) + "\n" if healthy else "it has failed\n"
                self._answer(200 if fine else 503, said)
            elif token and not hmac.compare_digest(bearer.encode(), token.encode()):
                self._answer(401, "requests bear the token\n")
            elif path == "/metrics":
                self._answer(200, measures.text())
            else:
                self._answer(404, "the measures are at /metrics\n")

        def _answer(self, status: int, said: str) -> None:
            body = said.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Requests are nobody's news."""

    try:
        server = ThreadingHTTPServer((host, port), MeasuresHandler)
    except OSError as found:
        raise PresageError(f"[metrics] cannot listen on port {port} ({found.strerror}): choose another") from None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server
