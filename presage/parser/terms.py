"""Reading terms: arguments of atoms, and arithmetic on the sides of comparisons."""

from __future__ import annotations

from fractions import Fraction

from presage.errors import Span
from presage.model.functions import FUNCTIONS
from presage.model.terms import Arithmetic, Constant, Negative, Now, Number, Term, Variable, number
from presage.parser.cursor import Cursor, Failure, describe
from presage.parser.lexer import Token
from presage.parser.time import duration_of, exact, parameter_of, timestamp_of
from presage.syntax import AGGREGATES, ARITHMETIC, KEYWORDS

MAX_OPERATORS = 60


def argument(c: Cursor) -> Term:
    """An argument of an atom: a constant or a variable."""
    token = c.token
    kind = token.kind
    if kind == "variable":
        c.at += 1
        found: Term = Variable(token.text, span=Span(token.start, token.end))
    elif kind == "name" or kind == "string":
        c.at += 1
        if kind == "name" and c.kind in ("(", "{"):
            if c.kind == "{" or (token.text in AGGREGATES and token.text not in FUNCTIONS):
                hint = f"give it a variable in the body, {counted_as(token.text, 'N')}, and use `N` here"
                message = f"`{token.text}` is an aggregate: it has a value in the body"
                raise c.failure("P206", message, token.span, hint)
            if token.text in FUNCTIONS:
                hint = f"compute it in the body, `Value = {token.text}(…)`, and use `Value` here"
                raise c.failure("P206", f"the function `{token.text}` cannot stand in an argument", token.span, hint)
        if kind == "name" and c.kind == "(":
            message = f"`{token.text}(…)` is not an argument: there are no function terms"
            raise c.failure("P206", message, token.span, "give the value a variable, or its parts columns of their own")
        found = Constant(token.text, span=Span(token.start, token.end))
    elif kind == "parameter":
        found = parameter_of(c.take())
    elif kind == "-" and c.next_kind == "parameter":
        c.take()
        found = parameter_of(c.take(), token)
    elif kind == "-" and c.next_kind != "number":
        raise _computed(c, token)
    elif kind == "number" or kind == "-":
        found = Constant(signed_number(c), span=c.since(token.start))
    elif kind in KEYWORDS:
        raise c.reserved(token)
    elif kind in ("duration", "timestamp"):
        hint = f'as a value write it in quotes: "{token.text}"'
        raise c.failure("P206", f"{describe(token)} is not an argument", token.span, hint)
    else:
        raise c.unexpected("an argument (a constant or a variable)")
    if c.kind in ARITHMETIC:
        raise _computed(c, token)
    return found


def _computed(c: Cursor, token: Token) -> Failure:
    written = f"{token.text}{c.tokens[c.at + 1].text}" if c.token is token else f"{token.text} {c.token.text} …"
    hint = f"compute it in the body, `Value = {written}`, and use `Value` here"
    name = _with_hyphens(c)
    if c.token is not token and name:
        hint = f'a name with a hyphen stands in quotes, "{name}"; or, if it is a difference, {hint}'
    return c.failure("P206", "an argument cannot be computed in place", c.token.span, hint)


def _with_hyphens(c: Cursor) -> str:
    """What looks like one name, such as `pump-7`: nothing stands between its parts."""
    parts = [c.tokens[c.at - 1]]
    for token in c.tokens[c.at :]:
        if token.start != parts[-1].end or token.kind not in ("-", "name", "number", "variable"):
            break
        parts.append(token)
    return "".join(part.text for part in parts) if len(parts) > 2 and parts[-1].kind != "-" else ""


def counted_as(function: str, result: str = "") -> str:
    """How an aggregate is written, for whoever wrote it otherwise."""
    terms = "T" if function == "count" else "V, T"
    said = f"{function} {{ {terms} : window(10) p(X, V)@T }}"
    return f"`{result} = {said}`" if result else f"`{said}`"


def signed_number(c: Cursor) -> Number:
    """`3`, `-1`, `0.5`, `1/2`."""
    negative = c.accept("-") is not None
    value = plain_number(c)
    return number(-value) if negative else value


def plain_number(c: Cursor) -> Number:
    token = c.expect("number", "a number")
    value = exact(token.text)
    if c.kind == "/" and c.next_kind == "number":
        c.take()
        below = c.take()
        return divide(c, value, exact(below.text), Span(token.start, below.end))
    return value


def divide(c: Cursor, above: Number, below: Number, span: Span) -> Number:
    if below == 0:
        raise c.failure("P105", "division by zero", span, "a fraction has a denominator other than 0")
    return number(Fraction(above) / Fraction(below))


def expression(c: Cursor) -> Term:
    """A sum of products, as the side of a comparison."""
    start = c.token.start
    left = _product(c)
    operators = 0
    while c.kind in ("+", "-"):
        operators = _count(c, operators)
        operator = c.take().kind
        left = Arithmetic(operator, left, _product(c), span=c.since(start))
    return left


def _product(c: Cursor) -> Term:
    start = c.token.start
    left = _unary(c)
    operators = 0
    while c.kind in ("*", "/"):
        operators = _count(c, operators)
        operator = c.take().kind
        right = _unary(c)
        if operator == "/" and is_number(right) and value_of(right) == 0:
            raise c.failure("P105", "division by zero", right.span, "nothing can be divided by 0")
        if operator == "/" and is_number(left) and is_number(right):
            left = Constant(divide(c, value_of(left), value_of(right), c.since(start)), span=c.since(start))
        else:
            left = Arithmetic(operator, left, right, span=c.since(start))
    return left


def _count(c: Cursor, operators: int) -> int:
    if operators >= MAX_OPERATORS:
        message = f"one expression has more than {MAX_OPERATORS} operators"
        raise c.failure("P102", message, c.token.span, "split it with `=` over several variables")
    return operators + 1


def is_number(term: Term) -> bool:
    return isinstance(term, Constant) and not isinstance(term.value, str)


def value_of(term: Term) -> Number:
    assert isinstance(term, Constant) and not isinstance(term.value, str)
    return term.value


def _unary(c: Cursor) -> Term:
    token = c.token
    if token.kind == "-":
        c.take()
        c.deeper()
        inner = _unary(c)
        c.depth -= 1
        span = c.since(token.start)
        if is_number(inner):
            return Constant(number(-value_of(inner)), span=span)
        return Negative(inner, span=span)
    return _simple(c, token)


def _simple(c: Cursor, token: Token) -> Term:
    match token.kind:
        case "name" | "variable" if c.next_kind in ("(", "{"):
            from presage.parser.functions import aggregate, function

            return function(c) if c.next_kind == "(" else aggregate(c)
        case "name" | "string":
            c.take()
            return Constant(token.text, span=token.span)
        case "variable":
            c.take()
            return Variable(token.text, span=token.span)
        case "number":
            c.take()
            return Constant(exact(token.text), span=token.span)
        case "parameter":
            return parameter_of(c.take())
        case "now":
            c.take()
            return Now(span=token.span)
        case "duration":
            c.take()
            return duration_of(token)
        case "timestamp":
            return timestamp_of(c)
        case "(":
            c.take()
            c.deeper()
            inner = expression(c)
            c.depth -= 1
            c.close(token, ")", "`)`")
            return inner
    raise c.unexpected("a number, a constant or a variable")
