"""The cell magic `%%presage`: a program in a cell, run over the variables of the notebook.

Mistakes are shown where they are, in the program or in the call; a traceback would only show Presage's own code.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from typing import Any, NoReturn

from presage.answers import Answer, Answers
from presage.checking import check_text
from presage.errors import PresageError, ProgramError
from presage.model.terms import Number
from presage.notebook.facts import Variables
from presage.notebook.html import piece, status, text, whole
from presage.notebook.programs import mistakes_html
from presage.run.reasoner import Reasoner, reasoner_of
from presage.run.schedule import steps

USAGE = """\
%%presage [--facts VARIABLE …] [--static VARIABLE …] [--until N] [--emit changes|confirmed] [--changes] [--name NAME]

The cell is a program. With --facts it is run, and the answers are shown; without, the program is checked.
  --facts readings        a table (pandas, Polars, Arrow), a list of facts, or a mapping from predicates to rows
  --facts temp=readings   a table of facts of `temp`
  --static plan=owners    facts that hold at all times
  --until 9               the last step (default: when everything is settled)
  --emit confirmed        only what is entailed
  --changes               every change of an answer, and not only how it stands in the end
  --name turbines         the name of the program; the variable `turbines` is then the reasoner"""


class Mistake:
    """What is wrong, as a notebook shows it."""

    def __init__(self, problem: PresageError) -> None:
        self.problem = problem

    def __repr__(self) -> str:
        return str(self.problem)

    def _repr_html_(self) -> str:
        if isinstance(self.problem, ProgramError):
            return mistakes_html(self.problem.source, self.problem.diagnostics)
        first, _, rest = str(self.problem).partition("\n")
        return whole(piece("p", f"{status('error')} {text(first)}"), piece("pre", text(rest)) if rest else "")


class _Words(argparse.ArgumentParser):
    """Reads the line of the magic; what is wrong becomes a message."""

    def error(self, message: str) -> NoReturn:
        raise PresageError(f"%%presage: {message}\n{USAGE}")


def _words() -> _Words:
    words = _Words(prog="%%presage", add_help=False)
    words.add_argument("--facts", nargs="+", action="extend", default=[])
    words.add_argument("--static", nargs="+", action="extend", default=[])
    words.add_argument("--until")
    words.add_argument("--emit", choices=("changes", "confirmed"))
    words.add_argument("--changes", action="store_true")
    words.add_argument("--name", default="")
    words.add_argument("--help", "-h", action="store_true")
    return words


def run_cell(line: str, cell: str, variables: Mapping[str, Any]) -> tuple[Any, str, Reasoner | None]:
    """What a cell shows, and the name and the reasoner it leaves behind; raises what is wrong as `PresageError`."""
    try:
        given = shlex.split(line)
    except ValueError as found:
        raise PresageError(f"%%presage: {found}\n{USAGE}") from None
    options = _words().parse_args(given)
    if options.help:
        raise PresageError(USAGE)
    if options.name and not options.name.isidentifier():
        raise PresageError(f"--name {options.name}: a name is a Python variable, such as `turbines`")
    report = check_text(cell, options.name or "cell")
    report.or_raise()
    if not options.facts:
        stepper = reasoner_of(report, options.emit) if options.name else None
        return report.program, options.name, stepper
    stepper = reasoner_of(report, options.emit)
    answers = _answers(stepper, options, Variables(variables))
    return Answers(len(answers), lambda: answers), options.name, stepper


def _answers(stepper: Reasoner, options: argparse.Namespace, variables: Variables) -> list[Answer]:
    facts = []
    for fact in variables.facts(options.static, stepper.checker):
        if fact.low is not None:
            raise PresageError(f"`{fact.predicate}` is not static: give its facts with --facts")
        stepper.add_statics([fact])
    for fact in variables.facts(options.facts, stepper.checker):
        if fact.low is None:
            stepper.add_statics([fact])
        else:
            facts.append(fact)
    until: Number | None = None if options.until is None else stepper.checker.time(options.until, "--until")
    changes = [answer for answers in steps(stepper, facts, until) for answer in answers]
    if options.changes:
        return changes
    latest: dict[str, Answer] = {}
    for answer in changes:
        key = answer.answer or str(answer.now)
        latest.pop(key, None)
        latest[key] = answer
    return list(latest.values())


def register(shell: Any) -> None:
    """Adds the magic to an IPython shell."""

    def presage(line: str, cell: str = "") -> Any:
        try:
            shown, name, stepper = run_cell(line, cell, shell.user_ns)
        except PresageError as problem:
            return Mistake(problem)
        if name and stepper is not None:
            shell.user_ns[name] = stepper
        return shown

    presage.__doc__ = USAGE
    shell.register_magic_function(presage, magic_kind="line_cell")
