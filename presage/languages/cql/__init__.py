"""CQL: continuous queries as SQL with windows, and with operators that make streams of relations again.

`dialect` reads the text through sqlglot; `queries`, `selects` and `grouping` make relations of what it says
(`relations` says what that is), with `scopes` for what names mean, `expressions` and `windows` for what stands in them;
`unread` refuses what none of them looks at.
"""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp

from presage.errors import Diagnostic, Note, Source, Span
from presage.languages.cql.dialect import MisreadSql, statements
from presage.languages.cql.expressions import Wrong, kind_of, span_of
from presage.languages.cql.queries import Queries
from presage.languages.cql.scopes import FromTable
from presage.languages.cql.unread import refuse_unread
from presage.languages.writing import FreshNames, predicate_name
from presage.model.formulas import Atom
from presage.model.program import Program
from presage.model.statements import Column, Input, Query, Statement, Static, Tick, Timeline
from presage.model.terms import number
from presage.model.time import Duration
from presage.parser import Parsed
from presage.parser.lexer import Comment
from presage.rewrite.units import duration_in
from presage.syntax import is_keyword

_SAYS = re.compile(r"(?:--|/\*)\s*(name|tick)\s*:\s*(.*?)\s*(?:\*/)?$", re.IGNORECASE)


def read(text: str, name: str = "<program>") -> Parsed:
    """Reads a file of CQL and never fails: what is wrong is in `problems`."""
    source = Source.of(text.removeprefix("\ufeff"), name)
    return _Reader(source).read()


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.comments = comments_of(source.text)
        self.problems: list[Diagnostic] = []
        self.notes: list[Note] = []
        self.tables: dict[str, FromTable] = {}
        self.predicates = FreshNames()
        self.tick: Duration | None = None
        self.names: dict[int, tuple[str, Span]] = {}

    def read(self) -> Parsed:
        found: list[Statement] = [Timeline("discrete")]
        self._remarks(found)
        try:
            parts = statements(self.source.text)
        except MisreadSql as wrong:
            self.problems.append(Diagnostic("L101", wrong.message, Span(wrong.start, wrong.end), wrong.hint))
            return self._parsed(())
        asked = 0
        for node, start, end in parts:
            try:
                if isinstance(node, exp.Create):
                    found.extend(self._created(node))
                    continue
                asked += 1
                found.extend(self._query(node, start, end))
            except Wrong as wrong:
                if wrong.code == "D105" and self.problems:
                    continue  # what could not be declared is missing where it is used
                self.problems.append(Diagnostic(wrong.code, wrong.message, wrong.span, wrong.hint))
        if not asked and not self.problems:
            hint = "write Select … From … after the declarations"
            self.problems.append(Diagnostic("L101", "the file asks nothing", Span(0, 1), hint))
        return self._parsed(tuple(found))

    def _parsed(self, found: tuple[Statement, ...]) -> Parsed:
        said = {(comment.start) for comment in self.comments if _SAYS.match(comment.text)}
        comments = tuple(each for each in self.comments if each.start not in said)
        return Parsed(Program(found, source=self.source), comments, tuple(self.problems), notes=tuple(self.notes))

    def _remarks(self, found: list[Statement]) -> None:
        """What comments say: the length of a tick, and names of results."""
        for comment in self.comments:
            says = _SAYS.match(comment.text)
            if says is None:
                continue
            span = Span(comment.start + says.start(2), comment.start + says.end(2))
            if says[1].lower() == "name":
                self.names[comment.start] = (says[2], span)
                continue
            length = duration_in(says[2])
            if length is None or length.amount <= 0:
                hint = "write `-- tick: 1s`, with ms, s, m, h or d"
                self.problems.append(Diagnostic("D107", f"`{says[2]}` is no length of time", span, hint))
            elif self.tick is not None:
                self.problems.append(Diagnostic("D101", "the tick is said twice", span, "say it once"))
            else:
                self.tick = Duration(number(length.amount), length.unit, span=span)
                found.append(Tick(self.tick, span=span))

    def _created(self, node: Any) -> list[Statement]:
        kind, schema = str(node.args.get("kind")).upper(), node.this
        span = span_of(node)
        if kind == "VIEW" and node.expression is not None:
            refuse_unread(node.expression)
            name = schema.name if isinstance(schema, exp.Table) else schema.this.name
            renamed = tuple((each.name, "any") for each in schema.expressions) if isinstance(schema, exp.Schema) else ()
            self._declare(FromTable(name, renamed, query=node.expression), span)
            return []
        if kind not in ("STREAM", "TABLE") or not isinstance(schema, exp.Schema) or node.expression is not None:
            hint = "write CREATE STREAM s (a INT, b TEXT); CREATE TABLE t (…); or CREATE VIEW v AS Select …"
            raise Wrong("this cannot be created here", span, hint, "L101")
        place = span_of(schema.this.this)
        name = schema.this.name
        columns: list[tuple[str, str]] = []
        for each in schema.expressions:
            if not isinstance(each, exp.ColumnDef):
                if isinstance(each, (exp.PrimaryKey, exp.ForeignKey, exp.UniqueColumnConstraint, exp.Constraint)):
                    self.notes.append(Note("keys and constraints are not checked", span_of(each)))
                    continue
                raise Wrong("this is no column", span_of(each), "a column has a name and a type: a INT", "L101")
            if each.args.get("kind") is None:
                raise Wrong(
                    f"the column `{each.name}` has no type", span_of(each), "write INT, FLOAT, TEXT or BOOLEAN", "L101"
                )
            if any(each.name.lower() == known.lower() for known, _ in columns):
                raise Wrong(f"the column `{each.name}` is there twice", span_of(each), "name it otherwise", "D103")
            columns.append((each.name, kind_of(each.args["kind"])))
        if is_keyword(name) or not name.isidentifier():
            message = f"`{name}` cannot be the name of a predicate"
            raise Wrong(message, place, f"call it otherwise, such as `{predicate_name(name)}s`", "P204")
        self._declare(FromTable(name, tuple(columns), kind == "STREAM"), place)
        declared = tuple(Column(each, of) for each, of in columns)
        return [Input(name, declared, span=span) if kind == "STREAM" else Static(name, declared, span=span)]

    def _declare(self, table: FromTable, span: Span) -> None:
        if table.name.lower() in self.tables:
            raise Wrong(f"`{table.name}` is declared twice", span, "declare it once", "D101")
        self.tables[table.name.lower()] = table
        self.predicates.taken.add(table.name.lower())

    def _query(self, node: Any, start: int, end: int) -> list[Statement]:
        if not isinstance(node, (exp.Select, exp.Subquery, exp.Union, exp.Except, exp.Intersect)):
            raise Wrong("this is neither a declaration nor a query", Span(start, end), "write Select … From …", "L101")
        while isinstance(node, exp.Subquery) and not node.args.get("alias") and not node.args.get("window"):
            node = node.this
        name = self._name(start, end)
        refuse_unread(node)
        queries = Queries(self.tables, self.predicates, self.tick)
        columns = queries.answers(node, name)
        self.notes.extend(queries.notes)
        variables = FreshNames()
        atom = Atom(name, tuple(variables.variable(each.name) for each in columns), span=Span(start, end))
        return [*queries.rules, Query(atom, span=Span(start, end))]

    def _name(self, start: int, end: int) -> str:
        """What a comment before the query, or at its head, says it is called."""
        before = [at for at in self.names if at < start]
        chosen = self.names.pop(max(before)) if before else None
        for at in before:
            self.names.pop(at, None)
        if chosen is None:
            name, span = "answer", Span(start, end)
        else:
            name, span = chosen
        if not name.isidentifier() or is_keyword(name):
            raise Wrong(f"`{name}` cannot be the name of a query", span, "a name is letters, digits and `_`", "P204")
        if name.lower() in self.predicates.taken:
            hint = "name each result by a comment before its query: `-- name: hot`"
            raise Wrong(f"`{name}` is there already", span, hint, "D101")
        self.predicates.taken.add(name.lower())
        return name


def comments_of(text: str) -> list[Comment]:
    """The comments of a text: from `--` to the end of the line, and between `/*` and `*/`."""
    found, at = [], 0
    while at < len(text):
        sign = next((each for each in ("--", "/*", "'", '"') if text.startswith(each, at)), None)
        if sign is None:
            at += 1
            continue
        end = text.find({"--": "\n", "/*": "*/"}.get(sign, sign), at + len(sign))
        end = len(text) if end < 0 else end + {"--": 0, "/*": 2}.get(sign, 1)
        if sign in ("--", "/*"):
            found.append(Comment(text[at:end].rstrip(), at, end))
        at = end
    return found
