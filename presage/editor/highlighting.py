"""The Pygments lexer, registered under the name `presage`: colours for documentation, terminals and notebooks."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer
from pygments.token import (
    Comment,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

from presage.editor.grammar import PATTERNS

TOKENS: dict[str, _TokenType] = {
    "comment": Comment.Single,
    "string": String.Double,
    "timestamp": Literal.Date,
    "duration": Number,
    "number": Number,
    "parameter": Name.Variable.Global,
    "statement": Keyword.Declaration,
    "value": Keyword.Constant,
    "operator word": Operator.Word,
    "other word": Keyword,
    "type": Keyword.Type,
    "aggregate": Name.Builtin,
    "function": Name.Builtin,
    "predicate": Name.Function,
    "variable": Name.Variable,
    "constant": Name.Constant,
    "sign": Operator,
    "mark": Punctuation,
}


class PresageLexer(RegexLexer):
    """Programs of Presage, and the formulas and facts of its documentation."""

    name = "Presage"
    aliases: ClassVar[list[str]] = ["presage", "psg", "presage-formula", "presage-error"]
    filenames: ClassVar[list[str]] = ["*.psg"]
    tokens: ClassVar[dict[str, Any]] = {
        "root": [(r"\s+", Whitespace), *((pattern, TOKENS[kind]) for kind, pattern in PATTERNS)]
    }
