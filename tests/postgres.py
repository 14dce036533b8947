"""A PostgreSQL for tests, started on the loopback interface from Debian's package or whatever `initdb` is on the path.

It refuses to run as root; there, the user that its package made runs it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from presage.pipeline.reading import Part

PASSWORD = "hunter2-of-the-farm"


@dataclass(frozen=True)
class Database:
    port: int

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    def run(self, text: str) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(
            host="127.0.0.1", port=self.port, dbname="postgres", user="presage", password=PASSWORD
        ) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

    def part(self, section: str, **values: Any) -> Part:
        login = {"user": "presage", "password_env": PASSWORD}
        return Part(section, "db", {"format": "jdbc", "url": self.url, **login, **values})


def _programs() -> Path | None:
    places = [shutil.which("initdb"), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")))]
    found = next((place for place in places if place), None)
    return None if found is None else Path(found).resolve().parent


def why_not() -> str:
    """Why tests with PostgreSQL cannot run; empty if they can."""
    if find_spec("psycopg") is None:
        return "psycopg is not installed: pip install presage-streams[postgres]"
    if _programs() is None:
        return "PostgreSQL is not installed: apt-get install postgresql"
    if os.geteuid() == 0 and subprocess.run(["id", "postgres"], capture_output=True).returncode:
        return "PostgreSQL does not run as root, and there is no user `postgres`"
    return ""


@contextmanager
def serving() -> Iterator[Database]:
    programs, as_root = _programs(), os.geteuid() == 0
    home = Path(tempfile.mkdtemp(prefix="presage-postgres-", dir="/tmp"))
    (home / "password").write_text(PASSWORD)
    if as_root:
        shutil.chown(home, "postgres")
        shutil.chown(home / "password", "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def call(*words: str) -> None:
        before = ["runuser", "-u", "postgres", "--"] if as_root else []
        done = subprocess.run(
            [*before, *words], cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    data = str(home / "data")
    try:
        call(
            f"{programs}/initdb", "-D", data, "-U", "presage", "--auth=scram-sha-256", "--no-sync",
            f"--pwfile={home / 'password'}",
        )  # fmt: skip
        where = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        call(f"{programs}/pg_ctl", "-D", data, "-o", where, "-l", str(home / "log"), "-w", "start")
        try:
            yield Database(port)
        finally:
            call(f"{programs}/pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)
