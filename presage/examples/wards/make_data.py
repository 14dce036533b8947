"""Makes `facts.jsonl`: three weeks of tests on three wards. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
from pathlib import Path

TESTS = [(1, "ann", "east"), (3, "bob", "east"), (4, "cem", "east"), (7, "dora", "west"), (7, "eva", "north")]
LATER = [(9, "fay", "west"), (20, "gus", "east"), (21, "hal", "east")]
MOVES = [(5, "bob", "west")]
"""Bob takes something along."""


def facts() -> list[dict[str, object]]:
    found: list[dict[str, object]] = [
        *({"pred": "positive", "args": [who, ward], "time": day} for day, who, ward in TESTS + LATER),
        *({"pred": "moved", "args": [who, ward], "time": day} for day, who, ward in MOVES),
    ]
    return sorted(found, key=lambda fact: (fact["time"], fact["pred"], fact["args"]))


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("facts.jsonl").write_text("".join(lines), encoding="utf-8")
