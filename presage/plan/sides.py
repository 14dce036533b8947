"""The parts of a plan that stand for `since` and `until`: a right side, and a left side that holds in between.

The columns are those of the right side. Where the left side has variables that other parts of the rule bind, the right
side is taken with all their values; where nothing else speaks of them, with the values that the left side has.
"""

from __future__ import annotations

from presage.analysis.differences import INF
from presage.core.formulas import CoreFormula, Lasts, Not, names
from presage.core.printer import word_of
from presage.core.reach import EVERYWHERE
from presage.model.formulas import Atom
from presage.model.terms import Variable
from presage.plan.body import Body
from presage.plan.nodes import Dilate, Join, Literal, SinceNode
from presage.plan.values import PartsWithValues


class PartsWithSides(PartsWithValues):
    def _since(self, formula: Lasts) -> tuple[str, tuple[str, ...]]:
        self._refuse_pins(formula)
        right, columns = self._steady(formula.right)
        own = [name for name in dict.fromkeys(names(formula.left)) if name not in columns]
        outer = [name for name in own if self._is_outer(name, formula)]
        if outer:
            body = Body()
            body.literals.append(Literal(right, tuple(map(Variable, columns))))
            self._complete(body, outer)
            if not set(outer) <= self._bound(body):
                raise self._refuse(f"`{word_of(formula)}` whose left side has variables of its own", formula.span)
            columns = (*columns, *outer)
            right = self._joined_body(body, columns)
        before, self.binders = self.binders, [*self.binders, Atom(right, tuple(map(Variable, columns)))]
        try:
            if len(own) > len(outer):
                return self._since_with_own(formula, right, columns)
            return self._since_made(formula, self._left(formula.left, right, columns), right, columns), columns
        finally:
            self.binders = before

    def _left(self, left: CoreFormula, right: str, columns: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        with self._below(True):
            return self._absence(left.part, right, columns) if isinstance(left, Not) else self._steady(left)

    def _since_made(
        self, formula: Lasts, left: tuple[str, tuple[str, ...]], right: str, columns: tuple[str, ...]
    ) -> str:
        name = self._fresh(len(columns))
        places = tuple(columns.index(column) for column in left[1])
        reach = formula.reach.mirrored() if formula.is_past else formula.reach
        self.plan.nodes.append(SinceNode(name, left[0], right, places, reach, not formula.is_past, self.at_work))
        return name

    def _since_with_own(self, formula: Lasts, right: str, columns: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """The left side has variables that nothing else speaks of: it holds with some values of theirs, the same ones
        all the time; and where there is no time between the sides, with whatever values."""
        if isinstance(formula.left, Not) or self.at_all_times:
            raise self._refuse(f"`{word_of(formula)}` whose left side has variables of its own", formula.span)
        left, left_columns = self._left(formula.left, right, columns)
        own = tuple(name for name in left_columns if name not in columns)
        seen, ever = self._fresh(len(own)), self._fresh(len(own), "domain")
        known = Literal(left, tuple(map(Variable, left_columns)))
        self.plan.nodes += [
            Join(seen, tuple(map(Variable, own)), (known,), rule=self.at_work),
            Dilate(ever, seen, EVERYWHERE, self.at_work),
        ]
        farthest = formula.reach.farthest
        self.plan.looks_back[ever] = INF if farthest is None else farthest
        body = Body()
        body.literals += [Literal(right, tuple(map(Variable, columns))), Literal(ever, tuple(map(Variable, own)))]
        wide = (*columns, *own)
        found = self._since_made(formula, (left, left_columns), self._joined_body(body, wide), wide)
        alone = self._since_made(formula, (self._fresh(0), ()), right, columns)
        name = self._fresh(len(columns))
        for relation, arguments in ((found, wide), (alone, columns)):
            body = Body()
            body.literals.append(Literal(relation, tuple(map(Variable, arguments))))
            self._joined_body(body, columns, name)
        return name, columns

    def _absence(self, formula: CoreFormula, right: str, columns: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """Where a formula does not hold, for the values that the right side of `since` has ever had."""
        absent, absent_columns = self._made(formula)
        arguments = tuple(Variable(column) for column in absent_columns)
        seen = self._fresh(len(absent_columns))
        known = tuple(Variable(column) for column in columns)
        self.plan.nodes.append(Join(seen, arguments, (Literal(right, known),), rule=self.at_work))
        ever = self._fresh(len(absent_columns), "domain")
        self.plan.nodes.append(Dilate(ever, seen, EVERYWHERE, self.at_work))
        name = self._fresh(len(absent_columns))
        self.plan.nodes.append(
            Join(name, arguments, (Literal(ever, arguments),), (Literal(absent, arguments),), rule=self.at_work)
        )
        return name, absent_columns
