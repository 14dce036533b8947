"""What a program's text looks like, piece by piece, for whatever colours it: one table of regular expressions.

The Pygments lexer and the TextMate grammar are made of it, so that both know every word of the language. The
expressions keep to what Python's `re` and Oniguruma have in common, and none goes beyond its line.
"""

from __future__ import annotations

from typing import Final

from presage.model.functions import FUNCTIONS
from presage.syntax import (
    AGGREGATES,
    ASKING,
    COLUMN_TYPES,
    INCLUDE,
    INNER_WORDS,
    METRIC_ALIASES,
    OPERATORS,
    PARAM,
    STATEMENTS,
    TONES,
    UNITS,
)

_VALUES = ("true", "inf", "now", "discrete", "dense", "every")
_OPERATORS = (*OPERATORS, "exists", "lasting")
_NAME = r"[^\W\d]\w*"
_CAPITAL = "[A-ZÀ-ÖØ-Þ_]"


def _words(*words: str) -> str:
    return rf"\b(?:{'|'.join(sorted(words, key=lambda word: (-len(word), word)))})\b"


_OTHER_WORDS = tuple(word for word in INNER_WORDS if word not in (*_VALUES, *_OPERATORS))

# The first that matches at a place has it.
PATTERNS: Final[tuple[tuple[str, str], ...]] = (
    ("comment", r"[%#][^\n]*"),
    ("string", r'"(?:[^"\\\n]|\\.)*"'),
    (
        "timestamp",
        r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?(?![\w-])",
    ),
    ("duration", rf"\b\d+(?:\.\d+)?(?:{'|'.join(sorted(UNITS, key=lambda unit: (-len(unit), unit)))})\b"),
    ("number", r"\b\d+(?:\.\d+)?\b"),
    ("parameter", rf"\${_NAME}"),
    ("statement", _words(*STATEMENTS)),
    ("statement", rf"\b{PARAM}\b(?=\s+{_NAME}\s*=)"),
    ("statement", rf'\b{INCLUDE}\b(?=\s+")'),
    ("value", _words(*_VALUES)),
    ("operator word", _words(*_OPERATORS)),
    ("operator word", rf"(?i:{_words(*METRIC_ALIASES)})"),
    ("other word", _words(*_OTHER_WORDS)),
    ("other word", rf"(?<=\)\s)(?:{'|'.join(TONES)})(?=\s*\.)"),
    ("type", rf"(?<=:\s)(?:{'|'.join(COLUMN_TYPES)})\b"),
    ("aggregate", rf"\b(?:{'|'.join(AGGREGATES)})(?=\s*\{{)"),
    ("function", rf"\b(?:{'|'.join(sorted({*FUNCTIONS, *ASKING}, key=lambda name: (-len(name), name)))})(?=\()"),
    ("predicate", rf"\b{_NAME}(?=\s*\()"),
    ("variable", rf"\b{_CAPITAL}\w*\b"),
    ("constant", rf"\b{_NAME}\b"),
    ("sign", r":-|!=|<=|>=|[@|<>=+\-*/]"),
    ("mark", r"[.,:()\[\]{}]"),
)
