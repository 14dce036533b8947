"""`presage watch` as tests start it: a process of its own on a free port, and its addresses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TURBINES = ROOT / "presage/examples/turbines/turbines.psg"
TURBINE_FACTS = ROOT / "presage/examples/turbines/facts.jsonl"
SECONDS = 60


class Watched:
    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process, self.address = process, address

    def get(self, path: str, **query: Any) -> tuple[int, Any]:
        asked = urllib.parse.urlencode(query)
        return self.ask(urllib.request.Request(f"{self.address}{path}" + (f"?{asked}" if asked else "")))

    def post(self, command: Any, **headers: str) -> tuple[int, Any]:
        body = command if isinstance(command, bytes) else json.dumps(command).encode()
        return self.ask(urllib.request.Request(f"{self.address}api/control", body, headers))

    def ask(self, request: urllib.request.Request) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as reply:
                return reply.status, json.loads(reply.read())
        except urllib.error.HTTPError as refused:
            text = refused.read().decode()
            return refused.code, json.loads(text) if text.startswith("{") else text

    @contextmanager
    def batches(self) -> Iterator[Iterator[dict[str, Any]]]:
        """What an open page is told, as it comes."""
        with urllib.request.urlopen(f"{self.address}api/events", timeout=SECONDS) as stream:
            yield (json.loads(line[6:]) for line in stream if line.startswith(b"data: "))

    def state_after(self, steps: int) -> dict[str, Any]:
        """Steps by hand, and gives the state once they are shown."""
        state: dict[str, Any] = {}
        with self.batches() as batches:
            for _ in range(steps):
                assert self.post({"action": "step"})[0] == 200
            for batch in batches:
                state = batch["state"]
                if state["step"] >= steps or state["finished"]:
                    break
        return state


@contextmanager
def watching(program: Path | None, facts: Path | None, *options: str) -> Iterator[Watched]:
    """`presage watch` of a program, or without one of the examples."""
    words = [] if program is None else [str(program), "--facts", str(facts)]
    with watching_words(*words, *options) as watched:
        yield watched


@contextmanager
def watching_words(*words: str, given: int | None = None) -> Iterator[Watched]:
    """`presage watch` with these words; `given` is what it reads as standard input."""
    command = [sys.executable, "-m", "presage", "watch", "--port", "0", "--no-browser", *words]
    process = subprocess.Popen(command, stdin=given, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        if "waiting for it" in said:
            said = process.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found, said + process.stderr.read()
        yield Watched(process, found[0])
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)
