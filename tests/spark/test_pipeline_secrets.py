"""Secrets that stand in the wrong place of a pipeline file are refused, and never shown."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from presage.cli import main
from presage.errors import PresageError
from presage.pipeline.holding import HeldCheckpoint
from presage.pipeline.secrets import is_secret, masked

FILE = """program = "p.psg"
checkpoint = "checkpoint"
[spark]
%s
[sources.p]
format = "jsonl"
path = "in"
[sinks.out]
format = "jsonl"
path = "out"
"""


@pytest.mark.parametrize(
    "name",
    [
        "fs.azure.account.key.x",
        "pass",
        "http.auth",
        "sasl.jaas.config",
        "token",
        "api-key",
        "keystore.password",
        "AUTH",
    ],
)
def test_names_that_say_secret(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["path", "passes", "bypass", "author", "authenticate", "format", "password_env", "key"]
)
def test_names_that_do_not(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize(
    "line",
    [
        'password_env = "hunter2secret"',
        'pasword = "hunter2secret"',
        'passwrod_env = "hunter2secret"',
        '"fs.azure.account.key.store" = "hunter2secret"',
        'pass = "hunter2secret"',
        '"http.auth" = "hunter2secret"',
        'token = "hunter2secret"',
        'pw = "hunter2secret"',
        'kye = ["x", "hunter2secret"]',
        "passwd_env = hunter2secret",
    ],
)
def test_no_value_is_shown(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.psg").write_text("input p(x). a(X) :- p(X). query a(X).")
    (tmp_path / "pipeline.toml").write_text(FILE % line)
    assert main(["pipeline", str(tmp_path / "pipeline.toml"), "--check"]) == 1
    out, err = capsys.readouterr()
    assert "hunter2secret" not in out + err
    assert "pipeline.toml:4" in err


def test_names_of_variables_are_shown() -> None:
    assert masked('password_env = "DB_PASSWORD"') == 'password_env = "DB_PASSWORD"'
    assert masked('format = "jsonl"') == 'format = "jsonl"'


def test_folders_of_killed_runs_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = pytest.importorskip("presage.spark.session")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name, pid in (("dead", 2**22 + 1), ("alive", os.getpid())):
        (tmp_path / f"presage-spark-{name}").mkdir()
        (tmp_path / f"presage-spark-{name}" / "pid").write_text(str(pid))
    (tmp_path / "presage-spark-young").mkdir()
    (tmp_path / "presage-spark-old").mkdir()
    os.utime(tmp_path / "presage-spark-old", (0, 0))
    home = session.temporary_home()
    assert {path.name for path in tmp_path.iterdir()} == {"presage-spark-alive", "presage-spark-young", home.name}


def test_two_starts_on_one_checkpoint(tmp_path: Path) -> None:
    first = HeldCheckpoint(str(tmp_path / "checkpoint"))
    with pytest.raises(PresageError, match=rf"is held by process {os.getpid()} on .*, since 20.*: stop that one first"):
        HeldCheckpoint(f"file://{tmp_path}/checkpoint/")
    HeldCheckpoint(str(tmp_path / "another")).let_go()
    first.let_go()
    HeldCheckpoint(str(tmp_path / "checkpoint")).let_go()
    # One that was killed holds nothing.
    folder = str(tmp_path / "checkpoint")
    held = f"from presage.pipeline.holding import HeldCheckpoint; held = HeldCheckpoint({folder!r})"
    script = f"import os; {held}; os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 9
    HeldCheckpoint(str(tmp_path / "checkpoint")).let_go()
    HeldCheckpoint("s3a://bucket/checkpoint").let_go()


def test_the_end_of_java_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    spark = pytest.importorskip("pyspark", reason="PySpark is not installed")
    from presage.spark.session import while_java_lives

    with subprocess.Popen([sys.executable, "-c", ""]) as java, pytest.raises(PresageError, match="runs in has ended"):
        monkeypatch.setattr(spark.SparkContext, "_gateway", types.SimpleNamespace(proc=java))
        with while_java_lives():
            raise ConnectionRefusedError


def test_calls_that_a_dying_java_cuts_off_are_not_told_in_traces(capfd: pytest.CaptureFixture[str]) -> None:
    """The bridge to Java logs them in nobody's name, which prints them wherever nobody has said otherwise."""
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    script = (
        "import logging, types\n"
        "from presage.spark.session import tell_no_ends\n"
        "tell_no_ends(types.SimpleNamespace(sparkContext=None))\n"
        "from py4j import java_gateway\n"
        "exec(compile('logging.exception(\\'cut off\\')', java_gateway.__file__, 'exec'))\n"
        "logging.error('of ours')\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0
    said = capfd.readouterr().err
    assert "of ours" in said and "cut off" not in said
