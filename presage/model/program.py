"""A program: its statements in the order of the text, and the text itself for messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from presage.errors import Source
from presage.model.statements import Chase, Input, Query, Reading, Rule, Statement, Static, Tick, Timeline
from presage.model.terms import Number
from presage.showing import html_of

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

    @property
    def delay(self) -> Number | None:
        """How long after its time an answer may be settled; `None`: nobody can say."""

    @property
    def lasts(self) -> bool:
        """Whether answers at times beside each other are one that goes on; if not, each is a thing of its own."""

    @property
    def fields(self) -> tuple[str, ...]:
        """What its answer lines have beside the fields of all."""

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
        """The line of its file on which the author wrote the rule, or the rule it comes from."""
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

    def file_of(self, rule: Rule) -> str | None:
        """The included file that a rule comes from; `None` for the program's own."""
        found = self.source.file(_first(rule).span.start)
        return None if found == self.source.name else found

    def place_of(self, rule: Rule) -> str:
        """Where a rule was written, in words: `line 3`, or `line 3 of limits.psg` where it was included."""
        file = self.file_of(rule)
        return f"line {self.line_of(rule)}" + (f" of {file}" if file else "")

    def places_of(self, rules: Iterable[Rule]) -> str:
        """Where rules were written, in words and in the order of the text; empty for none."""
        lines: dict[str | None, set[int]] = {}
        for rule in sorted(rules, key=lambda each: _first(each).span.start):
            lines.setdefault(self.file_of(rule), set()).add(self.line_of(rule))
        return "; ".join(
            f"line{'' if len(numbers) == 1 else 's'} {', '.join(map(str, sorted(numbers)))}"
            + (f" of {file}" if file else "")
            for file, numbers in lines.items()
        )

    def lines_of(self, rules: Iterable[Rule]) -> list[int | str]:
        """The lines of rules, each once and in order; those of included files with the file's name."""
        own = {self.line_of(rule) for rule in rules if self.file_of(rule) is None}
        others = {(file, self.line_of(rule)) for rule in rules if (file := self.file_of(rule)) is not None}
        return [*sorted(own), *(f"{file}:{line}" for file, line in sorted(others))]

    def place_json(self, rule: Rule) -> dict[str, Any]:
        """Where a rule was written, as a line of JSON says it: `line`, and `file` where it was included."""
        file = self.file_of(rule)
        return {**({} if file is None else {"file": file}), "line": self.line_of(rule)}

    def __str__(self) -> str:
        from presage.model.printer import show_program

        return show_program(self)

    def _repr_html_(self) -> str:
        return html_of(self)
