"""Rules that change while a reasoner runs: what goes on, what begins, and what is told for the last time.

What became of each query is compared (`changed_queries.py`); what is unchanged goes on in the layer that it is in, and
what is new or changed begins in a layer of its own (`layers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from presage.answers import Answer
from presage.checking import check_program
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.io.tuples import FactTuple
from presage.model.printer import show_query
from presage.model.program import Program
from presage.model.statements import Query
from presage.model.terms import Number
from presage.run.changed_queries import CHANGED, NEW, UNCHANGED, Slices, compared
from presage.run.layers import Layer, Layers, closed

if TYPE_CHECKING:
    from presage.run.reasoner import Reasoner


class ReplacedRules:
    """What becomes of a reasoner that gets other rules."""

    def __init__(
        self,
        reasoner: Reasoner,
        program: Program,
        static: Mapping[str, Any] | None,
        fed: Callable[[Layer, Number | None], Iterable[Answer]],
    ) -> None:
        """`fed` feeds a layer that begins what came before, and gives what it says of that."""
        for each in (reasoner.program, program):
            if each.meaning is not None:
                raise PresageError(
                    f"{each.source.name}: rules can be replaced, and this is {each.meaning.engine}, which has none: "
                    "make a reasoner of the new text"
                )
        self.report = check_program(program, chase_limit=reasoner.chase_limit).or_raise()
        assert self.report.findings is not None
        known = self.report.findings.subject.predicates
        for name in static or ():
            if name not in known or not known[name].is_static:
                raise PresageError(f"{program.source.name}: the program has no static `{name}`")
        before = Slices(check_program(reasoner.program, chase_limit=reasoner.chase_limit))
        after = Slices(self.report)
        self.queries = compared(before, after)
        """What became of each query."""
        self.layers: list[Layer] = []
        self.told: list[Answer] = []
        kind = {change.query: change.kind for change in self.queries}
        now = reasoner.now
        for layer in _layers(reasoner, before):
            stays = tuple(query for query in layer.queries if kind.get(show_query(query)) == UNCHANGED)
            gone = [query for query in layer.queries if query not in stays]
            if now is not None:
                rest = replace(layer, queries=stays)
                self.told += [each for each in closed(layer, gone, now) if not rest.asks(each)]
            if stays:
                self.layers.append(Layer(layer.reasoner, stays, _below(before, stays), layer.begin))
        begins = tuple(query for query in after.queries if kind[show_query(query)] in (NEW, CHANGED))
        if begins:
            new = Layer(reasoner.beginning(after.sliced(begins), static), begins, _below(after, begins), now)
            self.layers.append(new)
            self.told += fed(new, now)


def _layers(reasoner: Reasoner, own: Slices) -> list[Layer]:
    if isinstance(reasoner.engine, Layers):
        return reasoner.engine.layers
    return [Layer(reasoner.beside(), own.queries, _below(own, own.queries))]


def from_history(layer: Layer, history: Iterable[FactTuple], now: Number | None) -> list[Answer]:
    """What a layer says that is fed what came before, in the order of arrival, up to now."""
    given = list(history)
    if not given or now is None:
        return []
    layer.begin = None
    reasoner = layer.reasoner
    facts = reasoner.given.facts([each for each in given if each[0] in layer.reads])
    arriving: dict[Number, list[Fact]] = {}
    for fact in facts:
        arriving.setdefault(min(fact.arrival, now), []).append(fact)
    found: list[Answer] = []
    for time in sorted({*arriving, now}):
        found += layer.told(reasoner.advance(arriving.get(time, []), time))
    return found


def _below(own: Slices, queries: Sequence[Query]) -> frozenset[str]:
    return frozenset().union(*(own.below(query) for query in queries)) if queries else frozenset()
