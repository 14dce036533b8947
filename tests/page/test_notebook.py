"""Presage in a real IPython: what objects show of themselves, the cell magic, the documentation's cells, and the
example notebook in a kernel of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import presage
from presage.answers import Answer
from presage.notebook.html import SIGNS
from presage.notebook.magic import Mistake
from tests.conftest import ARTEFACTS

pytest.importorskip("IPython", reason="IPython is not installed: pip install presage-streams[notebook]")
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs/how-to/notebook.md"
NOTEBOOK = ROOT / "docs/notebooks/turbines.ipynb"
TURBINES = (ROOT / "examples/turbines/turbines.psg").read_text()
ODD = "<script>alert(1)</script>"
VOID = ("br", "meter", "hr")


class Read(HTMLParser):
    """HTML as a browser would read it: the tags, which must be closed, and the text outside of styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.classes: set[str] = set()
        self.text = ""
        self.feed(html)
        assert not self.open, f"{self.open} are not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.classes |= {word for name, value in attrs if name == "class" for word in (value or "").split()}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def shown(thing: Any) -> Read:
    html = thing._repr_html_()
    read = Read(html)
    assert "script" not in read.tags and "http" not in html.replace(ODD, ""), "an output is self-contained"
    return read


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.chdir(ROOT)
    made = InteractiveShell()
    made.run_line_magic("load_ext", "presage")
    yield made
    made.reset(new_session=False)


def cell(shell: InteractiveShell, text: str) -> Any:
    """Runs a cell as a notebook does and gives its value. No cell ends in a traceback."""
    with capture_output() as captured:
        done = shell.run_cell(text, store_history=True)
    assert done.success, captured.stdout
    assert "Traceback" not in captured.stdout + captured.stderr
    return done.result


# Objects.


def test_an_open_answer_says_what_it_needs_and_until_when() -> None:
    reasoner = presage.Reasoner(presage.parse(TURBINES))
    (answer,) = reasoner.push([("temp", (ODD, "high"), 0)], now=0)
    read = shown(answer)
    assert {"possible", "status"} <= read.classes and SIGNS["possible"] in read.text
    assert f'temp("{ODD}", high)@2' in read.text and "due" in read.text
    assert "1 possible" in read.text


def test_every_status_has_a_shape_of_its_own() -> None:
    statuses = ("confirmed", "possible", "unsupported", "refuted")
    assert len({SIGNS[each] for each in statuses}) == 4
    answers = [Answer(1, status, "p", ("a",), {}, time=1, confidence=0.25) for status in statuses]
    for status, answer in zip(statuses, answers, strict=True):
        read = shown(answer)
        assert SIGNS[status] in read.text and status in read.classes and "0.25" in read.text


def test_several_ways_have_a_row_each_and_long_lists_fold() -> None:
    way = {"because": ("p(a)@0",), "needs": ("q(a)@2",), "unless": (), "decided_by": 2, "confidence": None}
    many = tuple(f"p(a)@{time}" for time in range(0, 60, 2))
    read = shown(
        Answer(1, "possible", "r", ("a",), {}, time=2, because=many, ways=(way, {**way, "needs": ("s(a)@3",)}))
    )
    assert "or, way 2" in read.text and "s(a)@3" in read.text
    assert "and 24 more" in read.text and "details" in read.tags


def test_many_answers_are_cut_short() -> None:
    reasoner = presage.Reasoner(presage.parse(TURBINES))
    answers = reasoner.push([("temp", (f"t{place}", "high"), 0) for place in range(1000)], now=0)
    html = answers._repr_html_()
    assert "and 800 more" in html and len(html) < 200_000
    assert (
        "no answers" in shown(reasoner.push([], now=1)[:0] or presage.Reasoner(presage.parse(TURBINES)).answers()).text
    )


def test_programs_and_reports_show_rules_and_problems() -> None:
    read = shown(presage.parse(TURBINES, "turbines.psg"))
    assert {"keyword", "variable", "comment"} <= read.classes
    assert "cool(X)@T+1 :- flag(X)@T, flag(X)@T+1." in read.text
    read = shown(presage.check(TURBINES))
    assert "partition key" in read.text and "temp by device" in read.text
    read = shown(presage.check(f"flag(X) :- temp(X.\n% {ODD}\n"))
    assert "wrong" in read.classes and "is not closed" in read.text and ODD in read.text


def test_a_reasoner_shows_its_clock_and_counters() -> None:
    reasoner = presage.Reasoner(presage.parse(TURBINES))
    assert "before the first step" in shown(reasoner).text
    reasoner.push([("temp", ("wt25", "high"), 0)], now=0)
    reasoner.push([("temp", ("wt25", "high"), 0)], now=7)
    text = shown(reasoner).text
    assert re.search(r"now\s*7", text) and re.search(r"late facts\s*1", text)


def test_mistakes_in_a_program_are_no_traceback(shell: InteractiveShell) -> None:
    with capture_output() as captured:
        done = shell.run_cell('import presage\npresage.parse("flag(X) :- temp(X.")')
    assert not done.success
    assert "is not closed" in captured.stdout and "Traceback" not in captured.stdout


# The magic.


def test_a_cell_runs_over_a_table(shell: InteractiveShell) -> None:
    pandas = pytest.importorskip("pandas")
    shell.user_ns["readings"] = pandas.DataFrame(
        {"device": ["wt25"] * 3, "level": ["high"] * 3, "time": [0, 1, 2], "arrives": [0, 1, 3]}
    )
    result = cell(shell, f"%%presage --facts readings --until 3 --name turbines\n{TURBINES}")
    assert "confirmed malf(wt25)@0" in [str(answer) for answer in result]
    assert shell.user_ns["turbines"].now == 3
    result = cell(shell, f"%%presage --facts readings --changes\n{TURBINES}")
    assert [str(answer) for answer in result].count("possible malf(wt25)@0") == 2


@pytest.mark.parametrize(
    "facts",
    [
        [("temp", ("wt25", "high"), 0)],
        [{"pred": "temp", "args": ["wt25", "high"], "time": 0, "arrives": 1}],
        {"temp": [("wt25", "high", 0)]},
    ],
    ids=["tuples", "objects", "mapping"],
)
def test_facts_come_as_people_have_them(shell: InteractiveShell, facts: Any) -> None:
    shell.user_ns["facts"] = facts
    result = cell(shell, f"%%presage --facts facts --until 1\n{TURBINES}")
    assert [str(answer) for answer in result] == ["possible malf(wt25)@0"]


def test_static_facts_and_programs_with_several_models(shell: InteractiveShell) -> None:
    shell.user_ns["owners"], shell.user_ns["readings"] = [("wt25", "west")], [("wt25", 0)]
    program = (
        "timeline discrete.\ninput hot(d).\nstatic owner(d, o).\n"
        "call(O) | mail(O) :- hot(D), owner(D, O).\ntold(O) :- call(O).\ntold(O) :- mail(O).\nquery told(O).\n"
    )
    result = cell(shell, f"%%presage --facts hot=readings --static owner=owners\n{program}")
    assert [str(answer) for answer in result] == ["confirmed told(west)@0"]


@pytest.mark.parametrize(
    ("line", "program", "message"),
    [
        ("--facts readngs", TURBINES, "did you mean `readings`?"),
        ("--facts other", TURBINES, "there is no variable `other`: set it in a cell above"),
        ("--facts number", TURBINES, "`number` is a int: facts are a table"),
        ("--facts wrong", TURBINES, "a fact is (predicate, arguments, time)"),
        ("--facts tmp=readings", TURBINES, "tmp"),
        ("--facts readings --until soon", TURBINES, "--until"),
        ("--facts readings --name 1x", TURBINES, "a name is a Python variable"),
        ("--fact", TURBINES, "expected at least one argument"),
        ("--facts 'readings", TURBINES, "No closing quotation"),
        ("--nonsense", TURBINES, "unrecognized arguments: --nonsense"),
        ("--static readings --facts readings", TURBINES, "is not static"),
        ("", "flag(X) :- temp(X.", "is not closed"),
        ("", "% nothing", "no rules and no query"),
    ],
)
def test_mistakes_have_messages(shell: InteractiveShell, line: str, program: str, message: str) -> None:
    shell.user_ns.update(readings=[("temp", ("wt25", "high"), 0)], number=3, wrong=["temp"])
    result = cell(shell, f"%%presage {line}\n{program}")
    assert isinstance(result, Mistake) and message in shown(result).text and message in repr(result)


def test_a_program_alone_is_checked_and_shown(shell: InteractiveShell) -> None:
    result = cell(shell, f"%%presage --name turbines\n{TURBINES}")
    assert isinstance(result, presage.Program) and isinstance(shell.user_ns["turbines"], presage.Reasoner)


# The documentation and the example.


def test_the_cells_of_the_documentation_run(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "presage/examples")
    cells = re.findall(r"^```ipython\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    results = [cell(shell, text) for text in cells]
    assert [str(answer) for answer in results[0]] == ["possible malf(wt25)@0"]
    assert results[5] == [
        "possible malf(wt42)@1",
        "confirmed malf(wt25)@0",
        "possible malf(wt25)@1",
        "possible malf(wt25)@2",
    ]
    assert "confirmed malf(wt25)@1" in [str(answer) for answer in results[6]]
    assert "is not closed" in repr(results[7])
    assert len(cells) == 8


def test_the_example_notebook_runs_in_a_kernel() -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    html = {
        each["id"]: "".join(output.get("data", {}).get("text/html", "") for output in each["outputs"])
        for each in notebook.cells
        if each["cell_type"] == "code"
    }
    assert "malf(wt42)@1" in Read(html["open"]).text and "possible" in Read(html["open"]).classes
    assert "confirmed" in Read(html["push"]).classes
    assert "Reasoner of turbines" in Read(html["reasoner"]).text
    assert "wrong" in Read(html["mistake"]).classes
    assert not any(output["output_type"] == "error" for each in notebook.cells for output in each.get("outputs", []))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_outputs_are_readable_in_light_and_dark(browser: Any, dark: bool) -> None:
    """As JupyterLab has it: the theme is said on the body, whatever the system says."""
    reasoner = presage.Reasoner(presage.parse(TURBINES, "turbines.psg"))
    reasoner.push([("temp", ("wt25", "high"), 0), ("temp", (ODD, "high"), 0)], now=0)
    parts = [thing._repr_html_() for thing in (reasoner.program, reasoner, presage.check("flag(X) :- temp(X."))]
    ARTEFACTS.mkdir(exist_ok=True)
    page = browser.new_page(color_scheme="light" if dark else "dark", viewport={"width": 1000, "height": 900})
    wrong: list[str] = []
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    paper, ink = ("#111111", "#eeeeee") if dark else ("#ffffff", "#111111")
    theme = "false" if dark else "true"
    page.set_content(
        f'<body data-jp-theme-light="{theme}" style="background:{paper};color:{ink}">{"".join(parts)}</body>'
    )
    bright = page.evaluate(
        "[...document.querySelectorAll('.presage :is(td, .keyword, .status, .quiet)')].map(each =>"
        " getComputedStyle(each).color.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"
    )
    assert len(bright) > 10 and all(each > 300 if dark else each < 420 for each in bright)
    page.screenshot(path=ARTEFACTS / f"notebook-{'dark' if dark else 'light'}.png", full_page=True)
    assert not wrong
    page.close()
