"""Which rules have explanations: those whose literals all speak of one time, the rule's own, moved by constants, and
of windows of time around it."""

from __future__ import annotations

from presage.core.formulas import At, CoreFormula, Every, Lasts, Measured, Only, Rows, Seen, Some, Whole, children, walk
from presage.core.reach import EVERYWHERE
from presage.core.rules import CoreRule
from presage.evidence.solve import NotExplained
from presage.model.formulas import Atom, Comparison
from presage.model.program import Program
from presage.model.terms import Now, Term, Variable, term_variables
from presage.rewrite.lowering import lower
from presage.support import NOT_EXPLAINED


def refuse_unknown(program: Program, predicate: str) -> None:
    """Raises `NotExplained` if a predicate hangs on rules that the prover does not know."""
    if program.reading != "every":
        raise NotExplained(f"{program.source.name}: no explanations yet for `reading {program.reading}`")
    # Whether ends of reaches are open does not matter here.
    core = lower(program, discrete=False)
    todo, seen = [predicate], {predicate}
    while todo:
        name = todo.pop()
        for rule in core.rules:
            if all(head.atom.predicate != name for head in rule.conclusions):
                continue
            reason = _unknown(rule, core.statics)
            if reason:
                where = f"{program.file_of(rule.rule) or program.source.name}:{program.line_of(rule.rule)}"
                raise NotExplained(f"{where}: no explanations yet for {reason}")
            below = rule.below() - seen
            seen |= below
            todo.extend(below)


def _unknown(rule: CoreRule, statics: frozenset[str]) -> str:
    if rule.is_choice:
        return NOT_EXPLAINED["alternatives"]
    if rule.exists:
        return NOT_EXPLAINED["invented"]
    nodes = [node for literal in rule.body for node in walk(literal)]
    for node in nodes:
        match node:
            case Measured():
                return NOT_EXPLAINED["aggregate"]
            case Rows():
                return NOT_EXPLAINED["rows"]
            case Only():
                return NOT_EXPLAINED["filter"]
            case Seen(hop=hop):
                return NOT_EXPLAINED["window over operators" if hop is None else "hop"]
            case Whole():
                return NOT_EXPLAINED["modality"]
            case Some(reach=reach, clip=True) | Every(reach=reach, clip=True) if reach == EVERYWHERE:
                return NOT_EXPLAINED["modality"]
            case Some() | Every() | Lasts() | At():
                if any(isinstance(each, At) for part in children(node) for each in walk(part)):
                    return NOT_EXPLAINED["pin below an operator"]
    bases = {pin.base.name for pin in rule.pins if isinstance(pin.base, Variable)}
    at_now = any(isinstance(pin.base, Now) for pin in rule.pins) or any(_unpinned(each, statics) for each in rule.body)
    at_now = at_now or _has_unpinned_head(rule, statics)
    if len(bases) + at_now > 1:
        return NOT_EXPLAINED["several times"]
    if any(isinstance(term, Now) or any(v.name in bases for v in term_variables(term)) for term in _terms(rule, nodes)):
        return NOT_EXPLAINED["time as a value"]
    return ""


def _has_unpinned_head(rule: CoreRule, statics: frozenset[str]) -> bool:
    return any(isinstance(each.base, Now) and each.atom.predicate not in statics for each in rule.conclusions)


def _unpinned(formula: CoreFormula, statics: frozenset[str]) -> bool:
    """Whether some atom that changes over time has no pin: it is about the time of the look at the rule."""
    if isinstance(formula, Atom):
        return formula.predicate not in statics
    return not isinstance(formula, At) and any(_unpinned(part, statics) for part in children(formula))


def _terms(rule: CoreRule, nodes: list[CoreFormula]) -> list[Term]:
    found: list[Term] = [term for head in rule.conclusions for term in head.atom.arguments]
    for node in nodes:
        if isinstance(node, Atom):
            found += node.arguments
        elif isinstance(node, Comparison):
            found += [node.left, node.right]
    return found
