"""MonPoly's formulas as rules, where every timestamp has one time point: operators look at time points alone."""

from __future__ import annotations

from collections.abc import Iterable

from presage.errors import Span
from presage.languages.mfotl import formulas as mfotl
from presage.languages.mfotl.stepping import SATISFIED, TIME_POINT
from presage.model.formulas import And, Atom, BinaryMetric, Comparison, Formula, Metric, Not, Or, Top
from presage.model.statements import Head, Rule
from presage.model.terms import Arithmetic, Constant, Term, Variable
from presage.model.time import Interval


class NoCounterpart(Exception):
    def __init__(self, what: str, span: Span) -> None:
        self.span = span
        super().__init__(what)


POINT = Atom(TIME_POINT, (Variable("_"),))


def rule_of(formula: mfotl.LogFormula) -> Rule:
    head = Atom(SATISFIED, tuple(_variable(name) for name in mfotl.free(formula)))
    body = _formula(formula)
    parts = body.parts if isinstance(body, And) else (body,)
    return Rule(Head((head,)), (POINT, *parts))


def _variable(name: str) -> Variable:
    return Variable(name[0].upper() + name[1:].replace("'", "_") if name[0].isalpha() else f"V{name.strip('_')}")


def _term(term: mfotl.LogTerm) -> Term:
    match term:
        case mfotl.LogVariable(name=name):
            return _variable(name)
        case mfotl.LogConstant(value=value):
            return Constant(value)
        case mfotl.Apply(operator="i2f", terms=(mfotl.LogConstant(value=value),)):
            return Constant(value)
        case mfotl.Apply(operator="/.", terms=(left, right)):
            return Arithmetic("/", _term(left), _term(right))
        case mfotl.Apply(operator=operator, terms=(left, right)) if operator in "+-*":
            return Arithmetic(operator, _term(left), _term(right))
    raise NoCounterpart(f"`{term.operator}`" if isinstance(term, mfotl.Apply) else "a term", term.span)


def _all(parts: Iterable[Formula]) -> Formula:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def _formula(formula: mfotl.LogFormula) -> Formula:
    match formula:
        case mfotl.LogAtom(predicate=name, terms=terms):
            return Atom(name, tuple(map(_term, terms)))
        case mfotl.TruthConstant(value=value):
            return Top() if value else Not(Top())
        case mfotl.Compare(operator="SUBSTRING") | mfotl.Matches():
            raise NoCounterpart("a test of texts", formula.span)
        case mfotl.Compare(operator=operator, left=left, right=right):
            return Comparison(operator, _term(left), _term(right))
        case mfotl.Negation(inner=inner):
            return Not(_formula(inner))
        case mfotl.Conjunction(left=left, right=right):
            return _all((_formula(left), _formula(right)))
        case mfotl.Disjunction(left=left, right=right):
            return Or((_formula(left), _formula(right)))
        case mfotl.Exists(names=names, inner=inner):
            if isinstance(inner, mfotl.LogAtom) and all(name.startswith("_") for name in names):
                hidden = {name: Variable("_") for name in names}
                shown = (
                    hidden[each.name] if isinstance(each, mfotl.LogVariable) and each.name in hidden else _term(each)
                    for each in inner.terms
                )
                return Atom(inner.predicate, tuple(shown))
            raise NoCounterpart("EXISTS inside a formula", formula.span)
        case mfotl.Neighbour(ahead=ahead, reach=reach, inner=inner):
            there = _all((POINT, _formula(inner)))
            return BinaryMetric("until" if ahead else "since", _later(reach), Not(POINT), there)
        case mfotl.SinceUntil(ahead=ahead, reach=reach, left=left, right=right):
            there = _all((POINT, _formula(right)))
            if left == mfotl.TRUE:
                return Metric("eventually" if ahead else "once", _interval(reach), there)
            lasts = _formula(left)
            through = Or((Not(POINT), lasts))
            later = _all((lasts, BinaryMetric("until" if ahead else "since", _later(reach), through, there)))
            return Or((_formula(right), later)) if reach.has(0) else later
    raise NoCounterpart("an aggregate" if isinstance(formula, mfotl.Aggregation) else "LET", formula.span)


def _interval(reach: mfotl.LogInterval) -> Interval:
    return Interval(reach.low, reach.high, reach.closed_low, reach.closed_high and reach.high is not None)


def _later(reach: mfotl.LogInterval) -> Interval:
    """The same without now."""
    low, closed = (1, True) if reach.low < 1 else (reach.low, reach.closed_low)
    return Interval(low, reach.high, closed, reach.closed_high and reach.high is not None)
