"""Formulas and answer streams ([LARS]): the examples of the paper, and random formulas and programs against
an oracle that tries everything."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import presage
from presage.answer_streams.evaluation import Evaluation
from presage.answer_streams.questions import read_question
from presage.checking import check_text
from presage.errors import PresageError
from presage.io.facts import Fact
from tests.oracle import evaluate
from tests.oracle.lars import Stream, Structure, answer_streams, answers
from tests.random_programs import make_case

Row = tuple[str, tuple[Any, ...], int]


def evaluation(
    text: str,
    rows: list[Row],
    at: int | None,
    timeline: tuple[int, int] | None = None,
    statics: list[tuple[str, tuple[Any, ...]]] | None = None,
    question: str | None = None,
) -> Evaluation:
    report = check_text(text).or_raise()
    assert report.findings is not None
    facts = [Fact(name, values, time, time) for name, values, time in rows]
    facts += [Fact(name, values, None, None) for name, values in statics or []]
    subject = report.findings.subject
    asked = None if question is None else read_question(question, subject)
    return Evaluation(subject, facts, at, timeline, asked)


def ask(text: str, rows: list[Row], question: str, at: int | None, timeline: tuple[int, int] | None = None) -> list:
    found = evaluation(text, rows, at, timeline, question=question)
    asked = read_question(question, found.world.subject)
    return [(dict(reply.bindings), reply.at) for reply in found.ask(asked)]


def models(text: str, rows: list[Row], at: int, **more: Any) -> set[frozenset]:
    found = evaluation(text, rows, at, **more)
    return {frozenset((time, ground) for ground, time in model.derived) for model in found.answer_streams(at)}


# -- random formulas -----------------------------------------------------------------------------------

DECLARED = "timeline discrete. input p(x). input q(x). input r. input m(x, v). static s(x). query p(X).\n"


class Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def atom(self) -> str:
        x = self.pick("X", "Y", "X", "a", "b")
        return self.pick(f"p({x})", f"q({x})", "r", f"s({x})", f"m({x}, {self.pick('V', '1', '2')})")

    def interval(self) -> str:
        low = self.random.randint(0, 2)
        high = low + self.random.randint(0, 2)
        return self.pick(f"[{low},{high}]", f"[{low},inf)", f"[{low}]", f"({low},{high + 2})")

    def window(self) -> str:
        by = self.pick("p(K)", "p(_)", "(p(K), q(K))", "m(K, _)", "m(_, K)")
        return self.pick(
            *(
                "1",
                "2",
                "inf",
                "1, ahead 1",
                "0, ahead 2",
                "inf, ahead inf",
                "2, hop 2",
                "2, ahead 1, hop 3",
                "0, ahead inf",
            ),
            *(
                "rows 1",
                "rows 2",
                "rows 3",
                "rows 1, ahead 1",
                "rows 0, ahead 2",
                f"rows 1 by {by}",
                f"rows 2, ahead 1 by {by}",
            ),
            *("only p(_)", "only p(a)", "only (q(_), m(a, _))", "only r"),
        )

    def pin(self) -> str:
        return self.pick("T", "U", "T", "T+1", "T-1", "2", "now", "now-1", "now+2")

    def formula(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.1:
            return self.atom()
        if kind < 0.14:
            return self.pick(
                "true", "X = Y", "X != a", "T > 1", "T <= U", "now > 2", "V + 1 = 2", "T = now - 1", "V < 2"
            )
        inner = self.formula(depth - 1)
        if kind < 0.24:
            return f"not ({inner})"
        if kind < 0.44:
            other = self.formula(depth - 1)
            return f"(({inner}) {self.pick('and', 'and', 'or', 'implies')} ({other}))"
        if kind < 0.54:
            return f"({inner})@{self.pin()}"
        if kind < 0.64:
            return f"{self.pick('once', 'historically', 'eventually', 'always')}{self.interval()} ({inner})"
        if kind < 0.69:
            return f"(({inner}) {self.pick('since', 'until')}{self.interval()} ({self.formula(depth - 1)}))"
        if kind < 0.9:
            return f"window({self.window()}) {self.pick('some', 'all', '', 'some')} ({inner})"
        return f"{self.pick('some', 'all', 'reset')} ({inner})"

    def rows(self, end: int) -> list[Row]:
        found: list[Row] = []
        for time in range(end + 1):
            for each in ((("p"), ("a",)), ("p", ("b",)), ("q", ("a",)), ("r", ()), ("m", ("a", 1)), ("m", ("b", 2))):
                if self.random.random() < 0.25:
                    found.append((*each, time))
        return found


def refused(question: str) -> bool:
    """Whether the formula is one that nobody may ask, such as `historically[0,inf) p`."""
    report = check_text(DECLARED)
    assert report.findings is not None
    try:
        read_question(question, report.findings.subject)
    except Exception as problem:
        assert "T103" in str(problem), problem
        return True
    return False


@given(st.integers(0, 10**9))
def test_random_formulas(seed: int) -> None:
    writer = Writer(seed)
    question = writer.formula(3)
    # A variable that an equation gives a value has it also where no fact does: the oracle tries known values only.
    if refused(question) or ("T = now" in question and "@T" not in question):
        return
    low, end = writer.random.choice([0, 0, 1]), writer.random.randint(2, 4)
    rows = writer.rows(end)
    at = writer.random.randint(low, end)
    statics = [("s", ("a",))] if writer.random.random() < 0.5 else []
    found = evaluation(DECLARED, rows, at, (low, end), statics, question)
    asked = read_question(question, found.world.subject)
    replies = {frozenset(reply.bindings) for reply in found.ask(asked)}
    stream = Stream(low, end, frozenset((t, (name, values)) for name, values, t in rows if t >= low))
    constants = found.world.constants(found.world.data)
    expected = answers(Structure(stream, frozenset(statics)), asked.formula, at, constants)
    assert replies == {frozenset(each.items()) for each in expected}, (question, rows, (low, end), at)


# -- random programs -----------------------------------------------------------------------------------


class ProgramWriter(Writer):
    """Programs over a few facts that may hold or not: some tens of interpretations each."""

    def atom(self) -> str:
        return self.pick("a", "b", "c", "a", "b", "r", "t")

    def window(self) -> str:
        return self.pick(
            *(
                "1",
                "inf",
                "1, ahead 1",
                "0, ahead 1",
                "inf, ahead inf",
                "2, hop 2",
                "rows 1",
                "rows 2",
                "rows 1, ahead 1",
            ),
            *("rows 1 by r", "rows 1 by (a, b)", "only a", "only (b, r)"),
        )

    def pin(self) -> str:
        return self.pick("now", "now-1", "now+1", "1", "0")

    def formula(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            return self.atom()
        inner = self.formula(depth - 1)
        if kind < 0.5:
            return f"not ({inner})"
        if kind < 0.65:
            return f"(({inner}) {self.pick('and', 'or', 'or', 'implies')} ({self.formula(depth - 1)}))"
        if kind < 0.72:
            return f"({inner})@{self.pin()}"
        if kind < 0.8:
            return f"{self.pick('once', 'eventually', 'always')}{self.pick('[0,1]', '[1]', '[0,inf)')} ({inner})"
        if kind < 0.83:
            return f"(({inner}) {self.pick('since', 'until')}[0,2] ({self.formula(depth - 1)}))"
        if kind < 0.95:
            return f"window({self.window()}) {self.pick('some', 'all', 'some')} ({inner})"
        return f"{self.pick('some', 'all', 'reset')} ({inner})"

    def head(self) -> str:
        kind, first, second = self.random.random(), self.pick("a", "b", "c"), self.pick("a", "b", "c")
        if kind < 0.5:
            return first
        if kind < 0.6:
            return f"{first}@{self.pin()}"
        if kind < 0.75:
            return f"{first} | {second}"
        if kind < 0.8:
            return f"always[0,1] {first} | {second}@now"
        if kind < 0.85:
            return f"{first}, {second}"
        if kind < 0.9:
            return f"always[0,1] {first}"
        return ""

    def rule(self) -> str:
        body = [self.formula(2) for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.1:
            return f"{self.pick('a', 'b', 'c')}{self.pick('', '@1', '@[0,1]')}."
        return f"{self.head()} :- {', '.join(body)}."

    def program(self) -> str:
        lines = ["timeline discrete.", f"reading {self.pick('every', 'now')}.", "input r.", "input t."]
        lines += [self.rule() for _ in range(self.random.randint(1, 4))]
        return "\n".join((*lines, "a :- false_input.", "b :- false_input.", "c :- false_input.", ""))


@given(st.integers(0, 10**9))
def test_random_programs(seed: int) -> None:
    writer = ProgramWriter(seed)
    text, end = writer.program(), writer.random.choice([0, 1, 1, 1])
    rows: list[Row] = [(name, (), t) for name in ("r", "t") for t in range(end + 1) if writer.random.random() < 0.5]
    at = writer.random.randint(0, end)
    report = check_text(text)
    if not report.ok:  # such as `historically` without end
        return
    assert report.findings is not None
    data = Stream(0, end, frozenset((t, (name, values)) for name, values, t in rows))
    expected = answer_streams(report.findings.subject.program, data, (), (), at)
    assert models(text, rows, at, timeline=(0, end)) == expected, (text, rows, end, at)


def test_a_constraint_counts_where_no_rule_leaves_a_choice() -> None:
    text = "reading now. :- not a. a | b :- window(rows 1 by (a, b)) some c. c. input r."
    assert models(text, [], 0, timeline=(0, 0)) == set()


@given(st.integers(0, 10**9))
def test_what_is_asked_holds_in_all_models(seed: int) -> None:
    writer = ProgramWriter(seed)
    text, question, end = writer.program(), writer.formula(2), writer.random.choice([0, 1, 1])
    rows: list[Row] = [(name, (), t) for name in ("r", "t") for t in range(end + 1) if writer.random.random() < 0.5]
    at = writer.random.randint(0, end)
    report = check_text(text)
    if not report.ok:
        return
    assert report.findings is not None
    every = report.findings.subject.reading == "every"
    data = Stream(0, end, frozenset((t, (name, values)) for name, values, t in rows))
    found = evaluation(text, rows, at, (0, end), question=question)
    asked = read_question(question, found.world.subject)
    truths = []
    for model in models(text, rows, at, timeline=(0, end)):
        stream = replace(data, others=model) if every else replace(data, rows=data.rows | model)
        truths.append(Structure(stream).entails(asked.formula, at, {"now": at}))
    if not truths and not found.has_one_model:
        with pytest.raises(PresageError, match="no answer stream"):
            found.ask(asked)
    elif truths:
        assert bool(found.ask(asked)) == all(truths), (text, question, rows, end, at)


# -- random programs with variables --------------------------------------------------------------------


class OpenWriter(ProgramWriter):
    """Rules with variables and pins to open times over a handful of ground facts."""

    def atom(self) -> str:
        x = self.pick("X", "X", "u", "v")
        return self.pick(f"a({x})", f"b({x})", f"a({x})", f"e({x})", "c", "t")

    def literal(self) -> str:
        atom = self.atom()
        return self.pick(
            *(atom, f"not {atom}", f"{atom}@T", f"not {atom}@T", f"window(1) some {atom}"),
            *(f"({atom} or {self.atom()})", f"window(rows 1 by e(_)) some {atom}", f"not window(1) {atom}@T"),
        )

    def rule(self) -> str:
        x = self.pick("X", "X", "u")
        head = self.pick(f"a({x})", f"b({x})", f"a({x})@T", "c", f"a({x}) | b({x})", f"b({x})@T | c@T", "")
        body = [self.pick("e(X)", "e(X)@T", "s(X)", "e(X)@T-1"), *(self.literal() for _ in range(2))]
        body += [self.pick("T = now", "T <= now", "X != u", "T < 1", "true")]
        if "T" in "".join(body) + head:
            body.append("e(_)@T")
        return f"{head} :- {', '.join(body)}."

    def program(self) -> str:
        lines = ["timeline discrete.", f"reading {self.pick('every', 'now')}.", "input e(x). input t. static s(x)."]
        lines += [self.rule() for _ in range(self.random.randint(1, 3))]
        return "\n".join((*lines, "a(X) :- absent(X).", "b(X) :- absent(X).", "c :- absent(_).", ""))


@given(st.integers(0, 10**9))
def test_random_programs_with_variables(seed: int) -> None:
    writer = OpenWriter(seed)
    text, end = writer.program(), writer.random.choice([0, 0, 0, 1])
    possible: list[Row] = [(name, values, t) for t in range(end + 1) for name, values in (("e", ("u",)), ("e", ("v",)))]
    rows = [row for row in [*possible, ("t", (), 0)] if writer.random.random() < 0.5]
    at = writer.random.randint(0, end)
    report = check_text(text)
    if not report.ok:
        return
    assert report.findings is not None
    data = Stream(0, end, frozenset((t, (name, values)) for name, values, t in rows))
    background = [("s", ("u",))]
    expected = answer_streams(report.findings.subject.program, data, background, ("u", "v"), at)
    found = models(text, rows, at, timeline=(0, end), statics=background)
    assert found == expected, (text, rows, end, at)


# -- programs with one model ---------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_programs_with_one_model(seed: int) -> None:
    """Random stratified programs, recursion and negation through time among them, against the other oracle."""
    case = make_case(seed, dense=False)
    report = check_text(case.text)
    assert report.findings is not None
    if not report.findings.strata.stratified:
        return
    end = case.end
    facts = [
        Fact(name, values, *(when[:2] if isinstance(when, tuple) else (when, when)))
        for (name, values, when), _ in case.facts
    ]
    facts += [Fact(name, values, None, None) for name, values in case.statics]
    found = Evaluation(report.findings.subject, facts, 0, (0, end))
    assert found.has_one_model
    (model,) = found.answer_streams(0)
    expected = evaluate(
        report.findings.subject.program, [fact for fact, _ in case.facts], case.statics, end=end, timeline="discrete"
    )
    times = {ground: frozenset(each.points()) for ground, each in model.facts.ground()}
    assert times == {ground: cells for ground, cells in expected.items() if ground[0] != "s"}, case.text


@pytest.mark.parametrize("seed", range(12))
def test_windows_of_later_rows_are_settled_when_those_have_come(seed: int) -> None:
    """Up to the last time that has enough rows after it, a run says what holds in the whole stream, and no later than
    those rows are final."""
    chance = random.Random(seed)
    back, ahead, delay = chance.randint(0, 2), chance.randint(1, 3), chance.randint(0, 2)
    text = f"timeline discrete. input p(x) delay {delay}. input q(x). d(X) :- q(X). "
    formula = f"window(rows {back}, ahead {ahead}) {chance.choice(['some', 'all'])} {chance.choice('pqd')}(X)"
    rows: list[Row] = sorted(
        {(chance.choice("pq"), (chance.choice("ab"),), chance.randrange(12)) for _ in range(14)}, key=lambda row: row[2]
    )
    reasoner = presage.Reasoner(presage.parse(f"{text} e(X) :- q(X), {formula}. query e(X)."), emit="confirmed")
    found: dict[tuple[str, int], int] = {}
    for now in range(12 + delay):
        for answer in reasoner.push([row for row in rows if row[2] == now], now):
            found[answer.bindings["X"], answer.time] = now
    asked = (ask(text, rows, f"q(X) and {formula}", time, (0, 11)) for time in range(12))
    whole = {(bindings["X"], time) for replies in asked for bindings, time in replies}
    times = [row[2] for row in rows]
    enough = {each for each in whole if sum(time > each[1] for time in times) >= ahead}
    assert set(found) == enough
    for (_, time), now in found.items():
        assert now == [each for each in times if each > time][ahead - 1] + delay
