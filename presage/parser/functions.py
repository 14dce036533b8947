"""Reading functions and aggregates, which are terms of comparisons."""

from __future__ import annotations

from presage.errors import Span, nearest
from presage.model.formulas import And, Comparison, Not, Or, aggregates, walk
from presage.model.functions import FUNCTIONS, Signature, pattern, zone
from presage.model.terms import Aggregate, Case, Constant, Function, Term
from presage.parser.cursor import Cursor, Failure
from presage.parser.lexer import Token
from presage.parser.terms import counted_as, expression
from presage.syntax import AGGREGATES

CASE = "case"
_OTHER_NAMES = {
    "average": "avg", "mean": "avg", "total": "sum", "minimum": "min", "maximum": "max", "number_of": "count",
    "latest": "last", "earliest": "first", "len": "length", "strlen": "length", "lcase": "lower", "ucase": "upper",
    "tolower": "lower", "toupper": "upper", "substr": "substring", "ceiling": "ceil", "log": "ln", "power": "pow",
    "str": "text", "like": "matches", "regex": "matches", "regexp_matches": "matches", "startswith": "starts_with",
    "endswith": "ends_with", "if": CASE, "dayofweek": "weekday",
}  # fmt: skip


def function(c: Cursor) -> Term:
    """`name(term, …)`, or `case(condition, term, term)`."""
    token = c.take()
    opening = c.take()
    if token.text == CASE:
        return _case(c, token, opening)
    signature = FUNCTIONS.get(token.text)
    if signature is None and token.text in AGGREGATES:
        raise _of_a_set(c, token)
    arguments: list[Term] = []
    c.deeper()
    while c.kind != ")":
        arguments.append(expression(c))
        if not c.accept(","):
            break
    c.depth -= 1
    c.close(opening, ")", "`,` or `)` after the argument")
    span = c.since(token.start)
    if token.text in AGGREGATES and len(arguments) == 1:
        raise _of_a_set(c, token)
    if signature is None:
        raise _unknown(c, token)
    if len(arguments) < signature.least or (signature.most is not None and len(arguments) > signature.most):
        raise _wrong_number(c, token, signature, len(arguments), span)
    _refuse_constants(c, token.text, arguments)
    return Function(token.text, tuple(arguments), span=span)


def _of_a_set(c: Cursor, token: Token) -> Failure:
    message = f"`{token.text}` of a set says what it is a set of"
    hint = f"write {counted_as(token.text)}: what is counted, then where it comes from; groups are the variables "
    return c.failure("P212", message, token.span, hint + "that also stand outside the braces")


def _unknown(c: Cursor, token: Token) -> Failure:
    known = (*FUNCTIONS, CASE)
    meant = _OTHER_NAMES.get(token.text.lower()) or nearest(token.text.lower(), known)
    if meant in AGGREGATES and meant not in ("min", "max"):
        hint = f"write {counted_as(meant)}"
    elif meant is not None:
        hint = f"did you mean `{meant}`?"
    else:
        hint = f"the functions are {', '.join(sorted(known))}"
    return c.failure("P213", f"there is no function `{token.text}`", token.span, hint)


def _wrong_number(c: Cursor, token: Token, signature: Signature, given: int, span: Span) -> Failure:
    least, most = signature.least, signature.most
    wanted = f"{least} or more" if most is None else str(least) if least == most else f"{least} or {most}"
    message = f"`{token.text}` takes {wanted} value{'' if wanted == '1' else 's'}, not {given}"
    return c.failure("P213", message, span, "see the functions in the language reference")


def _refuse_constants(c: Cursor, name: str, arguments: list[Term]) -> None:
    """What can be seen to be wrong without data: a regular expression, a zone."""
    last = arguments[-1] if arguments else None
    if not isinstance(last, Constant) or not isinstance(last.value, str):
        return
    if name == "matches":
        try:
            pattern(last.value)
        except ValueError as found:
            hint = "regular expressions are RE2's: no look-around, no back references; `\\\\` in quotes is one `\\`"
            message = f"the regular expression cannot be read: {found}"
            raise c.failure("P214", message, last.span, hint) from None
    elif len(arguments) == 2 and FUNCTIONS[name].takes == "ts?" and zone(last.value) is None:
        message = f"there is no zone `{last.value}`"
        raise c.failure("P213", message, last.span, 'zones are named as in "Europe/Vienna" or "UTC"')


def _case(c: Cursor, token: Token, opening: Token) -> Term:
    from presage.parser.formulas import formula

    c.deeper()
    condition = formula(c)
    for part in walk(condition):
        if not isinstance(part, (And, Or, Not, Comparison)):
            hint = "conditions are comparisons and functions such as `contains`, with `and`, `or` and `not`"
            raise c.failure("P213", "this cannot be the condition of a `case`", part.span, hint)
        if isinstance(part, Comparison) and aggregates(part):
            hint = "give the aggregate a variable, `N = count { … }`, and compare that"
            raise c.failure("P213", "an aggregate cannot stand in the condition of a `case`", part.span, hint)
    if c.kind != ",":
        raise c.unexpected("`,` after the condition of `case`", "write `case(V > 30, hot, cold)`")
    c.take()
    then = expression(c)
    if c.kind != ",":
        raise c.unexpected("`,` and what it is otherwise", "write `case(V > 30, hot, cold)`")
    c.take()
    otherwise = expression(c)
    c.depth -= 1
    c.close(opening, ")", "`)` after the last part of `case`")
    return Case(condition, then, otherwise, span=c.since(token.start))


def aggregate(c: Cursor) -> Aggregate:
    """`count { T : window(10m) failed(U)@T }`."""
    from presage.parser.formulas import literal

    token = c.take()
    opening = c.take()
    if token.text not in AGGREGATES:
        meant = _OTHER_NAMES.get(token.text.lower(), token.text.lower())
        near = meant if meant in AGGREGATES else nearest(meant, AGGREGATES)
        hint = f"did you mean `{near}`?" if near else f"the aggregates are {', '.join(AGGREGATES)}"
        raise c.failure("P212", f"there is no aggregate `{token.text}`", token.span, hint)
    c.deeper()
    terms = c.separated(",", expression)
    if c.kind != ":":
        raise c.unexpected("`,` or `:` after what is counted", f"write {counted_as(token.text)}")
    c.take()
    body = c.separated(",", literal)
    c.depth -= 1
    c.close(opening, "}", "`,` or `}` after the literal")
    span = c.since(token.start)
    for part in (node for each in body for node in walk(each)):
        if isinstance(part, Comparison) and (inner := aggregates(part)):
            hint = "name the inner one with a rule of its own, `n(X, N) :- N = count { … }.`"
            raise c.failure("P212", "an aggregate cannot stand inside an aggregate", inner[0].span, hint)
    for term in terms:
        if isinstance(term, Aggregate):
            raise c.failure("P212", "an aggregate cannot stand inside an aggregate", term.span, "use a rule of its own")
    if token.text in ("first", "last") and len(terms) != 2:
        hint = f"write `{token.text} {{ V, T : window(10) p(X, V)@T }}`: the value, and the time it is ordered by"
        raise c.failure("P212", f"`{token.text}` needs two terms, a value and a time", span, hint)
    return Aggregate(token.text, tuple(terms), tuple(body), span=span)
