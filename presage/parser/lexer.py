"""From text to tokens.

Looks at size and depth before anything else does, and never gives up on a bad character: signs
from other languages become the ones they stand for, so that one slip gives one message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from presage.errors import Diagnostic, Source, Span
from presage.syntax import FOREIGN_SIGNS, METRIC_ALIASES, UNITS, is_keyword, starts_like_a_variable

MAX_CHARACTERS = 5_000_000
MAX_TOKENS = 1_000_000
MAX_DEPTH = 80
MAX_DIGITS = 1_000
MAX_PROBLEMS = 200


class Token(NamedTuple):
    """A token. `kind` is the sign or keyword itself, or one of `name variable parameter number
    duration timestamp string end`; or `reported`, for what a message has been given about already."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


class Comment(NamedTuple):
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Tokens:
    source: Source
    tokens: list[Token] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    # For the index of an opening bracket, the index of the bracket that closes it. Intervals may
    # be closed by either kind, so kinds are not compared.
    closing: dict[int, int] = field(default_factory=dict)
    # Set where nothing after this point is worth reading.
    hopeless: bool = False


_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>[%\#][^\n]*)
    | (?P<slashes>//[^\n]*|/\*.*?(?:\*/|$))
    | (?P<dots>\.\.+|\.[0-9]+)
    | (?P<timestamp>[0-9]{4}-[0-9]{2}-[0-9]{2}
        (?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?(?![\w-]))
    | (?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>[^\W\d]\w*)?
    | (?P<parameter>\$[^\W\d]\w*)
    | (?P<name>[^\W\d]\w*)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<single>'[^'\n]*')
    | (?P<sign>:-|!=|<=|>=|[.,|@()\[\]{}:<>=+\-*/])
    """,
    re.VERBOSE | re.DOTALL,
)
_FOREIGN = re.compile("|".join(re.escape(sign) for sign in sorted(FOREIGN_SIGNS, key=len, reverse=True)))
_STRING_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SIMPLE_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "/": "/"}


def tokenize(source: Source, start: int = 0) -> Tokens:
    """The tokens of a source from an offset on: of the file that was laid behind the others last."""
    out = Tokens(source)
    text = source.text
    at, length = start, len(text)
    if length - start > MAX_CHARACTERS:
        out.hopeless = True
        message = f"the program has {length - start:,} characters; at most {MAX_CHARACTERS:,} are read"
        hint = "facts belong in a facts file, not in the program"
        out.problems.append(Diagnostic("P102", message, Span(start, start + 1), hint))
        return out
    opened: list[int] = []
    in_body = False
    tokens = out.tokens
    while at < length and not out.hopeless:
        if len(out.problems) > MAX_PROBLEMS:
            out.hopeless = True
            break
        found = _TOKEN.match(text, at)
        sign = _FOREIGN.match(text, at) if found is None or found.lastgroup == "sign" else None
        if sign is not None and (found is None or sign.end() > found.end()):
            at = _foreign(out, sign, bool(opened), in_body)
            continue
        if found is None:
            at = _unknown(out, at)
            continue
        kind, end = found.lastgroup, found.end()
        if kind == "space":
            at = end
            continue
        if kind in ("slashes", "dots"):
            at = _habit(out, kind, text[at:end], at)
            continue
        if kind == "sign" and text[at:end] == "-" and text[at : at + 2] == "--" and _starts_line(out, at):
            at = _habit(out, "slashes", text[at:].split("\n", 1)[0], at)
            continue
        if kind == "comment":
            out.comments.append(Comment(text[at:end].rstrip(), at, end))
            at = end
            continue
        if kind == "sign":
            word = text[at:end]
            if word == "(" or word == "[" or word == "{":
                opened.append(len(tokens))
                if len(opened) > MAX_DEPTH:
                    _give_up(out, f"brackets are nested more than {MAX_DEPTH} deep", at)
            elif word == ")" or word == "]" or word == "}":
                if opened:
                    out.closing[opened.pop()] = len(tokens)
            elif word == ".":
                opened.clear()
                in_body = False
            elif word == ":-":
                in_body = True
            tokens.append(Token(word, word, at, end))
        elif kind == "parameter":
            end = _end_of_name(text, end)
            tokens.append(Token("parameter", text[at:end], at, end))
        elif kind == "name":
            end = _end_of_name(text, end)
            tokens.append(_word(text[at:end], at, end))
        elif kind == "string":
            tokens.append(Token("string", _unescape(out, text[at:end], at), at, end))
        elif kind == "single":
            message = "strings are written with double quotes"
            hint = f'write "{text[at + 1 : end - 1]}"'
            out.problems.append(Diagnostic("P103", message, Span(at, end), hint))
            tokens.append(Token("string", text[at + 1 : end - 1], at, end))
        elif kind == "timestamp":
            tokens.append(Token("timestamp", text[at:end], at, end))
        else:
            end = _number(out, found)
        at = end
        if len(tokens) > MAX_TOKENS:
            _give_up(out, f"the program has more than {MAX_TOKENS:,} words and signs", at - 1)
    tokens.append(Token("end", "", length, length))
    return out


def _give_up(out: Tokens, message: str, at: int) -> None:
    out.problems.append(Diagnostic("P102", message, Span(at, at + 1), "the rest of the text was not read"))
    out.hopeless = True


def _end_of_name(text: str, end: int) -> int:
    # `\w` leaves out combining marks, which names in many scripts need.
    while end < len(text) and not text[end].isascii() and ("a" + text[end]).isidentifier():
        end += 1
    return end


def _word(word: str, start: int, end: int) -> Token:
    if is_keyword(word):
        return Token(METRIC_ALIASES.get(word.lower(), word), word, start, end)
    return Token("variable" if starts_like_a_variable(word) else "name", word, start, end)


def _number(out: Tokens, found: re.Match[str]) -> int:
    digits, unit = found["number"], found["unit"]
    start, end = found.span()
    if len(digits) > MAX_DIGITS:
        _give_up(out, f"a number has {len(digits):,} digits; at most {MAX_DIGITS:,} are read", start)
        return end
    if unit is None:
        out.tokens.append(Token("number", digits, start, end))
    elif unit in UNITS:
        out.tokens.append(Token("duration", digits + unit, start, end))
    else:
        message = f"`{digits}{unit}` is neither a number nor a duration"
        units = ", ".join(UNITS)
        if re.fullmatch(r"[eE][0-9]*", unit):
            hint = "write the number out, without an exponent"
        else:
            hint = f"units of duration are {units}; a name does not start with a digit"
        out.problems.append(Diagnostic("P105", message, Span(start, end), hint))
        out.tokens.append(Token("reported", found[0], start, end))
    return end


def _starts_line(out: Tokens, at: int) -> bool:
    return not out.tokens or "\n" in out.source.text[out.tokens[-1].end : at]


def _habit(out: Tokens, kind: str, written: str, at: int) -> int:
    """Comments and numbers as other languages write them."""
    span = Span(at, at + min(len(written), 2))
    if kind == "slashes":
        message, hint = f"`{written[:2]}` does not start a comment", "comments start with `%` or `#`"
    elif written.startswith(".."):
        message, hint = f"`{written}` is not a sign of the language", "an interval is written `[0,5]`"
    else:
        message, hint = f"`{written}` is not a number", f"write `0{written}`"
        out.tokens.append(Token("reported", written, at, at + len(written)))
    if written.startswith(".."):
        out.tokens.append(Token("reported", written, at, at + len(written)))
    code = "P105" if kind == "dots" and not written.startswith("..") else "P103"
    out.problems.append(Diagnostic(code, message, span, hint))
    return at + len(written)


def _unescape(out: Tokens, quoted: str, start: int) -> str:
    if "\\" not in quoted:
        return quoted[1:-1]

    def one(found: re.Match[str]) -> str:
        code = found[1] or found[2]
        if code:
            value = int(code, 16)
            if value < 0x110000 and not 0xD800 <= value < 0xE000:
                return chr(value)
        elif found[3] in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[found[3]]
        place = start + 1 + found.start()
        message = f"`{found[0]}` is not an escape"
        hint = 'escapes are \\" \\\\ \\n \\t \\r \\u{1F600}; a backslash is written \\\\'
        out.problems.append(Diagnostic("P104", message, Span(place, place + len(found[0])), hint))
        return found[0]

    return _STRING_ESCAPE.sub(one, quoted[1:-1])


def _foreign(out: Tokens, found: re.Match[str], bracketed: bool, in_body: bool) -> int:
    sign, at = found[0], found.start()
    ours = FOREIGN_SIGNS[sign]
    hint = f"write `{ours}`"
    if sign in ("&", "&&") and bracketed:
        ours = "and"
    elif sign == "||":
        ours = "or" if in_body else "|"
    elif sign == "=>" and out.tokens and out.tokens[-1].kind == ")":
        ours, hint = "implies", "inside a formula write `implies`; a rule is written `head :- body.`"
    if sign == ";":
        rest = out.source.text[found.end() :].split("\n", 1)[0].split("%")[0].split("#")[0]
        ours = "." if not rest.strip() else ","
        hint = "statements end with `.`; alternatives are joined by `|` in a head, by `or` in a body"
    elif sign in ("->", "→"):
        # Which side is the head cannot be known: the statement is not read on.
        ours = "implies" if in_body else "reported"
        hint = "rules are written `head :- body.`, the conclusion first; inside a formula, `implies`"
    elif sign in ("<-", "←", ":="):
        hint = "rules are written `head :- body.`"
    elif sign in ("&", "&&"):
        hint = "literals are joined by `,`; inside a formula, by `and`"
    elif sign == "||":
        hint = "alternatives are joined by `|` in a head, by `or` in a body"
    out.problems.append(Diagnostic("P103", f"`{sign}` is not a sign of the language", Span(at, found.end()), hint))
    out.tokens.append(Token(ours, sign, at, found.end()))
    return found.end()


def _unknown(out: Tokens, at: int) -> int:
    text = out.source.text
    if text[at] == '"':
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        message, hint = "the string is not closed on its line", 'close it with `"`; a line break inside is written \\n'
        out.problems.append(Diagnostic("P104", message, Span(at, at + 1), hint))
        out.tokens.append(Token("reported", text[at:end], at, end))
        return end
    end = at + 1
    while end < len(text) and text[end] == text[at]:
        end += 1
    shown = text[at] if text[at].isprintable() else f"U+{ord(text[at]):04X}"
    hint = "remove it, or put it inside a quoted string"
    if text[at] in "“”„‟«»'`´‘’":
        hint = 'strings are written with plain double quotes: "…"'
    elif text[at] in "–—−":
        hint = "write the plain minus sign `-`"
    out.problems.append(Diagnostic("P103", f"`{shown}` is not a sign of the language", Span(at, at + 1), hint))
    out.tokens.append(Token("reported", text[at:end], at, end))
    return end
