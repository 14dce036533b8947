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

from presage.core.binding import closed
from presage.core.formulas import (
    TRUE,
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Lasts,
    Not,
    Only,
    Rows,
    Seen,
    Shift,
    Some,
    Whole,
    is_at_one_time,
    names,
    uses_now,
    variables,
    walk,
)
from presage.core.printer import show_core
from presage.core.reach import EVERYWHERE, HERE, Reach
from presage.core.rules import Core, CoreRule
from presage.errors import PresageError, Span
from presage.model.formulas import Atom, Comparison
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Constant, Number, Variable, number
from presage.model.windows import RowsWindow
from presage.plan.alternatives import alternatives
from presage.plan.body import Body
from presage.plan.formulas import positive
from presage.plan.nesting import Nested, nested
from presage.plan.nodes import (
    ColumnTerm,
    Dilate,
    Erode,
    Hop,
    Join,
    KnownFact,
    Literal,
    Plan,
    PlanRelation,
    Shows,
    WithinNode,
)
from presage.plan.shown_rows import are_columns

ALWAYS = "true"
START = "#start"


class Unsupported(PresageError):
    """A construct that this engine does not run."""

    def __init__(self, what: str, span: Span, program: Program) -> None:
        self.message, self.span = f"{what} cannot be run by the interval engine yet", span
        super().__init__(f"{program.source.where(span.start)}: {self.message}")


class SubformulaRelations(ABC):
    def __init__(self, core: Core, kinds: dict[str, tuple[int, str]], mixed: bool) -> None:
        """`mixed` says whether rules derive facts of an input."""
        self.core = core
        self.plan = Plan(core.discrete)
        self.made: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.rule: CoreRule | None = None
        for name, (arity, kind) in kinds.items():
            self.plan.sources[name] = PlanRelation(name, arity, kind)
        self.uses: Counter[str] = Counter()
        """How often the variables of the rule at work occur in it."""
        self.binders: list[CoreFormula] = []
        """What gives them values, wherever in the rule these are asked for."""
        self.at_all_times = False
        """Whether what is made must hold at all times of something with the same values."""
        self.asked_for_values = 0
        """How often values have been asked for that way."""
        self.statics = {name for name, (_, kind) in kinds.items() if kind == "static"}
        self.mixed = mixed

    @property
    def at_work(self) -> Rule | None:
        """The rule of the program that nodes are made for."""
        return None if self.rule is None else self.rule.rule

    def _fresh(self, arity: int, kind: str = "made") -> str:
        name = f"#{len(self.plan.sources)}"
        self.plan.sources[name] = PlanRelation(name, arity, kind)
        return name

    def _refuse(self, what: str, span: Span) -> Unsupported:
        return Unsupported(what, span, self.core.program)

    def _is_timeless(self, formula: CoreFormula) -> bool:
        if isinstance(formula, Not):
            return self._is_timeless(formula.part)
        return (isinstance(formula, Atom) and formula.predicate in self.statics) or formula == TRUE

    def _argument(self, term: object) -> ColumnTerm:
        assert isinstance(term, (Variable, Constant))
        return term

    def _conjunction(self, parts: Iterable[CoreFormula], given: Iterable[Literal] = ()) -> Body:
        body = Body()
        body.literals.extend(given)
        todo = list(parts)
        while todo:
            part = todo.pop(0)
            match part:
                case Any(parts=()) | Not(part=All(parts=())):
                    body.impossible = True
                case All(parts=inner):
                    todo[:0] = [positive(each) for each in inner]
                case Comparison():
                    if uses_now(part):
                        raise self._refuse("a comparison with `now` inside a formula", part.span)
                    body.comparisons.append(part)
                case Not(part=Any(parts=())):
                    pass
                case Not(part=inner):
                    body.negated.append(self._literal(inner, body))
                case Rows(window=window, part=inner):
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
        if ALWAYS not in self.plan.sources:
            self.plan.sources[ALWAYS] = PlanRelation(ALWAYS, 0, "static")
            self.plan.known.append(KnownFact(ALWAYS, (), None, None))
        return ALWAYS

    def _start(self) -> str:
        """A relation that holds at the start of the stream only."""
        if START not in self.plan.sources:
            self.plan.sources[START] = PlanRelation(START, 0, "made")
            self.plan.known.append(KnownFact(START, (), 0, 0))
        return START

    def _during(self, reach: Reach) -> str:
        """A relation that holds at the times at these distances from the start of the stream."""
        name = f"#during {reach}"
        if name not in self.plan.sources:
            self.plan.sources[name] = PlanRelation(name, 0, "made")
            known = KnownFact(name, (), reach.near, reach.far, not reach.open_near, not reach.open_far)
            self.plan.known.append(known)
        return name

    def _until(self, last: Number) -> str:
        """A relation that holds up to and at a time."""
        name = f"#until {last}"
        if name not in self.plan.sources:
            self.plan.sources[name] = PlanRelation(name, 0, "made")
            self.plan.known.append(KnownFact(name, (), None, last))
        return name

    def _literal(self, formula: CoreFormula, body: Body) -> Literal:
        offset: Number = 0
        at: Number | None = None
        while isinstance(formula, Whole):
            formula = formula.part
        self._refuse_pins(formula.part if isinstance(formula, At) else formula, to_now=False)
        if isinstance(formula, At):
            if formula.base is None:
                at = formula.offset
            else:
                offset = formula.offset
                body.not_before(-offset)
            formula = formula.part
            if isinstance(formula, At):
                raise self._refuse("a pin on a pin", formula.span)
        while at is None and isinstance(formula, Shift):
            self._refuse_pins(formula.part)
            offset += formula.distance
            formula = formula.part
        if isinstance(formula, Atom):
            return Literal(formula.predicate, tuple(self._argument(each) for each in formula.arguments), offset, at)
        name, columns = self._made(formula)
        return Literal(name, tuple(Variable(column) for column in columns), offset, at)

    @abstractmethod
    def _in_rows(self, window: RowsWindow, formula: CoreFormula, body: Body) -> None:
        """What a window of rows must show for a formula to be true."""

    @abstractmethod
    def _since(self, formula: Lasts) -> tuple[str, tuple[str, ...]]:
        """What `since` and `until` make of their sides."""

    @abstractmethod
    def _complete(self, body: Body, columns: Iterable[str] = ()) -> None:
        """Adds the values that variables have elsewhere in the rule."""

    @abstractmethod
    def _shown(self, window: RowsWindow, atom: Atom, shows: Shows) -> str:
        """The relation of what a window of rows shows of a predicate."""

    def _steady(self, formula: CoreFormula) -> tuple[str, tuple[str, ...]]:
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

    def _made(self, formula: CoreFormula) -> tuple[str, tuple[str, ...]]:
        """A relation that holds where the formula does, and the variables of its columns."""
        text = show_core(formula)
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

    def _is_outer(self, name: str, formula: CoreFormula) -> bool:
        """Whether the rule speaks of a variable elsewhere too."""
        return self.uses[name] > sum(each.name == name for each in variables(formula))

    def _make(self, formula: CoreFormula) -> tuple[str, tuple[str, ...]]:
        match formula:
            case Atom(predicate=predicate, arguments=arguments):
                if are_columns(arguments):
                    return predicate, names(formula)
                return self._joined([formula], names(formula))
            case All(parts=()):
                return self._true(), ()
            case Shift(distance=distance, part=inner):
                return self._widened(formula, Reach(distance, distance), inner)
            case Some(reach=reach, part=inner, clip=False) | Every(reach=reach, part=inner, clip=False):
                return self._widened(formula, reach, inner)
            case Lasts():
                return self._since(formula)
            case All(parts=parts):
                return self._joined(parts, names(formula))
            case Any(parts=parts):
                shared = tuple(
                    name
                    for name in names(formula)
                    if self._is_outer(name, formula) or all(name in names(part) for part in parts)
                )
                if self.at_all_times and set(shared) < set(names(formula)):
                    raise self._refuse("an alternative with a variable of its own", formula.span)
                name = self._fresh(len(shared))
                for part in parts:
                    if self._joined([part], shared, name)[1] != shared:
                        raise self._refuse("an alternative with a variable of its own", formula.span)
                return name, shared
            case Not():
                return self._joined([formula], names(formula))
            case At():
                raise self._refuse("a pin inside an operator", formula.span)
            case Seen(part=Some(clip=True) | Every(clip=True) as inner) if inner.reach == EVERYWHERE and is_at_one_time(
                inner.part
            ):
                return self._hopping(formula, self._windowed(inner, formula.reach))
            case Some(reach=reach, part=inner) if reach == EVERYWHERE:
                # At some time of the whole stream.
                source, columns_of = self._joined([inner], names(inner), least=0)
                name = self._fresh(len(columns_of))
                self.plan.nodes.append(WithinNode(name, source, EVERYWHERE, (), self.at_work))
                return name, columns_of
            case Some() | Every() if formula.reach != EVERYWHERE and is_at_one_time(formula.part):
                return self._windowed(formula, formula.reach)
            case Seen() if (found := nested(formula)) is not None:
                return self._nested(found, formula.span)
            case Rows(window=window, part=Some(reach=reach, clip=True, part=Atom() as atom)) if (
                reach == EVERYWHERE and are_columns(atom.arguments) and atom.predicate not in self.statics
            ):
                return self._shown(window, atom, Shows.WHILE_IN), names(atom)
            case Rows():
                return self._joined([formula], names(formula))
            case Whole(part=inner):
                # Relations are about the whole stream; windows show some of their times.
                return self._made(inner)
            case Some() | Every() | Seen() | Only():
                raise self._refuse("a window or modality", formula.span)
            case _:
                raise self._refuse("this formula", formula.span)

    def _widened(self, formula: CoreFormula, reach: Reach, inner: CoreFormula) -> tuple[str, tuple[str, ...]]:
        """A formula at some time within reach, or at every such time."""
        self._refuse_pins(inner)
        with self._below(isinstance(formula, Every)):
            source, columns = self._steady(inner)
        name = self._fresh(len(columns))
        kind = Erode if isinstance(formula, Every) else Dilate
        self.plan.nodes.append(kind(name, source, reach.mirrored(), rule=self.at_work))
        return name, columns

    def _refuse_pins(self, formula: CoreFormula, to_now: bool = True) -> None:
        """Below an operator a pin speaks of another time than the operator does."""
        for part in walk(formula):
            if isinstance(part, At) and (part.variable is not None or (to_now and part.base is not None)):
                raise self._refuse("a pin inside an operator", part.span)

    def _windowed(self, formula: Some | Every, reach: Reach) -> tuple[str, tuple[str, ...]]:
        """`some` or `all` over a window of time."""
        with self._below(isinstance(formula, Every)):
            source, columns = self._below_window(formula.part, formula.span)
        name = self._fresh(len(columns))
        if isinstance(formula, Some):
            self.plan.nodes.append(Dilate(name, source, reach.mirrored(), self.at_work))
        else:
            self.plan.nodes.append(Erode(name, source, reach.mirrored(), clipped=True, rule=self.at_work))
        return name, columns

    def _hopping(self, formula: Seen, found: tuple[str, tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
        name, columns = found
        if formula.hop is None:
            return found
        if not self.plan.discrete:
            raise self._refuse("a hopping window on the dense timeline", formula.span)
        hopping = self._fresh(len(columns))
        self.plan.nodes.append(Hop(hopping, name, int(formula.hop), self.at_work))
        return hopping, columns

    def _below_window(self, formula: CoreFormula, span: Span) -> tuple[str, tuple[str, ...]]:
        """What a window shows, at the times from the start of the stream on."""
        self._refuse_pins(formula)
        if all(self._is_timeless(part) or isinstance(part, (Comparison, All, Any, Whole)) for part in walk(formula)):
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

        def seen(kind: type[Some] | type[Every], below: str, reach: Reach) -> str:
            name = self._fresh(len(columns))
            is_some = kind is Some
            rule = self.at_work
            self.plan.nodes.append(
                Dilate(name, below, reach, rule) if is_some else Erode(name, below, reach, True, rule)
            )
            return name

        def join(name: str, *literals: Literal, least: Number | None = None) -> str:
            self.plan.nodes.append(Join(name, arguments, literals, least=least, rule=self.at_work))
            return name

        at_left = seen(found.inner, source, found.at_left)
        at_start = join(self._fresh(len(columns)), Literal(at_left, arguments), Literal(self._start(), ()))
        left = join(self._fresh(len(columns)), Literal(seen(Some, at_start, found.outside), arguments))
        if found.back is not None:
            join(left, Literal(at_left, arguments, number(-found.back)), least=found.back)
        shown = [Literal(left, arguments), Literal(seen(found.inner, source, found.at_right), arguments, found.ahead)]
        if found.between is not None:
            whole = join(self._fresh(len(columns)), Literal(seen(found.inner, source, found.whole), arguments), least=0)
            shown.append(Literal(seen(found.outer, whole, found.between), arguments))
        name = self._fresh(len(columns))
        for literals in [[each] for each in shown] if found.outer is Some else [shown]:
            join(name, *literals)
        if found.outer is Every and found.between is not None and found.whole.near:
            # Just before the stream, a window that looks ahead shows its start, and no whole window within.
            assert found.between.near is not None
            join(name, *shown[:2], Literal(self._until(number(found.between.near - 1)), ()))
        return name, columns

    def _joined(
        self, parts: Iterable[CoreFormula], columns: tuple[str, ...], name: str = "", least: Number | None = None
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
        return closed(bound, body.comparisons)

    def _joined_body(self, body: Body, columns: tuple[str, ...], name: str = "") -> str:
        name = name or self._fresh(len(columns))
        arguments = tuple(Variable(column) for column in columns)
        # Subformulas also hold before the stream starts where they are about absence or static facts.
        self.plan.nodes.append(
            Join(name, arguments, tuple(body.literals), tuple(body.negated), tuple(body.comparisons), HERE, None,
                 body.least, self.at_work)
        )  # fmt: skip
        return name

    def _span(self) -> Span:
        assert self.rule is not None
        return self.rule.span
