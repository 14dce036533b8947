"""A webhook: lines are posted as JSON, each batch at least once.

The receiver acknowledges with any status from 200 to 299. Whatever else it says, or if it says nothing in time, the
same lines are sent again later: nobody but a person can tell whether a refusal is for good.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from presage.errors import PresageError
from presage.pipeline.reading import Part, seconds_in
from presage.receivers.delivering import Refused, TakenNever
from presage.receivers.told_lines import ToldLine

TRIES = 5
"""How often a line is sent to a receiver that has answered nothing but 400 so far."""


class Post:
    """Posts to one address, over a connection that is kept."""

    def __init__(self, part: Part) -> None:
        self.part = part
        address = urlsplit(part.text("url"))
        if address.scheme not in ("http", "https") or not address.hostname:
            raise PresageError(f"[{part.place}] `url` is not an address such as http://127.0.0.1:9000/answers")
        self.host, self.port, self.scheme = address.hostname, address.port, address.scheme
        self.path = (address.path or "/") + (f"?{address.query}" if address.query else "")
        self.seconds = seconds_in(part.text("timeout", "10s"))
        self.headers = {"Content-Type": "application/json", "User-Agent": "presage"}
        if part.text("token_env"):
            self.headers["Authorization"] = f"Bearer {part.text('token_env')}"
        self._connection: http.client.HTTPConnection | None = None

    def send(self, body: bytes, more: dict[str, str] | None = None) -> tuple[int, bytes]:
        """The status and what is said with it; raises `Refused` where there is no answer."""
        for attempt in range(2):
            fresh = self._connection is None
            try:
                connection = self._connect()
                connection.request("POST", self.path, body, {**self.headers, **(more or {})})
                answer = connection.getresponse()
                return answer.status, answer.read(4096)
            except (OSError, http.client.HTTPException) as found:
                self.close()
                # A connection that was kept may have been closed by the other side meanwhile.
                if fresh or attempt:
                    raise Refused(f"{self.part.text('url')}: {found or type(found).__name__}") from None
        raise AssertionError

    def answered(self, status: int, said: bytes) -> str:
        return f"{self.part.text('url')}: {status} {said[:200].decode(errors='replace')}".strip()

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            if self.scheme == "https":
                context = ssl.create_default_context()
                self._connection = http.client.HTTPSConnection(
                    self.host, self.port, timeout=self.seconds, context=context
                )
            else:
                self._connection = http.client.HTTPConnection(self.host, self.port, timeout=self.seconds)
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Webhook:
    linger = 0.0

    def __init__(self, part: Part, pipeline: str, run: str) -> None:
        self.post, self.pipeline, self.run = Post(part), pipeline, run
        self._has_taken = False
        self._name, self._tries = "", 0
        """What was refused last, and how often."""

    def told(self) -> int | None:
        return None

    def write(self, lines: Sequence[ToldLine]) -> None:
        body: dict[str, Any] = {"pipeline": self.pipeline, "run": self.run, "lines": [line.fields for line in lines]}
        data = json.dumps(body, ensure_ascii=False).encode()
        # The same lines have the same name: a receiver that remembers it takes them once.
        name = f"{self.run}-{lines[0].number}-{lines[-1].number}"
        status, said = self.post.send(data, {"Idempotency-Key": name})
        # It is about what was sent, and will be the next time.
        if status in (413, 422) or (status == 400 and self._is_for_good(name, len(lines))):
            raise TakenNever(self.post.answered(status, said))
        if not 200 <= status < 300:
            raise Refused(self.post.answered(status, said))
        self._has_taken = True

    def _is_for_good(self, name: str, lines: int) -> bool:
        """Whether 400 is about what was sent. Of several lines each is tried by itself; who has taken nothing yet may
        not be what is to be spoken to, and gets some more tries."""
        self._tries = self._tries + 1 if name == self._name else 1
        self._name = name
        return lines > 1 or self._has_taken or self._tries >= TRIES

    def close(self) -> None:
        self.post.close()
