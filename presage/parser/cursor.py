"""The place in the token list, and the wording of what was expected there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from presage.errors import Diagnostic, Note, Span, nearest
from presage.parser.lexer import MAX_DEPTH, Token, Tokens
from presage.syntax import COMPARISONS, KEYWORDS, OPERATORS

ReadPart = TypeVar("ReadPart")
OF_SQL = {
    "group": "groups are the variables of an aggregate that also stand outside its braces: "
    "`load(S, A) :- A = avg { V, D, T : window(5) temp(D, V)@T, site(D, S) }.`",
    "having": "compare the aggregate in the body: `busy(U) :- count { T : window(10) login(U)@T } > 5.`",
    "distinct": "what is counted is a set: `count { V : window(10) p(X, V)@T }` counts each value once",
    "over": "the window stands in the braces: `sum { V, T : window(10) p(X, V)@T }`",
    "like": 'texts are asked by `starts_with(S, "a")`, `ends_with`, `contains`, or `matches(S, "^a.*b$")`',
    "between": "compare twice: `V >= 1, V <= 5`",
}
"""What SQL says where nothing of Presage can stand, and how it is said here."""


class Failure(Exception):
    """A statement that cannot be read on; caught where statements are read one by one."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


class Reported(Failure):
    """A statement that cannot be read on because of something a message has been given about."""


class Cursor:
    __slots__ = ("at", "closing", "depth", "predicates", "problems", "source", "tokens")

    def __init__(self, tokens: Tokens, predicates: frozenset[str] = frozenset()) -> None:
        """`predicates` are names of functions that the program has made predicates of."""
        self.predicates = predicates
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

    def separated(self, separator: str, read: Callable[[Cursor], ReadPart]) -> list[ReadPart]:
        """One piece or several."""
        found = [read(self)]
        while self.accept(separator):
            found.append(read(self))
        return found

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
        message = f"expected {what}, found {describe(token)}"
        if token.kind in ("name", "variable") and (hinted := OF_SQL.get(token.text.lower())):
            return self.failure("P212", f"there is no `{token.text}` here", token.span, hinted)
        if token.kind == "reported":
            return Reported(Diagnostic("P201", message, token.span))
        if token.kind in KEYWORDS and what.startswith(("a name", "a predicate", "an argument", "a column")):
            return self.reserved(token)
        before = self.previous
        if not hint and before.kind in ("name", "variable") and not self.starts_line():
            close = meant(before.text, OPERATORS)
            if close:
                hint = f"did you mean `{close}`?"
                return self.failure("P201", f"`{before.text}` is not an operator", before.span, hint)
        if not hint and token.kind in ("name", "variable"):
            close = meant(token.text, re.findall(r"`([a-z]+)`", what) or OPERATORS)
            hint = f"did you mean `{close}`?" if close else ""
        span = token.span
        if token.kind == "end" and self.at:
            span = Span(before.end - 1, before.end)
        return self.failure("P201", message, span, hint or self._habit(token))

    def _habit(self, token: Token) -> str:
        """A hint for what people write out of habit, or at least what to look at."""
        before = self.previous
        match token.kind:
            case "string" if before.kind in ("input", "static", "query", "by", "only"):
                return "a predicate is written without quotes"
            case "name" | "variable" | "number" | "string":
                return "join literals by `,`, formulas by `and` or `or`, arguments by `,`"
            case ",":
                return "inside a formula literals are joined by `and`; a comma is not doubled, nor before a `.`"
            case "|":
                return "alternatives are joined by `|` in a head, by `or` in a body"
            case "[":
                return f"arguments stand in round brackets: `{before.text}(…)`"
            case "." | "end":
                return f"something is missing after `{before.text[:40]}`"
            case "{" | "}":
                return "curly brackets are for aggregates, `count { … }`, and the delays of an input"
            case ":-":
                return "a rule has one `:-`; the statement before may lack its `.`"
            case ")" | "]":
                return "the bracket closes too early, or nothing"
            case kind if kind in COMPARISONS:
                return "a comparison stands between two values; a rule is written `head :- body.`"
            case kind if kind in KEYWORDS:
                return f"`{token.text}` belongs elsewhere; see the grammar of the statement"
        return f"complete or correct what stands before `{token.text[:20]}`"

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


def meant(word: str, candidates: Iterable[str]) -> str | None:
    """The word of the language that was likely meant: another case of it, or a slip."""
    words = tuple(candidates)
    return word.lower() if word.lower() in words else nearest(word.lower(), words)
