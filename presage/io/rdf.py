"""RDF in facts: terms as constants, and files of triples and quads.

An IRI is a text that begins with `<`; a number is a number; a plain literal is its text, unless that looks like one of
the others; everything else is a text in the form of N-Triples. So two terms are the same constant only if they mean the
same, numbers of different types aside.

A triple without a time is background knowledge. A named graph that says when it was generated (`prov:generatedAtTime`)
is a moment of a stream, whose name it may say (`dcterms:isPartOf`); so is a statement that is said to be of a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.model.terms import Number

if TYPE_CHECKING:
    from presage.io.facts import Checker, Fact

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMERIC = frozenset(
    XSD + each
    for each in (
        "integer",
        "decimal",
        "double",
        "float",
        "int",
        "long",
        "short",
        "byte",
        "nonNegativeInteger",
        "positiveInteger",
        "nonPositiveInteger",
        "negativeInteger",
        "unsignedInt",
        "unsignedLong",
        "unsignedShort",
        "unsignedByte",
    )
)
GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"
PART_OF = "<http://purl.org/dc/terms/isPartOf>"
REIFIES = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}


def literal(text: str, datatype: str = "", language: str = "") -> str | Number:
    """The constant that a literal is."""
    from presage.io.facts import exact

    if not language and datatype in NUMERIC:
        try:
            found = exact(text.strip().removeprefix("+"))
        except ValueError:
            found = None
        if found is not None:
            return found
    if not language and datatype in ("", XSD + "string") and not text.startswith(("<", '"', "_:")):
        return text
    quoted = '"' + "".join(ESCAPES.get(sign, sign) for sign in text) + '"'
    if language:
        return f"{quoted}@{language}"
    return quoted if datatype in ("", XSD + "string") else f"{quoted}^^<{datatype}>"


def constant(term: Any) -> str | Number:
    """The constant that a term of pyoxigraph is."""
    import pyoxigraph

    if isinstance(term, pyoxigraph.Literal):
        return literal(term.value, term.datatype.value, term.language or "")
    return str(term)


def read_rdf(path: Path, checker: Checker) -> Iterator[Fact]:
    from presage.io.facts import FactError

    try:
        import pyoxigraph
    except ImportError:
        raise FactError(
            f"{path}: RDF is read by pyoxigraph, which is not installed: pip install 'presage-streams[languages]'"
        ) from None
    form = {
        ".nt": pyoxigraph.RdfFormat.N_TRIPLES,
        ".ttl": pyoxigraph.RdfFormat.TURTLE,
        ".nq": pyoxigraph.RdfFormat.N_QUADS,
        ".trig": pyoxigraph.RdfFormat.TRIG,
        ".jsonld": pyoxigraph.RdfFormat.JSON_LD,
    }[path.suffix.lower()]
    try:
        quads = list(pyoxigraph.parse(path.read_bytes(), form, base_iri=path.resolve().as_uri()))
    except SyntaxError as found:
        line = f":{found.lineno}" if found.lineno else ""
        raise FactError(f"{path}{line}: this is not {form.name} ({found.msg})") from None
    for entry in entries(quads, str(path)):
        fact = checker.fact_if_named(entry, str(path))
        if fact is not None:
            yield fact


def entries(quads: list[Any], where: str) -> Iterator[dict[str, Any]]:
    """Facts, as objects of JSON lines."""
    import pyoxigraph

    from presage.io.facts import FactError

    times: dict[Any, Any] = {}
    streams: dict[Any, Any] = {}
    said: dict[Any, Any] = {}
    for quad in quads:
        predicate = str(quad.predicate)
        if predicate == GENERATED:
            if quad.subject in times:
                raise FactError(f"{where}: {quad.subject} is said to be of two times")
            times[quad.subject] = _time(quad.object, quad.subject, where)
        elif predicate == PART_OF:
            streams[quad.subject] = quad.object
        elif predicate == REIFIES:
            said[quad.subject] = quad.object
    graphs = {quad.graph_name for quad in quads}
    moments: dict[Any, list[Any]] = {}
    for each, triple in said.items():
        if each in times:
            moments.setdefault(triple, []).append(each)
    asserted = set()
    for quad in quads:
        if str(quad.predicate) in (GENERATED, PART_OF, REIFIES) and quad.subject in times:
            if quad.subject in graphs or quad.subject in said:
                continue  # about a moment, not part of one
        asserted.add(quad.triple)
        named = moments.get(quad.triple) or ([quad.graph_name] if quad.graph_name in times else [])
        for moment in named:
            yield _at(quad.triple, times[moment], streams.get(moment))
        if not named:
            is_default = isinstance(quad.graph_name, pyoxigraph.DefaultGraph)
            yield _at(quad.triple, None, None if is_default else quad.graph_name)
    for triple, named in moments.items():
        for moment in named if triple not in asserted else ():
            yield _at(triple, times[moment], streams.get(moment))


def _at(triple: Any, time: Any, graph: Any) -> dict[str, Any]:
    args = [constant(triple.subject), constant(triple.predicate), constant(triple.object)]
    entry: dict[str, Any] = {"pred": "triple", "args": args}
    if graph is not None:
        entry = {"pred": "quad", "args": [*args, constant(graph)]}
    return entry if time is None else {**entry, "time": time}


def _time(term: Any, subject: Any, where: str) -> Any:
    import pyoxigraph

    from presage.io.facts import FactError

    if not isinstance(term, pyoxigraph.Literal):
        raise FactError(f"{where}: the time of {subject} is a number or a timestamp, not {term}")
    found = constant(term)
    return term.value if isinstance(found, str) else found
