"""`presage fmt`: the canonical layout of a program."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from presage.cli import FINE, WRONG_INPUT
from presage.cli.options import params_in_the_call, params_of, program_argument
from presage.errors import PresageError

SUMMARY = "print a program in the canonical layout"
DESCRIPTION = """\
Prints a program in the canonical layout. Comments, and single blank lines between statements, stay
where they are. Parameters stay names; --set gives their declarations other values."""
EXAMPLE = """\
example:
  presage fmt rules.psg
  presage fmt --write rules.psg
  presage fmt --check rules.psg      (exits with 1 and shows the difference if it is not)"""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command)
    how = command.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="change nothing; exit with 1 if the layout is not canonical")
    how.add_argument("--write", action="store_true", help="change the file instead of printing")


def run(options: argparse.Namespace) -> int:
    from presage.languages import language_of
    from presage.languages.files import read_file
    from presage.layout import format_text

    path: Path = options.program
    if language_of(path).name != "psg":
        raise PresageError(
            f"{path}: `presage fmt` lays out Presage's own programs; `presage translate` makes one of it"
        )
    text = read_file(path)
    with params_in_the_call():
        formatted = format_text(text, str(path), params_of(options))
    if options.check:
        if formatted == text:
            return FINE
        change = difflib.unified_diff(
            text.splitlines(keepends=True), formatted.splitlines(keepends=True), str(path), "canonical"
        )
        sys.stdout.writelines(line if line.endswith("\n") else f"{line}\n" for line in change)
        print(f"{path}: not in the canonical layout; `presage fmt --write {path}` puts it right", file=sys.stderr)
        return WRONG_INPUT
    if options.write:
        if str(path) == "-":
            raise PresageError("standard input cannot be changed: leave out --write")
        if formatted != text:
            _replace(path, formatted)
        return FINE
    sys.stdout.write(formatted)
    return FINE


def _replace(path: Path, text: str) -> None:
    """Writes beside the file and moves into place, so that a full disk cannot cost the program."""
    beside = path.with_name(path.name + ".tmp")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.chmod(path.stat().st_mode)
        beside.replace(path)
    except OSError as found:
        beside.unlink(missing_ok=True)
        raise PresageError(f"{path}: cannot be written ({found.strerror})") from None
