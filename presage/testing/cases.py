"""Files of cases (`.case`), read line by line so that every message can name the line it is about.

Headings start at the left margin (`program`, `case`, `facts`, `static`, `until`, `emit`, `expect`); what belongs to
them is indented. What stands before the first `case` counts for all cases of the file; a file without `case` is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from presage.errors import nearest
from presage.testing.notation import CaseError, ExpectedLiteral, read_literal, split, without_comment

SUFFIX = ".case"
HEADINGS = ("program", "case", "facts", "static", "until", "emit", "expect")
STATUSES = ("possible", "unsupported", "confirmed", "refuted")
DETAILS = ("because", "needs", "unless", "by", "confidence")
AND_MORE = "..."
_DETAIL = re.compile(rf"(or\s+)?({'|'.join(DETAILS)})\b\s*(.*)")
_EXPECTATION = re.compile(r"(\S+):(?:\s+(.*))?")


@dataclass(frozen=True, slots=True)
class GivenFact:
    line: int
    literal: ExpectedLiteral
    arrives: str | None


@dataclass(slots=True)
class ExpectedWay:
    """What is expected of one way; only what is written down counts."""

    because: list[str] | None = None
    needs: list[str] | None = None
    unless: list[str] | None = None
    by: str | None = None
    confidence: str | None = None


@dataclass(slots=True)
class Expectation:
    """One thing expected at a time, or, where `time` is empty, throughout the run."""

    line: int
    time: str
    kind: str
    """A status, or `no`, `nothing else`, `late`, `inconsistent`."""
    literal: ExpectedLiteral | None = None
    of: str | None = None
    """For `nothing else`: the predicate it is about; all if there is none."""
    newly: bool = False
    ways: list[ExpectedWay] = field(default_factory=list)

    def __str__(self) -> str:
        time = f"{self.time}: " if self.time else ""
        if self.kind == "nothing else":
            return f"{time}nothing else{f' of {self.of}' if self.of else ''}"
        newly = "newly " if self.newly else ""
        return f"{time}{newly}{self.kind}{'' if self.literal is None else f' {self.literal}'}"


@dataclass(slots=True)
class TestCase:
    file: Path
    line: int
    name: str
    program: Path | None = None
    facts: list[GivenFact] = field(default_factory=list)
    fact_files: list[Path] = field(default_factory=list)
    static_files: list[Path] = field(default_factory=list)
    until: tuple[int, str] | None = None
    emit: str | None = None
    expectations: list[Expectation] = field(default_factory=list)


def find_files(places: list[Path]) -> list[Path]:
    """The case files at these places, each once; folders are searched to the bottom."""
    found: dict[Path, None] = {}
    for place in places:
        if place.is_dir():
            found.update(dict.fromkeys(sorted(place.rglob(f"*{SUFFIX}"))))
        elif not place.exists():
            raise CaseError(f"{place}: there is no such file or folder")
        elif place.suffix != SUFFIX:
            raise CaseError(f"{place}: cases stand in files that end with `{SUFFIX}`")
        else:
            found[place] = None
    if not found:
        raise CaseError(
            f"{', '.join(map(str, places))}: there are no files that end with `{SUFFIX}`\n"
            "  hint: write one next to the program:\n"
            "    facts\n        temp(wt25, high)@0\n    expect\n        0: possible malf(wt25)@0"
        )
    return list(found)


def read_cases(path: Path) -> list[TestCase]:
    """The cases of a file; raises with everything that is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as found:
        raise CaseError(f"{path}: cannot be read ({found.strerror or found})") from None
    except UnicodeDecodeError:
        raise CaseError(f"{path}: the file is not UTF-8 text") from None
    return _Reader(path).read(text)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.cases: list[TestCase] = []
        self.common = TestCase(path, 1, path.stem)
        self.case = self.common
        self.section = ""
        self.problems: list[str] = []

    def read(self, text: str) -> list[TestCase]:
        for number, written in enumerate(text.splitlines(), 1):
            line = without_comment(written)
            if not line.strip():
                continue
            try:
                if line[0].isspace():
                    self._content(number, line.strip())
                else:
                    self._heading(number, line)
            except CaseError as found:
                self.problems.append(str(found))
        cases = self.cases or [self.common]
        if self.cases and self.common.expectations:
            self._wrong(
                self.common.expectations[0].line, "an expectation stands before the first `case`: move it below"
            )
        for case in cases:
            if not case.expectations:
                self._wrong(case.line, f"the case `{case.name}` expects nothing: it needs an `expect` section")
        if self.problems:
            raise CaseError("\n".join(self.problems))
        return cases

    def _wrong(self, line: int, message: str) -> None:
        self.problems.append(f"{self.path}:{line}: {message}")

    def _heading(self, line: int, text: str) -> None:
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        where = f"{self.path}:{line}"
        self.section = word
        match word:
            case "case":
                if not rest:
                    raise CaseError(f"{where}: a case has a name: `case the third reading comes late`")
                if any(each.name == rest for each in self.cases):
                    raise CaseError(f"{where}: there is a case `{rest}` already")
                common = self.common
                self.case = replace(
                    common,
                    line=line,
                    name=rest,
                    facts=list(common.facts),
                    fact_files=list(common.fact_files),
                    static_files=list(common.static_files),
                    expectations=[],
                )
                self.cases.append(self.case)
            case "program":
                self.case.program = self._file(rest, where)
            case "facts" | "static" if rest.startswith("from ") or not rest:
                files = self.case.fact_files if word == "facts" else self.case.static_files
                files.extend(self._file(name, where) for name in split(rest.removeprefix("from "), ","))
            case "until":
                self.case.until = (line, rest)
            case "emit":
                if rest not in ("changes", "confirmed"):
                    raise CaseError(f"{where}: `emit` is `changes` or `confirmed`, not `{rest}`")
                self.case.emit = rest
            case "expect" if not rest:
                pass
            case _:
                self.section = ""
                raise CaseError(f"{where}: {_why_no_heading(word, text)}")

    def _file(self, name: str, where: str) -> Path:
        path = self.path.parent / name.strip('"')
        if not name or not path.is_file():
            raise CaseError(f"{where}: there is no file {path} (names are relative to the case file)")
        return path

    def _content(self, line: int, text: str) -> None:
        where = f"{self.path}:{line}"
        if self.section in ("facts", "static"):
            for part in split(text, ","):
                literal, _, arrives = part.partition(" arrives ")
                self.case.facts.append(GivenFact(line, read_literal(literal, where), arrives.strip() or None))
        elif self.section == "expect":
            self._expected(line, text, where)
        else:
            raise CaseError(
                f"{where}: this line belongs to no section: facts stand below `facts`, answers below `expect`"
            )

    def _expected(self, line: int, text: str, where: str) -> None:
        if _DETAIL.match(text):
            if not self.case.expectations or self.case.expectations[-1].kind not in STATUSES:
                raise CaseError(f"{where}: `{text.split()[0]}` goes with the answer in the line above it")
            self._details(self.case.expectations[-1], split(text, ";"), where)
            return
        if text.startswith("nothing else"):
            self.case.expectations.append(self._nothing_else(line, "", text, where))
            return
        found = _EXPECTATION.fullmatch(text)
        if found is None or not found[2]:
            raise CaseError(
                f"{where}: `{text}` is no expectation: write the time and what stands then, such as "
                "`3: confirmed malf(wt25)@0`"
            )
        time, said = found[1], found[2]
        if said.startswith("nothing else"):
            self.case.expectations.append(self._nothing_else(line, time, said, where))
            return
        first, *details = split(said, ";")
        words = first.split(None, 2 if first.startswith("newly ") else 1)
        newly = words[0] == "newly"
        kind, *rest = words[1:] if newly else words
        if kind == "inconsistent" and not rest and not newly:
            self.case.expectations.append(Expectation(line, time, kind))
            return
        if kind not in (*STATUSES, "no", "late") or not rest:
            near = nearest(kind, (*STATUSES, "no", "late", "nothing else", "inconsistent"))
            known = (
                f"did you mean `{near}`?" if near and near != kind else f"it is one of {', '.join(STATUSES)}, no, late"
            )
            wrong = f"`{kind}` is not a status; {known}" if kind not in STATUSES else f"`{kind}` of what?"
            raise CaseError(f"{where}: {wrong}")
        expected = Expectation(line, time, kind, read_literal(rest[0], where), newly=newly)
        if kind == "no" and newly:
            raise CaseError(f"{where}: `newly` goes with a status: {', '.join(STATUSES)}")
        self._details(expected, details, where)
        self.case.expectations.append(expected)

    def _nothing_else(self, line: int, time: str, text: str, where: str) -> Expectation:
        rest = text.removeprefix("nothing else").split()
        if rest and (len(rest) != 2 or rest[0] != "of"):
            raise CaseError(f"{where}: write `nothing else`, or `nothing else of malf`")
        return Expectation(line, time, "nothing else", of=rest[1] if rest else None)

    def _details(self, expected: Expectation, parts: list[str], where: str) -> None:
        for part in parts:
            found = _DETAIL.fullmatch(part)
            if found is None or not found[3] or expected.kind not in STATUSES:
                raise CaseError(f"{where}: `{part}` is not one of {', '.join(DETAILS)} with what it names")
            if found[1] or not expected.ways:
                expected.ways.append(ExpectedWay())
            way, word, rest = expected.ways[-1], found[2], found[3]
            if getattr(way, word) is not None:
                raise CaseError(f"{where}: `{word}` is said twice; another way begins with `or {word}`")
            if word == "confidence" and not re.fullmatch(r"[01]|[01]?\.\d{1,15}", rest):
                raise CaseError(f"{where}: `{rest}` is not a confidence: a number between 0 and 1, such as 0.25")
            if word in ("by", "confidence"):
                setattr(way, word, rest)
                continue
            if word == "needs" and (due := re.fullmatch(r"(.*?)\s+by\s+(\S+)", rest)):
                rest, way.by = due[1], due[2]
            listed = split(rest, ",")
            if word != "unless":
                for each in listed:
                    if each not in (AND_MORE, "nothing"):
                        read_literal(each, where)
            setattr(way, word, [each for each in listed if each != "nothing"])


def _why_no_heading(word: str, text: str) -> str:
    if word in HEADINGS:
        return f"`{word}` stands alone in its line, or as `{word} from FILE`; what belongs to it is indented below"
    if re.match(r"\S+:( |$)|\w+\(", text):
        return "indent this line: only headings start at the margin"
    near = nearest(word, HEADINGS)
    return f"`{word}` is no heading; " + (f"did you mean `{near}`?" if near else f"there are {', '.join(HEADINGS)}")


def all_cases(places: list[Path]) -> Iterator[TestCase]:
    """All cases at these places; what is wrong in any file is told before anything runs."""
    problems, cases = [], []
    for path in find_files(places):
        try:
            cases.extend(read_cases(path))
        except CaseError as found:
            problems.append(str(found))
    if problems:
        raise CaseError("\n".join(problems))
    return iter(cases)
