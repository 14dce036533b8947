"""What readers of query languages share when they write rules: names that nobody else has, and rules as a person
would write them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from presage.errors import NOWHERE, Span
from presage.model.formulas import (
    And,
    Atom,
    Comparison,
    Formula,
    Modal,
    Or,
    Pinned,
    Top,
    Windowed,
    children,
    map_terms,
    with_children,
)
from presage.model.statements import Head, Rule
from presage.model.terms import (
    Aggregate,
    Arithmetic,
    Constant,
    Function,
    Number,
    Term,
    Variable,
    map_term,
    parts_of,
    subterms,
    term_variables,
)
from presage.model.time import Pin
from presage.syntax import is_keyword, starts_like_a_variable


class FreshNames:
    """Names of one kind, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {each.lower() for each in taken}

    def fresh(self, wanted: str) -> str:
        """The name itself, or with the least number behind it that makes it new."""
        name, number = wanted, 1
        while name.lower() in self.taken or is_keyword(name):
            number += 1
            name = f"{wanted}_{number}" if wanted[-1:].isdigit() else f"{wanted}{number}"
        self.taken.add(name.lower())
        return name

    def variable(self, wanted: str) -> Variable:
        plain = re.sub(r"\W", "_", wanted) or "V"
        if not starts_like_a_variable(plain) or plain[0] == "_":
            plain = plain.lstrip("_")
            plain = plain[:1].upper() + plain[1:]
        if not plain or not (plain[0].isupper() and plain.isidentifier()):
            plain = "V" + plain
        return Variable(self.fresh(plain))


def predicate_name(wanted: str) -> str:
    """A word as the name of a predicate."""
    plain = re.sub(r"\W", "_", wanted)
    return plain if plain.isidentifier() else f"q_{plain}"


def terms_in(formula: Formula) -> Iterator[Term]:
    """The terms that a formula is made of, and the variables of its pins."""
    match formula:
        case Atom(arguments=arguments):
            yield from arguments
        case Comparison(left=left, right=right):
            yield from (left, right)
        case _:
            for part in children(formula):
                yield from terms_in(part)
            if isinstance(formula, Pinned) and isinstance(formula.pin.base, Variable):
                yield formula.pin.base


def terms_of(formula: Formula) -> Iterator[Term]:
    """The terms that stand in a formula, those of the bodies of its aggregates too."""
    for term in terms_in(formula):
        for inner in subterms(term):
            yield inner
            if isinstance(inner, Aggregate):
                for each in inner.body:
                    yield from terms_of(each)


def names_in(formulas: Iterable[Formula]) -> Iterator[str]:
    """The names of all variables, with repetitions."""
    return (each.name for formula in formulas for each in terms_of(formula) if isinstance(each, Variable))


def replacing(known: dict[str, Term]) -> Callable[[Term], Term]:
    """For `map_terms`: variables as what is known of them."""
    return lambda term: known.get(term.name, term) if isinstance(term, Variable) else term


def never(span: Span) -> Formula:
    """What is not true at any time."""
    return Comparison("=", Constant(0), Constant(1), span=span)


def no_value(span: Span) -> Term:
    """What has no value, and about which nobody has to be told."""
    return Arithmetic("/", Constant(1), Constant(0), span=span)


def joined(kind: type[And] | type[Or], parts: Iterable[Formula], span: Span) -> Formula:
    """Parts of one connective side by side, without those that are always or never true."""
    found: list[Formula] = []
    for each in parts:
        for part in each.parts if isinstance(each, kind) else (each,):
            if isinstance(part, Top) if kind is And else part == never(span):
                continue
            if isinstance(part, Top) or part == never(span):
                return part
            found.append(part)
    if not found:
        return Top(span=span) if kind is And else never(span)
    return found[0] if len(found) == 1 else kind(tuple(found), span=span)


def flat(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction."""
    if isinstance(formula, And):
        return tuple(part for each in formula.parts for part in flat(each))
    return (formula,)


def rule(predicate: str, arguments: Iterable[Term], body: Iterable[Formula], span: Span = NOWHERE) -> Rule:
    """A rule whose head is an atom, as a person would write it: what is calculated is bound by `=` first, variables
    that occur once are `_`, a time that nobody asks for is `some`, and names have no number they do not need."""
    literals = [part for each in body for part in flat(each)]
    given = tuple(arguments)
    names = FreshNames((*names_in(literals), *(each.name for term in given for each in term_variables(term))))
    columns: list[Term] = []
    for term in given:
        if isinstance(term, (Variable, Constant)):
            columns.append(term)
            continue
        variable = names.variable("Value")
        literals.append(Comparison("=", variable, term, span=term.span if term.span is not NOWHERE else span))
        columns.append(variable)
    outside = Counter(each.name for each in columns if isinstance(each, Variable))
    for each in literals:
        outside.update(_outside(each))
    for name in {each for literal in literals for each in _in_braces(literal)}:
        if name in outside:  # shared with an aggregate
            outside[name] += 1
    plain = _plain_names((*(each.name for each in columns if isinstance(each, Variable)), *names_in(literals)))
    literals = [_settled(each, outside) for each in literals]

    def renamed(term: Term) -> Term:
        return replace(term, name=plain[term.name]) if isinstance(term, Variable) and term.name in plain else term

    literals = [map_terms(each, renamed) for each in dict.fromkeys(literals)]
    head = Head((Atom(predicate, tuple(renamed(each) for each in columns), span=span),), span=span)
    return Rule(head, tuple(literals), span=span)


def at_multiples(predicate: str, columns: Iterable[Term], of: str, every: Number, span: Span) -> Rule:
    """What another predicate says, at the multiples of a number of ticks alone."""
    given = tuple(columns)
    names = FreshNames(each.name for each in given if isinstance(each, Variable))
    time = names.variable("T")
    head = Pinned(Atom(predicate, given, span=span), Pin(time), span=span)
    body = (
        Pinned(Atom(of, given, span=span), Pin(time), span=span),
        Comparison("=", Function("mod", (time, Constant(every)), span=span), Constant(0), span=span),
    )
    return Rule(Head((head,), span=span), body, span=span)


def _outside(formula: Formula) -> Iterator[str]:
    """The names of the variables that do not stand in the braces of an aggregate."""
    for term in terms_in(formula):
        yield from _outside_braces(term)


def _in_braces(formula: Formula) -> Iterator[str]:
    if not isinstance(formula, Comparison):
        for part in children(formula):
            yield from _in_braces(part)
        return
    for term in (formula.left, formula.right):
        for inner in subterms(term):
            if isinstance(inner, Aggregate):
                yield from (each.name for each in term_variables(replace(inner, shared=None)))


def _outside_braces(term: Term) -> Iterator[str]:
    if isinstance(term, Variable):
        yield term.name
    elif not isinstance(term, Aggregate):
        for part in parts_of(term):
            yield from _outside_braces(part)


def _settled(formula: Formula, often: Counter[str]) -> Formula:
    """Variables that occur once as `_`, and times that do as `some`; inside the braces of an aggregate, what occurs
    there alone."""

    def blank(term: Term) -> Term:
        return replace(term, name="_") if isinstance(term, Variable) and often[term.name] == 1 else term

    def braces(term: Term) -> Term:
        if not isinstance(term, Aggregate):
            return term
        inside = Counter(each.name for part in term.terms for each in term_variables(part))
        for each in term.body:
            inside.update(_outside(each))
        for name in inside:
            if name in often:
                inside[name] += 1
        return replace(term, body=tuple(_settled(each, inside) for each in term.body))

    match formula:
        case Atom(arguments=arguments):
            return replace(formula, arguments=tuple(blank(each) for each in arguments))
        case Comparison(left=left, right=right):
            return replace(formula, left=map_term(left, braces), right=map_term(right, braces))
        case Windowed(formula=Pinned(formula=inner, pin=Pin(base=Variable(name=name)))) if often[name] == 1:
            return replace(formula, formula=Modal("some", _settled(inner, often), span=inner.span))
        case _:
            parts = children(formula)
            return with_children(formula, tuple(_settled(each, often) for each in parts)) if parts else formula


def _plain_names(names: Iterable[str]) -> dict[str, str]:
    """Names without the numbers that only told them apart from those of other rules."""
    found = list(dict.fromkeys(names))
    taken, plain = set(found), {}
    for name in found:
        short = name.rstrip("0123456789").rstrip("_")
        if short and short != name and short not in taken and not is_keyword(short):
            plain[name] = short
            taken.add(short)
    return plain
