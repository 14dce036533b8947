"""The reasoner that users see: one class, whether a program has one model or may have none or several.

A program with one model that holds at every time is run by the interval engine, as far as that goes; what it does not
run is worked out from the whole stream at each step. Programs with several models are run by their answer streams: each
step gives what has come to hold in all of them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from presage.answer_streams.stepping import AnswerStreamSteps, needs_answer_streams
from presage.answer_streams.stepping_kept import steps_of
from presage.answer_streams.stepping_one import OneModelSteps
from presage.answer_streams.texts import Names
from presage.answers import NONE, Answer, Answers
from presage.checking import Report, check_program
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.io.tables import Columns, TableReader
from presage.io.told import again, saved, static_again
from presage.io.tuples import Given, TupleReader
from presage.languages.steps import OwnSteps
from presage.model.printer import show_number, show_query
from presage.model.program import Program
from presage.model.statements import Query
from presage.model.terms import Number, number
from presage.plan.parts import Unsupported
from presage.run.changed_queries import CHANGED, NEW, UNCHANGED, QueryChange, Slices, compared
from presage.run.choice import ALL, MOST_WAYS, Choice
from presage.run.confirmed import arrow_column
from presage.run.layers import Layer, Layers, closed
from presage.run.saving import packed, program_in
from presage.run.stratified import Reasoner as OneModelReasoner
from presage.run.stratified import as_pushed
from presage.sealed import Arrays
from presage.time.points import FAR


def what_is_told(report: Report, emit: str) -> str:
    """What a run tells that is asked for something: of several models only what holds in all of them."""
    return "confirmed" if needs_answer_streams(report) else emit


class Reasoner(OneModelReasoner):
    """Feeds facts to a program and gives the changes of its answers. Steps must go forward in time."""

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
        ways: int | None = MOST_WAYS,
    ) -> None:
        if not isinstance(program, Program):
            raise PresageError("a reasoner is made of a program: presage.load(path), or presage.parse(text)")
        choice = replace(
            choice, everybody=choice.everybody or everybody, ways=ways if ways != MOST_WAYS else choice.ways
        )
        if report is None:
            report = check_program(program, chase_limit=chase_limit)
        report.or_raise()
        assert report.findings is not None
        self._told_as, self._choice, self._chase_limit = emit, choice, chase_limit
        self._statics: list[Fact] = []
        """What is known before the stream, for rules that come later."""
        self.replaced: list[QueryChange] = []
        """What the last `replace` changed, query by query."""
        self._steps: AnswerStreamSteps | OwnSteps | Layers | None = None
        if program.meaning is not None:
            self._steps = cast(OwnSteps, program.meaning.steps(report.findings.subject, emit))
        elif not needs_answer_streams(report):
            try:
                super().__init__(program, static, emit=emit, choice=choice, report=report, chase_limit=chase_limit)
                return
            except Unsupported:
                if not report.findings.subject.discrete:
                    raise
            self._steps = OneModelSteps(report, chase_limit)
        else:
            if emit not in (None, "confirmed"):
                raise PresageError(
                    f"{report.source.name}: a program with several models, or with `reading now`, tells what is "
                    f'confirmed only: leave out emit={emit!r}, or give emit="confirmed"'
                )
            self._steps = steps_of(report)
        self.program, self.findings = program, report.findings
        self.subject, self.checker = self._steps.subject, self._steps.checker
        self.tables, self.tuples = TableReader(self.checker), TupleReader(self.checker)
        if isinstance(self._steps, OwnSteps):
            self.tuples.plain = {}  # facts stay in the order in which they were given
        self.supposing = None
        self.now: Number | None = None
        self.late: list[Fact] = []
        self._standing = NONE
        self._add_statics(static or {})

    @property
    def runs_as_a_whole(self) -> bool:
        """Whether it looks at all that matters anew at each step, and has no engine that could be taken apart."""
        return self._steps is not None

    def add_static(self, fact: Fact) -> None:
        if self._steps is None:
            super().add_static(fact)
            return
        if self.now is not None:
            raise PresageError("static facts are known before the stream: give them before the first step")
        self._statics.append(fact)
        assert not isinstance(self._steps, Layers)
        self._steps.add_static(fact)

    def step(self, facts: Sequence[Fact], now: Number, tables: Sequence[Columns] = ()) -> Answers:
        if self._steps is None:
            return super().step(facts, now, tables)
        if not isinstance(now, int) and self.subject.discrete:
            raise PresageError(f"{now} is not a whole number, as times of the discrete timeline are")
        rows = [fact for table in tables for fact in table.facts()]
        found = self._steps.step([*facts, *rows], now)
        self.now, self.late = now, self._steps.late
        self._standing = Answers(len(found), lambda: found)
        return self._standing

    @property
    def skips_nothing(self) -> bool:
        return self._steps is not None or super().skips_nothing

    def _refine(self, facts: Sequence[Fact], tables: Sequence[Columns], now: Number) -> None:
        if self._steps is None:
            super()._refine(facts, tables, now)

    def answers(self) -> Answers:
        if isinstance(self._steps, OwnSteps):
            standing = self._steps.standing(self._standing)
            return Answers(len(standing), lambda: standing)
        if isinstance(self._steps, Layers):
            layered = self._steps.standing()
            return Answers(len(layered), lambda: layered)
        return super().answers() if self._steps is None else self._standing

    def holds(self, name: str) -> Any:
        """What is in memory of a predicate, as an Arrow table; with several models, what holds in all of them."""
        if self._steps is None:
            return super().holds(name)
        import pyarrow as pa

        if name not in self.subject.predicates:
            raise PresageError(f"the program has no predicate `{name}`")
        if isinstance(self._steps, OwnSteps):
            raise PresageError(f"`{name}`: no rule derives it here, so that it is not kept as a table; see answers()")
        if isinstance(self._steps, Layers):
            return next(each for each in self._steps.layers if name in each.reads).reasoner.holds(name)
        known = self.subject.predicates[name]
        rows = [
            (arguments, low, high)
            for arguments in self._steps.certain.arguments(name)
            for low, high in self._steps.certain.times(name, arguments).spans
        ]
        columns: dict[str, list[Any]] = {}
        names = Names()
        for place in range(known.arity):
            title = known.columns[place].name if place < len(known.columns) else str(place + 1)
            columns[title] = [names.json(arguments[place]) for arguments, _, _ in rows]
        columns["from"] = [show_number(low) for _, low, _ in rows]
        columns["to"] = [None if high >= FAR else show_number(high) for _, _, high in rows]
        columns["bounds"] = ["[)" if high >= FAR else "[]" for _, _, high in rows]
        return pa.table({title: arrow_column(values) for title, values in columns.items()})

    def save(self, standing: bool = True) -> bytes:
        if self._steps is None:
            return super().save(standing)
        if isinstance(self._steps, Layers):
            return packed(self.program, {"extra": {"emit": self._told_as}, **self._steps.memory()}, {})
        last = [saved(answer) for answer in self._standing] if standing else []
        memory = self._steps.memory()
        emit = "confirmed" if self.program.meaning is None else memory.get("emit")
        return packed(self.program, {"extra": {"emit": emit}, "steps": memory, "standing": last}, {})

    def _remember(self, header: dict[str, Any], arrays: Arrays) -> None:
        self._statics = [static_again(each) for each in header.get("extra", {}).get("static", ())]
        if "layers" in header:
            self._remember_layers(header["layers"])
            return
        if self._steps is None:
            super()._remember(header, arrays)
            return
        assert not isinstance(self._steps, Layers)
        self._steps.remember(header["steps"])
        standing = [again(each) for each in header["standing"]]
        self._standing = Answers(len(standing), lambda: standing)
        self.now, self.late = self._steps.now, self._steps.late

    # -- rules that change -------------------------------------------------------------------------------

    def replace(
        self,
        program: Program,
        static: Mapping[str, Any] | None = None,
        history: Iterable[Given] = (),
    ) -> Answers:
        """Goes on with other rules; `replaced` says what became of each query. One that is unchanged, with all that it
        hangs on, keeps what it remembers and tells nothing twice. One that is new or changed begins now, and knows
        nothing from before but what `history` has, tuples as for `push`, from as far back as they go. What was open of
        one that is gone or changed is told for the last time, as unsupported. Static facts are those there were,
        unless `static` gives others for what begins."""
        if not isinstance(program, Program):
            raise PresageError("rules are replaced by a program: presage.load(path), or presage.parse(text)")
        for each in (self.program, program):
            if each.meaning is not None:
                raise PresageError(
                    f"{each.source.name}: rules can be replaced, and this is {each.meaning.engine}, which has none: "
                    "make a reasoner of the new text"
                )
        report = check_program(program, chase_limit=self._chase_limit).or_raise()
        before, after = Slices(check_program(self.program, chase_limit=self._chase_limit)), Slices(report)
        changes = compared(before, after)
        kind = {change.query: change.kind for change in changes}
        layers = self._steps.layers if isinstance(self._steps, Layers) else [self._as_layer(before)]
        now = self.now
        found: list[Answer] = []
        kept: list[Layer] = []
        for layer in layers:
            stays = tuple(query for query in layer.queries if kind.get(show_query(query)) == UNCHANGED)
            gone = [query for query in layer.queries if query not in stays]
            if now is not None:
                rest = replace(layer, queries=stays)
                found += [each for each in closed(layer, gone, now) if not rest.asks(each)]
            if stays:
                kept.append(Layer(layer.reasoner, stays, _below(before, stays), layer.begin))
        begins = tuple(query for query in after.queries if kind[show_query(query)] in (NEW, CHANGED))
        if begins:
            layer = self._new_layer(after, begins, static, now)
            kept.append(layer)
            found += self._from_history(layer, history, now)
        assert report.findings is not None
        self._steps = Layers(report.findings.watched, kept, now, list(self.late))
        self._become(program, report)
        self.replaced = changes
        return Answers(len(found), lambda: found)

    def _as_layer(self, own: Slices) -> Layer:
        """This reasoner as it was, so that it can go on beside others."""
        inner = type(self).__new__(type(self))
        inner.__dict__.update(self.__dict__)
        inner.late = []
        return Layer(inner, own.queries, _below(own, own.queries))

    def _new_layer(
        self, own: Slices, queries: tuple[Query, ...], static: Mapping[str, Any] | None, now: Number | None
    ) -> Layer:
        reasoner = type(self)(
            own.sliced(queries), static, emit=self._told_as, choice=self._choice, chase_limit=self._chase_limit
        )
        if static is None:
            for fact in self._statics:
                if (
                    fact.predicate in reasoner.subject.predicates
                    and reasoner.subject.predicates[fact.predicate].is_static
                ):
                    reasoner.add_static(fact)
        return Layer(reasoner, queries, _below(own, queries), now)

    def _from_history(self, layer: Layer, history: Iterable[Given], now: Number | None) -> list[Answer]:
        """What a layer says that is fed what came before, in the order of arrival, up to now."""
        given = list(history)
        if not given or now is None:
            return []
        layer.begin = None
        reasoner = layer.reasoner
        facts = reasoner.tuples.facts([each for each in given if each[0] in layer.reads])
        arriving: dict[Number, list[Fact]] = {}
        for fact in facts:
            arriving.setdefault(min(fact.arrival, now), []).append(fact)
        found: list[Answer] = []
        for time in sorted({*arriving, now}):
            found += layer.told(reasoner.advance(arriving.get(time, []), time))
        return found

    def _become(self, program: Program, report: Report) -> None:
        """From now on facts and answers are those of this program; its layers do the work."""
        assert self._steps is not None and report.findings is not None
        self.program, self.findings = program, report.findings
        self.subject, self.checker = self._steps.subject, self._steps.checker
        self.tables, self.tuples = TableReader(self.checker), TupleReader(self.checker)
        self.supposing = None
        self.now, self.late = self._steps.now, self._steps.late
        self._standing, self._restored = NONE, []

    def _remember_layers(self, layers: list[Any]) -> None:
        report = check_program(self.program, chase_limit=self._chase_limit)
        assert report.findings is not None
        found = []
        for each in layers:
            blob = base64.b64decode(each["memory"], validate=True)
            reasoner = type(self).restore(program_in(blob), blob, self._choice)
            queries = tuple(
                query for query in reasoner.findings.watched.queries if show_query(query) in each["queries"]
            )
            begin = None if each["begin"] is None else number(Fraction(each["begin"]))
            found.append(Layer(reasoner, queries, frozenset(map(str, each["reads"])), begin))
        self._steps = Layers(report.findings.watched, found, found[0].reasoner.now if found else None, [])
        self._become(self.program, report)

    # -- what if -----------------------------------------------------------------------------------------

    def suppose(self, facts: Iterable[Given] | Mapping[str, Any]) -> Answers:
        """What would change if these facts came now, facts as for `push`; nothing does. A fact that can no longer come
        changes nothing: it is among the `late` ones of what is given back."""
        tables, checked = self._read(facts)
        return self.supposed([*(fact for table in tables for fact in table.facts()), *checked])

    def supposed(self, facts: Sequence[Fact]) -> Answers:
        """The same for facts that are checked already."""
        copy = type(self).restore(self.program, self.save(), self._choice)
        copy._may_repeat()
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

    def _may_repeat(self) -> None:
        self.may_repeat = True
        if self._steps is not None:
            self._steps.may_repeat = True
        if isinstance(self._steps, Layers):
            for layer in self._steps.layers:
                layer.reasoner._may_repeat()

    @property
    def first_decision(self) -> Number | None:
        return super().first_decision if self._steps is None else self._steps.first_decision

    @property
    def looks_ahead(self) -> bool:
        return super().looks_ahead if self._steps is None else self._steps.looks_ahead

    def next_decision(self) -> Number | None:
        return super().next_decision() if self._steps is None else self._steps.next_decision()

    @property
    def remembered(self) -> int:
        if isinstance(self._steps, OwnSteps):
            raise PresageError("what is in memory is not counted in facts here")
        return super().remembered if self._steps is None else self._steps.remembered

    @property
    def longest_lag(self) -> Number:
        return super().longest_lag if self._steps is None else self._steps.longest_lag


def _below(own: Slices, queries: Sequence[Query]) -> frozenset[str]:
    return frozenset().union(*(own.below(query) for query in queries)) if queries else frozenset()
