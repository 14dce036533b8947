"""What the analyses answered, and why, with the lines of the rules; cycles edge by edge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from presage.analysis.acyclic import Acyclicity
from presage.analysis.lookback import how_it_steps
from presage.analysis.route import CLINGO
from presage.analysis.subject import Dependency, Subject
from presage.model.printer import show_query
from presage.model.statements import Rule

if TYPE_CHECKING:
    from presage.checking import Findings


def describe_cycle(subject: Subject, cycle: Iterable[Dependency]) -> list[str]:
    return [
        f"{subject.place(edge.rule)}: {edge.head} depends on {'not ' if edge.negative else ''}{edge.body}"
        for edge in cycle
    ]


def describe_values(subject: Subject, verdict: Acyclicity) -> list[str]:
    return [
        f"{subject.place(edge.rule)}: a value in {edge.start} "
        + (f"makes the rule invent one in {edge.end}" if edge.special else f"moves to {edge.end}")
        for edge in verdict.cycle
    ]


def reasons(found: Findings) -> dict[str, list[str]]:
    """For each answer that needs one, a reason in words, with the lines of the rules."""
    subject = found.subject

    def at(rule: Rule, text: str) -> str:
        return f"{subject.place(rule)}: {text}"

    why: dict[str, list[str]] = {"engine": [found.route.reason]}
    if subject.discrete and (found.route.engine == CLINGO or subject.reading == "now"):
        why["engine"].append(how_it_steps(subject))
    if found.recursion:
        why["recursive"] = describe_cycle(subject, found.recursion)
    if found.disconnected:
        text = "more than one time variable, or one the head does not have"
        why["connected"] = list(dict.fromkeys(at(rule, text) for rule in found.disconnected))
    if found.obstacles:
        texts = (at(each.rule, each.reason) for each in found.obstacles)
        why["forward_propagating"] = list(dict.fromkeys(texts))
    if not found.strata.stratified:
        why["t_stratified"] = describe_cycle(subject, found.strata.cycle)
    if found.window_cycle:
        why["stream_stratified"] = describe_cycle(subject, found.window_cycle)
    for name, verdict in (
        ("weakly_acyclic", found.weakly_acyclic),
        ("temporally_weakly_acyclic", found.temporally_weakly_acyclic),
    ):
        if not verdict.acyclic:
            why[name] = describe_values(subject, verdict)
    if not found.model_faithful_acyclic.acyclic and found.model_faithful_acyclic.rule is not None:
        why["model_faithful_acyclic"] = [
            at(found.model_faithful_acyclic.rule, "its values lead to another value of the same kind")
        ]
    if found.partition.columns is None and found.partition.blockers:
        texts = (at(each.rule, each.reason) for each in found.partition.blockers)
        why["partition_key"] = list(dict.fromkeys(texts))
    impossible = [each for each in found.queries if not each.hypothetical.possible]
    if impossible:
        why["hypothetical"] = [
            f"{show_query(each.query)}: {each.hypothetical.reason}"
            + "".join(f" ({subject.place(rule)})" for rule in each.hypothetical.rules)
            for each in impossible
        ]
    return why
