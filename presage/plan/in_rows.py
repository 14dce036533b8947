"""The parts of a plan that stand for windows of rows."""

from __future__ import annotations

from presage.core.formulas import All, CoreFormula, Every, Not, Rows, Some, Whole, is_at_one_time, transform, walk
from presage.core.reach import EVERYWHERE
from presage.model.formulas import Atom, Comparison
from presage.model.printer import show_window
from presage.model.terms import Variable
from presage.model.windows import RowsWindow
from presage.plan.body import Body
from presage.plan.formulas import positive
from presage.plan.nodes import LastRows, Literal, Shows
from presage.plan.shown_rows import conjuncts_among, parts_in_rows
from presage.plan.sides import PartsWithSides


class PartsInRows(PartsWithSides):
    def _in_rows(self, window: RowsWindow, formula: CoreFormula, body: Body) -> None:
        """What a window of rows must show for a formula to be true."""
        formula = transform(formula, self._without_reset)
        changing = (part for part in walk(formula) if isinstance(part, Atom) and part.predicate not in self.statics)
        if isinstance(formula, (Some, Every)) and formula.clip and not any(changing):
            raise self._refuse("a window of rows over what does not change", window.span)
        if isinstance(formula, Every) and formula.clip and formula.reach == EVERYWHERE:
            self._all_in_rows(window, formula.part, body)
            return
        asked = parts_in_rows(formula, self._fresh_variable)
        if asked is None:
            raise self._refuse("this formula in a window of rows", window.span)
        for part in asked:
            if isinstance(part, Comparison):
                body.comparisons.append(part)
            elif part.atom.predicate in self.statics:
                found = Literal(part.atom.predicate, tuple(map(self._argument, part.atom.arguments)))
                (body.negated if part.absent else body.literals).append(found)
            else:
                relation = self._shown(window, part.atom, part.shows)
                arguments = tuple(map(self._argument, part.atom.arguments))
                literal = Literal(relation, arguments if part.moment is None else (*arguments, part.moment))
                if part.absent:
                    body.negated.append(literal)
                else:
                    self._require(literal, body)

    def _all_in_rows(self, window: RowsWindow, formula: CoreFormula, body: Body) -> None:
        """What holds at all times of a window of rows holds now, has not begun within it, and wherever it was true of
        rows they are in the window."""
        inputs = conjuncts_among(formula, lambda atom: self.plan.sources[atom.predicate].kind == "input")
        if inputs is None or not is_at_one_time(formula):
            raise self._refuse("this formula in a window of rows", window.span)
        with self._below(True):
            name, columns = self._no_rows(formula)
        arguments = tuple(map(Variable, columns))
        body.literals.append(Literal(name, arguments))
        begins = self._shown(window, Atom(self._beginning(name, columns), arguments), Shows.AFTER_FIRST)
        body.negated.append(Literal(begins, arguments))
        for atom in inputs:
            lost = Rows(window, Some(EVERYWHERE, All((Atom(name, arguments), Not(atom))), clip=True))
            found, _ = self._joined([lost], columns)
            body.negated.append(Literal(found, arguments))

    def _without_reset(self, formula: CoreFormula) -> CoreFormula:
        if not isinstance(formula, Whole):
            return formula
        name, columns = self._no_rows(positive(formula.part))
        return Atom(name, tuple(map(Variable, columns)), span=formula.span)

    def _no_rows(self, formula: CoreFormula) -> tuple[str, tuple[str, ...]]:
        """The same as `_made`, but not an input itself: a window of rows shows it at all times that it spans; and
        nothing in it is ever taken back."""
        name, columns = self._made(formula)
        is_own = self.plan.sources[name].kind not in ("input", "shown")
        return (name if is_own else self._copy(name, columns)), columns

    def _beginning(self, name: str, columns: tuple[str, ...]) -> str:
        """Where a relation holds, and did not just before; the start of the stream is no beginning."""
        key = f"beginning {name}"
        if key not in self.made:
            arguments, body = tuple(map(Variable, columns)), Body()
            body.literals.append(Literal(name, arguments))
            body.negated.append(Literal(name, arguments, -1))
            body.not_before(1)
            self.made[key] = self._joined_body(body, columns), columns
        return self.made[key][0]

    def _fresh_variable(self) -> Variable:
        return Variable(f"#{len(self.made)}.{len(self.plan.nodes)}")

    def _shown(self, window: RowsWindow, atom: Atom, shows: Shows) -> str:
        """The relation of what a window of rows shows of a predicate."""
        source = self.plan.sources[atom.predicate]
        if shows is Shows.AT_ONCE and source.kind != "input":
            return source.name
        key = f"{show_window(window)} {source.name} {shows.name}"
        if key not in self.made:
            if not self.plan.discrete:
                raise self._refuse("a window of rows on the dense timeline", window.span)
            if window.ahead or not window.rows:
                raise self._refuse("a window of rows that looks ahead", window.span)
            if self.mixed:
                raise self._refuse("a window of rows beside rules for an input", window.span)
            arity = source.arity + (shows is Shows.WITH_TIME)
            name = self._fresh(arity, "made" if shows is Shows.AT_ONCE else "shown")
            counted = tuple(sorted(each.name for each in self.plan.sources.values() if each.kind == "input"))
            self.plan.nodes.append(LastRows(name, source.name, window, counted, shows, self.at_work))
            self.made[key] = name, ()
        return self.made[key][0]
