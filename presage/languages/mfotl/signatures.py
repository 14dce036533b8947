"""MonPoly's signatures: which predicates a log has, with the types of their columns."""

from __future__ import annotations

from dataclasses import dataclass

from presage.errors import Diagnostic, Source, Span
from presage.languages.scanner import Grammar, Scanner, Unreadable

GRAMMAR = Grammar(
    ("(", ")", "[", "]", ",", ".", ";", "<-", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", ":", "|>", "<|", "|", "?"),
    r"\(\*.*?\*\)|\#[^\n]*",
    r"\??[^\W\d][\w']*|[0-9]+[a-z](?!\w)|_\w*",
)


@dataclass(frozen=True, slots=True)
class SignatureColumn:
    name: str
    type: str


LogSignature = dict[str, tuple[SignatureColumn, ...]]


def read_signature(source: Source) -> tuple[LogSignature, list[Diagnostic]]:
    brace = source.text.find("{")
    if brace >= 0:
        message = "records, as MonPoly's JSON logs have them, cannot be said here"
        return {}, [Diagnostic("P205", message, Span(brace, brace + 1), "write their fields as columns")]
    c = Scanner(source, GRAMMAR)
    found: LogSignature = {}
    try:
        while c.token.kind != "end":
            name = c.kind("word", "a predicate, such as publish(r:int)")
            c.expect("(")
            columns: list[SignatureColumn] = []
            while not c.is_at(")"):
                word = c.kind("word", "a column's type: string, int or float")
                if c.accept(":"):
                    columns.append(
                        SignatureColumn(word.text, _type(c, c.kind("word", "a type: string, int or float").text))
                    )
                else:
                    columns.append(SignatureColumn(f"a{len(columns) + 1}", _type(c, word.text)))
                if not c.accept(","):
                    break
            c.expect(")", "`,` or `)` after a column")
            c.accept("*", ";", ".")
            if name.text in found:
                raise Unreadable("D101", f"`{name.text}` is there already", name.span)
            names = [each.name for each in columns]
            if len(set(names)) < len(names):
                columns = [SignatureColumn(f"a{place + 1}", each.type) for place, each in enumerate(columns)]
            found[name.text] = tuple(columns)
    except Unreadable as wrong:
        return found, [*c.problems, wrong.diagnostic]
    return found, c.problems


def _type(c: Scanner, word: str) -> str:
    types = {"string": "text", "int": "int", "float": "float"}
    if word not in types:
        hint = "types are string, int and float"
        raise Unreadable("D108", f"there is no type `{word}`", c.before.span, hint)
    return types[word]
