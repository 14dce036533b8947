"""Where compiled kernels are kept, so that the next start finds them.

Beside their source, where that can be written to; otherwise below the user's home, where those are taken over that
somebody with more rights has compiled beside the source (an administrator, the build of a container); or, in a
container with a read-only file system and no home, in a folder below the temporary directory that belongs to this user
and is open to nobody else: what lies there is loaded as code, and must not be somebody else's. Where not even that is
possible they are kept in memory, and compiled again by the next process. NUMBA_CACHE_DIR overrides all of it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from numba import config
from numba.core import event
from numba.core.caching import _CacheLocator
from numba.core.dispatcher import Dispatcher

from presage import notices

_FOLDER = Path(__file__).parent


_done: list[bool] = []


def prepare() -> None:
    """Before the first kernel is compiled: chooses a place for them, and sees to it that people are told."""
    if not _done:
        _done.append(True)
        _choose_place()
        event.register("numba:compile", _FirstTime())  # type: ignore[no-untyped-call]


def _choose_place() -> None:
    if getattr(config, "CACHE_DIR", ""):
        return
    latest = max(source.stat().st_mtime for source in _FOLDER.glob("*.py"))
    beside = _FOLDER / "__pycache__"
    if _is_writable(beside):
        _drop_stale(beside, latest)
        return
    for folder in _elsewhere():
        # Each state of the sources has a folder of its own: numba sees a change of a function's own file only.
        place = folder / f"{int(latest)}"
        with contextlib.suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
        if _is_writable(place):
            _take_over(beside, place, latest)
            os.environ["NUMBA_CACHE_DIR"] = str(place)  # for the processes of workers, too
            config.CACHE_DIR = str(place)  # type: ignore[attr-defined]
            if folder.parent == _temporary():
                notices.give(
                    "neither the package nor the home directory can be written to: what is compiled is kept in "
                    f"{place} (NUMBA_CACHE_DIR says otherwise)"
                )
            return
    Dispatcher.enable_caching = _keep_in_memory  # type: ignore[method-assign, assignment]
    notices.give(
        "neither the package, the home directory nor the temporary directory can be written to: what is compiled "
        "is kept in memory only, and each start takes about 10 s longer. Set NUMBA_CACHE_DIR to a folder that can be"
    )


def _drop_stale(beside: Path, latest: float) -> None:
    """numba compiles a function again when its own file has changed, but not when one has that it calls: whatever was
    compiled before the latest change goes."""
    for compiled in beside.glob("*.nb[ci]"):
        with contextlib.suppress(OSError):
            if compiled.stat().st_mtime < latest:
                compiled.unlink()


def _take_over(beside: Path, place: Path, latest: float) -> None:
    """Copies what is compiled beside the source to where numba looks for it, unless something is there."""
    folder = place / _CacheLocator.get_suitable_cache_subpath(str(_FOLDER / "__init__.py"))  # type: ignore[no-untyped-call]
    with contextlib.suppress(OSError):
        compiled = [each for each in beside.glob("*.nb[ci]") if each.stat().st_mtime >= latest]
        if compiled and not folder.exists():
            made = Path(tempfile.mkdtemp(dir=place))
            try:
                for each in compiled:
                    shutil.copyfile(each, made / each.name)
                made.rename(folder)  # whole under its name: others may start at the same time
            finally:
                shutil.rmtree(made, ignore_errors=True)


def _elsewhere() -> Iterator[Path]:
    """Folders that are this user's alone."""
    with contextlib.suppress(RuntimeError):
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
        if cache.is_absolute():
            yield cache / "presage-kernels"
    temporary = _temporary()
    if temporary is not None:
        user = os.getuid() if hasattr(os, "getuid") else 0
        folder = temporary / f"presage-kernels-{user}"
        with contextlib.suppress(FileExistsError, OSError):
            folder.mkdir(mode=0o700)
        with contextlib.suppress(OSError):
            found = folder.lstat()
            # Somebody else may have put it there.
            if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not stat.S_IMODE(found.st_mode) & 0o077:
                yield folder


def _temporary() -> Path | None:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _keep_in_memory(dispatcher: Dispatcher) -> None:
    """In place of numba's own, which needs a folder."""


class _FirstTime(event.Listener):
    """Says that something is being compiled. What is found compiled does not come by here."""

    def on_start(self, found: event.Event) -> None:
        if found.data["dispatcher"].py_func.__module__.startswith("presage."):
            notices.give(notices.PREPARING)

    def on_end(self, found: event.Event) -> None:
        """The beginning is what matters."""
