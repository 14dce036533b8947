"""The evidence of confirmed answers, for runs that are asked for it.

The engine of entailed facts forgets what can no longer matter, and so cannot say what an answer rests on. Where all
facts of a run are at hand, a proof can: facts are taken as the run goes on, and the answers of a step share one look at
them. That costs a proof for each answer, and memory for all facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from presage.evidence.proof import InputFact, Record
from presage.evidence.prove import prove_during
from presage.evidence.supported import refuse_unknown
from presage.evidence.tabling import SeenStream, Worlds
from presage.explanations.words import show_evidence
from presage.model.program import Program
from presage.model.terms import Number, Value
from presage.model.time import TimeSpan


class Because:
    """What answers rest on, step by step; facts are given in the order of their arrival."""

    def __init__(
        self,
        program: Program,
        discrete: bool,
        facts: Sequence[InputFact],
        statics: Iterable[tuple[str, tuple[Value, ...]]],
        predicates: Iterable[str],
    ) -> None:
        """`predicates` are those to be asked for; raises `NotExplained` if one hangs on rules without proofs."""
        for name in predicates:
            refuse_unknown(program, name)
        self._facts = sorted(facts, key=lambda fact: fact.arrives)
        self._taken = 0
        self._stream = SeenStream(Record(program, discrete, (), tuple(statics), -1))
        self._worlds: Worlds | None = None

    def look(self, now: Number) -> None:
        """The answers that follow are those of a step at this time."""
        start = self._taken
        while self._taken < len(self._facts) and self._facts[self._taken].arrives <= now:
            self._taken += 1
        self._stream.go_on(now, self._facts[start : self._taken])
        self._worlds = None

    def of(self, predicate: str, arguments: tuple[Value, ...], span: TimeSpan) -> tuple[str, ...]:
        """The facts and absences an answer rests on throughout a span; none where it is not entailed."""
        if self._worlds is None:
            self._worlds = Worlds(self._stream)
        proof = prove_during(self._worlds, predicate, arguments, self._worlds.line.span(span))
        return () if proof is None else tuple(show_evidence(proof))
