"""Literals of ways: input facts and negated atoms, ground or with open variables, and their text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from presage.model.formulas import Atom
from presage.model.printer import show_atom, show_number
from presage.model.terms import Constant, Number, Term, Value, Variable


class Open(NamedTuple):
    """A variable that is not bound yet, data or time."""

    name: str
    offset: Number = 0

    def __str__(self) -> str:
        if not self.offset:
            return self.name
        away = self.offset if self.offset > 0 else -self.offset
        return f"{self.name}{'+' if self.offset > 0 else '-'}{show_number(away)}"


class Someone(NamedTuple):
    """A value nothing is known of, in place of an open variable: like a constant, but nobody's."""

    name: str


Argument = Value | Open


class Lit(NamedTuple):
    positive: bool
    predicate: str
    arguments: tuple[Argument, ...]
    time: Number | Open

    @property
    def is_ground(self) -> bool:
        return not isinstance(self.time, Open) and not any(isinstance(each, Open) for each in self.arguments)

    def of_someone(self) -> Lit:
        """The literal with its open data variables taken for values nothing is known of."""
        arguments = tuple(Someone(each.name) if isinstance(each, Open) else each for each in self.arguments)
        return Lit(self.positive, self.predicate, arguments, self.time)  # type: ignore[arg-type]

    @property
    def atom(self) -> tuple[str, tuple[Argument, ...], Number | Open]:
        return self[1:]

    def __str__(self) -> str:
        return f"{'' if self.positive else 'not '}{show(self.predicate, self.arguments)}@{show_time(self.time)}"

    @property
    def order(self) -> tuple[bool, Number, str]:
        """By time, then text; open times last."""
        at = self.time
        return isinstance(at, Open), 0 if isinstance(at, Open) else at, str(self)


def are_asked(asked: Sequence[Term], given: Sequence[object]) -> bool:
    """Whether arguments are among those asked for: by constants, and by variables that are repeated."""
    values: dict[str, object] = {}
    for wanted, have in zip(asked, given, strict=True):
        if isinstance(wanted, Constant):
            if wanted.value != have and not isinstance(have, Open):
                return False
        elif isinstance(wanted, Variable) and not wanted.is_anonymous and values.setdefault(wanted.name, have) != have:
            return False
    return True


def show(predicate: str, arguments: tuple[Argument, ...]) -> str:
    terms = tuple(Variable(each.name) if isinstance(each, Open) else Constant(each) for each in arguments)
    # Predicates that were told apart by their constants are shown as they were written.
    return show_atom(Atom(predicate.split("#")[0], terms))


def show_time(time: Number | Open) -> str:
    return str(time) if isinstance(time, Open) else show_number(time)
