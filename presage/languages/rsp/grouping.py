"""Groups of solutions, and aggregates over them: a group is what the aggregates of a rule share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rdflib.term import Variable as Name

from presage.errors import Span
from presage.languages.rsp.alternatives import UNDEF, BodyAlternative, counts
from presage.languages.rsp.clauses import Misread
from presage.languages.rsp.data import MatchedData
from presage.languages.rsp.expressions import RspExpressions, Unbound, part_of
from presage.languages.writing import names_in, never, replacing
from presage.model.formulas import Atom, Comparison, Formula, Not, map_terms
from presage.model.terms import Aggregate, Constant, Term, Variable

if TYPE_CHECKING:
    from presage.languages.rsp.graph_patterns import Patterns

AGGREGATES = {"Count": "count", "Sum": "sum", "Avg": "avg", "Min": "min", "Max": "max", "Sample": "min"}


class RspGrouping:
    def __init__(self, patterns: Patterns) -> None:
        self.patterns = patterns
        self.lacking: dict[str, tuple[Aggregate, str]] = {}
        """What predicates that are denied say to have no value, and what it was called."""

    def aggregated(self, node: Any, place: MatchedData) -> list[BodyAlternative]:
        group = node.p
        inner = self.patterns.ways(group.p, place)
        keys = [str(each) for each in group.expr or () if isinstance(each, Name)]
        calculated = [each for each in group.expr or () if not isinstance(each, Name)]
        if calculated:
            hint = "BIND it to a variable in WHERE, and group by that"
            raise Misread("groups are made by variables here", self.patterns.place(calculated[0]), hint, "L102")
        # Rules would drop nothing, but count each solution once however it came about.
        names = tuple(sorted({name for way in inner for name in way.names}))
        if len(inner) != 1 or any(counts(way.body) for way in inner) or not inner[0].names.issuperset(keys):
            body, known = self._rows(inner, names)
        else:
            body, known = inner[0].body, dict(inner[0].bound)
        way = BodyAlternative((), tuple((key, known.get(key, UNDEF)) for key in keys))
        shared = {term.name for _, term in way.bound if isinstance(term, Variable)}
        ways = [way]
        several = len(inner) != 1
        # Where all that is to be counted may be unbound, a group of which nothing is counted is there all the same.
        may_be_none = any(
            each.name == "Aggregate_Count"
            and isinstance(each.vars, Name)
            and (several or known.get(str(each.vars), UNDEF) == UNDEF)
            for each in node.A
        )
        for each in node.A:
            ways = [more for one in ways for more in self._one_aggregate(each, one, body, known, keys, shared, several)]
        result = []
        for each in ways:
            if group.expr and (may_be_none or not counts(each.body) or not shared):
                # Nothing else says that there is such a group.
                apart: dict[str, Term] = {
                    name: self.patterns.variables.variable(name)
                    for name in dict.fromkeys(names_in(body))
                    if name not in shared
                }
                there = tuple(map_terms(part, replacing(apart)) for part in body)
                each = replace(each, body=(*there, *each.body))
            result.append(replace(each, bound=tuple((n, t) for n, t in each.bound if t != UNDEF)))
        return result

    def _rows(self, ways: list[BodyAlternative], names: tuple[str, ...]) -> tuple[tuple[Formula, ...], dict[str, Term]]:
        """All solutions as facts: each with the number of its alternative and all that tells it apart."""
        name = self.patterns.predicates.fresh("solutions")
        extra = [
            [
                Variable(each)
                for each in dict.fromkeys(names_in(way.body))
                if each not in {t.name for _, t in way.bound if isinstance(t, Variable)}
            ]
            for way in ways
        ]
        width = max((len(each) for each in extra), default=0)
        for index, (way, more) in enumerate(zip(ways, extra, strict=True)):
            shown = [way.value(each) or UNDEF for each in names]
            padding = [Constant(0)] * (width - len(more))
            self.patterns.write(name, [*shown, Constant(index + 1), *more, *padding], way.body, self.patterns.span)
        columns = tuple(self.patterns.variables.variable(each.lstrip("_") or "V") for each in names)
        rest = tuple(self.patterns.variables.variable("R") for _ in range(width + 1))
        return (Atom(name, (*columns, *rest), span=self.patterns.span),), dict(zip(names, columns, strict=True))

    def _one_aggregate(
        self,
        node: Any,
        way: BodyAlternative,
        body: tuple[Formula, ...],
        known: dict[str, Term],
        keys: list[str],
        shared: set[str],
        several: bool,
    ) -> list[BodyAlternative]:
        name, result = node.name.removeprefix("Aggregate_"), str(node.res)
        span = self.patterns.place(node)
        if name == "Sample" and str(node.vars) in keys:
            return [replace(way, bound=(*way.bound, (result, known.get(str(node.vars), UNDEF))))]
        if name not in AGGREGATES:
            raise Misread(
                f"{name.upper()} has no counterpart", span, "COUNT, SUM, AVG, MIN, MAX and SAMPLE are read", "L102"
            )
        rows = tuple(Variable(each) for each in dict.fromkeys(names_in(body)) if each not in shared)
        distinct = bool(part_of(node, "distinct"))
        literals, function = list(body), AGGREGATES[name]
        if str(node.vars) == "*" and not isinstance(node.vars, Name):
            value: Term | None = None
        else:
            reader = RspExpressions(
                lambda each: known.get(each), lambda graph, holds: _no_exists(span), self.patterns.place
            )
            try:
                value = reader.term(node.vars)
            except Unbound:
                value = UNDEF
            if not isinstance(value, (Variable, Constant)):
                variable = self.patterns.variables.variable("V")
                literals.append(Comparison("=", variable, value, span=span))
                value = variable
            if value == UNDEF and function == "count":
                literals.append(never(span))
            elif several and function in ("count", "min", "max"):
                literals.append(Comparison("!=", value, UNDEF, span=span))
        everything: tuple[Term, ...] = rows or (Constant(1),)
        if value is None:
            named = tuple(each for each in known.values() if isinstance(each, Variable) and each.name not in shared)
            terms = (named or (Constant(1),)) if distinct else everything
        elif function == "count" and not distinct:
            terms = everything
        elif distinct or function in ("min", "max"):
            terms = (value,)
        else:
            terms = (value, *(each for each in rows if each != value))
        worth = Aggregate(function, terms, tuple(literals), span=span)
        for each in way.body:
            if isinstance(each, Comparison) and each.right == worth and each.operator == "=":
                return [replace(way, bound=(*way.bound, (result, each.left)))]
            if isinstance(each, Not) and isinstance(each.formula, Atom):
                lacked, called = self.lacking.get(each.formula.predicate, (None, ""))
                if lacked == worth:
                    same = way.value(called)
                    return [way if same is None else replace(way, bound=(*way.bound, (result, same)))]
        variable = self.patterns.variables.variable(result.strip("_"))
        equal = Comparison("=", variable, worth, span=span)
        full = BodyAlternative((*way.body, equal), (*way.bound, (result, variable)))
        if function == "count":
            return [full]
        found = [full]
        if function in ("sum", "avg") or not keys or several:
            # An aggregate of something that is no number, or of nothing, is unbound; of nothing, AVG is 0.
            there = self.patterns.predicates.fresh("has_value")
            self.lacking[there] = worth, result
            columns = tuple(Variable(each) for each in sorted(shared))
            self.patterns.write(there, columns, (Comparison("=", variable, worth, span=span),), span)
            lacking = Not(Atom(there, columns, span=span), span=span)
            number = Aggregate("count", everything, body, span=span)
            if keys and shared:
                found.append(replace(way, body=(*way.body, Comparison(">", number, Constant(0), span=span), lacking)))
            elif function == "avg":
                none = Comparison("=", number, Constant(0), span=span)
                some = Comparison(">", number, Constant(0), span=span)
                found.append(BodyAlternative((*way.body, none, lacking), (*way.bound, (result, Constant(0)))))
                found.append(replace(way, body=(*way.body, some, lacking)))
            else:
                found.append(replace(way, body=(*way.body, lacking)))
        return found


def _no_exists(span: Span) -> Formula:
    raise Misread("EXISTS cannot stand in an aggregate", span, "", "L102")
