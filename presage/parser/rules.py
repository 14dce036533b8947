"""Reading rules, facts and constraints; what may stand in a head is decided here."""

from __future__ import annotations

from presage.model.formulas import (
    And,
    Atom,
    BinaryMetric,
    Comparison,
    Formula,
    Implies,
    Metric,
    Modal,
    Not,
    Or,
    Over,
    Pinned,
    Top,
    Windowed,
    prefix_of,
    walk,
)
from presage.model.statements import Head, Rule
from presage.model.terms import Variable
from presage.parser.cursor import Cursor
from presage.parser.formulas import formula, literal
from presage.syntax import HEAD_METRIC


def rule(c: Cursor) -> Rule:
    start = c.token.start
    head = None if c.kind == ":-" else _head(c)
    if not c.accept(":-"):
        _refuse_arrow(c)
        assert head is not None
        return Rule(head, (), span=c.since(start))
    if head is not None:
        for atom in head.atoms:
            if isinstance(atom, Over):
                hint = "an interval is the time of a fact; in a rule write `always[0,5] p :- …`"
                raise c.failure("P304", "a rule's head cannot have an interval as its time", atom.interval.span, hint)
    if c.kind == ".":
        what = "a body after `:-`"
        hint = "a fact is written without `:-`" if head else "a constraint says what must not hold: `:- p, q.`"
        raise c.unexpected(what, hint)
    body = c.separated(",", literal)
    for part in body:
        refuse_interval_times(c, part)
    return Rule(head, tuple(body), span=c.since(start))


def refuse_interval_times(c: Cursor, formula: Formula) -> None:
    for node in walk(formula):
        if isinstance(node, Over):
            hint = "to ask whether it held over a stretch of time, write `historically[a,b] p` or `once[a,b] p`"
            raise c.failure("P304", "only a fact has an interval as its time", node.interval.span, hint)


def _refuse_arrow(c: Cursor) -> None:
    if c.kind == "<" and c.next_kind == "-":
        hint = "rules are written `head :- body.`"
        raise c.failure("P103", "`<-` is not a sign of the language", c.token.span, hint)
    if c.kind == ":":
        raise c.failure("P201", "expected `:-` between head and body, found `:`", c.token.span, "write `:-`")


def _head(c: Cursor) -> Head:
    start = c.token.start
    exists: list[Variable] = []
    lasting = False
    if c.accept("exists"):
        lasting = c.accept("lasting") is not None
        exists = _invented(c)
    first = formula(c)
    _refuse_arrow(c)
    atoms = [first]
    joined = ""
    while c.kind in (",", "|"):
        sign = c.take()
        if joined and sign.kind != joined:
            hint = "write two rules, or name one part with a rule of its own"
            raise c.failure("P302", "a head joins its atoms by `,` or by `|`, not by both", sign.span, hint)
        joined = sign.kind
        atoms.append(formula(c))
    span = c.since(start)
    if exists and joined == "|":
        hint = "derive the invented values in one rule and choose among them in another"
        raise c.failure("P302", "`exists` and `|` cannot be combined in a head", span, hint)
    if c.kind == "reported":
        raise c.unexpected("`:-`")
    for atom in atoms:
        _check_head(c, atom)
    return Head(tuple(atoms), joined == "|", tuple(exists), lasting, span=span)


def _invented(c: Cursor) -> list[Variable]:
    found: list[Variable] = []
    while True:
        token = c.token
        if token.kind != "variable":
            hint = "write `exists Y, Z: p(X, Y), q(Y, Z) :- …`"
            raise c.failure("P303", "`exists` names variables", token.span, hint)
        c.take()
        if token.text == "_":
            raise c.failure("P303", "`exists _` invents nothing one can speak of", token.span, "name the variable")
        if any(token.text == other.name for other in found):
            raise c.failure("P303", f"`{token.text}` is named twice", token.span, "name each variable once")
        found.append(Variable(token.text, span=token.span))
        if not c.accept(","):
            break
    if not c.accept(":"):
        hint = "write `exists Y, Z: p(X, Y), q(Y, Z) :- …`"
        raise c.failure("P303", "`:` is missing after the variables of `exists`", c.token.span, hint)
    return found


def _check_head(c: Cursor, atom: Formula, outer: str = "") -> None:
    match atom:
        case Atom():
            return
        case Pinned(formula=Atom()) | Over(formula=Atom()):
            if outer:
                hint = f"write `{outer}[…] p` with the rule's own time, or pin the atom alone"
                raise c.failure("P301", f"an atom under `{outer}` cannot be pinned in a head", atom.span, hint)
            return
        case Metric(operator=operator, formula=inner) if operator in HEAD_METRIC:
            _check_head(c, inner, operator)
            return
    message, hint = _why_not_in_a_head(atom)
    raise c.failure("P301", message, atom.span, hint)


def _why_not_in_a_head(atom: Formula) -> tuple[str, str]:
    match atom:
        case Windowed():
            return "a window cannot stand in a head", "windows select what a body sees; write the atom alone"
        case Metric(operator=operator) | BinaryMetric(operator=operator):
            hint = "a head may say `always[a,b]` or `historically[a,b]`: it must say when the atom holds"
            return f"`{operator}` cannot stand in a head", hint
        case Not():
            hint = "say what follows, or write the constraint `:- body, p.`"
            return "a head cannot be negated", hint
        case And():
            return "a head joins its atoms by `,`, not by `and`", "write `p(X), q(X) :- …`"
        case Or():
            return "a head joins its alternatives by `|`, not by `or`", "write `p(X) | q(X) :- …`"
        case Comparison():
            return "a comparison cannot stand in a head", "write it in the body, or as the constraint `:- body, X > 3.`"
        case Top():
            return "`true` in a head says nothing", "name what follows"
        case Modal(operator=operator):
            return f"`{operator}` cannot stand in a head", "write `always[a,b] p`, or pin the atom: `p@T`"
        case Implies():
            return "`implies` cannot stand in a head", "write it as a rule of its own"
        case _ if (word := prefix_of(atom)) is not None:
            return f"`{word}` cannot stand in a head", "write the atom alone, or pin it: `p@T-1`"
        case _:
            return "only an atom can be pinned in a head", "write `p(X)@T+1`"
