"""Makes `facts.jsonl`: a network and a minute of signals. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

STATIONS = ("hill", "mast", "quay", "roof", "tower", "yard")
LAST = 60


def facts() -> list[dict[str, object]]:
    chance = random.Random(5)
    found: list[dict[str, object]] = []
    for station, other in zip(STATIONS[1:], STATIONS, strict=False):
        found.append({"pred": "link", "args": [station, other], "from": 0, "to": LAST})
    found.append({"pred": "listens", "args": ["hill", "beacon"], "from": 0, "to": 30})
    found.append({"pred": "listens", "args": ["quay", "drone"], "from": 20, "to": 50})
    for name, spells in {"beacon": [(3, 17), (30, 41)], "drone": [(24, 29), (36, 52)]}.items():
        for begin, end in spells:
            halves = begin * 2
            while halves < end * 2:
                found.append({"pred": "signal", "args": [name], "time": halves / 2})
                halves += 1 + chance.randrange(3)
    return sorted(found, key=lambda fact: float(str(fact.get("time", fact.get("from")))))


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("facts.jsonl").write_text("".join(lines), encoding="utf-8")
