"""`presage explain` for answers that are not confirmed: how they stood, found by a run that is asked for this time.

On dense time, and where times stay open, premises are stretches of time that hang on the answer's own, and have no
proof to be laid out in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from presage.answers import Answer, json_value
from presage.errors import PresageError
from presage.explanations.outline import Outline, Sign, point
from presage.explanations.result import Explanation
from presage.model.formulas import Pinned
from presage.model.printer import show_formula, show_number
from presage.model.program import Program
from presage.model.statements import Query
from presage.model.terms import Constant, Variable
from presage.model.time import Pin

if TYPE_CHECKING:
    from presage.analysis.subject import Subject
    from presage.evidence.proof import Record
    from presage.model.formulas import Atom
    from presage.model.terms import Number

_SIGNS = {"possible": Sign.POSSIBLE, "unsupported": Sign.UNSUPPORTED, "refuted": Sign.REFUTED}


def explain_by_pinned_run(subject: Subject, record: Record, atom: Atom, time: Number) -> Explanation | None:
    """How an answer that is not confirmed stands; `None` if nothing was said of it."""
    said = _said(subject, record, atom, time)
    if not said or said[-1].status not in _SIGNS:
        return None
    last = said[-1]
    before = next((each for each in reversed(said) if each.status == "possible"), None)
    answer = show_formula(Pinned(atom, Pin(None, time)))
    ways = _ways(last) if last.status == "possible" else []
    says = _headline(answer, record.at, last, before)
    below = [_outline(way, number, len(ways)) for number, way in enumerate(ways, 1)]
    failed: dict[str, Any] | None = None
    if last.status == "refuted" and before is not None:
        first, *others = before.needs
        failed = {"premise": first, "when": json_value(last.now), "reason": says, "kind": "late"}
        failed |= {"met": list(before.because), "others": others, "because": []}
        below = [Outline(each, "", Sign.THERE) for each in before.because]
        below += [Outline(each, "cannot come any more", Sign.FAILED) for each in before.needs]
    line = {
        "answer": answer,
        "at": json_value(record.at),
        "status": last.status,
        "says": says,
        "because": ways[0]["because"] if ways else [],
        "history": [
            {"at": json_value(now), "status": status}
            for now, status in dict.fromkeys((each.now, each.status) for each in said)
        ],
        "ways": ways,
        "failed": failed,
        "rules": [],
        "proof": None,
    }
    outline = Outline(says, "", _SIGNS[last.status], show_formula(atom), point(time), None, tuple(below))
    return Explanation(line, outline, record.at)


def _said(subject: Subject, record: Record, atom: Atom, time: Number) -> list[Answer]:
    """What a run that is asked for this predicate at this time says of the answer, up to the time of the look."""
    from presage.io.facts import Fact
    from presage.run.reasoner import Reasoner
    from presage.run.schedule import steps

    columns = tuple(Variable(f"X{place + 1}") for place in range(len(atom.arguments)))
    asked = Query(replace(atom, arguments=columns), Pin(None, time))
    others = tuple(each for each in subject.program.statements if not isinstance(each, Query))
    facts = [
        Fact(each.predicate, each.arguments, span.low, span.high, span.closed_low, span.closed_high, each.arrives)
        for each in record.facts
        if each.arrives <= record.at and (span := each.span)
    ]
    arguments = tuple(term.value for term in atom.arguments if isinstance(term, Constant))
    try:
        reasoner = Reasoner(Program((*others, asked)), emit="changes")
        reasoner.add_statics([Fact(name, row, None, None) for name, row in record.statics])
        told = [each for answers in steps(reasoner, facts, record.at) for each in answers]
        # What is open is shown as of now, shortened by what time alone has settled.
        told += [each for each in reasoner.answers() if each.status == "possible"]
    except PresageError:  # no run has hypothetical answers here, or none over such facts
        return []
    return [each for each in told if each.arguments == arguments]


def _ways(answer: Answer) -> list[dict[str, Any]]:
    told = answer.ways or (
        {
            "because": answer.because,
            "needs": answer.needs,
            "unless": answer.unless,
            "decided_by": answer.decided_by,
            "confidence": answer.confidence,
        },
    )
    found = []
    for way in told:
        until = None if way["decided_by"] is None else json_value(way["decided_by"])
        # A way is settled with the last of its premises.
        missing = [{"premise": each, "until": until if len(way["needs"]) == 1 else None} for each in way["needs"]]
        lists = {name: list(way[name]) for name in ("because", "needs", "unless")}
        rest = {"missing": missing, "decided_by": until, "confidence": way["confidence"], "rules": [], "proof": None}
        found.append({**lists, **rest})
    return found


def _headline(answer: str, at: Number, last: Answer, before: Answer | None) -> str:
    when = show_number(at)
    if last.status == "possible":
        settled = "" if last.decided_by is None else f", settled by {show_number(last.decided_by)}"
        return f"{answer} is possible at {when}: what is missing is {', '.join(last.needs)}{settled}"
    if last.status == "unsupported":
        return f"{answer} is unsupported at {when}: its evidence is gone, though it may still come true"
    missed = f": it needed {', '.join(before.needs)}, which cannot come any more" if before is not None else ""
    return f"{answer} was refuted at {show_number(last.now)}{missed}"


def _outline(way: dict[str, Any], number: int, count: int) -> Outline:
    title = [f"way {number}"] if count > 1 else []
    if way["decided_by"] is not None:
        title.append(f"decided by {way['decided_by']}")
    there = [Outline(each, "arrived", Sign.THERE) for each in way["because"]]
    missing = [Outline(each, "is missing", Sign.MISSING) for each in way["needs"]]
    unless = [Outline(f"unless {each}") for each in way["unless"]]
    return Outline(", ".join(title) or "needs", below=(*there, *missing, *unless))
