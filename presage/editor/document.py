"""A program as an editor sees it: which word stands where, what it means, where else it stands.

Everything is told by offsets into the program's source, in which included files lie behind the program's own text. It
works on what can be read of a text that is being written: a statement that cannot be read hides nothing of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from presage.analysis.predicates import mentioned
from presage.checking import Report, check_text
from presage.errors import Diagnostic, Source, Span
from presage.languages import language_of
from presage.model.formulas import atoms
from presage.model.printer import show_statement
from presage.model.statements import Input, Param, Query, Rule, Statement, Static
from presage.parser.lexer import Token, tokenize

PREDICATE, VARIABLE, PARAMETER, KEYWORD, OTHER = "predicate", "variable", "parameter", "keyword", "other"


@dataclass(frozen=True, slots=True)
class Word:
    """A word at a place. `defines`: whether it is said here what it is: a rule's head, a declaration."""

    kind: str
    name: str
    span: Span
    defines: bool = False


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """One line of an outline."""

    name: str
    detail: str
    span: Span
    is_rule: bool


class Document:
    def __init__(self, text: str, path: Path) -> None:
        self.text, self.path = text, path
        self.report: Report = check_text(text, str(path), folder=path.parent)
        self.is_presage = language_of(path).name == "psg"

    @property
    def source(self) -> Source:
        return self.report.source

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        return self.report.problems

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens of the program and of the files it includes."""
        found: list[Token] = []
        for part in (0, *(part.start for part in self.source.included)):
            ends = [each.start - 1 for each in self.source.included if each.start > part]
            whole = Source.of(self.source.text[: ends[0]]) if ends else Source.of(self.source.text)
            found += [token for token in tokenize(whole, part).tokens if token.kind != "end"]
        return found

    @cached_property
    def words(self) -> list[Word]:
        """Every word that has a meaning, in the order of the text."""
        found: dict[int, Word] = {}
        for statement in self.report.program.statements:
            for name, start, defines in self._predicates(statement):
                found.setdefault(start, Word(PREDICATE, name, Span(start, start + len(name)), defines))
        at_param = False
        for token in self.tokens:
            if token.start not in found:
                kind = {"variable": VARIABLE, "parameter": PARAMETER}.get(token.kind, "")
                if at_param:
                    found[token.start] = Word(PARAMETER, token.text, token.span, True)
                elif kind:
                    name = token.text.removeprefix("$")
                    shift = len(token.text) - len(name)
                    found[token.start] = Word(kind, name, Span(token.start + shift, token.end))
                elif (
                    token.kind not in ("number", "duration", "timestamp", "string", "reported") and token.text.isalpha()
                ):
                    found[token.start] = Word(OTHER if token.kind == "name" else KEYWORD, token.text, token.span)
            at_param = token.text == "param" and token.start in self._params
        return [found[start] for start in sorted(found)]

    @cached_property
    def _params(self) -> set[int]:
        return {each.span.start for each in self.report.program.each(Param)}

    def _predicates(self, statement: Statement) -> Iterator[tuple[str, int, bool]]:
        """The predicates of a statement: name, place, and whether it is said here what they are."""
        text = self.source.text
        if isinstance(statement, (Input, Static)):
            start = text.find(statement.predicate, statement.span.start + len("input"))
            yield statement.predicate, start, True
            return
        if isinstance(statement, Query):
            yield statement.atom.predicate, statement.atom.span.start, False
            return
        if not isinstance(statement, Rule):
            return
        for formula in statement.formulas():
            is_head = any(formula is each for each in statement.head_atoms)
            own = {id(atom) for atom in atoms(formula)}
            for atom in mentioned(formula):
                start = atom.span.start
                if start >= 0 and text.startswith(atom.predicate, start):
                    yield atom.predicate, start, is_head and id(atom) in own

    def word_at(self, offset: int) -> Word | None:
        """The word that an offset is in, or right behind."""
        for word in self.words:
            if word.span.start <= offset <= word.span.end:
                return word
            if word.span.start > offset:
                return None
        return None

    def statement_at(self, offset: int) -> Span:
        """From one full stop to the next, whether or not what lies between can be read."""
        begin, end = 0, len(self.source.text)
        for token in self.tokens:
            if token.kind == "." and token.end <= offset:
                begin = token.end
            elif token.kind == "." and token.end > offset:
                end = token.end
                break
        return Span(begin, end)

    def same(self, word: Word) -> list[Word]:
        """All places of what a word names: variables in their statement alone."""
        if word.kind not in (PREDICATE, VARIABLE, PARAMETER):
            return []
        inside = self.statement_at(word.span.start) if word.kind == VARIABLE else Span(0, len(self.source.text) + 1)
        if word.kind == VARIABLE and word.name == "_":
            return [word]
        return [
            each
            for each in self.words
            if each.kind == word.kind and each.name == word.name and inside.start <= each.span.start < inside.end
        ]

    def definitions(self, word: Word) -> list[Word]:
        """Where it is said what a word is; of an input that is not declared, where it is used first."""
        found = self.same(word)
        return [each for each in found if each.defines] or found[:1]

    def statements_of(self, name: str) -> Iterator[str]:
        """The statements that say what a predicate is."""
        for statement in self.report.program.statements:
            if any(each == name and defines for each, _, defines in self._predicates(statement)):
                yield show_statement(statement)

    def outline(self) -> Iterator[OutlineEntry]:
        own = len(self.source.own_text)
        for statement in self.report.program.statements:
            if not 0 <= statement.span.start < own:
                continue
            names = [name for name, _, defines in self._predicates(statement) if defines]
            if isinstance(statement, Query):
                names = [statement.atom.predicate]
            elif isinstance(statement, Param):
                names = [f"${statement.name}"]
            if names:
                first = show_statement(statement).split("\n")[0]
                yield OutlineEntry(", ".join(dict.fromkeys(names)), first, statement.span, isinstance(statement, Rule))
