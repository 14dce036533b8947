"""What is known of one individual at one moment, and what that says of its atoms.

The same as `presage.hypothesis.judge` says, where no variable is open: an atom is true once it has a way without
premises, open while it has one whose premises can hold together, false otherwise. Times count from now.
"""

from __future__ import annotations

from typing import NamedTuple

from presage.hypothesis.engine import Hypotheses
from presage.hypothesis.grid.fitting import Layout, NodePattern, candidates

MOST_SEARCH = 2_000

CellFact = tuple[int, int]
"""A cell and a time."""
NodeAtTime = tuple[int, int]
"""A node and a time."""
Needs = tuple[frozenset[CellFact], frozenset[NodeAtTime]]
"""Facts that have to arrive, and atoms that must not come true."""


class JudgedRule(NamedTuple):
    """A rule of an atom with its literals judged; as bits, which premises are met, which absences are settled."""

    rule: NodePattern
    met: int
    sure: int
    open: int

    @property
    def is_certain(self) -> bool:
        return not self.open and self.met == (1 << len(self.rule.premises)) - 1

    @property
    def has_evidence(self) -> bool:
        return bool(self.sure or self.met)

    def needs(self, at: int) -> Needs:
        rule = self.rule
        facts = frozenset(
            (cell, at + offset) for index, (cell, offset) in enumerate(rule.premises) if not self.met >> index & 1
        )
        atoms = frozenset(
            (each.node, at + each.offset) for index, each in enumerate(rule.absences) if self.open >> index & 1
        )
        return facts, atoms


class IndividualWorld:
    def __init__(self, layout: Layout, facts: set[CellFact], decided: dict[NodeAtTime, bool], first: int) -> None:
        self.layout, self.facts, self.decided = layout, facts, decided
        self.first = first
        """When the stream began."""
        self.opened: set[NodeAtTime] = set()
        self.known: dict[NodeAtTime, list[JudgedRule]] = {}
        self.feasible: dict[Needs, bool] = {}
        self.steps = 0
        self.depth = 0
        """How far back something was asked for."""

    def in_stream(self, at: int) -> bool:
        """Whether a time does not lie before the stream."""
        self.depth = max(self.depth, -at)
        return at >= self.first

    def may_arrive(self, cell: int, at: int) -> bool:
        return at + self.layout.cells[cell].delay > 0

    def value(self, node: int, at: int) -> bool | None:
        """Whether an atom is true, false, or open (`None`)."""
        atom = (node, at)
        if atom in self.decided:
            return self.decided[atom]
        if atom in self.opened:
            return None
        is_open = False
        for piece in self.pieces(node, at):
            if piece.is_certain:
                self.decided[atom] = True
                return True
            is_open = is_open or self.can_be(piece, at)
        if is_open:
            self.opened.add(atom)
            return None
        self.decided[atom] = False
        return False

    def pieces(self, node: int, at: int) -> list[JudgedRule]:
        """The rules that may still make an atom true, as far as their literals one by one say."""
        if (node, at) not in self.known:
            rules = self.layout.rules[node]
            self.known[node, at] = [piece for rule in rules if (piece := self._piece(rule, at)) is not None]
        return self.known[node, at]

    def _piece(self, rule: NodePattern, at: int) -> JudgedRule | None:
        met = self.met(rule, at)
        if met is None:
            return None
        sure = still_open = 0
        for index, absence in enumerate(rule.absences):
            when = at + absence.offset
            found = self.value(absence.node, when) if self.in_stream(when) else not absence.outside
            if found:
                return None
            if found is None:
                still_open |= 1 << index
            else:
                sure |= 1 << index
        return JudgedRule(rule, met, sure, still_open)

    def met(self, rule: NodePattern, at: int) -> int | None:
        """Which premises have arrived; `None` if another one can no longer, or the rule is not for this time."""
        if not self.in_stream(at - rule.low):
            return None
        met = 0
        for index, (cell, offset) in enumerate(rule.premises):
            if (cell, at + offset) in self.facts:
                met |= 1 << index
            elif not self.may_arrive(cell, at + offset):
                return None
        return met

    def is_live(self, node: int, at: int) -> bool:
        """Whether something has arrived for a rule that may still be met."""
        return any(self.met(rule, at) for rule in self.layout.rules[node])

    def speaks(self, piece: JudgedRule, at: int) -> bool:
        """Whether a piece makes an answer confirmed or possible."""
        return piece.is_certain or (piece.has_evidence and self.can_be(piece, at))

    # -- what can hold together -------------------------------------------------------------------

    def can_be(self, piece: JudgedRule, at: int) -> bool:
        """Whether the premises of a piece can all hold in one continuation of the stream."""
        if not piece.open:
            return True
        needs = piece.needs(at)
        if needs not in self.feasible:
            before, self.steps = self.steps, 0
            self.feasible[needs] = self._holds(*needs, frozenset())
            self.steps = before
        return self.feasible[needs]

    def _holds(
        self, assumed: frozenset[CellFact], denied: frozenset[NodeAtTime], made_true: frozenset[NodeAtTime]
    ) -> bool:
        self.steps += 1
        if self.steps > MOST_SEARCH:
            return True  # not found to be impossible
        if denied & made_true:
            return False
        for node, at in denied:
            for piece in self.pieces(node, at):
                facts, atoms = piece.needs(at)
                if facts <= assumed and not atoms & made_true:
                    return any(self._make_true(each, assumed, denied, made_true) for each in atoms)
        return True

    def _make_true(
        self,
        atom: NodeAtTime,
        assumed: frozenset[CellFact],
        denied: frozenset[NodeAtTime],
        made_true: frozenset[NodeAtTime],
    ) -> bool:
        if atom in denied:
            return False
        for piece in self.pieces(*atom):
            facts, atoms = piece.needs(atom[1])
            if self._holds(assumed | facts, denied | atoms, made_true | {atom}):
                return True
        return False


def layouts(hypotheses: Hypotheses) -> list[Layout] | None:
    """The layouts of all queries; `None` if some query does not qualify."""
    found = candidates(hypotheses)
    return found if found is not None and all(map(_is_open_ahead, found)) else None


def _is_open_ahead(layout: Layout) -> bool:
    """Whether far ahead of now every negated atom is open: then nobody's answers come into sight by time alone."""
    world = IndividualWorld(layout, set(), {}, -layout.longest)
    beyond = layout.longest + layout.reach * len(layout.nodes) + 1
    # From near to far, so that recursion finds most of it done.
    values = [(at, world.value(node, at)) for at in range(beyond + 3) for node in layout.negated]
    return all(value is None for at, value in values if at >= beyond)
