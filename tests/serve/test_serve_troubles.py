"""A served pipeline in trouble: a disk that is full for a while, and nobody who reads what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import LINES, LISTENING, Served, hot

SCREEN = '[sinks.screen]\nformat = "console"\n'


def mounted(folder: Path, options: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)


@pytest.fixture
def small_state(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "state"
    folder.mkdir()
    if mounted(folder, "size=100k").returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_is_full_for_a_while_loses_and_doubles_nothing(tmp_path: Path, small_state: Path) -> None:
    """It goes on when there is room, whatever could not be written: the log, snapshots, how far sinks are."""
    often = LISTENING.replace("[serve]", "[serve]\nlog_bytes = 30000")
    served = Served(tmp_path, LINES + SCREEN, file=often).start()
    messages = ["".join(hot(at, f"d{device}") for device in range(60)) for at in range(50)]
    statuses: list[int] = []

    def send() -> None:
        for message in messages:
            statuses.append(served.post(message)[0])

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    served.until(lambda: "No space left on device" in served.get("/readyz")[1])
    assert served.get("/readyz")[0] == 503 and served.get("/healthz")[0] == 200
    assert len(statuses) < 50 and not list(small_state.glob("*.tmp"))
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_state)], check=True)
    sender.join(60)
    assert statuses == [200] * 50
    served.post(json.dumps({"now": 100}))
    served.until(lambda: any(line["now"] > 50 for line in served.lines))
    served.until(served.is_ready)
    assert served.stop() == 0
    assert [line["seq"] for line in served.lines] == list(range(1, len(served.lines) + 1))
    confirmed = [line for line in served.lines if line["status"] == "confirmed"]
    assert len(confirmed) == 60 * 48


def test_a_start_on_a_full_disk_is_told(tmp_path: Path, small_state: Path) -> None:
    (small_state / "filler").write_bytes(b"x" * 4096 * 24)
    served = Served(tmp_path)
    call = [sys.executable, "-m", "presage", "serve", "pipeline.toml"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "state" in done.stderr and "No space left on device" in done.stderr
    (small_state / "filler").unlink()
    assert served.start().stop() == 0


def test_when_nobody_reads_standard_output_any_more_it_ends(tmp_path: Path) -> None:
    served = Served(tmp_path, SCREEN, file=LISTENING)
    call = [sys.executable, "-m", "presage", "serve", "pipeline.toml"]
    with subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        served.process = process  # type: ignore[assignment]
        served.until(served.is_ready)
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        served.post(hot(0) + '{"now": 9}')
        assert process.wait(60) == 1
        said = process.stderr.read()
    assert "who read standard output is gone" in said and "Traceback" not in said


CLOCK = """
import os, time
real = time.time
def moved():
    with open(os.environ["CLOCK_OFFSET"]) as file:
        return real() + float(file.read() or 0)
time.time = moved
"""
TIMED = """
timeline discrete.
tick 1s.
input temp(device: text, level) delay 2s.
cool(X)@T+1 :- temp(X, high)@T, temp(X, high)@T+1.
query cool(X).
"""


def says(served: Served, text: str) -> bool:
    try:
        return text in served.get("/readyz")[1]
    except OSError:
        return False


def test_a_clock_that_jumps_never_takes_time_back(tmp_path: Path) -> None:
    """Forwards deadlines pass at once; backwards time waits, and who asks is told that facts are late so long."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text(CLOCK)
    offset = tmp_path / "offset"

    def move(seconds: int) -> None:
        beside = tmp_path / "offset.tmp"
        beside.write_text(str(seconds))
        beside.replace(offset)

    move(0)
    path = os.pathsep.join([str(tmp_path / "own"), os.environ.get("PYTHONPATH", "")])
    served = Served(
        tmp_path / "p", LINES, TIMED, 'clock = "wall"\n' + LISTENING, PYTHONPATH=path, CLOCK_OFFSET=str(offset)
    ).start()
    try:
        now = int(time.time()) + 30  # known early, so that a slow machine makes no fact late
        served.post(hot(now))
        move(3600)
        served.until(lambda: sorted(line["status"] for line in served.lines) == ["possible"] * 2 + ["refuted"] * 2)
        served.post(hot(now + 5))
        served.until(lambda: 'presage_late_facts_total{pipeline="pipeline"} 1' in served.get("/metrics")[1])
        move(0)
        served.until(lambda: "ahead of this machine's clock" in served.get("/readyz")[1])
        served.kill()
        served.start(wait=False)
        served.until(lambda: says(served, "facts are late so long"))
        ahead = now + 3700
        served.post(hot(ahead) + hot(ahead + 1))
        move(3650)
        served.until(lambda: "confirmed" in {line["status"] for line in served.lines})
        served.until(served.is_ready)
    finally:
        served.kill()
    times = [line["now"] for line in served.lines]
    assert times == sorted(times)
