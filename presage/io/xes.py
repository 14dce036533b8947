"""Event logs in XES, a trace for each case: `event(case, activity)`, `data(case, name, value)`, `complete(case)`.

Each trace is complete with its last event. A program that has no `data` or no `complete` is given none. Of events of a
trace that have one activity and one time, all but the first are told apart by a datum, their place in the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from presage.io.facts import Checker, Fact, FactError, exact

NAME, TIME, PLACE = "concept:name", "time:timestamp", "trace:place"
VALUES = ("string", "date", "int", "float", "boolean", "id")


def read_xes(path: Path, checker: Checker) -> Iterator[Fact]:
    number = 0
    with path.open("rb") as text:
        try:
            for _, element in ElementTree.iterparse(text):
                if _tag(element) == "trace":
                    number += 1
                    yield from _trace(element, f"{path}: trace {number}", str(number), checker)
                    element.clear()
        except ElementTree.ParseError as found:
            raise FactError(f"{path}: this is not an event log in XES ({found})") from None


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _attributes(element: ElementTree.Element) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in element:
        if _tag(each) in VALUES and "key" in each.attrib:
            found[each.attrib["key"]] = _value(_tag(each), each.attrib.get("value", ""))
    return found


def _value(kind: str, text: str) -> Any:
    if kind in ("int", "float"):
        written = exact(text.strip())
        return text if written is None else written
    return text.lower() if kind == "boolean" else text


def _trace(trace: ElementTree.Element, where: str, number: str, checker: Checker) -> Iterator[Fact]:
    case = _attributes(trace).get(NAME, number)
    known = checker.predicates
    last: Any = None
    seen: set[tuple[str, Any]] = set()
    events = [each for each in trace if _tag(each) == "event"]
    for place, event in enumerate(events, 1):
        at = f"{where} ({case}), event {place}"
        said = _attributes(event)
        for needed in (NAME, TIME):
            if needed not in said:
                raise FactError(f"{at}: the event has no `{needed}`")
        time = said.pop(TIME)
        activity = said.pop(NAME)
        fact = checker.fact_if_named({"pred": "event", "args": [case, activity], "time": time}, at)
        if fact is not None:
            yield fact
        moment = checker.time(time, at)
        if (activity, moment) in seen:
            said[PLACE] = place
        seen.add((activity, moment))
        last = time if last is None or moment >= checker.time(last, at) else last
        for name, value in said.items() if "data" in known and known["data"].arity == 3 else ():
            yield checker.fact({"pred": "data", "args": [case, name, value], "time": time}, at)
    if last is not None and "complete" in known:
        yield checker.fact({"pred": "complete", "args": [case], "time": last}, where)
