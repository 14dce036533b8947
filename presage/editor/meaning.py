"""What an editor shows of a word: what a predicate is, when it is settled, what it needs; what a keyword says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from presage.checking import Findings
from presage.checking.needs import in_time
from presage.editor.document import KEYWORD, PARAMETER, PREDICATE, Document, Word
from presage.model.formulas import Atom
from presage.model.printer import show_statement
from presage.model.statements import Param, Query
from presage.model.terms import Variable
from presage.patterns.finish import NoPatterns
from presage.patterns.horizon import Horizons
from presage.patterns.listing import asked_by, listed, patterns_of
from presage.patterns.unfold import Unfolded

MOST_SHOWN = 6

KEYWORDS: Final = {
    "timeline": "`timeline discrete.` counts whole numbers, `timeline dense.` all rationals",
    "tick": "`tick 1s.`: how long one unit of time is; durations with units may then be written",
    "start": "`start 2026-01-01T00:00:00Z.`: the timestamp that is time 0",
    "reading": "`reading every.`: rules hold at every time; `reading now.`: when they are looked at",
    "input": "`input p(col: type) delay D.`: facts that come with the stream, at most D late",
    "static": "`static p(col).`: what is known before the stream and holds always",
    "horizon": "`horizon N.`: how far past now facts are derived",
    "query": "`query p(X).`: a standing query; `good` or `bad` behind it says what it means to people",
    "delay": "a fact of time t may arrive until t + delay",
    "loss": "the share of facts that never arrive",
    "rate": "how likely a given fact occurs at a time",
    "where": "which facts of the input this declaration is about",
    "once": "`once[a,b] p`: p held at some time between a and b ago",
    "historically": "`historically[a,b] p`: p held at all times between a and b ago",
    "eventually": "`eventually[a,b] p`: p will hold at some time between a and b from now",
    "always": "`always[a,b] p`: p will hold at all times between a and b from now",
    "since": "`p since[a,b] q`: q held between a and b ago, and p ever since",
    "until": "`p until[a,b] q`: q will hold between a and b from now, and p up to then",
    "yesterday": "`yesterday p`: p held one unit of time ago",
    "tomorrow": "`tomorrow p`: p will hold in one unit of time",
    "window": "`window(3) p`: p, seen in the facts of the last 3 units of time",
    "some": "`some p`: p holds at some time of the window",
    "all": "`all p`: p holds at every time of the window",
    "reset": "`reset p`: p, seen in the whole stream again",
    "exists": "`exists Y: p(X, Y) :- …`: there is a value, whichever; the rule invents it",
    "lasting": "`exists lasting Y: …`: the invented value stays the same over time",
    "not": "`not p`: p does not hold",
    "implies": "`p implies q`: q holds where p does",
    "now": "the time at which the rule is looked at",
    "inf": "no bound",
    "true": "what always holds",
}


def hover(document: Document, word: Word) -> str:
    """Markdown about a word; empty where there is nothing to say."""
    if word.kind == PREDICATE:
        return "\n\n".join(_predicate(document, word.name))
    if word.kind == PARAMETER:
        for param in document.report.program.each(Param):
            if param.name == word.name:
                return f"```presage\n{show_statement(param)}\n```"
    if word.kind == KEYWORD:
        return KEYWORDS.get(word.name, "")
    return ""


def _predicate(document: Document, name: str) -> Iterator[str]:
    known = document.report.predicates.get(name)
    if known is None:
        return
    kind = "input and derived" if known.is_input and known.kind == "derived" else known.kind
    said = f"**{name}**/{known.arity}: {kind}"
    if known.is_input:
        said += "" if known.is_declared else ", not declared"
        late = known.delay and in_time(document.report.program, known.delay)
        said += f", may arrive {late} late" if late else ", arrives at its time"
    yield said
    shown = list(document.statements_of(name))
    if shown:
        more = f"\n% and {len(shown) - MOST_SHOWN} more" if len(shown) > MOST_SHOWN else ""
        yield "```presage\n" + "\n".join(shown[:MOST_SHOWN]) + more + "\n```"
    found = document.report.findings
    if found is None or known.kind != "derived" or document.report.program.meaning is not None:
        return
    yield from _settled(found, name)
    yield from _patterns(found, name)


def _asked(found: Findings, name: str) -> Query:
    """A query for all of a predicate, in the variables of one that the program has."""
    for query in found.subject.queries:
        terms = query.atom.arguments
        if (
            query.atom.predicate == name
            and len(set(terms)) == len(terms)
            and all(isinstance(t, Variable) for t in terms)
        ):
            return Query(query.atom)
    arity = found.subject.predicates[name].arity
    return Query(Atom(name, tuple(Variable(f"X{place + 1}") for place in range(arity))))


def _settled(found: Findings, name: str) -> Iterator[str]:
    reach = Horizons(found.unfolded.with_open_times).reach(_asked(found, name))
    if reach.delay is None:
        yield "Settled: never for sure."
    elif reach.delay:
        yield f"Settled {in_time(found.subject.program, reach.delay)} after its time, when facts arrive on time."
    else:
        yield "Settled at its time, when facts arrive on time."


def _patterns(found: Findings, name: str) -> Iterator[str]:
    asked = asked_by(_asked(found, name))
    try:
        patterns = [listed(asked, each) for each in patterns_of(asked, Unfolded(found.subject))]
    except NoPatterns as problem:
        yield f"Only confirmed answers: {problem.reason}."
        return
    lines = []
    for each in patterns[:MOST_SHOWN]:
        where = f" where {', '.join(each.where)}" if each.where else ""
        fixed = "".join(f", {variable} = {value}" for variable, value in each.bindings.items())
        lines.append(f"- `{', '.join(each.premises) or 'nothing'}{where}{fixed}`")
    if len(patterns) > MOST_SHOWN:
        lines.append(f"- and {len(patterns) - MOST_SHOWN} more ways")
    if lines:
        yield f"`{asked}` needs:\n\n" + "\n".join(lines)
