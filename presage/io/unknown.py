"""Facts of predicates, and columns, that a program does not name: refused, or passed over and counted.

They are refused unless somebody says otherwise: a misspelled name would change the answers unnoticed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

IGNORE, REFUSE = "ignore", "refuse"
HINT = "; --unknown ignore passes over what the program does not name"
_MOST_NAMED = 5


@dataclass(slots=True)
class Unknown:
    """What a command does about what its program does not name."""

    ignored: bool = False
    facts: Counter[str] = field(default_factory=Counter)
    """How many facts were passed over, by predicate."""
    columns: Counter[str] = field(default_factory=Counter)
    """In how many files a column was passed over, by predicate and name."""

    skipped: dict[str, list[str]] = field(default_factory=dict)
    """What is wrong with rows that were skipped, by file."""

    @property
    def told(self) -> str:
        """What was passed over, in words; empty where nothing was."""
        said = []
        if self.facts:
            count = self.facts.total()
            said.append(f"{count} {'fact' if count == 1 else 'facts'} of {_listed(self.facts)}")
        if self.columns:
            count = self.columns.total()
            said.append(f"{count} {'column' if count == 1 else 'columns'}, {_listed(self.columns)}")
        return f"passed over, since the program does not name them: {' and '.join(said)}" if said else ""


def _listed(names: Counter[str]) -> str:
    shown = [f"`{name}`" for name in sorted(names)[:_MOST_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
