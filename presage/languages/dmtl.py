"""DatalogMTL as MeTeoR writes it: a rule a line, metric operators before atoms, dense time.

Its rules are Presage's own, so that a program of it is rules and nothing else. Every head predicate is a query.
MeTeoR's data may have facts of any predicate: those that rules both derive and use are inputs as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from presage.errors import Source, nearest
from presage.languages.scanner import Grammar, Scanner, Unreadable, unquoted
from presage.model.formulas import And, Atom, BinaryMetric, Formula, Metric, Not, Or, Top, atoms
from presage.model.program import Program
from presage.model.statements import Column, Head, Input, Query, Rule, Statement, Timeline
from presage.model.terms import Constant, Number, Term, Variable
from presage.model.time import Interval
from presage.parser import Parsed
from presage.syntax import METRIC_ALIASES

GRAMMAR = Grammar(
    (":-", "||", ",", "(", ")", "[", "]", ".", "-", "+", "/", "@", "!"),
    r"[%\#][^\n]*",
    r"[^\W\d](?:[\w']|[.:/\#-](?=\w))*|[0-9]+(?:[^\W\d]|_)[\w-]*|<[^<>\s]*>",
)
UNARY = {**METRIC_ALIASES, "always": "always", "sometime": "eventually"}
BINARY = {"since": "since", "until": "until"}
SIGNED = ("always", "sometime", "until")
"""The operators whose negative bounds mean the past."""
BACKWARDS = {"always": "historically", "eventually": "once", "until": "since"}
NOTHING, EVERYTHING = "bottom", "top"


def read(text: str, name: str) -> Parsed:
    source = Source.of(text.removeprefix("\ufeff"), name)
    scanner = Scanner(source, GRAMMAR)
    rules: list[Rule] = []
    while scanner.token.kind != "end":
        line = source.place(scanner.token.start)[0]
        try:
            rules.append(_rule(scanner))
        except Unreadable as found:
            scanner.problems.append(found.diagnostic)
            scanner.depth = 0
            _to_next_line(scanner, line)
    statements: list[Statement] = [Timeline("dense"), *_inputs(rules), *rules, *_queries(rules)]
    return Parsed(Program(tuple(statements), source=source), tuple(scanner.comments), tuple(scanner.problems))


def _to_next_line(c: Scanner, line: int) -> None:
    line = max(line, c.source.place(c.before.start)[0])
    while c.token.kind != "end" and c.source.place(c.token.start)[0] <= line:
        c.take()


def _inputs(rules: list[Rule]) -> list[Input]:
    """What rules use; what they only derive needs no facts."""
    used: dict[str, Atom] = {}
    for rule in rules:
        for formula in rule.body:
            for atom in atoms(formula):
                used.setdefault(atom.predicate, atom)
    return [
        Input(atom.predicate, tuple(Column(f"a{place + 1}") for place in range(len(atom.arguments))))
        for atom in sorted(used.values(), key=lambda atom: atom.span.start)
    ]


def _queries(rules: list[Rule]) -> list[Query]:
    asked: dict[str, Atom] = {}
    for rule in rules:
        for head in rule.head_atoms:
            for atom in atoms(head):
                asked.setdefault(atom.predicate, atom)
    return [
        Query(replace(atom, arguments=tuple(Variable(f"X{place + 1}") for place in range(len(atom.arguments)))))
        for atom in asked.values()
    ]


def _rule(c: Scanner) -> Rule:
    start = c.token.start
    head = None
    if not (c.is_at(NOTHING) and c.ahead().text == ":-"):
        head = _head(c)
    else:
        c.take()
    body: list[Formula] = []
    if c.accept(":-"):
        if not c.is_at("||"):
            body = c.separated(",", partial(_formula, c))
        if c.accept("||"):
            denied = c.separated(",", partial(_formula, c))
            body += [Not(each, span=each.span) for each in denied]
    elif not c.is_at(".") and _goes_on(c):
        raise c.unexpected("`:-` after the head of a rule", "write H(X) :- P(X), Q(X)")
    span = c.since(start)
    if not c.accept(".") and _goes_on(c):
        raise _does_not_end(c)
    return Rule(head, tuple(body), span=span)


def _does_not_end(c: Scanner) -> Unreadable:
    """What is wrong where a rule neither goes on nor ends: an operator may have been taken for a predicate."""
    word = c.before.text.lower() if c.before.kind == "word" else ""
    if word in UNARY:
        return c.unexpected("an interval, such as [0,2]")
    near = nearest(word, (*UNARY, *BINARY)) if word else None
    if near and near != word:
        hint = f"did you mean `{near.title()}`?"
        return Unreadable("P201", f"`{c.before.text}` is no operator", c.before.span, hint)
    hint = "negated atoms stand last, behind `||`" if word == "not" else "a rule is one line, or ends with a full stop"
    return c.unexpected("`,`, `||` or the end of the rule", hint)


def _goes_on(c: Scanner) -> bool:
    """Whether the line does: a rule is one line, unless something is still open at its end."""
    return c.token.kind != "end" and c.source.place(c.token.start)[0] == c.source.place(c.before.start)[0]


def _head(c: Scanner) -> Head:
    start = c.token.start
    found = _formula(c)
    parts = found.parts if isinstance(found, And) else (found,)
    for part in parts:
        inner = part
        while isinstance(inner, Metric) and inner.operator in ("always", "historically"):
            inner = inner.formula
            if isinstance(inner, Metric):
                break
        if not isinstance(inner, Atom):
            raise Unreadable(
                "P301",
                "a head is an atom, alone or below one `Boxminus`, `Boxplus` or `ALWAYS`",
                c.since(start),
                "derive a new predicate, and use that in another rule",
            )
    return Head(tuple(parts), span=c.since(start))


def _formula(c: Scanner) -> Formula:
    start = c.token.start
    left = _unary(c)
    word = c.accept("Since", "Until")
    if word is None:
        return left
    signed = word.text == "UNTIL"
    reaches = _reaches(c, signed)
    right = _unary(c)
    if c.is_at("Since", "Until"):
        hint = "write (A Since[a,b] B) Since[c,d] C"
        raise Unreadable("P210", "a chain of `Since` and `Until` needs parentheses", c.token.span, hint)
    operator = BINARY[word.text.lower()]
    parts: tuple[Formula, ...] = tuple(
        BinaryMetric(BACKWARDS[operator] if past else operator, reach, left, right, span=c.since(start))
        for past, reach in reaches
    )
    return parts[0] if len(parts) == 1 else Or(parts, span=c.since(start))


def _unary(c: Scanner) -> Formula:
    start = c.token.start
    word = c.token
    if word.kind == "word" and word.text.lower() in UNARY and c.ahead().text in ("[", "("):
        if c.ahead().text == "[" or _is_interval(c):
            c.take()
            operator = UNARY[word.text.lower()]
            with c.nested():
                reaches = _reaches(c, word.text.lower() in SIGNED)
                inner = _unary(c)
            parts = tuple(
                Metric(BACKWARDS[operator] if past else operator, reach, inner, span=c.since(start))
                for past, reach in reaches
            )
            if len(parts) == 1:
                return parts[0]
            # Around now, both ways: at all times of both sides, or at some of either.
            return (And if operator == "always" else Or)(parts, span=c.since(start))
    if c.accept("("):
        return c.bracketed(partial(_formula, c))
    if c.is_at(EVERYTHING) and c.ahead().text != "(":
        return Top(span=c.take().span)
    if c.is_at(NOTHING) and c.ahead().text != "(":
        return Not(Top(span=c.token.span), span=c.take().span)
    return _atom(c)


def _is_interval(c: Scanner) -> bool:
    """Whether a bracket after an operator's name opens an interval: two bounds, and not the arguments of an atom."""
    at = c.at + 2
    inside = []
    while at < len(c.tokens) and c.tokens[at].text not in (")", "]", "end"):
        inside.append(c.tokens[at].text.lower())
        at += 1
    return "," in inside and all(each in ",-+/" or each == "inf" or each[0].isdigit() for each in inside)


def _atom(c: Scanner) -> Atom:
    name = c.kind("word", "a predicate")
    arguments: list[Term] = []
    if c.is_at("(") and c.ahead().text != ")":
        c.take()
        arguments = c.separated(",", partial(_argument, c))
        c.expect(")", "`,` or `)` after an argument")
    elif c.accept("("):
        c.expect(")")
    return Atom(name.text, tuple(arguments), span=c.since(name.start))


def _argument(c: Scanner) -> Term:
    token = c.token
    if token.kind == "string":
        return Constant(unquoted(c.take().text), span=token.span)
    if token.kind == "number" or token.text == "-":
        return Constant(c.number("an argument"), span=c.since(token.start))
    c.kind("word", "an argument: a constant or a variable")
    if token.text[0].isupper() or token.text[0] == "_":
        return Variable(token.text, span=token.span)
    return Constant(token.text, span=token.span)


def _reaches(c: Scanner, signed: bool) -> list[tuple[bool, Interval]]:
    """The interval of an operator, as reaches into the past (`True`) and the future."""
    start = c.token.start
    opening = c.accept("[", "(")
    if opening is None:
        raise c.unexpected("an interval, such as [0,2]")
    low = _bound(c)
    high = low
    if c.accept(","):
        high = _bound(c)
    closing = c.accept("]", ")")
    if closing is None:
        raise c.unexpected("`]` or `)` after an interval")
    span = c.since(start)
    if low is None and not (signed and high is not None):
        raise Unreadable("P207", "an interval begins with a number", span, "write [0,inf)")
    closed_low, closed_high = opening.text == "[", closing.text == "]"
    if not signed and ((low is not None and low < 0) or (high is not None and high < 0)):
        hint = (
            "`Diamondminus`, `Boxminus` and `Since` look back; so do negative bounds of `ALWAYS`, `SOMETIME`, `UNTIL`"
        )
        raise Unreadable("P207", "the bounds of an interval are not negative", span, hint)
    if low is not None and high is not None and (high < low or (high == low and not (closed_low and closed_high))):
        raise Unreadable("P207", "the interval is empty", span, "the lower bound comes first")
    if low is not None and low >= 0:
        return [(False, Interval(low, high, closed_low, closed_high and high is not None, span=span))]
    if high is not None and high <= 0:
        back = None if low is None else -low
        return [(True, Interval(-high, back, closed_high, closed_low and low is not None, span=span))]
    back = None if low is None else -low
    return [
        (True, Interval(0, back, True, closed_low and low is not None, span=span)),
        (False, Interval(0, high, True, closed_high and high is not None, span=span)),
    ]


def _bound(c: Scanner) -> Number | None:
    """A bound; `None` is infinity, of the sign that its place gives it."""
    c.accept("+")
    if c.is_at("-") and c.ahead().text.lower() in ("inf", "infinity"):
        c.take()
    if c.accept("inf", "infinity"):
        return None
    return c.number("a bound")
