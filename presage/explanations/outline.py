"""An explanation as an outline: what is said, why, and when, one thing below the other.

Proofs and reasons for a missing answer are both told as outlines, so that one way of writing them as text and one
way of drawing them are enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from presage.answers.series import series, until
from presage.evidence.proof import Absent, ByRule, Given, Known, Missing, OneSide, Pieces, Proof, premises
from presage.explanations.words import Printer, show_conclusion, show_fact, visible
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.model.time import TimeSpan


class Sign(Enum):
    """What a thing on the time line is; each has a shape of its own, as on the live page."""

    CONFIRMED = "◆"
    POSSIBLE = "▶"
    UNSUPPORTED = "◇"
    REFUTED = "✕"
    THERE = "●"
    MISSING = "○"
    ABSENT = "■"
    UNSETTLED = "□"
    FAILED = "✗"
    STEP = ""
    """Something derived on the way: it has times, but is neither an answer nor evidence."""


ANSWERS = (Sign.CONFIRMED, Sign.POSSIBLE, Sign.UNSUPPORTED, Sign.REFUTED)
MEANINGS = {
    Sign.CONFIRMED: "the answer",
    Sign.POSSIBLE: "the answer, if it comes true",
    Sign.UNSUPPORTED: "the answer, if it comes true",
    Sign.REFUTED: "the answer, which did not come true",
    Sign.THERE: "there",
    Sign.MISSING: "missing",
    Sign.ABSENT: "known to be absent",
    Sign.UNSETTLED: "absent so far",
    Sign.FAILED: "failed",
}


@dataclass(frozen=True, slots=True)
class Outline:
    """One line, and what it rests on."""

    text: str
    reason: str = ""
    sign: Sign = Sign.STEP
    subject: str = ""
    """What the sign stands for on the time line, without its time, such as `temp(wt25, high)`."""
    when: TimeSpan | None = None
    until: Number | None = None
    """When a thing that is missing is settled."""
    below: tuple[Outline, ...] = ()

    @property
    def line(self) -> str:
        sign = f"{self.sign.value} " if self.sign.value and self.sign not in ANSWERS else ""
        return f"{sign}{self.text}" + (f": {self.reason}" if self.reason else "")


def walk(outline: Outline) -> Iterator[tuple[int, Outline]]:
    """All lines with their depth, from top to bottom."""
    todo = [(0, outline)]
    while todo:
        depth, each = todo.pop()
        yield depth, each
        todo.extend((depth + 1, one) for one in reversed(each.below))


def in_a_row(siblings: Sequence[Outline]) -> list[Outline]:
    """The same lines for people: what is said of one thing at one time after the other is said once."""

    def key(each: Outline) -> tuple[object, int] | None:
        if each.below or not each.subject or each.when is None or not each.when.is_point:
            return None
        return ((each.sign, each.subject), each.when.low) if isinstance(each.when.low, int) else None

    found = []
    for part in series([key(each) for each in siblings]):
        first, last = siblings[part[0]], siblings[part[-1]]
        reason = first.reason if first.reason == last.reason else f"{first.reason} … {last.reason.rsplit(' ', 1)[-1]}"
        found.append(replace(first, text=until(first.text, last.text), reason=reason))
    return found


def point(time: Number) -> TimeSpan:
    return TimeSpan(time, time)


def outline_of(
    printer: Printer, proof: Proof, sign: Sign = Sign.CONFIRMED, told: Mapping[str, Outline] | None = None
) -> Outline:
    """A proof as an outline. A step by a rule is laid out once; where it is needed again it is only named. Of what
    the proof takes for granted, `told` says how it stands."""
    proof = visible(proof)
    top = _outline(printer, proof, told or {}, set())
    return replace(top, sign=sign if top.sign is Sign.STEP else top.sign)


def _outline(printer: Printer, proof: Proof, told: Mapping[str, Outline], before: set[str]) -> Outline:
    proof = visible(proof)
    text, reason = show_conclusion(proof), _reason(printer, proof)
    if isinstance(proof, (Given, Absent)) and text in told:
        return told[text]
    if isinstance(proof, ByRule) and f"{text}: {reason}" in before:
        return Outline(text, f"{reason}: as shown above", Sign.STEP, printer.subject(proof), proof.span)
    before.add(f"{text}: {reason}")
    below = [near_outline(printer, each) for each in proof.near] if isinstance(proof, Absent) else []
    below += [_outline(printer, premise, told, before) for premise in premises(proof)]
    return Outline(text, reason, _sign(proof), printer.subject(proof), proof.span, None, tuple(below))


def near_outline(printer: Printer, missing: Missing) -> Outline:
    """A rule that came close, by the premise at which it fails."""
    return Outline(printer.missing_text(missing), f"fails, in {printer.by(missing.rule, missing.instance)}")


def _sign(proof: Proof) -> Sign:
    if isinstance(proof, Absent):
        return Sign.ABSENT
    dated = isinstance(proof, Given) or (isinstance(proof, Known) and proof.rule is not None)
    return Sign.THERE if dated else Sign.STEP


def _reason(printer: Printer, proof: Proof) -> str:
    match proof:
        case Given(fact=fact):
            whole = show_fact(fact)
            span = "" if whole == show_conclusion(proof) else f" {whole}"
            return f"given{span}, arrived at {show_number(fact.arrives)}"
        case Known(rule=None):
            return "static"
        case Known(rule=int() as number):
            return f"known, {printer.place(number)}"
        case ByRule(rule=number, instance=instance):
            return f"by {printer.by(number, instance)}"
        case Absent():
            return "nothing makes it true, and nothing can any more"
        case Pieces():
            return "piece by piece"
        case OneSide(side=side):
            return f"side {side + 1}"
        case _:
            return ""
