"""Each rewriting pass by itself: titled examples of what it is given and what it gives.

A file of `tests/passes` has the name of its pass. An example is a title after `==`, a program, and after `--` what the
pass makes of it: the program for passes over programs, its rules in core for those over core.
`python -m tests.language.test_passes --update` writes down what passes give; read the diff.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from presage.analysis.predicates import find_predicates
from presage.analysis.timeline import decide_timeline
from presage.core.printer import show_core_rule
from presage.core.rules import Core
from presage.model.printer import show_program
from presage.model.program import Program
from presage.parser import parse
from presage.rewrite import CORE_PASSES, PASSES, CorePass, Pass, normalise
from presage.rewrite.lowering import lower

FOLDER = Path(__file__).parent.parent / "passes"


@dataclass(frozen=True)
class Example:
    title: str
    before: str
    after: str


def examples(path: Path) -> list[Example]:
    blocks = path.read_text(encoding="utf-8").split("== ")[1:]
    found = []
    for block in blocks:
        title, _, rest = block.partition("\n")
        before, _, after = rest.partition("--\n")
        found.append(Example(title.strip(), before.strip(), after.strip()))
    return found


def lowered(program: Program) -> Core:
    """The program in core, before any pass over it."""
    program, _ = normalise(program)
    known = find_predicates(program)[0].items()
    inputs = frozenset(name for name, each in known if each.is_input and each.kind != "derived")
    return lower(program, decide_timeline(program)[0] == "discrete", inputs)


def shown(core: Core) -> str:
    return "\n".join(show_core_rule(rule) for rule in core.rules)


def over_core(rewrite: CorePass) -> Callable[[Program], str]:
    def run(program: Program) -> str:
        core = lowered(program)
        rules = (replace(rule, body=tuple(rewrite(each, core) for each in rule.body)) for rule in core.rules)
        return shown(replace(core, rules=tuple(rules)))

    return run


def over_programs(rewrite: Pass) -> Callable[[Program], str]:
    def run(program: Program) -> str:
        # Each pass counts on those before it.
        for earlier in PASSES[: PASSES.index(rewrite)]:
            program, _ = earlier(program)
        return show_program(rewrite(program)[0]).strip()

    return run


RUN: dict[str, Callable[[Program], str]] = {
    **{each.__module__.rpartition(".")[2]: over_programs(each) for each in PASSES},
    "lowering": lambda program: shown(lowered(program)),
    **{each.__module__.rpartition(".")[2]: over_core(each) for each in CORE_PASSES},
}


def test_every_pass_has_examples() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(RUN)


CASES = [(path.stem, each) for path in sorted(FOLDER.glob("*.txt")) for each in examples(path)]


@pytest.mark.parametrize(("name", "example"), CASES, ids=[f"{name}: {each.title}" for name, each in CASES])
def test_pass(name: str, example: Example) -> None:
    assert RUN[name](parse(example.before)) == example.after


if __name__ == "__main__" and "--update" in sys.argv:
    for path in sorted(FOLDER.glob("*.txt")):
        written = [f"== {e.title}\n{e.before}\n--\n{RUN[path.stem](parse(e.before))}\n" for e in examples(path)]
        path.write_text("\n".join(written), encoding="utf-8")
