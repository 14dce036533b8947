"""What the editor in the page asks while somebody types: what is wrong, and which names there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from presage.checking import Report, check_text
from presage.errors import Diagnostic, Source, as_json
from presage.parser.including import Folder
from presage.syntax import COLUMN_TYPES, KEYWORDS, STATEMENTS

LONGEST_PROGRAM = 500_000
MOST_PROBLEMS = 50


def words() -> dict[str, list[str]]:
    """The words of the language, for colours and completion."""
    return {"statements": sorted(STATEMENTS), "keywords": sorted(KEYWORDS), "types": list(COLUMN_TYPES)}


def looked_at(source: str, name: str) -> dict[str, Any]:
    """The problems of a text with their places, and its predicates."""
    report = check_text(source, name, folder=Folder(Path(name).parent, only_below=True))
    return {
        "ok": report.ok,
        "problems": [_problem(report.source, each) for each in report.problems[:MOST_PROBLEMS]],
        "more": max(0, len(report.problems) - MOST_PROBLEMS),
        "predicates": predicates(report),
    }


def predicates(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "kind": each.kind,
            "columns": [column.name for column in each.columns] or [""] * each.arity,
        }
        for name, each in sorted(report.predicates.items())
        if "#" not in name
    ]


def _problem(source: Source, found: Diagnostic) -> dict[str, Any]:
    """The problem as `presage check --json` has it, with its place in the text and the line it stands in."""
    start = found.span.start
    place: dict[str, Any] = {"start": None, "end": None, "text": ""}
    if start >= 0:
        # Places are counted as browsers count them, in UTF-16.
        begin = _utf16(source.text[:start])
        place = {
            "start": begin,
            "end": begin + max(1, _utf16(source.text[start : max(start, found.span.end)])),
            "text": source.line_at(start)[:500],
        }
    return {**as_json(source, found), **place}


def _utf16(text: str) -> int:
    return len(text) + sum(ord(sign) > 0xFFFF for sign in text)
