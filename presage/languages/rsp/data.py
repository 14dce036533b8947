"""Where the triples of a query come from: windows over streams, static triples, graphs.

For each place and each property that is asked for there, a predicate says which subjects and objects it has there now.
A triple that came several times is in a window once: graphs are sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from presage.errors import Span
from presage.languages.rsp.clauses import StreamWindow
from presage.languages.writing import FreshNames, at_multiples, rule
from presage.model.formulas import Atom, Formula, Metric, Modal, Windowed, atoms
from presage.model.statements import Rule
from presage.model.terms import Constant, Term, Variable
from presage.model.time import Interval
from presage.model.windows import RowsWindow, TimeWindow, Window

TRIPLE, QUAD, STATIC_TRIPLE, STATIC_QUAD = "triple", "quad", "static_triple", "static_quad"


@dataclass(frozen=True, slots=True)
class MatchedData:
    """What a pattern is matched with: windows, and static graphs; `None` among these are the static triples."""

    windows: tuple[StreamWindow, ...] = ()
    graphs: tuple[str | None, ...] = ()
    name: str = "data"


class Data:
    def __init__(self, predicates: FreshNames, windows: tuple[StreamWindow, ...], at_steps: bool) -> None:
        self.predicates = predicates
        self.rules: list[Rule] = []
        self.known: dict[tuple[MatchedData, Term | None], str] = {}
        self.between = not at_steps or len({each.step for each in windows}) > 1
        """Whether windows are looked at between their steps too: they then show what they showed at the last."""

    def atom(self, place: MatchedData, subject: Term, predicate: Term, object_: Term, span: Span) -> Formula:
        """The triples of a place that a pattern matches."""
        fixed = predicate if isinstance(predicate, Constant) else None
        key = (place, fixed)
        if key not in self.known:
            self.known[key] = self._declare(place, fixed, span)
        given = (subject, object_) if fixed is not None else (subject, predicate, object_)
        return Atom(self.known[key], given, span=span)

    def _declare(self, place: MatchedData, fixed: Term | None, span: Span) -> str:
        local = re.split(r"[/#:>]", str(fixed.value).rstrip("/#>"))[-1] if isinstance(fixed, Constant) else "triples"
        plain = re.sub(r"\W", "_", local) or "p"
        name = self.predicates.fresh(f"{place.name}_{plain}")
        s, p, o = Variable("S"), fixed or Variable("P"), Variable("O")
        columns = (s, o) if fixed is not None else (s, Variable("P"), o)
        alike: set[tuple[object, ...]] = set()
        """Windows that show the same of the triples that belong to every stream."""
        for window in place.windows:
            shape = (window.back, window.step, window.rows, window.stream if window.rows is not None else None)
            if shape not in alike:
                alike.add(shape)
                triple = Atom(TRIPLE, (s, p, o), span=span)
                self._write(name, columns, (self._seen(window, triple),), window.span)
            quad = Atom(QUAD, (s, p, o, Constant(window.stream)), span=span)
            self._write(name, columns, (self._seen(window, quad),), window.span)
        for graph in place.graphs:
            static = Atom(STATIC_TRIPLE, (s, p, o), span=span)
            if graph is not None:
                static = Atom(STATIC_QUAD, (s, p, o, Constant(graph)), span=span)
            self._write(name, columns, (static,), span)
        return name

    def _write(self, name: str, columns: tuple[Term, ...], body: Iterable[Formula], span: Span) -> None:
        self.rules.append(rule(name, columns, body, span))

    def _seen(self, window: StreamWindow, atom: Atom) -> Formula:
        span = window.span
        if window.rows is not None:
            blanks = tuple(Variable("_") for _ in range(3))
            by = (Atom(TRIPLE, blanks), Atom(QUAD, (*blanks, Constant(window.stream))))
            shown: Window = RowsWindow(window.rows, by=by, span=span)
        elif window.back == 0:
            return self._as_of_step(window, atom)
        else:
            several = self.between and window.step > 1
            hops = several and (window.back is None or window.step <= window.back)
            shown = TimeWindow(window.back, hop=window.step if hops else None, span=span)
            if several and not hops:
                return self._as_of_step(window, Windowed(shown, Modal("some", atom, span=span), span=span))
            return Windowed(shown, Modal("some", atom, span=span), span=span)
        return self._as_of_step(window, Windowed(shown, Modal("some", atom, span=span), span=span))

    def _as_of_step(self, window: StreamWindow, formula: Formula) -> Formula:
        """What a window showed when it last stepped."""
        if not self.between or window.step == 1:
            return formula
        looked = self.predicates.fresh("looked")
        columns = tuple(each for each in next(atoms(formula)).arguments if isinstance(each, Variable))
        there = self.predicates.fresh("shown")
        self._write(there, columns, (formula,), window.span)
        self.rules.append(at_multiples(looked, columns, there, window.step, window.span))
        reach = Interval(0, window.step, closed_high=False)
        return Metric("once", reach, Atom(looked, columns, span=window.span), span=window.span)
