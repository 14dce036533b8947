"""Rules of a served pipeline that change from one start to the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.serving import TURBINES, Served, hot

NEW = TURBINES + "twice(X)@T+1 :- flag(X)@T, flag(X)@T+1.\nquery twice(X).\n"


def said_of(served: Served, query: str) -> list[tuple[Any, ...]]:
    return [
        (line["now"], line["status"], line["answer"]) for line in served.lines if line["answer"].startswith(query + "(")
    ]


def began(served: Served, program: str, *more: str) -> None:
    (served.folder / "program.psg").write_text(program)
    served.start(more=more)


def test_unchanged_queries_go_on_and_new_ones_begin_now(tmp_path: Path) -> None:
    served = Served(tmp_path).start()
    try:
        served.post(hot(0) + hot(1) + '{"now": 1}\n')
        served.until(lambda: len(served.lines) >= 2)
        assert served.stop() == 0
        began(served, NEW)
        assert "malf(X): unchanged" in served.said and "twice(X): new" in served.said
        served.kill()  # and what was changed stays changed
        served.start()
        assert served.said.count("twice(X): new") == 1
        served.post(hot(2) + '{"now": 9}\n')
        served.until(lambda: (4, "refuted", "malf(wt25)@2") in said_of(served, "malf"))
        assert served.stop() == 0
        assert [line for line in said_of(served, "malf") if line[2] == "malf(wt25)@0"] == [
            (0, "possible", "malf(wt25)@0"), (1, "possible", "malf(wt25)@0"), (2, "confirmed", "malf(wt25)@0"),
        ]  # fmt: skip
        # It knows nothing of time 1.
        assert ("confirmed", "twice(wt25)@2") not in {line[1:] for line in said_of(served, "twice")}
        began(served, TURBINES.replace("query malf(X).", "query flag(X)."))
        assert "malf(X): removed" in served.said and "flag(X): new" in served.said
    finally:
        assert served.stop() == 0
    assert [line["seq"] for line in served.lines] == sorted({line["seq"] for line in served.lines})


def test_with_history_new_queries_stand_as_if_they_had_always_been_there(tmp_path: Path) -> None:
    lines = [hot(0), hot(1), hot(1, "d2"), hot(2), '{"now": 2}\n', hot(3, "d2")]
    always = Served(tmp_path / "always", program=NEW).start()
    for line in [*lines, hot(3), '{"now": 9}\n']:
        always.post(line)
    always.until(lambda: any(line["now"] == 5 for line in always.lines))
    assert always.stop() == 0
    served = Served(tmp_path / "changed").start()
    try:
        for line in lines:
            served.post(line)
        served.until(lambda: (2, "confirmed", "malf(wt25)@0") in said_of(served, "malf"))
        served.kill()
        began(served, NEW, "--backfill")
        served.post(hot(3))
        served.post('{"now": 9}\n')
        served.until(lambda: any(line["now"] == 5 for line in served.lines))
    finally:
        assert served.stop() == 0
    for query in ("malf", "twice"):
        assert sorted(said_of(served, query)) == sorted(said_of(always, query)) and said_of(served, query)
