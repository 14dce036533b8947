"""`yesterday φ`, `tomorrow φ`: read, printed, refused in heads, and on both timelines what stands for them."""

from __future__ import annotations

import pytest

import presage
from presage.answer_streams.evaluation import Evaluation
from presage.answer_streams.questions import read_question
from presage.checking import check_text
from presage.errors import PresageError
from presage.syntax import NEIGHBOURS

MEANINGS = {"yesterday": "once[1,1]", "tomorrow": "eventually[1,1]"}
RULES = [
    "h(X) :- {} p(X).",
    "h(X) :- q(X), not {} p(X).",
    "h(X) :- {} {} p(X).",
    "h(X) :- q(X), once[0,2] {} (p(X) and q(X)).",
]
FACTS = [("p", ("a",), 1), ("q", ("a",), 2), ("p", ("a",), 2), ("q", ("b",), 3), ("q", ("a",), 5), ("p", ("b",), 6)]


def test_all_are_tested() -> None:
    assert set(MEANINGS) == set(NEIGHBOURS)


@pytest.mark.parametrize("emit", ["changes", "confirmed"])
@pytest.mark.parametrize("timeline", ["discrete", "dense"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("word", NEIGHBOURS)
def test_it_says_what_stands_for_it(word: str, rule: str, timeline: str, emit: str) -> None:
    def answers(operator: str) -> list[str]:
        text = f"timeline {timeline}. input p(x). input q(x). {rule.replace('{}', operator)}"
        reasoner = presage.Reasoner(presage.parse(text), emit=emit)
        found = []
        for now in range(9):
            found += [str(each) for each in reasoner.push([fact for fact in FACTS if fact[2] == now], now=now)]
        return found

    assert answers(word) == answers(MEANINGS[word])
    assert any(each.startswith("confirmed") for each in answers(word))


@pytest.mark.parametrize("word", NEIGHBOURS)
def test_it_is_printed_as_written(word: str) -> None:
    text = f"timeline discrete.\nh(X) :- {word} (p(X) and q(X)).\n"
    assert str(presage.parse(text)).strip() == text.strip()


@pytest.mark.parametrize("word", NEIGHBOURS)
def test_it_is_asked_for(word: str) -> None:
    report = check_text("timeline discrete. input p(x). h(X) :- p(X).")
    assert report.findings is not None
    subject = report.findings.subject
    given = [presage.io.facts.Fact("p", ("a",), 3, 3)]
    found = {}
    for operator in (word, MEANINGS[word]):
        question = read_question(f"{operator} p(X)", subject)
        found[operator] = [reply.at for reply in Evaluation(subject, given, None, (0, 9), question).ask(question)]
    assert found[word] == found[MEANINGS[word]] != []


@pytest.mark.parametrize("word", NEIGHBOURS)
def test_not_in_a_head(word: str) -> None:
    with pytest.raises(PresageError, match=f"`{word}` cannot stand in a head"):
        presage.parse(f"{word} h(X) :- p(X).")
