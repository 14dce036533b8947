"""A slow evaluator written straight from the definitions, to test the engines against."""

from .evaluator import Fact, Model, NotTotal, Violation, evaluate, holds
from .hypothetical import Literal, Outlook, TooLarge, declared_delays
from .inventing import ChaseLimit
from .timeline import Line

__all__ = [
    "ChaseLimit",
    "Fact",
    "Line",
    "Literal",
    "Model",
    "NotTotal",
    "Outlook",
    "TooLarge",
    "Violation",
    "declared_delays",
    "evaluate",
    "holds",
]
