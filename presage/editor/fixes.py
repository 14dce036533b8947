"""Quick fixes: what a message's hint says, done.

A fix is offered only if the message is gone when it has been done, which is tried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from presage.checking import check_text
from presage.editor.document import Document
from presage.errors import Diagnostic, Span
from presage.syntax import FOREIGN_SIGNS

_MEANT = re.compile(r"did you mean `([^`]+)`\?")
_WRITE = re.compile(r"write (?:the plain minus sign )?`([^`]+)`")
_QUOTED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Fix:
    title: str
    span: Span
    text: str


def fixes(document: Document, problem: Diagnostic) -> Iterator[Fix]:
    """What would put a problem of the program's own text right."""
    own = document.source.own_text
    if not 0 <= problem.span.start <= len(own):
        return
    seen: set[Fix] = set()
    before = len(document.report.errors)
    for fix in _proposed(document, problem):
        if fix in seen or fix.span.end > len(own):
            continue
        seen.add(fix)
        changed = own[: fix.span.start] + fix.text + own[fix.span.end :]
        after = check_text(changed, str(document.path), folder=document.path.parent)
        same = [each for each in after.problems if (each.code, each.message) == (problem.code, problem.message)]
        were = [each for each in document.problems if (each.code, each.message) == (problem.code, problem.message)]
        if len(same) < len(were) and len(after.errors) <= before:
            yield fix


def _proposed(document: Document, problem: Diagnostic) -> Iterator[Fix]:
    text, span, hint = document.source.text, problem.span, problem.hint
    written = text[span.start : span.end]
    for meant in _MEANT.findall(hint):
        for wrong in (*_QUOTED.findall(problem.message), *([written] if written.isidentifier() else [])):
            place = text.find(wrong, span.start, max(span.end, span.start + len(wrong)))
            if place >= 0 and wrong:
                yield Fix(f"Write `{meant}`", Span(place, place + len(wrong)), meant)
    if problem.code == "P202":
        yield Fix("Write `.`", Span(span.end, span.end), ".")
    if problem.code == "P203":
        yield Fix(f"Remove `{written}`", span, "")
    if problem.code == "P103" and written in FOREIGN_SIGNS:
        yield Fix(f"Write `{FOREIGN_SIGNS[written]}`", span, FOREIGN_SIGNS[written])
    if problem.code in ("P103", "P105"):
        found = _WRITE.match(hint)
        if found is not None:
            yield Fix(f"Write `{found[1]}`", span, found[1])
            # The message marks the first sign of a number such as `.5` alone.
            longer = _QUOTED.match(problem.message)
            if longer is not None and text.startswith(longer[1], span.start):
                yield Fix(f"Write `{found[1]}`", Span(span.start, span.start + len(longer[1])), found[1])
        if hint.startswith('write "'):
            yield Fix("Write double quotes", span, hint.removeprefix("write "))
        if hint.startswith("comments start with"):
            yield Fix("Write `%`", span, "%")
    if problem.code in ("T101", "D107"):
        for statement in _QUOTED.findall(hint):
            if statement.endswith("."):
                yield Fix(f"Begin with `{statement}`", Span(0, 0), f"{statement}\n")
    if "declare it: `input" in hint:
        for name in _QUOTED.findall(problem.message):
            known = document.report.predicates.get(name)
            if known is not None:
                columns = ", ".join(f"c{place + 1}" for place in range(known.arity))
                declared = f"input {name}({columns})." if columns else f"input {name}."
                yield Fix(f"Begin with `{declared}`", Span(0, 0), f"{declared}\n")
