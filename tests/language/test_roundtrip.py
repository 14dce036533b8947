"""Reading what was printed gives the same program, whatever the program is."""

from __future__ import annotations

from hypothesis import given

from presage.checking import check_text
from presage.layout import format_text
from presage.model import Program
from presage.parser import parse
from tests.programs import programs


@given(programs)
def test_printing_and_reading(program: Program) -> None:
    again = parse(str(program))
    assert again == program
    assert hash(again) == hash(program)


@given(programs)
def test_layout_is_stable_and_means_the_same(program: Program) -> None:
    text = format_text(str(program))
    assert parse(text) == program
    assert format_text(text) == text


@given(programs)
def test_every_program_can_be_checked(program: Program) -> None:
    report = check_text(str(program))
    assert report.to_json()["problems"] is not None
    assert report.program == program
