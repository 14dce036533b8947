"""Why an answer holds, as a proof that the checker has accepted; or why it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from presage.analysis.subject import Subject
from presage.answers import Answer, json_value
from presage.checking import Report, check_program, check_text
from presage.colours import tone_of
from presage.errors import PresageError
from presage.evidence.checker import Rejected, check
from presage.evidence.proof import InputFact, Proof, Record, rules
from presage.evidence.prove import prove_during
from presage.evidence.solve import NotExplained
from presage.evidence.supported import refuse_unknown
from presage.evidence.tabling import SeenStream, Worlds
from presage.explanations.gathered import explain_gathered, with_what_was_counted
from presage.explanations.invented import with_names
from presage.explanations.outline import outline_of
from presage.explanations.own import explain_by_run
from presage.explanations.question import read_question
from presage.explanations.result import Explanation
from presage.explanations.room import with_room
from presage.explanations.unproved import explain_unproved
from presage.explanations.words import Printer, show_conclusion, show_evidence
from presage.io.facts import Checker, Fact
from presage.io.files import read_facts
from presage.io.given import GivenReader
from presage.io.tables import Columns, TableReader
from presage.io.tuples import FactTuple
from presage.model.formulas import Atom
from presage.model.program import Program
from presage.model.terms import Constant, Number, Value
from presage.model.time import TimeSpan
from presage.run.reasoner import Reasoner
from presage.run.schedule import default_end
from presage.support import NOT_EXPLAINED

Facts = Iterable[FactTuple | Mapping[str, Any]] | Mapping[str, Any] | str | Path
"""Facts as `Reasoner.push` takes them: tuples, or a table for each predicate; also lines of JSON as mappings, which can
say when a fact arrived, and a file of facts."""


def explain(
    program: Program | str,
    facts: Facts,
    answer: str | Answer,
    at: Any = None,
    *,
    static: Mapping[str, Any] | None = None,
) -> Explanation:
    """Why an answer such as `malf(wt25)@0` holds, what it waits for, or what failed, as far as was known at a time:
    what arrived after `at` is not seen. Without it, the end: when everything that these facts say is decided. A proof
    is checked, by a checker that shares nothing with who found it, before it is given."""
    explainer = Explainer(check_text(program) if isinstance(program, str) else check_program(program))
    statics = list(explainer.reader.statics(static or {}))
    time = None if at is None else explainer.time(at, "at")
    text = answer.answer if isinstance(answer, Answer) else answer
    return explainer.explain(text, [*statics, *explainer.read(facts)], time)


class Explainer:
    """Explains answers of one program, over facts that are checked already."""

    def __init__(self, report: Report) -> None:
        report.or_raise()
        assert report.findings is not None
        self.report, self.findings = report, report.findings
        if report.findings.route.engine != "interval" and report.program.meaning is None:
            reason = report.findings.route.reason
            raise PresageError(
                f"{report.source.name}: no explanations yet for {NOT_EXPLAINED['several models']}: "
                f"this program needs answer streams: {reason}"
            )
        subject = report.findings.subject
        self.checker = Checker(subject.program, subject.predicates, subject.discrete)
        self.reader = TableReader(self.checker)

    def time(self, given: Any, name: str) -> Number:
        """The time of the look."""
        at = self.checker.time(given, name)
        if at < 0:
            raise PresageError(f"{name}: the stream starts at time 0")
        return at

    def read(self, facts: Facts) -> list[Fact]:
        """Facts as people give them, checked; static ones have no time."""
        if isinstance(facts, (str, Path)):
            return list(read_facts([Path(facts)], self.checker))
        if isinstance(facts, Mapping):
            found: list[Fact] = []
            for name, table in facts.items():
                read = self.reader.read(name, table)
                found.extend(read.facts() if isinstance(read, Columns) else read)
            return found
        entries = list(facts)
        lines = [each for each in entries if isinstance(each, Mapping)]
        checked = [self.checker.fact(dict(each), f"fact {number}") for number, each in enumerate(lines, 1)]
        return checked + GivenReader(self.checker).facts(each for each in entries if not isinstance(each, Mapping))

    def ask(self, answer: str) -> tuple[Subject, Atom, TimeSpan] | None:
        """What is asked for, or what is wrong with it; what is asked of another language is a line of its run."""
        return None if self.report.program.meaning is not None else read_question(answer, self.findings, self.checker)

    def has_ways(self, answer: str) -> bool:
        """Whether there are premise patterns of what is asked for, so that it need not be said of an answer that is
        not confirmed what would have to be invented for it."""
        from presage.patterns.finish import NoPatterns
        from presage.patterns.finite import all_patterns

        asked = self.ask(answer)
        try:
            return asked is not None and bool(all_patterns({asked[1].predicate}, self.findings.unfolded.by_points))
        except NoPatterns:
            return False

    def explain(self, answer: str, facts: Sequence[Fact], at: Number | None) -> Explanation:
        """Facts without a time are static; without a time of the look, everything is decided by then."""
        statics = [fact for fact in facts if fact.low is None]
        stream = [fact for fact in facts if fact.low is not None]
        if at is None:
            at = default_end(Reasoner(self.report.program, emit="confirmed", report=self.report), stream)
        if self.report.program.meaning is None:
            named = with_names(self.report, facts, at)
            if named is not None:
                proved = named.as_printed(Explainer(named.report).explain(answer, [*facts, *named.facts], at))
                if proved.status == "confirmed" or not self.has_ways(answer):
                    return proved
        asked = self.ask(answer)
        if asked is None:
            return explain_by_run(self.report, stream, statics, answer, at)
        subject, atom, span = asked
        late = sum(fact.arrival <= at and self.checker.is_late(fact, fact.arrival) for fact in stream)
        record = Record(
            subject.program,
            subject.discrete,
            tuple(map(InputFact.of, stream)),
            tuple((fact.predicate, fact.arguments) for fact in statics),
            at,
        )
        tone = next((tone_of(query) for query in subject.queries if query.atom.predicate == atom.predicate), "")
        try:
            found = with_room(lambda: explain_answer(subject, record, atom, span))
        except NotExplained:
            gathered = explain_gathered(self.report, record, atom, span)
            if gathered is None:
                raise
            found = gathered
        if found.status in ("refuted", "impossible") and "decisive" in found.line:
            found = with_what_was_counted(found, self.report, record, atom, span)
        return replace(found, tone=tone, late=late)


def explain_answer(subject: Subject, record: Record, atom: Atom, span: TimeSpan) -> Explanation:
    """Why an atom holds throughout a span, or why not, as far as was known at `record.at`."""

    arguments = tuple(term.value for term in atom.arguments if isinstance(term, Constant))
    assert span.low is not None
    if len(arguments) < len(atom.arguments):
        if not span.is_point:
            raise PresageError("an answer with variables is explained at one time, not over an interval")
        return explain_unproved(subject, record, atom, span.low)
    time, unknown, proof = span.low, None, None
    try:
        refuse_unknown(record.program, atom.predicate)
        worlds = Worlds(SeenStream(record))
        times = worlds.line.span(span)
        if not times:
            raise PresageError("there is no time in the interval of the answer")
        proof = prove_during(worlds, atom.predicate, arguments, times)
        if proof is None and not span.is_point:
            gap = worlds.not_found(atom.predicate, arguments, times)
            time = worlds.line.as_span(worlds.line.some_point(gap[0], latest=False)[0]).low or span.low
    except NotExplained as reason:
        unknown = reason
        if not span.is_point:
            raise PresageError(f"{reason}: ask for one time of the interval") from None
    if proof is None:
        # Of an interval, the first time at which it is not so.
        return explain_unproved(subject, record, atom, time, unknown)
    _refuse_unless_checked(record, proof, atom.predicate, arguments, span)
    return explain_proved(record, proof)


def _refuse_unless_checked(
    record: Record, proof: Proof, predicate: str, arguments: tuple[Value, ...], span: TimeSpan
) -> None:

    try:
        check(record, proof, predicate, arguments, span)
    except Rejected as reason:
        raise PresageError(f"a proof was found, but the checker does not accept it: {reason}") from None


def explain_proved(record: Record, proof: Proof) -> Explanation:

    printer = Printer(record.program)
    answer, at = show_conclusion(proof), json_value(record.at)
    line = {
        "answer": answer,
        "at": at,
        "status": "confirmed",
        "says": f"{answer} is confirmed at {at}",
        "because": show_evidence(proof),
        "history": None,
        "ways": [],
        "failed": None,
        "rules": [printer.rule_json(number) for number in rules(proof)],
        "proof": printer.to_json(proof),
    }
    return Explanation(line, outline_of(printer, proof), record.at)
