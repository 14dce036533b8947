"""Makes `facts.jsonl`: a morning on a ward. `python make_data.py` writes it anew, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

PATIENTS = ("adler", "bruun", "costa", "demir", "eriks", "fonte", "gruber", "hansen")
LAST = 36


def facts() -> list[dict[str, object]]:
    chance = random.Random(7)
    found: list[dict[str, object]] = []
    for patient in PATIENTS:
        time = chance.randrange(2, 12)
        while time < LAST:
            found.append({"pred": "fever", "args": [patient], "time": time})
            level = "high" if chance.random() < 0.55 else "normal"
            drawn = time + 1
            found.append(
                {"pred": "lactate", "args": [patient, level], "time": drawn, "arrives": drawn + chance.randrange(4)}
            )
            if level == "high" and chance.random() < 0.6:
                given = time + 2 + chance.randrange(3)
                note = {"pred": "antibiotic", "args": [patient], "time": given, "arrives": given + chance.randrange(2)}
                found.append(note)
            time += chance.randrange(9, 30)
    return sorted(found, key=lambda fact: (int(str(fact.get("arrives", fact["time"]))), str(fact["args"])))


if __name__ == "__main__":
    lines = [json.dumps(fact) + "\n" for fact in facts()]
    Path(__file__).with_name("facts.jsonl").write_text("".join(lines), encoding="utf-8")
