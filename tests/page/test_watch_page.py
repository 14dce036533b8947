"""The live page in a real browser: what a person would do there. Pictures are kept in tests/artefacts."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench.page import loaded_page
from tests.conftest import ARTEFACTS
from tests.watching import SECONDS, TURBINE_FACTS, TURBINES, Watched, watching

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="the page is tested with playwright: pip install playwright"
)
expect = sync_api.expect
# The first step of a program compiles its kernels, on a machine that others use too.
expect.set_options(timeout=1000 * SECONDS)

ODD = "<img src=x onerror=alert(1)>"
TALL = {"width": 1280, "height": 1600}
"""Room for all lanes: of those out of sight none are drawn."""

TWO_QUERIES = """\
timeline discrete.
input temp(device, level) delay 1 rate 0.3 loss 0.1.
input ack(device) delay 2.
hot(X)@T+2 :- temp(X, high)@T, temp(X, high)@T+1, temp(X, high)@T+2.
alarm(X)@T+2 :- temp(X, high)@T, not ack(X)@T+1.
alarm(X)@T+2 :- temp(X, high)@T, temp(X, crit)@T+2.
query hot(X).
query alarm(X).
"""


class Person:
    """Somebody at the page, who notices when something goes wrong in it."""

    def __init__(self, browser: Any, watched: Watched, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        self.page = self.context.new_page()
        self.watched = watched
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda problem: self.wrong.append(str(problem)))
        self.page.on("console", lambda line: self.wrong.append(line.text) if line.type == "error" else None)
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.goto(watched.address)
        expect(self.page.locator("#where")).not_to_have_text("")

    def lane(self, answer: str) -> Any:
        return self.page.locator(f"[data-answer={json.dumps(answer)}]")

    def click(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def filters(self) -> None:
        """Opens what is seldom needed."""
        if self.page.locator("#filters").is_hidden():
            self.page.get_by_text("Filter and order").click()

    def steps(self, count: int) -> None:
        """Steps, and waits until each is drawn."""
        answers = self.page.locator("#answers")
        for _ in range(count):
            after = int(answers.get_attribute("data-step") or 0) + 1
            self.click("Step")
            expect(answers).to_have_attribute("data-step", str(after))

    def picture(self, name: str) -> None:
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png")

    def leave(self) -> None:
        self.context.close()
        assert not self.wrong, self.wrong


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    people: list[Person] = []

    def visit(watched: Watched, **context: Any) -> Person:
        people.append(Person(browser, watched, **context))
        return people[-1]

    yield visit
    for person in people:
        person.leave()


@pytest.fixture
def turbines() -> Iterator[Watched]:
    with watching(TURBINES, TURBINE_FACTS, "--paused", "--speed", "1") as watched:
        yield watched


@pytest.fixture
def two_queries(tmp_path: Path) -> Iterator[Watched]:
    program, facts = tmp_path / "two.psg", tmp_path / "facts.jsonl"
    program.write_text(TWO_QUERIES)
    given = [("temp", [name, "high"], time) for time in range(3) for name in ("wt25", "wt42", ODD)]
    given += [("ack", ["wt42"], 1)]
    lines = [json.dumps({"pred": name, "args": row, "time": time}) for name, row, time in given]
    facts.write_text("\n".join(lines) + "\n")
    with watching(program, facts, "--paused") as watched:
        yield watched


def test_lanes_appear_live_and_end(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    expect(person.page.locator(".lane")).to_have_count(0)
    person.click("Play")
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "possible")
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "confirmed", timeout=15_000)
    expect(person.lane("malf(wt42)@1")).to_have_attribute("data-status", "refuted", timeout=15_000)
    person.click("Pause")
    expect(person.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    person.picture("turbines")


def test_now_moves_while_it_plays_and_stands_while_paused(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.steps(1)
    person.page.locator("#follow").click()
    person.click("Play")

    def where() -> float:
        return float(
            person.page.evaluate("new DOMMatrix(getComputedStyle(document.getElementById('now')).transform).m41")
        )

    first = where()
    person.page.wait_for_timeout(600)
    assert where() > first + 5
    person.click("Pause")
    person.page.wait_for_timeout(300)
    held = where()
    person.page.wait_for_timeout(400)
    assert where() == held


def test_marks_say_what_arrived_what_is_needed_and_until_when(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.steps(2)
    lane = person.lane("malf(wt25)@0")
    expect(lane.locator("circle.mark.full")).to_have_count(2)
    expect(lane.locator("circle.mark:not(.full)")).to_have_count(1)
    expect(lane.locator(".deadline")).to_have_count(1)
    expect(lane.locator("circle.mark:not(.full) title")).to_have_text("temp(wt25, high)@2: still needed")
    # The three readings and the deadline lie one unit apart, from left to right.
    places = [float(each.get_attribute("cx")) for each in lane.locator("circle.mark").all()]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.01) and places[1] > places[0]


def test_an_answer_in_full(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.steps(2)
    person.lane("malf(wt25)@0").get_by_role("button").click()
    details = person.page.locator("#details")
    expect(details).to_contain_text("One way to come true")
    expect(details.locator(".way")).to_contain_text("temp(wt25, high)@2")
    expect(details.locator(".way")).to_contain_text("decided by")
    expect(details).to_contain_text("shdn(X)@T+1 :- cool(X)@T, flag(X)@T+1.")
    details.get_by_text("How it would come true").click()
    expect(details.locator(".if")).to_contain_text("line 8: malf(X)@T-2 :- shdn(X)@T. (X = wt25)")
    person.steps(2)
    expect(details).to_contain_text("Proof, accepted by the checker"), "it follows what happens"
    expect(details.locator("summary").first).to_contain_text("malf(wt25)@0")
    closed = details.locator("details:not([open]) > summary").first
    closed.click()
    expect(details).to_contain_text("arrived at 0")
    person.picture("proof")
    person.lane("malf(wt42)@1").get_by_role("button").click()
    expect(details).to_contain_text("What failed")
    expect(details).to_contain_text("fails, in line 5: flag(X) :- temp(X, high). (X = wt42)")
    person.picture("failed")


def test_what_if_a_missing_premise_came(two_queries: Watched, visit: Any) -> None:
    person = visit(two_queries, viewport=TALL)
    page = person.page
    person.steps(2)
    person.lane("hot(wt25)@2").locator(".label").click()
    told, field = page.locator(".would"), page.locator(".what-if textarea")
    page.get_by_role("button", name="temp(wt25, high)@2", exact=True).click()
    expect(told).to_contain_text("confirmed hot(wt25)@2")
    field.fill("")
    person.click("Say what would be")
    expect(told).to_contain_text("Write facts with their times")
    # What must stay away is asked about as if it came.
    person.lane("alarm(wt25)@2").locator(".label").click()
    page.get_by_role("button", name="not ack(wt25)@1", exact=True).click()
    expect(field).to_have_value("ack(wt25)@1")
    expect(told).to_contain_text("alarm(wt25)@2")
    person.picture("what-if")


def test_values_are_no_times_where_people_count_by_the_clock(tmp_path: Path, visit: Any) -> None:
    program, facts = tmp_path / "again.psg", tmp_path / "facts.jsonl"
    program.write_text(
        "timeline discrete.\ntick 1s.\nstart 2026-03-01T10:00:00Z.\ninput m(x, v: int).\n"
        "high(X) :- m(X, V), V > 8.\nagain(X) :- high(X), once[1s,1m] high(X).\nquery again(X).\n"
    )
    facts.write_text('{"pred": "m", "args": ["a", 9], "time": "2026-03-01T10:00:05Z"}\n')
    with watching(program, facts, "--paused") as watched:
        person = visit(watched, viewport=TALL)
        person.steps(1)
        person.lane("again(a)@T").locator(".label").click()
        way = person.page.locator(".way")
        expect(way).to_contain_text("V > 8")
        expect(way).to_contain_text("10:00:06 ≤ T ≤ 10:01:05")
        person.context.close()


def test_looking_back(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.steps(5)
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "confirmed")
    slider = person.page.locator("#scrub")
    slider.focus()
    # Faster than the server answers: each press goes on from where the one before it is headed.
    slider.press("Home")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(person.page.locator("#where")).to_have_text("looking back: time 1, step 2 of 5")
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "possible")
    person.picture("looking-back")
    person.lane("malf(wt25)@0").get_by_role("button").click()
    expect(person.page.locator("#details")).to_contain_text("One way to come true")
    person.click("Step")
    person.click("Step")
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "confirmed")
    person.click("Back")
    person.click("Return to now")
    expect(person.page.locator("#where")).to_have_text("time 4, step 5")


def test_by_keyboard(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    keys, where = person.page.keyboard, person.page.locator("#where")
    keys.press("ArrowRight")
    expect(where).to_have_text("time 0, step 1")
    keys.press("ArrowRight")
    expect(where).to_have_text("time 1, step 2")
    keys.press("ArrowLeft")
    expect(where).to_have_text("looking back: time 0, step 1 of 2")
    keys.press("End")
    expect(where).to_have_text("time 1, step 2")
    expect(person.page.locator(".lane")).to_have_count(3)
    person.page.locator("#lanes").focus()
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    keys.press("Enter")
    second = person.page.locator(".lane").nth(1)
    expect(person.page.locator("#details h2")).to_have_text(second.get_attribute("data-answer"))
    keys.press("Escape")
    expect(person.page.locator("#details")).to_be_hidden()
    expect(second.get_by_role("button")).to_be_focused()
    keys.press("/")
    keys.type("wt42")
    expect(person.page.locator(".lane")).to_have_count(1)
    person.page.locator("#lanes").focus()
    keys.press("t")
    expect(person.page.get_by_role("table")).to_be_visible()
    keys.press(" ")
    expect(person.page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_filters(two_queries: Watched, visit: Any) -> None:
    person = visit(two_queries, viewport=TALL)
    person.steps(3)
    lanes = person.page.locator(".lane")
    every = lanes.count()
    person.filters()
    person.page.locator("#filter-query").select_option(label="hot(X)")
    expect(lanes).to_have_count(9)
    person.page.get_by_label("Find").fill("x=wt25")
    expect(lanes).to_have_count(3)
    person.page.locator("#filter-confidence").fill("0.2")
    expect(lanes).to_have_count(2)
    expect(person.page.locator("#shown")).to_contain_text("filtered out")
    person.page.get_by_label("possible", exact=True).uncheck()
    expect(lanes).to_have_count(1)
    person.page.get_by_label("possible", exact=True).check()
    person.filters()
    person.page.locator("#filter-confidence").fill("0")
    person.page.get_by_label("Find").fill("")
    person.filters()
    person.page.locator("#filter-query").select_option(label="all")
    expect(lanes).to_have_count(every)
    person.page.locator("#order").select_option(label="name")
    names = [each.get_attribute("data-answer") for each in lanes.all()]
    assert names == sorted(names)


def test_a_filter_without_hits_says_so(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    expect(person.page.locator("#nothing")).to_contain_text("Press Play, or Step, to begin.")
    person.steps(3)
    expect(person.page.locator("#nothing")).to_be_hidden()
    person.page.get_by_label("Find").fill("zzz")
    expect(person.page.locator("#nothing")).to_contain_text("No answer matches “zzz”")
    person.click("Clear the filter")
    expect(person.lane("malf(wt25)@0")).to_be_visible()


def test_the_overview_comes_first(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.steps(2)
    expect(person.page.locator("#count-open")).to_have_text("3")
    urgent = person.page.locator("#urgent li")
    expect(urgent.first).to_contain_text("malf(wt25)@0")
    expect(urgent.first).to_contain_text("in 2, 1 missing")
    person.steps(3)
    newest = person.page.locator("#newest li")
    before = newest.all_text_contents()
    assert before and "confirmed" in " ".join(before)
    person.page.reload()
    expect(newest).to_have_count(len(before))
    assert newest.all_text_contents() == before, "what just happened is not forgotten by reloading"


def test_the_end_shows_all_of_it_and_answers_are_gone_to(tmp_path: Path, visit: Any) -> None:
    facts = tmp_path / "facts.jsonl"
    readings = [(time, "wt25") for time in (0, 1, 2, 300, 301, 302)]
    lines = [{"pred": "temp", "args": [name, "high"], "time": time} for time, name in readings]
    facts.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with watching(TURBINES, facts, "--speed", "0") as watched:
        person = visit(watched)
        expect(person.page.locator("#play")).to_have_text("Run again")
        first, last = person.lane("malf(wt25)@0"), person.lane("malf(wt25)@300")
        expect(first.locator(".shape").last).to_be_in_viewport()
        expect(last.locator(".shape").last).to_be_in_viewport()
        person.picture("after-the-run")

        def in_sight() -> tuple[float, float]:
            return tuple(float(each.locator("path.shape").last.bounding_box()["x"]) for each in (first, last))  # type: ignore[return-value]

        wide = in_sight()
        assert wide[1] - wide[0] > 300
        person.page.locator("#newest button").filter(has_text="malf(wt25)@300").first.click()
        expect(person.page.locator("#details h2")).to_have_text("malf(wt25)@300")
        expect(last.locator(".shape").last).to_be_in_viewport()
        assert in_sight()[1] - in_sight()[0] > 1000, "near enough to read it"
        link = person.page.evaluate("new Promise((done) => setTimeout(() => done(location.href), 500))")
        assert "answer=malf%28wt25%29%40300" in link
        person.click("Fit all")
        assert in_sight() == pytest.approx(wide, abs=8)
        other = visit(watched)
        other.page.goto(link)
        other.page.reload()
        expect(other.page.locator("#details h2")).to_have_text("malf(wt25)@300")
        expect(other.lane("malf(wt25)@300").locator(".shape").last).to_be_in_viewport()
        other.page.get_by_label("Go to a time").fill("1")
        other.page.get_by_label("Go to a time").press("Enter")
        expect(other.lane("malf(wt25)@0").locator(".shape").last).to_be_in_viewport()
        for each in (person, other):
            each.context.close()


def test_run_again(turbines: Watched, visit: Any) -> None:
    person, other = visit(turbines), visit(turbines)
    person.page.locator("#speed").fill("0")
    person.page.locator("#speed").press("Enter")
    person.click("Play")
    play = person.page.locator("#play")
    expect(play).to_have_text("Run again")
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "confirmed")
    person.page.locator("#speed").fill("1")
    person.page.locator("#speed").press("Enter")
    person.click("Run again")
    expect(play).to_have_text("Pause")
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "possible")
    expect(other.page.locator("#play")).to_have_text("Pause"), "for every page"
    expect(person.lane("malf(wt25)@0")).to_have_attribute("data-status", "confirmed", timeout=15_000)


def test_the_story_and_the_rules_are_beside_the_picture(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    expect(person.page.get_by_role("heading", level=1)).to_have_text(
        "Wind turbines: know of a failure before it is certain"
    )
    story = person.page.locator("#story")
    expect(story).to_contain_text("A turbine that runs hot for three readings in a row has failed")
    expect(story.locator(".listing")).to_contain_text("malf(X)@T-2 :- shdn(X)@T.")
    expect(story).to_contain_text("malf(X)")
    assert "```" not in story.inner_text() and "$ presage" not in story.inner_text()


def test_the_workbench(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.page.get_by_role("tab", name="Program").click()
    field = person.page.get_by_label("The program", exact=True)
    expect(field).to_have_value(TURBINES.read_text())
    problems = person.page.locator("#editor-problems")
    expect(problems).to_contain_text("Nothing is wrong with it.")
    expect(person.page.locator(".behind .keyword").first).to_have_text("timeline")
    field.fill(TURBINES.read_text().replace("query malf(X) bad.", "query malff(X)."))
    expect(problems).to_contain_text("line 10, column 7")
    expect(problems.locator(".excerpt")).to_have_text("query malff(X).\n      ^^^^^^^^")
    expect(problems).to_contain_text("hint:")
    expect(person.page.locator(".behind .squiggle").first).to_have_text("malff")
    expect(person.page.get_by_role("button", name="Run from the start")).to_be_disabled()
    person.picture("workbench-problem")
    field.fill(TURBINES.read_text().replace("query malf(X) bad.", ""))
    field.press("Control+End")
    field.type("query sh")
    offer = person.page.locator(".offer").get_by_role("option")
    expect(offer).to_have_count(1)
    expect(offer).to_contain_text("shdn(_)")
    field.press("Enter")
    field.type("X).")
    assert field.input_value().endswith("query shdn(X).")
    expect(problems).to_contain_text("Nothing is wrong with it.")
    person.click("Run from the start")
    expect(person.lane("shdn(wt25)@2")).to_have_attribute("data-status", "confirmed", timeout=20_000)
    expect(person.page.locator(".lane[data-answer^=malf]")).to_have_count(0)
    person.picture("workbench")


def test_a_run_in_a_single_file(turbines: Watched, browser: Any, tmp_path: Path) -> None:
    """The file is opened without any server, and shows the same."""
    turbines.state_after(100)
    with urllib.request.urlopen(f"{turbines.address}api/share", timeout=60) as reply:
        assert 'filename="turbines.html"' in reply.headers["content-disposition"]
        (tmp_path / "run.html").write_bytes(reply.read())
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda problem: wrong.append(str(problem)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.goto((tmp_path / "run.html").as_uri())
    lane = page.locator('[data-answer="malf(wt25)@0"]')
    expect(lane).to_have_attribute("data-status", "confirmed")
    lane.get_by_role("button").click()
    expect(page.locator("#details")).to_contain_text("Proof, accepted by the checker")
    page.locator("#scrub").press("Home")
    page.locator("#scrub").press("ArrowRight")
    expect(lane).to_have_attribute("data-status", "possible")
    expect(page.locator("#details")).to_contain_text("One way to come true")
    expect(page.locator(".what-if")).to_have_count(0)  # nobody is there who could be asked
    page.get_by_role("button", name="Return to now").click()
    page.get_by_role("button", name="Run again", exact=True).click()
    expect(lane).to_have_attribute("data-status", "possible")
    expect(lane).to_have_attribute("data-status", "confirmed", timeout=15_000)
    context.close()
    assert not wrong, wrong


def test_likelier_answers_are_drawn_stronger(two_queries: Watched, visit: Any) -> None:
    person = visit(two_queries)
    person.steps(2)
    strength = [
        float(person.lane(f"hot(wt25)@{at}").locator("svg > g").evaluate("g => g.style.opacity")) for at in (2, 3)
    ]
    assert 1 > strength[0] > strength[1] > 0.3


def test_several_ways_and_absences(two_queries: Watched, visit: Any) -> None:
    person = visit(two_queries)
    person.steps(1)
    lane = person.lane("alarm(wt25)@2")
    expect(lane.locator("rect.mark:not(.full)")).to_have_count(1)
    lane.get_by_role("button").click()
    expect(person.page.locator("#details")).to_contain_text("2 ways to come true")
    expect(person.page.locator("#details .way")).to_have_count(2)


def test_grouped_by_key(two_queries: Watched, visit: Any) -> None:
    person = visit(two_queries, viewport=TALL)
    person.steps(3)
    person.filters()
    person.page.locator("#lanes-by").select_option(label="by X")
    expect(person.page.locator(".lane.group")).to_have_count(4), "one for all, and one for each device"
    person.picture("groups")
    person.page.get_by_role("button", name="X = wt25:").click()
    person.click("A lane for each of these")
    expect(person.page.locator(".lane.group")).to_have_count(0)
    expect(person.page.locator("#only")).to_contain_text("only X = wt25")
    person.page.locator("#only").click()
    expect(person.lane("hot(wt42)@2")).to_be_visible()


def test_names_are_text_and_nothing_else(two_queries: Watched, visit: Any) -> None:
    person = visit(two_queries, viewport=TALL)
    person.steps(3)
    answer = f'hot("{ODD}")@2'
    expect(person.lane(answer)).to_contain_text(ODD)
    person.lane(answer).get_by_role("button").click()
    expect(person.page.locator("#details h2")).to_have_text(answer)
    person.filters()
    person.page.locator("#lanes-by").select_option(label="by X")
    group = person.page.locator(f"[data-group={json.dumps(ODD)}]")
    expect(group).to_contain_text(ODD)
    group.get_by_role("button", name=f"X = {ODD}:").click()
    expect(person.page.locator("#details h2")).to_have_text(f"X = {ODD}")
    person.click("Table")
    expect(person.page.get_by_role("table")).to_contain_text(ODD)
    expect(person.page.locator("#newest")).to_contain_text("<img")
    assert person.page.locator("img").count() == 0


def test_the_table_has_the_same_answers(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.steps(4)
    lanes = {each.get_attribute("data-answer") for each in person.page.locator(".lane").all()}
    person.click("Table")
    rows = person.page.locator("#table-body tr")
    expect(rows).to_have_count(len(lanes))
    assert {each.locator("td").nth(1).text_content() for each in rows.all()} == lanes
    row = rows.filter(has_text="malf(wt25)@2")
    assert [cell.strip() for cell in row.locator("td").all_text_contents()] == [
        "possible",
        "malf(wt25)@2",
        "3",
        "temp(wt25, high)@2temp(wt25, high)@3",
        "temp(wt25, high)@4",
        "5",
        "",
    ]
    row.get_by_role("button").click()
    expect(person.page.locator("#details h2")).to_have_text("malf(wt25)@2")
    person.picture("table")


def test_for_people_who_listen(turbines: Watched, visit: Any) -> None:
    person = visit(turbines)
    person.steps(2)
    spoken = "malf(wt25)@0; possible; 2 of 3 premises arrived; needs temp(wt25, high)@2; decided by 3"
    expect(person.page.get_by_role("button", name=spoken)).to_have_count(1)
    announcer = person.page.locator("[aria-live=polite]")
    expect(announcer).to_contain_text("possible", timeout=5_000)
    unnamed = person.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select")]
            .filter((each) => each.offsetParent && !each.textContent.trim() && !each.labels?.length
                && !each.getAttribute("aria-label")).map((each) => each.outerHTML)"""
    )
    assert unnamed == []


def test_on_a_phone_in_the_dark(turbines: Watched, visit: Any) -> None:
    person = visit(
        turbines, viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True, is_mobile=True
    )
    person.steps(4)
    wide = person.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390, "nothing sticks out to the side"
    person.picture("phone")
    person.lane("malf(wt25)@2").get_by_role("button").tap()
    expect(person.page.locator("#details .way")).to_be_in_viewport()
    person.picture("phone-details")


def test_two_pages_and_a_lost_connection(turbines: Watched, visit: Any) -> None:
    first, second = visit(turbines), visit(turbines)
    first.steps(2)
    expect(second.lane("malf(wt25)@0")).to_be_visible()
    turbines.process.terminate()
    turbines.process.wait(30)
    expect(first.page.locator("#connection")).to_have_text("connection lost", timeout=15_000)
    for person in (first, second):
        # The browser says so too.
        person.wrong = [each for each in person.wrong if "ERR_" not in each]


def test_many_answers_and_many_changes(visit: Any) -> None:
    """With 50,000 open answers and 5,000 changes a second, people still get an answer to a click, and in the end the
    page shows what the replay came to. How quickly is said by `python -m bench.page`."""
    with loaded_page(50_000, 5_000, seconds=5) as (address, replay):
        person = visit(SimpleNamespace(address=address))
        lanes = person.page.locator(".lane")
        expect(lanes.first).to_contain_text("all answers", timeout=60_000)
        expect(lanes.nth(2)).to_contain_text("X = d", timeout=30_000)
        lanes.nth(2).get_by_role("button", name="X = ").last.click()
        expect(person.page.locator("#details h2")).to_contain_text("d", timeout=30_000)
        person.page.keyboard.press("Escape")
        expect(person.page.locator("#play")).to_have_attribute("data-finished", "true", timeout=60_000)
        expect(person.page.locator("#answers")).to_have_attribute("data-step", "50", timeout=30_000)
        expect(person.page.locator("#count-open")).to_have_text("50,000")
        assert lanes.count() < 60, "only what is in sight is drawn"
        assert replay.board.summary.changes == 50_000 + 49 * 500
        person.filters()
        person.page.locator("#lanes-by").select_option(label="one for each answer")
        expect(person.page.locator("#shown")).to_contain_text("55,000 answers")
        person.page.locator("#filter-text").fill("x=d4999")
        expect(person.page.locator("#shown")).to_contain_text("filtered out", timeout=30_000)
        expect(lanes.first).to_contain_text("malf(d4999)@")
        person.picture("many")
        person.leave()  # before the page is gone, for which it would ask again
