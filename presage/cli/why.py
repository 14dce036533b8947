"""`presage explain` for answers that are not confirmed: what they wait for or what failed, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from presage.answers import json_value
from presage.errors import PresageError
from presage.model.printer import show_formula, show_number
from presage.model.terms import Constant, Number, Variable

if TYPE_CHECKING:
    from rich.tree import Tree

    from presage.analysis.subject import Subject
    from presage.evidence.proof import Absent, Record
    from presage.hypothesis.finish import NoPatterns
    from presage.hypothesis.literals import Lit
    from presage.hypothesis.why import Arrival, Explanation, OpenWay
    from presage.model.formulas import Atom
    from presage.model.statements import Rule

MOST_SHOWN = 8
"""So many ways, or instances, are laid out for people; JSON has them all."""
LINE_WIDTH = 60
THERE, MISSING, FAILED, NOTHING, NOW = "●", "○", "✗", "·", "│"


def explain_unproved(
    subject: Subject, record: Record, atom: Atom, time: Number, as_json: bool, unknown: PresageError | None = None
) -> None:
    """Says why an atom, which may have variables, is not entailed; `unknown` is why there can be no proof of it."""
    from presage.hypothesis.finish import NoPatterns
    from presage.hypothesis.literals import Open
    from presage.hypothesis.why import Why

    arguments = tuple(
        Open(term.name) if isinstance(term, Variable) else term.value
        for term in atom.arguments
        if isinstance(term, (Variable, Constant))
    )
    if subject.predicates[atom.predicate].is_static:
        _print_static(record, atom, as_json)
        return
    try:
        arrivals = list(_arrivals(record))
        start = 0 if subject.program.tick is None else None
        explanation = Why(subject, record.statics, arrivals, start).of(atom.predicate, arguments, time, record.at)
    except NoPatterns as found:
        if unknown is not None or any(isinstance(each, Open) for each in arguments):
            raise unknown or _no_ways(subject, found) from None
        _explain_by_proof(subject, record, atom, time, found, as_json)
        return
    if as_json:
        line = _json(subject, explanation)
        if explanation.status == "confirmed" and not explanation.instances:
            line["proof"] = None
        print(json.dumps(line, ensure_ascii=False))
    else:
        from presage.cli.explain import print_tree

        print_tree(_Text(subject, arrivals).tree(explanation))


def _arrivals(record: Record) -> Iterator[Arrival]:
    """The facts that were seen by then and were not too late."""
    from presage.evidence.tables import Stream
    from presage.hypothesis.finish import NoPatterns
    from presage.hypothesis.why import Arrival

    for facts in Stream(record).by_name.values():
        for fact in facts:
            low, high = fact.span.low, fact.span.high
            assert low is not None
            if low != high and not record.discrete:
                raise NoPatterns("a fact holds over an interval of dense time")
            yield Arrival(fact.arrives, fact.predicate, fact.arguments, low, None if high is None else high - low)


def _no_ways(subject: Subject, found: NoPatterns) -> PresageError:
    lines = _lines(subject, found.rules)
    return PresageError(
        f"{subject.program.source.name}: only confirmed answers can be explained: {found.reason}{lines}"
    )


def _lines(subject: Subject, rules: Iterable[Rule]) -> str:
    numbers = sorted({subject.line(rule) for rule in rules})
    return f" (line {', '.join(map(str, numbers))})" if numbers else ""


# Where only proofs can be had.


def _print_static(record: Record, atom: Atom, as_json: bool) -> None:
    answer = show_formula(atom)
    reason = f"{answer} is not among the static facts"
    if as_json:
        failed = {"premise": None, "when": None, "reason": reason}
        line: dict[str, Any] = {"answer": answer, "at": json_value(record.at), "status": "impossible"}
        line.update(ways=[], failed=failed, rules=[])
        print(json.dumps(line, ensure_ascii=False))
    else:
        print(reason)


def _explain_by_proof(
    subject: Subject, record: Record, atom: Atom, time: Number, found: NoPatterns, as_json: bool
) -> None:
    """Without ways it can still be said whether the atom may come true at all, and where its rules fail if not."""
    from presage.evidence.check import Rejected, check
    from presage.evidence.prove import prove_absent
    from presage.evidence.show import Printer
    from presage.model.formulas import Pinned
    from presage.model.time import Pin

    arguments = tuple(term.value for term in atom.arguments if isinstance(term, Constant))
    absent: Absent | None = prove_absent(record, atom.predicate, arguments, time)
    if absent is not None:
        try:
            check(record, absent, atom.predicate, arguments, time, absent=True)
        except Rejected as reason:
            raise PresageError(f"a reason was found, but the checker does not accept it: {reason}") from None
    printer = Printer(record.program)
    answer = show_formula(Pinned(atom, Pin(None, time)))
    why = f"only confirmed answers can be explained in full here: {found.reason}{_lines(subject, found.rules)}"
    status = "not entailed" if absent is None else "impossible"
    if as_json:
        line: dict[str, Any] = {"answer": answer, "at": json_value(record.at), "status": status, "why": why}
        line["ways"], line["failed"] = None, None
        if absent is not None:
            near = printer.to_json(absent)["near"]
            reason_text = "nothing makes it true, and nothing can any more"
            line["failed"] = {"premise": near[0]["fails_at"] if near else None, "when": None, "reason": reason_text}
            line["near"] = near
        line["rules"] = _rules_json(subject, found.rules)
        print(json.dumps(line, ensure_ascii=False))
        return
    at = show_number(record.at)
    if absent is None:
        print(f"{answer} is not entailed by what had arrived at {at}, and it is not excluded that it comes true")
    else:
        print(f"{answer} is false: at {at} nothing makes it true, and nothing can any more")
        for note in printer.notes(absent):
            print(f"  {note}")
    print(why)


# JSON.


def _rules_json(subject: Subject, rules: Iterable[Rule]) -> list[dict[str, Any]]:
    from presage.evidence.show import written

    return [{"line": subject.line(rule), "rule": written(rule)} for rule in dict.fromkeys(rules)]


def _texts(lits: Iterable[Lit]) -> list[str]:
    return [str(lit) for lit in sorted(lits, key=lambda lit: lit.order)]


def _json_time(time: Number | None) -> str | int | None:
    return None if time is None else json_value(time)


def _json(subject: Subject, explanation: Explanation) -> dict[str, Any]:
    failed = explanation.failed
    rules = [rule for way in explanation.ways for rule in way.rules] + list(failed.rules if failed else ())
    line: dict[str, Any] = {
        "answer": str(explanation.answer),
        "at": json_value(explanation.at),
        "status": explanation.status,
        "history": [{"at": json_value(at), "status": status} for at, status in explanation.history],
        "ways": [_way_json(subject, way) for way in explanation.ways],
        "failed": None,
        "rules": _rules_json(subject, rules),
    }
    if explanation.status == "confirmed":
        line["because"] = line["ways"][0]["because"] if line["ways"] else []
    if failed is not None:
        line["failed"] = {
            "premise": None if failed.premise is None else str(failed.premise),
            "when": _json_time(failed.when),
            "reason": failed.reason,
            "kind": failed.kind,
            "met": _texts(failed.met),
            "others": _texts(failed.others),
            "because": _texts(failed.because),
        }
    if explanation.instances:
        line["instances"] = [_json(subject, each) for each in explanation.instances]
    return line


def _way_json(subject: Subject, each: OpenWay) -> dict[str, Any]:
    return {
        "because": _texts(each.way.because),
        "needs": _texts(each.way.needs),
        "missing": [{"premise": str(one.premise), "until": _json_time(one.until)} for one in each.waiting],
        "unless": list(each.way.unless),
        "decided_by": _json_time(each.decided_by),
        "confidence": each.confidence,
        "rules": _rules_json(subject, each.rules),
    }


# For people.


class _Text:
    """An explanation as a tree of sentences."""

    def __init__(self, subject: Subject, arrivals: Iterable[Arrival]) -> None:
        self.subject = subject
        self.arrivals: dict[Any, list[Arrival]] = {}
        for each in arrivals:
            self.arrivals.setdefault((each.predicate, each.arguments), []).append(each)

    def tree(self, explanation: Explanation) -> Tree:
        from rich.text import Text
        from rich.tree import Tree

        tree = Tree(Text(headline(explanation)))
        if explanation.failed is not None:
            self._failure(tree, explanation)
        for number, way in enumerate(explanation.ways[:MOST_SHOWN], 1):
            title = "needs" if len(explanation.ways) == 1 else f"way {number}"
            self._way(tree, title, way, explanation.at)
        _rest(tree, len(explanation.ways), "ways")
        for each in explanation.instances[:MOST_SHOWN]:
            tree.children.append(self.tree(each))
        _rest(tree, len(explanation.instances), "answers")
        return tree

    def _way(self, tree: Tree, title: str, each: OpenWay, at: Number) -> None:
        from rich.text import Text

        if each.decided_by is not None:
            title += f", settled by {show_number(each.decided_by)}"
        if each.confidence is not None:
            title += f", with probability {each.confidence:.3g}"
        if not each.way.needs:
            title = "because of"
        branch = tree.add(Text(title))
        for lit in sorted(each.way.because, key=lambda lit: lit.order):
            branch.add(Text(f"{THERE} {self._there(lit)}"))
        for waiting in each.waiting:
            state = "may arrive" if waiting.premise.positive else "not settled yet"
            if waiting.until is not None:
                until = show_number(waiting.until)
                state = f"may arrive until {until}" if waiting.premise.positive else f"not settled before {until}"
            branch.add(Text(f"{MISSING} {waiting.premise}: {state}"))
        for clause in each.way.unless:
            branch.add(Text(f"unless {clause}"))
        drawn = timeline(each.way.because, each.way.needs, (), at)
        if drawn:
            branch.add(Text(drawn))
        self._rules(branch, each.rules)

    def _there(self, lit: Lit) -> str:
        if not lit.positive:
            return f"{lit}: settled"
        found = [
            each.when
            for each in self.arrivals.get((lit.predicate, lit.arguments), ())
            if not isinstance(lit.time, tuple)
            and each.time <= lit.time
            and (each.length is None or lit.time <= each.time + each.length)
        ]
        return f"{lit}: arrived at {show_number(min(found))}" if found else str(lit)

    def _failure(self, tree: Tree, explanation: Explanation) -> None:
        from rich.text import Text

        failed = explanation.failed
        assert failed is not None
        for lit in failed.met:
            tree.add(Text(f"{THERE} {self._there(lit)}"))
        if failed.premise is not None:
            branch = tree.add(Text(f"{FAILED} {failed.premise}"))
            for lit in failed.because:
                branch.add(Text(f"{THERE} {self._there(lit)}"))
            self._rules(branch, failed.because_rules)
        for lit in failed.others if failed.kind != "together" else ():
            tree.add(Text(f"{FAILED} {lit}"))
        drawn = timeline(failed.met, (), [each for each in (failed.premise, *failed.others) if each], explanation.at)
        if drawn:
            tree.add(Text(drawn))
        self._rules(tree, failed.rules)

    def _rules(self, tree: Tree, rules: Iterable[Rule]) -> None:
        from rich.text import Text

        for rule in _rules_json(self.subject, rules):
            tree.add(Text(f"by line {rule['line']}, {rule['rule']}"))


def _rest(tree: Tree, count: int, what: str) -> None:
    if count > MOST_SHOWN:
        tree.add(f"and {count - MOST_SHOWN} more {what}; --json has them all")


def headline(explanation: Explanation) -> str:
    """The explanation in one sentence."""
    answer, at = explanation.answer, show_number(explanation.at)
    best = explanation.ways[0] if explanation.ways else None
    failed = "" if explanation.failed is None else f": {explanation.failed.reason}"
    was = next((time for time, status in explanation.history if status == "possible"), None)
    count = len(explanation.instances)
    match explanation.status:
        case _ if count and (best is None or not best.way.because):
            others = "others may still come" if best else "no others can come"
            return f"{answer} has {count} answer{'' if count == 1 else 's'} at {at}; {others}"
        case "confirmed":
            return f"{answer} is confirmed at {at}"
        case "possible" if best is not None:
            waiting = len(best.way.needs)
            missing = "one premise is" if waiting == 1 else f"{waiting} premises are"
            return f"{answer} is possible at {at}; {missing} open"
        case "unsupported" if was is not None:
            return f"{answer} is open at {at}, but nothing speaks for it any more"
        case "unsupported":
            return f"{answer} is open at {at}, but nothing speaks for it yet"
        case "refuted":
            since = explanation.history[-1][0]
            possible = f"{answer} was possible from {show_number(was or 0)} on"
            return f"{possible} and is refuted since {show_number(since)}{failed}"
        case _:
            return f"{answer} was never possible and cannot come true{failed}"


def timeline(there: Iterable[Lit], missing: Iterable[Lit], failed: Iterable[Lit], now: Number) -> str:
    """Times on a line of characters: what is there, what is missing, what failed, and now."""
    marks = [
        (lit.time, mark)
        for mark, lits in ((THERE, there), (MISSING, missing), (FAILED, failed))
        for lit in lits
        if not isinstance(lit.time, tuple)
    ]
    if not marks:
        return ""
    first, last = min(min(time for time, _ in marks), now), max(max(time for time, _ in marks), now)
    whole = all(isinstance(time, int) for time, _ in [*marks, (now, "")])
    if first == last:
        return ""
    width = int(last - first) if whole and last - first <= LINE_WIDTH else LINE_WIDTH

    def column(time: Number) -> int:
        return int((time - first) * width / (last - first))

    drawn = [NOTHING] * (width + 1)
    for time, mark in marks:
        drawn[column(time)] = mark
    after = column(now) + 1
    return f"{show_number(first)} {''.join(drawn[:after])}{NOW}{''.join(drawn[after:])} {show_number(last)}"
