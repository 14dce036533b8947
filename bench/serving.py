"""`presage serve` under load: facts a second over HTTP and from Kafka with the log on, and how soon a fact is answered.

    python -m bench.serving [--facts N] [--size N]

Messages of so many JSON lines go to turbines, several at a time, or wait in a topic; the rate counts until the last
line is in the file. The process has loaded its kernels by then, which takes a second or two once. Beside the rate by
the clock stands that by the seconds of CPU it took, for machines that do other things meanwhile. Then single facts come
at less than 1,000 a second, and the time from the last byte of a request to the line in the file is taken.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import statistics
import tempfile
import threading
import time
from pathlib import Path

from tests import kafka
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
FIRST = 10
"""The tick of the first reading that counts; those before it warm up."""
FROM_KAFKA = """
program = "program.psg"
checkpoint = "state"
[serve]
port = {port}
[sources.incoming]
format = "kafka"
servers = "SERVERS"
topic = "readings"
starting = "earliest"
"""


def messages(facts: int, size: int, share: float) -> list[bytes]:
    """Readings of all devices, one after the other, a tick after a tick; a share of them is high."""
    chance = random.Random(1)
    lines = []
    for number in range(facts):
        tick, device = divmod(number + FIRST * DEVICES, DEVICES)
        level = "high" if chance.random() < share else "normal"
        lines.append(f'{{"pred": "temp", "args": ["wt{device}", "{level}"], "time": {tick}}}')
    found = ["\n".join(lines[at : at + size]).encode() for at in range(0, facts, size)]
    return [*found, json.dumps({"now": FIRST + facts // DEVICES + 5}).encode()]


def rate(folder: Path, facts: int, size: int, share: float, senders: int = 4) -> dict[str, float]:
    served = Served(folder, LINES, PROGRAM, LISTENING).start()
    try:
        for message in _warming():
            served.post(message)
        _settled(served)
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
        return {"taken_per_second": facts / taken} | _rates(served, facts, began, spent)
    finally:
        served.stop()


def from_kafka(folder: Path, facts: int, size: int, share: float) -> dict[str, float]:
    """The same from a topic that is filled while the process is stopped."""
    from confluent_kafka import Producer

    folder.mkdir()
    broker = kafka.Broker(folder)
    producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0, "linger.ms": 5})
    warming = _warming()

    def fill(given: list[bytes]) -> None:
        for message in given:
            producer.produce("readings", message)
            producer.poll(0)
        producer.flush(120)

    fill(warming)
    served = Served(folder / "p", LINES, PROGRAM, FROM_KAFKA.replace("SERVERS", broker.servers)).start()
    try:
        assert served.process is not None
        served.until(lambda: _taken(served) >= len(warming) * DEVICES)
        _settled(served)
        served.process.send_signal(signal.SIGSTOP)
        fill(messages(facts, size, share))
        began, spent = time.perf_counter(), _cpu(served)
        served.process.send_signal(signal.SIGCONT)
        served.until(lambda: _taken(served) >= facts + len(warming) * DEVICES)
        return _rates(served, facts, began, spent)
    finally:
        served.stop()
        broker.stop()


def _rates(served: Served, facts: int, began: float, spent: float) -> dict[str, float]:
    _settled(served)
    whole, cpu = time.perf_counter() - began, _cpu(served) - spent
    lines = sum(1 for _ in (served.folder / "out.jsonl").open("rb"))
    return {
        "facts": facts, "told_per_second": facts / whole, "lines": lines, "cpu_seconds": cpu,
        "per_cpu_second": facts / cpu, "load": os.getloadavg()[0],
    }  # fmt: skip


def _warming() -> list[bytes]:
    """So many readings that kernels are loaded before anything is measured."""
    rows = (
        "\n".join(
            f'{{"pred": "temp", "args": ["wt{device}", "{"high" if device % 9 == 0 else "low"}"], "time": {tick}}}'
            for device in range(DEVICES)
        )
        for tick in range(6)
    )
    return [row.encode() for row in rows]


def _warm(served: Served) -> None:
    for at in range(4):
        served.post(f'{{"pred": "temp", "args": ["w", "high"], "time": {at}}}\n' * 20 + f'{{"now": {at}}}')
    served.until(lambda: len(served.lines) > 3)


def _taken(served: Served) -> float:
    said = served.get("/metrics")[1].splitlines()
    return max((float(line.split()[-1]) for line in said if line.startswith("presage_facts_total")), default=0.0)


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
        if not kafka.why_not():
            print(json.dumps({"kafka": True, **from_kafka(home / "kafka", options.facts, options.size, 0.02)}))
        print(json.dumps({"one a message": True, **rate(home / "single", few, 1, 0.02)}))
        print(json.dumps(latency(home / "latency", 500, 200)))


if __name__ == "__main__":
    main()
