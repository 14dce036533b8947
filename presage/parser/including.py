"""Programs of several files: `include "limits.psg".` gives way to the statements of that file.

All files of a program lie end to end in one `Source`, so a place in any of them is an offset like any other. A file is
read once however often it is named; one that includes itself, on whatever way, is a mistake.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from presage.errors import Diagnostic, Source
from presage.model.program import Program
from presage.model.statements import Include, Statement
from presage.parser import Parsed, read_part


@dataclass(frozen=True, slots=True)
class Folder:
    """Where the files lie that a text may include."""

    path: Path
    only_below: bool = False
    """Whether nothing outside of the folder is read: for texts that come from a page."""


def read_with_files(text: str, name: str, folder: Folder | None) -> Parsed:
    """Reads a program and what it includes, and never fails: what is wrong is in `problems`."""
    reading = _Reading(Source.of(text.removeprefix("\ufeff"), name), folder)
    parsed = read_part(reading.source)
    own = None if folder is None else (folder.path / Path(name).name).resolve()
    statements = reading.expand(parsed, Path() if folder is None else folder.path, () if own is None else (own,))
    program = Program(tuple(statements), source=reading.source)
    unread = parsed.unread | reading.unread
    return Parsed(program, parsed.comments, (*parsed.problems, *reading.problems), unread)


@dataclass(slots=True)
class _Reading:
    source: Source
    folder: Folder | None
    seen: set[Path] = field(default_factory=set)
    problems: list[Diagnostic] = field(default_factory=list)
    unread: frozenset[str] = frozenset()

    def expand(self, parsed: Parsed, beside: Path, through: tuple[Path, ...]) -> list[Statement]:
        """The statements of a file with those of the files it includes; `through` are the files on the way to it."""
        found: list[Statement] = []
        for statement in parsed.program.statements:
            if isinstance(statement, Include):
                found.extend(self._included(statement, beside, through))
            else:
                found.append(statement)
        return found

    def _included(self, statement: Include, beside: Path, through: tuple[Path, ...]) -> list[Statement]:
        if self.folder is None:
            hint = "give the folder, `presage.parse(text, folder=…)`, or read the program from its file"
            return self._refuse(statement, "a text without a folder has no files beside it", hint)
        path = beside / statement.path
        try:
            whole = path.resolve()
            if self.folder.only_below and not whole.is_relative_to(self.folder.path.resolve()):
                hint = "move it below that folder"
                return self._refuse(statement, "it is not below the folder of the program", hint)
            if whole in through:
                way = " includes ".join(f"`{each.name}`" for each in (*through[through.index(whole) :], whole))
                return self._refuse(statement, f"{way}: a circle", "put what both need into a file of its own")
            if whole in self.seen:
                return []
            text = path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            hint = "its path is relative to the file that includes it"
            return self._refuse(statement, f"there is no file {os.path.normpath(path)}", hint)
        except UnicodeDecodeError:
            return self._refuse(statement, "it is not UTF-8 text", "save it as UTF-8")
        except (OSError, ValueError) as refused:
            reason = refused.strerror if isinstance(refused, OSError) else "no such path"
            return self._refuse(statement, f"it cannot be read ({reason})", "a program file is a text file")
        self.seen.add(whole)
        self.source = self.source.with_file(text, os.path.normpath(path))
        parsed = read_part(self.source, self.source.included[-1].start)
        self.problems.extend(parsed.problems)
        self.unread |= parsed.unread
        return self.expand(parsed, path.parent, (*through, whole))

    def _refuse(self, statement: Include, why: str, hint: str) -> list[Statement]:
        message = f"`{statement.path}` cannot be included: {why}"
        self.problems.append(Diagnostic("F101", message, statement.span, hint))
        # What the file would have declared is missing all over the program: that is not worth a message each.
        self.unread |= {"include"}
        return []
