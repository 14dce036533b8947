"""More about one answer: all its ways, the rules it goes through, and for a confirmed one its proof.

Proofs are those of `presage explain`: found from the facts that had arrived, and shown only if the checker
accepts them.
"""

from __future__ import annotations

import bisect
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from presage.answers import INCONSISTENT, Answer, TimedInstance, json_value, shown_name
from presage.errors import PresageError
from presage.evidence.checker import Rejected, check
from presage.evidence.lacking import first_lack
from presage.evidence.proof import InputFact, Record, rules
from presage.evidence.prove import prove
from presage.explanations.assuming import proof_if
from presage.explanations.room import with_room
from presage.explanations.unproved import explain_unproved
from presage.explanations.words import Printer, written
from presage.io.facts import Fact
from presage.model.formulas import Atom, Not, Pinned, atoms
from presage.model.printer import show_number, show_query
from presage.model.program import Program
from presage.model.statements import Query, Rule, Start
from presage.model.terms import Constant, Number, Variable, number
from presage.parser import parse_question
from presage.run.hypothetical import asked_by
from presage.run.reasoner import Reasoner
from presage.run.states import HOLDS
from presage.web.board import BoardEntry, name_of
from presage.web.story import queries_in_words

YEAR_MILLISECONDS = 366 * 86_400_000
MOST_WAYS_PROVED = 5
"""Of so many ways it is said how they would come true."""
MOST_LOOKED_THROUGH = 20_000
"""Of an answer that was refuted after more facts it is not said in a sentence why: that takes the run again."""
TOO_LONG = "the chain of reasons is too long for this page; `presage explain` lays it out"


class Describing(ABC):
    """What pages ask about answers, wherever these come from."""

    version = 0
    """Another number whenever `about` would say something else."""

    @abstractmethod
    def about(self) -> dict[str, Any]:
        """What the page needs to know once."""

    @abstractmethod
    def query_of(self, answer: Answer) -> int:
        """Which query an answer belongs to, by its place."""

    @abstractmethod
    def of(self, entry: BoardEntry) -> dict[str, Any]:
        """The answer line with all ways, the rules and, if it is confirmed, the proof or why there is none."""

    def line(self, entry: BoardEntry) -> dict[str, Any]:
        """The answer line as pages get it: with the number of ways in place of the ways, which are told on demand,
        and with what it was like when it was last possible where it says nothing of premises itself."""
        answer = entry.answer
        line = _whole_line(answer)
        line["ways"] = len(answer.ways) or int(answer.status == "possible")
        line["serial"], line["told"], line["query"] = entry.serial, entry.told, self.query_of(answer)
        line["key"], line["since"] = name_of(answer), json_value(entry.since)
        if answer.open_time:
            # Between which bounds its time lies is said by each of its ways.
            line["bounds_of_ways"] = [list(way["unless"]) for way in answer.ways] or [line["unless"]]
        if entry.was is not None and answer.status != "confirmed":
            line["was"] = way_of(entry.was)
        return line

    def full_line(self, answer: Answer, since: Number) -> dict[str, Any]:
        """The answer line, with a list of ways also where there is one; it has stood so since then."""
        line = {**_whole_line(answer), "since": json_value(since)}
        ways = line.setdefault("ways", [])
        if not ways and answer.status == "possible":
            ways.append(way_of(answer))
        return line


class Details(Describing):
    """What can be said about the answers of one run."""

    def __init__(
        self,
        reasoner: Reasoner,
        facts: Sequence[Fact],
        statics: Sequence[Fact] = (),
        delays: dict[Query, Number | None] | None = None,
        fresh: Callable[[], Reasoner] | None = None,
    ) -> None:
        """`delays` says for each query how long after its time it is decided, where that is known. `fresh` makes a
        reasoner like this one that has not begun."""
        self.fresh = fresh
        self.reasoner = reasoner
        self.program: Program = reasoner.subject.program
        self.queries: tuple[Query, ...] = tuple(reasoner.subject.queries)
        self._delays = delays or {}
        self._supposing = reasoner.supposing
        self._by_predicate = Counter(shown_name(query.atom.predicate) for query in self.queries)
        self.facts = facts
        self._facts = sorted(facts, key=lambda fact: fact.arrival)
        self._arrivals = [fact.arrival for fact in self._facts]
        self._statics = tuple((fact.predicate, fact.arguments) for fact in statics)

    # -- the program ------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        units = self.reasoner.checker.units
        return {
            "program": self.program.source.name,
            "source": self.program.source.own_text,
            "queries": list(map(query_title, self.queries)),
            "words": queries_in_words(self.reasoner.subject, self._delays),
            "discrete": self.reasoner.subject.discrete,
            "hypothetical": self._supposing is not None,
            "several_models": self.reasoner.has_several_models,
            "tick_milliseconds": None if units.tick is None else float(units.tick),
            "start": units.start.isoformat(),
            "shows_clock": self._counts_by_the_clock(),
            "facts": len(self._facts),
            "keys": keys_of(self.queries),
            "can_suppose": self.fresh is not None,
        }

    def _counts_by_the_clock(self) -> bool:
        """Whether times are timestamps to people: with a `start`, or with facts long after 1970."""
        tick = self.reasoner.checker.units.tick
        if tick is None:
            return False
        first = next((fact.low for fact in self._facts if fact.low is not None), 0)
        return self.program.setting(Start) is not None or first * tick > YEAR_MILLISECONDS

    def query_of(self, answer: Answer) -> int:
        alone = self._by_predicate[answer.predicate] == 1
        for place, query in enumerate(self.queries):
            if shown_name(query.atom.predicate) == answer.predicate and (alone or asked_by(query, answer)):
                return place
        return 0

    # -- one answer -------------------------------------------------------------------------------

    def of(self, entry: BoardEntry) -> dict[str, Any]:
        answer = entry.answer
        proof: dict[str, Any] | None = None
        no_proof = ""
        through: Iterable[Rule] = ()
        if answer.status in ("confirmed", HOLDS) and self.program.meaning is None:
            try:
                proof, through = self._proof(answer)
            except PresageError as problem:
                no_proof = _without_name(str(problem), self.program.source.name)
        possible = through or self._possible_rules(answer if entry.was is None else entry.was)
        line = self.full_line(answer, entry.since)
        for way in line["ways"][:MOST_WAYS_PROVED]:
            way["proof"] = self._proof_if(answer, way)
        return {
            "line": line,
            "failed": self._failed(answer) if answer.status == "refuted" else [],
            "why": self._why(answer) if answer.status == "refuted" else "",
            "query": query_title(self.queries[self.query_of(answer)]),
            "proof": proof,
            "no_proof": no_proof,
            "rules": rule_lines(self.program, possible),
            "rules_are_certain": proof is not None,
            "was": None if entry.was is None or answer.status == "confirmed" else way_of(entry.was),
        }

    def _proof(self, answer: Answer) -> tuple[dict[str, Any], list[Rule]]:
        invented = [each.name for each in answer.arguments if isinstance(each, Variable) and each.name.startswith("_:")]
        if invented:
            raise PresageError(f"there are no proofs yet through `exists`, which made {', '.join(invented)}")
        if answer.open_time or any(isinstance(each, Variable) for each in answer.arguments):
            raise PresageError("an answer that holds for all values has no proof of its own; each of its instances has")
        record = self._record(answer.now)
        arguments: Any = answer.arguments
        time = _a_time(answer)
        try:
            proof = prove(record, self._derived(answer), arguments, time)
            if proof is None:
                raise PresageError(f"no proof was found from what had arrived at {show_number(answer.now)}")
            check(record, proof, self._derived(answer), arguments, time)
            shown = Printer(self.program).to_json(proof)
            json.dumps(shown)  # what cannot be written is not promised
        except Rejected as reason:
            raise PresageError(f"a proof was found, but the checker does not accept it: {reason}") from None
        except RecursionError:
            raise PresageError(TOO_LONG) from None
        return shown, [self.program.rules[each] for each in rules(proof)]

    def _proof_if(self, answer: Answer, way: dict[str, Any]) -> dict[str, Any] | None:
        """The proof an open answer would have if the premises of a way came."""
        needed = [ground(text) for text in way["needs"]]
        arguments: Any = answer.arguments
        if None in needed or answer.time is None or any(isinstance(each, Variable) for each in arguments):
            return None
        assumed = [atom for each in needed if each is not None for positive, atom in [each] if positive]
        goal = (self._derived(answer), arguments, answer.time)
        settled = None if answer.decided_by is None else max(answer.decided_by, answer.now)
        try:
            proof = proof_if(self._record(answer.now), goal, way["because"], way["needs"], assumed, settled)
            return None if proof is None else Printer(self.program, frozenset(way["needs"])).to_json(proof)
        except RecursionError:
            return None

    def _failed(self, answer: Answer) -> list[dict[str, Any]]:
        """For what a refuted answer lacked: from the answer down, the rules and where each fails."""
        arguments: Any = answer.arguments
        known = self.program.meaning is None
        if not known or answer.time is None or any(isinstance(each, Variable) for each in arguments):
            return []
        try:
            lack = first_lack(self._record(answer.now), self._derived(answer), arguments, answer.time, for_ever=True)
        except (PresageError, RecursionError):
            return []
        return Printer(self.program).chain_json(lack)

    def _why(self, answer: Answer) -> str:
        """What refuted an answer, in a sentence: the one of `presage explain`."""
        record = self._record(answer.now)
        if answer.time is None or self.program.meaning is not None or len(record.facts) > MOST_LOOKED_THROUGH:
            return ""
        terms = tuple(each if isinstance(each, Variable) else Constant(each) for each in answer.arguments)
        atom = Atom(self._derived(answer), terms)
        try:
            told = with_room(lambda: explain_unproved(self.reasoner.subject, record, atom, answer.time or 0))
        except (PresageError, RecursionError):
            return ""
        return str((told.failed or {}).get("reason") or "")

    def _record(self, at: Number) -> Record:
        arrived = self._facts[: bisect.bisect_right(self._arrivals, at)]
        return Record(
            self.program, self.reasoner.subject.discrete, tuple(map(InputFact.of, arrived)), self._statics, at
        )

    def _possible_rules(self, answer: Answer) -> list[Rule]:
        """The rules an open answer may go through: those of the premise patterns that look like its ways, or else
        all that lead to its predicate."""
        patterns = () if self._supposing is None else self._supposing.patterns_of(self._derived(answer))
        ways = answer.ways or ({"because": answer.because, "needs": answer.needs},)
        wanted = [Counter(map(_predicate, (*way["because"], *way["needs"]))) for way in ways]
        alike = [
            pattern.rules
            for pattern in patterns
            if Counter((each.predicate, each.positive) for each in pattern.literals) in wanted
        ]
        if alike:
            return [rule for pattern in alike for rule in pattern]
        return list(leading_to(self.program, self._derived(answer)))

    def _derived(self, answer: Answer) -> str:
        """The predicate of an answer as rules derive it: what breaks a constraint has one for each constraint."""
        return self.queries[self.query_of(answer)].atom.predicate if self.queries else answer.predicate


def _without_name(text: str, name: str) -> str:
    """A message without the file's name in front of it: the page is about that file."""
    rest = text.removeprefix(f"{name}:")
    line, _, said = rest.partition(": ")
    return text if rest == text else f"line {line}: {said}" if line.isdigit() else rest.strip()


def keys_of(queries: Iterable[Query]) -> list[str]:
    """The variables by which answers may be grouped, in the order of the queries."""
    found = [
        term.name
        for query in queries
        for term in query.atom.arguments
        if isinstance(term, Variable) and not term.is_anonymous
    ]
    return list(dict.fromkeys(found))


def query_title(query: Query) -> str:
    """A query as people know it; of a constraint, its line and variables."""
    name = query.atom.predicate
    return show_query(query).replace(name, shown_name(name), 1)


def leading_to(program: Program, predicate: str) -> Iterator[Rule]:
    """All rules that lead to a predicate."""
    todo, seen = [predicate], {predicate}
    while todo:
        name = todo.pop()
        for rule in program.rules:
            if any(atom.predicate == name for head in rule.head_atoms for atom in atoms(head)):
                yield rule
                below = {atom.predicate for literal in rule.body for atom in atoms(literal)} - seen
                seen |= below
                todo.extend(below)


def rule_lines(program: Program, through: Iterable[Rule]) -> list[dict[str, Any]]:
    """Rules as they were written, each once, in the order of the text."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for rule in through:
        line = {**program.place_json(rule), "text": written(rule, program.source)}
        found.setdefault((line.get("file", ""), line["line"]), line)
    return [line for _, line in sorted(found.items(), key=lambda each: each[0])]


def _whole_line(answer: Answer) -> dict[str, Any]:
    """The answer line; of a step without a model, as if it were an answer at that time."""
    line = answer.to_json()
    if answer.status == INCONSISTENT:
        line.update(answer=name_of(answer), bindings={}, time=line["now"], because=[], needs=[], unless=[])
        line.update(decided_by=None, confidence=None)
    return line


def way_of(answer: Answer) -> dict[str, Any]:
    """The way an answer shows."""
    line = answer.to_json()
    return {name: line[name] for name in ("because", "needs", "unless", "decided_by", "confidence")}


def _a_time(answer: Answer) -> Number:
    """A time at which the answer holds."""
    if answer.time is not None:
        return answer.time
    assert answer.start is not None
    if answer.bounds.startswith("["):
        return answer.start
    return number(Fraction(answer.start + answer.end) / 2) if answer.end is not None else answer.start + 1


def ground(text: str) -> tuple[bool, TimedInstance] | None:
    """A premise in canonical text: whether it is positive, and its atom; nothing if a variable is open."""
    try:
        formula = parse_question(text, intervals=True).formula
    except PresageError:
        # Stretches with an open end, and what is counted, are no formulas.
        return None
    positive = not isinstance(formula, Not)
    pinned = formula.formula if isinstance(formula, Not) else formula
    if not isinstance(pinned, Pinned) or not isinstance(pinned.formula, Atom) or pinned.pin.base is not None:
        return None
    terms, time = pinned.formula.arguments, pinned.pin.offset
    values = tuple(term.value for term in terms if isinstance(term, Constant))
    if len(values) < len(terms) or not isinstance(time, (int, Fraction)):
        return None
    return positive, (pinned.formula.predicate, values, time)


def _predicate(text: str) -> tuple[str, bool]:
    """The predicate of a literal in canonical text, and whether it is positive."""
    positive = not text.startswith("not ")
    return text.removeprefix("not ").split("(", 1)[0].split("@", 1)[0], positive
