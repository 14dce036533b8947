"""Numbers as people write them in tables: a comma before the decimals and points between thousands, or the reverse."""

from __future__ import annotations

import re
from collections.abc import Sequence

PLAIN = re.compile(r"-?(0|[1-9]\d{0,30})(\.\d{1,30})?")
"""As programs write them; `007` is a name."""
_FORMS = {
    ",": re.compile(r"-?(0|[1-9]\d{0,2}(\.\d{3}){0,9}|[1-9]\d{0,30})(,\d{1,30})?"),
    ".": re.compile(r"-?(0|[1-9]\d{0,2}(,\d{3}){0,9}|[1-9]\d{0,30})(\.\d{1,30})?"),
}
DECIMAL_SIGNS = tuple(_FORMS)


def plain(cell: str, decimal: str) -> str:
    """A number as programs write it, `decimal` being what stands before its decimals; what is none stays as it is."""
    if decimal and _FORMS[decimal].fullmatch(cell.strip()):
        return cell.strip().replace("." if decimal == "," else ",", "").replace(decimal, ".")
    return cell


def decimal_sign(columns: Sequence[Sequence[str]]) -> str:
    """What stands before the decimals of a table's numbers where that need be said, or nothing."""
    found = set()
    for cells in columns:
        if any("," in cell for cell in cells):
            # 1,234 in all cells is a thousand and more: three digits each time are no accident.
            found |= set([sign for sign in (".", ",") if all(map(_FORMS[sign].fullmatch, cells))][:1])
    return next((sign for sign in DECIMAL_SIGNS if sign in found), "")
