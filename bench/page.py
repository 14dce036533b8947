"""The live page under load: `python -m bench.page` opens it in a headless Chromium and says how it keeps up.

The answers are made up, so that the load does not depend on how fast a reasoner is: many stay open, and at every
step some of them are decided and others take their place.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

import presage
from presage.answers import Answer
from presage.web.details import Details
from presage.web.replay import Replay, ReplayStep
from presage.web.server import application
from presage.web.stage import Stage, StagedRun

ROOT = Path(__file__).parent.parent
STEPS_A_SECOND = 10

GAPS = """(seconds) => new Promise((done) => {
    const gaps = []; let before = performance.now(); const end = before + seconds * 1000;
    const frame = (now) => {
        gaps.push(now - before); before = now;
        now < end ? requestAnimationFrame(frame) : done(gaps);
    };
    requestAnimationFrame(frame);
})"""


def made_up_steps(open_answers: int, changes_a_step: int, steps: int) -> Iterator[ReplayStep]:
    """At first all open at once; then at each step the oldest move on: half are told anew, a quarter is decided, and
    as many new ones take their place. Some devices have many answers, at different times."""
    devices = max(1, open_answers // 10)
    waiting = [(f"d{each % devices}", each // devices) for each in range(open_answers)]
    yield ReplayStep(0, [_possible(name, born, 0) for name, born in waiting], facts=open_answers)
    made = facts = open_answers
    quarter = changes_a_step // 4
    for now in range(1, steps):
        told, ended, waiting = waiting[: 2 * quarter], waiting[2 * quarter : 3 * quarter], waiting[3 * quarter :]
        fresh = [(f"d{each % devices}", now + 10) for each in range(made, made + quarter)]
        made += quarter
        facts += changes_a_step
        changes = [_possible(name, born, now) for name, born in (*told, *fresh)]
        for place, (name, born) in enumerate(ended):
            changes.append(_decided(name, born, now, "confirmed" if place % 2 else "refuted"))
        waiting += told + fresh
        yield ReplayStep(now, changes, facts=facts)


def _possible(name: str, born: int, now: int) -> Answer:
    because = (f"temp({name}, high)@{born}", f"temp({name}, high)@{now}")
    needs = (f"temp({name}, high)@{now + 20}",)
    chance = zlib.crc32(name.encode()) % 100 / 100
    return Answer(
        now, "possible", "malf", (name,), {"X": name}, time=born, because=because, needs=needs, decided_by=now + 25,
        confidence=chance,
    )  # fmt: skip


def _decided(name: str, born: int, now: int, status: str) -> Answer:
    because = (f"temp({name}, high)@{born}", f"temp({name}, high)@{now}") if status == "confirmed" else ()
    return Answer(now, status, "malf", (name,), {"X": name}, time=born, because=because)


@contextmanager
def served(app: Any, replay: Replay) -> Iterator[str]:
    """The address of an application, served by threads of this process."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=2))
        threads = [
            threading.Thread(target=replay.run, daemon=True),
            threading.Thread(target=server.run, args=([listening],), daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            replay.close()
            server.should_exit = True
            for thread in threads:
                thread.join(10)


@contextmanager
def loaded_page(open_answers: int, changes_a_second: int, seconds: float) -> Iterator[tuple[str, Replay]]:
    """The address of a page under load, and the replay behind it. It begins when the page is opened."""
    source = made_up_steps(open_answers, changes_a_second // STEPS_A_SECOND, int(seconds * STEPS_A_SECOND))
    replay = Replay(source, speed=STEPS_A_SECOND)
    reasoner = presage.Reasoner(presage.load(str(ROOT / "presage/examples/turbines/turbines.psg")))
    app = application(Stage(StagedRun(replay, Details(reasoner, []))))
    with served(app, replay) as address:
        yield address, replay


def measure(open_answers: int, changes_a_second: int, seconds: float, picture: Path | None = None) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("PRESAGE_CHROMIUM") or shutil.which("chromium")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with loaded_page(open_answers, changes_a_second, seconds + 60) as (address, replay), sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        begun = time.monotonic()
        page.goto(address)
        page.locator(".lane").nth(5).wait_for(timeout=120_000)
        first = time.monotonic() - begun
        page.wait_for_timeout(3_000)
        before = replay.state()
        gaps: list[float] = page.evaluate(GAPS, seconds)
        after = replay.state()
        clicks = []
        for place in range(5):
            clicked = time.monotonic()
            page.locator(".lane .label").nth(place).click()
            page.wait_for_selector("#details-body h2")
            clicks.append(time.monotonic() - clicked)
            page.keyboard.press("Escape")
        typed = time.monotonic()
        page.locator("#filter-text").fill("d499")
        page.locator("#shown", has_text="filtered").wait_for()
        found = time.monotonic() - typed
        shown = int(page.locator("#answers").get_attribute("data-step") or 0)
        behind = replay.state()["step"] - shown
        if picture is not None:
            page.locator("#filter-text").fill("")
            page.wait_for_timeout(500)
            page.screenshot(path=picture)
        heap = page.evaluate("performance.memory ? performance.memory.usedJSHeapSize : 0")
        browser.close()
    gaps.sort()
    return {
        "open answers": sum(after["statuses"].get(each, 0) for each in ("possible", "unsupported")),
        "changes/s shown": round((after["changes"] - before["changes"]) / seconds),
        "seconds to the first lanes": round(first, 2),
        "frames/s": round(len(gaps) / seconds, 1),
        "frame gap, median ms": round(statistics.median(gaps), 1),
        "frame gap, 95 % ms": round(gaps[int(len(gaps) * 0.95)], 1),
        "frame gap, longest ms": round(gaps[-1], 1),
        "click to details, median s": round(statistics.median(clicks), 3),
        "typing a filter, s": round(found, 3),
        "steps the page is behind": behind,
        "page's memory, MB": round(heap / 1e6),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.page", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--open", type=int, default=50_000)
    parser.add_argument("--changes", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    for name, value in measure(options.open, options.changes, options.seconds, options.picture).items():
        print(f"{name:30} {value:>10}")


if __name__ == "__main__":
    main()
