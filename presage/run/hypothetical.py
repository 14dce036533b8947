"""Hypothetical answers as users get them: the engine's changes as `Answer`s, with deadlines and confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from presage.answers import Answer, Answers, TimedInstance, shown_name
from presage.hypothesis import saving
from presage.hypothesis.bulk.engine import Bulk, ConstantsByNumber
from presage.hypothesis.bulk.fitting import shapes
from presage.hypothesis.bulk.table import AnswerRows
from presage.hypothesis.confidence import Confidence
from presage.hypothesis.engine import AnswerChange, Hypotheses
from presage.hypothesis.settle import Settle
from presage.hypothesis.ways import Way, texts
from presage.io.facts import Fact, FactError
from presage.io.tables import Columns
from presage.model.statements import Query
from presage.model.terms import Number, Value, Variable
from presage.patterns.finish import NoPatterns
from presage.patterns.finite import narrowed, plain_name
from presage.patterns.literals import Open, are_asked
from presage.patterns.premises import Pattern
from presage.patterns.unfold import Unfolder
from presage.run.choice import ALL, Choice
from presage.run.no_hypotheses import no_patterns
from presage.run.packed import PackedAnswers, Teller
from presage.run.passages import Passage, numbers_of

if TYPE_CHECKING:
    from presage.hypothesis.grid.engine import GridChanges, Grids

MOST_POINTS = 1_000_000
AT_ONCE = 10_000
"""So many points of a fact that lies ahead are taken at once."""


class Supposing:
    """The hypothetical side of a reasoner."""

    def __init__(self, subject: Any, unfolder: Unfolder, choice: Choice = ALL, why_by_points: str = "") -> None:
        self.subject, self._unfolder, self._why_by_points = subject, unfolder, why_by_points
        self._asked = [query.atom for query in subject.queries]
        try:
            self.engine = Hypotheses(subject, self._asked, unfolder)
            simple = shapes(self.engine) if choice == ALL else None
            if simple is None and (narrow := narrowed(self._asked)) != self._asked:
                self._asked = narrow
                self.engine = Hypotheses(subject, narrow, unfolder)
        except NoPatterns as found:
            raise no_patterns(subject, found) from None
        self.choice = choice
        self.bulk = None if simple is None else Bulk(simple)
        """Works off the steps by columns, where the program allows it; then the engine has the patterns only."""
        self.grid: Grids | None = None
        """The same for programs with negation whose individuals have nothing to do with each other."""
        if simple is None and choice == ALL and self._asks_for_all():
            from presage.hypothesis.grid.engine import grids_of

            self.grid = grids_of(self.engine, choice.everybody)
        self.last: list[AnswerRows] | list[GridChanges] = []
        self.teller = None if self.bulk is None else Teller(self.bulk, subject.queries, self.answer)
        self.confidence = Confidence(self.engine.delays, self.engine.judge.missing)
        self.settle = Settle(self.engine.patterns, self.engine.spans, self.engine.delays)
        self.later: list[tuple[str, tuple[Value, ...], Number, Number | None]] = []
        self.selects = choice.min_confidence is not None or choice.confidence_step is not None
        self.told: dict[tuple[str, tuple[tuple[Any, ...], Any]], float | None] = {}
        """The open answers that were told, with how likely they were, where not all are or some more than once."""
        self.hidden = self.shed = 0

    def _asks_for_all(self) -> bool:
        """Whether for each predicate some query asks for all its answers."""
        return self.engine.queries <= {
            query.atom.predicate
            for query in self.subject.queries
            if (query.pin is None or query.pin.base is not None)
            and all(isinstance(each, Variable) for each in query.atom.arguments)
            and len(set(map(str, query.atom.arguments))) == len(query.atom.arguments)
        }

    def patterns_of(self, predicate: str) -> Sequence[Pattern]:
        """What must arrive for the answers of a predicate."""
        return next((found for name, found in self.engine.patterns.items() if plain_name(name) == predicate), ())

    @property
    def columns(self) -> Bulk | None:
        """What takes in facts by columns."""
        return self.bulk if self.grid is None else self.grid.intake

    @property
    def now(self) -> Number | None:
        return self.engine.now if self.columns is None else self.columns.now

    @property
    def remembered(self) -> int:
        """How many facts are in memory; by columns, how many answers, and facts that are kept for others."""
        found = self.grid or self.columns
        if found is not None:
            return found.remembered
        return sum(len(rows) for by_time in self.engine.facts.values() for rows in by_time.values())

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The changes by what arrives at `now`."""
        if self.columns is not None:
            return self._columns_step(self.columns, facts, int(now), tables)
        given = [*facts, *(fact for table in tables for fact in table.facts())]
        self.confidence.learned.take(given, now)
        answers = self._step(given, now)
        return Answers(len(answers), lambda: answers)

    def _step(self, facts: Sequence[Fact], now: Number) -> list[Answer]:
        changes = self.engine.step(self._points(facts, now), now)
        answers = [answer for change in changes if (answer := self._told(change, now)) is not None]
        if self.choice.confidence_step is not None:
            answers.extend(self._moved({answer.answer for answer in answers}, now, self.choice.confidence_step))
        if self.choice.max_open is not None:
            self._shed(now, self.choice.max_open)
        if self.selects:
            self.told = {key: known for key, known in self.told.items() if self.engine.is_shown(*key)}
        return sorted(answers, key=_order)

    def _points(self, facts: Sequence[Fact], now: Number) -> list[TimedInstance]:
        """Facts over an interval, point by point; of those far ahead, as time passes. Nothing changes if one of them
        is refused."""
        ahead = now + self.engine.look_ahead
        points: list[TimedInstance] = []
        later = list(self.later)
        for fact in facts:
            assert fact.low is not None
            if fact.low == fact.high:
                points.append((fact.predicate, fact.arguments, fact.low))
            elif not self.subject.discrete:
                raise FactError(
                    "on dense time, what may come true of facts over an interval is not known here: "
                    f"{self._why_by_points}; use `--emit confirmed`"
                )
            else:
                later.append((fact.predicate, fact.arguments, fact.low, fact.high))
        waiting = []
        for name, arguments, low, high in later:
            # What is known early is told early, unless it goes on for very long.
            last = int(ahead if high is None else min(high, max(ahead, low + AT_ONCE)))
            if last - low > MOST_POINTS:
                raise FactError(f"`{name}` holds over {last - low + 1} time points, more than {MOST_POINTS}")
            points.extend((name, arguments, time) for time in range(int(low), last + 1))
            if high is None or high > last:
                waiting.append((name, arguments, max(low, last + 1), high))
        self.later = waiting
        return points

    def next_wake(self) -> Number | None:
        wakes: list[Number | None] = [(self.bulk or self.grid or self.engine).next_wake()]
        if self.now is not None and (self.later or self._is_reconsidered()):
            wakes.append(self.now + 1)
        return min((each for each in wakes if each is not None), default=None)

    def _is_reconsidered(self) -> bool:
        """Whether time alone may move how likely some answer is, and somebody asked to be told."""
        return self.choice.confidence_step is not None and any(True for _ in self.engine.standing_answers())

    # -- by columns -------------------------------------------------------------------------------

    def _columns_step(self, intake: Bulk, facts: Sequence[Fact], now: int, tables: Sequence[Columns]) -> Answers:
        intake.take_points(self._points(facts, now))
        for table in tables:
            intake.take(table.predicate, [numbers_of(each, intake.symbols) for each in table.arguments], table.times)
        if self.grid is None:
            assert self.teller is not None
            self.last = self.teller.asked(intake.step(now))
        else:
            self.last = self.grid.step(now)
        return self._columns_as_answers(self.last, intake.symbols.values, now)

    @property
    def takes_passages(self) -> bool:
        """Whether many steps can be taken at once."""
        return self.bulk is not None and not self.later

    def through(self, passage: Passage) -> Answers:
        """The changes of many steps, by columns."""
        assert self.bulk is not None and self.teller is not None
        until = int(passage.until)
        found = self.bulk.through(passage.steps, passage.coming(self.bulk.symbols), until)
        parts = self.teller.asked(found)
        self.last = [part.chosen(part.now == until) for part in parts]
        return self._columns_as_answers(parts, self.bulk.symbols.values, until)

    def _columns_as_answers(
        self, parts: Sequence[AnswerRows | GridChanges], values: ConstantsByNumber, now: Number
    ) -> Answers:
        """Counted now, made when they are looked at: constants may get other numbers later, in another list."""

        if self.teller is not None:
            rows = [part for part in parts if isinstance(part, AnswerRows)]
            told = PackedAnswers(self.teller, rows, values)
            return Answers(sum(map(len, rows)), lambda: sorted(told.answers(), key=_told_order), told)

        def make() -> list[Answer]:
            changes = (change for part in parts if not isinstance(part, AnswerRows) for change in part.changes(values))
            found = (self.answer(change, now) for change in changes)
            return sorted((answer for answer in found if answer is not None), key=_order)

        return Answers(sum(map(len, parts)), make)

    def stands(self, last: Answers, now: Number) -> Answers:
        """What stands now: what was confirmed by the last step, whose answers are given, and what is possible."""
        confirmed = self.confirmed(last, now)
        if self.columns is None:
            answers = [*confirmed, *self.standing(now)]
            return Answers(len(answers), lambda: answers)
        values = self.columns.symbols.values
        standing = self.grid.standing() if self.grid is not None else self._standing_rows(int(now))
        possible = self._columns_as_answers(standing, values, now)
        return Answers(len(confirmed) + len(possible), lambda: [*confirmed, *possible])

    def confirmed(self, last: Answers, now: Number) -> Sequence[Answer]:
        """What was confirmed by the last step, whose answers are given."""
        if self.columns is None:
            return [answer for answer in last if answer.status == "confirmed"]
        parts = [part.confirmed() for part in self.last]
        return self._columns_as_answers(parts, self.columns.symbols.values, now)

    def _standing_rows(self, now: int) -> list[AnswerRows]:
        assert self.bulk is not None and self.teller is not None
        return [rows.told_at(now) for rows in self.teller.asked(self.bulk.standing())]

    @property
    def open_count(self) -> int:
        """How many answers are possible now."""
        if self.bulk is not None:
            return sum(map(len, self._standing_rows(0)))
        if self.grid is not None:
            return sum(map(len, self.grid.standing()))
        found = filter(self._is_asked_of, self.engine.standing_answers())
        return sum(any(asks(query, change) for query in self.subject.queries) for change in found)

    # -- memory -----------------------------------------------------------------------------------

    def saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What `load` needs, as plain JSON values and arrays."""
        later = [[name, [saving.written(each) for each in row], low, high] for name, row, low, high in self.later]
        if self.bulk is not None:
            values, arrays = self.bulk.contents()
            bulk = {"now": self.bulk.now, "values": [saving.written(each) for each in values]}
            return {"bulk": bulk, "later": later}, arrays
        intake: dict[str, Any] = {}
        arrays = {}
        engine = self.engine
        if self.grid is not None:
            values, arrays = self.grid.intake.contents()
            intake = {"intake": [saving.written(each) for each in values]}
            engine = self._new_engine()
            from presage.hypothesis.grid.saving import pour_out

            pour_out(self.grid, engine)
        return {
            **intake,
            "engine": saving.save(engine),
            "later": later,
            "learned": self.confidence.learned.saved(saving.written),
            "told": None
            if not self.selects
            else [
                [name, [saving.written(each) for each in row], saving.written(time), confidence]
                for (name, (row, time)), confidence in self.told.items()
            ],
        }, arrays

    def load(self, saved: dict[str, Any], arrays: dict[str, Any]) -> Bulk | None:
        """Takes what was saved; gives the columns it was saved from, if any."""
        self.later = [(name, tuple(map(saving.read, row)), low, high) for name, row, low, high in saved["later"]]
        if "bulk" in saved:
            return self._load_bulk(saved["bulk"], arrays)
        self.bulk = None
        intake = None
        self.confidence.learned.load(saved.get("learned", {}), saving.read)
        if "intake" in saved:
            intake = Bulk(()) if self.grid is None else self.grid.intake
            intake.fill(saving.read(saved["engine"]["now"]), [saving.read(each) for each in saved["intake"]], arrays)
        if self.grid is None:
            saving.load(self.engine, saved["engine"])
        else:
            engine = self._new_engine()
            saving.load(engine, saved["engine"])
            from presage.hypothesis.grid.saving import take_in

            take_in(self.grid, engine)
        if self.selects and saved["told"] is not None:
            self.told = {
                (name, (tuple(map(saving.read, row)), saving.read(time))): confidence
                for name, row, time, confidence in saved["told"]
            }
        elif self.selects:
            self._all_told()
        if not self.subject.discrete and self.now is not None:
            # On dense time there is no next moment: when to look again is found out now, which tells nothing new.
            wake = self.next_wake()
            if wake is not None and wake <= self.now:
                self.engine.step((), self.now)
        return intake

    def _all_told(self) -> None:
        """What is open was told, by someone who tells all."""
        still_open = self.engine.standing_answers(("possible", "unsupported"))
        self.told = {(change.query, change.answer): None for change in still_open}

    def _new_engine(self) -> Hypotheses:
        """The general engine, to bring what is known into the form it is saved in."""
        engine = Hypotheses(self.subject, self._asked, self._unfolder)
        for name, rows in self.engine.statics.given.items():
            for row in rows:
                engine.statics.add(name, row)
        return engine

    def _load_bulk(self, saved: dict[str, Any], arrays: dict[str, Any]) -> Bulk:
        """Rows go back into columns or, where now something is asked for that columns do not give, into records."""
        bulk = self.bulk or Bulk(shapes(self.engine) or ())
        bulk.fill(saved["now"], [saving.read(each) for each in saved["values"]], arrays)
        if self.bulk is None:
            saving.take_over(self.engine, bulk.now, bulk.facts(), list(bulk.told()))
            if self.selects:
                self._all_told()
        return bulk

    # -- telling ----------------------------------------------------------------------------------

    def _told(self, change: AnswerChange, now: Number) -> Answer | None:
        """The answer line of a change, unless it is not asked for."""
        answer = self.answer(change, now)
        if answer is None or not self._is_asked_of(change):
            return None
        if not self.selects:
            return answer
        key = (change.query, change.answer)
        if change.state.status == "possible":
            if not self._likely(answer):
                self.hidden += key not in self.told
                return None
            self.told[key] = answer.confidence
        elif change.state.status in ("unsupported", "refuted") and key not in self.told:
            return None
        return answer

    def _is_asked_of(self, change: AnswerChange) -> bool:
        """Whether more than absence speaks for an answer, or it is about somebody, or everybody is asked for."""
        if self.choice.everybody or not any(isinstance(each, Open) for each in change.answer[0]):
            return True
        return any(lit.positive for way in change.state.ways for lit in way.because)

    def _likely(self, answer: Answer) -> bool:
        least = self.choice.min_confidence
        return least is None or (answer.confidence is not None and answer.confidence >= least)

    def _moved(self, already: set[str], now: Number, least: float) -> Iterator[Answer]:
        """Answers that are as they were but for how likely they are."""
        for answer, change in self._open_answers(now):
            key = (change.query, change.answer)
            before = self.told.get(key)
            if before is None or answer.confidence is None or answer.answer in already:
                continue
            if abs(answer.confidence - before) >= least:
                self.told[key] = answer.confidence
                yield answer

    def standing(self, now: Number) -> list[Answer]:
        """The answers that are possible now, the likeliest where only so many are asked for."""
        return sorted((answer for answer, _ in self._open_answers(now)), key=_order)

    def _open_answers(self, now: Number) -> list[tuple[Answer, AnswerChange]]:
        standing = (change for change in self.engine.standing_answers() if self._is_asked_of(change))
        known = ((self.answer(change, now), change) for change in standing)
        found = [(answer, change) for answer, change in known if answer is not None and self._likely(answer)]
        if self.choice.top is not None:
            found = sorted(found, key=lambda pair: likeliest(pair[0]))[: self.choice.top]
        return found

    def _shed(self, now: Number, most: int) -> None:
        """Forgets the least likely open answers beyond a number."""
        open_answers = [(self.answer(change, now), change) for change in self.engine.standing_answers()]
        if len(open_answers) <= most:
            return
        ranked = sorted((pair for pair in open_answers if pair[0] is not None), key=lambda pair: likeliest(pair[0]))  # type: ignore[arg-type]
        for _, change in ranked[most:]:
            self.engine.shed(change)
            self.shed += 1

    def answer(self, change: AnswerChange, now: Number) -> Answer | None:
        """A change as an answer of the first query that asks for it; `None` if none does."""
        for query in self.subject.queries:
            if asks(query, change):
                arguments, time = change.answer
                when = {"open_time": str(time)} if isinstance(time, Open) else {"time": time}
                ways = sorted((self._way(way, now) for way in change.state.ways), key=lambda each: len(each["needs"]))
                return self.choice.answer(query, arguments, change.state.status, ways, now, when)
        return None

    def _way(self, way: Way, now: Number) -> dict[str, Any]:
        return {
            "because": texts(way.because),
            "needs": texts(way.needs),
            "unless": way.unless,
            "decided_by": self.settle.all_of(way.needs),
            "confidence": self.confidence.of(way.needs, now),
        }


def asks(query: Query, change: AnswerChange) -> bool:
    return query.atom.predicate == plain_name(change.query) and _matches(query, *change.answer)


def asked_by(query: Query, answer: Answer) -> bool:
    """Whether an answer is one of a query."""
    if shown_name(query.atom.predicate) != answer.predicate or len(query.atom.arguments) != len(answer.arguments):
        return False
    arguments = tuple(Open(each.name) if isinstance(each, Variable) else each for each in answer.arguments)
    return _matches(query, arguments, answer.time if answer.time is not None else Open(answer.open_time))


def _matches(query: Query, arguments: tuple[Any, ...], time: Number | Open) -> bool:
    """Whether a query asks for arguments and time: its constants, its repeated variables, its pin."""
    if not are_asked(query.atom.arguments, arguments):
        return False
    return query.pin is None or query.pin.base is not None or isinstance(time, Open) or time == query.pin.offset


def _told_order(answer: Answer) -> tuple[object, ...]:
    return answer.now, *_order(answer)


def _order(answer: Answer) -> tuple[object, ...]:
    return answer.predicate, answer.time is None, answer.time or 0, answer.answer


def likeliest(answer: Answer) -> tuple[object, ...]:
    """The likeliest first; without a probability, the one that needs least."""
    return -(answer.confidence if answer.confidence is not None else -1.0), len(answer.needs), answer.answer
