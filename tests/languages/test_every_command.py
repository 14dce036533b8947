"""Every command with a file of every language: what it does with it, or why it does not; right files and wrong ones,
named from another folder."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from presage.cli import COMMANDS, main
from presage.languages import LANGUAGES, PRESAGE
from tests.watching import watching


@dataclass(frozen=True)
class Given:
    text: str
    facts: tuple[tuple[str, list[Any], int], ...]
    typed: str
    """The facts, as they are typed."""
    answer: str
    status: str = "confirmed"
    by_rules: bool = True
    own_line: str = ""
    """What an explanation says of the program's text."""
    wrong: str = ""
    """What is said when the last four characters are missing."""


ROAD = '"<http://e.x/a>", "<http://e.x/v>", 5'
GIVEN = {
    "cql": Given(
        "CREATE STREAM s (a INT, b TEXT);\nSelect a From s [Range 2];\n",
        (("s", [1, "x"], 0), ("s", [2, "y"], 1)), "s(1, x)@0. s(2, y)@1.", "answer(1)@1",
        own_line="line 2, Select a From s [Range 2]", wrong=":2:18: error L101",
    ),
    "rq": Given(
        "REGISTER QUERY hot AS\nSELECT ?s FROM STREAM <http://e.x/st> [RANGE 2s STEP 1s]\n"
        "WHERE { ?s <http://e.x/v> ?x FILTER(?x > 3) }\n",
        (("triple", ["<http://e.x/a>", "<http://e.x/v>", 5], 0),), f"triple({ROAD})@0. :now 1", 'hot("<http://e.x/a>")@1',
        own_line="line 2, FROM STREAM <http://e.x/st> [RANGE 2s STEP 1s]", wrong=":3:40: error L101",
    ),
    "dmtl": Given(
        "H(X) :- Diamondminus[0,2] T(X)\n",
        (("T", ["a"], 0),), "T(a)@0. :now 1", "H(a)@[0,2]",
        own_line="line 1, H(X) :- Diamondminus[0,2] T(X)", wrong=":1:25: error P201",
    ),
    "ltl": Given(
        "p1: G (a -> F[0,3] b)\n",
        (("a", [], 0), ("b", [], 1)), "a@0. b@1.", "p1@0", "possible", False,
        "line 1, p1: G (a -> F[0,3] b)", ":1:17: error P201",
    ),
    "decl": Given(
        "activity a\nactivity b\nResponse[a, b] | | |0,3,s\n",
        (("event", ["c1", "a"], 0), ("event", ["c1", "b"], 1)), "event(c1, a)@0. event(c1, b)@1.", "response_1(c1)@0",
        "possible", False, "line 3, Response[a, b] | | |0,3,s", ":3:21: error P207",
    ),
    "etalis": Given(
        "e(X) <- a(X) SEQ b(X).\n",
        (("a", ["k"], 0), ("b", ["k"], 1)), "a(k)@0. b(k)@1.", "e(k)@[0,1]", "confirmed", False,
        "line 1, e(X) <- a(X) SEQ b(X)", ":1:18: error P201",
    ),
    "mfotl": Given(
        "p(x) AND ONCE[0,2] q(x)\n",
        (("q", [1], 0), ("p", [1], 1)), "q(1)@0. p(1)@1.", "satisfied(1)@1", "confirmed", False,
        "line 1, p(x) AND ONCE[0,2] q(x)", ":1:18: error P201",
    ),
}  # fmt: skip
COLUMNS = {
    ("cql", "s"): 'a = "bigint", b = "string", ', ("dmtl", "T"): 'a1 = "string", ',
    ("rq", "triple"): 's = "string", p = "string", o = "bigint", ',
    ("decl", "event"): 'case = "string", activity = "string", ',
    ("etalis", "a"): 'a1 = "string", ', ("etalis", "b"): 'a1 = "string", ',
    ("mfotl", "p"): 'x = "bigint", ', ("mfotl", "q"): 'x = "bigint", ',
}  # fmt: skip
NAMES = sorted(GIVEN)


class Files:
    def __init__(self, name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.name, self.given, self.capsys = name, GIVEN[name], capsys
        self.program = folder / f"good.{name}"
        self.program.write_text(self.given.text)
        self.wrong = folder / f"wrong.{name}"
        self.wrong.write_text(self.given.text.rstrip()[:-4] + "\n")
        for beside in ("good.sig", "wrong.sig"):
            (folder / beside).write_text("p(x:int)\nq(x:int)\n")
        self.facts = folder / "facts.jsonl"
        lines = [json.dumps({"pred": pred, "args": args, "time": time}) for pred, args, time in self.given.facts]
        self.facts.write_text("\n".join(lines) + "\n")
        self.folder = folder

    def call(self, words: str, *more: str | Path) -> tuple[int, str, str]:
        status = main([*shlex.split(words), *map(str, more)])
        said = self.capsys.readouterr()
        return status, said.out, said.err

    def pipeline(self) -> Path:
        path = self.folder / "pipeline.toml"
        source = (
            '[sources.incoming]\nformat = "stdin"\n' if self.name != "rq" else '[sources.triples]\nformat = "stdin"\n'
        )
        sink = '[sinks.out]\nformat = "lines"\npath = "out.jsonl"\n'
        path.write_text(f'program = "good.{self.name}"\ncheckpoint = "state"\n\n{source}\n{sink}')
        return path


@pytest.fixture(params=NAMES)
def files(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Files:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    there = tmp_path / "rules"
    there.mkdir()
    monkeypatch.chdir(elsewhere)
    return Files(request.param, there, capsys)


def test_the_table_is_whole() -> None:
    assert {each.name for each in LANGUAGES if each is not PRESAGE} == set(GIVEN)
    tried = {
        "run",
        "watch",
        "pipeline",
        "serve",
        "explain",
        "test",
        "ask",
        "models",
        "check",
        "plan",
        "fmt",
        "translate",
    }
    assert set(COMMANDS) - tried == {"repl", "lsp", "demo", "examples", "init"}, (
        "a command that takes programs is tried"
    )


@pytest.mark.parametrize("emit", ["changes", "snapshot", "confirmed", "states"])
def test_run(files: Files, emit: str) -> None:
    status, out, err = files.call(f"run --json --emit {emit}", files.program, "--facts", files.facts)
    assert status == 0, err
    told = [each for line in map(json.loads, out.splitlines()) for each in line.get("answers", [line])]
    confirmed_only = emit in ("confirmed", "states")
    assert {each["status"] for each in told} <= ({"confirmed", "holds"} if confirmed_only else {*STATUSES})
    if files.given.status == "confirmed" or not confirmed_only:
        begins = files.given.answer.split("@")[0]
        assert any(each["answer"].startswith(begins) for each in told), told
    if files.name in ("etalis", "mfotl"):
        assert {each["answer"] for each in told} == {files.given.answer}, "events and time points do not go on"


STATUSES = ("possible", "confirmed", "refuted", "unsupported", "holds")


@pytest.mark.parametrize(
    "words",
    ["check", "check --json", "run --facts {facts}", "translate", "plan", "repl", "models --facts {facts} --at 1",
     "explain --facts {facts} --at 1 {answer}", "ask --facts {facts} --at 1 true"],
)  # fmt: skip
def test_what_is_wrong_has_its_place(files: Files, words: str) -> None:
    facts, answer = shlex.quote(str(files.facts)), shlex.quote(files.given.answer)
    command, _, options = words.partition(" ")
    status, _, err = files.call(f"{command} {files.wrong} {options.format(facts=facts, answer=answer)}")
    assert status == 1 and f"{files.wrong}{files.given.wrong}" in err, err


def test_check_and_translate(files: Files) -> None:
    status, out, _ = files.call("check --json", files.program)
    report = json.loads(out)
    assert status == 0 and report["ok"]
    assert files.call("check --text", files.program)[0] == 0
    status, out, _ = files.call("translate", files.program)
    assert status == 0 and out.startswith("timeline ")
    (files.folder / "translated.psg").write_text(out)
    if files.given.by_rules:
        assert files.call("check", files.folder / "translated.psg")[0] == 0
    other = files.folder / "text.other"
    other.write_text(files.given.text)
    if files.name != "mfotl":  # its signature lies beside it, under its own name
        assert files.call(f"translate --from {files.name}", other)[1] == out


def test_explain_speaks_of_the_authors_lines(files: Files) -> None:
    words = ("--facts", files.facts, "--at", "1", files.given.answer)
    status, out, err = files.call("explain --text", files.program, *words)
    assert status == 0, err
    assert files.given.own_line in " ".join(out.split()), out
    assert json.loads(files.call("explain --json", files.program, *words)[1])["status"] == files.given.status


def test_what_is_about_rules(files: Files) -> None:
    stream = ("--facts", files.facts, "--at", "1")
    for words, more in (("plan", ()), ("plan --core", ()), ("models", stream), ("ask", (*stream, "true"))):
        status, out, err = files.call(words, files.program, *more)
        if files.given.by_rules and (files.name != "dmtl" or words.startswith("plan")):
            assert status == 0 and out, err
        else:
            assert status == 1 and err.startswith(f"{files.program}: `presage {words.split()[0]}` "), err
            assert "`presage translate`" in err


def test_fmt_is_for_our_own(files: Files) -> None:
    for words in ("fmt", "fmt --check", "fmt --write"):
        status, _, err = files.call(words, files.program)
        assert status == 1 and "lays out Presage's own programs" in err
    assert files.program.read_text() == files.given.text


def test_repl(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = files.given.typed.replace(". ", ".\n") + "\n:why\n:check\n:program\nb(X) :- a(X).\nnobody(1)@7.\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    status, out, err = files.call("repl", files.program)
    assert status == 1, "two of the entries are wrong"
    assert f"{files.given.status} {files.given.answer.split('@')[0]}" in out
    assert "watches" in out and files.given.text.splitlines()[-1] in out
    first, second = err.strip().splitlines()[-2:]
    assert first.startswith("b(X) :- a(X).: this is no fact") and str(files.program) in first
    assert second == "nobody(1)@7: the program has no `nobody`"


def test_cases(files: Files) -> None:
    (files.folder / "cases").mkdir()
    (files.folder / f"wrong.{files.name}").unlink()
    facts = files.given.typed.replace(":now 1", "").replace(". ", "\n    ").rstrip(". \n")
    case = f"facts\n    {facts}\nexpect\n    1: {files.given.status} {files.given.answer}\n"
    (files.folder / "cases" / "first.case").write_text(case)
    status, out, err = files.call("test --json", files.folder)
    assert status == 0, out + err
    (files.folder / "cases" / "first.case").write_text(case.replace(f"1: {files.given.status}", "1: refuted"))
    assert files.call("test", files.folder)[0] == 1


def test_pipelines(files: Files) -> None:
    path = files.pipeline()
    status, out, err = files.call("serve --check --json", path)
    assert status == 0 and json.loads(out)["ok"], err
    batch = path.with_name("batch.toml")
    (files.folder / "in").mkdir()
    sources = "".join(
        f'[sources.{name[1]}]\nformat = "json"\npath = "in"\nschema = {{ {COLUMNS.get(name, "")}time = "bigint" }}\n'
        for name in sorted({(files.name, pred) for pred, _, _ in files.given.facts})
    )
    batch.write_text(f'program = "good.{files.name}"\nmode = "batch"\n{sources}[sinks.out]\nformat = "console"\n')
    status, out, err = files.call("pipeline --check --json", batch)
    assert status == 0 and json.loads(out)["ok"], err
    path.write_text(path.read_text().replace("good.", "wrong."))
    status, _, err = files.call("serve --check", path)
    assert status == 1 and f"wrong.{files.name}{files.given.wrong}" in err, err


def test_serve(files: Files) -> None:
    lines = files.facts.read_text() + '{"now": 9}\n'
    words = [sys.executable, "-m", "presage", "serve", str(files.pipeline())]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in (files.folder / "out.jsonl").read_text().splitlines()]
    assert (files.given.status, files.given.answer) in {(each["status"], each["answer"]) for each in told}


def test_watch(files: Files) -> None:
    with watching(files.program, files.facts, "--paused") as watched:
        watched.state_after(2)
        assert watched.get("api/program")[1]["source"] == files.given.text
        rows = watched.get("api/state")[1]["rows"]
        row = next(each for each in rows if each["answer"].startswith(files.given.answer.split("@")[0]))
        status, found = watched.get("api/answer", answer=row["key"])
        assert status == 200, found
        shown = [f"line {each['line']}, {' '.join(each['text'].split())}" for each in found["rules"]]
        assert any(each.startswith(files.given.own_line) for each in shown), shown
