"""What names mean in a query: what `From` names, and whose columns they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from presage.errors import nearest
from presage.languages.cql.dialect import TO_STREAM
from presage.languages.cql.expressions import NO_NULL, Wrong, span_of
from presage.languages.cql.relations import RelationColumn
from presage.languages.writing import names_in
from presage.model.formulas import Formula


@dataclass(frozen=True, slots=True)
class FromTable:
    """What a name in `From` stands for: facts of a stream or a table, or a query."""

    name: str
    columns: tuple[tuple[str, str], ...] = ()
    is_stream: bool = False
    counted: bool = True
    """Whether its facts are rows that windows of rows can count: facts of the input, not what a query gives."""
    query: Any = None


@dataclass(frozen=True, slots=True)
class FromSource:
    alias: str
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean: the sources of a query, then those of the query around it."""

    sources: tuple[FromSource, ...]
    body: tuple[Formula, ...]
    outer: Scope | None = None
    guarded: bool = False
    """Whether queries inside may be true, or worth something, although a column of this one is NULL."""

    def column(self, node: exp.Column) -> RelationColumn:
        table, name = node.table.lower(), node.name.lower()
        scope: Scope | None = self
        while scope is not None:
            found = [
                cell
                for source in scope.sources
                if not table or source.alias == table
                for cell in source.columns
                if cell.name.lower() == name
            ]
            if len(found) > 1 and len({each.term for each in found}) > 1:
                where = " and ".join(
                    f"`{each.alias}.{node.name}`"
                    for each in scope.sources
                    if name in (cell.name.lower() for cell in each.columns)
                )
                raise Wrong(f"`{node.name}` may be {where}", span_of(node), "say of which", "D103")
            if found:
                if scope.guarded and found[0].nullable:
                    raise Wrong(f"`{node.sql()}` may be NULL, which cannot be said here", span_of(node), NO_NULL)
                return found[0]
            scope = scope.outer
        raise self.unknown(node, table)

    def unknown(self, node: exp.Column, table: str) -> Wrong:
        if table and table not in {each.alias for each in self.sources}:
            aliases = [each.alias for each in self.sources]
            near = nearest(table, aliases)
            hint = f"did you mean `{near}`?" if near else f"From has {', '.join(aliases) or 'nothing'}"
            return Wrong(f"`{node.table}` is nothing that From names", span_of(node), hint, "D103")
        known = [cell.name for source in self.sources if not table or source.alias == table for cell in source.columns]
        near = nearest(node.name, known)
        hint = f"did you mean `{near}`?" if near else f"there are {', '.join(known) or 'no columns'}"
        if not near and node.this.args.get("quoted"):
            hint = f"{hint}; a text stands in single quotes: '{node.name}'"
        return Wrong(f"there is no column `{node.name}`", span_of(node), hint, "D103")

    def names(self) -> frozenset[str]:
        """The variables of the queries around."""
        found: set[str] = set()
        scope = self.outer
        while scope is not None:
            found.update(names_in(scope.body))
            scope = scope.outer
        return frozenset(found)


def to_stream(node: Any) -> tuple[Any, str]:
    """The query, and which of its rows are told: all (`RSTREAM`), or those that came or went."""
    mode = node.meta.get("stream")
    if isinstance(node, exp.Select) and len(node.expressions) == 1:
        only = node.expressions[0]
        if isinstance(only, exp.Anonymous) and only.name.upper() in TO_STREAM:
            if mode:
                raise Wrong(
                    f"the query is made a stream twice, by {mode} and {only.name}", span_of(only), "say it once"
                )
            mode = only.name.upper()
            inner = node.copy()
            inner.meta.update(node.meta)
            inner.set("expressions", [each.copy() for each in only.expressions] or [exp.Star()])
            return inner, mode
    return node, mode or "RSTREAM"
