"""Answers as users get them: one for each line of `presage run`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, overload

from presage.model.printer import show_name, show_number
from presage.model.statements import Query
from presage.model.terms import Number, Value, Values, Variable
from presage.showing import html_of

TimedInstance = tuple[str, Values, Number]
"""A predicate with its arguments, at a time."""


def json_value(value: Value) -> str | int | float:
    """Numbers as JSON has them where that is exact, otherwise as text such as `1/3`; texts as they are."""
    if not isinstance(value, Fraction):
        return value
    if value.denominator == 1:
        return value.numerator
    try:
        decimal = float(value)
    except OverflowError:
        return show_number(value)
    return decimal if Fraction(repr(decimal)) == value else show_number(value)


def null_name(number: int) -> str:
    """An invented value as it is shown."""
    return f"_:{number}"


def with_texts(atom: str) -> str:
    """An atom with invented values as they are shown, as one that can be read: they are texts in it."""
    return re.sub(r'(?<![\w"])_:\d+', r'"\g<0>"', atom)


INCONSISTENT = "inconsistent"
"""The status of a step without any model: it says nothing about an atom."""


_shown_name = lru_cache(1 << 16)(show_name)


def show_value(value: Value | Variable) -> str:
    if isinstance(value, Variable):
        return value.name
    return _shown_name(value) if isinstance(value, str) else show_number(value)


def show_answer_atom(predicate: str, arguments: tuple[Value | Variable, ...]) -> str:
    """An atom in canonical text; constants repeat from answer to answer."""
    return f"{predicate}({', '.join([show_value(each) for each in arguments])})" if arguments else predicate


# Not frozen, which would make each of the many answers of a step four times as dear.
@dataclass(slots=True)
class Answer:
    """What stands about one answer at a time `now`. Either `time` is set, or `start`, `end` and `bounds`."""

    now: Number
    status: str
    predicate: str
    arguments: tuple[Value | Variable, ...]
    """A variable where an argument is not bound yet."""
    bindings: dict[str, Value]
    time: Number | None = None
    start: Number | None = None
    end: Number | None = None
    bounds: str = ""
    because: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    decided_by: Number | None = None
    confidence: float | None = None
    ways: tuple[dict[str, Any], ...] = field(default=())
    """All ways, where there are several; each has the five fields above."""
    ways_left_out: int = 0
    """How many ways there are beside those."""
    open_time: str = ""
    """The name of the answer's time while it is not bound."""
    more: tuple[tuple[str, Any], ...] = ()
    """Further fields of the line, where the program's language has some; `key` among them where the text is none."""
    text: str | None = field(default=None, init=False, compare=False, repr=False)
    """The canonical text, once it is known."""

    @property
    def answer(self) -> str:
        """The answer in canonical text, such as `malf(wt25)@0`."""
        if self.text is None:
            self.text = self._text()
        return self.text

    def _text(self) -> str:
        if self.status == INCONSISTENT:
            return ""
        atom = show_answer_atom(self.predicate, self.arguments)
        if self.open_time:
            return f"{atom}@{self.open_time}"
        if self.time is not None:
            return f"{atom}@{show_number(self.time)}"
        if self.status == "holds" and self.start is not None:
            return f"{atom}@{'(' if self.bounds[:1] == '(' else ''}{show_number(self.start)}"
        low = "" if self.start is None else show_number(self.start)
        high = "inf" if self.end is None else show_number(self.end)
        return f"{atom}@{self.bounds[:1] or '['}{low},{high}{self.bounds[1:] or ')'}"

    @property
    def key(self) -> str:
        """The same for all lines about one thing: the answer's text, and for a stretch of time the text of its first
        time (`on(d)@3`, or `on(d)@(3` where that is excluded)."""
        for name, value in self.more:
            if name == "key":
                return str(value)
        if self.start is None or self.status == INCONSISTENT:
            return self.answer
        excluded = "(" if self.bounds[:1] == "(" else ""
        return f"{self.answer.rpartition('@')[0]}@{excluded}{show_number(self.start)}"

    def __str__(self) -> str:
        return f"{self.status} {self.answer}".rstrip()

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_json(self) -> dict[str, Any]:
        """The answer line."""
        if self.status == INCONSISTENT:
            return {"now": json_value(self.now), "status": self.status}
        line: dict[str, Any] = {
            "now": json_value(self.now),
            "status": self.status,
            "answer": self.answer,
            "key": self.key,
            "bindings": {name: json_value(value) for name, value in self.bindings.items()},
        }
        if self.time is not None or self.open_time:
            line["time"] = None if self.time is None else json_value(self.time)
        else:
            line["from"] = None if self.start is None else json_value(self.start)
            line["to"] = None if self.end is None else json_value(self.end)
            line["bounds"] = self.bounds
        line["because"] = list(self.because)
        line["needs"] = list(self.needs)
        line["unless"] = list(self.unless)
        line["decided_by"] = None if self.decided_by is None else json_value(self.decided_by)
        line["confidence"] = self.confidence
        if self.ways:
            line["ways"] = [_way_json(way) for way in self.ways]
        if self.ways_left_out:
            line["ways_left_out"] = self.ways_left_out
        line.update(self.more)
        return line


def _way_json(way: dict[str, Any]) -> dict[str, Any]:
    decided = way["decided_by"]
    return {
        "because": list(way["because"]),
        "needs": list(way["needs"]),
        "unless": list(way["unless"]),
        "decided_by": None if decided is None else json_value(decided),
        "confidence": way["confidence"],
    }


def inconsistent(now: Number) -> Answer:
    """What is said of a step at which the program has no model."""
    return Answer(now, INCONSISTENT, "", (), {}, time=now)


def shown_name(predicate: str) -> str:
    """A predicate as users know it: what breaks a constraint is `violated`, whichever it is."""
    return predicate.split("#")[0]


def binding_places(query: Query) -> list[tuple[str, int]]:
    """What an answer's bindings are called, and at which argument each stands."""
    places = [
        (asked.name, place)
        for place, asked in enumerate(query.atom.arguments)
        if isinstance(asked, Variable) and not asked.is_anonymous
    ]
    if shown_name(query.atom.predicate) != query.atom.predicate:
        places.insert(0, ("line", 0))  # a broken constraint
    return places


def bindings_of(query: Query, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The values of a query's variables."""
    return {name: arguments[place] for name, place in binding_places(query)}


class AnswerColumns(Protocol):
    """Answers by the column, of one step or of many."""

    def tables(self) -> list[Any]:
        """Arrow tables of their lines, in no particular order."""

    def table(self) -> Any:
        """An Arrow table of their lines, in order."""

    def json_lines(self, moments: Any) -> Any:
        """Their lines in JSON, in order, as bytes, with times as numbers or as `moments` shows them; nothing where
        they have to be made one by one."""


LateFact = tuple[str, tuple[Value, ...], Number | tuple[Number | None, Number | None, str]]
"""A fact as it is pushed: predicate, arguments, and its time or interval."""


class Answers(Sequence[Answer]):
    """The answers of a step, made when someone looks at them: counting them costs nothing."""

    __slots__ = ("_made", "_make", "_size", "columns", "late", "whole_times")

    def __init__(
        self,
        size: int,
        make: Callable[[], list[Answer]],
        columns: AnswerColumns | None = None,
        late: tuple[LateFact, ...] = (),
        whole_times: bool = True,
    ) -> None:
        """`columns` are the same by the column, where they were found so; `late` are the facts that arrived too late
        and were left out, as one would push them; `whole_times`: all times are whole numbers, as those of the discrete
        timeline are."""
        self._size, self._make, self.columns, self.late, self.whole_times = size, make, columns, late, whole_times
        self._made: list[Answer] | None = None

    def with_late(self, late: tuple[LateFact, ...]) -> Answers:
        """The same answers, of a step at which facts were late."""
        return Answers(self._size, self._all, self.columns, late, self.whole_times)

    def with_times(self, whole: bool) -> Answers:
        """The same answers, of a timeline whose times are whole numbers or not."""
        return self if whole == self.whole_times else Answers(self._size, self._all, self.columns, self.late, whole)

    @property
    def table(self) -> Any:
        """The answer lines as an Arrow table, in their order: a typed column for each field. Where answers were found
        by the column, no object is made for any of them."""
        from presage.answers.schema import answers_table

        return answers_table(self._all(), self.whole_times) if self.columns is None else self.columns.table()

    def _all(self) -> list[Answer]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Answer: ...

    @overload
    def __getitem__(self, index: slice) -> list[Answer]: ...

    def __getitem__(self, index: int | slice) -> Answer | list[Answer]:
        return self._all()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Answers, list)) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"[{', '.join(str(answer) for answer in self)}]"

    def _repr_html_(self) -> str:
        return html_of(self)


NONE = Answers(0, list)


def arrow_column(values: list[Any]) -> Any:
    """A column of one type: numbers where all are whole numbers, otherwise text."""
    import pyarrow as pa

    if values and all(isinstance(value, int) for value in values):
        return pa.array(values, pa.int64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())
