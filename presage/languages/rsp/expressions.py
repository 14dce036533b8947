"""Expressions of SPARQL as terms and formulas.

An expression that has an error counts as not true, and so does its negation: negation is therefore moved down to the
comparisons, where what has no value makes either of a comparison and its opposite false. Which variables are bound is
known where an expression is read, so `BOUND` is decided there and then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Literal, URIRef
from rdflib.term import Variable as Name

from presage.errors import Span
from presage.io.rdf import XSD, literal
from presage.languages.rsp.clauses import Misread
from presage.languages.writing import joined, never, no_value
from presage.model.formulas import OPPOSITES, And, Comparison, Formula, Or, Top
from presage.model.terms import Arithmetic, Case, Constant, Function, Negative, Term, Variable

TRUE = Constant(f'"true"^^<{XSD}boolean>')
FALSE = Constant(f'"false"^^<{XSD}boolean>')
FUNCTIONS = {
    "ABS": "abs",
    "CEIL": "ceil",
    "FLOOR": "floor",
    "ROUND": "round",
    "STRLEN": "length",
    "UCASE": "upper",
    "LCASE": "lower",
    "CONCAT": "concat",
    "SUBSTR": "substring",
}
ASKED = {"CONTAINS": "contains", "STRSTARTS": "starts_with", "STRENDS": "ends_with"}


class Unbound(Exception):
    """The expression has an error: a variable of it is not bound."""


def part_of(node: Any, key: str) -> Any:
    """A part of what rdflib has read, `None` where it is not there: its own `get` gives the key then."""
    return node[key] if key in node else None  # noqa: SIM401


def constant(term: Any) -> Constant:
    """The constant that a term of rdflib is."""
    if isinstance(term, URIRef):
        return Constant(f"<{term}>")
    if isinstance(term, Literal):
        return Constant(literal(str(term), str(term.datatype or ""), term.language or ""))
    if isinstance(term, BNode):
        return Constant(f"_:{term}")
    return Constant(str(term))


class RspExpressions:
    def __init__(
        self,
        bound: Callable[[str], Term | None],
        exists: Callable[[Any, bool], Formula],
        place: Callable[[Any], Span],
    ) -> None:
        """`bound` gives what a variable stands for, where it is bound."""
        self.bound, self.exists, self.place = bound, exists, place

    # Values

    def term(self, node: Any) -> Term:
        """What an expression is worth; raises `Unbound` where it surely has an error."""
        if isinstance(node, Name):
            found = self.bound(str(node))
            if found is None:
                raise Unbound
            return found
        if not isinstance(node, CompValue):
            return constant(node)
        span = self.place(node)
        match node.name:
            case "AdditiveExpression" | "MultiplicativeExpression":
                left = self._operand(node.expr)
                for operator, other in zip(node.op or (), node.other or (), strict=True):
                    left = Arithmetic(str(operator), left, self._operand(other), span=span)
                return left
            case "UnaryMinus":
                return Negative(self._operand(node.expr), span=span)
            case "UnaryPlus":
                return Arithmetic("+", self._operand(node.expr), Constant(0), span=span)
            case "Function":
                return self._cast(node, span)
            case "Builtin_IF":
                return self._chosen(node, span)
            case "Builtin_STR":
                return self._text(self.term(node.arg), span)
            case "Builtin_COALESCE":
                return self._first(node.arg, span)
        if node.name.startswith("Builtin_") and node.name[8:] in FUNCTIONS:
            name = node.name[8:]
            given = (
                node.arg
                if name == "CONCAT"
                else [node[key] for key in ("arg", "start", "length") if part_of(node, key) is not None]
            )
            return Function(FUNCTIONS[name], tuple(self.term(each) for each in given), span=span)
        raise Misread(f"`{_shown(node)}` has no counterpart", span, "see which functions are read", "L102")

    def _operand(self, node: Any) -> Term:
        """What is computed with: a text has no value there."""
        found = self.term(node)
        if isinstance(found, Constant) and isinstance(found.value, str):
            raise Unbound
        return found

    def _chosen(self, node: Any, span: Span) -> Term:
        """What `IF` gives: where its condition has an error it is neither true nor false, and there is no value."""
        true, false = self.condition(node.arg1), self.condition(node.arg1, False)
        if true == never(span) or false == never(span):
            if true == false:
                raise Unbound
            return self.term(node.arg3 if true == never(span) else node.arg2)
        otherwise = Case(false, self.term(node.arg3), no_value(span), span=span)
        return Case(true, self.term(node.arg2), otherwise, span=span)

    def _first(self, nodes: Iterable[Any], span: Span) -> Term:
        """The first of some expressions that has a value: only what has one is equal to itself."""
        found: list[Term] = []
        for each in nodes:
            try:
                found.append(self.term(each))
            except Unbound:
                continue
            if isinstance(found[-1], (Variable, Constant)):
                break
        if not found:
            raise Unbound
        value = found.pop()
        for term in reversed(found):
            value = Case(Comparison("=", term, term, span=span), term, value, span=span)
        return value

    def _cast(self, node: Any, span: Span) -> Term:
        name = str(node.iri)
        if name.startswith(XSD) and len(node.expr) == 1:
            inner = self.term(node.expr[0])
            kind = name[len(XSD) :]
            if kind in ("double", "float", "decimal"):
                return Function("number", (Function("text", (inner,), span=span),), span=span)
            if kind in ("integer", "int", "long"):
                read: Term = Function("number", (Function("text", (inner,), span=span),), span=span)
                down = Function("floor", (read,), span=span)
                up = Function("ceil", (read,), span=span)
                return Case(Comparison(">=", read, Constant(0), span=span), down, up, span=span)
            if kind == "string":
                return self._text(inner, span)
        raise Misread(
            f"the function <{name}> has no counterpart", span, "casts to numbers and strings are read", "L102"
        )

    def _text(self, inner: Term, span: Span) -> Term:
        """What `STR` gives: an IRI without its brackets, a number as text, a plain literal itself."""
        if isinstance(inner, Constant) and isinstance(inner.value, str) and inner.value.startswith("<"):
            return Constant(inner.value[1:-1], span=span)
        whole = Function("text", (inner,), span=span)
        short = Function("length", (whole,), span=span)
        bare = Function("substring", (whole, Constant(2), Arithmetic("-", short, Constant(2))), span=span)
        # The text of a tagged literal cannot be cut out.
        plain = Case(_asked("starts_with", whole, '"', span), no_value(span), whole, span=span)
        return Case(_asked("starts_with", whole, "<", span), bare, plain, span=span)

    # Conditions

    def condition(self, node: Any, holds: bool = True) -> Formula:
        """A formula for where an expression is true; where it is false, if that is asked."""
        try:
            return self._condition(node, holds)
        except Unbound:
            return never(self.place(node))

    def _condition(self, node: Any, holds: bool) -> Formula:
        span = self.place(node)
        if not isinstance(node, CompValue):
            return self._effective(node, holds, span)
        match node.name:
            case "ConditionalAndExpression" | "ConditionalOrExpression":
                parts = [self.condition(node.expr, holds), *(self.condition(each, holds) for each in node.other or ())]
                kind = And if (node.name == "ConditionalAndExpression") == holds else Or
                return joined(kind, parts, span)
            case "UnaryNot":
                return self.condition(node.expr, not holds)
            case "RelationalExpression":
                return self._compared(node, holds, span)
            case "Builtin_BOUND":
                there = self.bound(str(node.arg)) is not None
                return Top(span=span) if there == holds else never(span)
            case "Builtin_EXISTS" | "Builtin_NOTEXISTS":
                return self.exists(node.graph, holds == (node.name == "Builtin_EXISTS"))
            case "Builtin_REGEX":
                return self._regex(node, holds, span)
            case "Builtin_sameTerm":
                sign = "=" if holds else "!="
                return Comparison(sign, self.term(node.arg1), self.term(node.arg2), span=span)
            case "Builtin_isIRI" | "Builtin_isURI":
                return among(self.term(node.arg), "<", "=", holds, span)
            case "Builtin_isBLANK":
                return among(self.term(node.arg), "_:", "_;", holds, span)
            case "Builtin_isNUMERIC":
                return self._number(self.term(node.arg), holds, span)
            case "Builtin_isLITERAL":
                term = self.term(node.arg)
                others = [among(term, "<", "=", not holds, span), among(term, "_:", "_;", not holds, span)]
                number = self._number(term, holds, span)
                found = joined(And if holds else Or, others, span)
                return joined(Or if holds else And, [number, found], span)
        if node.name.startswith("Builtin_") and node.name[8:] in ASKED:
            given = (self.term(node.arg1), self.term(node.arg2))
            return self._asking(ASKED[node.name[8:]], given, holds, span)
        return self._effective(node, holds, span)

    def _asking(self, name: str, given: tuple[Term, ...], holds: bool, span: Span) -> Formula:
        """A function of plain texts that asks; of anything else it is an error."""
        guards = [each for term in given if isinstance(term, Variable) for each in plain_text(term, span)]
        asked = Comparison("=" if holds else "!=", Function(name, given, span=span), Constant("true"), span=span)
        return joined(And, [asked, *guards], span)

    def _number(self, term: Term, holds: bool, span: Span) -> Formula:
        if holds:
            return is_number(term, span)
        # A text, and texts alone, is not less than the empty one.
        return Comparison(">=", term, Constant(""), span=span)

    def _effective(self, node: Any, holds: bool, span: Span) -> Formula:
        term = self.term(node)
        if isinstance(term, Constant):
            value = term.value
            true = (
                term == TRUE
                or (not isinstance(value, str) and value != 0)
                or (isinstance(value, str) and value != "" and not value.startswith(("<", '"', "_:")))
            )
            return Top(span=span) if true == holds else never(span)
        if holds:
            number = joined(And, [self._number(term, True, span), Comparison("!=", term, Constant(0), span=span)], span)
            text = joined(And, [*plain_text(term, span), Comparison("!=", term, Constant(""), span=span)], span)
            return joined(Or, [Comparison("=", term, TRUE, span=span), number, text], span)
        return joined(Or, [Comparison("=", term, each, span=span) for each in (FALSE, Constant(0), Constant(""))], span)

    def _compared(self, node: Any, holds: bool, span: Span) -> Formula:
        operator = str(node.op).upper()
        left = self.term(node.expr)
        if operator in ("IN", "NOT IN"):
            wanted = holds == (operator == "IN")
            parts: list[Formula] = []
            for each in node.other if isinstance(node.other, list) else [node.other]:
                if str(each) == "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil":
                    continue
                parts.append(Comparison("=" if wanted else "!=", left, self.term(each), span=span))
            if not parts:
                return never(span) if wanted else Top(span=span)
            return joined(Or if wanted else And, parts, span)
        right = self.term(node.other)
        sign = operator if holds else OPPOSITES[operator]
        found = Comparison(sign, left, right, span=span)
        if sign in ("=", "!="):
            return found
        return self._ordered(found, left, right, span)

    def _ordered(self, found: Comparison, left: Term, right: Term, span: Span) -> Formula:
        """Numbers and plain texts have an order; IRIs have none, and other literals not that of their texts."""
        guards: list[Formula] = []
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Constant) and isinstance(one.value, str) and one.value.startswith(("<", '"', "_:")):
                if one.value.startswith('"'):
                    hint = "numbers and plain texts are; give times as numbers"
                    raise Misread(f"{one.value} is not ordered here", span, hint, "L102")
                return never(span)
            if _is_numeric(one) or _is_numeric(other):
                return found  # a text is neither less nor greater than a number
            if isinstance(one, Variable):
                if isinstance(other, Constant):
                    guards.extend(plain_text(one, span))
                else:
                    number = self._number(one, True, span)
                    guards.append(joined(Or, [number, joined(And, plain_text(one, span), span)], span))
        return joined(And, [found, *guards], span)

    def _regex(self, node: Any, holds: bool, span: Span) -> Formula:
        pattern, flags = node.pattern, part_of(node, "flags")
        if not isinstance(pattern, Literal) or (flags is not None and not isinstance(flags, Literal)):
            raise Misread("the pattern of REGEX is a text", span, "write it in quotes", "L102")
        given = str(flags or "")
        if set(given) - set("ims"):
            raise Misread(f"the flags `{given}` of REGEX are not known", span, "i, m and s are", "L102")
        text = f"(?{given}){pattern}" if given else str(pattern)
        return self._asking("matches", (self.term(node.text), Constant(text)), holds, span)


def _asked(name: str, subject: Term, text: str, span: Span) -> Formula:
    return Comparison("=", Function(name, (subject, Constant(text)), span=span), Constant("true"), span=span)


def _is_numeric(term: Term) -> bool:
    if isinstance(term, Constant):
        return not isinstance(term.value, str)
    return isinstance(term, (Arithmetic, Negative)) or (
        isinstance(term, Function) and term.name in ("abs", "ceil", "floor", "round", "length", "number")
    )


def among(term: Term, first: str, end: str, holds: bool, span: Span) -> Formula:
    """Whether a text begins as texts from `first` to before `end` do."""
    if holds:
        parts: list[Formula] = [
            Comparison(">=", term, Constant(first), span=span),
            Comparison("<", term, Constant(end), span=span),
        ]
        return And(tuple(parts), span=span)
    sides: list[Formula] = [
        Comparison("<", term, Constant(first), span=span),
        Comparison(">=", term, Constant(end), span=span),
    ]
    return Or((*sides, is_number(term, span)), span=span)


def is_number(term: Term, span: Span) -> Formula:
    if isinstance(term, Constant) and isinstance(term.value, str):
        return never(span)
    return Comparison("=", Arithmetic("+", term, Constant(0)), term, span=span)


def plain_text(term: Term, span: Span) -> list[Formula]:
    """That a term is a plain text: not an IRI, a blank node or a tagged literal."""
    return [
        Or(
            (Comparison("<", term, Constant(first), span=span), Comparison(">=", term, Constant(end), span=span)),
            span=span,
        )
        for first, end in (("<", "="), ('"', "#"), ("_:", "_;"))
    ]


def _shown(node: Any) -> str:
    return str(node.name).removeprefix("Builtin_")
