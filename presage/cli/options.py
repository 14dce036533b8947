"""Arguments that several commands take."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from presage.cli import WRONG_CALL
from presage.errors import PresageError, WrongParameter
from presage.io.unknown import IGNORE, REFUSE, Unknown

if TYPE_CHECKING:
    from presage.analysis.subject import Subject
    from presage.checking import Report
    from presage.io.facts import Checker
    from presage.io.files import FactsFile
    from presage.io.moments import Moments
    from presage.model.terms import Number
    from presage.run.choice import Choice

DEFAULT_HORIZON = 16


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
    set_argument(command)


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


def set_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        action="append",
        type=_setting,
        default=[],
        metavar="NAME=VALUE",
        help="another value for a parameter of the program (`param limit = 30.`); may be given several times",
    )


def _setting(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=VALUE, such as limit=40")
    return name.strip().removeprefix("$"), value


def params_of(options: argparse.Namespace) -> dict[str, str]:
    """What `--set` says, where a command has it."""
    return dict(getattr(options, "set", ()))


@contextmanager
def params_in_the_call() -> Iterator[None]:
    """What is wrong with `--set` is a mistake of the call."""
    try:
        yield
    except WrongParameter as found:
        wrong_call(f"--set: {found}")


def checked_program(
    options: argparse.Namespace,
    *,
    horizon: int = DEFAULT_HORIZON,
    chase_limit: int | None = None,
    warns: bool = True,
) -> Report:
    """The report on the program that a command names, its parameters as the call sets them."""
    from presage.checking import check_file
    from presage.cli.silence import tell_warnings

    with params_in_the_call():
        report = check_file(options.program, params=params_of(options), horizon=horizon, chase_limit=chase_limit)
    if warns:
        tell_warnings(report)
    return report


def facts_arguments(command: argparse.ArgumentParser, required: bool = True, piped: bool = False) -> None:
    """What a run takes: the facts, and how far to go. `piped`: they may come from standard input."""
    words = "files of facts (.jsonl, .csv, .parquet)" + ("; - for JSON lines from standard input" if piped else "")
    fact_files_arguments(command, required, words)
    command.add_argument("--static", nargs="+", type=Path, default=[], metavar="F", help="files of static facts")
    unknown_argument(command)
    command.add_argument("--until", metavar="N", help="the last step (default: when everything is settled)")


def fact_files_arguments(command: argparse.ArgumentParser, required: bool, words: str) -> None:
    command.add_argument(
        "--map",
        type=Path,
        metavar="F.toml",
        help="how the files of the next --facts become facts: which column or JSON key is which argument, which is the "
        "time, what to skip",
    )
    command.add_argument(
        "--facts", nargs="+", type=Path, action=_FactFiles, required=required, default=[], metavar="F", help=words
    )


class _FactFiles(argparse.Action):
    """Collects files; those after a `--map` are read by it."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        files: list[FactsFile] = list(values)
        if namespace.map is not None:
            from presage.pipeline.maps import MappedFile

            if Path("-") in files:
                parser.error("--map is about files: what comes from standard input is facts in JSON lines")
            files = [MappedFile(path, namespace.map) for path in values]
            namespace.map = None
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *files])


def unknown_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--unknown",
        choices=(REFUSE, IGNORE),
        default=REFUSE,
        help="facts of predicates, and columns, that the program does not name: refuse them (default), or ignore and "
        "count them",
    )


def read_as_asked(options: argparse.Namespace, checker: Checker) -> None:
    """Facts are read as `--unknown` says, where a command has it; a `--map` is about the files after it."""
    if getattr(options, "map", None) is not None:
        wrong_call(f"--map {options.map}: it says how the files of the next --facts become facts; none follows")
    checker.unknown = Unknown(getattr(options, "unknown", REFUSE) == IGNORE)


def tell_what_was_late(count: int) -> None:
    """Says how many facts took no part, since they came after they could."""
    said = "1 fact arrived too late and was" if count == 1 else f"{count} facts arrived too late and were"
    print(f"{said} left out", file=sys.stderr)


def tell_what_was_passed_over(checker: Checker) -> None:
    if checker.unknown is None:
        return
    if checker.unknown.told:
        print(checker.unknown.told, file=sys.stderr)
    for file, found in checker.unknown.skipped.items():
        rows = "1 row that is no fact was" if len(found) == 1 else f"{len(found)} rows that are no facts were"
        print(f"{file}: {rows} skipped; the first, {found[0]}", file=sys.stderr)


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


def times_arguments(command: argparse.ArgumentParser) -> None:
    """How times are shown."""
    command.add_argument(
        "--times",
        choices=("ticks", "iso"),
        help="how times are shown: as numbers, or as timestamps (default: as the first fact says its time)",
    )
    command.add_argument("--zone", metavar="Z", help="the zone of timestamps, such as Europe/Vienna (default: UTC)")


def shown_times(subject: Subject, checker: Checker, options: argparse.Namespace) -> Callable[[], Moments | None]:
    """How times are shown, asked when the first line is written: what comes from standard input is read by then."""
    from presage.io.facts import ISO
    from presage.io.moments import Moments, zone_called

    with in_the_call():
        zone = zone_called(options.zone or "UTC")
        if (options.times == ISO or options.zone) and checker.units.tick is None:
            raise PresageError(
                f"--{'times iso' if options.times == ISO else 'zone'}: times are numbers without a `tick`"
            )

    def shown() -> Moments | None:
        return Moments(subject, checker.units, zone) if (options.times or checker.times) == ISO else None

    return shown


def check_because(options: argparse.Namespace) -> None:
    if options.because and options.emit != "confirmed":
        wrong_call("--because goes with --emit confirmed: the other answer lines say it anyway")


def choice_of(options: argparse.Namespace) -> Choice:
    """Which open answers are told, and how much of them."""
    from presage.run.choice import Choice

    return Choice(
        options.min_confidence,
        options.top,
        options.max_open,
        options.confidence_step,
        options.everybody,
        options.ways,
    )


def pull_asked(checker: Checker, discrete: bool, given: str | None) -> Number | None:
    """The length between answers, in time units."""
    if given is None:
        return None
    pull = checker.length(given, "--every")
    if pull <= 0:
        raise PresageError("--every: answers are given every so often: a length of more than 0")
    if discrete and not isinstance(pull, int):
        raise PresageError(f"--every: {given} is not a whole number of time units, as on the discrete timeline")
    return pull
