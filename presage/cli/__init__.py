"""The `presage` command.

One module per command, in a table; each says how it is called and what it does. Whatever goes wrong
ends in a message and an exit status: 0 fine, 1 the input is wrong, 2 the call is wrong. Heavy
libraries are imported by the commands that need them, not here.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from presage import notices
from presage.errors import PresageError, PresageWarning, nearest

FINE, WRONG_INPUT, WRONG_CALL = 0, 1, 2

COMMANDS = (
    "run",
    "watch",
    "pipeline",
    "serve",
    "demo",
    "explain",
    "test",
    "ask",
    "models",
    "check",
    "plan",
    "fmt",
    "translate",
    "examples",
    "init",
    "repl",
    "lsp",
)


def make_parser(named: str = "") -> argparse.ArgumentParser:
    """The parser of the command line, with all commands; where one is named that there is, with that one alone."""
    from importlib import import_module

    import presage

    parser = argparse.ArgumentParser(
        prog="presage",
        description="Continuous queries over data streams: what is true, and what may come true.",
        epilog="`presage COMMAND --help` shows a command's options and an example.",
    )
    parser.add_argument("--version", action="version", version=f"presage {presage.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name in (named,) if named in COMMANDS else COMMANDS:
        module = import_module(f"presage.cli.{name}")
        command = commands.add_parser(
            name,
            help=module.SUMMARY,
            description=module.DESCRIPTION,
            epilog=module.EXAMPLE,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
    line: str | None = None,
) -> None:  # fmt: skip
    """What is said about the data in words; what is for developers, as Python does."""
    if issubclass(category, PresageWarning):
        print(f"presage: {message}", file=file or sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if argv is None else list(argv)
    _open_what_is_closed()
    parser = make_parser(given[0] if given else "")
    if not given:
        parser.print_help()
        return FINE
    near = None if given[0] in COMMANDS or given[0].startswith("-") else nearest(given[0], COMMANDS)
    if near:
        print(f"presage: there is no command `{given[0]}`; did you mean `{near}`?", file=sys.stderr)
        return WRONG_CALL
    warnings.showwarning = _show_warning
    if os.environ.get("PRESAGE_NOTICES") != "off":
        # Who compares what is said on standard error wants the same at the first start as at the second.
        notices.listen(_say)
    try:
        options, unknown = parser.parse_known_args(given)
        if unknown:
            print(_unknown(options.command, unknown[0], parser), file=sys.stderr)
            return WRONG_CALL
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else WRONG_CALL
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _drop_output()
        except OSError as problem:
            code = code or _not_written(problem)
        return code
    except PresageError as problem:
        print(problem, file=sys.stderr)
        return WRONG_INPUT
    except BrokenPipeError:
        # The reader has seen enough, as in `presage check p.psg | head -1`.
        _drop_output()
        return FINE
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except RecursionError:
        print("presage: the program is nested too deeply", file=sys.stderr)
        return WRONG_INPUT
    except OSError as problem:
        return _not_written(problem)
    finally:
        notices.forget(_say)


def _open_what_is_closed() -> None:
    """Who closes an output (`>&-`) wants nothing of it; and no other file may get its number."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115


def _not_written(problem: OSError) -> int:
    """Such as a full disk below what is written. What could not be written would be tried again at the end."""
    print(f"presage: {problem.strerror or problem}{_of(problem)}", file=sys.stderr)
    _drop_output()
    return WRONG_INPUT


def _unknown(command: str, word: str, parser: argparse.ArgumentParser) -> str:
    """What is said of an option that a command does not have, or of a word too many."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    there = [option for action in commands.choices[command]._actions for option in action.option_strings]
    near = nearest(word.split("=", 1)[0], there) if word.startswith("-") else None
    said = f"has no option `{word}`" if word.startswith("-") else f"does not know what to do with `{word}`"
    hint = f"did you mean `{near}`?" if near else f"`presage {command} --help` shows what it takes"
    return f"presage: {command} {said}; {hint}"


def _of(problem: OSError) -> str:
    return f": {problem.filename}" if problem.filename else " (writing to standard output)" * _is_output(problem)


def _is_output(problem: OSError) -> bool:
    return problem.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)


def _drop_output() -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(text: str) -> None:
    print(f"presage: {text}", file=sys.stderr)
