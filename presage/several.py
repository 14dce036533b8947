"""The reasoner that users see: one class, whether a program has one model or may have none or several.

A program with one model that holds at every time is run by the interval engine, as far as that goes; what it does not
run is worked out from the whole stream at each step. Programs with several models are run by their answer streams: each
step gives what has come to hold in all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from presage.answers import NONE, Answers
from presage.checking import Report, check_program
from presage.confirming import arrow_column
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.io.tables import Columns, TableReader
from presage.io.told import again, saved
from presage.io.tuples import TupleReader
from presage.languages.steps import OwnSteps
from presage.memory import packed
from presage.model.printer import show_number
from presage.model.program import Program
from presage.model.terms import Number
from presage.models.stepping import AnswerStreamSteps, needs_answer_streams
from presage.models.stepping_kept import steps_of
from presage.models.stepping_one import OneModelSteps
from presage.models.texts import Names
from presage.models.times import FAR
from presage.plan.parts import Unsupported
from presage.reasoner import Reasoner as OneModelReasoner
from presage.sealed import Arrays
from presage.supposing import ALL, Choice


def what_is_told(report: Report, emit: str) -> str:
    """What a run tells that is asked for something: of several models only what holds in all of them."""
    return "confirmed" if needs_answer_streams(report) else emit


class Reasoner(OneModelReasoner):
    """Feeds facts to a program and gives the changes of its answers. Steps must go forward in time."""

    def __init__(
        self,
        program: Program,
        static: Mapping[str, Any] | None = None,
        *,
        emit: str | None = None,
        choice: Choice = ALL,
        report: Report | None = None,
        chase_limit: int | None = None,
    ) -> None:
        if not isinstance(program, Program):
            raise PresageError("a reasoner is made of a program: presage.load(path), or presage.parse(text)")
        if report is None:
            report = check_program(program, chase_limit=chase_limit)
        report.or_raise()
        assert report.findings is not None
        self._steps: AnswerStreamSteps | OwnSteps | None = None
        if program.meaning is not None:
            self._steps = cast(OwnSteps, program.meaning.steps(report.findings.subject, emit))
        elif not needs_answer_streams(report):
            try:
                super().__init__(program, static, emit=emit, choice=choice, report=report, chase_limit=chase_limit)
                return
            except Unsupported:
                if not report.findings.subject.discrete:
                    raise
            self._steps = OneModelSteps(report, chase_limit)
        else:
            if emit not in (None, "confirmed"):
                raise PresageError(
                    f"{report.source.name}: a program with several models, or with `reading now`, tells what is "
                    f'confirmed only: leave out emit={emit!r}, or give emit="confirmed"'
                )
            self._steps = steps_of(report)
        self.program, self.findings = program, report.findings
        self.subject, self.checker = self._steps.subject, self._steps.checker
        self.tables, self.tuples = TableReader(self.checker), TupleReader(self.checker)
        if isinstance(self._steps, OwnSteps):
            self.tuples.plain = {}  # facts stay in the order in which they were given
        self.supposing = None
        self.now: Number | None = None
        self.late: list[Fact] = []
        self._standing = NONE
        self._add_statics(static or {})

    @property
    def runs_as_a_whole(self) -> bool:
        """Whether it looks at all that matters anew at each step, and has no engine that could be taken apart."""
        return self._steps is not None

    def add_static(self, fact: Fact) -> None:
        if self._steps is None:
            super().add_static(fact)
            return
        if self.now is not None:
            raise PresageError("static facts are known before the stream: give them before the first step")
        self._steps.add_static(fact)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        if self._steps is None:
            return super().step(facts, now, tables)
        if not isinstance(now, int) and self.subject.discrete:
            raise PresageError(f"{now} is not a whole number, as times of the discrete timeline are")
        rows = [fact for table in tables for fact in table.facts()]
        found = self._steps.step([*facts, *rows], now)
        self.now, self.late = now, self._steps.late
        self._standing = Answers(len(found), lambda: found)
        return self._standing

    @property
    def skips_nothing(self) -> bool:
        return self._steps is not None or super().skips_nothing

    def _refine(self, facts: Sequence[Fact], tables: Sequence[Columns], now: Number) -> None:
        if self._steps is None:
            super()._refine(facts, tables, now)

    def answers(self) -> Answers:
        if isinstance(self._steps, OwnSteps):
            standing = self._steps.standing(self._standing)
            return Answers(len(standing), lambda: standing)
        return super().answers() if self._steps is None else self._standing

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table; with several models, what holds in all of them."""
        if self._steps is None:
            return super().holds(name)
        import pyarrow as pa

        if name not in self.subject.predicates:
            raise PresageError(f"the program has no predicate `{name}`")
        if isinstance(self._steps, OwnSteps):
            raise PresageError(f"`{name}`: no rule derives it here, so that it is not kept as a table; see answers()")
        known = self.subject.predicates[name]
        rows = [
            (arguments, low, high)
            for arguments in self._steps.certain.arguments(name)
            for low, high in self._steps.certain.times(name, arguments).spans
        ]
        columns: dict[str, list[Any]] = {}
        names = Names()
        for place in range(known.arity):
            title = known.columns[place].name if place < len(known.columns) else str(place + 1)
            columns[title] = [names.json(arguments[place]) for arguments, _, _ in rows]
        columns["from"] = [show_number(low) for _, low, _ in rows]
        columns["to"] = [None if high >= FAR else show_number(high) for _, _, high in rows]
        columns["bounds"] = ["[)" if high >= FAR else "[]" for _, _, high in rows]
        return pa.table({title: arrow_column(values) for title, values in columns.items()})

    def save(self, standing: bool = True) -> bytes:
        if self._steps is None:
            return super().save(standing)
        last = [saved(answer) for answer in self._standing] if standing else []
        memory = self._steps.memory()
        emit = "confirmed" if self.program.meaning is None else memory.get("emit")
        return packed(self.program, {"extra": {"emit": emit}, "steps": memory, "standing": last}, {})

    def _remember(self, header: dict[str, Any], arrays: Arrays) -> None:
        if self._steps is None:
            super()._remember(header, arrays)
            return
        self._steps.remember(header["steps"])
        standing = [again(each) for each in header["standing"]]
        self._standing = Answers(len(standing), lambda: standing)
        self.now, self.late = self._steps.now, self._steps.late

    @property
    def first_decision(self) -> Number | None:
        return super().first_decision if self._steps is None else self._steps.first_decision

    @property
    def looks_ahead(self) -> bool:
        return super().looks_ahead if self._steps is None else self._steps.looks_ahead

    def next_decision(self) -> Number | None:
        return super().next_decision() if self._steps is None else self._steps.next_decision()

    @property
    def remembered(self) -> int:
        if isinstance(self._steps, OwnSteps):
            raise PresageError("what is in memory is not counted in facts here")
        return super().remembered if self._steps is None else self._steps.remembered

    @property
    def longest_lag(self) -> Number:
        return super().longest_lag if self._steps is None else self._steps.longest_lag
