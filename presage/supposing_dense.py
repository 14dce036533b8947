"""Hypothetical answers on dense time as users get them: a line for each stretch of time in which something changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from presage.answers import Answer, Answers, bindings_of, shown_name
from presage.errors import PresageError
from presage.hypothesis.confidence import Confidence
from presage.hypothesis.delays import Delays
from presage.hypothesis.dense.engine import Change, DenseHypotheses, Told
from presage.hypothesis.dense.patterns import DensePattern, Need, dense_patterns, uses_stretches
from presage.hypothesis.dense.pieces import Piece
from presage.hypothesis.dense.stretches import Stretch, stretch
from presage.hypothesis.dense.texts import Words
from presage.hypothesis.dense.zones import START
from presage.hypothesis.finding import all_patterns
from presage.hypothesis.finish import NoPatterns
from presage.hypothesis.literals import Lit, Open, are_asked
from presage.hypothesis.saving import read, written
from presage.hypothesis.unfold import Unfolder
from presage.hypothesis.ways import Way
from presage.io.facts import Fact
from presage.io.tables import Columns
from presage.model.statements import Query
from presage.model.terms import Number, Variable
from presage.supposing import ALL, Choice, Supposing, no_patterns


def suppose(subject: Any, choice: Choice = ALL) -> Supposing | DenseSupposing:
    """The hypothetical side of a reasoner; refuses what has no premise patterns."""
    if subject.discrete:
        return Supposing(subject, choice)
    delays = Delays(subject.predicates)
    try:
        patterns = all_patterns({query.atom.predicate for query in subject.queries}, Unfolder(subject))
    except NoPatterns as found:
        raise no_patterns(subject, found) from None
    if choice == ALL:
        try:
            return DenseSupposing(subject, dense_patterns(patterns, delays), delays)
        except NoPatterns:
            # Times are single ones there, or the patterns would have been refused.
            return Supposing(subject, choice)
    if any(uses_stretches(each) for found in patterns.values() for each in found):
        raise PresageError(
            f"{subject.program.source.name}: operators over stretches of dense time have no probability, so open "
            "answers cannot be chosen by it: leave out the choice among them"
        )
    return Supposing(subject, choice)


class DenseSupposing:
    """The hypothetical side of a reasoner on dense time."""

    bulk = grid = columns = teller = None
    """Nothing goes by columns here."""
    hidden = shed = 0

    def __init__(self, subject: Any, patterns: dict[str, list[DensePattern]], delays: Delays) -> None:
        self.subject, self.delays = subject, delays
        self.engine = DenseHypotheses(subject, patterns, delays)
        self.confidence = Confidence(delays)

    @property
    def now(self) -> Number | None:
        return self.engine.now

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The changes by what arrives at `now`."""
        given = [*facts, *(fact for table in tables for fact in table.facts())]
        answers = self._answers(self.engine.step(map(_timed, given), now), now)
        return Answers(len(answers), lambda: answers)

    def next_wake(self) -> Number | None:
        return self.engine.next_wake()

    def stands(self, last: Answers, now: Number) -> Answers:
        """What stands now: what was confirmed by the last step, whose answers are given, and what is possible."""
        answers = [*self.confirmed(last, now), *self._answers(self.engine.standing(), now)]
        return Answers(len(answers), lambda: answers)

    def confirmed(self, last: Answers, now: Number) -> Sequence[Answer]:
        """What was confirmed by the last step, whose answers are given."""
        return [answer for answer in last if answer.status == "confirmed"]

    @property
    def open_count(self) -> int:
        """How many answers are possible now."""
        return sum(1 for change in self.engine.standing() for query in self.subject.queries if _asks(query, change))

    # -- telling ----------------------------------------------------------------------------------

    def _answers(self, changes: Any, now: Number) -> list[Answer]:
        found = [answer for change in changes for answer in self._of(change, now)]
        return sorted(
            found, key=lambda each: (each.predicate, each.time if each.time is not None else each.start, each.answer)
        )

    def _of(self, change: Change, now: Number) -> Iterator[Answer]:
        """A change as an answer of the first query that asks for all its times, or else at each time asked for."""
        told: Stretch = change.told.times
        fixed: dict[Number, Query] = {}
        for query in self.subject.queries:
            if not _asks(query, change):
                continue
            if query.pin is None or query.pin.base is not None:
                yield self._answer(query, change, told, now)
                return
            fixed.setdefault(query.pin.offset, query)
        for at, query in fixed.items():
            times = told.meet(stretch(at, True, at, True))
            if times is not None:
                yield self._answer(query, change, times, now)

    def _answer(self, query: Query, change: Change, times: Stretch, now: Number) -> Answer:
        arguments, told = change.arguments, change.told
        shown = tuple(Variable(each.name) if isinstance(each, Open) else each for each in arguments)
        bindings = {name: value for name, value in bindings_of(query, shown).items() if not isinstance(value, Variable)}
        taken = [each.name for each in arguments if isinstance(each, Open)]
        pieces = [part for each in told.ways if (part := each.at(times)) is not None]
        ways = [self._way(each, Words(each, times, taken), now) for each in pieces]
        ways.sort(key=lambda each: (len(each["needs"]), each["needs"], each["because"], each["unless"]))
        best = ways[0] if ways else {}
        when: dict[str, Any] = {"time": times.low}
        if not times.is_point:
            when = {"start": times.low, "end": times.high, "bounds": times.bounds}
        return Answer(
            now,
            told.status,
            shown_name(query.atom.predicate),
            shown,
            bindings,
            **when,
            because=best.get("because", ()),
            needs=best.get("needs", ()),
            unless=best.get("unless", ()),
            decided_by=best.get("decided_by"),
            confidence=best.get("confidence") if told.status == "possible" else None,
            ways=tuple(ways) if len(ways) > 1 else (),
        )

    def _way(self, piece: Piece, words: Words, now: Number) -> dict[str, Any]:
        return {
            "because": words.because(),
            "needs": words.needs(),
            "unless": words.unless(),
            "decided_by": self._decided_by(piece),
            "confidence": self._confidence(piece.needs, now),
        }

    def _decided_by(self, piece: Piece) -> Number | None:
        """When all premises are settled, at the latest of the answer's times; `None` if that is never."""
        latest: Number | None = None
        for need in piece.needs:
            end = 0 if need.high.base == START else piece.zone.range(need.high.base).high
            if end is None:
                return None
            settled = end + need.high.offset + self.delays.of(need.predicate, need.arguments)
            latest = settled if latest is None else max(latest, settled)
        return latest

    def _confidence(self, needs: tuple[Need, ...], now: Number) -> float | None:
        """How likely premises at single times are; stretches of time have no probability."""
        if any(each.low.base != START or not each.is_point for each in needs):
            return None
        lits = frozenset(Lit(True, each.predicate, each.arguments, each.low.offset) for each in needs)
        return self.confidence.of(Way(lits, frozenset()), now)

    # -- memory -----------------------------------------------------------------------------------

    def saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What `load` needs, as plain JSON values and arrays."""
        engine = self.engine
        return {
            "now": written(engine.now),
            "static": [
                [name, [written(each) for each in row]] for name, rows in engine.statics.given.items() for row in rows
            ],
            "facts": [
                [name, [written(each) for each in row], _saved_stretch(times)]
                for name, rows in engine.memory.facts.items()
                for row, known in rows.items()
                for times in known
            ],
            "told": [
                [name, [written(each) for each in row], [[_saved_stretch(each.times), each.status] for each in told]]
                for (name, row), told in engine.told.items()
            ],
        }, {}

    def load(self, saved: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Takes what was saved."""
        for name, row in saved["static"]:
            self.engine.statics.add(name, tuple(map(read, row)))
        self.engine.restore(
            read(saved["now"]),
            [(name, tuple(map(read, row)), _read_stretch(times)) for name, row, times in saved["facts"]],
            {
                (name, tuple(map(read, row))): [Told(_read_stretch(times), status) for times, status in told]
                for name, row, told in saved["told"]
            },
        )


def _timed(fact: Fact) -> tuple[str, tuple[Any, ...], Stretch]:
    assert fact.low is not None
    return fact.predicate, fact.arguments, stretch(fact.low, fact.closed_low, fact.high, fact.closed_high)


def _asks(query: Query, change: Change) -> bool:
    return query.atom.predicate == change.query and are_asked(query.atom.arguments, change.arguments)


def _saved_stretch(times: Stretch) -> list[Any]:
    return [written(times.low), written(times.high), times.bounds]


def _read_stretch(saved: list[Any]) -> Stretch:
    low, high, bounds = saved
    return stretch(read(low), bounds[0] == "[", read(high), bounds[1] == "]")
