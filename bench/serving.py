"""`presage serve` under load: facts a second over HTTP with the log on, and how soon a fact is answered.

    python -m bench.serving [--facts N] [--size N]

Messages of so many JSON lines go to turbines, several at a time; the rate counts until the last line is in the file.
Then single facts come at less than 1,000 a second, and the time from the last byte of a request to the line in the file
is taken.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import tempfile
import threading
import time
from pathlib import Path

from tests.serving import LINES, LISTENING, Served

PROGRAM = """
timeline discrete.
input temp(device, level) delay 1.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.
malf(X)@T-2 :- shdn(X)@T.
query malf(X).
"""
DEVICES = 10_000


def messages(facts: int, size: int, share: float) -> list[bytes]:
    """Readings of all devices, one after the other, a tick after a tick; a share of them is high."""
    chance = random.Random(1)
    lines = []
    for number in range(facts):
        tick, device = divmod(number, DEVICES)
        level = "high" if chance.random() < share else "normal"
        lines.append(f'{{"pred": "temp", "args": ["wt{device}", "{level}"], "time": {tick}}}')
    found = ["\n".join(lines[at : at + size]).encode() for at in range(0, facts, size)]
    return [*found, json.dumps({"now": facts // DEVICES + 5}).encode()]


def rate(folder: Path, facts: int, size: int, share: float, senders: int = 4) -> dict[str, float]:
    served = Served(folder, LINES, PROGRAM, LISTENING).start()
    try:
        _warm(served)
        load = messages(facts, size, share)
        last = load.pop()
        began, spent = time.perf_counter(), _cpu(served)
        at = iter(load)
        lock = threading.Lock()

        def send() -> None:
            connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
            while True:
                with lock:
                    body = next(at, None)
                if body is None:
                    return
                connection.request("POST", "/facts", body)
                answer = connection.getresponse()
                assert answer.status == 200, answer.read()
                answer.read()

        threads = [threading.Thread(target=send) for _ in range(senders)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        taken = time.perf_counter() - began
        served.post(last)
        _settled(served)
        whole = time.perf_counter() - began
        lines = sum(1 for _ in (folder / "out.jsonl").open("rb"))
        return {
            "facts": facts, "taken_per_second": facts / taken, "told_per_second": facts / whole, "lines": lines,
            "cpu_seconds": _cpu(served) - spent,
        }  # fmt: skip
    finally:
        served.stop()


def _warm(served: Served) -> None:
    """Kernels are compiled before anything is measured."""
    for at in range(4):
        served.post(f'{{"pred": "temp", "args": ["w", "high"], "time": {at}}}\n' * 20 + f'{{"now": {at}}}')
    served.until(lambda: len(served.lines) > 3)


def _settled(served: Served) -> None:
    size = -1
    while True:
        now = (served.folder / "out.jsonl").stat().st_size
        if now == size and 'presage_waiting_entries{pipeline="pipeline"} 0' in served.get("/metrics")[1]:
            return
        size = now
        time.sleep(0.1)


def _cpu(served: Served) -> float:
    assert served.process is not None
    fields = Path(f"/proc/{served.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def latency(folder: Path, facts: int, per_second: float) -> dict[str, float]:
    served = Served(folder, LINES, PROGRAM, LISTENING).start()
    try:
        _warm(served)
        out = (folder / "out.jsonl").open("rb")
        out.seek(0, 2)
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        found = []
        for number in range(facts):
            at = 100 + number
            body = f'{{"pred": "temp", "args": ["wt{number}", "high"], "time": {at}}}\n{{"now": {at}}}\n'.encode()
            connection.request("POST", "/facts", body)
            sent = time.perf_counter()
            connection.getresponse().read()
            while f"malf(wt{number})@{at}".encode() not in out.readline():
                pass
            found.append(time.perf_counter() - sent)
            time.sleep(max(0.0, 1 / per_second - found[-1]))
        found.sort()
        return {"median_ms": 1000 * statistics.median(found), "p99_ms": 1000 * found[int(0.99 * len(found))]}
    finally:
        served.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for share in (0.02, 0.3):
            print(json.dumps({"high": share, **rate(home / f"rate{share}", options.facts, options.size, share)}))
        few = min(options.facts, 20_000)
        print(json.dumps({"one a message": True, **rate(home / "single", few, 1, 0.02)}))
        print(json.dumps(latency(home / "latency", 500, 200)))


if __name__ == "__main__":
    main()
