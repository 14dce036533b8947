"""Graph patterns of SPARQL as alternatives of bodies, each of which binds a known set of variables.

A solution of SPARQL may leave variables unbound; here, which ones is settled by the alternative it comes from:
`OPTIONAL` gives one with the optional part and one for where there is none, `UNION` those of both sides. Joining
alternatives is then joining bodies, and whether two solutions are compatible is a question of equal values alone. The
rows of a bag are the assignments of all variables of a body, so that nothing has to be counted until somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rdflib.paths import AlternativePath, InvPath, MulPath, Path, SequencePath
from rdflib.plugins.sparql.algebra import translateGroupGraphPattern
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, URIRef
from rdflib.term import Variable as Name

from presage.errors import Note, Span
from presage.languages.rsp.alternatives import BodyAlternative, counts, hidden_keys
from presage.languages.rsp.clauses import CQELS, CSPARQL, Clauses, Misread, StreamWindow, iri_of
from presage.languages.rsp.data import Data, MatchedData
from presage.languages.rsp.expressions import RspExpressions, Unbound, constant
from presage.languages.rsp.grouping import RspGrouping
from presage.languages.writing import FreshNames, flat, names_in, never, rule
from presage.model.formulas import Atom, Comparison, Formula, Not, Top
from presage.model.statements import Rule
from presage.model.terms import Aggregate, Constant, Term, Variable


class Patterns:
    def __init__(
        self, clauses: Clauses, predicates: FreshNames, froms: tuple[str, ...], named: tuple[str, ...]
    ) -> None:
        self.clauses, self.predicates, self.named = clauses, predicates, named
        self.variables = FreshNames()
        self.data = Data(predicates, clauses.windows, clauses.dialect != CQELS)
        self.rules: list[Rule] = []
        self.notes: list[Note] = []
        self.scope: dict[str, Variable] = {}
        static: tuple[str | None, ...] = (None, *froms)
        self.default = MatchedData((), static, "static")
        if clauses.dialect == CSPARQL:
            self.default = MatchedData(clauses.windows, static, "data")
        self.span = Span(0, len(clauses.sparql))
        self._places: dict[str, list[Span]] = {}
        for token in clauses.tokens:
            iri = iri_of(token, clauses.prefixes)
            if iri is not None:
                self._places.setdefault(iri, []).append(token.span)
            elif token.text == "a":
                self._places.setdefault("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", []).append(token.span)
            elif token.kind == "variable":
                self._places.setdefault("?" + token.text[1:], []).append(token.span)

    # Places

    def place(self, node: Any) -> Span:
        """Where something stands in the query: its function, the next of its properties, or a variable of it."""
        kind, _, name = str(getattr(node, "name", "")).partition("_")
        if kind in ("Builtin", "Aggregate"):
            for token in self.clauses.tokens:
                if token.text.upper().replace("_", "") == name.upper():
                    return token.span
        if kind == "Function":
            return self.place(node.iri)
        if isinstance(node, URIRef):
            found = self._places.get(f"<{node}>")
            if found:
                return found.pop(0) if len(found) > 1 else found[0]
        for name in _names_of(node):
            found = self._places.get("?" + name)
            if found:
                return found[-1]
        return self.span

    def word(self, *words: str) -> Span:
        """Where the first of some words stands."""
        return next((each.span for each in self.clauses.tokens if each.text.upper() in words), self.span)

    # Variables

    def variable(self, name: str) -> Variable:
        if name not in self.scope:
            self.scope[name] = self.variables.variable(name.lstrip("_") or "B")
        return self.scope[name]

    def term(self, node: Any) -> Term:
        if isinstance(node, Name):
            return self.variable(str(node))
        if isinstance(node, BNode):
            return self.variable(f"_:{node}")
        return constant(node)

    # Patterns

    def ways(self, node: Any, place: MatchedData) -> list[BodyAlternative]:
        match node.name:
            case "BGP":
                found = [BodyAlternative()]
                for triple in node.triples or ():
                    found = [self.both(one, other) for one in found for other in self.triple(triple, place)]
                return found
            case "Join":
                return self.joined(self.ways(node.p1, place), self.ways(node.p2, place))
            case "LeftJoin":
                return self._optional(node, place)
            case "Union":
                return [*self.ways(node.p1, place), *self.ways(node.p2, place)]
            case "Minus":
                return self._minus(node, place)
            case "Filter":
                return self._filtered(self.ways(node.p, place), node.expr, place)
            case "Extend":
                return self._extended(node, place)
            case "Graph":
                return self._graph(node)
            case "ToMultiSet":
                if isinstance(node.p, list) or node.p.name == "values":
                    return self._values(node.p if isinstance(node.p, list) else node.p.res)
                return self._nested(node.p, place)
            case "values":
                return self._values(node.res)
            case "OrderBy":
                message = "ORDER BY is left out: answers have no order but that of time"
                self.notes.append(Note(message, self.word("ORDER")))
                return self.ways(node.p, place)
            case "Project" | "Distinct" | "Reduced" | "Slice":
                return self._nested(node, place)
            case "AggregateJoin":
                return RspGrouping(self).aggregated(node, place)
        if node.name == "ServiceGraphPattern":
            raise Misread(
                "SERVICE has no counterpart", self.word("SERVICE"), "ask for the facts there are here", "L102"
            )
        raise Misread(f"`{node.name}` has no counterpart", self.place(node), "", "L102")

    def both(self, one: BodyAlternative, other: BodyAlternative) -> BodyAlternative:
        """Two alternatives together; a variable that both bind to different things is equal in both."""
        body, bound = [*one.body, *other.body], dict(one.bound)
        for name, term in other.bound:
            if name in bound and bound[name] != term:
                body.append(Comparison("=", bound[name], term, span=self.span))
            bound.setdefault(name, term)
        return BodyAlternative(tuple(body), tuple(bound.items()))

    def joined(self, left: list[BodyAlternative], right: list[BodyAlternative]) -> list[BodyAlternative]:
        return [self.both(one, other) for one in left for other in right]

    def triple(self, triple: tuple[Any, Any, Any], place: MatchedData) -> list[BodyAlternative]:
        subject, predicate, object_ = triple
        if isinstance(predicate, Path):
            ends = self._ends(subject, object_)
            return [
                replace(each, bound=ends)
                for each in self.path(self.term(subject), predicate, self.term(object_), place)
            ]
        terms = (self.term(subject), self.term(predicate), self.term(object_))
        span = self.place(predicate) if isinstance(predicate, URIRef) else self.place(triple)
        return [BodyAlternative((self.data.atom(place, *terms, span),), self._ends(subject, predicate, object_))]

    def _ends(self, *nodes: Any) -> tuple[tuple[str, Term], ...]:
        return tuple({str(each): self.term(each) for each in nodes if isinstance(each, Name)}.items())

    # Property paths

    def path(self, start: Term, path: Any, end: Term, place: MatchedData) -> list[BodyAlternative]:
        if isinstance(path, URIRef):
            return [BodyAlternative((self.data.atom(place, start, constant(path), end, self.place(path)),))]
        if isinstance(path, InvPath):
            return self.path(end, path.arg, start, place)
        if isinstance(path, SequencePath):
            found, here = [BodyAlternative()], start
            for index, each in enumerate(path.args):
                there = end if index == len(path.args) - 1 else self.variables.variable("Step")
                found = self.joined(found, self.path(here, each, there, place))
                here = there
            return found
        if isinstance(path, AlternativePath):
            return [way for each in path.args for way in self.path(start, each, end, place)]
        if isinstance(path, MulPath):
            return self._repeated(start, path, end, place)
        raise Misread(
            "this property path has no counterpart", self.word("!"), "`/`, `^`, `|`, `+`, `*` and `?` are read", "L102"
        )

    def _repeated(self, start: Term, path: MulPath, end: Term, place: MatchedData) -> list[BodyAlternative]:
        name = self.predicates.fresh("path")
        x, y, z = (Variable(each) for each in ("X", "Y", "Z"))
        span = self.span
        for way in self.path(x, path.path, y, place):
            self.write(name, (x, y), way.body, span)
        if path.mod in ("+", "*"):
            for way in self.path(z, path.path, y, place):
                self.write(name, (x, y), (Atom(name, (x, z), span=span), *way.body), span)
        if path.mod in ("*", "?"):
            self.write(name, (x, x), (self.data.atom(place, x, Variable("P"), Variable("O"), span),), span)
            self.write(name, (x, x), (self.data.atom(place, Variable("S"), Variable("P"), x, span),), span)
            for each in (start, end):
                if isinstance(each, Constant):
                    self.write(name, (each, each), (Top(span=span),), span)
        return [BodyAlternative((Atom(name, (start, end), span=span),))]

    # Parts that may be missing

    def _optional(self, node: Any, place: MatchedData) -> list[BodyAlternative]:
        left, right = self.ways(node.p1, place), self.ways(node.p2, place)
        plain = isinstance(node.expr, CompValue) and node.expr.name == "TrueFilter"
        found: list[BodyAlternative] = []
        for one in left:
            together = [self.both(one, other) for other in right]
            if not plain:
                together = self._filtered(together, node.expr, place)
            found.extend(together)
            found.append(self._without(one, together, "option"))
        return found

    def _without(self, one: BodyAlternative, others: list[BodyAlternative], hint: str) -> BodyAlternative:
        """An alternative where none of the others, which go on from it, holds."""
        if not others:
            return one
        own = tuple(dict.fromkeys(names_in(one.body)))
        rest = [tuple(each for each in other.body if each not in one.body) for other in others]
        used = {name for body in rest for name in names_in(body)}
        if counts(one.body):  # what is counted is that of a group
            used.update(each.name for _, each in one.bound if isinstance(each, Variable))
        shared = tuple(Variable(name) for name in own if name in used)
        name = self.predicates.fresh(hint)
        for other, own_part in zip(others, rest, strict=True):
            given = set(names_in(each for each in own_part if isinstance(each, Atom)))
            body = own_part if all(each.name in given for each in shared) and own_part else other.body
            self.write(name, shared, body, self.span)
        return replace(one, body=(*one.body, Not(Atom(name, shared, span=self.span), span=self.span)))

    def _minus(self, node: Any, place: MatchedData) -> list[BodyAlternative]:
        left = self.ways(node.p1, place)
        outer, self.scope = self.scope, dict(self.scope)
        right = self.ways(node.p2, place)
        self.scope = outer
        found = []
        for one in left:
            for other in right:
                shared = sorted(one.names & other.names)
                if not shared:
                    continue
                name = self.predicates.fresh("minus")
                self.write(name, [_known(other.value(each)) for each in shared], other.body, self.span)
                atom = Atom(name, tuple(_known(one.value(each)) for each in shared), span=self.span)
                one = replace(one, body=(*one.body, Not(atom, span=self.span)))
            found.append(one)
        return found

    def _expressions(self, way: BodyAlternative, place: MatchedData) -> RspExpressions:
        return RspExpressions(way.value, lambda graph, holds: self._exists(graph, holds, way, place), self.place)

    def _filtered(self, ways: list[BodyAlternative], expression: Any, place: MatchedData) -> list[BodyAlternative]:
        found = []
        for way in ways:
            condition = self._expressions(way, place).condition(expression)
            parts = [each for each in flat(condition) if not isinstance(each, Top)]
            if any(each == never(self.span) for each in parts):
                continue
            found.append(replace(way, body=(*way.body, *parts)))
        return found

    def _exists(self, graph: Any, holds: bool, way: BodyAlternative, place: MatchedData) -> Formula:
        if graph.name in ("GroupGraphPatternSub", "GroupOrUnionGraphPattern"):
            graph = translateGroupGraphPattern(graph)
        inner = [self.both(way, each) for each in self.ways(graph, place)]
        if not inner:
            return never(self.span) if holds else Top(span=self.span)
        body = self._without(way, inner, "found").body[-1]
        assert isinstance(body, Not)
        return body.formula if holds else body

    def _extended(self, node: Any, place: MatchedData) -> list[BodyAlternative]:
        name = str(node.var)
        found: list[BodyAlternative] = []
        for way in self.ways(node.p, place):
            if way.value(name) is not None and isinstance(node.expr, Name) and str(node.expr) == name:
                found.append(way)
                continue
            try:
                term = self._value(node.expr, way, place)
            except Unbound:
                found.append(way)
                continue
            if isinstance(term, (Variable, Constant)):
                found.append(replace(way, bound=(*way.bound, (name, term))))
                continue
            variable = self.variables.variable(name.lstrip("_") or "V")
            equal = Comparison("=", variable, term, span=self.place(node.expr))
            with_value = BodyAlternative((*way.body, equal), (*way.bound, (name, variable)))
            found.append(with_value)
            if not any(isinstance(each, Aggregate) for each in (term,)):
                found.append(self._without(way, [with_value], "worth"))
        return found

    def _value(self, node: Any, way: BodyAlternative, place: MatchedData) -> Term:
        """The value of an expression; what asks becomes `true` or `false`."""
        read = self._expressions(way, place)
        asks = isinstance(node, CompValue) and (
            node.name in ("RelationalExpression", "ConditionalAndExpression", "ConditionalOrExpression", "UnaryNot")
            or node.name
            in ("Builtin_BOUND", "Builtin_REGEX", "Builtin_CONTAINS", "Builtin_STRSTARTS", "Builtin_STRENDS")
        )
        if asks:
            hint = "ask in FILTER, or write IF(…, …, …)"
            raise Misread("a condition as a value has no counterpart", self.place(node), hint, "L102")
        return read.term(node)

    # Graphs and given values

    def _graph(self, node: Any) -> list[BodyAlternative]:
        if isinstance(node.term, Name):
            name = str(node.term)
            windows = [each for each in self.clauses.windows if each.name]
            asked = self._is_window_variable(name)
            if asked:
                return [
                    self._fixed(way, name, window.name)
                    for window in windows
                    for way in self.ways(node.p, self._window(window))
                ]
            if self.named:
                return [
                    self._fixed(way, name, graph)
                    for graph in self.named
                    for way in self.ways(node.p, MatchedData((), (None, graph), "graph"))
                ]
            hint = "write FROM NAMED <g> for each, or name the graph"
            raise Misread(f"which graphs `?{name}` may be is not said", self.place(node.term), hint, "L102")
        iri = str(constant(node.term).value)
        window = next((each for each in self.clauses.windows if each.name == iri), None)
        if window is not None:
            return self.ways(node.p, self._window(window))
        if self._says_window(iri):
            known = ", ".join(each.name for each in self.clauses.windows) or "none"
            raise Misread(
                f"there is no window {iri}", self.place(node.term), f"the query's windows are {known}", "D105"
            )
        return self.ways(node.p, MatchedData((), (None, iri), "graph"))

    def _window(self, window: StreamWindow) -> MatchedData:
        return MatchedData((window,), (), f"w{self.clauses.windows.index(window) + 1}")

    def _says_window(self, iri: str) -> bool:
        return any(
            one.text.upper() == "WINDOW"
            and iri_of(two, self.clauses.prefixes) == iri
            and (index == 0 or self.clauses.tokens[index - 1].text.upper() != "NAMED")
            for index, (one, two) in enumerate(zip(self.clauses.tokens, self.clauses.tokens[1:], strict=False))
        )

    def _is_window_variable(self, name: str) -> bool:
        return any(
            one.text.upper() == "WINDOW" and two.text[1:] == name and two.kind == "variable"
            for one, two in zip(self.clauses.tokens, self.clauses.tokens[1:], strict=False)
        )

    def _fixed(self, way: BodyAlternative, name: str, iri: str) -> BodyAlternative:
        known = way.value(name)
        if known is None:
            return replace(way, bound=(*way.bound, (name, Constant(iri))))
        return replace(way, body=(*way.body, Comparison("=", known, Constant(iri), span=self.span)))

    def _values(self, rows: Iterable[dict[Any, Any]]) -> list[BodyAlternative]:
        return [
            BodyAlternative(
                (), tuple((str(name), constant(value)) for name, value in row.items() if str(value) != "UNDEF")
            )
            for row in rows
        ]

    # Queries

    def _nested(self, node: Any, place: MatchedData) -> list[BodyAlternative]:
        """A query inside another: only what it selects is known outside."""
        distinct = False
        while node.name in ("Distinct", "Reduced", "Slice"):
            if node.name == "Slice":
                hint = "answers have no order: leave it out"
                raise Misread("LIMIT and OFFSET have no counterpart", self.word("LIMIT", "OFFSET"), hint, "L102")
            distinct = distinct or node.name == "Distinct"
            node = node.p
        outer, self.scope = self.scope, {}
        wanted = [str(each) for each in node.PV]
        for name in wanted:
            if name in outer:
                self.scope[name] = outer[name]
        inner = self.grouped(self.ways(node.p, place), wanted)
        chosen = dict(self.scope)
        self.scope = outer
        for name in wanted:
            if name in chosen:
                self.scope.setdefault(name, chosen[name])
        shown = [replace(way, bound=tuple((n, t) for n, t in way.bound if n in wanted)) for way in inner]
        if not distinct and not any(counts(way.body) for way in shown):
            return shown
        return self.as_facts(shown, "nested")

    def grouped(self, ways: list[BodyAlternative], wanted: Iterable[str]) -> list[BodyAlternative]:
        """Groups by what nobody asks for are groups all the same: they are told apart before that is left out."""
        hidden = {name for way in ways for name in hidden_keys(way, wanted)}
        told = hidden.union(wanted)
        shown = [replace(way, bound=tuple(each for each in way.bound if each[0] in told)) for way in ways]
        return self.as_facts(shown, "groups") if hidden else ways

    def as_facts(self, ways: list[BodyAlternative], hint: str) -> list[BodyAlternative]:
        """The solutions as facts, each once: a predicate for each set of variables that is bound."""
        found: dict[tuple[str, ...], str] = {}
        for way in ways:
            names = tuple(sorted(way.names))
            if names not in found:
                found[names] = self.predicates.fresh(hint)
            self.write(found[names], [_known(way.value(each)) for each in names], way.body, self.span)
        return [
            BodyAlternative(
                (Atom(name, tuple(self.variable(each) for each in names), span=self.span),),
                tuple((each, self.variable(each)) for each in names),
            )
            for names, name in found.items()
        ]

    def write(self, name: str, columns: Iterable[Term], body: Iterable[Formula], span: Span) -> None:
        self.rules.append(rule(name, columns, body, span))


def _known(term: Term | None) -> Term:
    assert term is not None
    return term


def _names_of(node: Any) -> list[str]:
    """The variables of an expression or a triple, in order."""
    if isinstance(node, Name):
        return [str(node)]
    if isinstance(node, CompValue):
        return [name for each in node.values() for name in _names_of(each)]
    if isinstance(node, (list, tuple)):
        return [name for each in node for name in _names_of(each)]
    return []
