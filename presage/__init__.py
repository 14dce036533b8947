"""Presage: continuous queries over data streams that also say what may come true.

>>> import presage
>>> program = presage.parse("alarm(X) :- temp(X, high).")
>>> report = presage.check(program)
>>> report.ok
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presage.errors import PresageError, ProgramError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from presage.answers import Answer
    from presage.checking import Report
    from presage.model.program import Program
    from presage.several import Reasoner

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "PresageError",
    "Program",
    "ProgramError",
    "Reasoner",
    "Report",
    "check",
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


def format(text: str, name: str = "<program>") -> str:
    """A program's text in the canonical layout, comments kept."""
    from presage.layout import format_text

    return format_text(text, name)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext presage`: the cell magic `%%presage`."""
    from presage.notebook.magic import register

    register(shell)


def __getattr__(name: str) -> Any:
    if name == "Program":
        from presage.model.program import Program

        return Program
    if name == "Report":
        from presage.checking import Report

        return Report
    if name == "Reasoner":
        from presage.several import Reasoner

        return Reasoner
    if name == "Answer":
        from presage.answers import Answer

        return Answer
    if name == "spark":
        import presage.spark as spark

        return spark
    raise AttributeError(f"module 'presage' has no attribute {name!r}")
