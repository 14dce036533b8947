"""A pipeline file read: its tables as values of the kinds they must have, and everything that is wrong with them.

What can be seen in the file alone is seen here; `checking` holds it against the program and the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from presage.errors import Diagnostic, Source, nearest
from presage.languages.files import read_file
from presage.pipeline import toml
from presage.pipeline.keys import (
    BY_QUERY,
    DESCRIBE_THEMSELVES,
    NAMED,
    OF_MAP,
    PLAIN,
    REQUIRED_TABLES,
    TEXT,
    WHOLE,
    Key,
    key_of,
    keys_of,
)
from presage.pipeline.secrets import Hidden, has_literal, is_secret, is_variable, masked, references, resolved
from presage.pipeline.toml import TomlDocument

AVAILABLE_NOW = "available-now"
_DURATION = re.compile(r"(\d+)\s*(ms|s|m|h)")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours"}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_ENDING = "_env"
_SQL = (("where",), ("query",), ("columns",), ("time",))
"""Keys of SQL, where `token = 'a'` is a condition."""


@dataclass(frozen=True)
class Part:
    """A source, a table or a sink, its values as Spark is to get them: variables of the environment put in."""

    section: str
    name: str
    values: Mapping[str, Any]

    @property
    def format(self) -> str:
        return str(self.values["format"])

    @property
    def place(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def is_self_describing(self) -> bool:
        """Whether what comes is facts, each with its predicate, and not rows of columns."""
        return self.format in DESCRIBE_THEMSELVES and not self.values.keys() & {"schema", "columns"}

    def text(self, key: str, otherwise: str = "") -> str:
        return str(self.values.get(key, otherwise))

    def table(self, key: str) -> dict[str, str]:
        """A table of names or settings, its values as Spark takes them."""
        return {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in self.values.get(key, {}).items()
        }


@dataclass
class Pipeline:
    path: Path
    document: TomlDocument
    values: dict[str, Any] = field(default_factory=dict)
    """The keys above all tables."""
    parts: dict[str, list[Part]] = field(default_factory=lambda: {name: [] for name in NAMED})
    alerts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What is said of a query's alerts, by its predicate."""
    serve: dict[str, Any] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)
    """Values for the program's parameters."""
    metrics: dict[str, Any] = field(default_factory=dict)
    spark: dict[str, Any] = field(default_factory=dict)
    hidden: Hidden = field(default_factory=Hidden)
    problems: list[Diagnostic] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.values.get("name", self.path.stem))

    @property
    def streams(self) -> bool:
        return bool(self.values.get("mode", "stream") == "stream")

    @property
    def emit(self) -> str:
        return str(self.values.get("emit", "changes"))

    @property
    def shards(self) -> int:
        return int(self.values.get("shards", 8))

    @property
    def trigger(self) -> dict[str, Any]:
        """When a micro-batch begins, as Spark is told it."""
        said = self.values.get("trigger")
        if said == AVAILABLE_NOW:
            return {"availableNow": True}
        found = _DURATION.fullmatch(said or "0s")
        assert found is not None
        return {"processingTime": f"{found[1]} {_UNITS[found[2]]}"}

    @property
    def takes_what_there_is(self) -> bool:
        return bool(self.values.get("trigger") == AVAILABLE_NOW)

    @property
    def trigger_seconds(self) -> float | None:
        said = self.values.get("trigger")
        return None if said is None or said == AVAILABLE_NOW else seconds_in(said)

    @property
    def clock(self) -> str:
        """What moves the clock: `facts`, `wall`, or facts and how long none may come."""
        return str(self.values.get("clock", "facts"))

    @property
    def idle_seconds(self) -> float | None:
        """How long no fact may come before time goes on by itself."""
        return None if self.clock in ("facts", "wall") else seconds_in(self.clock)

    def local(self, given: str) -> str:
        """A path as the file means it: from its own folder, unless it is an address."""
        return given if "://" in given else str(self.path.parent / given)

    def problem(self, code: str, path: toml.Path, message: str, hint: str, *, severity: str = "error") -> None:
        """Something wrong with a value, or with a table that lacks one."""
        said = self.document.value(path) if path in self.document.places else self.document.key(path)
        self.problems.append(Diagnostic(code, message, said, hint, severity=severity))

    def problem_of_key(self, code: str, path: toml.Path, message: str, hint: str, *, severity: str = "error") -> None:
        self.problems.append(Diagnostic(code, message, self.document.key(path), hint, severity=severity))


def read_pipeline(path: Path, environment: Mapping[str, str]) -> Pipeline:
    """A pipeline with its problems; raises `ProgramError` for what is not TOML at all."""
    text = read_file(path, "a pipeline file (.toml)")
    document = toml.read_document(text, Source.of(masked(text), str(path)))
    pipeline = Pipeline(path, document)
    Reader(pipeline, environment).read()
    return pipeline


class Reader:
    def __init__(self, pipeline: Pipeline, environment: Mapping[str, str]) -> None:
        self.pipeline, self.environment = pipeline, environment
        self.problem, self.problem_of_key = pipeline.problem, pipeline.problem_of_key

    def read(self) -> None:
        given = self.pipeline.document.values
        tables = [*NAMED, BY_QUERY, "params", *PLAIN]
        top = {name: value for name, value in given.items() if name not in tables}
        self.pipeline.values = self._keys("", (), top, other=tables)
        for section in NAMED:
            self._named(section, given.get(section, {}))
        self._alerts(given.get(BY_QUERY, {}))
        for section in PLAIN:
            if section in given and self._is_table((section,), given[section]):
                setattr(self.pipeline, section, self._keys(section, (section,), given[section]))
        if "params" in given and self._is_table(("params",), given["params"]):
            self.pipeline.params = self._params(given["params"])
        self._check_top()

    def _params(self, given: dict[str, Any]) -> dict[str, Any]:
        """Values for the program's parameters; what each must be, its default says."""
        found: dict[str, Any] = {}
        for name, value in given.items():
            path = ("params", name)
            if not isinstance(value, (str, int, float, datetime)):
                hint = 'write a number, a timestamp, or in quotes a text or a duration such as "5m"'
                self.problem("C104", path, "this is not the value of a parameter", hint)
            elif self._is_safe(path, value):
                found[name] = self._resolved(path, value)
        return found

    def _named(self, section: str, given: Any) -> None:
        if not self._is_table((section,), given):
            return
        if not given and section in REQUIRED_TABLES:
            what = "facts come from" if section == "sources" else "answers go to"
            example = "[sources.temp]" if section == "sources" else "[sinks.screen]"
            self.problem("C103", (section,), f"there is nothing that {what}", f"add a table such as `{example}`")
        for name, values in given.items():
            path = (section, name)
            if not self._is_table(path, values):
                continue
            found = self._keys(section, path, values)
            if "format" in found:
                self.pipeline.parts[section].append(Part(section, name, found))

    def _alerts(self, given: Any) -> None:
        if not self._is_table((BY_QUERY,), given):
            return
        for name, values in given.items():
            if self._is_table((BY_QUERY, name), values):
                self.pipeline.alerts[name] = self._keys(BY_QUERY, (BY_QUERY, name), values)

    def _is_table(self, path: toml.Path, given: Any) -> bool:
        if isinstance(given, dict):
            return True
        title = ".".join(map(str, path))
        example = f"[{title}]" if len(path) > 1 or title not in NAMED else f"[{title}.{_EXAMPLES[title]}]"
        self.problem("C104", path, f"`{title}` is a table", f"write `{example}`, and its keys below")
        return False

    def map_keys(self, path: toml.Path, given: dict[str, Any]) -> dict[str, Any]:
        """The keys of a map."""
        found: dict[str, Any] = self._keys(OF_MAP, path, given)
        return found

    def _keys(self, section: str, path: toml.Path, given: dict[str, Any], other: list[str] | None = None) -> Any:
        """The keys of a table that are as they must be."""
        chosen = given.get("format") if section in NAMED else None
        known = {key.name: key for key in keys_of(section) if not key.formats or chosen in key.formats}
        found: dict[str, Any] = {}
        for name, value in given.items():
            key = known.get(name)
            if key is None and section == "spark" and name.startswith("spark."):
                key = Key(name, TEXT, "")
                value = str(value).lower() if isinstance(value, bool) else str(value) if type(value) is int else value
            if key is None:
                self._unknown(section, (*path, name), [*known, *(other or [])], chosen)
            elif self._fits(key, (*path, name), value) and self._is_safe((*path, name), value):
                read = self._resolved((*path, name), value)
                if self._says_something(key, (*path, name), read):
                    found[name] = read
        if section in NAMED and not isinstance(chosen, str):
            known = {"format": known["format"]}
        for key in known.values():
            if key.required and key.name not in given:
                where = f"[{'.'.join(map(str, path))}]" if path else "the file"
                self.problem_of_key(
                    "C103", path, f"{where} has no `{key.name}`: {key.meaning}", f"add `{key.name} = {key.example}`"
                )
        return found

    def _unknown(self, section: str, path: toml.Path, known: list[str], chosen: Any) -> None:
        name = str(path[-1])
        # Whatever somebody misspelled may have been a secret.
        self.pipeline.document = self.pipeline.document.hiding(path)
        elsewhere = key_of(section, name)
        if elsewhere is not None:
            formats = " or ".join(f"`{each}`" for each in elsewhere.formats)
            self.problem_of_key("C102", path, f"`{name}` is not for the format `{chosen}`", f"it is for {formats}")
            return
        if is_secret(name):
            hint = f'write `password_env = "NAME"`, or in `options`: {name} = "${{NAME}}"'
            self.problem_of_key("C108", path, f"`{name}` is no key, and secrets do not belong into the file", hint)
            return
        if (near := nearest(name, known)) is not None:
            hint = f"did you mean `{near}`?"
        else:
            hint = f"the keys here are {', '.join(f'`{each}`' for each in known)}"
        where = (
            f"[{'.'.join(map(str, path[:-1]))}]" if len(path) > 1 else "a map" if section == OF_MAP else "a pipeline"
        )
        self.problem_of_key("C102", path, f"{where} has no key `{name}`", hint)

    def _fits(self, key: Key, path: toml.Path, value: Any) -> bool:
        shown = ".".join(map(str, path))
        wanted = next((each for each in _wrong(key, value)), None)
        if wanted is not None:
            hint = f"for example `{key.name} = {key.example}`" if key.example else "text stands in quotes"
            self.problem("C104", path, f"`{shown}` is {wanted}, not {_described(value)}", hint)
            return False
        for place, each in enumerate(value if isinstance(value, list) else [value]):
            if key.choices and each not in key.choices:
                near = nearest(str(each), key.choices)
                hint = f"did you mean `{near}`?" if near else f"it is one of {', '.join(key.choices)}"
                at = (*path, place) if isinstance(value, list) else path
                self.problem("C104", at, f"`{each}` is not a {_CHOICE.get(key.name, key.name)}", hint)
                return False
        return True

    def _says_something(self, key: Key, path: toml.Path, value: Any) -> bool:
        """Refuses what is empty, also by way of the environment: an empty path would be the pipeline's own folder."""
        said = ""
        if isinstance(value, str) and not value.strip() and not key.name.endswith(_ENDING):
            said = f"`{'.'.join(map(str, path))}` is empty"
        elif key.kind == WHOLE and key.name != "port" and value < 1:
            said = f"`{key.name}` is at least 1"
        if said:
            hint = f"for example `{key.name} = {key.example}`, or leave it out" if key.example else "leave it out"
            self.problem("C104", path, said, hint)
        return not said

    def _texts(self, path: toml.Path, value: Any) -> Iterator[tuple[toml.Path, str]]:
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            for name, inner in value.items():
                yield from self._texts((*path, name), inner)
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                yield from self._texts((*path, place), inner)

    def _is_safe(self, path: toml.Path, value: Any) -> bool:
        """Refuses secrets in the file, and variables that are not set."""
        fine = True
        for at, text in self._texts(path, value):
            name = str(at[-1])
            is_sql = at[2:3] in _SQL or at[:1] in _SQL  # in a table of a source, or in a map
            if not is_sql and ((is_secret(name) and not references(text)) or has_literal(text)):
                hint = f'put it into the environment: {name} = "${{NAME}}"'
                self.problem("C108", at, f"`{name}` has a secret in the file", hint)
                fine = False
                continue
            named = [text] if name.endswith(_ENDING) else references(text)
            for variable in named:
                if variable not in self.environment and name.endswith(_ENDING) and not is_variable(variable):
                    hint = f'write the variable\'s name, as in {name} = "DB_PASSWORD", and put the secret into it'
                    self.problem("C108", at, f"`{name}` names a variable of the environment; this is none", hint)
                    fine = False
                elif variable not in self.environment:
                    said = f"the variable `{variable}` of the environment is not set"
                    self.problem("C107", at, said, f"export {variable}=…, then start the pipeline")
                    fine = False
        return fine

    def _resolved(self, path: toml.Path, value: Any) -> Any:
        """A value with the environment's put in; what comes from there is remembered, not to be printed."""
        if isinstance(value, dict):
            return {name: self._resolved((*path, name), inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._resolved((*path, place), inner) for place, inner in enumerate(value)]
        if not isinstance(value, str):
            return value
        name = str(path[-1])
        if name.endswith(_ENDING):
            self.pipeline.hidden.add(self.environment[value], surely=True)
            return self.environment[value]
        for variable in references(value):
            self.pipeline.hidden.add(self.environment[variable], surely=is_secret(name) or is_secret(variable))
        return resolved(value, self.environment)

    def _check_top(self) -> None:
        values, streams = self.pipeline.values, self.pipeline.streams
        if streams and "checkpoint" not in values and "checkpoint" not in self.pipeline.document.values:
            hint = 'add `checkpoint = "checkpoint"`, a folder of its own for each pipeline'
            self.problem_of_key(
                "C103", (), "the file has no `checkpoint`: where the stream remembers how far it is", hint
            )
        trigger = values.get("trigger")
        if trigger is not None and trigger != AVAILABLE_NOW and not _DURATION.fullmatch(trigger):
            hint = f'write a time such as "500ms", "10s" or "5m", or "{AVAILABLE_NOW}"'
            self.problem("C104", ("trigger",), f"`{trigger}` is no trigger", hint)
        clock = self.pipeline.clock
        if clock not in ("facts", "wall") and (not _DURATION.fullmatch(clock) or not seconds_in(clock)):
            hint = 'write "facts", "wall", or how long no fact may come before time goes on: "30s"'
            self.problem("C104", ("clock",), f"`{clock}` moves no clock", hint)
        for part in self.pipeline.parts["sinks"]:
            if not _DURATION.fullmatch(part.text("timeout", "10s")):
                hint = 'write a time such as "500ms" or "10s"'
                self.problem("C104", (part.section, part.name, "timeout"), "this is no length of time", hint)
        for name in ("checkpoint", "trigger", "clock"):
            if not streams and name in values:
                self.problem_of_key("C109", (name,), f"a batch has no `{name}`", f"leave out `{name}`, or the mode")
        for section in ("metrics", "serve"):
            port = getattr(self.pipeline, section).get("port", 0)
            if not 0 <= port <= 65_535:
                self.problem("C104", (section, "port"), f"{port} is not a port", "ports go from 1 to 65535")


_EXAMPLES = {"sources": "temp", "static": "owner", "tables": "owner", "sinks": "screen"}
_CHOICE = {"statuses": "status"}


def seconds_in(said: str) -> float:
    """How long a length of time as `500ms` or `5m` is."""
    found = _DURATION.fullmatch(said)
    assert found is not None
    return int(found[1]) * _SECONDS[found[2]]


def _wrong(key: Key, value: Any) -> Iterator[str]:
    """What the value must be, if it is something else."""
    match key.kind:
        case "text" if not isinstance(value, str):
            yield "text"
        case "whole number" if type(value) is not int:
            yield "a whole number"
        case "true or false" if not isinstance(value, bool):
            yield "true or false"
        case "list" if not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            yield "a list of texts"
        case "names" if not (isinstance(value, dict) and all(isinstance(each, str) for each in value.values())):
            yield "a table of texts"
        case "settings" if not (
            isinstance(value, dict) and all(isinstance(each, (str, int, float)) for each in value.values())
        ):
            yield "a table of texts and numbers"


def _described(value: Any) -> str:
    kinds = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date or time")
