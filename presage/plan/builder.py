"""From rules to a plan: a join for each atom of a head, at the one time the rule is worked out at."""

from __future__ import annotations

from presage.analysis.subject import Subject
from presage.analysis.timeless import uses_now
from presage.model.formulas import (
    Atom,
    Comparison,
    Formula,
    Metric,
    Over,
    Pinned,
    aggregates,
    variables,
    walk,
)
from presage.model.statements import Head, Rule
from presage.model.terms import Constant, Now, Variable
from presage.plan.alternatives import alternatives
from presage.plan.body import Body
from presage.plan.existential import earliest, frontier, is_timed, obstacle
from presage.plan.formulas import mirrored, names, positive, reach_of, time
from presage.plan.fusing import fuse
from presage.plan.in_rows import PartsInRows
from presage.plan.moments import Moment, Moments, conjuncts, is_empty, moments
from presage.plan.nodes import (
    HERE,
    Dilate,
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
from presage.plan.rows import times_in_rows
from presage.plan.windows import without_filters

SEVERAL = "a rule with more than one time variable"


def plan_of(subject: Subject) -> Plan:
    """The plan of a program; raises `Unsupported` for what the engine does not run."""
    for index in subject.safety.schematic:
        rule = subject.program.rules[index]
        raise Unsupported("a rule whose answers keep a variable open", rule.span, subject.program)
    kinds = {name: (each.arity, each.kind) for name, each in subject.predicates.items()}
    mixed = [name for name, each in subject.predicates.items() if each.is_input and each.kind == "derived"]
    kinds.update({name: (subject.predicates[name].arity, "derived") for name in mixed})
    plan = Builder(subject.program, subject.discrete, kinds, bool(mixed)).build()
    fuse(plan)
    return plan


class Builder(PartsInRows):
    def build(self) -> Plan:
        for rule in self.program.rules:
            self.rule = rule
            if rule.is_fact and not (rule.head is not None and rule.head.exists):
                self._fact(rule)
            else:
                self._rule(rule)
        for node in self.plan.nodes:
            if isinstance(node, LastRows) and any(each.head == node.head for each in needed_by(self.plan, node.source)):
                raise self._refuse("a window of rows over what hangs on it", node.window.span)
        return self.plan

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
        for part in (part for literal in rule.body for part in walk(literal)):
            if isinstance(part, Comparison) and aggregates(part):
                raise self._refuse("an aggregate", part.span)
        base = self._base(rule.head, rule)
        inputs = {each.name for each in self.plan.sources.values() if each.kind == "input"}
        seen = (positive(without_filters(literal, self.statics, inputs)) for literal in rule.body)
        parts = [part for each in seen for part in conjuncts(each)]
        # The values that a rule invents are one for both sides of an alternative.
        for way in alternatives(parts) if not rule.head.exists else [tuple(parts)]:
            self._way(rule, rule.head, base, way)

    def _way(self, rule: Rule, within: Head, base: str | None, way: tuple[Formula, ...]) -> None:
        """One of the ways in which the body of a rule can hold."""
        found = moments(list(way), self._is_timeless)
        if times_in_rows(rule.body) & {*found.named, base}:
            raise self._refuse(SEVERAL, rule.span)
        for formula in rule.formulas():
            self._refuse_times_as_values(formula, {*found.named, *([base] if base is not None else ())})
        body = self._at_now(found, rule) if base is None else self._at(base, found, rule)
        if body.impossible:
            return
        for part in (part for formula in rule.body for part in walk(formula)):
            # Also in alternatives: where a pinned time is before the start, the rule has no instance.
            if isinstance(part, Pinned) and part.pin.base is not None:
                named = part.pin.base.name if isinstance(part.pin.base, Variable) else None
                if named == base:
                    body.not_before(-time(part.pin.offset))
        if within.exists:
            body = self._invented(rule, within, base, body)
        for head in within.atoms:
            self._head(rule, head, base, body)

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

    def _at_now(self, found: Moments, rule: Rule) -> Body:
        """A body at now; of other times, what windows show."""
        others = [self._moved(moment, rule) for moment in found.named.values()]
        if None in others:
            return Body.never()
        return self._conjunction([*found.now, *found.anytime], [each for each in others if each is not None])

    def _at(self, base: str, found: Moments, rule: Rule) -> Body:
        """A body at a time variable; of now, what is true while that time is in sight."""
        own = found.named.pop(base, Moment())
        until_now = own.until_now()
        if not found.now and not found.named:
            if until_now is not None and is_empty(until_now):
                return Body.never()
            return self._conjunction([*own.parts, *found.anytime])
        if until_now is None:
            raise self._refuse(SEVERAL, rule.span)
        here = self._at_now(Moments(found.now, [], found.named), rule)
        if here.impossible or is_empty(until_now):
            return Body.never()
        columns = tuple(sorted(self._bound(here)))
        here.not_before(0)
        name = self._joined_body(here, columns)
        return self._conjunction([*own.parts, *found.anytime], [self._spread(name, columns, mirrored(until_now))])

    def _moved(self, moment: Moment, rule: Rule) -> Literal | None:
        """What is true of a time variable, at every now from which windows show it; `None` if none does."""
        until_now = moment.until_now()
        if until_now is None:
            raise self._refuse(SEVERAL, rule.span)
        if is_empty(until_now):
            return None
        columns = tuple(dict.fromkeys(name for part in moment.parts for name in names(part)))
        name, columns = self._joined(moment.parts, columns)
        return self._spread(name, columns, until_now)

    def _spread(self, source: str, columns: tuple[str, ...], reach: Reach) -> Literal:
        name = self._fresh(len(columns))
        self.plan.nodes.append(Dilate(name, source, reach, self.rule))
        return Literal(name, tuple(Variable(column) for column in columns))

    def _invented(self, rule: Rule, head: Head, base: str | None, body: Body) -> Body:
        """What a rule with `exists` has found, with the values it invents: its atoms are passed on from there."""
        reason = "`chase restricted`" if self.program.chase == "restricted" else obstacle(head, self.plan.discrete)
        if reason is not None:
            raise self._refuse(reason, rule.span)
        columns = tuple(Variable(name) for name in frontier(head))
        source, made = self._fresh(len(columns)), self._fresh(len(columns) + len(head.exists), "invented")
        least = earliest(head, body.least if base is not None else max(body.least or 0, 0))
        self.plan.nodes += [
            Join(source, columns, tuple(body.literals), tuple(body.negated), tuple(body.comparisons), HERE, None,
                 least, rule),
            Invent(made, source, len(head.exists), is_timed(head), rule),
        ]  # fmt: skip
        found = Body()
        found.literals.append(Literal(made, (*columns, *head.exists)))
        return found

    def _refuse_times_as_values(self, formula: Formula, bases: set[str]) -> None:
        for part in walk(formula):
            if isinstance(part, Atom):
                used = {each.name for each in part.arguments if isinstance(each, Variable)}
                if used & bases:
                    raise self._refuse("a time variable as an argument", part.span)
            elif isinstance(part, Comparison):
                if uses_now(part) or any(variable.name in bases for variable in variables(part)):
                    raise self._refuse("a comparison of times", part.span)

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
        arguments = tuple(self._argument(each) for each in atom.arguments)
        self.plan.nodes.append(
            Join(
                atom.predicate, arguments, tuple(body.literals), tuple(body.negated), tuple(body.comparisons),
                reach, at, least, rule,
            )
        )  # fmt: skip
