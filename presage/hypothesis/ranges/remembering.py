"""What became of negated atoms, as plain JSON values and back: what they hung on may be forgotten."""

from __future__ import annotations

from typing import Any

from presage.hypothesis.ranges.evolutions import Evolutions
from presage.hypothesis.ranges.families import AtomFamily, AtomField
from presage.hypothesis.saving import read, written
from presage.hypothesis.words import Comparisons
from presage.model.formulas import Comparison
from presage.model.terms import Constant, Term, Variable


def saved_evolutions(evolutions: Evolutions) -> dict[str, Any]:
    return {
        "decided": [
            [name, written(at), [written(each) for each in row], true]
            for (name, at), rows in evolutions.decided.items()
            for row, true in rows.items()
        ],
        "fields": [
            [name, [written(each) for each in given], written(at), list(map(_family, field.certain))]
            for (name, given, at), field in evolutions.settled.items()
            if all(_is_simple(clause) for each in field.certain for clause in each.limits)
        ],
        "unsettled": [
            [name, [written(each) for each in given], written(at)] for name, given, at in evolutions.unsettled
        ],
        "singled": [
            [name, [written(each) for each in row], [written(each) for each in times]]
            for (name, row), times in evolutions.singled.items()
        ],
        "reached": evolutions.reached,
    }


def load_evolutions(evolutions: Evolutions, saved: dict[str, Any]) -> None:
    for name, at, row, true in saved["decided"]:
        evolutions.decided.setdefault((name, read(at)), {})[tuple(map(read, row))] = true
    for name, given, at, certain in saved["fields"]:
        evolutions.settled[name, tuple(map(read, given)), read(at)] = AtomField(list(map(_read_family, certain)), [])
    for name, given, at in saved["unsettled"]:
        evolutions.unsettled[name, tuple(map(read, given)), read(at)] = None
    for name, row, times in saved["singled"]:
        evolutions.singled[name, tuple(map(read, row))] = dict.fromkeys(map(read, times))
    evolutions.reached = saved["reached"]


def _family(family: AtomFamily) -> list[Any]:
    limits = [[[each.operator, _term(each.left), _term(each.right)] for each in clause] for clause in family.limits]
    return [[written(each) for each in family.arguments], limits]


def _read_family(saved: list[Any]) -> AtomFamily:
    row, limits = saved
    return AtomFamily(
        tuple(map(read, row)),
        tuple(
            tuple(Comparison(operator, _read_term(left), _read_term(right)) for operator, left, right in clause)
            for clause in limits
        ),
    )


def _is_simple(clause: Comparisons) -> bool:
    return all(isinstance(side, (Variable, Constant)) for each in clause for side in (each.left, each.right))


def _term(term: Term) -> Any:
    return [term.name] if isinstance(term, Variable) else written(term.value)  # type: ignore[union-attr]


def _read_term(saved: Any) -> Term:
    return Variable(saved[0]) if isinstance(saved, list) else Constant(read(saved))
