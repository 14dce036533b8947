"""How an answer would come about: the proof it would have if what is open, or what failed, were there.

A way is a set of premises. People want to see what they lead to: each rule as it was written, with its values. So the
premises are taken for facts, and the prover and the checker do the rest. Where the proof would rest on anything
but the way's own premises, or the prover does not know the rules, there is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from presage.answers import TimedInstance
from presage.errors import PresageError
from presage.evidence.checker import Rejected, check
from presage.evidence.proof import Absent, Given, InputFact, Proof, Record, walk
from presage.evidence.prove import prove
from presage.explanations.words import show_conclusion
from presage.model.terms import Number
from presage.model.time import TimeSpan


def proof_if(
    record: Record,
    answer: TimedInstance,
    there: Collection[str],
    needed: Collection[str],
    assumed: Iterable[TimedInstance],
    settled: Number | None = None,
) -> Proof | None:
    """The proof of an answer from what is there and what is needed, in canonical text, once both are settled;
    `assumed` are those of the latter that are facts."""
    name, arguments, time = answer
    added = [InputFact(predicate, values, TimeSpan(at, at), at) for predicate, values, at in assumed]
    seen = tuple(fact for fact in record.facts if fact.arrives <= record.at)
    at = max([record.at, *(fact.arrives for fact in added), *([] if settled is None else [settled])])
    supposed = replace(record, facts=(*seen, *added), at=at)
    try:
        proof = prove(supposed, name, arguments, time)
        if proof is None:
            return None
        check(supposed, proof, name, arguments, time)
    except (PresageError, Rejected):
        return None
    leaves = {show_conclusion(each) for each in walk(proof) if isinstance(each, (Given, Absent))}
    return proof if leaves <= {*there, *needed} and leaves >= set(needed) else None
