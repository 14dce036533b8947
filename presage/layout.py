"""The canonical layout of a program's text: `presage fmt`.

Statements are printed from the model; comments and the blank lines between groups of statements are
what the model does not have, and are put back where their author had them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from presage import parser as reading
from presage.errors import Source
from presage.model.printer import INDENT, show_formula, show_head, show_statement
from presage.model.statements import Rule, Statement
from presage.parser.lexer import Comment
from presage.parser.setting import with_params


def format_text(text: str, name: str = "<program>", params: Mapping[str, Any] | None = None) -> str:
    """The text with other values for its parameters, if some are given. Raises `ProgramError` where it cannot be
    read."""
    parsed = reading.read(text, name)
    program = with_params(parsed.or_raise(), params or {})
    return _Layout(program.source, list(parsed.comments)).program(program.statements)


@dataclass(slots=True)
class _Layout:
    source: Source
    comments: list[Comment]

    def program(self, statements: tuple[Statement, ...]) -> str:
        lines: list[str] = []
        last = 0
        for index, statement in enumerate(statements):
            before = self._take(statement.span.start)
            for comment in before:
                self._gap(lines, last, self._line(comment.start))
                lines.append(comment.text)
                last = self._line(comment.start)
            self._gap(lines, last, self._line(statement.span.start))
            stop = self._full_stop(statement)
            inside = self._take(stop)
            lines.extend(self._with_comments(statement, inside) if inside else show_statement(statement).split("\n"))
            last = self._line(stop)
            following = statements[index + 1].span.start if index + 1 < len(statements) else len(self.source.text)
            trailing = self.comments and self._line(self.comments[0].start) == last
            if trailing and self.comments[0].start < following:
                lines[-1] += "  " + self.comments.pop(0).text
        for comment in self.comments:
            self._gap(lines, last, self._line(comment.start))
            lines.append(comment.text)
            last = self._line(comment.start)
        return "".join(line.rstrip() + "\n" for line in lines)

    def _line(self, offset: int) -> int:
        return self.source.place(offset)[0]

    def _gap(self, lines: list[str], last: int, line: int) -> None:
        if lines and line - last > 1:
            lines.append("")

    def _take(self, until: int) -> list[Comment]:
        taken = []
        while self.comments and self.comments[0].start < until:
            taken.append(self.comments.pop(0))
        return taken

    def _full_stop(self, statement: Statement) -> int:
        """Where the statement's full stop is: comments may stand before it."""
        at = statement.span.end
        text = self.source.text
        while at < len(text):
            if text[at] in "%#":
                at = text.find("\n", at)
            elif text[at] == ".":
                return at
            else:
                at += 1
        return at

    def _with_comments(self, statement: Statement, inside: list[Comment]) -> list[str]:
        """A statement with comments inside: those of a body stay with their literals."""
        if not isinstance(statement, Rule) or not statement.body:
            return [*(comment.text for comment in inside), *show_statement(statement).split("\n")]
        lines = [f"{show_head(statement.head)} :-" if statement.head else ":-"]
        waiting = list(inside)
        first = statement.body[0].span.start
        while waiting and waiting[0].start < first and self._line(waiting[0].start) == self._line(statement.span.start):
            lines[-1] += "  " + waiting.pop(0).text
        for index, literal in enumerate(statement.body):
            while waiting and waiting[0].start < literal.span.start:
                lines.append(INDENT + waiting.pop(0).text)
            closing = "." if index == len(statement.body) - 1 else ","
            line = INDENT + show_formula(literal) + closing
            while waiting and (
                waiting[0].start < literal.span.end or self._line(waiting[0].start) == self._line(literal.span.end)
            ):
                line += "  " + waiting.pop(0).text
            lines.append(line)
        for comment in waiting:
            lines.insert(len(lines) - 1, INDENT + comment.text)
        return lines
