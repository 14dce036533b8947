"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from presage.cli import WRONG_CALL
from presage.errors import PresageError


def wrong_call(message: str) -> NoReturn:
    """Ends a command whose options do not go together, as argparse does."""
    print(f"presage: {message}", file=sys.stderr)
    raise SystemExit(WRONG_CALL)


@contextmanager
def in_the_call() -> Iterator[None]:
    """What is wrong with an option that only the program can tell is a matter of the call nevertheless."""
    try:
        yield
    except PresageError as found:
        wrong_call(str(found))


def program_argument(command: argparse.ArgumentParser, required: bool = True) -> None:
    words = "a program file (.psg); - for standard input"
    command.add_argument("program", type=Path, metavar="PROGRAM", nargs=None if required else "?", help=words)
    signature_argument(command)


def signature_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--signature",
        type=_signature,
        metavar="F",
        help="of a MonPoly formula (.mfotl): its signature (default: the file of the same name with .sig)",
    )


def _signature(text: str) -> Path:
    from presage.languages import SECOND_FILES

    SECOND_FILES[".sig"] = Path(text)
    return Path(text)


def facts_arguments(command: argparse.ArgumentParser, required: bool = True, piped: bool = False) -> None:
    """What a run takes: the facts, and how far to go. `piped`: they may come from standard input."""
    command.add_argument(
        "--facts",
        nargs="+",
        type=Path,
        required=required,
        default=[],
        metavar="F",
        help="files of facts (.jsonl, .csv, .parquet)" + ("; - for JSON lines from standard input" if piped else ""),
    )
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    command.add_argument("--until", metavar="N", help="the last step (default: when everything is settled)")


def positive_count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return value


def output_path(text: str) -> Path:
    from presage.io.output import check_suffix

    try:
        check_suffix(Path(text))
    except PresageError as found:
        raise argparse.ArgumentTypeError(str(found)) from None
    return Path(text)
