"""What RSP queries have beyond SPARQL: the clauses about streams, found in the text and cut out of it.

C-SPARQL names its streams and windows in `FROM STREAM`, CQELS in `STREAM` blocks, RSP-QL in `FROM NAMED WINDOW`;
SPARQLStream's `FROM NAMED STREAM … [NOW - 10 S SLIDE 5 S]` means what C-SPARQL means. Blocks about a window become
`GRAPH` blocks, everything else blanks, so that what is left is SPARQL and each character stays where its author wrote
it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from presage.errors import Span

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<iri><(?:[^<>"{}|^`\\\s]|\\[uU][0-9A-Fa-f]{4,8})*>)
    |(?P<variable>[?$]\w+)
    |(?P<pname>(?:[^\W\d][\w.-]*)?:(?:(?:[\w:%\u00b7\u0300-\u036f\u203f\u2040-]|\\[_~.!$&'()*+,;=/?\#@%-])(?:[.]*(?:[\w:%\u00b7\u0300-\u036f\u203f\u2040-]|\\[_~.!$&'()*+,;=/?\#@%-]))*)?)
    |(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<sign>\S)""",
    re.VERBOSE | re.DOTALL,
)
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)
_SECONDS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "sec": Fraction(1),
    "second": Fraction(1),
    "seconds": Fraction(1),
    "m": Fraction(60),
    "min": Fraction(60),
    "minute": Fraction(60),
    "minutes": Fraction(60),
    "h": Fraction(3600),
    "hour": Fraction(3600),
    "hours": Fraction(3600),
    "d": Fraction(86400),
    "day": Fraction(86400),
    "days": Fraction(86400),
}
WINDOWS = "[RANGE 10s STEP 5s], [RANGE 10s TUMBLING], [RANGE TRIPLES 10] or [NOW]"
CSPARQL, CQELS, RSPQL = "C-SPARQL", "CQELS", "RSP-QL"
MODES = ("RSTREAM", "ISTREAM", "DSTREAM")


class Misread(Exception):
    def __init__(self, message: str, span: Span, hint: str = "", code: str = "L101") -> None:
        super().__init__(message)
        self.message, self.span, self.hint, self.code = message, span, hint, code


@dataclass(frozen=True, slots=True)
class QueryToken:
    kind: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """Which triples of a stream a window shows: `back` ticks (`None`: all), or the last `rows`; it moves by `step`."""

    stream: str
    back: int | None
    rows: int | None
    step: int
    span: Span
    name: str = ""


@dataclass(frozen=True, slots=True)
class Clauses:
    sparql: str
    """What is left, of the same length."""
    dialect: str
    windows: tuple[StreamWindow, ...]
    name: str
    name_span: Span
    mode: str
    tokens: tuple[QueryToken, ...]
    prefixes: dict[str, str]
    notes: tuple[tuple[str, Span], ...]


def tokens_of(text: str) -> list[QueryToken]:
    return [
        QueryToken(str(found.lastgroup), found[0], Span(found.start(), found.end())) for found in _TOKEN.finditer(text)
    ]


def clauses_of(text: str) -> Clauses:
    return _Cutter(text).cut()


class _Cutter:
    def __init__(self, text: str) -> None:
        self.text, self.left = text, list(text)
        self.all = tokens_of(text)
        self.tokens = [each for each in self.all if each.kind != "comment"]
        self.at = 0
        self.prefixes = self._prefixes()
        self.windows: list[StreamWindow] = []
        self.dialect, self.name, self.mode = "", "", "RSTREAM"
        self.name_span = Span(0, 1)
        self.notes: list[tuple[str, Span]] = []

    def _prefixes(self) -> dict[str, str]:
        found, base = {}, ""
        for first, second, third in zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False):
            if first.text.upper() == "PREFIX" and second.kind == "pname" and third.kind == "iri":
                found[second.text[:-1]] = third.text[1:-1]
            if first.text.upper() == "BASE" and second.kind == "iri":
                base = second.text[1:-1]
        return {**found, "BASE ": base}

    def cut(self) -> Clauses:
        depth = 0
        while self.at < len(self.tokens):
            if self._is("REGISTER") and depth == 0:
                self._register()
            elif (self._is("FROM", "STREAM") or self._is("FROM", "NAMED", "STREAM")) and depth == 0:
                self._from_stream()
            elif self._is("SELECT") and depth == 0 and self._mode_of(self.at + 1):
                # SPARQLStream says between SELECT and its variables what is told.
                self.mode = self._mode_of(self.at + 1)
                self._blank(self.tokens[self.at + 1].span, self.tokens[self.at + 1].span)
                self.at += 2
            elif self._is("FROM", "NAMED", "WINDOW") and depth == 0:
                self._from_window()
            elif self._is("STREAM") and depth > 0 and self.tokens[self.at + 1 : self.at + 2]:
                self._stream_block()
            elif self._is("WINDOW") and depth > 0:
                start = self.tokens[self.at].span
                self._write(start, "GRAPH ")
                self.at += 1
            else:
                depth += {"{": 1, "}": -1}.get(self.tokens[self.at].text, 0)
                self.at += 1
        if not self.name:
            for each in self.all:
                says = re.match(r"#\s*name\s*:\s*(\S+)", each.text) if each.kind == "comment" else None
                if says:
                    at = each.span.start
                    self.name, self.name_span = says[1], Span(at + says.start(1), at + says.end(1))
        return Clauses(
            "".join(self.left),
            self.dialect or RSPQL,
            tuple(self.windows),
            self.name or "answer",
            self.name_span,
            self.mode,
            tuple(self.tokens),
            self.prefixes,
            tuple(self.notes),
        )

    # Clauses

    def _register(self) -> None:
        start = self.tokens[self.at].span
        self.at += 1
        kind = self._take("what is registered")
        word = kind.text.upper()
        if word in MODES:
            self.mode = word
            self._speaks(RSPQL, kind.span)
            name = self._take("the name of the stream")
            plain = self._iri(name)[1:-1] if name.kind in ("iri", "pname") else name.text
            self.name = re.split(r"[/#:]", plain.rstrip("/#"))[-1]
            self.name_span = name.span
        elif word in ("QUERY", "STREAM"):
            name = self._take("the name of the query")
            plain = self._iri(name)[1:-1] if name.kind in ("iri", "pname") else name.text
            self.name, self.name_span = re.split(r"[/#:]", plain.rstrip("/#"))[-1], name.span
        else:
            hint = "write REGISTER QUERY name AS, or REGISTER RSTREAM <name> AS"
            raise Misread(f"`{kind.text}` cannot be registered", kind.span, hint)
        while self.at < len(self.tokens) and not self._is("AS"):
            if self._is("COMPUTED", "EVERY"):
                span = self.tokens[self.at].span
                self.at += 2
                self._length("the period")
                self.notes.append(("`COMPUTED EVERY` is left out: the steps of the windows say when", span))
                continue
            raise Misread("`AS` is missing", self.tokens[self.at].span, "write AS before the query")
        if self.at >= len(self.tokens):
            raise Misread("the query is missing", start, "write AS and the query")
        self._blank(start, self.tokens[self.at].span)
        self.at += 1

    def _from_stream(self) -> None:
        start = self.tokens[self.at].span
        self._speaks(CSPARQL, start)
        self.at += 3 if self._is("FROM", "NAMED") else 2
        stream = self._iri(self._take("the stream"))
        window = self._window(stream, start)
        self.windows.append(window)
        self._blank(start, self.tokens[self.at - 1].span)

    def _mode_of(self, place: int) -> str:
        word = self.tokens[place].text.upper() if place < len(self.tokens) else ""
        return word if word in MODES else ""

    def _from_window(self) -> None:
        start = self.tokens[self.at].span
        self._speaks(RSPQL, start)
        self.at += 3
        name = self._iri(self._take("the name of the window"))
        if not self._is("ON"):
            raise Misread("`ON` is missing", self._here(), "write FROM NAMED WINDOW :w ON :stream [RANGE … STEP …]")
        self.at += 1
        if self._is("STREAM"):
            self.at += 1
        stream = self._iri(self._take("the stream"))
        window = self._window(stream, start, name)
        if any(each.name == name for each in self.windows):
            raise Misread(f"the window {name} is there twice", start, "give each window a name of its own")
        self.windows.append(window)
        self._blank(start, self.tokens[self.at - 1].span)

    def _stream_block(self) -> None:
        start = self.tokens[self.at].span
        self._speaks(CQELS, start)
        self.at += 1
        stream = self._iri(self._take("the stream"))
        name = f"<w:{len(self.windows) + 1}>"
        window = self._window(stream, start, name)
        self.windows.append(window)
        end = self.tokens[self.at - 1].span
        self._blank(start, end)
        self._write(start, f"GRAPH {name}")

    def _speaks(self, dialect: str, span: Span) -> None:
        if self.dialect and self.dialect != dialect:
            raise Misread(
                f"this is {dialect}, and the query began as {self.dialect}", span, "write all of it in one language"
            )
        self.dialect = dialect

    # Windows

    def _window(self, stream: str, start: Span, name: str = "") -> StreamWindow:
        if not self._is("["):
            raise Misread("the window is missing", self._here(), f"write {WINDOWS}")
        opening = self.tokens[self.at].span
        self.at += 1
        back: int | None = None
        rows: int | None = None
        step = 1
        if self._is("NOW") or self._is("FROM", "NOW"):
            self.at += 1 if self._is("NOW") else 2
            back = self._since_now()
        elif self._is("ALL") or self._is("UNBOUNDED"):
            self.at += 1
        else:
            ranged = self._is("RANGE")
            self.at += ranged
            if self._is("TRIPLES") or self._is("ELEMENTS"):
                self.at += 1
                count = self._take("the number of triples")
                if not count.text.isdigit() or int(count.text) < 1:
                    raise Misread("the number of triples is a whole number", count.span, f"write {WINDOWS}")
                rows = int(count.text)
            elif ranged and (self._is("UNBOUNDED") or self._is("ALL")):
                self.at += 1
            elif ranged:
                back = self._length("the range")
            else:
                raise Misread("this is not a window", self._here(), f"write {WINDOWS}")
        if self._is("TUMBLING"):
            self.at += 1
            if not back:
                raise Misread("only a range of time can tumble", opening, f"write {WINDOWS}")
            step = back
        elif self._is("STEP") or self._is("SLIDE"):
            self.at += 1
            place = self._here()
            step = self._length("the step")
            if step < 1:
                raise Misread("a window cannot step by 0", place, "leave the step out to look at each tick")
        if not self._is("]"):
            raise Misread("the window neither goes on nor ends", self._here(), f"write {WINDOWS}")
        self.at += 1
        return StreamWindow(stream, back, rows, step, Span(start.start, self.tokens[self.at - 1].span.end), name)

    def _since_now(self) -> int:
        """What follows `NOW`: nothing, or as SPARQLStream writes it `- 10 S`, and perhaps `TO NOW`."""
        back = 0
        if self._is("-"):
            self.at += 1
            back = self._length("the range")
        if self._is("TO"):
            self.at += 1
            if not self._is("NOW"):
                raise Misread("a window ends now", self._here(), "write [NOW - 10 S TO NOW SLIDE 5 S]")
            self.at += 1
            if self._is("-"):
                raise Misread("a window ends now", self._here(), "leave out what is taken from the second NOW")
        return back

    def _length(self, what: str) -> int:
        """A length of time, in ticks of a second."""
        token = self._take(what)
        seconds: Fraction | None = None
        text = token.text.strip("\"'")
        if token.kind == "number":
            amount = Fraction(token.text)
            word = self.tokens[self.at].text.lower() if self.at < len(self.tokens) else ""
            if word in _SECONDS:
                self.at += 1
                seconds = amount * _SECONDS[word]
            elif word in ("]", "step", "slide", "tumbling", "as", "to"):
                seconds = amount
            else:
                hint = "ms, s, m, h and d are units"
                raise Misread(f"`{self.tokens[self.at].text}` is not a unit of time", self._here(), hint)
        elif (found := _ISO.fullmatch(text)) and len(text) > 1:
            days, hours, minutes, rest = (Fraction(each or 0) for each in found.groups())
            seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest
            if token.kind == "string" and self.tokens[self.at : self.at + 2] and self.tokens[self.at].text == "^":
                self.at += 3
        if seconds is None:
            raise Misread(f"{what} is a length of time", token.span, "write 10s, 5m or PT10S")
        if seconds.denominator != 1:
            raise Misread(f"{what} is not a whole number of seconds", token.span, "a tick is 1 s", "D107")
        return seconds.numerator

    # Tokens

    def _is(self, *words: str) -> bool:
        there = self.tokens[self.at : self.at + len(words)]
        return len(there) == len(words) and all(a.text.upper() == b for a, b in zip(there, words, strict=True))

    def _take(self, what: str) -> QueryToken:
        if self.at >= len(self.tokens):
            end = len(self.text)
            raise Misread(f"{what} is missing", Span(max(0, end - 1), end), "")
        self.at += 1
        return self.tokens[self.at - 1]

    def _here(self) -> Span:
        return self.tokens[min(self.at, len(self.tokens) - 1)].span

    def _iri(self, token: QueryToken) -> str:
        found = iri_of(token, self.prefixes)
        if found is None:
            raise Misread(f"`{token.text}` is not an IRI", token.span, "write <…>, or a name whose prefix is declared")
        return found

    def _blank(self, first: Span, last: Span) -> None:
        for place in range(first.start, last.end):
            if self.left[place] != "\n":
                self.left[place] = " "

    def _write(self, at: Span, text: str) -> None:
        self.left[at.start : at.start + len(text)] = text


def iri_of(token: QueryToken, prefixes: dict[str, str]) -> str | None:
    if token.kind == "iri":
        inner = token.text[1:-1]
        base = prefixes["BASE "]
        return f"<{inner}>" if ":" in inner or not base else f"<{base}{inner}>"
    prefix, colon, rest = token.text.partition(":")
    if token.kind == "pname" and colon and prefix in prefixes:
        return f"<{prefixes[prefix]}{rest}>"
    return None
