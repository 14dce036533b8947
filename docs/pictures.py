"""Makes the pictures of the documentation: `python docs/pictures.py`, with playwright and a Chromium at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.watching import watching  # noqa: E402

TURBINES = Path("presage/examples/turbines/turbines.psg")
FACTS = Path("presage/examples/turbines/facts.jsonl")


def watch_page(target: Path) -> None:
    """The turbines at time 3: two failures are certain, two may still come true, one does not."""
    path = os.environ.get("PRESAGE_CHROMIUM") or shutil.which("chromium")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with watching(TURBINES, FACTS, "--paused") as watched, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=flags)
        page = browser.new_page(viewport={"width": 1400, "height": 800}, color_scheme="light")
        page.goto(watched.address)
        for step in range(1, 5):
            page.get_by_role("button", name="Step", exact=True).click()
            expect(page.locator("#answers")).to_have_attribute("data-step", str(step))
        page.locator('[data-answer="malf(wt25)@2"] button').first.click()
        page.locator("#details .way").wait_for()
        page.mouse.move(0, 0)
        page.screenshot(path=target)
        browser.close()


def explained(target: Path) -> None:
    """The proof that a press is lost."""
    words = ["explain", "examples/heartbeat/heartbeat.psg", "--facts", "examples/heartbeat/facts.jsonl", "--at", "9"]
    subprocess.run(
        [sys.executable, "-m", "presage", *words, "--svg", target, "lost(press)@8"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    explained(ROOT / "docs/how-to/explain.svg")
    watch_page(ROOT / "docs/how-to/watch.png")
