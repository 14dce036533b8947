"""MonPoly's logs: `@10 publish(160) approve(160)`, a time point after each `@`.

Each time point becomes a fact `time_point(n)`, the facts after it being its own: several may have one timestamp. A
program without that input is given the facts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from presage.io.facts import Checker, Fact, FactError, exact

_TOKEN = re.compile(
    r"(?P<space>[\s;,]+)|(?P<comment>\#[^\n]*|\(\*.*?\*\))|@(?P<time>[0-9]+(?:\.[0-9]+)?)"
    r"|(?P<name>[^\W\d][\w'-]*)|\((?P<args>(?:[^()\"']|\"[^\"]*\"|'[^']*')*)\)",
    re.DOTALL,
)
_ARGUMENTS = re.compile(r"(?:\s|\#[^\n]*|\(\*.*?\*\))*\(", re.DOTALL)
_VALUE = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|([^,]*?))\s*(?:,|$)", re.DOTALL)


def read_log(path: Path, checker: Checker) -> Iterator[Fact]:
    text = path.read_text(encoding="utf-8-sig")
    point, time, name, at, line = -1, "", "", 0, 1
    while at < len(text):
        where = f"{path}:{line}"
        found = _TOKEN.match(text, at)
        if found is None and text[at] == ">":
            raise FactError(f"{where}: commands in a log (`>save_state …<`) are not read: take the line out")
        if found is None:
            raise FactError(f"{where}: {text[at]!r} is not part of a log, such as @10 publish(160)(161) approve(160)")
        if found["time"] is not None:
            point, time, name = point + 1, found["time"], ""
            if "time_point" in checker.predicates:
                yield checker.fact({"pred": "time_point", "args": [point], "time": time}, where)
        elif found["name"] is not None:
            name = found["name"]
            if not time:
                raise FactError(f"{where}: a log begins with a timestamp, such as @10")
            if _ARGUMENTS.match(text, found.end()) is None and not checker.passes_over(name):
                yield _fact(checker, name, "", time, where)  # `T` is `T()`
        elif found["args"] is not None:
            if not name:
                raise FactError(f"{where}: these arguments belong to no predicate")
            if not checker.passes_over(name):
                yield _fact(checker, name, found["args"], time, where)
        line += text.count("\n", at, found.end())
        at = found.end()


def _fact(checker: Checker, name: str, text: str, time: str, where: str) -> Fact:
    known = checker.known(name, where)
    values: list[Any] = []
    at = 0
    while text.strip() and at <= len(text):
        part = _VALUE.match(text, at)
        assert part is not None
        quoted = part.group(1) if part.group(1) is not None else part.group(2)
        kind = known.columns[len(values)].type if len(values) < len(known.columns) else "any"
        values.append(quoted if quoted is not None else _value(part.group(3), kind, where))
        if part.end() >= len(text) and not text.endswith(",", 0, part.end()):
            break
        at = part.end()
    return checker.fact({"pred": name, "args": values, "time": time}, where)


def _value(text: str, kind: str, where: str) -> Any:
    if kind == "text":
        return text
    try:
        written = exact(text)
    except ValueError as problem:
        raise FactError(f"{where}: {problem}") from None
    return text if written is None else written
