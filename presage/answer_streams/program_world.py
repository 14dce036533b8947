"""Everything that stays the same while a program is evaluated over one finite stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from presage.analysis.subject import Subject
from presage.answer_streams.rules import RuleView
from presage.answer_streams.settling import SettlingTimes
from presage.answer_streams.streams import FactsInTime, FiniteStream
from presage.answer_streams.values import Invented, ValueOrInvented
from presage.answer_streams.windows import ends, length
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.model.formulas import Atom, Comparison, Formula, walk
from presage.model.statements import Horizon, Rule
from presage.model.terms import Constant, Term, subterms
from presage.rewrite import core_of
from presage.time.points import EVER, FAR, Times

MOST_INVENTED = 100_000


@dataclass
class ProgramWorld:
    """A program with its data: the stream's timeline, the given facts and the background knowledge."""

    subject: Subject
    given: tuple[Fact, ...]
    low: int
    high: int
    question: Formula | None = None
    """What is asked, whose constants count among the values there are."""
    lag: SettlingTimes | None = None
    """How long after their time facts may still change, if the stream goes on after what is given."""
    looked_until: int | None = None
    """Up to when rules were looked at before, if only what is new since then is wanted."""
    chase_limit: int = MOST_INVENTED
    invented: set[ValueOrInvented] = field(default_factory=set)

    def count_invented(self, rule: Rule, values: Iterable[ValueOrInvented]) -> None:
        """Refuses more invented values than allowed, and names the rule that keeps inventing."""
        self.invented.update(value for value in values if isinstance(value, Invented))
        if len(self.invented) > self.chase_limit:
            where = f"{self.subject.program.source.name}: {self.subject.place(rule)}"
            limit = f"more than {self.chase_limit} by now (`--chase-limit`)"
            raise PresageError(f"{where}: this rule keeps inventing values: {limit}")

    @property
    def reads_every_time(self) -> bool:
        return self.subject.reading == "every"

    @property
    def timeline(self) -> Times:
        return Times.between(self.low, self.high)

    @property
    def told(self) -> Times:
        """The times that heads can say something of: a stream that goes on has no end."""
        return self.timeline if self.lag is None else Times.between(0, FAR)

    @cached_property
    def static_names(self) -> frozenset[str]:
        return frozenset(name for name, each in self.subject.predicates.items() if each.is_static)

    @cached_property
    def statics(self) -> FactsInTime:
        """Background knowledge, which holds always and is inside every window."""
        found = FactsInTime()
        for fact in self.given:
            if fact.predicate in self.static_names:
                found.add((fact.predicate, fact.arguments), EVER, counted=False)
        for rule in self.subject.program.rules:
            for head in rule.head_atoms if rule.is_fact else ():
                if isinstance(head, Atom) and head.predicate in self.static_names:
                    values = tuple(term.value for term in head.arguments if isinstance(term, Constant))
                    found.add((head.predicate, values), EVER, counted=False)
        return found

    @cached_property
    def rules(self) -> tuple[RuleView, ...]:
        """The rules, facts and constraints, background knowledge aside."""
        return tuple(
            RuleView(number, rule, self.static_names, self.lag)
            for number, rule in enumerate(core_of(self.subject).rules)
            if not any(head.atom.predicate in self.static_names for head in rule.conclusions)
        )

    @cached_property
    def data(self) -> FactsInTime:
        """The facts the stream brought, on the timeline. They are read only: take a copy to add to."""
        return FactsInTime.given(
            ((fact.predicate, fact.arguments), (max(self.low, first), min(self.high, last)))
            for fact in self.given
            if fact.predicate not in self.static_names
            for first, last in (span_of(fact),)
        )

    def stream(self, facts: FactsInTime, opposite: FactsInTime | None = None) -> FiniteStream:
        return FiniteStream(self.low, self.high, facts, facts if opposite is None else opposite)

    def constants(self, facts: FactsInTime) -> list[ValueOrInvented]:
        """The constants of the program, of what is asked, and of all facts; not the numbers in pins."""
        found: dict[ValueOrInvented, None] = dict.fromkeys(self._written)
        for (_, arguments), _ in (*self.statics.ground(), *facts.ground()):
            found.update(dict.fromkeys(arguments))
        return list(found)

    @cached_property
    def _written(self) -> list[ValueOrInvented]:
        formulas = [formula for rule in self.subject.program.rules for formula in rule.formulas()]
        if self.question is not None:
            formulas.append(self.question)
        return list(dict.fromkeys(value for formula in formulas for value in _constants(formula)))

    def looks(self, at: int) -> Times:
        """The times at which rules are looked at."""
        return self.timeline if self.reads_every_time else Times.at(at)


def span_of(fact: Fact) -> tuple[int, int]:
    return length(fact.low), FAR if fact.high is None else length(fact.high)


def _constants(formula: Formula) -> Iterator[ValueOrInvented]:
    for node in walk(formula):
        if isinstance(node, Atom):
            terms: Iterable[Term] = node.arguments
        elif isinstance(node, Comparison):
            terms = (node.left, node.right)
        else:
            continue
        for term in terms:
            yield from (part.value for part in subterms(term) if isinstance(part, Constant))


def last_time(subject: Subject, given: Iterable[Fact]) -> int:
    """The last time that a fact of the stream or of the program names."""
    found = [0]
    for fact in given:
        found += [length(time) for time in (fact.low, fact.high) if time is not None]
    for rule in core_of(subject).rules:
        for head in rule.conclusions if rule.is_fact else ():
            if head.base is None:
                found += [each for each in ends(head.reach) if each < FAR]
    return max(found)


def declared_horizon(subject: Subject) -> int | None:
    declared = subject.program.setting(Horizon)
    return None if declared is None else length(declared.length)
