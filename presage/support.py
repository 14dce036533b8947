"""What does not run everywhere, and why: the words of refusals.

A gap is declared here or does not exist. `docs/constructs.py` says of every construct of the language which of these
are about it, for the page `docs/reference/support.md` and for `tests/language/test_support.py`.
"""

from __future__ import annotations

from types import MappingProxyType

NO_PATTERNS = MappingProxyType(
    {
        "alternatives": "a rule with alternatives in its head has several models",
        "invented where needed": (
            "what `chase restricted` invents hangs on which instance of a rule comes first: it has no premise patterns"
        ),
        "invented over an interval": (
            "a rule that invents values over an interval, or anew at each time of the dense timeline, has no premise "
            "patterns"
        ),
        "invented in an answer": "an answer that shows an invented value has no premise patterns",
        "invented and calculated with": (
            "an invented value that is ordered, calculated with or shared with an aggregate has no premise patterns"
        ),
        "invented and absent": "the absence of what is said of invented values has no premise patterns",
        "rows": "a window of rows has no premise patterns: which times it covers depends on what arrives",
        "hop on dense time": "a hopping window has premise patterns on whole time points only",
        "hop below an operator": (
            "a hopping window at a time that an operator or a modality chooses has no premise patterns"
        ),
        "hop in a window": "a hopping window in another, or around one, has no premise patterns",
        "aggregate": (
            "an aggregate has premise patterns only where a count, or a sum of what is declared not to be negative, is "
            "compared with what is known otherwise (`count >= 3`, `count = 0`, `sum < 100`), or the greatest or least "
            "with what it reaches or does not (`max >= 8`, `min > 2`)"
        ),
        "aggregate of more": (
            "an aggregate has premise patterns only over one input atom, in windows of time that do not hop, beside "
            "comparisons and static atoms"
        ),
        "aggregate compared with the stream": (
            "an aggregate has premise patterns only where it is compared with constants or static values"
        ),
        "time as a value": "a time that is used as a value has no premise patterns",
        "recursion": "a recursive rule gives ever new premises",
        "several models": "the program may have several models, of which a run tells what they share",
        "circle": "negation runs through a cycle that time does not break",
        "reading now": "with `reading now` answers belong to the time of evaluation alone",
    }
)
"""Why a query has no hypothetical answers; its confirmed ones are told."""

NOT_EXPLAINED = MappingProxyType(
    {
        "alternatives": "alternatives in heads",
        "invented": "`exists` at fixed times and with `chase restricted`",
        "aggregate": "aggregates",
        "rows": "windows of rows",
        "filter": "windows with a filter",
        "hop": "windows that hop",
        "window over operators": "windows over what looks at several times",
        "modality": "modalities outside of windows, and `reset`",
        "pin below an operator": "a pin inside an operator",
        "several times": "rules with more than one time variable",
        "time as a value": "times among the values",
        "several models": "programs with several models",
    }
)
"""What proofs do not speak of yet, as in `no explanations yet for …`."""
