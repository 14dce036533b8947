"""What a pipeline in one process answers over HTTP: facts in, events and measures out, and the live page.

It listens on this machine only, unless requests must bear a token. Facts are acknowledged when they are on disk. Who
sends more than is worked off waits for the answer, and after a while is told to come again.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from presage.errors import PresageError
from presage.io.facts import FactError
from presage.pipeline.reading import Part
from presage.serve.events import Events
from presage.serve.gate import Closed
from presage.serve.making import bringing

if TYPE_CHECKING:
    from presage.serve.running import Serving

HOST, PORT = "127.0.0.1", 8753
LARGEST = 64 << 20
"""Bytes of a message at most."""
AT_ONCE = 16
"""Messages that are read at the same time; others wait unread."""
PATIENCE = 30.0
"""Seconds after which who waits for room is told to come again."""
OPEN = ("/healthz", "/readyz")
COOKIE = "presage_token"


class Web:
    """The server of a pipeline, in a thread of its own."""

    def __init__(self, serving: Serving) -> None:
        self.serving = serving
        said = serving.pipeline.serve
        self.host, self.token = str(said.get("host", HOST)), str(said.get("token_env", ""))
        self.listening = listen(self.host, int(said.get("port", PORT)), "serve")
        self.port = int(self.listening.getsockname()[1])
        self._room = asyncio.Semaphore(AT_ONCE)
        self._server: Any = None
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def start(self) -> None:
        import uvicorn

        config = uvicorn.Config(
            self.application(), log_level="critical", lifespan="off", timeout_graceful_shutdown=1, access_log=False
        )
        # Made here: a pipeline that ends at once then ends a server that has not quite begun.
        self._server = uvicorn.Server(config)
        self._thread.start()

    def _run(self) -> None:
        self._server.run(sockets=[self.listening])

    def close(self) -> None:
        if self._server is not None:
            self._server.should_exit = True
            self._server.force_exit = True
            self._thread.join(5)
        self.listening.close()

    def application(self) -> ASGIApp:
        routes: list[Route | Mount] = [
            Route("/facts", self.facts, methods=["POST"]),
            Route("/facts/{name}", self.facts, methods=["POST"]),
            Route("/events", self.events),
            Route("/events/{name}", self.events),
            Route("/healthz", self.health),
            Route("/readyz", self.readiness),
            Route("/metrics", self.measures),
        ]
        page = self.serving.page(self._names())
        if page is not None:
            routes.append(Mount("/", page))
        return TokenGuard(Starlette(routes=routes), self.token, self._names())

    def _names(self) -> list[str]:
        """The names that requests may call this machine by; with a token any."""
        return ["*"] if self.token else [self.host, f"[{self.host}]", "127.0.0.1", "localhost", "[::1]"]

    # -- facts ------------------------------------------------------------------------------------

    async def facts(self, request: Request) -> Response:
        part = self._source(request.path_params.get("name"))
        if part is None:
            return _told(404, 'no source of the pipeline takes facts here: add `[sources.NAME]` with format = "http"')
        async with self._room:
            data = await _body(request)
            if data is None:
                return _told(413, f"a message has at most {LARGEST} bytes: send several")
            try:
                return await run_in_threadpool(self._take, part, data)
            except FactError as found:
                return _told(400, str(found))
            except TimeoutError:
                return _told(503, "facts come faster than they are worked off: come again", {"Retry-After": "5"})
            except Closed:
                return _told(503, "the pipeline is ending", {"Retry-After": "10"})

    def _source(self, name: str | None) -> Part | None:
        found = [part for part in self.serving.pipeline.parts["sources"] if part.format == "http"]
        if name is not None:
            return next((part for part in found if part.name == name), None)
        return next((part for part in found if part.is_self_describing), None)

    def _take(self, part: Part, data: bytes) -> Response:
        taken = bringing(self.serving, part).lines(data, None, "line", PATIENCE)
        return JSONResponse({"facts": taken})

    # -- events, health and measures --------------------------------------------------------------

    async def events(self, request: Request) -> Response:
        name = request.path_params.get("name")
        for sink in self.serving.sinks:
            if isinstance(sink.sink, Events) and name in (None, sink.part.name):
                last = request.headers.get("last-event-id") or request.query_params.get("after") or ""
                after = int(last) if re.fullmatch("[0-9]{1,18}", last) else None
                return StreamingResponse(sink.sink.read(after), media_type="text/event-stream")
        return _told(404, 'no sink of the pipeline is read here: add `[sinks.NAME]` with format = "events"')

    async def health(self, _: Request) -> Response:
        healthy, _problems = self.serving.health()
        return JSONResponse({"healthy": True}) if healthy else _told(500, "the pipeline has failed")

    async def readiness(self, _: Request) -> Response:
        healthy, problems = self.serving.health()
        fine = healthy and not problems
        return JSONResponse({"ready": fine, "problems": problems}, 200 if fine else 503)

    async def measures(self, _: Request) -> Response:
        self.serving.refresh()
        return PlainTextResponse(self.serving.measures.text(), media_type="text/plain; version=0.0.4")


async def _body(request: Request) -> bytes | None:
    """A message, piece by piece; nothing where it is too large."""
    length = request.headers.get("content-length", "")
    if re.fullmatch("[0-9]{1,18}", length) and int(length) > LARGEST:
        return None
    pieces, size = [], 0
    async for piece in request.stream():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            return None
    return b"".join(pieces)


def _told(status: int, said: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": said}, status, headers)


class TokenGuard:
    """Lets requests through that bear the token, and that are not sent by pages of other sites."""

    def __init__(self, inner: ASGIApp, token: str, names: list[str]) -> None:
        self.inner, self.token, self.names = inner, token, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self.inner(scope, receive, send)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        host = headers.get("host", "")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if "*" not in self.names and name not in self.names:
            return _told(400, "this machine is not called so here")
        origin = headers.get("origin")
        if origin is not None and scope["method"] != "GET" and urlsplit(origin).netloc != host:
            return _told(403, "pages of other sites may not send anything")
        if not self.token or scope["path"] in OPEN:
            return None
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if _same(bearer, self.token) or _same(_cookie(headers.get("cookie", "")), self.token):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] == "GET" and scope["path"] == "/" and _same(given, self.token):
            # A browser bears no token by itself: it gets a cookie, and the address forgets it.
            answer = Response(status_code=303, headers={"Location": "/"})
            answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return answer
        return _told(401, "requests bear the token: Authorization: Bearer …", {"WWW-Authenticate": "Bearer"})


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _cookie(given: str) -> str:
    for each in given.split(";"):
        name, _, value = each.strip().partition("=")
        if name == COOKIE:
            return value.strip('"')
    return ""


def listen(host: str, port: int, section: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # An answer leaves in two pieces; the second would wait for the first to be acknowledged, 40 ms later.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as found:
        listening.close()
        said = f"[{section}] cannot listen on {host}:{port} ({found.strerror or found}): choose another port"
        raise PresageError(said) from None
    return listening
