"""Declare: constraints over the events of cases, each with one of four verdicts at all times.

A verdict is about all ways in which a case may go on, which rules do not say; so a file brings its own meaning
(`watching.py`, and the templates in `templates.py` and `counted_templates.py`). Nothing of it has a counterpart in
rules.
"""

from __future__ import annotations

from presage.errors import Diagnostic, Note, Source, Span
from presage.languages.declare.reading import read_constraints
from presage.languages.declare.stepping import COMPLETE, DATA, EVENT, DeclareMeaning
from presage.model.formulas import Atom, Or
from presage.model.program import Program
from presage.model.statements import Column, Head, Input, Query, Rule, Statement, Tick, Timeline
from presage.model.terms import Variable
from presage.model.time import Duration
from presage.parser import Parsed

CASE = Variable("CASE")
INPUTS = (
    Input(EVENT, (Column("case"), Column("activity"))),
    Input(COMPLETE, (Column("case"),)),
    Input(DATA, (Column("case"), Column("name"), Column("value"))),
)


def read(text: str, name: str) -> Parsed:
    source = Source.of(text.removeprefix("\ufeff"), name)
    found = read_constraints(source)
    problems = list(found.problems)
    if not found.all and not problems:
        hint = "write one, such as `Response[order, ship] | | |0,7,d`"
        problems.append(Diagnostic("D105", "the file has no constraint: there is nothing to answer", Span(0, 1), hint))
    settings: list[Statement] = [Timeline("discrete"), Tick(Duration(1, "s")), *INPUTS]
    rules = [
        Rule(
            Head((Atom(each.name, (CASE,), span=each.span),)),
            (
                Or(
                    (
                        Atom(EVENT, (CASE, Variable("_"))),
                        Atom(COMPLETE, (CASE,)),
                        Atom(DATA, (CASE, Variable("_"), Variable("_"))),
                    )
                ),
            ),
            span=each.span,
        )
        for each in found.all
    ]
    queries = [Query(Atom(each.name, (CASE,), span=each.span), span=each.span) for each in found.all]
    program = Program((*settings, *rules, *queries), source=source, meaning=DeclareMeaning(found.all))
    notes = [
        Note(f"{each.name}: {each.text} has no rule, since its verdict is about all ways to go on", each.span)
        for each in found.all
    ]
    return Parsed(
        program,
        found.comments,
        tuple(problems),
        notes=(*found.notes, *notes),
        translation=Program(tuple(settings), source=source),
    )
