"""The place in the token list, and the wording of what was expected there."""

from __future__ import annotations

from collections.abc import Iterable

from presage.errors import Diagnostic, Note, Span, nearest
from presage.parser.lexer import MAX_DEPTH, Token, Tokens
from presage.syntax import KEYWORDS, METRIC_ALIASES, STATEMENTS


class Failure(Exception):
    """A statement that cannot be read on; caught where statements are read one by one."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


class Cursor:
    __slots__ = ("at", "closing", "depth", "problems", "source", "tokens")

    def __init__(self, tokens: Tokens) -> None:
        self.source = tokens.source
        self.tokens = tokens.tokens
        self.closing = tokens.closing
        self.problems = tokens.problems
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def kind(self) -> str:
        return self.tokens[self.at].kind

    @property
    def next_kind(self) -> str:
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)].kind

    @property
    def previous(self) -> Token:
        return self.tokens[max(self.at - 1, 0)]

    def take(self) -> Token:
        token = self.tokens[self.at]
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, kind: str) -> Token | None:
        return self.take() if self.tokens[self.at].kind == kind else None

    def expect(self, kind: str, what: str, hint: str = "") -> Token:
        if self.tokens[self.at].kind == kind:
            return self.take()
        raise self.unexpected(what, hint)

    def since(self, start: int) -> Span:
        """From an offset to the end of the token last taken."""
        return Span(start, max(start, self.previous.end))

    def report(self, code: str, message: str, span: Span, hint: str = "", notes: Iterable[Note] = ()) -> None:
        self.problems.append(Diagnostic(code, message, span, hint, tuple(notes)))

    def failure(self, code: str, message: str, span: Span, hint: str = "", notes: Iterable[Note] = ()) -> Failure:
        return Failure(Diagnostic(code, message, span, hint, tuple(notes)))

    def unexpected(self, what: str, hint: str = "") -> Failure:
        """What to raise where the current token does not fit: the plainest thing that may be meant."""
        token = self.token
        if token.kind in KEYWORDS:
            word = self.reserved(token)
            if what.startswith(("a name", "a constant", "a predicate", "an argument", "a column")):
                return word
        if not hint and token.kind in ("name", "variable"):
            meant = nearest(token.text, KEYWORDS - METRIC_ALIASES.keys())
            before = self.previous.text
            if meant is None and self.previous.kind in ("name", "variable"):
                close = nearest(before, KEYWORDS - METRIC_ALIASES.keys() - set(STATEMENTS))
                if close:
                    hint = f"did you mean `{close}` for `{before}`?"
            elif meant:
                hint = f"did you mean `{meant}`?"
        return self.failure("P201", f"expected {what}, found {describe(token)}", token.span, hint)

    def reserved(self, token: Token) -> Failure:
        message = f"`{token.text}` is a word of the language and cannot be a name"
        hint = f'as a constant write "{token.text}"; for a predicate or a variable choose another name'
        return self.failure("P204", message, token.span, hint)

    def starts_line(self) -> bool:
        """Whether the current token is the first on its line."""
        start = self.tokens[self.at - 1].end if self.at else 0
        return "\n" in self.source.text[start : self.token.start] or self.at == 0

    def is_unindented(self) -> bool:
        start = self.token.start
        return start == 0 or self.source.text[start - 1] == "\n"

    def close(self, opening: Token, kind: str, what: str) -> Token:
        """Takes the bracket that closes `opening`, or says which one is left open."""
        if self.kind == kind:
            return self.take()
        if self.kind in (".", "end", ":-"):
            message = f"`{opening.text}` is not closed"
            raise self.failure("P203", message, opening.span, f"close it with `{kind}`")
        raise self.unexpected(what)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            message = f"the formula is nested more than {MAX_DEPTH} deep"
            raise self.failure("P102", message, self.token.span, "name parts of it with rules of their own")


def describe(token: Token) -> str:
    """A token as a message names it."""
    if token.kind == "end":
        return "the end of the text"
    if token.kind == "string":
        return f'"{token.text[:40]}"'
    if token.kind == ".":
        return "the `.` that ends the statement"
    return f"`{token.text[:60]}`"
