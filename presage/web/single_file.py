"""A run as a single file: the page, its style and modules, the program and all that was told, in one HTML document.

It needs no server and no network: who opens it plays the run again, looks back, filters and reads proofs. The modules
of the page become functions of one script, in the order in which they import one another; nothing else is changed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from itertools import takewhile
from pathlib import Path
from typing import Any

from presage.web.board import Board, name_of
from presage.web.details import Describing

PAGE = Path(__file__).parent / "page"
MOST_CHANGES = 20_000
"""Of longer runs, the end is shared."""
MOST_PROVED = 300
"""Of so many answers at most, the ways and proofs are in the file."""
SECONDS_OF_PROOFS = 5
"""So long they are looked for while somebody waits: why an answer was refuted may take the run again."""

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|let|function|class) )", re.MULTILINE)
_NAME = re.compile(r"^export (?:async )?(?:const|let|function|class) (\w+)", re.MULTILINE)


def single_file(recorded: dict[str, Any]) -> str:
    """The document that shows a recorded run."""
    script = f"{bundle('main')}\n"
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    # `<` would end the element early.
    data = json.dumps(recorded, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_hash(script)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    icon = base64.b64encode((PAGE / "icon.svg").read_bytes()).decode()
    head = (
        f'<meta http-equiv="content-security-policy" content="{policy}">\n'
        f'<link rel="icon" href="data:image/svg+xml;base64,{icon}">\n<style>{style}</style>'
    )
    body = f'<script type="application/json" id="recorded">{data}</script>\n<script>{script}</script>'
    page = re.sub(
        r'<link rel="icon".*\n<link rel="stylesheet".*\n<script type="module".*\n', lambda _: f"{head}\n", page
    )
    return page.replace("</body>", f"{body}\n</body>")


def bundle(first: str) -> str:
    """A module and all it imports as one script: each becomes a function that gives what it exports."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        text = (PAGE / f"{name}.js").read_text(encoding="utf-8")
        for _, imported in _IMPORT.findall(text):
            add(imported)
        exported = ", ".join(_NAME.findall(text))
        inside = _IMPORT.sub(lambda found: f"const {{{_renamed(found[1])}}} = {_variable(found[2])};\n", text)
        inside = _EXPORT.sub("", inside)
        done[name] = f"const {_variable(name)} = (() => {{\n{inside}\nreturn {{ {exported} }};\n}})();"

    add(first)
    return "\n".join(done.values())


def _renamed(names: str) -> str:
    """`a as b` is `a: b` where names are taken from an object."""
    return re.sub(r"(\w+) as (\w+)", r"\1: \2", names)


def _variable(name: str) -> str:
    return f"module_{name.replace('-', '_')}"


def _hash(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def recorded(board: Board, details: Describing, about: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """What a file needs to show a run: the answers at its first step, all changes after it, and how the last stand."""
    steps: list[dict[str, Any]] = []
    first: list[dict[str, Any]] = []
    for number, (summary, entries, gone) in enumerate(board.history(MOST_CHANGES)):
        lines = [details.line(entry) for entry in entries]
        if number == 0:
            first = lines
        steps.append({"state": summary.to_json(), "rows": [] if number == 0 else lines, "gone": gone})
    ranked = sorted(board.rows.values(), key=lambda entry: (entry.answer.status == "refuted", -entry.told))
    end = time.monotonic() + SECONDS_OF_PROOFS
    told = takewhile(lambda _: time.monotonic() < end, ranked[:MOST_PROVED])
    return {
        "about": {**about, "editable": False, "can_suppose": False, "again": True, "home": "", "recorded": True},
        "first": first,
        "steps": steps,
        "speed": state["speed"],
        "answers": {name_of(entry.answer): details.of(entry) for entry in told},
    }
