"""Which predicates there are: input, static or derived, with arity and delay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from presage.errors import NOWHERE, Diagnostic, Note, Span, nearest
from presage.model.delays import delay_of
from presage.model.formulas import Atom, Comparison, Formula, Windowed, atoms, walk
from presage.model.printer import show_column
from presage.model.program import Program
from presage.model.statements import (
    Chase,
    Column,
    ColumnBound,
    Horizon,
    Input,
    Query,
    Reading,
    Rule,
    Start,
    Static,
    Tick,
    Timeline,
)
from presage.model.terms import Arithmetic, Constant, Negative, Number, Term
from presage.model.values import is_true
from presage.model.windows import OnlyWindow, RowsWindow

MOST_NAMES_COMPARED = 20_000


@dataclass(slots=True)
class Predicate:
    name: str
    arity: int
    kind: str = "input"
    """`derived` if a rule or fact derives it, `static` if declared so, otherwise `input`."""
    is_input: bool = False
    """Whether the stream may bring it; a predicate may be input and derived."""
    is_declared: bool = False
    columns: tuple[Column, ...] = ()
    delay: Number | None = None
    inputs: list[Input] = field(default_factory=list)
    first: Span = NOWHERE
    at_points: bool = False
    """Whether it holds at single points alone, because a rule uses its times as values (on dense time)."""

    @property
    def is_static(self) -> bool:
        return self.kind == "static"

    def takes(self, arity: int) -> bool:
        """Whether the stream may bring facts of it that have so many arguments."""
        return self.is_input and self.arity == arity


def mentioned(formula: Formula) -> Iterator[Atom]:
    """The atoms of a formula and of its windows' patterns."""
    yield from atoms(formula)
    for node in walk(formula):
        if isinstance(node, Windowed):
            if isinstance(node.window, RowsWindow):
                yield from node.window.by
            elif isinstance(node.window, OnlyWindow):
                yield from node.window.patterns


def find_predicates(program: Program) -> tuple[dict[str, Predicate], list[Diagnostic]]:
    """All predicates, and what contradicts what. The first occurrence fixes the arity."""
    problems: list[Diagnostic] = []
    found: dict[str, Predicate] = {}

    uses: dict[str, dict[int, list[Span]]] = {}

    def note(name: str, arity: int, span: Span) -> Predicate:
        uses.setdefault(name, {}).setdefault(arity, []).append(span)
        return found.setdefault(name, Predicate(name, arity, first=span))

    for kind in (Timeline, Tick, Start, Reading, Chase, Horizon):
        _refuse_twice(program, kind, problems)
    for declared in program.each(Input):
        known = note(declared.predicate, len(declared.columns), declared.span)
        _declare_input(known, declared, problems)
    for background in program.each(Static):
        known = note(background.predicate, len(background.columns), background.span)
        if known.is_declared:
            hint = "keep one of them" if known.is_static else "a static predicate does not arrive with the stream"
            message = f"`{known.name}` is declared twice"
            other = Note("the first declaration", known.first)
            problems.append(Diagnostic("D102", message, background.span, hint, (other,)))
            continue
        known.is_declared, known.kind, known.columns = True, "static", background.columns
        _refuse_columns_twice(background.columns, problems)
    for rule in program.rules:
        for formula in rule.head_atoms:
            for atom in atoms(formula):
                known = note(atom.predicate, len(atom.arguments), atom.span)
                if known.is_static:
                    _check_static_head(rule, formula, atom, problems)
                else:
                    known.kind = "derived"
    for rule in program.rules:
        for formula in rule.body:
            for atom in mentioned(formula):
                note(atom.predicate, len(atom.arguments), atom.span)
    for name, by_arity in uses.items():
        problems.extend(_one_arity(found[name], by_arity))
    for query in program.queries:
        _check_query(query, found, problems)
    if "violated" in found and any(rule.is_constraint for rule in program.rules):
        message = "`violated` is the query that reports broken constraints"
        problems.append(Diagnostic("D102", message, found["violated"].first, "give the predicate another name"))
    for known in found.values():
        if known.kind == "input":
            known.is_input = True
        if known.is_input and known.delay is None:
            known.delay = 0
    problems.extend(_suspicious(program, found))
    problems.extend(_wrong_types(program, found))
    return found, problems


def _one_arity(known: Predicate, uses: dict[int, list[Span]]) -> Iterator[Diagnostic]:
    """One message for each arity that is not the usual one, at its first occurrence."""
    usual = max(uses, key=lambda arity: (len(uses[arity]), arity == known.arity))
    known.arity = usual
    for arity, spans in uses.items():
        if arity != usual:
            message = f"`{known.name}` has {_arguments(arity)} here and {_arguments(usual)} elsewhere"
            hint = "give both the same arguments, or one of them another name"
            yield Diagnostic("N101", message, spans[0], hint, (Note("the other occurrence", uses[usual][0]),))


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else "1 argument" if count == 1 else f"{count} arguments"


def _refuse_twice(program: Program, kind: type, problems: list[Diagnostic]) -> None:
    declared: list[Any] = list(program.each(kind))
    for again in declared[1:]:
        word = kind.__name__.lower()
        first = Note("the first declaration", declared[0].span)
        problems.append(Diagnostic("D101", f"`{word}` is declared twice", again.span, "keep one of them", (first,)))


def _refuse_columns_twice(columns: tuple[Column, ...], problems: list[Diagnostic]) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name in seen:
            problems.append(
                Diagnostic("D103", f"the column `{column.name}` is named twice", column.span, "use different names")
            )
        seen.add(column.name)


def _declare_input(known: Predicate, declared: Input, problems: list[Diagnostic]) -> None:
    _refuse_columns_twice(declared.columns, problems)
    names = [column.name for column in declared.columns]
    for condition in declared.where:
        if condition.column not in names:
            near = nearest(condition.column, names)
            shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
            hint = f"did you mean `{near}`?" if near else f"the columns are {shown or 'none'}"
            message = f"`{declared.predicate}` has no column `{condition.column}`"
            problems.append(Diagnostic("D103", message, condition.span, hint))
    if known.is_declared and len(known.columns) == len(names):
        before = [column.name for column in known.columns]
        types = [column.type for column in declared.columns if column.type != "any"]
        if before != names or (types and list(map(_range_of, known.columns)) != list(map(_range_of, declared.columns))):
            message = f"`{declared.predicate}` is declared with other columns before"
            other = Note("the other declaration", known.first)
            hint = f"use the same columns: {', '.join(map(show_column, known.columns))}"
            problems.append(Diagnostic("D102", message, declared.span, hint, (other,)))
    else:
        known.columns = declared.columns
    known.is_declared = known.is_input = True
    known.inputs.append(declared)
    delay = delay_of(declared)
    known.delay = delay if known.delay is None else max(known.delay, delay)
    unconditional = [each for each in known.inputs if not each.where]
    if unconditional:
        # A later declaration without `where` hides all before it: the last that matches wins.
        last = known.inputs.index(unconditional[-1])
        known.delay = max(delay_of(each) for each in known.inputs[last:])


def _range_of(column: Column) -> tuple[str, ColumnBound | None]:
    """What values a column may have."""
    return column.type, column.bound


def _check_static_head(rule: Rule, formula: Formula, atom: Atom, problems: list[Diagnostic]) -> None:
    if not rule.is_fact:
        hint = "derive another predicate, or do not declare this one static"
        message = f"`{atom.predicate}` is static: rules cannot derive it"
        problems.append(Diagnostic("D106", message, atom.span, hint))
    elif formula is not atom:
        hint = "a static fact holds at every time: leave the time out"
        problems.append(Diagnostic("D106", f"`{atom.predicate}` is static and has no time", formula.span, hint))


def _check_query(query: Query, found: dict[str, Predicate], problems: list[Diagnostic]) -> None:
    name, arity = query.atom.predicate, len(query.atom.arguments)
    known = found.get(name)
    if known is None:
        near = nearest(name, found)
        hint = f"did you mean `{near}`?" if near else "write a rule for it, or declare it as an input"
        problems.append(Diagnostic("D105", f"nothing in the program gives `{name}`", query.atom.span, hint))
    elif known.arity != arity:
        message = f"`{name}` has {_arguments(arity)} here and {_arguments(known.arity)} elsewhere"
        other = Note("the other occurrence", known.first)
        hint = "write all arguments; `_` stands for any"
        problems.append(Diagnostic("N101", message, query.atom.span, hint, (other,)))


def _suspicious(program: Program, found: dict[str, Predicate]) -> Iterator[Diagnostic]:
    """Body-only predicates that nothing declares, if a known name is so close that a slip is likely. Where the
    program declares no inputs, every input is one that nothing declares, and only swapped letters count."""
    known = {name for name, each in found.items() if each.is_declared or each.kind == "derived"}
    declares = any(each.is_declared for each in found.values())
    used_as_variables = {variable.name for rule in program.rules for variable in rule.variables()}
    unused = _unused(program, found)
    if len(known) * (len(found) - len(known)) > MOST_NAMES_COMPARED:
        return
    for name, each in found.items():
        if name in known:
            continue
        if each.arity == 0 and name in used_as_variables:
            hint = "a variable cannot stand alone; compare it, or give it to a predicate"
            message = f"`{name}` stands where an atom is expected, and is taken for a predicate without arguments"
            yield Diagnostic("N102", message, each.first, hint, severity="warning")
            continue
        if meant := _meant(each, unused):
            message = (
                f"`{name}` has no declaration and is taken for an input, while `{meant}` is declared and never used"
            )
            hint = f"did you mean `{meant}`? If not, declare it: `input {name}(…).`"
            yield Diagnostic("N102", message, each.first, hint, severity="warning")
            continue
        near = nearest(name, (other for other in known if found[other].arity == each.arity))
        if near is None or len(name) < 3 or _is_a_name_of_its_own(name, near):
            continue
        if not declares and sorted(name) != sorted(near):
            continue
        message = f"`{name}` has no rule and no declaration, and is taken for an input"
        hint = f"did you mean `{near}`? If not, declare it: `input {name}(…).`"
        yield Diagnostic("N102", message, each.first, hint, severity="warning")


def _unused(program: Program, found: dict[str, Predicate]) -> list[Predicate]:
    """What is declared, and neither asked for nor mentioned by any rule."""
    used = {query.atom.predicate for query in program.queries}
    used |= {atom.predicate for rule in program.rules for formula in rule.formulas() for atom in mentioned(formula)}
    return [each for name, each in found.items() if each.is_declared and name not in used]


def _meant(undeclared: Predicate, unused: list[Predicate]) -> str | None:
    """The declared predicate that an undeclared one most likely stands for."""
    near = nearest(undeclared.name, (each.name for each in unused))
    alike = [each.name for each in unused if each.arity == undeclared.arity]
    return near or (alike[0] if alike else unused[0].name if unused else None)


def _is_a_name_of_its_own(name: str, near: str) -> bool:
    """Names that differ by a number, or of which one begins or ends with the other, are chosen so."""
    if name.lower() == near.lower():
        return False
    first, second = without_digits(name.lower()), without_digits(near.lower())
    return first == second or any(
        longer.startswith(shorter) or longer.endswith(shorter) for longer, shorter in ((first, second), (second, first))
    )


def without_digits(name: str) -> str:
    return "".join(c for c in name if not c.isdigit())


def _wrong_types(program: Program, found: dict[str, Predicate]) -> Iterator[Diagnostic]:
    asked = [query.atom for query in program.queries if query.atom.predicate in found]
    written = [atom for rule in program.rules for formula in rule.formulas() for atom in mentioned(formula)]
    for atom in (*written, *asked):
        for column, argument in zip(found[atom.predicate].columns, atom.arguments, strict=False):
            if isinstance(argument, Constant):
                yield from _wrong_type(found[atom.predicate], column, argument)
    for declared in program.each(Input):
        for condition in declared.where:
            for column in declared.columns:
                if column.name == condition.column:
                    yield from _wrong_type(found[declared.predicate], column, condition.value)
    for rule in program.rules:
        for formula in rule.formulas():
            for node in walk(formula):
                if isinstance(node, Comparison):
                    yield from _not_numbers(node.left)
                    yield from _not_numbers(node.right)


def _wrong_type(known: Predicate, column: Column, value: Constant) -> Iterator[Diagnostic]:
    if fits(value.value, column.type) and not is_within(value.value, column):
        message = f"the column `{column.name}` of `{known.name}` is declared `{show_column(column)}`"
        hint = "write a number that can come, or declare another bound"
        yield Diagnostic("D108", message, value.span, hint, (Note("the declaration", known.first),))
    if not fits(value.value, column.type):
        message = f"the column `{column.name}` of `{known.name}` is declared {column.type}"
        hint = f"write {_EXAMPLES[column.type]}, or declare the column `any`"
        yield Diagnostic("D108", message, value.span, hint, (Note("the declaration", known.first),))


def _not_numbers(term: Term) -> Iterator[Diagnostic]:
    """Text in arithmetic, which no value can make true."""
    operands: tuple[Term, ...]
    match term:
        case Negative(term=inner):
            operands = (inner,)
        case Arithmetic(left=left, right=right):
            operands = (left, right)
        case _:
            return
    for operand in operands:
        if isinstance(operand, Constant) and isinstance(operand.value, str):
            message = f"`{operand.value}` is not a number, and cannot be computed with"
            yield Diagnostic(
                "D108", message, operand.span, "variables are upper case; numbers are written without quotes"
            )
        yield from _not_numbers(operand)


_EXAMPLES = {
    "text": "a name or a quoted string",
    "int": "a whole number",
    "float": "a number",
    "bool": '"true" or "false"',
    "time": "a number or a quoted timestamp",
}


def is_within(value: str | Number, column: Column) -> bool:
    """Whether a number is within the bound of its column."""
    return column.bound is None or is_true(column.bound.operator, value, column.bound.value.value)


def fits(value: str | Number, kind: str) -> bool:
    """Whether a constant can be a value of a column of this type."""
    match kind:
        case "text":
            return isinstance(value, str)
        case "int":
            return isinstance(value, int)
        case "float":
            return not isinstance(value, str)
        case "bool":
            return value in ("true", "false")
        case _:
            return True
