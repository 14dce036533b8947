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
_OURS = re.compile(
    r"^presage\.\S+Error: (.+?)(?=^\s*$|^\s+at |^\s*SQLSTATE: |^\S*Traceback|\Z)", re.MULTILINE | re.DOTALL
)
_OF_STATE = re.compile(r"\[[A-Z_.]*(?:STATE|CHECKPOINT)[A-Z_.]*\]|sources in the checkpoint offsets")
"""Errors of Spark about what a stream remembers, by their names, and one that has none."""
_OF_FILE = re.compile(r"\[FAILED_READ_FILE[A-Z_.]*\] (.+)")
_NO_MORE = re.compile(r"Encountered error while reading file \S+$")
_BELOW = re.compile(r"^Caused by: \S+?(?:Exception|Error): (.+?)(?=^\s+at |^Caused by: |\Z)", re.MULTILINE | re.DOTALL)
"""A cause with all of its lines."""
_CAUSE = re.compile(r"^Caused by: (?:[\w$.]+\.)?(\w+(?:Exception|Error)): (.+)$", re.MULTILINE)
_PYTHON = re.compile(r"^(?:\w+\.)*(\w+(?:Exception|Error): .+)$", re.MULTILINE)
"""The last line of a traceback."""
_CLASS = re.compile(r"^(?:\[[A-Z0-9_.]+\] |(?:[\w$]+\.)+\w*(?:Exception|Error): )+")
_STREAM = re.compile(
    r"^\[STREAM_FAILED\].*?terminated with exception: |^An error occurred while calling \S+\n: ", re.DOTALL
)
_STATE = re.compile(r"\s*SQLSTATE: \w+.*", re.DOTALL)


def own_words(found: BaseException) -> str:
    """What Presage said in a worker; nothing, if something else failed."""
    said = _OURS.findall(str(found))
    return str(said[-1]).strip() if said else ""


def is_sparks(found: BaseException) -> bool:
    """Whether Spark says it, from Python or from Java."""
    return isinstance(found, PySparkException) or "Py4J" in type(found).__name__


def about_state(found: BaseException) -> bool:
    return _OF_STATE.search(str(found).partition("=== Streaming Query")[0]) is not None


def before_sinks(found: BaseException) -> bool:
    """Whether it is no sink that failed to write, though Spark reads and reasons only when one wants to."""
    return bool(own_words(found) or about_state(found) or _OF_FILE.search(str(found)))


def reason(found: BaseException) -> str:
    """Why something failed, in a sentence: Presage's own if there is one, else what is below Spark's wrapping."""
    text = str(found)
    ours = own_words(found)
    if ours:
        return ours
    file = _OF_FILE.search(text)
    if file is not None:
        said = _STATE.sub("", file[1]).strip().rstrip(".")
        why = _BELOW.findall(text) if _NO_MORE.fullmatch(said) else []
        return f"{said}: {brief(' '.join(why[-1].partition('CSV file:')[0].split()))}".rstrip(".") if why else said
    causes = _CAUSE.findall(text)
    _, traced, below = text.rpartition("Traceback (most recent call last):")
    in_python = _PYTHON.search(below) if traced else None
    if in_python is not None:
        return brief(in_python[1]).rstrip(".")
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
