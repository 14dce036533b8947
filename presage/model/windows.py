"""Windows: which part of the stream a formula may see ([LARS] Definitions 3 to 5, and filters)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from presage.model.placed import Placed
from presage.model.time import Quantity

if TYPE_CHECKING:
    from presage.model.formulas import Atom


@dataclass(frozen=True, slots=True)
class TimeWindow(Placed):
    """From `back` before to `ahead` after the pivot; `None` is infinity. With `hop` d the pivot is
    the last multiple of d, otherwise the time at which the formula is looked at."""

    back: Quantity | None
    ahead: Quantity | None = 0
    hop: Quantity | None = None


@dataclass(frozen=True, slots=True)
class RowsWindow(Placed):
    """The last `rows` facts and the next `ahead`; with patterns, so many for each partition."""

    rows: int
    ahead: int = 0
    by: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class OnlyWindow(Placed):
    """The facts that match one of the patterns; the timeline stays."""

    patterns: tuple[Atom, ...]


Window = Union[TimeWindow, RowsWindow, OnlyWindow]
