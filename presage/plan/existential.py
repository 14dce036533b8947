"""Heads with `exists`: what the values they invent depend on ([LARS+] Appendix B).

A value belongs to a rule, a variable of `exists`, and the values of the rule's frontier: the variables that the body
shares with the head. A head without a fixed time shows the time at which the rule is looked at, which is then part of
the frontier, unless the values are `lasting`.
"""

from __future__ import annotations

from presage.model.formulas import Atom, Metric, Pinned, atoms, variables
from presage.model.statements import Head
from presage.model.terms import Number
from presage.plan.formulas import time


def frontier(head: Head) -> tuple[str, ...]:
    """The variables of the data that a head shows."""
    invented = {variable.name for variable in head.exists}
    shown = {variable.name for each in head.atoms for atom in atoms(each) for variable in variables(atom)}
    return tuple(sorted(shown - invented))


def is_timed(head: Head) -> bool:
    """Whether the values depend on the time too: the head shows it unless every atom has a fixed time."""
    fixed = all(isinstance(each, Pinned) and each.pin.base is None for each in head.atoms)
    return not (head.lasting or fixed)


def obstacle(head: Head, discrete: bool) -> str | None:
    """Why the interval engine cannot invent the values of a head, if it cannot."""
    if is_timed(head) and not discrete:
        return "`exists` without `lasting` on the dense timeline, where there is no next time point,"
    if not all(isinstance(each, (Atom, Pinned, Metric)) for each in head.atoms):
        return "`exists` over an interval"
    return None


def earliest(head: Head, least: Number | None) -> Number | None:
    """From which time of the rule on all that the head pins is on the timeline; `least` is what the body says."""
    for each in head.atoms:
        if isinstance(each, Pinned) and each.pin.base is not None:
            offset = time(each.pin.offset)
            least = -offset if least is None else max(least, -offset)
    return least
