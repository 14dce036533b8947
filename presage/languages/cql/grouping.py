"""Groups of rows: `Group By` and `Having`, and aggregates over all rows. The keys are what aggregates share."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from presage.errors import nearest
from presage.languages.cql.expressions import CqlExpressions, Wrong, span_of
from presage.languages.cql.relations import (
    BodyRows,
    RelationColumn,
    RowsRelation,
    atom_of,
    has_value,
    row_terms,
    with_names,
)
from presage.languages.cql.scopes import Scope
from presage.languages.writing import names_in, replacing
from presage.model.formulas import And, Comparison, Formula, Or, Top, map_terms
from presage.model.terms import Aggregate, Constant, Term, Variable, subterms

if TYPE_CHECKING:
    from presage.languages.cql.selects import Select

AGGREGATES: dict[type[Any], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}


class CqlGrouping:
    """Groups of rows, and what is said of each: the shared variables of aggregates are the keys."""

    def __init__(self, select: Select, scope: Scope) -> None:
        self.select, self.scope, self.all = select, scope, select.all
        self.keys: list[tuple[str, RelationColumn]] = []
        self.chosen: dict[Aggregate, Variable] = {}
        self.may_be_none = False
        """Whether there may be groups of which nothing is counted."""

    def relation(self) -> RowsRelation:
        node = self.select.node
        group = node.args.get("group")
        if group is not None:
            if any(group.args.get(each) for each in ("grouping_sets", "cube", "rollup", "totals", "all")):
                raise Wrong("groups are made by columns here", span_of(group), "write Group By c, d")
            self._find_keys(group.expressions)
        read = self.select.expressions(self.scope, aggregate=self.aggregate, known=self._key)
        read.column = self._only_keys
        cells = with_names([cell for each in node.expressions for cell in self._output(each, read)])
        if read.before:
            raise Wrong(
                "a query cannot stand in Select", self.select.span, "write it in From, or compare with it in Having"
            )
        selected: list[Formula] = []
        shown: list[RelationColumn] = []
        for cell in cells:
            term = cell.term
            if isinstance(term, Aggregate):
                if term not in self.chosen:
                    self.chosen[term] = self.all.variables.variable(cell.name)
                    selected += self._worth(Comparison("=", self.chosen[term], term, span=term.span))
                term = self.chosen[term]
            elif any(isinstance(each, Aggregate) for each in subterms(term)):
                variable = self.all.variables.variable(cell.name)
                selected += self._worth(Comparison("=", variable, term, span=term.span))
                term = variable
            nullable = group is None and any(
                isinstance(each, Aggregate) and each.function != "count" for each in subterms(cell.term)
            )
            shown.append(replace(cell, term=term, nullable=nullable or not has_value(cell.term, counted=True)))
        having = node.args.get("having")
        ways: list[tuple[Formula, ...]] = [()]
        if having is not None:
            ways = _ways(read.condition(self._without_names(having.this)))
        keys = tuple(cell.term for _, cell in self.keys)
        outside = {each.name for cell in shown for each in subterms(cell.term) if isinstance(each, Variable)}
        hidden = tuple(each for each in keys if isinstance(each, Variable) and each.name not in outside)
        parts = []
        for way in ways:
            literals = [each for one in way for each in self._worth(self._with_chosen(one))]
            body = (*selected, *literals)
            counts = any(
                isinstance(each, Comparison) and any(_has_aggregate(side) for side in (each.left, each.right))
                for each in body
            )
            named = {each.name for each in keys if isinstance(each, Variable)}
            told = any(_equals(each) and not named.isdisjoint(names_in((each,))) for each in literals)
            if group is not None and (not counts or hidden or told or not named or self.may_be_none):
                # Nothing else would give the keys their values, or values of groups that are there.
                body = (*self._some_row(keys), *body)
            parts.append(BodyRows(body, tuple(shown), hidden))
        return RowsRelation(tuple(parts), True)

    def _some_row(self, keys: tuple[Term, ...]) -> tuple[Formula, ...]:
        """That there is a row with these keys."""
        kept = {each.name for each in keys if isinstance(each, Variable)}
        others: dict[str, Term] = {
            name: self.all.variables.variable(name)
            for name in dict.fromkeys(names_in(self.scope.body))
            if name not in kept
        }
        return tuple(map_terms(each, replacing(others)) for each in self.scope.body)

    def _without_names(self, node: Any) -> Any:
        """A condition in which what is selected under a name stands for that name, where no column is called so."""
        columns = {cell.name.lower() for source in self.scope.sources for cell in source.columns}
        outputs = {
            each.alias.lower(): each.this for each in self.select.node.expressions if isinstance(each, exp.Alias)
        }

        def named(part: Any) -> Any:
            if not isinstance(part, exp.Column) or part.table or part.name.lower() in columns:
                return part
            return outputs.get(part.name.lower(), part).copy()

        return node.transform(named)

    def _find_keys(self, nodes: list[Any]) -> None:
        outputs = {
            each.alias.lower(): each.this for each in self.select.node.expressions if isinstance(each, exp.Alias)
        }
        read = self.select.expressions(self.scope)
        read.strict = True
        calculated: list[tuple[str, Any, Term, str]] = []
        for node in nodes:
            if isinstance(node, exp.Literal) and not node.is_string:
                index = int(node.this)
                if not 1 <= index <= len(self.select.node.expressions):
                    raise Wrong(f"there is no column {index}", span_of(node), "")
                node = self.select.node.expressions[index - 1]
                node = node.this if isinstance(node, exp.Alias) else node
            elif isinstance(node, exp.Column) and not node.table and node.name.lower() in outputs:
                if not any(cell.name.lower() == node.name.lower() for s in self.scope.sources for cell in s.columns):
                    node = outputs[node.name.lower()]
            if aggregates_in(node):
                raise Wrong("an aggregate is no key of groups", span_of(node), "group by columns")
            term, kind = read.term(node)
            name = node.name if isinstance(node, exp.Column) else "key"
            if isinstance(term, (Variable, Constant)):
                self.keys.append((_same(node), RelationColumn(name, term, kind)))
            else:
                calculated.append((_same(node), node, term, kind))
        if not calculated:
            return
        # A key that is calculated becomes a column first, beside all that tells rows apart.
        told = row_terms(self.scope.body, ())
        name = self.all.predicates.fresh("keyed")
        values = (*told, *(term for _, _, term, _ in calculated))
        self.all.write(name, values, self.scope.body, self.select.span)
        columns = tuple(self.all.variables.variable("key") for _ in calculated)
        self.scope = replace(self.scope, body=(atom_of(name, (*told, *columns), self.select.span),))
        for (text, _, _, kind), variable in zip(calculated, columns, strict=True):
            self.keys.append((text, RelationColumn("key", variable, kind)))

    def _key(self, node: Any) -> RelationColumn | None:
        text = _same(node)
        return next((cell for known, cell in self.keys if known == text), None)

    def _only_keys(self, node: exp.Column) -> RelationColumn:
        cell = self.scope.column(node)
        known = {each.term for _, each in self.keys}
        outer = self.scope.outer is not None and cell not in [each for s in self.scope.sources for each in s.columns]
        if cell.term in known or isinstance(cell.term, Constant) or outer:
            return cell
        keys = ", ".join(text for text, _ in self.keys) or "none"
        hint = f"the groups' keys are {keys}; take an aggregate of it, or group by it"
        raise Wrong(f"`{node.sql()}` has no one value in a group", span_of(node), hint)

    def _output(self, node: Any, read: CqlExpressions) -> list[RelationColumn]:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            raise Wrong("`*` cannot stand beside groups", span_of(node), "name the keys and aggregates")
        inner = node.this if isinstance(node, exp.Alias) else node
        term, kind = read.term(inner)
        return [RelationColumn(node.alias_or_name or inner.key, term, kind)]

    def aggregate(self, node: Any) -> tuple[Term, str]:
        span = span_of(node)
        name = AGGREGATES.get(type(node))
        if name is None:
            known = [each.title() for each in AGGREGATES.values()]
            called = node.name if isinstance(node, exp.Anonymous) else node.key
            near = nearest(called.title(), known)
            hint = f"did you mean {near}?" if near else f"aggregates are {', '.join(known)}"
            raise Wrong(f"`{called}` is no aggregate or function that is known here", span, hint)
        read = self.select.expressions(self.scope)
        read.strict = True
        body = self.scope.body
        beside = tuple(cell.term for _, cell in self.keys)
        inner, distinct = node.this, False
        if isinstance(inner, exp.Distinct):
            distinct, given = True, inner.expressions
        else:
            given = [inner, *(node.expressions or ())]
        if name != "count" and isinstance(inner, exp.Star):
            raise Wrong(f"`{node.sql()}` is of no column", span, f"name one: {name.title()}(c); Count(*) counts rows")
        if len(given) > 1:
            raise Wrong(f"`{node.sql()}` is of several columns", span, "an aggregate is of one value")
        if isinstance(inner, exp.Star):
            return Aggregate("count", row_terms(body, beside) or (Constant(1),), body, span=span), "int"
        if any(aggregates_in(each) for each in given):
            raise Wrong("an aggregate cannot stand in an aggregate", span, "aggregate a query in From")
        values, kind = [], "int"
        for each in given:
            term, kind = read.number(each) if name in ("sum", "avg") else read.term(each)
            if not has_value(term):
                variable = self.all.variables.variable("V")
                body = (*body, Comparison("=", variable, term, span=term.span))
                term = variable
                self.may_be_none = self.may_be_none or name == "count"
            values.append(term)
        rows: tuple[Term, ...] = tuple(values)
        if name == "count" and not distinct:
            rows = row_terms(body, beside) or (Constant(1),)
        elif name in ("sum", "avg") and not distinct:
            rows = (*values, *row_terms(body, (*beside, *(each for each in values if isinstance(each, Variable)))))
        kind = "int" if name == "count" else "float" if name == "avg" else kind
        return Aggregate(name, rows, body, span=span), kind

    def _with_chosen(self, formula: Formula) -> Formula:
        """What is selected anyway is called by its variable."""
        known = self.chosen

        def change(term: Term) -> Term:
            return known.get(term, term) if isinstance(term, Aggregate) else term

        return map_terms(formula, change) if known else formula

    def _worth(self, formula: Formula) -> list[Formula]:
        """A comparison, and that its sums are of something: of nothing, a sum of SQL is NULL."""
        if not isinstance(formula, Comparison) or self.select.node.args.get("group"):
            return [formula]
        sums = [
            part
            for side in (formula.left, formula.right)
            for part in subterms(side)
            if isinstance(part, Aggregate) and part.function == "sum"
        ]
        guards: list[Formula] = [
            Comparison(">", replace(each, function="count"), Constant(0), span=each.span)
            for each in dict.fromkeys(sums)
        ]
        return [*guards, formula]


def _equals(formula: Formula) -> bool:
    """Whether a condition may itself give a key its value."""
    return not isinstance(formula, Comparison) or (
        formula.operator == "=" and not _has_aggregate(formula.left) and not _has_aggregate(formula.right)
    )


def _has_aggregate(term: Term) -> bool:
    return any(isinstance(each, Aggregate) for each in subterms(term))


def _ways(formula: Formula) -> list[tuple[Formula, ...]]:
    """A condition as alternatives, each a conjunction."""
    match formula:
        case Or(parts=parts):
            return [way for each in parts for way in _ways(each)]
        case And(parts=parts):
            return [tuple(one for way in chosen for one in way) for chosen in product(*(_ways(each) for each in parts))]
        case Top():
            return [()]
    return [(formula,)]


def aggregates_in(node: Any) -> bool:
    """Whether an aggregate stands in an expression, other than in queries inside it."""
    if isinstance(node, (exp.Subquery, exp.Select)):
        return False
    if isinstance(node, exp.AggFunc):
        return True
    return any(aggregates_in(each) for each in node.iter_expressions())


def _same(node: Any) -> str:
    return str(node.sql().lower())
