"""Makes `facts.jsonl`: half an hour of belt temperatures. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

MINUTES = 30
HOT_SPELLS = {"b1": [(6, 14), (20, 24)], "b2": [(17, 19)], "b3": [(10, 21)]}
"""When something rubs, and a belt runs hot."""


def facts() -> list[dict[str, object]]:
    chance = random.Random(3)
    found: list[dict[str, object]] = []
    for minute in range(MINUTES):
        for belt, spells in HOT_SPELLS.items():
            hot = any(begin <= minute < end for begin, end in spells)
            celsius = 70 + chance.randrange(15) if hot else 45 + chance.randrange(20)
            found.append({"pred": "temperature", "args": [belt, celsius], "time": minute})
    return found


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("facts.jsonl").write_text("".join(lines), encoding="utf-8")
