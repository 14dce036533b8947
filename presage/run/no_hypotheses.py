"""What is said of programs without hypothetical answers."""

from __future__ import annotations

from typing import Any

from presage.errors import PresageError
from presage.patterns.finish import NoPatterns


class NoHypotheses(PresageError):
    """A program without hypothetical answers; `reason` says why."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}; ask for confirmed answers only (`--emit confirmed`)")
        self.reason = reason


def no_patterns(subject: Any, found: NoPatterns) -> NoHypotheses:
    lines = "".join(f" ({subject.place(rule)})" for rule in found.rules)
    reason = f"the queries have no finite set of premise patterns: {found.reason}{lines}"
    return NoHypotheses(subject.program.source.name, reason)
