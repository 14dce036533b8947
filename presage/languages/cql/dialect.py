"""CQL as a dialect of SQL: sqlglot reads it, and this adds what CQL has beyond SQL.

Windows stand in brackets behind a stream or its alias and become a node of their own; `Istream`, `Dstream` and
`Rstream` around a query, or around its columns, are noted with it; `CREATE STREAM` declares a stream.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from sqlglot import exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

TO_STREAM = ("ISTREAM", "DSTREAM", "RSTREAM")
WINDOWS = "[Range n], [Range n Slide m], [Rows n], [Partition By c Rows n], [Now] or [Unbounded]"
UNITS = {
    "ms": "ms",
    "msec": "ms",
    "msecs": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "m": "m",
    "min": "m",
    "mins": "m",
    "minute": "m",
    "minutes": "m",
    "h": "h",
    "hour": "h",
    "hours": "h",
    "d": "d",
    "day": "d",
    "days": "d",
}


class CqlWindow(exp.Expression):
    """What a window selects: `back` (a length, or `None` without end), `rows`, `by` and `slide`."""

    arg_types: ClassVar[dict[str, bool]] = {"back": False, "rows": False, "by": False, "slide": False, "bounded": False}


class MisreadSql(Exception):
    """What cannot be read, with the offsets of its place."""

    def __init__(self, message: str, start: int, end: int, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.hint = message, start, end, hint


class CqlParser(parser.Parser):
    def _parse_create(self) -> Any:
        if self._is_word("STREAM"):
            self._advance()
            table = self._parse_table_parts(schema=True)
            return exp.Create(this=self._parse_schema(this=table), kind="STREAM")
        return super()._parse_create()

    def _parse_statement(self) -> Any:
        start = self._curr
        found = self._parse_to_stream() if self._opens_stream() else super()._parse_statement()
        if found is not None and start is not None:
            found.meta["from"], found.meta["to"] = start.start, self._prev.end + 1
        return found

    def _parse_select(self, *args: Any, **kwargs: Any) -> Any:
        if self._opens_stream():
            found = self._parse_to_stream()
            return exp.Subquery(this=found) if kwargs.get("table") else found
        start = self._curr
        found = super()._parse_select(*args, **kwargs)
        if found is not None and start is not None and "from" not in found.meta:
            found.meta["from"], found.meta["to"] = start.start, self._prev.end + 1
        return found

    def _parse_function(self, *args: Any, **kwargs: Any) -> Any:
        start = self._curr
        found = super()._parse_function(*args, **kwargs)
        if found is not None and start is not None:  # down to its closing bracket
            found.meta["from"], found.meta["to"] = start.start, self._prev.end + 1
        return found

    def _parse_table(self, *args: Any, **kwargs: Any) -> Any:
        found = super()._parse_table(*args, **kwargs)
        if found is not None and self._is_bracket():
            found.set("window", self._parse_cql_window())
            if not found.args.get("alias"):
                alias = self._parse_table_alias(alias_tokens=self.TABLE_ALIAS_TOKENS)
                if alias:
                    found.set("alias", alias)
        return found

    def _parse_table_parts(self, *args: Any, **kwargs: Any) -> Any:
        found = super()._parse_table_parts(*args, **kwargs)
        if found is not None and self._is_bracket():
            found.set("window", self._parse_cql_window())
        return found

    def _is_bracket(self) -> bool:
        return bool(self._curr) and self._curr.token_type == TokenType.L_BRACKET

    def _is_word(self, word: str) -> bool:
        return bool(self._curr) and self._curr.text.upper() == word

    def _opens_stream(self) -> bool:
        return (
            bool(self._curr)
            and self._curr.text.upper() in TO_STREAM
            and bool(self._next)
            and self._next.token_type == TokenType.L_PAREN
        )

    def _parse_to_stream(self) -> Any:
        word = self._curr
        self._advance(2)
        found = self._parse_select(nested=True)
        if found is None:
            raise MisreadSql(
                f"`{word.text}` is not followed by a query",
                word.start,
                word.end + 1,
                f"write {word.text}(Select … From …)",
            )
        found = self._parse_set_operations(found)
        if not self._match(TokenType.R_PAREN):
            raise self._wrong("`)` closes the query of " + word.text, "write `)`")
        while isinstance(found, exp.Subquery) and not found.args.get("alias") and not found.args.get("window"):
            found = found.this
        if found.meta.get("stream"):
            message = f"the query is made a stream twice, by {word.text} and {found.meta['stream'].title()}"
            hint = "say it once; or make a relation of the stream inside first, by a window"
            raise MisreadSql(message, word.start, word.end + 1, hint)
        found.meta["stream"] = word.text.upper()
        found.meta["stream_at"] = (word.start, word.end + 1)
        found.meta["from"], found.meta["to"] = word.start, self._prev.end + 1
        return found

    # Windows

    def _parse_cql_window(self) -> CqlWindow:
        opening = self._curr
        self._advance()
        given: dict[str, Any] = {}
        if self._match(TokenType.PARTITION_BY):
            given["by"] = self._parse_csv(self._parse_column)
            if not given["by"] or any(not isinstance(each, exp.Column) for each in given["by"]):
                raise self._wrong("the columns of `Partition By` are missing", "write [Partition By c Rows n]")
        if self._match_text_seq("NOW"):
            given["back"], given["bounded"] = (Fraction(0), ""), True
        elif self._match_text_seq("UNBOUNDED"):
            given["bounded"] = False
        else:
            if self._match_text_seq("ROWS") or self._match_text_seq("ROW"):
                if not self._match_text_seq("UNBOUNDED"):
                    given["rows"] = self._whole("the number of rows")
            if self._match_text_seq("RANGE"):
                if self._match_text_seq("UNBOUNDED"):
                    given["bounded"] = False
                else:
                    given["back"], given["bounded"] = self._length("the range"), True
            if not given.keys() & {"rows", "bounded", "by"}:
                if self._prev.text.upper() != "UNBOUNDED":
                    raise self._wrong("this is not a window", f"write {WINDOWS}")
                given["bounded"] = False
        if given.get("by") and "rows" not in given:
            raise MisreadSql(
                "`Partition By` says of what, and `Rows` is missing",
                opening.start,
                self._prev.end + 1,
                "write [Partition By c Rows n]",
            )
        if self._match_text_seq("SLIDE"):
            at = self._curr
            given["slide"] = self._length("the slide")
            if given["slide"][0] == 0:
                raise MisreadSql(
                    "a window cannot slide by 0", at.start, at.end + 1, "leave `Slide` out to look at each tick"
                )
        if not self._match(TokenType.R_BRACKET):
            raise self._wrong("the window neither goes on nor ends", f"write {WINDOWS}")
        window = CqlWindow(**given)
        window.meta["from"], window.meta["to"] = opening.start, self._prev.end + 1
        return window

    def _whole(self, what: str) -> int:
        token = self._curr
        if token and token.token_type == TokenType.NUMBER and token.text.isdigit() and int(token.text) > 0:
            self._advance()
            return int(token.text)
        raise self._wrong(f"{what} is a whole number greater than 0", f"write {WINDOWS}")

    def _length(self, what: str) -> tuple[Fraction, str]:
        token = self._curr
        if not token or token.token_type not in (TokenType.NUMBER, TokenType.STRING):
            raise self._wrong(f"{what} is a length of time", f"write {WINDOWS}")
        try:
            amount = Fraction(token.text)
        except ValueError:
            raise self._wrong(f"{what} is a length of time", f"write {WINDOWS}") from None
        self._advance()
        word = self._curr.text if self._curr else ""
        if self._curr and word.lower() in UNITS:
            self._advance()
            return amount, UNITS[word.lower()]
        if self._curr and self._curr.token_type != TokenType.R_BRACKET and word.upper() not in ("SLIDE",):
            raise self._wrong(f"`{word}` is not a unit of time", "ms, seconds, minutes, hours and days are units")
        return amount, ""

    def _wrong(self, message: str, hint: str) -> MisreadSql:
        token: Token = self._curr or self._prev
        return MisreadSql(message, token.start, token.end + 1, hint)


class Cql(Dialect):
    class Tokenizer(tokens.Tokenizer):
        pass

    Parser = CqlParser


def statements(text: str) -> list[tuple[Any, int, int]]:
    """The statements of a text, each with the offsets between which it stands; raises `MisreadSql`."""
    dialect = Cql()
    try:
        found = dialect.tokenize(text)
    except TokenError as wrong:
        at = _unclosed(text)
        raise MisreadSql("a quotation or comment is not closed", at, at + 1, "close it") from wrong
    parts: list[list[Token]] = [[]]
    for token in found:
        if token.token_type == TokenType.SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    result = []
    for part in parts:
        if not part:
            continue
        try:
            read = dialect.parser().parse(part, text)
        except ParseError as wrong:
            raise _misread(wrong, text, part) from None
        for each in read:
            if each is not None:
                result.append((each, part[0].start, part[-1].end + 1))
    return result


def _misread(wrong: ParseError, text: str, part: list[Token]) -> MisreadSql:
    if not wrong.errors:
        return MisreadSql(str(wrong), part[0].start, part[0].end + 1)
    first = wrong.errors[0]
    line, column = first.get("line"), first.get("col")
    marked = first.get("highlight") or ""
    if line is None or column is None:
        return MisreadSql(str(first.get("description")), part[0].start, part[0].end + 1)
    starts = [0] + [at + 1 for at, sign in enumerate(text) if sign == "\n"]
    end = starts[line - 1] + column
    message = str(first.get("description") or "this cannot be read").rstrip(".")
    if message.startswith("Required keyword"):
        message = "something is missing here"
    if message.startswith("Expected table name"):
        message = "the name of a stream or table is missing"
    return MisreadSql(
        f"this is not CQL: {message[:1].lower()}{message[1:]}",
        max(0, end - max(1, len(marked))),
        end,
        "a query is Select … From … [Where …] [Group By …] [Having …]",
    )


def _unclosed(text: str) -> int:
    """Where the quotation or comment begins that nothing closes."""
    at = 0
    while at < len(text):
        opening = next((each for each in ("--", "/*", "'", '"') if text.startswith(each, at)), None)
        if opening is None:
            at += 1
            continue
        closing = {"--": "\n", "/*": "*/"}.get(opening, opening)
        end = text.find(closing, at + len(opening))
        if end < 0:
            return at
        at = end + len(closing)
    return 0
