"""From the model to core, node by node: each formula becomes one that says the same, and knows what was written.

What several constructs of the model share is told apart here for the last time: past and future become signs of a
reach, open ends whole numbers on the discrete timeline, `implies` an alternative, a window with `some` or `all` a reach
that is clipped, heads an atom with the times it holds at. Passes over core do the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from presage.core import formulas as core
from presage.core.formulas import Gathered, Measured, is_at_one_time
from presage.core.reach import EVERYWHERE, HERE, Reach
from presage.core.rules import Conclusion, Core, CoreRule, Pinpoint
from presage.model.aggregating import apart
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Over,
    Pinned,
    Reset,
    Top,
    Windowed,
    aggregates,
    walk_outside,
)
from presage.model.statements import Rule
from presage.model.terms import Aggregate, Now, Number, number
from presage.model.time import Interval
from presage.model.windows import OnlyWindow, RowsWindow, TimeWindow

if TYPE_CHECKING:
    from presage.model.program import Program


def lower(program: Program, discrete: bool, inputs: frozenset[str] = frozenset()) -> Core:
    """The rules of a normalised program in core, before any pass over core; those that filter ask for the `inputs`."""
    lowering = Lowering(discrete)
    statics = frozenset(declared.predicate for declared in program.statics)
    return Core(program, discrete, tuple(map(lowering.rule, program.rules)), statics, inputs)


def as_number(value: object) -> Number:
    """A time of a normalised program: the pass `units` has made a number of it."""
    return value  # type: ignore[return-value]


class Lowering:
    def __init__(self, discrete: bool) -> None:
        self.discrete = discrete

    def rule(self, rule: Rule) -> CoreRule:
        pins = tuple(
            Pinpoint(node.pin.base, as_number(node.pin.offset))
            for formula in rule.formulas()
            for node in walk_outside(formula)
            if isinstance(node, Pinned)
        )
        return CoreRule(tuple(map(self.head, rule.head_atoms)), tuple(map(self.formula, rule.body)), pins, rule)

    def head(self, formula: Formula, reach: Reach = HERE) -> Conclusion:
        match formula:
            case Atom():
                return Conclusion(formula, Now(), reach)
            case Pinned(formula=Atom() as atom, pin=pin):
                offset = as_number(pin.offset)
                return Conclusion(atom, pin.base, Reach(offset, offset))
            case Over(formula=Atom() as atom, interval=interval):
                return Conclusion(atom, None, self.ahead(interval))
            case Metric(operator=operator, interval=interval, formula=inner):
                step = self.ahead(interval)
                return self.head(inner, reach + (step if operator == "always" else step.mirrored()))
            case _:
                raise TypeError(f"{formula} cannot stand in a head")

    def formula(self, formula: Formula) -> core.CoreFormula:
        match formula:
            case Atom():
                return formula
            case Top():
                return core.All((), written=formula)
            case Comparison():
                return self.measured(formula) if aggregates(formula) else formula
            case And(parts=parts):
                return core.All(tuple(map(self.formula, parts)), written=formula)
            case Or(parts=parts):
                return core.Any(tuple(map(self.formula, parts)), written=formula)
            case Implies(left=left, right=right):
                denied = Not(left, span=left.span)
                return core.Any((self.formula(denied), self.formula(right)), written=formula)
            case Not(formula=inner):
                return core.Not(self.formula(inner), written=formula)
            case Pinned(formula=inner, pin=pin):
                return core.At(pin.base, as_number(pin.offset), self.formula(inner), written=formula)
            case Metric(operator=operator, interval=interval, formula=inner):
                reach = self.reach(interval, operator in ("once", "historically"))
                node = core.Some if operator in ("once", "eventually") else core.Every
                return node(reach, self.formula(inner), written=formula)
            case BinaryMetric(operator=operator, interval=interval, left=left, right=right):
                reach = self.reach(interval, operator == "since")
                return core.Lasts(reach, self.formula(left), self.formula(right), written=formula)
            case Modal(operator=operator, formula=inner):
                node = core.Some if operator == "some" else core.Every
                return node(EVERYWHERE, self.formula(inner), clip=True, written=formula)
            case Windowed():
                return self.windowed(formula)
            case Reset(formula=inner):
                return core.Whole(self.formula(inner), written=formula)
            case _:
                raise TypeError(f"{formula} cannot stand in a body")

    def windowed(self, formula: Windowed) -> core.CoreFormula:
        part = self.formula(formula.formula)
        match formula.window:
            case RowsWindow() as window:
                return core.Rows(window, part, written=formula)
            case OnlyWindow(patterns=patterns):
                return core.Only(patterns, part, written=formula)
            case TimeWindow(back=back, ahead=ahead, hop=hop):
                near = None if back is None else number(-as_number(back))
                reach = Reach(near, None if ahead is None else as_number(ahead))
                if isinstance(part, (core.Some, core.Every)) and hop is None and _is_whole(part):
                    return type(part)(reach, part.part, clip=True, written=formula)
                return core.Seen(reach, part, None if hop is None else as_number(hop), written=formula)

    def measured(self, comparison: Comparison) -> core.CoreFormula:
        plain, named = apart(comparison)
        return Measured(plain, tuple(self.gathered(name, each) for name, each in named.items()), written=comparison)

    def gathered(self, name: str, aggregate: Aggregate) -> Gathered:
        body = tuple(map(self.formula, aggregate.body))
        return Gathered(
            name, aggregate.function, aggregate.terms, body, aggregate.shared or (), aggregate.binds, aggregate.span
        )

    def ahead(self, interval: Interval) -> Reach:
        return self.reach(interval, past=False)

    def reach(self, interval: Interval, past: bool) -> Reach:
        """The distances of an interval; on the discrete timeline excluded bounds become included ones."""
        low, high = as_number(interval.low), None if interval.high is None else as_number(interval.high)
        open_low, open_high = not interval.closed_low, high is not None and not interval.closed_high
        if self.discrete:
            low = low + 1 if open_low else low
            high = high - 1 if open_high and high is not None else high
            open_low = open_high = False
        found = Reach(low, high, open_low, open_high)
        return found.mirrored() if past else found


def _is_whole(part: core.Some | core.Every) -> bool:
    """Whether `some` or `all` stands directly below, over what looks at one time."""
    return part.clip and part.reach == EVERYWHERE and is_at_one_time(part.part)
