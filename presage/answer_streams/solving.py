"""Answer streams of ground programs, found by clingo.

Most programs say the same to clingo as to Definition 12. Where a body mixes facts and their absence in one
part (`p or not q`, windows that count derived rows), the reduct of Definition 12 keeps more than clingo's does.
Such programs have their candidates generated, as models in which each fact has a rule that supports it, and
each candidate is checked against the definition: no smaller interpretation may satisfy the reduct.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from presage.answer_streams.expressions import (
    FALSE,
    TRUE,
    AllParts,
    Candidate,
    Expression,
    GroundLiteral,
    SomePart,
    TruthValue,
    all_of,
    candidates_of,
    holds,
    in_time,
    is_splittable,
    negated,
    signs,
    some_of,
)
from presage.answer_streams.grounding import GroundProgram, GroundRule
from presage.errors import PresageError

ChosenFacts = frozenset[Candidate]
"""The uncertain facts of an answer stream."""
NOTHING = frozenset[Candidate]().__contains__
"""No uncertain fact holds: where no rule derives any, only constraints are left."""


def answer_streams(program: GroundProgram) -> Iterator[ChosenFacts]:
    """All answer streams, by the facts that are not certain. Programs that leave nothing open need no solver."""
    rules = program.rules
    if not has_choices(rules):
        if not any(holds(rule.body, NOTHING) for rule in rules):
            yield frozenset()
        return
    if is_plain(rules):
        yield from ClingoSolver(rules).stable_models()
        return
    yield from ClingoSolver(rules).checked_models()


def consequences(program: GroundProgram, asked: Sequence[Expression], in_all: bool) -> list[bool] | None:
    """For each expression whether it holds in all answer streams, or else in some; none if there is none."""
    rules = program.rules
    if not has_choices(rules):
        if any(holds(rule.body, NOTHING) for rule in rules):
            return None
        return [holds(expression, NOTHING) for expression in asked]
    if is_plain(rules):
        return ClingoSolver(rules).consequences(asked, in_all)
    return ClingoSolver(rules).checked_consequences(asked, in_all)


def has_choices(rules: Sequence[GroundRule]) -> bool:
    """Whether any fact is left open."""
    return any(rule.alternatives for rule in rules)


def is_plain(rules: Sequence[GroundRule]) -> bool:
    """Whether the rules say the same to clingo as to Definition 12."""
    return all(is_splittable(rule.body) for rule in rules if rule.alternatives)


def smaller_model(rules: Iterable[GroundRule], model: ChosenFacts) -> ChosenFacts | None:
    """A proper subset of a model that satisfies the reduct of the rules, if there is one."""
    reduct = [
        GroundRule(rule.alternatives, restricted(rule.body, model))
        for rule in rules
        if rule.alternatives and holds(rule.body, model.__contains__)
    ]
    return next(ClingoSolver(reduct, model).classical_models(proper=True), None)


def reason_against(rules: Iterable[GroundRule], model: ChosenFacts, smaller: ChosenFacts) -> set[Candidate]:
    """Facts such that no interpretation that agrees with the model on them is an answer stream: those that it could
    do without, and all that the rules speak of that could derive them. On these rules any such interpretation and
    what is left of it behave like the model and the smaller one; other rules do not miss what is taken away."""
    needless = model - smaller
    found: set[Candidate] = set(needless)
    for rule in rules:
        told = frozenset().union(*rule.alternatives)
        if told & needless:
            found |= told
            found.update(candidates_of(rule.body))
    return found


def restricted(expression: Expression, model: ChosenFacts) -> Expression:
    """The expression where only facts of the model can hold."""
    match expression:
        case TruthValue():
            return expression
        case GroundLiteral(candidate=candidate, positive=positive):
            if candidate in model:
                return expression
            return FALSE if positive else TRUE
        case AllParts(parts=parts):
            return all_of(restricted(part, model) for part in parts)
        case SomePart(parts=parts):
            return some_of(restricted(part, model) for part in parts)


def _clingo() -> Any:
    try:
        import clingo
    except ImportError:
        raise PresageError("answer streams are found by clingo: pip install clingo") from None
    return clingo


class ClingoSolver:
    """Ground rules in clingo. Facts have numbers as names; what stands for parts of bodies has none."""

    def __init__(self, rules: Sequence[GroundRule], among: ChosenFacts | None = None) -> None:
        self.clingo = _clingo()
        self.rules = rules
        self.control = self.clingo.Control(["--warn=none"])
        self.control.configuration.solve.models = 0
        told = {each for rule in rules for part in rule.alternatives for each in part}
        self.candidates = sorted(told if among is None else among, key=in_time)
        self._number = {candidate: number for number, candidate in enumerate(self.candidates)}
        self._literals: dict[Expression, int] = {}

    def stable_models(self) -> Iterator[ChosenFacts]:
        """The answer sets of the rules as they are."""
        with self.control.backend() as backend:
            self._state(backend)
        yield from self._models()

    def consequences(self, asked: Sequence[Expression], in_all: bool) -> list[bool] | None:
        """What holds in all answer sets, or in some, without listing them."""
        with self.control.backend() as backend:
            self._state(backend)
            for number, expression in enumerate(asked):
                name = backend.add_atom(self._symbol("asked", number))
                backend.add_rule([name], [self._literal(backend, expression)])
        self.control.configuration.solve.enum_mode = "cautious" if in_all else "brave"
        # Models that differ from one another in much settle much at once. The dice are the same in every run.
        self.control.configuration.solver[0].sign_def = "rnd"
        self.control.configuration.solver[0].rand_freq = "0.1"
        with self.control.solve(yield_=True) as handle:
            for _ in handle:  # each comes closer; the last is the answer
                pass
            last = handle.last()
            if last is None:
                return None
            true = frozenset(self._numbers(last, "asked"))
        return [number in true for number in range(len(asked))]

    def _state(self, backend: Any) -> None:
        self._atoms(backend)
        for rule in self.rules:
            body = self._body(backend, rule.body)
            if len(rule.alternatives) == 1:
                for candidate in sorted(rule.alternatives[0], key=in_time):
                    backend.add_rule([self._atom(candidate)], body)
            else:
                heads = [self._alternative(backend, part) for part in rule.alternatives]
                backend.add_rule(heads, body)

    def checked_models(self) -> Iterator[ChosenFacts]:
        """The interpretations that satisfy all rules, have a rule with a true body for each fact, and are minimal
        among the models of their reduct."""
        with self.control.backend() as backend:
            self._supported(backend)
        while (model := self._next_checked()) is not None:
            yield model
            self._exclude(self._as_in(model, self.candidates))

    def checked_consequences(self, asked: Sequence[Expression], in_all: bool) -> list[bool] | None:
        """What holds in all of these, or in some: models are asked for that refute something that has held in all
        so far, or show something that has held in none, until there are no more."""
        with self.control.backend() as backend:
            self._supported(backend)
            literals = [self._literal(backend, expression) for expression in asked]
        settled: list[bool] | None = None
        while (model := self._next_checked()) is not None:
            here = [holds(expression, model.__contains__) for expression in asked]
            before = here if settled is None else settled
            settled = [(a and b) if in_all else (a or b) for a, b in zip(before, here, strict=True)]
            unsure = [each for each, true in zip(literals, settled, strict=True) if true == in_all]
            if not unsure:
                break
            self._exclude(each if in_all else -each for each in unsure)
        return settled

    def _next_checked(self) -> ChosenFacts | None:
        """The next candidate that is an answer stream; those before it are excluded, with all that fail alike."""
        self.control.configuration.solve.models = 1
        while (model := next(self._models(), None)) is not None:
            smaller = smaller_model(self.rules, model)
            if smaller is None:
                return model
            self._exclude(self._as_in(model, reason_against(self.rules, model, smaller)))
        return None

    def _as_in(self, model: ChosenFacts, candidates: Iterable[Candidate]) -> Iterator[int]:
        """The literals that say what the model says of some facts; those no rule derives are false anyway."""
        known = (each for each in candidates if each in self._number)
        return (self._atom(each) if each in model else -self._atom(each) for each in known)

    def _exclude(self, literals: Iterable[int]) -> None:
        with self.control.backend() as backend:
            backend.add_rule([], list(literals))

    def _supported(self, backend: Any) -> None:
        support: dict[Candidate, list[Expression]] = {candidate: [] for candidate in self.candidates}
        for rule in self.rules:
            for candidate in (each for part in rule.alternatives for each in part):
                support[candidate].append(rule.body)
        self._guess(backend)
        for candidate, bodies in support.items():
            backend.add_rule([], [self._atom(candidate), -self._literal(backend, some_of(bodies))])

    def classical_models(self, proper: bool) -> Iterator[ChosenFacts]:
        """The interpretations that satisfy all rules; `proper`: other than all facts there are."""
        with self.control.backend() as backend:
            self._guess(backend)
            if proper:
                backend.add_rule([], [self._atom(candidate) for candidate in self.candidates])
        yield from self._models()

    def _guess(self, backend: Any) -> None:
        self._atoms(backend)
        for candidate in self.candidates:
            backend.add_rule([self._atom(candidate)], [], choice=True)
        for rule in self.rules:
            told = some_of(all_of(map(self._told, part)) for part in rule.alternatives)
            backend.add_rule([], [self._literal(backend, rule.body), -self._literal(backend, told)])

    def _told(self, candidate: Candidate) -> Expression:
        return GroundLiteral(candidate) if candidate in self._number else FALSE

    def _models(self) -> Iterator[ChosenFacts]:
        with self.control.solve(yield_=True) as handle:
            for model in handle:
                yield frozenset(self.candidates[number] for number in self._numbers(model, "fact"))

    def _symbol(self, name: str, number: int) -> Any:
        return self.clingo.Function(name, [self.clingo.Number(number)])

    def _numbers(self, model: Any, name: str) -> Iterator[int]:
        return (symbol.arguments[0].number for symbol in model.symbols(atoms=True) if symbol.name == name)

    # -- rules -----------------------------------------------------------------------------------------

    def _atoms(self, backend: Any) -> None:
        numbers = range(len(self.candidates))
        self._atom_of = [backend.add_atom(self._symbol("fact", number)) for number in numbers]

    def _atom(self, candidate: Candidate) -> int:
        found: int = self._atom_of[self._number[candidate]]
        return found

    def _body(self, backend: Any, body: Expression) -> list[int]:
        """The parts of a body: those that shrink with the facts as the absence of their opposite."""
        parts = body.parts if isinstance(body, AllParts) else (body,)
        return [
            -self._literal(backend, negated(part)) if signs(part) == {False} else self._literal(backend, part)
            for part in parts
        ]

    def _alternative(self, backend: Any, part: frozenset[Candidate]) -> int:
        """One fact, or an atom that holds exactly if all of several facts do."""
        if len(part) == 1:
            (candidate,) = part
            return self._atom(candidate)
        together: int = backend.add_atom()
        backend.add_rule([together], [self._atom(candidate) for candidate in sorted(part, key=in_time)])
        for candidate in sorted(part, key=in_time):
            backend.add_rule([self._atom(candidate)], [together])
        return together

    def _literal(self, backend: Any, expression: Expression) -> int:
        """A literal that is true exactly where the expression is."""
        if expression in self._literals:
            return self._literals[expression]
        found: int
        match expression:
            case GroundLiteral(candidate=candidate, positive=positive):
                if candidate not in self._number:  # no rule derives it
                    return self._literal(backend, FALSE if positive else TRUE)
                found = self._atom(candidate) if positive else -self._atom(candidate)
            case TruthValue(value=value):
                found = backend.add_atom()
                if value:
                    backend.add_rule([found], [])
            case AllParts(parts=parts):
                found = backend.add_atom()
                backend.add_rule([found], [self._literal(backend, part) for part in parts])
            case SomePart(parts=parts):
                found = backend.add_atom()
                for part in parts:
                    backend.add_rule([found], [self._literal(backend, part)])
        self._literals[expression] = found
        return found
