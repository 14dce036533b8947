"""Facts as they come: read, checked against the program, and made exact.

A fact that does not fit says where it stands and why; nothing is guessed, rounded or dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

from presage.analysis.predicates import Predicate, fits, is_within
from presage.answers import show_answer_atom
from presage.errors import PresageError, nearest
from presage.io.unknown import HINT, Unknown
from presage.model.delays import longest_delay
from presage.model.numerals import MOST_DIGITS
from presage.model.numerals import exact as exact
from presage.model.printer import show_column, show_number
from presage.model.program import Program
from presage.model.terms import Number, Value, number
from presage.model.time import Timestamp
from presage.rewrite.units import Units, duration_in

FIELDS = frozenset({"pred", "args", "time", "from", "to", "bounds", "arrives"})
"""What a fact says in JSON. Others are passed over, unless somebody meant one of these."""
TICKS, ISO = "ticks", "iso"
"""How times are written and shown: as numbers, or as timestamps."""


class FactError(PresageError):
    """A fact that cannot be taken; the message says where it stands."""


def exact_float(given: float | Decimal) -> Number | None:
    """What a float stands for: the shortest decimal that denotes it, so that 0.1 is the same in every format."""
    return exact(float.__repr__(given) if isinstance(given, float) else str(given))


@dataclass(frozen=True, slots=True)
class Fact:
    predicate: str
    arguments: tuple[Value, ...]
    low: Number | None
    """Its time, or the start of its interval; `None` for a static fact."""
    high: Number | None
    """The end; `None` is infinity."""
    closed_low: bool = True
    closed_high: bool = True
    arrives: Number | None = None

    @property
    def arrival(self) -> Number:
        assert self.low is not None
        return self.low if self.arrives is None else self.arrives

    @property
    def last(self) -> Number:
        """How far a run goes for it: to its arrival, or to the end of its interval if that is later."""
        return self.arrival if self.high is None else max(self.arrival, self.high)


def show_fact(fact: Fact) -> str:
    """A fact with its time in the language's own spelling."""
    atom = show_answer_atom(fact.predicate, fact.arguments)
    assert fact.low is not None
    if fact.low == fact.high:
        return f"{atom}@{show_number(fact.low)}"
    high = "inf" if fact.high is None else show_number(fact.high)
    return f"{atom}@{'[' if fact.closed_low else '('}{show_number(fact.low)},{high}{']' if fact.closed_high else ')'}"


class Checker:
    """What a program expects of its facts."""

    def __init__(self, program: Program, predicates: dict[str, Predicate], discrete: bool) -> None:
        self.program, self.predicates, self.discrete = program, predicates, discrete
        self.units = Units(program)
        self.times: str | None = None
        """How the facts that were read say their times, `ticks` or `iso`: by the first of them."""
        self.unknown: Unknown | None = None
        """What is done about what the program does not name, where somebody was asked: otherwise it is refused."""

    def passes_over(self, name: Any, count: int = 1) -> bool:
        """Whether facts are left aside, and counted, because the program does not name their predicate."""
        if self.unknown is None or not self.unknown.ignored or not isinstance(name, str) or name in self.predicates:
            return False
        self.unknown.facts[name] += count
        return True

    def fact_if_named(self, entry: Any, where: str) -> Fact | None:
        """The same as `fact`, of a predicate that the program names; of another nothing, where that is passed over."""
        if isinstance(entry, dict) and self.passes_over(entry.get("pred")):
            return None
        return self.fact(entry, where)

    def fact(self, entry: Any, where: str) -> Fact:
        """A fact from the object of a JSON line."""
        if not isinstance(entry, dict):
            raise FactError(f'{where}: a fact is an object such as {{"pred": "temp", "args": ["wt25"], "time": 0}}')
        for needed in ("pred", "args"):
            if needed not in entry:
                raise FactError(f"{where}: the fact has no `{needed}`")
        name, arguments = entry["pred"], entry["args"]
        if not isinstance(arguments, list):
            raise FactError(f"{where}: `args` is a list of values")
        if "time" not in entry and "from" not in entry:
            name = self.timeless(name)
        known = self.known(name, where)
        if len(arguments) != known.arity:
            raise FactError(f"{where}: `{name}` has {known.arity} arguments in the program and {len(arguments)} here")
        if not FIELDS.issuperset(entry) and not known.is_static:
            _check_fields(entry, where)
        values = tuple(self.value(each, known, place, where) for place, each in enumerate(arguments))
        low, high, closed_low, closed_high, arrives = self.when(entry, known, where)
        return Fact(name, values, low, high, closed_low, closed_high, arrives)

    def timeless(self, name: Any) -> Any:
        """The predicate of a fact without a time: beside an input `p` a program may have a static `static_p`, whose
        facts are those of `p` that hold at every time."""
        if not isinstance(name, str):
            return name
        known, twin = self.predicates.get(name), self.predicates.get(f"static_{name}")
        if known is None or twin is None or not known.is_input or not twin.is_static or known.arity != twin.arity:
            return name
        return twin.name

    def known(self, name: Any, where: str) -> Predicate:
        known = self.predicates.get(name) if isinstance(name, str) else None
        if known is None or not (known.is_input or known.is_static):
            if known is not None:
                raise FactError(f"{where}: `{name}` is derived by rules; declare it as an input to feed it too")
            inputs = [each.name for each in self.predicates.values() if each.is_input or each.is_static]
            near = nearest(str(name), inputs)
            hint = f"; did you mean `{near}`?" if near else f" (it has {', '.join(sorted(inputs)) or 'none'})"
            raise FactError(f"{where}: the program has no input `{name}`{hint}{self.hint_of_unknown}")
        return known

    @property
    def hint_of_unknown(self) -> str:
        return "" if self.unknown is None else HINT

    def value(self, given: Any, known: Predicate, place: int, where: str) -> Value:
        kind = known.columns[place].type if place < len(known.columns) else "any"
        if type(given) is str and kind in ("any", "text") and given.isascii():
            return given
        if kind == "time":
            return self.time(given, where)
        if isinstance(given, bool):
            value: Value = "true" if given else "false"
        elif isinstance(given, str):
            if not given.isascii() and any("\ud800" <= sign <= "\udfff" for sign in given):
                raise FactError(f"{where}: argument {place + 1} of `{known.name}` has half a character (a surrogate)")
            value = given
        elif isinstance(given, int):
            value = given
        elif isinstance(given, Fraction):
            value = number(given)
        elif isinstance(given, (float, Decimal)):
            finite = exact_float(given)
            if finite is None:
                raise FactError(
                    f"{where}: {given} is not a value; argument {place + 1} of `{known.name}` must be finite"
                )
            value = finite
        else:
            raise FactError(f"{where}: argument {place + 1} of `{known.name}` is neither text nor a number")
        if not fits(value, kind):
            column = known.columns[place]
            shown = repr(value) if isinstance(value, str) else show_number(value)
            raise FactError(f"{where}: {shown} is not a value of the column `{column.name}`, which is {column.type}")
        if kind in ("int", "float") and not is_within(value, known.columns[place]):
            shown = show_number(value)  # type: ignore[arg-type]
            raise FactError(f"{where}: {shown} is not a value of the column `{show_column(known.columns[place])}`")
        return value

    def when(
        self, entry: dict[str, Any], known: Predicate, where: str
    ) -> tuple[Number | None, Number | None, bool, bool, Number | None]:
        """Start, end, whether they belong to it, and arrival, from the fields that say so."""
        time = entry.get("time")
        if type(time) is int and time >= 0 and not known.is_static and "from" not in entry and "arrives" not in entry:
            self.note(TICKS, where)
            return time, time, True, True, None
        arrives = self._written(entry["arrives"], where) if "arrives" in entry else None
        if known.is_static:
            if "time" in entry or "from" in entry:
                raise FactError(f"{where}: `{known.name}` is static: its facts have no time")
            return None, None, True, True, arrives
        if arrives is not None:
            self._on_timeline(arrives, where)
        if "time" in entry:
            if "from" in entry:
                raise FactError(f"{where}: the fact has both `time` and `from`: give one of them")
            at = self._on_timeline(self._written(entry["time"], where), where)
            return at, at, True, True, arrives
        if "from" not in entry:
            raise FactError(f"{where}: the fact has no `time` (nor `from` and `to`)")
        low = self._written(entry["from"], where)
        high = None if entry.get("to") is None else self._written(entry["to"], where)
        bounds = entry.get("bounds", "[]" if high is not None else "[)")
        if bounds not in ("[]", "[)", "(]", "()"):
            raise FactError(f"{where}: `bounds` is one of [] [) (] ()")
        found = self.interval(low, high, bounds, where)
        if known.at_points and high != low:
            reason = "its times are values of a rule, of which there must be finitely many"
            raise FactError(f"{where}: `{known.name}` holds at single points here, not over an interval: {reason}")
        return (*found, arrives)

    def interval(
        self, low: Number, high: Number | None, bounds: str, where: str
    ) -> tuple[Number, Number | None, bool, bool]:
        self._on_timeline(low, where)
        closed_low, closed_high = bounds[0] == "[", bounds[1] == "]" and high is not None
        if high is not None:
            self._on_timeline(high, where)
            if high < low or (high == low and not (closed_low and closed_high)):
                raise FactError(f"{where}: the interval is empty or upside down")
        if self.discrete:
            low = low if closed_low else low + 1
            high = high if high is None or closed_high else high - 1
            if high is not None and high < low:
                raise FactError(f"{where}: the interval contains no time point")
            return low, high, True, high is not None
        return low, high, closed_low, closed_high

    def _on_timeline(self, time: Number, where: str) -> Number:
        if time < 0:
            raise FactError(f"{where}: {self._before_the_start(time)}, the start of the stream")
        if self.discrete and not isinstance(time, int):
            raise FactError(f"{where}: {time} is not a whole number, as times of the discrete timeline are")
        return time

    def _before_the_start(self, time: Number) -> str:
        if self.times != ISO or self.units.tick is None:
            return f"{time} lies before time 0"
        from presage.io.moments import moment_text

        start = self.units.start
        at = start + timedelta(milliseconds=float(Fraction(time) * self.units.tick))
        return f"{moment_text(at, UTC)} lies before {moment_text(start, UTC)}"

    def point(self, given: Any, where: str) -> Number:
        """A time of the stream, as written."""
        return self._on_timeline(self._written(given, where), where)

    def _written(self, given: Any, where: str) -> Number:
        """A time of a fact: the first that is read decides how times are shown."""
        if self.units.tick is not None:
            is_text = isinstance(given, str) and len(given) <= MOST_DIGITS and exact(given.strip()) is None
            self.note(ISO if is_text or isinstance(given, datetime) else TICKS, where)
        return self.time(given, where)

    def note(self, times: str, where: str) -> None:
        """Times are written in a way: facts that come with timestamps all do."""
        if self.times is None:
            self.times = times
        elif self.times == ISO and times == TICKS:
            raise FactError(f"{where}: a number among timestamps: facts that come with timestamps all do")

    def time(self, given: Any, where: str) -> Number:
        """A time as written: a number, a fraction in text, or with `tick` a timestamp."""
        if isinstance(given, bool) or given is None:
            raise FactError(f"{where}: {given} is not a time")
        if isinstance(given, (int, Fraction)):
            return number(given)
        if isinstance(given, Integral):
            return int(given)
        if isinstance(given, (float, Decimal)):
            finite = exact_float(given)
            if finite is None:
                raise FactError(f"{where}: {given} is not a time")
            return finite
        if isinstance(given, datetime):
            return self._moment(given, where)
        if isinstance(given, str):
            if len(given) > MOST_DIGITS:
                raise FactError(f"{where}: a time of {len(given)} characters is more than {MOST_DIGITS}")
            written = exact(given.strip())
            if written is not None:
                return written
            try:
                return self._moment(datetime.fromisoformat(given), where)
            except ValueError:
                raise FactError(f"{where}: {given!r} is not a time") from None
        raise FactError(f"{where}: {given!r} is not a time")

    def length(self, given: str, where: str) -> Number:
        """A length of time as written: a number, or with `tick` a duration such as `5m`."""
        plain = exact(given.strip())
        if plain is not None:
            return plain
        duration = duration_in(given.strip())
        if duration is None:
            raise FactError(f"{where}: {given!r} is not a length of time, such as 10 or, with a `tick`, 5m")
        if self.units.tick is None:
            raise FactError(f"{where}: a duration needs a `tick` in the program, such as `tick 1s.`")
        return self.units.time(duration)

    def _moment(self, moment: datetime, where: str) -> Number:
        if self.units.tick is None:
            raise FactError(f"{where}: a timestamp needs a `tick` in the program, such as `tick 1s.`")
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return self.units.time(Timestamp(moment), may_be_before_start=True)

    def delay(self, fact: Fact) -> Number:
        """How late this very fact may be."""
        return longest_delay(self.predicates[fact.predicate].inputs, fact.arguments)

    def is_settled(self, fact: Fact, now: Number) -> bool:
        """Whether a fact that has not come by a step at `now` can no longer come."""
        assert fact.low is not None
        return now >= fact.low + self.delay(fact)

    def is_late(self, fact: Fact, now: Number) -> bool:
        assert fact.low is not None
        return now > fact.low + self.delay(fact)


def _check_fields(entry: dict[str, Any], where: str) -> None:
    """Refuses a field that is there for one that is not."""
    other = {"time"} if "from" in entry else {"from", "to", "bounds"} if "time" in entry else set()
    for name in sorted(map(str, entry.keys() - FIELDS)):
        near = nearest(name, FIELDS - entry.keys() - other) if len(name) > 3 else None
        if near is not None:
            raise FactError(f"{where}: a fact has no `{name}`; did you mean `{near}`?")
