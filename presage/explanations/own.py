"""Why an answer stands as it does, for programs whose language brings its own meaning: what the run says of it."""

from __future__ import annotations

from collections.abc import Sequence

from presage.answers import Answer
from presage.checking import Report
from presage.errors import PresageError, Span
from presage.explanations.outline import Outline, Sign
from presage.explanations.result import Explanation
from presage.io.facts import Fact
from presage.model.formulas import Atom
from presage.model.printer import show_number
from presage.model.terms import Number
from presage.run.reasoner import Reasoner
from presage.run.schedule import steps

_SIGNS = {"confirmed": Sign.CONFIRMED, "possible": Sign.POSSIBLE, "refuted": Sign.REFUTED}


def _written(report: Report, predicate: str) -> list[Span]:
    """What says in the program when an answer is so: its rules or, where its query does, that."""
    rules = [
        rule.span
        for rule in report.program.rules
        if any(isinstance(atom, Atom) and atom.predicate == predicate for atom in rule.head_atoms)
    ]
    queries = [query.span for query in report.program.queries if query.atom.predicate == predicate]
    return [span for span in dict.fromkeys(rules or queries) if span.start >= 0]


def explain_by_run(
    report: Report, facts: Sequence[Fact], statics: Sequence[Fact], text: str, at: Number
) -> Explanation:
    """The latest line about an answer, as of a time, with the line of the text that asks for it."""
    reasoner = Reasoner(report.program, report=report)
    reasoner.add_statics(statics)
    wanted = "".join(text.split())
    found: Answer | None = None
    before: Answer | None = None
    """How it stood when it was last possible."""
    for answers in steps(reasoner, [fact for fact in facts if fact.arrival <= at], at):
        for answer in answers:
            if "".join(answer.answer.split()) == wanted:
                before = answer if answer.status == "possible" else before
                found = answer
    if found is None:
        raise PresageError(f"`{text}`: nothing was said of it by {at}; `presage run` shows all that was")
    line = found.to_json()
    reasons = [str(line["verdict"])] if "verdict" in line else []
    for span in _written(report, found.predicate):
        number = report.source.place(span.start)[0]
        line.setdefault("line", number)
        reasons.append(f"line {number}, {' '.join(report.source.text[span.start : span.end].split())}")
    reason = ", ".join(reasons)
    below = [Outline(text, "there", Sign.THERE) for text in found.because]
    below += [Outline(text, "missing", Sign.MISSING, until=found.decided_by) for text in found.needs]
    below += [Outline(f"not {text}", "the bounds of what is missing") for text in found.unless]
    if found.status == "refuted" and before is not None and before.needs:
        line["was"] = {name: before.to_json()[name] for name in ("now", "because", "needs", "unless", "decided_by")}
        last = f"was needed when it was last possible, at {show_number(before.now)}"
        below += [Outline(text, last, Sign.MISSING) for text in before.needs]
        below += [Outline(f"not {text}", "the bounds of what was needed") for text in before.unless]
    sign = _SIGNS.get(found.status, Sign.STEP)
    return Explanation(line, Outline(f"{found.answer} is {found.status}", reason, sign, below=tuple(below)), at)
