"""`presage explain` for answers that are not confirmed: what they wait for or what failed, as text and as JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from presage.answers import json_value
from presage.errors import PresageError
from presage.explanations.assuming import proof_if
from presage.explanations.counted import explain_counted
from presage.explanations.lacking_outline import chain_outline, first_words, last_outline, last_words
from presage.explanations.outline import Outline, Sign, near_outline, outline_of, point
from presage.explanations.pinned_run import explain_by_pinned_run
from presage.explanations.result import Explanation
from presage.explanations.words import Printer, written
from presage.model.formulas import Pinned
from presage.model.printer import show_formula, show_number
from presage.model.terms import Constant, Number, Variable
from presage.model.time import Pin

if TYPE_CHECKING:
    from presage.analysis.subject import Subject
    from presage.evidence.proof import Proof, Record
    from presage.hypothesis.why import AnswerCourse, ArrivedFact, OpenPremise, OpenWay
    from presage.model.formulas import Atom
    from presage.model.statements import Rule
    from presage.patterns.finish import NoPatterns
    from presage.patterns.literals import Lit

MOST_SHOWN = 8
"""So many ways, or instances, are laid out for people; JSON has them all."""
SIGNS = {
    "confirmed": Sign.CONFIRMED,
    "possible": Sign.POSSIBLE,
    "unsupported": Sign.UNSUPPORTED,
    "not entailed": Sign.UNSUPPORTED,
    "refuted": Sign.REFUTED,
    "impossible": Sign.REFUTED,
}


def explain_unproved(
    subject: Subject, record: Record, atom: Atom, time: Number, unknown: PresageError | None = None
) -> Explanation:
    """Says why an atom, which may have variables, is not entailed; `unknown` is why there can be no proof of it."""
    from presage.hypothesis.why import Why
    from presage.patterns.finish import NoPatterns
    from presage.patterns.listing import with_names
    from presage.patterns.literals import Open

    atom = with_names(atom)
    arguments = tuple(
        Open(term.name) if isinstance(term, Variable) else term.value
        for term in atom.arguments
        if isinstance(term, (Variable, Constant))
    )
    if subject.predicates[atom.predicate].is_static:
        return _not_static(record, atom)
    try:
        arrivals = list(_arrivals(record))
        start = 0 if subject.program.tick is None else None
        explanation = Why(subject, record.statics, arrivals, start).of(atom.predicate, arguments, time, record.at)
    except NoPatterns as found:
        if not any(isinstance(each, Open) for each in arguments):
            counted = explain_counted(subject, record, atom, time) if unknown is not None else None
            if counted is not None:
                return counted
        if unknown is not None or any(isinstance(each, Open) for each in arguments):
            raise unknown or _no_ways(subject, found) from None
        stands = explain_by_pinned_run(subject, record, atom, time)
        if stands is None:
            return _explained_by_proof(subject, record, atom, time, found)
        return _with_what_failed(stands, record, atom, time) if stands.status == "refuted" else stands
    line, outline = _Telling(subject, record, arrivals).of(explanation)
    return Explanation(line, outline, record.at)


def _arrivals(record: Record) -> Iterator[ArrivedFact]:
    """The facts that were seen by then and were not too late."""
    from presage.evidence.tabling import SeenStream
    from presage.hypothesis.why import ArrivedFact
    from presage.patterns.finish import NoPatterns

    for facts in SeenStream(record).by_name.values():
        for fact in facts:
            low, high = fact.span.low, fact.span.high
            assert low is not None
            if low != high and not record.discrete:
                raise NoPatterns("a fact holds over an interval of dense time")
            yield ArrivedFact(fact.arrives, fact.predicate, fact.arguments, low, None if high is None else high - low)


def _no_ways(subject: Subject, found: NoPatterns) -> PresageError:
    lines = _lines(subject, found.rules)
    return PresageError(
        f"{subject.program.source.name}: only confirmed answers can be explained: {found.reason}{lines}"
    )


def _lines(subject: Subject, rules: Iterable[Rule]) -> str:
    places = subject.program.places_of(rules)
    return f" ({places})" if places else ""


def _object(answer: str, at: Number, status: str, says: str, **more: Any) -> dict[str, Any]:
    """The JSON object of an explanation: the same fields whatever is explained."""
    fields: dict[str, Any] = {"answer": answer, "at": json_value(at), "status": status, "says": says}
    empty: dict[str, Any] = {"because": [], "history": None, "ways": None, "failed": None, "rules": [], "proof": None}
    return {**fields, **empty, **more}


# Where only proofs can be had.


def _not_static(record: Record, atom: Atom) -> Explanation:
    answer = show_formula(atom)
    reason = f"{answer} is not among the static facts"
    failed = _failure_json(None, None, reason, "static")
    return Explanation(
        _object(answer, record.at, "impossible", reason, ways=[], failed=failed), Outline(reason), record.at
    )


def _explained_by_proof(subject: Subject, record: Record, atom: Atom, time: Number, found: NoPatterns) -> Explanation:
    """Without ways it can still be said whether the atom may come true at all, and what it lacks first."""
    from presage.evidence.checker import Rejected, check
    from presage.evidence.lacking import first_lack
    from presage.evidence.prove import prove_absent

    arguments = tuple(term.value for term in atom.arguments if isinstance(term, Constant))
    absent = prove_absent(record, atom.predicate, arguments, time)
    if absent is not None:
        try:
            check(record, absent, atom.predicate, arguments, time, absent=True)
        except Rejected as reason:
            raise PresageError(f"a reason was found, but the checker does not accept it: {reason}") from None
    printer = Printer(record.program)
    answer, at = _named(show_formula(Pinned(atom, Pin(None, time)))), show_number(record.at)
    why = f"only confirmed answers can be explained in full here: {found.reason}{_lines(subject, found.rules)}"
    lack = first_lack(record, atom.predicate, arguments, time, for_ever=absent is not None)
    first = first_words(printer, lack)
    if absent is None:
        status, says = "not entailed", f"{answer} is open at {at}: it may come true, but nothing entails it yet"
        if first is not None:
            says += f"; what is missing first is {first}" + _settled_by(lack.until, record.at)
    else:
        status, says = "impossible", f"{answer} is false at {at}: nothing makes it true, and nothing can any more"
        if first is not None:
            says += f"; what failed first is {first}"
    line = _object(answer, record.at, status, says, why=why, rules=_rules_json(subject, found.rules))
    line["missing"] = [] if absent is not None or first is None else [_missing_json(first, lack.until)]
    line["chain"] = printer.chain_json(lack)
    below = chain_outline(printer, lack, last_outline(printer, lack, absent is not None)) if lack.chain else ()
    if absent is not None:
        line["failed"] = _failure_json(first, None, "nothing makes it true, and nothing can any more", "rules")
        line["near"] = printer.to_json(absent)["near"]
        shown = {each.rule for each in lack.chain}
        below += tuple(near_outline(printer, each) for each in absent.near if each.rule not in shown)
    if absent is None or not below:
        below = (*below, Outline(why))
    outline = Outline(says, "", SIGNS[status], _named(show_formula(atom)), point(time), None, below)
    return Explanation(line, outline, record.at)


def _with_what_failed(stands: Explanation, record: Record, atom: Atom, time: Number) -> Explanation:
    """An answer that was refuted, with the rules from it down to what failed, where the prover knows."""
    from presage.evidence.lacking import first_lack

    arguments = tuple(term.value for term in atom.arguments if isinstance(term, Constant))
    printer = Printer(record.program)
    try:
        lack = first_lack(record, atom.predicate, arguments, time, for_ever=True)
    except PresageError:
        return stands
    first = first_words(printer, lack)
    if first is None:
        return stands
    says = f"{stands.outline.text}; what failed first is {first}"
    line = {**stands.line, "says": says, "chain": printer.chain_json(lack)}
    below = (*chain_outline(printer, lack, last_outline(printer, lack, True)), *stands.outline.below)
    return replace(stands, line=line, outline=replace(stands.outline, text=says, below=below))


def _settled_by(until: Number | None, now: Number) -> str:
    return "" if until is None or until <= now else f", which is settled by {show_number(until)}"


# JSON.


def _rules_json(subject: Subject, rules: Iterable[Rule]) -> list[dict[str, Any]]:
    source = subject.program.source
    return [{**subject.program.place_json(rule), "rule": written(rule, source)} for rule in dict.fromkeys(rules)]


def _texts(lits: Iterable[Lit]) -> list[str]:
    return [str(lit) for lit in sorted(lits, key=lambda lit: lit.order)]


def _json_time(time: Number | None) -> str | int | float | None:
    return None if time is None else json_value(time)


def _missing_json(premise: str, until: Number | None) -> dict[str, Any]:
    return {"premise": premise, "until": _json_time(until)}


def _failure_json(premise: str | None, when: Number | None, reason: str, kind: str) -> dict[str, Any]:
    failed: dict[str, Any] = {"premise": premise, "when": _json_time(when), "reason": reason, "kind": kind}
    return {**failed, "met": [], "others": [], "because": []}


class _Telling:
    """Explanations by premise patterns, as JSON objects and as outlines."""

    def __init__(self, subject: Subject, record: Record, arrivals: Iterable[ArrivedFact]) -> None:
        self.subject, self.record = subject, record
        self.arrivals: dict[Any, list[ArrivedFact]] = {}
        for each in arrivals:
            self.arrivals.setdefault((each.predicate, each.arguments), []).append(each)

    def of(self, explanation: AnswerCourse) -> tuple[dict[str, Any], Outline]:
        failed, status = explanation.failed, explanation.status
        says = headline(explanation)
        rules = [rule for way in explanation.ways for rule in way.rules] + list(failed.rules if failed else ())
        line = _object(
            _named(str(explanation.answer)),
            explanation.at,
            status,
            says,
            history=[{"at": json_value(at), "status": each} for at, each in explanation.history],
            rules=_rules_json(self.subject, rules),
        )
        below: list[Outline] = []
        if failed is not None:
            line["failed"], failures = self._failure(explanation)
            below.extend(failures)
        line["ways"] = []
        for number, way in enumerate(explanation.ways, 1):
            shown, reasons = self._way(explanation, way, number)
            line["ways"].append(shown)
            if number <= MOST_SHOWN:
                below.append(reasons)
        below += _rest(len(explanation.ways), "ways")
        if explanation.ways and status in ("confirmed", "possible"):
            line["because"] = line["ways"][0]["because"]
        if explanation.instances:
            told = [self.of(each) for each in explanation.instances]
            line["instances"] = [each for each, _ in told]
            below += [each for _, each in told[:MOST_SHOWN]] + _rest(len(told), "answers")
        answer = explanation.answer
        when = point(answer.time) if not isinstance(answer.time, tuple) and not explanation.instances else None
        return line, Outline(says, "", SIGNS[status], _about(answer), when, None, tuple(below))

    def _way(self, explanation: AnswerCourse, each: OpenWay, number: int) -> tuple[dict[str, Any], Outline]:
        way, several = each.way, len(explanation.ways) > 1
        proof = self._proof_if(explanation.answer, way.because, way.needs, each.decided_by)
        printer = Printer(self.record.program, frozenset(_texts(way.needs)))
        line = {
            "because": _texts(way.because),
            "needs": _texts(way.needs),
            "missing": [_missing_json(str(one.premise), one.until) for one in each.waiting],
            "unless": list(way.unless),
            "decided_by": _json_time(each.decided_by),
            "confidence": each.confidence,
            "rules": _rules_json(self.subject, each.rules),
            "proof": None if proof is None else printer.to_json(proof),
        }
        title = [f"way {number}"] if several else []
        if each.decided_by is not None:
            title.append(f"decided by {show_number(each.decided_by)}")
        if each.confidence is not None:
            title.append(f"with probability {each.confidence:.3g}")
        there = [self._there(lit) for lit in sorted(way.because, key=lambda lit: lit.order)]
        waiting = [_waiting(one) for one in each.waiting]
        unless = [Outline(f"unless {clause}") for clause in way.unless]
        below = self._reasons(proof, printer, SIGNS[explanation.status], (*there, *waiting), each.rules)
        return line, Outline(", ".join(title) or ("needs" if way.needs else "because of"), below=(*below, *unless))

    def _proof_if(
        self, answer: Lit, there: Collection[Lit], needed: Collection[Lit], settled: Number | None = None
    ) -> Proof | None:
        if not all(each.is_ground for each in (answer, *there, *needed)):
            return None
        assumed: Any = [each.atom for each in needed if each.positive]
        given: Any = answer.atom
        return proof_if(self.record, given, list(map(str, there)), list(map(str, needed)), assumed, settled)

    def _reasons(
        self, proof: Proof | None, printer: Printer, sign: Sign, leaves: Iterable[Outline], rules: Iterable[Rule]
    ) -> tuple[Outline, ...]:
        """The premises below the rules they lead through or, where no proof puts them in place, beside them."""
        if proof is not None:
            return (outline_of(printer, proof, sign, {leaf.text: leaf for leaf in leaves}),)
        return (*leaves, *self._rules(rules))

    def _there(self, lit: Lit) -> Outline:
        sign = Sign.THERE if lit.positive else Sign.ABSENT
        return Outline(str(lit), self._arrived(lit) if lit.positive else "settled", sign, _about(lit), _when(lit))

    def _arrived(self, lit: Lit) -> str:
        found = [
            each.when
            for each in self.arrivals.get((lit.predicate, lit.arguments), ())
            if not isinstance(lit.time, tuple)
            and each.time <= lit.time
            and (each.length is None or lit.time <= each.time + each.length)
        ]
        return f"arrived at {show_number(min(found))}" if found else ""

    def _failure(self, explanation: AnswerCourse) -> tuple[dict[str, Any], list[Outline]]:
        failed = explanation.failed
        assert failed is not None
        premise = None if failed.premise is None else str(failed.premise)
        line = _failure_json(premise, failed.when, failed.reason, failed.kind)
        line.update(met=_texts(failed.met), others=_texts(failed.others), because=_texts(failed.because))
        gone = [each for each in (failed.premise, *failed.others) if each is not None]
        late = failed.kind == "late"
        proof = self._proof_if(explanation.answer, failed.met, gone) if late and gone else None
        printer = Printer(self.record.program, frozenset(map(str, gone)))
        line["proof"] = None if proof is None else printer.to_json(proof)
        leaves = [self._there(lit) for lit in failed.met]
        for lit in gone if failed.kind != "together" else gone[:1]:
            reason = failed.reason.removeprefix(f"{lit} ") if lit is failed.premise else ""
            because = [self._there(each) for each in failed.because] if lit is failed.premise else []
            below = (*because, *self._rules(failed.because_rules if because else ()))
            leaves.append(Outline(str(lit), reason if late else "", Sign.FAILED, _about(lit), _when(lit), None, below))
        if proof is None and premise is not None:
            chain = self._chain(explanation, leaves[len(failed.met)])
            if chain:
                others = leaves[: len(failed.met)] + leaves[len(failed.met) + 1 :]
                return line, [*chain, *others]
        return line, list(self._reasons(proof, printer, SIGNS[explanation.status], leaves, failed.rules))

    def _chain(self, explanation: AnswerCourse, failed: Outline) -> tuple[Outline, ...]:
        """The rules from the answer down to the premise that failed, where the prover comes to the same end."""
        from presage.evidence.lacking import first_lack

        name, arguments, time = explanation.answer.atom
        printer = Printer(self.record.program)
        try:
            lack = first_lack(self.record, name, arguments, time, for_ever=True)  # type: ignore[arg-type]
        except PresageError:
            return ()
        if not lack.chain or last_words(printer, lack) != failed.text:
            return ()
        return chain_outline(printer, lack, failed)

    def _rules(self, rules: Iterable[Rule]) -> tuple[Outline, ...]:
        return tuple(Outline(f"by line {each['line']}, {each['rule']}") for each in _rules_json(self.subject, rules))


def _about(lit: Lit) -> str:
    """What a literal speaks of, without its time."""
    from presage.patterns.literals import show

    return ("" if lit.positive else "not ") + _named(show(lit.predicate, lit.arguments))


def _when(lit: Lit) -> Any:
    return None if isinstance(lit.time, tuple) else point(lit.time)


def _waiting(waiting: OpenPremise) -> Outline:
    lit, until = waiting.premise, waiting.until
    sign = Sign.MISSING if lit.positive else Sign.UNSETTLED
    return Outline(str(lit), _until(waiting), sign, _about(lit), _when(lit), until)


def _until(waiting: OpenPremise) -> str:
    if waiting.until is None:
        return "may arrive" if waiting.premise.positive else "not settled yet"
    until = show_number(waiting.until)
    return f"may arrive until {until}" if waiting.premise.positive else f"not settled before {until}"


def _rest(count: int, what: str) -> list[Outline]:
    return [Outline(f"and {count - MOST_SHOWN} more {what}; --json has them all")] if count > MOST_SHOWN else []


def _named(answer: str) -> str:
    """An answer by the name people know: what breaks a constraint is `violated`, whichever it is."""
    return re.sub(r"^(\w+)#\d+", r"\1", answer)


def headline(explanation: AnswerCourse) -> str:
    """The explanation in one sentence, which names the first thing that is missing or failed."""
    answer, at = _named(str(explanation.answer)), show_number(explanation.at)
    best = explanation.ways[0] if explanation.ways else None
    failed = "" if explanation.failed is None else f": {explanation.failed.reason}"
    was = next((time for time, status in explanation.history if status == "possible"), None)
    count = len(explanation.instances)
    match explanation.status:
        case _ if count and (best is None or not best.way.because):
            others = "others may still come" if best else "no others can come"
            return f"{answer} has {count} answer{'' if count == 1 else 's'} at {at}; {others}"
        case "confirmed":
            return f"{answer} is confirmed at {at}"
        case "possible" if best is not None:
            return f"{answer} is possible at {at}{_first_missing(best)}"
        case "unsupported" if was is not None:
            return f"{answer} is open at {at}, but nothing speaks for it any more{_first_missing(best)}"
        case "unsupported":
            return f"{answer} is open at {at}, but nothing speaks for it yet{_first_missing(best)}"
        case "refuted":
            since = explanation.history[-1][0]
            possible = f"{answer} was possible from {show_number(was or 0)} on"
            return f"{possible} and is refuted since {show_number(since)}{failed}"
        case _:
            return f"{answer} was never possible and cannot come true{failed}"


def _first_missing(way: OpenWay | None) -> str:
    if way is None or not way.waiting:
        return ""
    first, *others = way.waiting
    more = f" (and {len(others)} more)" if others else ""
    verb = "it waits for" if first.premise.positive else "it needs"
    return f": {verb} {first.premise}, which {_which(first)}{more}"


def _which(waiting: OpenPremise) -> str:
    told = _until(waiting)
    return told if told.startswith("may") else f"is {told}"
