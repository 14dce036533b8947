"""Writes `docs/reference/support.md` from `docs/constructs.py`: `python docs/support_reference.py`.

A test fails where the page is not up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from docs.constructs import CONSTRUCTS, ENGINES, Construct, by_evidence, gap  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "support.md"
HEAD = """\
# What runs where

<!-- Written by docs/support_reference.py; do not edit. -->

Every construct of the language, and what takes it: `--emit confirmed`, hypothetical answers (`--emit changes`),
`presage explain`, and Spark. Where there is no ✓, the reason stands below the table; a query without hypothetical
answers is told as confirmed beside the others. `by evidence`: `presage explain` gives the evidence of an answer in
place of a proof. Spark runs the engine that `presage run` does, so that its columns are those of `confirmed`.
`presage check` says the same of a program.
"""


def reference() -> str:
    return "\n".join([HEAD, *_lines()]).rstrip() + "\n"


def _lines() -> Iterator[str]:
    for group in dict.fromkeys(each.group for each in CONSTRUCTS):
        here = [each for each in CONSTRUCTS if each.group == group]
        notes = list(dict.fromkeys(words for each in here for engine in ENGINES if (words := gap(each, engine))))
        yield f"## {group}\n"
        yield "| construct | such as | " + " | ".join(ENGINES) + " |"
        yield "|---|---|" + "---|" * len(ENGINES)
        for each in here:
            cells = [_cell(each, engine, notes) for engine in ENGINES]
            rule = each.rules.replace("|", "\\|")
            yield f"| {each.name} | `{rule}` | " + " | ".join(cells) + " |"
        yield ""
        for number, words in enumerate(notes, 1):
            yield f"({number}) {words}  "
        if notes:
            yield ""


def _cell(each: Construct, engine: str, notes: list[str]) -> str:
    words = gap(each, engine)
    if words:
        return f"({notes.index(words) + 1})"
    return "by evidence" if engine == "explained" and by_evidence(each) else "✓"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
