"""`param` and `include`: values from outside, and programs of several files whose messages name the right one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.checking import check_text
from presage.cli import main
from presage.parser import read
from presage.parser.including import Folder
from presage.pipeline.checking import check_pipeline
from presage.run.reasoner import Reasoner
from tests.commands.test_cli import presage as command

EVERYWHERE = """\
timeline discrete.
tick $unit.
start $begin.
param unit = 1s.
param begin = 2026-01-01T00:00:00Z.
param limit = 30.
param wait = 2s.
param rows = 3.
param share = 0.25.
param device = "wt 25".
param less = -1.
input temp(device, level) where device = $device delay $wait rate $share.
input move(device) delay {0: $share, $wait: 1/2}.
horizon $wait.
a(X)@T+$wait :- temp(X, V)@T, V > $limit + 1.
b(X)@T-$wait :- temp(X, -$limit)@T.
c(X) :- window($wait, ahead $wait, hop 2s) some move(X), once[0,$wait] temp(X, $device).
d(X) :- window(rows $rows, ahead $rows) some move(X), -$less < 2 * $limit, temp(X, $less).
e@$begin.
query a(X) bad.
"""


def test_parameters_are_the_values_they_stand_for() -> None:
    by_name = presage.parse(EVERYWHERE)
    text = EVERYWHERE
    values = {"unit": "1s", "begin": "2026-01-01T00:00:00Z", "limit": "30", "wait": "2s", "rows": "3"}
    for name, value in {**values, "share": "0.25", "device": '"wt 25"'}.items():
        text = text.replace(f"${name}", value)
    text = text.replace("-$less", "1").replace("$less", "-1")
    assert "$" not in text
    plain, named = (presage.check(each).to_json() for each in (presage.parse(text), by_name))
    assert named == plain
    facts = [("temp", ("wt 25", 32), 1), ("temp", ("wt 25", -30), 3), ("move", ("wt 25",), 3)]
    told = []
    for program in (presage.parse(text), by_name):
        reasoner = Reasoner(program, emit="confirmed")
        told.append([str(each) for now in range(6) for each in reasoner.push([f for f in facts if f[2] == now], now)])
    assert told[0] == told[1] and told[0]
    assert presage.Program.of_plain(by_name.plain()) == by_name


def test_fmt_keeps_parameters_and_includes() -> None:
    text = EVERYWHERE + 'include "a b.psg".\nparam "x" = 3.\n'.replace('param "x"', "param window")
    formatted = presage.format(text)
    assert formatted == presage.format(formatted)
    for written in ("T+$wait", "T-$wait", "rows $rows, ahead $rows", "{0: $share, $wait: 0.5}", "temp(X, -$limit)"):
        assert written in formatted
    assert "query a(X) bad." in formatted and 'include "a b.psg".' in formatted and "param window = 3." in formatted
    assert read(formatted).program == read(text).program


DECLARED = """\
param limit = 30.
param wait = 2s.
param begin = 2026-01-01T00:00:00Z.
param device = "wt 25".
hot(X) :- temp(X, V), V > $limit, X != $device.
"""


@pytest.mark.parametrize(
    ("name", "given", "shown"),
    [
        ("limit", 40, "40"),
        ("limit", "1/3", "1/3"),
        ("limit", Fraction(1, 3), "1/3"),
        ("limit", 0.1, "0.1"),
        ("limit", "-2", "-2"),
        ("wait", "5m", "5m"),
        ("wait", timedelta(minutes=90), "90m"),
        ("wait", timedelta(milliseconds=1), "1ms"),
        ("begin", "2026-02-01T01:00:00+01:00", "2026-02-01T00:00:00Z"),
        ("begin", datetime(2026, 2, 1, tzinfo=UTC), "2026-02-01T00:00:00Z"),
        ("device", "40", '"40"'),
        ("device", "in", "in"),
    ],
)
def test_a_value_from_outside_is_read_as_the_default_is(name: str, given: Any, shown: str) -> None:
    parsed = presage.parse(DECLARED, params={name: given})
    assert f"param {name} = {shown}." in str(parsed)
    assert presage.parse(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("name", "given"),
    [("limit", "high"), ("limit", "5m"), ("wait", "5"), ("wait", 5), ("begin", "5"), ("device", 5), ("limit", True),
     ("limit", float("nan")), ("limit", "1 2"), ("limit", None)],
)  # fmt: skip
def test_a_value_of_another_kind_is_refused(name: str, given: Any) -> None:
    with pytest.raises(presage.PresageError, match=f"the parameter `{name}` is a"):
        presage.parse(DECLARED, params={name: given})


def test_names_that_are_words_elsewhere() -> None:
    parsed = presage.parse("param(X) :- include(X), good(X), bad(X). query param(X).")
    assert [rule.head_atoms[0].predicate for rule in parsed.rules] == ["param"]  # type: ignore[union-attr]
    assert [each.tone for each in presage.parse("good(X) :- bad(X). query good(X) good.").queries] == ["good"]


def _files(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / f"{name.replace('__', '/')}.psg"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.psg"


MAIN = 'include "parts/rules.psg".\ninclude "limits.psg".\nquery hot(X).\n'
RULES = '% rules\ninclude "../limits.psg".\nhot(X) :- temp(X, V), V > $limit.\n:- temp(_, V), V > 2 * $limit.\n'


def test_a_program_of_several_files(tmp_path: Path) -> None:
    path = _files(tmp_path, main=MAIN, parts__rules=RULES, limits="param limit = 30.\n")
    loaded = presage.load(path)
    assert [type(each).__name__ for each in loaded.statements] == ["Param", "Rule", "Rule", "Query"]
    assert presage.parse(MAIN, folder=tmp_path) == loaded == presage.parse(str(loaded))
    again = presage.Program.of_plain(json.loads(json.dumps(loaded.plain())))
    assert again == loaded and again.source == loaded.source
    assert loaded.place_of(loaded.rules[0]) == f"line 3 of {tmp_path}/parts/rules.psg"
    facts = tmp_path / "facts.jsonl"
    facts.write_text('{"pred": "temp", "args": ["a", 70], "time": 0}\n')
    done = command("run", path, "--facts", facts, "--emit", "confirmed", "--set", "limit=50")
    assert [json.loads(line)["answer"] for line in done.stdout.splitlines()] == ["hot(a)@0"]
    done = command("run", path, "--facts", facts, "--emit", "confirmed")
    assert f'violated("{tmp_path}/parts/rules.psg:4", 70)@0' in json.loads(done.stdout.splitlines()[1])["answer"]
    done = command("explain", path, "--facts", facts, "--at", "0", "hot(a)@0", "--json")
    (rule,) = json.loads(done.stdout)["rules"]
    assert rule == {
        "file": f"{tmp_path}/parts/rules.psg", "line": 3, "rule": "hot(X) :- temp(X, V), V > $limit.",
    }  # fmt: skip
    done = command("run", path, "--facts", facts, "--set", "limt=50")
    assert done.returncode == 2 and "did you mean `limit`?" in done.stderr


def test_messages_name_the_file(tmp_path: Path) -> None:
    path = _files(
        tmp_path, main=MAIN + "hot(X, Y) :- temp(X, Y).\n", parts__rules=RULES + "warm(X) :- temp(X, .\n", limits=""
    )
    with pytest.raises(presage.ProgramError) as found:
        presage.load(path)
    said = str(found.value)
    assert f"{tmp_path}/parts/rules.psg:5:20: error P201" in said and "    5 | warm(X) :- temp(X, ." in said
    assert f"{path}:4:1: error N101" in said
    assert f"({tmp_path}/parts/rules.psg:3:1)" in said
    assert f"{tmp_path}/parts/rules.psg:3:27: error D109" in said
    report = check_text(path.read_text(), str(path), folder=Folder(tmp_path))
    files = [Path(each["file"]).name for each in report.to_json()["problems"]]
    assert files == ["main.psg", "rules.psg", "rules.psg", "rules.psg"]


def test_circles_and_files_that_are_not_there(tmp_path: Path) -> None:
    path = _files(tmp_path, main='include "a.psg".', a='include "b.psg".\nx :- y.', b='include "a.psg".')
    with pytest.raises(
        presage.ProgramError, match=r"b.psg:1:1: error F101: .*`a.psg` includes `b.psg` includes `a.psg`"
    ):
        presage.load(path)
    path.write_text('x :- y.\ninclude "main.psg".')
    with pytest.raises(presage.ProgramError, match=r"main.psg:2:1: error F101: .*a circle"):
        presage.load(path)
    path.write_text('include "nowhere.psg".\nx :- y, Z > $limit.')
    with pytest.raises(presage.ProgramError) as found:
        presage.load(path)
    assert [each.code for each in found.value.diagnostics] == ["F101", "S102"]
    (tmp_path / "b.psg").write_bytes(b"\xff\xfe")
    path.write_text('include "b.psg".')
    with pytest.raises(presage.ProgramError, match="not UTF-8 text"):
        presage.load(path)
    path.write_text('include "../x\\u{0}.psg".\ninclude ".".')
    with pytest.raises(presage.ProgramError) as found:
        presage.load(path)
    assert [each.code for each in found.value.diagnostics] == ["F101", "F101"]


def test_a_page_reads_nothing_outside_of_its_folder(tmp_path: Path) -> None:
    _files(tmp_path, secret="x :- y.", below__main="z :- y.")
    folder = Folder(tmp_path / "below", only_below=True)
    (tmp_path / "below" / "link.psg").symlink_to(tmp_path / "secret.psg")
    for path in ("../secret.psg", str(tmp_path / "secret.psg"), "link.psg"):
        report = check_text(f'include "{path}".', "edited.psg", folder=folder)
        assert [each.code for each in report.errors] == ["F101"], path
        assert "not below the folder" in report.errors[0].message
    assert check_text('include "main.psg".', "edited.psg", folder=folder).ok


def test_parameters_of_a_pipeline(tmp_path: Path) -> None:
    _files(tmp_path, main=MAIN, parts__rules=RULES, limits="param limit = 30.\n")
    pipeline = tmp_path / "p.toml"
    pipeline.write_text(
        'program = "main.psg"\nmode = "batch"\n[params]\nlimit = 40\n[sources.temp]\nformat = "csv"\npath = "t.csv"\n'
        'schema = { device = "string", level = "int", time = "int" }\ncolumns = { "1" = "device", "2" = "level" }\n'
        '[sinks.screen]\nformat = "console"\n'
    )
    (tmp_path / "t.csv").write_text("device,level,time\n")
    found = check_pipeline(pipeline, {})
    assert found.report is not None and "param limit = 40." in str(found.report.program)
    found = check_pipeline(pipeline, {}, params={"limit": "50"})
    assert found.report is not None and "param limit = 50." in str(found.report.program)
    pipeline.write_text(pipeline.read_text().replace("limit = 40", 'limt = 40\nlimit = ["a"]'))
    told = check_pipeline(pipeline, {}).text()
    assert "p.toml:4:8: error C105" in told and "did you mean `limit`?" in told and "p.toml:5:9: error C104" in told


def test_cases_take_other_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hot.psg").write_text("param limit = 30.\ninput temp(x, c).\nhot(X) :- temp(X, C), C > $limit.\n")
    (tmp_path / "some.case").write_text("facts\n    temp(a, 35)@0\nexpect\n    0: confirmed hot(a)@0\n")
    assert main(["test", str(tmp_path)]) == 0
    assert main(["test", str(tmp_path), "--set", "limit=35"]) == 1
    capsys.readouterr()
    assert main(["test", str(tmp_path), "--set", "limt=35"]) == 2
    assert "did you mean `limit`?" in capsys.readouterr().out


def test_commands_that_print_a_program_or_prompt_for_one_take_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.psg"
    path.write_text("param limit = 3.  % of p\ninput p(x).\nq(X) :- p(X), X > $limit.\nquery q(X).\n")
    for name in ("fmt", "translate"):
        assert main([name, str(path), "--set", "limit=9"]) == 0
        said = capsys.readouterr().out
        assert "param limit = 9." in said and "$limit" in said and "% of p" in said
    done = command("repl", path, "--set", "limit=1", "--json", stdin="p(2)@0.\n:settle\n")
    assert [json.loads(line)["answer"] for line in done.stdout.splitlines()][-1:] == ["q(2)@0"], done.stderr
    for name in ("fmt", "translate", "repl"):
        assert main([name, str(path), "--set", "limt=9"]) == 2
        assert "did you mean `limit`" in capsys.readouterr().err
