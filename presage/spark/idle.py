"""Time that goes by while no fact comes.

The clock of a stream is the greatest time of its facts. With an idle time, moments of this machine's clock come along:
once they say that nothing has come for so long, time goes on by itself, as far as the silence lasts. Every shard hears
of all facts and of all moments, so that each finds the same clock, and finds it again when a micro-batch is repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Row

from presage.model.printer import show_number
from presage.model.terms import Number
from presage.spark.job import Job
from presage.spark.packs import NO_SOURCE, time_of

HEARD, LEFT_AT = "heard", "left_at"
"""In what a shard remembers: the moment when facts were heard of last, unknown until the first moment after them; and
where they left the clock."""


def clock_of(job: Job, meta: dict[str, Any], before: Number | None, packs: Sequence[Row]) -> tuple[Number, bool] | None:
    """The clock after a micro-batch, and whether anything else is to be remembered; nothing before the first fact."""
    if job.idle is None:
        return max(time_of(pack["last"]) for pack in packs), False
    facts = [time_of(pack["last"]) for pack in packs if pack["source"] != NO_SOURCE]
    moments = [int(pack["last"]) for pack in packs if pack["source"] == NO_SOURCE]
    moment = max(moments, default=None)
    known = meta.get(HEARD), meta.get(LEFT_AT)
    if facts:
        clock = max(facts) if before is None else max(*facts, before)
        meta |= {HEARD: moment, LEFT_AT: show_number(clock)}
    elif before is None:
        return None
    else:
        clock = before
        if meta.get(HEARD) is None and moment is not None:
            meta |= {HEARD: moment, LEFT_AT: show_number(before)}
        elif moment is not None and (quiet := moment - meta[HEARD]) >= job.idle:
            assert job.checker.units.tick is not None
            clock = max(before, time_of(meta[LEFT_AT]) + int(quiet / job.checker.units.tick))
    return clock, known != (meta.get(HEARD), meta.get(LEFT_AT))
