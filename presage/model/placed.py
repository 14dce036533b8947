"""What stands somewhere in a text: the base of all that programs are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from presage.errors import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Placed:
    """Where it stood (`span`) is no part of what it says: two that say the same are equal."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
