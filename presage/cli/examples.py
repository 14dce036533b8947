"""`presage examples`: programs with data to look at, run and change, copied to where a person works."""

from __future__ import annotations

import argparse
import json
import re
import shutil
from pathlib import Path

from presage.cli import FINE
from presage.errors import PresageError, nearest

SUMMARY = "list the examples that come with Presage, or copy one here"
DESCRIPTION = """\
Without a name: the examples, one a line. With one: copies it into a folder of that name, with its program, data,
page of prose, picture and cases, and says what to type next. Nothing is overwritten."""
EXAMPLE = """\
example:
  presage examples
  presage examples turbines"""

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
_SHORT = 60
_COMMANDS_SHOWN = 3


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", nargs="?", metavar="NAME", help="the example to copy")
    command.add_argument("--all", action="store_true", help="copy all of them")
    command.add_argument("--to", type=Path, default=Path(), metavar="FOLDER", help="where to (default: here)")
    command.add_argument("--json", action="store_true", help="the list as JSON lines")


def names() -> list[str]:
    return sorted(page.parent.name for page in EXAMPLES.glob("*/README.md"))


def title(name: str) -> str:
    """What an example is about: the heading of its page."""
    first = (EXAMPLES / name / "README.md").read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ")


def opening(name: str) -> str:
    """The first sentence of an example's page; where that is a short one, the second too."""
    page = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    first, _, rest = page.split("\n\n")[1].replace("\n", " ").partition(". ")
    second = f" {rest.partition('. ')[0].rstrip('.')}." if rest and len(first) < _SHORT else ""
    return f"{first.rstrip('.')}.{second}"


def program_of(name: str) -> Path:
    return EXAMPLES / name / f"{name}.psg"


def data_of(name: str) -> Path:
    """The facts of an example; where there are a few to read and many to watch, the many."""
    return max((EXAMPLES / name).glob("*.jsonl"), key=lambda path: path.stat().st_size)


def what_to_type(name: str) -> list[str]:
    """The first commands of an example's page, those with their output shown (`$ …`) and those without."""
    page = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^(?:\$ )?(presage \w+ .*)$", page, flags=re.MULTILINE)[:_COMMANDS_SHOWN]


def run(options: argparse.Namespace) -> int:
    if options.name is not None and options.all:
        raise PresageError("either one example, or --all of them")
    if options.name is None and not options.all:
        _list(options.json)
        return FINE
    known = names()
    if options.name is not None and options.name not in known:
        near = nearest(options.name, known)
        hint = f"did you mean `{near}`?" if near else f"there are {', '.join(known)}"
        raise PresageError(f"there is no example `{options.name}`; {hint}")
    chosen = known if options.all else [options.name]
    targets = {name: options.to / name for name in chosen}
    for target in targets.values():
        if target.exists():
            raise PresageError(
                f"{target} is there already, and is not overwritten: rename it, or copy with --to FOLDER"
            )
    for name, target in targets.items():
        try:
            shutil.copytree(EXAMPLES / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        except OSError as found:
            raise PresageError(f"{target}: cannot be written ({found.strerror or found})") from None
        print(f"{target}/  {title(name)}")
    print("\nRead" if options.to == Path() else f"\nIn {options.to}, read", _joined(chosen))
    if len(chosen) == 1:
        print("and type, for a start:\n")
        print("\n".join(f"  {command}" for command in what_to_type(chosen[0])))
    return FINE


def _list(as_json: bool) -> None:
    width = max(map(len, names()))
    for name in names():
        if as_json:
            print(json.dumps({"name": name, "title": title(name), "folder": str(EXAMPLES / name)}, ensure_ascii=False))
        else:
            print(f"{name:<{width}}  {title(name)}")
    if not as_json:
        print("\n`presage examples NAME` copies one into your folder.")


def _joined(chosen: list[str]) -> str:
    return f"{chosen[0]}/README.md" if len(chosen) == 1 else "the README.md of each"
