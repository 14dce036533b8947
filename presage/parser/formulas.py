"""Reading formulas. One function per level of binding, loosest first."""

from __future__ import annotations

from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Or,
    Top,
    Windowed,
    prefixed,
)
from presage.model.terms import Constant
from presage.parser.cursor import Cursor
from presage.parser.functions import function
from presage.parser.terms import expression
from presage.parser.time import interval, pinned
from presage.parser.windows import pattern, window
from presage.syntax import (
    ARITHMETIC,
    ASKING,
    BINARY_METRIC,
    COMPARISONS,
    KEYWORDS,
    PREFIXES,
    UNARY_METRIC,
)

_OF_A_TERM = frozenset(COMPARISONS + ARITHMETIC)
_STARTS_TERM = frozenset(("number", "duration", "timestamp", "string", "-", "now"))


def formula(c: Cursor) -> Formula:
    """The loosest level: `implies`, to the right."""
    c.deeper()
    start = c.token.start
    left = _or(c)
    if c.kind == "implies":
        c.take()
        left = Implies(left, formula(c), span=c.since(start))
    c.depth -= 1
    return left


def _or(c: Cursor) -> Formula:
    start = c.token.start
    first = _and(c)
    if c.kind != "or":
        return first
    parts = [first]
    while c.accept("or"):
        parts.append(_and(c))
    return Or(tuple(parts), span=c.since(start))


def _and(c: Cursor) -> Formula:
    start = c.token.start
    first = _since(c)
    if c.kind != "and":
        return first
    parts = [first]
    while c.accept("and"):
        parts.append(_since(c))
    return And(tuple(parts), span=c.since(start))


def _since(c: Cursor) -> Formula:
    start = c.token.start
    left = _prefix(c)
    if c.kind not in BINARY_METRIC:
        return left
    word = c.take()
    if not _at_interval(c):
        raise c.failure("P211", f"`{word.text}` needs an interval", word.span, f"write `{word.kind}[0,10]`")
    over = interval(c)
    right = _prefix(c)
    if c.kind in BINARY_METRIC:
        hint = "write `(a since[0,5] b) since[0,5] c` or `a since[0,5] (b since[0,5] c)`"
        raise c.failure("P210", "a chain of `since` and `until` needs parentheses", c.token.span, hint)
    return BinaryMetric(word.kind, over, left, right, span=c.since(start))


def _at_interval(c: Cursor) -> bool:
    """Whether an interval follows: `(` may also open a formula."""
    if c.kind == "[":
        return True
    if c.kind != "(":
        return False
    bound = c.tokens[min(c.at + 1, len(c.tokens) - 1)].kind
    after = c.tokens[min(c.at + 2, len(c.tokens) - 1)].kind
    return bound in ("number", "duration", "-") and after in (",", "/", "number", "duration")


def _prefix(c: Cursor) -> Formula:
    token = c.token
    kind = token.kind
    if kind in UNARY_METRIC:
        c.take()
        if not _at_interval(c):
            raise c.failure("P211", f"`{token.text}` needs an interval", token.span, f"write `{kind}[0,10]`")
        over = interval(c)
        return Metric(kind, over, _operand(c), span=c.since(token.start))
    if kind == "window":
        selects = window(c)
        return Windowed(selects, _operand(c), span=c.since(token.start))
    if kind in PREFIXES:
        c.take()
        return prefixed(kind, _operand(c), c.since(token.start))
    return _primary(c)


def _operand(c: Cursor) -> Formula:
    c.deeper()
    found = _prefix(c)
    c.depth -= 1
    return found


def _primary(c: Cursor) -> Formula:
    token = c.token
    kind = token.kind
    found: Formula
    if kind == "name" or kind == "variable":
        after = c.next_kind
        if after in _OF_A_TERM or after == "{":
            return comparison(c)
        if after == "(" and (closing := c.closing.get(c.at + 1)) is not None:
            behind = c.tokens[closing + 1].kind
            if behind in _OF_A_TERM:
                return comparison(c)
            if token.text in ASKING and behind != "@" and token.text not in c.predicates:
                asked = function(c)
                return Comparison("=", asked, Constant("true"), span=asked.span)
        found = pattern(c)
    elif kind == "(":
        closing = c.closing.get(c.at)
        if closing is not None and c.tokens[closing + 1].kind in _OF_A_TERM:
            return comparison(c)
        c.take()
        found = formula(c)
        c.close(token, ")", "an operator or `)`")
    elif kind == "true":
        c.take()
        found = Top(span=token.span)
    elif kind == "now" and c.next_kind == "(":
        raise c.reserved(token)
    elif kind in _STARTS_TERM:
        if kind == "string" and c.next_kind == "(":
            hint = "write the predicate without quotes"
            raise c.failure("P201", "a quoted string is a constant, not a predicate", token.span, hint)
        return comparison(c)
    elif kind == "exists":
        hint = "`exists` opens a head, or the formula of `presage ask`; in a body every variable is already some value"
        raise c.failure("P201", "`exists` cannot stand inside a formula", token.span, hint)
    elif kind in KEYWORDS and c.next_kind in ("(", ",", ".", "@"):
        raise c.reserved(token)
    else:
        raise c.unexpected("a formula")
    pins = 0
    while c.kind == "@":
        c.deeper()
        pins += 1
        found = pinned(c, found, token.start)
    c.depth -= pins
    return found


def comparison(c: Cursor) -> Comparison:
    start = c.token.start
    left = expression(c)
    if c.kind not in COMPARISONS:
        raise c.unexpected("a comparison (= != < <= > >=)")
    operator = c.take().kind
    right = expression(c)
    if c.kind in COMPARISONS:
        hint = "write two comparisons joined by `,` (or `and`)"
        raise c.failure("P201", "comparisons cannot be chained", c.token.span, hint)
    return Comparison(operator, left, right, span=c.since(start))


def literal(c: Cursor) -> Formula:
    """An element of a body. Most are plain atoms, which need not go through every level."""
    if c.kind == "name":
        before = c.at
        after = c.next_kind
        closing = c.closing.get(c.at + 1) if after == "(" else None
        plain = after in (",", ".", "}") or (
            closing is not None and c.tokens[closing + 1].kind in (",", ".", "}") and c.token.text not in ASKING
        )
        if plain:
            found: Atom = pattern(c)
            if c.kind in (",", ".", "}"):
                return found
            c.at = before
    return formula(c)
