"""Makes `day.jsonl`: eight turbines for a day. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

TURBINES = ("wt04", "wt07", "wt11", "wt19", "wt25", "wt31", "wt42", "wt56")
READINGS = 144
"""Ten minutes each: a day."""


def facts() -> list[dict[str, object]]:
    chance = random.Random(2)
    found: list[dict[str, object]] = []
    hot = dict.fromkeys(TURBINES, 0)
    for time in range(READINGS):
        for turbine in TURBINES:
            if hot[turbine] == 0 and chance.random() < 0.02:
                # A gust, mostly; now and then something that lasts.
                hot[turbine] = chance.choice((1, 1, 1, 2, 2, 3, 5))
            if chance.random() < 0.05:
                continue  # Radio silence.
            fact: dict[str, object] = {
                "pred": "temp",
                "args": [turbine, "high" if hot[turbine] else "low"],
                "time": time,
            }
            if chance.random() < 0.2:
                fact["arrives"] = time + 1
            found.append(fact)
            hot[turbine] = max(0, hot[turbine] - 1)
    return found


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("day.jsonl").write_text("".join(lines), encoding="utf-8")
