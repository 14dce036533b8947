"""Windows of CQL as windows of rules: which facts of a stream a query sees, each with the time it came at."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from presage.errors import Span
from presage.languages.cql.expressions import Wrong, span_of
from presage.model.formulas import Atom, Formula, Pinned, Windowed
from presage.model.terms import Parameter, Variable, number
from presage.model.time import Duration, Pin, Quantity
from presage.model.windows import RowsWindow, TimeWindow


def quantity(given: tuple[Fraction, str], tick: Duration | None, span: Span) -> Quantity:
    amount, unit = given
    if not unit:
        if amount.denominator != 1:
            raise Wrong("a number of ticks is whole", span, "write a whole number, or give a unit")
        return number(amount)
    if tick is None:
        raise Wrong("a unit needs a tick", span, "say before the query how long a tick is: `-- tick: 1s`", "D107")
    length = Duration(number(amount), unit, span=span)
    if ticks(length, tick).denominator != 1:
        message = f"`{amount}{unit}` is no whole number of ticks, of which each is {tick.amount}{tick.unit}"
        raise Wrong(message, span, "say before the query a tick that fits: `-- tick: 1s`", "D107")
    return length


def ticks(length: Quantity, tick: Duration | None) -> Fraction:
    if isinstance(length, Duration):
        assert tick is not None
        return length.milliseconds / tick.milliseconds
    assert not isinstance(length, Parameter)  # CQL has none
    return Fraction(length)


def seen(
    atom: Atom, time: Variable, window: Any, columns: list[str], tick: Duration | None
) -> tuple[Formula, Quantity | None]:
    """The facts of a stream that a window shows, and by what it slides where no window of ours says so."""
    span = span_of(window) if window is not None else atom.span
    pinned = Pinned(atom, Pin(time), span=atom.span)
    if window is None:
        return Windowed(TimeWindow(None, span=span), pinned, span=span), None
    given = window.args
    slide = quantity(given["slide"], tick, span) if given.get("slide") else None
    back = quantity(given["back"], tick, span) if given.get("back") else None
    if given.get("rows"):
        blanks = tuple(Variable("_") for _ in atom.arguments)
        by = list(blanks)
        for index, each in enumerate(given.get("by") or ()):
            name = each.name.lower()
            if name not in columns:
                raise Wrong(
                    f"`{each.name}` is no column of `{atom.predicate}`",
                    span_of(each),
                    f"its columns are {', '.join(columns)}",
                    "D103",
                )
            by[columns.index(name)] = Variable(f"K{index + 1}" if index else "K")
        rows = RowsWindow(given["rows"], by=(Atom(atom.predicate, tuple(by), span=span),), span=span)
        found: Formula = Windowed(rows, pinned, span=span)
        if back is not None:
            found = Windowed(TimeWindow(back, span=span), found, span=span)
        return found, slide
    if given.get("bounded") is False:
        if slide is None or ticks(slide, tick) == 1:
            return Windowed(TimeWindow(None, span=span), pinned, span=span), None
        return Windowed(TimeWindow(None, hop=slide, span=span), pinned, span=span), None
    assert back is not None
    if slide is None or ticks(slide, tick) == 1:
        return (Windowed(TimeWindow(back, span=span), pinned, span=span) if back != 0 else atom), None
    if ticks(slide, tick) <= ticks(back, tick):
        return Windowed(TimeWindow(back, hop=slide, span=span), pinned, span=span), None
    return (Windowed(TimeWindow(back, span=span), pinned, span=span) if back != 0 else atom), slide
