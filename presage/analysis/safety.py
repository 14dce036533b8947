"""Safety: every value a rule speaks of comes from somewhere finite.

A head variable that is not invented, a variable of a comparison and a variable under `not` must be
bound: by a positive literal, by `=` with a bound other side, or, for a time variable, by
comparisons that bound it on both sides.

[HA] allows more: in rules over plain and negated atoms a variable of a negated atom may stay open
if the head shows it; answers are then schematic. Such rules are not wrong, they are `schematic`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from presage.analysis.differences import NOW, difference
from presage.analysis.predicates import without_digits
from presage.analysis.timeline import pin_variables
from presage.errors import Diagnostic, Span, nearest
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Over,
    Pinned,
    Reset,
    Top,
    Windowed,
    aggregates,
    children,
    variables,
    walk,
)
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Variable, shown, term_variables
from presage.model.windows import TimeWindow


@dataclass(frozen=True, slots=True)
class Safety:
    """The variables each rule leaves open in [HA]'s sense, and what is unsafe."""

    schematic: dict[int, frozenset[str]]
    problems: tuple[Diagnostic, ...]


def check_safety(program: Program) -> Safety:
    schematic: dict[int, frozenset[str]] = {}
    problems: list[Diagnostic] = []
    for index, rule in enumerate(program.rules):
        open_variables, found = _check_rule(rule)
        problems.extend(found)
        if open_variables:
            schematic[index] = open_variables
    return Safety(schematic, tuple(problems))


def bound_by(formula: Formula) -> set[str]:
    """The variables to which a formula, where it holds, gives finitely many values."""
    match formula:
        case Atom():
            return {variable.name for variable in variables(formula)}
        case Pinned(formula=inner, pin=pin):
            bound = bound_by(inner)
            if isinstance(pin.base, Variable) and _has_positive_atom(inner):
                bound.add(pin.base.name)
            return bound
        case Windowed(window=TimeWindow(back=back, ahead=ahead), formula=inner) if (
            back is not None and ahead is not None
        ):
            return bound_by(inner) | _times_pinned(inner)
        case Metric(formula=inner) | Windowed(formula=inner) | Modal(formula=inner) | Reset(formula=inner):
            return bound_by(inner)
        case Over(formula=inner):
            return bound_by(inner)
        case BinaryMetric(right=right):
            return bound_by(right)
        case And(parts=parts):
            bound = set()
            for part in parts:
                bound |= bound_by(part)
            return _closed(bound, [part for part in parts if isinstance(part, Comparison)])
        case Or(parts=parts):
            first, *rest = (bound_by(part) for part in parts)
            return first.intersection(*rest)
        case Comparison():
            # What an aggregate ranges over; `binds` says of which variables it is to give the values.
            return {name for each in aggregates(formula) for name in {*each.binds} & bound_by(And(each.body))}
        case _:
            return set()


def anonymous_below_negation(formula: Formula) -> Variable | None:
    """A `_` to which nothing gives a value, since it stands below `not` or `implies`."""
    below = (node for node in walk(formula) if isinstance(node, (Not, Implies)))
    return next((each for node in below for each in variables(node) if each.is_anonymous), None)


def _times_pinned(formula: Formula) -> set[str]:
    """The time variables a formula pins to, where the window around it holds finitely many times."""
    match formula:
        case Pinned(formula=inner, pin=pin):
            return _times_pinned(inner) | ({pin.base.name} if isinstance(pin.base, Variable) else set())
        case And(parts=parts):
            return set().union(*(_times_pinned(part) for part in parts))
        case Windowed(formula=inner):
            return _times_pinned(inner)
        case _:
            return set()


def _has_positive_atom(formula: Formula) -> bool:
    """Whether a formula can hold only at finitely many times of a finite stream."""
    match formula:
        case Atom():
            return True
        case Top() | Not() | Implies() | Comparison():
            return False
        case Or(parts=parts):
            return all(_has_positive_atom(part) for part in parts)
        case BinaryMetric(right=right):
            return _has_positive_atom(right)
        case _:
            parts = children(formula)
            return not parts or any(_has_positive_atom(part) for part in parts)


def _closed(bound: set[str], comparisons: list[Comparison]) -> set[str]:
    """Adds what equations determine, until nothing is added."""
    bound = set(bound)
    by_name: dict[str, list[Comparison]] = {}
    todo = [comparison for comparison in comparisons if comparison.operator == "="]
    for equation in todo:
        for variable in variables(equation):
            by_name.setdefault(variable.name, []).append(equation)
    while todo:
        unknown = _determined(todo.pop(), bound)
        if unknown is not None:
            bound.add(unknown)
            todo.extend(by_name[unknown])
    return bound


def _determined(equation: Comparison, bound: set[str]) -> str | None:
    """The one unbound variable of an equation, if the equation gives its value."""
    left = {variable.name for variable in term_variables(equation.left)} - bound
    right = {variable.name for variable in term_variables(equation.right)} - bound
    if len(left | right) != 1:
        return None
    (unknown,) = left | right
    if (isinstance(equation.left, Variable) and not right) or (isinstance(equation.right, Variable) and not left):
        return unknown
    found = difference(equation)
    return unknown if found is not None and found[0].get(unknown) else None


def _bounded_times(
    times: set[str], bound: set[str], comparisons: list[Comparison]
) -> tuple[set[str], dict[str, set[str]]]:
    """Time variables that comparisons hold between two bound values; and for the others, which
    side is open."""
    bound = bound | {NOW}
    open_sides: dict[str, set[str]] = {}
    about: dict[str, list[tuple[Comparison, dict[str, Fraction]]]] = {name: [] for name in times - bound}
    for comparison in comparisons:
        found = difference(comparison)
        for name in found[0] if found is not None else ():
            if name in about and found is not None:
                about[name].append((comparison, found[0]))
    changed = True
    while changed:
        changed = False
        for name in sorted(times - bound):
            sides: set[str] = set()
            for comparison, shares in about[name]:
                if (set(shares) - {name}) - bound:
                    continue
                positive = shares[name] > 0
                operator = comparison.operator
                if operator in ("<", "<="):
                    sides.add("above" if positive else "below")
                elif operator in (">", ">="):
                    sides.add("below" if positive else "above")
            open_sides[name] = {"above", "below"} - sides
            if not open_sides[name]:
                bound.add(name)
                changed = True
    return bound - {NOW}, open_sides


def bound_variables(rule: Rule, given: frozenset[str] = frozenset()) -> tuple[set[str], dict[str, set[str]]]:
    """The variables a rule's body binds, beside those that have values already, and for unbound time variables the open
    sides."""
    bound: set[str] = set(given)
    for literal in rule.body:
        bound |= bound_by(literal)
    comparisons = list(_conjuncts(rule.body))
    bound = _closed(bound, comparisons)
    while True:
        wider, open_sides = _bounded_times(pin_variables(rule), bound, comparisons)
        wider = _closed(wider, comparisons)
        if wider == bound:
            return bound, open_sides
        bound = wider


def _conjuncts(body: tuple[Formula, ...]) -> Iterator[Comparison]:
    for literal in body:
        if isinstance(literal, Comparison):
            yield literal
        elif isinstance(literal, And):
            yield from _conjuncts(literal.parts)


def _check_rule(rule: Rule) -> tuple[frozenset[str], list[Diagnostic]]:
    bound, open_sides = bound_variables(rule)
    invented = {variable.name for variable in rule.head.exists} if rule.head else set()
    problems: list[Diagnostic] = []
    if rule.head:
        problems.extend(_check_invented(rule, invented))
    unbound: dict[str, tuple[str, Span]] = {}
    for code, variable in needing(rule):
        if variable.name not in bound and variable.name not in invented:
            unbound.setdefault(variable.name, (code, variable.span))
    if not unbound:
        return frozenset(), problems
    open_variables = _schematic(rule, set(unbound))
    for name, (code, span) in unbound.items():
        if name not in open_variables:
            problems.append(_explain(rule, name, code, span, bound, open_sides))
    if open_variables:
        problems.extend(_misspelled(rule, open_variables, bound))
    return (open_variables if not problems else frozenset()), problems


def _check_invented(rule: Rule, invented: set[str]) -> Iterator[Diagnostic]:
    assert rule.head is not None
    used = {variable.name for atom in rule.head.atoms for variable in variables(atom)}
    in_body = {variable.name for literal in rule.body for variable in variables(literal)}
    for variable in rule.head.exists:
        if variable.name in in_body:
            hint = "leave it out of `exists`, or give the invented value another name"
            yield Diagnostic("P303", f"`{variable.name}` has a value from the body already", variable.span, hint)
        elif variable.name not in used:
            message = f"`{variable.name}` does not occur in the head"
            yield Diagnostic("P303", message, variable.span, "use it, or leave it out")
    for atom in rule.head.atoms:
        for node in walk(atom):
            if isinstance(node, Pinned) and isinstance(node.pin.base, Variable) and node.pin.base.name in invented:
                hint = "values can be invented, times cannot"
                yield Diagnostic("P303", f"`{node.pin.base.name}` is a time", node.pin.span, hint)


def needing(rule: Rule) -> Iterator[tuple[str, Variable]]:
    """The occurrences that need a bound variable, and the code of the message if it is not."""
    for atom in rule.head_atoms:
        for variable in variables(atom):
            yield "S101", variable
    for literal in rule.body:
        yield from _needing_in(literal, set())


def _needing_in(formula: Formula, local: set[str]) -> Iterator[tuple[str, Variable]]:
    match formula:
        case Comparison(left=left, right=right):
            for term in (left, right):
                for variable in term_variables(term):
                    if variable.name not in local:
                        yield "S102", variable
        case Not(formula=inner):
            for variable in variables(inner):
                if variable.name not in local:
                    yield "S103", variable
        case Implies(left=left, right=right):
            for variable in (*variables(left), *variables(right)):
                if variable.name not in local:
                    yield "S103", variable
        case BinaryMetric(left=left, right=right):
            yield from _needing_in(left, local | bound_by(left) | bound_by(right))
            yield from _needing_in(right, local | bound_by(right))
        case Or(parts=parts):
            for part in parts:
                yield from _needing_in(part, local | bound_by(part))
        case Pinned(formula=inner, pin=pin):
            yield from _needing_in(inner, local)
            if isinstance(pin.base, Variable) and pin.base.name not in local:
                yield "S104", pin.base
        case And(parts=parts):
            inside = local | bound_by(formula)
            for part in parts:
                yield from _needing_in(part, inside)
        case Metric(formula=inner) | Windowed(formula=inner) | Modal(formula=inner) | Reset(formula=inner):
            yield from _needing_in(inner, local | bound_by(inner))


def _negated_atom(literal: Formula) -> tuple[Atom, str | None] | None:
    """`not p(X)@T`, in either order of `not` and the pin: the atom and its time variable."""
    match literal:
        case Not(formula=Atom() as atom):
            return atom, None
        case Not(formula=Pinned(formula=Atom() as atom, pin=pin)):
            return atom, pin.base.name if isinstance(pin.base, Variable) else None
        case Pinned(formula=Not(formula=Atom() as atom), pin=pin):
            return atom, pin.base.name if isinstance(pin.base, Variable) else None
        case _:
            return None


def _schematic(rule: Rule, unbound: set[str]) -> frozenset[str]:
    """The unbound variables that an answer can carry along."""
    if rule.head is None or rule.head.choice or rule.head.exists:
        return frozenset()
    in_negated: set[str] = set()
    for literal in rule.body:
        match literal:
            case Atom() | Comparison() | Pinned(formula=Atom()):
                continue
        found = _negated_atom(literal)
        if found is None:
            return frozenset()
        atom, time = found
        in_negated |= {argument.name for argument in atom.arguments if isinstance(argument, Variable)}
        if time is not None:
            in_negated.add(time)
    in_head: set[str] = set()
    for head in rule.head.atoms:
        if not isinstance(head, Atom) and not (isinstance(head, Pinned) and isinstance(head.formula, Atom)):
            return frozenset()
        in_head |= {variable.name for variable in variables(head)}
    return frozenset(unbound & in_negated & in_head)


def _explain(
    rule: Rule, name: str, code: str, span: Span, bound: set[str], open_sides: dict[str, set[str]]
) -> Diagnostic:
    written = shown(name)
    similar = _similar_bound(written, bound)
    if name in open_sides and len(open_sides[name]) < 2:
        (side,) = open_sides[name]
        message = f"the time `{written}` is not bounded from {side}"
        sign = "<=" if side == "above" else ">="
        return Diagnostic("S104", message, span, f"add a comparison such as `{written} {sign} …`")
    if name in open_sides:
        message = f"the time `{written}` is not bound"
        hint = f"pin a positive literal to it, `p(X)@{written}`, or bound it by comparisons from below and above"
        return Diagnostic("S104", message, span, similar or hint)
    where = similar or _where_it_could_be_bound(rule, name)
    if code == "S101":
        return _unbound_in_head(rule, written, span, where)
    if code == "S103" and written == "_":
        hint = "name what must not exist: `busy(X) :- job(X, _).` and `not busy(X)`"
        return Diagnostic("S103", "`_` under `not` is not bound", span, hint)
    if code == "S103":
        if not similar:
            where += f"; for «there is no {written}», name it without {written} and negate that"
        return Diagnostic("S103", f"the variable `{written}` under `not` or `implies` is not bound", span, where)
    return Diagnostic("S102", f"the variable `{written}` of a comparison is not bound", span, where)


def _unbound_in_head(rule: Rule, written: str, span: Span, where: str) -> Diagnostic:
    if rule.is_fact:
        message = f"a fact has constants only; `{written}` is a variable"
        hint = f'write `{written.lower()}` or "{written}"' if written[0] != "_" else "write the value"
        return Diagnostic("S101", message, span, hint)
    if written == "_":
        return Diagnostic("S101", "`_` in a head has no value", span, "name a variable of the body, or `exists Y: …`")
    return Diagnostic("S101", f"the head's variable `{written}` is not bound by the body", span, where)


MOST_COMPARED = 100


def _similar_bound(written: str, bound: set[str]) -> str:
    """A bound variable the unbound one may be a misspelling of, as a hint."""
    if len(bound) > MOST_COMPARED:
        return ""
    letters = without_digits(written)
    near = nearest(written, {other for other in bound if "#" not in other and without_digits(other) != letters})
    return f"did you mean `{near}`?" if near and len(near) > 2 else ""


def _where_it_could_be_bound(rule: Rule, name: str) -> str:
    for literal in rule.body:
        for node in walk(literal):
            if isinstance(node, Or) and any(variable.name == name for variable in variables(node)):
                return f"every side of the `or` must bind `{name}`"
            if isinstance(node, BinaryMetric) and any(variable.name == name for variable in variables(node.left)):
                return f"the right side of the `{node.operator}` must bind `{name}`, or another positive literal"
    return f"bind `{name}` by a positive literal of the body, such as `p({name})`, or by `{name} = …`"


def _misspelled(rule: Rule, open_variables: frozenset[str], bound: set[str]) -> Iterator[Diagnostic]:
    """An open variable that is used twice only and resembles a bound one is more likely a slip."""
    for name in sorted(open_variables):
        if len(name) > 3:
            near = nearest(name, {other for other in bound if without_digits(other) != without_digits(name)})
            if near:
                span = next(variable.span for variable in rule.variables() if variable.name == name)
                message = f"`{name}` is left open: it occurs in the head and under `not` only"
                yield Diagnostic("N103", message, span, f"did you mean `{near}`?", severity="warning")
