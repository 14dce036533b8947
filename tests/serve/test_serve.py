"""`presage serve`: facts in over HTTP, files and standard input, answers out; killed at any moment, nothing is lost."""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from presage.io.facts import Checker, FactError
from presage.serve.http import listen
from presage.serve.log import Log, LogEntry
from presage.serve.messages import MessageReader
from tests.commands.test_cli import presage as command
from tests.serving import LINES, LISTENING, TURBINES, Receiver, Served, hot, lines_in

KILLS = int(os.environ.get("PRESAGE_KILLS", "8"))
SINKS = LINES + '[sinks.table]\nformat = "parquet"\npath = "table"\n[sinks.hook]\nformat = "webhook"\nurl = "{url}"\n'


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


def told(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["now"], line["status"], line["answer"]


def without_seq(line: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in line.items() if name != "seq"}, sort_keys=True)


def test_facts_over_http_are_answered_and_wrong_ones_refused(tmp_path: Path) -> None:
    served = Served(tmp_path, LINES + '[sinks.live]\nformat = "events"\n').start()
    try:
        listening = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        listening.request("GET", "/events")
        events = listening.getresponse()
        assert events.readline() == b": presage\n"
        assert served.post(hot(0) + hot(1) + hot(2) + '{"now": 2}\n') == (200, '{"facts":3}')
        served.until(lambda: len(served.lines) == 6)
        assert told(served.lines[3]) == (2, "confirmed", "malf(wt25)@0")
        assert [line["seq"] for line in served.lines] == list(range(1, 7))
        assert events.readline() == b"\n" and events.readline() == b"id: 1\n"
        assert json.loads(events.readline().removeprefix(b"data: ")) == served.lines[0]
        listening.close()
        for last in ("9" * 5000, "²", "-1"):
            listening = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
            listening.request("GET", "/events", headers={"Last-Event-ID": last})
            assert listening.getresponse().status == 200
            listening.close()
        for body, said in (
            (hot(3) + "nonsense", "line 2: this is not JSON"),
            ('{"pred": "tmp", "args": ["a", "b"], "time": 3}', "did you mean `temp`?"),
            (b"\xff\n", "line 1: this is not UTF-8 text"),
        ):
            status, answer = served.post(body)
            assert status == 400 and said in json.loads(answer)["error"]
        assert served.post("{}", "/facts/temp")[0] == 404
        assert served.post(hot(3), Origin="http://elsewhere.example")[0] == 403
        assert served.get("/healthz", Host="elsewhere.example")[0] == 400
        status, page = served.get("/")
        assert status == 200 and "<html" in page
        measures = served.get("/metrics")[1]
        assert 'presage_facts_total{pipeline="pipeline"} 3' in measures
        assert 'presage_answers_total{pipeline="pipeline",status="confirmed"} 1' in measures
    finally:
        assert served.stop() == 0
    assert "it goes on from state" in served.said and "Traceback" not in served.said


def test_elsewhere_only_with_a_token(tmp_path: Path) -> None:
    open_to_all = LISTENING.replace("[serve]", '[serve]\nhost = "0.0.0.0"')
    served = Served(tmp_path, LINES, file=open_to_all)
    done = command("serve", "--check", tmp_path / "pipeline.toml")
    assert done.returncode == 1 and "can be reached from elsewhere" in done.stderr
    guarded = open_to_all.replace("[serve]", '[serve]\ntoken_env = "PRESAGE_TOKEN"')
    served = Served(tmp_path, LINES, file=guarded, PRESAGE_TOKEN="a-token-of-the-farm").start()
    try:
        assert served.post(hot(0))[0] == 401 and served.get("/metrics")[0] == 401 and served.get("/")[0] == 401
        assert served.post(hot(0), Authorization="Bearer wrong")[0] == 401
        assert served.post(hot(0), Authorization="Bearer a-token-of-the-farm")[0] == 200
        assert served.get("/healthz")[0] == 200
        assert "a-token-of-the-farm" not in served.said
    finally:
        served.stop()


def test_a_second_start_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    served = Served(tmp_path).start()
    try:
        other = (tmp_path / "pipeline.toml").read_text().replace(f"port = {served.port}", "port = 0")
        (tmp_path / "other.toml").write_text(other)
        done = command("serve", tmp_path / "other.toml")
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert f"in use by process {served.process and served.process.pid}" in done.stderr
    finally:
        served.stop()


def test_what_times_mean_cannot_change(tmp_path: Path) -> None:
    served = Served(tmp_path).start()
    served.post(hot(0) + '{"now": 0}\n')
    assert served.stop() == 0
    (tmp_path / "program.psg").write_text("tick 1s.\n" + (tmp_path / "program.psg").read_text())
    done = command("serve", tmp_path / "pipeline.toml")
    assert done.returncode == 1 and "`tick` and `start` of a stream that has begun cannot change" in done.stderr


def test_files_are_watched_and_standard_input_is_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    file = """
program = "program.psg"
checkpoint = "state"
[sources.temp]
format = "csv"
path = "in"
columns = { device = "machine", level = "how" }
time = "ts"
bad_rows = "skip"
[sources.piped]
format = "stdin"
"""
    served = Served(tmp_path, LINES, file=file)
    served.start(wait=False, stdin=subprocess.PIPE)
    assert served.process is not None and served.process.stdin is not None
    (tmp_path / "in/a.tmp").write_text("machine,how,ts\nwt1,high,0\nwt1,high,1\nwt1,,1\n")
    (tmp_path / "in/a.tmp").rename(tmp_path / "in/a.csv")
    served.until(lambda: len(served.lines) == 1)  # 0 is over
    served.process.stdin.write(hot(2, "wt1").encode() + b'{"now": 2}\n')
    served.process.stdin.flush()
    served.until(lambda: any(told(line) == (2, "confirmed", "malf(wt1)@0") for line in served.lines))
    served.kill()
    (tmp_path / "in/b.csv").write_text("machine,how,ts\nwt1,high,3\nwt1,high,9\n")  # a.csv is not read again
    served.start(wait=False, stdin=subprocess.DEVNULL)
    served.until(lambda: any(told(line) == (3, "confirmed", "malf(wt1)@1") for line in served.lines))
    assert served.stop() == 0
    numbers = [line["seq"] for line in served.lines]
    assert numbers == sorted(set(numbers)) and "skipped:" not in served.said.splitlines()[0]


def test_a_receiver_that_refuses_is_tried_again_and_a_slow_one_makes_others_wait(
    tmp_path: Path, receiver: Receiver
) -> None:
    receiver.status = 503
    served = Served(tmp_path, SINKS.format(url=receiver.url + "/answers")).start()
    try:
        served.post(hot(0) + '{"now": 0}\n')
        served.until(lambda: len(served.lines) == 1)
        served.until(lambda: served.get("/readyz")[0] == 503)
        assert "[sinks.hook]" in served.get("/readyz")[1]
        receiver.slow, receiver.status = 0.3, 200
        served.until(lambda: bool(receiver.got))
        path, body, headers = receiver.got[0]
        assert path == "/answers" and body["lines"][0]["seq"] == 1 and body["lines"][0]["key"] == "malf(wt25)@0"
        assert headers["Idempotency-Key"].endswith("-1-1")
        served.until(served.is_ready)
    finally:
        assert served.stop() == 0


# -- killed at any moment -----------------------------------------------------------------------------


def _messages(seed: int, ticks: int) -> list[str]:
    """A message for each time: facts, some of them late by one, and that the time is complete."""
    chance = random.Random(seed)
    found, late = [], ""
    for at in range(ticks):
        facts, later = "", ""
        for device in range(12):
            if chance.random() < 0.7:
                if chance.random() < 0.15:
                    later += hot(at, f"d{device}")
                else:
                    facts += hot(at, f"d{device}")
        found.append(facts + late + json.dumps({"now": at}) + "\n")
        late = later
    return found


def _expected(folder: Path, messages: list[str]) -> list[str]:
    """What a run over a file says of the same facts."""
    with (folder / "facts.jsonl").open("w") as out:
        for at, message in enumerate(messages):
            for line in message.splitlines()[:-1]:
                out.write(json.dumps({**json.loads(line), "arrives": at}) + "\n")
    last = str(len(messages) - 1)
    done = command("run", folder / "program.psg", "--facts", folder / "facts.jsonl", "--until", last)
    assert done.returncode == 0
    lines = sorted(map(json.loads, done.stdout.splitlines()), key=lambda line: (line["now"], line["answer"]))
    return [without_seq(line) for line in lines]


def _deliver(served: Served, messages: list[str], sent: list[int], done: threading.Event) -> None:
    """Sends all messages in order; what was not acknowledged is sent again."""
    while sent[0] < len(messages):
        try:
            if served.post(messages[sent[0]])[0] == 200:
                sent[0] += 1
                continue
        except (OSError, http.client.HTTPException, urllib.error.URLError):
            pass
        time.sleep(0.02)
    done.set()


@pytest.mark.xdist_group("serve kills")
def test_killed_at_any_moment_every_change_is_told_once(tmp_path: Path, receiver: Receiver) -> None:
    chance = random.Random(int(os.environ.get("PRESAGE_SEED", "1")))
    ticks = 40 * KILLS
    messages = _messages(3, ticks)
    often = LISTENING.replace("[serve]", "[serve]\nlog_bytes = 4000")
    served = Served(tmp_path, SINKS.format(url=receiver.url), file=often).start()
    expected = _expected(tmp_path, messages)
    sent, done = [0], threading.Event()
    sender = threading.Thread(target=_deliver, args=(served, messages, sent, done), daemon=True)
    sender.start()
    for kill in range(KILLS):
        served.until(lambda kill=kill: done.is_set() or sent[0] >= (kill + 1) * ticks // (KILLS + 1))
        time.sleep(chance.random() * 0.05)
        served.kill()
        served.start(wait=chance.random() < 0.8)  # now and then killed before it is ready
        if chance.random() < 0.3:
            time.sleep(chance.random())
            served.kill()
            served.start()
    served.until(done.is_set, 300)
    served.until(lambda: len(served.lines) >= len(expected))
    assert served.stop() == 0

    # A file of lines, and a folder of Parquet, have each line once; a webhook at least once, each as it was.
    assert [without_seq(line) for line in served.lines] == expected
    numbers = [line["seq"] for line in served.lines]
    assert numbers == sorted(set(numbers))
    import pyarrow.parquet as parquet

    rows = parquet.read_table(tmp_path / "table").to_pylist()
    assert [
        (row["seq"], row["now"], row["status"], row["answer"]) for row in sorted(rows, key=lambda row: row["seq"])
    ] == [(line["seq"], *told(line)) for line in served.lines]
    posted: dict[int, set[str]] = {}
    for _, body, _ in receiver.got:
        for line in body["lines"]:
            posted.setdefault(line["seq"], set()).add(json.dumps(line, sort_keys=True))
    assert sorted(posted) == numbers and all(len(each) == 1 for each in posted.values())
    snapshots = list((tmp_path / "state").glob("*.snapshot"))
    assert 1 <= len(snapshots) <= 4, "what nobody begins from again is forgotten"


# -- parts --------------------------------------------------------------------------------------------


def test_a_log_cut_off_anywhere_keeps_what_was_whole(tmp_path: Path) -> None:
    entries = [LogEntry("http", f"line {number}\n".encode() * number, {"at": number}) for number in range(5)]
    log = Log(tmp_path)
    ends = []
    for entry in entries:
        log.append([entry])
        ends.append((tmp_path / f"{1:016d}.log").stat().st_size)
    log.close()
    whole = (tmp_path / f"{1:016d}.log").read_bytes()
    for size in range(len(whole)):
        (tmp_path / f"{1:016d}.log").write_bytes(whole[:size])
        again = Log(tmp_path)
        kept = sum(end <= size for end in ends)
        assert again.last == kept and [entry for _, entry in again.after(0)] == entries[:kept]
        assert again.append([entries[0]]) == kept + 1
        assert [entry for _, entry in again.after(kept)] == [entries[0]]
        again.close()


def test_damage_inside_a_log_is_told(tmp_path: Path) -> None:
    from presage.errors import PresageError

    log = Log(tmp_path)
    log.append([LogEntry("http", b"a" * 50), LogEntry("http", b"b" * 50)])
    log.close()
    path = tmp_path / f"{1:016d}.log"
    whole = path.read_bytes()
    for at in range(14, len(whole) - 60):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        try:
            found = Log(tmp_path).last
        except PresageError as said:
            assert "damaged" in str(said)
        else:
            assert found < 2, "a damaged entry is not taken for whole"


@pytest.mark.parametrize("names", ["d{}", "Ünd {}", 'a "quoted\\\\" {}', "{}", "-{}x", "tab\t{}"])
def test_lines_by_the_column_are_those_of_their_answers(names: str) -> None:
    import presage
    from presage.serve.reasoning import Reasoning

    chance = random.Random(5)
    messages = [
        "".join(hot(at, names.format(device)) for device in range(60) if chance.random() < 0.7) for at in range(8)
    ]
    by_column, one_by_one = (Reasoning(presage.check(TURBINES), "changes", False) for _ in range(2))
    one_by_one.wants_answers = True
    found: list[list[tuple[str, str, str]]] = []
    for reasoning in (by_column, one_by_one):
        lines = [
            line
            for number, message in enumerate(messages, 1)
            for step in reasoning.take(number, LogEntry("http", message.encode()))
            for line in step
        ]
        found.append([(line.text, line.key, line.status) for line in lines])
    assert found[0] == found[1] and len(found[0]) > 200


@pytest.mark.parametrize("seed", range(20))
def test_messages_by_the_column_are_those_by_the_line(seed: int) -> None:
    import presage

    subject = presage.check("input p(x). input q(x: text, y). input r(n: int).\nh(X) :- p(X), q(X, _), r(_).").findings
    assert subject is not None
    checker = Checker(subject.watched.program, subject.watched.predicates, True)
    reader = MessageReader(checker)
    chance = random.Random(seed)
    odd: list[Any] = [
        '{"pred": "p", "args": ["é☃\\u0000"], "time": 3}', '{"pred": "r", "args": [7], "time": 1}', "", '{"now": 4}',
        '{"pred": "p", "args": [1.50], "time": 1}', '{"pred": "q", "args": ["a", "b"], "from": 1, "to": 3}',
        '{"pred": "p", "args": ["x"], "time": 1, "arrives": 2}', '{"pred": "p", "args": ["x", "y"], "time": 1}',
        '{"pred": "p", "args": ["\\ud800"], "time": 1}', '{"pred": "p", "args": ["x"], "time": -1}', '{"now": -4}',
        '{"pred": "p", "args": [true], "time": 1}', '{"pred": "p", "args": ["x"], "time": "3"}', "[]", "nonsense",
        '{"pred": "p", "args": ["x"], "time": 1} {"pred": "p", "args": ["y"], "time": 1}',
        '{"pred": "p", "args": null}',
        '{"pred": "p", "args": ["x"], "time": null}', '{"pred": "p", "args": ["x"], "time": 99999999999999999999999}',
    ]  # fmt: skip
    lines = [
        json.dumps({"pred": "p", "args": [f"d{chance.randrange(9)}"], "time": chance.randrange(5)})
        if chance.random() < 0.5
        else json.dumps({"pred": "q", "args": [f"d{chance.randrange(9)}", "high"], "time": chance.randrange(5)})
        for _ in range(30)
    ]
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randrange(len(lines)), chance.choice(odd))
    data = "\n".join(lines).encode()

    def outcome(read: Any) -> Any:
        try:
            found = read()
        except FactError as wrong:
            return str(wrong)
        facts = [*found.facts, *(fact for table in found.tables for fact in table.facts())]
        return sorted(map(repr, facts)), found.complete

    assert outcome(lambda: reader.read(data)) == outcome(lambda: reader._by_lines(data, "line"))
    assert lines_in(Path("/nowhere")) == []


@pytest.mark.parametrize("first", ["null", " null", "\n\nnull", "\ufeffnull", "[]", "5", '"a"', "\x00", "{}"])
def test_no_message_ends_the_process(first: str) -> None:
    """Arrow's reader does, where the first value is `null`."""
    import presage

    subject = presage.check("input p(x). h(X) :- p(X).").findings
    assert subject is not None
    reader = MessageReader(Checker(subject.watched.program, subject.watched.predicates, True))
    for more in ("\n" + first, '\n{"pred": "p", "args": ["a"], "time": 1}'):
        with pytest.raises(FactError, match="line"):
            reader.read((first + more * 12).encode())


def test_what_goes_on_is_told_once_across_a_kill(tmp_path: Path) -> None:
    program = "timeline discrete.\ninput temp(device: text, level).\non(X) :- temp(X, high).\nquery on(X).\n"
    served = Served(tmp_path, LINES, program, 'emit = "states"\n' + LISTENING).start()
    try:
        served.post(hot(0) + hot(1) + '{"now": 1}\n')
        served.until(lambda: len(served.lines) == 1)
        served.kill()
        served.start()
        served.post(hot(2) + '{"now": 5}\n')
        served.until(lambda: len(served.lines) == 2)
    finally:
        served.kill()
    assert [told(line) for line in served.lines] == [(0, "holds", "on(wt25)@0"), (3, "confirmed", "on(wt25)@[0,2]")]
    assert {line["key"] for line in served.lines} == {"on(wt25)@0"}


STDIN = """
program = "program.psg"
checkpoint = "state"
[serve]
port = {port}
[sources.incoming]
format = "stdin"
[sinks.out]
format = "console"
"""


def test_what_ends_at_once_ends_in_order(tmp_path: Path) -> None:
    """The server of the page may not quite have begun when it is told to end."""
    served = Served(tmp_path, "", file=STDIN)
    for _ in range(3):
        served.start(wait=False, stdin=subprocess.DEVNULL)
        assert served.process is not None and served.process.wait(90) == 0
    assert "Traceback" not in served.said


def test_what_a_full_output_did_not_take_is_said_and_told_at_the_next_start(tmp_path: Path) -> None:
    served = Served(tmp_path, "", file=STDIN)
    call = [sys.executable, "-m", "presage", "serve", "pipeline.toml"]
    with Path("/dev/full").open("w") as full, subprocess.Popen(
        call, cwd=tmp_path, stdin=subprocess.PIPE, stdout=full, stderr=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        _, said = process.communicate(hot(0) + hot(1) + '{"now": 5}\n', timeout=90)
    assert process.returncode == 0 and "Traceback" not in said
    assert "[sinks.out] " in said and "is told at the next start" in said
    served.start(wait=False, stdin=subprocess.DEVNULL)
    assert served.process is not None and served.process.wait(90) == 0
    assert [line["seq"] for line in lines_in(tmp_path / "stdout.txt")] == [1, 2, 3, 4, 5]


def test_answers_do_not_wait_for_acknowledgements() -> None:
    """They leave in two pieces, and the second would come 40 ms later."""
    with listen("127.0.0.1", 0, "serve") as listening:
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
