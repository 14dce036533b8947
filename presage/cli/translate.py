"""`presage translate`: a program of another language as a Presage program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from presage.cli import FINE
from presage.cli.options import in_the_call, params_in_the_call, params_of, set_argument, signature_argument

SUMMARY = "print a program of another language as a Presage program"
DESCRIPTION = """\
Prints a program of another language as a Presage program, with its comments, and a note on whatever has no
counterpart. Every command that takes a PROGRAM takes such files too, by their suffix."""
EXAMPLE = """\
example:
  presage translate rules.dmtl
  presage translate --from dmtl rules.txt"""


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("program", type=Path, metavar="FILE", help="a program file; - for standard input")
    signature_argument(command)
    set_argument(command)
    command.add_argument(
        "--from", dest="language", metavar="LANG", help="the language it is written in (default: as its suffix says)"
    )


def run(options: argparse.Namespace) -> int:
    from presage.languages import language_called
    from presage.languages.files import read_file
    from presage.languages.translation import translate

    language = None
    if options.language is not None:
        with in_the_call():
            language = language_called(options.language)
    text = read_file(options.program)
    with params_in_the_call():
        translated = translate(text, str(options.program), language, params_of(options))
    sys.stdout.write(translated)
    return FINE
