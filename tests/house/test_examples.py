"""The examples: whole, reproducible, true to their cases, and handed out by `presage examples`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs import answer_pictures, example_pictures
from presage.cli import main
from presage.cli.examples import EXAMPLES, names, title, what_to_type

FIELDS = ("turbines", "hospital", "trams", "belts", "wards", "stops", "network", "heartbeat")
each_example = pytest.mark.parametrize("name", FIELDS)


def test_the_fields() -> None:
    assert set(names()) == set(FIELDS)
    assert len({title(name) for name in FIELDS}) == len(FIELDS)


@each_example
def test_an_example_is_whole(name: str) -> None:
    folder = EXAMPLES / name
    assert (folder / f"{name}.psg").is_file()
    assert list(folder.glob("cases/*.case"))
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert "](picture.svg)" in page and "make_data.py" in page and "## Change it" in page
    assert ElementTree.parse(folder / "picture.svg").getroot().tag.endswith("svg")


@each_example
def test_the_data_is_what_the_script_makes(name: str, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / name / "make_data.py", tmp_path)
    subprocess.run([sys.executable, str(tmp_path / "make_data.py")], check=True)
    (made,) = tmp_path.glob("*.jsonl")
    assert made.read_text(encoding="utf-8") == (EXAMPLES / name / made.name).read_text(encoding="utf-8")


@pytest.mark.parametrize("picture", example_pictures.PICTURES, ids=lambda picture: picture.name)
def test_the_picture_is_of_the_run(picture: example_pictures.Picture) -> None:
    small = example_pictures.draw(picture, small=True)
    assert small == (example_pictures.EXAMPLES / picture.name / "small.svg").read_text(encoding="utf-8")
    drawn = example_pictures.draw(picture)
    assert drawn == (EXAMPLES / picture.name / "picture.svg").read_text(encoding="utf-8"), "run `make pictures`"


def test_the_first_picture_is_of_the_run() -> None:
    told = answer_pictures.stories(*answer_pictures.FIRST)
    drawn = answer_pictures.draw(answer_pictures.QUESTION, *told, 4)
    assert drawn == (answer_pictures.ROOT / "docs/turbines.svg").read_text(encoding="utf-8"), "run `make pictures`"


@each_example
def test_the_data_leads_to_answers(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = EXAMPLES / name
    for facts in folder.glob("*.jsonl"):
        status = main(["run", "--emit", "confirmed", str(folder / f"{name}.psg"), "--facts", str(facts)])
        said = capsys.readouterr()
        assert status == 0, said.err
        if facts.name != "facts.jsonl" or name not in ("trams", "heartbeat"):  # Small ones that stay open.
            assert said.out


@each_example
def test_the_cases_are_met(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(EXAMPLES / name)]) == 0, capsys.readouterr().out


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("turbines ") and title("turbines") in line for line in lines)
    assert main(["examples", "--json"]) == 0
    assert [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()] == sorted(FIELDS)


def test_copying_one(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["examples", "turbines"]) == 0
    said = capsys.readouterr().out
    assert all(command in said for command in what_to_type("turbines"))
    assert what_to_type("turbines")[0] == "presage run turbines/turbines.psg --facts turbines/facts.jsonl --until 1"
    copied = {path.relative_to(tmp_path) for path in (tmp_path / "turbines").rglob("*") if path.is_file()}
    there = {path.relative_to(EXAMPLES) for path in (EXAMPLES / "turbines").rglob("*") if path.is_file()}
    assert copied == {path for path in there if "__pycache__" not in path.parts}


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "trams" / "trams.psg"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert main(["examples", "--all", "--to", str(tmp_path)]) == 1
    assert "is there already, and is not overwritten" in capsys.readouterr().err
    assert mine.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["trams"], "either all are copied, or none"


def test_a_name_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["examples", "turbine"]) == 1
    assert "there is no example `turbine`; did you mean `turbines`?" in capsys.readouterr().err
