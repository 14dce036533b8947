"""An order of evidence and premises, whichever came first: by what they say, not by how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from presage.patterns.literals import Open


def rank(value: Any) -> tuple[Any, ...]:
    """Texts, then numbers, then what is open."""
    if isinstance(value, str):
        return 0, value
    if isinstance(value, Open):
        return 2, value.name, value.offset
    return 1, value


def ranks(arguments: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(rank, arguments))


def evidence_rank(evidence: tuple[str, tuple[Any, ...], Any]) -> tuple[Any, ...]:
    """The latest first, which matters longest. When it was is asked before what it is called: whoever knows times as
    symbols knows no order of names."""
    name, arguments, times = evidence
    return name, tuple((-at, -after) for at, after in (times.first, times.last)), ranks(arguments)


def evidence_ranks(because: Iterable[tuple[str, tuple[Any, ...], Any]]) -> list[tuple[Any, ...]]:
    return sorted(map(evidence_rank, because))
