"""How times are shown: as numbers of ticks, or as the moments of the calendar that they are.

What goes in comes out: where facts came with timestamps, so do answers, in every field and text. Inside everything
stays a number; this is the one place that turns the numbers of an answer line into moments, and their differences into
durations. Lines are the common form of answers, so it is lines that are turned.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from presage.analysis.subject import Subject
from presage.analysis.timeline import pin_variables, pins_of
from presage.answers import binding_places, shown_name
from presage.errors import PresageError
from presage.model.formulas import Formula, atoms
from presage.model.printer import show_number
from presage.model.terms import Number, Variable, number
from presage.rewrite.units import Units
from presage.syntax import UNITS

_NUMBER = r"-?\d+(?:\.\d+|/\d+)?"
_POINT = re.compile(_NUMBER)
_OPEN = re.compile(rf"([A-Za-z_]\w*)(?:([+-])({_NUMBER}))?")
_BOUND = re.compile(rf"([A-Za-z_]\w*) (=|!=|<=|>=|<|>) (?:([A-Za-z_]\w*)(?: ([+-]) ({_NUMBER}))?|({_NUMBER}))")
_END = rf"(?:{_NUMBER}|[A-Za-z_]\w*(?:[+-]{_NUMBER})?)?"
_SAID = re.compile(
    rf'"(?:[^"\\\\]|\\\\.)*"|@(?P<pin>[\[(]{_END},{_END}[\])]|{_NUMBER}|[A-Za-z_]\w*[+-]{_NUMBER})(?!\w)'
    rf"|(?P<word>\b(?:by|at|since|before|after|until|from|to|time) )(?P<time>{_NUMBER})(?![\w.]*\w)"
)
_TIMES = ("now", "time", "from", "to")


def zone_called(name: str) -> tzinfo:
    """A zone of the calendar, such as `Europe/Vienna`."""
    try:
        return UTC if name.upper() in ("UTC", "Z") else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise PresageError(f"{name!r} is not a time zone, such as Europe/Vienna or UTC") from None


def time_places(subject: Subject) -> dict[str, frozenset[int]]:
    """The arguments of each predicate that are times: columns declared so, and what is a pin's variable in the head of
    every rule."""
    found: dict[str, frozenset[int]] = {}
    for name, known in subject.predicates.items():
        declared = {place for place, column in enumerate(known.columns) if column.type == "time"}
        derived: set[int] | None = None
        for rule in subject.program.rules:
            pins = pin_variables(rule)
            for atom in (each for head in rule.head_atoms for each in atoms(head) if each.predicate == name):
                times = {
                    place
                    for place, term in enumerate(atom.arguments)
                    if isinstance(term, Variable) and term.name in pins
                }
                derived = times if derived is None else derived & times
        places = declared if known.columns else derived or set()
        if places:
            found[shown_name(name)] = frozenset(places)
    return found


class Moments:
    """The calendar of a program's times, in a zone."""

    def __init__(self, subject: Subject, units: Units, zone: tzinfo = UTC) -> None:
        assert units.tick is not None
        self.tick, self.start, self.zone = units.tick, units.start, zone
        self.places = time_places(subject)
        self.bound: dict[str, set[str]] = {}
        for query in subject.queries:
            name = shown_name(query.atom.predicate)
            times = (title for title, place in binding_places(query) if place in self.places.get(name, ()))
            self.bound.setdefault(name, set()).update(times)

    def times_in(self, formula: Formula) -> frozenset[str]:
        """The variables of a formula that are times: those it pins to, and those of columns of times."""
        found = pins_of([formula])
        for atom in atoms(formula):
            for place in self.places.get(shown_name(atom.predicate), ()):
                term = atom.arguments[place]
                if isinstance(term, Variable):
                    found.add(term.name)
        return frozenset(found)

    def moment(self, time: Number, zone: tzinfo | None = None) -> str:
        """A time as a timestamp; seconds without finite decimals as a fraction behind it."""
        zone = self.zone if zone is None else zone
        seconds = Fraction(self.start.microsecond, 1_000_000) + Fraction(time) * self.tick / 1000
        whole = math.floor(seconds)
        try:
            at = (self.start.replace(microsecond=0) + timedelta(seconds=whole)).astimezone(zone)
        except OverflowError:
            return show_number(time)  # beyond the calendar
        offset = "Z" if zone is UTC else at.isoformat()[19:]
        rest = seconds - whole
        decimals, left = _decimals(rest)
        return f"{at.isoformat()[:19]}{decimals}{offset}" + (f"+{left}s" if left else "")

    def length(self, time: Number) -> str:
        """A distance between times as a duration."""
        milliseconds = Fraction(time) * self.tick
        unit = next((each for each in reversed(UNITS) if (milliseconds / UNITS[each]).denominator == 1), "s")
        return show_number(number(milliseconds / UNITS[unit])) + unit

    def line(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """An answer line, or a snapshot of several, with moments in place of numbers."""
        shown = dict(line)
        if "answers" in shown:
            shown["answers"] = [self.line(each) for each in shown["answers"]]
        for name in _TIMES:
            if shown.get(name) is not None:
                shown[name] = self.moment(exact(shown[name]))
        if "bindings" in shown:
            times = self.bound.get(re.split(r"[(@]", str(shown.get("answer", "")), maxsplit=1)[0], set())
            shown["bindings"] = {
                name: self.moment(exact(value)) if name in times and _is_number(value) else value
                for name, value in shown["bindings"].items()
            }
        for name in ("answer", "fact"):
            if name in shown:
                shown[name] = self.text(shown[name])
        if "key" in shown:
            shown["key"] = self.text(shown["key"], UTC)
        if "needs" in shown:
            shown = self._way(shown, line)
        if shown.get("ways"):
            shown["ways"] = [self._way(dict(each), line) for each in shown["ways"]]
        return shown

    def _way(self, way: dict[str, Any], line: Mapping[str, Any]) -> dict[str, Any]:
        names = set(self._open_names([*way["because"], *way["needs"], str(line.get("answer", ""))]))
        way["unless"] = [self._condition(each, names) for each in way["unless"]]
        for name in ("because", "needs"):
            way[name] = [self.text(each) for each in way[name]]
        if way.get("decided_by") is not None and _is_number(way["decided_by"]):
            way["decided_by"] = self.moment(exact(way["decided_by"]))
        return way

    def _open_names(self, texts: Iterable[str]) -> Iterable[str]:
        """The variables that are times: behind `@`, or as arguments that are."""
        for text in texts:
            atom, when = _split(text)
            yield from re.findall(r"[A-Za-z_]\w*", when)
            head, arguments = _arguments(atom)
            for place in self.places.get(head.split(" ")[-1], ()):
                if place < len(arguments):
                    yield arguments[place]

    def _condition(self, text: str, names: set[str]) -> str:
        """What must not be: comparisons, all of which would have to hold."""
        return ", ".join(self._compared(each, names) for each in _arguments(f"({text})")[1])

    def _compared(self, text: str, names: set[str]) -> str:
        found = _BOUND.fullmatch(text)
        if found is None or found[1] not in names:
            return text
        if found[6] is not None:
            return f"{found[1]} {found[2]} {self.moment(exact(found[6]))}"
        return (
            text if found[4] is None else f"{found[1]} {found[2]} {found[3]} {found[4]} {self.length(exact(found[5]))}"
        )

    def text(self, text: str, zone: tzinfo | None = None) -> str:
        """A fact, a premise or an answer in canonical text."""
        atom, when = _split(text)
        head, arguments = _arguments(atom)
        times = self.places.get(head.split(" ")[-1], frozenset())
        if times and arguments:
            shown = (
                self.moment(exact(each), zone) if place in times and _POINT.fullmatch(each) else each
                for place, each in enumerate(arguments)
            )
            atom = f"{head}({', '.join(shown)})"
        return f"{atom}@{self._when(when, zone)}" if when else atom

    def sentence(self, text: str) -> str:
        """Words about facts and times; what stands in quotes is data."""

        def shown(found: re.Match[str]) -> str:
            if found["pin"] is not None:
                return f"@{self._when(found['pin'], None)}"
            return found[0] if found["time"] is None else found["word"] + self.moment(exact(found["time"]))

        return _SAID.sub(shown, text)

    def _when(self, when: str, zone: tzinfo | None) -> str:
        opening = when[0] if when[0] in "[(" else ""
        closing = when[-1] if when[-1] in "])" else ""
        inner = when[len(opening) : len(when) - len(closing)]
        return opening + ",".join(self._bound(each, zone) for each in inner.split(",")) + closing

    def _bound(self, text: str, zone: tzinfo | None) -> str:
        if _POINT.fullmatch(text):
            return self.moment(exact(text), zone)
        found = _OPEN.fullmatch(text)
        if found is None or found[3] is None:
            return text
        return f"{found[1]}{found[2]}{self.length(exact(found[3]))}"


def moment_text(at: datetime, zone: tzinfo) -> str:
    """A moment as lines have it."""
    there = at.astimezone(zone)
    decimals = f".{there.microsecond:06d}".rstrip("0").rstrip(".") if there.microsecond else ""
    return there.isoformat()[:19] + decimals + ("Z" if zone is UTC else there.replace(microsecond=0).isoformat()[19:])


def in_order(time: Any) -> Fraction:
    """What times of lines are compared by, be they numbers or moments."""
    if isinstance(time, datetime):
        return Fraction(time.timestamp())
    if isinstance(time, str) and not _POINT.fullmatch(time):
        moment, plus, rest = time.partition("Z+")
        at = datetime.fromisoformat(moment + ("Z" if plus else ""))
        seconds = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        return Fraction(seconds, 1_000_000) + (Fraction(rest.rstrip("s")) if rest else 0)
    return Fraction(exact(time))


def exact(value: Any) -> Number:
    """A number of a line, be it written as a decimal or as a fraction."""
    return number(Fraction(repr(value) if isinstance(value, float) else str(value)))


def _is_number(value: Any) -> bool:
    return not isinstance(value, str) or _POINT.fullmatch(value) is not None


def _decimals(rest: Fraction) -> tuple[str, str]:
    """A part of a second as decimals, or as a fraction where it has no finite ones."""
    below, places = rest.denominator, 0
    while below % 10 == 0 or below % 5 == 0 or below % 2 == 0:
        below //= 10 if below % 10 == 0 else 5 if below % 5 == 0 else 2
        places += 1
    if below > 1:
        return "", f"{rest.numerator}/{rest.denominator}"
    return (f".{rest.numerator * 10**places // rest.denominator:0{places}d}" if places else ""), ""


def arguments_in(text: str) -> tuple[str, list[str]]:
    """The predicate of a fact or an answer, and the texts of its arguments."""
    return _arguments(_split(text)[0])


def _split(text: str) -> tuple[str, str]:
    """What stands before and behind the `@` of a fact; strings may have one too."""
    quoted = False
    at = -1
    place = 0
    while place < len(text):
        if quoted and text[place] == "\\":
            place += 1
        elif text[place] == '"':
            quoted = not quoted
        elif text[place] == "@" and not quoted:
            at = place
        place += 1
    return (text, "") if at < 0 else (text[:at], text[at + 1 :])


def _arguments(atom: str) -> tuple[str, list[str]]:
    """A predicate, with what stands before it, and the texts of its arguments."""
    if not atom.endswith(")"):
        return atom, []
    opening = atom.index("(")
    found: list[str] = [""]
    quoted = False
    place = opening + 1
    while place < len(atom) - 1:
        sign = atom[place]
        if quoted and sign == "\\":
            found[-1] += atom[place : place + 2]
            place += 2
            continue
        if sign == '"':
            quoted = not quoted
        if sign == "," and not quoted:
            found.append("")
            place += 2
            continue
        found[-1] += sign
        place += 1
    return atom[:opening], found
