"""What is wrong in a query that SPARQL's grammar lets through.

Prefixes, the scope of variables and of blank nodes, what stands beside aggregates, and rows of values: the first fault
is told, at its token.
"""

from __future__ import annotations

from presage.errors import Span
from presage.languages.rsp.clauses import Misread, QueryToken
from presage.languages.rsp.sparql import SyntaxNode


def refuse_faults(query: SyntaxNode, tokens: list[QueryToken]) -> None:
    """Raises `Misread` at what is wrong in a query of this tree."""
    _Faults(tokens).look(query)


def columns_of_star(query: SyntaxNode, tokens: list[QueryToken]) -> list[str] | None:
    """What `SELECT *` gives: the variables that its patterns bind, as they are written one after the other."""
    selects = [each for each in query.nodes if each.name == "select"]
    if not selects or selects[0].all("item", but=("where", "modifiers")):
        return None
    bound = {name for each in selects[0].all("where") for name in _Faults(tokens).visible(each)}
    return [
        name for name in dict.fromkeys(each.text[1:] for each in tokens if each.kind == "variable") if name in bound
    ]


class _Faults:
    def __init__(self, tokens: list[QueryToken]) -> None:
        self.tokens = tokens
        self.labels: dict[str, int] = {}
        self.stretches = 0

    def look(self, query: SyntaxNode) -> None:
        self._prefixes()
        self._blank_nodes(query)
        self._below(query, "")

    def _text(self, node: SyntaxNode) -> str:
        return self.tokens[node.start].text

    def _name(self, variable: SyntaxNode) -> str:
        return self._text(variable)[1:]

    def _span(self, node: SyntaxNode) -> Span:
        return Span(self.tokens[node.start].span.start, self.tokens[node.end - 1].span.end)

    def _prefixes(self) -> None:
        known = {"_"}
        for before, token in zip((None, *self.tokens), self.tokens, strict=False):
            if token.kind != "pname":
                continue
            prefix, _, rest = token.text.partition(":")
            if before is not None and before.text.upper() == "PREFIX":
                if rest:
                    raise Misread("a prefix ends with its only colon", token.span, f"write PREFIX {prefix}: <http://…>")
                known.add(prefix)
            elif prefix not in known:
                hint = f"declare it before the query: PREFIX {prefix}: <http://…>"
                raise Misread(f"the prefix `{prefix}:` is not declared", token.span, hint)
            elif prefix == "_" and ":" in rest:
                raise Misread("the name of a blank node has no colon", token.span, "write letters and digits")

    # Blank nodes

    def _blank_nodes(self, node: SyntaxNode, inside: str = "") -> None:
        """A blank node is a subject or object, and its name is of one stretch of triples."""
        if node.name == "iri" and self._text(node).startswith("_:"):
            label = self._text(node)
            if inside not in ("same", "object"):
                raise Misread("a blank node cannot stand here", self._span(node), "write a variable, or an IRI")
            if self.labels.setdefault(label, self.stretches) != self.stretches:
                hint = "its name ends with the triples it stands in: write a variable"
                raise Misread(f"`{label}` stands in other triples before", self._span(node), hint)
        if node.name == "same" and [each.name for each in node.nodes] == ["node"] and node.end - node.start == 2:
            there = self._span(node)
            raise Misread("these triples have no property", there, "write a property and an object behind it")
        for each in node.nodes:
            ends = each.name in ("group", "construct", "where") or (each.name == "pattern" and not each.all("filter"))
            self.stretches += ends
            self._blank_nodes(each, node.name)
            self.stretches += ends

    # Variables

    def _below(self, node: SyntaxNode, inside: str) -> None:
        if node.name in ("select", "describe", "construct", "ask"):
            self._told(node)
        if node.name == "patterns":
            self._bound(node)
        if node.name == "data":
            self._rows(node)
        if node.name == "aggregate" and inside:
            hint = "aggregates stand in SELECT, HAVING and ORDER BY, alone; a filter of them is HAVING"
            raise Misread(f"`{self._text(node)}` cannot stand {inside}", self._span(node), hint)
        inside = {"aggregate": "in an aggregate", "filter": "in a filter", "bind": "in BIND", "key": "in GROUP BY"}.get(
            node.name, "" if node.name == "subselect" else inside
        )
        for each in node.nodes:
            self._below(each, inside)

    def visible(self, node: SyntaxNode) -> set[str]:
        """The variables that a part of a pattern may bind."""
        if node.name in ("minus", "filter"):
            return set()
        if node.name == "subselect":
            select = node.nodes[0]
            items = select.all("item", but=("where",))
            if items:
                return {self._name(self._of_item(each)) for each in items}
        if node.name == "bind":
            return {self._name(node.nodes[-1])}
        if node.name == "variable":
            return {self._name(node)}
        return {name for each in node.nodes for name in self.visible(each)}

    @staticmethod
    def _of_item(item: SyntaxNode) -> SyntaxNode:
        """The variable that a column of SELECT gives."""
        return item.nodes[0] if item.nodes[0].name == "variable" else item.nodes[0].nodes[-1]

    def _bound(self, patterns: SyntaxNode) -> None:
        seen: set[str] = set()
        for each in patterns.nodes:
            for bind in each.all("bind", but=("group",)):
                variable = bind.nodes[-1]
                if self._name(variable) in seen:
                    there = self._text(variable)
                    hint = "BIND gives a new variable its value; to compare, write FILTER(… = …)"
                    raise Misread(f"`{there}` is bound already", self._span(variable), hint)
            seen |= self.visible(each)

    def _rows(self, data: SyntaxNode) -> None:
        wanted = len(data.all("variable"))
        for row in data.all("row"):
            if len(row.nodes) != wanted:
                message = f"a row of {len(row.nodes)} for {wanted} variable{'s' * (wanted != 1)}"
                raise Misread(message, self._span(row), "write UNDEF for a value that is left open")

    def _told(self, query: SyntaxNode) -> None:
        """What SELECT asks for, and HAVING: each column once, and beside aggregates what is grouped by."""
        modifiers = query.all("modifiers", but=("where",))
        where = query.all("where")
        items = query.all("item", but=("where", "modifiers"))
        seen = {name for each in where for name in self.visible(each)}
        given: set[str] = set()
        for item in items:
            variable = self._of_item(item)
            if item.nodes[0].name == "alias" and self._name(variable) in seen | given:
                raise Misread(f"`{self._text(variable)}` is there already", self._span(variable), "call it otherwise")
            given.add(self._name(variable))
        groups = [each for part in modifiers for each in part.all("groupby")]
        conditions = [each for part in modifiers for each in part.nodes if each.name == "constraint"]
        if not groups and not any(each.all("aggregate", but=("group",)) for each in (*items, *conditions)):
            return
        if query.name == "select" and not items:
            there = next(each for each in self.tokens[query.start :] if each.text == "*")
            raise Misread(
                "what is grouped has no `*`", there.span, "name the columns: what is grouped by, and aggregates"
            )
        keys = {self._name(each.nodes[-1]) for group in groups for each in group.nodes if self._is_key(each)}
        for item in items:
            if item.nodes[0].name == "variable":
                self._grouped(item, keys)
            else:
                self._grouped(item.nodes[0].nodes[0], keys)
                keys.add(self._name(self._of_item(item)))
        for each in conditions:
            self._grouped(each, keys)

    @staticmethod
    def _is_key(key: SyntaxNode) -> bool:
        return key.nodes[-1].name == "variable"

    def _grouped(self, part: SyntaxNode, keys: set[str]) -> None:
        for variable in part.all("variable", but=("aggregate", "group")):
            if self._name(variable) not in keys:
                there = self._text(variable)
                hint = f"group by it, or take an aggregate of it: (SAMPLE({there}) AS ?one)"
                raise Misread(f"`{there}` has no one value in a group", self._span(variable), hint)
