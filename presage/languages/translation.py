"""A program of any language as text of Presage's own: `presage translate`.

Statements are printed from the model in the order in which they were written; the author's comments stand before the
statement they stood before, and a note says what has no counterpart, where it would have stood. A name that is a
reserved word of Presage gets `_` behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from presage.errors import ProgramError
from presage.languages import Language, language_of
from presage.model.formulas import Atom, Formula, transform
from presage.model.printer import show_statement
from presage.model.program import Program
from presage.model.statements import Input, Query, Rule, Statement, Static
from presage.parser import Parsed, parse
from presage.parser.setting import with_params
from presage.syntax import is_keyword


def translate(text: str, name: str, language: Language | None = None, params: Mapping[str, Any] | None = None) -> str:
    """With `params` its parameters have other values. Raises `ProgramError` where the text cannot be read."""
    chosen = language or language_of(name)
    parsed = chosen.read(text, name)
    errors = [each for each in parsed.problems if each.severity == "error"]
    if errors:
        raise ProgramError(parsed.program.source, parsed.problems)
    if params:
        parsed = replace(parsed, program=with_params(parsed.program, params))
    printed = layout(parsed, chosen.comment)
    parse(printed, f"{name} in Presage")  # what is printed can be read: a promise of every language
    return printed


def layout(parsed: Parsed, comment: str) -> str:
    program = _without_reserved_names(parsed.translation or parsed.program)
    source = parsed.program.source
    remarks = [(each.start, 0, _as_comment(each.text, comment)) for each in parsed.comments]
    remarks += [
        (each.span.start, 1, [f"% line {source.place(each.span.start)[0]}: {each.message}"]) for each in parsed.notes
    ]
    remarks.sort(key=lambda each: each[:2])
    lines: list[str] = []

    def tell_until(offset: int) -> None:
        while remarks and remarks[0][0] < offset:
            lines.extend(remarks.pop(0)[2])

    last = None
    for statement in program.statements:
        kind = type(statement)
        if last is not None and kind is not last:
            lines.append("")
        last = kind
        if statement.span.start >= 0:
            tell_until(statement.span.start + 1)
        lines.extend(show_statement(statement).split("\n"))
    tell_until(len(source.text) + 1)
    return "".join(line.rstrip() + "\n" for line in lines)


def _without_reserved_names(program: Program) -> Program:
    """Words that are reserved here are names elsewhere."""

    def named(atom: Atom) -> Atom:
        return replace(atom, predicate=f"{atom.predicate}_") if is_keyword(atom.predicate) else atom

    def renamed(formula: Formula) -> Formula:
        return transform(formula, lambda node: named(node) if isinstance(node, Atom) else node)

    statements: list[Statement] = []
    for each in program.statements:
        if isinstance(each, (Input, Static)) and is_keyword(each.predicate):
            each = replace(each, predicate=f"{each.predicate}_")
        elif isinstance(each, Query):
            each = replace(each, atom=named(each.atom))
        elif isinstance(each, Rule):
            head = None if each.head is None else replace(each.head, atoms=tuple(map(renamed, each.head.atoms)))
            each = replace(each, head=head, body=tuple(map(renamed, each.body)))
        statements.append(each)
    return replace(program, statements=tuple(statements))


def _as_comment(text: str, sign: str) -> list[str]:
    """A comment of another language as one of ours: its own sign is dropped, and each of its lines gets ours."""
    text = text.strip()
    for opening, closing in ((sign, ""), ("/*", "*/"), ("(*", "*)"), ("#", ""), ("%", ""), ("--", ""), ("//", "")):
        if opening and text.startswith(opening):
            text = text.removeprefix(opening).removesuffix(closing) if closing else text.removeprefix(opening)
            break
    return [f"% {line.strip().removeprefix('*').strip()}".rstrip() for line in text.strip().split("\n")]
