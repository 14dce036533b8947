"""A served pipeline in trouble: a disk that is full for a while, and nobody who reads what it says."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
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
