"""Terms made the same by what variables become."""

from __future__ import annotations

from collections.abc import Callable

from presage.model.formulas import Atom
from presage.model.terms import Term, Variable

Unifier = dict[str, Term]


def resolve(term: Term, bindings: Unifier) -> Term:
    while isinstance(term, Variable) and term.name in bindings:
        term = bindings[term.name]
    return term


def unify(left: tuple[Term, ...], right: tuple[Term, ...], bindings: Unifier) -> Unifier | None:
    bindings = dict(bindings)
    for first, second in zip(left, right, strict=True):
        a, b = resolve(first, bindings), resolve(second, bindings)
        if a == b:
            continue
        if isinstance(a, Variable):
            bindings[a.name] = b
        elif isinstance(b, Variable):
            bindings[b.name] = a
        else:
            return None
    return bindings


def renamed(atom: Atom, mark: str) -> Atom:
    """The atom with a mark at each of its variables."""
    return with_terms(atom, lambda each: Variable(each.name + mark) if isinstance(each, Variable) else each)


def with_terms(atom: Atom, put: Callable[[Term], Term]) -> Atom:
    return Atom(atom.predicate, tuple(map(put, atom.arguments)))
