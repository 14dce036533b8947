"""Room for reasons that are nested deeply: a chain of them through time may be long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from presage.errors import PresageError

# The stack has room for several times as many frames as are allowed, so that what is too deep ends in a message.
_MOST_FRAMES = 400_000
_STACK_BYTES = 512 << 20

Result = TypeVar("Result")


def with_room(work: Callable[[], Result]) -> Result:
    """Runs something deeply nested on a stack that is large enough."""
    found: list[Result] = []
    failed: list[BaseException] = []

    def run_it() -> None:
        try:
            found.append(work())
        except RecursionError:
            failed.append(PresageError("the chain of reasons is too long to be laid out as a proof"))
        except BaseException as problem:
            failed.append(problem)

    frames, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(_MOST_FRAMES)
    try:
        thread = threading.Thread(target=run_it, daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
    if failed:
        raise failed[0]
    return found[0]
