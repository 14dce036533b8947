"""What aggregates ask of a rule, and what they say about it.

Which comparisons more facts can never make false (they are as good as a positive literal), whether the set of an
aggregate is finite, and which aggregates may not say what their author means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from presage.analysis.differences import NOW, difference
from presage.analysis.predicates import Predicate
from presage.analysis.safety import bound_by, bound_variables, needing
from presage.analysis.timeline import pin_variables
from presage.errors import Diagnostic
from presage.model.formulas import (
    MIRRORED,
    And,
    Atom,
    Comparison,
    Formula,
    Metric,
    Pinned,
    Windowed,
    aggregates,
    atoms,
    children,
    walk,
)
from presage.model.program import Program
from presage.model.statements import Column, Question, Rule
from presage.model.terms import Aggregate, Constant, Now, Number, Term, Value, Variable, shown, term_variables
from presage.model.values import is_true
from presage.model.windows import RowsWindow


def alone(comparison: Comparison) -> tuple[Aggregate, str, Term] | None:
    """`count { … } >= n`, with the aggregate on either side and no other one in it: aggregate, operator, and the other
    side."""
    left, right = comparison.left, comparison.right
    if isinstance(left, Aggregate) and len(aggregates(comparison)) == 1:
        return left, comparison.operator, right
    if isinstance(right, Aggregate) and len(aggregates(comparison)) == 1:
        return right, MIRRORED[comparison.operator], left
    return None


def direction(comparison: Comparison, non_negative: frozenset[tuple[str, int]] = frozenset()) -> int:
    """1 if more facts can never make the comparison false, -1 if they can never make it true, 0 if they may do either.
    `non_negative` are the columns whose values are declared not to be negative."""
    found = alone(comparison)
    if found is None:
        return 0
    aggregate, operator, _ = found
    if any(isinstance(node, Windowed) and isinstance(node.window, RowsWindow) for node in inside(aggregate)):
        return 0
    up, down = operator in (">=", ">"), operator in ("<=", "<")
    match aggregate.function:
        case "count":
            return 1 if up else -1 if down else 0
        case "sum" if is_non_negative(aggregate, non_negative):
            return 1 if up else -1 if down else 0
        case "max":
            return 1 if up else 0
        case "min":
            return 1 if down else 0
    return 0


def needs_a_tuple(comparison: Comparison, aggregate: Aggregate) -> bool:
    """Whether a comparison is false where the set of its aggregate is empty."""
    if aggregate.binds or aggregate.function not in ("count", "sum"):
        return True
    found = alone(comparison)
    if found is None:
        return False
    _, operator, other = found
    return isinstance(other, Constant) and not isinstance(other.value, str) and not is_true(operator, 0, other.value)


def inside(aggregate: Aggregate) -> Iterator[Formula]:
    """All formulas in the body of an aggregate."""
    return (node for literal in aggregate.body for node in walk(literal))


def is_non_negative(aggregate: Aggregate, columns: frozenset[tuple[str, int]]) -> bool:
    """Whether what is added up comes from a column whose values are not negative."""
    first = aggregate.terms[0]
    return isinstance(first, Variable) and any(
        isinstance(argument, Variable) and argument.name == first.name and (atom.predicate, place) in columns
        for literal in aggregate.body
        for atom in _conjunct_atoms(literal)
        for place, argument in enumerate(atom.arguments)
    )


def _conjunct_atoms(formula: Formula) -> Iterator[Atom]:
    """The atoms that must hold for the formula to hold."""
    match formula:
        case Atom():
            yield formula
        case And() | Pinned() | Windowed():
            for part in children(formula):
                yield from _conjunct_atoms(part)
        case Metric(operator=("once" | "eventually"), formula=inner):
            yield from _conjunct_atoms(inner)


def timed_atoms(formula: Formula, at: Variable | None = None) -> Iterator[tuple[Atom, Variable | None]]:
    """The atoms that must hold for a formula to hold, below no operator but windows, each with the time variable that
    it is pinned to."""
    match formula:
        case Atom():
            yield formula, at
        case Pinned(pin=pin, formula=inner) if isinstance(pin.base, Variable) and not pin.offset:
            yield from timed_atoms(inner, pin.base)
        case And() | Windowed():
            for part in children(formula):
                yield from timed_atoms(part, at)


def in_braces(body: tuple[Formula, ...], known: Mapping[str, Value]) -> Question:
    """For which values of its variables a body holds, as a question; those of some are known."""
    return Question(And((*body, *(Comparison("=", Variable(name), Constant(known[name])) for name in known))))


def non_negative(program: Program, predicates: Mapping[str, Predicate]) -> frozenset[tuple[str, int]]:
    """The columns whose values are declared not to be negative, also through rules that only pass them on: those of
    derived predicates are, until some rule gives them a value that may be another."""
    declared = {
        (name, place)
        for name, known in predicates.items()
        for place, column in enumerate(known.columns)
        if (bound := column.bound) is not None and bound.operator in (">", ">=") and _number_of(bound.value) >= 0
    }
    if not declared:
        return frozenset()
    found = {
        (name, place)
        for name, known in predicates.items()
        for place in range(known.arity)
        if (name, place) in declared or (known.kind == "derived" and not known.is_input)
    }
    again = True
    while again:
        again = False
        for rule in program.rules:
            for head in rule.head_atoms:
                for atom in atoms(head):
                    for place, argument in enumerate(atom.arguments):
                        column = (atom.predicate, place)
                        if column in found and not _is_passed_on(argument, rule, found):
                            found.discard(column)
                            again = True
    return frozenset(found)


def _number_of(constant: Constant) -> Number:
    return -1 if isinstance(constant.value, str) else constant.value


def _is_passed_on(argument: Term, rule: Rule, columns: Set[tuple[str, int]]) -> bool:
    if isinstance(argument, Constant):
        return _number_of(argument) >= 0
    return isinstance(argument, Variable) and any(
        isinstance(each, Variable) and each.name == argument.name and (atom.predicate, place) in columns
        for literal in rule.body
        for atom in _conjunct_atoms(literal)
        for place, each in enumerate(atom.arguments)
    )


def in_rule(rule: Rule) -> Iterator[tuple[Comparison, Aggregate]]:
    """The aggregates of a rule, each with its comparison."""
    for literal in rule.body:
        for node in walk(literal):
            if isinstance(node, Comparison):
                yield from ((node, each) for each in aggregates(node))


def check_aggregates(program: Program, predicates: Mapping[str, Predicate] | None = None) -> list[Diagnostic]:
    """Sets that cannot be finite, and what looks like a slip."""
    problems: list[Diagnostic] = []
    texts = {
        (name, place): column
        for name, known in (predicates or {}).items()
        for place, column in enumerate(known.columns)
        if column.type in ("text", "bool")
    }
    for rule in program.rules:
        found = list(in_rule(rule))
        endless = [problem for _, aggregate in found for problem in _infinite(aggregate)]
        problems.extend(endless)
        if found and not endless:
            for comparison, aggregate in found:
                problems.extend(_of_itself(comparison, aggregate))
                problems.extend(_left_out(aggregate))
                problems.extend(_of_texts(aggregate, texts))
            problems.extend(_at_every_time(rule))
    return problems


def _infinite(aggregate: Aggregate) -> Iterator[Diagnostic]:
    shared = set(aggregate.shared or ())
    body = Rule(None, aggregate.body)
    bound, _ = bound_variables(body, frozenset(shared))
    reported: set[str] = set()
    for term in aggregate.terms:
        for variable in term_variables(term):
            if variable.name not in bound | shared | reported:
                reported.add(variable.name)
                yield _unbound(variable, "what is counted has")
    for _, variable in needing(body):
        if variable.name not in bound | shared | reported:
            reported.add(variable.name)
            yield _unbound(variable, "the body has")
    for name in sorted(pin_variables(body) - shared - reported - _bounded(aggregate, shared)):
        place = next(
            node.pin.span
            for node in inside(aggregate)
            if isinstance(node, Pinned) and isinstance(node.pin.base, Variable) and node.pin.base.name == name
        )
        written = shown(name)
        hint = f"say within which stretch: `window(10) p(X)@{written}`, or `{written} > now - 10, {written} <= now`"
        message = f"the time `{written}` of the aggregate is bounded by no window or comparison"
        yield Diagnostic("S105", message, place, hint)


def _unbound(variable: Variable, where: str) -> Diagnostic:
    written = shown(variable.name)
    message = f"{where} a variable `{written}` that nothing inside the braces binds: the set would have no end"
    return Diagnostic("S105", message, variable.span, f"bind it by a positive literal inside, such as `p({written})`")


def _bounded(aggregate: Aggregate, shared: set[str]) -> set[str]:
    """The time variables that a window or comparisons with known times bound. What is pinned is as true at any other
    time, so that an operator around it bounds nothing."""
    found: set[str] = set()

    def below(formula: Formula, inner: bool) -> None:
        if isinstance(formula, Pinned) and isinstance(formula.pin.base, Variable) and inner:
            found.add(formula.pin.base.name)
        for part in children(formula):
            below(part, inner or isinstance(formula, Windowed))

    for literal in aggregate.body:
        below(literal, False)
    compared = [literal for literal in aggregate.body if isinstance(literal, Comparison)]
    changed = True
    while changed:
        changed = False
        for comparison in compared:
            sides = difference(comparison)
            if sides is None or comparison.operator == "!=":
                continue
            open_names = [name for name in sides[0] if name not in found | shared | {NOW}]
            if len(open_names) == 1:
                above = (sides[0][open_names[0]] > 0) == (comparison.operator in ("<", "<="))
                if comparison.operator == "=" or above:
                    found.add(open_names[0])
                    changed = True
    return found


def _left_out(aggregate: Aggregate) -> Iterator[Diagnostic]:
    """Equal amounts are added once, unless something tells them apart."""
    if aggregate.function not in ("sum", "avg"):
        return
    named = {variable.name for term in aggregate.terms for variable in term_variables(term)}
    shared = set(aggregate.shared or ())
    bound = bound_by(And(aggregate.body)) - named - shared
    determined = {
        variable.name
        for literal in aggregate.body
        if isinstance(literal, Comparison) and literal.operator == "="
        for variable in (literal.left, literal.right)
        if isinstance(variable, Variable)
    }
    left_out = sorted(bound - determined)
    if left_out:
        names = ", ".join(f"`{shown(name)}`" for name in left_out)
        message = f"`{aggregate.function}` leaves out {names}: equal amounts would be added once"
        more = ", ".join(shown(name) for name in left_out if shown(name) != "_") or "a name for each `_`"
        hint = f"add what tells them apart after the amount: `{aggregate.function} {{ …, {more} : … }}`"
        yield Diagnostic("S107", message, aggregate.span, hint, severity="warning")


def _of_itself(comparison: Comparison, aggregate: Aggregate) -> Iterator[Diagnostic]:
    """`V = last { V, T : … }`: what stands outside as well is shared, so that each value has a set of its own."""
    found, first = alone(comparison), aggregate.terms[0]
    if (
        found is None
        or not isinstance(first, Variable)
        or found[2] != first
        or first.name not in (aggregate.shared or ())
    ):
        return
    name = shown(first.name)
    message = f"`{name}` is the same inside the braces and outside: each value of it has a set of its own"
    hint = f"give it another name inside: `{aggregate.function} {{ {name}1, … : … }}`"
    yield Diagnostic("S107", message, aggregate.span, hint, severity="warning")


def _of_texts(aggregate: Aggregate, texts: Mapping[tuple[str, int], Column]) -> Iterator[Diagnostic]:
    """Texts have no sum."""
    first = aggregate.terms[0]
    if aggregate.function not in ("sum", "avg") or not isinstance(first, Variable):
        return
    for atom in (atom for literal in aggregate.body for atom in _conjunct_atoms(literal)):
        for place, argument in enumerate(atom.arguments):
            column = texts.get((atom.predicate, place))
            if column is not None and isinstance(argument, Variable) and argument.name == first.name:
                message = f"`{aggregate.function}` is of numbers, and `{column.name}` is declared {column.type}"
                hint = f"take `number({shown(first.name)})`, or declare the column `{column.name}: float`"
                yield Diagnostic("S107", message, first.span, hint, severity="warning")
                return


def _at_every_time(rule: Rule) -> Iterator[Diagnostic]:
    """An aggregate that is not pinned, in a rule whose head is."""
    heads = rule.head_atoms
    if not heads or not all(isinstance(head, Pinned) and isinstance(head.pin.base, Variable) for head in heads):
        return
    for literal in rule.body:
        for part in literal.parts if isinstance(literal, And) else (literal,):
            if not isinstance(part, Comparison):
                continue
            for aggregate in aggregates(part):
                if any(_looks_at_now(each) for each in aggregate.body):
                    message = "the head is pinned and the aggregate is not: it is looked at at every time"
                    hint = "pin its comparison, `(count { … } >= 5)@T`, or leave the pin of the head out"
                    yield Diagnostic("S107", message, aggregate.span, hint, severity="warning")


def _looks_at_now(formula: Formula) -> bool:
    """Whether a formula is about the time at which it is looked at."""
    match formula:
        case Atom() | Windowed() | Metric():
            return True
        case Pinned(pin=pin):
            return isinstance(pin.base, Now)
        case Comparison():
            return False
        case _:
            return any(map(_looks_at_now, children(formula)))
