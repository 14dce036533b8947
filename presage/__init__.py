"""Presage: continuous queries over data streams that also say what may come true.

>>> import presage
>>> program = presage.parse("alarm(X) :- temp(X, high).")
>>> report = presage.check(program)
>>> report.ok
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presage import showing
from presage.errors import PresageError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from presage.answers import Answer
    from presage.checking import Report
    from presage.explanations.explain import Facts
    from presage.explanations.result import Explanation
    from presage.model.program import Program
    from presage.run.reasoner import Reasoner

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Explanation",
    "PresageError",
    "Program",
    "ProgramError",
    "Reasoner",
    "Report",
    "check",
    "explain",
    "format",
    "load",
    "parse",
]


def parse(
    text: str,
    name: str = "<program>",
    *,
    folder: str | Path | None = None,
    params: Mapping[str, Any] | None = None,
) -> Program:
    """Reads a program; raises `ProgramError` with all mistakes of the text. With a folder, it may include the files
    there; `params` are other values for its parameters."""
    from presage.checking import check_text

    return check_text(text, name, folder=folder, params=params).or_raise().program


def load(path: str | Path, *, params: Mapping[str, Any] | None = None) -> Program:
    """Reads a program from a file, with the files it includes; raises `ProgramError` with all mistakes of the text.
    `params` are other values for its parameters."""
    from presage.checking import check_file

    return check_file(path, params=params).or_raise().program


def check(program: Program | str, *, horizon: int = 16, chase_limit: int | None = None) -> Report:
    """What `presage check` says about a program, or about its text."""
    from presage.checking import check_program, check_text

    if isinstance(program, str):
        return check_text(program, horizon=horizon, chase_limit=chase_limit)
    return check_program(program, horizon=horizon, chase_limit=chase_limit)


def explain(
    program: Program | str,
    facts: Facts,
    answer: str | Answer,
    at: Any = None,
    *,
    static: Mapping[str, Any] | None = None,
) -> Explanation:
    """Why an answer such as `malf(wt25)@0` holds, what it waits for, or what failed, as far as was known at a time.

    `facts` are what `Reasoner.push` takes: tuples, or a table for each predicate; also lines as in files of facts, as
    mappings (`{"pred": "temp", "args": ["wt25", "high"], "time": 0, "arrives": 2}`), or the path of such a file. What
    arrived after `at` is not seen; without `at` the look is at the end, when everything that they say is settled."""
    from presage.explanations.explain import explain

    return explain(program, facts, answer, at, static=static)


def format(text: str, name: str = "<program>") -> str:
    """A program's text in the canonical layout, comments kept."""
    from presage.layout import format_text

    return format_text(text, name)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext presage`: the cell magic `%%presage`."""
    from presage.notebook.magic import register

    register(shell)


def _presenters() -> None:
    from presage.notebook.presenters import register_all

    register_all()


showing.before_the_first(_presenters)


def __getattr__(name: str) -> Any:
    if name == "Program":
        from presage.model.program import Program

        return Program
    if name == "Report":
        from presage.checking import Report

        return Report
    if name == "Reasoner":
        from presage.run.reasoner import Reasoner

        return Reasoner
    if name == "Explanation":
        from presage.explanations.result import Explanation

        return Explanation
    if name == "Answer":
        from presage.answers import Answer

        return Answer
    if name == "spark":
        import presage.spark as spark

        return spark
    raise AttributeError(f"module 'presage' has no attribute {name!r}")
