"""What has been typed at the prompt so far, and what it answers.

Statements and facts are kept as they were typed, and whenever something is added the whole is run again from the start:
so the answers are those of a run over the same program and facts, in whatever order they were typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from presage.checking import Report, check_text
from presage.errors import PresageError, ProgramError, Source, nearest
from presage.io.facts import ISO, Checker, Fact
from presage.io.files import read_facts
from presage.languages import PRESAGE, language_of
from presage.model.terms import Constant, Number
from presage.parser import read
from presage.parser.lexer import tokenize
from presage.run.no_hypotheses import NoHypotheses
from presage.run.reasoner import Reasoner, reasoner_of
from presage.run.schedule import steps
from presage.testing.notation import CaseError, ExpectedLiteral, read_literal

if TYPE_CHECKING:
    from presage.io.moments import Moments

NAME = "<prompt>"
_ARRIVES = re.compile(r"\s+arrives\s+(\S+)\s*$")


def is_whole(text: str) -> bool:
    """Whether a text ends with a full stop, so that nothing more is waited for."""
    tokens = tokenize(Source.of(text)).tokens
    return len(tokens) < 2 or tokens[-2].kind == "."


def statements(text: str) -> Iterator[str]:
    """The statements of a text, each with its full stop; the rest, if it has none."""
    begin = 0
    for token in tokenize(Source.of(text)).tokens:
        if token.kind == ".":
            yield text[begin : token.end].strip()
            begin = token.end
    rest = text[begin:].strip()
    if rest and len(tokenize(Source.of(rest)).tokens) > 1:
        yield rest


@dataclass(frozen=True, slots=True)
class TypedFact:
    """A fact, with the time at which it arrives if that was said, and what the clock was when it was typed."""

    text: str
    literal: ExpectedLiteral
    arrives: str | None
    clock: Number | None

    def fact(self, checker: Checker) -> Fact:
        entry: dict[str, Any] = {"pred": self.literal.atom.predicate}
        entry["args"] = [term.value for term in self.literal.atom.arguments if isinstance(term, Constant)]
        if self.literal.interval is not None:
            low, high, bounds = self.literal.interval
            entry.update({"from": low, "to": None if high == "inf" else high, "bounds": bounds})
        elif self.literal.time is not None:
            entry["time"] = self.literal.time
        if self.arrives is not None:
            entry["arrives"] = self.arrives
        found = checker.fact(entry, self.text)
        if found.low is None or self.clock is None or found.arrival >= self.clock:
            return found
        return replace(found, arrives=self.clock)


@dataclass(slots=True)
class TypedOutcome:
    """What a run over all that was typed says: the last line about each thing, and what came too late."""

    lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    late: list[Fact] = field(default_factory=list)
    now: Number | None = None
    note: str = ""


@dataclass(slots=True)
class Typed:
    folder: Path = field(default_factory=Path)
    name: str = NAME
    """What the program is called: its suffix says the language, where that is not our own."""
    texts: list[str] = field(default_factory=list)
    facts: list[TypedFact] = field(default_factory=list)
    files: tuple[Path, ...] = ()
    params: dict[str, str] = field(default_factory=dict)
    """Values of the program's parameters that the call has set."""
    now: Number | None = None
    outcome: TypedOutcome = field(default_factory=TypedOutcome)

    @property
    def program(self) -> str:
        return "".join(f"{text}\n" for text in self.texts)

    def report(self) -> Report | None:
        """The report on the program; `None` as long as it asks for nothing, which is no mistake at a prompt."""
        report = self._checked()
        program = report.program
        if not program.rules and not program.queries and {each.code for each in report.errors} <= {"D105"}:
            return None
        return report.or_raise()

    def _checked(self) -> Report:
        return check_text(self.program, self.name, folder=self.folder, params=self.params)

    def add(self, text: str) -> list[str]:
        """Takes one statement or fact; gives what is to be said beside the answers. What is wrong is raised, and
        nothing has changed then."""
        given = self._fact(text)
        before = (list(self.texts), list(self.facts), self.now, self.outcome)
        try:
            if given is None:
                language = language_of(self.name)
                if language is not PRESAGE:
                    raise PresageError(
                        f"{text}: this is no fact, such as temp(a, high)@0, and the program stays as it is: "
                        f"{self.name} is {language.title}"
                    )
                parsed = read(text, NAME)
                if parsed.problems:
                    raise ProgramError(parsed.program.source, parsed.problems)
                self.texts.append(text)
            else:
                self.facts.append(given)
            told = self.run()
            if given is not None:
                told += self._waiting(given)
            return told
        except BaseException:
            self.texts, self.facts, self.now, self.outcome = before
            raise

    def move(self, time: str) -> None:
        """Lets time pass, up to a time."""
        before = self.now
        stepper = self._stepper()[0]
        if stepper is None:
            raise PresageError("time passes when there is a rule or a query: type one first")
        wanted = stepper.checker.time(time, ":now")
        if stepper.subject.discrete and not isinstance(wanted, int):
            raise PresageError(f":now: {time} is not a whole number, as times of the discrete timeline are")
        if wanted < 0 or (self.now is not None and wanted < self.now):
            raise PresageError(f":now: time goes forward, and now is {self.now if self.now is not None else 0}")
        try:
            self.now = wanted
            self.run()
        except BaseException:
            self.now = before
            raise

    def settle(self) -> None:
        """Lets time pass until all is decided that is open now."""
        stepper = self._stepper()[0]
        if stepper is None or self.now is None:
            return
        due = [self.now + stepper.longest_lag]
        for line in self.outcome.lines.values():
            if line["status"] == "possible":
                ways = line.get("ways") or [line]
                due += [
                    stepper.checker.time(way["decided_by"], ":settle") for way in ways if way["decided_by"] is not None
                ]
        self.now = max(due)
        self.run()

    def run(self) -> list[str]:
        """Runs all of it again; gives what is to be said beside the answers."""
        stepper, note = self._stepper()
        if stepper is None:
            self.outcome = TypedOutcome()
            return []
        arriving = []
        for fact in self._facts(stepper.checker):
            if fact.low is None:
                stepper.add_statics([fact])
            else:
                arriving.append(fact)
        arrivals = [fact.arrival for fact in arriving]
        times = [*arrivals, *([] if self.now is None else [self.now])]
        found = TypedOutcome(now=max(times, default=None), note=note)
        if found.now is not None:
            shown = _moments(stepper, stepper.checker.times)
            for answers in steps(stepper, arriving, found.now):
                for answer in answers:
                    line = answer.to_json() if shown is None else shown.line(answer.to_json())
                    found.lines[line.get("key", "")] = line
            found.late = list(stepper.late)
        told = [note] if note and note != self.outcome.note else []
        for fact in found.late[len(self.outcome.late) :]:
            told.append(f"{fact.predicate}{_shown(fact)} arrived too late at {fact.arrival}, and was left out")
        self.now, self.outcome = found.now, found
        return told

    def _facts(self, checker: Checker) -> list[Fact]:
        known = {name for name, each in checker.predicates.items() if each.is_input or each.is_static}
        typed = [each.fact(checker) for each in self.facts if each.literal.atom.predicate in known]
        return [*read_facts(self.files, checker), *typed]

    def why(self, answer: str) -> str:
        """What `presage explain` says of an answer now: of the one that was told last, if none is named, or of the
        last with the name that is given without a time."""
        from presage.explanations.by_the_clock import by_the_clock
        from presage.explanations.explain import Explainer

        report = self.report()
        told = [str(line["answer"]) for line in self.outcome.lines.values() if "answer" in line]
        if report is None or not told:
            raise PresageError(":why: nothing has been told yet")
        asked = answer.removesuffix(".").strip()
        if not asked or "@" not in asked:
            asked = next((each for each in reversed(told) if not asked or each.startswith(f"{asked}@")), asked)
        explainer = Explainer(report)
        found = explainer.explain(asked, self._facts(explainer.checker), self.now)
        stepper = self._stepper()[0]
        shown = None if stepper is None or explainer.checker.times != ISO else _moments(stepper, ISO)
        return str(found if shown is None else by_the_clock(found, shown))

    def _stepper(self) -> tuple[Reasoner | None, str]:
        report = self.report()
        if report is None:
            return None, ""
        try:
            return reasoner_of(report), ""
        except NoHypotheses as found:
            return reasoner_of(report, "confirmed"), f"only confirmed answers are told: {found.reason}"

    def _fact(self, text: str) -> TypedFact | None:
        """The fact that a text is, if it is one that comes with the stream; a fact of a predicate that rules derive,
        and one without a time that is not static, are statements of the program."""
        written = text.strip().removesuffix(".")
        late = _ARRIVES.search(written)
        try:
            literal = read_literal(written[: late.start()] if late else written, NAME)
        except CaseError:
            return None
        if literal.negated or not all(isinstance(term, Constant) for term in literal.atom.arguments):
            return None
        report = self._checked()
        known = report.predicates.get(literal.atom.predicate)
        if known is not None and not (known.is_input or known.is_static):
            return None
        if literal.time is None and (known is None or not known.is_static):
            return None
        return TypedFact(written.strip(), literal, late[1] if late else None, self.now)

    def _waiting(self, given: TypedFact) -> list[str]:
        """What is said of a fact that no rule uses; it is kept for when one does."""
        predicates = self._checked().predicates
        name = given.literal.atom.predicate
        if name in predicates:
            return []
        near = nearest(name, predicates)
        if near or language_of(self.name) is not PRESAGE:
            hint = f"; did you mean `{near}`?" if near else ""
            raise PresageError(f"{given.text}: the program has no `{name}`{hint}")
        return [f"kept: no rule uses `{name}` yet"]


def _moments(stepper: Reasoner, times: str | None) -> Moments | None:
    """Times as timestamps, where the facts have them."""
    from presage.io.moments import Moments

    return Moments(stepper.subject, stepper.checker.units) if times == ISO else None


def _shown(fact: Fact) -> str:
    from presage.model.formulas import Atom
    from presage.model.printer import show_atom, show_number

    atom = show_atom(Atom("p", tuple(map(Constant, fact.arguments)))).removeprefix("p")
    return atom if fact.low is None else f"{atom}@{show_number(fact.low)}"


def changes(before: TypedOutcome, after: TypedOutcome) -> Iterator[dict[str, Any] | str]:
    """The lines that are new or other than they were, and the keys of those that are gone."""
    for key, line in after.lines.items():
        earlier = before.lines.get(key)
        if earlier is None or {**earlier, "now": None} != {**line, "now": None}:
            yield line
    for key in before.lines:
        if key not in after.lines:
            yield key


def in_words(line: dict[str, Any]) -> list[str]:
    """An answer line for people, with its ways below."""
    if "answer" not in line:
        return [f"{line['now']}: the program has no model"]
    words = [f"{line['now']}: {line['status']} {line['answer']}"]
    if line["status"] not in ("possible", "confirmed"):
        return words
    for index, way in enumerate(line.get("ways") or [line]):
        parts = [f"because {', '.join(way['because'])}"] if way["because"] else []
        if way["needs"]:
            due = "" if way["decided_by"] is None else f" by {way['decided_by']}"
            parts.append(f"needs {', '.join(way['needs'])}{due}")
        if way["unless"]:
            parts.append(f"unless {', '.join(way['unless'])}")
        if parts:
            words.append(f"    {'or ' if index else ''}{'; '.join(parts)}")
    return words
