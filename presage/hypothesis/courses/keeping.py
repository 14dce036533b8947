"""Lessons on disk, so that the next process need not work out again what this one has.

One file for each program and each state of this package's sources, below the user's cache folder, under a seal. If
anything is wrong with it, it is passed over: nothing but time is lost. Where the folder cannot be written to, nothing
is kept, and nothing either with PRESAGE_LESSONS=off.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from presage.errors import PresageError
from presage.hypothesis.courses.answer_templates import Template, WorkedOut
from presage.hypothesis.courses.chances import Chance
from presage.hypothesis.courses.lessons import Lessons, Situation, all_lessons
from presage.hypothesis.courses.shapes import ArrivingFact, CourseShape, Focus, Ref, Remembered, ShapeCut, ToldOf
from presage.hypothesis.courses.symbolic import Sum, SymbolCondition
from presage.hypothesis.courses.tracing import Anchor, Spawn, TracedStep
from presage.hypothesis.ranges.confidence import Factor
from presage.sealed import opened, sealed

KIND, FORMAT = "lessons", 1
WORTH = 20
"""So few new steps are not worth a file."""
MOST_FILES = 200
TUPLE, LIST, MAPPING, FRACTION = -1, -2, -3, -4
"""What the first item of a list in JSON says it is; others are places among `PARTS`."""
PARTS: tuple[type[Any], ...] = (
    Situation, TracedStep, Template, Spawn, Anchor, CourseShape, Remembered, ToldOf, Focus, ArrivingFact, Ref, ShapeCut,
    Sum, SymbolCondition, Chance, Factor, WorkedOut,
)  # fmt: skip
_place_of = {part: place for place, part in enumerate(PARTS)}


_registered: list[bool] = []


def keep(lessons: Lessons, mark: str) -> None:
    """Writes them down, where somebody has learned much since they were; the rest when the process ends."""
    new = lessons.size - lessons.kept
    if new < WORTH:
        return
    if not _registered:
        _registered.append(True)
        atexit.register(_keep_the_rest)
    if 4 * new >= lessons.size:
        _write(lessons, mark)


def _keep_the_rest() -> None:
    for mark, lessons in all_lessons():
        if lessons.size - lessons.kept >= WORTH:
            _write(lessons, mark)


def _write(lessons: Lessons, mark: str) -> None:
    lessons.kept = lessons.size
    place = _place(mark)
    if place is None:
        return
    said = [[_written(situation), _written(steps)] for situation, steps in list(lessons.known.items())]
    content = json.dumps([said, [_written(each) for each in list(lessons.hopeless)]], separators=(",", ":"))
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Whole under its name, and beside it until then: others may write or read at the same time.
        beside = place.with_name(f"{place.name}.{os.getpid()}")
        try:
            beside.write_bytes(sealed(KIND, FORMAT, content.encode("utf-8", "surrogatepass")))
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
        _forget_oldest(place.parent)


def recall(lessons: Lessons, mark: str) -> None:
    """Adds what was written down, unless something is known already."""
    place = _place(mark)
    if place is None or lessons.size:
        return
    with contextlib.suppress(OSError, PresageError, ValueError, TypeError, IndexError, KeyError):
        _, content = opened(KIND, range(FORMAT, FORMAT + 1), place.read_bytes(), "what was learned")
        said, hopeless = json.loads(content.decode("utf-8", "surrogatepass"))
        known = {_read(situation): _read(steps) for situation, steps in said}
        lessons.hopeless.update(_read(each) for each in hopeless)
        lessons.known.update(known)
        lessons.size = lessons.kept = sum(map(len, known.values()))


def _place(mark: str) -> Path | None:
    if os.environ.get("PRESAGE_LESSONS") == "off":
        return None
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    except RuntimeError:
        return None
    name = hashlib.sha256(f"{_sources()}\n{mark}".encode("utf-8", "surrogatepass")).hexdigest()
    return folder / "presage-lessons" / name if folder.is_absolute() else None


@cache
def _sources() -> str:
    """The state of this package's sources: lessons follow from them, too."""
    root = Path(__file__).parents[2]
    stats = sorted((str(each.relative_to(root)), each.stat()) for each in root.rglob("*.py"))
    return str([(name, stat.st_mtime_ns, stat.st_size) for name, stat in stats])


def _forget_oldest(folder: Path) -> None:
    found = sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime)
    for each in found[:-MOST_FILES]:
        each.unlink(missing_ok=True)


def _written(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (str, int, bool, float):
        return value
    if kind is tuple or kind is list:
        return [TUPLE if kind is tuple else LIST, *map(_written, value)]
    if kind is dict:
        return [MAPPING, *([name, _written(each)] for name, each in value.items())]
    if kind is Fraction:
        return [FRACTION, value.numerator, value.denominator]
    parts: Iterable[Any] = value
    if is_dataclass(value):
        parts = [getattr(value, each.name) for each in fields(value)]
    return [_place_of[kind], *map(_written, parts)]


def _read(said: Any) -> Any:
    if not isinstance(said, list):
        return said
    kind, *parts = said
    if kind == MAPPING:
        return {name: _read(each) for name, each in parts}
    if kind == FRACTION:
        return Fraction(*parts)
    found = map(_read, parts)
    return tuple(found) if kind == TUPLE else list(found) if kind == LIST else PARTS[kind](*found)
