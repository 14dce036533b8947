"""Makes `shift.jsonl`: two hours of machines that report. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

MINUTES = 120
SILENT = {"press": [(33, 41), (90, 93)], "lathe": [(60, 75)], "robot": [(20, 26), (101, 120)]}
"""When a machine says nothing, whatever the reason."""
SWITCHED_OFF = {"lathe": 59}


def facts() -> list[dict[str, object]]:
    chance = random.Random(6)
    found: list[dict[str, object]] = []
    for machine, spells in SILENT.items():
        for minute in range(MINUTES):
            if any(begin <= minute < end for begin, end in spells) or minute == SWITCHED_OFF.get(machine):
                continue
            fact: dict[str, object] = {"pred": "beat", "args": [machine], "time": minute}
            if chance.random() < 0.1:
                fact["arrives"] = minute + 1
            found.append(fact)
    found.extend({"pred": "stopped", "args": [machine], "time": minute} for machine, minute in SWITCHED_OFF.items())
    return sorted(found, key=lambda fact: (int(str(fact["time"])), str(fact["args"])))


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("shift.jsonl").write_text("".join(lines), encoding="utf-8")
