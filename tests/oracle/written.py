"""What a program's text says, as far as the oracle must know it before it evaluates: its timeline,
its numbers, how far its operators reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from presage.model import (
    Arithmetic,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Metric,
    Modal,
    Negative,
    Now,
    Number,
    Over,
    Pinned,
    Program,
    Reset,
    Term,
    TimeWindow,
    Variable,
    Windowed,
)
from presage.model.formulas import walk


def subterms(term: Term) -> Iterator[Term]:
    yield term
    if isinstance(term, Negative):
        yield from subterms(term.term)
    elif isinstance(term, Arithmetic):
        yield from subterms(term.left)
        yield from subterms(term.right)


def terms(node: Formula) -> Iterator[Term]:
    """All terms that stand in a formula itself, not in its subformulas."""
    if isinstance(node, Atom):
        yield from node.arguments
    elif isinstance(node, Comparison):
        yield from subterms(node.left)
        yield from subterms(node.right)


def time_variables(formulas: Iterable[Formula]) -> set[str]:
    """The variables that some pin uses."""
    nodes = [node for formula in formulas for node in walk(formula)]
    pins = [node.pin for node in nodes if isinstance(node, Pinned)]
    return {pin.base.name for pin in pins if isinstance(pin.base, Variable)}


def uses_times_as_values(formulas: Iterable[Formula]) -> bool:
    """Whether times are compared, or stand among the arguments of atoms."""
    formulas = list(formulas)
    names = time_variables(formulas)
    found = [term for formula in formulas for node in walk(formula) for term in terms(node)]
    return any(isinstance(term, Now) or (isinstance(term, Variable) and term.name in names) for term in found)


def is_dense(program: Program, asked: Iterable[Formula], timeline: str | None) -> bool:
    """Declared; or dense for metric operators alone, discrete without them; a mix must say."""
    timeline = timeline or program.declared_timeline
    if timeline:
        return timeline == "dense"
    groups = [list(rule.formulas()) for rule in program.rules] + [[formula] for formula in asked]
    nodes = [node for group in groups for formula in group for node in walk(formula)]
    metric = any(isinstance(node, (Metric, BinaryMetric)) for node in nodes)
    windows = any(isinstance(node, (Windowed, Modal, Reset)) for node in nodes)
    several = any(len(time_variables(group)) > 1 for group in groups)
    if metric and (windows or several):
        raise ValueError("a program with both kinds of operators must say its timeline")
    return metric


def times_in(node: Formula) -> Iterator[Number]:
    """The numbers in a formula, subformulas aside, that can be or shift the end of an interval."""
    if isinstance(node, (Metric, BinaryMetric, Over)):
        yield node.interval.low
        if node.interval.high is not None:
            yield node.interval.high
    elif isinstance(node, Pinned):
        yield node.pin.offset


def reach_of(formula: Formula) -> Fraction:
    """Farther than this from the stream, the formula changes its truth value no more."""
    total = Fraction(0)
    for node in walk(formula):
        if isinstance(node, (Metric, BinaryMetric)):
            total += max(times_in(node))
        elif isinstance(node, Windowed) and isinstance(node.window, TimeWindow):
            total += sum(Fraction(part) for part in (node.window.back, node.window.ahead, node.window.hop) if part)
    return total
