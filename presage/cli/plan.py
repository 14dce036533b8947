"""`presage plan`: what must arrive for each query, and how the program is evaluated."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from presage.cli import FINE
from presage.cli.options import checked_program, positive_count, program_argument

if TYPE_CHECKING:
    from presage.checking import Findings, Report
    from presage.model.statements import Rule
    from presage.patterns.listing import AskedQuery, ListedPattern
    from presage.plan.nodes import Plan, PlanNode

SUMMARY = "show what must arrive for each query, and how the program is evaluated"
DESCRIPTION = """\
Prints the premise patterns of each query: the sets of input facts, and of atoms that must stay false, from which an
answer follows. Atoms that occur negated have patterns of their own, listed as auxiliary queries. Then the
evaluation plan: the joins and interval operators that derive the query, and how Spark works it off.

With --core it prints the rules as all that runs reads them: in core, a language of a dozen nodes in which past and
future are distances with a sign.

With --rewriting or --grounding it prints the program as existential rules without time instead, which the rule engine
Nemo reads: facts of the stream are added as all_p(arguments, 0, time), static ones as they are."""
EXAMPLE = """\
example:
  presage plan turbines/turbines.psg
  presage plan --json turbines/turbines.psg | jq .patterns"""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What is said about one query."""

    asked: AskedQuery
    patterns: list[ListedPattern] | None
    why: str
    """Why there are no patterns."""
    cycle: tuple[Rule, ...]
    nodes: list[PlanNode] | None
    no_plan: str


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="a JSON line per query (the default when piped)")
    output.add_argument("--text", action="store_true", help="text for people (the default on a terminal)")
    output.add_argument("--core", action="store_true", help="the rules in core, which engines and proofs read")
    output.add_argument("--rewriting", action="store_true", help="the rewriting rew(P) of [LARS+], over [0, N]")
    output.add_argument(
        "--grounding", action="store_true", help="the temporal grounding tfgrnd(P) of [LARS+], over [0, N]"
    )
    command.add_argument(
        "--timeline", type=positive_count, default=16, metavar="N", help="the last time point of the two (default: 16)"
    )


def run(options: argparse.Namespace) -> int:
    from presage.cli.finite_streams import refuse_own_meaning

    report = checked_program(options)
    report.or_raise()
    refuse_own_meaning(report, "plan")
    if options.rewriting or options.grounding:
        # Also where inventing values may not end: whoever runs it sees.
        print("\n".join(clauses(report, options.timeline, options.grounding)))
        return FINE
    report.or_raise()
    assert report.findings is not None
    if options.core:
        print("\n".join(rules_in_core(report.findings)))
        return FINE
    as_json = options.json or not (options.text or sys.stdout.isatty())
    for number, line in enumerate(lines(report.findings)):
        if as_json:
            print(json.dumps(to_json(report.findings, line), ensure_ascii=False))
        else:
            print("\n" * bool(number) + "\n".join(to_text(report.findings, line)))
    return FINE


def rules_in_core(found: Findings) -> Iterator[str]:
    """The rules in core, each with the line it comes from."""
    from presage.core.printer import show_core_rule
    from presage.rewrite import core_of

    for rule in core_of(found.subject).rules:
        yield f"{found.subject.place(rule.rule)}: {show_core_rule(rule)}"


def clauses(report: Report, end: int, ground: bool) -> Iterator[str]:
    """The program as existential rules, each below the line it comes from."""
    from presage.rewrite.existential import grounding, rewriting, time_points

    if report.findings is None:
        report.or_raise()
    assert report.findings is not None
    subject = report.findings.subject
    found = (
        grounding(subject.program, end, subject.discrete) if ground else rewriting(subject.program, subject.discrete)
    )
    before = ""
    for clause in found if ground else [*found, *time_points(end)]:
        title = f"% {clause.note}" if clause.rule is None else f"% {subject.place(clause.rule)}"
        if title != before:
            yield title
        before = title
        yield str(clause)
    for name in () if ground else dict.fromkeys(query.atom.predicate for query in subject.queries):
        yield f"@export all_{name} :- csv {{}} ."


def lines(found: Findings) -> Iterator[QueryPlan]:
    """A line for each query, then for the auxiliary ones until nothing is new ([HA] 6.3)."""
    from presage.patterns.finish import NoPatterns
    from presage.patterns.listing import asked_by, below, listed, patterns_of
    from presage.patterns.unfold import Unfolded

    subject = found.subject
    unfolded = Unfolded(subject)
    plan, no_plan = _plan(found)
    refused = {each.query: each.hypothetical for each in found.queries if not each.hypothetical.possible}
    todo = [asked_by(query) for query in subject.queries]
    reasons = {asked_by(query): finding for query, finding in refused.items()}
    seen: set[object] = set()
    while todo:
        asked = todo.pop(0)
        if (key := _up_to_names(asked)) in seen:
            continue
        seen.add(key)
        nodes = None if plan is None else _nodes(plan, asked.atom.predicate)
        if asked in reasons and reasons[asked].reason:
            finding = reasons[asked]
            yield QueryPlan(asked, None, finding.reason, finding.rules, nodes, no_plan)
            continue
        try:
            patterns = patterns_of(asked, unfolded)
        except NoPatterns as problem:
            yield QueryPlan(asked, None, problem.reason, problem.rules, nodes, no_plan)
            continue
        yield QueryPlan(asked, [listed(asked, each) for each in patterns], "", (), nodes, no_plan)
        todo.extend(below(patterns))


def _up_to_names(asked: AskedQuery) -> object:
    from presage.model.terms import Variable

    names: dict[str, int] = {}
    terms = tuple(
        names.setdefault(each.name, len(names)) if isinstance(each, Variable) else each for each in asked.atom.arguments
    )
    fixed = asked.when.offset if asked.when.base is None else None
    return asked.atom.predicate, terms, fixed


def _plan(found: Findings) -> tuple[Plan | None, str]:
    from presage.checking.verdicts import reasons
    from presage.plan.builder import plan_of
    from presage.plan.subformulas import Unsupported

    if found.route.engine != "interval" or found.subject.reading == "now":
        return None, "; ".join(reasons(found)["engine"])
    try:
        return plan_of(found.subject), ""
    except Unsupported as reason:
        return None, str(reason)


def _nodes(plan: Plan, name: str) -> list[PlanNode]:
    from presage.plan.nodes import needed_by

    return needed_by(plan, name)


def to_json(found: Findings, line: QueryPlan) -> dict[str, Any]:
    from presage.answers import json_value
    from presage.explanations.words import written

    subject = found.subject
    shown: dict[str, Any] = {"query": str(line.asked)}
    if line.asked.auxiliary:
        shown["auxiliary"] = True
    shown["patterns"] = None
    if line.patterns is not None:
        shown["patterns"] = [
            {
                "premises": list(each.premises),
                "bindings": {name: json_value(value) for name, value in each.bindings.items()},
                "where": list(each.where),
                "lines": subject.program.lines_of(each.rules),
            }
            for each in line.patterns
        ]
    else:
        shown["why"] = line.why
        shown["rules"] = [
            {**subject.program.place_json(rule), "rule": written(rule, subject.program.source)} for rule in line.cycle
        ]
    shown["plan"] = None
    if line.nodes is not None:
        shown["plan"] = [_node(found, node) for node in line.nodes]
        shown["on_spark"] = on_spark(found)
    else:
        shown["no_plan"] = line.no_plan
    return shown


def on_spark(found: Findings) -> str:
    """Which way a batch run of what is entailed takes on Spark."""
    from presage.plan.relational import obstacles

    columns = found.partition.columns
    if columns is not None:
        keys = (f"{name}({', '.join(names)})" for name, names in sorted(columns.items()))
        return f"shards, by {', '.join(keys)}"
    others = obstacles(found.watched)
    return f"one shard: {'; '.join(others)}" if others else "DataFrames"


def to_text(found: Findings, line: QueryPlan) -> Iterator[str]:
    from presage.explanations.words import written
    from presage.model.printer import show_term
    from presage.model.terms import Constant

    subject = found.subject
    yield f"{'auxiliary query' if line.asked.auxiliary else 'query'} {line.asked}"
    if line.patterns is None:
        yield f"  no finite set of premise patterns: {line.why}"
        for rule in line.cycle:
            yield f"    {subject.place(rule)}: {written(rule, subject.program.source)}"
    elif not line.patterns:
        yield "  no premise pattern: no rule gives an answer"
    for number, each in enumerate(line.patterns or (), 1):
        places = subject.program.places_of(each.rules)
        through = f" ({places})" if places else ""
        yield f"  pattern {number}{through}: {', '.join(each.premises) or 'nothing has to arrive'}"
        if each.bindings:
            values = (f"{name} = {show_term(Constant(value))}" for name, value in each.bindings.items())
            yield f"    with {', '.join(values)}"
        if each.where:
            yield f"    where {', '.join(each.where)}"
    if line.nodes is None:
        yield f"  no plan: {line.no_plan}"
    elif line.nodes:
        yield "  plan"
        for node in line.nodes:
            yield f"    {_node(found, node)}"
        yield f"  on Spark: {on_spark(found)}"


def _node(found: Findings, node: PlanNode) -> str:
    from presage.plan.show import show_node

    return show_node(node) if node.rule is None else f"{found.subject.place(node.rule)}: {show_node(node)}"
