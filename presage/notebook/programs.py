"""Programs and check reports: the text with its words in colour and its mistakes underlined, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from presage.checking import Report, check_program
from presage.checking.needs import needs
from presage.checking.text import PREDICATE_COLUMNS, QUERY_COLUMNS, predicate_rows, properties, query_rows
from presage.checking.verdicts import reasons
from presage.errors import Diagnostic, Source
from presage.model.program import Program
from presage.notebook.html import piece, status, table, text, whole
from presage.parser.lexer import tokenize
from presage.syntax import KEYWORDS

MOST_LINES = 300
_LOOKS = {"variable": "variable", **dict.fromkeys(("number", "duration", "timestamp", "string"), "constant")}


def program_html(program: Program) -> str:
    """A program, and the problems it has."""
    report = check_program(program)
    code = _code(report.source, report.problems)
    if not program.source.text:
        code = _code(Source.of(str(program)), ())  # made in Python: nobody wrote a text
    return whole(piece("p", text(report.source.name), "quiet"), code, _problems(report))


def mistakes_html(source: Source, problems: Sequence[Diagnostic]) -> str:
    """A text that is no program yet, with all that is wrong."""
    return whole(_code(source, problems), _told(source, problems))


def report_html(report: Report) -> str:
    parts = [piece("p", piece("strong", text(report.source.name))), _problems(report)]
    found = report.findings
    if found is not None:
        parts.append(table("", ("", ""), ([text(name), "<br>".join(map(text, said))] for name, said in needs(report))))
    if report.predicates:
        parts.append(table("Predicates", PREDICATE_COLUMNS, (_named(row) for row in predicate_rows(report))))
    if found is not None:
        parts.append(table("Queries", QUERY_COLUMNS, (_named(row) for row in query_rows(found))))
        why = reasons(found)
        rows = (
            [text(name.replace("_", " ")), text(said), "<br>".join(map(text, why.get(name, ())))]
            for name, said in properties(found)
        )
        parts.append(table("Properties", ("property", "", "because"), rows))
    return whole(*parts, _code(report.source, report.problems, folded=True))


def _named(row: Sequence[str]) -> list[str]:
    return [piece("span", text(row[0]), "mono"), *map(text, row[1:])]


def _problems(report: Report) -> str:
    return _told(report.source, report.problems)


def _told(source: Source, problems: Sequence[Diagnostic]) -> str:
    if not problems:
        return ""
    rows = []
    for each in problems:
        place = "" if each.span.start < 0 else _place(source, each.span.start)
        hint = piece("div", f"hint: {text(each.hint)}", "quiet") if each.hint else ""
        rows.append([status(each.severity), text(place), text(each.message) + hint, text(each.code)])
    return table("Problems", ("", "where", "what", "code"), rows)


def _place(source: Source, offset: int) -> str:
    line, column = source.place(offset)
    file = source.file(offset)
    return f"line {line}, column {column}" + ("" if file == source.name else f" of {file}")


def _code(source: Source, problems: Sequence[Diagnostic], folded: bool = False) -> str:
    """The text with line numbers; what a problem is about is underlined."""
    lines = list(_lines(source, problems))
    shown, width = lines[:MOST_LINES], len(str(len(lines)))
    numbered = "\n".join(
        f'<span class="number-of-line">{number:>{width}}</span>  {line}' for number, line in enumerate(shown, 1)
    )
    code = piece("pre", numbered)
    if len(lines) > MOST_LINES:
        code += piece("p", f"and {len(lines) - MOST_LINES:,} more lines", "quiet")
    return f"<details><summary>the program</summary>{code}</details>" if folded else code


def _lines(source: Source, problems: Sequence[Diagnostic]) -> Iterator[str]:
    """The lines of a text as HTML. Styles are worked out by character, since problems may lie across words."""
    content = source.own_text.rstrip("\n")
    looks = [""] * (len(content) + 1)
    found = tokenize(Source.of(content, source.name))
    for token in found.tokens:
        look = "keyword" if token.kind in KEYWORDS else _LOOKS.get(token.kind, "")
        looks[token.start : token.end] = [look] * (min(token.end, len(content)) - token.start)
    for comment in found.comments:
        looks[comment.start : comment.end] = ["comment"] * (comment.end - comment.start)
    for each in problems:
        for place in range(max(0, each.span.start), min(each.span.end, len(content))):
            looks[place] = f"{looks[place]} wrong".strip()
    start = 0
    for line in content.split("\n"):
        yield _styled(line, looks[start : start + len(line)])
        start += len(line) + 1


def _styled(line: str, looks: Sequence[str]) -> str:
    parts: list[str] = []
    start = 0
    for place in range(1, len(line) + 1):
        if place == len(line) or looks[place] != looks[start]:
            inside = text(line[start:place])
            parts.append(piece("span", inside, looks[start]) if looks[start] else inside)
            start = place
    return "".join(parts)
