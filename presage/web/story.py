"""What a run is about, in words: its title, the prose beside the program, and what each query asks.

The words are the author's own: the page of prose in the program's folder, and comments in the program. Where there are
none, a query is at least said to be one, with what its variables range over and when it is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from presage.analysis.subject import Subject
from presage.answers import shown_name
from presage.checking.needs import in_time, latest
from presage.colours import tone_of
from presage.errors import Source
from presage.model.formulas import atoms
from presage.model.printer import show_query
from presage.model.program import Program
from presage.model.statements import Query
from presage.model.terms import Number, Variable
from presage.parser.lexer import tokenize

PROSE = "README.md"
LONGEST_PROSE = 200_000


@dataclass(frozen=True, slots=True)
class Story:
    title: str = ""
    prose: str = ""
    """Markdown."""


def story_of(program: Path, text: str) -> Story:
    """The heading and the prose of the page in a program's folder; otherwise what the program begins with."""
    page = program.parent / PROSE
    try:
        prose = page.read_text(encoding="utf-8")[:LONGEST_PROSE] if page.is_file() else ""
    except (OSError, UnicodeError):
        prose = ""
    first = prose.partition("\n")[0]
    if first.startswith("# "):
        return Story(first[2:].strip(), prose.partition("\n")[2])
    title = program.stem.replace("_", " ").replace("-", " ")
    return Story(title[:1].upper() + title[1:], _opening(text))


def _opening(text: str) -> str:
    """The comments a program begins with."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.strip().startswith(("%", "#")):
            break
        found.append(line.strip().lstrip("%#").strip())
    return "\n".join(found)


def queries_in_words(subject: Subject, delays: dict[Query, Number | None]) -> list[dict[str, str]]:
    """Each query as it is written, what it means, and whether that is good or bad."""
    late = latest(subject)
    return [
        {
            "query": show_query(query).replace(query.atom.predicate, shown_name(query.atom.predicate), 1),
            "means": _means(subject.program, query, delays.get(query), late),
            "tone": tone_of(query),
        }
        for query in subject.queries
    ]


def _means(program: Program, query: Query, delay: Number | None, late: Number) -> str:
    words = _comment_at(program.source, query.span.start)
    if not words:
        name = query.atom.predicate
        for rule in program.rules:
            if any(atom.predicate == name for head in rule.head_atoms for atom in atoms(head)):
                words = _comment_at(program.source, rule.span.start)
                break
    free = [term.name for term in query.atom.arguments if isinstance(term, Variable) and not term.is_anonymous]
    told = [words] if words else []
    if not words:
        each = f", for each {' and '.join(dict.fromkeys(free))}" if free else ""
        told.append(f"Asked at every time{each}.")
    if delay is not None:
        told.append(_settled(program, delay, late))
    return " ".join(told)


def _settled(program: Program, delay: Number, late: Number) -> str:
    first = "Settled at once" if delay == 0 else f"Settled at most {in_time(program, delay)} after its time"
    return f"{first}, and {in_time(program, late)} later where facts may be late." if late else f"{first}."


def _comment_at(source: Source, start: int) -> str:
    """The comment beside or directly above a place of the text."""
    if start < 0:
        return ""
    line, _ = source.place(start)
    by_line: dict[int, tuple[str, bool]] = {}
    for comment in tokenize(source).comments:
        if source.file(comment.start) != source.file(start):
            continue
        place, column = source.place(comment.start)
        by_line[place] = (comment.text.lstrip("%#").strip(), not source.line_at(comment.start)[: column - 1].strip())
    beside, alone = by_line.get(line, ("", True))
    if beside and not alone:
        return _sentence(beside)
    above: list[str] = []
    while line - 1 in by_line and by_line[line - 1][1]:
        line -= 1
        above.insert(0, by_line[line][0])
    return _sentence(" ".join(filter(None, above)))


def _sentence(text: str) -> str:
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":")) else ".")
