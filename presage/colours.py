"""The colours of answers, once: page, terminal, notebook and pictures take them from here.

What is confirmed is strong, what is possible lively, what is refuted fades. The hue says what an answer means to
people, which only they know: a query may be called `bad` or `good`, and without a word it is neither. Every status
also has a shape of its own, so that nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from presage.answers import Answer, shown_name
from presage.model.statements import Query
from presage.model.terms import Constant

TONES: Final = ("plain", "bad", "good")

LIGHT: Final[dict[str, str]] = {
    "plain-confirmed": "#1b3a6b", "plain-possible": "#2463eb",
    "bad-confirmed": "#a3161a", "bad-possible": "#c2500a",
    "good-confirmed": "#0f5f38", "good-possible": "#0a7f62",
    "unsupported": "#6d6790", "refuted": "#71777f", "wrong": "#b3261e",
}  # fmt: skip
"""On white. Refuted and unsupported answers look alike whatever they mean; `wrong` is for messages, not for answers."""
DARK: Final[dict[str, str]] = {
    "plain-confirmed": "#a8c7ff", "plain-possible": "#5b97f7",
    "bad-confirmed": "#ff6b63", "bad-possible": "#ffb059",
    "good-confirmed": "#5fe09a", "good-possible": "#4fd0c0",
    "unsupported": "#aaa3d0", "refuted": "#8a9099", "wrong": "#ff8a80",
}  # fmt: skip

_TERMINAL: Final = {
    "plain-confirmed": "bold bright_blue", "plain-possible": "blue",
    "bad-confirmed": "bold red", "bad-possible": "yellow",
    "good-confirmed": "bold green", "good-possible": "cyan",
    "unsupported": "magenta", "refuted": "dim", "inconsistent": "bold red",
}  # fmt: skip


def name_of(status: str, tone: str = "") -> str:
    """Under which name the colour of a status stands in the tables. What holds is as certain as what is confirmed."""
    shown = "confirmed" if status == "holds" else "wrong" if status == "inconsistent" else status
    return f"{tone or 'plain'}-{shown}" if shown in ("confirmed", "possible") else shown


def terminal_style(status: str, tone: str = "") -> str:
    """How a status looks in a terminal, as rich names it."""
    return _TERMINAL.get(status) or _TERMINAL.get(name_of(status, tone), "default")


def variables(prefix: str, table: dict[str, str]) -> str:
    """A table as declarations of CSS."""
    return ";".join(f"--{prefix}{name}:{colour}" for name, colour in table.items())


def tone_of(query: Query) -> str:
    """`bad`, `good` or neither. A broken constraint is bad without a word."""
    if shown_name(query.atom.predicate) != query.atom.predicate:
        return "bad"
    return query.tone or ""


def tone_for(queries: Iterable[Query], answer: Answer) -> str:
    """What an answer means: what the first query says that asks for it."""
    for query in queries:
        asked = query.atom.arguments
        if shown_name(query.atom.predicate) == answer.predicate and len(asked) == len(answer.arguments):
            pairs = zip(asked, answer.arguments, strict=True)
            if all(not isinstance(term, Constant) or term.value == value for term, value in pairs):
                return tone_of(query)
    return ""
