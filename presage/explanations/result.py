"""An explanation as users get it: what it says, field by field, as JSON, as text, as a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from presage.explanations.outline import Outline, in_a_row
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.showing import html_of

_WIDE = 160
"""How wide the tree of reasons may be where no terminal says so."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an answer holds, what it waits for, or what failed, as far as was known at a time."""

    line: dict[str, Any]
    """The object that `presage explain --json` prints."""
    outline: Outline
    """The same as a tree of lines with signs and times."""
    at: Number
    """The time of the look: what arrived later was not seen."""
    tone: str = ""
    """What the answer means to people: `good`, `bad` or nothing."""
    late: int = 0
    """So many facts had arrived too late and were left out."""
    label: Callable[[Number], str] = show_number
    """How times are written on the axis of a drawing."""

    @property
    def answer(self) -> str:
        return str(self.line["answer"])

    @property
    def status(self) -> str:
        """`confirmed`, `possible`, `unsupported`, `refuted`, `impossible` or `not entailed`."""
        return str(self.line["status"])

    @property
    def says(self) -> str:
        """All of it in one sentence."""
        return str(self.line.get("says") or self.outline.line)

    @property
    def because(self) -> tuple[str, ...]:
        """The facts and absences that a confirmed answer rests on."""
        return tuple(self.line.get("because") or ())

    @property
    def ways(self) -> tuple[dict[str, Any], ...]:
        """The ways in which an open answer may still come true."""
        return tuple(self.line.get("ways") or ())

    @property
    def failed(self) -> dict[str, Any] | None:
        """What failed, when and why, of an answer that can no longer come true."""
        found: dict[str, Any] | None = self.line.get("failed")
        return found

    @property
    def proof(self) -> dict[str, Any] | None:
        """The proof of a confirmed answer, as the checker has accepted it."""
        found: dict[str, Any] | None = self.line.get("proof")
        return found

    def to_json(self) -> dict[str, Any]:
        return self.line

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = _WIDE) -> str:
        """A tree of reasons and a time line, for people."""
        from rich.console import Console
        from rich.text import Text
        from rich.tree import Tree

        from presage.explanations.drawing import draw
        from presage.explanations.room import with_room

        def tree(outline: Outline) -> Tree:
            found = Tree(Text(outline.line))
            found.children.extend(tree(each) for each in in_a_row(outline.below))
            return found

        def printed() -> str:
            console = Console(highlight=False, width=width, color_system=None, force_terminal=False)
            with console.capture() as captured:
                console.print(tree(self.outline))
            return captured.get().rstrip("\n")

        drawing = draw(self.outline, self.at, self.label)
        # The console would wrap the lines of a drawing.
        return "\n".join([with_room(printed), *(("", *drawing) if drawing else ())])

    def _repr_html_(self) -> str:
        return html_of(self)

    def svg(self) -> str:
        """The reasons as a tree over a time axis."""
        from presage.explanations.svg import picture

        return picture(self.outline, self.at, self.tone, self.label)
