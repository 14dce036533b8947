"""What a run has to say of itself while it gets ready: once, to whoever asked to be told.

The command prints it on standard error, the live page shows it; from Python nobody is told anything unasked.
"""

from __future__ import annotations

from collections.abc import Callable

PREPARING = "preparing, once, about 10 s: compiling what this program needs"

_listeners: list[Callable[[str], None]] = []
_said: list[str] = []


def listen(tell: Callable[[str], None]) -> None:
    """From now on notices go there too; those that were given already go there at once."""
    _listeners.append(tell)
    for text in _said:
        tell(text)


def forget(tell: Callable[[str], None]) -> None:
    """Does not tell there any more."""
    if tell in _listeners:
        _listeners.remove(tell)


def give(text: str) -> None:
    """Tells everybody who listens, unless it was said before."""
    if text not in _said:
        _said.append(text)
        for tell in list(_listeners):
            tell(text)
