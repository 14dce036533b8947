"""Aggregates as premises: what is told of small streams, held against all ways in which they can go on.

What a rule says of a stream comes from the definition (`oracle/aggregates.py`), for every set of facts that can come of
a few. Nothing is asked of the engine but its lines, which are read here as text.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, product
from typing import NamedTuple

import pytest

import presage
from presage.answers import Answer
from presage.checking import check_text
from presage.layout import format_text
from tests.oracle.aggregates import Said
from tests.oracle.lars import Stream, Structure

STATICS = frozenset({("dev", ("a",)), ("dev", ("b",)), ("dev", ("c",)), ("lim", ("a", 2)), ("lim", ("b", 1))})
DECLARED = "timeline discrete.\ninput p(d, v: float >= 0) delay {}.\ninput e(d).\nstatic dev(d).\nstatic lim(d, n).\n"

Fact = tuple[str, tuple[object, ...], int]
Facts = frozenset[Fact]


class Case(NamedTuple):
    rule: str
    universe: tuple[Fact, ...]
    """All that may come."""
    delay: int = 0
    grows: bool = True
    """Whether more facts can never make it false."""


def one(last: int, *values: int) -> tuple[Fact, ...]:
    return tuple(("p", ("a", value), at) for at in range(last + 1) for value in values or (1,))


def many(last: int) -> tuple[Fact, ...]:
    return tuple(("p", (each, 1), at) for at in range(last + 1) for each in "abc")


def with_events(facts: tuple[Fact, ...], *times: int) -> tuple[Fact, ...]:
    return facts + tuple(("e", ("a",), at) for at in times)


CASES = {
    "enough": Case("q(D) :- count { T : window(3) p(D, V)@T } >= 2.", one(5)),
    "enough, late": Case("q(D) :- count { T : window(3) p(D, V)@T } >= 3.", one(5), 2),
    "more than": Case("q(D) :- count { T : window(3) p(D, V)@T } > 2.", one(5), 1),
    "one": Case("q(D) :- count { T : window(2) p(D, V)@T } >= 1.", one(5), 1),
    "with a trigger": Case("q(D) :- p(D, W), count { T : window(3) p(D, V)@T } >= 3.", one(5)),
    "with a late trigger": Case("q(D) :- p(D, W), count { T : window(3) p(D, V)@T } >= 2.", one(5), 1),
    "at times beside each other": Case(
        "q(D) :- dev(D), historically[0,1] (count { V : p(D, V) } >= 2).", one(4, 1, 2), 1
    ),
    "one at each time": Case("q(D) :- dev(D), historically[0,1] (count { E : p(E, V) } >= 1).", many(3), 1),
    "in windows beside each other": Case(
        "q(D) :- dev(D), historically[0,1] (count { T : window(1) p(D, V)@T } >= 2).", one(5), 1
    ),
    "with a stretch": Case("q(D) :- historically[1,2] p(D, 1), count { T : window(2) p(D, V)@T } >= 2.", one(5), 2),
    "exactly, with a stretch": Case(
        "q(D) :- window(1, ahead 1) all p(D, 1), count { T : window(1) p(D, V)@T } = 1.", one(5), 1, grows=False
    ),
    "before a trigger": Case("q(D) :- p(D, W), count { T : window(3) p(D, V)@T, T < now } >= 2.", one(5), 1),
    "around an event": Case(
        "q(D) :- e(D), count { T : window(1, ahead 2) p(D, V)@T } >= 2.",
        with_events(one(5), 2), 1,
    ),
    "of different ones": Case("q :- count { D : window(1) p(D, V)@T, dev(D) } >= 2.", many(2)),
    "of different ones, late": Case("q :- count { D : window(1) p(D, V)@T, dev(D) } >= 3.", many(2), 1),
    "of different ones at times": Case("q :- count { D, T : window(1) p(D, V)@T, dev(D) } >= 3.", many(2), 1),
    "as many as known": Case("q(D) :- lim(D, N), count { T : window(2) p(D, V)@T } >= N.", one(5), 1),
    "of a kind": Case("q(D) :- count { T : window(3) p(D, V)@T, V > 1 } >= 2.", one(3, 1, 2), 1),
    "at some times": Case("q(D) :- count { T : window(4) p(D, V)@T, T != 2 } >= 2.", one(5), 1),
    "added up": Case("q(D) :- sum { V, T : window(2) p(D, V)@T } >= 4.", one(3, 1, 2), 1),
    "added up to more": Case("q(D) :- sum { V, T : window(3) p(D, V)@T } > 2.", one(5), 1),
    "as great": Case("q(D) :- max { V, T : window(2) p(D, V)@T } >= 2.", one(3, 1, 2), 1),
    "as small": Case(
        "q(D) :- e(D), min { V, T : window(0, ahead 2) p(D, V)@T } <= 1.",
        with_events(one(3, 1, 2), 1), 1,
    ),
    "at most": Case("q(D) :- e(D), count { T : window(2) p(D, V)@T } <= 1.", with_events(one(5), 2), 2, False),
    "few": Case("q(D) :- e(D), count { T : window(1, ahead 1) p(D, V)@T } < 2.", with_events(one(5), 2), 1, False),
    "not enough": Case(
        "q(D) :- e(D), not count { T : window(0, ahead 2) p(D, V)@T } >= 2.",
        with_events(one(5), 1), 1, False,
    ),
    "none": Case("q(D) :- dev(D), count { T : window(2) p(D, V)@T } = 0.", one(5), 1, False),
    "exactly": Case(
        "q(D) :- e(D), count { T : window(1, ahead 2) p(D, V)@T } = 2.",
        with_events(one(5), 2), 1, False,
    ),
    "exactly, alone": Case("q(D) :- count { T : window(2) p(D, V)@T } = 2.", one(5), 1, False),
    "the only one": Case("q(D) :- p(D, W), count { T : window(3) p(D, V)@T } <= 1.", one(5), 1, False),
    "under": Case(
        "q(D) :- e(D), sum { V, T : window(1, ahead 1) p(D, V)@T } < 3.",
        with_events(one(3, 1, 2), 1), 1, False,
    ),
    "up to": Case(
        "q(D) :- e(D), sum { V, T : window(1) p(D, V)@T } <= 2.",
        with_events(one(3, 1, 2), 1, 2), 2, False,
    ),
    "all small": Case(
        "q(D) :- e(D), max { V, T : window(1, ahead 1) p(D, V)@T } < 2.",
        with_events(one(2, 1, 2), 1), 1, False,
    ),
    "all great": Case(
        "q(D) :- e(D), min { V, T : window(1, ahead 1) p(D, V)@T } > 1.",
        with_events(one(2, 1, 2), 1), 1, False,
    ),
    "not so great": Case(
        "q(D) :- e(D), not max { V, T : window(0, ahead 1) p(D, V)@T } >= 2.",
        with_events(one(2, 1, 2), 1), 1, False,
    ),
    "beside two premises that may be one": Case(
        "q(D) :- once[0,2] p(D, 1), p(D, 1), count { T : window(1, ahead 1) p(D, V)@T } >= 2.", one(4),
    ),
    "beside one that does not count at some times": Case(
        "q(D) :- p(D, W), count { T : window(2, ahead 1) p(D, V)@T, T != 2 } = 1.", one(4), 2, grows=False
    ),
    "nothing can count": Case(
        "q(D) :- e(D), count { T : window(2) p(D, V)@T, T > now } <= 1.", with_events(one(4), 1, 3), 1, grows=False
    ),
    "all that can count does": Case(
        "q(D) :- eventually[1,2] p(D, 1), p(D, W), count { T : window(2, ahead 1) p(D, V)@T, T > now } < 2.",
        one(4), 2, grows=False,
    ),
    "too few left of those that count": Case(
        "q(D) :- once[1,2] e(D), count { T : window(3) p(D, V)@T, T != 2 } >= 3.", with_events(one(4), 0, 2)
    ),
    "through a rule": Case(
        "q(D) :- count { T : window(3) bad(D)@T } >= 2.\nbad(D)@T+1 :- p(D, V)@T, V > 0.",
        one(5), 1,
    ),
}  # fmt: skip


class World:
    """A rule, and what it says of each set of facts."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.program = presage.parse(
            DECLARED.format(case.delay) + _statics() + case.rule + "\nquery q" + _arguments(case) + "."
        )
        self.last = max(at for _, _, at in case.universe)
        text = case.rule
        if "bad(" in text:
            # The oracle takes one rule: what is derived is put in.
            text = "q(D) :- count { S : p(D, V)@S, S >= now - 4, S < now, V > 0 } >= 2."
        parsed = presage.parse(DECLARED.format(case.delay) + text)
        self.rule = next(rule for rule in parsed.rules if rule.body)

    @cache  # noqa: B019
    def said(self, facts: Facts) -> frozenset[tuple[int, tuple[object, ...]]]:
        rows = frozenset((at, (name, arguments)) for name, arguments, at in facts)
        structure = Structure(Stream(0, self.last, rows), STATICS)
        return frozenset(Said(self.rule, structure, ["a", "b", "c", 1, 2]).facts())

    def evolutions(self, arrived: Facts, now: int) -> list[Facts]:
        """All sets of facts that can come of what has arrived."""
        coming = [fact for fact in self.case.universe if fact not in arrived and now < fact[2] + self.delay(fact)]
        return [arrived | frozenset(more) for more in subsets(coming)]

    def delay(self, fact: Fact) -> int:
        return self.case.delay if fact[0] == "p" else 0


def _statics() -> str:
    return "".join(f"{name}({', '.join(map(str, values))}).\n" for name, values in sorted(STATICS, key=repr))


def _arguments(case: Case) -> str:
    return "(D)" if case.rule.startswith("q(D)") else ""


def subsets(facts: list[Fact]) -> Iterator[tuple[Fact, ...]]:
    return chain.from_iterable(combinations(facts, size) for size in range(len(facts) + 1))


@cache
def world(name: str) -> World:
    return World(CASES[name])


# -- lines, read as text -----------------------------------------------------------------------------

AMOUNT = re.compile(r"^(?:(at most|exactly|sum under|sum at most|sum over|sum) )?(\S+) of (?:([^:()]+): )?(.*)$")
ATOM = re.compile(r"^(not )?(\w+)(?:\((.*)\))?@(.*)$")
COMPARED = re.compile(r"^(.*?) (<=|>=|!=|<|>|=) (.*)$")
HOLDS: dict[str, Callable[[object, object], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,  # type: ignore[operator]
    "=": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


def worth(text: str, known: dict[str, object]) -> object:
    moved = re.match(r"^(\w+) ?([+-]) ?(\d+)$", text)
    if moved:
        base, away = known[moved[1]], int(moved[3])
        return base + away if moved[2] == "+" else base - away  # type: ignore[operator]
    if re.match(r"^-?\d", text):
        return Fraction(text)
    return known.get(text, text)


def is_barred(clause: str, known: dict[str, object]) -> bool:
    """Whether what a clause excludes is so; one that speaks of something else says nothing here."""
    for part in clause.split(", "):
        left, operator, right = COMPARED.match(part).groups()  # type: ignore[union-attr]
        one_side, other = worth(left, known), worth(right, known)
        if any(isinstance(each, str) and each[0].isupper() for each in (one_side, other)):
            return False
        if not HOLDS[operator](one_side, other):
            return False
    return True


class Premise(NamedTuple):
    words: str
    number: Fraction
    differ: tuple[str, ...]
    facts: tuple[tuple[Fact, tuple[object, ...]], ...]
    """Those it may be met by, each with what tells it apart."""

    def holds(self, facts: Facts) -> bool:
        there = {key: fact for fact, key in self.facts if fact in facts}
        if self.words.startswith("sum"):
            total = sum(fact[1][1] for fact in there.values())  # type: ignore[misc]
            tests = {
                "sum": total >= self.number,
                "sum over": total > self.number,
                "sum under": total < self.number,
                "sum at most": total <= self.number,
            }
            return tests[self.words]
        size = len(there)
        return {"": size >= self.number, "at most": size <= self.number, "exactly": size == self.number}[self.words]


def premise(text: str, unless: list[str], universe: tuple[Fact, ...], known: dict[str, object]) -> Premise:
    amount = AMOUNT.match(text)
    words, number, differ, atom = amount.groups() if amount else ("", "1", None, text)
    _, name, arguments, when = ATOM.match(atom).groups()  # type: ignore[union-attr]
    written = [*(arguments.split(", ") if arguments else []), when]
    found = []
    for fact in universe:
        if fact[0] != name:
            continue
        values = dict(known)
        for each, value in zip(written, [*fact[1], fact[2]], strict=True):
            if each[0].isupper() and each not in values and not re.search("[+-]", each):
                values[each] = value
            elif worth(each, values) != value:
                break
        else:
            if not any(is_barred(clause, values) for clause in unless):
                opened = [each for each in written if each[0].isupper() and each not in known]
                keys = differ.split(", ") if differ else opened
                found.append((fact, tuple(worth(each, values) for each in keys)))
    return Premise(words or "", Fraction(number), (), tuple(found))


def ways_at(answer: Answer, at: int, universe: tuple[Fact, ...]) -> Iterator[list[Premise]]:
    """The ways of an answer at a time, each as its premises."""
    ways = answer.ways or ({"needs": answer.needs, "unless": answer.unless, "because": answer.because},)
    name = answer.open_time
    for way in ways:
        known: dict[str, object] = {} if name is None else {name: at}
        unless = list(way["unless"])
        # The times of single premises are chosen first: what else is asked for may hang on them.
        singles = [text for text in way["needs"] if not AMOUNT.match(text)]
        opened = sorted({ATOM.match(text)[4] for text in singles} - set(known))  # type: ignore[index]
        opened = [each for each in opened if each[0].isupper()]
        for times in product(range(12), repeat=len(opened)):
            values = {**known, **dict(zip(opened, times, strict=True))}
            if any(is_barred(clause, values) for clause in unless):
                continue
            yield [premise(text, unless, universe, values) for text in way["needs"]]


def check(name: str, seed: int) -> None:
    case, rng = CASES[name], random.Random(f"{name} {seed}")
    there = world(name)
    stream = [(fact, fact[2] + rng.randint(0, there.delay(fact))) for fact in case.universe if rng.random() < 0.5]
    reasoner = presage.Reasoner(there.program)
    confirmed: set[tuple[int, tuple[object, ...]]] = set()
    arrived: Facts = frozenset()
    end = there.last - (2 if "ahead" in case.rule else 0)
    for now in range(there.last + case.delay + 1):
        coming = [fact for fact, arrives in stream if arrives == now]
        arrived |= frozenset(coming)
        changes = reasoner.push(coming, now=now)
        confirmed |= {(each.time, tuple(each.arguments)) for each in changes if each.status == "confirmed"}  # type: ignore[misc]
        if seed % 3 == 2:
            reasoner = presage.Reasoner.restore(there.program, reasoner.save())
        evolutions = there.evolutions(arrived, now)
        outcomes = [there.said(each) for each in evolutions]
        sure = frozenset.intersection(*outcomes)
        context = (name, seed, now, sorted(arrived))
        last = there.last
        assert {each for each in confirmed if each[0] <= last} <= sure, context
        settled = {each for each in sure if each[0] + 4 + case.delay <= now or case.grows}
        assert settled <= confirmed | {each for each in sure if each[0] > last - 4}, (context, settled - confirmed)
        possible = [each for each in reasoner.answers() if each.status == "possible"]
        for at in range(end + 1):
            for values in {arguments for outcome in outcomes for time, arguments in outcome if time == at} | {
                tuple(each.arguments) for each in possible
            }:
                told = [each for each in possible if tuple(each.arguments) == values and each.time in (at, None)]
                ways = [way for each in told for way in ways_at(each, at, case.universe)]
                if (at, values) in confirmed:
                    continue
                for evolution, outcome in zip(evolutions, outcomes, strict=True):
                    by_ways = any(all(each.holds(evolution) for each in way) for way in ways)
                    is_so = (at, values) in outcome
                    assert not by_ways or is_so, (context, at, values, sorted(evolution - arrived), told)
                    assert not ways or by_ways == is_so, (context, at, values, sorted(evolution - arrived), told)
                if case.grows:
                    has_way = any((at, values) in outcome for outcome in outcomes)
                    needs_it = not all(
                        (at, values) in there.said(each - arrived)
                        for each, outcome in zip(evolutions, outcomes, strict=True)
                        if (at, values) in outcome
                    )
                    if has_way and needs_it:
                        assert ways, (context, at, values, "is not told")
                # What is told can come true; amounts and events that are not in the universe aside.
                if ways and not any((at, values) in outcome for outcome in outcomes):
                    beyond = [each for way in ways for each in way if "sum" in each.words or not each.facts]
                    assert beyond, (context, at, told)


@pytest.mark.parametrize("name", CASES)
def test_ways_are_what_makes_it_true(name: str) -> None:
    for seed in range(2, 4):
        check(name, seed)


LOCKED = (
    "timeline discrete.\ninput failed(u).\nlocked(U) :- count { T : window(9) failed(U)@T } >= 3.\nquery locked(U)."
)


def test_evidence_is_what_other_premises_leave_to_count() -> None:
    program = "timeline discrete. input r(x). g(X) :- r(X), count { T : window(2) r(X)@T } >= 2. query g(X)."
    reasoner = presage.Reasoner(presage.parse(program))
    reasoner.push([("r", ("b",), 0)], now=0)
    (answer,) = (each for each in reasoner.push([("r", ("b",), 1)], now=1) if each.status == "possible")
    assert (answer.because, answer.needs, answer.ways) == (("r(b)@1",), ("r(b)@T",), ())
    assert answer.unless == ("T < 2", "T > 3")


def test_the_latest_facts_are_evidence() -> None:
    """However many there are in the window, an answer has no more ways than facts it asks for."""
    reasoner = presage.Reasoner(presage.parse(LOCKED.replace(":- ", ":- failed(U), ")))
    for now in range(9):
        told = reasoner.push([("failed", ("u",), now)], now=now)
    (confirmed,) = (each for each in told if each.status == "confirmed")
    assert confirmed.because == ("failed(u)@6", "failed(u)@7", "failed(u)@8")
    (possible,) = (each for each in told if each.status == "possible")
    assert (possible.because, possible.needs) == (("failed(u)@7", "failed(u)@8"), ("failed(u)@T",))
    assert len(possible.ways) <= 3


def test_that_a_fact_leaves_the_window_is_not_told() -> None:
    """Where it was what kept an answer of those that are decided by now from being like the others."""
    text = "timeline discrete.\ninput e(k) delay 2.\nq(K) :- count { T : window(12) e(K)@T } > 4.\nquery q(K)."
    reasoner = presage.Reasoner(presage.parse(text))
    reasoner.push([("e", ("b",), 1)], now=1)
    reasoner.push([("e", ("b",), 13)], now=13)
    assert [len(reasoner.push([], now=now)) for now in range(14, 24)] == [0] * 10


def test_what_is_evidence_already_counts_first() -> None:
    text = """timeline discrete.
input a(x) delay 2.
input b(x).
q(X) :- a(X), b(X) until[1,1] a(X), count { T : window(1, ahead 1) a(X)@T } >= 2.
query q(X)."""
    reasoner = presage.Reasoner(presage.parse(text))
    told = {each.text: each for each in reasoner.push([("a", ("y",), 2), ("a", ("y",), 4)], now=4)}
    assert (told["q(y)@3"].because, told["q(y)@3"].needs) == (("a(y)@4",), ("a(y)@3",))


def test_explanations_say_what_counts_and_what_made_the_difference() -> None:
    program = presage.parse(LOCKED)
    facts = [("failed", ("u",), at) for at in (0, 2, 5)]
    before = presage.explain(program, facts[:2], "locked(u)@5", at=3).to_json()
    assert (before["status"], before["ways"][0]["needs"]) == ("possible", ["1 of failed(u)@T1"])
    after = presage.explain(program, facts, "locked(u)@5", at=6).to_json()
    assert (after["status"], after["decisive"]) == ("confirmed", "failed(u)@5")
    assert after["because"] == ["failed(u)@0", "failed(u)@2", "failed(u)@5"]
    never = presage.explain(program, facts, "locked(u)@4", at=9).to_json()
    assert (never["status"], [each["missing"] for each in never["counted"]]) == ("refuted", [1])
    assert "is 2, of 2 tuples, where >= 3 is asked for: 1 missing" in never["says"]


def test_answers_without_premises_take_none_from_others() -> None:
    text = LOCKED + "\nn(U, N) :- N = count { T : window(5) failed(U)@T }.\nquery n(U, N)."
    found = presage.explain(text, [("failed", ("u",), 0), ("failed", ("u",), 2)], "locked(u)@5", at=3)
    assert (found.status, found.ways[0]["needs"]) == ("possible", ["1 of failed(u)@T1"])


def test_explanations_say_what_was_counted_where_there_are_no_premises() -> None:
    """Averages, values that are told, what is counted below what is asked for; and what is not so, or not settled."""
    program = presage.parse(
        "timeline discrete.\ninput login(u) delay 1.\ninput temp(d, v).\n"
        "logins(U, N) :- N = count { T : window(5) login(U)@T }.\n"
        "busiest(U) :- logins(U, N), N >= max { M, V : logins(V, M) }.\n"
        "jump(D) :- temp(D, V), V > 2 * avg { W, T : window(6) temp(D, W)@T, T < now }.\n"
        "query busiest(U). query jump(D)."
    )
    logins = [{"pred": "login", "args": [user], "time": at, "arrives": then} for user, at, then in
              (("a", 0, 0), ("a", 2, 3), ("b", 2, 2))]  # fmt: skip
    found = presage.explain(program, logins, "busiest(a)@3", at=5).to_json()
    assert (found["status"], found["decisive"]) == ("confirmed", "login(a)@2")
    assert [(each["value"], each["tuples"]) for each in found["counted"]] == [
        (2, [[2, "a"], [1, "b"]]),
        (2, [[0], [2]]),
    ]
    other = presage.explain(program, logins, "busiest(b)@3", at=5)
    assert other.status == "not entailed" and "max { M, V : logins(V, M) } is 2, of 2 tuples" in other.says
    assert "more of what counts may still come" in presage.explain(program, logins, "busiest(a)@3", at=3).says
    temps = [("temp", ("d", value), at) for at, value in enumerate((10, 20, 40))]
    jump = presage.explain(program, temps, "jump(d)@2").to_json()
    assert jump["because"] == ["temp(d, 10)@0", "temp(d, 20)@1", "temp(d, 40)@2"]
    assert "is 15, of 2 tuples" in jump["says"]
    assert "has no value, of 0 tuples" in presage.explain(program, temps, "jump(d)@0").says


def test_columns_of_numbers_have_bounds() -> None:
    program = presage.parse("input pay(c, v: float >= 0).\nq(C) :- sum { V, T : window(3) pay(C, V)@T } >= 9.")
    reasoner = presage.Reasoner(program)
    with pytest.raises(presage.PresageError, match="-1 is not a value of the column `v: float >= 0`"):
        reasoner.push([("pay", ("a", -1), 0)], now=0)
    assert format_text(program.source.text).startswith("input pay(c, v: float >= 0).")


@pytest.mark.parametrize(
    "rule", ["q(C, N) :- N = count { T : window(3) pay(C, V)@T }.", "q(C) :- avg { V, T : window(3) pay(C, V)@T } > 3."]
)
def test_other_aggregates_are_told_as_confirmed(rule: str) -> None:
    report = check_text(f"timeline discrete.\ninput pay(c, v).\n{rule}").to_json()
    assert report["hypothetical"] is False


def test_a_premise_that_may_no_longer_lie_where_something_counts_is_not_told_again() -> None:
    program = presage.parse(
        "timeline discrete.\ninput e(k) delay 1.\n"
        "q(K) :- once[0,3] e(K), count { T : window(8) e(K)@T } >= 3.\nquery q(K).\n"
    )
    reasoner = presage.Reasoner(program)
    told = [*reasoner.push([("e", ("b",), 1)], now=1), *reasoner.push([], now=12)]
    # At 4 both that are lacking within the window that ends there can no longer come, at 9 all others.
    assert [(each.now, str(each)) for each in told] == [
        (1, "possible q(b)@T"),
        (4, "possible q(b)@T"),
        (9, "unsupported q(b)@T"),
    ]


def test_at_most_so_many_before_a_time_that_has_no_latest() -> None:
    program = presage.parse(
        "timeline discrete.\ninput e(k).\ninput link(k).\n"
        "d(X) :- window(inf) some e(X), count { T : window(4) link(X)@T } <= 3.\nquery d(X).\n"
    )
    reasoner = presage.Reasoner(program)
    (told,) = reasoner.push([("e", ("a",), 4)], now=4)[-1:]
    assert (str(told), told.needs, told.decided_by) == ("possible d(a)@T", ("at most 3 of link(a)@T1",), None)
    assert told.unless == ("T < 5", "T1 < 5", "T1 < T - 4", "T1 > T")
