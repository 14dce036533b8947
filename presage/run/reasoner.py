"""The reasoner: a program at work, from Python.

reasoner = presage.Reasoner(presage.load("turbines.psg"))
for answer in reasoner.push([("temp", ("wt25", "high"), 0)], now=0):
    print(answer)

It is one class for all programs, and has an engine (`engines.py`) that takes the steps. Here is what does not hang on
which: reading what is given, time that goes forward, what stands, saving, rules that change, and what if.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from presage.answers import NONE, Answer, Answers
from presage.checking import Report, check_program
from presage.engine.runtime import IntervalEngine
from presage.engine.waking import first_step
from presage.errors import PresageError
from presage.io.facts import Checker, Fact
from presage.io.given import GivenReader
from presage.io.reading_back import again, as_pushed, saved, static_again, static_saved
from presage.io.tables import Columns
from presage.io.tuples import FactTuple
from presage.model.formulas import Atom
from presage.model.printer import show_atom
from presage.model.program import Program
from presage.model.terms import Constant, Number
from presage.run.changed_queries import QueryChange
from presage.run.choice import ALL, MOST_WAYS, Choice, most_ways
from presage.run.engines import ANSWER_STREAMS, OWN, Engine, add_statics, engine_kind, make_engine, needs_answer_streams
from presage.run.hypothetical import Supposing
from presage.run.layers import Layer, Layers
from presage.run.replacing import ReplacedRules, from_history
from presage.run.saving import WHAT, packed, program_in, unpacked
from presage.run.states import States
from presage.run.stratified import StratifiedEngine
from presage.sealed import reading
from presage.showing import html_of

if TYPE_CHECKING:
    from presage.run.open_times import RangeSupposing


def what_is_told(report: Report, emit: str) -> str:
    """What a run tells that is asked for something: of several models only what holds in all of them."""
    return "confirmed" if needs_answer_streams(report) else emit


def reasoner_of(
    report: Report,
    emit: str | None = None,
    choice: Choice = ALL,
    chase_limit: int | None = None,
    *,
    brave: bool = False,
) -> Reasoner:
    """A reasoner for who has the report already, and takes what there is of what is asked for: of several models what
    holds in all of them."""
    report.or_raise()
    if emit == "changes" and not brave:
        emit = what_is_told(report, emit)
    return Reasoner(report.program, emit=emit, choice=choice, report=report, chase_limit=chase_limit, brave=brave)


class Reasoner:
    """Feeds facts to a program and gives the changes of its answers. Steps must go forward in time."""

    _warned = False
    """Whether it was said that facts are late."""

    def __init__(
        self,
        program: Program,
        static: Mapping[str, Any] | None = None,
        *,
        emit: str | None = None,
        choice: Choice = ALL,
        report: Report | None = None,
        chase_limit: int | None = None,
        everybody: bool = False,
        ways: int | str | None = MOST_WAYS,
        brave: bool = False,
    ) -> None:
        """With `emit="confirmed"` only what is entailed is worked out, which is faster; so it is anyway for programs
        without hypothetical answers, which `emit="changes"` refuses; with `emit="states"` what goes on is told once.
        `choice` says which open answers are told; `report` is the program's check report, for who has it already. With
        `chase_limit` rules may invent values without end: a step that invents more than so many raises `PresageError`
        and leaves the reasoner as it was. With `brave`, what holds in some of several models is told as possible."""
        if not isinstance(program, Program):
            raise PresageError("a reasoner is made of a program: presage.load(path), or presage.parse(text)")
        if emit not in (None, "changes", "confirmed", "states"):
            raise PresageError(f'emit is "changes", "confirmed" or "states", not {emit!r}')
        most = most_ways(ways)
        choice = replace(
            choice, everybody=choice.everybody or everybody, ways=most if most != MOST_WAYS else choice.ways
        )
        gives_way = report is None
        report = (report or check_program(program, chase_limit=chase_limit)).or_raise()
        self.emit, self._choice, self.chase_limit, self._brave = emit, choice, chase_limit, brave
        tells_states = emit == "states" and (program.meaning is None or program.meaning.lasts)
        emit = "confirmed" if emit == "states" and not tells_states else emit
        worked_out = None if brave and tells_states else "confirmed" if tells_states else emit
        engine = make_engine(report, worked_out, choice, chase_limit, brave=brave, gives_way=gives_way)
        self._begin(program, report, engine)
        self._states = States(self.subject.discrete, lambda name: self.engine.lag(name)) if tells_states else None
        """Where what goes on is told once: what does."""
        self._statics: list[Fact] = []
        """What is known before the stream, for rules that come later."""
        self.replaced: list[QueryChange] = []
        """What the last `replace` changed, query by query."""
        self._statics += self.given.statics(static or {})
        add_statics(engine, self._statics)

    def _begin(self, program: Program, report: Report, engine: Engine) -> None:
        """From now on facts and answers are those of this program, and the engine takes the steps."""
        assert report.findings is not None
        self.program, self.findings, self.engine = program, report.findings, engine
        self.given = GivenReader(engine.checker)
        self.kind = engine_kind(report)
        if self.kind == OWN:
            self.given.keep_order()
        self._told = NONE
        """What the last step gave."""
        self._restored: list[Answer] = []
        """What had been confirmed by the last step before the reasoner was saved, until there is another."""

    # -- what is inside ----------------------------------------------------------------------------------

    @property
    def subject(self) -> Any:
        return self.engine.subject

    @property
    def checker(self) -> Checker:
        return self.engine.checker

    @property
    def now(self) -> Number | None:
        """The time of the last step."""
        return self.engine.now

    @property
    def late(self) -> list[Fact]:
        """The facts that came too late and were left out."""
        return self.engine.late

    @property
    def has_several_models(self) -> bool:
        """Whether what holds in all models is told, of none or several; or of the time of evaluation alone."""
        return self.kind == ANSWER_STREAMS

    @property
    def supposing(self) -> Supposing | RangeSupposing | None:
        """What may come true, where an engine of hypothetical answers says it."""
        return self.engine.supposing if isinstance(self.engine, StratifiedEngine) else None

    @property
    def interval_engine(self) -> IntervalEngine:
        """What is entailed and in memory, up to the last step; for programs that the interval engine runs."""
        if not isinstance(self.engine, StratifiedEngine):
            raise PresageError(f"{self.program.source.name}: the interval engine does not run it")
        return self.engine.interval_engine

    @property
    def runs_as_a_whole(self) -> bool:
        """Whether it looks at all that matters anew at each step, and has no engine that could be taken apart."""
        return not isinstance(self.engine, StratifiedEngine)

    # -- steps -------------------------------------------------------------------------------------------

    def add_statics(self, facts: Sequence[Fact]) -> None:
        """What is known before the stream, all at once: to add each by itself costs many times as much."""
        if self.now is not None:
            raise PresageError("static facts are known before the stream: give them before the first step")
        self._statics += facts
        add_statics(self.engine, facts)

    def push(self, facts: Iterable[FactTuple] | Mapping[str, Any], now: Any) -> Answers:
        """Takes what arrives at `now`, as tuples or as a table for each predicate; gives the answers that change by it,
        and by the time that has passed since the last step. A fact that is wrong raises `FactError` and leaves the
        reasoner as it was."""
        moment = self.checker.time(now, "now")
        tables, checked = self.given.read(facts)
        self._check_now(moment)
        before = len(self.late)
        changes = self.advance(checked, moment, tables)
        late = self.late[before:]
        if not late:
            return changes
        if not self._warned:
            self._warned = True
            atom = show_atom(Atom(late[0].predicate, tuple(map(Constant, late[0].arguments))))
            warnings.warn(f"{atom} arrived too late and was left out; what push returns has a `late`", stacklevel=2)
        return changes.with_late(tuple(map(as_pushed, late)))

    def advance(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """The same for facts that are checked already."""
        return (self._through_time if self.skips_nothing else self.step)(facts, now, tables)

    def _check_now(self, now: Number) -> None:
        if self.now is not None and (now < self.now or (now == self.now and not self.engine.may_repeat)):
            raise PresageError(f"time goes forward: the last step was at {self.now}, this one is at {now}")
        if self.subject.discrete and not isinstance(now, int):
            raise PresageError(f"{now} is not a whole number, as times of the discrete timeline are")

    @property
    def skips_nothing(self) -> bool:
        """Whether there must be a step at each time at which something is decided."""
        return self.runs_as_a_whole or self.supposing is not None

    def _through_time(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns]) -> Answers:
        """A step at each time at which something is decided, though nothing arrives, up to now."""
        parts: list[Answers] = []
        while True:
            due = first_step(self.first_decision, now) if self.now is None else self.next_decision()
            if due is None or due >= now:
                break
            if not parts:
                self.check_times(facts, tables, now)
            parts.append(self.step([], due))
        parts.append(self.step(facts, now, tables))
        if len(parts) == 1:
            return parts[0]
        return Answers(sum(map(len, parts)), lambda: [answer for part in parts for answer in part])

    def check_times(self, facts: Sequence[Fact], tables: Sequence[Columns], now: Number) -> None:
        """Refuses times that are too large or too fine before anything changes."""
        for each in self._members:
            if isinstance(each.engine, StratifiedEngine):
                each.engine.refine_for(facts, tables, now)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        """One step, and no other, for facts that are checked already."""
        self._check_now(now)
        found = self.engine.step(facts, now, tables)
        if self._states is not None:
            found = self._states.take(found, now)
        self._told, self._restored = _answers(found), []
        return self._told

    def take(self, facts: Sequence[Fact], now: Number) -> None:
        """Takes what arrives without looking at it: for a later step, where each is an evaluation of its own."""
        assert self.engine.reads_now
        self.engine.take(facts, now)  # type: ignore[attr-defined]

    def refine(self, parts: int) -> None:
        """Makes the dense timeline's grid at least so fine, whatever arrives: a shard steps as finely as all do."""
        if isinstance(self.engine, StratifiedEngine):
            self.engine.refine(parts)

    def end(self) -> Answers:
        """What goes on, as far as the run went: with `emit="states"` its last lines. A stream that goes on from a saved
        state has no end."""
        if isinstance(self.engine, Layers):
            return _answers(self.engine.end())
        return NONE if self._states is None or self.now is None else _answers(self._states.end(self.now))

    @property
    def reads_now(self) -> bool:
        return self.engine.reads_now

    @property
    def first_decision(self) -> Number | None:
        return self.engine.first_decision

    @property
    def looks_ahead(self) -> bool:
        return self.engine.looks_ahead

    @property
    def longest_lag(self) -> Number:
        return self.engine.longest_lag

    def end_after(self, last: Number) -> Number:
        """The last step of a run that nobody ends, whose facts speak of times up to `last`."""
        return self.engine.end_after(last)

    def next_decision(self) -> Number | None:
        """The earliest time after now at which something may be decided though nothing arrives."""
        due = self.engine.next_decision()
        turn = None if self._states is None or self.now is None else self._states.next_turn(self.now)
        return min((each for each in (due, turn) if each is not None), default=None)

    # -- what stands -------------------------------------------------------------------------------------

    def answers(self) -> Answers:
        """What stands now: what is possible, and what was confirmed at the last step."""
        stands = self._told if self._states is not None else _answers(self.engine.standing(self._told))
        return _answers([*self._restored, *stands]) if self._restored else stands

    def run(self, tables: Mapping[str, Any], until: Any = None) -> Answers:
        """Takes whole stretches of time: a table for each predicate, as for `push`, whose facts arrive at their time or
        when a column `arrives` says, through `until` or the last arrival. Gives the answers of all steps."""
        from presage.run import schedule

        return schedule.run_tables(self, tables, until)

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table: its columns, and `from`, `to`, `bounds`; with several
        models, what holds in all of them."""
        if name not in self.subject.predicates:
            raise PresageError(f"the program has no predicate `{name}`")
        return self.engine.holds(name)

    @property
    def remembered(self) -> int:
        """How many intervals of facts are in memory; by columns, how many facts and answers."""
        return self.engine.remembered

    def _repr_html_(self) -> str:
        return html_of(self)

    # -- saving ------------------------------------------------------------------------------------------

    def save(self, standing: bool = True) -> bytes:
        """The reasoner's memory, for `restore`; what the last step confirmed belongs to it, unless nobody asks."""
        header, arrays = self.engine.save()
        told_as = "states" if self._states is not None else self.engine.told_as
        extra = header["extra"] = {**header.get("extra", {}), "emit": told_as, "choice": self._choice.saved()}
        if self.chase_limit is not None:
            extra["chase_limit"] = self.chase_limit
        extra["brave"] = self._brave
        if standing:
            last = self._restored or (self._told if self._states is not None else self.engine.confirmed(self._told))
            extra["standing"] = [saved(answer) for answer in last]
            extra["static"] = [static_saved(fact) for fact in self._statics]
        if self._states is not None:
            extra["states"] = self._states.saved(saved)
        return packed(self.program, header, arrays)

    @classmethod
    def restore(cls, program: Program, blob: bytes, choice: Choice | None = None) -> Self:
        """A reasoner that goes on where the saved one was, and tells what it told. The program must be the same."""
        header, arrays = unpacked(program, blob)
        with reading(WHAT):
            extra = header.get("extra", {})
            emit, limit = extra.get("emit", "confirmed"), extra.get("chase_limit")
            told = choice or Choice.again(extra.get("choice", {}))
            reasoner = cls(program, emit=emit, choice=told, chase_limit=limit, brave=bool(extra.get("brave")))
            if "layers" in header:
                report = check_program(program, chase_limit=limit)
                reasoner._begin(program, report, reasoner._layers(report, [], None, []))
                reasoner._states = None
            reasoner.engine.load(header, arrays)
            if reasoner._states is not None:
                reasoner._states.load(extra["states"], again)
            reasoner._statics = [static_again(each) for each in extra.get("static", ())]
            last = [again(each) for each in extra.get("standing", header.get("standing", ()))]
            reasoner._restored = [each for each in last if reasoner.kind != OWN or each.status == "confirmed"]
        return reasoner

    # -- rules that change -------------------------------------------------------------------------------

    def replace(
        self,
        program: Program,
        static: Mapping[str, Any] | None = None,
        history: Iterable[FactTuple] = (),
    ) -> Answers:
        """Goes on with other rules; `replaced` says what became of each query. One that is unchanged, with all that it
        hangs on, keeps what it remembers and tells nothing twice. One that is new or changed begins now, and knows
        nothing from before but what `history` has, tuples as for `push`, from as far back as they go. What was open of
        one that is gone or changed is told for the last time, as unsupported. Static facts are those there were,
        unless `static` gives others for what begins."""
        return self.become(program, static, lambda layer, now: from_history(layer, history, now))

    def become(
        self,
        program: Program,
        static: Mapping[str, Any] | None,
        fed: Callable[[Layer, Number | None], Iterable[Answer]],
    ) -> Answers:
        """The same; `fed` feeds a layer that begins what came before, and gives what it says of that."""
        if not isinstance(program, Program):
            raise PresageError("rules are replaced by a program: presage.load(path), or presage.parse(text)")
        changed = ReplacedRules(self, program, static, fed)
        self._begin(program, changed.report, self._layers(changed.report, changed.layers, self.now, list(self.late)))
        self._states = None  # each layer has its own
        self.replaced = changed.queries
        return _answers(changed.told)

    def beside(self) -> Reasoner:
        """This reasoner as it is, so that it can go on beside others."""
        inner = type(self).__new__(type(self))
        inner.__dict__.update(self.__dict__)
        return inner

    def beginning(self, program: Program, static: Mapping[str, Any] | None) -> Reasoner:
        """A reasoner that is asked the same way, and begins: with this one's static facts, or others, that it reads."""
        made = type(self)(program, emit=self.emit, choice=self._choice, chase_limit=self.chase_limit)
        known = {name for name, each in made.subject.predicates.items() if each.is_static}
        given = {name: rows for name, rows in (static or {}).items() if name in known}
        facts = self._statics if static is None else made.given.statics(given)
        made.add_statics([fact for fact in facts if fact.predicate in known])
        return made

    def _layers(self, report: Report, layers: list[Layer], now: Number | None, late: list[Fact]) -> Layers:
        assert report.findings is not None
        return Layers(
            report.findings.watched,
            layers,
            now,
            late,
            self.emit,
            lambda blob: type(self).restore(program_in(blob), blob, self._choice),
        )

    @property
    def open_count(self) -> int:
        """How many answers are possible now, as far as it is counted."""
        return sum(0 if each.supposing is None else each.supposing.open_count for each in self._members)

    @property
    def _members(self) -> list[Reasoner]:
        return [each.reasoner for each in self.engine.layers] if isinstance(self.engine, Layers) else [self]

    # -- what if -----------------------------------------------------------------------------------------

    def suppose(self, facts: Iterable[FactTuple] | Mapping[str, Any]) -> Answers:
        """What would change if these facts came now, facts as for `push`; nothing does. A fact that can no longer come
        changes nothing: it is among the `late` ones of what is given back."""
        return self.supposed(self.given.facts(facts))

    def supposed(self, facts: Sequence[Fact]) -> Answers:
        """The same for facts that are checked already."""
        copy = type(self).restore(self.program, self.save(), self._choice)
        copy.engine.may_repeat = True
        now = copy.now
        late: tuple[Fact, ...] = ()
        if now is None:
            # Nothing has come yet, and nothing is settled.
            first = min((fact.arrival for fact in facts), default=0)
            now = first if copy.first_decision is None else min(copy.first_decision, first)
        else:
            late = tuple(fact for fact in facts if copy.checker.is_settled(fact, now))
        found = copy.step([fact for fact in facts if fact not in late], now)
        return found.with_late(tuple(map(as_pushed, late)))


def _answers(answers: Sequence[Answer]) -> Answers:
    if isinstance(answers, Answers):
        return answers
    found = list(answers)
    return Answers(len(found), lambda: found)
