"""What a rule with `exists` invents, by the definition: one value for each variable and choice of the frontier."""

from __future__ import annotations

from presage.model import Now, Pinned, Rule
from presage.model.formulas import atoms, variables

from .looks import Binding, Look


class ChaseLimit(Exception):
    """More values were invented than allowed."""


def invent(look: Look, number: int, rule: Rule, binding: Binding, cell: int) -> Binding:
    """Values for the variables of `exists`: one for each rule, variable and values of the frontier."""
    head = rule.head
    if head is None or not head.exists:
        return {}
    as_argument = {each.name for formula in head.atoms for atom in atoms(formula) for each in variables(atom)}
    in_head = as_argument if head.lasting else {each.name for formula in head.atoms for each in variables(formula)}
    names = sorted(name for name in in_head if name in binding)
    frontier = tuple(look.told_value(name, binding) for name in names)
    pinned = all(isinstance(each, Pinned) and not isinstance(each.pin.base, Now) for each in head.atoms)
    if not pinned and not head.lasting:
        frontier += (look.point(cell),)
    values: Binding = {each.name: ("null", number, each.name, frontier) for each in head.exists}
    look.world.invented |= set(values.values())
    if len(look.world.invented) > look.world.chase_limit:
        raise ChaseLimit(f"more than {look.world.chase_limit} values were invented")
    return values
