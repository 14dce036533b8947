"""A page that lists the examples: one click, and one of them runs.

Each example is an application of its own below its name, made when it is first opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from presage.web.server import PAGE, WithHeaders


@dataclass(frozen=True, slots=True)
class ShownExample:
    name: str
    title: str
    about: str
    """What it is about, in a sentence."""
    picture: Path


def gallery(shown: Sequence[ShownExample], open_example: Callable[[str], Any], hosts: Iterable[str]) -> ASGIApp:
    """The application; `open_example` gives that of one example."""
    pictures = {each.name: each.picture for each in shown}

    async def page(_: Request) -> Response:
        return FileResponse(PAGE / "gallery.html")

    async def examples(_: Request) -> Response:
        return JSONResponse([{"name": each.name, "title": each.title, "about": each.about} for each in shown])

    async def picture(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in pictures:
            raise HTTPException(404, "there is no such picture")
        return FileResponse(pictures[name], media_type="image/svg+xml")

    routes: list[Route | Mount] = [
        Route("/", page),
        Route("/api/examples", examples),
        Route("/pictures/{name}.svg", picture),
        Mount("/page", StaticFiles(directory=PAGE)),
        *(Mount(f"/{each.name}", _WhenOpened(each.name, open_example)) for each in shown),
    ]
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    return WithHeaders(Starlette(routes=routes, middleware=[guard]))


class _WhenOpened:
    """An application that is made at the first request for it."""

    def __init__(self, name: str, make: Callable[[str], Any]) -> None:
        self.name, self.make = name, make
        self.made: ASGIApp | None = None
        self.making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.making:
            if self.made is None:
                self.made = await run_in_threadpool(self.make, self.name)
        assert self.made is not None
        await self.made(scope, receive, send)
