"""Writes the TextMate grammar of the VS Code extension from the words of the language: `python editors/grammar.py`.

A test fails where it is not up to date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from presage.editor.grammar import PATTERNS  # noqa: E402

GRAMMAR = ROOT / "editors" / "vscode" / "syntaxes" / "presage.tmLanguage.json"
SCOPES = {
    "comment": "comment.line.percentage.presage",
    "string": "string.quoted.double.presage",
    "timestamp": "constant.numeric.timestamp.presage",
    "duration": "constant.numeric.duration.presage",
    "number": "constant.numeric.presage",
    "parameter": "variable.other.constant.presage",
    "statement": "keyword.declaration.presage",
    "value": "constant.language.presage",
    "operator word": "keyword.operator.word.presage",
    "other word": "keyword.other.presage",
    "type": "support.type.presage",
    "aggregate": "support.function.aggregate.presage",
    "function": "support.function.presage",
    "predicate": "entity.name.function.presage",
    "variable": "variable.parameter.presage",
    "constant": "constant.other.presage",
    "sign": "keyword.operator.presage",
    "mark": "punctuation.separator.presage",
}


def grammar() -> str:
    found: dict[str, Any] = {
        "name": "Presage",
        "scopeName": "source.presage",
        "fileTypes": ["psg"],
        "patterns": [{"name": SCOPES[kind], "match": pattern} for kind, pattern in PATTERNS],
    }
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    GRAMMAR.write_text(grammar(), encoding="utf-8")
