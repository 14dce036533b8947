"""The run that is on a page, and how another takes its place: from the start, or with other rules.

Pages stay open while runs come and go. `turn` counts the runs, so that a page notices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from presage.errors import PresageError
from presage.web.details import Describing
from presage.web.replay import Replay
from presage.web.story import Story


@dataclass(frozen=True, slots=True)
class StagedRun:
    """Steps on a clock, and what can be said about their answers."""

    replay: Replay
    details: Describing


class Stage:
    """Holds the run that is on. `begin` makes another from a program's text, or from the text as it was."""

    def __init__(
        self,
        run: StagedRun,
        begin: Callable[[str | None], StagedRun] | None = None,
        story: Story | None = None,
        *,
        editable: bool = False,
        home: str = "",
    ) -> None:
        """`home` is where the list of examples is, seen from the page."""
        self.run, self._begin = run, begin
        self.story = story or Story()
        self.editable, self.home = editable and begin is not None, home
        self.turn = 0
        self.closed = False
        self._changing = threading.Lock()

    @property
    def can_begin_again(self) -> bool:
        return self._begin is not None

    def start(self) -> None:
        """Lets the run's steps be worked off, in a thread of their own."""
        threading.Thread(target=self.run.replay.run, name="replay", daemon=True).start()

    def again(self, source: str | None = None, go_on: bool = False) -> None:
        """From the start, with the same rules or others; to `go_on`, it first catches up with where the run stands,
        as if these had been the rules all along. What is wrong with them is raised, and the run goes on as it was."""
        if self._begin is None or (source is not None and not self.editable):
            raise PresageError("this run cannot be begun again from here")
        with self._changing:
            run = self._begin(source)
            before, self.run = self.run, run
            self.turn += 1
            before.replay.close()
            run.replay.set_speed(before.replay.speed)
            if go_on:
                run.replay.catch_up(before.replay.board.summary.now, then_stand=before.replay.paused)
            self.start()
            if not (go_on and before.replay.paused):
                run.replay.play()

    def close(self) -> None:
        self.closed = True
        self.run.replay.close()
