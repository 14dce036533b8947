"""A Mosquitto for tests, from Debian's package, on the loopback interface."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.serving import free_port


def _program() -> str | None:
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


def why_not() -> str:
    """Why tests with MQTT cannot run; empty if they can."""
    if find_spec("paho") is None:
        return "paho-mqtt is not installed: pip install presage-streams[mqtt]"
    return "" if _program() else "Mosquitto is not installed: apt-get install mosquitto"


@contextmanager
def broker(folder: Path) -> Iterator[int]:
    """Its port."""
    port = free_port()
    settings = folder / "mosquitto.conf"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n")
    program = _program()
    assert program is not None
    process = subprocess.Popen([program, "-c", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(10)
