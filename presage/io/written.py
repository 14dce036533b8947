"""Facts as they are written: `P(a)@[1,2]`, a line each, as MeTeoR's data sets are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from presage.io.facts import Checker, Fact, FactError, exact

_FACT = re.compile(
    r"(?P<name>[^\W\d][\w']*)\s*(?:\((?P<args>(?:[^()\"']|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')*)\))?"
    r"(?:\s*@\s*(?:(?P<open>[\[(])(?P<low>[^,\])]+)(?:,(?P<high>[^\])]+))?(?P<close>[\])])|(?P<at>[^\s\[(]+?)))?\s*\.?\s*"
)
_ARGUMENT = re.compile(r"\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^,\"']*?)\s*(?:,|$)")
_EXAMPLE = "a fact is a line such as P(a, b)@[1,2], P(a)@1 or P@(0,1]"


def read_written(path: Path, checker: Checker) -> Iterator[Fact]:
    with path.open(encoding="utf-8-sig") as lines:
        for index, line in enumerate(lines, 1):
            text = line.strip()
            if not text or text[0] in "%#":
                continue
            where = f"{path}:{index}"
            found = _FACT.fullmatch(text)
            if found is None:
                raise FactError(f"{where}: {_EXAMPLE}")
            name = found["name"]
            arguments = [] if found["args"] is None else _arguments(found["args"], where)
            entry: dict[str, Any] = {"pred": name, "args": arguments}
            if found["at"] is not None:
                entry["time"] = found["at"]
            elif found["open"] is not None:
                low, high = found["low"].strip(), found["high"]
                if high is None:  # [3] is the point 3
                    entry["time"] = low
                else:
                    entry["from"] = low
                    endless = high.strip().lower() in ("inf", "+inf", "infinity", "+infinity")
                    if not endless:
                        entry["to"] = high.strip()
                    entry["bounds"] = found["open"] + (")" if endless else found["close"])
            fact = checker.fact_if_named(entry, where)
            if fact is not None:
                yield fact


def _arguments(text: str, where: str) -> list[Any]:
    if not text.strip():
        return []
    found: list[Any] = []
    at = 0
    while at <= len(text):
        part = _ARGUMENT.match(text, at)
        if part is None or not part.group(1):
            raise FactError(f"{where}: an argument is missing, or not a constant; {_EXAMPLE}")
        word = part.group(1)
        if word[0] in "\"'":
            found.append(re.sub(r"\\(.)", r"\1", word[1:-1]))
        else:
            try:
                written = exact(word)
            except ValueError as problem:
                raise FactError(f"{where}: {problem}") from None
            found.append(word if written is None else written)
        if part.end() == len(text) and not text.endswith(",", at, part.end()):
            break
        at = part.end()
    return found
