"""Pipeline files: where things stand in them, what is wrong with them, and that secrets stay out of every message."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presage.errors import CODES, ProgramError, Source
from presage.pipeline.checking import Checked, check_pipeline
from presage.pipeline.keys import KEYS, NAMED
from presage.pipeline.metrics import Measures, ShownMeasures
from presage.pipeline.postgres import latest
from presage.pipeline.toml import read_document
from tests.commands.test_cli import on_a_terminal, presage

ROOT = Path(__file__).parent.parent.parent
REFERENCE = ROOT / "docs/reference/pipelines.md"

GOOD = """
program = "turbines.psg"
checkpoint = "checkpoint"
trigger = "1s"

[sources.temp]
format = "json"
path = "in"
schema = { machine = "string", level = "string", ts = "bigint" }
columns = { device = "machine" }
time = "ts"

[sinks.screen]
format = "console"
"""


def checked(folder: Path, text: str, **environment: str) -> Checked:
    (folder / "in").mkdir(exist_ok=True)
    program = ROOT / "examples/turbines/turbines.psg"
    (folder / "turbines.psg").write_text(program.read_text())
    (folder / "p.toml").write_text(text)
    return check_pipeline(folder / "p.toml", environment)


def test_a_good_file_is_fine(tmp_path: Path) -> None:
    found = checked(tmp_path, GOOD)
    assert found.ok and not found.problems, found.text()
    assert found.to_json() == {"ok": True, "problems": []}


# Each mistake: what is changed into what, and then code, line and words of the message and its hint.
MISTAKES: dict[str, tuple[str, str, str, int, str]] = {
    "not TOML": ("trigger = ", "trigger ", "C101", 4, "this is not TOML: expected '=' after a key"),
    "not closed": ('"console"', '"console', "C101", 14, "this is not TOML"),
    "unknown key": ("trigger", "triger", "C102", 4, "a pipeline has no key `triger`.*did you mean `trigger`"),
    "unknown table": ("[sinks.screen]", "[sink.screen]", "C102", 13, "did you mean `sinks`"),
    "key of another format": ('path = "in"', 'path = "in"\ntopic = "t"', "C102", 9, "it is for `kafka`"),
    "no program": ('program = "turbines.psg"', "", "C103", 1, 'has no `program`.*program = "turbines.psg"'),
    "no checkpoint": ('checkpoint = "checkpoint"', "", "C103", 1, "has no `checkpoint`"),
    "no sinks": (GOOD[GOOD.index("[sinks") :], "", "C103", 1, "nothing that answers go to"),
    "no path": ('path = "in"\n', "", "C103", 6, r"\[sources.temp\] has no `path`"),
    "no schema": (GOOD[GOOD.index("schema") : GOOD.index("columns")], "", "C103", 6, "has no `schema`"),
    "text for a number": ('trigger = "1s"', 'shards = "8"', "C104", 4, "is a whole number, not text"),
    "number for text": ('"checkpoint"', "7", "C104", 3, "`checkpoint` is text, not a number"),
    "true for a number": ('trigger = "1s"', "shards = true", "C104", 4, "is a whole number, not true or false"),
    "no shards": ('trigger = "1s"', "shards = 0", "C104", 4, "at least 1"),
    "files of a batch": ('time = "ts"', 'time = "ts"\nper_batch = 0', "C104", 12, "`per_batch` is at least 1"),
    "empty": ('path = "in"', 'path = " "', "C104", 8, 'sources.temp.path` is empty.*path = "readings"'),
    "empty checkpoint": ('"checkpoint"', '""', "C104", 3, "`checkpoint` is empty"),
    "format": ('"json"', '"jsn"', "C104", 7, "did you mean `json`"),
    "status": ('"console"', '"console"\nstatuses = ["confirmd"]', "C104", 15, "`confirmd` is not.*`confirmed`"),
    "trigger": ('"1s"', '"soon"', "C104", 4, "`soon` is no trigger.*500ms"),
    "type": ('"bigint"', '"bigin"', "C104", 9, "not a type of Spark.*`bigint`"),
    "list for a table": ("[sinks.screen]", "[[sinks.screen]]", "C104", 13, "`sinks.screen` is a table"),
    "date": ('"1s"', "2026-01-01", "C104", 4, "is text, not a date or time"),
    "predicate": ("[sources.temp]", "[sources.tmp]", "C105", 6, "no input `tmp`.*did you mean `temp`"),
    "derived": ("[sources.temp]", "[sources.malf]", "C105", 6, "derived by rules"),
    "static input": ("[sources.temp]", "[static.temp]\nformat='csv'\n[sources.temp]", "C105", 6, "not a static"),
    "arity": ('device = "machine"', 'device = "machine", "3" = "ts"', "C105", 10, "no argument `3`.*2 arguments"),
    "argument": ("device =", "devise =", "C105", 10, "no argument `devise`.*did you mean `device`"),
    "column": ('"machine" }', '"machin" }', "C105", 10, "column `machin` is missing.*is it `machine`"),
    "time column": ('time = "ts"', "", "C105", 6, "the column `time` is missing, which is to be the `time`"),
    "type of time": ('"bigint"', '"boolean"', "C105", 11, "boolean, which cannot be"),
    "type of argument": ('level = "string"', 'level = "timestamp"', "C105", 6, "cannot be `level: any`"),
    "program file": ("turbines.psg", "turbine.psg", "C106", 2, "there is no program `turbine.psg`"),
    "folder": ('"in"', '"out"', "C106", 8, "there is no file or folder `out`"),
    "variable": ('"in"', '"${WHERE_IT_IS}"', "C107", 8, "`WHERE_IT_IS` of the environment is not set"),
    "checkpoint of a batch": ('trigger = "1s"', 'mode = "batch"', "C109", 3, "a batch has no `checkpoint`"),
    "checkpoint in a source": ('"checkpoint"', '"./in"', "C109", 3, r"belongs to \[sources.temp\] already"),
    "answers in a source": (
        '"console"', '"json"\npath = "in/answers"', "C109", 15, r"belongs to \[sources.temp\] already",
    ),
    "answers in the checkpoint": ('"console"', '"json"\npath = "checkpoint"', "C109", 15, "the checkpoint already"),
    "two sinks in a folder": (
        '"console"', '"json"\npath = "out"\n[sinks.late]\nformat = "json"\nlate = true\npath = "in/../out"', "C109", 19,
        r"belongs to \[sinks.screen\] already",
    ),
    "measures in a folder": ('"console"', '"console"\n[metrics]\nfile = "in"', "C106", 16, "`in` is a folder"),
    "rate in a batch": ('"json"', '"rate"', "C102", 8, "not for the format `rate`"),
    "arrival in a stream": ('time = "ts"', 'time = "ts"\narrives = "ts"', "C109", 12, "facts arrive when they come"),
    "driver": (
        '"console"', '"jdbc"\nurl = "jdbc:mysql://h/d"\ntable = "t"', "C104", 15, "to PostgreSQL, and to no other",
    ),
    "address": ('"console"', '"jdbc"\nurl = "postgres://h/d"\ntable = "t"', "C104", 15, "begins with `jdbc:`"),
    "times": ('time = "ts"', 'time = "ts"\ntime_format = "hh"', "C104", 12, "no way to write times.*since 1970"),
    "facts by request": (
        'format = "json"\npath = "in"', 'format = "http"', "C109", 7, "`http` is not for Spark.*presage serve.*Kafka",
    ),
    "alerts of a batch": (
        'checkpoint = "checkpoint"\ntrigger = "1s"',
        'mode = "batch"\n[alerts.malf]\n[sinks.a]\nformat = "console"\nalerts = true', "C109", 6, "are for streams",
    ),
    "database that streams": (
        'format = "json"\npath = "in"\nschema = { machine = "string", level = "string", ts = "bigint" }',
        'format = "jdbc"\nurl = "jdbc:postgresql://h/d"\ntable = "t"', "C109", 7, "does not stream",
    ),
    "connector": ('"console"', '"kafka"\nservers = "h:1"\ntopic = "t"', "C110", 14, "spark.jars.packages"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told_with_line_and_hint(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESAGE_JARS", str(tmp_path))
    before, after, code, line, words = MISTAKES[name]
    assert before in GOOD
    try:
        found = checked(tmp_path, GOOD.replace(before, after, 1))
        assert not found.ok
        source, problems, text = found.pipeline.document.source, found.pipeline.problems, found.text()
    except ProgramError as error:
        source, problems, text = error.source, list(error.diagnostics), str(error)
    said = [each for each in problems if each.code == code and source.place(each.span.start)[0] == line]
    assert said, text
    assert any(re.search(words, f"{each.message} {each.hint}", re.IGNORECASE) for each in said), text
    assert all(each.hint for each in problems) and f"p.toml:{line}:" in text and "Traceback" not in text


def test_every_code_of_pipelines_has_a_mistake() -> None:
    tested = {mistake[2] for mistake in MISTAKES.values()} | {"C108"}
    assert tested == {code for code in CODES if code[0] == "C"}


def test_all_mistakes_are_told_at_once_those_of_the_program_too(tmp_path: Path) -> None:
    checked(tmp_path, GOOD)
    (tmp_path / "bad.psg").write_text("alarm(X) :- temp(Y, high).\n")
    text = GOOD.replace("turbines.psg", "bad.psg").replace('"console"', '"consol"').replace('"1s"', '"x"')
    done = presage("pipeline", "--check", _written(tmp_path, text))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    for said in ("p.toml:4:11: error C104", "p.toml:14:10: error C104", "bad.psg:1:7: error S101"):
        assert said in done.stderr


def _written(folder: Path, text: str) -> Path:
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


def test_a_variable_that_is_empty_is_told(tmp_path: Path) -> None:
    found = checked(tmp_path, GOOD.replace('"in"', '"${WHERE_IT_IS}"'), WHERE_IT_IS="")
    assert not found.ok and "p.toml:8:8: error C104: `sources.temp.path` is empty" in found.text()


def test_an_input_without_a_source_is_a_warning(tmp_path: Path) -> None:
    checked(tmp_path, GOOD)
    program = (tmp_path / "turbines.psg").read_text()
    (tmp_path / "more.psg").write_text(program + "input wind(device).\nstorm(X) :- wind(X).\nquery storm(X).\n")
    found = check_pipeline(_written(tmp_path, GOOD.replace("turbines.psg", "more.psg")), {})
    assert found.ok and [each.severity for each in found.problems] == ["warning"]
    assert "nothing brings facts of `wind`" in found.text()


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00a")
    for path, said in (
        (tmp_path / "none.toml", "no such file"),
        (tmp_path, "give a pipeline file"),
        (tmp_path / "binary.toml", "UTF-8"),
    ):
        done = presage("pipeline", "--check", path)
        assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_columns_of_parquet_are_looked_at_before_spark_starts(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    checked(tmp_path, GOOD)
    table = pa.table({"machine": ["a"], "level": ["high"], "at": [[1]]})
    parquet.write_table(table, tmp_path / "in/a.parquet")
    schema = GOOD[GOOD.index("schema") : GOOD.index("columns")]
    text = GOOD.replace('"json"', '"parquet"').replace(schema, "")
    found = check_pipeline(_written(tmp_path, text), {})
    assert "the column `ts` is missing" in found.text()
    found = check_pipeline(_written(tmp_path, text.replace('time = "ts"', 'time = "at"')), {})
    assert "the column `at` is list<" in found.text()
    (tmp_path / "in/a.parquet").write_text("no")
    assert "is not Parquet" in check_pipeline(_written(tmp_path, text), {}).text()


# Secrets

SECRET = "hunter2-is-secret"
LITERALS = [
    '[sinks.db]\nformat = "jdbc"\nurl = "jdbc:postgresql://h/d"\ntable = "t"\npassword = "{}"',
    '[sinks.db]\nformat = "jdbc"\nurl = "jdbc:postgresql://h/d"\ntable = "t"\npassword = """{}"""',
    '[sinks.db]\nformat = "jdbc"\nurl = "jdbc:postgresql://h/d?password={}&x=1"\ntable = "t"',
    '[sinks.db]\nformat = "jdbc"\nurl = "jdbc:postgresql://me:{}@h/d"\ntable = "t"',
    '[spark]\n"spark.hadoop.fs.s3a.secret.key" = "{}"',
    "[sinks.k]\nformat = 'kafka'\nservers = 's'\ntopic = 't'\n"
    'options = {{ "kafka.sasl.jaas.config" = \'Login required password="{}";\' }}',
    '[sinks.db]\nformat = "jdbc"\npassword = "{}\n',
    "password = {}",
    '[spark]\n"spark.token" = ["{}"]',
]


@pytest.mark.parametrize("place", range(len(LITERALS)))
def test_secrets_in_the_file_are_refused_and_not_shown(place: int, tmp_path: Path) -> None:
    text = GOOD + LITERALS[place].format(SECRET) + "\n"
    checked(tmp_path, GOOD)
    for words in ([], ["--json"]):
        done = presage("pipeline", "--check", *words, _written(tmp_path, text))
        assert done.returncode == 1
        assert SECRET not in done.stderr + done.stdout and "hunter2" not in done.stderr + done.stdout
        assert "C108" in done.stderr or "C101" in done.stderr or "C104" in done.stderr


def test_secrets_of_the_environment_are_put_in_and_hidden(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install presage-streams[postgres]")
    sinks = (
        '[sinks.db]\nformat = "jdbc"\nurl = "jdbc:postgresql://${HOST}/d"\ntable = "t"\npassword_env = "DB_PASS"\n'
        '[spark]\n"spark.secret" = "${TOKEN}"\n'
    )
    found = checked(tmp_path, GOOD + sinks, DB_PASS=SECRET, TOKEN="abc", HOST="db")
    assert found.ok, found.text()
    (_, sink) = found.pipeline.parts["sinks"]
    assert sink.text("password_env") == SECRET and sink.text("url") == "jdbc:postgresql://db/d"
    assert found.pipeline.spark["spark.secret"] == "abc"
    assert found.pipeline.hidden(f"no {SECRET} nor abc, but db") == "no *** nor ***, but db"
    missing = checked(tmp_path, GOOD + sinks, TOKEN="abc", HOST="db")
    assert "`DB_PASS` of the environment is not set" in missing.text()


# Places

_NAMES = st.sampled_from(["a", "b", "c", "d-e", "f g", "h.i", 'j"k', "ü"])
_VALUES = st.recursive(
    st.one_of(st.integers(0, 99), st.booleans(), st.sampled_from(["", "x", 'q"', "l#", "[", "a\nb", "'", "\\"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3)),
    max_leaves=8,
)


def _text(value: Any, plain: bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if plain and "'" not in value and "\n" not in value:
            return f"'{value}'"
        signs = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
        return '"' + "".join(signs.get(sign, sign) for sign in value) + '"'
    if isinstance(value, list):
        return "[ " + ", # one ]\n ".join(_text(each, plain) for each in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(name, False)} = {_text(each, plain)}" for name, each in value.items()) + " }"
    return str(value)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from _paths(each, (*path, name))


@given(st.dictionaries(_NAMES, st.dictionaries(_NAMES, _VALUES, max_size=3), max_size=4), st.booleans(), st.booleans())
def test_every_value_has_its_place(tables: dict[str, Any], plain: bool, windows: bool) -> None:
    text = "# a = 1\n"
    for name, table in tables.items():
        text += f"[ {_text(name, False)} ] # [no]\n"
        text += "".join(f"{_text(key, False)}={_text(value, plain)} # b = 2\n" for key, value in table.items())
    text = text.replace("\n", "\r\n") if windows else text
    found = read_document(text, Source.of(text, "p.toml"))
    assert found.values == tables
    assert found.places.keys() == set(_paths(tables))
    for path in found.places:
        value = found.values
        for name in path:
            value = value[name]
        if len(path) > 1:
            span = found.value(path)
            assert tomllib.loads(f"x = {text[span.start : span.end]}") == {"x": value}


def test_places_of_lists_of_tables_and_dotted_keys() -> None:
    text = 'a.b = 1\n[[c]]\nd = 2\n[[c]]\nd = \'\'\'\nx\'\'\'\n[c.e]\nf = """q""""\n'
    found = read_document(text, Source.of(text))
    assert found.places.keys() == set(_paths(found.values))
    assert text[slice(*found.value(("c", 1, "d")))] == "'''\nx'''"
    assert text[slice(*found.value(("c", 1, "e", "f")))] == '"""q""""'


# What is measured


def test_measures_in_the_format_of_prometheus(tmp_path: Path) -> None:
    import urllib.error
    import urllib.request

    measures = Measures('a "quoted" name')
    shown = ShownMeasures(measures, 0, tmp_path / "m.prom")
    try:
        measures.answers["confirmed"], measures.lag_seconds = 3, 1.5
        shown.refresh()
        assert shown.address is not None and shown.address.startswith("http://127.0.0.1:")
        text = urllib.request.urlopen(shown.address, timeout=10).read().decode()
        assert text == (tmp_path / "m.prom").read_text() == measures.text()
        assert 'presage_answers_total{pipeline="a \\"quoted\\" name",status="confirmed"} 3\n' in text
        assert "presage_lag_seconds" in text and "presage_waiting_messages" not in text
        assert text.count("# TYPE presage_answers_total counter\n") == 1
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(shown.address.replace("metrics", "other"), timeout=10)
    finally:
        shown.close()


def test_the_latest_line_of_an_answer_is_its_state() -> None:
    lines = [{"key": "a@1", "now": now, "status": now} for now in ("1/3", "5/2", "2")] + [{"key": "b@1", "now": 1}]
    assert [line["now"] for line in latest(lines)] == ["5/2", 1]


ON_A_TERMINAL = """
from presage.cli.pipeline import show_lines
from presage.cli.pulse import Pulse
from presage.pipeline.metrics import Measures
found = Measures("p", 3, facts=1200, late=2, open=4, state_bytes=12_345, rows_per_second=250.0, clock="29")
found.answers["confirmed"], found.lag_seconds, found.waiting = 7, 7300.0, 12
line = {"now": 3, "status": "possible", "answer": 'p("\\x1b[31m")@1', "because": ["q@1"], "needs": ["q@2"]}
line["decided_by"] = 4
with Pulse() as pulse:
    pulse.show(found)
    pulse.above(lambda: show_lines([line, {"now": 5, "fact": "q@0"}], True))
    pulse.show(found)
"""


def test_a_terminal_shows_how_the_pipeline_fares_and_steers_nothing() -> None:
    status, shown = on_a_terminal(code=ON_A_TERMINAL)
    assert status == 0, shown
    for said in (
        "250 rows/s",
        "1,200 facts",
        "time 29",
        "4 open",
        "7 confirmed",
        "2 late",
        "12.3 kB",
        "lag 2 h",
        "12 messages",
    ):
        assert said in " ".join(shown.split()), said
    assert "▷ possible" in shown and "needs q@2" in shown and "by 4" in shown and "late" in shown
    assert "\\x1b[31m" in shown


def test_a_pipe_shows_answers_only() -> None:
    done = subprocess.run([sys.executable, "-c", ON_A_TERMINAL], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and done.stderr == "" and "rows/s" not in done.stdout


# The reference


def test_the_files_of_the_documentation_are_pipelines(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/pipelines.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(shown) >= 5
    for text in shown:
        variables = {"KAFKA_LOGIN": "x", "PGPASSWORD": "x"}
        for name in ("readings", "temp.csv", "owners.csv"):
            (tmp_path / name).mkdir(exist_ok=True)
        program = (ROOT / "examples/turbines/turbines.psg").read_text()
        kind = "input" if "[tables.owner]" in text else "static"
        (tmp_path / "turbines.psg").write_text(program + f"{kind} owner(device, team).\n")
        found = check_pipeline(_written(tmp_path, text), variables)
        problems = [each for each in found.problems if each.severity == "error" and each.code != "C110"]
        assert not problems, found.text()


def test_the_reference_has_every_key() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    sections = dict(
        re.findall(r"^## `\[?([\w.]*?)(?:\.NAME)?\]?`[^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    )
    assert sections.keys() == {section or "program" for section in KEYS}
    for section, keys in KEYS.items():
        rows = re.findall(
            r"^\| `([^`]+)` \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", sections[section or "program"], re.MULTILINE
        )
        assert rows == [(key.name, *(cell.replace("|", "\\|") for cell in _row(key))) for key in keys], section


def _row(key: Any) -> tuple[str, str, str, str]:
    kind = " ".join(f"`{each}`" for each in key.choices) or key.kind
    formats = ", ".join(key.formats) or "all"
    return kind, formats, "**required**" if key.required else key.default or "—", key.meaning


def reference_tables() -> str:
    """The tables of the reference, as they must stand there."""
    found = ""
    for section, keys in KEYS.items():
        found += f"## `{f'[{section}.NAME]' if section in NAMED else f'[{section}]' if section else 'program'}`\n\n"
        found += "| key | value | formats | if missing | meaning |\n|---|---|---|---|---|\n"
        found += "".join(f"| `{key.name}` | {' | '.join(_row(key))} |\n" for key in keys) + "\n"
    return found


def test_check_prints_what_is_fine() -> None:
    done = presage("pipeline", "--check", ROOT / "examples/turbines/pipeline.toml")
    assert done.returncode == 0 and done.stdout == '{"ok": true, "problems": []}\n', done.stderr
    assert os.environ.get("PRESAGE_JARS") is None or done.stderr == ""


if __name__ == "__main__":
    print(reference_tables())
