"""Problems that are only the echo of another: what follows from a statement that could not be read."""

from __future__ import annotations

from presage.errors import Diagnostic

# What would only be an echo of a statement that could not be read, by that statement's first word.
_ECHOES = {
    "tick": {"D107", "T102"},
    "timeline": {"T101", "T102"},
    "static": {"T103", "D106"},
    "start": {"T104"},
    "param": {"D109"},
    "include": {"D107", "D109", "T102", "T103", "T104"},
}
_ECHOES_OF_ANY = {"D105", "N102", "T101"}


def without_echoes(problems: list[Diagnostic], unread: frozenset[str]) -> list[Diagnostic]:
    if not unread:
        return problems
    echoes = _ECHOES_OF_ANY.union(*(_ECHOES.get(word, set()) for word in unread))
    return [each for each in problems if each.code not in echoes]
