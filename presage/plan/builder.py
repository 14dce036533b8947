"""From rules to a plan: nested operators become relations of their own.

Negation is moved outwards through the operators (`once not φ` is `not historically φ`), so that it
meets only whole relations. Equal subformulas share a relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from presage.analysis.subject import Subject
from presage.errors import PresageError, Span
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Metric,
    Modal,
    Not,
    Or,
    Over,
    Pinned,
    Reset,
    Top,
    Windowed,
    variables,
    walk,
)
from presage.model.printer import show_formula
from presage.model.program import Program
from presage.model.statements import Head, Rule
from presage.model.terms import Constant, Now, Number, Variable
from presage.plan.existential import earliest, frontier, is_timed, obstacle
from presage.plan.formulas import mirrored, names, positive, reach_of, single_step, time
from presage.plan.nodes import (
    EVERYWHERE,
    HERE,
    Argument,
    Dilate,
    Erode,
    Invent,
    Join,
    Known,
    Literal,
    Plan,
    Reach,
    Since,
    Source,
)

TRUE = "true"


class Unsupported(PresageError):
    """A construct that this engine does not run."""

    def __init__(self, what: str, span: Span, program: Program) -> None:
        line, column = program.source.place(span.start)
        super().__init__(f"{program.source.name}:{line}:{column}: {what} cannot be run by the interval engine yet")


def plan_of(subject: Subject) -> Plan:
    """The plan of a program; raises `Unsupported` for what the engine does not run."""
    for index in subject.safety.schematic:
        rule = subject.program.rules[index]
        raise Unsupported("a rule whose answers keep a variable open", rule.span, subject.program)
    kinds = {name: (each.arity, each.kind) for name, each in subject.predicates.items()}
    for name, each in subject.predicates.items():
        if each.is_input and each.kind == "derived":
            kinds[name] = (each.arity, "derived")
    return Builder(subject.program, subject.discrete, kinds).build()


class Builder:
    def __init__(self, program: Program, discrete: bool, kinds: dict[str, tuple[int, str]]) -> None:
        self.program = program
        self.plan = Plan(discrete)
        self.made: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.rule: Rule | None = None
        for name, (arity, kind) in kinds.items():
            self.plan.sources[name] = Source(name, arity, kind)
        self.statics = {name for name, (_, kind) in kinds.items() if kind == "static"}

    def build(self) -> Plan:
        for rule in self.program.rules:
            self.rule = rule
            if rule.is_fact and not (rule.head is not None and rule.head.exists):
                self._fact(rule)
            else:
                self._rule(rule)
        return self.plan

    def _fresh(self, arity: int, kind: str = "made") -> str:
        name = f"#{len(self.plan.sources)}"
        self.plan.sources[name] = Source(name, arity, kind)
        return name

    def _refuse(self, what: str, span: Span) -> Unsupported:
        return Unsupported(what, span, self.program)

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
        base = self._base(rule)
        body = self._conjunction([positive(literal) for literal in rule.body])
        if rule.head.exists:
            body = self._invented(rule, rule.head, base, body)
        for head in rule.head.atoms:
            self._head(rule, head, base, body)

    def _invented(self, rule: Rule, head: Head, base: str | None, body: _Body) -> _Body:
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
        found = _Body()
        found.literals.append(Literal(made, (*columns, *head.exists)))
        return found

    def _base(self, rule: Rule) -> str | None:
        """The rule's one time variable, or `None` where that is now."""
        bases: set[str] = set()
        unpinned = False
        for formula in rule.formulas():
            for part in _top_level(formula):
                if isinstance(part, Pinned):
                    if isinstance(part.pin.base, Variable):
                        bases.add(part.pin.base.name)
                    elif isinstance(part.pin.base, Now):
                        unpinned = True
                elif not isinstance(part, Comparison) and not self._is_timeless(part):
                    unpinned = True
        if len(bases) > 1 or (bases and unpinned):
            raise self._refuse("a rule with more than one time variable", rule.span)
        for formula in rule.formulas():
            self._refuse_times_as_values(formula, bases)
        return next(iter(bases), None)

    def _refuse_times_as_values(self, formula: Formula, bases: set[str]) -> None:
        for part in walk(formula):
            if isinstance(part, Atom):
                used = {each.name for each in part.arguments if isinstance(each, Variable)}
                if used & bases:
                    raise self._refuse("a time variable as an argument", part.span)
            elif isinstance(part, Comparison):
                if any(variable.name in bases for variable in variables(part)):
                    raise self._refuse("a comparison of times", part.span)

    def _is_timeless(self, formula: Formula) -> bool:
        if isinstance(formula, Not):
            return self._is_timeless(formula.formula)
        return (isinstance(formula, Atom) and formula.predicate in self.statics) or isinstance(formula, Top)

    def _head(self, rule: Rule, head: Formula, base: str | None, body: _Body) -> None:
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

    def _argument(self, term: object) -> Argument:
        assert isinstance(term, (Variable, Constant))
        return term

    def _conjunction(self, parts: Iterable[Formula]) -> _Body:
        body = _Body()
        todo = list(parts)
        while todo:
            part = todo.pop(0)
            match part:
                case And(parts=inner):
                    todo[:0] = [positive(each) for each in inner]
                case Comparison():
                    body.comparisons.append(part)
                case Not(formula=inner):
                    body.negated.append(self._literal(inner, body))
                case Top():
                    pass
                case _:
                    body.literals.append(self._literal(part, body))
        if not body.literals:
            body.literals.append(Literal(self._true(), ()))
        return body

    def _true(self) -> str:
        if TRUE not in self.plan.sources:
            self.plan.sources[TRUE] = Source(TRUE, 0, "static")
            self.plan.known.append(Known(TRUE, (), None, None))
        return TRUE

    def _literal(self, formula: Formula, body: _Body) -> Literal:
        offset: Number = 0
        at: Number | None = None
        if isinstance(formula, Pinned):
            pin = formula.pin
            if pin.base is None:
                at = time(pin.offset)
            else:
                offset = time(pin.offset)
                body.not_before(-offset)
            formula = formula.formula
            if isinstance(formula, Pinned):
                raise self._refuse("a pin on a pin", formula.span)
        while at is None and isinstance(formula, Metric) and (moved := single_step(formula)) is not None:
            # At a single distance, `once` and `historically` only move the time.
            offset += moved
            formula = formula.formula
        if isinstance(formula, Atom):
            return Literal(formula.predicate, tuple(self._argument(each) for each in formula.arguments), offset, at)
        name, columns = self._made(formula)
        return Literal(name, tuple(Variable(column) for column in columns), offset, at)

    # Subformulas.

    def _made(self, formula: Formula) -> tuple[str, tuple[str, ...]]:
        """A relation that holds where the formula does, and the variables of its columns."""
        text = show_formula(formula)
        if text not in self.made:
            self.made[text] = self._make(formula)
        return self.made[text]

    def _make(self, formula: Formula) -> tuple[str, tuple[str, ...]]:
        match formula:
            case Atom(predicate=predicate, arguments=arguments):
                columns = [each.name for each in arguments if isinstance(each, Variable)]
                if len(columns) == len(arguments) and len(set(columns)) == len(columns):
                    return predicate, tuple(columns)
                return self._joined([formula], names(formula))
            case Top():
                return self._true(), ()
            case Metric(operator=operator, interval=interval, formula=inner):
                source, columns_of = self._made(inner)
                reach = reach_of(interval, self.plan.discrete)
                reach = reach if operator in ("once", "historically") else mirrored(reach)
                name = self._fresh(len(columns_of))
                kind = Dilate if operator in ("once", "eventually") else Erode
                self.plan.nodes.append(kind(name, source, reach, self.rule))
                return name, columns_of
            case BinaryMetric():
                return self._since(formula)
            case And(parts=parts):
                return self._joined(parts, names(formula))
            case Or(parts=parts):
                shared = tuple(name for name in names(formula) if all(name in names(part) for part in parts))
                name = self._fresh(len(shared))
                for part in parts:
                    self._joined([part], shared, name)
                return name, shared
            case Not():
                raise self._refuse("a negation here", formula.span)
            case Pinned():
                raise self._refuse("a pin inside an operator", formula.span)
            case Windowed() | Modal() | Reset():
                raise self._refuse("a window or modality", formula.span)
            case _:
                raise self._refuse("this formula", formula.span)

    def _joined(
        self, parts: Iterable[Formula], columns: tuple[str, ...], name: str = ""
    ) -> tuple[str, tuple[str, ...]]:
        body = self._conjunction([positive(part) for part in parts])
        bound = {each.name for literal in body.literals for each in literal.arguments if isinstance(each, Variable)}
        for literal in body.negated:
            for each in literal.arguments:
                if isinstance(each, Variable) and each.name not in bound:
                    raise self._refuse("a negation whose variables are bound elsewhere", self._span())
        columns = tuple(
            column
            for column in columns
            if column in bound or any(column in names(comparison) for comparison in body.comparisons)
        )
        name = name or self._fresh(len(columns))
        arguments = tuple(Variable(column) for column in columns)
        # Subformulas also hold before the stream starts where they are about absence or static facts.
        self.plan.nodes.append(
            Join(name, arguments, tuple(body.literals), tuple(body.negated), tuple(body.comparisons), HERE, None,
                 body.least, self.rule)
        )  # fmt: skip
        return name, columns

    def _span(self) -> Span:
        assert self.rule is not None
        return self.rule.span

    def _since(self, formula: BinaryMetric) -> tuple[str, tuple[str, ...]]:
        right, columns = self._made(formula.right)
        left_formula = formula.left
        if isinstance(left_formula, Not):
            left, left_columns = self._absence(left_formula.formula, right, columns)
        else:
            left, left_columns = self._made(left_formula)
        if not set(left_columns) <= set(columns):
            raise self._refuse(f"`{formula.operator}` whose left side has variables of its own", formula.span)
        name = self._fresh(len(columns))
        places = tuple(columns.index(column) for column in left_columns)
        reach = reach_of(formula.interval, self.plan.discrete)
        self.plan.nodes.append(Since(name, left, right, places, reach, formula.operator == "until", self.rule))
        return name, columns

    def _absence(self, formula: Formula, right: str, columns: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Where a formula does not hold, for the values that the right side of `since` has ever had."""
        absent, absent_columns = self._made(formula)
        if not set(absent_columns) <= set(columns):
            raise self._refuse("`since` whose left side has variables of its own", formula.span)
        arguments = tuple(Variable(column) for column in absent_columns)
        seen = self._fresh(len(absent_columns))
        known = tuple(Variable(column) for column in columns)
        self.plan.nodes.append(Join(seen, arguments, (Literal(right, known),), rule=self.rule))
        ever = self._fresh(len(absent_columns), "domain")
        self.plan.nodes.append(Dilate(ever, seen, EVERYWHERE, self.rule))
        name = self._fresh(len(absent_columns))
        self.plan.nodes.append(
            Join(name, arguments, (Literal(ever, arguments),), (Literal(absent, arguments),), rule=self.rule)
        )
        return name, absent_columns


class _Body:
    def __init__(self) -> None:
        self.literals: list[Literal] = []
        self.negated: list[Literal] = []
        self.comparisons: list[Comparison] = []
        self.least: Number | None = None

    def not_before(self, least: Number) -> None:
        """A pinned time must be on the timeline: the rule's own time is at least this."""
        self.least = least if self.least is None else max(self.least, least)


def _top_level(formula: Formula) -> Iterator[Formula]:
    match formula:
        case And(parts=parts):
            for part in parts:
                yield from _top_level(part)
        case Not(formula=inner) if isinstance(inner, (Pinned, And)):
            yield from _top_level(inner)
        case _:
            yield formula
