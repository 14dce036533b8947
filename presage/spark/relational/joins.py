"""A join of a plan as joins of DataFrames.

Every literal becomes a DataFrame of bindings at the rule's own time: a column for each variable, and when. Bindings
that hold at time points are joined by their time too; where stretches of time meet, what they have in common is kept.
What follows is known at the last step of its reasons.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from presage.analysis.differences import INF
from presage.model.terms import Constant, Variable
from presage.plan.before_start import is_predicate
from presage.plan.lags import NEVER, Lags
from presage.plan.nodes import ColumnTerm, Join, Literal, Plan
from presage.spark.relational.frame_relations import ENDLESS, TIMES, SettledRelation, TimeShape, moved, places
from presage.spark.relational.meeting import overlapping, uncovered
from presage.spark.relational.values import Compared, written


@dataclass(frozen=True, slots=True)
class Bindings:
    frame: DataFrame
    variables: frozenset[str]
    shape: TimeShape


class Joins:
    """What joins are worked out with: the plan, when relations are final, and the last step of the run."""

    def __init__(self, plan: Plan, lags: Lags, horizon: int, end: int) -> None:
        self.plan, self.lags, self.horizon, self.end = plan, lags, horizon, end

    def heads(
        self, node: Join, held: dict[str, SettledRelation], new: tuple[int, SettledRelation] | None = None
    ) -> DataFrame:
        """The tuples that a join finds; with `new` the literal of that number is asked of that relation instead."""
        names = {name: f"v{number}" for number, name in enumerate(_variables(node.literals))}
        parts = [
            _seen(new[1] if new is not None and new[0] == number else held[literal.relation], literal, names)
            for number, literal in enumerate(node.literals)
        ]
        body = _joined(parts, names, first=None if new is None else new[0])
        body = self._not_before(body, node)
        compared = Compared(node, {name: names[name] for name in body.variables})
        body = Bindings(compared.apply(body.frame), frozenset(compared.columns), body.shape)
        for literal in node.negated:
            body = _without(body, held[literal.relation], literal, compared.columns)
        frame = body.frame
        for literal in node.negated:
            frame = self._when_final(frame, literal)
        return self._told(frame, node, compared.columns)

    def finished(self, frame: DataFrame, head: str) -> DataFrame:
        """What may be in a relation: nothing of a predicate before time 0, nothing beyond the run's steps and, where a
        relation derives itself ever later, nothing before the step that looks so far ahead."""
        if is_predicate(self.plan, head):
            frame = frame.withColumn("low", F.greatest("low", F.lit(0).cast("bigint")))
        if head in self.lags.clipped:
            frame = self._waiting(frame, -self.horizon, -ENDLESS)
        return frame.where((F.col("low") <= F.col("high")) & (F.col("now") <= F.lit(self.end)))

    def _not_before(self, body: Bindings, node: Join) -> Bindings:
        if node.least is None:
            return body
        least = F.greatest("low", F.lit(int(node.least)).cast("bigint"))
        shape = TimeShape.SPANS if body.shape is TimeShape.ALWAYS else body.shape
        frame = body.frame.withColumn("low", least).where("low <= high")
        return Bindings(frame, body.variables, shape)

    def _when_final(self, frame: DataFrame, literal: Literal) -> DataFrame:
        """What rests on an absence is known when that is final."""
        lag = self.lags.lag[literal.relation]
        if lag == NEVER:
            return frame
        assert lag != INF
        if literal.at is not None:
            known = F.greatest("now", F.lit(int(literal.at + lag)).cast("bigint"))
            return frame.withColumn("now", known).where(F.col("now") <= F.lit(self.end))
        # Predicates are final before time 0.
        least = -int(literal.offset) if is_predicate(self.plan, literal.relation) else -ENDLESS
        return self._waiting(frame, int(lag + literal.offset), least)

    def _waiting(self, frame: DataFrame, wait: int, least: int) -> DataFrame:
        """Of each row the cells from `least` on are known `wait` after their time at the earliest: what is known at
        once stays one piece, each of the others is known at a step of its own."""
        low, high, now = (F.col(name) for name in TIMES)
        at_once = F.greatest(now - F.lit(wait), F.lit(least - 1))
        first, last = F.greatest(low, at_once + 1), F.least(high, F.lit(self.end - wait))
        later = F.when(first <= last, F.sequence(first, last)).otherwise(F.array().cast("array<bigint>"))
        pieces = F.concat(
            F.array(F.struct(low.alias("low"), F.least(high, at_once).alias("high"), now.alias("now"))),
            F.transform(
                later, lambda cell: F.struct(cell.alias("low"), cell.alias("high"), (cell + wait).alias("now"))
            ),
        )
        rest = [name for name in frame.columns if name not in TIMES]
        found = frame.select(*rest, F.explode(pieces).alias("piece"))
        return found.select(*rest, "piece.low", "piece.high", "piece.now").where("low <= high")

    def _told(self, frame: DataFrame, node: Join, columns: dict[str, str]) -> DataFrame:
        low: Column = F.col("low")
        high: Column = F.col("high")
        if node.head_at is not None:
            low = high = F.lit(int(node.head_at)).cast("bigint")
        else:
            low = moved(low, node.head_reach.near, -ENDLESS)
            high = moved(high, node.head_reach.far, ENDLESS)
        arguments = [
            _term(each, columns).alias(name)
            for each, name in zip(node.arguments, places(len(node.arguments)), strict=True)
        ]
        return self.finished(frame.select(*arguments, low.alias("low"), high.alias("high"), "now"), node.head)


def _variables(literals: tuple[Literal, ...]) -> list[str]:
    return list(dict.fromkeys(each.name for one in literals for each in one.arguments if isinstance(each, Variable)))


def _term(term: ColumnTerm, columns: dict[str, str]) -> Column:
    return F.lit(written(term.value)) if isinstance(term, Constant) else F.col(columns[term.name])


def _seen(held: SettledRelation, literal: Literal, names: dict[str, str]) -> Bindings:
    """The bindings of a literal, at the rule's time."""
    frame = held.frame
    given = dict(zip(places(held.arity), literal.arguments, strict=True))
    found: dict[str, str] = {}
    for column, term in given.items():
        if isinstance(term, Constant):
            frame = frame.where(F.col(column) == F.lit(written(term.value)))
        elif term.name in found:
            frame = frame.where(F.col(column) == F.col(found[term.name]))
        else:
            found[term.name] = column
    low, high, shape = F.col("low"), F.col("high"), held.shape
    if literal.at is not None:
        at = F.lit(int(literal.at))
        frame = frame.where((low <= at) & (at <= high))
        low, high, shape = F.lit(-ENDLESS), F.lit(ENDLESS), TimeShape.SPANS
    else:
        low, high = moved(low, -literal.offset, -ENDLESS), moved(high, -literal.offset, ENDLESS)
    columns = [F.col(column).alias(names[name]) for name, column in found.items()]
    return Bindings(frame.select(*columns, low.alias("low"), high.alias("high"), "now"), frozenset(found), shape)


def _joined(parts: list[Bindings], names: dict[str, str], first: int | None) -> Bindings:
    """All of them together: from the one that is new, or else at time points, on to those that share most with it."""
    rest = list(parts)
    chosen = rest[first] if first is not None else min(rest, key=lambda each: each.shape is not TimeShape.POINTS)
    rest = [each for each in rest if each is not chosen]
    while rest:
        bound = chosen.variables
        following = max(rest, key=lambda each: (len(each.variables & bound), each.shape is TimeShape.POINTS))
        rest = [each for each in rest if each is not following]
        chosen = _pair(chosen, following, names)
    return chosen


def _beside(other: Bindings) -> DataFrame:
    """The other side of a join, with names of its own."""
    return other.frame.select(*(F.col(name).alias(f"r_{name}") for name in other.frame.columns))


def _alike(shared: frozenset[str], names: dict[str, str]) -> list[Column]:
    return [F.col(names[name]) == F.col(f"r_{names[name]}") for name in sorted(shared)]


def _all(conditions: list[Column]) -> Column:
    return reduce(Column.__and__, conditions) if conditions else F.lit(True)


def _pair(left: Bindings, right: Bindings, names: dict[str, str]) -> Bindings:
    shared = left.variables & right.variables
    if TimeShape.SPANS in (left.shape, right.shape) and TimeShape.ALWAYS not in (left.shape, right.shape) and shared:
        found = overlapping(left.frame, right.frame, sorted(names[name] for name in shared))
        shape = TimeShape.POINTS if TimeShape.POINTS in (left.shape, right.shape) else TimeShape.SPANS
        return Bindings(found, left.variables | right.variables, shape)
    on = _alike(shared, names) + _meets(left.shape, right.shape)
    joined = left.frame.join(_beside(right), _all(on))
    low, high = F.col("low"), F.col("high")
    other_low, other_high = F.col("r_low"), F.col("r_high")
    shape = left.shape
    if left.shape is TimeShape.ALWAYS or (left.shape is TimeShape.SPANS and right.shape is TimeShape.POINTS):
        low, high, shape = other_low, other_high, right.shape
    elif left.shape is TimeShape.SPANS and right.shape is TimeShape.SPANS:
        low, high = F.greatest(low, other_low), F.least(high, other_high)
    now: Any = F.greatest("now", "r_now")
    own = [F.col(names[name]) for name in sorted(left.variables)]
    more = [F.col(f"r_{names[name]}").alias(names[name]) for name in sorted(right.variables - left.variables)]
    frame = joined.select(*own, *more, low.alias("low"), high.alias("high"), now.alias("now"))
    return Bindings(frame, left.variables | right.variables, shape)


def _meets(left: TimeShape, right: TimeShape) -> list[Column]:
    """When rows of both sides hold at some time together."""
    if TimeShape.ALWAYS in (left, right):
        return []
    if left is right is TimeShape.POINTS:
        return [F.col("low") == F.col("r_low")]
    return [F.col("low") <= F.col("r_high"), F.col("r_low") <= F.col("high")]


def _without(body: Bindings, held: SettledRelation, literal: Literal, names: dict[str, str]) -> Bindings:
    """The parts of bindings in which a literal does not hold."""
    absent = _seen(held, literal, names)
    fixed = absent.shape is TimeShape.ALWAYS or literal.at is not None
    if fixed or (body.shape is TimeShape.POINTS and (absent.shape is TimeShape.POINTS or not absent.variables)):
        on = _all(_alike(absent.variables, names) + _meets(body.shape, absent.shape))
        return Bindings(body.frame.join(_beside(absent), on, "left_anti"), body.variables, body.shape)
    shape = TimeShape.POINTS if body.shape is TimeShape.POINTS else TimeShape.SPANS
    found = uncovered(body.frame, absent.frame, sorted(names[name] for name in absent.variables))
    return Bindings(found, body.variables, shape)
