"""The text of ETALIS files: `head <- pattern.`, operators in any case, quoted or not.

`OR` binds loosest, then `AND` and `PAR`, then the other relations, to the left; `WITHIN` and `WHERE` are about
all of the pattern before them, up to the bracket it stands in.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from presage.errors import Diagnostic, Source, Span
from presage.languages.etalis.event_patterns import (
    RELATIONS,
    SWAPPED,
    Alternative,
    Event,
    EventPattern,
    EventRule,
    Related,
    Where,
    WithinLength,
    Without,
    names,
    parts,
    variables,
)
from presage.languages.scanner import Grammar, Scanner, Unreadable, unquoted
from presage.model.formulas import Atom, Comparison
from presage.model.terms import Arithmetic, Constant, Negative, Term, Variable, number, term_variables
from presage.parser.lexer import Comment, Token

GRAMMAR = Grammar(
    ("<-", "=<", "<=", ">=", "\\=", "!=", "=:=", "=\\=", "==", "=", "<", ">", "(", ")", "[", "]", ",", ".", "/", "+",
     "-", "*", ":"),
    r"%[^\n]*|/\*.*?\*/",
)  # fmt: skip
# What has no counterpart, and what to write instead.
INSTEAD = {
    "cnot": "write NOT(p1)[p2, p3]",
    "fnot": "write NOT(p1)[p2, p3]",
    "event_multiply": "write a rule for each event",
}
COMPARISONS = {
    "=<": "<=", "<=": "<=", "<": "<", ">": ">", ">=": ">=", "=": "=", "==": "=", "=:=": "=", "is": "=",
    "\\=": "!=", "!=": "!=", "=\\=": "!=",
}  # fmt: skip
LOOSE, MIDDLE = ("or",), ("and", "par")
TIGHT = tuple(each for each in (*RELATIONS, *SWAPPED) if each not in MIDDLE)
WORDS = (*LOOSE, *MIDDLE, *TIGHT, "not", "within", "where")
TRIGGER = "print_trigger"
ANY = "_"
"""The name of a trigger for every event, and its arity -1 that for any number of arguments."""


@dataclass(frozen=True, slots=True)
class EventRules:
    rules: tuple[EventRule, ...]
    triggers: tuple[tuple[str, int, Span], ...]
    comments: tuple[Comment, ...]
    problems: tuple[Diagnostic, ...]


def read_rules(source: Source) -> EventRules:
    c = Scanner(source, GRAMMAR)
    rules: list[EventRule] = []
    triggers: list[tuple[str, int, Span]] = []
    while c.token.kind != "end":
        start = c.token
        try:
            if start.text == TRIGGER and c.ahead().text == "(":
                triggers.append(_trigger(c))
            else:
                rules.append(_rule(c))
        except Unreadable as found:
            c.problems.append(found.diagnostic)
            c.depth = 0
            _to_next(c, start)
    return EventRules(tuple(rules), tuple(triggers), tuple(c.comments), tuple(c.problems))


def _to_next(c: Scanner, start: Token) -> None:
    while c.token.kind != "end" and not (c.before.text == "." and c.before.start > start.start):
        c.take()


def _trigger(c: Scanner) -> tuple[str, int, Span]:
    start = c.take().start
    c.expect("(")
    name = c.kind("word", "the name of an event")
    arity = ANY
    if name.text not in (ANY, "all_defined_events") or c.is_at("/"):
        c.expect("/", "`/` and the number of arguments")
        arity = ANY if c.token.text == ANY else c.kind("number", "the number of arguments").text
        if c.token.text == ANY:
            c.take()
    c.expect(")")
    c.expect(".", "`.` at the end")
    every = name.text in (ANY, "all_defined_events")
    return ANY if every else name.text, int(arity) if arity.isdigit() else -1, c.since(start)


def _rule(c: Scanner) -> EventRule:
    start = c.token.start
    head = _atom(c)
    c.expect("<-", "`<-` after the head of a rule", "an event rule is head <- pattern.")
    pattern = _pattern(c)
    span = c.since(start)
    if not c.is_at("."):
        if c.token.text.lower() in ("do", "check"):
            hint = "goals of Prolog are not run: ask in WHERE (…), and act on the answers"
            raise Unreadable("L102", f"`{c.token.text}` has no counterpart", c.token.span, hint)
        hint = "operators are SEQ, AND, OR, PAR, the interval relations, WITHIN n and WHERE (…)"
        if _operator(c) == "not":
            hint = "NOT stands before what is absent, and says between which it is: NOT(p1)[p2, p3]"
            raise c.unexpected("an operator, or `.` at the end of the rule", hint)
        raise c.unexpected("an operator, or `.` at the end of the rule", hint, words=WORDS)
    c.take()
    for term in head.arguments:
        if isinstance(term, Variable) and (term.is_anonymous or term.name not in bound(pattern)):
            hint = "every value of a head comes from an event of its pattern (of both, with OR), or from a WHERE"
            raise Unreadable("S101", f"the head variable `{term.name}` is not bound by the pattern", term.span, hint)
    return EventRule(head, pattern, span=span)


def bound(pattern: EventPattern) -> set[str]:
    """The variables that have a value in every match."""
    match pattern:
        case Event(atom=atom):
            return set(names(atom))
        case Alternative(left=left, right=right):
            return bound(left) & bound(right)
        case Without(first=first, last=last):
            return bound(first) | bound(last)
        case Where(pattern=inner, conditions=conditions):
            found = bound(inner)
            for each in conditions:
                found |= {side.name for side in (each.left, each.right) if isinstance(side, Variable)}
            return found
        case _:
            return {name for part in parts(pattern) for name in bound(part)}


def _pattern(c: Scanner) -> EventPattern:
    start = c.token.start
    with c.nested():
        found = _joined(c, LOOSE)
    while True:
        if _accept(c, "within"):
            token = c.token
            length = c.number("how long the pattern may last")
            if length < 0:
                raise Unreadable("P207", "a length of time is not negative", token.span)
            found = WithinLength(found, length, span=c.since(start))
        elif _accept(c, "where"):
            found = _where(c, found, start)
        else:
            return found


def _where(c: Scanner, pattern: EventPattern, start: int) -> EventPattern:
    c.expect("(", "`(` and conditions after `WHERE`", "write WHERE (X > 3, Y < X)")
    conditions = c.separated(",", partial(_condition, c))
    c.expect(")", "`,` or `)` after a condition")
    known = bound(pattern)
    for each in conditions:
        for side, other in ((each.left, each.right), (each.right, each.left)):
            free = {term.name for term in term_variables(side)} - known
            if each.operator == "=" and isinstance(side, Variable) and {t.name for t in term_variables(other)} <= known:
                free = set()
            if free:
                name = min(free)
                place = next(term.span for term in term_variables(side) if term.name == name)
                hint = "a condition is about values of events before it"
                raise Unreadable("S102", f"`{name}` has no value here", place, hint)
        known |= {term.name for side in (each.left, each.right) for term in term_variables(side)}
    return Where(pattern, tuple(conditions), span=c.since(start))


def _condition(c: Scanner) -> Comparison:
    start = c.token.start
    left = _sum(c)
    sign = c.token
    operator = COMPARISONS.get(sign.text.lower())
    if operator is None:
        raise c.unexpected("a comparison: < =< > >= = \\=")
    c.take()
    return Comparison(operator, left, _sum(c), span=c.since(start))


def _sum(c: Scanner) -> Term:
    return c.joined(partial(_product, c), _calculated, "+", "-")


def _product(c: Scanner) -> Term:
    return c.joined(partial(_factor, c), _calculated, "*", "/")


def _calculated(sign: str, left: Term, right: Term, span: Span) -> Term:
    return Arithmetic(sign, left, right, span=span)


def _factor(c: Scanner) -> Term:
    start = c.token.start
    if c.accept("("):
        return c.bracketed(partial(_sum, c))
    if c.accept("-"):
        return Negative(_factor(c), span=c.since(start))
    return _argument(c)


def _operator(c: Scanner) -> str:
    """The operator that comes next, quoted or not."""
    token = c.token
    text = unquoted(token.text) if token.kind == "string" and token.text[0] == "'" else token.text
    return text.lower() if token.kind in ("word", "string") and c.ahead().text != "<-" else ""


def _accept(c: Scanner, *words: str) -> str:
    found = _operator(c)
    if found not in words:
        return ""
    c.take()
    return found


def _joined(c: Scanner, words: tuple[str, ...]) -> EventPattern:
    start = c.token.start
    deeper = {LOOSE: MIDDLE, MIDDLE: TIGHT}.get(words)

    def operand() -> EventPattern:
        return _single(c) if deeper is None else _joined(c, deeper)

    left = operand()
    while word := _accept(c, *words):
        right = operand()
        if word == "or":
            left = Alternative(left, right, span=c.since(start))
        elif word in SWAPPED:
            left = Related(SWAPPED[word], right, left, span=c.since(start))
        else:
            left = Related(word, left, right, span=c.since(start))
    return left


def _single(c: Scanner) -> EventPattern:
    start = c.token.start
    if _operator(c) == "not" and c.ahead().text == "(":
        c.take()
        c.expect("(")
        between = _pattern(c)
        c.expect(")")
        c.accept(".")
        c.expect("[", "`[` and the two patterns between which it is absent", "write NOT(p1)[p2, p3]")
        first = _pattern(c)
        c.expect(",", "`,` and the second pattern", "write NOT(p1)[p2, p3]")
        last = _pattern(c)
        c.expect("]")
        without = Without(between, first, last, span=c.since(start))
        _refuse_loose_sides(without)
        return without
    if c.accept("("):
        return c.bracketed(partial(_pattern, c), "an operator or `)`")
    atom = _atom(c)
    return Event(atom, span=atom.span)


def _refuse_loose_sides(pattern: EventPattern, outside: set[str] | None = None) -> None:
    """Inside `NOT` both sides of an `OR` are about the same variables: else which intervals are taken away hangs on
    values that one of them does not have. What is absent may have variables of its own, which nothing `outside` asks
    for: they mean any value."""
    match pattern:
        case Without(between=between, first=first, last=last):
            _refuse_loose_sides(first)
            _refuse_loose_sides(last)
            _refuse_loose_sides(between, variables(first) | variables(last))
        case Alternative(left=left, right=right):
            loose = variables(left) ^ variables(right)
            if loose and (outside is None or loose & outside):
                hint = "make an event of the OR by a rule of its own, and use that here"
                raise Unreadable("S103", "inside NOT both sides of an OR need the same variables", pattern.span, hint)
            _refuse_loose_sides(left, outside)
            _refuse_loose_sides(right, outside)
        case WithinLength(pattern=inner):
            _refuse_loose_sides(inner, outside)
        case _:
            for part in parts(pattern):
                _refuse_loose_sides(part)


def _atom(c: Scanner) -> Atom:
    if c.token.kind == "string" and c.ahead().text == ":":
        raise Unreadable("L102", "labels of rules have no counterpart", c.token.span, "leave the label out")
    if c.token.kind == "word" and c.token.text.lower() in WORDS and c.ahead().text not in ("(", "<-", "."):
        raise c.unexpected("an event", f"`{c.token.text}` is an operator")
    name = c.kind("word", "an event", "an event is a name with its arguments, such as smoke(Room)")
    if name.text.lower() in INSTEAD and c.is_at("("):
        hint = INSTEAD[name.text.lower()]
        raise Unreadable("L102", f"`{name.text}` has no counterpart", name.span, hint)
    arguments: list[Term] = []
    if c.accept("("):
        arguments = c.separated(",", partial(_argument, c))
        c.expect(")", "`,` or `)` after an argument")
    return Atom(name.text, tuple(arguments), span=c.since(name.start))


def _argument(c: Scanner) -> Term:
    token = c.token
    if token.kind == "string":
        return Constant(unquoted(c.take().text), span=token.span)
    if token.kind == "number" or c.is_at("-"):
        negative = c.accept("-")
        value = c.kind("number", "a number")
        amount = number(Fraction(value.text))
        return Constant(-amount if negative else amount, span=c.since(token.start))
    c.kind("word", "an argument: a constant or a variable")
    if token.text[0].isupper() or token.text[0] == "_":
        return Variable(token.text, span=token.span)
    return Constant(token.text, span=token.span)
