"""Makes `morning.jsonl`: an hour of three tram lines. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

MINUTES = 60
STOPS = {"a1": ("b", 4), "a2": ("g", 5), "a3": ("h", 7)}
"""The stop at which each tram is seen, and the minute of its first round; a round takes 15 minutes."""


def facts() -> list[dict[str, object]]:
    chance = random.Random(4)
    found: list[dict[str, object]] = []
    for tram, (stop, first) in STOPS.items():
        for round_starts in range(first, MINUTES, 15):
            time = round_starts + chance.randrange(4)
            found.append({"pred": "tram", "args": [tram, stop], "time": time})
            if tram == "a3":
                # A passenger gets on and asks where to change.
                found.append({"pred": "on", "args": [tram], "time": time + 2})
    found.append({"pred": "jam", "args": ["g"], "time": 31})
    return sorted(found, key=lambda fact: int(str(fact["time"])))


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("morning.jsonl").write_text("".join(lines), encoding="utf-8")
