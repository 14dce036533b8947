"""What `CONSTRUCT` gives as RDF: each time of the answers is a named graph that says when it was, as facts come in.

`name(S, P, O)@t` is a triple of the graph `<urn:presage:name:t>`, which is part of the stream `<urn:presage:name>`;
formats that know no graphs have the triples alone, each once. Only what is confirmed is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from presage.answers import Answer
from presage.errors import PresageError
from presage.io.moments import Moments
from presage.io.rdf import ESCAPES, GENERATED, PART_OF, XSD

SUFFIXES = (".nt", ".ttl", ".nq", ".trig", ".jsonld")
PLACES = ("S", "P", "O")
WITHOUT_GRAPHS = (".nt", ".ttl")


def term(value: Any) -> str:
    """A constant of an answer line in N-Triples: the opposite of `rdf.constant`."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise PresageError(f"{value!r} is no term of RDF")
    if isinstance(value, str):
        if value.startswith(("<", '"')):
            return value
        if value.startswith("_:"):
            return f"_:b{re.sub(r'[^0-9A-Za-z]', '_', value[2:])}"
        return '"' + "".join(ESCAPES.get(sign, sign) for sign in value) + '"'
    kind = "integer" if isinstance(value, int) else "decimal" if "e" not in repr(value) else "double"
    return f'"{value}"^^<{XSD}{kind}>'


class Quads:
    """Answer lines as lines of N-Quads, or without graphs of N-Triples."""

    def __init__(self, text: IO[str], graphs: bool) -> None:
        self.text, self.graphs = text, graphs
        self.known: set[str] = set()

    def write_columns(self, answers: Sequence[Answer], moments: Moments | None) -> bool:
        return False  # a triple may be in many answers, and is written once

    def write_line(self, line: dict[str, Any]) -> None:
        bindings = line.get("bindings")
        if bindings is None or not set(bindings) <= set(PLACES):
            raise PresageError("only the answers of a CONSTRUCT are written as RDF: write others as .jsonl")
        if line["status"] != "confirmed" or len(bindings) < len(PLACES):
            return
        triple = " ".join(term(bindings[each]) for each in PLACES)
        if not self.graphs:
            if triple not in self.known:
                self.known.add(triple)
                self.text.write(f"{triple} .\n")
            return
        stream = f"urn:presage:{str(line['answer']).partition('(')[0]}"
        for time in _times(line):
            graph = f"<{stream}:{time}>"
            if graph not in self.known:
                self.known.add(graph)
                kind = "dateTime" if isinstance(time, str) else "integer"
                self.text.write(f'{graph} {GENERATED} "{time}"^^<{XSD}{kind}> .\n{graph} {PART_OF} <{stream}> .\n')
            self.text.write(f"{triple} {graph} .\n")


def _times(line: dict[str, Any]) -> list[Any]:
    if line.get("time") is not None:
        return [line["time"]]
    first, last = line.get("from"), line.get("to")
    if isinstance(first, int) and isinstance(last, int):
        return list(range(first, last + 1))
    raise PresageError("a stretch of time by the clock has no graph of its own: use --times ticks, or .jsonl")


def writer_of(suffix: str) -> Callable[[Path, bool, tuple[str, ...], bool], Any]:
    @contextmanager
    def write(path: Path, whole_times: bool, more: tuple[str, ...], moments: bool) -> Iterator[Quads]:
        with path.open("w", encoding="utf-8") as text:
            yield Quads(text, suffix not in WITHOUT_GRAPHS)
        if suffix in (".ttl", ".trig", ".jsonld"):
            _rewritten(path, suffix)

    return write


def _rewritten(path: Path, suffix: str) -> None:
    """Lines of N-Quads in the form that was asked for."""
    try:
        import pyoxigraph
    except ImportError:
        hint = "pip install 'presage-streams[languages]', or write .nt or .nq"
        raise PresageError(f"`{suffix}` is written by pyoxigraph, which is not installed: {hint}") from None
    form = {
        ".ttl": pyoxigraph.RdfFormat.TURTLE,
        ".trig": pyoxigraph.RdfFormat.TRIG,
        ".jsonld": pyoxigraph.RdfFormat.JSON_LD,
    }[suffix]
    quads = pyoxigraph.parse(path.read_bytes(), pyoxigraph.RdfFormat.N_QUADS)
    written = pyoxigraph.serialize((each.triple for each in quads) if suffix == ".ttl" else quads, format=form)
    path.write_bytes(written or b"")
