"""A plan worked off as DataFrames, component by component, each to its fixpoint.

A component that does not depend on itself is one expression, left to Spark as a whole. One that does goes in rounds:
what a round has found that was not known before is joined with everything, until a round finds nothing. Each round is
cut off from what made it, so that plans do not grow; the driver only learns whether there was anything.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from presage.plan.lags import Lags
from presage.plan.nodes import Dilate, Erode, Hop, Join, KnownFact, Literal, Plan, PlanNode, SinceNode, reads
from presage.spark.relational.frame_relations import (
    ENDLESS,
    TIMES,
    SettledRelation,
    TimeShape,
    absorbed,
    eroded,
    moved,
    places,
    schema_of,
    settled,
)
from presage.spark.relational.joins import Joins
from presage.spark.relational.meeting import lasted
from presage.spark.relational.values import written


class Rounds:
    def __init__(
        self, spark: Any, plan: Plan, nodes: list[PlanNode], lags: Lags, joins: Joins,
        given: dict[str, list[DataFrame]], spanning: set[str], first: int,
    ) -> None:  # fmt: skip
        """`given` has the facts of inputs and of static tables, `spanning` the inputs with facts over intervals; what
        the program itself knows is known from the `first` step on."""
        self.spark, self.plan, self.nodes, self.lags, self.joins = spark, plan, nodes, lags, joins
        self.given, self.first = given, first
        self.held: dict[str, SettledRelation] = {}
        self.shapes = _shapes(plan, nodes, spanning)

    def run(self, wanted: set[str]) -> dict[str, SettledRelation]:
        """The relations that are wanted, settled."""
        used = wanted | {name for node in self.nodes for name, _ in reads(node)}
        parts: dict[int, list[str]] = {}
        for name in sorted(used | {node.head for node in self.nodes}):
            parts.setdefault(self.lags.component[name], []).append(name)
        for number in sorted(parts):
            names = parts[number]
            own = [node for node in self.nodes if node.head in names]
            if any(source in names for node in own for source, _ in reads(node)):
                self._to_fixpoint(names, own)
            else:
                for name in names:
                    self._once(name, own)
        return {name: self.held[name] for name in wanted}

    def _once(self, name: str, nodes: list[PlanNode]) -> None:
        frame = self._found(name, [node for node in nodes if node.head == name])
        readers = sum(source == name for node in self.nodes for source, _ in reads(node))
        if readers > 1 and self.shapes[name] is not TimeShape.ALWAYS:
            frame = _cut_off(frame)
        self._hold(name, frame)

    def _hold(self, name: str, frame: DataFrame) -> None:
        self.held[name] = SettledRelation(frame, self.plan.sources[name].arity, self.shapes[name])

    def _found(self, name: str, nodes: list[PlanNode]) -> DataFrame:
        """What is given of a relation, and what nodes find of it."""
        arity, shape = self.plan.sources[name].arity, self.shapes[name]
        parts = [*self.given.get(name, []), *self._known(name), *(self._of(node) for node in nodes)]
        found = reduce(DataFrame.unionByName, parts) if parts else self.spark.createDataFrame([], schema_of(arity))
        if shape is TimeShape.ALWAYS:
            return found.dropDuplicates(places(arity))
        return settled(found, arity, shape)

    def _known(self, name: str) -> list[DataFrame]:
        """The program's own facts."""
        facts = [fact for fact in self.plan.known if fact.relation == name]
        if not facts:
            return []
        rows = [(*(written(each.value) for each in fact.arguments), *_cells(fact), self.first) for fact in facts]
        frame = self.spark.createDataFrame(rows, schema_of(self.plan.sources[name].arity))
        return [self.joins.finished(frame, name)]

    def _of(self, node: PlanNode, new: tuple[int, SettledRelation] | None = None) -> DataFrame:
        """What a node finds; with `new` only what the literal of that number gives that is new."""
        if isinstance(node, Join):
            return self.joins.heads(node, self.held, new)
        if isinstance(node, SinceNode):
            return self.joins.finished(self._lasted(node), node.head)
        assert isinstance(node, (Dilate, Erode, Hop))
        source = self.held[node.source]
        if isinstance(node, Erode):
            found = eroded(source.frame, source.arity, node.reach.near, node.reach.far, node.clipped)
            return self.joins.finished(found, node.head)
        frame = source.frame if new is None else new[1].frame
        if isinstance(node, Dilate):
            low, high = moved(F.col("low"), node.reach.near, -ENDLESS), moved(F.col("high"), node.reach.far, ENDLESS)
        else:
            low, high = _hopping(node.period)
        return self.joins.finished(
            frame.select(*places(source.arity), low.alias("low"), high.alias("high"), "now"), node.head
        )

    def _lasted(self, node: SinceNode) -> DataFrame:
        left, right = self.held[node.left], self.held[node.right]
        shared = [f"a{place}" for place in node.columns]
        renamed = zip(places(left.arity), shared, strict=True)
        columns = [F.col(name).alias(other) for name, other in renamed]
        found = lasted(left.frame.select(*columns, *TIMES), right.frame, shared, node.reach, node.ahead)
        return found.select(*places(right.arity), *TIMES)

    def _to_fixpoint(self, names: list[str], nodes: list[PlanNode]) -> None:
        inner = {id(node): [at for at, (source, _) in enumerate(reads(node)) if source in names] for node in nodes}
        news: dict[str, DataFrame] = {}
        for name in names:
            start = [node for node in nodes if node.head == name and not inner[id(node)]]
            self._hold(name, _cut_off(self._found(name, start)))
            news[name] = self.held[name].frame
        recursive = [node for node in nodes if inner[id(node)]]
        while news:
            found: dict[str, list[DataFrame]] = {}
            for node in recursive:
                for at in inner[id(node)]:
                    source = reads(node)[at][0]
                    if source in news:
                        new = at, SettledRelation(news[source], self.held[source].arity, self.held[source].shape)
                        found.setdefault(node.head, []).append(self._of(node, new))
            news = {}
            after: dict[str, DataFrame] = {}
            for name, parts in found.items():
                before = self.held[name]
                merged = absorbed(before.frame, reduce(DataFrame.unionByName, parts), before.arity, before.shape)
                after[name] = _cut_off(merged)
            for name, merged in after.items():
                self._hold(name, merged.drop("news"))
                if not (new_rows := merged.where("news").drop("news")).isEmpty():
                    news[name] = new_rows


def _cut_off(frame: DataFrame) -> DataFrame:
    """A DataFrame that has been worked out: in the checkpoint folder of the session if it has one, else kept by the
    executors."""
    context = getattr(frame.sparkSession, "sparkContext", None)
    if context is not None and context.getCheckpointDir() is not None:
        return frame.checkpoint()
    return frame.localCheckpoint()


def _hopping(period: int) -> tuple[Column, Column]:
    """From the first multiple of a period in a stretch of time up to the one after the last."""
    low, high = F.col("low"), F.col("high")
    first, last = low + F.pmod(-low, F.lit(period)), high - F.pmod(high, F.lit(period))
    return (
        F.when(low <= -ENDLESS, low).otherwise(first),
        F.when(high >= ENDLESS, high).when(first <= last, last + F.lit(period - 1)).otherwise(last),
    )


def _cells(fact: KnownFact) -> tuple[int, int]:
    low = -ENDLESS if fact.low is None else int(fact.low) + (0 if fact.closed_low else 1)
    return low, ENDLESS if fact.high is None else int(fact.high) - (0 if fact.closed_high else 1)


def _shapes(plan: Plan, nodes: list[PlanNode], spanning: set[str]) -> dict[str, TimeShape]:
    """Which relations hold at single time points only, whatever arrives."""
    spans = set(spanning)
    spans |= {fact.relation for fact in plan.known if _cells(fact)[0] != _cells(fact)[1]}
    while True:
        more = {node.head for node in nodes if not _gives_points(node, plan, spans)} - spans
        if not more:
            break
        spans |= more
    return {
        name: TimeShape.ALWAYS if source.kind == "static" else TimeShape.SPANS if name in spans else TimeShape.POINTS
        for name, source in plan.sources.items()
    }


def _gives_points(node: PlanNode, plan: Plan, spans: set[str]) -> bool:
    def at_points(literal: Literal) -> bool:
        return literal.at is None and literal.relation not in spans and plan.sources[literal.relation].kind != "static"

    match node:
        case Join(literals=literals, head_reach=reach, head_at=at):
            return at is not None or (reach.near == reach.far and any(at_points(each) for each in literals))
        case Dilate(source=source, reach=reach):
            return source not in spans and reach.near == reach.far and reach.near is not None
        case _:
            return False
