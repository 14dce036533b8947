"""Reading `window(…)`."""

from __future__ import annotations

from presage.model.formulas import Atom
from presage.model.terms import Parameter
from presage.model.time import Duration, Quantity
from presage.model.windows import OnlyWindow, RowsWindow, TimeWindow, Window
from presage.parser.cursor import Cursor
from presage.parser.lexer import Token
from presage.parser.terms import argument
from presage.parser.time import comparable, parameter_as, quantity

FORMS = "window(3), window(3, ahead 1, hop 2), window(rows 4), window(rows 1 by p(X, _)) or window(only p(_))"


def window(c: Cursor) -> Window:
    word = c.expect("window", "`window`")
    if c.kind != "(":
        raise c.failure("P209", "a window says what it selects", word.span, f"write {FORMS}")
    opening = c.take()
    if c.kind == "rows":
        return _rows(c, word, opening)
    if c.kind == "only":
        c.take()
        patterns = _patterns(c)
        c.close(opening, ")", "`)` to close the window")
        return OnlyWindow(patterns, span=c.since(word.start))
    return _time(c, word, opening)


def _time(c: Cursor, word: Token, opening: Token) -> Window:
    if c.kind not in ("number", "duration", "parameter", "inf"):
        raise c.failure("P209", "this is not a window", c.token.span, f"write {FORMS}")
    back = None if c.accept("inf") else quantity(c, "the size of a window")
    ahead: Quantity | None = 0
    hop: Quantity | None = None
    seen: set[str] = set()
    while c.accept(","):
        option = c.token
        if option.kind not in ("ahead", "hop"):
            raise c.failure("P209", "a time window has the options `ahead` and `hop`", option.span, f"write {FORMS}")
        if option.kind in seen:
            raise c.failure("P209", f"`{option.kind}` is given twice", option.span, "give it once")
        seen.add(c.take().kind)
        if option.kind == "ahead":
            ahead = None if c.accept("inf") else quantity(c, "how far a window looks ahead")
        else:
            hop = quantity(c, "the hop of a window")
    if c.kind in ("ahead", "hop"):
        raise c.failure("P209", f"`,` is missing before `{c.kind}`", c.token.span, f"write {FORMS}")
    c.close(opening, ")", "`)` to close the window")
    found = TimeWindow(back, ahead, hop, span=c.since(word.start))
    _refuse_hop(c, found)
    return found


def _refuse_hop(c: Cursor, found: TimeWindow) -> None:
    hop = found.hop
    if hop is None:
        return
    if isinstance(hop, Parameter):
        return
    length = hop.amount if isinstance(hop, Duration) else hop
    if length == 0:
        raise c.failure("P209", "a window cannot hop by 0", found.span, "leave `hop` out for a sliding window")
    if found.back is None or found.ahead is None:
        return
    bounds = (found.back, found.ahead, hop)
    if len({type(bound) is Duration for bound in bounds if bound != 0}) == 1:
        back, ahead, step = (comparable(bound) for bound in bounds)
        if back is not None and ahead is not None and step is not None and step > back + ahead:
            hint = "[LARS] Definition 3 wants hop ≤ back + ahead: a larger hop leaves times no window sees"
            raise c.failure("P209", "the hop is larger than the window", found.span, hint)


def _rows(c: Cursor, word: Token, opening: Token) -> Window:
    c.take()
    rows = _count(c, "how many rows the window keeps")
    ahead = 0
    if c.kind == "," and c.next_kind == "ahead":
        c.take()
        c.take()
        ahead = _count(c, "how many rows the window looks ahead")
    elif c.kind == ",":
        c.take()
        raise c.failure("P209", "a window of rows has the options `ahead` and `by`", c.token.span, f"write {FORMS}")
    by = _patterns(c) if c.accept("by") else ()
    c.close(opening, ")", "`)` to close the window")
    return RowsWindow(rows, ahead, by, span=c.since(word.start))


def _count(c: Cursor, what: str) -> int:
    if c.kind == "parameter":
        return parameter_as(c)  # type: ignore[no-any-return]
    if c.kind != "number" or "." in c.token.text:
        raise c.failure("P209", f"{what} is a whole number", c.token.span, f"write {FORMS}")
    return int(c.take().text)


def _patterns(c: Cursor) -> tuple[Atom, ...]:
    if c.kind != "(":
        return (pattern(c),)
    opening = c.take()
    found = c.separated(",", pattern)
    c.close(opening, ")", "`,` or `)` after the pattern")
    return tuple(found)


def pattern(c: Cursor) -> Atom:
    """An atom; here because windows select by atoms, and formulas are built over windows."""
    token = c.token
    if token.kind not in ("name", "variable"):
        raise c.unexpected("a predicate")
    c.at += 1
    if c.kind != "(":
        return Atom(token.text, span=token.span)
    opening = c.take()
    if c.accept(")"):
        return Atom(token.text, span=c.since(token.start))
    arguments = [argument(c)]
    while c.kind == ",":
        c.at += 1
        arguments.append(argument(c))
    c.close(opening, ")", "`,` or `)` after the argument")
    return Atom(token.text, tuple(arguments), span=c.since(token.start))
