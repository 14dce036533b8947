"""Sets of which the rule itself has a member: no way of its own for what an empty set is worth."""

from __future__ import annotations

import pytest

import presage

RULE = "timeline discrete.\ninput e(k, v: int).\ninput f(k, v: int).\nq(K, S) :- {body}.\nquery q(K, S)."


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("body", "is_never_empty"),
    [
        ("e(K, V), S = sum { W, T : window(6) e(K, W)@T }", True),
        ("e(K, V), S = count { W : e(K, W) }", True),
        ("e(K, V), S = count { W : once[0,6] e(K, W) }", True),
        ("e(K, 3), S = count { T : window(6) e(K, 3)@T }", True),
        ("e(K, 3), S = count { T : window(6) e(K, 4)@T }", False),
        ("e(K, V), S = count { T : window(6) e(K, 3)@T }", False),
        ("e(K, V), S = count { W : once[1,6] e(K, W) }", False),
        ("e(K, V), S = sum { W, T : window(6) e(K, W)@T, T < now }", False),
        ("e(K, V), S = sum { W, T : window(6) e(K, W)@T, W > 3 }", False),
        ("e(K, V), S = sum { W, T : window(6, hop 3) e(K, W)@T }", False),
        ("e(K, V), S = sum { W, T : window(6) f(K, W)@T }", False),
        ("e(K, V), S = sum { 2 * W, T : window(6) e(K, W)@T }", False),
        ("e(K, V), S = count { W : e(W, W), e(K, V) }", False),
        ("e(V, K), S = sum { W, T : window(6) e(K, W)@T }", False),
        ("once[0,3] e(K, _), S = sum { W, T : window(6) e(K, W)@T }", False),
    ],
)
def test_a_fact_that_asks_may_be_a_member(body: str, is_never_empty: bool) -> None:
    program = presage.parse(RULE.replace("{body}", body))
    nodes = presage.Reasoner(program, emit="confirmed").interval_engine.plan.nodes
    assert any(getattr(node, "negated", ()) for node in nodes) != is_never_empty


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", ["x", "3"])
def test_members_without_a_value_are_members(value: str) -> None:
    """A sum over a text has no value; it is not that of an empty set."""
    text = RULE.replace(": int", "").replace("{body}", "e(K, V), S = sum { W, T : window(6) e(K, W)@T }")
    reasoner = presage.Reasoner(presage.parse(text), emit="confirmed")
    told = [str(each) for each in reasoner.push([("e", ("a", int(value) if value.isdigit() else value), 1)], now=1)]
    assert told == (["confirmed q(a, 3)@1"] if value.isdigit() else [])
