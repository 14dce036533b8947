"""LTL with past and bounds: each property answered at each position as confirmed, possible or refuted.

No rule says what holds in all infinite continuations, so that a file brings its own meaning (`stepping.py`, by what is
left of each formula, `progression.py`). What is printed as its translation are rules for the properties that look ahead
by a bound.
"""

from __future__ import annotations

from presage.errors import Diagnostic, Note, Source, Span
from presage.languages.ltl.formulas import Before, Both, Either, Next, SignedAtom, Truth, UntilRelease, facts_of
from presage.languages.ltl.formulas import LtlFormula as Ltl
from presage.languages.ltl.reading import Property, read_properties
from presage.languages.ltl.stepping import LtlMeaning
from presage.model.formulas import And, Atom, BinaryMetric, Formula, Metric, Not, Or, Over, Top
from presage.model.program import Program
from presage.model.statements import Column, Head, Input, Query, Rule, Statement, Timeline
from presage.model.terms import Constant
from presage.model.time import Interval
from presage.parser import Parsed

POSITION = "position"


def read(text: str, name: str) -> Parsed:
    source = Source.of(text.removeprefix("\ufeff"), name)
    found = read_properties(source)
    problems = list(found.problems)
    inputs = _inputs(found.all, problems)
    queries = [Query(Atom(each.name, span=each.span), span=each.span) for each in found.all]
    known = {(each.predicate, len(each.columns)) for each in inputs}
    rules = [_dependence(each, known) for each in found.all]
    statements: list[Statement] = [Timeline("discrete"), *inputs, *rules, *queries]
    program = Program(tuple(statements), source=source, meaning=LtlMeaning(found.all))
    if not found.all and not problems:
        hint = "write one, such as `answered: G (asked -> F[0,5] answer)`"
        problems.append(Diagnostic("D105", "the file has no property: there is nothing to answer", Span(0, 1), hint))
    written, notes = _translation(found.all)
    translation = Program((Timeline("discrete"), *inputs, *written), source=source)
    return Parsed(program, found.comments, tuple(problems), notes=notes, translation=translation)


def _inputs(properties: tuple[Property, ...], problems: list[Diagnostic]) -> list[Input]:
    first: dict[str, tuple[SignedAtom, Span]] = {}
    for each in properties:
        for fact, span in each.atoms:
            known = first.setdefault(fact.predicate, (fact, span))
            if len(known[0].arguments) != len(fact.arguments):
                many, here = len(known[0].arguments), len(fact.arguments)
                message = f"`{fact.predicate}` has {here} argument{'s' * (here != 1)} here and {many} before"
                note = Note("it was used here before", known[1])
                problems.append(Diagnostic("N101", message, span, "one predicate has one number of arguments", (note,)))
    return [
        Input(name, tuple(Column(f"a{place + 1}") for place in range(len(fact.arguments))))
        for name, (fact, _) in first.items()
    ]


def _dependence(each: Property, known: set[tuple[str, int]]) -> Rule:
    """What a property hangs on, for whoever asks what depends on what."""
    facts = (fact for fact in facts_of(each.formula) if (fact.predicate, len(fact.arguments)) in known)
    parts = tuple(_atom(fact) for fact in sorted(facts, key=repr))
    body: Formula = Top() if not parts else parts[0] if len(parts) == 1 else Or(parts)
    return Rule(Head((Atom(each.name, span=each.span),)), (body,), span=each.span)


def _atom(fact: SignedAtom) -> Atom:
    return Atom(fact.predicate, tuple(Constant(value) for value in fact.arguments))  # type: ignore[arg-type]


# The translation


def _translation(properties: tuple[Property, ...]) -> tuple[list[Statement], tuple[Note, ...]]:
    rules: list[Statement] = []
    queries: list[Statement] = []
    notes: list[Note] = []
    guarded = False
    for each in properties:
        endless = _endless(each.formula)
        if endless is not None:
            message = (
                f"{each.name}: {each.text} has no rule, since it looks ahead without end; `presage run` answers it"
            )
            notes.append(Note(message, each.span))
            continue
        guarded |= _looks_back(each.formula)
        rules.append(Rule(Head((Atom(each.name),)), (_formula(each.formula),), span=each.span))
        queries.append(Query(Atom(each.name)))
    if guarded:
        always = Interval(0, None, True, False)
        rules.insert(0, Rule(Head((Over(Atom(POSITION), always),)), ()))
    return [*rules, *queries], tuple(notes)


def _parts(formula: Ltl) -> tuple[Ltl, ...]:
    match formula:
        case SignedAtom() | Truth():
            return ()
        case Next(inner) | Before(inner, _):
            return (inner,)
        case _:
            return (formula.left, formula.right)


def _endless(formula: Ltl) -> Ltl | None:
    if isinstance(formula, UntilRelease) and not formula.past and formula.high is None:
        return formula
    return next((found for each in _parts(formula) if (found := _endless(each)) is not None), None)


def _looks_back(formula: Ltl) -> bool:
    return (
        isinstance(formula, Before)
        or (isinstance(formula, UntilRelease) and formula.past)
        or any(map(_looks_back, _parts(formula)))
    )


def _formula(formula: Ltl) -> Formula:
    """The same in rules. Nothing lies before position 0, and what is false there may not count as absent."""
    match formula:
        case SignedAtom(present=present):
            return _atom(formula) if present else _not(_atom(formula))
        case Truth(value):
            return Top() if value else _not(Top())
        case Both(left, right):
            return And((_formula(left), _formula(right)))
        case Either(left, right):
            return Or((_formula(left), _formula(right)))
        case Next(inner):
            return Metric("eventually", Interval(1, 1), _formula(inner))
        case Before(inner, at_start):
            if at_start:
                return _not(Metric("once", Interval(1, 1), And((Atom(POSITION), _not(_formula(inner))))))
            return Metric("once", Interval(1, 1), And((Atom(POSITION), _formula(inner))))
        case UntilRelease(past, dual, low, high, left, right):
            if dual:
                return _not(_until(past, low, high, _not(_formula(left)), _not(_formula(right)), left == Truth(False)))
            return _until(past, low, high, _formula(left), _formula(right), left == Truth(True))


def _not(formula: Formula) -> Formula:
    return formula.formula if isinstance(formula, Not) else Not(formula)


def _until(past: bool, low: int, high: int | None, left: Formula, right: Formula, anything: bool) -> Formula:
    """`left` also holds now, unless `right` does: here until and since ask nothing of their own time."""
    inner = And((Atom(POSITION), right)) if past else right
    if anything:
        return Metric("once" if past else "eventually", Interval(low, high, True, high is not None), inner)
    if high == 0:
        return right
    lasting = BinaryMetric(
        "since" if past else "until", Interval(max(1, low), high, True, high is not None), left, inner
    )
    later = And((left, lasting))
    return later if low > 0 else Or((right, later))
