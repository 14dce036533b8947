"""More about an answer that was read from elsewhere: what its line says, and the rules that lead to it if the program
is known. There are no facts here, and so no proofs."""

from __future__ import annotations

from typing import Any

from presage.analysis.subject import Subject
from presage.answers import Answer
from presage.model.program import Program
from presage.model.statements import Start
from presage.rewrite.units import Units
from presage.web.board import BoardEntry
from presage.web.details import Describing, keys_of, leading_to, query_title, rule_lines, way_of
from presage.web.story import queries_in_words

NO_PROOF = "these answers were read from a file; `presage explain`, with the facts, proves them"


class ToldDetails(Describing):
    """Queries and variables are those of the program or, without one, those heard of."""

    def __init__(self, source: str, subject: Subject | None = None) -> None:
        self._source, self._subject = source, subject
        self._places: dict[str, int] = {}
        self._keys: dict[str, None] = {}
        if self._subject is not None:
            for query in self._subject.queries:
                self._places.setdefault(query_title(query).split("(", 1)[0], len(self._places))
            self._keys = dict.fromkeys(keys_of(self._subject.queries))

    @property
    def version(self) -> int:  # type: ignore[override]
        return len(self._places) + len(self._keys)

    def about(self) -> dict[str, Any]:
        program = None if self._subject is None else self._subject.program
        units = Units(program or Program())
        return {
            "program": self._source,
            "source": "" if program is None else program.source.own_text,
            "queries": list(self._places),
            "words": self._words(),
            "discrete": self._subject is None or self._subject.discrete,
            "hypothetical": True,
            "several_models": True,
            "tick_milliseconds": None if units.tick is None else float(units.tick),
            "start": units.start.isoformat(),
            "shows_clock": program is not None and program.setting(Start) is not None,
            "facts": None,
            "keys": list(self._keys),
        }

    def _words(self) -> list[dict[str, str]]:
        known = [] if self._subject is None else queries_in_words(self._subject, {})
        by_name = {each["query"].split("(", 1)[0].split("@", 1)[0]: each for each in known}
        return [by_name.get(name, {"query": name, "means": "", "tone": ""}) for name in self._places]

    def query_of(self, answer: Answer) -> int:
        for name in answer.bindings:
            self._keys.setdefault(name)
        return self._places.setdefault(answer.predicate, len(self._places)) if answer.predicate else 0

    def of(self, entry: BoardEntry) -> dict[str, Any]:
        answer = entry.answer
        program = None if self._subject is None else self._subject.program
        rules = [] if program is None else rule_lines(program, leading_to(program, answer.predicate))
        return {
            "line": self.full_line(answer, entry.since),
            "failed": [],
            "query": answer.predicate,
            "proof": None,
            "no_proof": NO_PROOF if answer.status == "confirmed" else "",
            "rules": rules,
            "rules_are_certain": False,
            "was": None if entry.was is None or answer.status == "confirmed" else way_of(entry.was),
        }
