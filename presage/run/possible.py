"""Which engine says what may come true: the one place that chooses.

Engines are loaded when a program needs them: most have times at fixed distances, and never meet an open one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from presage.hypothesis.confidence import Confidence
from presage.hypothesis.delays import Delays
from presage.patterns.finish import NoPatterns
from presage.patterns.of_queries import all_ranges, have_fixed_times
from presage.patterns.unfold import Unfolded
from presage.run.choice import ALL, Choice
from presage.run.hypothetical import Supposing
from presage.run.no_hypotheses import NoHypotheses, no_patterns

if TYPE_CHECKING:
    from presage.run.open_times import RangeSupposing


def suppose(subject: Any, unfolded: Unfolded, choice: Choice = ALL) -> Supposing | RangeSupposing:
    """The hypothetical side of a reasoner; refuses what has no premise patterns. Where every time is at a fixed
    distance from the answer's, or answers hang on the facts of one individual each, many are worked off at once."""
    try:
        found = all_ranges(subject, unfolded, choice.everybody)
    except NoPatterns as refused:
        raise no_patterns(subject, refused) from None
    patterns = found.patterns
    doubts = len(patterns) > len(subject.queries) and Confidence(Delays(subject.predicates)).given
    if subject.discrete and not doubts and have_fixed_times(patterns) and (choice == ALL or found.entangled):
        with suppress(NoHypotheses):
            fast = Supposing(subject, unfolded.by_points, Choice(everybody=choice.everybody, ways=choice.ways))
            if goes_by_columns(fast, found.entangled):
                return fast if choice == ALL else Supposing(subject, unfolded.by_points, choice, found.entangled)
    from presage.hypothesis.courses.fitting import grouping
    from presage.hypothesis.ranges.building import range_engine
    from presage.run.open_times import RangeSupposing

    engine = range_engine(subject, patterns, choice.everybody, bool(found.entangled))
    learns = any(each.learned for known in subject.predicates.values() for each in known.inputs)
    looks_again = choice.max_open is not None or choice.confidence_step is not None
    # How likely it is that something derived stays away is worked out for one answer at a time.
    alone = looks_again or learns or doubts or found.entangled
    if not alone and (alike := grouping(engine)) is not None:
        from presage.run.courses import CourseSupposing

        return CourseSupposing(subject, engine, alike, choice)
    return RangeSupposing(subject, engine, choice, found.entangled)


def goes_by_columns(found: Supposing, entangled: str) -> bool:
    """Whether many individuals are worked off at once; one by one they are `entangled` or not."""
    return found.bulk is not None or found.grid is not None
