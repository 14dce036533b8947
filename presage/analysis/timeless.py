"""Which formulas and rules say the same whenever they are looked at, and which speak of that very time."""

from __future__ import annotations

from presage.model.formulas import And, Comparison, Formula, Implies, Modal, Not, Or, Over, Pinned, Top, children, walk
from presage.model.statements import Rule
from presage.model.terms import Now, subterms


def uses_now(formula: Formula) -> bool:
    """Whether a formula speaks of the time at which its rule is looked at."""
    for node in walk(formula):
        if isinstance(node, Pinned) and isinstance(node.pin.base, Now):
            return True
        if isinstance(node, Comparison):
            if any(isinstance(part, Now) for side in (node.left, node.right) for part in subterms(side)):
                return True
    return False


def is_timeless(rule: Rule) -> bool:
    """Whether the instances of a rule say the same whenever they are looked at."""
    pinned = all(
        isinstance(head, Over) or (isinstance(head, Pinned) and not isinstance(head.pin.base, Now))
        for head in rule.head_atoms
    )
    return pinned and not any(uses_now(literal) for literal in rule.body) and all(map(_is_fixed, rule.body))


def _is_fixed(formula: Formula) -> bool:
    match formula:
        case Comparison():
            return all(map(_is_fixed, children(formula)))
        case Pinned() | Modal() | Top():
            return True
        case And(parts=parts) | Or(parts=parts):
            return all(_is_fixed(part) for part in parts)
        case Not(formula=inner):
            return _is_fixed(inner)
        case Implies(left=left, right=right):
            return _is_fixed(left) and _is_fixed(right)
        case _:
            return False
