"""What Presage says when something is wrong: codes, places, wording.

A `Diagnostic` is one finding about a text: a stable code, a place in it, what is wrong and what
would be right. A `ProgramError` carries all diagnostics of a text at once. Rendering them for a
person or for a program happens here and nowhere else.
"""

from __future__ import annotations

import bisect
import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class Span(NamedTuple):
    """A stretch of source text, as offsets; `NOWHERE` for what has no text. Files that include each other lie end to
    end in one `Source`, so that an offset alone says in which of them it is."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        return Span(self.start, max(self.end, other.end))


NOWHERE = Span(-1, -1)

# Every code, with the sentence that explains it in `docs/reference/messages.md`.
CODES: dict[str, str] = {
    "P101": "the file cannot be read as text",
    "P102": "the text is too large, too deep or a number too long",
    "P103": "a character or sign the language does not have",
    "P104": "a quoted string is not closed, or has an unknown escape",
    "P105": "a number is badly written",
    "P201": "something else was expected here",
    "P202": "a statement is not closed by a full stop",
    "P203": "a bracket is not closed, or closes nothing",
    "P204": "a word is reserved and cannot be used as a name",
    "P205": "the statement is not one the language has",
    "P206": "an argument is not a constant or a variable",
    "P207": "an interval is badly written or empty",
    "P208": "a pin is badly written",
    "P209": "a window is badly written",
    "P210": "a chain of since and until needs parentheses",
    "P211": "an operator needs an interval",
    "P212": "an aggregate is badly written",
    "P213": "there is no such function, or it is given what it is not for",
    "P214": "a regular expression cannot be read",
    "P301": "this cannot stand in a head",
    "P302": "conjunction and disjunction are mixed in a head",
    "P303": "an `exists` head is badly written",
    "P304": "a fact's interval stands where only a fact may have one",
    "D101": "a setting is declared twice",
    "D102": "a declaration contradicts another declaration",
    "D103": "a column is unknown or named twice",
    "D104": "a delay, loss or rate is not possible",
    "D105": "a query asks for something no rule or input gives",
    "D106": "a static predicate is used as something that changes",
    "D107": "a unit needs a `tick`, or does not fit it",
    "D108": "a constant does not have the type its place needs",
    "D109": "a parameter is not declared",
    "D110": "the value of a parameter does not fit where it stands",
    "F101": "a file cannot be included",
    "N101": "a predicate is used with different numbers of arguments",
    "N102": "a predicate has no rule and no declaration, and looks misspelled",
    "N103": "a variable is left open and looks misspelled",
    "S101": "a head variable is not bound by the body",
    "S102": "a variable of a comparison is not bound",
    "S103": "a variable under `not` is not bound",
    "S104": "a time variable has no bound on one side",
    "S105": "the set of an aggregate cannot be finite",
    "S106": "a predicate depends on itself through an aggregate",
    "S107": "an aggregate may not say what it is meant to",
    "T101": "the timeline must be declared",
    "T102": "a time is not a whole number on the discrete timeline",
    "T103": "an operator over an unbounded stretch can never hold",
    "T104": "a time lies before the start of the stream",
    "T105": "a time is too large, or too fine for how large others are",
    "E101": "the existential rules may invent values without end",
    "R101": "no engine runs the program as it is",
    "L101": "a text of another language cannot be read",
    "L102": "what another language says has no counterpart in rules",
    "C101": "a pipeline file is not TOML",
    "C102": "a pipeline has no such key",
    "C103": "a pipeline lacks a key or table",
    "C104": "a value of a pipeline is not of the kind its key has",
    "C105": "a pipeline does not fit its program",
    "C106": "a file of a pipeline is missing or unreadable",
    "C107": "a variable of the environment is not set",
    "C108": "a secret stands in a pipeline file",
    "C109": "parts of a pipeline contradict each other",
    "C110": "a pipeline needs something that is not installed",
}


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that belongs to a diagnostic, such as the other declaration."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    code: str
    message: str
    span: Span
    hint: str = ""
    notes: tuple[Note, ...] = ()
    severity: str = "error"

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown diagnostic code {self.code}")


class IncludedFile(NamedTuple):
    """A file that a source has beside its own text: its name, and where in the source it begins."""

    name: str
    start: int


@dataclass(frozen=True, slots=True)
class Source:
    """A text with a name, and the arithmetic from offsets to lines and columns. What it includes follows its own
    text, file after file: offsets tell them apart, and lines are counted in each file from 1."""

    name: str
    text: str
    line_starts: tuple[int, ...] = field(default=(), compare=False, repr=False)
    included: tuple[IncludedFile, ...] = ()

    @staticmethod
    def of(text: str, name: str = "<program>") -> Source:
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        return Source(name, text, tuple(starts))

    def with_file(self, text: str, name: str) -> Source:
        """The source with one more file behind all that it has."""
        start = len(self.text) + 1
        joined = Source.of(f"{self.text}\n{text}", self.name)
        return Source(joined.name, joined.text, joined.line_starts, (*self.included, IncludedFile(name, start)))

    @property
    def own_text(self) -> str:
        """The text without what it includes."""
        return self.text[: self.included[0].start - 1] if self.included else self.text

    def file(self, offset: int) -> str:
        """The name of the file in which an offset lies."""
        return self._part(offset).name

    def _part(self, offset: int) -> IncludedFile:
        found = bisect.bisect_right(self.included, offset, key=lambda part: part.start)
        return self.included[found - 1] if found else IncludedFile(self.name, 0)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset in its file, both from 1."""
        line, column = self._overall(offset)
        if self.included:
            line -= bisect.bisect_right(self.line_starts, self._part(offset).start) - 1
        return line, column

    def where(self, offset: int) -> str:
        """File, line and column, as messages name them."""
        line, column = self.place(offset)
        return f"{self.file(offset)}:{line}:{column}"

    def line_at(self, offset: int) -> str:
        """The text of the line in which an offset lies."""
        start = self.line_starts[self._overall(offset)[0] - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")

    def _overall(self, offset: int) -> tuple[int, int]:
        offset = max(0, min(offset, len(self.text)))
        line = bisect.bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1


class PresageError(Exception):
    """Anything a user can put right; the message is meant for them."""


class PresageWarning(UserWarning):
    """Something in the data that a program was not written for; said once."""


class WrongParameter(PresageError):
    """A parameter that the program does not have, or a value that is not of its kind."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message)


class ProgramError(PresageError):
    """A program, a formula or a pipeline that cannot be accepted; `diagnostics` says all that is wrong."""

    def __init__(self, source: Source, diagnostics: Sequence[Diagnostic]) -> None:
        self.source = source
        self.diagnostics = tuple(diagnostics)
        super().__init__(render(source, self.diagnostics))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: the mistakes are in the program, not in Python code."""
        return str(self).splitlines()


# A screen shows about this much of a line; longer lines are cut around the place.
_LINE_WIDTH = 110
_MOST_SHOWN = 50
_MOST_TEXT = 600


def render(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """All diagnostics as text for a person, in the order of their places."""
    ordered = sorted(diagnostics, key=lambda found: (found.span.start, found.code))
    blocks = [_block(source, found) for found in ordered[:_MOST_SHOWN]]
    if len(ordered) > _MOST_SHOWN:
        blocks.append(f"… and {len(ordered) - _MOST_SHOWN} more")
    return "\n\n".join(blocks)


def brief(text: str) -> str:
    """A message no longer than a few lines, whatever the names in it."""
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT // 2]} … {text[-_MOST_TEXT // 4 :]}"


def _block(source: Source, found: Diagnostic) -> str:
    lines = []
    if found.span is NOWHERE or found.span.start < 0:
        lines.append(f"{source.name}: {found.severity} {found.code}: {brief(found.message)}")
    else:
        where = source.where(found.span.start)
        lines.append(f"{where}: {found.severity} {found.code}: {brief(found.message)}")
        lines.extend(_excerpt(source, found.span))
    for note in found.notes:
        if note.span.start < 0:
            lines.append(f"  note: {note.message}")
            continue
        lines.append(f"  note: {note.message} ({source.where(note.span.start)})")
        lines.extend(_excerpt(source, note.span))
    if found.hint:
        lines.append(f"  hint: {brief(found.hint)}")
    return "\n".join(lines)


def _excerpt(source: Source, span: Span) -> list[str]:
    line, column = source.place(span.start)
    text = source.line_at(span.start)
    length = max(1, min(span.end - span.start, len(text) - column + 1))
    first = 0
    if len(text) > _LINE_WIDTH:
        first = max(0, min(column - 1 - _LINE_WIDTH // 2, len(text) - _LINE_WIDTH))
    shown = "".join(c if c.isprintable() else "�" for c in text[first : first + _LINE_WIDTH].replace("\t", " "))
    length = max(1, min(length, _LINE_WIDTH - (column - 1 - first)))
    gutter = f"{line:>5} | "
    before, marked = shown[: column - 1 - first], shown[column - 1 - first : column - 1 - first + length]
    caret = " " * _width(before) + "^" * max(1, _width(marked))
    return [f"{gutter}{shown}", " " * (len(gutter) - 2) + "| " + caret]


def _width(text: str) -> int:
    """How many places a text takes on a terminal: wide characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def as_json(source: Source, found: Diagnostic) -> dict[str, Any]:
    """One diagnostic as the `problems` entry that `check --json` prints."""
    line, column = (None, None) if found.span.start < 0 else source.place(found.span.start)
    return {
        "file": source.name if line is None else source.file(found.span.start),
        "line": line,
        "column": column,
        "code": found.code,
        "severity": found.severity,
        "message": brief(found.message),
        "hint": brief(found.hint),
    }


_LONGEST_COMPARED = 40


def neighbour(missing: Path) -> str:
    """The file of the same folder that was most likely meant, as the end of a message."""
    try:
        found = nearest(missing.name, (each.name for each in missing.parent.iterdir()))
    except OSError:
        return f": there is no folder {missing.parent}" if not missing.parent.exists() else ""
    return f"; did you mean {missing.parent / found}?" if found else ""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate a reader would take the word for, if one is close enough."""
    if len(word) > _LONGEST_COMPARED:
        return None
    slack = max(2, len(word) // 4)
    pool = sorted(each for each in set(candidates) - {word} if abs(len(each) - len(word)) <= slack)
    for candidate in pool:
        if candidate.lower() == word.lower():
            return candidate
    letters = sorted(word)
    for candidate in pool:
        if len(word) > 2 and sorted(candidate) == letters:
            return candidate
    cutoff = 0.75 if len(word) > 3 else 0.6
    close = difflib.get_close_matches(word, pool, n=1, cutoff=cutoff)
    return close[0] if close else None
