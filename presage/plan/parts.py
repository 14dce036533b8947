"""The parts of a plan: relations for subformulas, joins for conjunctions.

Negation is moved outwards through the operators (`once not φ` is `not historically φ`), so that it
meets only whole relations. Equal subformulas share a relation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from presage.analysis.timeless import uses_now
from presage.errors import PresageError, Span
from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Metric,
    Modal,
    Not,
    Or,
    Pinned,
    Reset,
    Top,
    Windowed,
    variables,
    walk,
)
from presage.model.printer import show_formula
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Constant, Number, Variable, number, term_variables
from presage.model.windows import RowsWindow, TimeWindow
from presage.plan.alternatives import alternatives
from presage.plan.body import Body
from presage.plan.formulas import mirrored, names, positive, reach_of, single_step, time
from presage.plan.nesting import Nested, nested
from presage.plan.nodes import (
    EVERYWHERE,
    HERE,
    Argument,
    Dilate,
    Erode,
    Hop,
    Join,
    Known,
    Literal,
    Plan,
    Reach,
    Shows,
    Source,
    Within,
)
from presage.plan.rows import are_columns
from presage.plan.windows import is_known

TRUE = "true"
START = "#start"


class Unsupported(PresageError):
    """A construct that this engine does not run."""

    def __init__(self, what: str, span: Span, program: Program) -> None:
        self.message, self.span = f"{what} cannot be run by the interval engine yet", span
        super().__init__(f"{program.source.where(span.start)}: {self.message}")


class Parts(ABC):
    def __init__(self, program: Program, discrete: bool, kinds: dict[str, tuple[int, str]], mixed: bool) -> None:
        """`mixed` says whether rules derive facts of an input."""
        self.program = program
        self.plan = Plan(discrete)
        self.made: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.rule: Rule | None = None
        for name, (arity, kind) in kinds.items():
            self.plan.sources[name] = Source(name, arity, kind)
        self.uses: Counter[str] = Counter()
        """How often the variables of the rule at work occur in it."""
        self.binders: list[Formula] = []
        """What gives them values, wherever in the rule these are asked for."""
        self.at_all_times = False
        """Whether what is made must hold at all times of something with the same values."""
        self.asked_for_values = 0
        """How often values have been asked for that way."""
        self.statics = {name for name, (_, kind) in kinds.items() if kind == "static"}
        self.mixed = mixed

    def _fresh(self, arity: int, kind: str = "made") -> str:
        name = f"#{len(self.plan.sources)}"
        self.plan.sources[name] = Source(name, arity, kind)
        return name

    def _refuse(self, what: str, span: Span) -> Unsupported:
        return Unsupported(what, span, self.program)

    def _is_timeless(self, formula: Formula) -> bool:
        if isinstance(formula, Not):
            return self._is_timeless(formula.formula)
        return (isinstance(formula, Atom) and formula.predicate in self.statics) or isinstance(formula, Top)

    def _argument(self, term: object) -> Argument:
        assert isinstance(term, (Variable, Constant))
        return term

    def _conjunction(self, parts: Iterable[Formula], given: Iterable[Literal] = ()) -> Body:
        body = Body()
        body.literals.extend(given)
        todo = list(parts)
        while todo:
            part = todo.pop(0)
            match part:
                case Not(formula=Top()):
                    body.impossible = True
                case And(parts=inner):
                    todo[:0] = [positive(each) for each in inner]
                case Comparison():
                    if uses_now(part):
                        raise self._refuse("a comparison with `now` inside a formula", part.span)
                    body.comparisons.append(part)
                case Not(formula=inner):
                    body.negated.append(self._literal(inner, body))
                case Top():
                    pass
                case Windowed(window=RowsWindow() as window, formula=inner):
                    self._in_rows(window, inner, body)
                case _:
                    self._require(self._literal(part, body), body)
        if not body.literals:
            body.literals.append(Literal(self._true(), ()))
        return body

    def _require(self, literal: Literal, body: Body) -> None:
        body.literals.append(literal)
        if self.plan.sources[literal.relation].kind == "shown":
            body.negated.append(replace(literal, still=True))

    def _true(self) -> str:
        if TRUE not in self.plan.sources:
            self.plan.sources[TRUE] = Source(TRUE, 0, "static")
            self.plan.known.append(Known(TRUE, (), None, None))
        return TRUE

    def _start(self) -> str:
        """A relation that holds at the start of the stream only."""
        if START not in self.plan.sources:
            self.plan.sources[START] = Source(START, 0, "made")
            self.plan.known.append(Known(START, (), 0, 0))
        return START

    def _during(self, reach: Reach) -> str:
        """A relation that holds at the times at these distances from the start of the stream."""
        name = f"#during {reach}"
        if name not in self.plan.sources:
            self.plan.sources[name] = Source(name, 0, "made")
            known = Known(name, (), reach.near, reach.far, not reach.open_near, not reach.open_far)
            self.plan.known.append(known)
        return name

    def _until(self, last: Number) -> str:
        """A relation that holds up to and at a time."""
        name = f"#until {last}"
        if name not in self.plan.sources:
            self.plan.sources[name] = Source(name, 0, "made")
            self.plan.known.append(Known(name, (), None, last))
        return name

    def _literal(self, formula: Formula, body: Body) -> Literal:
        offset: Number = 0
        at: Number | None = None
        while isinstance(formula, Reset):
            formula = formula.formula
        self._refuse_pins(formula.formula if isinstance(formula, Pinned) else formula, to_now=False)
        if isinstance(formula, Pinned):
            pin = formula.pin
            if pin.base is None:
                at = time(pin.offset)
            else:
                offset = time(pin.offset)
                body.not_before(-offset)
            formula = formula.formula
            if isinstance(formula, Pinned):
                raise self._refuse("a pin on a pin", formula.span)
        while at is None and isinstance(formula, Metric) and (moved := single_step(formula)) is not None:
            # At a single distance, `once` and `historically` only move the time.
            self._refuse_pins(formula.formula)
            offset += moved
            formula = formula.formula
        if isinstance(formula, Atom):
            return Literal(formula.predicate, tuple(self._argument(each) for each in formula.arguments), offset, at)
        name, columns = self._made(formula)
        return Literal(name, tuple(Variable(column) for column in columns), offset, at)

    @abstractmethod
    def _in_rows(self, window: RowsWindow, formula: Formula, body: Body) -> None:
        """What a window of rows must show for a formula to be true."""

    @abstractmethod
    def _since(self, formula: BinaryMetric) -> tuple[str, tuple[str, ...]]:
        """What `since` and `until` make of their sides."""

    @abstractmethod
    def _complete(self, body: Body, columns: Iterable[str] = ()) -> None:
        """Adds the values that variables have elsewhere in the rule."""

    @abstractmethod
    def _shown(self, window: RowsWindow, atom: Atom, shows: Shows) -> str:
        """The relation of what a window of rows shows of a predicate."""

    def _steady(self, formula: Formula) -> tuple[str, tuple[str, ...]]:
        """The same as `_made`, for operators: nothing in it is ever taken back."""
        name, columns = self._made(formula)
        return (self._copy(name, columns), columns) if self.plan.sources[name].kind == "shown" else (name, columns)

    def _copy(self, name: str, columns: tuple[str, ...]) -> str:
        """A relation of the plan's own that holds where another does, once that is final if it is shown by a window."""
        key = f"copy {name}"
        if key not in self.made:
            body = Body()
            self._require(Literal(name, tuple(map(Variable, columns))), body)
            self.made[key] = self._joined_body(body, columns), columns
        return self.made[key][0]

    # Subformulas.

    def _made(self, formula: Formula) -> tuple[str, tuple[str, ...]]:
        """A relation that holds where the formula does, and the variables of its columns."""
        text = show_formula(formula)
        outer = [name for name in names(formula) if self._is_outer(name, formula)]
        # What it is depends on which of its variables the rule speaks of elsewhere, and perhaps on their values there.
        text = f"{text} with {outer}{' at all times' if self.at_all_times else ''}"
        keys = (text, f"{text} in rule {id(self.rule)}")
        known = next((self.made[key] for key in keys if key in self.made), None)
        if known is None:
            before = self.asked_for_values
            known = self._make(formula)
            self.made[keys[self.asked_for_values > before]] = known
        return known

    @contextmanager
    def _below(self, all_times: bool) -> Iterator[None]:
        """What is made below an operator that asks for something at all times."""
        before, self.at_all_times = self.at_all_times, self.at_all_times or all_times
        try:
            yield
        finally:
            self.at_all_times = before

    def _is_outer(self, name: str, formula: Formula) -> bool:
        """Whether the rule speaks of a variable elsewhere too."""
        return self.uses[name] > sum(each.name == name for each in variables(formula))

    def _make(self, formula: Formula) -> tuple[str, tuple[str, ...]]:
        match formula:
            case Atom(predicate=predicate, arguments=arguments):
                if are_columns(arguments):
                    return predicate, names(formula)
                return self._joined([formula], names(formula))
            case Top():
                return self._true(), ()
            case Metric(operator=operator, interval=interval, formula=inner):
                self._refuse_pins(inner)
                with self._below(operator in ("historically", "always")):
                    source, columns_of = self._steady(inner)
                reach = reach_of(interval, self.plan.discrete)
                reach = reach if operator in ("once", "historically") else mirrored(reach)
                name = self._fresh(len(columns_of))
                kind = Dilate if operator in ("once", "eventually") else Erode
                self.plan.nodes.append(kind(name, source, reach, rule=self.rule))
                return name, columns_of
            case BinaryMetric():
                return self._since(formula)
            case And(parts=parts):
                return self._joined(parts, names(formula))
            case Or(parts=parts):
                shared = tuple(
                    name
                    for name in names(formula)
                    if self._is_outer(name, formula) or all(name in names(part) for part in parts)
                )
                if self.at_all_times and set(shared) < set(names(formula)):
                    raise self._refuse("an alternative with a variable of its own", formula.span)
                name = self._fresh(len(shared))
                for part in parts:
                    self._joined([part], shared, name)
                return name, shared
            case Not():
                raise self._refuse("a negation here", formula.span)
            case Pinned():
                raise self._refuse("a pin inside an operator", formula.span)
            case Windowed() if is_known(formula):
                return self._windowed(formula)
            case Windowed() if (found := nested(formula)) is not None:
                return self._nested(found, formula.span)
            case Windowed(window=RowsWindow() as window, formula=Modal(operator="some", formula=Atom() as atom)) if (
                are_columns(atom.arguments) and atom.predicate not in self.statics
            ):
                return self._shown(window, atom, Shows.WHILE_IN), names(atom)
            case Windowed(window=RowsWindow()):
                return self._joined([formula], names(formula))
            case Reset(formula=inner):
                # Relations are about the whole stream; windows show some of their times.
                return self._made(inner)
            case Modal(operator="some", formula=inner):
                # At some time of the whole stream.
                source, columns_of = self._joined([inner], names(inner), least=0)
                name = self._fresh(len(columns_of))
                self.plan.nodes.append(Within(name, source, EVERYWHERE, (), self.rule))
                return name, columns_of
            case Windowed() | Modal():
                raise self._refuse("a window or modality", formula.span)
            case _:
                raise self._refuse("this formula", formula.span)

    def _refuse_pins(self, formula: Formula, to_now: bool = True) -> None:
        """Below an operator a pin speaks of another time than the operator does."""
        for part in walk(formula):
            if isinstance(part, Pinned) and (isinstance(part.pin.base, Variable) or (to_now and part.pin.base)):
                raise self._refuse("a pin inside an operator", part.span)

    def _windowed(self, formula: Windowed) -> tuple[str, tuple[str, ...]]:
        """`some` or `all` over a window of time."""
        window, modal = formula.window, formula.formula
        assert isinstance(window, TimeWindow) and isinstance(modal, Modal)
        with self._below(modal.operator == "all"):
            source, columns = self._below_window(modal.formula, formula.span)
        near = None if window.ahead is None else number(-time(window.ahead))
        reach = Reach(near, None if window.back is None else time(window.back))
        name = self._fresh(len(columns))
        if modal.operator == "some":
            self.plan.nodes.append(Dilate(name, source, reach, self.rule))
        else:
            self.plan.nodes.append(Erode(name, source, reach, clipped=True, rule=self.rule))
        if window.hop is None:
            return name, columns
        if not self.plan.discrete:
            raise self._refuse("a hopping window on the dense timeline", formula.span)
        hopping = self._fresh(len(columns))
        self.plan.nodes.append(Hop(hopping, name, int(time(window.hop)), self.rule))
        return hopping, columns

    def _below_window(self, formula: Formula, span: Span) -> tuple[str, tuple[str, ...]]:
        """What a window shows, at the times from the start of the stream on."""
        self._refuse_pins(formula)
        if all(self._is_timeless(part) or isinstance(part, (Comparison, And, Or, Reset)) for part in walk(formula)):
            raise self._refuse("a window over what does not change", span)
        if isinstance(formula, Atom):
            return self._made(formula)
        return self._joined([formula], names(formula), least=0)

    def _nested(self, found: Nested, span: Span) -> tuple[str, tuple[str, ...]]:
        """`some` over windows with `all`, or `all` over windows with `some`."""
        if not self.plan.discrete:
            raise self._refuse("a window within a window on the dense timeline", span)
        with self._below(True):
            source, columns = self._below_window(found.formula, span)
        arguments = tuple(map(Variable, columns))

        def seen(modality: str, below: str, reach: Reach) -> str:
            name = self._fresh(len(columns))
            node = (
                Dilate(name, below, reach, self.rule)
                if modality == "some"
                else Erode(name, below, reach, True, self.rule)
            )
            self.plan.nodes.append(node)
            return name

        def join(name: str, *literals: Literal, least: Number | None = None) -> str:
            self.plan.nodes.append(Join(name, arguments, literals, least=least, rule=self.rule))
            return name

        at_left = seen(found.inner, source, found.at_left)
        at_start = join(self._fresh(len(columns)), Literal(at_left, arguments), Literal(self._start(), ()))
        left = join(self._fresh(len(columns)), Literal(seen("some", at_start, found.outside), arguments))
        if found.back is not None:
            join(left, Literal(at_left, arguments, number(-found.back)), least=found.back)
        shown = [Literal(left, arguments), Literal(seen(found.inner, source, found.at_right), arguments, found.ahead)]
        if found.between is not None:
            whole = join(self._fresh(len(columns)), Literal(seen(found.inner, source, found.whole), arguments), least=0)
            shown.append(Literal(seen(found.outer, whole, found.between), arguments))
        name = self._fresh(len(columns))
        for literals in [[each] for each in shown] if found.outer == "some" else [shown]:
            join(name, *literals)
        if found.outer == "all" and found.between is not None and found.whole.near:
            # Just before the stream, a window that looks ahead shows its start, and no whole window within.
            assert found.between.near is not None
            join(name, *shown[:2], Literal(self._until(number(found.between.near - 1)), ()))
        return name, columns

    def _joined(
        self, parts: Iterable[Formula], columns: tuple[str, ...], name: str = "", least: Number | None = None
    ) -> tuple[str, tuple[str, ...]]:
        bodies = [self._conjunction(way) for way in alternatives(positive(part) for part in parts)]
        bodies = [each for each in bodies if not each.impossible]
        for body in bodies:
            if least is not None:
                body.not_before(least)
            self._complete(body, columns)
        everywhere = [self._bound(body) for body in bodies]
        if self.at_all_times and any(each & set(columns) != everywhere[0] & set(columns) for each in everywhere):
            raise self._refuse("an alternative with a variable of its own", self._span())
        columns = tuple(column for column in columns if all(column in each for each in everywhere))
        name = name or self._fresh(len(columns))
        for body in bodies:
            self._joined_body(body, columns, name)
        return name, columns

    def _bound(self, body: Body) -> set[str]:
        """The variables that a body gives values to, computed ones included."""
        bound = {each.name for literal in body.literals for each in literal.arguments if isinstance(each, Variable)}
        changed = True
        while changed:
            changed = False
            for each in body.comparisons:
                for side, other in ((each.left, each.right), (each.right, each.left)):
                    computes = each.operator == "=" and isinstance(side, Variable) and side.name not in bound
                    if computes and all(variable.name in bound for variable in term_variables(other)):
                        bound.add(side.name)  # type: ignore[union-attr]
                        changed = True
        return bound

    def _joined_body(self, body: Body, columns: tuple[str, ...], name: str = "") -> str:
        name = name or self._fresh(len(columns))
        arguments = tuple(Variable(column) for column in columns)
        # Subformulas also hold before the stream starts where they are about absence or static facts.
        self.plan.nodes.append(
            Join(name, arguments, tuple(body.literals), tuple(body.negated), tuple(body.comparisons), HERE, None,
                 body.least, self.rule)
        )  # fmt: skip
        return name

    def _span(self) -> Span:
        assert self.rule is not None
        return self.rule.span
