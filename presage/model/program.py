"""A program: its statements in the order of the text, and the text itself for messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from presage.errors import Source
from presage.model.statements import (
    Chase,
    Input,
    Query,
    Reading,
    Rule,
    Statement,
    Static,
    Tick,
    Timeline,
)

S = TypeVar("S")

NO_SOURCE = Source.of("", "<program>")


class Meaning(Protocol):
    """What a program of another language means, where rules cannot carry it: what takes the steps of a run. The
    program's rules then say only what depends on what."""

    @property
    def engine(self) -> str:
        """What `check` calls it."""

    @property
    def reason(self) -> str:
        """Why rules do not carry it."""

    @property
    def possible(self) -> bool:
        """Whether it has hypothetical answers."""

    @property
    def key(self) -> dict[str, list[str]] | None:
        """Per input the columns that a distributed run may shard on."""

    def steps(self, report: Any, emit: str | None) -> Any:
        """What takes the steps: `presage.languages.stepping.OwnSteps`."""


def _first(rule: Rule) -> Rule:
    """The rule that its author wrote."""
    while rule.origin is not None:
        rule = rule.origin
    return rule


@dataclass(frozen=True, slots=True)
class Program:
    statements: tuple[Statement, ...] = ()
    source: Source = field(default=NO_SOURCE, compare=False, repr=False, kw_only=True)
    meaning: Meaning | None = field(default=None, repr=False, kw_only=True)

    def each(self, kind: type[S]) -> Iterator[S]:
        return (statement for statement in self.statements if isinstance(statement, kind))

    def setting(self, kind: type[S]) -> S | None:
        """The one declaration of a kind that may be made once."""
        return next(self.each(kind), None)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules, facts and constraints."""
        return tuple(self.each(Rule))

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(self.each(Input))

    @property
    def statics(self) -> tuple[Static, ...]:
        return tuple(self.each(Static))

    @property
    def queries(self) -> tuple[Query, ...]:
        """The queries as declared; `analysis.queries` says which stand where none is."""
        return tuple(self.each(Query))

    @property
    def reading(self) -> str:
        declared = self.setting(Reading)
        return declared.kind if declared else "every"

    @property
    def chase(self) -> str:
        declared = self.setting(Chase)
        return declared.kind if declared else "skolem"

    @property
    def declared_timeline(self) -> str | None:
        declared = self.setting(Timeline)
        return declared.kind if declared else None

    @property
    def tick(self) -> Tick | None:
        return self.setting(Tick)

    def line_of(self, rule: Rule) -> int:
        """The line on which the author wrote the rule, or the rule it comes from."""
        first = _first(rule)
        if first.span.start < 0:
            return self._printed_line(first)
        return self.source.place(first.span.start)[0]

    def _printed_line(self, rule: Rule) -> int:
        """The line of a rule that nobody wrote, in the program as it is printed."""
        from presage.model.printer import show_statement

        line = 1
        for statement in self.statements:
            if isinstance(statement, Rule):
                statement = _first(statement)
                if statement is rule:
                    break
            line += show_statement(statement).count("\n") + 1
        return line

    def plain(self) -> dict[str, Any]:
        """The program as JSON values, for `of_plain`: what checkpoints keep of it."""
        from presage.model.plain import plain_of

        return plain_of(self)

    @staticmethod
    def of_plain(plain: Any) -> Program:
        """The program that `plain` was made of; raises `PresageError` where the values are no program."""
        from presage.model.plain import program_of

        return program_of(plain)

    def __str__(self) -> str:
        from presage.model.printer import show_program

        return show_program(self)

    def _repr_html_(self) -> str:
        from presage.notebook.programs import program_html

        return program_html(self)
