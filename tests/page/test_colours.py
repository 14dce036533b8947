"""The colours of answers are the same everywhere, and tell statuses and meanings apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import presage
from presage.colours import DARK, LIGHT, TONES, name_of, terminal_style, tone_for
from presage.notebook.html import STYLE as NOTEBOOK

PAGE = (Path(__file__).parent.parent.parent / "presage/web/page/style.css").read_text(encoding="utf-8")
BACKGROUND = {"light": "#ffffff", "dark": "#15171a"}


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("table", "scheme"), [(LIGHT, "light"), (DARK, "dark")])
def test_every_colour_can_be_read_and_refuted_fades(table: dict[str, str], scheme: str) -> None:
    paper = BACKGROUND[scheme]
    assert all(contrast(colour, paper) >= 4.5 for colour in table.values())
    for tone in TONES:
        assert contrast(table[f"{tone}-confirmed"], paper) > contrast(table["refuted"], paper)


def test_page_and_notebook_have_the_colours_of_the_table() -> None:
    light, dark = re.findall(r":root \{(.*?)\}", PAGE, re.DOTALL)[:2]
    for text, table in ((light, LIGHT), (dark, DARK)):
        for name, colour in table.items():
            assert f"--{name}: {colour};" in text
            assert f"--presage-{name}:{colour}" in NOTEBOOK


def test_confirmed_is_strong_and_refuted_is_dim_in_a_terminal() -> None:
    assert terminal_style("confirmed", "bad") == terminal_style("holds", "bad") == "bold red"
    assert terminal_style("refuted", "bad") == terminal_style("refuted", "good") == "dim"
    assert len({terminal_style("possible", tone) for tone in ("", "bad", "good")}) == 3
    assert name_of("unsupported", "bad") == "unsupported"


def test_a_broken_constraint_is_bad() -> None:
    program = presage.parse("timeline discrete.\ninput p(x).\n:- p(X), X = b.\na(X) :- p(X).\nquery a(X).\n")
    reasoner = presage.Reasoner(program)
    found = {
        answer.predicate: tone_for(reasoner.subject.queries, answer) for answer in reasoner.push([("p", ("b",), 0)], 0)
    }
    assert found == {"a": "", "violated": "bad"}


def test_a_query_says_whether_it_is_good_or_bad() -> None:
    program = presage.parse(
        "timeline discrete.\ninput p(x).\na(X) :- p(X).\nb(X) :- p(X).\n"
        "query a(c) bad.\nquery a(X).\nquery b(X) good.\n"
    )
    reasoner = presage.Reasoner(program)
    answers = reasoner.push([("p", ("c",), 0), ("p", ("d",), 0)], 0)
    found = {answer.answer: tone_for(reasoner.subject.queries, answer) for answer in answers}
    assert found == {"a(c)@0": "bad", "a(d)@0": "", "b(c)@0": "good", "b(d)@0": "good"}
    shown = reasoner._repr_html_()
    assert "status confirmed bad" in shown and "status confirmed good" in shown
