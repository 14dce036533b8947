"""What goes wrong in a worker, told to the user as it was meant.

Spark wraps a worker's exception in pages of two languages' stack traces. Where Presage runs a job itself, it takes the
sentence out again; where the user runs it, the sentence stands in Spark's message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException

from presage.errors import PresageError

_OURS = re.compile(r"^presage\.\S+Error: (.+?)(?=^\s*$|^\s+at |^\S*Traceback|\Z)", re.MULTILINE | re.DOTALL)


@contextmanager
def told_plainly() -> Iterator[None]:
    try:
        yield
    except PySparkException as found:
        said = _OURS.findall(str(found))
        if not said:
            raise
        raise PresageError(said[-1].strip()) from None
