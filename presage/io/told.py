"""Answer lines read back: what a run or a pipeline has written, as answers again.

An answer that was read keeps its text as it was written; nothing is made of its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from presage.answers import INCONSISTENT, Answer, inconsistent
from presage.errors import PresageError
from presage.io.facts import exact, exact_float
from presage.model.terms import Number

STATUSES = ("possible", "unsupported", "confirmed", "refuted", INCONSISTENT)


def read_answers(line: Any, where: str) -> Iterator[Answer]:
    """The answers of a line, which may be a snapshot with many; raises what is wrong with it."""
    if isinstance(line, Mapping) and isinstance(line.get("answers"), list):
        for each in line["answers"]:
            yield _answer(each, where)
    else:
        yield _answer(line, where)


def _answer(line: Any, where: str) -> Answer:
    if not isinstance(line, Mapping) or "now" not in line or line.get("status") not in STATUSES:
        found = ", ".join(map(str, line)) if isinstance(line, Mapping) else type(line).__name__
        raise PresageError(
            f"{where}: this is not an answer line, as `presage run` writes them: it has no `now` and `status` ({found})"
        )
    now = _time(line["now"], "now", where)
    if now is None:
        raise PresageError(f"{where}: `now` is empty")
    if line["status"] == INCONSISTENT:
        return inconsistent(now)
    text = line.get("answer")
    if not isinstance(text, str) or not text:
        raise PresageError(f"{where}: this is not an answer line: it has no `answer`")
    given = line.get("bindings") or {}
    bindings = dict(given) if isinstance(given, (Mapping, list)) else {}
    answer = Answer(
        now,
        line["status"],
        text.split("(", 1)[0].split("@", 1)[0],
        (),
        bindings,
        time=_time(line.get("time"), "time", where),
        start=_time(line.get("from"), "from", where),
        end=_time(line.get("to"), "to", where),
        bounds=line.get("bounds") or "",
        ways=tuple(_way(way, where) for way in line.get("ways") or ()),
        **_way(line, where),
    )
    answer.text = text
    return answer


def _way(line: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The five fields that lines and their ways have."""
    lists = {name: tuple(map(str, line.get(name) or ())) for name in ("because", "needs", "unless")}
    likely = line.get("confidence")
    confidence = float(likely) if isinstance(likely, (int, float)) else None
    return {**lists, "decided_by": _time(line.get("decided_by"), "decided_by", where), "confidence": confidence}


def _time(given: Any, name: str, where: str) -> Number | None:
    try:
        if given is None or isinstance(given, int):
            return given
        found = exact_float(given) if isinstance(given, float) else exact(given)
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise PresageError(f"{where}: `{name}` is {given!r}, which is not a time")
    return found
