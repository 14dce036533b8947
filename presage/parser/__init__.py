"""From text to the model: the only way in.

A statement that cannot be read gives one message and the next statement is read all the same, so
that a file shows all its mistakes at once. Only the reading of text happens here; whether a
program makes sense is the analyses' business.
"""

from __future__ import annotations

from dataclasses import dataclass

from presage.errors import Diagnostic, Note, ProgramError, Source, Span, nearest
from presage.model.formulas import And
from presage.model.program import Program
from presage.model.statements import Question, Statement
from presage.model.terms import Variable
from presage.parser.cursor import Cursor, Failure, Reported, meant
from presage.parser.declarations import READERS, known_by_place
from presage.parser.formulas import formula
from presage.parser.lexer import MAX_PROBLEMS, Comment, Tokens, tokenize
from presage.parser.rules import refuse_interval_times, rule
from presage.syntax import ASKING, STATEMENTS


@dataclass(frozen=True, slots=True)
class Parsed:
    """What reading a text gave: the statements that could be read, and what could not."""

    program: Program
    comments: tuple[Comment, ...]
    problems: tuple[Diagnostic, ...]
    unread: frozenset[str] = frozenset()
    """The first words of statements that could not be read."""
    notes: tuple[Note, ...] = ()
    """What a program of another language says that has no counterpart in rules."""
    translation: Program | None = None
    """What is printed as the translation, where that is not the program itself."""

    def or_raise(self) -> Program:
        if self.problems:
            raise ProgramError(self.program.source, self.problems)
        return self.program


def read(text: str, name: str = "<program>") -> Parsed:
    """Reads a program and never fails: what is wrong is in `problems`."""
    return read_part(Source.of(text.removeprefix("\ufeff"), name))


def read_part(source: Source, start: int = 0) -> Parsed:
    """Reads the file that begins at an offset and is the last of its source."""
    place = source.text.find("\x00", start)
    if place >= 0:
        problem = Diagnostic("P101", "this is not text", Span(place, place + 1), "a program is a UTF-8 text file")
        return Parsed(Program(source=source), (), (problem,))
    tokens = tokenize(source, start)
    statements: list[Statement] = []
    unread: set[str] = set()
    if not tokens.hopeless:
        c = Cursor(tokens, _predicates(tokens))
        while c.kind != "end" and len(c.problems) < MAX_PROBLEMS:
            first = c.token
            found = _statement(c)
            if found is not None:
                statements.append(found)
            else:
                unread.add(nearest(first.text, STATEMENTS) or first.text)
                unread.add(first.text)
    program = Program(tuple(statements), source=source)
    return Parsed(program, tuple(tokens.comments), tuple(tokens.problems), frozenset(unread))


def parse(text: str, name: str = "<program>") -> Program:
    """Reads a program; raises `ProgramError` with everything that cannot be read."""
    return read(text, name).or_raise()


def _predicates(tokens: Tokens) -> frozenset[str]:
    """The functions whose names the program gives to predicates of its own: in heads and declarations."""
    found, in_body = set(), False
    for token in tokens.tokens:
        if token.kind in (".", ":-"):
            in_body = token.kind == ":-"
        elif not in_body and token.kind == "name" and token.text in ASKING:
            found.add(token.text)
    return frozenset(found)


def parse_question(text: str, intervals: bool = False, predicates: frozenset[str] = frozenset()) -> Question:
    """Reads what `presage ask` takes: a formula, or `exists X, Y: a, b`. With `intervals`, an atom over an interval, as
    answers are written, is allowed too. `predicates` are those of the program."""
    source = Source.of(text, "<question>")
    tokens = tokenize(source)
    if tokens.hopeless or tokens.problems:
        raise ProgramError(source, tokens.problems)
    c = Cursor(tokens, predicates)
    try:
        exists: list[Variable] = []
        if c.accept("exists"):
            while True:
                token = c.expect("variable", "a variable after `exists`")
                exists.append(Variable(token.text, span=token.span))
                if not c.accept(","):
                    break
            c.expect(":", "`:` after the variables of `exists`")
        parts = c.separated(",", formula)
        for part in parts if not intervals else ():
            refuse_interval_times(c, part)
        c.accept(".")
        if c.kind != "end":
            raise c.unexpected("the end of the formula")
    except Failure as failure:
        raise ProgramError(source, [failure.diagnostic]) from None
    whole = parts[0] if len(parts) == 1 else And(tuple(parts), span=parts[0].span.to(parts[-1].span))
    return Question(whole, tuple(exists))


# What may follow a declaration that could be read so far.
_AFTER = {"input": "`where`, `delay`, `loss`, `rate` or `.`", "query": "`good`, `bad` or `.`"}
_AFTER_A_STATEMENT_WORD = frozenset(
    ("name", "variable", "number", "duration", "timestamp", "discrete", "dense", "every", "now", "lasting")
)
_STARTS_STATEMENT = frozenset((*STATEMENTS, "name", "variable", ":-", "exists", "always", "historically"))


def _statement(c: Cursor) -> Statement | None:
    start = c.token.start
    c.depth = 0
    try:
        first = c.kind
        reader = READERS.get(first) or known_by_place(c)
        if reader is not None and c.next_kind in ("(", ":-", "@"):
            raise c.reserved(c.token)
        if reader is None and c.kind in ("name", "variable") and c.next_kind in _AFTER_A_STATEMENT_WORD:
            raise _unknown_statement(c)
        found: Statement = reader(c) if reader else rule(c)
        _close(c, _AFTER.get(first, "`.`") if reader else "`,`, an operator or `.`")
        return found
    except Reported:
        _skip(c, start)
        return None
    except Failure as failure:
        if not _is_repeated(c, failure.diagnostic):
            c.problems.append(failure.diagnostic)
        _skip(c, start)
        return None


def _is_repeated(c: Cursor, found: Diagnostic) -> bool:
    """A reserved word used as a name all over the file is one mistake."""
    return found.code == "P204" and any(each.message == found.message for each in c.problems)


def _unknown_statement(c: Cursor) -> Failure:
    word = c.token
    close = meant(word.text, (*STATEMENTS, "exists"))
    if close:
        message, hint = f"`{word.text}` is not a statement", f"did you mean `{close}`?"
    else:
        message = f"a name cannot follow `{word.text}` here"
        hint = f"arguments stand in parentheses, `{word.text}(…)`; statements begin with {', '.join(STATEMENTS)}"
    return c.failure("P205", message, word.span, hint)


def _close(c: Cursor, expected: str) -> None:
    """The full stop. Where it is missing at the end of a line, the next line is read as if it stood there."""
    if c.accept("."):
        return
    at_new_statement = c.starts_line() and c.kind in _STARTS_STATEMENT
    if at_new_statement and not c.is_unindented() and c.kind not in STATEMENTS and not _rule_ahead(c):
        end = c.previous.end
        message = "the line neither goes on nor ends"
        hint = f"write `,` after `{c.previous.text[:40]}` to go on, `.` to end the statement"
        raise c.failure("P202", message, Span(max(0, end - 1), end), hint)
    if c.kind == "end" or at_new_statement:
        end = c.previous.end
        message = "the statement is not closed by a full stop"
        c.report("P202", message, Span(max(0, end - 1), end), f"write `.` after `{c.previous.text[:40]}`")
        return
    if c.kind in (")", "]", "}"):
        raise c.failure("P203", f"`{c.kind}` closes nothing", c.token.span, "remove it, or open the bracket before")
    raise c.unexpected(expected)


def _rule_ahead(c: Cursor) -> bool:
    """Whether what follows has a `:-` before its full stop, so that it is a rule of its own."""
    for token in c.tokens[c.at :]:
        if token.kind in (".", "end"):
            return False
        if token.kind == ":-":
            return True
    return False


def _skip(c: Cursor, start: int) -> None:
    """To where the next statement is likely to begin: after a full stop, or on an unindented line."""
    first_line = c.source.place(c.previous.end if c.at else start)[0]
    while c.kind != "end":
        if c.kind == ".":
            c.take()
            return
        if c.token.start > start and c.is_unindented() and c.source.place(c.token.start)[0] > first_line:
            if c.kind in _STARTS_STATEMENT:
                return
        c.take()
