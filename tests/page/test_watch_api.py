"""`presage watch` without a browser: what the page is told, what it may ask, and what is refused."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.watching import ROOT, TURBINE_FACTS, TURBINES, Watched, watching

ODD = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def turbines() -> Iterator[Watched]:
    """The turbines, stepped through by hand to the end."""
    with watching(TURBINES, TURBINE_FACTS, "--paused", "--speed", "0") as watched:
        watched.state_after(100)
        yield watched


def presage(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "presage", "watch", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)


def test_the_page_shows_what_run_prints() -> None:
    """Put together, what a page is told ends where the lines of `presage run` end."""
    command = [sys.executable, "-m", "presage", "run", str(TURBINES), "--facts", str(TURBINE_FACTS)]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    expected = {line["answer"]: line for line in map(json.loads, printed.splitlines())}
    rows: dict[str, dict[str, object]] = {}
    with watching(TURBINES, TURBINE_FACTS, "--speed", "0") as watched, watched.batches() as batches:
        for batch in batches:
            rows = {} if batch["reset"] else rows
            rows.update({row["answer"]: row for row in batch["rows"]})
            if batch["state"]["finished"]:
                break
    assert rows.keys() == expected.keys()
    for text, line in expected.items():
        shared = line.keys() - {"ways"}
        assert {name: rows[text][name] for name in shared} == {name: line[name] for name in shared}
    assert batch["state"]["facts"] == 6 and batch["state"]["late"] == 0


def test_the_program(turbines: Watched) -> None:
    status, about = turbines.get("api/program")
    assert status == 200
    assert about["queries"] == ["malf(X)"] and about["keys"] == ["X"] and about["facts"] == 6
    assert about["source"] == TURBINES.read_text()


def test_an_open_answer_in_the_past(turbines: Watched) -> None:
    status, found = turbines.get("api/answer", answer="malf(wt25)@0", step=2)
    assert status == 200
    assert found["line"]["status"] == "possible"
    (way,) = found["line"]["ways"]
    assert way["because"] == ["temp(wt25, high)@0", "temp(wt25, high)@1"]
    assert way["needs"] == ["temp(wt25, high)@2"] and way["decided_by"] == 3
    assert [rule["line"] for rule in found["rules"]] == [5, 6, 7, 8] and found["proof"] is None
    assert found["rules"][0]["text"] == "flag(X) :- temp(X, high)."


def test_the_proof_of_a_confirmed_answer(turbines: Watched) -> None:
    status, found = turbines.get("api/answer", answer="malf(wt25)@0")
    assert status == 200
    assert found["line"]["status"] == "confirmed" and found["no_proof"] == ""
    assert found["proof"]["kind"] == "rule" and found["proof"]["line"] == 8
    assert found["rules_are_certain"] and [rule["line"] for rule in found["rules"]] == [5, 6, 7, 8]


def test_a_refuted_answer_says_what_it_needed(turbines: Watched) -> None:
    _, found = turbines.get("api/answer", answer="malf(wt42)@1")
    assert found["line"]["status"] == "refuted"
    assert found["was"]["needs"] == ["temp(wt42, high)@2", "temp(wt42, high)@3"]


def test_states_of_the_past(turbines: Watched) -> None:
    _, last = turbines.get("api/state")
    for step in range(last["state"]["step"] + 1):
        status, found = turbines.get("api/state", step=step)
        assert status == 200 and found["state"]["step"] == step
        assert all(row["now"] <= found["state"]["now"] for row in found["rows"])
    assert turbines.get("api/state", step=0)[1]["rows"] == []


@pytest.mark.parametrize(
    ("path", "query", "status", "said"),
    [
        ("api/state", {"step": "x"}, 400, "whole number"),
        ("api/state", {"step": 999}, 404, "not remembered"),
        ("api/state", {"step": -1}, 404, "not remembered"),
        ("api/answer", {"answer": "nothing(a)@0"}, 404, "no answer `nothing(a)@0`"),
        ("api/answer", {}, 404, "no answer"),
        ("page/../server.py", {}, 404, "Not Found"),
        ("nothing", {}, 404, "Not Found"),
    ],
)
def test_wrong_questions(turbines: Watched, path: str, query: dict[str, object], status: int, said: str) -> None:
    found, answer = turbines.get(path, **query)
    assert found == status and said in answer["error"]


@pytest.mark.parametrize(
    "command",
    [
        {"action": "explode"},
        {"action": "speed"},
        {"action": "speed", "speed": -1},
        {"action": "speed", "speed": "fast"},
        {"action": "speed", "speed": True},
        [1],
        b"\xff",
        b'{"action": "speed", "speed": 1e999}',
        b"[" * 900,
    ],
    ids=str,
)
def test_wrong_commands(turbines: Watched, command: object) -> None:
    status, answer = turbines.post(command)
    assert status == 400 and answer["error"]


def test_long_commands_are_not_read(turbines: Watched) -> None:
    assert turbines.post(b" " * 5_000)[0] == 413


def test_other_web_sites_cannot_reach_the_page(turbines: Watched) -> None:
    """Neither by a name that leads here, nor by a request from elsewhere."""
    request = urllib.request.Request(f"{turbines.address}api/program", headers={"Host": "elsewhere.example"})
    assert turbines.ask(request)[0] == 400
    assert turbines.post({"action": "pause"}, Origin="http://elsewhere.example")[0] == 403
    assert turbines.post({"action": "pause"}, Origin=turbines.address.rstrip("/"))[0] == 200


def test_the_headers_forbid_what_the_page_does_not_need(turbines: Watched) -> None:
    for path in ("", "page/main.js", "api/program"):
        with urllib.request.urlopen(turbines.address + path) as reply:
            policy = reply.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy


def test_the_page_needs_no_network(turbines: Watched) -> None:
    for file in (ROOT / "presage/web/page").iterdir():
        text = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//\w+\.\w+/", text), file
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text and "document.write" not in text


def test_it_waits_for_the_first_page_and_then_plays() -> None:
    with watching(TURBINES, TURBINE_FACTS, "--speed", "0") as watched:
        assert watched.get("api/state")[1]["state"]["step"] == 0
        with watched.batches() as batches:
            assert any(batch["state"]["finished"] for batch in batches)


def test_it_ends_quietly_while_pages_are_open() -> None:
    with watching(TURBINES, TURBINE_FACTS) as watched, watched.batches() as batches:
        next(batches)
        watched.process.send_signal(signal.SIGINT)
        _, said = watched.process.communicate(timeout=20)
        assert watched.process.returncode == 0 and "Traceback" not in said and "ERROR" not in said, said


def test_names_are_told_as_they_are(tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_text(json.dumps({"pred": "temp", "args": [ODD, "high"], "time": 0}) + "\n")
    with watching(TURBINES, facts, "--paused") as watched:
        watched.state_after(1)
        (row,) = watched.get("api/state")[1]["rows"]
        assert row["bindings"] == {"X": ODD}
        assert watched.get("api/answer", answer=row["answer"])[1]["line"]["answer"] == row["answer"]


def test_programs_without_hypothetical_answers() -> None:
    program, facts = ROOT / "presage/examples/heartbeat/heartbeat.psg", ROOT / "presage/examples/heartbeat/facts.jsonl"
    with watching(program, facts, "--paused", "--until", "30", "--emit", "confirmed") as watched:
        watched.state_after(100)
        _, found = watched.get("api/state")
        assert found["rows"] and {row["status"] for row in found["rows"]} == {"confirmed"}
        _, about = watched.get("api/program")
        assert about["tick_milliseconds"] == 60_000 and not about["hypothetical"]
        _, one = watched.get("api/answer", answer=found["rows"][0]["answer"])
        assert one["proof"] is not None, one["no_proof"]


def test_the_workbench_asks_what_is_wrong(turbines: Watched) -> None:
    def ask(path: str, body: object, **headers: str) -> tuple[int, Any]:
        data = json.dumps(body).encode()
        return turbines.ask(urllib.request.Request(f"{turbines.address}{path}", data, headers))

    status, found = ask("api/check", {"source": "a(X) :- b(X, Y), Y >. \U0001f600"})
    assert status == 200 and not found["ok"]
    first = found["problems"][0]
    assert first["line"] == 1 and first["hint"] and first["code"].startswith("P")
    status, found = ask("api/check", {"source": "input b(x, y).\na(X) :- b(X, _).\n"})
    assert found["ok"] and found["problems"] == []
    assert {each["name"]: each["columns"] for each in found["predicates"]} == {"a": [""], "b": ["x", "y"]}
    assert ask("api/check", {"source": 3})[0] == 400 and ask("api/check", ["x"])[0] == 400
    assert ask("api/check", {"source": "a." * 400_000})[0] == 400
    assert ask("api/check", {"source": "a."}, Origin="http://elsewhere.example")[0] == 403
    assert ask("api/run", {"source": "a."}, Origin="http://elsewhere.example")[0] == 403
    before = turbines.get("api/program")[1]
    status, found = ask("api/run", {"source": "query nothing(X)."})
    assert status == 400 and "mistake" in found["error"]
    assert turbines.get("api/program")[1] == before, "a program that is wrong takes nobody's place"


def test_what_if(turbines: Watched) -> None:
    def ask(facts: object, **more: object) -> tuple[int, Any]:
        body = json.dumps({"facts": facts, **more}).encode()
        return turbines.ask(urllib.request.Request(f"{turbines.address}api/suppose", body))

    status, found = ask(["temp(wt25, high)@2"], step=2)
    assert status == 200
    said = {each["answer"]: each["status"] for each in found["lines"]}
    assert said["malf(wt25)@0"] == "confirmed" and said["malf(wt25)@1"] == "possible"
    assert "malf(wt42)@1" not in said, "what would stay as it is is not told"
    assert turbines.get("api/answer", answer="malf(wt25)@0", step=2)[1]["line"]["status"] == "possible", "nothing came"
    assert ask(["temp(wt25, low)@2"], step=2) == (200, {"lines": []})
    for facts, why in (
        (["temp(wt25, high)@-1"], ""),
        (["tmep(wt25, high)@2"], "did you mean `temp`?"),
        (["temp(X, high)@2"], "not a fact"),
        (["not temp(wt25, high)@2"], "not a fact"),
        (["temp(wt25"], ""),
        ([], "such as temp(device, level)@1"),
        (["temp(wt25, high)@2"] * 101, "100 at most"),
        ("temp(wt25, high)@2", "list of facts"),
    ):
        status, found = ask(facts, step=2)
        assert status == 400 and why in found["error"], facts
    status, found = ask(["temp(wt42, high)@0"], step=3)
    assert status == 400 and "too late" in found["error"]
    assert ask(["temp(wt25, high)@2"], step=99)[0] == 404 and ask(["a@1"], step="x")[0] == 400


def test_what_if_something_is_ruled_out_at_once(tmp_path: Path) -> None:
    """It is never told as possible beside the fact, but it is told as refuted."""
    program, facts = tmp_path / "calls.psg", tmp_path / "facts.jsonl"
    program.write_text("input call(x).\ninput answered(x) delay 2.\nlost(X) :- call(X), not answered(X).\n")
    facts.write_text('{"pred": "call", "args": ["ann"], "time": 0}\n')
    with watching(program, facts, "--paused") as watched:
        watched.state_after(1)
        body = json.dumps({"facts": ["answered(ann)@0"]}).encode()
        status, found = watched.ask(urllib.request.Request(f"{watched.address}api/suppose", body))
        assert status == 200
        (line,) = found["lines"]
        assert (line["status"], line["answer"], line["needs"]) == ("refuted", "lost(ann)@0", [])


def test_rules_are_replaced_and_the_run_goes_on() -> None:
    other = TURBINES.read_text().replace("query malf(X) bad.", "query cool(X).")
    with watching(TURBINES, TURBINE_FACTS, "--paused") as watched:
        watched.state_after(3)
        body = json.dumps({"source": other, "go_on": True}).encode()
        status, _ = watched.ask(urllib.request.Request(f"{watched.address}api/run", body))
        assert status == 200
        with watched.batches() as batches:
            state = next(batch["state"] for batch in batches if batch["state"]["now"] == 2)
        assert state["paused"] and not state["finished"]
        rows = {row["answer"]: row["status"] for row in watched.get("api/state")[1]["rows"]}
        assert rows["cool(wt25)@1"] == "confirmed" and rows["cool(wt25)@2"] == "possible"


def test_rules_are_changed_on_this_machine_only() -> None:
    with watching(TURBINES, TURBINE_FACTS, "--paused", "--host", "0.0.0.0") as watched:
        request = urllib.request.Request(f"{watched.address}api/run", b'{"source": "a."}')
        assert watched.ask(request)[0] == 403 and not watched.get("api/program")[1]["editable"]
        assert watched.post({"action": "again"})[0] == 200


def test_without_a_program_the_examples_are_shown() -> None:
    with watching(None, None, "--paused") as watched:
        _, listed = watched.get("api/examples")
        names = [each["name"] for each in listed]
        assert {"turbines", "hospital", "stops", "network", "heartbeat"} <= set(names)
        for path in ("", "page/gallery.js", "pictures/turbines.svg", "turbines/", "turbines/page/main.js"):
            with urllib.request.urlopen(watched.address + path, timeout=60) as reply:
                assert reply.status == 200 and "script-src 'self'" in reply.headers["content-security-policy"]
        assert watched.get("turbines/api/program")[1]["queries"] == ["malf(X)"]
        assert watched.get("network/api/program")[1]["queries"] == ["flag(X, S)"], "each runs by itself"
        assert watched.get("pictures/nothing.svg")[0] == 404 and watched.get("nothing/api/program")[0] == 404
        inside = Watched(watched.process, f"{watched.address}turbines/")
        assert inside.state_after(9)["step"] >= 9
        assert inside.get("api/state")[1]["rows"]


@pytest.mark.parametrize(("words", "message"), [((TURBINES,), "go together"), (("--facts", TURBINE_FACTS), "PROGRAM")])
def test_half_a_call(words: tuple[str | Path, ...], message: str) -> None:
    done = presage(*words)
    assert done.returncode == 2 and message in done.stderr


def test_a_port_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = presage(TURBINES, "--facts", TURBINE_FACTS, "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "cannot listen on 127.0.0.1" in done.stderr and "--port 0" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_is_for_this_machine_unless_told_otherwise(turbines: Watched) -> None:
    assert turbines.address.startswith("http://127.0.0.1:")
    with watching(TURBINES, TURBINE_FACTS, "--paused", "--host", "0.0.0.0") as watched:
        assert watched.get("api/program")[0] == 200
        assert watched.process.stderr is not None
        assert "whoever can reach this machine" in watched.process.stderr.readline()


def test_wrong_files_and_wrong_calls(tmp_path: Path) -> None:
    facts = tmp_path / "facts.jsonl"
    facts.write_text('{"pred": "tmep", "args": ["a", "high"], "time": 0}\n')
    for words, status, said in (
        ([TURBINES, "--facts", facts], 1, "did you mean `temp`?"),
        ([TURBINES, "--facts", tmp_path / "none.jsonl"], 1, "none.jsonl: cannot be read"),
        ([tmp_path / "none.psg", "--facts", TURBINE_FACTS], 1, "no such file"),
        ([TURBINES], 2, "--facts"),
        ([TURBINES, "--facts", TURBINE_FACTS, "--speed", "-1"], 2, "not a speed"),
        ([TURBINES, "--facts", TURBINE_FACTS, "--speed", "inf"], 2, "not a speed"),
        ([TURBINES, "--facts", TURBINE_FACTS, "--port", "99999"], 2, "not a port"),
        ([TURBINES, "--facts", TURBINE_FACTS, "--host", "no such host"], 1, "no such address"),
        ([TURBINES, "--facts", TURBINE_FACTS, "--until", "-3"], 2, "--until"),
    ):
        done = presage(*words)
        assert done.returncode == status, done.stderr
        assert said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from presage.cli import main;"
        f"sys.exit(main(['watch', {str(TURBINES)!r}, '--facts', {str(TURBINE_FACTS)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 1
    assert f"needs {missing}" in done.stderr and "pip install 'presage-streams[watch]'" in done.stderr


def test_since_when_an_answer_stands_as_it_does(turbines: Watched) -> None:
    """A line comes again when less is missing; it has been possible all the while."""
    found = turbines.get("api/answer", answer="malf(wt25)@0", step=2)[1]["line"]
    assert found["now"] == 1 and found["since"] == 0
