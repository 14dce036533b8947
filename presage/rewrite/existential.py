"""Programs as existential rules without time ([LARS+] section 3 and Definitions 4 to 6), for other rule engines.

`rewriting` is rew(P): a time point is one more argument, and what a window sees is written down by rules (3) to (8).
`grounding` is the temporal grounding of the program without its windows, tfgrnd(P): each time variable is every time
point in turn, and times become part of predicates' names. Both are made of `ExistentialClause`s, which print in the
syntax of the rule engine Nemo. A clause with variables of `exists` may be chased in any way that keeps them apart from
constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from presage.errors import PresageError, Span
from presage.model.formulas import (
    And,
    Atom,
    Comparison,
    Formula,
    Metric,
    Modal,
    Not,
    Over,
    Pinned,
    Top,
    Windowed,
    atoms,
    variables,
)
from presage.model.program import Program
from presage.model.statements import Rule
from presage.model.terms import Arithmetic, Constant, Negative, Now, Term, Variable
from presage.model.time import Pin
from presage.model.values import NOW, is_true, value_of
from presage.model.windows import TimeWindow

TIME = "top"
"""What holds at every time point, ⊤."""
ALL, AT, SOME = "all", "at", "some"


@dataclass(frozen=True, slots=True)
class Plain:
    """An atom without time operators; its terms are text already."""

    name: str
    terms: tuple[str, ...]
    negated: bool = False

    def __str__(self) -> str:
        return f"{'~' * self.negated}{self.name}({', '.join(self.terms)})"


@dataclass(frozen=True, slots=True)
class ExistentialClause:
    heads: tuple[Plain, ...]
    body: tuple[Plain | str, ...]
    """Atoms, and comparisons as text."""
    rule: Rule | None = None
    note: str = ""

    def __str__(self) -> str:
        heads = ", ".join(map(str, self.heads))
        return f"{heads} :- {', '.join(map(str, self.body))} ." if self.body else f"{heads} ."


@dataclass(frozen=True, slots=True)
class Look:
    """A literal of [LARS+]: an atom at a time (`AT`), or at all or some times of the window of size `back`."""

    atom: Atom
    way: str
    pin: Pin
    back: int | None = None
    negated: bool = False


class NotRewritable(PresageError):
    def __init__(self, program: Program, span: Span, what: str) -> None:
        super().__init__(
            f"{program.source.where(span.start)}: {what} has no rewriting: there are atoms, `@`, comparisons, "
            "`exists`, and `window(n)` with `@`, `some` or `all`"
        )


HERE = Pin(Now())


class Rewriter:
    """What both transformations begin with: rules as lists of looks."""

    def __init__(self, program: Program, discrete: bool) -> None:
        if not discrete:
            raise PresageError(f"{program.source.name}: only programs on the discrete timeline have a rewriting")
        self.program = program
        self.statics = {each.predicate for each in program.statics}

    def refuse(self, formula: Formula | Rule, what: str) -> NotRewritable:
        return NotRewritable(self.program, formula.span, what)

    def rules(self) -> Iterator[tuple[int, Rule]]:
        for number, rule in enumerate(self.program.rules):
            if rule.head is None or rule.head.choice:
                raise self.refuse(rule, "a constraint" if rule.head is None else "a head with alternatives")
            yield number, rule

    def looks(self, formulas: Iterable[Formula]) -> Iterator[Look | Comparison]:
        for formula in formulas:
            match formula:
                case And(parts=parts):
                    yield from self.looks(parts)
                case Comparison():
                    yield formula
                case Top():
                    pass
                case Not(formula=inner):
                    look = self._look(inner)
                    yield Look(look.atom, look.way, look.pin, look.back, True)
                case _:
                    yield self._look(formula)

    def _look(self, formula: Formula) -> Look:
        match formula:
            case Atom():
                return Look(formula, AT, HERE)
            case Pinned(formula=Atom() as atom, pin=pin):
                return Look(atom, AT, pin)
            case Windowed(window=TimeWindow(back=int() as back, ahead=0, hop=None), formula=inner):
                match inner:
                    case Modal(operator=operator, formula=Atom() as atom):
                        return Look(atom, operator, HERE, back)
                    case Pinned(formula=Atom() as atom, pin=pin):
                        return Look(atom, AT, pin, back)
                    case Atom():
                        return Look(inner, AT, HERE)
        raise self.refuse(formula, "this formula")

    def head(self, formula: Formula) -> tuple[Atom, Pin, tuple[int, int]]:
        """An atom of a head, where it is pinned, and how far it reaches from there."""
        near = far = 0
        while isinstance(formula, Metric):
            interval = formula.interval
            low, high = interval.low, interval.high
            if not isinstance(low, int) or not isinstance(high, int) or not interval.closed_low & interval.closed_high:
                raise self.refuse(formula, "an interval without whole, included bounds in a head")
            ahead = formula.operator == "always"
            near, far = (near + low, far + high) if ahead else (near - high, far - low)
            formula = formula.formula
        if isinstance(formula, Pinned):
            return *self.head(formula.formula)[:1], formula.pin, (near, far)
        if not isinstance(formula, Atom):
            raise self.refuse(formula, "this head")
        return formula, HERE, (near, far)


def constant(value: object) -> str:
    if isinstance(value, Fraction):
        raise PresageError(f"{value} is not a whole number, and is not written for another engine")
    if isinstance(value, int):
        return str(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def term(written: Term, known: Mapping[str, str], invented: Iterable[str] = ()) -> str:
    match written:
        case Constant(value=value):
            return constant(value)
        case Now():
            return known.get(NOW, "?now")
        case Variable(name=name):
            # Variables without a name are numbered by an earlier pass.
            return known.get(name, f"{'!' if name in invented else '?'}{name.replace('_#', 'any')}")
        case Negative(term=inner):
            return f"(0 - {term(inner, known)})"
        case Arithmetic(operator=operator, left=left, right=right):
            return f"({term(left, known)} {operator} {term(right, known)})"
        case _:
            raise PresageError(f"{written} is not written for another engine")


def compared(comparison: Comparison, known: Mapping[str, str]) -> str:
    return f"{term(comparison.left, known)} {comparison.operator} {term(comparison.right, known)}"


def offset_of(pin: Pin) -> int:
    assert isinstance(pin.offset, int)
    return pin.offset


def rewritten_fact(predicate: str, arguments: Iterable[object], time: int | None) -> str:
    """A fact of the stream, or without a time a static one, as rew(D) has it."""
    terms = tuple(map(constant, arguments))
    return f"{Plain(f'{ALL}_{predicate}', (*terms, '0', str(time))) if time is not None else Plain(predicate, terms)} ."


def time_points(end: int) -> list[ExistentialClause]:
    """Rule (3): the time points there are."""
    return [ExistentialClause((Plain(TIME, ("0", str(time))),), (), note="(3)") for time in range(end + 1)]


class _Rew(Rewriter):
    def __init__(self, program: Program, discrete: bool) -> None:
        super().__init__(program, discrete)
        self.fresh = 0
        self.greatest: dict[tuple[str, str, int], int] = {}
        """For each way to look through windows at a predicate, and its arity, the greatest window."""

    def clauses(self) -> Iterator[ExistentialClause]:
        for number, rule in self.rules():
            yield from self._rule(number, rule)
        for (way, name, arity), most in self.greatest.items():
            yield from _window_rules(way, name, arity, most)

    def _time(self, pin: Pin, body: list[Plain | str], bound: set[str]) -> str:
        """A pinned time as a term; the body says what it is."""
        offset = offset_of(pin)
        if pin.base is None:
            return str(offset)
        base = term(pin.base, {})
        if offset == 0:
            bound.add(base)
            return base
        self.fresh += 1
        name = f"?t{self.fresh}"
        body.append(f"{name} = {base} + {offset}" if base in bound else f"{base} = {name} - {offset}")
        bound.add(base)
        return name

    def _atom(self, look: Look, body: list[Plain | str], bound: set[str]) -> Plain:
        name, terms = look.atom.predicate, tuple(term(each, {}) for each in look.atom.arguments)
        if name in self.statics:
            return Plain(name, terms, look.negated)
        if look.way == AT and look.back is None:
            return Plain(f"{ALL}_{name}", (*terms, "0", self._time(look.pin, body, bound)), look.negated)
        bound.add("?now")
        way, key = look.way, (look.way, name, len(terms))
        self.greatest[key] = max(self.greatest.get(key, 0), look.back or 0)
        if way == AT:
            at = self._time(look.pin, body, bound)
            return Plain(f"{AT}_{name}", (*terms, str(look.back), at, "?now"), look.negated)
        return Plain(f"{way}_{name}", (*terms, str(look.back), "?now"), look.negated)

    def _rule(self, number: int, rule: Rule) -> Iterator[ExistentialClause]:
        assert rule.head is not None
        body: list[Plain | str] = []
        bound: set[str] = set()
        looks = list(self.looks(rule.body))
        # What is pinned without an offset binds time variables for the rest.
        looks.sort(key=lambda each: isinstance(each, Comparison) or each.negated or bool(each.pin.offset))
        for look in looks:
            if isinstance(look, Comparison):
                body.append(compared(look, {}))
            else:
                body.append(self._atom(look, body, bound))
        invented = {each.name for each in rule.head.exists}
        heads, moved, times = [], False, {*bound}
        for formula in rule.head.atoms:
            if isinstance(formula, Over):
                yield from self._over(formula, rule)
                return
            atom, pin, (near, far) = self.head(formula)
            terms = tuple(term(each, {}, invented) for each in atom.arguments)
            if atom.predicate in self.statics:
                heads.append(Plain(atom.predicate, terms))
                continue
            if isinstance(pin.base, Now) and "?now" not in times:
                body.append(Plain(TIME, ("0", "?now")))
                times.add("?now")
            if isinstance(pin.base, Variable):
                times.add(term(pin.base, {}))
            at = self._time(pin, body, times)
            if at.startswith("?t"):
                body.append(Plain(TIME, ("0", at)))
            if (near, far) != (0, 0):
                moved, self.fresh, middle = True, self.fresh + 1, at
                at = f"?t{self.fresh}"
                body += [Plain(TIME, ("0", at)), f"{middle} + {near} <= {at}", f"{at} <= {middle} + {far}"]
            heads.append(Plain(f"{ALL}_{atom.predicate}", (*terms, "0", at)))
        if rule.head.lasting or (invented and moved):
            yield from self._by_function(number, rule, heads, body)
        else:
            yield ExistentialClause(tuple(heads), tuple(body), rule)

    def _by_function(
        self, number: int, rule: Rule, heads: list[Plain], body: list[Plain | str]
    ) -> Iterator[ExistentialClause]:
        """Values that do not depend on all that the head shows are made by a clause of their own."""
        assert rule.head is not None
        invented = [each.name for each in rule.head.exists]
        shown = {each.name for formula in rule.head.atoms for atom in atoms(formula) for each in variables(atom)}
        frontier = [f"?{name}" for name in sorted(shown - {*invented})]
        if not rule.head.lasting:
            frontier += sorted({term(self.head(each)[1].base or Constant(0), {}) for each in rule.head.atoms} - {"0"})
        made = Plain(f"made_{number}", (*frontier, *(f"!{name}" for name in invented)))
        known = Plain(made.name, tuple(each.replace("!", "?", 1) for each in made.terms))
        yield ExistentialClause((made,), tuple(body), rule)
        renamed = (Plain(each.name, tuple(f"?{t[1:]}" if t[0] == "!" else t for t in each.terms)) for each in heads)
        yield ExistentialClause(tuple(renamed), (*body, known), rule)

    def _over(self, formula: Over, rule: Rule) -> Iterator[ExistentialClause]:
        (atom,) = atoms(formula)
        low, high = formula.interval.low, formula.interval.high
        body: list[Plain | str] = [Plain(TIME, ("0", "?now"))]
        body.append(f"?now {'>=' if formula.interval.closed_low else '>'} {low}")
        if high is not None:
            body.append(f"?now {'<=' if formula.interval.closed_high else '<'} {high}")
        terms = tuple(term(each, {}) for each in atom.arguments)
        yield ExistentialClause((Plain(f"{ALL}_{atom.predicate}", (*terms, "0", "?now")),), tuple(body), rule)


def _window_rules(way: str, name: str, arity: int, most: int) -> Iterator[ExistentialClause]:
    """Rules (4) to (8) for one predicate, as far as its windows need them."""
    own = tuple(f"?x{place}" for place in range(1, arity + 1))

    def plain(kind: str, *rest: str) -> Plain:
        return Plain(f"{kind}_{name}", (*own, *rest))

    if way == ALL:
        yield ExistentialClause((plain(ALL, str(most), "0"),), (plain(ALL, "0", "0"),), note="(4)")
        shrink = (plain(ALL, "?m", "?c"), "?m > 0", "?n = ?m - 1")
        yield ExistentialClause((plain(ALL, "?n", "?c"),), shrink, note="(5)")
        grow = (plain(ALL, "?n", "?c"), "?m = ?n + 1", f"?m <= {most}", "?d = ?c + 1", plain(ALL, "0", "?d"))
        yield ExistentialClause((plain(ALL, "?m", "?d"),), grow, note="(6)")
        return
    if way == SOME:
        # Step (1): `some` is a pin to a time that nothing else speaks of.
        yield ExistentialClause((plain(SOME, "?n", "?c"),), (plain(AT, "?n", "?t", "?c"),), note="(1)")
    yield ExistentialClause((plain(AT, "0", "?c", "?c"),), (plain(ALL, "0", "?c"),), note="(7)")
    wider = (plain(AT, "?n", "?t", "?c"), "?m = ?n + 1", f"?m <= {most}")
    yield ExistentialClause((plain(AT, "?m", "?t", "?c"),), wider, note="(8)")
    later = (*wider, "?d = ?c + 1", Plain(TIME, ("0", "?d")))
    yield ExistentialClause((plain(AT, "?m", "?t", "?d"),), later, note="(8)")


def rewriting(program: Program, discrete: bool = True) -> list[ExistentialClause]:
    """rew(P), for a normalised program; the time points come from `time_points`."""
    found = _Rew(program, discrete).clauses()
    return list(dict.fromkeys(found))


class _Grounder(Rewriter):
    def clauses(self, end: int) -> Iterator[ExistentialClause]:
        for _, rule in self.rules():
            yield from self._rule(rule, end)

    def _rule(self, rule: Rule, end: int) -> Iterator[ExistentialClause]:
        assert rule.head is not None
        for formula in rule.head.atoms:
            if isinstance(formula, Over):
                yield from self._over(formula, rule, end)
                return
        looks = list(self.looks(rule.body))
        heads = [self.head(formula) for formula in rule.head.atoms]
        free = [f"some {place}" for place, each in enumerate(looks) if isinstance(each, Look) and each.way == SOME]
        pins = [each.pin for each in looks if isinstance(each, Look)] + [pin for _, pin, _ in heads]
        names = dict.fromkeys(each.base.name for each in pins if isinstance(each.base, Variable))
        uses_now = any(isinstance(each.base, Now) for each in pins)
        unknown = [*([NOW] if uses_now else []), *names, *free]
        for values in product(range(end + 1), repeat=len(unknown)):
            times = dict(zip(unknown, values, strict=True))
            clause = self._instance(rule, looks, heads, times, end)
            if clause is not None:
                yield clause

    def _over(self, formula: Over, rule: Rule, end: int) -> Iterator[ExistentialClause]:
        (atom,) = atoms(formula)
        interval = formula.interval
        terms = tuple(term(each, {}) for each in atom.arguments)
        for time in range(end + 1):
            after = is_true("<=" if interval.closed_low else "<", interval.low, time)
            high = interval.high
            if after and (high is None or is_true("<=" if interval.closed_high else "<", time, high)):
                yield ExistentialClause((Plain(f"{atom.predicate}_{time}", terms),), (), rule)

    def _instance(
        self,
        rule: Rule,
        looks: list[Look | Comparison],
        heads: list[tuple[Atom, Pin, tuple[int, int]]],
        times: dict[str, int],
        end: int,
    ) -> ExistentialClause | None:
        assert rule.head is not None
        known = {name: str(value) for name, value in times.items()}
        invented = {each.name for each in rule.head.exists}

        def at(pin: Pin) -> int:
            base = 0 if pin.base is None else times[NOW if isinstance(pin.base, Now) else pin.base.name]
            return base + offset_of(pin)

        def plain(atom: Atom, time: int, negated: bool = False) -> Plain:
            terms = tuple(term(each, known, invented) for each in atom.arguments)
            name = atom.predicate if atom.predicate in self.statics else f"{atom.predicate}_{time}"
            return Plain(name, terms, negated)

        body: list[Plain | str] = []
        for place, look in enumerate(looks):
            if isinstance(look, Comparison):
                if all(each.name in times for each in variables(look)):
                    if not is_true(look.operator, value_of(look.left, times.get), value_of(look.right, times.get)):
                        return None
                else:
                    body.append(compared(look, known))
                continue
            time = times[f"some {place}"] if look.way == SOME else at(look.pin)
            if not 0 <= time <= end:
                return None
            body.append(plain(look.atom, time, look.negated))
        found = []
        for atom, pin, (near, far) in heads:
            spots = [at(pin) + distance for distance in range(near, far + 1)]
            if pin != HERE and not 0 <= spots[0] <= end:
                return None
            found += [plain(atom, spot) for spot in spots if 0 <= spot <= end]
        return ExistentialClause(tuple(found), tuple(body), rule) if found else None


def grounding(program: Program, end: int, discrete: bool = True) -> list[ExistentialClause]:
    """tfgrnd(P) over [0, end]: the rules without windows at each choice of times; negated literals are kept."""
    return list(dict.fromkeys(_Grounder(program, discrete).clauses(end)))
