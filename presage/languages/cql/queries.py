"""Queries of CQL as relations, unions among them, and relations as streams: what came or went since the tick before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from presage.errors import Note, Span
from presage.languages.cql import windows
from presage.languages.cql.expressions import Wrong, span_of
from presage.languages.cql.relations import (
    NUMBERS,
    BodyRows,
    RelationColumn,
    RowsRelation,
    atom_of,
    bare,
    may_be_null,
    row_terms,
)
from presage.languages.cql.scopes import FromTable, Scope, to_stream
from presage.languages.writing import FreshNames, names_in, rule
from presage.model.formulas import Atom, Comparison, Formula, Metric, Not, Pinned, Windowed
from presage.model.statements import Rule
from presage.model.terms import Aggregate, Constant, Term, Variable, subterms
from presage.model.time import Duration, Interval
from presage.model.windows import TimeWindow

_BEFORE = Interval(1, 1)


class Queries:
    """Reads the queries of a file; rules that help are noted on the way."""

    def __init__(self, tables: dict[str, FromTable], predicates: FreshNames, tick: Duration | None) -> None:
        self.tables, self.predicates, self.tick = tables, predicates, tick
        self.rules: list[Rule] = []
        self.notes: list[Note] = []
        self.variables = FreshNames()

    # A query as a stream of answers

    def answers(self, node: Any, name: str) -> tuple[RelationColumn, ...]:
        """Writes the rules of a query's result; gives its columns."""
        self.variables = FreshNames()
        node, mode = to_stream(node)
        relation = self.query(node, None)
        self.streamed(relation, mode, name, span_of(node))
        return relation.columns

    def streamed(self, relation: RowsRelation, mode: str, name: str, span: Span) -> None:
        if mode == "RSTREAM":
            for part in relation.parts:
                self.write(name, (each.term for each in part.columns), part.body, span)
            return
        inserted = mode == "ISTREAM"
        if not relation.is_set:
            rules = self._by_time(relation, name, inserted, span)
            if rules:
                self.rules.extend(rules)
                return
            self._counted(relation, name, inserted, span)
            return
        there = self.predicates.fresh(f"{name}_now")
        for part in relation.parts:
            self.write(there, (each.term for each in part.columns), part.body, span)
        columns = self.fresh(relation.columns)
        now = Atom(there, columns, span=span)
        before = Metric("once", _BEFORE, now, span=span)
        self.write(name, columns, (now, Not(before, span=span)) if inserted else (before, Not(now, span=span)), span)

    def _by_time(self, relation: RowsRelation, name: str, inserted: bool, span: Span) -> list[Rule]:
        """The difference to the tick before where time alone tells it: rows that come and never go, or rows of one
        stream, all of whose columns are there, that come at their time and go when the window has passed it."""
        if len(relation.parts) != 1 or relation.overlapping:
            return []
        (part,) = relation.parts
        columns = tuple(each.term for each in part.columns)
        timed = [each for each in part.body if isinstance(each, Windowed)]
        lengths = [each.window for each in timed]
        if not timed or any(not isinstance(each, TimeWindow) or each.hop is not None for each in lengths):
            return []
        others = [each for each in part.body if each not in timed]
        if any(not (isinstance(each, Comparison) or self._is_static(each)) for each in others):
            return []
        if any(
            isinstance(part, Aggregate)
            for each in others
            if isinstance(each, Comparison)
            for side in (each.left, each.right)
            for part in subterms(side)
        ):
            return []
        if inserted and all(isinstance(each, TimeWindow) and each.back is None for each in lengths):
            found = []
            for index in range(len(timed)):
                # The others' facts of now are in their windows too.
                body = [_now(each) if each is timed[index] else each for each in part.body]
                found.append(rule(name, columns, body, span))
            return found
        (window,) = lengths if len(lengths) == 1 else (None,)
        if not isinstance(window, TimeWindow) or window.back is None:
            return []
        back = windows.ticks(window.back, self.tick)
        if back.denominator != 1:
            return []
        shown = {each.name for each in columns if isinstance(each, Variable)}
        atom = _now(timed[0])
        if not shown.issuperset((*names_in((atom,)), *names_in(others))):
            return []
        gone = Metric("once", Interval(back.numerator + 1, back.numerator + 1), atom, span=span)
        pair = (atom, Not(gone, span=span)) if inserted else (gone, Not(atom, span=span))
        return [rule(name, columns, (*pair, *others), span)]

    def _is_static(self, formula: Formula) -> bool:
        return isinstance(formula, Atom) and any(
            each.name == formula.predicate and not each.is_stream and each.query is None
            for each in self.tables.values()
        )

    def _counted(self, relation: RowsRelation, name: str, inserted: bool, span: Span) -> None:
        rows = self.together(relation, span)
        counted, there = self.predicates.fresh(f"{name}_rows"), self.predicates.fresh(f"{name}_now")
        (part,) = rows.parts
        body, shown = self._named(part)
        many = self.variables.variable("N")
        terms: tuple[Term, ...] = row_terms(body, shown) or (Constant(1),)
        number = Comparison("=", many, Aggregate("count", terms, body, span=span), span=span)
        some: tuple[Formula, ...] = ()
        if not any(isinstance(each, Variable) for each in shown):  # there may be no row
            some = (Comparison(">", many, Constant(0), span=span),)
        self.write(counted, (*shown, many), (number, *some), span)
        columns, now, before = self.fresh(rows.columns), self.variables.variable("N"), self.variables.variable("M")
        self.write(there, columns, (Atom(counted, (*columns, now), span=span),), span)
        present = Atom(counted, (*columns, now), span=span)
        past = Metric("once", _BEFORE, Atom(counted, (*columns, before), span=span), span=span)
        if inserted:
            gone = Metric("once", _BEFORE, Atom(there, columns, span=span), span=span)
            self.write(name, columns, (present, Not(gone, span=span)), span)
            self.write(name, columns, (present, past, Comparison(">", now, before, span=span)), span)
        else:
            self.write(name, columns, (past, Not(Atom(there, columns, span=span), span=span)), span)
            self.write(name, columns, (past, present, Comparison(">", before, now, span=span)), span)

    def _named(self, part: BodyRows) -> tuple[tuple[Formula, ...], tuple[Term, ...]]:
        """A body in which each column that is calculated has a variable."""
        body, shown = list(part.body), []
        for each in part.columns:
            term = each.term
            if not isinstance(term, (Variable, Constant)):
                variable = self.variables.variable(each.name)
                body.append(Comparison("=", variable, term, span=term.span))
                term = variable
            shown.append(term)
        return tuple(body), tuple(shown)

    # Rules that help

    def write(self, name: str, columns: Any, body: Any, span: Span) -> None:
        self.rules.append(rule(name, columns, body, span))

    def fresh(self, columns: tuple[RelationColumn, ...]) -> tuple[Variable, ...]:
        return tuple(self.variables.variable(each.name) for each in columns)

    def as_set(self, relation: RowsRelation, hint: str, span: Span) -> RowsRelation:
        """The rows of a relation as facts of a predicate: each with what is hidden, once."""
        name = self.predicates.fresh(hint)
        for part in relation.parts:
            self.write(name, (*(each.term for each in part.columns), *part.hidden), part.body, span)
        columns = self.fresh(relation.columns)
        hidden = tuple(self.variables.variable("G") for _ in relation.parts[0].hidden)
        return RowsRelation((BodyRows((atom_of(name, (*columns, *hidden), span),), _kept(relation, columns)),))

    def together(self, relation: RowsRelation, span: Span) -> RowsRelation:
        """The same bag with one body: rows of several parts are told apart by the number of their part."""
        if relation.overlapping:
            return self.as_set(relation, "part", span)
        if len(relation.parts) == 1:
            return relation
        name = self.predicates.fresh("either")
        rows = [
            row_terms(part.body, [each.term for each in part.columns if isinstance(each.term, Variable)])
            for part in relation.parts
        ]
        width = max(len(each) for each in rows)
        for index, (part, terms) in enumerate(zip(relation.parts, rows, strict=True)):
            padding = (Constant(0),) * (width - len(terms))
            self.write(
                name, (*(each.term for each in part.columns), Constant(index + 1), *terms, *padding), part.body, span
            )
        columns = self.fresh(relation.columns)
        rest = tuple(self.variables.variable("R") for _ in range(width + 1))
        return RowsRelation((BodyRows((atom_of(name, (*columns, *rest), span),), _kept(relation, columns)),))

    # Queries

    def query(self, node: Any, outer: Scope | None, wanted: frozenset[str] | None = None) -> RowsRelation:
        """`wanted` are the columns that somebody asks for, where that is known."""
        given = node.args.get("with_") or node.args.get("with")
        if given is not None:
            return self._with_tables(given, node, outer, wanted)
        match node:
            case exp.Subquery():
                return self.query(node.this, outer, wanted)
            case exp.Select():
                from presage.languages.cql.selects import Select  # which asks for queries again

                return Select(self, node, outer).relation(wanted)
            case exp.Union() | exp.Except() | exp.Intersect():
                return self._set_operation(node, outer)
        raise Wrong("this is no query", span_of(node), "a query is Select … From …")

    def _with_tables(self, given: Any, node: Any, outer: Scope | None, wanted: frozenset[str] | None) -> RowsRelation:
        """`With t As (…)`: names for queries that this query alone knows."""
        around, self.tables = self.tables, dict(self.tables)
        for each in given.expressions:
            place = span_of(each.args["alias"])
            if given.args.get("recursive"):
                raise Wrong("`With Recursive` cannot be said here", place, "write a view for each step")
            if each.alias.lower() in around:
                raise Wrong(f"`{each.alias}` is declared twice", place, "name it otherwise", "D101")
            names = tuple((name.name, "any") for name in each.args["alias"].args.get("columns") or ())
            self.tables[each.alias.lower()] = FromTable(each.alias, names, query=each.this)
        bare = node.copy()
        bare.meta.update(node.meta)
        bare.set("with_", None)
        found = self.query(bare, outer, wanted)
        self.tables = around
        return found

    def _set_operation(self, node: Any, outer: Scope | None) -> RowsRelation:
        self.modifiers(node)
        span = span_of(node)
        left, right = self.query(node.left, outer), self.query(node.right, outer)
        if len(left.columns) != len(right.columns):
            message = f"the queries have {len(left.columns)} and {len(right.columns)} columns"
            raise Wrong(message, span, "both sides of a union have the same columns")
        kinds = []
        for one, other in zip(left.columns, right.columns, strict=True):
            if one.kind == other.kind:
                kinds.append(one.kind)
            elif {one.kind, other.kind} <= {*NUMBERS}:
                kinds.append("float")
            elif "any" in (one.kind, other.kind):
                kinds.append("any")
            else:
                message = f"the column `{one.name}` is {one.kind} on one side and {other.kind} on the other"
                raise Wrong(message, span, "both sides of a union have columns of the same kinds", "D108")
        right = RowsRelation(
            tuple(
                replace(
                    part,
                    columns=tuple(
                        RelationColumn(one.name, cell.term, kind)
                        for one, cell, kind in zip(left.columns, part.columns, kinds, strict=True)
                    ),
                )
                for part in right.parts
            ),
            right.overlapping,
        )
        left = RowsRelation(
            tuple(
                replace(
                    part,
                    columns=tuple(replace(each, kind=kind) for each, kind in zip(part.columns, kinds, strict=True)),
                )
                for part in left.parts
            ),
            left.overlapping,
        )
        distinct = node.args.get("distinct")
        if isinstance(node, exp.Union):
            if distinct:
                return RowsRelation(bare(left) + bare(right), True)
            return RowsRelation(self.apart(left, span).parts + self.apart(right, span).parts)
        if not distinct:
            raise Wrong(f"{node.key.title()} All cannot be said here", span, f"write {node.key.title()}")
        (part,) = self.as_set(RowsRelation(bare(left), True), "one", span).parts
        (against,) = self.as_set(RowsRelation(bare(right), True), "other", span).parts
        atom = against.body[0]
        assert isinstance(atom, Atom)
        same = replace(atom, arguments=tuple(each.term for each in part.columns))
        extra: Formula = Not(same, span=span) if isinstance(node, exp.Except) else same
        return RowsRelation((BodyRows((*part.body, extra), part.columns),))

    def apart(self, relation: RowsRelation, span: Span) -> RowsRelation:
        return self.as_set(relation, "part", span) if relation.overlapping else relation

    def modifiers(self, node: Any) -> None:
        for key, what in (
            ("limit", "Limit"),
            ("offset", "Offset"),
            ("distinct_on", "Distinct On"),
            ("qualify", "Qualify"),
            ("windows", "Window"),
            ("laterals", "Lateral"),
            ("fetch", "Fetch"),
        ):
            found = node.args.get(key)
            if found:
                place = span_of(found[0] if isinstance(found, list) else found)
                raise Wrong(f"`{what}` cannot be said here", place, _INSTEAD.get(what, ""))
        order = node.args.get("order")
        if order:
            self.notes.append(Note("`Order By` is left out: answers have no order but that of time", span_of(order)))


_INSTEAD = {
    "Limit": "answers have no order; compare with Min or Max, or leave it out",
}


def _kept(relation: RowsRelation, columns: tuple[Variable, ...]) -> tuple[RelationColumn, ...]:
    """The columns of a relation as those of a predicate: rows in which one has no value are not among its facts."""
    return tuple(
        RelationColumn(each.name, term, each.kind, any(may_be_null(part.columns[index]) for part in relation.parts))
        for index, (each, term) in enumerate(zip(relation.columns, columns, strict=True))
    )


def _now(formula: Formula) -> Formula:
    """The facts of a window that are of now."""
    assert isinstance(formula, Windowed) and isinstance(formula.formula, Pinned)
    return formula.formula.formula
