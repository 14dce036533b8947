"""Lists of premises as people read them: one atom at many times in a row is one line, from the first to the last.

`historically[0,2h] not delivered(P)` with a tick of a minute needs 121 absences; nobody reads them one by one. JSON has
them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LEAST = 6
"""So many times in a row are one line; of fewer each is worth seeing."""
_AT_A_TIME = re.compile(r"(.*)@(-?\d+)", re.DOTALL)


def series(keys: Sequence[tuple[object, int] | None]) -> list[list[int]]:
    """The places of things that are the same at one whole-number time after the other, in the order
    of their firsts; `None` is alone."""
    found: list[list[int]] = []
    last: dict[object, tuple[int, list[int]]] = {}
    for place, key in enumerate(keys):
        if key is not None:
            what, time = key
            before = last.get(what)
            if before is not None and before[0] + 1 == time:
                before[1].append(place)
                last[what] = (time, before[1])
                continue
        found.append([place])
        if key is not None:
            last[key[0]] = (key[1], found[-1])
    return sorted(part for each in found for part in ([each] if len(each) >= LEAST else [[place] for place in each]))


def in_series(texts: Sequence[str], shown: Sequence[str] | None = None) -> list[str]:
    """The lines for premises in canonical text; `shown` is how each of them is shown by itself."""
    said = texts if shown is None else shown
    parts = series([(found[1], int(found[2])) if (found := _AT_A_TIME.fullmatch(each)) else None for each in texts])
    return [until(said[part[0]], said[part[-1]]) for part in parts]


def until(first: str, last: str) -> str:
    """From the first of several to the last, which only differ in their times."""
    return first if first == last else f"{first} … {last.rsplit('@', 1)[-1]}"
