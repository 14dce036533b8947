"""A program as plain data, and back: JSON values, for checkpoints and for whoever reads them.

Each node of the model is an object that says what it `is` and has its fields, those with their usual values left out.
Reading goes by the types that the fields are declared with: an object that a field is not for is refused, and nothing
but nodes of the model can come of it. A field that is added to the model with a usual value can be missing here.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from presage import errors
from presage.errors import IncludedFile, PresageError, Source, Span
from presage.model.terms import Parameter, number

if TYPE_CHECKING:
    from presage.model.program import Program

FORMAT = 1
MOST_DEEP = 400
"""Formulas within formulas; the parser takes fewer."""


def plain_of(program: Program) -> dict[str, Any]:
    """A program as JSON values."""
    if program.meaning is not None:
        # What it means is in its text, and the name says in which language that is.
        return {"format": FORMAT, "language": program.source.name, "text": program.source.text}
    return {"format": FORMAT, "program": _plain(program)}


def program_of(plain: Any) -> Program:
    """The program that `plain_of` was given; raises `PresageError` where these values are no program."""
    if not isinstance(plain, Mapping) or not isinstance(plain.get("format"), int):
        raise PresageError("these values are not a program in its plain form")
    if plain["format"] != FORMAT:
        raise PresageError(
            f"the program was written by another version of Presage (format {plain['format']}, here {FORMAT}): "
            "read it from its text"
        )
    if "language" in plain:
        raise PresageError(f"{plain['language']}: a program of another language is read from its text")
    found: Program = _read("Program", plain.get("program"), "program", 0)
    return found


def _plain(value: Any) -> Any:
    match value:
        case Source():
            found = {"is": "Source", "name": value.name, "text": value.text}
            return {**found, "included": [list(part) for part in value.included]} if value.included else found
        case Span():
            return list(value)
        case Fraction():
            return {"is": "number", "value": str(value)}
        case datetime():
            return {"is": "moment", "value": value.isoformat()}
        case tuple():
            return [_plain(each) for each in value]
        case None | str() | int() | float():
            return value
    assert is_dataclass(value), f"{type(value).__name__} is no part of a program"
    found = {"is": type(value).__name__}
    for each in fields(value):
        given = getattr(value, each.name)
        # What is equal may still stand elsewhere in the text: only nodes without a place are told by their value.
        if given is not _usual(each) and (isinstance(given, Source) or is_dataclass(given) or given != _usual(each)):
            found[each.name] = _plain(given)
    return found


def _usual(each: Field[Any]) -> Any:
    return each.default if each.default is not MISSING else MISSING


@cache
def _names() -> dict[str, Any]:
    """All names that the model's modules know: fields are declared with some of them before they are there."""
    package = import_module("presage.model")
    names: dict[str, Any] = dict(vars(errors))
    for found in iter_modules(package.__path__):
        names |= vars(import_module(f"presage.model.{found.name}"))
    return names


@cache
def _types(node: type) -> dict[str, Any]:
    return get_type_hints(node, _names())


def _read(kind: Any, value: Any, where: str, depth: int) -> Any:
    """The value as one of a declared type."""
    if depth > MOST_DEEP:
        raise PresageError("the program's plain form is too deep")
    if isinstance(value, Mapping) and value.get("is") == Parameter.__name__:
        # It may stand where a number or a constant is meant, until the first rewriting pass.
        return _node(Parameter, value, where, depth)
    if isinstance(kind, str):
        kind = _names().get(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Union or origin is types.UnionType:
        return _one_of(arguments, value, where, depth)
    if origin is tuple:
        return _tuple(arguments, value, where, depth)
    if origin is Literal and value in arguments:
        return value
    found = _scalar(kind, value)
    if found is not MISSING:
        return found
    if (
        isinstance(kind, type)
        and is_dataclass(kind)
        and isinstance(value, Mapping)
        and value.get("is") == kind.__name__
    ):
        return _node(kind, value, where, depth)
    raise PresageError(f"the program's plain form is wrong at {where}: something else was expected than {value!r:.60}")


def _scalar(kind: Any, value: Any) -> Any:
    """A value without parts, if it is one of that type."""
    if kind is Span and isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value):
        return Span(*value)
    if (kind is type(None) or kind is None) and value is None:
        return None
    if isinstance(value, Mapping) and isinstance(value.get("value"), str):
        try:
            if kind is Fraction and value.get("is") == "number":
                return number(Fraction(value["value"]))
            if kind is datetime and value.get("is") == "moment":
                return datetime.fromisoformat(value["value"])
        except (ValueError, ZeroDivisionError):
            return MISSING
    return value if isinstance(kind, type) and kind in (str, int, bool, float) and type(value) is kind else MISSING


def _one_of(kinds: tuple[Any, ...], value: Any, where: str, depth: int) -> Any:
    trouble: PresageError | None = None
    for kind in kinds:
        try:
            return _read(kind, value, where, depth)
        except PresageError as found:
            # The trouble of the one that it was meant to be says more than that of the others.
            if trouble is None or (isinstance(value, Mapping) and value.get("is") == getattr(kind, "__name__", "")):
                trouble = found
    assert trouble is not None
    raise trouble


def _tuple(kinds: tuple[Any, ...], value: Any, where: str, depth: int) -> tuple[Any, ...]:
    many = len(kinds) == 2 and kinds[1] is Ellipsis
    if not isinstance(value, list) or (not many and len(value) != len(kinds)):
        raise PresageError(f"the program's plain form is wrong at {where}: a list was expected")
    each = [kinds[0]] * len(value) if many else kinds
    return tuple(
        _read(kind, item, f"{where}[{place}]", depth + 1)
        for place, (kind, item) in enumerate(zip(each, value, strict=True))
    )


def _source(value: Mapping[str, Any], where: str, depth: int) -> Source:
    text, name = (_read(str, value.get(each), where, depth) for each in ("text", "name"))
    parts = _read(tuple[tuple[str, int], ...], value.get("included", []), f"{where}.included", depth)
    starts = [0, *(start for _, start in parts), len(text) + 1]
    if any(start >= following for start, following in pairwise(starts)):
        raise PresageError(f"the program's plain form is wrong at {where}.included: files lie behind each other")
    return replace(Source.of(text, name), included=tuple(IncludedFile(*part) for part in parts))


def _node(kind: type, value: Mapping[str, Any], where: str, depth: int) -> Any:
    if kind is Source:
        return _source(value, where, depth)
    known = _types(kind)
    given = {name: each for name, each in value.items() if name != "is"}
    named = {each.name: each for each in fields(kind)}
    unknown = sorted(set(given) - set(named))
    missing = [name for name, each in named.items() if name not in given and _usual(each) is MISSING]
    if unknown or missing:
        raise PresageError(
            f"the program's plain form is wrong at {where}: {kind.__name__} "
            + (f"has no {unknown[0]}" if unknown else f"lacks {missing[0]}")
        )
    read = {name: _read(known[name], each, f"{where}.{name}", depth + 1) for name, each in given.items()}
    return kind(**read)
