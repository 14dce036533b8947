"""What changed between two programs, query by query: what a reasoner that gets new rules can keep, and what it cannot.

A query is unchanged if all it hangs on is: its own text, the rules below it, the declarations of the predicates in
them, and how time is read. How a program is laid out, and the order of its rules, do not matter. Where rows of all
inputs are counted, a query hangs on all inputs; where a program has several models, constraints, or the meaning of
another language, on all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from presage.checking import Report
from presage.errors import PresageError
from presage.model.formulas import Atom
from presage.model.printer import show_query, show_statement
from presage.model.program import Program
from presage.model.statements import Input, Query, Rule, Statement, Static
from presage.model.windows import RowsWindow

UNCHANGED, CHANGED, NEW, REMOVED = "unchanged", "changed", "new", "removed"


@dataclass(frozen=True, slots=True)
class QueryChange:
    query: str
    kind: str
    """unchanged, changed, new or removed."""
    because: tuple[str, ...] = ()
    """Statements that differ: those that are new after a `+`, those that are gone after a `-`."""

    def __str__(self) -> str:
        return f"{self.query}: {self.kind}" + "".join(f"\n  {each}" for each in self.because)


class Slices:
    """The queries of a program, each with all that it hangs on."""

    def __init__(self, report: Report) -> None:
        assert report.findings is not None
        self.program, self.findings = report.program, report.findings
        self.subject = report.findings.subject
        self.queries = tuple(report.findings.watched.queries)
        self._is_whole = (
            self.program.meaning is not None
            or self.findings.route.engine != "interval"
            or self.subject.reading == "now"
            or any(rule.is_constraint for rule in self.program.rules)
        )

    def time(self) -> tuple[str, ...]:
        """How time is counted; a stream that has begun cannot change it."""
        settings = (each for each in self.program.statements if type(each).__name__ in ("Tick", "Start"))
        return self.subject.timeline, *sorted(show_statement(each) for each in settings)

    def below(self, query: Query) -> frozenset[str]:
        """The predicates that a query hangs on."""
        if self._is_whole:
            return frozenset(self.subject.predicates)
        found = {query.atom.predicate}
        growing = True
        while growing:
            growing = False
            for rule in self._rules(found):
                own = {atom.predicate for atom in parts_of(rule, Atom)}
                if any(not window.by for window in parts_of(rule, RowsWindow)):
                    own |= {name for name, each in self.subject.predicates.items() if each.is_input}
                if not own <= found:
                    found |= own
                    growing = True
        return frozenset(found)

    def _rules(self, names: set[str] | frozenset[str]) -> Iterator[Rule]:
        for rule in self.program.rules:
            heads = {atom.predicate for formula in rule.head_atoms for atom in parts_of(formula, Atom)}
            if heads & names or (self._is_whole and rule.is_constraint):
                yield rule

    def statements(self, names: frozenset[str]) -> list[Statement]:
        """What speaks of these predicates, and of how everything is read."""
        rules = set(map(id, self._rules(names)))
        return [
            each
            for each in self.program.statements
            if (isinstance(each, Rule) and id(each) in rules)
            or (isinstance(each, Input | Static) and each.predicate in names)
            or not isinstance(each, Rule | Input | Static | Query)
        ]

    def text(self, query: Query) -> frozenset[str]:
        """All that a query hangs on, in words."""
        if self.program.meaning is not None:
            return frozenset((self.program.source.text,))
        own = (show_statement(each) for each in self.statements(self.below(query)))
        return frozenset((*own, f"timeline {self.subject.timeline}."))

    def sliced(self, queries: tuple[Query, ...]) -> Program:
        """A program of these queries alone. Its places in the text are those of the whole."""
        if len(queries) == len(self.queries):
            return self.program
        names = frozenset().union(*(self.below(query) for query in queries))
        kept = [each for each in self.statements(names) if type(each).__name__ != "Timeline"]
        from presage.model.statements import Timeline

        return replace(self.program, statements=(Timeline(self.subject.timeline), *kept, *queries))


def compared(before: Slices, after: Slices) -> list[QueryChange]:
    """What became of each query."""
    if before.time() != after.time():
        raise PresageError(
            "the timeline, `tick` and `start` of a stream that has begun cannot change: times would mean something "
            "else. Start anew, with the history if you have it"
        )
    old = {show_query(query): query for query in before.queries}
    found = []
    for query in after.queries:
        title = show_query(query)
        if title not in old:
            found.append(QueryChange(title, NEW))
            continue
        was, now = before.text(old.pop(title)), after.text(query)
        found.append(
            QueryChange(title, UNCHANGED)
            if was == now
            else QueryChange(
                title,
                CHANGED,
                (*(f"+ {each}" for each in sorted(now - was)), *(f"- {each}" for each in sorted(was - now))),
            )
        )
    return [*found, *(QueryChange(title, REMOVED) for title in old)]


def parts_of(node: Any, kind: type[Any]) -> Iterator[Any]:
    """All nodes of a kind in a node of the model, wherever they stand: also in windows and whatever else has parts."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, tuple):
        for each in node:
            yield from parts_of(each, kind)
    elif isinstance(node, Mapping):
        for each in node.values():
            yield from parts_of(each, kind)
    elif hasattr(node, "__dataclass_fields__"):
        for name in node.__dataclass_fields__:
            if name not in ("span", "origin", "source"):
                yield from parts_of(getattr(node, name), kind)
