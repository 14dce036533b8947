"""From the model back to text, in the one canonical spelling; parsing the result gives the model.

Parentheses are printed only where the grammar needs them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from fractions import Fraction
from typing import TYPE_CHECKING

from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Or,
    Over,
    Pinned,
    Top,
    Windowed,
    asks,
    children,
    prefix_of,
)
from presage.model.statements import (
    Chase,
    Column,
    Distribution,
    Head,
    Horizon,
    Include,
    Input,
    Param,
    Query,
    Question,
    Reading,
    Rule,
    Start,
    Statement,
    Static,
    Tick,
    Timeline,
)
from presage.model.terms import (
    Aggregate,
    Arithmetic,
    Case,
    Constant,
    Function,
    Negative,
    Now,
    Number,
    Parameter,
    Term,
    Variable,
)
from presage.model.time import Duration, Interval, Pin, TimeLiteral, Timestamp
from presage.model.windows import OnlyWindow, RowsWindow, TimeWindow, Window
from presage.syntax import is_identifier, is_keyword

if TYPE_CHECKING:
    from presage.model.program import Program

LINE_WIDTH = 100
INDENT = "    "

# How tightly each kind of formula binds; an operand that binds less tightly gets parentheses.
_IMPLIES, _OR, _AND, _SINCE, _PREFIX, _COMPARISON, _PRIMARY = range(7)
_SUM, _PRODUCT, _UNARY, _SIMPLE = range(4)


def show_number(value: Number | Parameter) -> str:
    """Whole numbers and short decimals as such, other rationals as fractions: never rounded."""
    if isinstance(value, Parameter):
        return show_parameter(value)
    if isinstance(value, int) or value.denominator == 1:
        return str(value.numerator)
    places = _decimal_places(value)
    if places is None:
        return f"{value.numerator}/{value.denominator}"
    digits = f"{abs(value.numerator) * 10**places // value.denominator:0{places + 1}d}"
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def show_parameter(parameter: Parameter) -> str:
    return f"{'-' if parameter.negative else ''}${parameter.name}"


MOST_PLACES = 9
MOST_PLACES_OF_FUNCTIONS = 40
SIGNIFICANT = 15


def _decimal_places(value: Fraction) -> int | None:
    """How many places a decimal has that is short, or that a function rounded; `None` for other rationals."""
    places = 1
    while places <= MOST_PLACES_OF_FUNCTIONS and 10**places % value.denominator:
        places += 1
    if places <= MOST_PLACES:
        return places
    significant = abs(value.numerator) * 10**places // value.denominator < 10**SIGNIFICANT
    return places if places <= MOST_PLACES_OF_FUNCTIONS and significant else None


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def show_string(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text) + '"'


def show_name(text: str) -> str:
    """A constant's text, or a column's name: bare where that reads back as the same."""
    return text if is_identifier(text) and not is_keyword(text) else show_string(text)


def show_time(value: TimeLiteral) -> str:
    if isinstance(value, Duration):
        return show_number(value.amount) + value.unit
    if isinstance(value, Timestamp):
        moment = value.moment.astimezone(UTC)
        text = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
        return text + (f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else "") + "Z"
    return show_number(value)


def show_interval(interval: Interval) -> str:
    low = show_time(interval.low)
    opening, closing = "[" if interval.closed_low else "(", "]" if interval.closed_high else ")"
    if interval.high is None:
        return f"{opening}{low},inf)"
    if interval.low == interval.high and interval.closed_low and interval.closed_high:
        return f"[{low}]"
    return f"{opening}{low},{show_time(interval.high)}{closing}"


def show_term(term: Term, least: int = _SUM) -> str:
    match term:
        case Constant(value=value):
            if isinstance(value, str):
                return show_name(value)
            text = show_number(value)
            return f"({text})" if least > _PRODUCT and "/" in text else text
        case Parameter():
            return show_parameter(term)
        case Variable(name=name):
            return name
        case Now():
            return "now"
        case Duration() | Timestamp():
            return show_time(term)
        case Negative(term=inner):
            text, binds = f"-{show_term(inner, _UNARY + 1)}", _UNARY
        case Arithmetic(operator=operator, left=left, right=right):
            binds = _SUM if operator in "+-" else _PRODUCT
            text = f"{show_term(left, binds)} {operator} {show_term(right, binds + 1)}"
        case Function(name=name, arguments=arguments):
            return f"{name}({', '.join(map(show_term, arguments))})"
        case Case(condition=condition, then=then, otherwise=otherwise):
            return f"case({show_formula(condition)}, {show_term(then)}, {show_term(otherwise)})"
        case Aggregate():
            return _show_aggregate(term)
    return f"({text})" if binds < least else text


def _show_aggregate(term: Aggregate) -> str:
    terms, body = ", ".join(map(show_term, term.terms)), ", ".join(map(show_formula, term.body))
    return f"{term.function} {{ {terms} : {body} }}"


def show_pin(pin: Pin) -> str:
    if pin.base is None:
        return show_time(pin.offset)
    base = pin.base.name if isinstance(pin.base, Variable) else "now"
    if pin.offset == 0:
        return base
    offset = show_time(pin.offset)
    return base + (offset if offset.startswith("-") else f"+{offset}")


def show_atom(atom: Atom) -> str:
    if not atom.arguments:
        return atom.predicate
    return f"{atom.predicate}({', '.join(show_term(argument) for argument in atom.arguments)})"


def _patterns(patterns: tuple[Atom, ...]) -> str:
    text = ", ".join(show_atom(pattern) for pattern in patterns)
    return f"({text})" if len(patterns) > 1 else text


def show_window(window: Window) -> str:
    match window:
        case TimeWindow(back=back, ahead=ahead, hop=hop):
            parts = ["inf" if back is None else show_time(back)]
            if ahead != 0:
                parts.append("ahead " + ("inf" if ahead is None else show_time(ahead)))
            if hop is not None:
                parts.append(f"hop {show_time(hop)}")
            inner = ", ".join(parts)
        case RowsWindow(rows=rows, ahead=rows_ahead, by=by):
            inner = f"rows {show_number(rows)}" + (f", ahead {show_number(rows_ahead)}" if rows_ahead else "")
            inner += f" by {_patterns(by)}" if by else ""
        case OnlyWindow(patterns=patterns):
            inner = f"only {_patterns(patterns)}"
    return f"window({inner})"


def show_formula(formula: Formula, least: int = _IMPLIES) -> str:
    match formula:
        case Atom():
            return show_atom(formula)
        case Top():
            return "true"
        case Comparison() if (asked := asks(formula)) is not None:
            return show_term(asked)
        case Comparison(operator=operator, left=lower, right=upper):
            text, binds = f"{show_term(lower)} {operator} {show_term(upper)}", _COMPARISON
        case Pinned(formula=inner, pin=pin):
            return f"{show_formula(inner, _PRIMARY)}@{show_pin(pin)}"
        case Over(formula=inner, interval=interval):
            return f"{show_formula(inner, _PRIMARY)}@{show_interval(interval)}"
        case Metric(operator=operator, interval=interval, formula=inner):
            text, binds = f"{operator}{show_interval(interval)} {show_formula(inner, _PREFIX)}", _PREFIX
        case Windowed(window=window, formula=inner):
            text, binds = f"{show_window(window)} {show_formula(inner, _PREFIX)}", _PREFIX
        case BinaryMetric(operator=operator, interval=interval, left=left, right=right):
            first, second = show_formula(left, _PREFIX), show_formula(right, _PREFIX)
            text, binds = f"{first} {operator}{show_interval(interval)} {second}", _SINCE
        case And(parts=parts):
            text, binds = " and ".join(show_formula(part, _SINCE) for part in parts), _AND
        case Or(parts=parts):
            text, binds = " or ".join(show_formula(part, _AND) for part in parts), _OR
        case Implies(left=left, right=right):
            text, binds = f"{show_formula(left, _OR)} implies {show_formula(right)}", _IMPLIES
        case _ if (word := prefix_of(formula)) is not None:
            (inner,) = children(formula)
            text, binds = f"{word} {show_formula(inner, _PREFIX)}", _PREFIX
        case _:
            raise TypeError(f"{formula!r} has no spelling")
    return f"({text})" if binds < least else text


def show_head(head: Head) -> str:
    text = (" | " if head.choice else ", ").join(show_formula(atom) for atom in head.atoms)
    if not head.exists:
        return text
    lasting = "lasting " if head.lasting else ""
    return f"exists {lasting}{', '.join(variable.name for variable in head.exists)}: {text}"


def show_rule(rule: Rule, width: int = LINE_WIDTH) -> str:
    """A rule on one line if it fits, otherwise with a line for each literal."""
    head = show_head(rule.head) if rule.head else ""
    if not rule.body:
        return f"{head}."
    opening = f"{head} :-" if head else ":-"
    literals = [show_formula(literal) for literal in rule.body]
    line = f"{opening} {', '.join(literals)}."
    if len(line) <= width:
        return line
    return f"{opening}\n" + ",\n".join(INDENT + literal for literal in literals) + "."


def _columns(columns: tuple[Column, ...]) -> str:
    if not columns:
        return ""
    return f"({', '.join(map(show_column, columns))})"


def show_column(column: Column) -> str:
    kind = "" if column.type == "any" else f": {column.type}"
    bound = "" if column.bound is None else f" {column.bound.operator} {show_term(column.bound.value)}"
    return show_name(column.name) + kind + bound


def _show_input(declared: Input) -> str:
    parts = [f"input {declared.predicate}{_columns(declared.columns)}"]
    if declared.where:
        pairs = (f"{show_name(c.column)} = {show_term(c.value)}" for c in declared.where)
        parts.append(f"where {', '.join(pairs)}")
    if isinstance(declared.delay, Distribution):
        entries = (f"{show_time(delay)}: {show_number(share)}" for delay, share in declared.delay.parts)
        parts.append(f"delay {{{', '.join(entries)}}}")
    elif declared.delay is not None:
        parts.append(f"delay {show_time(declared.delay)}" + " learned" * ("delay" in declared.learned))
    if declared.loss is not None:
        parts.append(f"loss {show_number(declared.loss)}")
    if declared.rate is not None:
        parts.append(f"rate {show_number(declared.rate)}")
    elif "rate" in declared.learned:
        parts.append("rate learned")
    return " ".join(parts) + "."


def show_query(query: Query) -> str:
    """A query's atom with its time, as messages and reports name it."""
    return show_atom(query.atom) + (f"@{show_pin(query.pin)}" if query.pin else "")


def show_statement(statement: Statement) -> str:
    match statement:
        case Param(name=name, value=value):
            return f"param {name} = {show_term(value)}."
        case Include(path=path):
            return f"include {show_string(path)}."
        case Timeline(kind=kind):
            return f"timeline {kind}."
        case Tick(length=length):
            return f"tick {show_time(length)}."
        case Start(moment=moment):
            return f"start {show_time(moment)}."
        case Reading(kind=kind):
            return f"reading {kind}."
        case Chase(kind=kind):
            return f"chase {kind}."
        case Horizon(length=ahead):
            return f"horizon {show_time(ahead)}."
        case Input():
            return _show_input(statement)
        case Static(predicate=predicate, columns=columns):
            return f"static {predicate}{_columns(columns)}."
        case Query():
            tone = f" {statement.tone}" if statement.tone else ""
            return f"query {show_query(statement)}{tone}."
        case Rule():
            return show_rule(statement)


def show_statements(statements: Iterable[Statement]) -> str:
    return "".join(show_statement(statement) + "\n" for statement in statements)


def show_program(program: Program) -> str:
    return show_statements(program.statements)


def show_question(question: Question) -> str:
    names = ", ".join(variable.name for variable in question.exists)
    return (f"exists {names}: " if names else "") + show_formula(question.formula)
