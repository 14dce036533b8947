"""`presage lsp`: the language server that editors start."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys

from presage.cli import FINE
from presage.errors import PresageError

SUMMARY = "the language server, for editors"
DESCRIPTION = """\
Speaks the language server protocol over standard input and output; editors start it. It has messages as you type with
quick fixes, hover (what a predicate is, when it is settled, what it needs), completion, definitions, uses, renaming,
outline and formatting. Needs pygls: pip install 'presage-streams[editor]'"""
EXAMPLE = """\
example:
  presage lsp"""


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--stdio", action="store_true", help="standard input and output (the only way, and the default)"
    )


def run(options: argparse.Namespace) -> int:
    try:
        import pygls  # noqa: F401
    except ImportError as missing:
        raise PresageError(
            f"`presage lsp` needs {missing.name}, which is not installed: pip install 'presage-streams[editor]'"
        ) from None
    from presage.editor.server import make_server

    # Whatever else is printed must not get between the messages; and the server closes what it writes to.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, contextlib.redirect_stdout(sys.stderr):
        make_server().start_io(sys.stdin.buffer, out)
    return FINE
