"""Hypothetical answers as users get them: the engine's changes as `Answer`s, with deadlines and confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from presage.answers import Answer, Answers, bindings_of, shown_name
from presage.errors import PresageError
from presage.hypothesis import saving
from presage.hypothesis.bulk.engine import Bulk, Values, changes
from presage.hypothesis.bulk.shapes import shapes
from presage.hypothesis.bulk.table import Rows
from presage.hypothesis.confidence import Confidence
from presage.hypothesis.engine import Change, Hypotheses, State
from presage.hypothesis.finish import NoPatterns
from presage.hypothesis.literals import Lit, Open
from presage.hypothesis.settle import Settle
from presage.hypothesis.unfold import Unfolder
from presage.hypothesis.ways import Way, texts
from presage.io.facts import Fact, FactError
from presage.io.tables import Coded, Columns, Texts
from presage.model.statements import Query
from presage.model.terms import Constant, Number, Variable
from presage.model.values import Value

MOST_POINTS = 1_000_000

Point = tuple[str, tuple[Value, ...], Number]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which open answers are told: those at least so likely, so many at most; and when to tell again."""

    min_confidence: float | None = None
    top: int | None = None
    max_open: int | None = None
    confidence_step: float | None = None


ALL = Choice()


class Supposing:
    """The hypothetical side of a reasoner."""

    def __init__(self, subject: Any, choice: Choice = ALL) -> None:
        self.subject = subject
        try:
            self.engine = Hypotheses(subject, [query.atom for query in subject.queries], Unfolder(subject))
        except NoPatterns as found:
            lines = "".join(f" (line {subject.line(rule)})" for rule in found.rules)
            raise PresageError(
                f"{subject.program.source.name}: the queries have no finite set of premise patterns: "
                f"{found.reason}{lines}; ask for confirmed answers only (`--emit confirmed`)"
            ) from None
        self.choice = choice
        simple = shapes(self.engine) if choice == ALL else None
        self.bulk = None if simple is None else Bulk(simple)
        """Works off the steps by columns, where the program allows it; then the engine has the patterns only."""
        self.last: list[Rows] = []
        self.confidence = Confidence(self.engine.delays, self.engine.judge)
        self.settle = Settle(self.engine.patterns, self.engine.spans, self.engine.delays)
        self.later: list[tuple[str, tuple[Value, ...], Number, Number | None]] = []
        self.told: dict[tuple[str, tuple[tuple[Any, ...], Any]], float | None] = {}
        self.hidden = self.shed = 0

    @property
    def now(self) -> Number | None:
        return self.engine.now if self.bulk is None else self.bulk.now

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The changes by what arrives at `now`."""
        if self.bulk is not None:
            return self._bulk_step(self.bulk, facts, int(now), tables)
        given = [*facts, *(fact for table in tables for fact in table.facts())]
        answers = self._step(given, now)
        return Answers(len(answers), lambda: answers)

    def _step(self, facts: Sequence[Fact], now: Number) -> list[Answer]:
        changes = self.engine.step(self._points(facts, now), now)
        answers = [answer for change in changes if (answer := self._told(change, now)) is not None]
        if self.choice.confidence_step is not None:
            answers.extend(self._moved({answer.answer for answer in answers}, now))
        if self.choice.max_open is not None:
            self._shed(now, self.choice.max_open)
        return sorted(answers, key=_order)

    def _points(self, facts: Sequence[Fact], now: Number) -> Iterator[Point]:
        """Facts over an interval, point by point; of those far ahead, as time passes."""
        ahead = now + self.engine.look_ahead
        for fact in facts:
            assert fact.low is not None
            if fact.low == fact.high:
                yield fact.predicate, fact.arguments, fact.low
            elif not self.subject.discrete:
                raise FactError(
                    "facts over an interval of dense time have no hypothetical answers: use `--emit confirmed`"
                )
            else:
                self.later.append((fact.predicate, fact.arguments, fact.low, fact.high))
        waiting = []
        for name, arguments, low, high in self.later:
            last = int(ahead if high is None else min(high, ahead))
            if last - low > MOST_POINTS:
                raise FactError(f"`{name}` holds over {last - low + 1} time points, more than {MOST_POINTS}")
            for time in range(int(low), last + 1):
                yield name, arguments, time
            if high is None or high > last:
                waiting.append((name, arguments, max(low, last + 1), high))
        self.later = waiting

    def next_wake(self) -> Number | None:
        wakes: list[Number | None] = [self.engine.next_wake() if self.bulk is None else self.bulk.next_wake()]
        if self.later and self.now is not None:
            wakes.append(self.now + 1)
        return min((each for each in wakes if each is not None), default=None)

    # -- by columns -------------------------------------------------------------------------------

    def _bulk_step(self, bulk: Bulk, facts: Sequence[Fact], now: int, tables: Sequence[Columns]) -> Answers:
        points = list(self._points(facts, now))
        bulk.take_points(points)
        for table in tables:
            bulk.take(table.predicate, [self._numbers(bulk, each) for each in table.arguments], table.times)
        self.last = self._asked(bulk.step(now))
        return self._columns_as_answers(self.last, bulk.symbols.values, now)

    def _numbers(self, bulk: Bulk, column: Texts | Coded) -> Any:
        if isinstance(column, Texts):
            return bulk.texts.number_all(column.offsets, column.data, column.some)
        return bulk.symbols.number_all(column.values)[column.places]

    def _asked(self, parts: list[Rows]) -> list[Rows]:
        """The rows that some query asks for."""
        assert self.bulk is not None
        found = []
        for rows in parts:
            queries = [query for query in self.subject.queries if query.atom.predicate == rows.shape.name]
            wanted = np.zeros(len(rows), bool)
            for query in queries:
                wanted |= _asked_rows(query, rows, self.bulk.symbols.numbers)
            found.append(rows.chosen(wanted))
        return found

    def _columns_as_answers(self, parts: list[Rows], values: Values, now: Number) -> Answers:
        """Counted now, made when they are looked at: constants may get other numbers later, in another list."""

        def make() -> list[Answer]:
            found = (self.answer(change, now) for rows in parts for change in changes(rows, values))
            return sorted((answer for answer in found if answer is not None), key=_order)

        return Answers(sum(map(len, parts)), make)

    def stands(self, last: Answers, now: Number) -> Answers:
        """What stands now: what was confirmed by the last step, whose answers are given, and what is possible."""
        if self.bulk is None:
            answers = [answer for answer in last if answer.status == "confirmed"] + self.standing(now)
            return Answers(len(answers), lambda: answers)
        values = self.bulk.symbols.values
        confirmed = self._columns_as_answers([rows.confirmed() for rows in self.last], values, now)
        possible = self._columns_as_answers(self._asked(self.bulk.standing()), values, now)
        return Answers(len(confirmed) + len(possible), lambda: [*confirmed, *possible])

    @property
    def open_count(self) -> int:
        """How many answers are possible now."""
        if self.bulk is not None:
            return sum(map(len, self._asked(self.bulk.standing())))
        found = self.engine.standing_answers()
        return sum(any(asks(query, change) for query in self.subject.queries) for change in found)

    # -- memory -----------------------------------------------------------------------------------

    def saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What `load` needs, as plain JSON values and arrays."""
        later = [[name, [saving.written(each) for each in row], low, high] for name, row, low, high in self.later]
        if self.bulk is not None:
            values, arrays = self.bulk.contents()
            bulk = {"now": self.bulk.now, "values": [saving.written(each) for each in values]}
            return {"bulk": bulk, "later": later}, arrays
        return {
            "engine": saving.save(self.engine),
            "later": later,
            "told": [
                [name, [saving.written(each) for each in row], saving.written(time), confidence]
                for (name, (row, time)), confidence in self.told.items()
            ],
        }, {}

    def load(self, saved: dict[str, Any], arrays: dict[str, Any]) -> Bulk | None:
        """Takes what was saved; gives the columns it was saved from, if any."""
        self.later = [(name, tuple(map(saving.read, row)), low, high) for name, row, low, high in saved["later"]]
        if "bulk" in saved:
            return self._load_bulk(saved["bulk"], arrays)
        self.bulk = None
        saving.load(self.engine, saved["engine"])
        self.told = {
            (name, (tuple(map(saving.read, row)), saving.read(time))): confidence
            for name, row, time, confidence in saved["told"]
        }
        return None

    def _load_bulk(self, saved: dict[str, Any], arrays: dict[str, Any]) -> Bulk:
        """Rows go back into columns or, where now something is asked for that columns do not give, into records."""
        bulk = self.bulk or Bulk(shapes(self.engine) or ())
        bulk.fill(saved["now"], [saving.read(each) for each in saved["values"]], arrays)
        if self.bulk is None:
            told = list(bulk.told())
            saving.take_over(self.engine, bulk.now, bulk.facts(), told)
            is_open = ("possible", "unsupported")
            self.told = {(each.query, each.answer): None for each in told if each.state.status in is_open}
        return bulk

    # -- telling ----------------------------------------------------------------------------------

    def _told(self, change: Change, now: Number) -> Answer | None:
        """The answer line of a change, unless it is not asked for."""
        answer = self.answer(change, now)
        if answer is None:
            return None
        key = (change.query, change.answer)
        if change.state.status == "possible":
            if not self._likely(answer):
                self.hidden += key not in self.told
                return None
            self.told[key] = answer.confidence
            return answer
        if change.state.status in ("unsupported", "refuted") and key not in self.told:
            return None
        if change.state.status != "unsupported":
            self.told.pop(key, None)
        return answer

    def _likely(self, answer: Answer) -> bool:
        least = self.choice.min_confidence
        return least is None or (answer.confidence is not None and answer.confidence >= least)

    def _moved(self, already: set[str], now: Number) -> Iterator[Answer]:
        """Answers that are as they were but for how likely they are."""
        assert self.choice.confidence_step is not None
        for answer in self.standing(now):
            key = next((each for each in self.told if _text(each) == answer.answer), None)
            before = self.told.get(key) if key else None
            if answer.answer in already or before is None or answer.confidence is None or key is None:
                continue
            if abs(answer.confidence - before) >= self.choice.confidence_step:
                self.told[key] = answer.confidence
                yield answer

    def standing(self, now: Number) -> list[Answer]:
        """The answers that are possible now, the likeliest where only so many are asked for."""
        known = (self.answer(change, now) for change in self.engine.standing_answers())
        found = [answer for answer in known if answer is not None and self._likely(answer)]
        if self.choice.top is not None:
            found = sorted(found, key=_likeliest)[: self.choice.top]
        return sorted(found, key=_order)

    def _shed(self, now: Number, most: int) -> None:
        """Forgets the least likely open answers beyond a number."""
        open_answers = [(self.answer(change, now), change) for change in self.engine.standing_answers()]
        if len(open_answers) <= most:
            return
        ranked = sorted((pair for pair in open_answers if pair[0] is not None), key=lambda pair: _likeliest(pair[0]))  # type: ignore[arg-type]
        for _, change in ranked[most:]:
            self.engine.shed(change)
            self.shed += 1

    def answer(self, change: Change, now: Number) -> Answer | None:
        """A change as an answer of the first query that asks for it; `None` if none does."""
        for query in self.subject.queries:
            if asks(query, change):
                return self._answer(query, change.answer, change.state, now)
        return None

    def _answer(self, query: Query, answer: tuple[Any, Any], state: State, now: Number) -> Answer:
        arguments, time = answer
        shown = tuple(Variable(each.name) if isinstance(each, Open) else each for each in arguments)
        bindings = {name: value for name, value in bindings_of(query, shown).items() if not isinstance(value, Variable)}
        ways = sorted((self._way(way, now) for way in state.ways), key=lambda each: (len(each["needs"]),))
        best = ways[0] if ways else {}
        return Answer(
            now,
            state.status,
            shown_name(query.atom.predicate),
            shown,
            bindings,
            time=None if isinstance(time, Open) else time,
            open_time=str(time) if isinstance(time, Open) else "",
            because=best.get("because", ()),
            needs=best.get("needs", ()),
            unless=best.get("unless", ()),
            decided_by=best.get("decided_by"),
            confidence=best.get("confidence") if state.status == "possible" else None,
            ways=tuple(ways) if len(ways) > 1 else (),
        )

    def _way(self, way: Way, now: Number) -> dict[str, Any]:
        return {
            "because": texts(way.because),
            "needs": texts(way.needs),
            "unless": way.unless,
            "decided_by": self.settle.all_of(way.needs),
            "confidence": self.confidence.of(way, now),
        }


def asks(query: Query, change: Change) -> bool:
    return query.atom.predicate == change.query and _matches(query, *change.answer)


def asked_by(query: Query, answer: Answer) -> bool:
    """Whether an answer is one of a query."""
    if shown_name(query.atom.predicate) != answer.predicate or len(query.atom.arguments) != len(answer.arguments):
        return False
    arguments = tuple(Open(each.name) if isinstance(each, Variable) else each for each in answer.arguments)
    return _matches(query, arguments, answer.time if answer.time is not None else Open(answer.open_time))


def _matches(query: Query, arguments: tuple[Any, ...], time: Number | Open) -> bool:
    """Whether a query asks for arguments and time: its constants, its repeated variables, its pin."""
    values: dict[str, object] = {}
    for asked, given in zip(query.atom.arguments, arguments, strict=True):
        if isinstance(asked, Constant):
            if asked.value != given and not isinstance(given, Open):
                return False
        elif isinstance(asked, Variable) and not asked.is_anonymous and values.setdefault(asked.name, given) != given:
            return False
    return query.pin is None or query.pin.base is not None or isinstance(time, Open) or time == query.pin.offset


def _asked_rows(query: Query, rows: Rows, numbers: dict[Value, int]) -> Any:
    """The same for rows: which of them a query asks for."""
    wanted = np.ones(len(rows), bool)
    places: dict[str, int] = {}
    for place, asked in enumerate(query.atom.arguments):
        if isinstance(asked, Constant):
            wanted &= rows.keys[:, place] == numbers.get(asked.value, -1)
        elif isinstance(asked, Variable) and not asked.is_anonymous and places.setdefault(asked.name, place) != place:
            wanted &= rows.keys[:, place] == rows.keys[:, places[asked.name]]
    if query.pin is not None and query.pin.base is None:
        wanted &= rows.keys[:, -1] == query.pin.offset
    return wanted


def _order(answer: Answer) -> tuple[object, ...]:
    return answer.predicate, answer.time is None, answer.time or 0, answer.answer


def _likeliest(answer: Answer) -> tuple[object, ...]:
    """The likeliest first; without a probability, the one that needs least."""
    return -(answer.confidence if answer.confidence is not None else -1.0), len(answer.needs), answer.answer


def _text(key: tuple[Any, ...]) -> str:
    name, (arguments, time) = key
    return str(Lit(True, name, arguments, time))
