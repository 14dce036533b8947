"""SPARQL's grammar, to say where a text leaves it and what would be right there.

rdflib makes the algebra of queries, and where it cannot read one it knows neither the place nor what is missing.
SPARQL's grammar needs to look at one token only, so the first token that cannot stand where it is is the exact place;
what could have stood there is what was tried. The tree of a query that is right is small (rules, and the tokens between
which they stand), and is what `faults` looks at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from presage.errors import Span, nearest
from presage.languages.rsp.clauses import Misread, QueryToken

# Words in capitals are kinds of tokens, in quotes what stands there; a text behind `:` is what a rule is called in
# messages, where its first token is missing.
GRAMMAR = """
query = ('BASE' IRI | 'PREFIX' PNAME IRI)* (select | construct | describe | ask) ('VALUES' data)?
select = 'SELECT' ('DISTINCT' | 'REDUCED')? ('*' | item item*) dataset* where modifiers
item: a variable, or (… AS ?x) = variable | alias
alias = '(' expression 'AS' variable ')'
construct = 'CONSTRUCT' ('{' triples? '}' dataset* where | dataset* 'WHERE' '{' triples? '}') modifiers
describe = 'DESCRIBE' ('*' | name name*) dataset* where? modifiers
ask = 'ASK' dataset* where modifiers
dataset = 'FROM' ('NAMED' iri | iri)
where = 'WHERE'? group
modifiers = groupby? ('HAVING' constraint constraint*)? ('ORDER' 'BY' order order*)? limit*
groupby = 'GROUP' 'BY' key key*
key: what is grouped by = variable | '(' expression ('AS' variable)? ')' | call
order: what is ordered by = ('ASC' | 'DESC') '(' expression ')' | constraint | variable
limit = ('LIMIT' | 'OFFSET') NUMBER
subselect = select ('VALUES' data)?
group = '{' (subselect | patterns) '}'
patterns = triples? (pattern '.'? triples?)*
pattern: a pattern = union | optional | minus | graph | service | filter | bind | values
union = group ('UNION' group)*
optional = 'OPTIONAL' group
minus = 'MINUS' group
graph = 'GRAPH' name group
service = 'SERVICE' 'SILENT'? name group
filter = 'FILTER' constraint
bind = 'BIND' '(' expression 'AS' variable ')'
values = 'VALUES' data
data: a variable, or (?x ?y) = variable '{' value* '}' | '(' variable* ')' '{' row* '}'
row = '(' value* ')'
value: a value = iri | literal | 'UNDEF'
constraint: a condition in brackets = '(' expression ')' | call
triples: a triple = same ('.' same?)*
same: a triple = (variable | literal | iri) properties | node properties?
properties = property objects (';' (property objects)?)*
property: a property = variable | path
objects = object (',' object)*
object: an object = variable | literal | iri | node
node = '[' properties? ']' | '(' object* ')'
path: a property = sequence ('|' sequence)*
sequence = step ('/' step)*
step: a property = '^'? primary ('?' | '*' | '+')?
primary = iri | 'A' | '!' (negated | '(' (negated ('|' negated)*)? ')') | '(' path ')'
negated = '^'? (iri | 'A')
expression: an expression = conjunction (or conjunction)*
or: an operator = '|' '|'
conjunction = comparison (and comparison)*
and: an operator = '&' '&'
comparison = sum compared?
compared: an operator = '=' sum | '!' '=' sum | '<' '='? sum | '>' '='? sum | 'IN' list | 'NOT' 'IN' list
sum = product (plus product)*
plus: an operator = '+' | '-'
product = unary (times unary)*
times: an operator = '*' | '/'
unary: an expression = ('!' | '+' | '-') unary | '(' expression ')' | variable | plain | call
list = '(' (expression (',' expression)*)? ')'
call = iri arguments? | 'EXISTS' group | 'NOT' 'EXISTS' group | 'BOUND' '(' variable ')' | several | aggregate
  | nothing '(' ')' | one '(' expression ')' | two '(' expression ',' expression ')' | 'BNODE' '(' expression? ')'
  | 'IF' '(' expression ',' expression ',' expression ')'
  | ('REGEX' | 'SUBSTR') '(' expression ',' expression (',' expression)? ')'
  | 'REPLACE' '(' expression ',' expression ',' expression (',' expression)? ')'
several = ('COALESCE' | 'CONCAT') list
nothing = 'NOW' | 'RAND' | 'UUID' | 'STRUUID'
one = 'STR' | 'LANG' | 'DATATYPE' | 'IRI' | 'URI' | 'ABS' | 'CEIL' | 'FLOOR' | 'ROUND' | 'STRLEN' | 'UCASE' | 'LCASE'
  | 'ENCODE_FOR_URI' | 'YEAR' | 'MONTH' | 'DAY' | 'HOURS' | 'MINUTES' | 'SECONDS' | 'TIMEZONE' | 'TZ' | 'MD5' | 'SHA1'
  | 'SHA256' | 'SHA384' | 'SHA512' | 'ISIRI' | 'ISURI' | 'ISBLANK' | 'ISLITERAL' | 'ISNUMERIC'
two = 'LANGMATCHES' | 'CONTAINS' | 'STRSTARTS' | 'STRENDS' | 'STRBEFORE' | 'STRAFTER' | 'STRLANG' | 'STRDT' | 'SAMETERM'
aggregate = 'COUNT' '(' 'DISTINCT'? ('*' | expression) ')'
  | ('SUM' | 'MIN' | 'MAX' | 'AVG' | 'SAMPLE') '(' 'DISTINCT'? expression ')'
  | 'GROUP_CONCAT' '(' 'DISTINCT'? expression (';' 'SEPARATOR' '=' STRING)? ')'
arguments = '(' 'DISTINCT'? (expression (',' expression)*)? ')'
name: a variable or an IRI = variable | iri
variable: a variable = VARIABLE
iri: an IRI = IRI | PNAME
literal: a value = plain | ('+' | '-') NUMBER
plain = STRING ('@' WORD ('-' (WORD | NUMBER))* | '^' '^' iri)? | NUMBER | 'TRUE' | 'FALSE'
"""
_PART = re.compile(r"\s*(?:'(?P<token>[^']+)'|(?P<rule>[a-z]+)|(?P<kind>[A-Z]+)|(?P<sign>[()|*?]))")
_ESCAPE = re.compile(r"""\\(?![tbnrf"'\\]|u(?![dD][89a-fA-F])[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})""")
MOST_RULES = 200
"""So many rules stand in each other at the most: each takes some of the machine's stack."""
CLAUSES_OF_STREAMS = ("STREAM", "WINDOW", "REGISTER")
ELSEWHERE = {
    "AND": "write &&",
    "OR": "write ||",
    "=": "write one =",
    ",": "variables and patterns stand without commas",
}


@dataclass(frozen=True, slots=True)
class GrammarPart:
    """A part of a rule: `kind` is `token`, `kind` (of tokens), `rule`, `several` (one after the other), `either`, `any`
    or `maybe`."""

    kind: str
    name: str = ""
    parts: tuple[GrammarPart, ...] = ()


@dataclass(slots=True)
class SyntaxNode:
    """Where a rule stands: its name, the tokens between which it does, and what is in it."""

    name: str
    start: int
    end: int = 0
    nodes: list[SyntaxNode] = field(default_factory=list)

    def all(self, *names: str, but: tuple[str, ...] = ()) -> list[SyntaxNode]:
        """The nearest nodes of these names below this one, not looking into those of other names."""
        found = []
        for each in self.nodes:
            if each.name in names:
                found.append(each)
            elif each.name not in but:
                found += each.all(*names, but=but)
        return found


@cache
def _rules() -> tuple[dict[str, GrammarPart], dict[str, str]]:
    rules, called = {}, {}
    for line in re.sub(r"\n  ", " ", GRAMMAR).strip().splitlines():
        left, _, right = line.partition(" = ")
        name, _, title = left.partition(": ")
        called[name] = title
        signs = [(str(found.lastgroup), found[found.lastgroup or 0]) for found in _PART.finditer(right)]
        rules[name], end = _alternatives(signs, 0)
        assert end == len(signs), line
    return rules, called


def _alternatives(signs: list[tuple[str, str]], at: int) -> tuple[GrammarPart, int]:
    ways: list[GrammarPart] = []
    parts: list[GrammarPart] = []
    while at < len(signs) and signs[at] != ("sign", ")"):
        kind, text = signs[at]
        at += 1
        if (kind, text) == ("sign", "|"):
            ways.append(GrammarPart("several", parts=tuple(parts)))
            parts = []
        elif kind != "sign" or text == "(":
            part, at = _alternatives(signs, at) if kind == "sign" else (GrammarPart(kind, text), at - 1)
            at += 1
            if at < len(signs) and signs[at] in (("sign", "*"), ("sign", "?")):
                part = GrammarPart("any" if signs[at][1] == "*" else "maybe", parts=(part,))
                at += 1
            parts.append(part)
    ways.append(GrammarPart("several", parts=tuple(parts)))
    return (GrammarPart("either", parts=tuple(ways)) if len(ways) > 1 else ways[0]), at


@cache
def _begins(part: GrammarPart) -> tuple[frozenset[str], bool]:
    """The tokens a part may begin with, and whether it may be nothing."""
    if part.kind in ("token", "kind"):
        return frozenset((part.name if part.kind == "token" else part.name.lower(),)), False
    if part.kind == "rule":
        return _begins(_rules()[0][part.name])
    if part.kind in ("any", "maybe"):
        return _begins(part.parts[0])[0], True
    found: set[str] = set()
    for each in part.parts:
        begins, empty = _begins(each)
        found |= begins
        if part.kind == "several" and not empty:
            return frozenset(found), False
    return frozenset(found), part.kind == "several" or any(_begins(each)[1] for each in part.parts)


class _Walk:
    def __init__(self, tokens: list[QueryToken], text: str) -> None:
        self.tokens, self.text, self.at = tokens, text, 0
        self.tried: dict[str, None] = {}
        self.open: list[SyntaxNode] = [SyntaxNode("", 0)]

    def is_at(self, begins: frozenset[str]) -> bool:
        if self.at >= len(self.tokens):
            return False
        token = self.tokens[self.at]
        return token.kind in begins or (token.kind in ("word", "sign") and token.text.upper() in begins)

    def take(self, part: GrammarPart) -> None:
        begins, empty = _begins(part)
        if not self.is_at(begins):
            self.tried.update(dict.fromkeys(_titles(part)))
            if not empty:
                raise self.stuck()
            return
        if part.kind in ("token", "kind"):
            self.at += 1
            self.tried = {}
        elif part.kind == "rule":
            if len(self.open) > MOST_RULES:
                raise Misread("brackets are nested too deeply", self.tokens[self.at].span, "say it in fewer")
            node = SyntaxNode(part.name, self.at)
            self.open[-1].nodes.append(node)
            self.open.append(node)
            self.take(_rules()[0][part.name])
            self.open.pop().end = self.at
        elif part.kind == "either":
            self.take(next(each for each in part.parts if self.is_at(_begins(each)[0])))
        elif part.kind == "several":
            for each in part.parts:
                self.take(each)
        else:
            self.take(part.parts[0])
            while part.kind == "any" and self.is_at(begins):
                self.take(part.parts[0])
            self.tried.update(dict.fromkeys(_titles(part)) if part.kind == "any" else ())

    def stuck(self) -> Misread:
        expected = list(self.tried)
        shown = [each for each in expected if each[:1] != "`"] + [each for each in expected if each[:1] == "`"]
        shown = shown if len(shown) < 8 else [*shown[:7], "…"]
        said = " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
        if self.at >= len(self.tokens):
            end = max(1, len(self.text.rstrip()))
            return Misread(f"expected {said}, and the text ends", Span(end - 1, end))
        token = self.tokens[self.at]
        words = [each.strip("`") for each in expected if each[:1] == "`"]
        if "a pattern" in expected:
            words += sorted(_begins(GrammarPart("rule", "pattern"))[0])
        if "an expression" in expected or "a condition in brackets" in expected:
            words += sorted(_begins(GrammarPart("rule", "call"))[0])
        near = nearest(token.text.upper(), (*words, *CLAUSES_OF_STREAMS)) if token.kind == "word" else None
        hint = ELSEWHERE.get(token.text.upper(), f"did you mean `{near}`?" if near else "")
        # A clause about a stream stands as GRAPH here; what its author wrote begins at the same place.
        written = re.match(r"\w+", self.text[token.span.start :]) if token.kind == "word" else None
        found = written[0] if written else token.text
        return Misread(f"expected {said}, found `{found[:40]}`", token.span, hint)


def _titles(part: GrammarPart) -> list[str]:
    """What a part is called in messages: by the names of its rules, and by its own words."""
    if part.kind in ("token", "kind"):
        return [_KINDS[part.name] if part.kind == "kind" else f"`{part.name}`"]
    if part.kind == "rule":
        return [_rules()[1][part.name]] if _rules()[1][part.name] else _titles(_rules()[0][part.name])
    if part.kind == "several":
        found = []
        for each in part.parts:
            found += _titles(each)
            if not _begins(each)[1]:
                break
        return found
    return [title for each in part.parts for title in _titles(each)]


_KINDS = {
    "IRI": "an IRI",
    "VARIABLE": "a variable",
    "NUMBER": "a number",
    "STRING": "a text",
    "WORD": "a language",
    "PNAME": "a prefix such as `ex:`",
}


def tree_of(tokens: list[QueryToken], text: str) -> SyntaxNode:
    """What rules stand where in a query; raises `Misread` at the first token that cannot stand where it is."""
    for before, each in zip(tokens[:1] + tokens, tokens, strict=False):
        if before is not each and before.text == each.text == ".":
            raise Misread("expected a triple or a pattern, found `.`", each.span, "one full stop ends a triple")
        if each.kind == "sign" and each.text in "\"'":
            raise Misread("a quoted text is not closed", each.span, f"close it by {each.text} in the same line")
        wrong = _ESCAPE.search(re.sub(r"\\\\", "  ", each.text)) if each.kind == "string" else None
        if wrong:
            at = each.span.start + wrong.start()
            raise Misread("this escape means nothing", Span(at, at + 2), "write \\\\ for the sign itself")
    walk = _Walk(tokens, text)
    try:
        walk.take(GrammarPart("rule", "query"))
        if walk.at < len(tokens):
            walk.tried["the end of the query"] = None
            raise walk.stuck()
    except Misread:
        there = tokens[walk.at] if walk.at < len(tokens) else None
        if there and there.text == "<" and "`<`" not in walk.tried:
            hint = "an IRI has no spaces and ends with >: <http://…>"
            raise Misread("an IRI is not closed", there.span, hint) from None
        raise
    return walk.open[0].nodes[0]
