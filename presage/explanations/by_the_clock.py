"""An explanation in the times its facts came with: what goes in comes out, in reasons as in answers.

Explanations are made of numbers of ticks. Here their texts and fields are turned into moments of the calendar, and
their drawings get an axis of the clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from presage.explanations.axis import Axis
from presage.explanations.outline import Outline
from presage.explanations.result import Explanation
from presage.io.moments import Moments, exact
from presage.model.terms import Number

_TIMES = {"at", "when", "time", "arrived", "since", "until", "decided_by", "now", "from", "to"}
_FACTS = {"answer", "premise", "holds", "fact", "part", "fails_at", "because", "needs", "met", "others"}
_AS_WRITTEN = {"rule", "file", "values", "kind", "status", "bindings", "key"}
_NUMBER = re.compile(r"-?\d+(?:\.\d+|/\d+)?")
_RULE = re.compile(r"\b(?:by )?line \d+")
_ENDS = {86_400_000: 10, 60_000: 16, 1000: 19}
"""Where a timestamp ends that is exact to the day, the minute, the second."""


def by_the_clock(found: Explanation, moments: Moments) -> Explanation:
    axis = Axis.around(found.outline, found.at)
    return replace(
        found,
        line=_told(found.line, moments, ""),
        outline=_outlined(found.outline, moments),
        label=_labels(axis, moments),
    )


def _told(value: Any, moments: Moments, name: str) -> Any:
    if name in _AS_WRITTEN:
        return value
    if isinstance(value, dict):
        return {each: _told(inner, moments, each) for each, inner in value.items()}
    if isinstance(value, list):
        return [_told(each, moments, name) for each in value]
    if isinstance(value, bool) or value is None:
        return value
    if name in _TIMES and (not isinstance(value, str) or _NUMBER.fullmatch(value)):
        return moments.moment(exact(value))
    if not isinstance(value, str):
        return value
    return moments.text(value) if name in _FACTS and not value.startswith("no ") else _said(value, moments)


def _said(text: str, moments: Moments) -> str:
    """A sentence; rules in it stay as they are written."""
    rule = _RULE.search(text)
    end = len(text) if rule is None else rule.start()
    return moments.sentence(text[:end]) + text[end:]


def _outlined(outline: Outline, moments: Moments) -> Outline:
    return replace(
        outline,
        text=_said(outline.text, moments),
        reason=_said(outline.reason, moments),
        below=tuple(_outlined(each, moments) for each in outline.below),
    )


def _labels(axis: Axis, moments: Moments) -> Callable[[Number], str]:
    """How times are written on an axis: by the clock, with the day where there are several."""
    first, last = moments.moment(axis.first), moments.moment(axis.last)
    days = first[:10] != last[:10]
    end = next((end for length, end in _ENDS.items() if moments.tick % length == 0), 23)
    start = 5 if days or end == 10 else 11

    def label(time: Number) -> str:
        return moments.moment(time).rstrip("Z")[start:end].replace("T", " ")

    return label
