"""The model of a program: terms, time, formulas, windows, statements; frozen, hashable, typed."""

from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Over,
    Pinned,
    Reset,
    Top,
    Windowed,
)
from presage.model.program import Program
from presage.model.statements import (
    Column,
    Condition,
    Declaration,
    Distribution,
    Head,
    Horizon,
    Input,
    Query,
    Question,
    Reading,
    Rule,
    Start,
    Statement,
    Static,
    Tick,
    Timeline,
)
from presage.model.terms import Arithmetic, Constant, Negative, Now, Number, Term, Variable
from presage.model.time import Duration, Interval, Pin, Quantity, TimeLiteral, Timestamp
from presage.model.windows import OnlyWindow, RowsWindow, TimeWindow, Window

__all__ = [
    "And", "Arithmetic", "Atom", "BinaryMetric", "Column", "Comparison", "Condition", "Constant",
    "Declaration", "Distribution", "Duration", "Formula", "Head", "Horizon", "Implies", "Input",
    "Interval", "Metric", "Modal", "Negative", "Not", "Now", "Number", "OnlyWindow", "Or", "Over",
    "Pin", "Pinned", "Program", "Quantity", "Query", "Question", "Reading", "Reset", "RowsWindow",
    "Rule", "Start", "Statement", "Static", "Term", "Tick", "Timeline", "TimeLiteral", "TimeWindow",
    "Timestamp", "Top", "Variable", "Window", "Windowed",
]  # fmt: skip
