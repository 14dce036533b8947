"""From a program and its patterns to the engine that runs them."""

from __future__ import annotations

from presage.analysis.subject import Subject
from presage.hypothesis.delays import Delays
from presage.hypothesis.ranges.engine import Ranges
from presage.patterns.of_queries import label
from presage.patterns.zoned import RangePattern
from presage.time.stretches import TimeLine


def range_engine(
    subject: Subject, found: dict[str, list[RangePattern]], everybody: bool = False, entangled: bool = False
) -> Ranges:
    """The engine of the patterns that `ranges_of` found."""
    asked = [label(place) for place in range(len(subject.queries))]
    engine = Ranges(
        TimeLine(subject.discrete), found, asked, Delays(subject.predicates), everybody, entangled=entangled
    )
    engine.statics.add_facts_of(subject)
    return engine
