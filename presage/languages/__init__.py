"""The languages that programs are written in, by suffix: Presage's own, and those people already have.

A language is a reader from text to a `Program` whose spans lie in that very text, so that messages, explanations and
the page speak of the lines its author wrote. What rules cannot carry (a verdict over all infinite continuations,
events that are intervals) a language brings along as the program's `meaning`. A new language is a module with
`read(text, name)` and a line in the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePath
from typing import cast

from presage.errors import PresageError
from presage.parser import Parsed


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    """What `--from` calls it; with a full stop before it, the suffix of its files."""
    title: str
    module: str
    """Where its reader is; imported when a file of it is read."""
    comment: str = "%"
    """The sign that begins its comments."""
    beside: str = ""
    """The suffix of a second file, of the same name, that belongs to a program."""

    def read(self, text: str, name: str) -> Parsed:
        """Reads a program and never fails: what is wrong is in `problems`."""
        try:
            reader = import_module(self.module)
        except ModuleNotFoundError as missing:
            message = f"{name}: {self.title} is read by {missing.name}, which is not installed"
            raise PresageError(f"{message}: pip install 'presage-streams[languages]'") from None
        return cast(Parsed, reader.read(text, name))


PRESAGE = Language("psg", "Presage", "presage.parser")
LANGUAGES: tuple[Language, ...] = (
    PRESAGE,
    Language("dmtl", "DatalogMTL as MeTeoR writes it", "presage.languages.dmtl"),
    Language("cql", "CQL", "presage.languages.cql", "--"),
    Language("rq", "RDF stream queries: C-SPARQL, CQELS and RSP-QL", "presage.languages.rsp", "#"),
    Language("ltl", "LTL with past and bounds", "presage.languages.ltl"),
    Language("etalis", "ETALIS: event patterns over intervals", "presage.languages.etalis"),
    Language("mfotl", "MonPoly's formulas", "presage.languages.mfotl", "#", ".sig"),
    Language("decl", "Declare, as RuM writes it", "presage.languages.declare", "#"),
)

SUFFIXES = {each.name for each in LANGUAGES}

SECOND_FILES: dict[str, Path] = {}
"""By suffix, a file that is taken in place of the one beside a program; commands have an option for it."""


def language_of(name: str | PurePath) -> Language:
    """The language of a file; Presage's own where the suffix says nothing else."""
    suffix = PurePath(name).suffix.lower().removeprefix(".")
    return next((each for each in LANGUAGES if each.name == suffix), PRESAGE)


def language_called(name: str) -> Language:
    for each in LANGUAGES:
        if each.name == name.lower().removeprefix("."):
            return each
    known = ", ".join(each.name for each in LANGUAGES)
    raise PresageError(f"there is no language `{name}` (there are {known})")


def read(text: str, name: str) -> Parsed:
    """Reads a program in the language that the suffix of its name says."""
    return language_of(name).read(text, name)
