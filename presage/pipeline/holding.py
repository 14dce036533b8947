"""Who holds a checkpoint: a second start on it is told so, before either of them does harm.

The holder's file lies beside the checkpoint, locked as long as its process lives: one that was killed holds nothing. A
checkpoint that is not on a file system of this machine is not watched; Spark itself then notices, later.
"""

from __future__ import annotations

import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from presage.errors import PresageError


class HeldCheckpoint:
    """A checkpoint that is this process's until it is let go."""

    def __init__(self, folder: str) -> None:
        self._file: TextIO | None = None
        if "://" in folder and not folder.startswith("file://"):
            return
        path = Path(folder.removeprefix("file://").rstrip("/") + ".holder")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+", encoding="utf-8")
        except OSError as found:
            raise PresageError(f"the checkpoint {folder} cannot be written: {found.strerror}") from None
        if not _locked(self._file):
            holder = _said(self._file)
            self._file.close()
            raise PresageError(
                f"the checkpoint {folder} is held by process {holder.get('pid', '?')} on {holder.get('host', '?')}, "
                f"since {holder.get('since', '?')}: stop that one first, or give this pipeline a checkpoint of its own"
            )
        self._file.truncate(0)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": since}, self._file)
        self._file.flush()

    def let_go(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _locked(file: TextIO) -> bool:
    try:
        import fcntl
    except ImportError:  # not on this system
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _said(file: TextIO) -> dict[str, Any]:
    try:
        file.seek(0)
        found = json.loads(file.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
