"""How well learned confidence is calibrated: `python -m bench.calibration`.

Streams with rates and delays that the program does not know; with drift they turn round in the middle. Each possible
answer is told with a confidence while it is open; whether it came true is known later. Printed is the reliability curve
over all that was told after the first quarter of each stream: for each tenth of confidence how many lines had it, what
was said on average, and how many came true; and the expected calibration error, the mean distance between the two.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import presage

BOUND = 6
PROGRAM = f"""timeline discrete.
input a(x) delay {BOUND} learned rate learned.
input b(x) delay {BOUND} learned rate learned.
both(X) :- a(X), b(X).
query both(X).
"""
INDIVIDUALS = {"u": (0.7, 0.6), "v": (0.3, 0.8), "w": (0.5, 0.2)}


def stream(seed: int, length: int, drifts: bool) -> dict[int, list[tuple[str, tuple[str], int]]]:
    """Facts by arrival. Delays are mostly short; half-way the rates of a stream that drifts turn round."""
    chance = random.Random(seed)
    found: dict[int, list[tuple[str, tuple[str], int]]] = {}
    for time in range(length):
        for name, rates in INDIVIDUALS.items():
            for predicate, rate in zip("ab", rates, strict=True):
                if chance.random() < (1 - rate if drifts and time >= length // 2 else rate):
                    late = min(BOUND, int(chance.expovariate(0.7)))
                    found.setdefault(time + late, []).append((predicate, (name,), time))
    return found


def told(seed: int, length: int, drifts: bool) -> Iterator[tuple[float, bool]]:
    """Each open answer's confidence, at the steps at which it was told, and what became of it."""
    reasoner = presage.Reasoner(presage.parse(PROGRAM), emit="changes")
    arriving = stream(seed, length, drifts)
    said: dict[str, list[float]] = {}
    for now in range(length + BOUND + 1):
        for answer in reasoner.push(arriving.get(now, []), now=now):
            if answer.status == "possible" and answer.confidence is not None and now > length // 4:
                said.setdefault(answer.answer, []).append(answer.confidence)
            elif answer.status in ("confirmed", "refuted"):
                for each in said.pop(answer.answer, ()):
                    yield each, answer.status == "confirmed"


def curve(pairs: list[tuple[float, bool]]) -> tuple[list[tuple[int, float, float]], float]:
    """For each tenth its count, what was said and what came true; and the expected calibration error."""
    rows, error = [], 0.0
    for tenth in range(10):
        own = [(said, true) for said, true in pairs if min(9, int(said * 10)) == tenth]
        if own:
            mean = sum(said for said, _ in own) / len(own)
            true = sum(true for _, true in own) / len(own)
            rows.append((len(own), mean, true))
            error += abs(mean - true) * len(own) / len(pairs)
    return rows, error


def measured(drifts: bool, seeds: range = range(4), length: int = 1500) -> tuple[list[tuple[int, float, float]], float]:
    return curve([pair for seed in seeds for pair in told(seed, length, drifts)])


def main() -> None:
    for drifts in (False, True):
        rows, error = measured(drifts)
        print(f"{'with' if drifts else 'without'} drift: expected calibration error {error:.3f}")
        for count, said, true in rows:
            print(f"  {count:6d} answers  said {said:.2f}  came true {true:.2f}")


if __name__ == "__main__":
    main()
