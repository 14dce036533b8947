"""Everything Presage can say about a program before it runs: `presage check`.

Reads the text, normalises it, asks each analysis its question and puts the answers together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from presage.analysis.acyclic import DEFAULT_HORIZON, Acyclicity, temporal_weak_acyclicity, weak_acyclicity
from presage.analysis.aggregates import check_aggregates
from presage.analysis.circles import circles
from presage.analysis.connected import disconnected
from presage.analysis.faithful import Faithful, faithful_acyclicity
from presage.analysis.forward import Obstacle, obstacles
from presage.analysis.granularity import granularity
from presage.analysis.memory_needed import MemoryBound, memory_bound
from presage.analysis.partition import Partition, partition_key
from presage.analysis.pointwise import at_points
from presage.analysis.predicates import Predicate, find_predicates
from presage.analysis.recursion import recursive_cycle
from presage.analysis.route import CLINGO, Route, route
from presage.analysis.safety import check_safety
from presage.analysis.slow import Slow, slow_parts
from presage.analysis.strata import Stratification
from presage.analysis.stream_strata import window_cycle
from presage.analysis.subject import Dependency, Subject
from presage.analysis.timeline import check_times, decide_timeline
from presage.checking.echoes import without_echoes
from presage.checking.verdicts import describe_values, reasons
from presage.errors import Diagnostic, Note, ProgramError, Source, Span, as_json, render
from presage.languages.files import may_include, read_file, read_program, text_beside
from presage.model.formulas import atoms
from presage.model.printer import show_number, show_query
from presage.model.program import Program
from presage.model.statements import Query, Rule
from presage.model.terms import Number
from presage.parser import Parsed
from presage.parser.including import Folder
from presage.parser.setting import with_params
from presage.patterns.finite import Hypothetical, Hypotheticals
from presage.patterns.horizon import DelayAndWindow, Horizons
from presage.patterns.unfold import Unfolded
from presage.rewrite import normalise
from presage.rewrite.constants import stratification
from presage.rewrite.constraints import with_violations
from presage.showing import html_of
from presage.support import NO_PATTERNS


@dataclass(frozen=True, slots=True)
class QueryReport:
    query: Query
    reach: DelayAndWindow
    connected: bool
    hypothetical: Hypothetical


@dataclass(frozen=True, slots=True)
class Findings:
    """What the analyses found; there only for programs without errors."""

    subject: Subject
    watched: Subject
    """The program with its constraints as queries, as a run takes it."""
    unfolded: Unfolded = field(compare=False, repr=False)
    """The premise patterns of that, unfolded when somebody asks."""
    queries: tuple[QueryReport, ...]
    recursion: tuple[Dependency, ...]
    disconnected: tuple[Rule, ...]
    strata: Stratification
    window_cycle: tuple[Dependency, ...]
    obstacles: tuple[Obstacle, ...]
    weakly_acyclic: Acyclicity
    temporally_weakly_acyclic: Acyclicity
    model_faithful_acyclic: Faithful
    granularity: Number | None
    memory: MemoryBound | None
    partition: Partition
    route: Route

    @property
    def acyclicity(self) -> str | None:
        """The narrowest class that says that inventing values ends; for programs that invent none, none is asked."""
        if not any(rule.head is not None and rule.head.exists for rule in self.subject.program.rules):
            return None
        for name in ("weakly_acyclic", "temporally_weakly_acyclic", "model_faithful_acyclic"):
            if getattr(self, name).acyclic:
                return name
        return None

    @property
    def slow(self) -> tuple[Slow, ...]:
        """What may be slow, with the rules that make it so."""
        return slow_parts(self.subject, self.route, self.memory)

    @property
    def query_delay(self) -> Number | None:
        return _greatest(each.reach.delay for each in self.queries)

    @property
    def window_size(self) -> Number | None:
        return _greatest(each.reach.window for each in self.queries)


def _greatest(values: Iterable[Number | None]) -> Number | None:
    found = list(values)
    known = [value for value in found if value is not None]
    return max(known, default=0) if len(known) == len(found) else None


@dataclass(frozen=True, slots=True)
class Report:
    source: Source
    program: Program
    problems: tuple[Diagnostic, ...]
    predicates: dict[str, Predicate] = field(default_factory=dict)
    findings: Findings | None = None

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.problems if each.severity == "error")

    @property
    def ok(self) -> bool:
        """Whether `presage run --emit confirmed` takes the program."""
        return not self.errors

    def or_raise(self) -> Report:
        if self.errors:
            raise ProgramError(self.source, self.problems)
        return self

    def to_json(self) -> dict[str, Any]:
        """The object `presage check --json` prints."""
        found = self.findings
        body: dict[str, Any] = dict.fromkeys(_FIELDS)
        if found is not None:
            body.update(_findings_json(found))
        body["predicates"] = {name: _predicate_json(each) for name, each in self.predicates.items()}
        body["problems"] = [as_json(self.source, each) for each in self.problems]
        body["ok"] = self.ok
        return body

    def __str__(self) -> str:
        from presage.checking.text import report_text

        return report_text(self)

    def _repr_html_(self) -> str:
        return html_of(self)


_FIELDS = (
    "ok", "timeline", "reading", "engine", "predicates", "queries", "query_delay", "window_size", "hypothetical",
    "recursive", "connected", "forward_propagating", "t_stratified", "stream_stratified", "weakly_acyclic",
    "temporally_weakly_acyclic", "model_faithful_acyclic", "acyclicity", "granularity", "memory_bound",
    "partition_key", "slow", "why", "problems",
)  # fmt: skip


def json_number(value: Number | None) -> int | str | None:
    """An exact number in JSON: whole ones as numbers, others as text."""
    return value if value is None or isinstance(value, int) else show_number(value)


def _predicate_json(each: Predicate) -> dict[str, Any]:
    shown: dict[str, Any] = {"kind": each.kind, "arity": each.arity, "delay": json_number(each.delay)}
    if each.kind == "derived" and each.is_input:
        shown["input"] = True
    return shown


def _findings_json(found: Findings) -> dict[str, Any]:
    subject = found.subject
    return {
        "timeline": subject.timeline,
        "reading": subject.program.reading,
        "engine": found.route.engine,
        "queries": [
            {
                "query": show_query(each.query),
                "tone": each.query.tone,
                "query_delay": json_number(each.reach.delay),
                "window_size": json_number(each.reach.window),
                "connected": each.connected,
                "hypothetical": each.hypothetical.possible,
            }
            for each in found.queries
        ],
        "query_delay": json_number(found.query_delay),
        "window_size": json_number(found.window_size),
        "hypothetical": all(each.hypothetical.possible for each in found.queries),
        "recursive": bool(subject.recursive_predicates),
        "connected": not found.disconnected,
        "forward_propagating": not found.obstacles,
        "t_stratified": found.strata.stratified,
        "stream_stratified": not found.window_cycle,
        "weakly_acyclic": found.weakly_acyclic.acyclic,
        "temporally_weakly_acyclic": found.temporally_weakly_acyclic.acyclic,
        "model_faithful_acyclic": found.model_faithful_acyclic.acyclic,
        "acyclicity": found.acyclicity,
        "granularity": json_number(found.granularity),
        "memory_bound": None if found.memory is None else found.memory.to_json(),
        "partition_key": found.partition.columns,
        "slow": [
            {"line": None if each.rule is None else subject.program.line_of(each.rule), "reason": each.reason}
            for each in found.slow
        ],
        "why": reasons(found),
    }


def check_text(
    text: str,
    name: str = "<program>",
    *,
    folder: Folder | str | Path | None = None,
    params: Mapping[str, Any] | None = None,
    horizon: int = DEFAULT_HORIZON,
    chase_limit: int | None = None,
) -> Report:
    """Checks a program, in the language that the suffix of its name says; what is wrong with it is in the report, never
    raised. With a folder it may include files; a parameter that it does not have, or not so, is what is raised. Reading
    a program and making a reasoner of it ask for the same report: the last few are kept."""
    if params or (folder is not None and may_include(name)):
        beside = Folder(Path(folder)) if isinstance(folder, (str, Path)) else folder
        parsed = read_program(text, name, beside)
        parsed = replace(parsed, program=with_params(parsed.program, params or {}))
        return _keep(_check(parsed, horizon, chase_limit), horizon, chase_limit)
    return _check_text(text, name, text_beside(name), horizon, chase_limit)


def check_file(
    path: str | Path,
    *,
    params: Mapping[str, Any] | None = None,
    horizon: int = DEFAULT_HORIZON,
    chase_limit: int | None = None,
) -> Report:
    """Checks the program of a file, with the files it includes."""
    folder = Path() if str(path) == "-" else Path(path).parent
    text = read_file(path)
    return check_text(text, str(path), folder=folder, params=params, horizon=horizon, chase_limit=chase_limit)


@lru_cache(maxsize=8)
def _check_text(text: str, name: str, beside: str | None, horizon: int, chase_limit: int | None) -> Report:
    return _keep(_check(read_program(text, name), horizon, chase_limit), horizon, chase_limit)


_KEPT: dict[tuple[int, int, int | None], Report] = {}
_MOST_KEPT = 8


def check_program(program: Program, *, horizon: int = DEFAULT_HORIZON, chase_limit: int | None = None) -> Report:
    """The same for a program that is there already, made in Python or by any reader. The last few reports are kept, by
    the program itself: an equal one may have another text, which messages point into."""
    kept = _KEPT.get((id(program), horizon, chase_limit))
    if kept is not None and kept.program is program:
        return kept
    return _keep(_check(Parsed(program, (), ()), horizon, chase_limit), horizon, chase_limit)


def _keep(report: Report, horizon: int, chase_limit: int | None) -> Report:
    while len(_KEPT) >= _MOST_KEPT:
        del _KEPT[next(iter(_KEPT))]
    _KEPT[id(report.program), horizon, chase_limit] = report
    return report


def _check(parsed: Parsed, horizon: int, chase_limit: int | None) -> Report:
    program, problems = normalise(parsed.program)
    predicates, found = find_predicates(program)
    problems.extend(found)
    timeline, found = decide_timeline(program)
    problems.extend(found)
    statics = {name for name, each in predicates.items() if each.is_static}
    problems.extend(check_times(program, timeline, statics))
    safety = check_safety(program)
    problems.extend(safety.problems)
    problems.extend(check_aggregates(program, predicates))
    if timeline == "dense":
        pointwise, found = at_points(program, predicates)
        problems.extend(found)
        for name in pointwise:
            predicates[name].at_points = True
    problems = [*parsed.problems, *without_echoes(problems, parsed.unread)]
    if not parsed.problems and not program.rules and not program.queries:
        hint = "write a rule, such as `alarm(X) :- temp(X, high).`"
        message = "the program has no rules and no query: there is nothing to answer"
        problems.append(Diagnostic("D105", message, _ALL, hint))
    findings = None
    if not any(each.severity == "error" for each in problems):
        subject = Subject(program, predicates, timeline, safety)
        problems.extend(circles(subject))
        findings = analyse(subject, horizon)
        if chase_limit is None:
            problems.extend(_endless_invention(findings))
    return Report(parsed.program.source, parsed.program, _ordered(problems), predicates, findings)


_ALL = Span(0, 1)


def _ordered(problems: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(dict.fromkeys(problems), key=lambda each: (each.span.start, each.code)))


SEVERAL_MODELS = Hypothetical(False, NO_PATTERNS["several models"])


def analyse(subject: Subject, horizon: int = DEFAULT_HORIZON) -> Findings:
    """Asks every analysis its question about a program without errors."""
    strata, apart = stratification(subject)
    chosen = route(subject, strata)
    blocked = tuple(obstacles(subject))
    not_connected = disconnected(subject)
    loose = {atom.predicate for rule in not_connected for head in rule.head_atoms for atom in atoms(head)}
    watched = with_violations(apart)
    unfolded = Unfolded(watched)
    horizons, hypotheticals = Horizons(unfolded.with_open_times), Hypotheticals(unfolded, strata)
    meaning = subject.program.meaning

    def judged(query: Query) -> tuple[DelayAndWindow, Hypothetical]:
        if meaning is not None:
            # Its rules only say what depends on what.
            reason = "" if meaning.possible else meaning.reason
            return DelayAndWindow(meaning.delay, None), Hypothetical(meaning.possible, reason)
        several = chosen.engine == CLINGO and strata.stratified
        return horizons.reach(query), SEVERAL_MODELS if several else hypotheticals.of(query)

    queries = tuple(
        QueryReport(query, reach, loose.isdisjoint(subject.below(query.atom.predicate)), told)
        for query in subject.queries
        for reach, told in [judged(query)]
    )
    window = _greatest(each.reach.window for each in queries)
    weak, temporal = weak_acyclicity(subject), temporal_weak_acyclicity(subject, horizon)
    # Wider than both: it takes longer to find out, and is asked only where they fail.
    faithful = Faithful(True) if temporal.acyclic else faithful_acyclicity(subject, horizon)
    return Findings(
        subject=subject,
        watched=watched,
        unfolded=unfolded,
        queries=queries,
        recursion=tuple(recursive_cycle(subject)),
        disconnected=tuple(not_connected),
        strata=strata,
        window_cycle=tuple(window_cycle(subject)),
        obstacles=blocked,
        weakly_acyclic=weak,
        temporally_weakly_acyclic=temporal,
        model_faithful_acyclic=faithful,
        granularity=granularity(subject.program.rules),
        memory=memory_bound(subject, not blocked, window) if meaning is None else None,
        partition=partition_key(subject, chosen, strata) if meaning is None else Partition(meaning.key),
        route=chosen if meaning is None else Route(meaning.engine, meaning.reason),
    )


def _endless_invention(found: Findings) -> list[Diagnostic]:
    if found.model_faithful_acyclic.acyclic:
        return []
    verdict = found.temporally_weakly_acyclic
    first, *rest = verdict.cycle
    steps = "; ".join(describe_values(found.subject, verdict))
    others = dict.fromkeys(edge.rule.span for edge in rest if edge.rule is not first.rule)
    notes = tuple(Note("and this one carries the value on", span) for span in others)
    message = "the existential rules may invent values without end"
    hint = f"{steps}. Break the cycle, or run with `--chase-limit N`"
    return [Diagnostic("E101", message, first.rule.span, hint, notes)]


def show_problems(report: Report) -> str:
    return render(report.source, report.problems)
