"""Queries over streams of RDF: C-SPARQL, CQELS and RSP-QL.

`clauses` cuts what is about streams out of the text, `sparql` and `faults` say where what is left goes wrong, rdflib
reads it, and `patterns` makes rules of its algebra; `data` says where triples come from, `expressions` what filters and
values are. All solutions hold at the times at which a query is evaluated, and at no other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyparsing import ParseBaseException
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.term import BNode, URIRef
from rdflib.term import Variable as Name

from presage.errors import Diagnostic, Note, Source, Span
from presage.languages.rsp.alternatives import UNDEF, BodyAlternative
from presage.languages.rsp.clauses import CQELS, Clauses, Misread, clauses_of, tokens_of
from presage.languages.rsp.data import QUAD, STATIC_QUAD, STATIC_TRIPLE, TRIPLE
from presage.languages.rsp.expressions import among, constant, part_of
from presage.languages.rsp.faults import columns_of_star, refuse_faults
from presage.languages.rsp.graph_patterns import Patterns
from presage.languages.rsp.sparql import tree_of
from presage.languages.writing import FreshNames, at_multiples, flat, joined, names_in, never, predicate_name, rule
from presage.model.formulas import Atom, Comparison, Formula, Metric, Not, Or, Pinned
from presage.model.program import Program
from presage.model.statements import Column, Head, Input, Query, Rule, Statement, Static, Tick, Timeline
from presage.model.terms import Aggregate, Constant, Function, Term, Variable
from presage.model.time import Duration, Interval, Pin
from presage.parser import Parsed
from presage.parser.lexer import Comment
from presage.syntax import is_keyword


def read(text: str, name: str = "<program>") -> Parsed:
    """Reads a query and never fails: what is wrong is in `problems`."""
    source = Source.of(text.removeprefix("\ufeff"), name)
    comments = tuple(
        Comment(each.text, *each.span)
        for each in tokens_of(source.text)
        if each.kind == "comment" and not each.text[1:].strip().startswith("name:")
    )
    try:
        statements, notes = _Reader(source).statements()
    except Misread as wrong:
        problem = Diagnostic(wrong.code, wrong.message, wrong.span, wrong.hint)
        return Parsed(Program((), source=source), comments, (problem,))
    return Parsed(Program(tuple(statements), source=source), comments, (), notes=tuple(notes))


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.clauses: Clauses = clauses_of(source.text)
        self.predicates = FreshNames((TRIPLE, QUAD, STATIC_TRIPLE, STATIC_QUAD))
        self.span = Span(0, len(source.text))

    def statements(self) -> tuple[list[Statement], list[Note]]:
        algebra, template = self._algebra()
        name = predicate_name(self.clauses.name)
        if is_keyword(name) or name in (TRIPLE, QUAD, STATIC_TRIPLE, STATIC_QUAD):
            raise Misread(
                f"`{name}` cannot be the name of a query", self.clauses.name_span, "call it otherwise", "P204"
            )
        self.predicates.taken.add(name.lower())
        froms: list[str] = []
        named: list[str] = []
        for each in part_of(algebra, "datasetClause") or ():
            default = part_of(each, "default")
            (froms if default else named).append(f"<{default or each['named']}>")
        patterns = Patterns(self.clauses, self.predicates, tuple(froms), tuple(named))
        patterns.notes.extend(Note(message, span) for message, span in self.clauses.notes)
        rules, columns = self._answers(algebra, template, patterns, name)
        s, p, o, g = (Column(each) for each in "spog")
        declared: list[Statement] = [
            Timeline("discrete"),
            Tick(Duration(1, "s")),
            Input(TRIPLE, (s, p, o)),
            Input(QUAD, (s, p, o, g)),
            Static(STATIC_TRIPLE, (s, p, o)),
            Static(STATIC_QUAD, (s, p, o, g)),
        ]
        query = Query(Atom(name, columns, span=self.span), span=self.span)
        return [*declared, *patterns.data.rules, *patterns.rules, *rules, query], patterns.notes

    def _algebra(self) -> tuple[Any, Any]:
        left = [each for each in tokens_of(self.clauses.sparql) if each.kind != "comment"]
        tree = tree_of(left, self.source.text)
        refuse_faults(tree, left)
        try:
            query = translateQuery(parseQuery(self.clauses.sparql))
        except Exception as wrong:  # what rdflib finds wrong comes as any kind of exception
            at = min(wrong.loc if isinstance(wrong, ParseBaseException) else 0, len(self.source.text) - 1)
            raise Misread(f"rdflib cannot read this: {wrong}", Span(at, at + 1), "", "L102") from None
        columns = columns_of_star(tree, left)
        if columns is not None:  # rdflib has these in no order, and those of MINUS among them
            query.algebra["PV"] = [Name(each) for each in columns]
        return query.algebra, part_of(query.algebra, "template")

    # Answers

    def _answers(
        self, algebra: Any, template: Any, patterns: Patterns, name: str
    ) -> tuple[list[Rule], tuple[Variable, ...]]:
        node, kind = algebra.p, algebra.name
        if kind == "DescribeQuery":
            hint = "SELECT, CONSTRUCT and ASK are read"
            raise Misread("DESCRIBE has no counterpart", patterns.word("DESCRIBE"), hint, "L102")
        while node.name in ("Distinct", "Reduced", "Slice"):
            if node.name == "Slice":
                where, hint = patterns.word("LIMIT", "OFFSET"), "answers have no order: leave it out"
                raise Misread("LIMIT and OFFSET have no counterpart", where, hint, "L102")
            node = node.p
        ways = patterns.ways(node.p if node.name == "Project" else node, patterns.default)
        asked = [str(each) for each in part_of(algebra, "PV") or ()] if kind == "SelectQuery" else []
        if kind == "ConstructQuery":
            asked = [str(each) for triple in template or () for each in triple if isinstance(each, Name)]
        ways = patterns.grouped(ways, asked)
        when, extra = self._arrived()
        told = name if self.clauses.mode == "RSTREAM" else self.predicates.fresh(f"{name}_all")
        every = sorted({each.step for each in self.clauses.windows}) if not when else []
        steps = [each for each in every if not any(each % other == 0 for other in every if other < each)]
        given = told
        if steps and steps[0] > 1:  # what holds, and then what holds when the query is evaluated
            told = self.predicates.fresh(f"{name}_now")
        rules: list[Rule] = []
        if kind == "SelectQuery":
            wanted = [str(each) for each in algebra.PV]
            for way in ways:
                shown = [way.value(each) or UNDEF for each in wanted]
                rules.append(rule(told, shown, (*compared_at_once(way.body, shown), *when), self.span))
            names = FreshNames()
            columns = tuple(names.variable(each.lstrip("_") or "V") for each in wanted)
        elif kind == "AskQuery":
            rules += [rule(told, (), (*way.body, *when), self.span) for way in ways]
            columns = ()
        else:
            rules += self._constructed(template, ways, when, told, patterns)
            columns = (Variable("S"), Variable("P"), Variable("O"))
        if not rules:
            patterns.notes.append(Note("the query can have no answer: its filters are never true", self.span))
            blanks = tuple(Variable("_") for _ in range(3))
            body = (Atom(TRIPLE, blanks, span=self.span), never(self.span))
            rules.append(rule(told, [UNDEF for _ in columns], body, self.span))
        if given != told:
            rules += [at_multiples(given, columns, told, each, self.span) for each in steps]
        return [*extra, *rules, *self._compared(name, given, columns, steps)], columns

    def _arrived(self) -> tuple[tuple[Formula, ...], list[Rule]]:
        """CQELS evaluates a query when a triple of its streams comes: a literal for that, and its rules."""
        if self.clauses.dialect != CQELS:
            return (), []
        span, name = self.clauses.windows[0].span, self.predicates.fresh("arrived")
        blanks = tuple(Variable("_") for _ in range(3))
        rules = [rule(name, (), (Atom(TRIPLE, blanks, span=span),), span)]
        for stream in dict.fromkeys(each.stream for each in self.clauses.windows):
            rules.append(rule(name, (), (Atom(QUAD, (*blanks, Constant(stream)), span=span),), span))
        return (Atom(name, span=span),), rules

    def _compared(self, name: str, told: str, columns: tuple[Variable, ...], steps: list[int]) -> list[Rule]:
        """`ISTREAM` and `DSTREAM`: what is new, or gone, since the evaluation before."""
        if told == name:
            return []
        span, inserted = self.span, self.clauses.mode == "ISTREAM"
        now = Atom(told, columns, span=span)
        if len(steps) < 2 or steps[0] == 1:
            every = steps[0] if steps else 1
            before = Metric("once", Interval(every, every), now, span=span)
            body: tuple[Formula, ...] = (now, Not(before, span=span)) if inserted else (before, Not(now, span=span))
            return [rule(name, columns, body, span)]
        kept = self.predicates.fresh(f"{name}_last")
        time = FreshNames(each.name for each in columns).variable("T")
        last = Pinned(Atom(kept, columns, span=span), Pin(time, -1), span=span)
        between = tuple(_at_multiple(time, each, "!=", span) for each in steps)
        goes_on = Head((Pinned(Atom(kept, columns, span=span), Pin(time), span=span),), span=span)
        found = [rule(kept, columns, (now,), span), Rule(goes_on, (last, *between), span=span)]
        if inserted:
            before = Metric("once", Interval(1, 1), Atom(kept, columns, span=span), span=span)
            return [*found, rule(name, columns, (now, Not(before, span=span)), span)]
        gone = Head((Pinned(Atom(name, columns, span=span), Pin(time), span=span),), span=span)
        absent = Not(Pinned(now, Pin(time), span=span), span=span)
        return [*found, *(Rule(gone, (last, absent, _at_multiple(time, each, "=", span)), span=span) for each in steps)]

    def _constructed(
        self, template: Any, ways: list[BodyAlternative], when: tuple[Formula, ...], told: str, patterns: Patterns
    ) -> list[Rule]:
        rules = []
        for way in ways:
            invented: list[Atom] = []
            values: dict[str, Variable] = {}
            for triple in template or ():
                terms: list[Term] = []
                guards: list[Formula] = []
                blank = False
                for position, each in enumerate(triple):
                    if isinstance(each, Name):
                        value = way.value(str(each))
                        if value is None:
                            break
                        guards += self._fits(value, position, way, patterns)
                        terms.append(value)
                    elif isinstance(each, BNode):
                        blank = True
                        if str(each) not in values:
                            values[str(each)] = patterns.variables.variable("Node")
                        terms.append(values[str(each)])
                    else:
                        terms.append(constant(each))
                if len(terms) < 3 or (isinstance(triple[1], URIRef) is False and not isinstance(triple[1], Name)):
                    continue
                if blank:
                    invented.append(Atom(told, tuple(terms), span=self.span))
                else:
                    rules.append(rule(told, terms, (*way.body, *guards, *when), self.span))
            if invented:
                head = Head(tuple(invented), exists=tuple(values.values()), span=self.span)
                body = tuple(part for each in (*way.body, *when) for part in flat(each))
                rules.append(Rule(head, body, span=self.span))
        return rules

    def _fits(self, value: Term, position: int, way: BodyAlternative, patterns: Patterns) -> list[Formula]:
        """That a value may stand in this place of a triple: no literal as a subject or property."""
        if position == 2 or not isinstance(value, Variable):
            return []
        known = set(patterns.data.known.values())
        for atom in way.body:
            if isinstance(atom, Atom) and atom.predicate in known:
                places = atom.arguments[: 1 if len(atom.arguments) == 2 else 2]
                if value in (places[:1] if position == 0 else places[1:]) or (position == 0 and value in places):
                    return []
        iri = among(value, "<", "=", True, self.span)
        if position == 1:
            return [iri]
        return [joined(Or, [iri, among(value, "_:", "_;", True, self.span)], self.span)]


def _at_multiple(time: Variable, every: int, sign: str, span: Span) -> Formula:
    return Comparison(sign, Function("mod", (time, Constant(every)), span=span), Constant(0), span=span)


def compared_at_once(body: tuple[Formula, ...], shown: Iterable[Term]) -> tuple[Formula, ...]:
    """An aggregate that is only compared stands in the comparison itself: `count { … } > 2` may be known before all
    that it counts is."""
    used = Counter((*names_in(body), *(each.name for each in shown if isinstance(each, Variable))))
    worth = {
        each.left.name: each.right
        for each in body
        if isinstance(each, Comparison)
        and each.operator == "="
        and isinstance(each.left, Variable)
        and isinstance(each.right, Aggregate)
        and used[each.left.name] == 2
    }
    compared = {
        side.name
        for each in body
        if isinstance(each, Comparison) and not isinstance(each.right, Aggregate)
        for side in (each.left, each.right)
        if isinstance(side, Variable) and side.name in worth
    }
    found = []
    for each in body:
        if isinstance(each, Comparison):
            if (
                isinstance(each.left, Variable)
                and each.left.name in compared
                and each.right == worth.get(each.left.name)
            ):
                continue
            left, right = (
                worth[side.name] if isinstance(side, Variable) and side.name in compared else side
                for side in (each.left, each.right)
            )
            each = replace(each, left=left, right=right)
        found.append(each)
    return tuple(found)
