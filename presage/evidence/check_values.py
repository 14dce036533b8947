"""What the checker needs to know about values, instances and inputs; its own, like all of the checker."""

from __future__ import annotations

from fractions import Fraction

from presage.evidence.proof import Asked, InputFact, NamedValues, Record
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
    Top,
    Windowed,
    children,
    walk,
)
from presage.model.functions import apply
from presage.model.statements import Distribution, Input, Rule
from presage.model.terms import (
    Arithmetic,
    Case,
    Constant,
    Function,
    Negative,
    Now,
    Number,
    Term,
    Value,
    Variable,
    number,
    subterms,
    term_variables,
)
from presage.model.windows import TimeWindow


def is_about_one_time(record: Record, rule: Rule) -> bool:
    """Whether everything in a rule is about one time, moved by constants: what else there is, the checker does not
    know, and accepts no proof by it."""
    static = {declared.predicate for declared in record.program.statics}
    times: set[str] = set()
    values: set[str] = set()

    def look(formula: Formula, inside: bool) -> bool:
        match formula:
            case Atom(predicate=name, arguments=terms):
                values.update(each.name for each in terms if isinstance(each, Variable))
                if name not in static and not inside:
                    times.add("now")
                return True
            case Comparison(left=left, right=right):
                values.update(each.name for term in (left, right) for each in term_variables(term))
                return not any(isinstance(term, Now) for term in (*subterms(left), *subterms(right)))
            case Pinned(formula=inner, pin=pin):
                if pin.base is not None:
                    times.add(pin.base.name if isinstance(pin.base, Variable) else "now")
                return not any(isinstance(each, Pinned) for each in walk(inner)) and look(inner, True)
            case Metric() | BinaryMetric() if any(isinstance(each, Pinned) for each in walk(formula)):
                return False
            case Over(formula=inner):
                return look(inner, True)
            case Windowed():
                modal = modality_in_window(formula)
                return modal is not None and look(modal.formula, inside)
            case Metric() | BinaryMetric() | Not() | And() | Or() | Implies() | Top():
                return all(look(part, inside) for part in children(formula))
            case _:
                return False

    return all(look(formula, False) for formula in rule.formulas()) and len(times) < 2 and not times & values


def modality_in_window(formula: Windowed) -> Modal | None:
    """The `some` or `all` of a window that the checker knows: one of time that does not hop, over facts at one time."""
    modal = formula.formula
    if not isinstance(modal, Modal) or not isinstance(formula.window, TimeWindow) or formula.window.hop is not None:
        return None
    known = (Atom, Comparison, Not, And, Or, Implies, Top)
    return modal if all(isinstance(each, known) for each in walk(modal.formula)) else None


def static_rows(record: Record) -> dict[str, list[Asked]]:
    rows: dict[str, list[Asked]] = {declared.predicate: [] for declared in record.program.statics}
    for name, arguments in record.statics:
        if name in rows:
            rows[name].append(arguments)
    for rule in record.program.rules:
        for head in rule.head_atoms if rule.is_fact else ():
            if atom_of(head).predicate in rows:
                rows[atom_of(head).predicate].append(tuple(value_in(term, {}) for term in atom_of(head).arguments))
    return rows


def is_input(record: Record, name: str) -> bool:
    if any(declared.predicate == name for declared in record.program.inputs):
        return True
    derived = any(atom_of(head).predicate == name for rule in record.program.rules for head in rule.head_atoms)
    return not derived and all(declared.predicate != name for declared in record.program.statics)


def longest_delay(record: Record, name: str, row: Asked) -> Number:
    """The delay of the last declaration that fits; of those that may fit, the longest."""
    waits: list[Number] = []
    for declared in reversed([each for each in record.program.inputs if each.predicate == name]):
        places = {column.name: place for place, column in enumerate(declared.columns)}
        given = [(row[places[each.column]], each.value.value) for each in declared.where]
        if all(value is None or value == wanted for value, wanted in given):
            waits.append(_longest(declared))
            if all(value == wanted for value, wanted in given):
                break
    return max(waits, default=0)


def _longest(declared: Input) -> Number:
    parts = declared.delay.parts if isinstance(declared.delay, Distribution) else ((declared.delay, 1),)
    return max((wait for wait, share in parts if share and isinstance(wait, (int, Fraction))), default=0)


def counts(record: Record, fact: InputFact) -> bool:
    """Whether a fact has arrived, and in time."""
    if fact.span.low is None or not is_input(record, fact.predicate):
        return False
    allowed = fact.span.low + longest_delay(record, fact.predicate, fact.arguments)
    return fact.arrives <= record.at and fact.arrives <= allowed


def as_number(value: object) -> Number:
    assert isinstance(value, (int, Fraction)), "the program is normalised: every time is a number"
    return value


def atom_of(head: Formula) -> Atom:
    while isinstance(head, (Pinned, Over, Metric)):
        head = head.formula
    assert isinstance(head, Atom)
    return head


def unify(atom: Atom, row: Asked, values: NamedValues) -> NamedValues | None:
    """The values extended such that the atom has these arguments."""
    more = dict(values)
    for term, value in zip(atom.arguments, row, strict=True):
        known = value_in(term, more)
        if value is not None and known is not None and known != value:
            return None
        if value is not None and known is None and isinstance(term, Variable):
            more[term.name] = value
    return more


def value_in(term: Term, values: NamedValues) -> Value | None:
    return term.value if isinstance(term, Constant) else values.get(term.name) if isinstance(term, Variable) else None


def open_names(formula: Formula, values: NamedValues) -> set[str]:
    """The variables for values that have none yet."""
    terms: list[Term] = []
    for node in walk(formula):
        if isinstance(node, Atom):
            terms += node.arguments
        elif isinstance(node, Comparison):
            terms += [node.left, node.right]
    return {each.name for term in terms for each in term_variables(term)} - values.keys()


def term_value(term: Term, values: NamedValues) -> Value | None:
    """The value of a term; none where it has none."""
    match term:
        case Constant() | Variable():
            return value_in(term, values)
        case Negative(term=inner):
            below = term_value(inner, values)
            return number(-below) if isinstance(below, (int, Fraction)) else None
        case Arithmetic(operator=sign, left=left, right=right):
            first, second = term_value(left, values), term_value(right, values)
            if not isinstance(first, (int, Fraction)) or not isinstance(second, (int, Fraction)):
                return None
            if sign == "/":
                return None if second == 0 else number(Fraction(first) / Fraction(second))
            return number(first + second if sign == "+" else first - second if sign == "-" else first * second)
        case Function(name=name, arguments=arguments, clock=clock):
            given = [term_value(each, values) for each in arguments]
            return None if None in given else apply(name, given, clock)
        case Case(condition=condition, then=then, otherwise=otherwise):
            return term_value(then if _holds(condition, values) else otherwise, values)
        case _:
            return None


def _holds(condition: Formula, values: NamedValues) -> bool:
    """Whether the condition of a `case` is true."""
    match condition:
        case Comparison():
            return is_true(condition, values)
        case And(parts=parts):
            return all(_holds(part, values) for part in parts)
        case Or(parts=parts):
            return any(_holds(part, values) for part in parts)
        case Not(formula=inner):
            return not _holds(inner, values)
        case _:
            return False


def is_true(comparison: Comparison, values: NamedValues) -> bool:
    left, right = term_value(comparison.left, values), term_value(comparison.right, values)
    if left is None or right is None:
        return False
    if comparison.operator == "=":
        return left == right
    if comparison.operator == "!=":
        return left != right
    if isinstance(left, str) != isinstance(right, str):
        return False
    less, equal = left < right, left == right  # type: ignore[operator]
    return {"<": less, "<=": less or equal, ">": not less and not equal, ">=": not less}[comparison.operator]
