"""A program: its statements in the order of the text, and the text itself for messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

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


@dataclass(frozen=True, slots=True)
class Program:
    statements: tuple[Statement, ...] = ()
    source: Source = field(default=NO_SOURCE, compare=False, repr=False, kw_only=True)

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
        while rule.origin is not None:
            rule = rule.origin
        return self.source.place(rule.span.start)[0]

    def __str__(self) -> str:
        from presage.model.printer import show_program

        return show_program(self)

    def _repr_html_(self) -> str:
        from presage.notebook.programs import program_html

        return program_html(self)
