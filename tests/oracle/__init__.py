"""A slow evaluator written straight from the definitions, to test the engines against."""

from .evaluator import ChaseLimit, Fact, Model, NotTotal, Violation, evaluate, holds
from .timeline import Line

__all__ = ["ChaseLimit", "Fact", "Line", "Model", "NotTotal", "Violation", "evaluate", "holds"]
