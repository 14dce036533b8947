"""How long after its time a fact of an open-ended stream is final, and which instances of rules can be looked at.

The lag of an input is its delay; that of a derived predicate follows from what its rules look at. An instance
of a rule is looked at once everything in its body is final, so that what has been said stays true.

What rules say of later times may be final before those times come. There the clock of a run has a *lead*: it shows a
later time than it is, and facts are taken to be later by as much. Then nothing is final before its time by that clock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from presage.analysis.differences import INF, NOW
from presage.analysis.subject import Subject
from presage.analysis.timeless import is_timeless
from presage.analysis.timeline import pin_variables
from presage.analysis.timing import HeadAtom, RuleTiming, time_rule
from presage.answer_streams.windows import ends, length
from presage.core.formulas import (
    At,
    CoreFormula,
    Every,
    Gathered,
    Lasts,
    Measured,
    Rows,
    Seen,
    Shift,
    Some,
    children,
    uses_now,
    walk,
    walk_outside,
)
from presage.core.reach import EVERYWHERE, Reach
from presage.core.rules import Conclusion, CoreRule
from presage.errors import Diagnostic, ProgramError, Span
from presage.model.formulas import Atom, Comparison, aggregates
from presage.model.formulas import Formula as Written
from presage.model.statements import Head, Horizon, Rule
from presage.model.terms import Now
from presage.rewrite import core_of
from presage.time.points import FAR


@dataclass(frozen=True, slots=True)
class ArrivedRows:
    """A step, and the times of the rows that have arrived by then, in order."""

    now: int
    rows: Sequence[int]

    def wait_for(self, count: int, wait: int) -> int:
        """How long after its time a window is settled that shows so many rows after it, where rows and what else it
        shows are final after a wait."""
        final = bisect_right(self.rows, self.now - wait)
        return self.now + 1 - self.rows[final - count] if final >= count else self.now + 1


@dataclass(frozen=True, slots=True)
class SettlingTimes:
    """How long after its time each predicate may still change, and what windows of rows count. How long that is for
    windows that show later rows is known only from what has been `seen`."""

    of: Mapping[str, int]
    rows: int
    seen: ArrivedRows | None = None


MOST_LEAD = 1_000


def lead_of(subject: Subject) -> int:
    """How long before its time an answer may be final at most, within the program's own horizon."""
    farthest = sum(-edge.high for edge in set(subject.dependencies) if isinstance(edge.high, int) and edge.high < 0)
    if not farthest:
        return 0
    found = lags(subject, farthest).of
    # What stays at 0 hangs on nothing that arrives: it is told as time passes.
    leads = [farthest - lag for query in subject.queries if (lag := found[query.atom.predicate]) > 0]
    declared = subject.program.setting(Horizon)
    return max(0, min([max([0, *leads]), MOST_LEAD, *([] if declared is None else [length(declared.length)])]))


def lags(subject: Subject, lead: int = 0, seen: ArrivedRows | None = None) -> SettlingTimes:
    """For each predicate how long after its time it may still change, by a clock with a lead: no shorter than until
    the last instance of a rule that says something of that time is looked at."""
    known = subject.predicates.items()
    found = {name: length(each.delay or 0) + lead if each.is_input else 0 for name, each in known}
    rows = max([0, *found.values()])
    for _ in range(len(found) + 1):
        before = dict(found)
        for timing in subject.timings:
            if timing.rule.head is not None:
                _lengthen(subject, timing, SettlingTimes(found, rows, seen), found)
        if found == before:
            return SettlingTimes(found, rows, seen)
    raise refusal(subject, None, "rules look ever farther ahead, so that nothing is ever settled in a run", MODELS)


def _lengthen(subject: Subject, timing: RuleTiming, lag: SettlingTimes, found: dict[str, int]) -> None:
    """Lets the lags of a rule's heads be at least what its body asks for."""
    rule = core_of(subject).of(timing.rule)
    relative = max((settled_after(literal, lag) for literal in rule.body), default=NOTHING_AHEAD)
    pins = [node for literal in rule.body for node in walk_outside(literal) if isinstance(node, At)]
    # How far a pin lies from the head the dependencies say; what is below it may look farther.
    beyond = max((settled_after(each.part, lag) for each in pins if not isinstance(each.part, Atom)), default=0)
    if relative >= FAR or beyond >= FAR:
        raise never_settled(subject, rule)
    for head in rule.conclusions:
        name = head.atom.predicate
        found[name] = max(found[name], relative - first_offset(head))
    for edge in subject.dependencies:
        # No distance says how far later rows are away; how long they take has been counted in above.
        if edge.rule is rule.rule and not (counts_ahead(rule) and edge.high == INF):
            if edge.high > 0 and not isinstance(edge.high, int):
                raise never_settled(subject, rule)
            if isinstance(edge.high, int):
                found[edge.head] = max(found[edge.head], found[edge.body] + edge.high + max(0, beyond))
    for head_atom in timing.heads:
        name = head_atom.atom.predicate
        found[name] = max(found[name], _first_look(timing, rule, head_atom) + max(0, relative))
        for each in pins:
            # The pinned time itself must have come, also where what is pinned looks back from there.
            if each.variable is not None:
                ahead = timing.bounds.range(each.variable, head_atom.node)[1]
                if not isinstance(ahead, int):
                    raise never_settled(subject, rule)
                wait = ahead + length(each.offset) + max(0, settled_after(each.part, lag))
                found[name] = max(found[name], wait)
    if rule.is_choice:
        # Which alternative holds is known when all are.
        names = {head.atom.predicate for head in timing.heads}
        found.update(dict.fromkeys(names, max(found[name] for name in names)))


def counts_ahead(rule: CoreRule) -> bool:
    """Whether a rule asks for rows after its time."""
    return any(isinstance(node, Rows) and node.window.ahead for literal in rule.body for node in walk(literal))


def _first_look(timing: RuleTiming, rule: CoreRule, head: HeadAtom) -> int:
    """How long after the time of a pinned head its rule may be looked at for the first time. Where only windows that
    slide tie the two together, that is as soon as they allow; all later looks say the same."""
    if is_timeless(rule.rule):
        return NOTHING_AHEAD
    soonest, latest = timing.bounds.range(NOW, head.node)
    slides = all(_slides(node) for literal in rule.body for node in walk(literal))
    if (slides and not any(map(uses_now, rule.body)) and len(rule.times) < 2) or not isinstance(latest, int):
        return soonest if isinstance(soonest, int) else NOTHING_AHEAD
    return latest


def _slides(formula: CoreFormula) -> bool:
    if isinstance(formula, Seen):
        return formula.hop in (None, 1)
    return not isinstance(formula, Rows)


def first_offset(head: Conclusion) -> int:
    """The earliest time a head speaks of, counted from when it is looked at; other times are taken as that time."""
    return ends(head.reach)[0] if isinstance(head.base, Now) else 0


MODELS = "use `presage models`"


def refusal(subject: Subject, rule: Rule | None, message: str, hint: str) -> ProgramError:
    """What a run cannot take, though `presage models` and `presage ask` can."""
    span = Span(0, 1) if rule is None else rule.span
    return ProgramError(subject.program.source, [Diagnostic("R101", message, span, hint)])


def never_settled(subject: Subject, rule: CoreRule) -> ProgramError:
    message = "the rule looks ahead without end, so that nothing is ever settled in a run"
    return refusal(subject, rule.rule, message, f"bound it, or {MODELS}")


def check_steps(subject: Subject, invents: bool) -> None:
    """Refuses a program that cannot be worked out step by step, with the values its rules invent or without."""
    if not subject.discrete:
        message = "programs with several models run on whole time points"
        raise refusal(subject, None, message, "declare `timeline discrete.`")
    for rule in subject.program.rules:
        if rule.head is not None and rule.head.exists and not invents:
            message = "a run of a program with several models, or with `reading now`, invents no values"
            raise refusal(subject, rule, message, MODELS)
    if subject.reading == "every":
        longest_wait(subject, lags(subject))


def longest_wait(subject: Subject, lag: SettlingTimes) -> int:
    """How long after the last fact something may still be settled, constraints included; refuses those that never
    could be looked at."""
    longest = max([0, *lag.of.values()])
    for rule in core_of(subject).rules:
        for literal in rule.body:
            pinned = (node.part for node in walk(literal) if isinstance(node, At))
            wait = max(settled_after(formula, lag) for formula in (literal, *pinned))
            if wait >= FAR:
                raise never_settled(subject, rule)
            longest = max(longest, wait)
    return longest


NOTHING_AHEAD = -FAR


def settled_after(formula: CoreFormula, lag: SettlingTimes, in_window: bool = False) -> int:
    """How long after the time at which a formula is looked at its truth is final, pins to other times aside;
    `FAR` if it never is."""
    match formula:
        case Atom(predicate=predicate):
            return lag.of[predicate]
        case Comparison():
            return NOTHING_AHEAD
        case Measured(sets=sets, written=written):
            assert isinstance(written, Comparison)
            bodies = (each.body for each in aggregates(written))
            found = (_collected_after(one, body, lag, in_window) for one, body in zip(sets, bodies, strict=True))
            return max(found, default=NOTHING_AHEAD)
        case At(base=base, offset=offset, part=inner):
            if not isinstance(base, Now):
                return NOTHING_AHEAD
            return length(offset) + max(0, settled_after(inner, lag))  # the time itself must have come
        case Shift(distance=distance, part=inner):
            return _sum(length(distance), settled_after(inner, lag, in_window))
        case Some(reach=reach, part=inner, clip=False) | Every(reach=reach, part=inner, clip=False):
            return _sum(ends(reach)[1], settled_after(inner, lag, in_window))
        case Lasts(reach=reach, left=left, right=right):
            end = ends(reach)[1]
            between = -1 if formula.is_past else end - 1
            return max(
                _sum(end, settled_after(right, lag, in_window)), _sum(between, settled_after(left, lag, in_window))
            )
        case Some(reach=reach, part=inner) | Every(reach=reach, part=inner):
            if reach == EVERYWHERE:
                return settled_after(inner, lag, in_window) if in_window else FAR
            return _in_sight(reach, inner, lag)
        case Seen(reach=reach, part=inner):
            return _in_sight(reach, inner, lag)
        case Rows(window=window, part=inner):
            wait = max(lag.rows, settled_after(inner, lag, True))
            if not window.ahead or wait >= FAR:
                return wait
            if window.by:
                return FAR  # There may always be another partition, whose first rows are in sight.
            return wait if lag.seen is None else max(wait, lag.seen.wait_for(window.ahead, wait))
        case _:
            return max((settled_after(part, lag, in_window) for part in children(formula)), default=NOTHING_AHEAD)


def _in_sight(reach: Reach, inner: CoreFormula, lag: SettlingTimes) -> int:
    """What a window selects is known when its far edge is past, however far back is looked from there."""
    inside = settled_after(inner, lag, True)
    return _sum(ends(reach)[1], inside if inside == NOTHING_AHEAD else max(0, inside))


def _collected_after(gathered: Gathered, body: tuple[Written, ...], lag: SettlingTimes, in_window: bool) -> int:
    """How long after it is looked at the set of an aggregate is final, times that it shares with its rule aside."""
    found = max(settled_after(literal, lag, in_window) for literal in gathered.body)
    shared = set(gathered.shared)
    timing = time_rule(Rule(Head((Atom("look"),)), body), discrete=True)
    for occurrence in timing.occurrences:
        reach = timing.range(occurrence, timing.heads[0])
        if reach is not None and reach[1] != INF:
            found = max(found, lag.of.get(occurrence.atom.predicate, 0) + int(reach[1]))
        elif reach is not None and not occurrence.rows and not shared & pin_variables(timing.rule):
            return FAR
    return found


def _sum(first: int, second: int) -> int:
    if second == NOTHING_AHEAD:
        return NOTHING_AHEAD
    return FAR if first >= FAR or second >= FAR else first + second
