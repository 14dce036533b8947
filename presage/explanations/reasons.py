"""`presage run --because`: the answers of a run, each with what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.analysis.subject import Subject
    from presage.answers import Answer
    from presage.io.facts import Fact


def evidence_of(
    subject: Subject, facts: Sequence[Fact], statics: Sequence[Fact]
) -> Callable[[Sequence[Answer]], list[Answer]]:
    """What adds evidence to the confirmed answers of a step; refuses programs whose answers have no proofs."""
    from presage.evidence.proof import InputFact
    from presage.evidence.solve import NotExplained
    from presage.explanations.because import Because
    from presage.model.time import TimeSpan
    from presage.run.hypothetical import asked_by

    known = [(fact.predicate, fact.arguments) for fact in statics]
    predicates = list(dict.fromkeys(query.atom.predicate for query in subject.queries))
    try:
        because = Because(subject.program, subject.discrete, [InputFact.of(fact) for fact in facts], known, predicates)
    except NotExplained as problem:
        raise PresageError(f"--because: {problem}") from None

    def given(answers: Sequence[Answer]) -> list[Answer]:
        if not answers:
            return []
        because.look(answers[0].now)
        return [_with_evidence(answer) for answer in answers]

    def _with_evidence(answer: Answer) -> Answer:
        if answer.status != "confirmed" or answer.because:
            return answer
        low, high = (answer.time, answer.time) if answer.time is not None else (answer.start, answer.end)
        closed = answer.bounds or "[]"
        span = TimeSpan(low, high, closed[0] == "[", closed[1] == "]")
        arguments: Any = answer.arguments
        # What breaks a constraint is shown by one name, and derived by another for each constraint.
        name = next(query.atom.predicate for query in subject.queries if asked_by(query, answer))
        return replace(answer, because=because.of(name, arguments, span))

    return given
