"""What sqlglot reads of a query and nothing here looks at: it is refused, so that no part of a query is passed over.

SQL has many clauses, and sqlglot knows those of all dialects. For each kind of node that queries are made of, this says
which of its parts are read; what may stand in expressions is known where they are read, or refused there.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from presage.languages.cql.expressions import Wrong, span_of

# Refused elsewhere, in words of their own, or left out with a note.
_SAID = {"limit", "offset", "distinct_on", "qualify", "windows", "laterals", "fetch", "order", "with_", "with"}
_SETS = {"this", "expression", "distinct", *_SAID}
READ: dict[type[Any], set[str]] = {
    exp.Select: {
        "expressions",
        "from_",
        "from",
        "where",
        "group",
        "having",
        "joins",
        "distinct",
        "into",
        "kind",
        *_SAID,
    },
    exp.Union: _SETS,
    exp.Except: _SETS,
    exp.Intersect: _SETS,
    exp.Subquery: {"this", "alias", "window"},
    exp.Table: {"this", "alias", "window", "joins"},
    exp.TableAlias: {"this", "columns"},
    exp.Join: {"this", "on", "using", "side", "kind", "method"},
    exp.With: {"expressions", "recursive"},
    exp.CTE: {"this", "alias"},
    exp.Group: {"expressions", "rollup", "cube", "grouping_sets", "totals", "all"},
    exp.Distinct: {"expressions", "on"},
    exp.Star: set(),
    exp.Column: {"this", "table"},
    exp.Between: {"this", "low", "high"},
    exp.In: {"this", "expressions", "query"},
    exp.Cast: {"this", "to"},
    exp.Round: {"this", "decimals"},
    exp.Substring: {"this", "start", "length"},
    exp.Replace: {"this", "expression", "replacement"},
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true", "false"},
    exp.Count: {"this", "expressions", "big_int"},
}


def refuse_unread(query: Any) -> None:
    """Raises `Wrong` at the first part of a query that nobody reads."""
    for node in query.walk():
        read = READ.get(type(node))
        for key, value in node.args.items() if read is not None else ():
            if not value or key in (read or ()):
                continue
            part = value[0] if isinstance(value, list) else value
            is_node = isinstance(part, exp.Expression)
            shown = part.sql() if is_node and key in _AS_WRITTEN else key.strip("_").replace("_", " ").title()
            hint = _INSTEAD.get((type(node), key), "")
            raise Wrong(f"`{shown}` cannot be said here", span_of(part if is_node else node), hint)


_AS_WRITTEN = ("sample", "pivots", "field", "db")
_INSTEAD = {
    (exp.In, "field"): "write In (Select c From …), or In (1, 2, 3)",
    (exp.Between, "symmetric"): "write the lower bound first",
    (exp.Star, "except_"): "name the columns",
}
