"""Damage in the folder of a served pipeline: each byte of what it goes on from is refused in words, or does no harm."""

from __future__ import annotations

import io
import json
import random
import resource
import shutil
from pathlib import Path

import pytest

from presage.cli import main
from presage.errors import PresageError
from presage.serve.folder import CheckpointFolder, read_said, write_said
from presage.serve.log import BEFORE, HEADER, Log, LogEntry
from tests.serving import LISTENING, Served, hot, lines_in

FILE = LISTENING.replace('format = "http"', 'format = "stdin"')
SINKS = """
[sinks.out]
format = "lines"
path = "out.jsonl"
[sinks.folder]
format = "json"
path = "folder"
[sinks.screen]
format = "console"
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that somebody goes on from: a snapshot, entries of the log after it, sinks that are behind."""
    folder = tmp_path_factory.mktemp("damage") / "killed"
    often = LISTENING.replace("[serve]", "[serve]\nlog_bytes = 400")
    served = Served(folder, SINKS, file=often).start()
    for at in range(5):
        served.post(hot(at) + json.dumps({"now": at}))
        served.until(lambda at=at: any(line["now"] == at for line in served.lines))
    served.until(
        lambda: list((folder / "state").glob("*.snapshot")) and list((folder / "folder").glob("lines-*.jsonl"))
    )
    for at in range(5, 8):
        served.post(hot(at))
    served.kill()
    lines = (folder / "out.jsonl").read_text().splitlines(keepends=True)
    (folder / "out.jsonl").write_text("".join(lines[:12]))
    write_said(folder / "state" / "sink-out.json", {"told": 12})
    (folder / "pipeline.toml").write_text(FILE.replace("{port}", "0") + SINKS)
    return folder


def going_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """By its whole name: where it fails, a sink may still be at work, and is not to write where the next one looks."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    return main(["serve", str(folder / "pipeline.toml")])


def test_every_file_that_is_gone_on_from(
    killed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(5)
    whole = tmp_path / "whole"
    shutil.copytree(killed, whole)
    assert going_on(whole, monkeypatch) == 0
    expected = lines_in(whole / "out.jsonl")
    assert len(expected) > len(lines_in(killed / "out.jsonl"))
    capsys.readouterr()
    files = [path.relative_to(killed) for path in (killed / "state").rglob("*") if path.is_file()]
    files = [path for path in files if path.name != "lock" and path.suffix != ".tmp"] + [Path("folder/_presage.json")]
    assert {path.suffix for path in files} == {".json", ".log", ".snapshot"}
    refused = 0
    for path in files:
        size = (killed / path).stat().st_size
        for place in chance.sample(range(size), min(size, 8)):
            damaged = tmp_path / f"damaged{path.name}{place}"
            shutil.copytree(killed, damaged)
            content = bytearray((damaged / path).read_bytes())
            content[place] ^= 1 << chance.randrange(8)
            (damaged / path).write_bytes(content)
            status = going_on(damaged, monkeypatch)
            said = capsys.readouterr().err
            assert status in (0, 1) and "Traceback" not in said, (path, place, said)
            told = lines_in(damaged / "out.jsonl")
            # Of the log only an end that looks as if it had been cut off can go unseen.
            assert told == expected[: len(told)], (path, place)
            assert status == 1 or len(told) == len(expected) or path.suffix == ".log", (path, place)
            refused += status
            shutil.rmtree(damaged, ignore_errors=True)
    assert refused > 20


def test_every_byte_of_a_log_but_its_end(tmp_path: Path) -> None:
    log = Log(tmp_path)
    entries = [LogEntry("http", bytes([97 + number]) * 30) for number in range(4)]
    ends = []
    for entry in entries:
        log.append([entry])
        ends.append((tmp_path / f"{1:016d}.log").stat().st_size)
    log.close()
    path = tmp_path / f"{1:016d}.log"
    whole = path.read_bytes()
    for place in range(len(HEADER), ends[-2]):
        for bit in range(8):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            with pytest.raises(PresageError, match="is damaged"):
                Log(tmp_path)
    for place in range(len(HEADER)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(PresageError, match=r"not a log of this version|is damaged"):
            Log(tmp_path)


def test_a_log_of_before_is_read_and_goes_on_in_a_segment_of_its_own(tmp_path: Path) -> None:
    import struct
    import zlib

    before = [LogEntry("http", b"first\n"), LogEntry("http", b"second\n")]
    datas = [entry.to_bytes() for entry in before]
    frames = [struct.pack("<II", len(data), zlib.crc32(data)) + data for data in datas]
    (tmp_path / f"{1:016d}.log").write_bytes(BEFORE + b"".join(frames) + frames[0][:9])
    log = Log(tmp_path)
    assert log.last == 2 and log.append([LogEntry("http", b"third\n")]) == 3
    log.close()
    again = Log(tmp_path)
    assert [(number, entry.payload) for number, entry in again.after(0)] == [
        (1, b"first\n"), (2, b"second\n"), (3, b"third\n")
    ]  # fmt: skip
    assert len(list(tmp_path.glob("*.log"))) == 2


def test_what_files_say_is_under_a_checksum(tmp_path: Path) -> None:
    path = tmp_path / "sink-out.json"
    write_said(path, {"told": 1234})
    assert read_said(path) == {"told": 1234}
    path.write_text(path.read_text().replace("1234", "1235"))
    with pytest.raises(PresageError, match=r"sink-out\.json: the file is damaged"):
        read_said(path)
    path.write_text('{"told": 7}')
    assert read_said(path) == {"told": 7}, "as files of before say it"


def test_what_a_full_disk_took_a_part_of_is_not_there(tmp_path: Path) -> None:
    """A disk that becomes full takes as much as it has room for, and says so to who asks how much that was."""
    log, folder = Log(tmp_path / "log"), CheckpointFolder(tmp_path / "state")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))  # beyond that, files are as on a full disk
    taken, aside = [3_000] * 6, 6
    try:
        for size in taken:
            log.append([LogEntry("x", b"y" * size)])
            folder.put_aside("out", {"why": "z" * size})
        with pytest.raises(OSError, match="File too large"):
            log.append([LogEntry("x", b"y" * 3_000)])
        with pytest.raises(OSError, match="File too large"):
            folder.put_aside("out", {"why": "z" * 3_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    log.append([LogEntry("x", b"the next")])
    assert [len(entry.payload) for _, entry in Log(tmp_path / "log").after(0)] == [*taken, 8]
    assert len(lines_in(tmp_path / "state/refused-out.jsonl")) == aside
    folder.close()
