"""Select, from and where: what one query of CQL takes its rows from, which of them, and what it shows."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from presage.errors import Span, nearest
from presage.languages.cql import windows
from presage.languages.cql.expressions import CqlExpressions, Wrong, span_of
from presage.languages.cql.grouping import CqlGrouping, aggregates_in
from presage.languages.cql.relations import (
    BodyRows,
    RelationColumn,
    RowsRelation,
    atom_of,
    bare,
    equated,
    may_be_null,
    with_names,
)
from presage.languages.cql.scopes import FromSource, FromTable, Scope, to_stream
from presage.languages.writing import at_multiples, flat, names_in, replacing
from presage.model.formulas import And, Comparison, Formula, Metric, Not, Or, Top, Windowed
from presage.model.terms import Constant, Term, Variable, map_term, number, subterms
from presage.model.time import Interval

if TYPE_CHECKING:
    from presage.languages.cql.queries import Queries


class Select:
    def __init__(self, queries: Queries, node: Any, outer: Scope | None) -> None:
        self.all, self.node, self.outer, self.span = queries, node, outer, span_of(node)

    def relation(self, wanted: frozenset[str] | None = None) -> RowsRelation:
        self.all.modifiers(self.node)
        if not self.node.expressions:
            raise Wrong("nothing is selected", self.span, "name the columns: Select a, b From …; or Select *")
        if wanted is not None and not self.node.args.get("distinct"):
            self._leave_out(wanted)
        if self.node.args.get("into") or self.node.args.get("kind"):
            raise Wrong("this cannot be said here", self.span, "")
        scopes = [self._filtered(scope) for scope in self._sources()]
        having, group = self.node.args.get("having"), self.node.args.get("group")
        outputs = [*self.node.expressions, *([having.this] if having else [])]
        if group or having or any(aggregates_in(each) for each in outputs):
            found = CqlGrouping(self, self._one(scopes)).relation()
        else:
            found = RowsRelation(tuple(self._projected(scope) for scope in scopes))
        if self.node.args.get("distinct"):
            if self.node.args["distinct"].args.get("on"):
                raise Wrong("`Distinct On` cannot be said here", self.span, "write Distinct")
            return RowsRelation(bare(found), True)
        return found

    def _leave_out(self, wanted: frozenset[str]) -> None:
        """Columns that nobody asks for have no say: not even by being NULL."""
        group = self.node.args.get("group")
        keys = list(group.expressions) if group else []
        if any(isinstance(each, (exp.Literal, exp.Column)) and not getattr(each, "table", "") for each in keys):
            return  # by number or by the name of a column
        kept = [each for each in self.node.expressions if each.is_star or each.alias_or_name.lower() in wanted]
        node = self.node.copy()
        node.meta.update(self.node.meta)
        node.set("expressions", [each.copy() for each in kept] or [exp.Literal.number(1)])
        self.node = node

    # From

    def _sources(self) -> list[Scope]:
        items: list[tuple[Any, Any, Any]] = []
        first = self.node.args.get("from_") or self.node.args.get("from")
        if first is None:
            return [Scope((), (), self.outer)]
        items.append((first.this, None, None))
        for join in [*(first.this.args.get("joins") or ()), *(self.node.args.get("joins") or ())]:
            side, kind = join.side or "", (join.kind or "").upper()
            if side or kind not in ("", "INNER", "CROSS") or join.method:
                what = " ".join(each for each in (join.method, side, join.kind, "Join") if each).title()
                hint = "write Join … On; a row with NULL is no answer"
                raise Wrong(f"`{what}` cannot be said here", span_of(join.this), hint)
            items.append((join.this, join.args.get("on"), join.args.get("using")))
        relations = [self._item(each) for each, _, _ in items]
        aliases = [_alias(each) for each, _, _ in items]
        for index, alias in enumerate(aliases):
            if alias and alias in aliases[:index]:
                hint = "give one of them another name: From s As a, s As b"
                raise Wrong(f"From names `{alias}` twice", span_of(items[index][0]), hint, "D103")
        found = []
        for parts in product(*(each.parts for each in relations)):
            sources = tuple(FromSource(alias, part.columns) for alias, part in zip(aliases, parts, strict=True))
            scope = Scope(sources, tuple(each for part in parts for each in part.body), self.outer)
            for index, (_, on, using) in enumerate(items):
                for each in using or ():
                    scope = self._using(scope, index, each)
                if on is not None:
                    scope = replace(scope, body=(*scope.body, *self._conditions(on, scope)))
            found.append(scope)
        return found

    def _using(self, scope: Scope, index: int, name: Any) -> Scope:
        """`Using (c)`: the column is the same in both."""
        column = exp.column(name.name.lower())
        column.meta["from"], column.meta["to"] = span_of(name)
        left = Scope(scope.sources[:index], ()).column(column)
        right = Scope(scope.sources[index : index + 1], ()).column(column)
        return replace(scope, body=(*scope.body, Comparison("=", right.term, left.term, span=span_of(name))))

    def _item(self, node: Any) -> RowsRelation:
        window = node.args.get("window")
        if isinstance(node, exp.Subquery):
            alias = node.args.get("alias")
            renamed = [each.name for each in alias.args.get("columns") or ()] if alias else []
            return self._nested(node.this, _alias(node), renamed, window)
        if not isinstance(node, exp.Table):
            raise Wrong(
                "this cannot stand in From", span_of(node), "write a stream with its window, a table or a query"
            )
        table = self.all.tables.get(node.name.lower())
        place = span_of(node.this)
        if not node.name:
            hint = "a window stands in brackets behind its stream: s [Range 10]"
            raise Wrong("this is neither a stream, a table nor a query", place, hint)
        if table is None:
            near = nearest(node.name, [each.name for each in self.all.tables.values()])
            hint = f"did you mean `{near}`?" if near else f"declare it: CREATE STREAM {node.name} (…); or CREATE TABLE"
            raise Wrong(f"there is no stream or table `{node.name}`", place, hint, "D105")
        if table.query is not None:
            return self._nested(table.query, _alias(node), [name for name, _ in table.columns], window)
        if not table.is_stream:
            if window is not None:
                message = f"`{table.name}` is a table: it has no times, and no window"
                raise Wrong(message, span_of(window), "leave the window out", "D106")
            cells = self._cells(table)
            return RowsRelation((BodyRows((atom_of(table.name, (each.term for each in cells), place),), cells),))
        return self._stream(table, window, place)

    def _cells(self, table: FromTable) -> tuple[RelationColumn, ...]:
        return tuple(RelationColumn(name, self.all.variables.variable(name), kind) for name, kind in table.columns)

    def _stream(self, table: FromTable, window: Any, place: Span) -> RowsRelation:
        cells = self._cells(table)
        atom, time = atom_of(table.name, (each.term for each in cells), place), self.all.variables.variable("T")
        if window is not None and window.args.get("rows") and not table.counted:
            hint = "rows are counted of streams that are declared; write [Range n]"
            raise Wrong("rows of what a query gives cannot be counted", span_of(window), hint)
        shown, slide = windows.seen(atom, time, window, [name.lower() for name, _ in table.columns], self.all.tick)
        if slide is None:
            return RowsRelation((BodyRows((shown,), cells),))
        # What the window showed when it last looked.
        looked = self.all.predicates.fresh(f"{table.name}_seen")
        timed = isinstance(shown, Windowed)
        columns = (*(each.term for each in cells), *((time,) if timed else ()))
        there, every = self.all.predicates.fresh(f"{table.name}_shown"), windows.ticks(slide, self.all.tick)
        self.all.write(there, columns, (shown,), span_of(window))
        self.all.rules.append(at_multiples(looked, columns, there, number(every), span_of(window)))
        last = Metric("once", Interval(0, slide, closed_high=False), atom_of(looked, columns, place), span=place)
        return RowsRelation((BodyRows((last,), cells),))

    def _nested(self, node: Any, alias: str, renamed: list[str], window: Any) -> RowsRelation:
        while isinstance(node, exp.Subquery) and not node.args.get("alias") and not node.args.get("window"):
            node = node.this
        inner, mode = to_stream(node)
        is_stream = mode != "RSTREAM" or node.meta.get("stream") == "RSTREAM" or inner is not node
        span, asked = span_of(node), self._asked(alias)
        if is_stream:
            found = self._nested_stream(inner, mode, window, span)
        else:
            if window is not None:
                hint = "make it a stream first: (Istream(Select …)) [Range n]"
                raise Wrong("a window is about a stream, and this query gives a relation", span_of(window), hint)
            found = self.all.apart(self.all.query(node, self.outer, None if renamed else asked), span)
        found = _renamed(found, renamed, span)
        for cell in (cell for part in found.parts for cell in part.columns):
            if asked is not None and cell.name.lower() not in asked and may_be_null(cell):
                hint = "leave that column out of it: nobody asks for it, and a row with NULL is no row here"
                raise Wrong(f"`{cell.name}` of this query may be NULL, which cannot be said here", span, hint)
        return found

    def _nested_stream(self, inner: Any, mode: str, window: Any, span: Span) -> RowsRelation:
        relation = self.all.query(inner, self.outer)
        if not relation.is_set:
            hint = "write Distinct, or group by what is selected, so that no row is there twice"
            raise Wrong("the rows of this stream may be there several times at once, which cannot be said", span, hint)
        name = self.all.predicates.fresh("stream_rows")
        self.all.streamed(relation, mode, name, span)
        table = FromTable(name, tuple((each.name, each.kind) for each in relation.columns), True, counted=False)
        (part,) = self._stream(table, window, span).parts
        null = [any(may_be_null(each.columns[at]) for each in relation.parts) for at in range(len(part.columns))]
        columns = tuple(replace(each, nullable=some) for each, some in zip(part.columns, null, strict=True))
        return RowsRelation((replace(part, columns=columns),))

    def _asked(self, alias: str) -> frozenset[str] | None:
        """The columns of a source that the query names; `None` if it may be all."""
        if any(each.is_star for each in self.node.expressions):
            return None
        columns = list(self.node.find_all(exp.Column))
        return frozenset(each.name.lower() for each in columns if each.table.lower() in ("", alias))

    # Where

    def _filtered(self, scope: Scope) -> Scope:
        where = self.node.args.get("where")
        body = scope.body
        if where is not None:
            body = (*body, *self._conditions(where.this, scope))
        body, known = equated(body, scope.names())
        change = replacing(known)
        sources = tuple(
            replace(source, columns=tuple(replace(each, term=map_term(each.term, change)) for each in source.columns))
            for source in scope.sources
        )
        return replace(scope, sources=sources, body=tuple(each for each in body if not isinstance(each, Top)))

    def _conditions(self, node: Any, scope: Scope) -> tuple[Formula, ...]:
        return flat(self.expressions(scope).condition(node))

    def expressions(self, scope: Scope, **more: Any) -> CqlExpressions:
        found = CqlExpressions(scope.column, subquery=lambda node: self._scalar(node, scope), **more)
        found.exists = lambda query, value, holds: self._exists(query, value, holds, scope, found.strict)
        return found

    def _scalar(self, node: Any, scope: Scope) -> tuple[tuple[Formula, ...], Term, str]:
        inner = node.this if isinstance(node, exp.Subquery) else node
        span = span_of(inner)
        if (
            not isinstance(inner, exp.Select)
            or inner.args.get("group")
            or len(inner.expressions) != 1
            or not aggregates_in(inner.expressions[0])
        ):
            raise Wrong("a query that is a value gives one row", span, "select one aggregate, without Group By")
        relation = self.all.query(inner, replace(scope, guarded=True))
        (cell,) = relation.columns
        shared = self._shared(relation, scope)
        name, value = self.all.predicates.fresh("value"), self.all.variables.variable("Value")
        for part in relation.parts:
            body = part.body if not shared else (*scope.body, *part.body)
            self.all.write(name, (*shared, part.columns[0].term), body, span)
        return (atom_of(name, (*shared, value), span),), value, cell.kind

    def _shared(self, relation: RowsRelation, scope: Scope) -> tuple[Variable, ...]:
        """The variables of the query around that a query inside it uses."""
        around = set(names_in(scope.body)) | scope.names()
        used = dict.fromkeys(
            name
            for part in relation.parts
            for name in (
                *names_in(part.body),
                *(v.name for c in part.columns for v in subterms(c.term) if isinstance(v, Variable)),
            )
        )
        return tuple(Variable(name) for name in used if name in around)

    def _exists(self, query: Any, value: Any, holds: bool, scope: Scope, strict: bool) -> Formula:
        query = query.this if isinstance(query, exp.Subquery) else query
        span = span_of(query)
        wanted: frozenset[str] | None = frozenset() if value is None and isinstance(query, exp.Select) else None
        relation = self.all.query(query, replace(scope, guarded=strict or not holds), wanted)
        compared: list[tuple[Term, Term]] = []
        if (value is None or not holds) and any(may_be_null(each) for part in relation.parts for each in part.columns):
            hint = "look among columns that always have a value"
            raise Wrong("what is looked for among may be NULL, which cannot be said here", span, hint)
        if value is not None:
            values = value.expressions if isinstance(value, exp.Tuple) else [value]
            if len(values) != len(relation.columns):
                hint = "select as many columns as there are values before In"
                raise Wrong(f"{len(values)} values are looked for among {len(relation.columns)} columns", span, hint)
            read = self.expressions(scope)
            read.strict = strict
            compared = [(read.term(each)[0], cell.term) for each, cell in zip(values, relation.columns, strict=True)]
        shared = self._shared(relation, scope)
        name = self.all.predicates.fresh("found")
        for part in relation.parts:
            known = set(names_in(each for each in part.body if not isinstance(each, (Comparison, Not, Or))))
            bound = all(each.name in known for each in shared)
            body = part.body if bound else (*scope.body, *part.body)
            self.all.write(name, (*shared, *(each.term for each in part.columns if compared)), body, span)
        asked: tuple[Term, ...] = shared
        before: list[Formula] = []
        for term, _ in compared:
            if not isinstance(term, (Variable, Constant)):
                variable = self.all.variables.variable("Value")
                before.append(Comparison("=", variable, term, span=span))
                term = variable
            asked = (*asked, term)
        atom = atom_of(name, asked, span)
        found: Formula = atom if holds else Not(atom, span=span)
        return And((*before, found), span=span) if before else found

    # Select

    def _projected(self, scope: Scope) -> BodyRows:
        read = self.expressions(scope)
        cells: list[RelationColumn] = []
        for node in self.node.expressions:
            before = len(read.before)
            made = self.outputs(node, scope, read)
            # The value of a query may be NULL, and there is no row then.
            cells.extend(replace(each, nullable=True) for each in made) if len(read.before) > before else cells.extend(
                made
            )
        return BodyRows((*scope.body, *read.before), with_names(cells))

    def outputs(self, node: Any, scope: Scope, read: CqlExpressions) -> list[RelationColumn]:
        if isinstance(node, exp.Star):
            return [cell for source in scope.sources for cell in source.columns]
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            sources = [each for each in scope.sources if each.alias == node.table.lower()]
            if not sources:
                raise scope.unknown(node, node.table.lower())
            return list(sources[0].columns)
        inner = node.this if isinstance(node, exp.Alias) else node
        read.nullable = False
        term, kind = read.term(inner)
        return [RelationColumn(node.alias_or_name or inner.key, term, kind, read.nullable)]

    def _one(self, scopes: list[Scope]) -> Scope:
        """One body for all rows, as grouping needs it."""
        if len(scopes) == 1:
            return scopes[0]
        parts = []
        for scope in scopes:
            cells = tuple(cell for source in scope.sources for cell in source.columns)
            parts.append(BodyRows(scope.body, cells))
        (rows,) = self.all.together(RowsRelation(tuple(parts)), self.span).parts
        sources, at = [], 0
        for source in scopes[0].sources:
            sources.append(FromSource(source.alias, rows.columns[at : at + len(source.columns)]))
            at += len(source.columns)
        return Scope(tuple(sources), rows.body, self.outer)


def _alias(node: Any) -> str:
    return str(node.alias_or_name).lower()


def _renamed(relation: RowsRelation, names: list[str], span: Span) -> RowsRelation:
    if not names:
        return relation
    if len(names) != len(relation.columns):
        raise Wrong(f"{len(names)} names for {len(relation.columns)} columns", span, "")
    return replace(
        relation,
        parts=tuple(
            replace(
                part, columns=tuple(replace(cell, name=name) for cell, name in zip(part.columns, names, strict=True))
            )
            for part in relation.parts
        ),
    )
