"""How things show themselves where HTML is shown: what they are made of does not know what shows them.

A class that can be shown asks here; whoever knows how to show it registers for it. The front door of the package says
where presenters are, and they are imported when something is shown for the first time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_presenters: dict[type, Callable[[Any], str]] = {}
_waiting: list[Callable[[], object]] = []


def register(kind: type, present: Callable[[Any], str]) -> None:
    """Things of a class, and of those below it, are shown so."""
    _presenters[kind] = present


def before_the_first(prepare: Callable[[], object]) -> None:
    """What is to be done before anything is shown: presenters are imported then, and register themselves."""
    _waiting.append(prepare)


def html_of(thing: object) -> str:
    while _waiting:
        _waiting.pop()()
    return next(_presenters[kind] for kind in type(thing).__mro__ if kind in _presenters)(thing)
