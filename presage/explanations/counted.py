"""`presage explain` for answers that hang on aggregates: what was counted, how much is missing, and which fact made the
difference.

The engine of open times is taken through what had arrived; what it tells of the answer is the explanation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presage.answers import json_value
from presage.explanations.outline import Outline, Sign, point
from presage.explanations.result import Explanation
from presage.model.printer import show_formula, show_number
from presage.model.terms import Constant, Number
from presage.model.time import Pin

if TYPE_CHECKING:
    from presage.analysis.subject import Subject
    from presage.evidence.proof import Record
    from presage.hypothesis.ranges.engine import Ranges
    from presage.hypothesis.ranges.words import Words
    from presage.model.formulas import Atom
    from presage.time.stretches import Stretch

SIGNS = {
    "confirmed": Sign.CONFIRMED,
    "possible": Sign.POSSIBLE,
    "unsupported": Sign.UNSUPPORTED,
    "refuted": Sign.REFUTED,
    "impossible": Sign.REFUTED,
}
SAID = {
    "confirmed": "is confirmed at {at}",
    "possible": "is possible at {at}",
    "unsupported": "is open at {at}, but nothing speaks for it",
    "refuted": "was possible from {since} on and can no longer come true",
    "impossible": "was never possible and cannot come true",
}


def explain_counted(subject: Subject, record: Record, atom: Atom, time: Number) -> Explanation | None:
    """`None` where the engine of open times does not tell answers of the predicate."""
    from presage.hypothesis.ranges.building import range_engine
    from presage.patterns.finish import NoPatterns
    from presage.patterns.of_queries import Entangled, label, ranges_of
    from presage.patterns.unfold import Unfolder

    query = next((each for each in subject.queries if each.atom.predicate == atom.predicate), None)
    if query is None:
        return None
    subject = subject.narrowed((query,))  # another query may have no premises
    try:
        engine = range_engine(subject, ranges_of(subject, Unfolder(subject, stretches=True)))
    except (NoPatterns, Entangled):
        return None
    for name, row in record.statics:
        engine.statics.add(name, row)
    arguments = tuple(each.value for each in atom.arguments if isinstance(each, Constant))
    return _Course(engine, record, (label(0), arguments), time).told(atom)


class _Course:
    """What was told of one answer, step by step."""

    def __init__(self, engine: Ranges, record: Record, key: tuple[str, Any], time: Number) -> None:
        self.engine, self.record, self.key, self.time = engine, record, key, time
        self.point = engine.line.point(time)
        self.status = ""
        self.words: list[Words] = []
        self.history: list[tuple[Number, str]] = []
        self.arrived: dict[str, Number] = {}

    def told(self, atom: Atom) -> Explanation:
        from presage.model.formulas import Pinned

        self._run()
        answer, at = show_formula(Pinned(atom, Pin(None, self.time))), self.record.at
        since = self.history[0][0] if self.history else at
        best = self.words[0] if self.words else None
        because = list(best.because()) if best is not None else []
        needs = list(best.needs()) if best is not None and self.status == "possible" else []
        says = f"{answer} {SAID[self.status].format(at=show_number(at), since=show_number(since))}"
        decisive = max((each for each in because if each in self.arrived), key=self._order, default=None)
        if self.status == "confirmed" and decisive is not None:
            says += f": {decisive} made the difference at {show_number(self.arrived[decisive])}"
        if needs:
            says += f": it waits for {needs[0]}" + (f" (and {len(needs) - 1} more)" if len(needs) > 1 else "")
        line = {
            "answer": answer,
            "at": json_value(at),
            "status": self.status,
            "says": says,
            "because": because,
            "history": [{"at": json_value(when), "status": each} for when, each in self.history],
            "ways": [self._way(each) for each in self.words] if self.status == "possible" else [],
            "failed": None,
            "rules": [],
            "proof": None,
            "decisive": decisive,
        }
        below = [Outline(each, self._when(each), Sign.THERE) for each in because]
        below += [Outline(each, "is missing", Sign.MISSING) for each in needs]
        if needs and best is not None:
            below += [Outline(f"unless {each}") for each in best.unless()]
        outline = Outline(says, "", SIGNS[self.status], show_formula(atom), point(self.time), None, tuple(below))
        return Explanation(line, outline, at)

    def _order(self, text: str) -> tuple[Number, str]:
        return self.arrived[text], text

    def _when(self, text: str) -> str:
        at = self.arrived.get(text)
        return "settled" if at is None else f"arrived at {show_number(at)}"

    def _way(self, words: Words) -> dict[str, Any]:
        return {"because": list(words.because()), "needs": list(words.needs()), "unless": list(words.unless())}

    def _run(self) -> None:
        from presage.evidence.tabling import SeenStream
        from presage.patterns.literals import show

        line = self.engine.line
        coming: dict[Number, list[tuple[str, Any, Stretch]]] = {}
        for facts in SeenStream(self.record).by_name.values():
            for fact in facts:
                span = fact.span
                times = line.stretch(span.low, span.closed_low, span.high, span.closed_high)
                coming.setdefault(fact.arrives, []).append((fact.predicate, fact.arguments, times))
                self.arrived[f"{show(fact.predicate, fact.arguments)}@{line.interval(times)}"] = fact.arrives
        at = self.record.at
        while True:
            wake = self.engine.next_wake()
            steps = [each for each in (*coming, wake, at) if each is not None and self._is_next(each)]
            if not steps:
                break
            now = min(steps)
            self._step(coming.pop(now, []), now)
        self._now()

    def _is_next(self, at: Number) -> bool:
        return at <= self.record.at and (self.engine.now is None or at > self.engine.now)

    def _step(self, facts: list[Any], now: Number) -> None:
        for change in self.engine.step(facts, now):
            if (change.asked, change.arguments) != self.key:
                continue
            if change.times is not None and change.times.covers(self.point):
                self._tell(now, change.status, change.ways)
            elif change.times is None and self.status != "confirmed":
                ways = tuple(part for each in change.ways for part in self._inside(each))
                if ways:
                    self._tell(now, "possible", ways)

    def _inside(self, piece: Any) -> Any:
        from presage.hypothesis.ranges.told import inside

        return inside(piece, self.point)

    def _tell(self, now: Number, status: str, ways: Any) -> None:
        from presage.hypothesis.ranges.words import Words

        if self.status != status:
            self.history.append((now, status))
        self.status = status
        self.words = sorted((Words(each, self.engine.line) for each in ways), key=lambda each: each.order)

    def _now(self) -> None:
        """As of now: what time alone did is told of no step."""
        from presage.hypothesis.ranges.ways import outcome
        from presage.time.stretches import common

        if self.status == "confirmed":
            return
        found = outcome(self.engine.pieces(self.key, self.point), self.engine.line)
        ways = [part for each in found.ways for part in self._inside(each)]
        if ways:
            self._tell(self.record.at, "possible", ways)
        elif common([self.point], found.open):
            self.status, self.words = "unsupported", []
        else:
            was = any(status == "possible" for _, status in self.history)
            self.status, self.words = "refuted" if was else "impossible", []
