"""One table, one suite: each construct of `docs/constructs.py` on each engine that the table names.

What is confirmed is what the naive evaluator of `tests/oracle` entails, alone and in a plain run: all rows that share a
timeline are one program, and each is one of its own. What the table says is missing is refused in the table's words.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

import presage
from docs.constructs import CONSTRUCTS, ENGINES, Construct, gap
from docs.support_reference import PAGE, reference
from presage.checking import check_text
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.run.schedule import steps
from presage.support import NO_PATTERNS, NOT_EXPLAINED
from tests.oracle import evaluate

END = 9
UNTIL = 20
INPUTS = {"p": 1, "q": 1, "r": 2, "z": 0, "n": 2, "h": 1}
FACTS: list[tuple[str, tuple[Any, ...], int]] = [
    ("p", ("a",), 1), ("p", ("b",), 2), ("p", ("a",), 2), ("q", ("a",), 2), ("q", ("a",), 3), ("q", ("b",), 3),
    ("r", ("a", "b"), 3), ("r", ("b", "b"), 1), ("r", ("b", "a"), 3), ("z", (), 2), ("z", (), 5), ("n", ("a", 3), 2),
    ("n", ("a", 5), 3), ("n", ("b", 1), 3), ("h", ("a",), 2),
]  # fmt: skip
STRETCHES: list[tuple[str, tuple[Any, ...], tuple[int, int, str]]] = [
    ("h", ("a",), (0, 4, "[]")),
    ("h", ("b",), (1, 2, "[)")),
]
APART = (
    "a predicate that is given and derived", "a window of rows ahead", "`chase restricted`", "a constraint",
    "an answer that keeps a variable", "alternatives", "a circle through `not`", "`reading now`",
)  # fmt: skip
"""Rows with programs of their own: they change what others see, or are run by other engines."""
# What the oracle does not know (functions, aggregates; windows and several times on dense time), worked out by hand.
BY_HAND: dict[str, dict[str, tuple[int, ...]]] = {
    "functions of numbers": {"a": (2, 3)},
    "functions of text": {"a": (1, 2)},
    "asking functions": {"a": (1, 2)},
    "`case`": {"a": (2, 3)},
    "`count` at least": {"a": (2,)},
    "`count`": {"2": (2,), "0": (5,)},
    "`sum`": {"3": (2,), "9": (5,)},
    "`avg`": {"3": (2, 5)},
    "`min` and `max`": {"5": (3,)},
    "`first`": {"3": (2, 5)},
    "`last`": {"3": (2,), "5": (5,)},
    "an answer that keeps a variable": {"a, Y": (1, 2), "b, Y": (2,)},
    "alternatives": {"a": (1, 2), "b": (2,)},
    "a circle through `not`": {"a": (1, 2), "b": (2,)},
    "`reading now`": {"a": (1, 2, 3, 4), "b": (2, 3, 4)},
    "groups": {"a, 1": (2, 6), "a, 2": (3, 4, 5), "b, 1": (3, 4, 5, 6)},
}
BY_HAND_DENSE: dict[str, dict[str, tuple[tuple[int, int], ...]]] = {
    "two time variables": {"a": ((2, 2), (3, 3)), "b": ((3, 3),)},
    "`some` in a window": {"a": ((1, 3),), "b": ((2, 3),)},
    "`all` in a window": {"a": ((0, 4),)},
}
Said = dict[tuple[str, tuple[str, ...]], set[Any]]


def rows(timeline: str) -> list[tuple[str, Construct]]:
    """The rows of a timeline, each with a name for what it derives; without those that stand apart."""
    return [
        (f"out{place}", each)
        for place, each in enumerate(CONSTRUCTS)
        if each.timeline == timeline and each.name not in APART
    ]


def program_of(timeline: str, chosen: list[tuple[str, Construct]]) -> str:
    lines = [f"timeline {timeline}.", "static s(x).", "s(a)."]
    columns = {"p": "(x)", "q": "(x)", "r": "(x, y)", "z": "", "n": "(x, v: int)", "h": "(x)"}
    lines += [f"input {name}{columns[name]}." for name in INPUTS]
    for name, each in chosen:
        text = each.rules
        for word in ("out", "mid", "beside"):
            text = re.sub(rf"\b{word}\b", f"{word}{name[3:]}", text)
        lines += [text, f"query {name}({', '.join('XYZ'[: arity_of(each)])})."]
    return "\n".join(lines) + "\n"


def arity_of(each: Construct) -> int:
    found = re.search(r"\bout\(([^)]*)\)", each.rules)
    assert found is not None
    return found[1].count(",") + 1


def given(timeline: str) -> list[tuple[str, tuple[Any, ...], Any]]:
    return [*FACTS, *(STRETCHES if timeline == "dense" else [])]


def facts_of(timeline: str) -> list[Fact]:
    found = []
    for name, arguments, when in given(timeline):
        low, high, bounds = when if isinstance(when, tuple) else (when, when, "[]")
        found.append(Fact(name, arguments, low, high, bounds[0] == "[", bounds[1] == "]", low))
    return found


def by_hand(name: str, each: Construct) -> Said | None:
    """What a row says of the suite's facts, where the oracle cannot tell."""
    if each.timeline == "dense":
        known = BY_HAND_DENSE.get(each.name)
    else:
        known = (
            {who: tuple((at, at) for at in times) for who, times in BY_HAND[each.name].items()}
            if (each.name in BY_HAND)
            else None
        )
    if known is None:
        return None
    return {
        (name, tuple(who.split(", "))): set().union(*(sampled(*ends, "[]") for ends in times))
        for who, times in known.items()
    }


def entailed(chosen: list[tuple[str, Construct]], timeline: str) -> Said:
    """By the evaluator, over the times up to the end."""
    found: Said = {}
    for name, each in chosen:
        found |= by_hand(name, each) or {}
    text = program_of(timeline, [(name, each) for name, each in chosen if by_hand(name, each) is None])
    report = check_text(text)
    assert report.ok and report.findings is not None, report.problems
    subject = report.findings.subject
    model = evaluate(subject.program, given(timeline), [], end=UNTIL, timeline=timeline)
    for name, arguments in model:
        moments = {at for each in model.intervals(name, *arguments) for at in sampled(*each)}
        if timeline == "discrete":
            moments = {each for each in moments if each % 4 == 0}
        if name.startswith("out") and moments:
            found[name, tuple(map(str, arguments))] = moments
    return found


def sampled(low: Any, high: Any, bounds: str) -> set[Any]:
    """An interval as the points of a grid of quarters up to the end."""
    last = END if high is None else min(high, END)
    found = {step for step in range(-4 * END, 4 * END + 1) if 4 * low <= step <= 4 * last}
    if bounds[0] == "(":
        found.discard(4 * low)
    if bounds[1] == ")" and last == high:
        found.discard(4 * last)
    return found


def said(lines: list[dict[str, Any]], whole: bool) -> Said:
    found: Said = {}
    for line in lines:
        if line["status"] != "confirmed":
            continue
        name, arguments = re.fullmatch(r"(\w+)(?:\((.*)\))?@.*", line["answer"]).groups()  # type: ignore[union-attr]
        if not name.startswith("out"):
            continue  # what breaks a constraint
        at = line.get("time")
        start, end, bounds = (at, at, "[]") if at is not None else (line["from"], line["to"], line["bounds"])
        start, end = (None if each is None else exact(each) for each in (start, end))
        moments = sampled(start, end, bounds)
        moments = {each for each in moments if not whole or each % 4 == 0}
        if moments:
            found.setdefault((name, tuple((arguments or "").split(", "))), set()).update(moments)
    return found


def exact(value: Any) -> Fraction:
    return Fraction(value) if isinstance(value, (str, int)) else Fraction(str(value))


def run(text: str, timeline: str, emit: str | None) -> Said:
    reasoner = presage.Reasoner(presage.parse(text), emit=emit)
    lines = [each.to_json() for answers in steps(reasoner, facts_of(timeline), UNTIL) for each in answers]
    return said(lines, timeline == "discrete")


@pytest.mark.parametrize("timeline", ["discrete", "dense"])
@pytest.mark.parametrize("emit", ["confirmed", None])
def test_what_is_confirmed(timeline: str, emit: str | None) -> None:
    text = program_of(timeline, rows(timeline))
    found, right = run(text, timeline, emit), entailed(rows(timeline), timeline)
    assert found == right
    silent = {name for name, _ in rows(timeline)} - {key[0] for key in right}
    assert not silent, f"these rows say nothing over the facts of the suite: {silent}"


def titled(place: int) -> str:
    return f"{CONSTRUCTS[place].group}: {CONSTRUCTS[place].name}"


@pytest.mark.parametrize("place", range(len(CONSTRUCTS)), ids=titled)
def test_each_row(place: int) -> None:
    """Hypothetical answers and explanations, or the table's reasons why there are none."""
    name, each = f"out{place}", CONSTRUCTS[place]
    text = program_of(each.timeline, [(name, each)])
    right = entailed([(name, each)], each.timeline)
    report = check_text(text)
    assert report.findings is not None
    (query,) = report.findings.queries
    reason = gap(each, "hypothetical")
    assert query.hypothetical.possible == (not reason), query.hypothetical
    assert reason in query.hypothetical.reason
    if reason:
        with pytest.raises(PresageError) as refused:
            presage.Reasoner(presage.parse(text), emit="changes")
        assert any(words in str(refused.value) for words in NO_PATTERNS.values()), refused.value
    assert run(text, each.timeline, None if reason else "changes") == right
    (_, arguments), moments = min(right.items(), key=str)
    answer = f"{name}({', '.join(arguments)})@{exact(max(moments)) / 4}"
    reason = gap(each, "explained")
    if reason:
        with pytest.raises(PresageError, match=re.escape(f"no explanations yet for {reason}")):
            presage.explain(text, given(each.timeline), answer)
    else:
        assert presage.explain(text, given(each.timeline), answer).status == "confirmed", answer


def test_the_table_is_whole() -> None:
    assert len({(each.group, each.name) for each in CONSTRUCTS}) == len(CONSTRUCTS)
    assert {each.hypothetical for each in CONSTRUCTS} - {""} <= set(NO_PATTERNS)
    assert {each.explained for each in CONSTRUCTS} - {""} <= set(NOT_EXPLAINED)
    assert ENGINES == ("confirmed", "hypothetical", "explained", "Spark batch", "Spark stream")


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run `python docs/support_reference.py`"
