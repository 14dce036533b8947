"""Every word and sign of the language, spelled once.

The lexer, the parser, the printer and the messages all take their spellings from here, so a
construct can be renamed, added or looked up in one place.
"""

from __future__ import annotations

from typing import Final

# Words that open a statement.
STATEMENTS: Final = ("timeline", "tick", "start", "reading", "chase", "input", "static", "horizon", "query")

# Metric operators, in the spelling the printer uses, and the spellings people bring from elsewhere.
UNARY_METRIC: Final = ("once", "historically", "eventually", "always")
BINARY_METRIC: Final = ("since", "until")
METRIC_ALIASES: Final = {
    "diamondminus": "once",
    "boxminus": "historically",
    "diamondplus": "eventually",
    "boxplus": "always",
}
HEAD_METRIC: Final = ("always", "historically")

# Operators that move to a neighbouring time.
NEIGHBOURS: Final = ("yesterday", "tomorrow")

# Operators that are a word before a formula, and nothing else: these are read and printed alike.
PREFIXES: Final = ("not", "some", "all", "reset", *NEIGHBOURS)
CONNECTIVES: Final = ("and", "or", "implies")
OPERATORS: Final = PREFIXES + CONNECTIVES + UNARY_METRIC + BINARY_METRIC + ("window",)

# Words that have a meaning only inside another construct. They are reserved all the same: a
# program reads the same wherever it is cut.
INNER_WORDS: Final = (
    "discrete", "dense", "every", "now",
    "where", "delay", "loss", "rate",
    "exists", "lasting", "true", "inf",
    "ahead", "hop", "rows", "by", "only",
)  # fmt: skip

KEYWORDS: Final = frozenset(STATEMENTS + OPERATORS + INNER_WORDS) | frozenset(METRIC_ALIASES)

# Functions of sets, written before `{`; of values, written before `(`. None of these words is reserved.
AGGREGATES: Final = ("count", "sum", "avg", "min", "max", "first", "last")
# Functions that are literals of their own.
ASKING: Final = ("starts_with", "ends_with", "contains", "matches")

COLUMN_TYPES: Final = ("text", "int", "float", "bool", "time", "any")

# Units of duration, in milliseconds.
UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

# Words that open a statement by their place alone: they are names elsewhere.
PARAM: Final = "param"
INCLUDE: Final = "include"
TONES: Final = ("good", "bad")

COMPARISONS: Final = ("=", "!=", "<=", ">=", "<", ">")
ARITHMETIC: Final = ("+", "-", "*", "/")

# Signs people write out of habit from another language, and what they are here.
FOREIGN_SIGNS: Final = {
    "==": "=", "=<": "<=", "=>": ">=", "<>": "!=", "\\=": "!=", "≠": "!=", "≤": "<=", "≥": ">=",
    ":=": ":-", "<-": ":-", "->": ":-", "←": ":-", "→": ":-",
    "&&": ",", "&": ",", "∧": "and", "||": "|", ";": ".", "∨": "or",
    "!": "not", "~": "not", "¬": "not", "\\+": "not",
    "◇": "some", "□": "all", "⊤": "true", "∞": "inf", "∃": "exists",
}  # fmt: skip


def is_keyword(word: str) -> bool:
    """Whether a word is reserved; the metric aliases are reserved in any case."""
    return word in KEYWORDS or word.lower() in METRIC_ALIASES


def is_identifier(word: str) -> bool:
    """Whether a word can be written as a constant without quotes."""
    return word.isidentifier() and not starts_like_a_variable(word)


def starts_like_a_variable(word: str) -> bool:
    first = word[0]
    return first == "_" or first.isupper() or first.istitle()
