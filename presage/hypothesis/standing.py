"""Where one predicate stands: the records of its patterns, by the answer they lead to.

There is one for each query and one for each predicate that occurs negated below one, down to inputs
([HA] 6.3: auxiliary queries, generated until nothing is new).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from presage.hypothesis.delays import Delays
from presage.hypothesis.pieces import Piece
from presage.hypothesis.records import Matcher, PartialMatch, Statics
from presage.model.terms import Number, Value, Values, number
from presage.patterns.literals import Argument, Open, Someone
from presage.patterns.premises import START, Pattern, fill


class StandingRecords:
    def __init__(self, name: str, patterns: list[Pattern], delays: Delays, statics: Statics, discrete: bool) -> None:
        self.name = name
        self.matchers = [Matcher(pattern, delays, statics, discrete) for pattern in patterns]
        # Records by the time and the arguments of their answer; those with open arguments or time apart.
        self.live: dict[Number, dict[Values, dict[PartialMatch, None]]] = {}
        self.loose: dict[Number | None, dict[PartialMatch, None]] = {}
        self.decided: dict[Number, dict[Values, bool]] = {}
        # Who wants to know when something changes about a time and arguments; under `None`, about any.
        self.watchers: dict[Number, dict[Values | None, dict[Any, None]]] = {}

    def answer(self, record: PartialMatch) -> tuple[tuple[Argument, ...], Number | Open]:
        return Piece(record.matcher, record.slots, record.times, record.met).answer

    def place(self, record: PartialMatch) -> tuple[Number | None, Values | None]:
        """The time and arguments of a record's answer, `None` where they are open."""
        arguments, time = self.answer(record)
        at = None if isinstance(time, Open) else time
        if at is None or any(isinstance(each, Open) for each in arguments):
            return at, None
        return at, arguments  # type: ignore[return-value]

    def put(self, record: PartialMatch) -> None:
        time, arguments = self.place(record)
        if arguments is None or time is None:
            self.loose.setdefault(time, {})[record] = None
        else:
            self.live.setdefault(time, {}).setdefault(arguments, {})[record] = None

    def drop(self, record: PartialMatch) -> None:
        time, arguments = self.place(record)
        if arguments is None or time is None:
            group = self.loose.get(time)
            if group is not None:
                group.pop(record, None)
                if not group:
                    del self.loose[time]
            return
        cells = self.live.get(time)
        if cells is not None and arguments in cells:
            cells[arguments].pop(record, None)
            if not cells[arguments]:
                del cells[arguments]
                if not cells:
                    del self.live[time]

    def records(self, time: Number, arguments: Values) -> Iterator[PartialMatch]:
        """The records that lead to this very answer."""
        yield from self.live.get(time, {}).get(arguments, ())

    def loosely(self, time: Number) -> Iterator[PartialMatch]:
        """The records that lead to answers with open variables at this time, or at an open one."""
        yield from self.loose.get(time, ())
        yield from self.loose.get(None, ())

    def unmet(self, arguments: Values | None, time: Number) -> Iterator[Piece]:
        """Each pattern as far as an answer's time, and its arguments if given, bind it; nothing met."""
        for matcher in self.matchers:
            binding = bind_answer(matcher, arguments, time)
            if binding is not None:
                for slots, times in matcher.completed(*binding):
                    yield Piece(matcher, slots, times, matcher.outside(times))

    def decide(self, time: Number, arguments: Values, true: bool) -> None:
        # What holds of a value nothing is known of does not hold of all.
        if not any(isinstance(each, (Open, Someone)) for each in arguments):
            self.decided.setdefault(time, {})[arguments] = true


def bind_answer(
    matcher: Matcher, arguments: Values | None, time: Number
) -> tuple[list[Value | None], list[Number | None]] | None:
    """The binding that makes a pattern's answer this one, or at least at this time."""
    pattern = matcher.pattern
    slots: list[Value | None] = [None] * len(pattern.names)
    times: list[Number | None] = [None] * len(pattern.time_names)
    if arguments is not None and not fill(slots, pattern.arguments, arguments):
        return None
    at = number(time - pattern.when.offset)
    if pattern.when.base == START:
        return (slots, times) if at == 0 else None
    times[pattern.when.base] = at
    return (slots, times) if pattern.fits(times) else None


def bind_piece(piece: Piece, arguments: Values) -> Piece | None:
    """The part of a piece with open answer arguments that leads to this answer."""
    pattern = piece.matcher.pattern
    slots: list[Value | None] = [None] * len(pattern.names)
    if not fill(slots, pattern.arguments, arguments):
        return None
    return piece.bound({slot: value for slot, value in enumerate(slots) if value is not None})
