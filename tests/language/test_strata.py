"""T-stratification against brute force: the dependency graph with time written out.

[HA] Definition 16 asks whether the infinite program over all time points is stratified. For small
offsets a finite stretch of time decides: a cycle through negation with offsets up to 3 over four
predicates shows within a few dozen time points, as a closed walk or as one that climbs without end.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from presage.checking import check_text

PREDICATES = "abcd"
edges = st.tuples(st.sampled_from(PREDICATES), st.sampled_from(PREDICATES), st.integers(-3, 3), st.booleans())
programs = st.lists(edges, min_size=1, max_size=8)


def text_of(program: list[tuple[str, str, int, bool]]) -> str:
    rules = ["timeline discrete."]
    for head, body, offset, negative in program:
        pin = f"T{offset:+d}" if offset else "T"
        rules.append(f"{head}(X)@T :- in(X)@T, {'not ' if negative else ''}{body}(X)@{pin}.")
    return "\n".join([*rules, "query a(X)." if any(head == "a" for head, *_ in program) else ""])


def climbs_through_negation(program: list[tuple[str, str, int, bool]]) -> bool:
    """Whether from some p at time 0 a walk through a negative edge leads to p at time 0 or later.

    Times are kept within ±40, which is more than four predicates with steps of up to 3 need to close a
    walk and still repeat any positive cycle until it outweighs the rest."""
    limit = 40
    for start in PREDICATES:
        seen = {(start, 0, False)}
        todo = list(seen)
        while todo:
            at, time, passed = todo.pop()
            for head, body, offset, negative in program:
                if head != at or abs(time + offset) > limit:
                    continue
                following = (body, time + offset, passed or negative)
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        if any(at == start and time >= 0 and passed for at, time, passed in seen):
            return True
    return False


@given(programs)
def test_against_written_out_time(program: list[tuple[str, str, int, bool]]) -> None:
    report = check_text(text_of(program))
    assert report.ok, report.problems
    assert report.to_json()["t_stratified"] is not climbs_through_negation(program)
