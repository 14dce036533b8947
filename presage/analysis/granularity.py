"""Granularity ([MTL] section 6): the length of the shortest interval a program mentions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from presage.analysis.timing import plain
from presage.model.formulas import BinaryMetric, Metric, walk
from presage.model.statements import Rule
from presage.model.terms import Number
from presage.model.time import Interval


def intervals(rules: Iterable[Rule]) -> Iterator[Interval]:
    """The intervals of a program's metric operators."""
    for rule in rules:
        for formula in rule.formulas():
            for node in walk(formula):
                if isinstance(node, (Metric, BinaryMetric)):
                    yield node.interval


def granularity(rules: Iterable[Rule]) -> Number | None:
    """0 if some interval is a single point; `None` stands for ∞, where no interval is bounded."""
    lengths = [plain(each.high) - plain(each.low) for each in intervals(rules) if each.high is not None]
    return min(lengths, default=None)
