"""A check report for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from presage.checking.needs import needs
from presage.checking.verdicts import reasons
from presage.errors import render
from presage.model.printer import show_number, show_query
from presage.model.terms import Number

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from presage.checking import Findings, Report


def print_report(report: Report) -> None:
    from rich.console import Console

    _print(report, Console(highlight=False, soft_wrap=False))


def report_text(report: Report) -> str:
    """The same without colours, for notebooks and logs."""
    import io

    from rich.console import Console

    out = io.StringIO()
    _print(report, Console(file=out, width=100, highlight=False, color_system=None))
    return out.getvalue()


def _print(report: Report, console: Console) -> None:
    found = report.findings
    if found is None:
        console.print(render(report.source, report.problems), markup=False)
        return
    console.print(f"{report.source.name}", style="bold", markup=False)
    console.print(_needs(report))
    console.rule("the theory", style="dim", align="left")
    console.print(_table("Predicates", PREDICATE_COLUMNS, predicate_rows(report)))
    console.print(_table("\nQueries", QUERY_COLUMNS, query_rows(found)))
    console.print(_answers(found))


def _needs(report: Report) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, said in needs(report):
        table.add_row(name, Text("\n".join(said)))
    return table


def _table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> RenderableType:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    return table


PREDICATE_COLUMNS = ("name", "kind", "arity", "delay", "columns")


def predicate_rows(report: Report) -> Iterator[tuple[str, ...]]:
    """What is said of each predicate, here and in notebooks."""
    for name, each in sorted(report.predicates.items(), key=lambda pair: (_KINDS.index(pair[1].kind), pair[0])):
        kind = "input and derived" if each.is_input and each.kind == "derived" else each.kind
        columns = ", ".join(column.name for column in each.columns)
        yield name, kind, str(each.arity), _number(each.delay, ""), columns


_KINDS = ("input", "static", "derived")


QUERY_COLUMNS = ("query", "settled after", "looks back", "possible answers")


def query_rows(found: Findings) -> Iterator[tuple[str, str, str, str]]:
    """What is said of each query, here and in notebooks."""
    for each in found.queries:
        yield (
            show_query(each.query),
            _number(each.reach.delay, "never for sure"),
            _number(each.reach.window, "without limit"),
            "yes" if each.hypothetical.possible else "no, confirmed ones only",
        )


def _answers(found: Findings) -> RenderableType:
    from rich.table import Table

    why = reasons(found)
    table = Table(title="\nProperties", title_justify="left", box=None, pad_edge=False)
    table.add_column("property", no_wrap=True)
    table.add_column("")
    table.add_column("because", overflow="fold")
    for name, answer in properties(found):
        table.add_row(name.replace("_", " "), answer, "\n".join(why.get(name, ())))
    return table


def properties(found: Findings) -> Iterator[tuple[str, str]]:
    """What is said of a program, property by property, here and in notebooks."""
    subject = found.subject
    yield "timeline", subject.timeline
    yield "reading", subject.program.reading
    yield "engine", found.route.engine
    yield "recursive", _yes(bool(subject.recursive_predicates))
    yield "connected", _yes(not found.disconnected)
    yield "hypothetical", _yes(all(each.hypothetical.possible for each in found.queries))
    yield "t_stratified", _yes(found.strata.stratified)
    yield "stream_stratified", _yes(not found.window_cycle)
    yield "forward_propagating", _yes(not found.obstacles)
    yield "weakly_acyclic", _yes(found.weakly_acyclic.acyclic)
    yield "temporally_weakly_acyclic", _yes(found.temporally_weakly_acyclic.acyclic)
    yield "model_faithful_acyclic", _yes(found.model_faithful_acyclic.acyclic)
    yield "granularity", _number(found.granularity, "no interval")
    yield "memory_bound", _memory(found)
    key = found.partition.columns
    shown = "; ".join(f"{name} by {', '.join(columns)}" for name, columns in key.items()) if key else "none: one shard"
    yield "partition_key", shown


def _memory(found: Findings) -> str:
    if found.memory is None:
        return "not known"
    kept = f"facts are kept {_number(found.memory.keeps, 'for ever')} time units"
    if found.memory.history:
        kept += ", and that something ever held"
    return "\n".join([kept, *(f"Theorem {n}: {text}" for n, text in found.memory.theorems.items())])


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _number(value: Number | None, otherwise: str) -> str:
    return otherwise if value is None else show_number(value)
