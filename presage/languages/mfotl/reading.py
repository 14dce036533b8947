"""The text of MonPoly's formulas.

`SINCE` and `UNTIL` bind loosest, then the other temporal operators, quantifiers, `EQUIV`, `IMPLIES` (to the right),
`OR`, `AND`, `NOT`: so `ONCE p(x) AND q(x)` is ONCE of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from presage.errors import Source, Span
from presage.languages.mfotl.formulas import (
    TRUE,
    Aggregation,
    Apply,
    Compare,
    Conjunction,
    Disjunction,
    Exists,
    Let,
    LogAtom,
    LogConstant,
    LogFormula,
    LogInterval,
    LogTerm,
    LogVariable,
    Matches,
    Neighbour,
    SinceUntil,
    TruthConstant,
    free,
    negated,
    term_names,
)
from presage.languages.mfotl.signatures import GRAMMAR
from presage.languages.mfotl.terms import term_value
from presage.languages.mfotl.text_functions import CONVERSIONS, check_expression
from presage.languages.scanner import Scanner, Unreadable, unquoted
from presage.model.terms import Number

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
PREFIX = {
    "PREV": "previous", "PREVIOUS": "previous", "NEXT": "next", "EVENTUALLY": "eventually", "SOMETIMES": "eventually",
    "ONCE": "once", "ALWAYS": "always", "PAST_ALWAYS": "historically", "HISTORICALLY": "historically",
}  # fmt: skip
AGGREGATES = ("CNT", "MIN", "MAX", "SUM", "AVG", "MED")
NOT_HERE = {
    "LETPAST": "recursive definitions",
    "FORWARD": "regular expressions over time", "BACKWARD": "regular expressions over time",
    "MATCHF": "regular expressions over time", "MATCHP": "regular expressions over time",
    "|>": "regular expressions over time", "<|": "regular expressions over time",
    "r2s": "regular expressions as values", "s2r": "regular expressions as values",
}  # fmt: skip
FUNCTIONS = ("f2i", "i2f", *CONVERSIONS)
TESTS = ("SUBSTRING", "MATCHES")
WORDS = (
    "TRUE", "FALSE", "NOT", "AND", "OR", "IMPLIES", "EQUIV", "EXISTS", "FORALL", "LET", "IN", "SINCE", "UNTIL", "MOD",
    *PREFIX, *AGGREGATES, *NOT_HERE, *TESTS,
)  # fmt: skip
COMPARISONS = ("<=", ">=", "<", ">", "=")


@dataclass(frozen=True, slots=True)
class FormulaReader:
    formula: LogFormula | None
    scanner: Scanner
    atoms: tuple[LogAtom, ...]


def read_formula(source: Source) -> FormulaReader:
    c = Scanner(source, GRAMMAR)
    reader = _Reader(c)
    formula = None
    if not c.problems:
        try:
            formula = reader.formula()
            c.accept(".")
            if c.token.kind != "end":
                raise c.unexpected("an operator or the end of the formula", words=WORDS)
        except Unreadable as wrong:
            c.problems.append(wrong.diagnostic)
    return FormulaReader(formula, c, tuple(reader.atoms))


class _Reader:
    def __init__(self, scanner: Scanner) -> None:
        self.c = scanner
        self.atoms: list[LogAtom] = []
        self.fresh = count(1)

    def _is(self, *words: str) -> bool:
        return self.c.token.kind in ("word", "sign") and self.c.token.text in words

    def _accept(self, *words: str) -> str:
        return self.c.take().text if self._is(*words) else ""

    def formula(self) -> LogFormula:
        c = self.c
        start = c.token.start
        with c.nested():
            left = self._equivalence()
            word = self._accept("SINCE", "UNTIL")
            if not word:
                return left
            reach = self._reach()
            right = self.formula()
        return SinceUntil(word == "UNTIL", reach, left, right, span=c.since(start))

    def _prefix(self) -> LogFormula | None:
        """A temporal operator or quantifier takes all that binds more tightly than `SINCE`."""
        c = self.c
        start = c.token.start
        if self._is(*PREFIX):
            operator = PREFIX[c.take().text]
            with c.nested():
                reach = self._reach()
                inner = self._equivalence()
            span = c.since(start)
            match operator:
                case "previous" | "next":
                    return Neighbour(operator == "next", reach, inner, span=span)
                case "once" | "eventually":
                    return SinceUntil(operator == "eventually", reach, TRUE, inner, span=span)
                case _:
                    return negated(SinceUntil(operator == "always", reach, TRUE, negated(inner), span=span))
        if self._is("EXISTS", "FORALL"):
            word = c.take().text
            names = c.separated(",", self._name)
            c.expect(".", "`.` after the variables")
            with c.nested():
                inner = self._equivalence()
            if word == "EXISTS":
                return Exists(tuple(names), inner, span=c.since(start))
            return negated(Exists(tuple(names), negated(inner), span=c.since(start)))
        if self._is("LET"):
            return self._let()
        for word, what in NOT_HERE.items():
            if self._is(word):
                raise Unreadable("P205", f"`{word}`: {what} cannot be said here", c.token.span)
        return None

    def _let(self) -> LogFormula:
        c = self.c
        start = c.take().start
        name = c.kind("word", "a predicate").text
        c.expect("(")
        names: list[str] = []
        while not c.is_at(")"):
            names.append(self._name())
            if not c.accept(","):
                break
        c.expect(")")
        c.expect("=", "`=` and what the predicate means")
        defined = self.formula()
        c.expect("IN", "`IN` and the formula that uses it")
        inner = self.formula()
        return Let(name, tuple(names), defined, inner, span=c.since(start))

    def _binary(
        self, words: str, operand: Callable[[], LogFormula], join: Callable[[LogFormula, LogFormula, Span], LogFormula]
    ) -> LogFormula:
        start = self.c.token.start
        left = operand()
        while self._accept(words):
            left = join(left, operand(), self.c.since(start))
        return left

    def _equivalence(self) -> LogFormula:
        def same(left: LogFormula, right: LogFormula, span: Span) -> LogFormula:
            return Conjunction(
                Disjunction(negated(left), right, span=span), Disjunction(negated(right), left, span=span), span=span
            )

        return self._binary("EQUIV", self._implication, same)

    def _implication(self) -> LogFormula:
        c = self.c
        start = c.token.start
        left = self._alternatives()
        if self._accept("IMPLIES"):
            with c.nested():
                right = self._implication()
            return Disjunction(negated(left), right, span=c.since(start))
        return left

    def _alternatives(self) -> LogFormula:
        return self._binary("OR", self._conjunction, lambda a, b, span: Disjunction(a, b, span=span))

    def _conjunction(self) -> LogFormula:
        return self._binary("AND", self._single, lambda a, b, span: Conjunction(a, b, span=span))

    def _single(self) -> LogFormula:
        c = self.c
        prefixed = self._prefix()
        if prefixed is not None:
            return prefixed
        start = c.token.start
        if self._accept("NOT"):
            with c.nested():
                return negated(self._single())
        if self._accept("TRUE"):
            return TruthConstant(True, span=c.since(start))
        if self._accept("FALSE"):
            return TruthConstant(False, span=c.since(start))
        if c.token.kind == "word" and c.ahead().text == "<-":
            return self._aggregate()
        if c.token.kind == "word" and c.ahead().text == "(" and c.token.text not in FUNCTIONS:
            return self._atom()
        if c.is_at("("):
            # A bracket may hold a formula, or a term of a comparison.
            at, known, depth = c.at, len(self.atoms), c.depth
            try:
                c.take()
                found = self.formula()
                c.expect(")", "an operator or `)`")
                if not self._is(*COMPARISONS, "+", "-", "*", "/", "MOD"):
                    return found
                raise c.unexpected("an operator")
            except Unreadable as wrong:
                reached = wrong
                c.at, c.depth = at, depth
                del self.atoms[known:]
            try:
                return self._comparison()
            except Unreadable as other:
                raise (reached if reached.diagnostic.span.start >= other.diagnostic.span.start else other) from None
        return self._comparison()

    def _aggregate(self) -> LogFormula:
        c = self.c
        start = c.token.start
        result = self._name()
        c.expect("<-")
        function = self._accept(*AGGREGATES)
        if not function:
            raise c.unexpected("an aggregate: CNT, MIN, MAX, SUM, AVG or MED")
        over = self._name()
        groups: list[str] = []
        if c.accept(";") and not c.is_at("("):
            groups = c.separated(",", self._name)
        inner = self._single() if c.is_at("(") else self._equivalence()
        span = c.since(start)
        for name in (over, *groups):
            if name not in free(inner):
                raise Unreadable("S102", f"`{name}` does not occur in the formula that is aggregated", span)
        return Aggregation(result, function, over, tuple(groups), inner, span=span)

    def _atom(self) -> LogFormula:
        c = self.c
        name = c.take()
        c.expect("(")
        terms: list[LogTerm] = []
        hidden: list[str] = []
        while not c.is_at(")"):
            term = self._term()
            if isinstance(term, Apply):
                value = None if list(term_names(term)) else term_value(term, {})
                if value is None:
                    hint = "say it by an equation"
                    raise Unreadable("P206", "an argument is a constant or a variable", term.span, hint)
                term = LogConstant(value, span=term.span)
            terms.append(term)
            hidden += [each for each in term_names(term) if each.startswith("_")]
            if not c.accept(","):
                break
        c.expect(")", "`,` or `)` after an argument")
        atom = LogAtom(name.text, tuple(terms), span=c.since(name.start))
        self.atoms.append(atom)
        return Exists(tuple(hidden), atom, span=atom.span) if hidden else atom

    def _comparison(self) -> LogFormula:
        c = self.c
        start = c.token.start
        left = self._term()
        if self._accept("MATCHES"):
            return self._matches(left, start)
        if self._accept("SUBSTRING"):
            return Compare("SUBSTRING", left, self._term(), span=c.since(start))
        operator = self._accept(*COMPARISONS)
        if not operator:
            raise c.unexpected("a comparison: = < <= > >=", words=WORDS)
        return Compare(operator, left, self._term(), span=c.since(start))

    def _matches(self, text: LogTerm, start: int) -> LogFormula:
        c = self.c
        at = c.token
        if not (c.token.text == "r" and c.ahead().kind == "string"):
            hint = 'write it out: x MATCHES r"ab"'
            raise Unreadable("P205", "regular expressions as values cannot be said here", at.span, hint)
        c.take()
        pattern = c.take().text[1:-1]
        check_expression(pattern, c.since(at.start))
        groups: list[LogTerm | None] = []
        if c.accept("("):
            while not c.is_at(")"):
                name = c.token.text
                term = self._term()
                groups.append(None if name == "_" else term)
                if not c.accept(","):
                    break
            c.expect(")", "`,` or `)` after a group")
        return Matches(text, pattern, tuple(groups), span=c.since(start))

    def _term(self) -> LogTerm:
        start = self.c.token.start
        left = self._product()
        while sign := self._accept("+", "-"):
            left = Apply(sign, (left, self._product()), span=self.c.since(start))
        return left

    def _product(self) -> LogTerm:
        start = self.c.token.start
        left = self._factor()
        while sign := self._accept("*", "/", "MOD"):
            left = Apply(sign, (left, self._factor()), span=self.c.since(start))
        return left

    def _factor(self) -> LogTerm:
        c = self.c
        token = c.token
        with c.nested():
            if c.accept("("):
                found = self._term()
                c.expect(")")
                return found
            if c.accept("-"):
                inner = self._factor()
                if isinstance(inner, Apply) and inner.operator == "i2f" and isinstance(inner.terms[0], LogConstant):
                    value = inner.terms[0].value
                    if not isinstance(value, str):
                        return Apply("i2f", (LogConstant(-value),), span=c.since(token.start))
                if isinstance(inner, LogConstant) and not isinstance(inner.value, str):
                    return LogConstant(-inner.value, span=c.since(token.start))
                return Apply("-", (LogConstant(0), inner), span=c.since(token.start))
            if self._is(*FUNCTIONS) and c.ahead().text == "(":
                c.take()
                c.expect("(")
                inner = self._term()
                c.expect(")")
                return Apply(token.text, (inner,), span=c.since(token.start))
            if token.kind == "string":
                return LogConstant(unquoted(c.take().text), span=token.span)
            if token.kind == "number":
                written = LogConstant(c.number(), span=c.since(token.start))
                return Apply("i2f", (written,), span=written.span) if "." in token.text else written
            return LogVariable(self._name(), span=c.since(token.start))

    def _name(self) -> str:
        token = self.c.token
        if token.kind == "word" and token.text in NOT_HERE:
            raise Unreadable("P205", f"`{token.text}`: {NOT_HERE[token.text]} cannot be said here", token.span)
        if token.kind == "word" and token.text in WORDS:
            raise self.c.unexpected("a variable", f"`{token.text}` is an operator")
        text = self.c.kind("word", "a formula or a variable").text.lstrip("?")
        return f"_{next(self.fresh)}" if text == "_" else text

    def _reach(self) -> LogInterval:
        c = self.c
        opens = c.is_at("[") or (c.is_at("(") and self._is_interval())
        if not opens:
            return LogInterval()
        start = c.token.start
        opening = c.take().text
        if c.is_at("-"):
            raise Unreadable("P207", "bounds are not negative", c.token.span, "PREVIOUS, ONCE and SINCE look back")
        low = self._length()
        c.expect(",", "`,` and the upper bound")
        high: Number | None = None
        if not c.accept("*"):
            high = self._length()
        closing = c.accept("]", ")")
        if closing is None:
            raise c.unexpected("`]` or `)` after an interval")
        closed_low, closed_high = opening == "[", closing.text == "]"
        if high is not None and (high < low or (high == low and not (closed_low and closed_high))):
            raise Unreadable("P207", "the interval is empty", c.since(start), "the lower bound comes first")
        return LogInterval(low, high, closed_low, closed_high)

    def _is_interval(self) -> bool:
        """Whether a round bracket after an operator opens an interval, and not a formula."""
        first, second, third = (self.c.ahead(place) for place in (1, 2, 3))
        length = first.kind == "number" or (first.kind == "word" and first.text[0].isdigit())
        return length and second.text == "," and (third.text == "*" or third.text[:1].isdigit())

    def _length(self) -> Number:
        c = self.c
        token = c.token
        if token.kind == "word" and token.text[0].isdigit():
            c.take()
            unit = token.text[-1]
            if unit not in UNITS:
                raise Unreadable("P207", f"there is no unit `{unit}`", token.span, "units are s, m, h and d")
            return int(token.text[:-1]) * UNITS[unit]
        return c.number("a bound: a number of time units, or such as 7d")
