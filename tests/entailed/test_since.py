"""`since` without end, and left sides that are absent: against the oracle, and what they remember of long streams."""

from __future__ import annotations

import os
import random

import pytest

import presage
from presage.checking import check_text
from presage.engine import runtime, sweeping
from tests.entailed.test_engine import compare
from tests.random_programs import Case, make_case

SEEDS = range(1500) if os.environ.get("HYPOTHESIS_PROFILE") == "long" else range(20)
LEFTS = ("p(X)", "not p(X)", "(p(X) or r(X))", "not (p(X) and r(X))", "once[0,2] p(X)", "not once[1,2] r(X)", "r(a)")
RIGHTS = ("q(X)", "once[0,1] q(X)", "(q(X) and not r(X))", "(q(X) or r(X))")
ENDLESS = ("[0,inf)", "[1,inf)", "[2,inf)", "(0,inf)", "(1,inf)")
BOUNDED = ("[0,3]", "[1,4]", "(0,2]")


def random_case(seed: int) -> tuple[Case, bool]:
    chance = random.Random(seed)
    dense = chance.random() < 0.4
    case = make_case(seed, dense=dense)
    declared = [line for line in case.text.splitlines() if line.split(" ")[0] in ("timeline", "static", "input")]

    def formula() -> str:
        operator = chance.choice(["since", "since", "since", "until"])
        interval = chance.choice(BOUNDED if operator == "until" else ENDLESS + BOUNDED)
        return f"{chance.choice(LEFTS)} {operator}{interval} {chance.choice(RIGHTS)}"

    rules = [
        f"d00(X) :- {formula()}.",
        f"d01(X) :- {formula()}, {formula()}.",
        f"d02(X) :- s(X), not ({formula()}).",
        f"d03(X) :- {formula()}, not d02(X).",
        *(f"query d0{number}(X)." for number in range(4)),
    ]
    return Case("\n".join([*declared, *rules, ""]), case.facts, case.statics), dense


@pytest.mark.parametrize("seed", SEEDS)
def test_oracle(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 4:
        # What can be forgotten is looked for at every step.
        monkeypatch.setattr(sweeping, "FEW_ROWS", -1000)
    compare(*random_case(seed))


def remembered(rule: str, declared: str, steps: int, holds: int) -> list[int]:
    """How much is in memory after each step of a stream in which every constant is new. Each has `q` once, and `p`
    right after it so often, or, where its absence counts, once after as many steps."""
    text = f"{declared}\ninput p(x) delay 1.\ninput q(x, y) delay 1.\n{rule}\nquery d(X)."
    reasoner = presage.Reasoner(presage.parse(text), emit="confirmed")
    absent, counts = "not p" in rule, []
    for now in range(steps):
        facts = []
        for place in range(5):
            facts.append(("q", (f"v{now}-{place}", "y"), now))
            for back in (holds,) if absent else range(1, holds + 1):
                if now >= back:
                    facts.append(("p", (f"v{now - back}-{place}",), now))
        reasoner.push(facts, now)
        engine = reasoner.interval_engine
        counts.append(reasoner.remembered + sum(map(len, engine.waiting.values())) + len(engine.symbols))
    return counts


@pytest.mark.parametrize("timeline", ["timeline discrete.", "timeline dense."])
@pytest.mark.parametrize(
    "rule",
    [
        "d(X) :- p(X) since[0,inf) q(X, Y).",
        "d(X) :- p(X) since[2,inf) q(X, y).",
        "d(X) :- not p(X) since[0,inf) q(X, Y).",
        "d(X) :- not p(X) since[0,5] q(X, Y).",
        "d(X) :- p(X) since[0,5] q(X, Y).",
        "d(X) :- not p(X) until[0,5] q(X, Y).",
        "d(X) :- q(X, Y), not (not p(X) since[1,inf) q(X, Y)).",
        "d(X) :- p(X), not p(X) since(0,inf) once[0,1] q(X, Y).",
    ],
)
def test_memory_stays_flat(rule: str, timeline: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "FEW_ROWS", 50)
    monkeypatch.setattr(runtime, "FEW_SYMBOLS", 50)
    counts = remembered(rule, timeline, 320, 3)
    # It goes up and down with how often memory is looked through; without forgetting it would have tripled.
    assert max(counts[240:]) <= 1.5 * max(counts[40:120])


def test_what_holds_on_is_remembered() -> None:
    """However often memory is looked through, and whatever came in between."""
    reasoner = presage.Reasoner(
        presage.parse(
            "timeline discrete. input p(x). input q(x). input z(x).\nd(X) :- z(X), p(X) since[0,inf) q(X).\nquery d(X)."
        ),
        emit="confirmed",
    )
    reasoner.push([("q", ("old",), 0)], 0)
    for now in range(1, 300):
        facts = [("q", (f"v{now}-{place}",), now) for place in range(20)]
        reasoner.push([*facts, ("p", ("old",), now), ("z", ("v5-5",), now)], now)
    found = reasoner.push([("z", ("old",), 300), ("z", ("v5-5",), 300), ("p", ("old",), 300)], 300)
    assert [answer.answer for answer in found] == ["d(old)@300"]
    assert reasoner.remembered < 2_500


@pytest.mark.parametrize("interval", ["[0,inf)", "(1,inf)"])
def test_check_says_what_has_no_bound(interval: str) -> None:
    report = check_text(f"timeline discrete. input p(x). input q(x). d(X) :- p(X) until{interval} q(X). query d(X).")
    assert report.findings is not None
    assert report.findings.memory is None
