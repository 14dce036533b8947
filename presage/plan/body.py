"""What a join is made of, while a body is read."""

from __future__ import annotations

from presage.model.formulas import Comparison
from presage.model.terms import Number
from presage.plan.nodes import Literal


class Body:
    def __init__(self) -> None:
        self.literals: list[Literal] = []
        self.negated: list[Literal] = []
        self.comparisons: list[Comparison] = []
        self.least: Number | None = None
        self.impossible = False
        """Whether it can be told now that it never holds."""

    @classmethod
    def never(cls) -> Body:
        body = cls()
        body.impossible = True
        return body

    def not_before(self, least: Number) -> None:
        """A pinned time must be on the timeline: the rule's own time is at least this."""
        self.least = least if self.least is None else max(self.least, least)
