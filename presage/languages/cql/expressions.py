"""Expressions and conditions of CQL as terms and formulas.

A condition of SQL is true, false or unknown, and only what is true counts. Negation is therefore moved down to the
comparisons: there, what has no value makes either of a comparison and its opposite false, as in SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sqlglot import exp

from presage.errors import Span, nearest
from presage.languages.cql.relations import NUMBERS, RelationColumn
from presage.languages.writing import joined, never, no_value
from presage.model.formulas import OPPOSITES, And, Comparison, Formula, Or, Top
from presage.model.terms import Arithmetic, Case, Constant, Function, Negative, Term, number

COMPARED = {exp.EQ: "=", exp.NEQ: "!=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
CALCULATED = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
# Functions by their node: our name, the kinds of the arguments, the kind of the result.
FUNCTIONS: dict[type[Any], tuple[str, str]] = {
    exp.Abs: ("abs", "float"),
    exp.Floor: ("floor", "int"),
    exp.Ceil: ("ceil", "int"),
    exp.Round: ("round", "float"),
    exp.Sqrt: ("sqrt", "float"),
    exp.Exp: ("exp", "float"),
    exp.Ln: ("ln", "float"),
    exp.Pow: ("pow", "float"),
    exp.Lower: ("lower", "text"),
    exp.Upper: ("upper", "text"),
    exp.Length: ("length", "int"),
    exp.Substring: ("substring", "text"),
    exp.Replace: ("replace", "text"),
}
ASKED = {exp.StartsWith: "starts_with", exp.EndsWith: "ends_with", exp.Contains: "contains", exp.RegexpLike: "matches"}
NO_NULL = "a row with NULL is no answer: ask only where the column has a value, by a condition of its own"
_OF_TEXT = ("lower", "upper", "length", "substring", "replace")


class Wrong(Exception):
    """Something in a query that is wrong or cannot be said; `span` is its place in the text."""

    def __init__(self, message: str, span: Span, hint: str = "", code: str = "L102") -> None:
        super().__init__(message)
        self.message, self.span, self.hint, self.code = message, span, hint, code


def span_of(node: Any) -> Span:
    """Where a node stands: what it says of itself, or all that is below it."""
    if "from" in node.meta:
        return Span(node.meta["from"], node.meta["to"])
    places = [each.meta for each in node.walk() if "start" in each.meta]
    if not places:
        return span_of(node.parent) if node.parent is not None else Span(0, 1)
    return Span(min(each["start"] for each in places), max(each["end"] for each in places) + 1)


class CqlExpressions:
    """Reads expressions against what names mean: the columns of the sources, and those of the query around."""

    def __init__(
        self,
        column: Callable[[exp.Column], RelationColumn],
        aggregate: Callable[[Any], tuple[Term, str]] | None = None,
        subquery: Callable[[Any], tuple[tuple[Formula, ...], Term, str]] | None = None,
        exists: Callable[[Any, Any, bool], Formula] | None = None,
        known: Callable[[Any], RelationColumn | None] | None = None,
    ) -> None:
        self.column, self.aggregate, self.subquery, self.exists = column, aggregate, subquery, exists
        self.known = known or (lambda node: None)
        self.strict = False
        """Whether a row that is missing because a column of it would be NULL would be missed."""
        self.nullable = False
        """Whether something was read that may be NULL."""
        self.before: list[Formula] = []
        """What binds the values of scalar subqueries of the expression that is being read."""

    # Values

    def term(self, node: Any) -> tuple[Term, str]:
        known = self.known(node)
        if known is not None:
            return known.term, known.kind
        span = span_of(node)
        match node:
            case exp.Paren():
                return self.term(node.this)
            case exp.Column():
                if isinstance(node.this, exp.Star):
                    raise Wrong("`*` is no value", span, "name the column")
                cell = self.column(node)
                if cell.nullable and self.strict:
                    raise Wrong(f"`{node.sql()}` may be NULL, which cannot be said here", span, NO_NULL)
                self.nullable = self.nullable or cell.nullable
                return cell.term, cell.kind
            case exp.Literal():
                if node.is_string:
                    return Constant(node.this, span=span), "text"
                value = number(Fraction(node.this))
                return Constant(value, span=span), "int" if isinstance(value, int) else "float"
            case exp.Boolean():
                return Constant("true" if node.this else "false", span=span), "bool"
            case exp.Neg():
                inner, kind = self.number(node.this)
                if isinstance(inner, Constant):
                    assert not isinstance(inner.value, str)
                    return Constant(-inner.value, span=span), kind
                return Negative(inner, span=span), kind
            case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
                left, one = self.number(node.this)
                right, other = self.number(node.expression)
                operator = CALCULATED[type(node)]
                kind = "int" if one == other == "int" and operator != "/" else "float"
                return Arithmetic(operator, left, right, span=span), kind
            case exp.Mod():
                left, one = self.number(node.this)
                right, other = self.number(node.expression)
                return _remainder(left, right, span), "int" if one == other == "int" else "float"
            case exp.DPipe() | exp.Concat():
                parts = [node.this, node.expression] if isinstance(node, exp.DPipe) else node.expressions
                return Function("concat", tuple(self.term(each)[0] for each in parts), span=span), "text"
            case exp.Log() if node.expression is None or node.this.name == "10":
                return Function("log10", (self.number(node.expression or node.this)[0],), span=span), "float"
            case exp.Greatest() | exp.Least():
                name = "max" if isinstance(node, exp.Greatest) else "min"
                first, kind = self.number(node.this)
                for each in node.expressions:
                    second, other = self.number(each)
                    first, kind = (
                        Function(name, (first, second), span=span),
                        "int" if kind == other == "int" else "float",
                    )
                return first, kind
            case exp.Cast():
                return self._cast(node, span)
            case exp.Case():
                return self._case(node, span)
            case exp.Subquery() | exp.Select() if self.subquery is not None:
                body, term, kind = self.subquery(node)
                self.before.extend(body)
                return term, kind
            case exp.Null():
                raise Wrong("NULL is no value here", span, "a row with NULL is no answer: leave it out")
        if isinstance(node, exp.Anonymous) and node.name.upper() in ("ISTREAM", "DSTREAM", "RSTREAM"):
            hint = f"write it around the whole query: {node.name}(Select …)"
            raise Wrong(f"`{node.name}` cannot stand here", span, hint)
        if type(node) in FUNCTIONS:
            name, kind = FUNCTIONS[type(node)]
            read = self.text if name in _OF_TEXT else self.number
            given = [
                each for key in node.arg_types for each in _as_list(node.args.get(key)) if not isinstance(each, bool)
            ]
            subject, of = read(given[0])
            rest = [self.term(each)[0] for each in given[1:]]
            if kind == "float" and name in ("abs", "round") and of == "int":
                kind = "int"
            return Function(name, (subject, *rest), span=span), kind
        if isinstance(node, exp.AggFunc) or (isinstance(node, exp.Anonymous) and self.aggregate is not None):
            if self.aggregate is None:
                raise Wrong(f"`{node.sql()}` cannot stand here", span, "aggregates stand in Select and Having")
            return self.aggregate(node)
        raise Wrong(f"`{node.sql()}` has no counterpart", span, "see which functions and expressions are read")

    def number(self, node: Any) -> tuple[Term, str]:
        term, kind = self.term(node)
        if kind not in (*NUMBERS, "any", "time"):
            hint = "Cast(… As FLOAT) makes numbers of texts"
            raise Wrong(f"`{node.sql()}` is {kind}, and a number is needed here", span_of(node), hint, "D108")
        return term, kind

    def text(self, node: Any) -> tuple[Term, str]:
        term, kind = self.term(node)
        if kind not in ("text", "any"):
            hint = "Cast(… As TEXT) makes text of numbers"
            raise Wrong(f"`{node.sql()}` is {kind}, and text is needed here", span_of(node), hint, "D108")
        return term, kind

    def _cast(self, node: Any, span: Span) -> tuple[Term, str]:
        inner, kind = self.term(node.this)
        wanted = kind_of(node.args["to"])
        if wanted in (kind, "float") and kind in (*NUMBERS, wanted):
            return inner, wanted
        if wanted == "text":
            return Function("text", (inner,), span=span), "text"
        if wanted in NUMBERS and kind == "text":
            read: Term = Function("number", (inner,), span=span)
            return (read, "float") if wanted == "float" else (Function("round", (read,), span=span), "int")
        if wanted == "int" and kind == "float":
            return _rounded(inner, span), "int"
        raise Wrong(f"{kind} cannot be made {node.args['to'].sql()}", span, "text and numbers can be made each other")

    def _case(self, node: Any, span: Span) -> tuple[Term, str]:
        otherwise = node.args.get("default")
        value, kind = no_value(span), ""
        if otherwise is not None and not isinstance(otherwise, exp.Null):
            value, kind = self.term(otherwise)
        for each in reversed(node.args["ifs"]):
            condition = each.this if node.this is None else exp.EQ(this=node.this.copy(), expression=each.this.copy())
            then, other = self.term(each.args["true"])
            kind = kind or other
            _comparable(kind, other, each, span_of(each.args["true"]))
            kind = kind if kind == other else "float" if {kind, other} <= set(NUMBERS) else "any"
            read = self.condition(condition)
            if self.before:
                raise Wrong("a query cannot stand in Case", span, "")
            value = Case(read, then, value, span=span)
        return value, kind

    # Conditions

    def condition(self, node: Any, holds: bool = True) -> Formula:
        """A formula for where a condition is true; where it is false, if that is asked."""
        span = span_of(node)
        match node:
            case exp.Paren():
                return self.condition(node.this, holds)
            case exp.Not():
                return self.condition(node.this, not holds)
            case exp.And() | exp.Or():
                connective = And if isinstance(node, exp.And) == holds else Or
                strict, self.strict = self.strict, self.strict or connective is Or
                parts = (self.condition(node.left, holds), self.condition(node.right, holds))
                self.strict = strict
                return joined(connective, parts, span)
            case exp.Boolean():
                return Top(span=span) if bool(node.this) == holds else never(span)
            case exp.Between():
                low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
                high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
                parts = (self.condition(low, holds), self.condition(high, holds))
                return joined(And if holds else Or, parts, span)
            case exp.In():
                return self._in(node, holds, span)
            case exp.Exists() if self.exists is not None:
                return self.exists(node.this, None, holds)
            case exp.Is():
                return self._is(node, holds, span)
            case exp.Like() | exp.ILike():
                return self._like(node, holds, span)
        if type(node) in ASKED:
            return self.asking(ASKED[type(node)], (node.this, node.expression), holds, span)
        if type(node) in COMPARED:
            outer, self.before = self.before, []
            left, one = self.term(node.this)
            right, other = self.term(node.expression)
            _comparable(one, other, node, span)
            operator = COMPARED[type(node)]
            found: Formula = Comparison(operator if holds else OPPOSITES[operator], left, right, span=span)
            found = joined(And, (*self.before, found), span)
            self.before = outer
            return found
        if isinstance(node, exp.Column):
            term, kind = self.term(node)
            if kind in ("bool", "any"):
                return Comparison("=", term, Constant("true" if holds else "false"), span=span)
        raise Wrong(
            f"`{node.sql()}` is no condition that can be said here", span, "write comparisons with And, Or, Not"
        )

    def asking(self, name: str, given: tuple[Any, ...], holds: bool, span: Span) -> Formula:
        terms = tuple(self.text(each)[0] for each in given)
        return Comparison("=" if holds else "!=", Function(name, terms, span=span), Constant("true"), span=span)

    def _in(self, node: Any, holds: bool, span: Span) -> Formula:
        query = node.args.get("query")
        if query is not None:
            if self.exists is None:
                raise Wrong("a query cannot stand here", span, "")
            return self.exists(query.this if isinstance(query, exp.Subquery) else query, node.this, holds)
        parts = tuple(
            self.condition(exp.EQ(this=node.this.copy(), expression=each.copy()), holds) for each in node.expressions
        )
        return joined(Or if holds else And, parts, span)

    def _is(self, node: Any, holds: bool, span: Span) -> Formula:
        if isinstance(node.expression, exp.Boolean):
            return self.condition(exp.EQ(this=node.this.copy(), expression=node.expression.copy()), holds)
        if isinstance(node.expression, exp.Null) and isinstance(node.this, exp.Column):
            self.term(node.this)  # there are no facts with NULL
            return never(span) if holds else Top(span=span)
        raise Wrong(f"`{node.sql()}` cannot be said here", span, "there is no NULL: a row with NULL is no answer")

    def _like(self, node: Any, holds: bool, span: Span) -> Formula:
        pattern = node.expression
        if not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise Wrong("the pattern of Like is a text", span_of(pattern), "write it in quotes")
        text = "".join(".*" if sign == "%" else "." if sign == "_" else re.escape(sign) for sign in pattern.this)
        flags = "(?si)" if isinstance(node, exp.ILike) else "(?s)"
        subject = self.text(node.this)[0]
        holds = holds != bool(node.args.get("negate"))  # `Not Like`
        asked = Function("matches", (subject, Constant(f"{flags}^{text}$", span=span_of(pattern))), span=span)
        return Comparison("=" if holds else "!=", asked, Constant("true"), span=span)


def _remainder(left: Term, right: Term, span: Span) -> Term:
    """What is left of a division, with the sign of what is divided: `mod` has that of what it is divided by."""
    by = right
    if not (isinstance(right, Constant) and not isinstance(right.value, str) and right.value > 0):
        by = Function("abs", (right,), span=span)
    below = Comparison("<", left, Constant(0), span=span)
    negative = Negative(Function("mod", (Negative(left, span=span), by), span=span), span=span)
    return Case(below, negative, Function("mod", (left, by), span=span), span=span)


def _rounded(term: Term, span: Span) -> Term:
    """The nearest whole number; of two, the even one, as databases round what they cast."""
    down = Function("floor", (term,), span=span)
    half = Comparison("=", Arithmetic("-", term, down, span=span), Constant(Fraction(1, 2)), span=span)
    halved = Function("round", (Arithmetic("/", term, Constant(2), span=span),), span=span)
    return Case(half, Arithmetic("*", Constant(2), halved, span=span), Function("round", (term,), span=span), span=span)


def _as_list(given: Any) -> list[Any]:
    return [] if given is None else given if isinstance(given, list) else [given]


def _comparable(one: str, other: str, node: Any, span: Span) -> None:
    groups = [("number" if each in (*NUMBERS, "time") else each) for each in (one, other)]
    if "any" not in groups and groups[0] != groups[1]:
        message = f"`{node.sql()}` has {_kind(one)} on one side and {_kind(other)} on the other"
        raise Wrong(message, span, "compare values of one kind; Cast makes text of numbers and numbers of text", "D108")


def _kind(kind: str) -> str:
    return "a number" if kind in NUMBERS else kind


def kind_of(node: Any) -> str:
    """Our type for one of SQL."""
    name = str(node.args.get("kind") or (node.this.name if hasattr(node.this, "name") else node.this))
    if node.is_type(*exp.DataType.INTEGER_TYPES):
        return "int"
    if node.is_type(*exp.DataType.REAL_TYPES):
        return "float"
    if node.is_type(*exp.DataType.TEXT_TYPES):
        return "text"
    if node.is_type(exp.DataType.Type.BOOLEAN):
        return "bool"
    if node.is_type(*exp.DataType.TEMPORAL_TYPES):
        return "time"
    known = ("INT", "FLOAT", "TEXT", "BOOLEAN", "TIMESTAMP")
    near = nearest(name.upper(), known)
    hint = f"did you mean {near}?" if near else f"types are {', '.join(known)}"
    raise Wrong(f"`{name}` is no type that is known here", span_of(node), hint)
