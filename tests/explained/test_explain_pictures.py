"""Explanations for people: time lines in characters, pictures in SVG, and what is missing first."""

from __future__ import annotations

import contextlib
import io
import json
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from presage.cli import main
from presage.evidence.lacking import first_lack
from presage.evidence.proof import InputFact, Record
from presage.evidence.solve import NotExplained
from presage.explanations.axis import Axis
from presage.explanations.drawing import draw
from presage.explanations.outline import Outline, Sign
from presage.explanations.svg import MOST_ROWS, picture
from presage.explanations.words import Printer
from presage.model.formulas import Atom, Pinned
from presage.model.terms import Constant
from presage.model.time import TimeSpan
from presage.parser import parse_question
from tests.conftest import ARTEFACTS
from tests.explained.test_explain import LONG, Told
from tests.oracle import TooLarge
from tests.random_hypotheses import make_case

ROOT = Path(__file__).parent.parent.parent
TURBINES = (ROOT / "examples/turbines/turbines.psg", "--facts", ROOT / "examples/turbines/facts.jsonl")
HEARTBEAT = (ROOT / "examples/heartbeat/heartbeat.psg", "--facts", ROOT / "examples/heartbeat/facts.jsonl")
SVG = "{http://www.w3.org/2000/svg}"
ODD = "<script>alert(1)</script>&\x07"


def explain(*words: Any, status: int = 0) -> str:
    """What the command prints; in this process, since there are many."""
    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        given = main(["explain", *map(str, words)])
    assert given == status, told.getvalue()
    return out.getvalue() if status == 0 else told.getvalue()


# Text.


def test_a_proof_draws_its_evidence_its_absences_and_the_answer() -> None:
    lines = explain(*HEARTBEAT, "--at", "9", "--text", "lost(press)@8").splitlines()
    assert lines[lines.index("") + 1 :] == [
        "                               2 3 4 5 6 7 8 9",
        "lost(press)                    · · · · · · ◆ ·",
        "beat(press)                    ● · · · · · · ·",
        "not once[0,10] stopped(press)  · · · · · · ■ ·",
        "not beat(press)                · ■─────────■ ·",
        "now                                          ↑ 9",
        "◆ the answer, ● there, ■ known to be absent",
    ]


def test_an_open_answer_shows_how_its_premises_would_lead_to_it() -> None:
    line = json.loads(explain(*TURBINES, "--at", "1", "malf(wt25)@0"))
    assert line["says"] == ("malf(wt25)@0 is possible at 1: it waits for temp(wt25, high)@2, which may arrive until 3")
    (way,) = line["ways"]
    steps, kinds = [way["proof"]], []
    while steps:
        step = steps.pop(0)
        kinds.append((step["kind"], step["holds"]))
        steps.extend(step.get("because", []))
    assert ("needed", "temp(wt25, high)@2") in kinds and ("given", "temp(wt25, high)@1") in kinds
    assert way["proof"]["values"] == {"X": "wt25"} and way["proof"]["time"] == 0


@pytest.mark.parametrize(
    ("example", "at", "answer", "says", "rule"),
    [
        (TURBINES, 5, "malf(wt42)@1", "temp(wt42, high)@2 did not arrive by 3", "in line 5, flag(X) :- temp(X, high)."),
        (HEARTBEAT, 8, "lost(press)@8", "what is missing is not beat(press)@(7,8], not stopped(press)@(7,8]", ""),
        (HEARTBEAT, 8, "lost(press)@3", "what failed first is not beat(press)@0", "in line 8"),
    ],
)  # fmt: skip
def test_why_not_names_the_first_missing_thing(example: Any, at: int, answer: str, says: str, rule: str) -> None:
    first, *rest = explain(*example, "--at", at, "--text", answer).splitlines()
    assert says in first and any(rule in line for line in rest)
    assert json.loads(explain(*example, "--at", at, answer))["says"] == first


def test_every_explanation_has_the_same_fields() -> None:
    fields = {"answer", "at", "status", "says", "because", "history", "ways", "failed", "rules", "proof"}
    for example, at, answer in (
        (TURBINES, 3, "malf(wt25)@0"),
        (TURBINES, 1, "malf(wt25)@0"),
        (TURBINES, 5, "malf(wt42)@1"),
        (HEARTBEAT, 9, "lost(press)@8"),
        (HEARTBEAT, 8, "lost(press)@8"),
    ):
        assert fields <= json.loads(explain(*example, "--at", at, answer)).keys()


def test_answers_over_intervals_are_explained_as_they_were_printed() -> None:
    line = json.loads(explain(*HEARTBEAT, "--at", 9, "lost(press)@(7,8]"))
    assert (line["status"], line["answer"]) == ("confirmed", "lost(press)@(7,8]")
    assert line["because"] == ["beat(press)@2", "not beat(press)@(2,8]", "not (once[0,10] stopped(press))@(7,8]"]
    assert {name: line["proof"][name] for name in ("from", "to", "bounds")} == {"from": 7, "to": 8, "bounds": "(]"}
    line = json.loads(explain(*TURBINES, "--at", 9, "malf(wt25)@[0,1]"))
    assert line["proof"]["kind"] == "pieces" and len(line["because"]) == 4
    text = explain(*TURBINES, "--at", 9, "--text", "malf(wt25)@[0,1]")
    assert "malf(wt25)        ◆─◆" in text
    # Of what does not hold throughout, the first time at which it does not.
    assert explain(*TURBINES, "--at", 9, "--text", "malf(wt25)@[0,4]").startswith("malf(wt25)@2 was possible")
    assert "there is no time in the interval" in explain(*TURBINES, "--at", 9, "malf(wt25)@(0,1)", status=1)
    assert "at one time" in explain(*TURBINES, "--at", 9, "malf(X)@[0,1]", status=1)


def test_what_breaks_a_constraint_is_explained(tmp_path: Path) -> None:
    program, facts = tmp_path / "p.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ninput p(x).\n:- p(X), X = b.\n:- p(X), X = c.\na(X) :- p(X).\nquery a(X).\n"
    )
    facts.write_text('{"pred": "p", "args": ["c"], "time": 0}\n')
    line = json.loads(explain(program, "--facts", facts, "--at", 0, "violated(4, c)@0"))
    assert (line["status"], line["answer"], line["because"]) == ("confirmed", "violated(4, c)@0", ["p(c)@0"])
    line = json.loads(explain(program, "--facts", facts, "--at", 0, "violated(3, c)@0"))
    assert line["says"] == "violated(3, c)@0 was never possible and cannot come true: c = b is not so"
    assert "no predicate `violated`" in explain(program, "--facts", facts, "--at", 0, "violated(9, c)@0", status=1)


def leaf(text: str, low: Any, high: Any, sign: Sign = Sign.THERE, **more: Any) -> Outline:
    return Outline(f"{text}@{low}", "", sign, text, TimeSpan(low, high), **more)


def test_long_and_dense_times_are_drawn_to_scale() -> None:
    answer = leaf("a", Fraction(1, 2), Fraction(1, 2), Sign.CONFIRMED, below=(leaf("p", 0, 1000), leaf("q", 250, None)))
    header, a, p, q, now, _ = draw(answer, 1000)
    start = header.index("0")
    assert a[start] == "◆" and p[start:] == "●" + "─" * 58 + "●"
    assert q[start:].startswith("·" * 15 + "●─") and q.endswith("→")
    assert now.endswith("↑ 1000")


def test_a_rule_is_shown_as_its_author_wrote_it(tmp_path: Path) -> None:
    program, facts = tmp_path / "p.psg", tmp_path / "facts.jsonl"
    program.write_text("timeline discrete.\ninput p(x).\na(X)   :-  p(X) ,\n   p( X ).\nquery a(X).\n")
    facts.write_text('{"pred": "p", "args": ["c"], "time": 0}\n')
    line = json.loads(explain(program, "--facts", facts, "--at", 0, "a(c)@0"))
    assert line["rules"] == [{"line": 3, "rule": "a(X) :- p(X) , p( X )."}]


def missing_facts(seed: int) -> int:
    """Of a random case halfway through: how many input facts were named as the first thing that answers lack. An open
    answer lacks something that may still come, a false one something that cannot."""
    case = make_case(seed)
    told = Told(case)
    facts: Any = tuple(InputFact(name, values, TimeSpan(at, at), arrives) for (name, values, at), arrives in case.facts)
    now = max((arrives for _, arrives in case.facts), default=0) // 2 + 1
    record = Record(told.subject.program, True, facts, tuple(case.statics), now)  # type: ignore[arg-type]
    outlook, printer = told.outlook(now), Printer(record.program)
    named = 0
    for answer in islice(outlook.answers(case.end), 40):
        try:
            if not outlook.judged(answer) or outlook.proved(answer):
                continue
            may = outlook.may(answer)
            lack = first_lack(record, *answer, for_ever=not may)
        except (TooLarge, NotExplained):
            continue
        fact = _fact(printer.missing_text(lack.chain[-1])) if lack.chain else None
        if fact is None or not outlook.is_input(fact) or told.subject.predicates[fact[0]].kind == "derived":
            continue
        named += 1
        where = f"{answer} at {now}: {fact}"
        assert fact not in outlook.arrived and outlook.is_candidate(fact) == may, where
    return named


def _fact(text: str) -> tuple[str, tuple[Any, ...], int] | None:
    formula: Any = parse_question(text).formula
    if not isinstance(formula, Pinned) or not isinstance(formula.formula, Atom):
        return None
    terms = formula.formula.arguments
    if not all(isinstance(each, Constant) for each in terms):
        return None
    return formula.formula.predicate, tuple(each.value for each in terms), formula.pin.offset  # type: ignore[return-value,union-attr]


@pytest.mark.parametrize("seeds", [range(first, first + 10) for first in range(0, 600 if LONG else 30, 10)], ids=str)
def test_what_is_missing_first_is_missing_and_may_come(seeds: range) -> None:
    assert sum(map(missing_facts, seeds))


# Pictures.


@pytest.fixture
def odd_picture(tmp_path: Path) -> Path:
    program, facts = tmp_path / "p.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ninput p(x) delay 2.\na(X)@T :- p(X)@T, p(X)@T+4, not p(b)@T+1.\nquery a(X).\n"
    )
    facts.write_text(json.dumps({"pred": "p", "args": [ODD], "time": 3}) + "\n")
    drawn = tmp_path / "odd.svg"
    explain(program, "--facts", facts, "--at", 4, f"a({json.dumps(ODD.replace(chr(7), ''))})@3", "--svg", drawn)
    return drawn


def test_a_picture_is_well_formed_and_says_what_it_shows(odd_picture: Path) -> None:
    root = ElementTree.parse(odd_picture).getroot()
    assert root.tag == f"{SVG}svg" and root.get("role") == "img"
    assert "is open at 4" in (root.findtext(f"{SVG}title") or "")
    assert "may arrive until" in (root.findtext(f"{SVG}desc") or "")
    assert not list(root.iter(f"{SVG}script"))
    assert any("<script>" in (each.text or "") for each in root.iter(f"{SVG}text"))


def test_the_picture_in_the_documentation_is_what_comes_out(tmp_path: Path) -> None:
    explain(*HEARTBEAT, "--at", 9, "lost(press)@8", "--svg", tmp_path / "lost.svg")
    shown = ROOT / "docs/how-to/explain.svg"
    assert (tmp_path / "lost.svg").read_text() == shown.read_text(), "python docs/pictures.py makes it anew"


def test_a_picture_of_a_long_proof_stays_a_picture() -> None:
    chain = Outline("end", "", Sign.THERE, "end", TimeSpan(0, 0))
    for place in range(3000):
        chain = Outline(f"step {place}", "", below=(chain,))
    root = ElementTree.fromstring(picture(chain, 1))
    assert len(list(root.iter(f"{SVG}g"))) == MOST_ROWS and float(root.get("width", "0")) < 2000
    assert "more lines" in "".join(root.itertext())


def test_characters_that_xml_cannot_have_are_replaced() -> None:
    root = ElementTree.fromstring(picture(Outline(f"p({ODD}\ud800)@1", "", Sign.THERE, "p", TimeSpan(1, 1)), 2))
    assert root.findtext(f"{SVG}title") == "p(<script>alert(1)</script>&\ufffd\ufffd)@1"


def test_a_picture_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    told = explain(*TURBINES, "--at", 3, "malf(wt25)@0", "--svg", tmp_path / "no" / "a.svg", status=1)
    assert "a.svg: the file cannot be written" in told and "Traceback" not in told


def test_ticks_are_round() -> None:
    assert Axis(0, 9).ticks(7) == [0, 2, 4, 6, 8]
    assert Axis(3, 4).ticks(7) == [3, 4]
    assert Axis(Fraction(1, 2), Fraction(3, 4)).ticks(6) == [Fraction(each, 20) for each in range(10, 16)]
    assert Axis(7, 7).ticks(3) == [7]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_in_a_browser(browser: Any, odd_picture: Path, tmp_path: Path, scheme: str) -> None:
    proof = tmp_path / "proof.svg"
    explain(*HEARTBEAT, "--at", 9, "lost(press)@8", "--svg", proof)
    ARTEFACTS.mkdir(exist_ok=True)
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1300, "height": 700})
    wrong: list[str] = []
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    for name, drawn in (("odd", odd_picture), ("proof", proof)):
        page.goto(drawn.as_uri())
        boxes = page.evaluate(
            "[...document.querySelectorAll('g')].map(g => ["
            "Math.max(...[...g.querySelectorAll('text')].map(t => t.getBBox().x + t.getBBox().width)),"
            "Math.min(9999, ...[...g.querySelectorAll('.mark')].map(m => m.getBBox().x))])"
        )
        assert len(boxes) > 3 and all(text < mark for text, mark in boxes), "text runs into the time axis"
        paper, ink = page.evaluate(
            "['.paper', 'text.quiet'].map(each => getComputedStyle(document.querySelector(each)).fill)"
        )
        light = [sum(map(int, colour[4:-1].split(","))) for colour in (paper, ink)]
        assert abs(light[0] - light[1]) > 300, "text and paper are told apart"
        page.screenshot(path=ARTEFACTS / f"explain-{name}-{scheme}.png")
    assert not wrong
    page.close()
