"""Tokens and the place among them, for the languages whose grammar is read by hand.

A language says what its signs, words and comments are; what was expected and what was found instead is worded here,
so that messages look alike whatever language a file is in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from presage.errors import Diagnostic, Source, Span, nearest
from presage.model.terms import Number, number
from presage.parser.cursor import ReadPart
from presage.parser.lexer import MAX_CHARACTERS, MAX_DEPTH, Comment, Token

MOST_DIGITS = 60


class Unreadable(Exception):
    """What is being read cannot be read on; caught where the next property, rule or constraint can begin."""

    def __init__(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.diagnostic = Diagnostic(code, message, span, hint)
        super().__init__(message)


class Grammar:
    """What the tokens of a language are."""

    def __init__(
        self, signs: Iterable[str], comment: str, word: str = r"[^\W\d]\w*", elsewhere: dict[str, str] | None = None
    ) -> None:
        """`comment` and `word` are regular expressions; `elsewhere` says of others' signs what is written here."""
        self.elsewhere = elsewhere or {}
        longest_first = "|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True))
        self.pattern = re.compile(
            rf"(?P<space>\s+)|(?P<comment>{comment})|(?P<number>[0-9]+(?:\.[0-9]+)?)(?![\w])|(?P<word>{word})"
            rf"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')|(?P<sign>{longest_first})",
            re.DOTALL,
        )


class Scanner:
    """The tokens of a text, and where reading stands. Their kinds are `word`, `number`, `string`, `sign` and `end`."""

    def __init__(self, source: Source, grammar: Grammar, start: int = 0, end: int | None = None) -> None:
        self.source = source
        self.tokens: list[Token] = []
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
                    meant = next((each for each in grammar.elsewhere if text.startswith(each, at)), sign)
                    if len(meant) > 1:
                        message = f"`{meant}` means nothing here"
                    hint = grammar.elsewhere.get(meant, "a number ends before a letter" if sign.isdigit() else "")
                    self.problems.append(Diagnostic(code, message, Span(at, at + len(meant)), hint))
                    at += len(meant) - 1
                at += 1
                unknown = at
                continue
            kind = found.lastgroup or "sign"
            if kind == "comment":
                self.comments.append(Comment(found.group().rstrip(), at, found.end()))
            elif kind == "number" and len(found.group()) > MOST_DIGITS:
                message = f"a number of {len(found.group())} digits is too long"
                self.problems.append(Diagnostic("P102", message, Span(at, found.end())))
                self.tokens.append(Token("number", "0", at, found.end()))
            elif kind != "space":
                self.tokens.append(Token(kind, found.group(), at, found.end()))
            at = found.end()
        self.tokens.append(Token("end", "", end, end))

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def before(self) -> Token:
        return self.tokens[max(0, self.at - 1)]

    def ahead(self, distance: int = 1) -> Token:
        return self.tokens[min(self.at + distance, len(self.tokens) - 1)]

    def is_at(self, *texts: str) -> bool:
        """Whether one of these signs or words comes next, in any case."""
        return self.token.kind in ("sign", "word") and self.token.text.lower() in {each.lower() for each in texts}

    def take(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.is_at(*texts) else None

    def expect(self, text: str, what: str = "", hint: str = "") -> Token:
        if self.is_at(text):
            return self.take()
        raise self.unexpected(what or f"`{text}`", hint)

    def kind(self, kind: str, what: str, hint: str = "") -> Token:
        if self.token.kind == kind:
            return self.take()
        raise self.unexpected(what, hint)

    def since(self, start: int) -> Span:
        return Span(start, max(start + 1, self.before.end))

    def unexpected(self, what: str, hint: str = "", words: Iterable[str] = ()) -> Unreadable:
        token = self.token
        if token.kind == "end":
            last = self.before if self.at else token
            where = Span(max(0, last.end - 1), last.end)
            return Unreadable("P201", f"expected {what}, and the text ends", where, hint)
        close = nearest(token.text, words) if token.kind == "word" else None
        hint = f"did you mean `{close}`?" if close else hint
        return Unreadable("P201", f"expected {what}, found `{token.text[:40]}`", token.span, hint)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Guards the machine's stack: what is nested too deeply is refused with a message."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("P102", f"brackets and operators are nested more than {MAX_DEPTH} deep", self.token.span)
        try:
            yield
        finally:
            self.depth -= 1

    def bracketed(self, read: Callable[[], ReadPart], what: str = "") -> ReadPart:
        """What stands between brackets, of which the first is taken already."""
        with self.nested():
            found = read()
            self.expect(")", what)
        return found

    def separated(self, separator: str, read: Callable[[], ReadPart]) -> list[ReadPart]:
        """One piece or several."""
        found = [read()]
        while self.accept(separator):
            found.append(read())
        return found

    def joined(
        self, read: Callable[[], ReadPart], join: Callable[[str, ReadPart, ReadPart, Span], ReadPart], *signs: str
    ) -> ReadPart:
        """Pieces with signs between them, that are joined from left to right."""
        start = self.token.start
        left = read()
        while sign := self.accept(*signs):
            left = join(sign.text, left, read(), self.since(start))
        return left

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
