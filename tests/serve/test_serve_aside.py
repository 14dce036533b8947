"""Lines that a sink will never take are put aside, and do not stop the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from presage.pipeline.reading import Part
from presage.receivers.delivering import Refused, TakenNever
from presage.receivers.told_lines import ANSWER, ToldLine
from presage.serve.folder import CheckpointFolder
from presage.serve.sinks import RunningSink
from tests.serving import LINES, Receiver, Served, hot, lines_in


class Picky:
    """A sink that takes no line about a `bad` one, and refuses the first write of all."""

    linger = 0.05

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.asked = 0

    def told(self) -> int | None:
        return None

    def write(self, lines: Sequence[ToldLine]) -> None:
        self.asked += 1
        if self.asked == 1:
            raise Refused("not now")
        if any("bad" in line.key for line in lines):
            raise TakenNever("no bad ones")
        self.taken += [line.number for line in lines]

    def close(self) -> None:
        """Nothing is open."""


def test_the_rest_is_written(tmp_path: Path) -> None:
    folder, sink = CheckpointFolder(tmp_path), Picky()
    failures: list[BaseException] = []
    running = RunningSink(Part("sinks", "out", {"format": "lines"}), sink, folder, failures.append)
    running.start()
    keys = ["a", "bad1", "b", "c", "bad2", "bad3", "d"]
    lines = [ToldLine.of(number, {"key": key, "status": "confirmed"}, ANSWER) for number, key in enumerate(keys, 1)]
    running.put(len(lines), lines)
    running.finish(20)
    assert not failures and sink.taken == [1, 3, 4, 7]
    assert (running.told, running.delivering.aside, running.delivering.refusals) == (7, 3, 1)
    aside = [json.loads(line) for line in (tmp_path / "refused-out.jsonl").read_text().splitlines()]
    assert [(each["why"], each["line"]["key"]) for each in aside] == [
        ("no bad ones", "bad1"), ("no bad ones", "bad2"), ("no bad ones", "bad3"),
    ]  # fmt: skip
    folder.close()


def test_what_a_webhook_calls_bad_does_not_stop_the_rest(tmp_path: Path) -> None:
    """Whether it has taken something before, or the first line of all is what it refuses."""
    hook = Receiver()
    hook.refuses = "a_bad"
    sink = f'[sinks.hook]\nformat = "webhook"\nurl = "{hook.url}/x"\nstatuses = ["confirmed"]\n'
    program = "input temp(x, y). b(X) :- temp(X, high). query b(X)."
    served = Served(tmp_path, LINES + sink, program).start()
    try:
        for at in range(2):
            served.post("".join(hot(at, device) for device in ("good", "a_bad1", "a_bad2")) + f'{{"now": {at}}}\n')
        served.until(lambda: len(taken(hook)) >= 2)
        served.until(lambda: len(lines_in(tmp_path / "state/refused-hook.jsonl")) >= 4)
        served.until(served.is_ready)
    finally:
        assert served.stop() == 0
        hook.close()
    assert taken(hook) == ["b(good)@0", "b(good)@1"]


def taken(hook: Receiver) -> list[str]:
    return [line["answer"] for _, body, _ in hook.got for line in body["lines"]]
