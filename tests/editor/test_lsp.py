"""The language server, spoken to over standard input and output as an editor does."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """\
% 𝒯emperatures
timeline discrete.
input temp(device, level) delay 1.
param wanted = high.

flag(X) :- temp(X, $wanted).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.   % 𝒯
quiet(X) :- temp(X, low), not once[0,2] flag(X).

query cool(X).
query quiet(X).
"""


COOL = "cool(X)@T+1 :- flag(X)@T, flag(X)@T+1."


class Client:
    """An editor: writes messages with their length, reads what comes back."""

    def __init__(self) -> None:
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115  (open for as long as the server is)
        command = [sys.executable, "-m", "presage", "lsp"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, cwd=ROOT
        )
        self.count = 0
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        out = self.process.stdout
        assert out is not None
        length = 0
        while (line := out.readline()) != b"\r\n":
            assert line, "the server is gone"
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        message: dict[str, Any] = json.loads(out.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    def reply(self, method: str, **params: Any) -> dict[str, Any]:
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.count:
                return message

    def ask(self, method: str, **params: Any) -> Any:
        message = self.reply(method, **params)
        assert "error" not in message, message
        return message["result"]

    def open(self, path: Path, text: str) -> str:
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "presage", "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=document)
        return uri

    def change(self, uri: str, version: int, text: str) -> None:
        self.notify(
            "textDocument/didChange",
            textDocument={"uri": uri, "version": version},
            contentChanges=[{"text": text}],
        )

    def told(self, uri: str) -> list[dict[str, Any]]:
        """The diagnostics after all that was sent."""
        self.ask("textDocument/documentSymbol", textDocument={"uri": uri})
        return self.diagnostics[uri]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    found = Client()
    result = found.ask("initialize", processId=None, rootUri=ROOT.as_uri(), capabilities={})
    assert result["serverInfo"]["name"] == "presage"
    found.notify("initialized")
    yield found
    assert found.ask("shutdown") is None
    found.notify("exit")
    assert found.process.wait(timeout=20) == 0
    found.log.seek(0)
    assert "Traceback" not in found.log.read(), "what is refused is told to the editor, and is no news to a log"


def place(text: str, found: str, nth: int = 0, into: int = 0) -> dict[str, int]:
    """Line and column, counted in units of UTF-16 as editors do, of the nth occurrence of a text."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(found, at + 1)
    before = text[: at + into]
    last = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(last.encode("utf-16-le")) // 2}


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """A text after edits, done here by hand."""
    lines = [*text.splitlines(keepends=True), ""]

    def offset(position: dict[str, int]) -> int:
        line = lines[position["line"]]
        units = line.encode("utf-16-le")[: 2 * position["character"]]
        return sum(map(len, lines[: position["line"]])) + len(units.decode("utf-16-le"))

    spans = [(offset(each["range"]["start"]), offset(each["range"]["end"]), each["newText"]) for each in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def at(uri: str, position: dict[str, int]) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": position}


def starts(locations: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(each["range"]["start"]["line"], each["range"]["start"]["character"]) for each in locations]


@pytest.fixture(scope="module")
def uri(client: Client, tmp_path_factory: pytest.TempPathFactory) -> str:
    return client.open(tmp_path_factory.mktemp("lsp") / "turbines.psg", PROGRAM)


def test_diagnostics_come_as_one_types(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "wrong.psg", "a(X) :- b(X) && c(Y).\n")
    (found,) = [each for each in client.told(uri) if each["code"] == "P103"]
    assert (found["severity"], found["range"]["start"]) == (1, {"line": 0, "character": 13})
    assert "literals are joined by `,`" in found["message"]
    client.change(uri, 2, "a(X) :- b(X), c(X).\n")
    assert client.told(uri) == []
    client.notify("textDocument/didClose", textDocument={"uri": uri})


def test_hover_says_what_a_predicate_is(client: Client, uri: str) -> None:
    def text(position: dict[str, int]) -> str:
        return str(client.ask("textDocument/hover", **at(uri, position))["contents"]["value"])

    assert "input, may arrive 1 time unit late" in text(place(PROGRAM, "temp", 0))
    cool = text(place(PROGRAM, "cool", 1, into=2))
    assert "**cool**/1: derived" in cool and "Settled" in cool
    assert "`cool(X)@T` needs:" in cool and "temp(X, high)@T-1, temp(X, high)@T" in cool
    assert "held at some time" in text(place(PROGRAM, "once"))
    assert "param wanted = high." in text(place(PROGRAM, "$wanted", into=3))
    assert client.ask("textDocument/hover", **at(uri, {"line": 0, "character": 3})) is None


def test_definitions_and_uses(client: Client, uri: str) -> None:
    flag = place(PROGRAM, "flag", 2)
    assert starts(client.ask("textDocument/definition", **at(uri, flag))) == [(5, 0)]
    context = {"context": {"includeDeclaration": True}}
    found = client.ask("textDocument/references", **at(uri, flag), **context)
    expected = [place(PROGRAM, "flag", nth) for nth in range(4)]
    assert starts(found) == [(each["line"], each["character"]) for each in expected]
    context = {"context": {"includeDeclaration": False}}
    assert len(client.ask("textDocument/references", **at(uri, flag), **context)) == 3


@pytest.mark.parametrize(
    ("word", "nth", "new", "expected"),
    [
        ("flag", 1, "hot", PROGRAM.replace("flag", "hot")),
        ("wanted", 0, "level", PROGRAM.replace("wanted", "level")),
        ("X", 1, "Device", PROGRAM.replace(COOL, COOL.replace("X", "Device"))),
    ],
)
def test_renaming(client: Client, uri: str, word: str, nth: int, new: str, expected: str) -> None:
    position = place(PROGRAM, "cool(X)", into=5) if word == "X" else place(PROGRAM, word, nth)
    assert client.ask("textDocument/prepareRename", **at(uri, position)) is not None
    edit = client.ask("textDocument/rename", **at(uri, position), newName=new)
    assert applied(PROGRAM, edit["changes"][uri]) == expected


@pytest.mark.parametrize(("word", "new"), [("flag", "once"), ("flag", "cool"), ("flag", "a b"), ("X)", "x")])
def test_names_that_cannot_be_are_refused(client: Client, uri: str, word: str, new: str) -> None:
    message = client.reply("textDocument/rename", **at(uri, place(PROGRAM, word)), newName=new)
    assert new in message["error"]["message"] and "Traceback" not in message["error"]["message"]


def test_formatting_is_that_of_fmt(client: Client, tmp_path: Path) -> None:
    text = "% 𝒯\na(X):-b( X ),c(X).   % why\n\n\n\nquery   a(X)."
    uri = client.open(tmp_path / "plain.psg", text)
    options = {"options": {"tabSize": 4, "insertSpaces": True}}
    edits = client.ask("textDocument/formatting", textDocument={"uri": uri}, **options)
    (tmp_path / "plain.psg").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "presage", "fmt", str(tmp_path / "plain.psg")]
    assert applied(text, edits) == subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    client.change(uri, 2, "a(X) :- b(X")
    assert client.ask("textDocument/formatting", textDocument={"uri": uri}, **options) == []


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        ("a(X) :- b(X)\n", "Write `.`", "a(X) :- b(X).\n"),
        ("a(X) :- b(X)).\n", "Remove `)`", "a(X) :- b(X).\n"),
        ("a(X) :- b(X, Y), Y ≥ 3.\n", "Write `>=`", "a(X) :- b(X, Y), Y >= 3.\n"),
        ("a(X) :- b(X, 'q').\n", "Write double quotes", 'a(X) :- b(X, "q").\n'),
        ("inptu b(x).\na(X) :- b(X).\n", "Write `input`", "input b(x).\na(X) :- b(X).\n"),
        ("alarm(X) :- b(X).\nquery alram(X).\n", "Write `alarm`", "alarm(X) :- b(X).\nquery alarm(X).\n"),
        ("a(X) :- once[0,5m] b(X).\n", "Begin with `tick 1s.`", "tick 1s.\na(X) :- once[0,5m] b(X).\n"),
    ],
)
def test_quick_fixes_do_what_hints_say(client: Client, tmp_path: Path, text: str, title: str, expected: str) -> None:
    uri = client.open(tmp_path / "wrong.psg", text)
    (problem, *_) = client.told(uri)
    found = client.ask(
        "textDocument/codeAction",
        textDocument={"uri": uri},
        range=problem["range"],
        context={"diagnostics": [problem]},
    )
    (fix,) = [each for each in found if each["title"] == title]
    after = applied(text, fix["edit"]["changes"][uri])
    assert after == expected
    client.change(uri, 2, after)
    assert not [each for each in client.told(uri) if each["code"] == problem["code"]]


def test_completion(client: Client, tmp_path: Path) -> None:
    text = PROGRAM + "alarm(Dev) :- temp(Dev, $w), fl"
    uri = client.open(tmp_path / "half.psg", text)

    def labels(position: dict[str, int]) -> set[str]:
        return {each["label"] for each in client.ask("textDocument/completion", **at(uri, position))}

    end = {"line": text.count("\n"), "character": len(text.rsplit("\n", 1)[-1])}
    assert {"flag", "temp", "cool", "Dev", "once", "not", "count", "abs"} <= labels(end)
    assert "query" not in labels(end)
    assert {"query", "input", "param"} <= labels({"line": 8, "character": 0})
    assert labels(place(text, "$w)", into=2)) == {"wanted"}
    assert {"text", "float"} == labels_of_types(client, tmp_path) & {"text", "float", "once"}


def labels_of_types(client: Client, tmp_path: Path) -> set[str]:
    text = "input p(a: "
    uri = client.open(tmp_path / "types.psg", text)
    found = client.ask("textDocument/completion", **at(uri, {"line": 0, "character": len(text)}))
    return {each["label"] for each in found}


def test_outline(client: Client, uri: str) -> None:
    found = client.ask("textDocument/documentSymbol", textDocument={"uri": uri})
    assert [each["name"] for each in found] == ["temp", "$wanted", "flag", "cool", "quiet", "cool", "quiet"]


def test_included_files(client: Client, tmp_path: Path) -> None:
    (tmp_path / "base.psg").write_text("% rules\nflag(X) :- temp(X, high).\n", encoding="utf-8")
    text = 'include "base.psg".\nalarm(X) :- flag(X).\n'
    uri = client.open(tmp_path / "main.psg", text)
    assert client.told(uri) == []
    (found,) = client.ask("textDocument/definition", **at(uri, place(text, "flag")))
    assert found["uri"] == (tmp_path / "base.psg").as_uri()
    assert starts([found]) == [(1, 0)]
    edit = client.ask("textDocument/rename", **at(uri, place(text, "flag")), newName="hot")
    assert set(edit["changes"]) == {uri, (tmp_path / "base.psg").as_uri()}
    (tmp_path / "base.psg").write_text("flag(X :- temp(X, high).\n", encoding="utf-8")
    client.notify("textDocument/didSave", textDocument={"uri": uri})
    problem = client.told(uri)[0]
    assert "base.psg:1:" in problem["message"] and problem["range"]["start"]["line"] == 0


def test_programs_of_other_languages_have_messages(client: Client, tmp_path: Path) -> None:
    uri = client.open(tmp_path / "wrong.ltl", "G (a -> \n")
    assert client.told(uri)
    assert client.ask("textDocument/hover", **at(uri, {"line": 0, "character": 3})) is None


def test_without_pygls_it_is_said_what_is_missing() -> None:
    code = "import sys; sys.modules['pygls'] = None; from presage.cli import main; sys.exit(main(['lsp']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert "needs pygls, which is not installed" in done.stderr and "[editor]'" in done.stderr
