"""Arguments that several commands take."""

from __future__ import annotations

import argparse
from pathlib import Path


def program_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument("program", type=Path, metavar="PROGRAM", help="a program file (.psg); - for standard input")


def positive_count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return value
