"""What a folder of `presage serve` was begun with, and what it goes on with: rules, alerts, static tables.

What is told is a function of the log, so whoever begins again works it off with what the pipeline file said then. The
folder says what that was at first, a snapshot what it was later; what the file says now is an entry of the log.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from presage.checking import Report, check_program
from presage.errors import PresageError
from presage.io.facts import Fact
from presage.model.program import Program
from presage.pipeline.reading import Pipeline
from presage.run.changed_queries import Slices, compared
from presage.run.saving import fingerprint_of, program_in, program_of
from presage.serve.folder import CheckpointFolder

_WORDS = {"emit": "`emit`", "clock": "`clock`", "most_per_key": "`most_per_key`"}


class BegunFolder:
    def __init__(self, folder: CheckpointFolder, pipeline: Pipeline, report: Report, statics: list[Fact]) -> None:
        self.folder, self.report = folder, report
        self.alerts: Mapping[str, Any] = {name: dict(table) for name, table in pipeline.alerts.items()}
        """What the file says of alerts now."""
        self.identity = self._identity(pipeline, _fingerprints(statics), _fingerprint(statics))

    def _identity(self, pipeline: Pipeline, static: dict[str, str], all_static: str) -> dict[str, Any]:
        """Whose folder it is; refuses that of something else."""
        about: dict[str, Any] = {
            "program": fingerprint_of(self.report.program),
            "emit": pipeline.emit,
            "static": static,
            "clock": "wall" if pipeline.values.get("clock") == "wall" else "facts",
            "most_per_key": pipeline.values.get("most_per_key"),
        }
        found = self.folder.identity()
        if found is None:
            if self.folder.has_snapshots or self.folder.log.last:
                raise PresageError(
                    f"{self.folder.path}: the checkpoint has lost its presage.json: restore it from a copy"
                )
            return self.folder.begin({**about, "rules": self.report.program.plain(), "alert_tables": self.alerts})
        changed = [word for name, word in _WORDS.items() if found.get(name) != about[name]]
        known = found.get("static")
        if not isinstance(known, dict):  # as it was written before tables were told apart
            if known != all_static:
                changed.append("a static table")
            known = static
        # A table that is new, or that nobody reads any more, is a matter of the rules.
        changed += [f"the static table {name}" for name in known if static.get(name, known[name]) != known[name]]
        if changed:
            raise PresageError(
                f"{self.folder.path}: {' and '.join(changed)} changed since the checkpoint was begun, and what is "
                "remembered does not fit: start with a new folder"
            )
        return found | {"static": {**known, **static}}

    # -- as it was ----------------------------------------------------------------------------------

    def rules_before(self, snapshot: bytes | None) -> Report:
        """The rules that the folder goes on with, whatever the file says now."""
        if snapshot is not None:
            program = program_in(snapshot)
        elif "rules" in self.identity:
            program = program_of(self.identity["rules"])
        elif self.identity["program"] == fingerprint_of(self.report.program):
            return self.report
        else:
            raise PresageError(
                f"{self.folder.path}: the program changed since the checkpoint was begun, by a version of Presage that "
                "did not keep the program with it: go on with the program as it was, or start with a new folder"
            )
        same = fingerprint_of(program) == fingerprint_of(self.report.program)
        return self.report if same else check_program(program).or_raise()

    def alerts_before(self, snapshot: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """What was said of alerts; folders of before did not keep it."""
        found: Mapping[str, Any] = (self.identity if snapshot is None else snapshot).get("alert_tables", self.alerts)
        return found

    # -- as it is -----------------------------------------------------------------------------------

    def changed(self, program: Program, alerts: Mapping[str, Any], backfill: bool) -> dict[str, Any] | None:
        """What is to be written to the log: the rules and the alerts of the file, where they are others."""
        found: dict[str, Any] = {}
        now = self.report.program
        if fingerprint_of(program) != fingerprint_of(now):
            for each in (program, now):
                if each.meaning is not None:
                    raise PresageError(
                        f"{self.folder.path}: the program changed since the checkpoint was begun, and "
                        f"{each.meaning.engine} has no rules that could be told apart: start with a new folder"
                    )
            found |= {"program": now.plain(), "history": self.folder.log.first if backfill else None}
            # What cannot be changed is told before it is written down.
            compared(Slices(check_program(program)), Slices(self.report))
        if alerts != self.alerts:
            found["alerts"] = self.alerts
        return found or None

    def note(self) -> None:
        """Notes that the folder goes on with the rules of the file."""
        self.identity |= {"program": fingerprint_of(self.report.program)}
        self.folder.change(self.identity)


def takes(report: Report, fact: Fact) -> bool:
    """Whether a program has a static predicate for a fact."""
    assert report.findings is not None
    known = report.findings.subject.predicates.get(fact.predicate)
    return known is not None and known.is_static and known.arity == len(fact.arguments)


def _fingerprints(statics: list[Fact]) -> dict[str, str]:
    """What tells static tables apart, by predicate."""
    names = {fact.predicate for fact in statics}
    return {name: _fingerprint([fact for fact in statics if fact.predicate == name]) for name in sorted(names)}


def _fingerprint(statics: list[Fact]) -> str:
    said = sorted(json.dumps([fact.predicate, list(map(str, fact.arguments))]) for fact in statics)
    return hashlib.sha256("\n".join(said).encode()).hexdigest()
