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

from presage.errors import nearest

TO_STREAM = ("ISTREAM", "DSTREAM", "RSTREAM")
SETS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
OPENING = (
    *SETS, TokenType.COMMA, TokenType.ON, TokenType.ALIAS, TokenType.FROM, TokenType.WHERE, TokenType.HAVING,
    TokenType.JOIN, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.PARTITION_BY,
    TokenType.AND, TokenType.OR, TokenType.NOT,
)  # fmt: skip
CLOSING = (
    *SETS, TokenType.COMMA, TokenType.ON, TokenType.FROM, TokenType.WHERE, TokenType.HAVING, TokenType.JOIN,
    TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.R_PAREN, TokenType.R_BRACKET,
)  # fmt: skip
CLAUSES = ("FROM", "WHERE", "GROUP BY", "HAVING", "UNION", "EXCEPT", "INTERSECT", "JOIN")
STATEMENTS = ("SELECT", "CREATE", "WITH", "FROM", *TO_STREAM)
STATEMENTS_ARE = "CREATE STREAM s (a INT, b TEXT); CREATE TABLE t (…); CREATE VIEW v AS Select …; or Select … From …"
DECLARED = {
    "STREAM": "CREATE STREAM s (a INT, b TEXT)",
    "RELATION": "CREATE TABLE t (a INT, b TEXT), whose rows hold at all times; or a query for what changes",
    "TABLE": "CREATE TABLE t (a INT, b TEXT)",
    "VIEW": "CREATE VIEW v AS Select …",
    "QUERY": "the query alone, below a comment with its name: -- name: hot",
}
BARE_WINDOWS = ("RANGE", "ROWS", "NOW", "UNBOUNDED")
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


class _Refused(ParseError):
    """What sqlglot raises, with the token it stumbled over: `None` at the end."""

    def __init__(self, said: str, token: Token | None) -> None:
        super().__init__(said, [{}])  # sqlglot adds to the first of its errors
        self.said, self.token = said, token


class CqlParser(parser.Parser):
    def raise_error(self, message: str, token: Token | None = None) -> None:
        raise _Refused(message, token or self._curr or None)

    def _warn_unsupported(self) -> None:
        first = self._tokens[0]
        message = f"`{' '.join(each.text for each in self._tokens[:2])}` cannot be said here"
        raise MisreadSql(message, first.start, self._tokens[:2][-1].end + 1, f"write {STATEMENTS_ARE}")

    def _parse_create(self) -> Any:
        if self._is_word("STREAM"):
            self._advance()
            table = self._parse_table_parts(schema=True)
            if self._curr and self._curr.token_type != TokenType.L_PAREN:
                raise self._wrong(
                    f"expected `(` and the columns, found `{self._curr.text}`", f"write {DECLARED['STREAM']}"
                )
            return exp.Create(this=self._parse_schema(this=table), kind="STREAM")
        return super()._parse_create()

    def _parse_table_alias(self, *args: Any, **kwargs: Any) -> Any:
        token = self._curr
        if token and token.text.upper() in BARE_WINDOWS:
            message = f"expected a clause or a window, found `{token.text}`"
            raise MisreadSql(message, token.start, token.end + 1, f"a window stands in brackets: {WINDOWS}")
        return super()._parse_table_alias(*args, **kwargs)

    def _parse_statement(self) -> Any:
        start = self._curr
        if self._is_word_of(TO_STREAM) and not self._opens_stream():
            raise self._no_query(self._curr)
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

    def _is_word_of(self, words: tuple[str, ...]) -> bool:
        return bool(self._curr) and self._curr.text.upper() in words

    def _opens_stream(self) -> bool:
        return self._is_word_of(TO_STREAM) and bool(self._next) and self._next.token_type == TokenType.L_PAREN

    @staticmethod
    def _no_query(word: Token) -> MisreadSql:
        message = f"`{word.text}` is not followed by a query in brackets"
        return MisreadSql(message, word.start, word.end + 1, f"write {word.text}(Select … From …)")

    def _parse_to_stream(self) -> Any:
        word = self._curr
        self._advance(2)
        found = self._parse_select(nested=True)
        if found is None:
            raise self._no_query(word)
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
        _check_begins(part)
        try:
            read = dialect.parser().parse(part, text)
        except ParseError as wrong:
            raise _misread(wrong, part) from None
        _check_ends(part)
        for each in read:
            if each is not None:
                result.append((each, part[0].start, part[-1].end + 1))
    return result


def _misread(wrong: ParseError, part: list[Token]) -> MisreadSql:
    """What sqlglot stumbled over, as a message with its place."""
    token, said = (wrong.token, wrong.said) if isinstance(wrong, _Refused) else (part[0], str(wrong))
    if said.startswith(("Required keyword", "Expected table name")):
        what = "the name of a stream or table" if "table name" in said else "an expression"
        return _unexpected(what, token, part)
    if said.startswith(("Expecting", "Expected")):
        return _unexpected(f"`{said.split()[1]}`", token, part)
    if token is None or not said.startswith("Invalid expression"):
        place = token or part[-1]
        return MisreadSql(f"this is not CQL: {said[:1].lower()}{said[1:].rstrip('.')}", place.start, place.end + 1)
    at = part.index(token)
    for each in part[max(0, at - 1) : at + 1]:  # a misspelt word may have been taken for a name
        meant = nearest(each.text.upper(), CLAUSES) if each.token_type == TokenType.VAR else None
        if meant and meant != each.text.upper():
            return _unexpected("a clause", each, part, f"did you mean `{meant.title()}`?")
    before = part[at - 1].text.title()
    hint = f"write {before} By" if before in ("Group", "Order") else f"clauses are {', '.join(CLAUSES).title()}"
    return _unexpected("an operator, a clause or the end of the statement", token, part, hint)


def _unexpected(what: str, token: Token | None, part: list[Token], hint: str = "") -> MisreadSql:
    if token is None:
        return MisreadSql(f"expected {what}, and the statement ends", part[-1].end, part[-1].end + 1, hint)
    return MisreadSql(f"expected {what}, found `{token.text}`", token.start, token.end + 1, hint)


def _check_ends(part: list[Token]) -> None:
    """sqlglot lets commas and clauses go that nothing follows: where something is missing, it is not guessed."""
    for token, following in zip(part, [*part[1:], None], strict=True):
        if token.token_type in OPENING and (following is None or following.token_type in CLOSING):
            what = "a query" if token.token_type in SETS else "something"
            raise _unexpected(f"{what} behind `{token.text}`", following, part)


def _check_begins(part: list[Token]) -> None:
    first, word = part[0], part[0].text.upper()
    if word in STATEMENTS or first.token_type == TokenType.L_PAREN:
        return
    if word == "REGISTER" and len(part) > 1 and part[1].text.upper() in DECLARED:
        said = " ".join(each.text for each in part[:2])
        hint = f"write {DECLARED[part[1].text.upper()]}"
        raise MisreadSql(f"`{said}` is not how this is declared here", first.start, part[1].end + 1, hint)
    meant = nearest(word, STATEMENTS)
    hint = f"did you mean `{meant.title()}`?" if meant else f"write {STATEMENTS_ARE}"
    raise MisreadSql(f"expected a declaration or a query, found `{first.text}`", first.start, first.end + 1, hint)


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
