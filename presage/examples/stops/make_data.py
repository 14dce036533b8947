"""Makes `facts.jsonl`: vans in a town, five minutes. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

VANS = ("van3", "van7", "van8", "van12")
READINGS = 30


def facts() -> list[dict[str, object]]:
    chance = random.Random(11)
    found: list[dict[str, object]] = []
    standing = dict.fromkeys(VANS, 0)
    for time in range(READINGS):
        for van in VANS:
            if standing[van] == 0 and chance.random() < 0.12:
                # A red light, a delivery, or parking.
                standing[van] = chance.choice((1, 2, 2, 3, 4, 8))
            if standing[van]:
                standing[van] -= 1
                fact: dict[str, object] = {"pred": "speed", "args": [van, 0], "time": time}
            elif chance.random() < 0.05:
                fact = {"pred": "off_map", "args": [van], "time": time}
            else:
                fact = {"pred": "speed", "args": [van, 15 + chance.randrange(40)], "time": time}
            if chance.random() < 0.15:
                fact["arrives"] = time + 1
            found.append(fact)
    return found


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("facts.jsonl").write_text("".join(lines), encoding="utf-8")
