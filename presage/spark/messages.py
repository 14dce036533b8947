"""What goes wrong in a worker, told to the user as it was meant.

Spark wraps a worker's exception in pages of two languages' stack traces. Where Presage runs a job itself, it takes the
sentence out again; where the user runs it, the sentence stands in Spark's message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from presage.errors import PresageError, brief

UNTOLD = "Spark does not say why"
_OURS = re.compile(r"^presage\.\S+Error: (.+?)(?=^\s*$|^\s+at |^\S*Traceback|\Z)", re.MULTILINE | re.DOTALL)


_CAUSE = re.compile(r"^Caused by: (?:[\w$.]+\.)?(\w+(?:Exception|Error)): (.+)$", re.MULTILINE)
_CLASS = re.compile(r"^(?:\[[A-Z0-9_.]+\] |(?:[\w$]+\.)+\w*(?:Exception|Error): )+")
_STREAM = re.compile(
    r"^\[STREAM_FAILED\].*?terminated with exception: |^An error occurred while calling \S+\n: ", re.DOTALL
)
_STATE = re.compile(r"\s*SQLSTATE: \w+.*", re.DOTALL)


def own_words(found: BaseException) -> str:
    """What Presage said in a worker; nothing, if something else failed."""
    said = _OURS.findall(str(found))
    return str(said[-1]).strip() if said else ""


def reason(found: BaseException) -> str:
    """Why something failed, in a sentence: Presage's own if there is one, else what is below Spark's wrapping."""
    text = str(found)
    ours = own_words(found)
    if ours:
        return ours
    causes = _CAUSE.findall(text)
    said = causes[-1][1] if causes else _STREAM.sub("", text)
    first = _CLASS.sub("", _STATE.sub("", said).strip().split("\n")[0])
    return brief(first.strip()).rstrip(".") or UNTOLD


@contextmanager
def told_plainly() -> Iterator[None]:
    try:
        yield
    except PySparkException as found:
        said = own_words(found)
        if not said:
            raise
        raise PresageError(said) from None
