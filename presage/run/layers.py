"""A reasoner whose rules were changed while it ran: what is unchanged goes on where it was, what is new begins.

Each layer is a reasoner of its own, with the queries that are its to tell: the oldest goes on with what it remembers,
and gets only facts of what those queries hang on; the latest has the new queries, and knows nothing from before it
began. So nothing of a changed rule reaches what is unchanged, and nothing is told twice. Layers that have nothing left
to tell go.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from presage.analysis.subject import Subject
from presage.answers import Answer, Answers
from presage.errors import PresageError
from presage.io.facts import Checker, Fact
from presage.io.tables import Columns
from presage.model.printer import show_query
from presage.model.statements import Query
from presage.model.terms import Number, number
from presage.run.hypothetical import asked_by

if TYPE_CHECKING:
    from presage.run.reasoner import Reasoner


@dataclass
class Layer:
    reasoner: Reasoner
    queries: tuple[Query, ...]
    """Those that are its to tell."""
    reads: frozenset[str]
    """The predicates that they hang on."""
    begin: Number | None = None
    """From when on it tells; before that it did not see everything."""

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns]) -> Iterator[Answer]:
        taken = [fact for fact in facts if fact.predicate in self.reads]
        yield from self.told(
            self.reasoner.step(taken, now, [table for table in tables if table.predicate in self.reads])
        )

    def told(self, answers: Sequence[Answer]) -> Iterator[Answer]:
        for answer in answers:
            if self.asks(answer) and (shown := self._since(answer)) is not None:
                yield shown

    def asks(self, answer: Answer) -> bool:
        return any(asked_by(query, answer) for query in self.queries)

    def _since(self, answer: Answer) -> Answer | None:
        """The answer as far as it lies after the beginning."""
        if self.begin is None:
            return answer
        if answer.time is not None:
            return answer if answer.time >= self.begin else None
        if answer.start is None or answer.start >= self.begin:
            return answer
        if answer.end is not None and answer.end < self.begin:
            return None
        return replace(answer, start=self.begin, bounds="[" + (answer.bounds or "[]")[1:])


class Layers:
    """Steps of all layers together. An answer that several could tell is the oldest's."""

    reads_now = False

    def __init__(
        self,
        subject: Subject,
        layers: list[Layer],
        now: Number | None,
        late: list[Fact],
        told_as: str | None,
        restored: Callable[[bytes], Reasoner],
    ) -> None:
        """`restored` makes a reasoner of what one saved."""
        self.subject, self.layers, self.told_as, self._restored = subject, layers, told_as, restored
        self.checker = Checker(subject.program, subject.predicates, subject.discrete)
        self.now, self.late = now, late

    @property
    def may_repeat(self) -> bool:
        return any(layer.reasoner.engine.may_repeat for layer in self.layers)

    @may_repeat.setter
    def may_repeat(self, may: bool) -> None:
        for layer in self.layers:
            layer.reasoner.engine.may_repeat = may

    @property
    def first_decision(self) -> Number | None:
        return None

    @property
    def looks_ahead(self) -> bool:
        return any(each.reasoner.looks_ahead for each in self.layers)

    @property
    def longest_lag(self) -> Number:
        return max((each.reasoner.longest_lag for each in self.layers), default=0)

    def end_after(self, last: Number) -> Number:
        return max((each.reasoner.end_after(last) for each in self.layers), default=last)

    @property
    def remembered(self) -> int:
        return sum(each.reasoner.remembered for each in self.layers)

    def next_decision(self) -> Number | None:
        due = [each.reasoner.next_decision() for each in self.layers if each.reasoner.now is not None]
        return min((each for each in due if each is not None), default=None)

    def lag(self, predicate: str) -> Number:
        return self.longest_lag

    def add_static(self, fact: Fact) -> None:
        raise PresageError("static facts are known before the stream: give them before the first step")

    def holds(self, name: str) -> Any:
        return next(each for each in self.layers if name in each.reads).reasoner.holds(name)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> list[Answer]:
        found = self._told(lambda layer: layer.step(facts, now, tables))
        # A fact that several layers read is late for all of them, since its declaration is the same.
        late = dict.fromkeys(fact for layer in self.layers for fact in layer.reasoner.late)
        self.late.extend(late)
        for layer in self.layers:
            layer.reasoner.late.clear()
        self.now = now
        return found

    def end(self) -> list[Answer]:
        """What goes on, as far as the run went."""
        return self._told(lambda layer: layer.told(layer.reasoner.end()))

    def _told(self, say: Callable[[Layer], Iterator[Answer]]) -> list[Answer]:
        found = [
            answer
            for place, layer in enumerate(self.layers)
            for answer in say(layer)
            if not any(older.asks(answer) for older in self.layers[:place])
        ]
        return sorted(found, key=lambda answer: answer.answer)

    def standing(self, told: Answers) -> Sequence[Answer]:
        return [answer for layer in self.layers for answer in layer.told(layer.reasoner.answers())]

    def confirmed(self, told: Answers) -> Sequence[Answer]:
        """Each layer saves what it confirmed."""
        return ()

    def save(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """All that a step depends on; each layer's memory is sealed in it."""
        layers = [
            {
                "memory": base64.b64encode(each.reasoner.save()).decode(),
                "queries": [show_query(query) for query in each.queries],
                "reads": sorted(each.reads),
                "begin": None if each.begin is None else str(each.begin),
            }
            for each in self.layers
        ]
        return {"layers": layers}, {}

    def load(self, header: dict[str, Any], arrays: object) -> None:
        for each in header["layers"]:
            reasoner = self._restored(base64.b64decode(each["memory"], validate=True))
            queries = tuple(
                query for query in reasoner.findings.watched.queries if show_query(query) in each["queries"]
            )
            begin = None if each["begin"] is None else number(Fraction(each["begin"]))
            self.layers.append(Layer(reasoner, queries, frozenset(map(str, each["reads"])), begin))
        self.now = self.layers[0].reasoner.now if self.layers else None


def closed(layer: Layer, queries: Sequence[Query], now: Number) -> Iterator[Answer]:
    """The last lines of what was open of queries that are gone: nothing speaks for it any more. What goes on has been
    so as far as the run went."""

    def is_gone(answer: Answer) -> bool:
        return any(asked_by(query, answer) for query in queries)

    if (states := layer.reasoner._states) is not None:
        yield from filter(is_gone, layer.told(states.so_far(now)))
    for answer in layer.told(layer.reasoner.answers()):
        if is_gone(answer) and answer.status in ("possible", "unsupported"):
            yield replace(
                answer,
                now=now,
                status="unsupported",
                because=(),
                needs=(),
                unless=(),
                ways=(),
                decided_by=None,
                confidence=None,
            )
