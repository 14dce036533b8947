"""Which rules have explanations: those whose literals all speak of one time, the rule's own, moved by constants, and
of windows of time around it."""

from __future__ import annotations

from presage.evidence.solve import NotExplained, is_seen_at_one_time
from presage.model.formulas import (
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Metric,
    Modal,
    Pinned,
    Reset,
    Windowed,
    aggregates,
    atoms,
    children,
    walk,
)
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Now, Term, Variable, term_variables
from presage.model.windows import OnlyWindow, RowsWindow, Window


def refuse_unknown(program: Program, predicate: str) -> None:
    """Raises `NotExplained` if a predicate hangs on rules that the prover does not know."""
    if program.reading != "every":
        raise NotExplained(f"{program.source.name}: no explanations yet for `reading {program.reading}`")
    statics = {declared.predicate for declared in program.statics}
    todo, seen = [predicate], {predicate}
    while todo:
        name = todo.pop()
        for rule in program.rules:
            if all(atom.predicate != name for head in rule.head_atoms for atom in atoms(head)):
                continue
            reason = _unknown(rule, statics)
            if reason:
                where = f"{program.file_of(rule) or program.source.name}:{program.line_of(rule)}"
                raise NotExplained(f"{where}: no explanations yet for {reason}")
            below = {atom.predicate for literal in rule.body for atom in atoms(literal)} - seen
            seen |= below
            todo.extend(below)


def _unknown(rule: Rule, statics: set[str]) -> str:
    if rule.head is not None and rule.head.choice:
        return "alternatives in heads"
    if rule.head is not None and rule.head.exists:
        return "`exists`"
    nodes = [node for formula in rule.formulas() for node in walk(formula)]
    if any(isinstance(node, Comparison) and aggregates(node) for node in nodes):
        return "aggregates"
    seen = [node.formula for node in nodes if isinstance(node, Windowed) and is_seen_at_one_time(node)]
    for node in nodes:
        if isinstance(node, Windowed) and node.formula not in seen:
            return _kind(node.window)
        if isinstance(node, Reset) or (isinstance(node, Modal) and node not in seen):
            return "modalities outside of windows, and `reset`"
        if isinstance(node, (Metric, BinaryMetric, Pinned)):
            if any(isinstance(each, Pinned) for part in children(node) for each in walk(part)):
                return "a pin inside an operator"
    pins = [node.pin for node in nodes if isinstance(node, Pinned)]
    bases = {pin.base.name for pin in pins if isinstance(pin.base, Variable)}
    at_now = any(isinstance(pin.base, Now) for pin in pins) or any(_unpinned(each, statics) for each in rule.formulas())
    if len(bases) + at_now > 1:
        return "rules with more than one time variable"
    if any(isinstance(term, Now) or any(v.name in bases for v in term_variables(term)) for term in _terms(nodes)):
        return "times among the values"
    return ""


def _kind(window: Window) -> str:
    if isinstance(window, RowsWindow):
        return "windows of rows"
    if isinstance(window, OnlyWindow):
        return "windows with a filter"
    return "windows that hop" if window.hop is not None else "windows over what looks at several times"


def _unpinned(formula: Formula, statics: set[str]) -> bool:
    """Whether some atom that changes over time has no pin: it is about the time of the look at the rule."""
    if isinstance(formula, Atom):
        return formula.predicate not in statics
    return not isinstance(formula, Pinned) and any(_unpinned(part, statics) for part in children(formula))


def _terms(nodes: list[Formula]) -> list[Term]:
    found: list[Term] = []
    for node in nodes:
        if isinstance(node, Atom):
            found += node.arguments
        elif isinstance(node, Comparison):
            found += [node.left, node.right]
    return found
