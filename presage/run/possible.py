"""Which engine says what may come true: the one place that chooses.

Engines are loaded when a program needs them: most have times at fixed distances, and never meet an open one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presage.hypothesis.confidence import Confidence
from presage.hypothesis.delays import Delays
from presage.patterns.finish import NoPatterns
from presage.patterns.of_queries import Entangled, have_fixed_times, ranges_of
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
        patterns = ranges_of(subject, unfolded.with_open_times, choice.everybody)
    except Entangled as found:
        return Supposing(subject, unfolded.by_points, choice, str(found))
    except NoPatterns as found:
        try:
            return Supposing(subject, unfolded.by_points, choice, found.reason)
        except NoHypotheses:
            raise no_patterns(subject, found) from None
    if subject.discrete and len(patterns) > len(subject.queries) and Confidence(Delays(subject.predicates)).given:
        # How likely it is that something derived stays away is known evolution by evolution.
        return Supposing(subject, unfolded.by_points, choice)
    if subject.discrete and choice == ALL and have_fixed_times(patterns):
        fast = Supposing(subject, unfolded.by_points, choice)
        if fast.bulk is not None or fast.grid is not None:
            return fast
    from presage.hypothesis.courses.fitting import grouping
    from presage.hypothesis.ranges.building import range_engine
    from presage.run.open_times import RangeSupposing

    engine = range_engine(subject, patterns)
    learns = any(each.learned for known in subject.predicates.values() for each in known.inputs)
    looks_again = choice.max_open is not None or choice.confidence_step is not None
    if not looks_again and not learns and (alike := grouping(engine)) is not None:
        from presage.run.courses import CourseSupposing

        return CourseSupposing(subject, engine, alike, choice)
    return RangeSupposing(subject, engine, choice)
