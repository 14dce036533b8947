"""The text of Declare files, as RuM writes it: activities, and a constraint a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from presage.errors import Diagnostic, Note, Source, Span, nearest
from presage.languages.declare.conditions import ALWAYS, GRAMMAR, DataCondition, read_condition
from presage.languages.declare.templates import ALIASES, BINARY, UNARY
from presage.languages.declare.watching import DeclareConstraint
from presage.languages.scanner import Scanner, Unreadable
from presage.model.terms import Number, number
from presage.parser.lexer import Comment

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "": 1}
_CONSTRAINT = re.compile(r"\s*(?P<name>[^\[\]|]*?)\s*\[(?P<activities>[^\]]*)\](?P<rest>.*)")
_BOUND = re.compile(
    r"\s*(?P<low>[0-9]+(?:\.[0-9]+)?)\s*,\s*(?P<high>[0-9]+(?:\.[0-9]+)?)\s*(?:,\s*(?P<unit>[A-Za-z]*)\s*)?"
)


@dataclass(frozen=True, slots=True)
class Written:
    """A constraint, what it is called in answers, and how its author wrote it."""

    constraint: DeclareConstraint
    name: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Constraints:
    all: tuple[Written, ...]
    comments: tuple[Comment, ...]
    notes: tuple[Note, ...]
    problems: tuple[Diagnostic, ...]


def read_constraints(source: Source) -> Constraints:
    found: list[Written] = []
    comments: list[Comment] = []
    notes: list[Note] = []
    problems: list[Diagnostic] = []
    activities: dict[str, Span] = {}
    for start in source.line_starts:
        text = source.line_at(start)
        words = text.strip()
        first = start + len(text) - len(text.lstrip())
        if not words:
            continue
        if words[0] in "#%" or words.startswith("//"):
            comments.append(Comment(words, first, first + len(words)))
        elif words.lower().startswith("activity ") or words.lower() == "activity":
            name = words[9:].strip()
            if name:
                activities[name] = Span(first, first + len(words))
            else:
                problems.append(
                    Diagnostic(
                        "P201", "an activity has a name", Span(first, first + len(words)), "write `activity NAME`"
                    )
                )
        elif "[" not in words and (words.lower().startswith("bind ") or re.match(r"[^:|]+:\s*\S", words)):
            message = f"`{words}`: what values an attribute may have is not checked"
            notes.append(Note(message, Span(first, first + len(words))))
        else:
            try:
                found.append(_constraint(source, text, start, len(found) + 1))
            except Unreadable as wrong:
                problems.append(wrong.diagnostic)
    for each in found if activities else ():
        for activity in each.constraint.activities:
            if activity not in activities:
                near = nearest(activity, activities)
                hint = f"did you mean `{near}`?" if near else f"declare it: activity {activity}"
                at = source.text.index(activity, source.text.index("[", each.span.start))
                place = Span(at, at + len(activity))
                problems.append(Diagnostic("N102", f"there is no activity `{activity}`", place, hint))
    return Constraints(tuple(found), tuple(comments), tuple(notes), tuple(problems))


def template_words(name: str) -> str:
    """A template's name in lower case, with spaces between its words: `ChainResponse` is `chain response`."""
    return re.sub(r"\s+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().lower()


def _constraint(source: Source, text: str, start: int, place: int) -> Written:
    shape = _CONSTRAINT.fullmatch(text)
    words = Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
    if shape is None or not shape["name"]:
        bracket = re.match(r"\s*[^\[\]|,]+\[[^\]|]*", text)
        if bracket:
            at = min(start + bracket.end(), words.end - 1)
            found = f"found `{text[bracket.end()]}`" if bracket.end() < len(text.rstrip()) else "and the line ends"
            message = f"expected `]` after the activities, {found}"
            raise Unreadable("P201", message, Span(at, at + 1), "write Response[a, b]")
        hint = "write `activity NAME`, or a constraint such as `Response[a, b] |A.amount > 100 | |0,7,d`"
        raise Unreadable("P205", "this is neither an activity nor a constraint", words, hint)
    name, span = shape["name"], Span(start + shape.start("name"), start + shape.end("name"))
    template = template_words(name)
    counted = re.fullmatch(r"(existence|absence|exactly) ?([0-9]+)", template)
    number_of = 1
    if counted:
        template, number_of = counted[1], int(counted[2])
        if number_of > 1_000_000:
            raise Unreadable("P102", f"{number_of} is more than can be counted", span)
    template = ALIASES.get(template, template)
    if template not in UNARY and template not in BINARY:
        near = nearest(template, (*UNARY, *BINARY))
        hint = f"did you mean `{near.title().replace(' ', '')}`?" if near else "see the list of templates"
        raise Unreadable("P205", f"there is no template `{name}`", span, hint)
    inside = Span(
        start + shape.start("activities"), start + max(shape.end("activities"), shape.start("activities") + 1)
    )
    activities = tuple(each.strip() for each in shape["activities"].split(","))
    wanted = 1 if template in UNARY else 2
    if len(activities) != wanted or not all(activities):
        shown = f"write {name}[{'a' if wanted == 1 else 'a, b'}]"
        raise Unreadable("P201", f"`{name}` is about {wanted} activit{'y' if wanted == 1 else 'ies'}", inside, shown)
    segments = _segments(shape["rest"], start + shape.start("rest"))
    most = 2 if wanted == 1 else 3
    if len(segments) > most:
        hint = "a unary template has |activation |time, the others |activation |target |time"
        extra = segments[most]
        raise Unreadable("P201", "there is one part too many", Span(extra[0] - 1, max(extra[1], extra[0])), hint)
    segments += [(words.end, words.end)] * (most - len(segments))
    activation = _condition(source, *segments[0])
    target = _condition(source, *segments[1]) if wanted == 2 else ALWAYS
    low, high = _bounds(source, *segments[-1])
    made = DeclareConstraint(template, number_of, activities, activation, target, low, high)
    base = re.sub(r"[^a-z0-9]+", "_", template_words(name)).strip("_")
    return Written(made, f"{base}_{place}", text.strip(), words)


def _segments(rest: str, start: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    if not rest.strip():
        return found
    at = rest.find("|")
    if at < 0 or rest[:at].strip():
        raise Unreadable("P201", "expected `|` after the activities", Span(start, start + max(1, len(rest.rstrip()))))
    while at >= 0:
        following = rest.find("|", at + 1)
        end = len(rest) if following < 0 else following
        found.append((start + at + 1, start + end))
        at = following
    return found


def _condition(source: Source, start: int, end: int) -> DataCondition:
    c = Scanner(source, GRAMMAR, start, end)
    if c.problems:
        wrong = c.problems[0]
        raise Unreadable(wrong.code, wrong.message, wrong.span, wrong.hint)
    return read_condition(c)


def _bounds(source: Source, start: int, end: int) -> tuple[Number, Number | None]:
    text = source.text[start:end]
    if not text.strip():
        return 0, None
    found = _BOUND.fullmatch(text)
    span = Span(start, max(start + 1, start + len(text.rstrip())))
    if found is None:
        raise Unreadable("P207", "a bound on time is `least,most,unit`", span, "such as 0,7,d (units: s, m, h, d)")
    unit = (found["unit"] or "").lower()
    if unit not in UNITS:
        raise Unreadable("P207", f"there is no unit `{found['unit']}`", span, "units are s, m, h and d")
    low, high = (number(Fraction(found[name]) * UNITS[unit]) for name in ("low", "high"))
    if high < low:
        raise Unreadable("P207", "the bound is empty", span, "the lower bound comes first")
    return low, high
