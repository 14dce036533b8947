"""The papers' worked examples of hypothetical answers, tick by tick, through the command line.

`python tests/hypothetical/test_hypothetical_cases.py --update` writes the expectations anew; read the diff.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from presage.cli import main

CASES = Path(__file__).parent.parent / "cases" / "hypothetical"


def shown(line: dict) -> str:  # type: ignore[type-arg]
    """An answer line as a person would write it down."""
    ways = line.get("ways") or [line]
    parts = [f"{line['now']}: {line['status']} {line['answer']}"]
    for way in ways if line["status"] in ("possible", "confirmed") else ():
        text = f"    because {', '.join(way['because']) or 'nothing'}"
        if way["needs"]:
            text += f"; needs {', '.join(way['needs'])} by {way['decided_by']}"
        if way["unless"]:
            text += f"; unless {', '.join(way['unless'])}"
        parts.append(text)
    return "\n".join(parts)


def told(folder: Path, out: Path) -> str:
    until = folder / "until"
    limit = ["--until", until.read_text().strip()] if until.exists() else []
    words = [
        "run",
        str(folder / "program.psg"),
        "--facts",
        str(folder / "facts.jsonl"),
        "--out",
        str(out),
        "--everybody",
        *limit,
    ]
    assert main(words) == 0
    return "".join(shown(json.loads(line)) + "\n" for line in out.read_text().splitlines())


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_the_papers_examples(folder: Path, tmp_path: Path) -> None:
    assert told(folder, tmp_path / "out.jsonl") == (folder / "expected.txt").read_text()


if __name__ == "__main__" and "--update" in sys.argv:
    import tempfile

    for each in sorted(CASES.iterdir()):
        with tempfile.TemporaryDirectory() as place:
            (each / "expected.txt").write_text(told(each, Path(place) / "out.jsonl"))
