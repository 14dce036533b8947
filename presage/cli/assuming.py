"""How an answer would come about: the proof it would have if what is open, or what failed, were there.

A way is a set of premises. People want to see what they lead to: each rule as it was written, with its values. So the
premises are taken for facts, and the prover and the checker do the rest. Where the proof would rest on anything
but the way's own premises, or the prover does not know the rules, there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presage.evidence.proof import Proof, Record
    from presage.hypothesis.literals import Lit
    from presage.model.terms import Number


def proof_if(
    record: Record, answer: Lit, there: Iterable[Lit], assumed: Iterable[Lit], settled: Number | None = None
) -> Proof | None:
    """The proof of an answer from what is there and what is assumed, once both are settled."""
    from presage.errors import PresageError
    from presage.evidence.check import Rejected, check
    from presage.evidence.proof import Absent, Given, InputFact, Span, walk
    from presage.evidence.prove import prove
    from presage.evidence.show import show_conclusion

    there, assumed = list(there), list(assumed)
    if not all(each.is_ground for each in (answer, *there, *assumed)):
        return None
    name, arguments, time = answer.atom
    added = [
        InputFact(each.predicate, each.arguments, Span(each.time, each.time), each.time)  # type: ignore[arg-type]
        for each in assumed
        if each.positive
    ]
    seen = tuple(fact for fact in record.facts if fact.arrives <= record.at)
    at = max([record.at, *(fact.arrives for fact in added), *([] if settled is None else [settled])])
    supposed = replace(record, facts=(*seen, *added), at=at)
    try:
        proof = prove(supposed, name, arguments, time)  # type: ignore[arg-type]
        if proof is None:
            return None
        check(supposed, proof, name, arguments, time)  # type: ignore[arg-type]
    except (PresageError, Rejected):
        return None
    allowed = {str(each) for each in (*there, *assumed)}
    leaves = {show_conclusion(each) for each in walk(proof) if isinstance(each, (Given, Absent))}
    return proof if leaves <= allowed and {str(each) for each in assumed} <= leaves else None
