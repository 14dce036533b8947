"""Runs of programs with several models: whether a step costs the same however long the run has been, and what keeping
the grounding saves over grounding all that has arrived at each step.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from bench.common import Row, resident_bytes, timed
from presage.answer_streams.stepping import AnswerStreamSteps
from presage.answer_streams.stepping_kept import KeptSteps, steps_of
from presage.checking import check_text
from presage.io.facts import Fact

PROGRAM = """
timeline discrete.
input job(j).
input banned(j, m).
static machine(m).
run(J, M) :- job(J), machine(M), not banned(J, M), not elsewhere(J, M).
elsewhere(J, M) :- run(J, N), machine(M), M != N.
served(J) :- run(J, _).
stays(J) :- run(J, M), once[1,4] run(J, M).
:- job(J), not served(J).
:- run(J, M), once[1,4] run(J, N), M != N.
query served(J).
query stays(J).
query run(J, M).
"""
"""Each job goes to one machine, and to the same again within four steps. A ban tells where it was before."""
STEPS, EARLY, AGAINST = 1_000, 100, 60
MACHINES, JOBS, NAMES = 3, 3, 12


def make_stream(steps: int) -> list[list[Fact]]:
    """Some jobs at each step; now and then one of them is banned from all machines but its own."""
    chance = random.Random(1)
    found = []
    for now in range(steps):
        jobs = sorted({chance.randrange(NAMES) for _ in range(JOBS)})
        facts = [Fact("job", (f"j{each}",), now, now) for each in jobs]
        for each in jobs:
            if chance.random() < 0.1:
                others = (index for index in range(MACHINES) if index != each % MACHINES)
                facts += [Fact("banned", (f"j{each}", f"m{index}"), now, now) for index in others]
        found.append(facts)
    return found


def fill(steps: AnswerStreamSteps) -> AnswerStreamSteps:
    for index in range(MACHINES):
        steps.add_static(Fact("machine", (f"m{index}",), None, None))
    return steps


def kept() -> KeptSteps:
    steps = steps_of(check_text(PROGRAM))
    assert isinstance(steps, KeptSteps)
    fill(steps)
    return steps


def anew() -> AnswerStreamSteps:
    return fill(AnswerStreamSteps(check_text(PROGRAM)))


def answers(steps: AnswerStreamSteps, stream: list[list[Fact]], first: int = 0) -> list[list[str]]:
    return [
        [f"{answer.status} {answer.answer}" for answer in steps.step(facts, now)]
        for now, facts in enumerate(stream, first)
    ]


def measure() -> Iterator[Row]:
    stream = make_stream(STEPS)
    steps, tenth = kept(), EARLY
    seconds, memory = [], []
    for first in range(0, STEPS, tenth):
        _, spent = timed(lambda first=first: answers(steps, stream[first : first + tenth], first))  # type: ignore[misc]
        seconds.append(spent / tenth)
        memory.append(resident_bytes())
    yield Row(
        f"a step of a program with several models, {STEPS:,} steps",
        f"{seconds[-1] * 1e3:.1f} ms in the last tenth",
        f"{seconds[1] * 1e3:.1f} ms in the second",
        seconds[-1] / seconds[1],
        "growth: 1 is none; greatest of the tenths after the first over the least "
        f"{max(seconds[1:]) / min(seconds[1:]):.2f}",
    )
    yield Row(
        "memory of that run",
        f"{memory[-1] / 2**20:.1f} MiB at the end",
        f"{memory[0] / 2**20:.1f} MiB after a tenth",
        memory[-1] / memory[0],
        f"growth: 1 is none; {steps.remembered} rules and states are kept",
    )
    short = stream[:AGAINST]
    ours, our_time = timed(lambda: answers(kept(), short))
    theirs, their_time = timed(lambda: answers(anew(), short))
    assert ours == theirs, "different answers"
    yield Row(
        f"{AGAINST} steps of that program",
        f"{our_time:.2f} s",
        f"grounding anew {their_time:.2f} s",
        their_time / our_time,
    )
