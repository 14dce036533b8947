"""ETALIS: event patterns over intervals.

An event is a value with a beginning and an end; facts that hold over time, which are joined where they touch, are not.
So a file brings its own meaning (`matching.py`). What is printed as its translation are rules whose predicates have the
two ends as arguments.
"""

from __future__ import annotations

from dataclasses import replace

from presage.errors import Diagnostic, Note, Source, Span, nearest
from presage.languages.etalis.event_patterns import EventRule, events
from presage.languages.etalis.reading import ANY, EventRules, read_rules
from presage.languages.etalis.stepping import EtalisMeaning
from presage.languages.etalis.translating import translated
from presage.model.formulas import Atom, Formula, Or
from presage.model.program import Program
from presage.model.statements import Column, Head, Input, Query, Rule, Statement, Timeline
from presage.model.terms import Constant, Variable
from presage.parser import Parsed


def read(text: str, name: str) -> Parsed:
    source = Source.of(text.removeprefix("\ufeff"), name)
    found = read_rules(source)
    problems = list(found.problems)
    inputs = _inputs(found)
    rules = [_dependence(rule) for rule in found.rules]
    notes = [Note("events of the file are facts at their end here, with beginning and end as arguments", Span(0, 1))]
    queries = _queries(found, problems, notes)
    if not found.rules and not problems:
        hint = "write one, such as `fire(X) <- smoke(X) SEQ heat(X) WITHIN 10.`"
        problems.append(Diagnostic("D105", "the file has no event rule: there is nothing to answer", Span(0, 1), hint))
    statements: list[Statement] = [Timeline("dense"), *inputs, *rules, *queries]
    program = Program(tuple(statements), source=source, meaning=EtalisMeaning(found.rules))
    translation = Program((Timeline("discrete"), *translated(found.rules, inputs, queries)), source=source)
    return Parsed(program, found.comments, tuple(problems), notes=tuple(notes), translation=translation)


def _inputs(found: EventRules) -> list[Input]:
    """Events that no rule makes, and those that rules both make and use: they may be given too."""
    used: dict[str, Atom] = {}
    for rule in found.rules:
        for event in events(rule.pattern):
            used.setdefault(event.atom.predicate, event.atom)
    return [
        Input(atom.predicate, tuple(Column(f"a{place + 1}") for place in range(len(atom.arguments))))
        for atom in used.values()
    ]


def _dependence(rule: EventRule) -> Rule:
    """What an event hangs on, for whoever asks what depends on what."""
    atoms = tuple(event.atom for event in events(rule.pattern))
    body: Formula = atoms[0] if len(atoms) == 1 else Or(tuple(replace(each, arguments=_any(each)) for each in atoms))
    head = replace(rule.head, arguments=tuple(Constant("any") for _ in rule.head.arguments))
    return Rule(Head((head,)), (body,), span=rule.span)


def _any(atom: Atom) -> tuple[Variable, ...]:
    return tuple(Variable("_") for _ in atom.arguments)


def _queries(found: EventRules, problems: list[Diagnostic], notes: list[Note]) -> list[Query]:
    heads: dict[tuple[str, int], Atom] = {}
    for rule in found.rules:
        heads.setdefault((rule.head.predicate, len(rule.head.arguments)), rule.head)
    used = {event.atom.predicate for rule in found.rules for event in events(rule.pattern)}
    asked = {key: atom for key, atom in heads.items() if key[0] not in used} or heads
    chosen: dict[tuple[str, int], Atom] = {}
    for name, arity, span in found.triggers:
        fitting = [key for key in heads if name in (ANY, key[0]) and arity in (-1, key[1])]
        if not fitting and (name == ANY or name in used):
            notes.append(Note("a trigger for events that come in is left out: they are facts", span))
        elif not fitting:
            near = nearest(name, [each for each, _ in heads])
            hint = f"did you mean `{near}`?" if near and near != name else "a trigger is name/arity of a head"
            problems.append(Diagnostic("D105", f"no rule has the head {name}/{arity}", span, hint))
        chosen.update((key, heads[key]) for key in fitting)
    asked = chosen or asked
    return [Query(replace(atom, arguments=_columns(atom)), span=atom.span) for atom in asked.values()]


def _columns(atom: Atom) -> tuple[Variable, ...]:
    """The head's own variables where they tell its arguments apart."""
    own = [term.name for term in atom.arguments if isinstance(term, Variable)]
    if len(set(own)) == len(atom.arguments):
        return tuple(Variable(name) for name in own)
    return tuple(Variable(f"X{place + 1}") for place in range(len(atom.arguments)))
