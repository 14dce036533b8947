"""Random programs for property tests: anything the grammar allows, built from the model."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

from hypothesis import strategies as st

from presage.model import (
    And,
    Arithmetic,
    Atom,
    Beside,
    BinaryMetric,
    Chase,
    Column,
    Comparison,
    Condition,
    Constant,
    Distribution,
    Duration,
    Head,
    Horizon,
    Implies,
    Input,
    Interval,
    Metric,
    Modal,
    Negative,
    Not,
    Now,
    OnlyWindow,
    Or,
    Over,
    Pin,
    Pinned,
    Program,
    Query,
    Reading,
    Reset,
    RowsWindow,
    Rule,
    Start,
    Static,
    Tick,
    Timeline,
    Timestamp,
    TimeWindow,
    Top,
    Variable,
    Windowed,
)
from presage.model.terms import number
from presage.syntax import COLUMN_TYPES, KEYWORDS, NEIGHBOURS, UNITS, is_keyword

names = st.one_of(
    st.sampled_from(["p", "q", "temp", "Flag", "größe", "温度", "हिन्दी", "a1", "x_y", "Pos"]),
    st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,6}", fullmatch=True),
).filter(lambda word: not is_keyword(word))
variables = st.sampled_from(["X", "Y", "Z", "T", "T1", "_x", "_", "Ärger", "Ort"]).map(Variable)
time_variables = st.sampled_from(["T", "U", "T1"]).map(Variable)
texts = st.one_of(
    names, st.sampled_from(sorted(KEYWORDS)), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
whole = st.integers(0, 10**6)
fractions = st.builds(Fraction, st.integers(0, 500), st.integers(1, 60)).map(number)
quantities = st.one_of(whole, fractions)
# A duration's amount is written as a decimal: there is no `1/3h`.
amounts = st.one_of(whole, st.integers(0, 9999).map(lambda value: number(Fraction(value, 100))))
durations = st.builds(Duration, amounts, st.sampled_from(sorted(UNITS)))
lengths = st.one_of(quantities, durations)
numbers = st.one_of(quantities, quantities.map(lambda value: number(-value)))
constants = st.one_of(texts, numbers).map(Constant)
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda when: Timestamp(when.replace(tzinfo=UTC)))
arguments = st.one_of(constants, variables)
atoms = st.builds(Atom, names, st.lists(arguments, max_size=3).map(tuple))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    low, extra = draw(quantities), draw(quantities)
    kind = draw(st.sampled_from(["closed", "point", "inf", "open", "left", "right"]))
    if kind == "point":
        return Interval(low, low)
    if kind == "inf":
        return Interval(low, None, draw(st.booleans()), False)
    high = number(Fraction(low) + extra + 1)
    return Interval(low, high, kind in ("closed", "left"), kind in ("closed", "right"))


def is_number(term: object) -> bool:
    return isinstance(term, Constant) and not isinstance(term.value, str)


def arithmetic(operator: str, left: object, right: object) -> object:
    # The parser computes quotients of literals, and divides nothing by 0: there are no terms for them.
    if operator == "/" and is_number(right) and (is_number(left) or getattr(right, "value", 1) == 0):
        return left
    return Arithmetic(operator, left, right)


terms = st.recursive(
    st.one_of(constants, variables, st.just(Now()), durations, moments),
    lambda inner: st.one_of(
        st.builds(arithmetic, st.sampled_from("+-*/"), inner, inner),
        inner.filter(lambda term: not is_number(term)).map(Negative),
    ),
    max_leaves=6,
)
comparisons = st.builds(Comparison, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), terms, terms)


@st.composite
def pins(draw: st.DrawFn) -> Pin:
    base = draw(st.one_of(st.none(), st.just(Now()), time_variables))
    if base is None:
        return Pin(None, draw(st.one_of(lengths, moments)))
    offset = draw(st.one_of(lengths, st.just(0)))
    if draw(st.booleans()):
        offset = Duration(number(-offset.amount), offset.unit) if isinstance(offset, Duration) else number(-offset)
    if offset == Duration(0, "s"):
        offset = 0
    return Pin(base, offset)


@st.composite
def time_windows(draw: st.DrawFn) -> TimeWindow:
    back, ahead = draw(st.one_of(st.none(), whole)), draw(st.one_of(st.none(), whole))
    hop = draw(st.one_of(st.none(), st.integers(1, 50)))
    if hop is not None and back is not None and ahead is not None and hop > back + ahead:
        hop = None
    return TimeWindow(back, ahead, hop)


windows = st.one_of(
    time_windows(),
    st.builds(TimeWindow, durations),
    st.builds(RowsWindow, whole, st.integers(0, 3), st.lists(atoms, max_size=2).map(tuple)),
    st.builds(OnlyWindow, st.lists(atoms, min_size=1, max_size=2).map(tuple)),
)
several = lambda inner: st.lists(inner, min_size=2, max_size=3).map(tuple)  # noqa: E731
formulas = st.recursive(
    st.one_of(atoms, comparisons, st.just(Top())),
    lambda inner: st.one_of(
        st.builds(Pinned, inner, pins()),
        st.builds(Metric, st.sampled_from(["once", "historically", "eventually", "always"]), intervals(), inner),
        st.builds(BinaryMetric, st.sampled_from(["since", "until"]), intervals(), inner, inner),
        st.builds(Windowed, windows, inner),
        st.builds(Modal, st.sampled_from(["some", "all"]), inner),
        inner.map(Reset),
        st.builds(Beside, st.sampled_from(NEIGHBOURS), inner),
        inner.map(Not),
        several(inner).map(And),
        several(inner).map(Or),
        st.builds(Implies, inner, inner),
    ),
    max_leaves=8,
)
boxed = st.recursive(
    atoms,
    lambda inner: st.builds(Metric, st.sampled_from(["always", "historically"]), intervals(), inner),
    max_leaves=3,
)
head_atoms = st.one_of(boxed, st.builds(Pinned, atoms, pins()))
invented = st.lists(st.sampled_from(["I", "J", "Id"]), unique=True, max_size=2).map(
    lambda given: tuple(Variable(name) for name in given)
)


@st.composite
def heads(draw: st.DrawFn) -> Head:
    found = tuple(draw(st.lists(head_atoms, min_size=1, max_size=3)))
    exists = draw(invented)
    choice = not exists and len(found) > 1 and draw(st.booleans())
    return Head(found, choice, exists, bool(exists) and draw(st.booleans()))


rules = st.one_of(
    st.builds(Rule, heads(), st.lists(formulas, min_size=1, max_size=4).map(tuple)),
    st.builds(lambda body: Rule(None, tuple(body)), st.lists(formulas, min_size=1, max_size=3)),
    st.builds(lambda head: Rule(head, ()), heads()),
    st.builds(lambda atom, over: Rule(Head((Over(atom, over),)), ()), atoms, intervals()),
)
columns = st.lists(st.builds(Column, texts.filter(bool), st.sampled_from(COLUMN_TYPES)), max_size=3).map(tuple)
shares = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1, 4), 0])
distributions = st.lists(st.tuples(whole, shares), min_size=1, max_size=2, unique_by=lambda pair: pair[0]).map(
    lambda parts: Distribution(tuple(parts))
)


@st.composite
def inputs(draw: st.DrawFn) -> Input:
    delay = draw(st.one_of(st.none(), lengths, distributions))
    loss = None if isinstance(delay, Distribution) else draw(st.one_of(st.none(), shares))
    where = draw(st.lists(st.builds(Condition, texts.filter(bool), constants), max_size=2))
    return Input(draw(names), draw(columns), tuple(where), delay, loss, draw(st.one_of(st.none(), shares)))


declarations = st.one_of(
    st.sampled_from(["discrete", "dense"]).map(Timeline),
    st.builds(Tick, durations.filter(lambda length: length.amount > 0)),
    moments.map(Start),
    st.sampled_from(["every", "now"]).map(Reading),
    st.sampled_from(["skolem", "restricted"]).map(Chase),
    lengths.map(Horizon),
    st.builds(Static, names, columns),
    st.builds(Query, atoms, st.one_of(st.none(), pins())),
    inputs(),
)
programs = st.lists(st.one_of(rules, declarations), max_size=6).map(lambda found: Program(tuple(found)))
