"""Wrong queries of other languages: a message with its place in the author's own text, and what would be right."""

from __future__ import annotations

import pytest

from presage.checking import check_text
from presage.errors import render

STREAMS = "CREATE STREAM s (a INT, b TEXT);\nCREATE TABLE t (a INT);\n"
CQL = {
    "Select a From s [Range 5": ("3:24", "L101", "the window neither goes on nor ends"),
    "Select a From s [Range 5 Parsecs]": ("3:26", "L101", "`Parsecs` is not a unit of time"),
    "Select a From s [Range 5 Seconds]": ("3:17", "D107", "a unit needs a tick"),
    "Select a From s [Rows 0]": ("3:23", "L101", "the number of rows is a whole number greater than 0"),
    "Select a From s [Range 5 Slide 0]": ("3:32", "L101", "a window cannot slide by 0"),
    "Select a From s [Partition By z Rows 2]": ("3:31", "D103", "`z` is no column of `s`"),
    "Select a From s [Partition By a]": ("3:17", "L101", "`Rows` is missing"),
    "Select a From s [Wide]": ("3:18", "L101", "this is not a window"),
    "Select c From s [Now]": ("3:8", "D103", "there is no column `c`"),
    "Select a From r [Now]": ("3:15", "D105", "there is no stream or table `r`"),
    "Select x.a From s [Now] As y": ("3:8", "D103", "`x` is nothing that From names"),
    "Select a From s [Now] As x, t": ("3:8", "D103", "`a` may be `x.a` and `t.a`"),
    "Select a From t [Now]": ("3:17", "D106", "it has no times, and no window"),
    "Select a From s [Now] Where b > 3": ("3:29", "D108", "text on one side and a number on the other"),
    "Select a + b From s [Now]": ("3:12", "D108", "a number is needed"),
    "Select a, Count(*) From s [Now]": ("3:8", "L102", "has no one value in a group"),
    "Select Sum(b) From s [Now]": ("3:12", "D108", "a number is needed"),
    "Select Median(a) From s [Now]": ("3:8", "L102", "`median` is no aggregate"),
    "Select a From s [Now] Left Join t On s.a = t.a": ("3:33", "L102", "`Left Join` cannot be said here"),
    "Select a From s [Now] Limit 3": ("3:29", "L102", "`Limit` cannot be said here"),
    "Select a From s [Now] Union Select b From s [Now]": ("3:1", "D108", "on one side"),
    "Select a From s [Now] Union Select a, b From s [Now]": ("3:1", "L102", "1 and 2 columns"),
    "Select a From (Select a From s [Now]) [Range 3] As q": ("3:39", "L102", "a window is about a stream"),
    "Select a From (Istream(Select a From s [Range 2])) [Range 3] As q": ("3:16", "L102", "several times at once"),
    "Select k From (Select 1 As k, Max(a) m From s [Now] Union All Select a, a From t) x": ("3:16", "L102", "`m` of"),
    "Select k From (Istream(Select 1 As k, Max(a) m From s [Now])) [Range 2] x": ("3:16", "L102", "`m` of this query"),
    "Select a From t, (Select Max(a) As m From s [Now]) As x Where Not Exists (Select * From t As y Where y.a = x.m)": (
        "3:108", "L102", "`x.m` may be NULL"),
    "Select a From t, (Select Max(a) As m From s [Now]) As x Where a = 1 Or m In (Select a From t)": (
        "3:72", "L102", "`m` may be NULL"),
    "Select a From t Where Exists (Select Max(a) From s [Now] Union Select Min(a) From s [Now])": (
        "3:31", "L102", "may be NULL"),
    "Select a From s [Now] Where": ("3:27", "L101", "expected an expression, and the statement ends"),
    "Select a From s [Now] Where b = 'x": ("3:33", "L101", "not closed"),
    "Select Istream(a) From s [Now] Union Select a From t": ("3:8", "L102", "`Istream` cannot stand here"),
    "Select From s": ("3:1", "L102", "nothing is selected"),
    "Select Sum(*) From s": ("3:8", "L102", "is of no column"),
    "Select Count(a, b) From s": ("3:8", "L102", "is of several columns"),
    "Select a From s [Partition By a Range 3]": ("3:17", "L101", "`Rows` is missing"),
    "Select a From s (Range 3)": ("3:15", "L102", "neither a stream, a table nor a query"),
    "Select a From": ("3:13", "L101", "expected the name of a stream or table, and the statement ends"),
    "Select s.a From s Join t Using (z)": ("3:33", "D103", "there is no column `z`"),
    "Istream(Dstream(Select a From s))": ("3:1", "L101", "made a stream twice, by Istream and Dstream"),
    "-- tick: 1m\nSelect a From s [Range 90 Seconds]": ("4:17", "D107", "`90s` is no whole number of ticks"),
    "-- tick: 0s\nSelect a From s [Range 3 Seconds]": ("3:10", "D107", "`0s` is no length of time"),
    "Drop Table s": ("3:1", "L101", "expected a declaration or a query, found `Drop`"),
    "Select a From s Tablesample (10)": ("3:30", "L102", "`TABLESAMPLE (10 ROWS)` cannot be said here"),
    "Select a From s Pivot (Sum(a) For b In (1))": ("3:24", "L102", "PIVOT(SUM(a) FOR b IN (1))"),
    "Select a From s For Update": ("3:1", "L102", "`Locks` cannot be said here"),
    "Select * Exclude (a) From s": ("3:19", "L102", "name the columns"),
    "Select a From x.s": ("3:15", "L102", "`x` cannot be said here"),
    "Select a From s Where a In t": ("3:28", "L102", "write In (Select c From …)"),
    "Select a From s Where a Between Symmetric 2 And 1": ("3:23", "L102", "write the lower bound first"),
    "Select a From s Natural Join t": ("3:30", "L102", "`Natural Join` cannot be said here"),
    "Select NullIf(a, 1) From s": ("3:8", "L102", "`NULLIF(a, 1)` has no counterpart"),
    "Select Coalesce(a, 1) From s": ("3:8", "L102", "`COALESCE(a, 1)` has no counterpart"),
    "Select a From s Where (a + 1) Is Null": ("3:24", "L102", "`(a + 1) IS NULL` cannot be said here"),
    "Select a From s Where a > All (Select a From t)": ("3:27", "L102", "`ALL (SELECT a FROM t)` has no"),
    "Select a From s Where a > Any (Select a From t)": ("3:27", "L102", "`ANY (SELECT a FROM t)` has no"),
    "Select Distinct On (a) a, b From s": ("3:1", "L102", "`Distinct On` cannot be said here"),
    "Select Sum(a) Over (Partition By b) From s": ("3:8", "L102", "has no counterpart"),
    "With Recursive v As (Select a From s) Select a From v": ("3:16", "L102", "write a view for each step"),
    "Select a From s Except All Select a From t": ("3:1", "L102", "Except All cannot be said here"),
    "Select a From s Intersect All Select a From t": ("3:1", "L102", "Intersect All cannot be said here"),
    "Select a From s Offset 2": ("3:24", "L102", "`Offset` cannot be said here"),
    "Select a > 1 As x From s": ("3:8", "L102", "`a > 1` has no counterpart"),
    "Select a From (Select a From s) [Rows 2] As x": ("3:33", "L102", "a window is about a stream"),
    "Values (1)": ("3:1", "L101", "expected a declaration or a query"),
    "Register Stream u (a INT)": ("3:1", "L101", "write CREATE STREAM s (a INT, b TEXT)"),
    "Register Relation u (a INT)": ("3:1", "L101", "write CREATE TABLE t (a INT, b TEXT)"),
    "Register Query u As Select a From s": ("3:1", "L101", "-- name: hot"),
    "table : register stream u (a integer)": ("3:1", "L101", "found `table`"),
    "CREATE STREAM u a INT": ("3:17", "L101", "expected `(` and the columns, found `a`"),
    "CREATE STREAM u (a INT": ("3:22", "L101", "expected `)`, and the statement ends"),
    "CREATE STREAM u (a FOO); Select a From u": ("3:18", "L102", "`FOO` is no type"),
    "CREATE RELATION u (a INT)": ("3:1", "L101", "`CREATE RELATION` cannot be said here"),
    "Selct a From s": ("3:1", "L101", "did you mean `Select`?"),
    "Select a Form s [Now]": ("3:10", "L101", "did you mean `From`?"),
    "Select a From s [Now] Wehre a > 3": ("3:23", "L101", "did you mean `Where`?"),
    "Select a From s [Now] Group a": ("3:29", "L101", "write Group By"),
    "Select a, From s": ("3:11", "L101", "expected something behind `,`, found `From`"),
    "Select a From s, t On": ("3:20", "L101", "expected an operator, a clause or the end of the statement, found `On`"),
    "Select a From s Join t On": ("3:25", "L101", "expected something behind `On`, and the statement ends"),
    "Select a From s Union": ("3:21", "L101", "and the statement ends"),
    "Select a From s Now": ("3:17", "L101", "a window stands in brackets"),
    "Select a From s Range 5": ("3:17", "L101", "a window stands in brackets"),
    "Select a From s Where a > 1 a": ("3:29", "L101", "expected an operator, a clause or the end of the statement"),
    "Select Count(a From s": ("3:16", "L101", "expected `)`, found `From`"),
    "Select a From s Where b = \"x\"": ("3:27", "D103", "a text stands in single quotes: 'x'"),
    "Istream Select a From s": ("3:1", "L101", "write Istream(Select … From …)"),
    "CREATE STREAM s (a INT)": ("3:15", "D101", "`s` is declared twice"),
    "CREATE STREAM window (a INT)": ("3:15", "P204", "cannot be the name of a predicate"),
    "": ("1:1", "L101", "the file asks nothing"),
}  # fmt: skip
HEAD = "PREFIX : <http://e/>\n"
RSP = {
    "SELECT ?x FROM STREAM :s [RANGE 5s STEP] WHERE { ?x :p ?y }": ("2:40", "L101", "the step is a length of time"),
    "SELECT ?x FROM STREAM :s [RANGE 5 parsecs] WHERE { ?x :p ?y }": ("2:35", "L101", "not a unit of time"),
    "SELECT ?x FROM STREAM :s [RANGE 500ms] WHERE { ?x :p ?y }": ("2:33", "D107", "whole number of seconds"),
    "SELECT ?x FROM NAMED STREAM :s [NOW - 100 MS] WHERE { ?x :p ?y }": ("2:39", "D107", "whole number of seconds"),
    "SELECT ?x FROM NAMED STREAM :s [NOW - 9 S TO THEN] WHERE { ?x :p ?y }": ("2:46", "L101", "a window ends now"),
    "SELECT ?x FROM STREAM :s WHERE { ?x :p ?y }": ("2:26", "L101", "the window is missing"),
    "SELECT ?x FROM STREAM s [RANGE 5s] WHERE { ?x :p ?y }": ("2:23", "L101", "`s` is not an IRI"),
    "SELECT ?x FROM STREAM :s [WIDE] WHERE { ?x :p ?y }": ("2:27", "L101", "this is not a window"),
    "SELECT ?x WHERE { STREAM :s [RANGE 5s { ?x :p ?y } }": ("2:39", "L101", "neither goes on nor ends"),
    "SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 5s] WHERE { WINDOW :v { ?x :p ?y } }": (
        "2:64",
        "D105",
        "there is no window",
    ),
    "SELECT ?x FROM NAMED WINDOW :w [RANGE 5s] WHERE { WINDOW :w { ?x :p ?y } }": ("2:32", "L101", "`ON` is missing"),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { STREAM :s [NOW] { ?x :p ?y } }": (
        "2:40",
        "L101",
        "the query began as C-SPARQL",
    ),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { ?x :p }": ("2:46", "L101", "expected an object"),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { ?x zz:p ?y }": ("2:43", "L101", "declare it before the query: PREFIX zz:"),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { ?x :p ?y } LIMIT 3": (
        "2:51",
        "L102",
        "LIMIT and OFFSET have no counterpart",
    ),
    "SELECT (GROUP_CONCAT(?y) AS ?z) FROM STREAM :s [NOW] WHERE { ?x :p ?y }": (
        "2:9",
        "L102",
        "GROUPCONCAT has no counterpart",
    ),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { ?x :p ?y FILTER(MD5(?y) = 1) }": (
        "2:56",
        "L102",
        "`MD5` has no counterpart",
    ),
    "REGISTER TABLE q AS SELECT ?x WHERE { ?x :p ?y }": ("2:10", "L101", "`TABLE` cannot be registered"),
    "REGISTER QUERY triple AS SELECT ?x FROM STREAM :s [NOW] WHERE { ?x :p ?y }": (
        "2:16",
        "P204",
        "cannot be the name",
    ),
    "DESCRIBE ?x WHERE { ?x :p ?y }": ("2:1", "L102", "DESCRIBE has no counterpart"),
    "SELCT ?x WHERE { ?x :p ?y }": ("2:1", "L101", "did you mean `SELECT`?"),
    "SELECT ?x, ?y WHERE { ?x :p ?y }": ("2:10", "L101", "stand without commas"),
    "SELECT ?x FROM STREM :s [NOW] WHERE { ?x :p ?y }": ("2:16", "L101", "did you mean `STREAM`?"),
    "SELECT ?x WHERE { ?x :p ?y . ?z }": ("2:33", "L101", "expected a property, found `}`"),
    "SELECT ?x WHERE { ?x :p ?y . . ?z :p ?x }": ("2:30", "L101", "one full stop"),
    "SELECT ?x WHERE { ?x :p ?y ?z :q ?a }": ("2:28", "L101", "expected a pattern, `,`, `;`, `.` or `}`, found `?z`"),
    "SELECT ?x WHERE { ?x :p ?y } }": ("2:30", "L101", "expected the end of the query"),
    "SELECT ?x WHERE { ?x :p ?y\nFILTER ?y > 3 }": ("3:8", "L101", "expected a condition in brackets, found `?y`"),
    "SELECT ?x WHERE { ?x :p ?y\nFILTER(?y > 3 }": ("3:15", "L101", "expected an operator or `)`, found `}`"),
    "SELECT ?x WHERE { ?x :p ?y\nFILTER(?y = 3 AND ?y = 2) }": ("3:15", "L101", "write &&"),
    "SELECT ?x WHERE { ?x :p ?y FLTER(?y = 3) }": ("2:28", "L101", "did you mean `FILTER`?"),
    "SELECT ?x WHERE { ?x :p ?y OPTIONAL ?x :q ?z }": ("2:37", "L101", "expected `{`, found `?x`"),
    "SELECT ?x WHERE { ?x :p ?y BIND(?y + 1 ?z) }": ("2:40", "L101", "expected an operator or `AS`, found `?z`"),
    "SELECT (CNT(?x) AS ?n) WHERE { ?x :p ?y }": ("2:9", "L101", "did you mean `COUNT`?"),
    "SELECT COUNT(?x) AS ?n WHERE { ?x :p ?y }": ("2:8", "L101", "expected a variable, or (… AS ?x)"),
    "SELECT ?x WHERE { ?x :p 'abc }": ("2:25", "L101", "a quoted text is not closed"),
    "SELECT ?x WHERE { ?x :p 'a\\q' }": ("2:27", "L101", "this escape means nothing"),
    "SELECT ?x WHERE { ?x :p <http://e f> }": ("2:25", "L101", "an IRI is not closed"),
    "SELECT ?x WHERE { ?x :p ?y FILTER(:foo(?y) = 1) }": ("2:35", "L102", "<http://e/foo> has no counterpart"),
    "SELECT ?x WHERE { ?x :p ?y FILTER(COUNT(?y) > 1) }": ("2:35", "L101", "`COUNT` cannot stand in a filter"),
    "SELECT (SUM(COUNT(?y)) AS ?n) WHERE { ?x :p ?y }": ("2:13", "L101", "`COUNT` cannot stand in an aggregate"),
    "SELECT (?y AS ?x) WHERE { ?x :p ?y }": ("2:15", "L101", "`?x` is there already"),
    "SELECT * WHERE { ?x :p ?y } GROUP BY ?x": ("2:8", "L101", "what is grouped has no `*`"),
    "SELECT ?x WHERE { ?x :p ?y } GROUP BY ?x HAVING (?y > 1)": ("2:50", "L101", "`?y` has no one value in a group"),
    "SELECT ?x WHERE { ?x :p ?y VALUES (?a ?b) { (1) } }": ("2:45", "L101", "a row of 1 for 2 variables"),
    "SELECT ?x WHERE { ?x :p _:b OPTIONAL { _:b :q ?x } }": ("2:40", "L101", "`_:b` stands in other triples before"),
    "SELECT ?x WHERE { ?x _:b ?y }": ("2:22", "L101", "a blank node cannot stand here"),
    "SELECT ?x WHERE { [] . ?x :p ?y }": ("2:19", "L101", "these triples have no property"),
    "PREFIX a:b <http://e/> SELECT ?x WHERE { ?x :p ?y }": ("2:8", "L101", "a prefix ends with its only colon"),
    "PREFIX a <http://e/> SELECT ?x WHERE { ?x :p ?y }": ("2:8", "L101", "expected a prefix such as `ex:`, found `a`"),
    "SELECT ?x WHERE {" + "{" * 400 + "?x :p ?y": ("2:67", "L101", "brackets are nested too deeply"),
    "SELECT ?x FROM NAMED WINDOW :w ON :s [NOW] WHERE { ?x :p ?y FILTER(WINDOW :w) }": (
        "2:68",
        "L101",
        "expected an expression, found `WINDOW`",
    ),
    "DESCRIBE :x": ("2:1", "L102", "DESCRIBE has no counterpart"),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { SERVICE :z { ?x :p ?y } }": ("2:40", "L102", "SERVICE has no counterpart"),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { ?x !(:p|:q) ?y }": ("2:43", "L102", "this property path has no"),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { ?x :p ?y BIND(?x AS ?x) }": ("2:60", "L101", "`?x` is bound already"),
    "SELECT ?x (COUNT(?y) AS ?n) FROM STREAM :s [NOW] WHERE { ?x :p ?y }": (
        "2:8",
        "L101",
        "`?x` has no one value in a group",
    ),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { ?x :p ?y } GROUP BY": (
        "2:58",
        "L101",
        "expected what is grouped by, and the text ends",
    ),
    "SELECT ?x FROM STREAM :s [NOW] WHERE { { SELECT ?x WHERE { ?x :p ?y } LIMIT 2 } }": (
        "2:71",
        "L102",
        "LIMIT and OFFSET have no counterpart",
    ),
}
ETALIS = {
    "'hot': a <- b.": ("1:1", "L102", "labels of rules have no counterpart"),
    "a <- b do (write(1)).": ("1:8", "L102", "`do` has no counterpart"),
    "a <- event_multiply(b, 3).": ("1:6", "L102", "`event_multiply` has no counterpart"),
    "a <- b NOT c.": ("1:8", "P201", "NOT stands before what is absent"),
}
DMTL = {
    "H(X) :- Diamondminus T(X)": ("1:22", "P201", "expected an interval, such as [0,2], found `T`"),
    "H(X) :- Daimondminus[0,2] T(X)": ("1:9", "P201", "did you mean `Diamondminus`?"),
    "H(X) :- T(X), not S(X)": ("1:19", "P201", "negated atoms stand last, behind `||`"),
    "H(X) :- T(X) S(X)": ("1:14", "P201", "a rule is one line"),
    "Diamondminus[0,1] H(X) :- T(X)": ("1:1", "P301", "a head is an atom"),
}
DECLARE = {
    "Response[a, b | | |": ("1:15", "P201", "expected `]` after the activities, found `|`"),
    "Response[a, b": ("1:13", "P201", "expected `]` after the activities, and the line ends"),
    "Respons[a, b]": ("1:1", "P205", "did you mean `Response`?"),
    "Response[a]": ("1:10", "P201", "write Response[a, b]"),
    "Init[a] | |3,0,d": ("1:12", "P207", "the lower bound comes first"),
}
LTL = {
    "p1: G (a -> F[0,3] b": ("1:20", "P201", "expected an operator or `)`, and the text ends"),
    "p1: a U b U c": ("1:11", "P210", "write (a U b) U c, or a U (b U c)"),
    "p1: a and b": ("1:7", "P201", "write `&`"),
    "p1: X[0,1] a": ("1:6", "P207", "`X` has no bounds"),
    "p1: a(X)": ("1:7", "P206", '"X" in quotes'),
}
WRONG = [(STREAMS + text, "q.cql", *said) for text, said in CQL.items()]
for suffix, wrong in (("etalis", ETALIS), ("dmtl", DMTL), ("decl", DECLARE), ("ltl", LTL)):
    WRONG += [(text, f"q.{suffix}", *said) for text, said in wrong.items()]
WRONG += [(HEAD + text, "q.rq", *said) for text, said in RSP.items()]


@pytest.mark.parametrize(("text", "name", "place", "code", "message"), WRONG, ids=lambda each: str(each)[-40:])
def test_a_message_with_place(text: str, name: str, place: str, code: str, message: str) -> None:
    report = check_text(text, name)
    found = render(report.source, report.problems)
    assert not report.ok
    assert f"{name}:{place}: error {code}" in found, found
    assert message in found, found


def test_several_queries_are_told_at_once() -> None:
    report = check_text(STREAMS + "Select c From s [Now];\n-- name: other\nSelect d From s [Now];", "q.cql")
    assert [report.source.place(each.span.start) for each in report.errors] == [(3, 8), (5, 8)]
