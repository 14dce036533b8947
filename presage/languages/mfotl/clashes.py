"""What cannot be true because of its types: texts where the signature has numbers, and numbers where it has texts.

Integers and floats are numbers alike here, and exact; only texts are something else. A name that stands for several
variables of different types is taken for none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from presage.errors import Diagnostic
from presage.languages.mfotl.formulas import (
    Aggregation,
    Apply,
    Compare,
    Exists,
    Let,
    LogAtom,
    LogFormula,
    LogTerm,
    LogVariable,
    Matches,
)
from presage.languages.mfotl.signatures import LogSignature
from presage.languages.mfotl.stepping import BUILT_IN
from presage.languages.mfotl.types import kind_of, kinds_found, parts

OF_TEXTS = ("s2i", "s2f", "r2s")
WORDS = {"int": "a number", "float": "a number", "text": "a text"}
HINT = "compare values of one kind; i2s, f2s, s2i and s2f make one of the other"


def clashes(formula: LogFormula, signature: LogSignature) -> Iterator[Diagnostic]:
    found = kinds_found(formula, signature)
    kinds = {name: next(iter(each)) for name, each in found.items() if len(each) == 1}
    every = list(parts(formula))
    defined = {each.predicate for each in every if isinstance(each, Let)}
    bound = {name for each in every for name in _bound(each)}
    both = {name for name, each in found.items() if "text" in each and len(each) > 1 and name not in bound}

    def is_other(term: LogTerm, wanted: str) -> bool:
        kind = kind_of(term, kinds)
        return bool(kind) and wanted in WORDS and (kind == "text") != (wanted == "text")

    for each in every:
        match each:
            case LogAtom(predicate=predicate, terms=terms) if predicate not in defined:
                wanted = [column.type for column in signature.get(predicate, ())]
                if not wanted and predicate in BUILT_IN:
                    wanted = ["int"] * len(terms)
                for place, (term, kind) in enumerate(zip(terms, wanted, strict=False), 1):
                    if is_other(term, kind) or (isinstance(term, LogVariable) and term.name in both):
                        other = "a number" if kind == "text" else "a text"
                        given = (
                            f"`{term.name}` is {other} elsewhere" if isinstance(term, LogVariable) else f"not {other}"
                        )
                        message = f"argument {place} of `{predicate}` is {WORDS[kind]}, {given}"
                        yield Diagnostic("D108", message, each.span, HINT)
            case Compare(operator=operator, left=left, right=right):
                wanted_kind = "text" if operator == "SUBSTRING" else kind_of(left, kinds)
                if is_other(right, wanted_kind) or is_other(left, wanted_kind):
                    message = f"`{operator}` has a text on one side and a number on the other"
                    if operator == "SUBSTRING":
                        message = "SUBSTRING is about texts"
                    yield Diagnostic("D108", message, each.span, HINT)
            case Matches(text=text) if is_other(text, "text"):
                yield Diagnostic("D108", "MATCHES is about texts", each.span, HINT)
            case Apply(operator=operator, terms=terms):
                needed = "text" if operator in OF_TEXTS else "int"
                if any(is_other(term, needed) for term in terms):
                    message = f"`{operator}` is about {'texts' if needed == 'text' else 'numbers'}"
                    yield Diagnostic("D108", message, each.span, HINT)


def _bound(part: Any) -> tuple[str, ...]:
    """The names that stand for something else around a part than inside of it."""
    match part:
        case Exists(names=names) | Let(names=names):
            return names
        case Aggregation(result=result, over=over, groups=groups, inner=inner):
            inside = [each.name for each in parts(inner) if isinstance(each, LogVariable)]
            return (result, over, *(name for name in inside if name not in groups))
    return ()
