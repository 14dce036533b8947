"""TOML with places: the values of a file, and where each key and value stands in it.

Python's own reader gives values without places, and a message without a place is hard to act upon. So a second, small
walk over the text, which the reader has found to be TOML already, notes where keys and values begin and end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from presage.errors import Diagnostic, ProgramError, Source, Span

Path = tuple[str | int, ...]
"""How to get to a value: names of keys, and numbers of places in lists."""

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})' r"|'''.*?'''(?:'{0,2})" r'|"(?:\\.|[^"\\])*"' r"|'[^']*'", re.DOTALL
)
_PLAIN = re.compile(r"[^,\]}#\n]*")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True)
class KeyPlace:
    key: Span
    value: Span


@dataclass(frozen=True, slots=True)
class TomlDocument:
    source: Source
    values: dict[str, Any]
    places: dict[Path, KeyPlace]

    def key(self, path: Path) -> Span:
        """Where a key stands; of one that is not there, the nearest table around it."""
        while path not in self.places and path:
            path = path[:-1]
        return self.places[path].key if path else Span(0, 0)

    def value(self, path: Path) -> Span:
        return self.places[path].value if path in self.places else self.key(path)

    def hiding(self, path: Path) -> TomlDocument:
        """The document, whose messages do not show a value."""
        if path not in self.places:
            return self
        text, span = self.source.text, self.places[path].value
        stars = re.sub(r"[^\s\"',=\[\]{}]", "*", text[span.start : span.end])
        shown = text[: span.start] + stars + text[span.end :]
        return replace(self, source=Source.of(shown, self.source.name))


def read_document(text: str, source: Source) -> TomlDocument:
    """The document a text is; messages show `source`, which has the same places."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as found:
        raise ProgramError(source, [_not_toml(str(found), source)]) from None
    except RecursionError:
        said = Diagnostic("C101", "the file is nested too deeply", Span(0, 1), "a pipeline has two levels of tables")
        raise ProgramError(source, [said]) from None
    return TomlDocument(source, values, dict(_Walk(text).places()))


def _not_toml(message: str, source: Source) -> Diagnostic:
    place = _PLACE.search(message)
    at = len(source.text)
    if place is not None and place[1] is not None:
        at = source.line_starts[int(place[1]) - 1] + int(place[2]) - 1
    what = _PLACE.sub("", message)
    hint = 'text stands in quotes, tables begin with a line such as `[sources.temp]`: path = "readings"'
    return Diagnostic("C101", f"this is not TOML: {what[:1].lower()}{what[1:]}", Span(at, at + 1), hint)


class _Walk:
    """A walk over a text that is known to be TOML."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text.replace("\r\n", " \n"), 0
        self.counts: dict[Path, int] = {}

    def places(self) -> Iterator[tuple[Path, KeyPlace]]:
        table: Path = ()
        while not self._ended():
            start = self.at
            if self._next("[["):
                names = self._key()
                path = self._inside(names[:-1]) + names[-1:]
                self.counts[path] = self.counts.get(path, -1) + 1
                self._expect("]]")
                span = Span(start, self.at)
                yield path, KeyPlace(span, span)
                table = (*path, self.counts[path])
                yield table, KeyPlace(span, span)
            elif self._next("["):
                table = self._inside(self._key())
                self._expect("]")
                span = Span(start, self.at)
                for depth in range(1, len(table) + 1):
                    yield table[:depth], KeyPlace(span, span)
            else:
                yield from self._pair(table)

    def _inside(self, names: Path) -> Path:
        """A path as headers mean it: below a list of tables, it is about the last of them."""
        path: Path = ()
        for name in names:
            path = (*path, name)
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def _pair(self, table: Path) -> Iterator[tuple[Path, KeyPlace]]:
        start = self.at
        names = self._key()
        key = Span(start, self.at)
        self._space()
        self._expect("=")
        self._space()
        path = (*table, *names)
        begin = self.at
        inner = list(self._value(path))
        for depth in range(len(table) + 1, len(path)):
            yield path[:depth], KeyPlace(key, Span(begin, self.at))
        yield path, KeyPlace(key, Span(begin, self.at))
        yield from inner

    def _value(self, path: Path) -> Iterator[tuple[Path, KeyPlace]]:
        string = _STRING.match(self.text, self.at)
        if string is not None:
            self.at = string.end()
        elif self._next("["):
            index = 0
            while not self._ended("]"):
                begin = self.at
                inner = list(self._value((*path, index)))
                yield (*path, index), KeyPlace(Span(begin, self.at), Span(begin, self.at))
                yield from inner
                index += 1
                self._space()
                self._next(",")
            self._expect("]")
        elif self._next("{"):
            while not self._ended("}"):
                yield from self._pair(path)
                self._space()
                self._next(",")
            self._expect("}")
        else:
            found = _PLAIN.match(self.text, self.at)
            assert found is not None
            self.at += len(found[0].rstrip())

    def _key(self) -> Path:
        names: list[str] = []
        while True:
            self._space()
            quoted = _STRING.match(self.text, self.at) or _BARE_KEY.match(self.text, self.at)
            assert quoted is not None
            self.at = quoted.end()
            (name,) = tomllib.loads(f"{quoted[0]} = 0")
            names.append(name)
            end = self.at
            self._space()
            if not self._next("."):
                self.at = end
                return tuple(names)

    def _space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        assert found is not None
        self.at = found.end()

    def _ended(self, closing: str = "") -> bool:
        self._space()
        return self.at >= len(self.text) or bool(closing and self.text.startswith(closing, self.at))

    def _next(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) if found else 0
        return found

    def _expect(self, sign: str) -> None:
        self._space()
        assert self._next(sign), (sign, self.at)
