"""What the page talks to: a handful of addresses, and a stream of what changed.

Nothing of the data is ever put into HTML: the page is a file, and all else is JSON. The headers forbid scripts from
elsewhere, and requests that name another host or come from another page are refused, so that a web site somebody
visits cannot reach the page through their browser.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from presage.colours import tone_for
from presage.errors import PresageError, ProgramError
from presage.web.board import BoardEntry, BoardRows
from presage.web.details import Describing, Details
from presage.web.replay import Replay
from presage.web.single_file import recorded, single_file
from presage.web.stage import Stage
from presage.web.what_if import what_would_be
from presage.web.workbench import LONGEST_PROGRAM, looked_at, words

PAGE = Path(__file__).parent / "page"
BATCH_SECONDS = 0.1
"""How often a page is told what changed."""
QUIET_SECONDS = 1.0
"""How often it is told that nothing did, so that its counters stay true."""
LONGEST_COMMAND = 1_000
LONGEST_SUPPOSED = 100_000

HEADERS = {
    b"content-security-policy": b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    b"img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}


def application(stage: Stage, hosts: Iterable[str] = ("*",), start_when_seen: bool = True) -> ASGIApp:
    """The application. With `start_when_seen` the replay begins when the first page opens."""
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    routes = _Site(stage, start_when_seen).routes()
    return WithHeaders(Starlette(routes=routes, middleware=[guard], exception_handlers={HTTPException: _told}))


async def _told(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    return JSONResponse({"error": problem.detail}, problem.status_code)


class WithHeaders:
    """Adds the headers to whatever is answered, without holding up the stream."""

    def __init__(self, inner: ASGIApp) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, value) for name, value in message["headers"] if name.lower() not in HEADERS]
                message["headers"] = [*kept, *HEADERS.items()]
            await send(message)

        await self.inner(scope, receive, guarded)


class _Site:
    def __init__(self, stage: Stage, start_when_seen: bool) -> None:
        self.stage = stage
        self.start_when_seen = start_when_seen

    @property
    def replay(self) -> Replay:
        return self.stage.run.replay

    @property
    def details(self) -> Describing:
        return self.stage.run.details

    def routes(self) -> list[Route | Mount]:
        return [
            Route("/", self.page),
            Route("/api/program", self.program),
            Route("/api/events", self.events),
            Route("/api/control", self.control, methods=["POST"]),
            Route("/api/check", self.check, methods=["POST"]),
            Route("/api/run", self.run, methods=["POST"]),
            Route("/api/suppose", self.suppose, methods=["POST"]),
            Route("/api/share", self.share),
            Route("/api/state", self.state),
            Route("/api/answer", self.answer),
            Mount("/page", StaticFiles(directory=PAGE)),
        ]

    async def page(self, _: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def program(self, _: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._about))

    def _about(self) -> dict[str, Any]:
        stage = self.stage
        return {
            **self.details.about(),
            "title": stage.story.title,
            "prose": stage.story.prose,
            "language": words(),
            "editable": stage.editable,
            "again": stage.can_begin_again,
            "home": stage.home,
            "turn": stage.turn,
        }

    # -- the present ------------------------------------------------------------------------------

    async def events(self, _: Request) -> Response:
        if self.start_when_seen:
            self.start_when_seen = False
            self.replay.play()
        return StreamingResponse(self._batches(), media_type="text/event-stream")

    async def _batches(self) -> AsyncIterator[str]:
        quiet = QUIET_SECONDS
        told: dict[str, Any] = {}
        turn, replay = self.stage.turn, self.replay
        feed = replay.subscribe()
        try:
            while not (self.stage.closed or self.replay.closed):
                if turn != self.stage.turn:
                    replay.unsubscribe(feed)
                    turn, replay = self.stage.turn, self.replay
                    feed = replay.subscribe()
                news, state = replay.news(feed)
                where = {
                    name: state[name] for name in ("step", "paused", "speed", "finished", "problem", "busy", "next")
                }
                if news.rows or news.gone or news.reset or where != told or quiet >= QUIET_SECONDS:
                    batch = {"reset": news.reset, "rows": self._lines(news.rows), "gone": news.gone, "state": state}
                    batch["more"], batch["about"] = news.more, [turn, self.details.version]
                    yield f"event: batch\ndata: {_text(batch)}\n\n"
                    quiet, told = 0.0, where
                if not news.more:
                    quiet += BATCH_SECONDS
                await asyncio.sleep(0 if news.more else BATCH_SECONDS)
        finally:
            replay.unsubscribe(feed)

    def _lines(self, entries: Iterable[BoardEntry]) -> list[dict[str, Any]]:
        return [self.details.line(entry) for entry in entries]

    # -- the past ---------------------------------------------------------------------------------

    async def state(self, request: Request) -> Response:
        """All answers in sight after a step."""
        rows, summary = self._past(request)
        return Response(
            await run_in_threadpool(lambda: _text({"rows": self._lines(rows.values()), "state": summary.to_json()})),
            media_type="application/json",
        )

    def _past(self, request: Request) -> tuple[BoardRows, Any]:
        given = request.query_params.get("step")
        if given is None:
            return self.replay.past(self.replay.board.summary.step)
        try:
            return self.replay.past(int(given))
        except ValueError:
            raise HTTPException(400, f"`step` is a whole number, not {given[:20]!r}") from None
        except KeyError:
            state = self.replay.state()
            kept = f"{state['first_step']} to {state['step']}"
            raise HTTPException(404, f"step {given} is not remembered; steps {kept} are") from None

    async def answer(self, request: Request) -> Response:
        text = request.query_params.get("answer", "")
        rows, _ = self._past(request)
        # By its key, or by its text where that says the whole stretch.
        entry = rows.get(text) or next((each for each in rows.values() if each.answer.answer == text), None)
        if entry is None:
            raise HTTPException(404, f"no answer `{text[:200]}` is in sight")
        return JSONResponse(await run_in_threadpool(self.details.of, entry))

    # -- commands ---------------------------------------------------------------------------------

    async def control(self, request: Request) -> Response:
        _refuse_other_pages(request)
        given = await _object(request)
        action = given.get("action")
        if action == "play":
            self.replay.play()
        elif action == "pause":
            self.replay.pause()
        elif action == "step":
            self.replay.step()
        elif action == "speed":
            self.replay.set_speed(_speed(given.get("speed")))
        elif action == "again":
            await self._begin_again(None)
        else:
            raise HTTPException(400, "`action` is one of play, pause, step, speed, again")
        self.start_when_seen = False
        return JSONResponse(self.replay.state())

    # -- the workbench ----------------------------------------------------------------------------

    async def check(self, request: Request) -> Response:
        """What is wrong with a text, and which predicates it has."""
        _refuse_other_pages(request)
        source = _source(await _object(request, 6 * LONGEST_PROGRAM))
        return JSONResponse(await run_in_threadpool(looked_at, source, self._name()))

    async def run(self, request: Request) -> Response:
        """The run with other rules, from the start or from here on."""
        _refuse_other_pages(request)
        if not self.stage.editable:
            raise HTTPException(403, "the rules of this run cannot be changed from the page")
        given = await _object(request, 6 * LONGEST_PROGRAM)
        await self._begin_again(_source(given), given.get("go_on") is True)
        return JSONResponse(self.replay.state())

    async def _begin_again(self, source: str | None, go_on: bool = False) -> None:
        try:
            await run_in_threadpool(self.stage.again, source, go_on)
        except ProgramError as wrong:
            count = sum(each.severity == "error" for each in wrong.diagnostics)
            raise HTTPException(400, f"the program has {count} mistake{'s' if count != 1 else ''}") from None
        except PresageError as wrong:
            raise HTTPException(400, str(wrong)) from None

    async def suppose(self, request: Request) -> Response:
        """What would be said if some facts came now, or had come after a step of the past."""
        _refuse_other_pages(request)
        given = await _object(request, LONGEST_SUPPOSED)
        texts, step, details = given.get("facts"), given.get("step"), self.details
        if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            raise HTTPException(400, "`facts` is a list of facts in text, such as temp(wt25, high)@2")
        if not isinstance(details, Details) or details.fresh is None:
            raise HTTPException(400, "these answers were read from a file: what would be is not known here")
        if isinstance(step, bool) or not (step is None or isinstance(step, int)):
            raise HTTPException(400, "`step` is a whole number")
        try:
            _, summary = self.replay.past(self.replay.board.summary.step if step is None else step)
        except KeyError:
            raise HTTPException(404, f"step {step} is not remembered") from None
        if summary.now is None:
            raise HTTPException(400, "the run has not begun")
        try:
            found = await run_in_threadpool(what_would_be, details.fresh, details.facts, texts, summary.now)
        except PresageError as wrong:
            raise HTTPException(400, str(wrong)) from None
        lines = [{**details.full_line(each, each.now), "tone": tone_for(details.queries, each)} for each in found]
        return JSONResponse({"lines": lines})

    def _name(self) -> str:
        return str(self.details.about()["program"])

    async def share(self, _: Request) -> Response:
        """The run so far as a single file."""
        text = await run_in_threadpool(self._single_file)
        name = f"{Path(self._name()).stem or 'run'}.html".encode("ascii", "ignore").decode().replace('"', "")
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="text/html", headers=headers)

    def _single_file(self) -> str:
        with self.replay.standing() as board:
            return single_file(recorded(board, self.details, self._about(), self.replay.state()))


async def _object(request: Request, longest: int = LONGEST_COMMAND) -> dict[str, Any]:
    text = bytearray()
    async for piece in request.stream():
        text += piece
        if len(text) > longest:
            raise HTTPException(413, "a command is a short JSON object")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise HTTPException(400, 'a command is a JSON object such as {"action": "pause"}')
    return given


def _source(given: dict[str, Any]) -> str:
    source = given.get("source")
    if not isinstance(source, str) or len(source) > LONGEST_PROGRAM:
        raise HTTPException(400, f"`source` is the text of a program, of {LONGEST_PROGRAM:,} signs at most")
    return source


def _speed(given: Any) -> float:
    fine = isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given) and given >= 0
    if not fine:
        raise HTTPException(400, "`speed` is how many units of time go by in a second, 0 for as fast as possible")
    return float(given)


def _refuse_other_pages(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "commands are taken from the page itself only")


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
