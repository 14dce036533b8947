"""More about one answer: all its ways, the rules it goes through, and for a confirmed one its proof.

Proofs are those of `presage explain`: found from the facts that had arrived, and shown only if the checker
accepts them.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from presage.answers import Answer
from presage.errors import PresageError
from presage.evidence.check import Rejected, check
from presage.evidence.proof import InputFact, Record, rules
from presage.evidence.prove import prove
from presage.evidence.show import Printer, written
from presage.io.facts import Fact
from presage.model.formulas import atoms
from presage.model.printer import show_number, show_query
from presage.model.program import Program
from presage.model.statements import Query, Rule
from presage.model.terms import Number, Variable, number
from presage.reasoner import Reasoner
from presage.supposing import asked_by
from presage.web.board import Entry

TOO_LONG = "the chain of reasons is too long for this page; `presage explain` lays it out"


class Details:
    """What can be said about the answers of one run."""

    def __init__(self, reasoner: Reasoner, facts: Sequence[Fact], statics: Sequence[Fact] = ()) -> None:
        self.reasoner = reasoner
        self.program: Program = reasoner.subject.program
        self.queries: tuple[Query, ...] = tuple(reasoner.subject.queries)
        self._by_predicate = Counter(query.atom.predicate for query in self.queries)
        self._facts = sorted(facts, key=lambda fact: fact.arrival)
        self._arrivals = [fact.arrival for fact in self._facts]
        self._statics = tuple((fact.predicate, fact.arguments) for fact in statics)

    # -- the program ------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """What the page needs to know once."""
        units = self.reasoner.checker.units
        return {
            "program": self.program.source.name,
            "source": self.program.source.text,
            "queries": [show_query(query) for query in self.queries],
            "discrete": self.reasoner.subject.discrete,
            "hypothetical": self.reasoner.supposing is not None,
            "tick_milliseconds": None if units.tick is None else float(units.tick),
            "start": units.start.isoformat(),
            "facts": len(self._facts),
            "keys": self._keys(),
        }

    def _keys(self) -> list[str]:
        """The variables by which answers may be grouped, in the order of the queries."""
        found = [
            term.name
            for query in self.queries
            for term in query.atom.arguments
            if isinstance(term, Variable) and not term.is_anonymous
        ]
        return list(dict.fromkeys(found))

    def query_of(self, answer: Answer) -> int:
        """Which query an answer belongs to, by its place."""
        alone = self._by_predicate[answer.predicate] == 1
        for place, query in enumerate(self.queries):
            if query.atom.predicate == answer.predicate and (alone or asked_by(query, answer)):
                return place
        return 0

    # -- one answer -------------------------------------------------------------------------------

    def line(self, entry: Entry) -> dict[str, Any]:
        """The answer line as pages get it: with the number of ways in place of the ways, which are told on demand,
        and with what it was like when it was last possible where it says nothing of premises itself."""
        answer = entry.answer
        line = answer.to_json()
        line["ways"] = len(answer.ways) or int(answer.status == "possible")
        line["serial"], line["query"] = entry.serial, self.query_of(answer)
        if entry.was is not None and answer.status != "confirmed":
            line["was"] = _way(entry.was)
        return line

    def of(self, entry: Entry) -> dict[str, Any]:
        """The answer line with all ways, the rules and, if it is confirmed, the proof or why there is none."""
        answer = entry.answer
        line = answer.to_json()
        ways = line.setdefault("ways", [])
        if not ways and answer.status == "possible":
            ways.append(_way(answer))
        proof: dict[str, Any] | None = None
        no_proof = ""
        through: Iterable[Rule] = ()
        if answer.status == "confirmed":
            try:
                proof, through = self._proof(answer)
            except PresageError as problem:
                no_proof = str(problem)
        return {
            "line": line,
            "query": show_query(self.queries[self.query_of(answer)]),
            "proof": proof,
            "no_proof": no_proof,
            "rules": self._lines(through or self._possible_rules(answer if entry.was is None else entry.was)),
            "rules_are_certain": proof is not None,
            "was": None if entry.was is None or answer.status == "confirmed" else _way(entry.was),
        }

    def _proof(self, answer: Answer) -> tuple[dict[str, Any], list[Rule]]:
        if answer.open_time or any(isinstance(each, Variable) for each in answer.arguments):
            raise PresageError("an answer that holds for all values has no proof of its own; each of its instances has")
        record = self._record(answer.now)
        arguments: Any = answer.arguments
        time = _a_time(answer)
        try:
            proof = prove(record, answer.predicate, arguments, time)
            if proof is None:
                raise PresageError(f"no proof was found from what had arrived at {show_number(answer.now)}")
            check(record, proof, answer.predicate, arguments, time)
            shown = Printer(self.program).to_json(proof)
            json.dumps(shown)  # what cannot be written is not promised
        except Rejected as reason:
            raise PresageError(f"a proof was found, but the checker does not accept it: {reason}") from None
        except RecursionError:
            raise PresageError(TOO_LONG) from None
        return shown, [self.program.rules[each] for each in rules(proof)]

    def _record(self, at: Number) -> Record:
        arrived = self._facts[: bisect.bisect_right(self._arrivals, at)]
        return Record(
            self.program, self.reasoner.subject.discrete, tuple(map(InputFact.of, arrived)), self._statics, at
        )

    def _possible_rules(self, answer: Answer) -> list[Rule]:
        """The rules an open answer may go through: those of the premise patterns that look like its ways, or else
        all that lead to its predicate."""
        patterns = (
            () if self.reasoner.supposing is None else self.reasoner.supposing.engine.patterns.get(answer.predicate, ())
        )
        ways = answer.ways or ({"because": answer.because, "needs": answer.needs},)
        wanted = [Counter(map(_predicate, (*way["because"], *way["needs"]))) for way in ways]
        alike = [
            pattern.rules
            for pattern in patterns
            if Counter((each.predicate, each.positive) for each in pattern.literals) in wanted
        ]
        if alike:
            return [rule for pattern in alike for rule in pattern]
        return list(self._leading_to(answer.predicate))

    def _leading_to(self, predicate: str) -> Iterator[Rule]:
        todo, seen = [predicate], {predicate}
        while todo:
            name = todo.pop()
            for rule in self.program.rules:
                if any(atom.predicate == name for head in rule.head_atoms for atom in atoms(head)):
                    yield rule
                    below = {atom.predicate for literal in rule.body for atom in atoms(literal)} - seen
                    seen |= below
                    todo.extend(below)

    def _lines(self, through: Iterable[Rule]) -> list[dict[str, Any]]:
        """Rules as they were written, each once, in the order of the text."""
        found: dict[int, str] = {}
        for rule in through:
            found.setdefault(self.program.line_of(rule), written(rule, self.program.source))
        return [{"line": line, "text": text} for line, text in sorted(found.items())]


def _way(answer: Answer) -> dict[str, Any]:
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


def _predicate(text: str) -> tuple[str, bool]:
    """The predicate of a literal in canonical text, and whether it is positive."""
    positive = not text.startswith("not ")
    return text.removeprefix("not ").split("(", 1)[0].split("@", 1)[0], positive
