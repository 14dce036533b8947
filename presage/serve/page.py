"""The live page of a pipeline in one process: what its reasoner tells, seen through a board.

Nobody waits for the page. What it has not seen yet is kept by answer, so that it is never owed more than one line for
each. Until somebody opens it nothing is kept; then it begins with what stands.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from presage.answers import Answer
from presage.model.terms import Number
from presage.receivers.told_lines import ToldLine
from presage.web.elsewhere import ToldDetails
from presage.web.replay import FASTEST, Replay, ReplayStep
from presage.web.server import application
from presage.web.stage import Stage, StagedRun

if TYPE_CHECKING:
    from presage.serve.running import Serving


class Page:
    """An application that begins to follow when it is first asked for."""

    def __init__(self, serving: Serving, hosts: list[str]) -> None:
        self.serving, self.hosts = serving, hosts
        self._begun = threading.Lock()
        self._inner: ASGIApp | None = None
        self._news = threading.Condition()
        self._pending: dict[str, Answer] = {}
        self._now: Number | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._inner is None:
            with self._begun:
                if self._inner is None:
                    self._inner = self._begin()
        await self._inner(scope, receive, send)

    def _begin(self) -> ASGIApp:
        replay = Replay(self._steps(), FASTEST)
        findings = self.serving.report.findings
        assert findings is not None
        details = ToldDetails(self.serving.pipeline.name, findings.watched)
        with self.serving.at_work:
            reasoner = self.serving.reasoning.reasoner
            if reasoner.now is not None:
                self._take(reasoner.now, list(reasoner.answers()))
            self.serving.reasoning.wants_answers = True
            self.serving.heard.append(self._hear)
        stage = Stage(StagedRun(replay, details))
        stage.start()
        replay.play()
        return application(stage, self.hosts, start_when_seen=False)

    def _hear(self, lines: list[ToldLine]) -> None:
        answers = [line.answer for line in lines if line.answer is not None]
        if answers:
            self._take(answers[-1].now, answers)

    def _take(self, now: Number, answers: list[Answer]) -> None:
        with self._news:
            self._now = now
            for answer in answers:
                self._pending[answer.answer] = answer
            self._news.notify_all()

    def _steps(self) -> Iterator[ReplayStep]:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._now is not None and bool(self._pending))
                found, self._pending = list(self._pending.values()), {}
                now = self._now
            assert now is not None
            measures = self.serving.measures
            yield ReplayStep(now, found, measures.facts, measures.late)
