"""Lines about individuals as Arrow tables: each template once, its times and values by the column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from presage.answers import show_answer_atom
from presage.hypothesis.courses.answer_templates import Template, WorkedOut
from presage.hypothesis.courses.chances import Chance, Chances
from presage.hypothesis.courses.comparing_texts import left_open
from presage.hypothesis.courses.conditions import PARTS
from presage.hypothesis.courses.shapes import Ref, ToldRows
from presage.hypothesis.courses.symbolic import Sum
from presage.model.printer import show_number
from presage.model.terms import number


class ConstantTexts:
    """The texts of constants by their numbers, each made once: as answers show them and, `plain`, as bindings do, texts
    without quotes. A number that has a value keeps it as long as the list of values is the same."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.shown = _Texts(values, lambda value: show_answer_atom("", (value,))[1:-1])
        self.plain = _Texts(values, _plain)


class _Texts:
    """Texts of constants as a column, from which lines take theirs."""

    def __init__(self, values: list[Any], show: Callable[[Any], str]) -> None:
        self.values, self.show = values, show
        self.places = np.full(64, -1, np.int32)
        self.column: Any = None

    def of(self, numbers: Any) -> Any:
        import pyarrow as pa

        if len(self.values) > len(self.places):
            more = np.full(2 * len(self.values) - len(self.places), -1, np.int32)
            self.places = np.concatenate([self.places, more])
        found = self.places[numbers]
        if not len(found) or found.min() < 0:
            missing = np.unique(numbers[found < 0])
            texts = pa.array([self.show(self.values[each]) for each in missing.tolist()], pa.string())
            before = 0 if self.column is None else len(self.column)
            self.places[missing] = np.arange(before, before + len(missing))
            self.column = texts if self.column is None else pa.concat_arrays([self.column, texts])
            found = self.places[numbers]
        return self.column.take(pa.array(found))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else show_number(value)


class OutcomeColumns:
    """The individuals of which one outcome is told."""

    def __init__(self, rows: ToldRows, names: ConstantTexts, chances: Chances) -> None:
        self.vectors, self.given, self.keys, self.per_unit = rows.vectors, rows.values, rows.keys, rows.per_unit
        self.names, self.chances = names, chances
        self.size = len(rows.keys)
        # Ways have premises in common, and a time or a name stands in many of them.
        self.parts: dict[Sum | Ref | WorkedOut, Any] = {}
        self.made: dict[tuple[Any, ...], Any] = {}
        self.listed: dict[tuple[Any, ...], Any] = {}

    def table(self, template: Template, schema: Any) -> Any:
        import pyarrow as pa

        fields = template.fields
        answer = self.text(fields["text"])
        known: dict[str, Any] = {
            "now": self.time(fields["now"], schema.field("now").type),
            "status": pa.repeat(fields["status"], self.size),
            "answer": answer,
            "key": answer if fields["key"] == fields["text"] else self.text(fields["key"]),
            "bindings": self._bindings(fields["bindings"], schema.field("bindings").type),
            "time": self.time(fields["time"], schema.field("time").type),
            "from": self.time(fields["start"], schema.field("from").type),
            "to": self.time(fields["end"], schema.field("to").type),
            "bounds": pa.repeat(fields["bounds"], self.size) if fields["bounds"] else None,
            "ways": self._ways(fields["ways"], fields["now"], schema.field("ways").type),
            "decided_by": self.time(fields["decided_by"], schema.field("decided_by").type),
            "confidence": self._likely(fields["confidence"], fields["now"]),
        }
        for name in ("because", "needs", "unless"):
            known[name] = self.texts(fields[name], schema.field(name).type)
        if fields["ways_left_out"] and "ways_left_out" in schema.names:
            known["ways_left_out"] = pa.repeat(
                pa.scalar(fields["ways_left_out"], schema.field("ways_left_out").type), self.size
            )
        columns = []
        for field in schema:
            found = known.get(field.name)
            columns.append(pa.nulls(self.size, field.type) if found is None else found)
        return pa.Table.from_arrays(columns, schema=schema)

    def time(self, total: Sum | None, kind: Any) -> Any:
        import pyarrow as pa

        if total is None:
            return None
        parts = self._parts(total)
        if pa.types.is_integer(kind):
            return pa.array(parts // self.per_unit, kind)
        return self._shown(parts, self.per_unit).cast(kind)

    def beginning(self, template: Template) -> Any:
        """When each answer is true, or begins to be, in parts of a unit; nothing where that is open."""
        import pyarrow as pa

        fields = template.fields
        total = fields["time"] if fields["time"] is not None else fields["start"]
        return pa.nulls(self.size, pa.int64()) if total is None else pa.array(self._parts(total))

    def _parts(self, total: Sum) -> Any:
        """A time, in parts of a unit."""
        return self._counted(total, self.per_unit)

    def _counted(self, total: Sum, per_unit: int) -> Any:
        """A sum of times or of values, in the parts that these are counted in."""
        found = np.full(self.size, int(total.constant * per_unit), np.int64)
        for place, factor in total.terms:
            found += factor * self.vectors[:, place]
        return found

    def _shown(self, parts: Any, per_unit: int) -> Any:
        import pyarrow as pa

        if per_unit == 1:
            return pa.array(parts).cast(pa.string())
        used, places = np.unique(parts, return_inverse=True)
        texts = [show_number(number(Fraction(each, per_unit))) for each in used.tolist()]
        return pa.array(texts, pa.string()).take(pa.array(places))

    def text(self, parts: Sequence[Any]) -> Any:
        """A text for each of them."""
        key = tuple(parts)
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = self._joined(parts)
        return found

    def _joined(self, parts: Sequence[Any]) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = [part if isinstance(part, str) else self._part(part) for part in parts]
        if not any(not isinstance(each, str) for each in columns):
            return pa.repeat("".join(columns), self.size)
        return pc.binary_join_element_wise(*columns, "") if len(columns) > 1 else columns[0]

    def _part(self, part: Sum | Ref | WorkedOut) -> Any:
        found = self.parts.get(part)
        if found is None:
            if isinstance(part, WorkedOut):
                found = self._shown(self._counted(part.total, PARTS), PARTS)
            elif isinstance(part, Sum):
                found = self._shown(self._parts(part), self.per_unit)
            else:
                found = self.names.shown.of((self.keys if part.kind == "key" else self.given)[:, part.what])
            self.parts[part] = found
        return found

    def texts(self, several: Sequence[Sequence[Any]], kind: Any) -> Any:
        """A list of texts for each of them."""
        key = tuple(map(tuple, several))
        found = self.listed.get(key)
        if found is None:
            found = self.listed[key] = self._lists(several, kind)
        return found

    def _lists(self, several: Sequence[Sequence[Any]], kind: Any) -> Any:
        import pyarrow as pa

        count = len(several)
        begins = pa.array(np.arange(0, count * self.size + 1, count, dtype=np.int32)) if count else None
        if begins is None:
            return pa.ListArray.from_arrays(
                pa.array(np.zeros(self.size + 1, np.int32)), pa.array([], kind.value_type), kind
            )
        columns = self._arranged([self.text(each) for each in several], several)
        if count == 1:
            return pa.ListArray.from_arrays(begins, columns[0], kind)
        order = np.arange(count * self.size).reshape(count, self.size).T.ravel()
        return pa.ListArray.from_arrays(begins, pa.concat_arrays(columns).take(pa.array(order)), kind)

    @staticmethod
    def _arranged(columns: list[Any], several: Sequence[Sequence[Any]]) -> list[Any]:
        """Columns of texts, those of each row in their order where that was left open."""
        import pyarrow as pa

        for begin, end in left_open([parts[0] if isinstance(parts[0], str) else "" for parts in several]):
            texts = np.stack([each.to_numpy(zero_copy_only=False) for each in columns[begin:end]], axis=1)
            texts.sort(axis=1)
            columns[begin:end] = [pa.array([each[1:] for each in some], pa.string()) for some in texts.T]
        return columns

    def _bindings(self, bindings: dict[str, Ref], kind: Any) -> Any:
        import pyarrow as pa

        count = len(bindings)
        names = pa.array(list(bindings), pa.string()).take(pa.array(np.tile(np.arange(count), self.size)))
        begins = pa.array(np.arange(self.size + 1, dtype=np.int32) * count)
        if not count:
            return pa.MapArray.from_arrays(begins, pa.array([], pa.string()), pa.array([], pa.string()), kind)
        columns = []
        for ref in bindings.values():
            if ref.kind in ("key", "value"):
                columns.append(self.names.plain.of((self.keys if ref.kind == "key" else self.given)[:, ref.what]))
            else:
                columns.append(pa.repeat(_plain(ref.what), self.size))
        order = np.arange(count * self.size).reshape(count, self.size).T.ravel()
        values = columns[0] if count == 1 else pa.concat_arrays(columns).take(pa.array(order))
        return pa.MapArray.from_arrays(begins, names, values, kind)

    def _likely(self, chance: Chance | None, now: Sum) -> Any:
        import pyarrow as pa

        if chance is None:
            return None
        if not chance.factors:
            return pa.repeat(pa.scalar(1.0), self.size)
        then = self._parts(now)
        away = [(self._parts(each) - then) // self.per_unit for each in chance.times]
        return pa.array(self.chances.column(chance, away), pa.float64())

    def _ways(self, ways: Sequence[dict[str, Any]], now: Sum, kind: Any) -> Any:
        import pyarrow as pa

        count = len(ways)
        begins = pa.array(np.arange(self.size + 1, dtype=np.int32) * count)
        if not count:
            return pa.ListArray.from_arrays(begins, pa.array([], kind.value_type), kind)
        fields = [kind.value_type.field(place) for place in range(kind.value_type.num_fields)]
        structs = []
        for way in ways:
            columns = []
            for field in fields:
                if field.name in ("because", "needs", "unless"):
                    columns.append(self.texts(way[field.name], field.type))
                elif field.name == "decided_by":
                    found = self.time(way["decided_by"], field.type)
                    columns.append(pa.nulls(self.size, field.type) if found is None else found)
                else:
                    likely = self._likely(way["confidence"], now)
                    columns.append(pa.nulls(self.size, field.type) if likely is None else likely)
            structs.append(pa.StructArray.from_arrays(columns, fields=fields))
        order = np.arange(count * self.size).reshape(count, self.size).T.ravel()
        return pa.ListArray.from_arrays(begins, pa.concat_arrays(structs).take(pa.array(order)), kind)
