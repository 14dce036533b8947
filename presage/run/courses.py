"""Hypothetical answers of individuals, many of whom take like courses, as users get them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from presage.answers import Answer, Answers
from presage.answers.schema import answer_schema, answers_table
from presage.hypothesis.bulk.engine import Bulk
from presage.hypothesis.courses import lines
from presage.hypothesis.courses.adopting import adopt
from presage.hypothesis.courses.chances import Chances
from presage.hypothesis.courses.engine import Courses
from presage.hypothesis.courses.entering import merged
from presage.hypothesis.courses.fitting import Grouping, distances
from presage.hypothesis.courses.keeping import keep, recall
from presage.hypothesis.courses.lessons import lessons_of
from presage.hypothesis.courses.shapes import ToldRows, each_of
from presage.hypothesis.courses.splitting import may_split
from presage.hypothesis.courses.symbolic import SymbolSum
from presage.hypothesis.courses.tables import ConstantTexts
from presage.hypothesis.courses.tables import OutcomeColumns as Told
from presage.hypothesis.courses.tracing import Tracer
from presage.hypothesis.ranges.confidence import factors_of
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.pieces import ZonePiece
from presage.hypothesis.saving import read, written
from presage.hypothesis.statics import StaticRows
from presage.io.facts import Fact
from presage.io.tables import Columns
from presage.model.terms import Number
from presage.run.choice import ALL, Choice
from presage.run.open_times import RangeSupposing, in_order
from presage.run.passages import Passage, numbers_of


@dataclass(frozen=True, slots=True)
class ToldByCourses:
    """The answers of some steps by columns. Constants may get other numbers later, in another list of values."""

    rows: Sequence[ToldRows]
    names: ConstantTexts
    chances: Chances
    whole: bool
    others: list[Answer]
    """Of individuals that go by themselves."""
    until: Number
    """The last step."""

    def __len__(self) -> int:
        return sum(map(len, self.rows)) + len(self.others)

    def as_answers(self) -> Answers:
        return Answers(len(self), self.answers, self)

    def answers(self) -> list[Answer]:
        told = [each for rows in self.rows for each in lines.answers(rows, self.names.values, self.chances)]
        return sorted([*told, *self.others], key=lambda each: (each.now, *in_order(each)))

    def of_last_step(self) -> Answers:
        others = [each for each in self.others if each.now == self.until]
        return replace(self, rows=[each.at(self.until) for each in self.rows], others=others).as_answers()

    def tables(self) -> list[Any]:
        """Their lines, in no particular order."""
        found = [table for table, *_ in self._by_template()]
        return [*found, answers_table(self.others, self.whole)] if self.others else found

    def _by_template(self) -> Iterator[tuple[Any, str, Any, Any]]:
        """The lines of those who take courses: those of one template together, with predicate, steps and times."""
        schema = answer_schema(self.whole)
        for rows in self.rows:
            for outcome in np.flatnonzero(np.bincount(rows.outcomes)).tolist():
                here = rows.chosen(rows.outcomes == outcome)
                of_all = Told(here, self.names, self.chances)
                for template in rows.steps[outcome].told:
                    each, told = here, of_all
                    if template.each is not None:
                        each = each_of(here, template.each)
                        told = Told(each, self.names, self.chances)
                    yield told.table(template, schema), template.fields["predicate"], each.now, told.beginning(template)

    def table(self) -> Any:
        """Their lines, in order."""
        parts = [] if self.others else list(self._by_template())
        if not parts or len({each.per_unit for each in self.rows}) > 1:
            return answers_table(self.answers(), self.whole)
        import pyarrow as pa
        from pyarrow import compute

        told = pa.concat_tables([table for table, *_ in parts])
        keys = {
            "now": np.concatenate([now for _, _, now, _ in parts]),
            "predicate": np.repeat([name for _, name, _, _ in parts], [len(table) for table, *_ in parts]),
            "time": pa.chunked_array([times for *_, times in parts]),
            "answer": told.column("answer"),
        }
        order = [(name, "ascending") for name in keys]
        return told.take(compute.sort_indices(pa.table(keys), order))

    def json_lines(self, moments: Any) -> Any:
        return None


class CourseSupposing(RangeSupposing):
    """The hypothetical side of a reasoner whose individuals have nothing to do with each other.

    To work out what happens to all that are alike costs more than to work out what happens to one. So the first facts
    go to the engine over zones as they are; where there are more, it hands over all it knows. It gets everything back
    where so few are alike that they cost more together than one by one, until there are many more.
    """

    few = 300
    """So many facts are not worth it."""
    patience: float = 500
    """So many steps of one individual may be lost to learning before it has been of use."""

    def __init__(self, subject: Any, engine: Ranges, grouping: Grouping, choice: Choice = ALL) -> None:
        super().__init__(subject, engine, choice)
        self.intake = Bulk(())
        self.intake.listens = set(grouping.literals)
        self.likely = Chances(self.confidence)
        self.names: ConstantTexts | None = None
        self.seen = 0
        self.is_many = self.few == 0
        self.grouping = grouping
        splits = self._splits(engine)
        self.mark = _mark(subject, engine, splits, choice)
        self.lessons = lessons_of(self.mark)
        self.tracer = Tracer(self._new_engine, self._of, self.line.whole, splits, self.lessons)
        self.courses = self._courses()

    def _courses(self) -> Courses:
        return Courses(self.engine, self.grouping, self.tracer, self.intake.symbols, self.intake.keep_only)

    @staticmethod
    def _splits(engine: Ranges) -> bool:
        return may_split(engine, max((abs(Fraction(each)) for each in distances(engine)), default=Fraction(0)))

    def _new_engine(self, statics: StaticRows | None) -> Ranges:
        return self.engine.without_memory(statics)

    def _confidence(self, piece: ZonePiece, now: Number) -> Any:
        """Of an individual that stands for others, what it hangs on."""
        if isinstance(now, SymbolSum):
            return factors_of(piece, self.engine, self.confidence)
        return super()._confidence(piece, now)

    @property
    def columns(self) -> Bulk:  # type: ignore[override]
        """What takes in facts by columns."""
        return self.intake

    @property
    def now(self) -> Number | None:
        return self.courses.now if self.is_many else self.engine.now

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The changes by what arrives at `now`."""
        intake = self.intake
        if self.is_many and self._is_too_dear():
            self._go_one_by_one()
        self.seen += len(facts) + sum(map(len, tables))
        if not self.is_many and self.seen > self.few:
            self._go_by_courses()
        fine: list[Any] = []
        plain: list[Any] = []
        stretches: list[Any] = []
        for fact in facts:
            for each in self._timed(fact):
                at = each[2].first[0]
                is_point = self.line.is_point(each[2])
                (stretches if not is_point else plain if isinstance(at, int) else fine).append(each)
        intake.take_points((name, row, times.first[0]) for name, row, times in plain)
        for table in tables:
            intake.take(table.predicate, [numbers_of(each, intake.symbols) for each in table.arguments], table.times)
        arrivals = intake.handed_over(now)  # type: ignore[arg-type]
        if self.is_many:
            return self._many(arrivals, fine, stretches, now)
        by_column = (each for table in tables for each in self._points_of(table))
        return self._few([*plain, *fine, *stretches, *by_column], now)

    def _points_of(self, table: Columns) -> Iterator[Any]:
        return ((each.predicate, each.arguments, self.line.point(each.low)) for each in table.facts())  # type: ignore[arg-type]

    def _few(self, given: list[Any], now: Number) -> Answers:
        return self._chosen(self._answers(self.engine.step(given, now), now))

    def _go_by_courses(self) -> None:
        facts, told = super()._known()
        recall(self.lessons, self.mark)
        self.is_many = True
        if self.engine.now is not None:
            self.courses.direct, before = self.engine.without_memory(), self.engine.now
            self.engine = self.courses.direct
            adopt(self.courses, before, facts, told)

    def _go_one_by_one(self) -> None:
        facts, told = self._known()
        now = self.courses.now
        self.engine = self.engine.without_memory()
        self.courses, self.is_many, self.few = self._courses(), False, 4 * self.seen
        if now is not None:
            self.engine.restore(now, now, facts, told)

    def _many(self, arrivals: Any, fine: list[Any], stretches: list[Any], now: Number) -> Answers:
        courses, symbols = self.courses, self.intake.symbols
        courses.refine_to([now, *(times.first[0] for _, _, times in fine)])
        for name, parts in arrivals.items():
            for rows, times in parts:
                courses.take(name, [rows[:, place] for place in range(rows.shape[1])], times * courses.per_unit)
        for name, row, times in fine:
            numbers = [symbols.number_all([each]) for each in row]
            courses.take(name, numbers, np.array([int(times.first[0] * courses.per_unit)], np.int64))
        rows, changes = courses.step(now, stretches)
        return self._chosen(self._told(rows, self._answers(changes, now), now))

    def _told(self, rows: Sequence[ToldRows], others: list[Answer], until: Number) -> ToldByCourses:
        keep(self.lessons, self.mark)
        values = self.intake.symbols.values
        if self.names is None or self.names.values is not values:
            self.names = ConstantTexts(values)
        return ToldByCourses(rows, self.names, self.likely, self.line.whole, others, until)

    @property
    def takes_passages(self) -> bool:
        """Whether many steps can be taken at once."""
        return self.is_many and not self.selects

    def through(self, passage: Passage) -> Answers:
        """The changes of many steps, by columns."""
        courses, intake, until = self.courses, self.intake, int(passage.until)
        self.seen += len(passage)
        coming = passage.coming(intake.symbols, wanted=intake.wants)
        for name, facts in coming.items():
            places = np.repeat(np.arange(len(passage.steps)), np.diff(facts.begins))
            columns = [facts.rows[:, place] for place in range(facts.rows.shape[1])]
            courses.take(name, columns, facts.times * courses.per_unit, places)
        intake.keep_recent(coming, until)
        rows, changes = courses.through(passage.steps, until)
        told = self._told(rows, [answer for now, some in changes for answer in self._answers(some, now)], until)
        if self._is_too_dear():
            self._go_one_by_one()
        return self._chosen(told)

    def _chosen(self, told: ToldByCourses | list[Answer]) -> Answers:
        """Of what is told, what was asked for."""
        if not self.selects:
            return told.as_answers() if isinstance(told, ToldByCourses) else Answers(len(told), lambda: told)
        chosen = [each for each in (told.answers() if isinstance(told, ToldByCourses) else told) if self._is_told(each)]
        return Answers(len(chosen), lambda: chosen)

    def _is_too_dear(self) -> bool:
        """Whether learning has cost more than it was good for."""
        return self.courses.spent > max(self.patience, self.seen // 2)

    def next_wake(self) -> Number | None:
        return self.courses.next_wake() if self.is_many else self.engine.next_wake()

    def stands(self, last: Answers, now: Number) -> Answers:
        """What stands now: what was confirmed by the last step, whose answers are given, and what is possible."""
        if not self.is_many:
            return super().stands(last, now)
        rows, changes = self.courses.standing(now)
        self.engine.now = self.now  # it takes no step where nothing happens to those that go by themselves
        told = self._told([rows], self._answers([*changes, *self.engine.standing()], now), now)
        confirmed = self.confirmed(last, now)
        if self.choice == ALL:
            return Answers(len(confirmed) + len(told), lambda: [*confirmed, *told.answers()])
        chosen = [*confirmed, *self._chosen_to_stand(told.answers())]
        return Answers(len(chosen), lambda: chosen)

    @property
    def open_count(self) -> int:
        return super().open_count + self.courses.open_count

    @property
    def remembered(self) -> int:
        """How many individuals, and facts that are kept for others, are in memory."""
        return self.courses.remembered + self.intake.remembered + len(self.engine.told)

    def _known(self) -> tuple[list[Any], dict[Any, Any]]:
        return merged([super()._known(), self.courses.known()])

    def saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        content, arrays = super().saved()
        constants, kept = self.intake.contents()
        return content | {"intake": [written(each) for each in constants]}, arrays | kept

    def load(self, saved: dict[str, Any], arrays: dict[str, Any]) -> None:
        super().load(saved, arrays)
        if "intake" in saved:
            self.intake.fill(self.now, [read(each) for each in saved["intake"]], arrays)  # type: ignore[arg-type]

    def _restore(self, now: Number | None, since: Number, facts: list[Any], told: dict[Any, Any]) -> None:
        if not self.is_many and len(facts) <= self.few:
            super()._restore(now, since, facts, told)
            return
        recall(self.lessons, self.mark)
        self.is_many = True
        adopt(self.courses, now, facts, told)


def _mark(subject: Any, engine: Ranges, splits: bool, choice: Choice) -> str:
    """All that steps of individuals follow from, and what is told of them; the same in each process."""
    patterns = [
        (name, [replace(each, terms=dict(sorted(each.terms.items())), rules=()) for each in found])
        for name, found in sorted(engine.patterns.items())
    ]
    return repr((subject.discrete, splits, choice.ways, subject.queries, sorted(subject.predicates.items()), patterns))
