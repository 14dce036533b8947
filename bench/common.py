"""What every comparison needs: a clock, rows of a table, and the peers if they are installed.

Times are CPU seconds of the process, since a machine is seldom ours alone. A ratio compares two measurements of one
run; the absolute figures are for orientation.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parent.parent
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. `ratio` says how many times better we are, or how much something grows."""

    work: str
    ours: str
    other: str
    ratio: float | None
    note: str = ""


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    gc.collect()
    begin = time.process_time()
    result = work()
    return result, time.process_time() - begin


def best_of(count: int, work: Callable[[], Result]) -> tuple[Result, float]:
    """The result and the shortest time: what disturbs a measurement only makes it longer."""
    runs = [timed(work) for _ in range(count)]
    return runs[0][0], min(seconds for _, seconds in runs)


def subprocess_seconds(command: list[str]) -> float:
    """CPU seconds of a process and its children, from a cold start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def resident_bytes() -> int:
    """Memory of this process now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def peer(module: str) -> Any:
    """A peer's module, or `None` where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Peers tell of their rounds; nobody asked. Those that are compiled write past Python."""
    sys.stdout.flush()
    kept = os.dup(1)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(io.StringIO()):
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def missing(work: str, ours: str, name: str) -> Row:
    return Row(work, ours, f"{name} is not installed", None, "pip install 'presage-streams[bench]'")


def show(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("work", "ours", "other", "ratio", "note")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(*map(escape, (row.work, row.ours, row.other, ratio, row.note)))
    Console(width=None if sys.stdout.isatty() else 170).print(table)
