"""Tokens and the place among them, for the languages whose grammar is read by hand.

A language says what its signs, words and comments are; what was expected and what was found instead is worded here,
so that messages look alike whatever language a file is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from presage.errors import Diagnostic, Source, Span, nearest
from presage.model.terms import Number, number
from presage.parser.lexer import MAX_CHARACTERS, MAX_DEPTH, Comment

MOST_DIGITS = 60


class Piece(NamedTuple):
    """A token: `kind` is `word`, `number`, `string`, `sign` or `end`."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


class Unreadable(Exception):
    """What is being read cannot be read on; caught where the next property, rule or constraint can begin."""

    def __init__(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.diagnostic = Diagnostic(code, message, span, hint)
        super().__init__(message)


class Grammar:
    """What the tokens of a language are."""

    def __init__(self, signs: Iterable[str], comment: str, word: str = r"[^\W\d]\w*") -> None:
        """`comment` and `word` are regular expressions."""
        longest_first = "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))
        self.pattern = re.compile(
            rf"(?P<space>\s+)|(?P<comment>{comment})|(?P<number>[0-9]+(?:\.[0-9]+)?)(?![\w])|(?P<word>{word})"
            rf"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|(?P<sign>{longest_first})",
            re.DOTALL,
        )


class Scanner:
    """The tokens of a text, and where reading stands."""

    def __init__(self, source: Source, grammar: Grammar, start: int = 0, end: int | None = None) -> None:
        self.source = source
        self.pieces: list[Piece] = []
        self.comments: list[Comment] = []
        self.problems: list[Diagnostic] = []
        self.at = 0
        self.depth = 0
        self._scan(grammar, start, len(source.text) if end is None else end)

    def _scan(self, grammar: Grammar, at: int, end: int) -> None:
        text = self.source.text
        if end > MAX_CHARACTERS:
            message = f"the text has {end:,} characters; at most {MAX_CHARACTERS:,} are read"
            self.problems.append(Diagnostic("P102", message, Span(0, 1), "facts belong in a file of facts"))
            at = end
        unknown = -1
        while at < end:
            found = grammar.pattern.match(text, at, end)
            if found is None:
                if unknown != at:  # a run of such characters is one mistake
                    sign = text[at]
                    message = "a quoted text is not closed" if sign in "\"'" else f"`{sign}` means nothing here"
                    code = "P104" if sign in "\"'" else "P103"
                    self.problems.append(Diagnostic(code, message, Span(at, at + 1)))
                at += 1
                unknown = at
                continue
            kind = found.lastgroup or "sign"
            if kind == "comment":
                self.comments.append(Comment(found.group().rstrip(), at, found.end()))
            elif kind == "number" and len(found.group()) > MOST_DIGITS:
                message = f"a number of {len(found.group())} digits is too long"
                self.problems.append(Diagnostic("P102", message, Span(at, found.end())))
                self.pieces.append(Piece("number", "0", at, found.end()))
            elif kind != "space":
                self.pieces.append(Piece(kind, found.group(), at, found.end()))
            at = found.end()
        self.pieces.append(Piece("end", "", end, end))

    @property
    def piece(self) -> Piece:
        return self.pieces[self.at]

    @property
    def before(self) -> Piece:
        return self.pieces[max(0, self.at - 1)]

    def ahead(self, distance: int = 1) -> Piece:
        return self.pieces[min(self.at + distance, len(self.pieces) - 1)]

    def is_at(self, *texts: str) -> bool:
        """Whether one of these signs or words comes next, in any case."""
        return self.piece.kind in ("sign", "word") and self.piece.text.lower() in {each.lower() for each in texts}

    def take(self) -> Piece:
        piece = self.piece
        if piece.kind != "end":
            self.at += 1
        return piece

    def accept(self, *texts: str) -> Piece | None:
        return self.take() if self.is_at(*texts) else None

    def expect(self, text: str, what: str = "", hint: str = "") -> Piece:
        if self.is_at(text):
            return self.take()
        raise self.unexpected(what or f"`{text}`", hint)

    def kind(self, kind: str, what: str, hint: str = "") -> Piece:
        if self.piece.kind == kind:
            return self.take()
        raise self.unexpected(what, hint)

    def since(self, start: int) -> Span:
        return Span(start, max(start + 1, self.before.end))

    def unexpected(self, what: str, hint: str = "", words: Iterable[str] = ()) -> Unreadable:
        piece = self.piece
        if piece.kind == "end":
            last = self.before if self.at else piece
            where = Span(max(0, last.end - 1), last.end)
            return Unreadable("P201", f"expected {what}, and the text ends", where, hint)
        close = nearest(piece.text, words) if piece.kind == "word" else None
        hint = f"did you mean `{close}`?" if close else hint
        return Unreadable("P201", f"expected {what}, found `{piece.text[:40]}`", piece.span, hint)

    def deeper(self) -> None:
        """Guards the machine's stack: what is nested too deeply is refused with a message."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("P102", f"brackets and operators are nested more than {MAX_DEPTH} deep", self.piece.span)

    def shallower(self) -> None:
        self.depth -= 1

    def number(self, what: str = "a number") -> Number:
        negative = self.accept("-")
        written = self.kind("number", what)
        value = number(Fraction(written.text))
        if self.is_at("/") and self.ahead().kind == "number":
            self.take()
            below = Fraction(self.take().text)
            if not below:
                raise Unreadable("P105", "a number cannot be divided by 0", self.before.span)
            value = number(Fraction(value) / below)
        return -value if negative else value


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def unquoted(text: str) -> str:
    """What a quoted text says."""
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found.group(1), found.group(1)), text[1:-1], flags=re.DOTALL)
