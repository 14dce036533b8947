"""MonPoly's formulas: metric first-order temporal logic over the time points of a log.

Operators go from one time point to another, and several time points may have one timestamp, which rules over time do
not know; so a formula brings its own meaning (`compiling.py`, `stepping.py`). What is printed as its translation is
right where every timestamp has one time point.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from presage.errors import Diagnostic, Note, Source, Span
from presage.languages import SECOND_FILES
from presage.languages.mfotl.clashes import clashes
from presage.languages.mfotl.compiling import compiled
from presage.languages.mfotl.formulas import Let, LogAtom, LogFormula, TruthConstant, free
from presage.languages.mfotl.reading import read_formula
from presage.languages.mfotl.signatures import LogSignature, read_signature
from presage.languages.mfotl.stepping import BUILT_IN, SATISFIED, TIME_POINT, MfotlMeaning
from presage.languages.mfotl.translating import NoCounterpart, rule_of
from presage.languages.mfotl.types import typed
from presage.languages.scanner import Unreadable
from presage.model.formulas import Atom, Or, Top
from presage.model.program import Program
from presage.model.statements import Column, Head, Input, Query, Rule, Statement, Timeline
from presage.model.terms import Constant, Variable
from presage.parser import Parsed

SUFFIX = ".sig"


def read(text: str, name: str) -> Parsed:
    source = Source.of(text.removeprefix("\ufeff"), name)
    problems: list[Diagnostic] = []
    signature = _signature(name, problems)
    found = read_formula(source)
    problems += found.scanner.problems
    inputs = [
        Input(predicate, tuple(Column(column.name, column.type) for column in columns))
        for predicate, columns in signature.items()
    ]
    inputs.append(Input(TIME_POINT, (Column("number", "int"),)))
    formula: LogFormula = found.formula or TruthConstant(True)
    if found.formula is not None:
        _check_atoms(found.atoms, signature, _defined(formula), problems)
        problems += clashes(formula, signature)
        formula = typed(formula, signature, problems)
        try:
            compiled(formula, {})
        except Unreadable as wrong:
            problems.append(wrong.diagnostic)
    names = free(formula)
    span = Span(0, max(1, len(source.text.rstrip())))
    used = [each for each in inputs if each.predicate in {atom.predicate for atom in found.atoms}]
    parts = tuple(Atom(each.predicate, tuple(Variable("_") for _ in each.columns)) for each in used)
    body = Top() if not parts else parts[0] if len(parts) == 1 else Or(parts)
    head = Atom(SATISFIED, tuple(Constant("any") for _ in names), span=span)
    query = Query(Atom(SATISFIED, tuple(Variable(each) for each in names)))
    statements: list[Statement] = [Timeline("dense"), *inputs, Rule(Head((head,)), (body,), span=span), query]
    program = Program(tuple(statements), source=source, meaning=MfotlMeaning(formula))
    notes, rules = [], list[Statement]()
    try:
        rule = rule_of(formula)
        rules = [replace(rule, span=span), Query(rule.head_atoms[0])]  # type: ignore[arg-type]
        notes.append(Note("time points with one timestamp are one here", Span(0, 1)))
    except NoCounterpart as missing:
        notes.append(Note(f"{missing} has no counterpart here; `presage run` works the formula out", missing.span))
    translation = Program((Timeline("discrete"), *inputs, *rules), source=source)
    return Parsed(program, tuple(found.scanner.comments), tuple(problems), notes=tuple(notes), translation=translation)


def _signature(name: str, problems: list[Diagnostic]) -> LogSignature:
    where = SECOND_FILES.get(SUFFIX) or Path(name).with_suffix(SUFFIX)
    try:
        text = where.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError):
        hint = f"put it into {where.name} beside the formula, or give --signature F"
        problems.append(Diagnostic("P101", f"there is no signature {where}", Span(-1, -1), hint))
        return {}
    signature, wrong = read_signature(Source.of(text, str(where)))
    for each in wrong:
        line, column = Source.of(text).place(each.span.start)
        problems.append(replace(each, message=f"{where}:{line}:{column}: {each.message}", span=Span(-1, -1), notes=()))
    return signature


def _defined(formula: LogFormula) -> set[str]:
    found = {formula.predicate} if isinstance(formula, Let) else set()
    for part in ("inner", "defined", "left", "right"):
        below = getattr(formula, part, None)
        if below is not None and not isinstance(below, str) and hasattr(below, "span"):
            found |= _defined(below)
    return found


def _check_atoms(
    atoms: tuple[LogAtom, ...], signature: LogSignature, defined: set[str], problems: list[Diagnostic]
) -> None:
    from presage.errors import nearest

    for atom in atoms:
        if atom.predicate in defined or not signature:
            continue
        columns = signature.get(atom.predicate)
        if columns is None and BUILT_IN.get(atom.predicate) == len(atom.terms):
            continue
        if columns is None:
            near = nearest(atom.predicate, signature)
            hint = f"did you mean `{near}`?" if near else "add it to the signature"
            problems.append(Diagnostic("N102", f"the signature has no `{atom.predicate}`", atom.span, hint))
        elif len(columns) != len(atom.terms):
            message = f"`{atom.predicate}` has {len(columns)} arguments in the signature and {len(atom.terms)} here"
            problems.append(Diagnostic("N101", message, atom.span))
