"""Facts from the variables of a notebook: tables, lists of facts, or mappings from predicates to either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from presage.errors import PresageError, nearest
from presage.io.facts import Checker, Fact
from presage.io.tables import TableReader


class Variables:
    """The variables of a notebook, by name."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known

    def get(self, name: str) -> Any:
        if name not in self.known:
            own = [each for each in self.known if not each.startswith("_")]
            near = nearest(name, own)
            hint = f"; did you mean `{near}`?" if near else ": set it in a cell above"
            raise PresageError(f"there is no variable `{name}`{hint}")
        return self.known[name]

    def facts(self, words: Sequence[str], checker: Checker) -> Iterator[Fact]:
        """The facts that words such as `readings` or `temp=readings` name."""
        for word in words:
            predicate, _, name = word.rpartition("=")
            value = self.get(name)
            if predicate:
                yield from _of(predicate, value, checker)
            elif isinstance(value, Mapping):
                for each, rows in value.items():
                    yield from _of(str(each), rows, checker)
            elif _is_table(value):
                yield from _of(_only_input(name, checker), value, checker)
            else:
                yield from _listed(name, value, checker)


def _is_table(value: Any) -> bool:
    return any(hasattr(value, each) for each in ("to_arrow", "iloc", "column_names", "__dataframe__"))


def _only_input(name: str, checker: Checker) -> str:
    """The predicate a table without one is about: that of its name, or the only one there is."""
    inputs = [each.name for each in checker.predicates.values() if each.is_input or each.is_static]
    if name in inputs:
        return name
    if len(inputs) == 1:
        return inputs[0]
    raise PresageError(
        f"`{name}`: which predicate is it about? Write {' or '.join(f'`{each}={name}`' for each in inputs[:3])}"
    )


def _of(predicate: str, rows: Any, checker: Checker) -> Iterator[Fact]:
    """Facts of one predicate: a table, or rows of arguments, each followed by its time unless they are static."""
    if _is_table(rows):
        read = TableReader(checker).read(predicate, rows)
        yield from read if isinstance(read, list) else read.facts()
        return
    known = checker.known(predicate, f"`{predicate}`")
    for number, row in enumerate(_sequence(predicate, rows), 1):
        where = f"`{predicate}`, row {number}"
        cells = list(row) if isinstance(row, Sequence) and not isinstance(row, str) else [row]
        entry: dict[str, Any] = {"pred": predicate, "args": cells}
        if not known.is_static:
            if len(cells) != known.arity + 1:
                raise PresageError(f"{where}: a row has {known.arity} arguments and a time, and this one is {row!r}")
            entry["args"], entry["time"] = cells[:-1], cells[-1]
        yield checker.fact(entry, where)


def _listed(name: str, value: Any, checker: Checker) -> Iterator[Fact]:
    """Facts as `Reasoner.push` takes them, or as JSON lines have them."""
    for number, each in enumerate(_sequence(name, value), 1):
        where = f"`{name}`, fact {number}"
        if isinstance(each, Mapping):
            yield checker.fact(dict(each), where)
            continue
        if not isinstance(each, tuple) or len(each) not in (2, 3) or isinstance(each[1], str):
            example = '("temp", ("wt25", "high"), 0)'
            raise PresageError(
                f"{where}: a fact is (predicate, arguments, time), such as {example}, and this is {each!r}"
            )
        entry: dict[str, Any] = {"pred": each[0], "args": list(each[1])}
        if len(each) == 3 and isinstance(each[2], tuple):
            entry.update(zip(("from", "to", "bounds"), each[2], strict=False))
        elif len(each) == 3:
            entry["time"] = each[2]
        yield checker.fact(entry, where)


def _sequence(name: str, value: Any) -> Sequence[Any]:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return value
    kind = type(value).__name__
    raise PresageError(
        f"`{name}` is a {kind}: facts are a table, a list of facts, or a mapping from predicates to rows"
    )
