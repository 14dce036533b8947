"""Programs from files: the text of one, what it includes, and the file that belongs to it."""

from __future__ import annotations

import sys
from pathlib import Path

from presage.errors import Diagnostic, PresageError, ProgramError, Source, Span, neighbour
from presage.languages import PRESAGE, SECOND_FILES, language_of, read
from presage.parser import Parsed
from presage.parser.including import Folder, read_with_files


def read_program(text: str, name: str, folder: Folder | None = None) -> Parsed:
    """Reads a program in the language that its name says, and never fails: what is wrong is in `problems`."""
    return read_with_files(text, name, folder) if may_include(name) else read(text, name)


def may_include(name: str) -> bool:
    """Whether programs of its language may include files: those of our own."""
    return language_of(name) is PRESAGE


def text_beside(name: str) -> str | None:
    """The text of the file that belongs to a program, such as a signature: another one makes another program."""
    suffix = language_of(name).beside
    if not suffix:
        return None
    where = SECOND_FILES.get(suffix) or Path(name).with_suffix(suffix)
    return where.read_text(encoding="utf-8", errors="replace") if where.is_file() else None


def read_file(path: str | Path, what: str = "a program file (.psg)") -> str:
    """The text of a program, or of what else is named; whatever keeps it from being read becomes a message."""
    where = Path(path)
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else where.read_bytes()
    except IsADirectoryError:
        raise PresageError(f"{where}: this is a folder; give {what}") from None
    except FileNotFoundError:
        raise PresageError(f"{where}: there is no such file{neighbour(Path(path))}") from None
    except OSError as found:
        raise PresageError(f"{where}: the file cannot be read ({found.strerror})") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as found:
        line = data.count(b"\n", 0, found.start) + 1
        message = f"the file is not UTF-8 text (byte {found.start + 1}, line {line})"
        source = Source.of("", str(where))
        problem = Diagnostic("P101", message, Span(-1, -1), f"{what} is a text file; save it as UTF-8")
        raise ProgramError(source, [problem]) from None
