"""Heads with `exists`: what the values they invent depend on ([LARS+] Appendix B).

A value belongs to a rule, a variable of `exists`, and the values of the rule's frontier: the variables that the body
shares with the head. A head without a fixed time shows the time at which the rule is looked at, which is then part of
the frontier, unless the values are `lasting`.
"""

from __future__ import annotations

from presage.core.formulas import variables
from presage.core.rules import CoreRule


def frontier(rule: CoreRule) -> tuple[str, ...]:
    """The variables of the data that a head shows."""
    invented = {variable.name for variable in rule.exists}
    shown = {variable.name for each in rule.conclusions for variable in variables(each.atom)}
    return tuple(sorted(shown - invented))


def is_timed(rule: CoreRule) -> bool:
    """Whether the values depend on the time too: the head shows it unless every atom has a fixed time."""
    return not (rule.lasting or all(each.base is None for each in rule.conclusions))


def obstacle(rule: CoreRule, discrete: bool) -> str | None:
    """Why the interval engine cannot invent the values of a head, if it cannot."""
    if is_timed(rule) and not discrete:
        return "`exists` without `lasting` on the dense timeline, where there is no next time point,"
    if any(each.base is None and each.reach.step is None for each in rule.conclusions):
        return "`exists` over an interval"
    return None
