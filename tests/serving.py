"""A `presage serve` for tests, a process of its own: fed over HTTP, killed, started again; and receivers for sinks."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TURBINES = """
timeline discrete.
input temp(device: text, level) delay 1.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.
query malf(X).
"""
LISTENING = """
program = "program.psg"
checkpoint = "state"
[serve]
port = {port}
[sources.incoming]
format = "http"
"""
LINES = '[sinks.out]\nformat = "lines"\npath = "out.jsonl"\n'


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def hot(at: Any, device: str = "wt25", **more: Any) -> str:
    return json.dumps({"pred": "temp", "args": [device, "high"], "time": at, **more}) + "\n"


def lines_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Served:
    """A pipeline in a folder."""

    def __init__(
        self, folder: Path, sinks: str = LINES, program: str = TURBINES, file: str = LISTENING, **environment: str
    ) -> None:
        self.folder, self.port = folder, free_port()
        self.environment = {**os.environ, **environment}
        folder.mkdir(exist_ok=True)
        (folder / "program.psg").write_text(program)
        (folder / "pipeline.toml").write_text(file.replace("{port}", str(self.port)) + sinks)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, wait: bool = True, stdin: Any = None, more: tuple[str, ...] = ()) -> Served:
        with (self.folder / "said.txt").open("ab") as said, (self.folder / "stdout.txt").open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "presage", "serve", "pipeline.toml", *more],
                cwd=self.folder, stdin=stdin, stdout=out, stderr=said, env=self.environment,
            )  # fmt: skip
        if wait:
            self.until(self.is_ready)
        return self

    @property
    def said(self) -> str:
        return (self.folder / "said.txt").read_text()

    def until(self, holds: Any, seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert self.process is not None
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.said}"
            assert time.monotonic() < end, f"not within {seconds} s: {self.said}"
            time.sleep(0.02)

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        return self._asked(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers))

    def post(self, body: str | bytes, path: str = "/facts", **headers: str) -> tuple[int, str]:
        data = body.encode() if isinstance(body, str) else body
        return self._asked(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers))

    def _asked(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)

    def stop(self) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return lines_in(self.folder / "out.jsonl")


class Receiver:
    """An HTTP receiver that keeps what it gets. `status` is what it answers, `slow` how long it takes."""

    def __init__(self) -> None:
        self.got: list[tuple[str, Any, dict[str, str]]] = []
        self.status, self.slow = 200, 0.0
        self.refuses = ""
        """What it takes in no message, and says 400 to."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(receiver.slow)
                status = 400 if receiver.refuses and receiver.refuses.encode() in body else receiver.status
                if status == 200:
                    receiver.got.append((self.path, json.loads(body), dict(self.headers)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nobody reads it."""

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """Who posts may be killed meanwhile."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
