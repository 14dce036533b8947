"""Facts and answers as people write them in a case, `temp(wt25, high)@0`, and lists of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from presage.errors import PresageError, ProgramError
from presage.model.formulas import Atom
from presage.model.printer import show_atom
from presage.model.terms import Constant, Variable
from presage.parser import parse_question

_NULL = re.compile(r"\b_:(\d+)")
_STANDS_FOR_A_NULL = "Null__"
_INTERVAL = re.compile(r"([\[(])\s*([^,]+?)\s*,\s*([^,]+?)\s*([\])])")


class CaseError(PresageError):
    """A case that cannot be run; each message says in which file and line it is wrong."""


@dataclass(frozen=True, slots=True)
class ExpectedLiteral:
    """An atom with what is written after its `@`: a time, an interval, or nothing."""

    atom: Atom
    time: str | None
    negated: bool = False

    @property
    def interval(self) -> tuple[str, str, str] | None:
        """Start, end and bounds, if an interval is written."""
        found = _INTERVAL.fullmatch(self.time or "")
        return None if found is None else (found[2], found[3], found[1] + found[4])

    def __str__(self) -> str:
        interval = self.interval
        time = self.time
        if interval is not None:
            low, high, bounds = interval
            time = f"{bounds[0]}{low},{high}{bounds[1]}"
        text = show_atom(self.atom)
        return ("not " if self.negated else "") + (text if time is None else f"{text}@{time}")


def read_literal(text: str, where: str) -> ExpectedLiteral:
    """`p(a)@3`, `p(a)@[1,5)`, `not p(X)@T+1`, `p(a)`; an invented value is written as it is shown, `_:1`."""
    rest = text.strip().removesuffix(".")
    negated = rest.startswith("not ")
    rest = rest.removeprefix("not ").strip()
    places = [at for at, sign in outside(rest) if sign == "@"]
    written, time = (rest[: places[-1]], rest[places[-1] + 1 :].strip()) if places else (rest, None)
    try:
        formula = parse_question(_NULL.sub(rf"{_STANDS_FOR_A_NULL}\1", written)).formula
    except ProgramError:
        formula = None
    if not isinstance(formula, Atom) or time == "":
        raise CaseError(f"{where}: `{text.strip()}` is not a fact or an answer, such as temp(wt25, high)@0")
    terms = []
    for term in formula.arguments:
        if isinstance(term, Variable) and term.name.startswith(_STANDS_FOR_A_NULL):
            term = Variable("_:" + term.name.removeprefix(_STANDS_FOR_A_NULL))
        if not isinstance(term, (Constant, Variable)):
            raise CaseError(f"{where}: `{text.strip()}` has something to work out among its arguments; write the value")
        terms.append(term)
    return ExpectedLiteral(Atom(formula.predicate, tuple(terms)), time, negated)


def outside(text: str) -> Iterator[tuple[int, str]]:
    """The signs of a text that are neither quoted nor inside brackets, with their places."""
    depth, quoted, escaped = 0, False, False
    for at, sign in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                quoted = False
            continue
        if sign == '"':
            quoted = True
        elif sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif depth <= 0:
            yield at, sign


def split(text: str, separator: str) -> list[str]:
    """The parts of a list, without the blanks around them and without empty ones."""
    parts, begin = [], 0
    for at, sign in outside(text):
        if sign == separator:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    return [part.strip() for part in parts if part.strip()]


def without_comment(line: str) -> str:
    """A line up to `%` or `#`, which begin a comment unless they are quoted."""
    quoted = False
    for at, sign in enumerate(line):
        if sign == '"' and (at == 0 or line[at - 1] != "\\"):
            quoted = not quoted
        elif sign in "%#" and not quoted:
            return line[:at].rstrip()
    return line.rstrip()
