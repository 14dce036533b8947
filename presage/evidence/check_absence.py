"""Whether something may hold: the checker's own evaluation, straight from the definitions.

`AbsenceJudge` works out by rounds what is entailed and what may come to be, for the goals it is asked about, each
round from scratch until nothing changes. A value that is not known yet leaves its variable open; what hangs
on an open variable may be. It imports the model and nothing of the prover, on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from presage.evidence.check_cells import EVERYWHERE, NOWHERE, Cell, Cells, CheckedGrid, both, joined, others
from presage.evidence.check_values import (
    as_number,
    atom_of,
    counts,
    is_about_one_time,
    is_input,
    is_true,
    longest_delay,
    modality_in_window,
    open_names,
    static_rows,
    term_value,
    unify,
    value_in,
)
from presage.evidence.proof import Asked, InputFact, NamedValues, Record
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
    Top,
    Windowed,
    children,
    walk,
)
from presage.model.statements import Rule
from presage.model.terms import Variable, term_variables
from presage.model.windows import TimeWindow

AbsenceGoal = tuple[bool, str, Asked]
"""Whether what is certain is asked for, or what may be; a predicate; its arguments, `None` where open."""
FoundRows = list[tuple[NamedValues, Cells]]

MOST_ROUNDS = 20_000


class Undecided(Exception):
    """The evaluation does not come to an end."""


class AbsenceJudge:
    def __init__(self, record: Record, grid: CheckedGrid, asked: Sequence[tuple[Formula, Cells]]) -> None:
        """`asked` are the formulas that will be asked about, and when: nothing later than they look matters."""
        self.record, self.grid = record, grid
        self.rules = record.program.rules
        self.stream = grid.since_start()
        self.static_rows = static_rows(record)
        self.facts: dict[str, list[InputFact]] = {}
        for fact in record.facts:
            if counts(record, fact):
                self.facts.setdefault(fact.predicate, []).append(fact)
        self.by_head: dict[str, list[tuple[Rule, Formula]]] = {}
        for rule in self.rules:
            for head in rule.head_atoms:
                self.by_head.setdefault(atom_of(head).predicate, []).append((rule, head))
        self.latest: dict[str, Cell] = {}
        for formula, cells in asked:
            self._look_ahead(formula, cells[-1][1])
        self._close_look_ahead()
        self.table: dict[AbsenceGoal, dict[Asked, Cells]] = {}
        self.asked: set[AbsenceGoal] = set()
        self.given: dict[tuple[str, Asked], dict[Asked, Cells]] = {}

    # How late anything can matter.

    def _look_ahead(self, formula: Formula, last: Cell) -> None:
        """Notes how late the atoms of a formula matter if the formula matters until `last`."""
        match formula:
            case Atom(predicate=name):
                self.latest[name] = max(last, self.latest.get(name, -math.inf))
                return
            case Pinned(pin=pin):
                there = self.grid.point(as_number(pin.offset))[0][0]
                last = there if pin.base is None else last + there
            case Metric(operator="eventually" | "always", interval=interval):
                last = self._ahead(interval.high, last)
            case BinaryMetric(operator="until", interval=interval):
                last = self._ahead(interval.high, last)
            case Windowed(window=TimeWindow(ahead=ahead)):
                last = self._ahead(ahead, last)
        for part in children(formula):
            self._look_ahead(part, last)

    def _ahead(self, high: object, last: Cell) -> Cell:
        return last + self.grid.point(high)[0][0] if isinstance(high, (int, Fraction)) else math.inf

    def _close_look_ahead(self) -> None:
        for turn in range(2 * len(self.by_head) + 2):
            before = dict(self.latest)
            for name, rules in self.by_head.items():
                if name in self.latest:
                    for rule, head in rules:
                        when = self.body_cells(head, ((-math.inf, self.latest[name]),))
                        for literal in rule.body if when else ():
                            self._look_ahead(literal, when[-1][1])
            moved = [name for name, last in self.latest.items() if before.get(name) != last]
            if not moved:
                return
            if turn >= len(self.by_head):
                # What still moves moves for ever: then no time is too late to matter.
                self.latest.update(dict.fromkeys(moved, math.inf))

    # The question.

    def may_hold(self, parts: Sequence[Formula], values: NamedValues, cells: Cells) -> bool:
        """Whether all of these may hold together at some of these times."""
        while True:
            before = len(self.asked)
            found = any(when for _, when in self._all(False, list(parts), values, cells))
            if len(self.asked) == before and self.table.keys() == self.asked:
                return found
            self._work_out()

    def _work_out(self) -> None:
        """What is certain and what may be, by turns, until neither changes."""
        for _ in range(MOST_ROUNDS):
            before = dict(self.table)
            for certain in (False, True):
                self._least(certain)
            if self.table == before and self.table.keys() == self.asked:
                return
        raise Undecided("the rules reach too far")

    def _least(self, certain: bool) -> None:
        """The least answers of one kind, with those of the other kind as they are. What is asked of the other
        kind for the first time is answered on the safe side (`_rows`)."""
        for goal in [goal for goal in self.table if goal[0] == certain]:
            self.table[goal] = {}
        for _ in range(MOST_ROUNDS):
            changed = False
            for goal in sorted((goal for goal in self.asked if goal[0] == certain), key=repr):
                rows = self._answers(goal)
                if rows != self.table.get(goal):
                    self.table[goal] = rows
                    changed = True
            if not changed:
                return
        raise Undecided("the rules reach too far")

    def _answers(self, goal: AbsenceGoal) -> dict[Asked, Cells]:
        certain, name, row = goal
        found: dict[Asked, list[tuple[Cell, Cell]]] = {}
        within = both(self.stream, ((-math.inf, self.latest.get(name, math.inf)),))
        for arguments, when in self._given(name, row).items():
            found.setdefault(arguments, []).extend(both(when, within))
        if not certain and is_input(self.record, name):
            settled = self.record.at - longest_delay(self.record, name, row)
            found.setdefault(row, []).extend(both(self.grid.range(settled, None, False, False), within))
        for rule, head in self.by_head.get(name, []):
            values = unify(atom_of(head), row, {})
            if values is None:
                continue
            if rule.head is None or rule.head.choice or rule.head.exists or not is_about_one_time(self.record, rule):
                raise Undecided("a rule that the checker does not know")
            when = both(self.body_cells(head, within), self.rule_cells(rule))
            for more, cells in self._all(certain, list(rule.body), values, when):
                derived = tuple(value_in(term, more) for term in atom_of(head).arguments)
                if None not in derived or not certain:
                    found.setdefault(derived, []).extend(both(self.head_cells(head, cells), within))
        return {arguments: joined(ranges) for arguments, ranges in found.items() if ranges}

    def _given(self, name: str, row: Asked) -> dict[Asked, Cells]:
        """The facts that fit a row, which stay the same in all rounds."""
        if (name, row) not in self.given:
            ranges: dict[Asked, list[tuple[Cell, Cell]]] = {}
            for fact in self.facts.get(name, []):
                if all(wanted is None or wanted == value for wanted, value in zip(row, fact.arguments, strict=True)):
                    ranges.setdefault(fact.arguments, []).extend(self.grid.span(fact.span))
            self.given[name, row] = {arguments: joined(each) for arguments, each in ranges.items()}
        return self.given[name, row]

    def _rows(self, certain: bool, asking: bool, name: str, row: Asked) -> Iterator[tuple[Asked, Cells]]:
        if name in self.static_rows:
            return iter([(each, EVERYWHERE) for each in self.static_rows[name]])
        goal = (certain, name, row)
        self.asked.add(goal)
        if goal in self.table:
            return iter(list(self.table[goal].items()))
        # Asked for the first time from the other kind: all may be, nothing is certain.
        return iter([] if certain or certain == asking else [(row, self.stream)])

    # Formulas.

    def _all(
        self, certain: bool, parts: list[Formula], values: NamedValues, cells: Cells, asking: bool | None = None
    ) -> FoundRows:
        if not cells:
            return []
        if not parts:
            return [(values, cells)]
        chosen = next((part for part in parts if _is_ready(part, values)), parts[0])
        rest = list(parts)
        rest.remove(chosen)
        found: FoundRows = []
        for more, when in self._holds(certain, chosen, values, cells, certain if asking is None else asking):
            found.extend(self._all(certain, rest, more, both(cells, when), asking))
        return found

    def _holds(self, certain: bool, formula: Formula, values: NamedValues, cells: Cells, asking: bool) -> FoundRows:
        """Extended values, and when the formula then holds (or may hold), at least as far as `cells` go."""
        match formula:
            case Top():
                return [(values, EVERYWHERE)]
            case Comparison():
                return self._compared(certain, formula, values)
            case Atom(predicate=name, arguments=terms):
                row = tuple(value_in(term, values) for term in terms)
                pairs = ((unify(formula, each, values), when) for each, when in self._rows(certain, asking, name, row))
                return [(more, when) for more, when in pairs if more is not None]
            case And(parts=parts):
                return self._all(certain, list(parts), values, EVERYWHERE, asking)
            case Or(parts=parts):
                return [each for part in parts for each in self._holds(certain, part, values, cells, asking)]
            case Implies(left=left, right=right):
                return self._holds(certain, Or((Not(left), right)), values, cells, asking)
            case Not(formula=inner):
                if open_names(inner, values):
                    return [] if certain else [(values, EVERYWHERE)]
                held = self._holds(not certain, inner, values, cells, asking)
                return [(values, others(joined(each for _, when in held for each in when)))]
            case Pinned(formula=inner, pin=pin):
                found = self._holds(certain, inner, values, EVERYWHERE, asking)
                if pin.base is None:
                    there = self.grid.point(as_number(pin.offset))
                    return [(more, EVERYWHERE) for more, when in found if both(when, there)]
                return [(more, self.grid.moved(when, -as_number(pin.offset))) for more, when in found]
            case Metric(formula=inner):
                if not self.grid.interval(formula.interval):
                    return [(values, EVERYWHERE)] if formula.operator in ("historically", "always") else []
                found = self._holds(certain, inner, values, EVERYWHERE, asking)
                return [(more, self._metric(formula, when)) for more, when in _together(certain, found)]
            case BinaryMetric(left=left, right=right):
                result: FoundRows = []
                for more, when in _together(certain, self._holds(certain, right, values, EVERYWHERE, asking)):
                    result.append((more, self._lasting(formula, NOWHERE, when)))
                    lasts = self._holds(certain, left, more, EVERYWHERE, asking)
                    result += [(most, self._lasting(formula, held, when)) for most, held in _together(certain, lasts)]
                return result
            case Windowed(window=window) if (modal := modality_in_window(formula)) is not None:
                distances = self.grid.window(window)
                seen = _together(certain, self._holds(certain, modal.formula, values, EVERYWHERE, asking))
                return [(more, self._in_window(modal, distances, when)) for more, when in seen]
            case _:
                raise Undecided("this window is not known here")

    def _metric(self, formula: Metric, when: Cells) -> Cells:
        distances = self.grid.interval(formula.interval)
        match formula.operator:
            case "once":
                return self.grid.plus(when, distances)
            case "eventually":
                return self.grid.minus(when, distances)
            case "historically":
                return others(self.grid.plus(others(when), distances))
            case _:
                return others(self.grid.minus(others(when), distances))

    def _in_window(self, modal: Modal, distances: Cells, when: Cells) -> Cells:
        """A window shows nothing before the stream starts."""
        if modal.operator == "some":
            return self.grid.plus(both(when, self.stream), distances)
        return others(self.grid.plus(both(others(when), self.stream), distances))

    def _lasting(self, formula: BinaryMetric, left: Cells, right: Cells) -> Cells:
        distances = self.grid.interval(formula.interval)
        move = self.grid.plus if formula.operator == "since" else self.grid.minus
        at_once = self.grid.range(0, 1 if self.grid.discrete else 0, True, True)
        found = [*move(right, both(distances, at_once))]
        for each in left:
            inside = self.grid.hull_with_ends(each)
            found += both(inside, move(both(right, inside), distances))
        return joined(found)

    def _compared(self, certain: bool, comparison: Comparison, values: NamedValues) -> FoundRows:
        left, right = comparison.left, comparison.right
        for side, other in ((left, right), (right, left)):
            if comparison.operator == "=" and isinstance(side, Variable) and side.name not in values:
                if all(each.name in values for each in term_variables(other)):
                    value = term_value(other, values)
                    return [] if value is None else [({**values, side.name: value}, EVERYWHERE)]
        if open_names(comparison, values):
            return [] if certain else [(values, EVERYWHERE)]
        return [(values, EVERYWHERE)] if is_true(comparison, values) else []

    # Heads and instances.

    def head_cells(self, head: Formula, body: Cells) -> Cells:
        """When the atom of a head holds if the body does at these times."""
        match head:
            case Pinned(formula=inner, pin=pin) if pin.base is None:
                return self.head_cells(inner, self.grid.point(as_number(pin.offset))) if body else NOWHERE
            case Pinned(formula=inner, pin=pin):
                return self.head_cells(inner, self.grid.moved(body, as_number(pin.offset)))
            case Over(formula=inner, interval=interval):
                return self.head_cells(inner, self.grid.interval(interval)) if body else NOWHERE
            case Metric(operator=name, interval=interval, formula=inner):
                move = self.grid.plus if name == "always" else self.grid.minus
                return self.head_cells(inner, move(body, self.grid.interval(interval)))
            case _:
                return body

    def body_cells(self, head: Formula, wanted: Cells) -> Cells:
        """Where a body matters for a head that matters at these times."""
        match head:
            case Pinned(formula=inner, pin=pin) if pin.base is None:
                there = self.grid.point(as_number(pin.offset))
                return EVERYWHERE if both(self.body_cells(inner, wanted), there) else NOWHERE
            case Pinned(formula=inner, pin=pin):
                return self.grid.moved(self.body_cells(inner, wanted), -as_number(pin.offset))
            case Over():
                return EVERYWHERE
            case Metric(operator=name, interval=interval, formula=inner):
                move = self.grid.minus if name == "always" else self.grid.plus
                return move(self.body_cells(inner, wanted), self.grid.interval(interval))
            case _:
                return wanted

    def rule_cells(self, rule: Rule) -> Cells:
        """When a rule has instances: none has a pinned time before the start."""
        pins = [node.pin for each in rule.formulas() for node in walk(each) if isinstance(node, Pinned)]
        cells = EVERYWHERE if any(isinstance(pin.base, Variable) for pin in pins) else self.stream
        for pin in pins:
            if pin.base is not None:
                cells = both(cells, self.grid.since_start(-as_number(pin.offset)))
            elif as_number(pin.offset) < 0:
                return NOWHERE
        return cells


def _is_ready(formula: Formula, values: NamedValues) -> bool:
    """Whether a formula has the values it needs, or gives them itself."""
    if isinstance(formula, Comparison) and formula.operator == "=":
        sides = ((formula.left, formula.right), (formula.right, formula.left))
        if any(isinstance(a, Variable) and all(v.name in values for v in term_variables(b)) for a, b in sides):
            return True
    return not open_names(formula, values) - _gives(formula)


def _gives(formula: Formula) -> set[str]:
    match formula:
        case Atom():
            return open_names(formula, {})
        case Pinned(formula=inner) | Metric(formula=inner) | BinaryMetric(right=inner):
            return _gives(inner)
        case Windowed(formula=inner) | Modal(formula=inner):
            return _gives(inner)
        case And(parts=parts):
            return set[str]().union(*(_gives(part) for part in parts))
        case Or(parts=parts):
            return set.intersection(*(_gives(part) for part in parts))
        case _:
            return set()


def _together(certain: bool, found: FoundRows) -> FoundRows:
    """For each choice of values all the times at which the formula holds for them."""
    result: FoundRows = []
    for values in {tuple(sorted(each.items(), key=repr)): each for each, _ in found}.values():
        cells: list[tuple[Cell, Cell]] = []
        for other, when in found:
            shared = values.keys() & other.keys()
            fits = all(values[name] == other[name] for name in shared)
            if fits and (not certain or other.keys() <= values.keys()):
                cells += when
        result.append((values, joined(cells)))
    return result
