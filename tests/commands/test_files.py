"""Files of facts and files of answers: CSV and Parquet of every kind, right and wrong, and the bar of a long run."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import pty
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

import presage
from presage.answers import Answer
from presage.errors import PresageError
from presage.io.facts import Fact, FactError
from presage.io.files import read_facts
from presage.io.output import open_output
from tests.commands.test_cli import ROOT
from tests.commands.test_cli import presage as command

PROGRAM = """
timeline discrete. tick 1s.
input temp(device: text, level) delay 9.
input typed(t: text, i: int, f: float, b: bool, at: time).
input flight(from, to).
input booked(room, time).
static owner(device, team).
hot(X) :- temp(X, high), door(X, Y), typed(X, _, _, _, _), flight(X, _), booked(X, _), owner(X, _).
query hot(X).
"""


@pytest.fixture(scope="module")
def checker() -> Any:
    return presage.Reasoner(presage.parse(PROGRAM)).checker


def read(path: Path, checker: Any) -> list[Fact]:
    return list(read_facts([path], checker))


def write_csv(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def write_parquet(folder: Path, name: str, columns: dict[str, Any], **options: Any) -> Path:
    path = folder / name
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def times(facts: list[Fact]) -> list[Any]:
    return [(fact.low, fact.high, fact.arrival) for fact in facts]


# CSV


def test_csv_by_the_declared_columns_in_any_order(tmp_path: Path, checker: Any) -> None:
    path = write_csv(tmp_path, "temp.csv", "time,level,device,arrives\r\n0,high,wt25,\r\n\r\n1,3,007,2\r\n")
    assert read(path, checker) == [
        Fact("temp", ("wt25", "high"), 0, 0),
        Fact("temp", ("007", 3), 1, 1, arrives=2),
    ]


def test_csv_of_an_undeclared_input(tmp_path: Path, checker: Any) -> None:
    (fact,) = read(write_csv(tmp_path, "door.CSV", "1,2,time\nfront,open,4\n"), checker)
    assert fact == Fact("door", ("front", "open"), 4, 4)


def test_csv_of_a_static_predicate(tmp_path: Path, checker: Any) -> None:
    (fact,) = read(write_csv(tmp_path, "owner.csv", 'device,team\n"wt25","a ""b"", c\nd"\n'), checker)
    assert fact == Fact("owner", ("wt25", 'a "b", c\nd'), None, None)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("3", 3),
        ("-1", -1),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("1/3", Fraction(1, 3)),
        ("1e-05", Fraction(1, 100_000)),
        ("2.50", Fraction(5, 2)),
        ("4.0", 4),
        ("123456789012345678901234567890.1", Fraction("123456789012345678901234567890.1")),
        ("high", "high"),
        ("1_000", "1_000"),
        ("1/0", "1/0"),
        ("nan", "nan"),
        ("1e99999", "1e99999"),
        ("٣", "٣"),
        (" 3", " 3"),
        ("2026-01-01", "2026-01-01"),
    ],
)
def test_any_cell_that_is_written_as_a_number_is_one(tmp_path: Path, checker: Any, cell: str, value: Any) -> None:
    (fact,) = read(write_csv(tmp_path, "temp.csv", f"device,level,time\na,{cell},0\n"), checker)
    assert fact.arguments[1] == value and type(fact.arguments[1]) is type(value)


def test_cells_by_the_type_of_their_column(tmp_path: Path, checker: Any) -> None:
    text = "t,i,f,b,at,time\n3,3,0.1,True,1970-01-01T00:00:07Z,0\n"
    (fact,) = read(write_csv(tmp_path, "typed.csv", text), checker)
    assert fact.arguments == ("3", 3, Fraction(1, 10), "true", 7)


@pytest.mark.parametrize(
    ("cells", "low", "high"),
    [
        ("3,,,", 3, 3),
        ("1970-01-01T00:01:00Z,,,", 60, 60),
        ("1970-01-01 01:01:00+01:00,,,", 60, 60),
        (",1,5,", 1, 5),
        (",1,5,[)", 1, 4),
        (",1,,", 1, None),
        (",1e1,2e1,()", 11, 19),
    ],
)
def test_points_and_intervals(tmp_path: Path, checker: Any, cells: str, low: int, high: int | None) -> None:
    (fact,) = read(write_csv(tmp_path, "door.csv", f"1,2,time,from,to,bounds\na,b,{cells}\n"), checker)
    assert (fact.low, fact.high) == (low, high)


def test_exact_times_of_the_dense_timeline(tmp_path: Path) -> None:
    dense = presage.Reasoner(presage.parse("near(X) :- p(X), once(0,1] q(X).\nquery near(X).\n")).checker
    path = write_csv(tmp_path, "p.csv", "1,time\na,1/3\na,0.1\n")
    assert [fact.low for fact in read(path, dense)] == [Fraction(1, 3), Fraction(1, 10)]
    path = write_parquet(tmp_path, "p.parquet", {"1": ["a", "a"], "time": [0.1, 2.0]})
    assert [fact.low for fact in read(path, dense)] == [Fraction(1, 10), 2]


def test_arguments_called_like_times(tmp_path: Path, checker: Any) -> None:
    (fact,) = read(write_csv(tmp_path, "flight.csv", "from,to,time\nvie,graz,3\n"), checker)
    assert fact == Fact("flight", ("vie", "graz"), 3, 3)
    (fact,) = read(write_csv(tmp_path, "booked.csv", "room,time,from,to\nred,noon,1,2\n"), checker)
    assert fact == Fact("booked", ("red", "noon"), 1, 2)


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path, checker: Any) -> None:
    assert len(read(write_csv(tmp_path, "temp.csv", b"\xef\xbb\xbfdevice,level,time\na,b,1\n"), checker)) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("temp.csv", "", ":1: the file is empty; its first line names the columns: device,level,time"),
        ("temp.csv", "device,time\n", ":1: the column `level` is missing"),
        ("temp.csv", "device,levl,time\n", ":1: `temp` has no column `levl`; did you mean `level`?"),
        ("temp.csv", "device,level,time,arives\n", ":1: `temp` has no column `arives`; did you mean `arrives`?"),
        ("temp.csv", "device,level,time,x\n", "(they are device, level)"),
        ("temp.csv", ",device,level,time\n", ":1: column 1 has no name"),
        ("temp.csv", "device,device,level,time\n", "`device` is there twice"),
        ("temp.csv", "device,level\na,b\n", "no `time` (nor `from` and `to`)"),
        ("temp.csv", "device;level;time\n", "separated by semicolons"),
        ("booked.csv", "room,time\na,b\n", "`time` is an argument of `booked`"),
        ("owner.csv", "device,team,time\n", "`owner` is static"),
        ("tmp.csv", "device,level,time\n", "the program has no input `tmp`; did you mean `temp`?"),
        ("hot.csv", "1,time\n", "derived by rules"),
        ("temp.csv", "device,level,time\na,b,0\na,b\n", ":3: 2 cells, and the header has 3"),
        ("temp.csv", "device,level,time\na,b,0,1\n", ":2: 4 cells"),
        ("temp.csv", "device,level,time\na,,0\n", ":2: the column `level` is empty"),
        ("temp.csv", "device,level,time\na,b,\n", ":2: the fact has no `time`"),
        ("temp.csv", "device,level,time\na,b,soon\n", ":2: 'soon' is not a time"),
        ("temp.csv", "device,level,time\na,b,nan\n", ":2: 'nan' is not a time"),
        ("temp.csv", "device,level,time\na,b,1e999999999\n", ":2: '1e999999999' is not a time"),
        ("temp.csv", "device,level,time\na,b,-1\n", ":2: -1 lies before time 0"),
        ("temp.csv", "device,level,time\na,b,0.5\n", ":2: 1/2 is not a whole number"),
        ("temp.csv", "device,level,time,arrives\na,b,1,1.5\n", ":2: 3/2 is not a whole number"),
        ("temp.csv", "device,level,from,to\na,b,5,1\n", ":2: the interval is empty or upside down"),
        ("temp.csv", "device,level,from,to,bounds\na,b,1,5,<>\n", ":2: `bounds` is one of"),
        ("temp.csv", "device,level,time,from\na,b,1,1\n", ":2: the fact has both `time` and `from`"),
        ("typed.csv", "t,i,f,b,at,time\na,x,1,true,1,0\n", ":2: 'x' is not a value of the column `i`, which is int"),
        ("typed.csv", "t,i,f,b,at,time\na,1.5,1,true,1,0\n", "is not a value of the column `i`"),
        ("typed.csv", "t,i,f,b,at,time\na,1,nan,true,1,0\n", ":2: 'nan' is not a value of the column `f`"),
        ("typed.csv", "t,i,f,b,at,time\na,1,1,yes,1,0\n", ":2: 'yes' is not a value of the column `b`"),
        ("typed.csv", "t,i,f,b,at,time\na,1,1,true,noon,0\n", ":2: 'noon' is not a time"),
        ("temp.csv", f"device,level,time\na,{'1' * 90},0\n", ":2: the column `level` has a number of 90 characters"),
        ("temp.csv", f"device,level,time\na,{'x' * 200_000},0\n", ":2: this is not CSV (field larger than"),
        ("temp.csv", 'device,level,time\na,"b,0\n', "this is not CSV"),
        ("temp.csv", 'device,level,time\na,"b"x,0\n', ":2: this is not CSV"),
        ("temp.csv", b"device,level,time\na,b,0\na,\xe9,0\n", ":3: the file is not UTF-8 text"),
        ("temp.csv", "device,level,time\na,b,0\n".encode("utf-16"), ":1: the file is not UTF-8 text"),
        ("temp.tsv", "device,level,time\n", "there is no way to read facts from such a file"),
    ],
    ids=lambda value: str(value)[-30:],
)
def test_wrong_csv_is_named_by_file_and_line(
    tmp_path: Path, checker: Any, name: str, text: str | bytes, said: str
) -> None:
    with pytest.raises(FactError) as found:
        read(write_csv(tmp_path, name, text), checker)
    assert str(found.value).startswith(str(tmp_path / name)) and said in str(found.value)


@pytest.mark.parametrize("name", ["temp.csv", "temp.parquet", "temp.jsonl"])
def test_files_that_are_not_there(tmp_path: Path, checker: Any, name: str) -> None:
    with pytest.raises(FactError, match="cannot be read"):
        read(tmp_path / name, checker)
    (tmp_path / name).mkdir()
    with pytest.raises(FactError, match="cannot be read"):
        read(tmp_path / name, checker)


# Parquet


def test_parquet_values_are_exact(tmp_path: Path, checker: Any) -> None:
    levels = [
        (pyarrow.array(["high"]), "high"),
        (pyarrow.array([""]), ""),
        (pyarrow.array(["high"]).dictionary_encode(), "high"),
        (pyarrow.array([3]), 3),
        (pyarrow.array([True]), "true"),
        (pyarrow.array([0.1]), Fraction(1, 10)),
        (pyarrow.array([1e16]), 10**16),
        (pyarrow.array([0.1], pyarrow.float32()), Fraction(1, 10)),
        (pyarrow.array([0.0], pyarrow.float32()), 0),
        (pyarrow.array([decimal.Decimal("0.3")]), Fraction(3, 10)),
    ]
    for levels_of_file, value in levels:
        path = write_parquet(tmp_path, "temp.parquet", {"device": ["a"], "level": levels_of_file, "time": [2]})
        (fact,) = read(path, checker)
        assert fact == Fact("temp", ("a", value), 2, 2) and type(fact.arguments[1]) is type(value)


@pytest.mark.parametrize(
    "moments",
    [
        pyarrow.array([61]),
        pyarrow.array([61], pyarrow.uint8()),
        pyarrow.array([61.0]),
        pyarrow.array(["61"]),
        pyarrow.array(["1970-01-01T00:01:01Z"]),
        pyarrow.array([decimal.Decimal("61.0")]),
        *(pyarrow.array([61 * 10**power], pyarrow.timestamp(unit)) for unit, power in (("s", 0), ("ms", 3), ("us", 6))),
        pyarrow.array([61 * 10**9 + 7], pyarrow.timestamp("ns")),
        pyarrow.array([61 * 10**9 + 7], pyarrow.timestamp("ns", "Europe/Vienna")),
        pyarrow.array([61], pyarrow.timestamp("s", "Europe/Vienna")),
    ],
    ids=lambda array: str(array.type),
)
def test_parquet_times(tmp_path: Path, checker: Any, moments: Any) -> None:
    path = write_parquet(tmp_path, "temp.parquet", {"device": ["a"], "level": ["b"], "time": moments})
    assert times(read(path, checker)) == [(61, 61, 61)]
    path = write_parquet(tmp_path, "temp.parquet", {"device": ["a"], "level": ["b"], "time": [60], "arrives": moments})
    assert times(read(path, checker)) == [(60, 60, 61)]


def test_parquet_dates_are_midnight(tmp_path: Path, checker: Any) -> None:
    days = [datetime.date(1970, 1, 2)]
    path = write_parquet(tmp_path, "temp.parquet", {"device": ["a"], "level": ["b"], "time": days})
    assert times(read(path, checker)) == [(86_400, 86_400, 86_400)]


def test_parquet_intervals_statics_and_the_index_of_pandas(tmp_path: Path, checker: Any) -> None:
    columns = {"device": ["a", "b"], "level": ["c", "c"], "from": [1, 2], "to": [5, None], "bounds": ["[)", None]}
    path = write_parquet(tmp_path, "temp.parquet", {**columns, "__index_level_0__": [0, 1]})
    assert times(read(path, checker)) == [(1, 4, 1), (2, None, 2)]
    path = write_parquet(tmp_path, "owner.parquet", {"device": ["a"], "team": ["west"]})
    assert read(path, checker) == [Fact("owner", ("a", "west"), None, None)]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"device": ["a"], "level": [1], "tme": [0]}, ": `temp` has no column `tme`; did you mean `time`?"),
        ({"device": ["a"], "time": [0]}, ": the column `level` is missing"),
        ({"device": ["a", None], "level": [1, 1], "time": [0, 0]}, ":2: the column `device` is empty"),
        ({"device": ["a", "b"], "level": [1, 1], "time": [0, None]}, ":2: the fact has no `time`"),
        ({"device": ["a", "b"], "level": [1, float("nan")], "time": [0, 0]}, ":2: nan is not a value"),
        ({"device": ["a"], "level": pyarrow.array([float("nan")], pyarrow.float32()), "time": [0]}, ":1: nan is not"),
        ({"device": ["a"], "level": [1], "time": [float("inf")]}, ":1: inf is not a time"),
        ({"device": ["a"], "level": [1], "time": [True]}, ":1: True is not a time"),
        ({"device": [7], "level": [1], "time": [0]}, ":1: 7 is not a value of the column `device`"),
        ({"device": ["a"], "level": [[1, 2]], "time": [0]}, ":1: argument 2 of `temp` is neither text nor a number"),
        ({"device": ["a"], "level": [b"raw"], "time": [0]}, ":1: argument 2 of `temp` is neither"),
        ({"device": ["a"], "level": [1], "time": [[1]]}, ":1: [1] is not a time"),
        ({"device": ["a"], "level": [1], "from": [5], "to": [1]}, ":1: the interval is empty or upside down"),
        (
            {"device": ["a"], "level": [1], "time": pyarrow.array([10**15], pyarrow.timestamp("s"))},
            ": the column `time` has times that no calendar has",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_parquet_is_named_by_file_and_row(tmp_path: Path, checker: Any, columns: Any, said: str) -> None:
    path = write_parquet(tmp_path, "temp.parquet", columns)
    with pytest.raises(FactError) as found:
        read(path, checker)
    assert str(found.value).startswith(f"{path}{said}")


def test_parquet_text_that_is_none(tmp_path: Path, checker: Any) -> None:
    broken = pyarrow.Array.from_buffers(
        pyarrow.string(), 1, [None, pyarrow.array([0, 1], pyarrow.int32()).buffers()[1], pyarrow.py_buffer(b"\xe9")]
    )
    path = write_parquet(tmp_path, "temp.parquet", {"device": broken, "level": [1], "time": [0]})
    with pytest.raises(FactError, match="the column `device` has text that is not UTF-8"):
        read(path, checker)


def test_rows_are_counted_through_batches(tmp_path: Path, checker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.io.files.ROWS_AT_ONCE", 10)
    levels: list[Any] = [1] * 34 + [None]
    columns = {"device": ["a"] * 35, "level": levels, "time": [0] * 35}
    path = write_parquet(tmp_path, "temp.parquet", columns, row_group_size=20)
    with pytest.raises(FactError, match="parquet:35: the column `level` is empty"):
        read(path, checker)


def test_damaged_parquet(tmp_path: Path, checker: Any) -> None:
    columns = {"device": [f"d{index}" for index in range(5000)], "level": list(range(5000)), "time": [0] * 5000}
    whole = write_parquet(tmp_path, "temp.parquet", columns).read_bytes()
    in_the_middle = bytearray(whole)
    in_the_middle[4:2000] = bytes(1996)
    for damaged in (b"", b"PAR1", b"device,level,time\na,b,0\n" * 9, whole[: len(whole) // 2], bytes(in_the_middle)):
        (tmp_path / "temp.parquet").write_bytes(damaged)
        with pytest.raises(FactError, match="this is not a whole Parquet file"):
            read(tmp_path / "temp.parquet", checker)


# All formats together


@pytest.mark.parametrize("seed", range(3))
def test_every_format_gives_the_same_answers(tmp_path: Path, seed: int) -> None:
    program = "input p(x, v: float) delay 3.\nbig(X, V) :- p(X, V), V >= 0.5, once[1,2] p(X, _).\nquery big(X, V).\n"
    (tmp_path / "program.psg").write_text(program)
    chance = random.Random(seed)
    rows = [
        (chance.choice("abc"), chance.choice([0.1, 0.5, 7.25]), time, time + chance.randrange(5))
        for time in sorted(chance.choices(range(30), k=60))
    ]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("x", "v", "time", "arrives"))}
    write_parquet(tmp_path, "p.parquet", columns)
    write_csv(tmp_path, "p.csv", "x,v,time,arrives\n" + "".join(f"{x},{v},{t},{a}\n" for x, v, t, a in rows))
    lines = [{"pred": "p", "args": [x, v], "time": t, "arrives": a} for x, v, t, a in rows]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outputs = set()
    for name in ("p.parquet", "p.csv", "p.jsonl"):
        done = command("run", "--emit", "confirmed", tmp_path / "program.psg", "--facts", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert "arrived too late" in done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1 and outputs.pop()


def test_csv_needs_no_arrow(tmp_path: Path) -> None:
    write_csv(tmp_path, "temp.csv", "device,level,time\na,b,0\n")
    code = (
        "import sys, presage; from pathlib import Path; from presage.io.files import read_facts;"
        "checker = presage.Reasoner(presage.parse('input temp(device, level).\\nq(X) :- temp(X, _).')).checker;"
        f"print(len(list(read_facts([Path({str(tmp_path / 'temp.csv')!r})], checker))), 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "1 False", done.stderr


def test_wrong_lines_of_json(tmp_path: Path, checker: Any) -> None:
    good = '{"pred": "temp", "args": ["a", 1], "time": 0}\n'
    for line, said in (
        ('{"pred": "temp", "args": ["a", 1e99999], "time": 0}', "more than a number can be"),
        ('{"pred": "temp", "args": ["a", "\\ud800"], "time": 0}', "half a character"),
        ('{"pred": "temp", "args": ["a", 1], "time": 0, "from": 0}', "both `time` and `from`"),
        ('{"pred": "temp", "args": ["a", 1], "time": 0, "arives": 5}', "no `arives`; did you mean `arrives`"),
        ('{"pred": "temp", "args": ["a", 1], "from": 0, "bound": "()"}', "no `bound`; did you mean `bounds`"),
    ):
        with pytest.raises(FactError, match=f"temp.jsonl:2: .*{said}"):
            read(write_csv(tmp_path, "temp.jsonl", good + line), checker)
    more = '{"pred": "temp", "args": ["a", 1], "time": 0, "id": 7, "type": "reading"}'
    assert len(read(write_csv(tmp_path, "temp.jsonl", good + more), checker)) == 2
    with pytest.raises(FactError, match=r"temp\.jsonl:2: the file is not UTF-8"):
        read(write_csv(tmp_path, "temp.jsonl", good.encode() + b'"\xe9"\n'), checker)


# Answers

ANSWERS = [
    Answer(3, "confirmed", "malf", ("wt25", 3), {"X": "wt25", "V": 3}, time=0),
    Answer(4, "confirmed", "malf", ("a b", 1), {}, start=1, end=None, bounds="[)"),
    Answer(
        5,
        "possible",
        "malf",
        ("c",),
        {"X": Fraction(1, 3)},
        time=7,
        because=("temp(c)@1", "temp(c)@2"),
        needs=("temp(c)@3",),
        unless=("X = d",),
        decided_by=9,
        confidence=0.25,
    ),
]


@pytest.mark.parametrize("whole_times", [True, False])
def test_answers_as_parquet(tmp_path: Path, whole_times: bool) -> None:
    path = tmp_path / "answers.parquet"
    with open_output(path, whole_times) as out:
        for answer in ANSWERS:
            out.write(answer)
        assert not path.exists()
    table = parquet.read_table(path)
    assert table.schema.field("now").type == (pyarrow.int64() if whole_times else pyarrow.string())
    rows = table.to_pylist()
    time = (lambda value: value) if whole_times else str
    assert [row["now"] for row in rows] == [time(3), time(4), time(5)]
    assert [row["answer"] for row in rows] == [answer.answer for answer in ANSWERS]
    assert [(row["time"], row["from"], row["to"], row["bounds"]) for row in rows] == [
        (time(0), None, None, None),
        (None, time(1), None, "[)"),
        (time(7), None, None, None),
    ]
    assert [dict(row["bindings"]) for row in rows] == [{"X": "wt25", "V": "3"}, {}, {"X": "1/3"}]
    assert rows[2]["because"] == ["temp(c)@1", "temp(c)@2"] and rows[0]["because"] == []
    assert (rows[2]["needs"], rows[2]["unless"]) == (["temp(c)@3"], ["X = d"])
    assert (rows[2]["decided_by"], rows[2]["confidence"]) == (time(9), 0.25)
    assert rows[0]["decided_by"] is None and rows[0]["ways"] == []


def test_ways_as_parquet(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    ways = [
        {"because": ["a@1"], "needs": ["b@2"], "unless": [], "decided_by": 2, "confidence": None},
        {"because": [], "needs": ["c@3", "d@3"], "unless": [], "decided_by": 3, "confidence": 0.5},
    ]
    with open_output(path, whole_times=True) as out:
        out.write_line({**ANSWERS[0].to_json(), "ways": ways})
        out.write_line({"now": 4, "status": "inconsistent"})
    rows = parquet.read_table(path).to_pylist()
    assert rows[0]["ways"] == ways
    assert rows[1]["status"] == "inconsistent" and rows[1]["answer"] is None


def test_fractions_of_time_are_exact_text(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    with open_output(path) as out:
        out.write(Answer(Fraction(1, 3), "confirmed", "p", (), {}, time=Fraction(1, 3)))
    assert parquet.read_table(path).column("time").to_pylist() == ["1/3"]


def test_parquet_is_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presage.io.output.ROWS_IN_A_GROUP", 10)
    path = tmp_path / "answers.parquet"
    with open_output(path, whole_times=True) as out:
        for time in range(35):
            out.write(Answer(time, "confirmed", "p", ("a",), {"X": "a"}, time=time))
            assert len(out.out.lines) < 10  # type: ignore[attr-defined]
    assert parquet.ParquetFile(path).num_row_groups == 4
    assert parquet.read_table(path).column("now").to_pylist() == list(range(35))


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_an_unfinished_file_does_not_appear(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"answers{suffix}"
    path.write_text("before")
    with pytest.raises(KeyboardInterrupt), open_output(path) as out:
        out.write(ANSWERS[0])
        raise KeyboardInterrupt
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_other_lines_are_not_written_as_parquet(tmp_path: Path) -> None:
    with pytest.raises(PresageError, match=r"use \.jsonl"), open_output(tmp_path / "a.parquet") as out:
        out.write_line({"now": 1, "query": "p(X)", "answers": []})
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "no" / "a.parquet", tmp_path / "file" / "a.jsonl"):
        with pytest.raises(PresageError, match=r"a\.\w+: cannot be written"), open_output(path) as out:
            out.write(ANSWERS[0])


def test_out_of_a_run(tmp_path: Path) -> None:
    words = [
        "run",
        "--emit",
        "confirmed",
        "presage/examples/turbines/turbines.psg",
        "--facts",
        "presage/examples/turbines/facts.jsonl",
    ]
    printed = [json.loads(line) for line in command(*words).stdout.splitlines()]
    assert printed
    assert command(*words, "--out", tmp_path / "a.jsonl").stdout == ""
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()] == printed
    assert command(*words, "--out", tmp_path / "a.parquet").stdout == ""
    rows = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    for row, line in zip(rows, printed, strict=True):
        row["bindings"] = dict(row["bindings"])
        assert {name: row[name] for name in line} == line
    refused = command(*words, "--out", tmp_path / "a.csv")
    said = "written as .jsonl or .parquet or .nt or .ttl or .nq or .trig or .jsonld, not as `.csv`"
    assert refused.returncode == 2 and said in refused.stderr


# The bar


def run_for_a_while(tmp_path: Path, soon: float, answers_to: str, terminal: bool) -> tuple[str, str]:
    """Standard output and standard error of a run of a hundred steps and at least 1.5 seconds. A machine may be busy,
    so what counts as `soon` is given instead of a short run."""
    (tmp_path / "program.psg").write_text("timeline discrete.\ninput p(x).\nseen(X) :- p(X).\nquery seen(X).\n")
    write_csv(tmp_path, "p.csv", "x,time\n" + "".join(f"a{time},{time}\n" for time in range(100)))
    code = (
        "import sys, time; from presage.run.reasoner import Reasoner; from presage.cli import main\n"
        "step = Reasoner.step\n"
        "def slow(*given): time.sleep(0.015); return step(*given)\n"
        f"from presage.cli import progress; progress.SOON = {soon}\n"
        "Reasoner.step = slow; sys.exit(main(sys.argv[1:]))"
    )
    words = ["run", "--json", "--emit", "confirmed", str(tmp_path / "program.psg"), "--facts", str(tmp_path / "p.csv")]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=theirs if answers_to == "terminal" else subprocess.PIPE,
        stderr=theirs if terminal else subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    shown = b""
    while terminal:
        try:
            shown += os.read(ours, 65536)
        except OSError:
            break
    os.close(ours)
    printed, said = process.communicate()
    assert process.returncode == 0
    return (printed or b"").decode(), (shown + (said or b"")).decode()


def test_a_long_run_on_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    printed, shown = run_for_a_while(tmp_path, 0.5, "pipe", terminal=True)
    assert len(printed.splitlines()) == 100 and all(json.loads(line) for line in printed.splitlines())
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert re.search(r"\d+/100 facts \d+/s time \d+", drawn)


def test_answers_and_bar_share_a_screen(tmp_path: Path) -> None:
    _, shown = run_for_a_while(tmp_path, 0.5, "terminal", terminal=True)
    assert re.search(r"\d+/100\S* facts", shown)
    # A line begins anew where it is erased; the other signs only move and colour.
    lines = [line.rsplit("\x1b[2K", 1)[-1] for line in shown.replace("\r\n", "\n").split("\n")]
    plain = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in lines]
    assert len([json.loads(line) for line in plain if '"answer"' in line]) == 100


@pytest.mark.parametrize(("soon", "terminal"), [(1000, True), (0.5, False)], ids=["short", "piped"])
def test_no_bar_where_nobody_waits_or_looks(tmp_path: Path, soon: float, terminal: bool) -> None:
    printed, shown = run_for_a_while(tmp_path, soon, "pipe", terminal)
    assert len(printed.splitlines()) == 100 and shown == ""


UNNAMED = """
timeline discrete.
input temp(device, level).
static owner(device, team).
hot(X) :- temp(X, high).
query hot(X).
"""


def test_what_the_program_does_not_name_is_passed_over_and_counted(tmp_path: Path) -> None:
    program = write_csv(tmp_path, "hot.psg", UNNAMED)
    facts = write_csv(
        tmp_path,
        "facts.jsonl",
        '{"pred": "temp", "args": ["a", "high"], "time": 1}\n{"pred": "wind", "args": [{}], "time": "soon"}\n'
        '{"pred": "rain", "args": []}\n',
    )
    write_csv(tmp_path, "temp.csv", ",device,site,level,time\n0,b,west,high,2\n")
    write_csv(tmp_path, "humid.csv", "device,time\na,1\n\nb,2\n")
    write_parquet(tmp_path, "cold.parquet", {"x": [1, 2, 3]})
    (tmp_path / "more").mkdir()
    write_parquet(tmp_path / "more", "temp.parquet", {"device": ["c"], "level": ["high"], "site": ["x"], "time": [3]})
    names = ("facts.jsonl", "temp.csv", "humid.csv", "cold.parquet", "more/temp.parquet")
    given = [tmp_path / name for name in names]
    run = command("run", program, "--emit", "confirmed", "--unknown", "ignore", "--facts", *given)
    assert [json.loads(line)["answer"] for line in run.stdout.splitlines()] == ["hot(a)@1", "hot(b)@2", "hot(c)@3"]
    said = (
        "passed over, since the program does not name them: 7 facts of `cold`, `humid`, `rain`, `wind` and 3 columns, "
    )
    assert run.stderr.splitlines()[-1] == said + "`temp.1`, `temp.site`"
    for words in (["ask", "--at", "1", "--json"], ["models", "--at", "1"], ["explain", "--at", "1"]):
        name, *options = words
        asked = {"ask": ["hot(X)"], "models": [], "explain": ["hot(a)@1"]}[name]
        told = command(name, program, "--unknown", "ignore", "--facts", facts, *options, *asked)
        assert told.returncode == 0, told.stderr
        assert "2 facts of `rain`, `wind`" in told.stderr
        assert "hot" in told.stdout or '"a"' in told.stdout
        refused = command(name, program, "--facts", facts, *options, *asked)
        assert refused.returncode == 1
        assert "facts.jsonl:2: the program has no input `wind`" in refused.stderr
        assert "--unknown ignore" in refused.stderr
    refused = command("run", program, "--facts", tmp_path / "more" / "temp.parquet")
    assert "`temp` has no column `site`" in refused.stderr
    assert "--unknown ignore" in refused.stderr
    piped = command("run", program, "--unknown", "ignore", "--facts", "-", stdin=facts.read_text())
    assert "hot(a)@1" in piped.stdout
    assert "2 facts of `rain`, `wind`" in piped.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("facts.jsonl", '{"pred": "hot", "args": ["a"], "time": 1}\n', ":1: `hot` is derived by rules"),
        ("facts.jsonl", '{"pred": "temp", "args": ["a"], "time": 1}\n', ":1: `temp` has 2 arguments"),
        ("facts.jsonl", '{"args": ["a"], "time": 1}\n', ":1: the fact has no `pred`"),
        ("temp.csv", "device,levl,time\n", "the column `level` is missing"),
        ("owner.csv", "device,team,time\n", "`owner` is static"),
    ],
)
def test_what_is_named_and_wrong_stays_an_error(tmp_path: Path, name: str, text: str, said: str) -> None:
    program = write_csv(tmp_path, "hot.psg", UNNAMED)
    refused = command("run", program, "--unknown", "ignore", "--facts", write_csv(tmp_path, name, text))
    assert refused.returncode == 1
    assert said in refused.stderr


def test_a_run_goes_on_to_the_end_of_the_last_interval(tmp_path: Path) -> None:
    program = write_csv(tmp_path, "p.psg", "timeline discrete. input p(x) delay 1. q(X) :- p(X). query q(X).")
    text = '{"pred": "p", "args": ["a"], "from": 1, "to": 5}\n{"pred": "p", "args": ["b"], "from": 2, "to": null}\n'
    facts = write_csv(tmp_path, "f.jsonl", text)
    for given, stdin in ((facts, ""), ("-", text)):
        told = command("run", program, "--emit", "confirmed", "--facts", given, stdin=stdin).stdout.splitlines()
        assert [json.loads(line)["answer"] for line in told] == ["q(a)@[1,5]", "q(b)@[2,6]"]
