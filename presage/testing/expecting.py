"""What was said, held against what was expected.

An expectation at a time is about what stands then: the latest line of an answer up to that time, whenever it was
said. What is confirmed may come in pieces, so an interval is confirmed if the pieces cover it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from presage.answers import INCONSISTENT, Answer
from presage.io.facts import FactError, exact, show_fact
from presage.model.formulas import Atom
from presage.model.printer import show_atom, show_number, show_term
from presage.model.terms import Constant, Number, Variable
from presage.testing.cases import AND_MORE, Expectation, ExpectedWay, GivenFact, TestCase
from presage.testing.notation import ExpectedLiteral, read_literal
from presage.testing.running import CaseRun, fact_of, time_of
from presage.time.stretches import Cut

FOREVER: Cut = (float("inf"), 0)
MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Miss:
    """An expectation that was not met: its line, and the difference, as lines that begin with `-` (expected) and
    `+` (said)."""

    line: int
    expected: str
    difference: tuple[str, ...]


def misses(case: TestCase, run: CaseRun) -> list[Miss]:
    """All expectations of a case that its run does not meet."""
    return list(_Judge(case, run).misses())


def in_words(answer: Answer) -> list[str]:
    """An answer line as a case would expect it."""
    if answer.status == INCONSISTENT:
        return [f"{show_number(answer.now)}: inconsistent"]
    lines = [f"{show_number(answer.now)}: {answer.status} {answer.answer}"]
    for index, way in enumerate(_ways(answer) if answer.because or answer.needs or answer.ways else []):
        lines.append(f"    {'or ' if index else ''}{_way_in_words(way)}")
    return lines


def _way_in_words(way: dict[str, Any]) -> str:
    parts = [f"because {', '.join(way['because']) or 'nothing'}"]
    if way["needs"]:
        due = "" if way["decided_by"] is None else f" by {show_number(way['decided_by'])}"
        parts.append(f"needs {', '.join(way['needs'])}{due}")
    if way["unless"]:
        parts.append(f"unless {', '.join(way['unless'])}")
    if way["confidence"] is not None:
        parts.append(f"confidence {way['confidence']:.6g}")
    return "; ".join(parts)


def _ways(answer: Answer) -> Sequence[dict[str, Any]]:
    names = ("because", "needs", "unless", "decided_by", "confidence")
    return answer.ways or [{name: getattr(answer, name) for name in names}]


class _Judge:
    def __init__(self, case: TestCase, run: CaseRun) -> None:
        self.case, self.run = case, run
        self.discrete = run.stepper.subject.discrete

    def misses(self) -> Iterator[Miss]:
        for expected in self.case.expectations:
            found: list[str] | None
            match expected.kind:
                case "nothing else":
                    found = self._unexpected(expected)
                case "no":
                    found = self._present(expected)
                case "late":
                    found = self._late(expected)
                case "inconsistent":
                    at = self._time(expected)
                    stands = any(each.status == INCONSISTENT and each.now == at for each in self.run.told)
                    found = None if stands else [f"- {expected}", "+ there is a model"]
                case _:
                    found = self._status(expected)
            if found is not None:
                yield Miss(expected.line, str(expected), tuple(found))

    def _time(self, expected: Expectation) -> Number:
        return time_of(self.run.stepper, expected.time, self._where(expected))

    def _where(self, expected: Expectation) -> str:
        return f"{self.case.file}:{expected.line}"

    # what stands at a time

    def _standing(self, until: Number, *, before: bool = False) -> list[Answer]:
        """The latest line of each answer up to a time, or before it; all that was confirmed stays so."""
        latest: dict[str, Answer] = {}
        for answer in self.run.told:
            if answer.status != INCONSISTENT and (answer.now < until or (answer.now == until and not before)):
                latest.pop(answer.answer, None)
                latest[answer.answer] = answer
        return list(latest.values())

    def _status(self, expected: Expectation) -> list[str] | None:
        assert expected.literal is not None
        at = self._time(expected)
        stands = self._standing(at)
        if not self._stands_so(expected, stands):
            return [f"- {expected}", *self._said_of(expected, stands)]
        if expected.newly and self._stands_so(expected, self._standing(at, before=True)):
            since = min(each.now for each in self.run.told if self._concerns(expected, each))
            return [f"- {expected}", f"+ {expected.kind} {expected.literal} already before, since {show_number(since)}"]
        answers = [each for each in stands if each.status == expected.kind and self._touches(expected.literal, each)]
        ways = [way for answer in answers for way in _ways(answer)]
        for wanted in expected.ways:
            if not any(self._fits(wanted, way, expected) for way in ways):
                told = [f"+ {_way_in_words(way)}" for way in ways]
                return [f"  {expected}", f"- {_wanted_in_words(wanted)}", *told]
        return None

    def _stands_so(self, expected: Expectation, stands: list[Answer]) -> bool:
        assert expected.literal is not None
        same = [each for each in stands if self._concerns(expected, each)]
        if expected.kind != "confirmed":
            return any(_same_text(each, self._literal(expected)) for each in same)
        return self._covered(expected.literal, same)

    def _concerns(self, expected: Expectation, answer: Answer) -> bool:
        assert expected.literal is not None
        return answer.status == expected.kind and _atom_of(answer) == show_atom(expected.literal.atom)

    def _literal(self, expected: Expectation) -> str:
        assert expected.literal is not None
        return self._canonical(expected.literal, expected)

    def _canonical(self, literal: ExpectedLiteral, expected: Expectation) -> str:
        """A literal as answer lines have it: its time as a plain number."""
        time = literal.time
        if time is not None and literal.interval is None:
            with suppress(FactError):  # A variable: the time is not known yet.
                time = show_number(self.run.stepper.checker.time(time, self._where(expected)))
        return str(ExpectedLiteral(literal.atom, time, literal.negated))

    def _covered(self, literal: ExpectedLiteral, answers: list[Answer]) -> bool:
        wanted = self._span(literal)
        if wanted is None:
            return any(_same_text(each, str(literal)) for each in answers)
        reached, end = wanted
        for low, high in sorted(self._span_of(answer) for answer in answers):
            if low <= reached:
                reached = max(reached, high)
        return reached >= end

    def _touches(self, literal: ExpectedLiteral, answer: Answer) -> bool:
        if _atom_of(answer) != show_atom(literal.atom):
            return False
        wanted = self._span(literal)
        if wanted is None:
            return True
        low, high = self._span_of(answer)
        return low < wanted[1] and wanted[0] < high

    def _span(self, literal: ExpectedLiteral) -> tuple[Cut, Cut] | None:
        read = self.run.stepper.checker.time
        try:
            if literal.interval is None:
                at = read(literal.time, "")
                return self._edges(at, at, "[]")
            low, high, bounds = literal.interval
            return self._edges(read(low, ""), None if high == "inf" else read(high, ""), bounds)
        except FactError:
            return None

    def _span_of(self, answer: Answer) -> tuple[Cut, Cut]:
        if answer.time is not None:
            return self._edges(answer.time, answer.time, "[]")
        return self._edges(answer.start or 0, answer.end, answer.bounds or "[)")

    def _edges(self, low: Number, high: Number | None, bounds: str) -> tuple[Cut, Cut]:
        if self.discrete:
            # Nothing lies between two whole numbers, so what ends at 3 goes on at 4.
            first = low if bounds[0] == "[" else low + 1
            return (first, 0), FOREVER if high is None else (high + 1 if bounds[1] == "]" else high, 0)
        return (low, int(bounds[0] == "(")), FOREVER if high is None else (high, int(bounds[1] == "]"))

    # the ways of an answer

    def _fits(self, wanted: ExpectedWay, way: dict[str, Any], expected: Expectation) -> bool:
        if wanted.by is not None and way["decided_by"] != time_of(self.run.stepper, wanted.by, self._where(expected)):
            return False
        if wanted.confidence is not None and not _as_written(wanted.confidence, way["confidence"]):
            return False
        for name in ("because", "needs"):
            listed = getattr(wanted, name)
            if listed is not None and not _same_list([self._premise(each, expected) for each in listed], way[name]):
                return False
        return wanted.unless is None or _same_list([" ".join(each.split()) for each in wanted.unless], way["unless"])

    def _premise(self, text: str, expected: Expectation) -> str:
        return text if text == AND_MORE else self._canonical(read_literal(text, self._where(expected)), expected)

    # the other kinds

    def _said_of(self, expected: Expectation, stands: list[Answer]) -> list[str]:
        """What was said instead: of the answer itself, or else of others of its query."""
        assert expected.literal is not None
        itself = [each for each in stands if self._touches(expected.literal, each)]
        if itself:
            return [f"+ {line}" for answer in itself[:MOST_SHOWN] for line in in_words(answer)]
        others = [each for each in stands if each.predicate == expected.literal.atom.predicate]
        lines = ["+ nothing was said of it until then"]
        if others:
            more = f", and {len(others) - MOST_SHOWN} more" if len(others) > MOST_SHOWN else ""
            lines.append(f"  there is {', '.join(str(each) for each in others[-MOST_SHOWN:])}{more}")
        return lines

    def _present(self, expected: Expectation) -> list[str] | None:
        pattern = expected.literal
        assert pattern is not None
        found = [
            each
            for each in self._standing(self._time(expected))
            if each.status != "refuted"
            and not (each.status == "unsupported" and each.open_time)
            and _matches(pattern.atom, each)
            and self._in_time(pattern, each)
        ]
        if not found:
            return None
        return [f"- {expected}", *(f"+ {line}" for each in found[:MOST_SHOWN] for line in in_words(each))]

    def _in_time(self, pattern: ExpectedLiteral, answer: Answer) -> bool:
        """A pattern without a time, or with a variable for one, is about all times."""
        wanted = self._span(pattern) if pattern.time is not None else None
        if wanted is None:
            return True
        if answer.open_time:
            spans = [self._open_span(answer.open_time, way["unless"]) for way in _ways(answer)]
            return any(low < wanted[1] and wanted[0] < high for low, high in spans)
        low, high = self._span_of(answer)
        return low < wanted[1] and wanted[0] < high

    def _open_span(self, name: str, unless: Sequence[str]) -> tuple[Cut, Cut]:
        """Between which times an open one lies, by what it must not be."""
        low, high, first, last = Fraction(0), None, "[", ")"
        for clause in unless:
            match clause.split(" "):
                case [left, "<" | "<=" as sign, right] if left == name and (at := exact(right)) is not None:
                    low, first = Fraction(at), "(" if sign == "<=" else "["
                case [left, ">" | ">=" as sign, right] if left == name and (at := exact(right)) is not None:
                    high, last = Fraction(at), ")" if sign == ">=" else "]"
        return self._edges(low, high, first + last)

    def _late(self, expected: Expectation) -> list[str] | None:
        assert expected.literal is not None
        at = self._time(expected)
        wanted = fact_of(self.run.stepper, self.case, GivenFact(expected.line, expected.literal, None))
        if any(fact.arrival == at and replace(fact, arrives=None) == wanted for fact in self.run.late):
            return None
        told = [f"+ {show_number(fact.arrival)}: late {show_fact(fact)}" for fact in self.run.late[:MOST_SHOWN]]
        return [f"- {expected}", *(told or ["+ nothing was late"])]

    def _unexpected(self, only: Expectation) -> list[str] | None:
        """The lines that stand at a time and are not expected then; without a time, all lines of the run."""
        if only.time:
            at = self._time(only)
            looked_at = [
                each for each in self._standing(at) if each.status in ("possible", "unsupported") or each.now == at
            ]
            expected = [each for each in self.case.expectations if each.time and self._time(each) == at]
        else:
            looked_at = [each for each in self.run.told if each.status != INCONSISTENT]
            expected = [each for each in self.case.expectations if each.time]
        extra = []
        for answer in looked_at:
            if only.of is not None and answer.predicate != only.of:
                continue
            when = [each for each in expected if only.time or self._time(each) == answer.now]
            if not any(self._accounts_for(each, answer) for each in when):
                extra.append(answer)
        if not extra:
            return None
        shown = [f"+ {line}" for answer in extra[:MOST_SHOWN] for line in in_words(answer)]
        return [f"  {only}", *shown, *([f"  and {len(extra) - MOST_SHOWN} more"] if len(extra) > MOST_SHOWN else [])]

    def _accounts_for(self, expected: Expectation, answer: Answer) -> bool:
        if expected.literal is None:
            return False
        if expected.kind == "no" and answer.status == "refuted":
            return _matches(expected.literal.atom, answer) and self._in_time(expected.literal, answer)
        if not self._concerns(expected, answer):
            return False
        wanted = self._span(expected.literal)
        if wanted is None or expected.kind != "confirmed":
            return _same_text(answer, self._literal(expected))
        low, high = self._span_of(answer)
        return wanted[0] <= low and high <= wanted[1]


def _atom_of(answer: Answer) -> str:
    terms = tuple(each if isinstance(each, Variable) else Constant(each) for each in answer.arguments)
    return show_atom(Atom(answer.predicate, terms))


def _same_text(answer: Answer, text: str) -> bool:
    return answer.answer == text


def _matches(pattern: Atom, answer: Answer) -> bool:
    """Whether an answer is, or with an open variable includes, an instance of a pattern. A variable of the pattern
    stands for any value, the same one each time."""
    if pattern.predicate != answer.predicate or len(pattern.arguments) != len(answer.arguments):
        return False
    bound: dict[str, Any] = {}
    for term, value in zip(pattern.arguments, answer.arguments, strict=True):
        if isinstance(term, Variable) and not _is_invented(term):
            fits = term.is_anonymous or bound.setdefault(term.name, value) == value
        elif isinstance(value, Variable) and not _is_invented(value):
            fits = f"{value.name} = {show_term(term)}" not in answer.unless
        else:
            fits = value == (term.value if isinstance(term, Constant) else term)
        if not fits:
            return False
    return True


def _is_invented(variable: Variable) -> bool:
    return variable.name.startswith("_:")


def _same_list(wanted: list[str], told: Sequence[str]) -> bool:
    if AND_MORE in wanted:
        return set(wanted) - {AND_MORE} <= set(told)
    return sorted(wanted) == sorted(told)


def _as_written(text: str, confidence: float | None) -> bool:
    """Whether a confidence is what is written, as exactly as it is written: 0.33 is a third."""
    if confidence is None:
        return False
    decimals = len(text.partition(".")[2])
    return abs(Fraction(text) - Fraction(confidence)) <= Fraction(1, 2 * 10**decimals)


def _wanted_in_words(way: ExpectedWay) -> str:
    due = f" by {way.by}" if way.by is not None else ""
    parts = [
        f"{name} {', '.join(listed) or 'nothing'}{due if name == 'needs' else ''}"
        for name in ("because", "needs", "unless")
        if (listed := getattr(way, name)) is not None
    ]
    if way.by is not None and way.needs is None:
        parts.append(f"by {way.by}")
    if way.confidence is not None:
        parts.append(f"confidence {way.confidence}")
    return "; ".join(parts)
