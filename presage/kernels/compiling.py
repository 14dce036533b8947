"""When kernels are compiled: not before there is work for which the compiler is worth waiting for.

Loading numba and what it has compiled before costs more than half a second, and compiling for the first time ten. A
kernel is an ordinary function of numbers in memory, so that Python can run it as it stands: slowly, but three facts, a
case of a test or a line at a prompt are done before numba would be there. Up to `ENOUGH` pieces of work a process does
that; then all kernels are compiled, or found compiled, and stay so.

A compiled kernel has names of its own: a copy of its module's, in which other kernels are compiled ones. A kernel that
is being run by Python when it becomes too much goes on so until it returns, and so does all it calls. That is soon:
kernels run out of room, and their callers give them twice as much at a time.

PRESAGE_KERNELS=compiled compiles from the start, PRESAGE_KERNELS=python never, a number says how much is enough.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

ENOUGH = 40_000
"""Calls of kernels by each other, and 64 items each of the arrays they are given from outside: half a second or so."""
LARGE = 1 << 16
"""An array with more items is never walked along by Python."""


class _Work:
    """What this process may still do without the compiler."""

    def __init__(self) -> None:
        wish = os.environ.get("PRESAGE_KERNELS", "")
        self.left: float = {"compiled": 0, "python": math.inf}.get(wish, int(wish) if wish.isdigit() else ENOUGH)


class _Calls(threading.local):
    """Whether a thread is inside a kernel that Python runs."""

    depth = 0


_work = _Work()
_calls = _Calls()
_lock = threading.RLock()


class Kernel:
    """A function that is run by Python until there is enough to do, and compiled from then on."""

    def __init__(
        self,
        function: FunctionType,
        inline: bool = False,
        signature: Callable[[], Any] | None = None,
        counts: bool = True,
    ) -> None:
        self.function = function
        self._inline = inline
        self._counts = counts
        self._signature = signature
        self._compiled: Any = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __call__(self, *arguments: Any) -> Any:
        if _calls.depth:
            # Part of what Python runs: its numbers have kinds, which compiled kernels do not give back.
            _work.left -= 1
            return self.function(*arguments)
        if self._compiled is not None:
            return self._compiled(*arguments)
        for given in arguments:
            if isinstance(given, np.ndarray):
                _work.left -= given.size >> 6 if given.size < LARGE else ENOUGH
        if _work.left <= 0:
            return self.compiled()(*arguments)
        _work.left -= 1
        _calls.depth = 1
        try:
            with np.errstate(over="ignore"):
                return _as_compiled(self.function(*arguments))
        finally:
            _calls.depth = 0

    def compiled(self) -> Any:
        """What numba makes of it."""
        with _lock:
            if self._compiled is None:
                import numba

                from presage.kernels.keeping import prepare

                prepare()
                function = self.function
                names = dict(function.__globals__)
                for name in function.__code__.co_names:
                    if isinstance(used := names.get(name), Kernel | Access):
                        names[name] = used.compiled()
                copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
                copy.__qualname__ = function.__qualname__
                asked: dict[str, Any] = {"cache": True, "inline": "always" if self._inline else "never"}
                if not self._counts:
                    asked["_nrt"] = False
                if self._signature is not None:
                    asked["signature_or_function"] = self._signature()
                self._compiled = numba.njit(**asked)(copy)
            return self._compiled


def _as_compiled(result: Any) -> Any:
    """Compiled kernels give numbers of Python."""
    if isinstance(result, np.generic):
        return result.item()
    return tuple(_as_compiled(part) for part in result) if isinstance(result, tuple) else result


class Access:
    """A number in memory, at a place after an address: by ctypes, or by an instruction where it is compiled."""

    def __init__(self, function: Callable[..., Any], generate: Callable[[], Any]) -> None:
        self._function = function
        self._generate = generate
        self._compiled: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def compiled(self) -> Any:
        if self._compiled is None:
            self._compiled = self._generate()
        return self._compiled


def kernel(function: Any) -> Kernel:
    return Kernel(function)


def inlined(function: Any) -> Kernel:
    """A kernel that becomes part of those that call it."""
    return Kernel(function, inline=True)


def uncounted(function: Any) -> Kernel:
    """A kernel that makes no arrays, and so need not count who uses those it is given: where many are parts of tuples,
    counting takes ten times as long as what is done with them."""
    return Kernel(function, counts=False)


def typed(signature: Callable[[], Any]) -> Callable[[Any], Kernel]:
    """A kernel for one kind of arguments: others must not get there."""
    return lambda function: Kernel(function, signature=signature)


def compile_from_now_on() -> None:
    """For processes that will have much to do, and had better wait in the beginning."""
    if _work.left != math.inf:
        _work.left = 0
