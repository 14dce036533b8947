"""From rules to a plan: a join for each atom of a head, at the one time the rule is worked out at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from presage.analysis.differences import INF
from presage.analysis.safety import bound_by
from presage.analysis.subject import Subject
from presage.analysis.timeline import pin_variables
from presage.errors import NOWHERE
from presage.model.formulas import (
    Atom,
    Comparison,
    Formula,
    Metric,
    Not,
    Or,
    Over,
    Pinned,
    variables,
    walk,
)
from presage.model.program import Program
from presage.model.statements import Head, Rule
from presage.model.terms import Constant, Now, Variable
from presage.plan.aggregates import Lowered, NotLowered, lowered
from presage.plan.body import Body
from presage.plan.existential import earliest, frontier, is_timed, obstacle
from presage.plan.formulas import mirrored, names, positive, reach_of, time
from presage.plan.fusing import fuse
from presage.plan.lags import compute
from presage.plan.moments import conjuncts, moments
from presage.plan.nodes import (
    HERE,
    AtLeast,
    Collect,
    Hop,
    Invent,
    Join,
    Known,
    LastRows,
    Literal,
    Plan,
    Reach,
    needed_by,
)
from presage.plan.parts import Unsupported
from presage.plan.rigid import hoisted
from presage.plan.times import BodiesInTime
from presage.plan.windows import without_filters

SEVERAL = "a rule with more than one time variable"


def plan_of(subject: Subject) -> Plan:
    """The plan of a program; raises `Unsupported` for what the engine does not run, unless nobody asks for it: that is
    left out."""
    try:
        return _plan(subject, subject.program)
    except Unsupported:
        asked = {id(timing.rule) for timing in subject.relevant_rules()}
        if len(asked) == len(subject.program.rules):
            raise
        kept = tuple(each for each in subject.program.statements if not isinstance(each, Rule) or id(each) in asked)
        return _plan(subject, replace(subject.program, statements=kept))


def _plan(subject: Subject, program: Program) -> Plan:
    for index in subject.safety.schematic:
        rule = subject.program.rules[index]
        if rule in program.rules:
            raise Unsupported("a rule whose answers keep a variable open", rule.span, subject.program)
    kinds = {name: (each.arity, each.kind) for name, each in subject.predicates.items()}
    mixed = [name for name, each in subject.predicates.items() if each.is_input and each.kind == "derived"]
    kinds.update({name: (subject.predicates[name].arity, "derived") for name in mixed})
    try:
        found = lowered(program)
    except NotLowered as refused:
        raise Unsupported(refused.what, refused.span, subject.program) from None
    kinds.update({name: (arity, "derived") for name, arity in found.arities.items()})
    builder = Builder(found.program, subject.discrete, kinds, bool(mixed))
    builder.collect(found)
    plan = builder.build()
    fuse(plan)
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
        for rule in self.program.rules:
            self.rule = rule
            if rule.is_fact and not (rule.head is not None and rule.head.exists):
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
                self.plan.nodes.append(Collect(each.name, each.source, each.groups, each.function, each.rule))
        for hopping in found.hopping:
            if not self.plan.discrete:
                raise self._refuse("a hopping window on the dense timeline", hopping.rule.span)
            self.plan.nodes.append(Hop(hopping.name, hopping.source, hopping.period, hopping.rule))

    # Facts of the program.

    def _fact(self, rule: Rule) -> None:
        assert rule.head is not None
        if rule.head.choice:
            raise self._refuse("a head with alternatives", rule.span)
        for head in rule.head.atoms:
            self._known(head)

    def _known(self, head: Formula, reach: Reach = HERE) -> None:
        """A fact without a fixed time holds at every time, or as far on as its operators say."""
        match head:
            case Atom():
                arguments = tuple(each for each in head.arguments if isinstance(each, Constant))
                if head.predicate in self.statics:
                    self.plan.known.append(Known(head.predicate, arguments, None, None))
                    return
                first = reach.near if reach.near is not None and reach.near > 0 else 0
                is_open = reach.open_near and first == reach.near
                self.plan.known.append(Known(head.predicate, arguments, first, None, not is_open))
            case Pinned(formula=Atom() as atom, pin=pin) if isinstance(pin.base, Now):
                offset = time(pin.offset)
                self._known(atom, Reach(offset, offset))
            case Pinned(formula=Atom() as atom, pin=pin):
                at = time(pin.offset)
                arguments = tuple(each for each in atom.arguments if isinstance(each, Constant))
                self.plan.known.append(Known(atom.predicate, arguments, at, at))
            case Over(formula=Atom() as atom, interval=interval):
                arguments = tuple(each for each in atom.arguments if isinstance(each, Constant))
                high = None if interval.high is None else time(interval.high)
                found = Known(
                    atom.predicate, arguments, time(interval.low), high, interval.closed_low, interval.closed_high
                )
                if self.plan.discrete:
                    low = time(interval.low) + (0 if interval.closed_low else 1)
                    high = high if high is None or interval.closed_high else high - 1
                    found = Known(atom.predicate, arguments, low, high)
                self.plan.known.append(found)
            case Metric(operator=operator, interval=interval, formula=inner):
                step = reach_of(interval, self.plan.discrete)
                self._known(inner, reach + (step if operator == "always" else mirrored(step)))

    # Rules.

    def _rule(self, rule: Rule) -> None:
        if rule.head is None:
            raise self._refuse("a constraint", rule.span)
        if rule.head.choice:
            raise self._refuse("a head with alternatives", rule.span)
        base = self._base(rule.head, rule)
        inputs = {each.name for each in self.plan.sources.values() if each.kind == "input"}
        times = pin_variables(rule)
        seen = [
            part for literal in rule.body for part in hoisted(without_filters(literal, self.statics, inputs), times)
        ]
        bodies = []
        for parts in self._alternatives(rule.head, seen):
            self.binders = [part for part in parts if not isinstance(part, (Comparison, Not))]
            body = self._body(rule, base, moments(parts, self._is_timeless))
            if not body.impossible:
                bodies.append(body)
        if bodies and rule.head.exists:
            bodies = [self._invented(rule, rule.head, base, bodies)]
        for body in bodies:
            for head in rule.head.atoms:
                self._head(rule, head, base, body)

    def _alternatives(self, head: Head, parts: list[Formula], ready: bool = False) -> Iterator[list[Formula]]:
        """The parts of a body, for each choice among alternatives that say nothing of some variable of which the rule
        speaks elsewhere, that speak of times of their own, or of absence."""
        self.uses = Counter(each.name for formula in (*head.atoms, *parts) for each in variables(formula))
        for place, part in enumerate(parts):
            if isinstance(part, Or) and self._is_uneven(part):
                for one in part.parts:
                    yield from self._alternatives(head, [*parts[:place], *conjuncts(one), *parts[place + 1 :]], ready)
                return
        if ready:
            yield parts
        else:
            moved = [part for each in parts for part in conjuncts(positive(each))]
            yield from self._alternatives(head, moved, ready=True)

    def _is_uneven(self, formula: Or) -> bool:
        if any(isinstance(part, Pinned) and isinstance(part.pin.base, Variable) for part in walk(formula)):
            return True
        if any(isinstance(positive(part), Not) for part in formula.parts):
            return True
        bound = [bound_by(part) for part in formula.parts]
        return any(self._is_outer(name, formula) and not all(name in each for each in bound) for name in names(formula))

    def _base(self, head: Head, rule: Rule) -> str | None:
        """The time variable of the head, or `None` where that is now."""
        bases: set[str | None] = set()
        for atom in head.atoms:
            if not isinstance(atom, Pinned):
                bases.add(None)
            elif atom.pin.base is not None:
                bases.add(atom.pin.base.name if isinstance(atom.pin.base, Variable) else None)
        if not bases:
            # A fixed time: the rule is worked out at the time that its body has.
            named = {
                part.pin.base.name
                for formula in rule.body
                for part in walk(formula)
                if isinstance(part, Pinned) and isinstance(part.pin.base, Variable)
            }
            return min(named, default=None)
        if len(bases) > 1:
            raise self._refuse(SEVERAL, rule.span)
        return bases.pop()

    def _invented(self, rule: Rule, head: Head, base: str | None, bodies: list[Body]) -> Body:
        """What a rule with `exists` has found, with the values it invents: its atoms are passed on from there."""
        reason = "`chase restricted`" if self.program.chase == "restricted" else obstacle(head, self.plan.discrete)
        if reason is not None:
            raise self._refuse(reason, rule.span)
        columns = tuple(Variable(name) for name in frontier(head))
        source, made = self._fresh(len(columns)), self._fresh(len(columns) + len(head.exists), "invented")
        for body in bodies:
            self._complete(body)
            least = earliest(head, body.least if base is not None else max(body.least or 0, 0))
            self.plan.nodes.append(
                Join(source, columns, tuple(body.literals), tuple(body.negated), tuple(body.comparisons), HERE, None,
                     least, rule)
            )  # fmt: skip
        self.plan.nodes.append(Invent(made, source, len(head.exists), is_timed(head), rule))
        found = Body()
        found.literals.append(Literal(made, (*columns, *head.exists)))
        return found

    def _head(self, rule: Rule, head: Formula, base: str | None, body: Body) -> None:
        reach, at, least = HERE, None, body.least
        if base is None:
            least = max(least or 0, 0)
        atom = head
        while isinstance(atom, Metric):
            step = reach_of(atom.interval, self.plan.discrete)
            reach = reach + (step if atom.operator == "always" else mirrored(step))
            atom = atom.formula
        if isinstance(atom, Pinned):
            offset = time(atom.pin.offset)
            if atom.pin.base is None:
                at = offset
            else:
                reach = Reach(offset, offset)
                least = -offset if least is None else max(least, -offset)
            atom = atom.formula
        assert isinstance(atom, Atom)
        self._complete(body)
        arguments = tuple(self._argument(each) for each in atom.arguments)
        self.plan.nodes.append(
            Join(
                atom.predicate, arguments, tuple(body.literals), tuple(body.negated), tuple(body.comparisons),
                reach, at, least, rule,
            )
        )  # fmt: skip
