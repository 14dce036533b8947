"""What goes on, followed along time: pieces of what holds become stretches, with when each is told to begin and to end.

Rows are sorted by what they are about, and then by when they become known. What went on before comes first, as rows
that may have been told. A stretch is told to go on at its first time, or when it becomes known if that is later; it is
over when the time after it is settled, `lag` later.
"""

from __future__ import annotations

from presage.kernels.compiling import kernel

# A row: what it is about, when it becomes known, its first and last time, and whether it was told.
ABOUT, KNOWN, FIRST, LAST, TOLD, ROW_FIELDS = range(6)
# A line: the row that it is about, when it is told, first and last time, and whether it is over then.
LINE_OF, NOW, LINE_FIRST, LINE_LAST, OVER, LINE_FIELDS = range(6)


@kernel
def follow(rows, lag, until, lines, kept):  # type: ignore[no-untyped-def]
    """Gives how many lines there are, and how many stretches go on. `kept` has room for as many as there are rows,
    `lines` for three times as many."""
    told, going = 0, 0
    begin = 0
    while begin < len(rows):
        held = going
        end = begin
        while end < len(rows) and rows[end, ABOUT] == rows[begin, ABOUT]:
            known = rows[end, KNOWN]
            told, going = _pass(kept, held, going, lag, known, lines, told)
            told, going = _add(rows, end, kept, held, going, lines, told)
            end += 1
        told, going = _pass(kept, held, going, lag, until + 1, lines, told)
        begin = end
    return told, going


@kernel
def _pass(kept, held, going, lag, before, lines, told):  # type: ignore[no-untyped-def]
    """What time alone does to stretches before a step."""
    left = held
    for each in range(held, going):
        first, last = kept[each, FIRST], kept[each, LAST]
        over = last + 1 + lag
        is_over = False
        if kept[each, TOLD] == 0:
            at = max(kept[each, KNOWN], first)
            if at < before:
                is_over = over <= at
                told = _line(lines, told, kept[each, ABOUT], at, first, last, is_over)
                kept[each, TOLD] = 1
        if kept[each, TOLD] == 1 and not is_over and over < before:
            told = _line(lines, told, kept[each, ABOUT], over, first, last, True)
            is_over = True
        if not is_over:
            for field in range(ROW_FIELDS):
                kept[left, field] = kept[each, field]
            left += 1
    return told, left


@kernel
def _add(rows, row, kept, held, going, lines, told):  # type: ignore[no-untyped-def]
    """Joins a piece to the stretches it touches; what lies before one that was told is over with it."""
    known, first, last, is_told = rows[row, KNOWN], rows[row, FIRST], rows[row, LAST], rows[row, TOLD]
    # They do not touch each other, so that each is asked about the piece as it was.
    begin, end = first, last
    for each in range(held, going):
        if kept[each, TOLD] == 0 and not (kept[each, LAST] + 1 < begin or end + 1 < kept[each, FIRST]):
            first, last = min(first, kept[each, FIRST]), max(last, kept[each, LAST])
    left = held
    for each in range(held, going):
        if kept[each, LAST] + 1 < begin or end + 1 < kept[each, FIRST]:
            for field in range(ROW_FIELDS):
                kept[left, field] = kept[each, field]
            left += 1
        elif kept[each, TOLD] == 1:
            if first < kept[each, FIRST]:
                told = _line(lines, told, row, known, first, kept[each, FIRST] - 1, True)
            first, last, is_told = kept[each, FIRST], max(last, kept[each, LAST]), 1
    # They stay in the order of their times, so that of those that were told each ends where the next begins.
    place = left
    while place > held and kept[place - 1, FIRST] > first:
        for field in range(ROW_FIELDS):
            kept[place, field] = kept[place - 1, field]
        place -= 1
    kept[place, ABOUT], kept[place, KNOWN], kept[place, FIRST] = row, known, first
    kept[place, LAST], kept[place, TOLD] = last, is_told
    return told, left + 1


@kernel
def _line(lines, told, row, now, first, last, over):  # type: ignore[no-untyped-def]
    lines[told, LINE_OF], lines[told, NOW] = row, now
    lines[told, LINE_FIRST], lines[told, LINE_LAST] = first, last
    lines[told, OVER] = 1 if over else 0
    return told + 1
