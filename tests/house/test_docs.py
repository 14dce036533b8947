"""The documentation is executed: what it shows as a program is one, what it calls wrong is refused.

Fences have a meaning. `presage` is an accepted program, `presage-error` a refused one,
`presage-formula` a formula, `python` is run with one namespace per page, `console` shows commands
with their output, `case` blocks are cases that are met, and a `json` block right after a `presage` block
is (part of) the report on it. Other fences are prose. A block with a title is a file of that name. What a
page says is done from top to bottom in one folder, with copies of the examples, as `presage examples --all`
makes one. A command that fails on purpose says so behind it: `# exits with 1`.

`python -m tests.house.test_docs --update` writes down what commands print now; read the difference.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import presage
from docs import cli_reference
from presage.checking import check_text
from presage.cli import main
from presage.errors import CODES, render
from presage.layout import format_text
from presage.model.printer import show_program, show_question
from presage.parser import parse, parse_question
from presage.syntax import COLUMN_TYPES, KEYWORDS
from tests.conftest import skip_without_spark

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"
EXAMPLES = ROOT / "presage" / "examples"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(EXAMPLES.glob("*/README.md"))]

KINDS_OF_PRESAGE = ("presage", "presage-formula", "presage-error")


@dataclass(frozen=True, slots=True)
class Block:
    page: Path
    line: int
    """Where the block's first line of content stands."""
    kind: str
    title: str
    """The file that the block is, if it is one: `title="turbines.psg"` behind the fence's kind."""
    text: str
    follows: Block | None
    """The block before, if only blank lines lie between."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


_FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*([^\s`]*)([^`]*)$")
_TITLE = re.compile(r'title="([^"]+)"')


def blocks_of(page: Path) -> Iterator[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    previous: Block | None = None
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            if lines[at].strip():
                previous = None
            at += 1
            continue
        indent, fence, kind = len(opening[1]), opening[2], opening[3]
        named = _TITLE.search(opening[4])
        first = at + 1
        at = first
        while at < len(lines) and not re.fullmatch(rf" *{fence[0]}{{{len(fence)},}}\s*", lines[at]):
            at += 1
        assert at < len(lines), f"{page}:{first}: the block is not closed"
        content = (line[indent:] if not line[:indent].strip() else line for line in lines[first:at])
        text = "".join(f"{line}\n" for line in content)
        previous = Block(page, first + 1, kind, named[1] if named else "", text, previous)
        yield previous
        at += 1


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def of_kind(kind: str) -> Any:
    found = [block for block in BLOCKS if block.kind == kind]
    return pytest.mark.parametrize("block", found, ids=str)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the reader of a page is: the examples lie side by side."""
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@of_kind("presage")
def test_programs_are_accepted(block: Block) -> None:
    report = check_text(block.text, str(block))
    assert report.ok, render(report.source, report.errors)


@of_kind("presage")
def test_programs_survive_printing(block: Block) -> None:
    program = parse(block.text, str(block))
    assert parse(show_program(program)) == program
    formatted = format_text(block.text)
    assert parse(formatted) == program
    assert format_text(formatted) == formatted


@of_kind("presage-formula")
def test_formulas_are_accepted(block: Block) -> None:
    question = parse_question(block.text)
    assert parse_question(show_question(question)) == question


@of_kind("presage-error")
def test_errors_are_refused(block: Block) -> None:
    report = check_text(block.text, str(block))
    assert report.errors, "the program is accepted"


@of_kind("presage-error")
def test_errors_are_the_ones_named(block: Block) -> None:
    """Where the sentence after the block names codes in parentheses, one of them is reported."""
    lines = block.page.read_text(encoding="utf-8").splitlines()
    after = lines[block.line + block.text.count("\n") :]
    named = re.match(r"\s*Refused \((\w\d{3})\)", " ".join(after[:3]))
    if named:
        report = check_text(block.text, str(block))
        assert named[1] in {found.code for found in report.errors}, render(report.source, report.problems)


@pytest.mark.parametrize(
    "block",
    [each for each in BLOCKS if each.kind == "json" and each.follows and each.follows.kind == "presage"],
    ids=str,
)
def test_reports_are_as_shown(block: Block) -> None:
    assert block.follows is not None
    shown = json.loads(block.text)
    report = check_text(block.follows.text).to_json()
    assert {name: report.get(name, "no such field") for name in shown} == shown


def pages_to_follow() -> Iterator[Any]:
    """The pages with something to do; those that start Spark run where the other tests of Spark do, one at a time."""
    for page in PAGES:
        done = [
            block for block in BLOCKS if block.page == page and (block.kind in ("python", "console") or block.title)
        ]
        spark = any("presage.spark" in block.text for block in done)
        if done:
            name = str(page.relative_to(ROOT))
            yield pytest.param(page, spark, id=name, marks=[pytest.mark.xdist_group("spark")] if spark else [])


@pytest.mark.parametrize(("page", "spark"), list(pages_to_follow()))
def test_pages_can_be_followed(page: Path, spark: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who does what a page says, from top to bottom in one folder, sees what it shows."""
    if spark:
        skip_without_spark()
    monkeypatch.chdir(folder)
    for block, came_out in followed(page):
        assert came_out == block.text, (
            f"{block}: if this is right, `python -m tests.house.test_docs --update` writes it down"
        )


def followed(page: Path) -> Iterator[tuple[Block, str]]:
    """Does what a page says, in the present folder; gives its blocks of commands, each as it looks when typed now."""
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    for block in BLOCKS:
        if block.page != page:
            continue
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.kind == "python":
            # Empty lines in front, so that tracebacks name the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            exec(code, namespace)
        elif block.kind == "case":
            assert block.title, f"{block}: a title names the file"
            status, said = typed(f"presage test {shlex.quote(block.title)}")
            assert status == 0, f"{block}: {said}"
        elif block.kind == "console":
            yield block, "".join(_typed_again(block))


def _typed_again(block: Block) -> Iterator[str]:
    """The commands of a block, each with what it prints now if the block shows what it prints."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        status, said = typed(command)
        fails = re.search(r"# exits with (\d)$", command)
        assert status == (int(fails[1]) if fails else 0), f"{block}: {command}\n{said}"
        around = shown[len(shown.rstrip()) :] or "\n"
        # Spaces at the end of a line are nothing anybody sees.
        same = said.strip() == shown.strip()
        yield f"$ {command}\n" + (shown if same or not shown.strip() else said.strip() + around)


def typed(command: str) -> tuple[int, str]:
    """A command's status, and what it prints: its answer or, if there is none, its message."""
    words = shlex.split(command, comments=True)
    assert words[0] == "presage", command
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words[1:])
    return status, out.getvalue() or err.getvalue()


def update() -> None:
    """Writes down what the commands of all pages print now; the difference is for you to read."""
    for page in dict.fromkeys(block.page for block in BLOCKS if block.kind == "console"):
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            shutil.copytree(EXAMPLES, place, dirs_exist_ok=True)
            try:
                changed = [(block, now) for block, now in followed(page) if now != block.text]
            except AssertionError as wrong:
                print(f"{page.relative_to(ROOT)} cannot be followed: {wrong}")
                continue
        lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
        for block, now in reversed(changed):
            lines[block.line - 1 : block.line - 1 + block.text.count("\n")] = [now]
            print(f"{block} is written anew")
        page.write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_fences_are_known(page: Path) -> None:
    """A misspelled fence would leave its block untested."""
    for block in BLOCKS:
        if block.page == page and block.kind.lower().startswith("pres"):
            assert block.kind in KINDS_OF_PRESAGE, f"{block}: `{block.kind}`"


_ROW = re.compile(r"^\| ([A-Z]\d{3}) \| (.*?) \| (.*) \|$", re.MULTILINE)


def test_messages_lists_every_code() -> None:
    rows = _ROW.findall((REFERENCE / "messages.md").read_text(encoding="utf-8"))
    assert [code for code, _, _ in rows] == list(CODES)
    assert {code: meaning for code, meaning, _ in rows} == CODES
    assert all(remedy.strip() for _, _, remedy in rows)


def test_messages_are_grouped_by_letter() -> None:
    text = (REFERENCE / "messages.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        assert {code[0] for code, _, _ in _ROW.findall(section)} == {section[0]}


def test_language_mentions_every_word() -> None:
    text = (REFERENCE / "language.md").read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    in_code = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", prose))))
    assert KEYWORDS | set(COLUMN_TYPES) <= in_code


def test_language_refers_to_existing_codes() -> None:
    for page in REFERENCE.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert set(re.findall(r"\b[PDNSTEHA]\d{3}\b", text)) <= set(CODES), page


def test_links_inside_the_docs_lead_somewhere() -> None:
    for page in PAGES:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            other = (page.parent / name).resolve() if name else page
            assert other.exists(), f"{page}: {target}"
            if anchor and other.suffix == ".md":
                assert anchor in _anchors(other), f"{page}: {target}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_page_of_commands_is_up_to_date() -> None:
    written = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    assert written == cli_reference.reference(), "run `python docs/cli_reference.py`"


def test_the_page_of_python_names_everything_public() -> None:
    text = (REFERENCE / "api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: presage\.(\w+)$", text, flags=re.MULTILINE)) == set(presage.__all__)


def test_every_page_is_on_the_site() -> None:
    """A page that the navigation does not name is one nobody finds."""
    named = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    examples = {f"gallery/{path.relative_to(EXAMPLES).as_posix()}" for path in EXAMPLES.glob("*/README.md")}
    assert named == written | examples


def test_the_site_can_be_built(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: make docs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


def test_the_recipe_for_a_construct_names_the_files_that_know_it() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = guide.partition("## Adding a construct")[2].partition("`tests/house/test_docs.py` holds")[0]
    named = set(re.findall(r"`(presage/[a-z_/]+\.py)`", recipe))
    package = ROOT / "presage"
    ours = [path for path in package.rglob("*.py") if "languages" not in path.relative_to(package).parts]
    knows = re.compile(r"\bBeside\b[,(:]|\b(NEIGHBOURS|resolve_neighbours|yesterday)\b")
    knowing = {str(path.relative_to(ROOT)) for path in ours if knows.search(path.read_text(encoding="utf-8"))}
    assert named == knowing and len(knowing) <= 8


if __name__ == "__main__" and "--update" in sys.argv:
    update()
