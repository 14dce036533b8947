"""Writes `docs/reference/cli.md` from the commands' own parsers: `python docs/cli_reference.py`.

The page says what `--help` says, so that the two cannot differ; a test fails where it is not up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from presage.cli import make_parser  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "cli.md"
HEAD = """\
# Commands

<!-- Written by docs/cli_reference.py; do not edit. -->

`presage --help` lists the commands, `presage COMMAND --help` says what is on this page. On a terminal most commands
print tables and reports for people; in a pipe, or with `--json`, JSON lines. The exit status is 0 if all is fine, 1 if
the input is wrong, with a message on the standard error, and 2 if the call is.
"""


def reference() -> str:
    return "\n".join([HEAD, *_lines()]).rstrip() + "\n"


def commands() -> dict[str, argparse.ArgumentParser]:
    (subparsers,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(subparsers.choices)


def _lines() -> Iterator[str]:
    for name, parser in commands().items():
        yield f"## presage {name}\n"
        yield f"```text\n{_usage(name, parser)}\n\n{(parser.description or '').strip()}\n```\n"
        actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
        if actions:
            yield "| | |\n|---|---|"
            for action in actions:
                yield f"| {_title(action)} | {_cell(action.help or '')} |"
            yield ""
        example = (parser.epilog or "").removeprefix("example:").strip("\n")
        if example:
            yield "```sh\n" + "\n".join(line.strip() for line in example.splitlines()) + "\n```\n"


def _usage(name: str, parser: argparse.ArgumentParser) -> str:
    words = ["presage", name]
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        shown = " ".join(part for part in (*action.option_strings[:1], _value(action)) if part)
        words.append(shown if action.required else f"[{shown}]")
    return " ".join(words)


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices is not None:
        value = "|".join(map(str, action.choices))
    else:
        value = str(action.metavar or action.dest.upper())
    return f"{value}…" if action.nargs in ("+", "*") else value


def _title(action: argparse.Action) -> str:
    names = action.option_strings or [""]
    value = _value(action)
    return ", ".join(f"`{' '.join(part for part in (name, value) if part)}`" for name in names).replace("|", "\\|")


def _cell(text: str) -> str:
    return text.replace("%%", "%").replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
