"""What a run says where it would say nothing: warnings of the program, what may be slow, and why there are no answers.

All of it on standard error, so that whoever reads the lines reads lines.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presage.analysis.subject import Subject
    from presage.checking import Report
    from presage.io.facts import Fact
    from presage.model.terms import Value

FEW = 3
MANY = 10_000
"""Facts up to here are no matter, however a program is written."""


def tell_warnings(report: Report) -> None:
    """What `presage check` would warn of. Mistakes are told by whoever refuses the program."""
    from presage.errors import render

    warnings = [each for each in report.problems if each.severity != "error"]
    if warnings and report.ok:
        print(render(report.source, warnings), file=sys.stderr)


def tell_what_may_be_slow(report: Report, facts: Sequence[Fact]) -> None:
    from presage.checking.needs import slow_lines

    if report.findings is not None and len(facts) > MANY:
        for line in slow_lines(report.findings):
            print(f"note: this may be slow: {line}", file=sys.stderr)


def tell_why_nothing(subject: Subject, facts: Sequence[Fact], files: Sequence[object]) -> None:
    """A run without a single answer: what came, and what did not."""
    if not facts:
        named = ", ".join(str(path) for path in files if isinstance(path, Path))
        print(f"note: no answers: there are no facts{f' in {named}' if named else ''}", file=sys.stderr)
        return
    came = Counter(fact.predicate for fact in facts)
    below = {name for query in subject.queries for name in subject.below(query.atom.predicate)}
    wanted = sorted(name for name in below if name in subject.predicates and subject.predicates[name].is_input)
    missing = [f"`{name}`" for name in wanted if not came[name]]
    shown = ", ".join(f"{count} of `{name}`" for name, count in sorted(came.items()))
    said = f"there were {shown}"
    if missing:
        said += f", and none of {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} asked for"
    else:
        said += "; no rule made an answer of them" + _never_met(subject, facts, below)
    print(f"note: no answers: {said}", file=sys.stderr)


def _never_met(subject: Subject, facts: Sequence[Fact], below: set[str]) -> str:
    """A constant that a rule asks for and no fact has, such as `open` where facts say `Open`."""
    from presage.analysis.asked_constants import asked_constants
    from presage.model.printer import show_atom, show_term
    from presage.model.terms import Constant

    met: dict[tuple[str, int], dict[Value, None]] = {}
    for fact in facts:
        for place, value in enumerate(fact.arguments):
            met.setdefault((fact.predicate, place), {})[value] = None
    for rule, atom, place, asked in asked_constants(subject, below):
        values = met.get((atom.predicate, place))
        if values and asked.value not in values:
            have = ", ".join(show_term(Constant(each)) for each in islice(values, FEW))
            return (
                f": {subject.place(rule)} asks for {show_term(asked)} in `{show_atom(atom)}`, "
                f"and no fact has it there (they have {have}{', …' if len(values) > FEW else ''})"
            )
    return ""


def tell_what_is_only_confirmed(report: Report) -> None:
    """A note for each query without hypothetical answers."""
    from presage.checking.needs import plainly

    found = report.findings
    if found is None or found.route.engine != "interval":
        return
    for each in found.queries:
        if not each.hypothetical.possible:
            lines = ", ".join(found.subject.place(rule) for rule in each.hypothetical.rules)
            where = f" ({lines})" if lines else ""
            told = f"of {each.query.atom.predicate} only confirmed answers are told"
            print(f"note: {told}: {plainly(each.hypothetical.reason)}{where}", file=sys.stderr)
