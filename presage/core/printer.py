"""Core as text, for `presage plan --core`, for tests, and as the key under which equal formulas are known."""

from __future__ import annotations

from presage.core.formulas import (
    All,
    Any,
    At,
    CoreFormula,
    Every,
    Gathered,
    Lasts,
    Measured,
    Not,
    Only,
    Rows,
    Seen,
    Shift,
    Some,
    Whole,
)
from presage.core.reach import Reach
from presage.core.rules import Conclusion, CoreRule
from presage.model.formulas import Atom, Comparison
from presage.model.printer import show_atom, show_formula, show_number, show_term, show_window
from presage.model.terms import Number, Variable
from presage.model.windows import OnlyWindow

_OR, _AND, _LASTS, _PREFIX, _COMPARISON, _PRIMARY = range(6)


def show_reach(reach: Reach) -> str:
    """Distances with their signs, such as `[-5, 0]`."""
    opening, closing = "(" if reach.open_near else "[", ")" if reach.open_far else "]"
    return f"{opening}{_distance(reach.near, '-inf')}, {_distance(reach.far, '+inf')}{closing}"


def _distance(value: Number | None, otherwise: str) -> str:
    return otherwise if value is None else signed(value)


def signed(value: Number) -> str:
    return f"{'+' if value > 0 else ''}{show_number(value)}"


def word_of(formula: Some | Every | Lasts) -> str:
    """What an author calls it."""
    past = formula.reach.is_past
    match formula:
        case Some(clip=True):
            return "some"
        case Every(clip=True):
            return "all"
        case Some():
            return "once" if past else "eventually"
        case Every():
            return "historically" if past else "always"
        case Lasts():
            return "since" if past else "until"


def show_core(formula: CoreFormula, least: int = _OR) -> str:
    match formula:
        case Atom():
            return show_atom(formula)
        case Comparison():
            text, binds = show_formula(formula), _COMPARISON
        case Measured(comparison=comparison, sets=sets):
            gathered = " and ".join(f"{each.name} = {_gathered(each)}" for each in sets)
            text, binds = f"{show_formula(comparison)} with {gathered}", _OR - 1
        case All(parts=parts) if not parts:
            return "true"
        case Any(parts=parts) if not parts:
            return "false"
        case All(parts=parts):
            text, binds = " and ".join(show_core(part, _LASTS) for part in parts), _AND
        case Any(parts=parts):
            text, binds = " or ".join(show_core(part, _AND) for part in parts), _OR
        case Not(part=part):
            text, binds = f"not {show_core(part, _PREFIX)}", _PREFIX
        case At(part=part):
            return f"{show_core(part, _PRIMARY)}@{_time(formula)}"
        case Lasts(reach=reach, left=left, right=right):
            first, second = show_core(left, _PREFIX), show_core(right, _PREFIX)
            text, binds = f"{first} lasts{show_reach(reach)} {second}", _LASTS
        case _:
            text, binds = f"{_prefix(formula)} {show_core(formula.part, _PREFIX)}", _PREFIX
    return f"({text})" if binds < least else text


def _prefix(formula: Shift | Some | Every | Seen | Rows | Only | Whole) -> str:
    match formula:
        case Shift(distance=distance):
            return f"shift[{signed(distance)}]"
        case Some(reach=reach, clip=clip):
            return f"some{' clipped' if clip else ''}{show_reach(reach)}"
        case Every(reach=reach, clip=clip):
            return f"every{' clipped' if clip else ''}{show_reach(reach)}"
        case Seen(reach=reach, hop=hop):
            return f"seen{show_reach(reach)}" + (f" hop {show_number(hop)}" if hop is not None else "")
        case Rows(window=window):
            return show_window(window).removeprefix("window")
        case Only(patterns=patterns):
            return show_window(OnlyWindow(patterns)).removeprefix("window")
        case Whole():
            return "whole"


def _time(at: At) -> str:
    if at.base is None:
        return show_number(at.offset)
    base = at.base.name if isinstance(at.base, Variable) else "now"
    return base + (signed(at.offset) if at.offset else "")


def _gathered(gathered: Gathered) -> str:
    terms, body = ", ".join(map(show_term, gathered.terms)), ", ".join(map(show_core, gathered.body))
    shared = f" / {', '.join(gathered.shared)}" if gathered.shared else ""
    return f"{gathered.function} {{ {terms} : {body}{shared} }}"


def show_conclusion(conclusion: Conclusion) -> str:
    text = show_atom(conclusion.atom)
    base = conclusion.base
    if not isinstance(base, Variable) and base is not None:
        return text if conclusion.reach.is_nothing else f"{text} at {show_reach(conclusion.reach)}"
    return f"{text} at {'start' if base is None else base.name} {show_reach(conclusion.reach)}"


def show_core_rule(rule: CoreRule) -> str:
    head = (" | " if rule.is_choice else ", ").join(map(show_conclusion, rule.conclusions))
    if rule.exists:
        head = f"exists {', '.join(each.name for each in rule.exists)}: {head}"
    body = ", ".join(map(show_core, rule.body))
    return (f"{head} :- {body}." if body else f"{head}.").strip()
