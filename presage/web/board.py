"""What stands about every answer, and how it stood before: changes can be taken back one by one.

The page shows the present from here and the past too: a state of the past is the present with the latest changes
undone. What is settled stays for a while, so that people see it end, and then goes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from presage.answers import INCONSISTENT, Answer, json_value
from presage.model.printer import show_number
from presage.model.terms import Number

KEPT_SETTLED = 5_000
"""So many confirmed and refuted answers stay in sight; the oldest go first."""
KEPT_CHANGES = 100_000
"""So many changes can be taken back; with an answer of about a kilobyte this is some 100 MB at most."""

SETTLED = ("confirmed", "refuted", INCONSISTENT)


def name_of(answer: Answer) -> str:
    """What an answer is known by, the same for all lines about one thing; a step without a model by its time."""
    return answer.key or f"no model@{show_number(answer.now)}"


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """An answer in sight."""

    answer: Answer
    serial: int
    """How many answers came into sight before it."""
    was: Answer | None = None
    """How it stood when it was last possible, if it is not any more."""
    told: int = 0
    """How many changes there had been when it was last told."""
    since: Number = 0
    """When it took the status it has."""


BoardRows = dict[str, BoardEntry]
BoardChange = tuple[str, BoardEntry | None, BoardEntry | None]
"""The answer's text, how it stood before, and how it stands now; `None` where it is not in sight."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a run stands after a step."""

    step: int = 0
    now: Number | None = None
    facts: int = 0
    late: int = 0
    remembered: int | None = None
    """How many intervals of facts are in memory, if that is known."""
    changes: int = 0
    """How many changes there were up to this step."""
    statuses: dict[str, int] = field(default_factory=dict)
    """How many answers are possible or unsupported, and how many were ever confirmed or refuted."""

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "now": None if self.now is None else json_value(self.now),
            "facts": self.facts,
            "late": self.late,
            "remembered": self.remembered,
            "changes": self.changes,
            "statuses": self.statuses,
        }


@dataclass(frozen=True, slots=True)
class _Turn:
    changes: list[BoardChange]
    before: Summary


class Board:
    """The answers in sight, step by step, with a bounded memory of earlier steps."""

    def __init__(self, kept_changes: int = KEPT_CHANGES, kept_settled: int = KEPT_SETTLED) -> None:
        self.rows: BoardRows = {}
        self.summary = Summary()
        self._kept_changes, self._kept_settled = kept_changes, kept_settled
        self._settled: dict[str, None] = {}
        self._turns: deque[_Turn] = deque()
        self._remembered = 0
        self._serial = self._told = 0
        self._statuses: Counter[str] = Counter()

    def apply(
        self, answers: Iterable[Answer], now: Number, facts: int = 0, late: int = 0, remembered: int | None = None
    ) -> list[BoardChange]:
        """Takes the answers of a step; gives what changed in sight."""
        changes: list[BoardChange] = []
        for answer in answers:
            changes.append(self._put(answer))
        told = len(changes)
        while len(self._settled) > self._kept_settled:
            oldest = next(iter(self._settled))
            del self._settled[oldest]
            changes.append((oldest, self.rows.pop(oldest), None))
        self._turns.append(_Turn(changes, self.summary))
        self._remembered += len(changes)
        before = self.summary
        counts = {status: number for status, number in self._statuses.items() if number}
        self.summary = Summary(before.step + 1, now, facts, late, remembered, before.changes + told, counts)
        while self._remembered > self._kept_changes and len(self._turns) > 1:
            self._remembered -= len(self._turns.popleft().changes)
        return changes

    def _put(self, answer: Answer) -> BoardChange:
        key = name_of(answer)
        before = self.rows.get(key)
        serial = self._serial if before is None else before.serial
        self._serial += before is None
        was = None if before is None else before.answer if before.answer.status == "possible" else before.was
        self._told += 1
        since = answer.now if before is None or before.answer.status != answer.status else before.since
        entry = BoardEntry(answer, serial, None if answer.status == "possible" else was, self._told, since)
        self.rows[key] = entry
        # What is open is counted while it is, what is settled once and for all.
        if before is not None and before.answer.status not in SETTLED:
            self._statuses[before.answer.status] -= 1
        if before is None or before.answer.status != answer.status or answer.status not in SETTLED:
            self._statuses[answer.status] += 1
        self._settled.pop(key, None)
        if answer.status in SETTLED:
            self._settled[key] = None
        return key, before, entry

    @property
    def first_step(self) -> int:
        """The earliest step that can be looked at again."""
        return self._turns[0].before.step if self._turns else self.summary.step

    def past(self, step: int) -> tuple[BoardRows, Summary]:
        """The answers in sight as they were after a step. The step must be one that is still remembered."""
        if not self.first_step <= step <= self.summary.step:
            raise KeyError(step)
        rows, summary = dict(self.rows), self.summary
        for turn in reversed(self._turns):
            if summary.step == step:
                break
            for key, before, _ in reversed(turn.changes):
                if before is None:
                    rows.pop(key, None)
                else:
                    rows[key] = before
            summary = turn.before
        return rows, summary

    def history(self, most: int) -> Iterator[tuple[Summary, list[BoardEntry], list[str]]]:
        """The run from the earliest step of which no more than so many changes lie ahead: first all answers in sight
        then, and after each later step those that changed and the names of those that left."""
        kept: list[_Turn] = []
        changes = 0
        for turn in reversed(self._turns):
            changes += len(turn.changes)
            if kept and changes > most:
                break
            kept.insert(0, turn)
        begin = kept[0].before if kept else self.summary
        yield begin, list(self.past(begin.step)[0].values()), []
        for place, turn in enumerate(kept):
            after = kept[place + 1].before if place + 1 < len(kept) else self.summary
            latest = {key: entry for key, _, entry in turn.changes}
            yield (
                after,
                [each for each in latest.values() if each is not None],
                [key for key, entry in latest.items() if entry is None],
            )
