"""Runs with several models that keep their grounding, against runs that ground anew at each step."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from presage.answer_streams import parts, stepping
from presage.answer_streams.stepping import AnswerStreamSteps
from presage.answer_streams.stepping_kept import KeptSteps, steps_of
from presage.answer_streams.stepping_one import OneModelSteps
from presage.checking import Report, check_text
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.run.engines import needs_answer_streams


class BoundedWriter:
    """Programs with choices whose rules look back and ahead a little, at facts that may be late."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def atom(self, x: str = "X") -> str:
        return self.pick(f"a({x})", f"b({x})", f"c({x})", f"e({x})", f"e({x})", f"d({x})")

    def open_literal(self) -> str:
        """About the time at which the rule is looked at."""
        atom, other = self.atom(), self.atom()
        return self.pick(
            *(atom, atom, f"not {atom}", f"not {atom}", f"({atom} or {other})", f"({atom} or not {other})"),
            *(f"window(2) some {atom}", f"not window(1) some {atom}", f"window(2) all {atom}"),
            *(f"once[1,2] {atom}", f"historically[0,1] {atom}", f"not once[1] {atom}", f"{atom}@now-1"),
            *(f"not {atom}@now-2", f"eventually[0,1] {atom}", f"not window(0, ahead 1) some {atom}"),
            *(f"({atom} since[0,2] {other})", f"window(2, hop 2) some {atom}", f"window(3) once[1] {atom}"),
            *(f"({atom} implies {other})", f"window(3) window(only e(_)) some {atom}", "now > 2"),
        )

    def pinned_literal(self) -> str:
        atom = self.atom()
        offset = self.pick("", "", "-1", "-2", "+1")
        return self.pick(
            *(f"{atom}@T{offset}", f"not {atom}@T{offset}", f"not {atom}@T", f"(once[1,2] {atom})@T"),
            *(f"(not once[2] {atom})@T", f"window(2) {atom}@T", "T > 1", "e(X)@U, U = T - 1, not a(X)@U"),
        )

    def head(self, x: str, pin: str) -> str:
        first, second = self.pick("a", "b", "c"), self.pick("a", "b", "c")
        return self.pick(
            *(f"{first}({x}){pin}", f"{first}({x}){pin}", f"{first}({x}){pin} | {second}({x}){pin}"),
            *(f"{first}({x}){pin} | {second}({x}){pin or '@now'}+1", f"{first}({x}){pin}, {second}({x}){pin}"),
            *(f"always[0,2] {first}({x})" if not pin else f"{first}({x})@T+1", f"{first}({x}){pin or '@now'}-1"),
        )

    def rule(self) -> str:
        x = self.pick("X", "X", "X", "u")
        if self.random.random() < 0.65:
            body = ["e(X)", *(self.open_literal() for _ in range(self.random.randint(1, 2)))]
            head = "" if self.random.random() < 0.12 else self.head(x, "")
        else:
            body = ["e(X)@T", *(self.pinned_literal() for _ in range(self.random.randint(1, 2)))]
            head = "" if self.random.random() < 0.12 else self.head(x, "@T")
        if self.random.random() < 0.3:
            body[0] = body[0].replace(
                "e(X)", self.pick("a(X)", "s(X)", "d(X)", "once[0,1] e(X)" if "@" not in body[0] else "c(X)")
            )
        return f"{head} :- {', '.join(body)}."

    def program(self) -> str:
        delay = self.pick("", "", " delay 1", " delay 2")
        lines = ["timeline discrete.", f"input e(x){delay}.", "input d(x).", "static s(x)."]
        lines += [
            self.pick(
                "a(X) :- e(X), not b(X). b(X) :- e(X), not a(X).",
                "a(X) | b(X) :- e(X).",
                "c(X)@T | a(X)@T+1 :- e(X)@T.",
            )
        ]
        lines += [self.pick("", "", "input c(x).", "input c(x).", "b(u)@2.", "c(v).")]
        lines += [self.rule() for _ in range(self.random.randint(1, 3))]
        lines += ["a(X) :- absent(X).", "b(X) :- absent(X).", "c(X) :- absent(X)."]
        return "\n".join((*lines, "query a(X). query b(X). query c(X)."))

    def facts(self, text: str, end: int) -> list[Fact]:
        return [
            Fact(name, (value,), time, time)
            for name in ("e", "d", "c")
            if f"input {name}" in text
            for value in ("u", "v")
            for time in range(end + 1)
            if self.random.random() < (0.4 if name == "e" else 0.2)
        ]


FEW = settings(max_examples=60)


def both(report: Report) -> tuple[KeptSteps, AnswerStreamSteps] | None:
    """The two kinds of steps of a program, if it has both."""
    if not report.ok or not needs_answer_streams(report):
        return None
    try:
        found = steps_of(report)
    except PresageError:  # never settled
        return None
    return (found, AnswerStreamSteps(report)) if isinstance(found, KeptSteps) else None


def told(steps: AnswerStreamSteps, arrivals: dict[int, list[Fact]]) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    for now, facts in sorted(arrivals.items()):
        yield now, [(answer.status, answer.answer) for answer in steps.step(facts, now)]


def arrivals_of(writer: BoundedWriter, facts: list[Fact], delay: int, end: int) -> dict[int, list[Fact]]:
    """Facts arrive in time, late or early; some ticks are left out."""
    found: dict[int, list[Fact]] = {now: [] for now in range(end + 1) if writer.random.random() < 0.8}
    for fact in facts:
        assert isinstance(fact.low, int)
        arrives = fact.low + writer.random.choice([0, 0, 0, delay if fact.predicate == "e" else 0, -1])
        found.setdefault(max(0, arrives), []).append(fact)
    return found


@FEW
@given(st.integers(0, 10**9))
def test_kept_grounding_gives_what_grounding_anew_gives(seed: int) -> None:
    writer = BoundedWriter(seed)
    text = writer.program()
    report = check_text(text)
    pair = both(report)
    if pair is None:
        return
    end = writer.random.choice([4, 7])
    delay = pair[0].lags.rows - pair[0].lead if pair[0].lags is not None else 0
    arrivals = arrivals_of(writer, writer.facts(text, end), delay, end)
    for steps in pair:
        steps.add_static(Fact("s", ("u",), None, None))
    anew = list(told(pair[1], arrivals))
    assert list(told(pair[0], arrivals)) == anew, (text, arrivals)


def program_ahead(writer: BoundedWriter) -> str:
    """Whatever is asked for lies some time after all it hangs on."""

    def literal() -> str:
        return writer.pick("a(X)", "b(X)", "once[0,1] b(X)", "(a(X) or b(X))", "window(1) some a(X)", "a(X)@now-1")

    away = writer.random.randint(2, 3)
    lines = ["timeline discrete.", f"input e(x){writer.pick('', ' delay 1')}.", "input d(x).", "static s(x)."]
    lines.append(f"a(X)@T+{away} | b(X)@T+{away} :- e(X)@T{writer.pick('', ', not d(X)@T')}.")
    lines.append(writer.pick(f"a(X)@T+{away} :- d(X)@T.", "", f"b(X)@T+{away} :- d(X)@T, s(X)."))
    lines.append(f"c(X) :- {literal()}, {writer.pick('not b(X)', 'not a(X)', literal(), 's(X)')}.")
    lines.append(f"c(X) :- {literal()}.")
    lines.append(writer.pick("c(X)@T+1 :- a(X)@T, not b(X)@T.", "", ":- a(X), d(X)."))
    return " ".join([*lines, "query c(X).", "query a(X)."])


@FEW
@given(st.integers(0, 10**9))
def test_what_is_told_before_its_time_would_be_told_later(seed: int) -> None:
    writer = BoundedWriter(seed)
    text = program_ahead(writer)
    report = check_text(text)
    early = steps_of(report)
    assert early.lead
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stepping, "lead_of", lambda subject: 0)
        later = AnswerStreamSteps(report)
    end = 7
    arrivals = arrivals_of(writer, writer.facts(text, end), 0, end)
    arrivals |= {now: [] for now in range(end + 1, end + 4)}
    since: list[dict[str, int]] = []
    for steps in (early, later):
        steps.add_static(Fact("s", ("u",), None, None))
        lines = list(told(steps, arrivals))
        if any(status == "inconsistent" for _, answers in lines for status, _ in answers):
            return
        since.append({answer: now for now, answers in reversed(lines) for _, answer in answers})
    assert all(since[0][answer] <= now for answer, now in since[1].items()), (text, arrivals)
    missing = {answer for answer in since[0] if int(answer.rpartition("@")[2]) <= end} - set(since[1])
    assert not missing, (text, arrivals, missing)


@pytest.mark.parametrize("most", [0, 3])
@FEW
@given(st.integers(0, 10**9))
def test_parts_with_many_answer_streams_keep_their_rules(most: int, seed: int) -> None:
    writer = BoundedWriter(seed)
    text = writer.program()
    pair = both(check_text(text))
    if pair is None:
        return
    arrivals = arrivals_of(writer, writer.facts(text, 5), 0, 5)
    anew = list(told(pair[1], arrivals))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "MOST_STREAMS", most)
        assert list(told(pair[0], arrivals)) == anew


def kept(text: str) -> KeptSteps:
    found = steps_of(check_text(text).or_raise())
    assert isinstance(found, KeptSteps)
    return found


def test_an_alternative_that_lies_ahead_counts() -> None:
    """A stream that goes on has no end: b may hold at 1, though 1 has not come."""
    steps = kept("timeline discrete. input r. a | b@now+1 :- r. query a. query b.")
    assert [list(steps.step([Fact("r", (), 0, 0)] * (now == 0), now)) for now in range(3)] == [[], [], []]


def test_what_was_open_may_be_confirmed_long_after() -> None:
    """Once chosen, a side is kept; at 50 it turns out which one it was, from the start."""
    text = """timeline discrete. input go. input not_left. query left. query right.
    left | right :- go.
    left@T+1 :- left@T. right@T+1 :- right@T.
    :- left, not_left."""
    steps = kept(text)
    for now in range(50):
        assert list(steps.step([Fact("go", (), 0, 0)] * (now == 0), now)) == []
        assert steps.remembered <= 4
    answers = list(steps.step([Fact("not_left", (), 50, 50)], 50))
    assert {answer.answer for answer in answers} == {f"right@{time}" for time in range(51)}


def test_what_nobody_asks_for_ties_nothing_together() -> None:
    """Forty guests sit left or right; that somebody does would make one part of them, with 2^40 models."""
    text = """timeline discrete. input guest(x). left(X) | right(X) :- guest(X).
    somebody :- left(X). somebody :- right(X).
    again(X) :- left(X), once[1] left(X). again(X) :- right(X), once[1] right(X). query again(X)."""
    steps = kept(text)
    for now in range(3):
        steps.step([Fact("guest", (f"g{index}",), now, now) for index in range(40)], now)
        assert steps.remembered == 40 * 2
    # It holds in all of them: asked for, it ties nothing together either.
    steps = kept(f"{text} query somebody.")
    for now in range(3):
        answers = steps.step([Fact("guest", (f"g{index}",), now, now) for index in range(40)], now)
        assert [str(answer) for answer in answers] == [f"confirmed somebody@{now}"]
        assert steps.remembered == 40 * 2


def test_memory_does_not_grow() -> None:
    from bench import answer_streams

    steps = answer_streams.kept()
    stream = answer_streams.make_stream(150)
    sizes = []
    for now, facts in enumerate(stream):
        assert all(answer.status == "confirmed" for answer in steps.step(facts, now))
        sizes.append((steps.remembered, steps.facts_in_memory))
    for place, most in ((0, 80), (1, 400)):
        assert max(size[place] for size in sizes) < most


def test_answers_of_the_comparison_are_the_same() -> None:
    from bench import answer_streams

    stream = answer_streams.make_stream(12)
    found = answer_streams.answers(answer_streams.kept(), stream)
    assert found == answer_streams.answers(answer_streams.anew(), stream)
    assert any("run" in line for step in found for line in step), "no ban told where a job was"


# -- `reading now` -------------------------------------------------------------------------------------


def test_reading_now_forgets_what_is_out_of_reach() -> None:
    text = """reading now. input r(x). input t. query a(X). query old(X).
    a(X) :- window(2) some r(X), not b(X). b(X) :- window(2) some r(X), not a(X). :- b(X), t.
    old(X)@T :- window(3) r(X)@T, T < now - 1."""
    steps = steps_of(check_text(text).or_raise())
    whole = steps_of(check_text(text).or_raise())
    whole._reach = None
    chance = random.Random(3)
    for now in range(60):
        facts = [Fact("r", (value,), now, now) for value in "uv" if chance.random() < 0.4]
        facts += [Fact("t", (), now, now)] if chance.random() < 0.5 else []
        answers = list(steps.step(facts, now))
        assert answers == list(whole.step(facts, now))
        assert len(steps._given) < 15 and len(steps._said) < 15
    assert len(whole._given) > 40


# -- which way a program takes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules, said",
    [
        ("a :- r, not b. b :- r, not a.", "keeps what it has grounded"),
        ("a | b :- r, once[0,5] t.", "keeps what it has grounded"),
        ("a | b :- r, once[0,inf) t.", "line 2 looks back at `t` without end"),
        ("a | b :- r, window(rows 3) some t.", "line 2 looks back at `t` without end"),
        ("a | b :- r, window(inf) some t.", "line 2 looks back at `t` without end"),
        ("a | b :- r, t@3.", "line 2 looks at one fixed time for ever"),
        ("a@T | b@T :- r@T, t@U.", "line 2 has times that may lie any distance apart"),
        ("always[0,inf) a | b :- r.", "line 2 says something of all times to come"),
        ("reading now. a | b :- window(3) some r.", "each step is an evaluation of its own"),
        ("reading now. a :- t@T, r.", "line 2 looks back at `t` without end"),
        ("a :- r, not t.", None),
    ],
)
def test_check_says_how_a_run_steps(rules: str, said: str | None) -> None:
    report = check_text(f"timeline discrete. input r. input t.\n{rules}")
    reasons = report.to_json()["why"]["engine"]
    assert len(reasons) == (1 if said is None else 2)
    assert said is None or said in reasons[1]


# -- what cannot be worked out -------------------------------------------------------------------------


def test_the_limit_of_invention_names_the_rule_and_leaves_all_as_it_was() -> None:
    text = """timeline discrete.
    input born(x). input seed(x).
    exists Y: parent(X, Y) :- person(X).
    person(Y) :- parent(X, Y).
    person(X) :- born(X).
    exists lasting Z: tag(X, Z) :- seed(X).
    query tag(X, Z). query person(X)."""
    steps = OneModelSteps(check_text(text, chase_limit=6), 6)
    assert [str(answer) for answer in steps.step([Fact("seed", ("a",), 0, 0)], 0)] == ["confirmed tag(a, _:1)@0"]
    with pytest.raises(PresageError, match="line 3: this rule keeps inventing values: more than 6"):
        steps.step([Fact("born", ("eve",), 1, 1), Fact("seed", ("late",), 0, 0)], 1)
    assert (steps.now, steps.late) == (0, [])
    assert [str(answer) for answer in steps.step([Fact("seed", ("b",), 1, 1)], 1)] == ["confirmed tag(b, _:2)@1"]


def test_a_step_without_a_solver_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "timeline discrete. input r(x). a(X) | b(X) :- r(X). c(X) :- a(X). c(X) :- b(X). query c(X)."
    steps = kept(text)
    assert [str(answer) for answer in steps.step([Fact("r", ("u",), 0, 0)], 0)] == ["confirmed c(u)@0"]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "clingo", None)
        with pytest.raises(PresageError, match="pip install clingo"):
            steps.step([Fact("r", ("v",), 1, 1)], 1)
    assert steps.now == 0
    assert [str(answer) for answer in steps.step([Fact("r", ("v",), 1, 1)], 1)] == ["confirmed c(v)@1"]
    assert [str(answer) for answer in steps.step([Fact("r", ("w",), 2, 2)], 2)] == ["confirmed c(w)@2"]


AHEAD = """
timeline discrete. {horizon}
input tram(x) delay {delay}.
exp(X)@T+3 | foo(X)@T+3 :- tram(X)@T.
bar(X) :- exp(X).
bar(X) :- foo(X).
late(X)@T+1 :- bar(X)@T, not tram(X)@T.
query bar(X).
query late(X).
"""


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    ("horizon", "delay", "expected"),
    [
        ("", 0, [(1, "bar(l1)@4"), (4, "late(l1)@5")]),
        ("horizon 3.", 0, [(1, "bar(l1)@4"), (4, "late(l1)@5")]),
        ("horizon 1.", 0, [(3, "bar(l1)@4"), (4, "late(l1)@5")]),
        ("", 1, [(2, "bar(l1)@4"), (5, "late(l1)@5")]),
    ],
)
def test_what_is_final_before_its_time_is_told_then(
    horizon: str, delay: int, expected: list[tuple[int, str]], fresh: bool
) -> None:
    report = check_text(AHEAD.format(horizon=horizon, delay=delay))
    steps = AnswerStreamSteps(report) if fresh else steps_of(report)
    assert fresh or isinstance(steps, KeptSteps)
    found = []
    for now in range(7):
        facts = [Fact("tram", ("l1",), 1, 1)] if now == 1 else []
        found += [(now, answer.answer) for answer in steps.step(facts, now)]
    assert found == expected
