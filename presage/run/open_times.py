"""Hypothetical answers with open times as users get them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from presage.answers import Answer, Answers, show_answer_atom, shown_name
from presage.errors import PresageError
from presage.hypothesis.confidence import Confidence
from presage.hypothesis.ranges.confidence import confidence_of
from presage.hypothesis.ranges.engine import Ranges
from presage.hypothesis.ranges.pieces import ZonePiece, extent
from presage.hypothesis.ranges.remembering import load_evolutions, saved_evolutions
from presage.hypothesis.ranges.single_times import AtPoints
from presage.hypothesis.ranges.told import Change, Standing, Told, is_open
from presage.hypothesis.ranges.words import Words
from presage.hypothesis.saving import read, written
from presage.hypothesis.together import Premises
from presage.io.facts import Fact, FactError
from presage.io.tables import Columns
from presage.model.statements import Query
from presage.model.terms import Number, Variable
from presage.patterns.literals import Lit, are_asked
from presage.patterns.of_queries import label
from presage.patterns.unfold import Unfolder
from presage.patterns.zoned import RangePattern
from presage.run.choice import ALL, Choice
from presage.run.hypothetical import Supposing, likeliest
from presage.time.stretches import BEGINNING, ENDLESS, Stretch

MOST_POINTS = 1_000
"""A fact over more time points than these is one piece of evidence."""


class RangeSupposing:
    """The hypothetical side of a reasoner where times may stay open."""

    bulk = grid = columns = teller = None
    """Nothing goes by columns here."""

    def __init__(self, subject: Any, engine: Ranges, choice: Choice = ALL, why_by_points: str = "") -> None:
        self.subject, self.engine, self.choice, self._why_by_points = subject, engine, choice, why_by_points
        self.line, self.delays = engine.line, engine.delays
        self.confidence = Confidence(engine.delays, self._ways_of)
        self.hidden = self.shed = 0
        self.chances: dict[str, float | None] = {}
        """How likely the answers that were told are, where only some are."""
        self._names: dict[str, frozenset[str]] = {}
        self._at_points: tuple[Number | None, AtPoints] | None = None
        """What judges single times, at the last time that was asked for."""

    @property
    def now(self) -> Number | None:
        return self.engine.now

    @property
    def remembered(self) -> int:
        """How many facts and answers are in memory."""
        return sum(1 for _ in self.engine.memory.everything()) + len(self.engine.told)

    @property
    def selects(self) -> bool:
        """Whether it matters how likely answers are."""
        return self.choice.min_confidence is not None or self.choice.confidence_step is not None

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The changes by what arrives at `now`."""
        given = [*facts, *(fact for table in tables for fact in table.facts())]
        if self.engine.evolutions is not None and not self.line.whole and any(each.low != each.high for each in given):
            raise FactError(
                "on dense time, what may come true of facts over an interval is not known here: "
                f"{self._why_by_points}; use `--emit confirmed`"
            )
        self.confidence.learned.take(given, now)
        changes = self.engine.step((each for fact in given for each in self._timed(fact)), now)
        answers = self._answers(changes, now)
        if self.selects:
            answers = [each for each in answers if self._is_told(each)]
        if self.choice.confidence_step is not None:
            already = {each.key for each in answers}
            answers += [each for each in self._moved(now, self.choice.confidence_step) if each.key not in already]
        if self.choice.max_open is not None:
            self._shed(now, self.choice.max_open)
        return _made(sorted(answers, key=in_order))

    def _timed(self, fact: Fact) -> Iterator[tuple[str, tuple[Any, ...], Stretch]]:
        """A fact with its stretch of time; of whole numbers one by one, each of which may fix the time of an answer,
        unless there are very many."""
        times = self.line.stretch(fact.low, fact.closed_low, fact.high, fact.closed_high)
        if not self.line.whole or times.last[0] - times.first[0] > MOST_POINTS:
            yield fact.predicate, fact.arguments, times
            return
        for at in range(int(times.first[0]), int(times.last[0])):
            yield fact.predicate, fact.arguments, self.line.point(at)

    def patterns_of(self, predicate: str) -> Sequence[RangePattern]:
        """What must arrive for the answers of a predicate."""
        places = (place for place, query in enumerate(self.subject.queries) if query.atom.predicate == predicate)
        return [pattern for place in places for pattern in self.engine.patterns[label(place)]]

    def next_wake(self) -> Number | None:
        soonest = self.engine.next_wake()
        if self.choice.confidence_step is not None and self.now is not None and self.open_count:
            later = self.now + 1
            return later if soonest is None else min(soonest, later)
        return soonest

    def stands(self, last: Answers, now: Number) -> Answers:
        """What stands now: what was confirmed by the last step, whose answers are given, and what is possible."""
        possible = self._chosen_to_stand(self._answers(self.engine.standing(), now))
        return _made([*self.confirmed(last, now), *possible])

    def _chosen_to_stand(self, answers: Iterable[Answer]) -> list[Answer]:
        """Of what is possible, what was asked for."""
        possible = [each for each in answers if self._is_likely(each)]
        if self.choice.top is not None:
            possible = sorted(sorted(possible, key=likeliest)[: self.choice.top], key=in_order)
        return possible

    def confirmed(self, last: Answers, now: Number) -> Sequence[Answer]:
        """What was confirmed by the last step, whose answers are given."""
        return [answer for answer in last if answer.status == "confirmed"]

    @property
    def open_count(self) -> int:
        """How many answers are possible now."""
        return sum(
            sum(each.status == "possible" for each in told.at.values())
            + (told.open is not None and told.open.status == "possible")
            for told in self.engine.told.values()
        )

    # -- choosing ---------------------------------------------------------------------------------

    def _is_likely(self, answer: Answer) -> bool:
        least = self.choice.min_confidence
        return least is None or (answer.confidence is not None and answer.confidence >= least)

    def _is_told(self, answer: Answer) -> bool:
        if answer.status == "possible":
            if not self._is_likely(answer):
                self.hidden += answer.key not in self.chances
                return False
            self.chances[answer.key] = answer.confidence
            return True
        if answer.status in ("unsupported", "refuted") and answer.key not in self.chances:
            return False
        if answer.status in ("refuted", "confirmed"):
            self.chances.pop(answer.key, None)
        return True

    def _moved(self, now: Number, least: float) -> Iterator[Answer]:
        """Answers that are as they were but for how likely they are."""
        for answer in self._answers(self.engine.standing(), now):
            before = self.chances.get(answer.key)
            if before is not None and answer.confidence is not None and abs(answer.confidence - before) >= least:
                self.chances[answer.key] = answer.confidence
                yield answer

    def _shed(self, now: Number, most: int) -> None:
        """Forgets the least likely open answers beyond a number."""
        if self.open_count <= most:
            return
        standing = [(answer, change) for change in self.engine.standing() for answer in self._of(change, now)]
        for _, change in sorted(standing, key=lambda pair: likeliest(pair[0]))[most:]:
            self.engine.shed(change)
            self.shed += 1

    # -- telling ----------------------------------------------------------------------------------

    def _answers(self, changes: Iterable[Change], now: Number) -> list[Answer]:
        return sorted((answer for change in changes for answer in self._of(change, now)), key=in_order)

    def _of(self, change: Change, now: Number) -> Iterator[Answer]:
        """A change as an answer of the query it was found for, unless an earlier one asks for it too."""
        place = int(change.asked[1:])
        query = self.subject.queries[place]
        if not any(_asks(each, query, change, self.line.interval) for each in self.subject.queries[:place]):
            yield self.answer(query, change, now)

    def answer(self, query: Query, change: Change, now: Number) -> Answer:
        taken = self._taken(change.asked)
        is_open = change.times is None
        words = [Words(each, self.line, taken, is_open) for each in change.ways]
        if len(words) > 1:
            words.sort(key=lambda each: each.order)
        ways = [self._way(each.piece, each, now) for each in words]
        ways = list({(w["needs"], w["because"], w["unless"]): w for w in ways}.values())
        when: dict[str, Any] = {}
        if change.times is None:
            when["open_time"] = _open_time(taken)
        else:
            interval = self.line.interval(change.times)
            if interval.is_point:
                when["time"] = interval.low
            else:
                when.update(start=interval.low, end=interval.high, bounds=interval.bounds)
        found = self.choice.answer(query, change.arguments, change.status, ways, now, when)
        if change.status == "confirmed":
            found.ways = ()
        return found

    def _taken(self, asked: str) -> frozenset[str]:
        """The names of a query's values: no time is called so in any of its lines, which have one key."""
        if asked not in self._names:
            self._names[asked] = frozenset(name for each in self.engine.patterns[asked] for name in each.names)
        return self._names[asked]

    def _way(self, piece: ZonePiece, words: Words, now: Number) -> dict[str, Any]:
        return {
            "because": words.because(),
            "needs": words.needs(),
            "unless": words.unless() if piece.needs else words.limits(),
            "decided_by": self.decided_by(piece),
            "confidence": self._confidence(piece, now),
        }

    def _confidence(self, piece: ZonePiece, now: Number) -> Any:
        return confidence_of(piece, self.engine, self.confidence, now)

    def _ways_of(self, atom: Lit) -> list[Premises]:
        """What is missing in each way of a derived atom at a time."""
        if self.engine.evolutions is not None:
            return self.engine.evolutions.ways(atom)
        if self._at_points is None or self._at_points[0] != self.now:
            self._at_points = self.now, AtPoints(self.engine)
        return self._at_points[1].ways(atom)

    def decided_by(self, piece: ZonePiece) -> Number | None:
        """When all premises are settled, at the latest choice of times; `None` if that is never."""
        latest: Number | None = None
        for need in piece.needs:
            end = extent(piece.zone, need.high)[1]
            if need.positive or need.predicate not in self.engine.spans:
                delay: Number | None = self.delays.of(need.predicate, need.arguments)
            else:
                delay = self.engine.spans[need.predicate]
            if end is None or delay is None:
                return None
            latest = end + delay if latest is None else max(latest, end + delay)
        return latest

    # -- memory -----------------------------------------------------------------------------------

    def saved(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What `load` needs, as plain JSON values and arrays."""
        engine = self.engine
        facts, said = self._known()
        return {
            "ranges": 1,
            "now": written(self.now),
            "since": written(engine.since),
            "static": [
                [name, [written(each) for each in row]] for name, rows in engine.statics.given.items() for row in rows
            ],
            "facts": [[name, [written(each) for each in row], _saved_stretch(times)] for name, row, times in facts],
            "told": [
                [
                    name,
                    [written(each) for each in row],
                    [[written(at), known.status] for at, known in told.at.items()],
                    None if told.open is None else told.open.status,
                    [_saved_stretch(each) for each in told.confirmed],
                ]
                for (name, row), told in said.items()
            ],
            "chances": [[key, chance] for key, chance in self.chances.items()],
            "counts": [self.hidden, self.shed],
            "learned": self.confidence.learned.saved(written),
            **({} if engine.evolutions is None else {"evolutions": saved_evolutions(engine.evolutions)}),
        }, {}

    def _known(self) -> tuple[list[Any], dict[Any, Told]]:
        """The facts that are remembered, and what was told."""
        return list(self.engine.memory.everything()), self.engine.told

    def _restore(self, now: Number | None, since: Number, facts: list[Any], told: dict[Any, Told]) -> None:
        self.engine.restore(now, since, facts, told)

    def load(self, saved: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Takes what was saved, here or by columns."""
        if "ranges" not in saved:
            self._take_over(saved, arrays)
            return
        for name, row in saved["static"]:
            self.engine.statics.add(name, tuple(map(read, row)))
        told = {
            (name, tuple(map(read, row))): Told(
                {read(at): Standing(status) for at, status in times},
                None if is_told is None else Standing(is_told),
                [_read_stretch(each) for each in confirmed],
            )
            for name, row, times, is_told, confirmed in saved["told"]
        }
        facts = [(name, tuple(map(read, row)), _read_stretch(times)) for name, row, times in saved["facts"]]
        if self.engine.evolutions is not None:
            load_evolutions(self.engine.evolutions, saved["evolutions"])
        self._restore(read(saved["now"]), read(saved["since"]), facts, told)
        self.chances = dict(map(tuple, saved["chances"]))
        self.hidden, self.shed = saved["counts"]
        self.confidence.learned.load(saved.get("learned", {}), read)

    def _take_over(self, saved: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Takes what was saved by columns, where now something is asked for that they do not give."""
        columns = Supposing(self.subject, Unfolder(self.subject))
        if "bulk" not in saved or columns.bulk is None:
            raise PresageError("it was saved by an engine that tells other answers: restore it as it was made")
        bulk = columns.load(saved, arrays)
        assert bulk is not None
        places = {
            query.atom.predicate: label(place) for place, query in reversed(list(enumerate(self.subject.queries)))
        }
        told: dict[Any, Told] = {}
        for change in bulk.told():
            arguments, at = change.answer
            known = told.setdefault((places[change.query], arguments), Told())
            if change.state.status == "confirmed":
                known.confirmed.append(self.line.point(at))  # type: ignore[arg-type]
            elif change.state.status in ("possible", "unsupported"):
                known.at[at] = Standing(change.state.status)  # type: ignore[index]
                text = show_answer_atom(shown_name(change.query), arguments)  # type: ignore[arg-type]
                self.chances[f"{text}@{at}"] = None
        facts = [(name, row, self.line.point(at)) for name, row, at in bulk.facts()]
        now = 0 if bulk.now is None else bulk.now
        self._restore(bulk.now, now, facts, told)


def _made(answers: list[Answer]) -> Answers:
    return Answers(len(answers), lambda: answers)


def _open_time(taken: Collection[str]) -> str:
    return next(name for number_of in range(len(taken) + 1) if (name := f"T{number_of or ''}") not in taken)


def in_order(answer: Answer) -> tuple[object, ...]:
    time = answer.time if answer.time is not None else answer.start
    return answer.predicate, time is None, time or 0, answer.answer


def _asks(query: Query, other: Query, change: Change, interval: Any) -> bool:
    """Whether an earlier query asks for what was found for another."""
    if query.atom.predicate != other.atom.predicate or not are_asked(query.atom.arguments, change.arguments):
        return False
    if any(
        is_open([each]) and not isinstance(asked, Variable)
        for asked, each in zip(query.atom.arguments, change.arguments, strict=True)
    ):
        return False
    if query.pin is None or query.pin.base is not None:
        return True
    return (
        change.times is not None and interval(change.times).is_point and interval(change.times).low == query.pin.offset
    )


def _saved_stretch(times: Stretch) -> list[Any]:
    return [_saved_cut(times.first), _saved_cut(times.last)]


def _saved_cut(cut: Any) -> list[Any]:
    return [None if cut in (BEGINNING, ENDLESS) else written(cut[0]), cut[1]]


def _read_stretch(saved: list[Any]) -> Stretch:
    (low, after), (high, closed) = saved
    return Stretch(BEGINNING if low is None else (read(low), after), ENDLESS if high is None else (read(high), closed))
