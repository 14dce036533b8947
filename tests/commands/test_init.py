"""New projects: whatever the table they are made of, they are accepted, their cases are met and their facts run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from presage.checking import check_file
from presage.cli import main

TABLES = {
    "plain": "device,value,time\na,1,0\na,5,1\nb,2,1\n",
    "stamps": "Time Stamp,Device ID,Temp (C)\n2026-03-01 10:00:00,M-1,20.5\n2026-03-01 10:05:00,M-1,31.25\n"
    "2026-03-01 10:00:30,m 2,7.0\n2026-03-01 10:05:30,m 2,8.0\n",
    "zoned": "timestamp,sensor,level\n2026-03-01T10:00:00+01:00,a,1\n2026-03-01T10:00:00.250+01:00,a,3\n",
    "seconds": "ts,host,load\n1772359200,web,0.5\n1772359260,web,0.75\n1772359320,web,-1.5\n",
    "milliseconds": "ts,host,load\n1772359200000,web,0.5\n1772359200500,web,0.75\n",
    "semicolons": "wer;was;wieviel\nanna;kauf;3\nbert;kauf;4\n",
    "no numbers": "who,what\nann,in\nann,out\nbob,in\n",
    "one text": "who\nann\nbob\n",
    "one number": "value,time\n3,0\n9,1\n",
    "numbers only": "t,x,y\n0,1,2\n1,3,4\n",
    "header only": "device,value,time\n",
    "empty cells": "device,value,time,note\na,1,0,\na,,1,\nb,2,1,\n",
    "remarks": "device,value,note,time\na,1,,0\na,2,late,1\nb,3,,1\nb,3,,2\n",
    "reserved": "from,to,now,rate,time\nx,y,1,2,0\nx,z,2,3,1\n",
    "twice": "a,a,A\nx,y,z\n",
    "Upper CASE": "ID,VALUE\n007,1\n008,2\n",
    "quoted": 'name,text\n"O\'Hara","said ""no"", 3%"\n"O\'Hara",b\n',
    "éléments": "clé,température\nx,3\ny,4\n",
    "high": "device,value\na,1\n",
    "window": "count,T\n1,2\n3,4\n",
    "2026": "温度,站\n1,甲\n2,乙\n",
}


def made(tmp_path: Path, name: str, text: str) -> Path:
    (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    assert main(["init", str(tmp_path / f"{name}.csv"), "--into", str(tmp_path / "made")]) == 0
    return tmp_path / "made"


@pytest.mark.parametrize("name", TABLES)
def test_projects_work(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path, name, TABLES[name])
    (program,) = folder.glob("*.psg")
    (facts,) = folder.glob("*.csv")
    assert facts.stem == program.stem
    report = check_file(program)
    assert report.ok and not report.problems
    assert main(["fmt", "--check", str(program)]) == 0
    capsys.readouterr()
    assert main(["test", "--json", str(folder)]) == 0, capsys.readouterr()
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["run", str(program), "--facts", str(facts)]) == 0, capsys.readouterr().err
    assert "presage run" in (folder / "README.md").read_text(encoding="utf-8")


def test_facts_are_the_rows(tmp_path: Path) -> None:
    folder = made(tmp_path, "stamps", TABLES["stamps"])
    with (folder / "stamps.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows[0] == ["device_id", "temp_c", "time"]
    assert rows[1] == ["M-1", "20.5", "2026-03-01T10:00:00Z"]
    assert len(rows) == 5
    program = (folder / "stamps.psg").read_text(encoding="utf-8")
    assert "tick 5m." in program and "start 2026-03-01T10:00:00Z." in program
    assert "input stamps(device_id: text, temp_c: float)." in program


def test_what_is_answered_is_what_the_rows_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Above the limit at one time and the next, counted by hand."""
    values = [3, 9, 9, 2, 9, *[1] * 11]
    rows = "".join(f"a,{value},{time}\n" for time, value in enumerate(values))
    folder = made(tmp_path, "levels", "device,value,time\n" + rows)
    limit = sorted(values)[(len(values) - 1) * 4 // 5]
    assert f"param limit = {limit}." in (folder / "levels.psg").read_text(encoding="utf-8")
    expected = [t for t in range(1, len(values)) if values[t - 1] > limit and values[t] > limit]
    capsys.readouterr()
    assert main(["run", str(folder / "levels.psg"), "--facts", str(folder / "levels.csv")]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["time"] for line in lines if line["status"] == "confirmed"] == expected == [2]


@pytest.mark.parametrize("name", ["stamps", "seconds", "milliseconds", "empty cells", "zoned", "with signs"])
def test_files_like_it_are_read_by_its_map(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = {**TABLES, "with signs": "Temp (°C);Gerät;ts\n21;a;1772352000\n35;b;1772352060\n"}[name]
    folder = made(tmp_path, name, text)
    (program,), (table,), (mapped,) = (list(folder.glob(f"*.{kind}")) for kind in ("psg", "csv", "toml"))
    capsys.readouterr()
    assert main(["run", str(program), "--facts", str(table)]) == 0
    from_rows = capsys.readouterr().out
    assert main(["run", str(program), "--map", str(mapped), "--facts", str(tmp_path / f"{name}.csv")]) == 0
    assert capsys.readouterr().out == from_rows != ""


def test_projects_of_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, folder = tmp_path / "events.jsonl", tmp_path / "made"
    rows = [
        {"user": "u1", "peer": {"ip": f"10.0.0.{minute}"}, "tries": tries, "at": f"2026-03-01T08:0{minute}:00Z"}
        for minute, tries in enumerate((3, 9, 9))
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["init", str(data), "--into", str(folder)]) == 0
    program = (folder / "events.psg").read_text()
    assert "input events(user: text, peer_ip: text, tries: int)." in program and "tick 1m." in program
    assert main(["test", str(folder)]) == 0
    mapped = ["--map", str(folder / "events.toml"), "--facts", str(data)]
    assert main(["run", str(folder / "events.psg"), *mapped]) == 0
    data.write_text('{"pred": "temp", "args": ["a"], "time": 0}\n')
    assert main(["init", str(data), "--into", str(tmp_path / "other")]) == 1
    assert "events.jsonl:1: these lines are facts already" in capsys.readouterr().err


def test_without_a_table_there_is_a_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert main(["check", "readings/readings.psg"]) == 0
    assert main(["test", "readings"]) == 0
    capsys.readouterr()
    assert main(["init"]) == 1
    assert "readings is there already, and is not overwritten" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2,3\n", "data.csv:2: 3 cells, and the header has 2"),
        ("1,2\n3,4\n", "data.csv:1: the first line has numbers"),
        ("time\n1\n", "no column beside the one that says when"),
        ('a,b\n"x,y\n', "not CSV"),
    ],
)
def test_what_is_no_table(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data.csv").write_text(text, encoding="utf-8")
    assert main(["init", str(tmp_path / "data.csv"), "--into", str(tmp_path / "made")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "none.csv")]) == 1
    (tmp_path / "data.csv").write_bytes(b"a,b\n\xff,1\n")
    assert main(["init", str(tmp_path / "data.csv")]) == 1
    assert "cannot be read" in (said := capsys.readouterr().err) and "not UTF-8" in said


DELIVERIES = """\
timestamp,parcel,state,weight,comment
2026-03-02 08:00:05,P-1,scanned,2.4,
2026-03-02 08:00:40,P-2,scanned,12,"fragile, heavy"
2026-03-02 08:12:00,P-1,loaded,2.4,
2026-03-02 08:45:00,P-2,loaded,12,
2026-03-02 09:30:10,P-1,delivered,2.4,left with neighbour
"""


def test_events_come_again_within_some_time_and_lose_no_rows_to_remarks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, "deliveries", DELIVERIES)
    shown = capsys.readouterr().out
    assert "the column `comment` of deliveries.csv is empty in many rows, and is left out" in shown
    assert "are no facts" not in shown
    program = (folder / "deliveries.psg").read_text()
    assert "tick 1s.\n" in program and "start 2026-03-02T08:00:05Z.\n" in program and "limit = 2.4." in program
    assert "again(Parcel) :- high(Parcel), once[1s,6h] high(Parcel)." in program
    assert len((folder / "deliveries.csv").read_text().splitlines()) == 6
    data = str(tmp_path / "deliveries.csv")
    map_file = str(folder / "deliveries.toml")
    assert main(["run", str(folder / "deliveries.psg"), "--map", map_file, "--facts", data]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["time"] for line in told if line["status"] == "confirmed"] == ["2026-03-02T08:45:00Z"]


VITALS = """\
Patient ID;Birth date;Taken;Heart Rate [bpm];Körpertemp. (°C);SpO2 %
P-1;01.02.1950;01.03.2026 08:00;88;36,8;97
P-2;03.04.1961;01.03.2026 08:00;121;39,2;91
P-1;01.02.1950;01.03.2026 08:05;90;36,9;97
P-2;03.04.1961;01.03.2026 08:05;125;39,4;90
"""
PAYMENTS = """\
"TransactionID","Booking Date","Value Date","IBAN (debtor)","Amount","Seq No"
"T1","01.03.2026 10:02","01.03.2026","DE89 3704","1.234,50","1"
"T2","01.03.2026 10:03","01.03.2026","DE89 3704","99,00","2"
"T3","01.03.2026 10:10","02.03.2026","FR76 3000","-12,00","3"
"""
SALES = """\
order_id,placed,customer,total
1001,03/01/2026 01:30 PM,c1,"1,234.50"
1002,03/02/2026 09:00 AM,c1,"999.00"
1003,03/02/2026 09:02 AM,c2,"1,000.00"
"""


FIRST_TIMES = ("2026-03-01T08:00:00Z", "2026-03-01T10:02:00Z", "2026-03-01T13:30:00Z")


@pytest.mark.parametrize(
    ("text", "declared", "body"),
    [
        (
            VITALS,
            "(patient_id: text, birth_date: text, heart_rate_bpm: int, körpertemp_c: float, spo2: int)",
            "(Patient_id, _, Heart_rate_bpm, _, _)",
        ),
        (
            PAYMENTS,
            "(transaction_id: text, value_date: text, iban_debtor: text, amount: float, seq_no: int)",
            "(_, _, Iban_debtor, Amount, _)",
        ),
        (SALES, "(order_id: int, customer: text, total: float)", "(_, Customer, Total)"),
    ],
)
def test_exports_are_read_as_people_write_them(
    text: str, declared: str, body: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, "export", text)
    program = (folder / "export.psg").read_text(encoding="utf-8")
    assert f"input export{declared}." in program and f"export{body}" in program
    header, first = (folder / "export.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert header.endswith(",time") and first.split(",")[-1] in FIRST_TIMES
    capsys.readouterr()
    assert main(["run", str(folder / "export.psg"), "--facts", str(folder / "export.csv")]) == 0
    from_rows = capsys.readouterr().out
    mapped = ["--map", str(folder / "export.toml"), "--facts", str(tmp_path / "export.csv")]
    assert main(["run", str(folder / "export.psg"), *mapped]) == 0
    assert capsys.readouterr().out == from_rows != ""


def test_days_that_may_be_months_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path, "sales", "day,who,n\n03/01/2026,a,1\n04/01/2026,a,2\n")
    assert "`day` is read as %d/%m/%Y, and might be %m/%d/%Y" in capsys.readouterr().out
