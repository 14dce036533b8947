"""The values of variables that a rule binds in one place and asks for in another.

`r(Y), once[0,5] (q(X) and not p(Y))` asks at an earlier time for the absence of `p(Y)`, with values of `Y` that only
`r(Y)` gives. A relation of the values that `r` has ever had goes there in their place. How long before such a value
comes others are asked for it says how long these are kept (`Plan.looks_back`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from presage.analysis.differences import INF, NOW
from presage.core.binding import binds
from presage.core.formulas import Every, Lasts, Rows, Seen, Shift, Some, conjuncts, variables, walk
from presage.core.printer import show_core
from presage.core.reach import EVERYWHERE
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Number, Variable
from presage.plan.body import Body
from presage.plan.limits import Limits, relative
from presage.plan.nodes import Dilate, Join, Literal
from presage.plan.subformulas import SubformulaRelations
from presage.plan.time_variables import pinned_in_window


class PartsWithValues(SubformulaRelations):
    def _complete(self, body: Body, columns: Iterable[str] = ()) -> None:
        """Adds the values that variables have elsewhere in the rule, where the body asks for them and has none: below
        its negations, in comparisons, and for the columns that are wanted of it."""
        asked = [each.name for one in body.negated for each in one.arguments if isinstance(each, Variable)]
        asked += [variable.name for each in body.comparisons for variable in variables(each)]
        wanted = [*asked, *(column for column in columns if self.uses[column])]
        for name in dict.fromkeys(wanted):
            if name not in self._bound(body):
                found = self._values(name)
                if found is not None:
                    body.literals.append(found)
                elif name in asked:
                    raise self._refuse("a variable that is bound elsewhere", self._span())

    def _values(self, name: str) -> Literal | None:
        """All values that a variable has had where the rule binds it, at every time."""
        self.asked_for_values += 1
        binders = [part for part in self.binders if name in binds(part)]
        if not binders or (self.rule is not None and name in self.rule.times):
            return None
        binder = min(binders, key=lambda part: (not self._is_timeless(part), not isinstance(part, Atom)))
        key = f"values of {name} in {show_core(binder)}"
        if key not in self.made:
            before, self.binders = self.binders, [part for part in self.binders if part is not binder]
            source = self._literal(pinned_in_window(binder) or binder, Body())
            self.binders = before
            seen, ever = self._fresh(1), self._fresh(1, "domain")
            variable = (Variable(name),)
            self.plan.nodes += [
                Join(seen, variable, (replace(source, offset=0),), rule=self.at_work),
                Dilate(ever, seen, EVERYWHERE, self.at_work),
            ]
            self.made[key] = ever, (name,)
        ever = self.made[key][0]
        self.plan.looks_back[ever] = max(self.plan.looks_back.get(ever, 0), self._look_back())
        return Literal(ever, (Variable(name),))

    def _look_back(self) -> Number | float:
        """No less than how far apart two times can be that the rule at work speaks of."""
        assert self.rule is not None
        found: Number | float = 0
        for part in (part for formula in self.rule.body for part in walk(formula)):
            match part:
                case Shift(distance=distance):
                    found += max(distance, -distance)
                case Some(reach=reach) | Every(reach=reach) | Lasts(reach=reach):
                    found += INF if reach.farthest is None else reach.farthest
                case Seen(reach=reach, hop=hop):
                    found += INF if reach.near is None or reach.far is None else reach.far - reach.near + (hop or 0)
                case Rows():
                    found += INF
        named = sorted(self.rule.times)
        limits = self._limits()
        for first, second in pairwise([NOW, *named] if len(named) > 1 else []):
            farthest = limits.range(first, second).farthest
            found += INF if farthest is None else farthest
        offsets = [max(pin.offset, -pin.offset) for pin in self.rule.pins]
        return found + max([0, *offsets])

    def _limits(self) -> Limits:
        """How far apart the rule at work says that its times are."""
        assert self.rule is not None
        found = Limits(self.plan.discrete)
        for part in (part for literal in self.rule.body for part in conjuncts(literal)):
            said = relative(part) if isinstance(part, Comparison) else None
            if said is not None:
                found.keep_to(said)
            pinned = pinned_in_window(part)
            if pinned is not None and pinned.variable is not None and isinstance(part, Seen):
                found.in_window(pinned.variable, pinned.offset, part.reach)
        return found
