"""The text of LTL files: a property a line, `name: formula`, with past and bounds."""

from __future__ import annotations

from dataclasses import dataclass

from presage.errors import Diagnostic, Source, Span
from presage.languages.ltl.formulas import (
    FALSE,
    TRUE,
    Before,
    LtlFormula,
    Next,
    SignedAtom,
    UntilRelease,
    both,
    either,
    negated,
)
from presage.languages.scanner import Grammar, Scanner, Unreadable, unquoted
from presage.parser.lexer import Comment

ELSEWHERE = {
    "=>": "write a -> b",
    "<=>": "write a <-> b",
    "<>": "write F a",
    "/\\": "write a & b",
    "\\/": "write a | b",
    "~": "write !a",
    "¬": "write !a",
    "∧": "write a & b",
    "∨": "write a | b",
    "→": "write a -> b",
    "=": "write a <-> b",
}
"""What is written here in place of the signs of others."""
WORDS = {"not": "!", "and": "&", "or": "|", "implies": "->", "iff": "<->", "next": "X", "until": "U", "since": "S"}
SIGNS = ("->", "<->", "!", "&", "|", "&&", "||", "(", ")", "[", "]", ",", ":", "-", "/")
KNOWN = "! & | -> <-> X F G U R W Y O H S"
GRAMMAR = Grammar(SIGNS, r"[%\#][^\n]*", elsewhere=ELSEWHERE)
OPERATORS = ("X", "F", "G", "U", "R", "W", "Y", "O", "H", "S")
MOST_BOUND = 10_000


@dataclass(frozen=True, slots=True)
class Property:
    name: str
    text: str
    formula: LtlFormula
    span: Span
    atoms: tuple[tuple[SignedAtom, Span], ...]


@dataclass(frozen=True, slots=True)
class Properties:
    all: tuple[Property, ...]
    comments: tuple[Comment, ...]
    problems: tuple[Diagnostic, ...]


def read_properties(source: Source) -> Properties:
    found: list[Property] = []
    comments: list[Comment] = []
    problems: list[Diagnostic] = []
    places: dict[str, Span] = {}
    for start in source.line_starts:
        end = start + len(source.line_at(start))
        scanner = Scanner(source, GRAMMAR, start, end)
        comments += scanner.comments
        problems += scanner.problems
        if scanner.token.kind == "end" or scanner.problems:
            continue
        try:
            made = _property(scanner)
            if made.name in places:
                raise Unreadable("D101", f"the property `{made.name}` is there already", made.span, "name it otherwise")
            places[made.name] = made.span
            found.append(made)
        except Unreadable as wrong:
            problems.append(wrong.diagnostic)
    return Properties(tuple(found), tuple(comments), tuple(problems))


def _property(c: Scanner) -> Property:
    hint = "a property is a line such as `answered: G (asked -> F[0,5] answer)`"
    name = c.kind("word", "a name", hint)
    if name.text in (*OPERATORS, "true", "false"):
        raise Unreadable("P204", f"`{name.text}` is reserved and cannot name a property", name.span, hint)
    c.expect(":", "`:` after the name of a property", hint)
    reader = _Formula(c)
    first = c.token.start
    formula = reader.whole()
    if c.token.kind != "end":
        sign = WORDS.get(c.before.text) or WORDS.get(c.token.text)
        raise c.unexpected(
            "an operator or the end of the line", f"write `{sign}`" if sign else "operators are " + KNOWN
        )
    span = Span(name.start, c.before.end)
    return Property(name.text, c.source.text[first : c.before.end], formula, span, tuple(reader.atoms))


class _Formula:
    """Unary operators bind tightest, then `U R W S`, `&`, `|`, `->` (to the right), `<->`."""

    def __init__(self, scanner: Scanner) -> None:
        self.c = scanner
        self.atoms: list[tuple[SignedAtom, Span]] = []

    def whole(self) -> LtlFormula:
        def same(_: str, left: LtlFormula, right: LtlFormula, __: Span) -> LtlFormula:
            return either(both(left, right), both(negated(left), negated(right)))

        with self.c.nested():
            return self.c.joined(self._implication, same, "<->")

    def _implication(self) -> LtlFormula:
        left = self._alternatives()
        if self.c.accept("->"):
            with self.c.nested():
                return either(negated(left), self._implication())
        return left

    def _alternatives(self) -> LtlFormula:
        return self.c.joined(self._conjunction, lambda _, left, right, __: either(left, right), "|", "||")

    def _conjunction(self) -> LtlFormula:
        return self.c.joined(self._lasting, lambda _, left, right, __: both(left, right), "&", "&&")

    def _is(self, *operators: str) -> bool:
        """Operators are letters, in capitals, that no bracket with arguments follows."""
        return self.c.token.kind == "word" and self.c.token.text in operators

    def _lasting(self) -> LtlFormula:
        left = self._unary()
        if not self._is("U", "R", "W", "S"):
            return left
        word = self.c.take().text
        low, high = self._bounds()
        right = self._unary()
        if self._is("U", "R", "W", "S"):
            hint = "write (a U b) U c, or a U (b U c)"
            raise Unreadable("P210", "a chain of `U`, `R`, `W` and `S` needs parentheses", self.c.token.span, hint)
        if word == "W":
            always = UntilRelease(False, True, 0, high, FALSE, left)
            return either(UntilRelease(False, False, low, high, left, right), always)
        return UntilRelease(word == "S", word == "R", low, high, left, right)

    def _unary(self) -> LtlFormula:
        c = self.c
        with c.nested():
            if c.accept("!"):
                return negated(self._unary())
            if self._is("X"):
                c.take()
                self._no_bounds("X")
                return Next(self._unary())
            if self._is("Y"):
                c.take()
                self._no_bounds("Y")
                return Before(self._unary(), False)
            if self._is("F", "G", "O", "H"):
                word = c.take().text
                low, high = self._bounds()
                inner = self._unary()
                dual = word in "GH"
                return UntilRelease(word in "OH", dual, low, high, FALSE if dual else TRUE, inner)
            if c.accept("("):
                found = self.whole()
                c.expect(")", "an operator or `)`")
                return found
            return self._atom()

    def _no_bounds(self, word: str) -> None:
        if self.c.is_at("["):
            other = "F[n,n]" if word == "X" else "O[n,n]"
            raise Unreadable("P207", f"`{word}` has no bounds", self.c.token.span, f"write {other} for n positions")

    def _bounds(self) -> tuple[int, int | None]:
        c = self.c
        start = c.token.start
        opening = c.accept("[") or (c.accept("(") if self._opens_bounds() else None)
        if opening is None:
            return 0, None
        low = self._whole_number()
        high: int | None = low
        if c.accept(","):
            high = None if c.accept("inf") else self._whole_number()
        closing = c.accept("]", ")")
        if closing is None:
            raise c.unexpected("`]` or `)` after bounds")
        low += opening.text == "("
        if high is not None and closing.text == ")":
            high -= 1
        if high is not None and high < low:
            raise Unreadable("P207", "there is no position within these bounds", c.since(start), "write [low,high]")
        if max(low, high or 0) > MOST_BOUND:
            hint = "choose a coarser unit of time"
            raise Unreadable("P102", f"a bound is at most {MOST_BOUND:,} positions", c.since(start), hint)
        return low, high

    def _opens_bounds(self) -> bool:
        return self.c.is_at("(") and self.c.ahead(1).kind == "number" and self.c.ahead(2).text == ","

    def _whole_number(self) -> int:
        token = self.c.token
        value = self.c.number("a whole number")
        if not isinstance(value, int) or value < 0:
            hint = "the past is asked for by O, H and S; write whole numbers, such as F[0,5]"
            raise Unreadable("P207", "bounds count positions: whole numbers from 0 up", token.span, hint)
        return value

    def _atom(self) -> LtlFormula:
        c = self.c
        start = c.token
        if start.kind == "word" and start.text in OPERATORS:
            raise c.unexpected("a formula", f"`{start.text}` is an operator, and no predicate")
        word = c.kind(
            "word", "a formula", "write G f for always f" if c.is_at("[") else f"an atom such as p(a), or {KNOWN}"
        )
        if word.text == "true":
            return TRUE
        if word.text == "false":
            return FALSE
        arguments: list[object] = []
        if c.accept("("):
            arguments = c.separated(",", self._argument)
            c.expect(")", "`,` or `)` after an argument")
        fact = SignedAtom(word.text, tuple(arguments))
        self.atoms.append((fact, c.since(word.start)))
        return fact

    def _argument(self) -> object:
        c = self.c
        token = c.token
        if token.kind == "string":
            return unquoted(c.take().text)
        if token.kind == "number" or c.is_at("-"):
            return c.number("an argument")
        c.kind("word", "an argument: a constant")
        if token.text[0].isupper() or token.text[0] == "_":
            hint = f'a property speaks of single facts: write a constant, or "{token.text}" in quotes'
            raise Unreadable("P206", f"`{token.text}` is a variable", token.span, hint)
        return token.text
