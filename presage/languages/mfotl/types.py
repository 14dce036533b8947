"""The types of a formula's variables, as far as the signature says them.

Numbers are exact here, and a float that is whole looks like an integer; so what hangs on the difference is settled by
the text: whether `/` cuts off, and what an aggregate is worth of nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from presage.errors import Diagnostic
from presage.languages.mfotl.formulas import (
    Aggregation,
    Apply,
    Compare,
    Let,
    LogAtom,
    LogConstant,
    LogFormula,
    LogTerm,
    LogVariable,
)
from presage.languages.mfotl.signatures import LogSignature
from presage.languages.mfotl.text_functions import FLOATS
from presage.model.terms import Value

TEXTS = ("i2s", "f2s", "FORMAT_DATE")
WHOLE = ("f2i", "s2i", "YEAR", "MONTH", "DAY_OF_MONTH", "MOD")
KindByVariable = dict[str, str]


def typed(formula: LogFormula, signature: LogSignature, problems: list[Diagnostic]) -> LogFormula:
    """The formula with its divisions and aggregates settled; appends to `problems` what has the wrong type."""
    kinds = _kinds(formula, signature)
    settled: LogFormula = _settled(formula, kinds, problems)
    return settled


def parts(node: Any) -> Iterator[Any]:
    """A formula or term with all below it."""
    yield node
    for field in fields(node):
        value = getattr(node, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if hasattr(each, "span"):
                yield from parts(each)


def _kinds(formula: LogFormula, signature: LogSignature) -> KindByVariable:
    """The type of each variable; of a name that has several, none."""
    found = kinds_found(formula, signature)
    return {name: next(iter(each)) for name, each in found.items() if len(each) == 1}


def kinds_found(formula: LogFormula, signature: LogSignature) -> dict[str, set[str]]:
    """The types that each name has somewhere."""
    found: dict[str, set[str]] = {}
    every = list(parts(formula))
    defined: dict[str, tuple[str, ...]] = {each.predicate: each.names for each in every if isinstance(each, Let)}
    before = -1
    while before != (before := sum(map(len, found.values()))):
        kinds = {name: next(iter(each)) for name, each in found.items() if len(each) == 1}
        for each in every:
            match each:
                case LogAtom(predicate=predicate, terms=terms):
                    columns: list[str] = [column.type for column in signature.get(predicate, ())]
                    if predicate in defined:
                        columns = [kinds.get(name, "") for name in defined[predicate]]
                    for term, kind in zip(terms, columns, strict=False):
                        if isinstance(term, LogVariable) and kind:
                            found.setdefault(term.name, set()).add(kind)
                case Aggregation(result=result, function=function, over=over):
                    kind = {"CNT": "int", "AVG": "float", "MED": "float"}.get(function, kinds.get(over, ""))
                    if kind:
                        found.setdefault(result, set()).add(kind)
                case Compare(operator="=", left=left, right=right):
                    for side, other in ((left, right), (right, left)):
                        kind = kind_of(other, kinds)
                        if isinstance(side, LogVariable) and kind and not found.get(side.name):
                            found.setdefault(side.name, set()).add(kind)
    return found


def kind_of(term: LogTerm, kinds: KindByVariable) -> str:
    match term:
        case LogVariable(name=name):
            return kinds.get(name, "")
        case LogConstant(value=value):
            return "text" if isinstance(value, str) else "int"
        case Apply(operator=operator) if operator in FLOATS or operator == "/.":
            return "float"
        case Apply(operator=operator) if operator in TEXTS:
            return "text"
        case Apply(operator=operator) if operator in WHOLE:
            return "int"
        case Apply(terms=terms):
            below = [kind_of(each, kinds) for each in terms]
            return "float" if "float" in below else "int" if set(below) == {"int"} else ""
    return ""


def _settled(node: Any, kinds: KindByVariable, problems: list[Diagnostic]) -> Any:
    changes: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple) and any(hasattr(each, "span") for each in value):
            changes[field.name] = tuple(
                _settled(each, kinds, problems) if hasattr(each, "span") else each for each in value
            )
        elif hasattr(value, "span"):
            changes[field.name] = _settled(value, kinds, problems)
    made = replace(node, **changes) if changes else node
    if isinstance(made, Apply) and made.operator == "/" and kind_of(made, kinds) == "float":
        return replace(made, operator="/.")
    if isinstance(made, Aggregation):
        kind = kinds.get(made.over, "")
        if kind == "text" and made.function in ("SUM", "AVG", "MED"):
            message = f"`{made.function}` is about numbers, and `{made.over}` is text"
            problems.append(Diagnostic("D108", message, made.span, "CNT, MIN and MAX take texts too"))
        return replace(made, nothing=_of_nothing(made.function, kind))
    return made


def _of_nothing(function: str, kind: str) -> Value | None:
    """As MonPoly has it; the least of no floats is infinite there, which is no value here."""
    if function in ("MIN", "MAX"):
        return 0 if kind == "int" else "" if kind == "text" else None
    return 0
