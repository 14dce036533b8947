"""From rules to a plan: a join for each atom of a head, at the one time the rule is worked out at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from presage.analysis.differences import INF
from presage.analysis.subject import Subject
from presage.core.binding import binds
from presage.core.existential import frontier, is_timed, obstacle
from presage.core.formulas import Any, CoreFormula, Not, conjuncts, names, times_named, variables
from presage.core.reach import HERE
from presage.core.rules import Conclusion, Core, CoreRule
from presage.errors import NOWHERE
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Variable
from presage.plan.aggregates import Lowered, NotLowered, lowered
from presage.plan.body import Body
from presage.plan.formulas import positive
from presage.plan.fusing import fuse
from presage.plan.lags import compute
from presage.plan.nodes import AtLeast, Collect, Hop, Invent, Join, KnownFact, LastRows, Literal, Plan, needed_by
from presage.plan.rigid import hoisted
from presage.plan.subformulas import Unsupported
from presage.plan.time_variables import moments
from presage.plan.times import BodiesInTime
from presage.rewrite import core_of

SEVERAL = "a rule with more than one time variable"


def plan_of(subject: Subject) -> Plan:
    """The plan of a program; raises `Unsupported` for what the engine does not run, unless nobody asks for it: that is
    left out."""
    core = core_of(subject)
    try:
        return _plan(subject, core)
    except Unsupported:
        asked = {id(timing.rule) for timing in subject.relevant_rules()}
        if len(asked) == len(core.rules):
            raise
        return _plan(subject, replace(core, rules=tuple(each for each in core.rules if id(each.rule) in asked)))


def _plan(subject: Subject, core: Core) -> Plan:
    kept = {id(each.rule) for each in core.rules}
    for index in subject.safety.schematic:
        rule = subject.program.rules[index]
        if id(rule) in kept:
            raise Unsupported("a rule whose answers keep a variable open", rule.span, subject.program)
    kinds = {name: (each.arity, each.kind) for name, each in subject.predicates.items()}
    mixed = [name for name, each in subject.predicates.items() if each.is_input and each.kind == "derived"]
    kinds.update({name: (subject.predicates[name].arity, "derived") for name in mixed})
    try:
        found = lowered(core)
    except NotLowered as refused:
        raise Unsupported(refused.what, refused.span, subject.program) from None
    kinds.update({name: (arity, "made") for name, arity in found.arities.items()})
    builder = Builder(found.core, kinds, bool(mixed))
    builder.plan.at_points = frozenset(name for name, each in subject.predicates.items() if each.at_points)
    builder.collect(found)
    plan = builder.build()
    fuse(plan, frozenset(mixed))
    delays = {name: each.delay or 0 for name, each in subject.predicates.items() if each.is_input}
    # A fixed time holds relations up until it is past, not for ever.
    lags = compute(plan, delays, 0).moving
    for node in plan.nodes:
        if isinstance(node, Join) and node.rule is not None:
            if any(lags[each.relation] == INF and each.at is None for each in node.negated):
                raise Unsupported("absence that is never final", node.rule.span, subject.program)
    return plan


class Builder(BodiesInTime):
    def build(self) -> Plan:
        for rule in self.core.rules:
            self.rule = rule
            if rule.is_fact and not rule.exists:
                self._fact(rule)
            else:
                self._rule(rule)
        for node in self.plan.nodes:
            if isinstance(node, (LastRows, Collect)) and any(
                each.head == node.head for each in needed_by(self.plan, node.source)
            ):
                if isinstance(node, Collect):
                    raise self._refuse("an aggregate over what hangs on it", node.rule.span if node.rule else NOWHERE)
                raise self._refuse("a window of rows over what hangs on it", node.window.span)
        return self.plan

    def collect(self, found: Lowered) -> None:
        """What is collected from relations that rules derive."""
        for each in found.collected:
            if each.least is not None:
                self.plan.nodes.append(AtLeast(each.name, each.source, each.groups, each.least, each.rule))
            else:
                self.plan.nodes.append(Collect(each.name, each.source, each.groups, each.functions, each.rule))
        for hopping in found.hopping:
            if not self.plan.discrete:
                raise self._refuse("a hopping window on the dense timeline", hopping.rule.span)
            self.plan.nodes.append(Hop(hopping.name, hopping.source, hopping.period, hopping.rule))

    # Facts of the program.

    def _fact(self, rule: CoreRule) -> None:
        if rule.is_choice:
            raise self._refuse("a head with alternatives", rule.span)
        for conclusion in rule.conclusions:
            self._known(conclusion)

    def _known(self, conclusion: Conclusion) -> None:
        """A fact without a fixed time holds at every time, or as far on as its operators say."""
        atom, reach = conclusion.atom, conclusion.reach
        arguments = tuple(each for each in atom.arguments if isinstance(each, Constant))
        if conclusion.base is None:
            known = KnownFact(atom.predicate, arguments, reach.near, reach.far, not reach.open_near, not reach.open_far)
        elif atom.predicate in self.statics:
            known = KnownFact(atom.predicate, arguments, None, None)
        else:
            first = reach.near if reach.near is not None and reach.near > 0 else 0
            known = KnownFact(atom.predicate, arguments, first, None, not (reach.open_near and first == reach.near))
        self.plan.known.append(known)

    # Rules.

    def _rule(self, rule: CoreRule) -> None:
        if not rule.conclusions:
            raise self._refuse("a constraint", rule.span)
        if rule.is_choice:
            raise self._refuse("a head with alternatives", rule.span)
        base = self._base(rule)
        seen = [part for literal in rule.body for part in hoisted(literal, rule.times)]
        bodies = []
        for parts in self._alternatives(rule, seen):
            self.binders = [part for part in parts if not isinstance(part, (Comparison, Not))]
            body = self._body(rule, base, moments(parts, self._is_timeless))
            if not body.impossible:
                bodies.append(body)
        if bodies and rule.exists:
            bodies = [self._invented(rule, base, bodies)]
        for body in bodies:
            for conclusion in rule.conclusions:
                self._head(rule, conclusion, base, body)

    def _alternatives(
        self, rule: CoreRule, parts: list[CoreFormula], ready: bool = False
    ) -> Iterator[list[CoreFormula]]:
        """The parts of a body, for each choice among alternatives that say nothing of some variable of which the rule
        speaks elsewhere, that speak of times of their own, or of absence."""
        heads = [each.atom for each in rule.conclusions]
        self.uses = Counter(each.name for formula in (*heads, *parts) for each in variables(formula))
        self.uses.update(each.base.name for each in rule.conclusions if isinstance(each.base, Variable))
        for place, part in enumerate(parts):
            if isinstance(part, Any) and self._is_uneven(part):
                for one in part.parts:
                    yield from self._alternatives(rule, [*parts[:place], *conjuncts(one), *parts[place + 1 :]], ready)
                return
        if ready:
            yield parts
        else:
            moved = [part for each in parts for part in conjuncts(positive(each))]
            yield from self._alternatives(rule, moved, ready=True)

    def _is_uneven(self, formula: Any) -> bool:
        if times_named(formula) or any(isinstance(positive(part), Not) for part in formula.parts):
            return True
        bound = [binds(part) for part in formula.parts]
        return any(self._is_outer(name, formula) and not all(name in each for each in bound) for name in names(formula))

    def _base(self, rule: CoreRule) -> str | None:
        """The time variable of the head, or `None` where that is now."""
        bases = {
            each.base.name if isinstance(each.base, Variable) else None
            for each in rule.conclusions
            if each.base is not None
        }
        if not bases:
            # A fixed time: the rule is worked out at the time that its body has.
            return min(set[str]().union(*map(times_named, rule.body)), default=None)
        if len(bases) > 1:
            raise self._refuse(SEVERAL, rule.span)
        return bases.pop()

    def _invented(self, rule: CoreRule, base: str | None, bodies: list[Body]) -> Body:
        """What a rule with `exists` has found, with the values it invents: its atoms are passed on from there."""
        reason = "`chase restricted`" if self.core.program.chase == "restricted" else obstacle(rule, self.plan.discrete)
        if reason is not None:
            raise self._refuse(reason, rule.span)
        columns = tuple(Variable(name) for name in frontier(rule))
        source, made = self._fresh(len(columns)), self._fresh(len(columns) + len(rule.exists), "invented")
        for body in bodies:
            self._complete(body)
            least = body.least if base is not None else max(body.least or 0, 0)
            self.plan.nodes.append(
                Join(source, columns, tuple(body.literals), tuple(body.negated), tuple(body.comparisons), HERE, None,
                     least, rule.rule)
            )  # fmt: skip
        self.plan.nodes.append(Invent(made, source, len(rule.exists), is_timed(rule), rule.rule))
        found = Body()
        found.literals.append(Literal(made, (*columns, *rule.exists)))
        return found

    def _head(self, rule: CoreRule, conclusion: Conclusion, base: str | None, body: Body) -> None:
        reach, at, least = conclusion.reach, None, body.least
        if base is None and not self._looks_before(rule):
            least = max(least or 0, 0)
        if conclusion.base is None:
            reach, at = HERE, reach.step
        self._complete(body)
        arguments = tuple(self._argument(each) for each in conclusion.atom.arguments)
        self.plan.nodes.append(
            Join(
                conclusion.atom.predicate, arguments, tuple(body.literals), tuple(body.negated),
                tuple(body.comparisons), reach, at, least, rule.rule,
            )
        )  # fmt: skip
