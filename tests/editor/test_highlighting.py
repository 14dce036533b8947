"""Colours: the Pygments lexer and the TextMate grammar against the language's own tokens."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("pygments", reason="Pygments is not installed")

from editors import grammar
from presage.errors import Source
from presage.parser.lexer import tokenize
from presage.syntax import KEYWORDS

ROOT = Path(__file__).parent.parent.parent
PROGRAMS = sorted((ROOT / "presage" / "examples").glob("*/*.psg"))
VSCODE = ROOT / "editors" / "vscode"
MIXED = """\
param limit = 30.   # a parameter
start 2026-01-01T00:00:00Z.
include "more.psg".
input p(a: text, b: float >= 0, count) delay {0: 0.7, 1: 0.2} loss 0.1.
Été(X) :- p(X, _, "say \\"no\\" % here"), X != $limit, window(5m, hop 1m) some p(X, 1/2, 0.5)@T, T <= now - 1.
n(N) :- N = count { T : window(10m) p(_, _, _)@T }, N >= 5, starts_with("ab", "a").
boxMinus[0,3] q :- p(a, b, c), q since[0,inf) r.
query n(N) bad.
"""
# What the lexer calls a token, and the pieces that may have it.
KINDS = {
    "variable": {"variable", "predicate"},
    "parameter": {"parameter"},
    "number": {"number"},
    "duration": {"duration"},
    "timestamp": {"timestamp"},
    "string": {"string"},
    "name": {"predicate", "constant", "aggregate", "function", "type", "statement", "other word"},
}
WORDS = {"statement", "value", "operator word", "other word"}


def pieces(text: str, patterns: list[tuple[str, re.Pattern[str]]]) -> Iterator[tuple[str, int, int]]:
    """What an editor makes of a text with a grammar of one level: line by line, the first pattern that matches."""
    start = 0
    for line in text.splitlines(keepends=True):
        at = 0
        while at < len(line):
            if line[at].isspace():
                at += 1
                continue
            found = next(((kind, match) for kind, each in patterns if (match := each.match(line, at))), None)
            assert found is not None, f"nothing matches {line[at:]!r}"
            yield found[0], start + at, start + found[1].end()
            at = found[1].end()
        start += len(line)


def check(text: str, found: list[tuple[str, int, int]]) -> None:
    """Every token of the language is one piece, of a kind that fits."""
    by_place = {start: (kind, end) for kind, start, end in found}
    tokens = tokenize(Source.of(text))
    for comment in tokens.comments:
        assert by_place[comment.start][0] == "comment"
    for token in tokens.tokens[:-1]:
        kind, end = by_place[token.start]
        assert end == token.end, token
        if token.kind in KINDS:
            assert kind in KINDS[token.kind], token
        elif token.text[0].isalpha():
            assert kind in WORDS, token
        else:
            assert kind in {"sign", "mark"}, token
    inside = sum(1 for kind, _, _ in found if kind != "comment")
    assert inside == len(tokens.tokens) - 1


@pytest.mark.parametrize("text", [MIXED, *(path.read_text(encoding="utf-8") for path in PROGRAMS)])
def test_the_grammar_sees_what_the_language_sees(text: str) -> None:
    kinds = {scope: kind for kind, scope in grammar.SCOPES.items()}
    written = json.loads(grammar.GRAMMAR.read_text(encoding="utf-8"))
    patterns = [(kinds[each["name"]], re.compile(each["match"])) for each in written["patterns"]]
    check(text, list(pieces(text, patterns)))


@pytest.mark.parametrize("text", [MIXED, *(path.read_text(encoding="utf-8") for path in PROGRAMS)])
def test_the_lexer_sees_what_the_language_sees(text: str) -> None:
    from pygments.token import Error, Whitespace

    from presage.editor.highlighting import TOKENS, PresageLexer

    kinds = {kind: name for name, kind in TOKENS.items() if name not in ("function", "duration", "mark")}
    found = []
    for at, kind, value in PresageLexer(ensurenl=False, stripnl=False).get_tokens_unprocessed(text):
        assert kind is not Error, value
        if kind is Whitespace:
            continue
        name = kinds.get(kind, "mark")
        if name == "number" and value[-1].isalpha():
            name = "duration"
        found.append((name, at, at + len(value)))
    check(text, found)


def test_every_reserved_word_has_a_colour() -> None:
    from pygments.token import Keyword, Operator

    from presage.editor.highlighting import PresageLexer

    for word in KEYWORDS:
        ((kind, value),) = [each for each in PresageLexer().get_tokens(word) if each[1].strip()]
        assert value == word and (kind in Keyword or kind in Operator.Word), word


def test_the_lexer_is_registered() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["presage"].partition(":")
    assert "presage" in getattr(import_module(module), name).aliases


def test_the_grammar_is_up_to_date() -> None:
    assert grammar.GRAMMAR.read_text(encoding="utf-8") == grammar.grammar(), "run `python editors/grammar.py`"


def test_the_extension_names_files_that_are_there() -> None:
    package = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
    (language,) = package["contributes"]["languages"]
    (colours,) = package["contributes"]["grammars"]
    for path in (package["main"], language["configuration"], colours["path"]):
        assert (VSCODE / path).is_file()
    json.loads((VSCODE / language["configuration"]).read_text(encoding="utf-8"))
    assert language["id"] == colours["language"]
    assert '["lsp"]' in (VSCODE / package["main"]).read_text(encoding="utf-8")
