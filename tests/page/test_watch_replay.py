"""The replay behind the live page, on a clock that tests turn by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from presage import notices
from presage.answers import Answer
from presage.errors import PresageError
from presage.web.board import Board
from presage.web.replay import Feed, Replay, ReplayStep


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def answer(name: str, status: str, now: int, needs: int = 0) -> Answer:
    premises = tuple(f"temp({name}, high)@{now + each}" for each in range(1, needs + 1))
    return Answer(now, status, "malf", (name,), {"X": name}, time=0, needs=premises)


def source(*times: int) -> Iterator[ReplayStep]:
    for time in times:
        yield ReplayStep(time, [answer(f"d{time}", "possible", time)], facts=time)


def ticks(replay: Replay) -> float | None:
    """Shows all that is due."""
    while (wait := replay.tick()) == 0.0:
        pass
    return wait


def shown(replay: Replay) -> list[str]:
    return list(replay.board.rows)


def test_what_keeps_a_step_is_told_until_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "_said", [])
    told: list[object] = []

    def slow() -> Iterator[ReplayStep]:
        yield from source(1)
        notices.give("preparing")
        told.append(replay.state()["busy"])
        yield from source(2)
        told.append(replay.state()["busy"])
        replay.closed = True

    replay = Replay(slow(), speed=0.0)
    replay.play()
    replay.run()
    assert told == ["preparing", ""] and replay._hear not in notices._listeners


def test_steps_are_shown_when_their_time_has_come() -> None:
    clock = Clock()
    replay = Replay(source(5, 7, 20), speed=2.0, clock=clock)
    assert ticks(replay) is None and not shown(replay), "it stands still until somebody plays"
    replay.play()
    assert ticks(replay) == pytest.approx(1.0), "the first step comes at once, the next two units later"
    assert shown(replay) == ["malf(d5)@0"]
    clock.seconds += 0.5
    assert ticks(replay) == pytest.approx(0.5) and replay.stream_time() == pytest.approx(6.0)
    clock.seconds += 0.5
    assert ticks(replay) == pytest.approx(6.5)
    assert shown(replay) == ["malf(d5)@0", "malf(d7)@0"]
    clock.seconds += 6.5
    assert ticks(replay) is None
    assert replay.finished and replay.paused and replay.stream_time() == 20


def test_pause_holds_time_and_play_goes_on_from_there() -> None:
    clock = Clock()
    replay = Replay(source(0, 10), speed=1.0, clock=clock)
    replay.play()
    ticks(replay)
    clock.seconds += 4
    replay.pause()
    clock.seconds += 1000
    assert ticks(replay) is None and replay.stream_time() == pytest.approx(4.0)
    replay.play()
    assert ticks(replay) == pytest.approx(6.0)
    replay.set_speed(3.0)
    assert ticks(replay) == pytest.approx(2.0)


def test_one_step_at_a_time() -> None:
    replay = Replay(source(0, 10, 30), speed=1.0, clock=Clock())
    replay.step()
    ticks(replay)
    assert replay.board.summary.now == 0 and replay.paused
    replay.step()
    replay.step()
    ticks(replay)
    assert replay.board.summary.now == 30 and replay.stream_time() == 30
    replay.step()
    ticks(replay)
    assert replay.finished and replay.board.summary.step == 3


def test_as_fast_as_possible() -> None:
    replay = Replay(source(0, 10_000, 20_000), speed=0.0, clock=Clock())
    replay.play()
    ticks(replay)
    assert replay.finished and len(shown(replay)) == 3


def test_a_slow_source_is_not_caught_up_with_in_haste() -> None:
    clock = Clock()

    def slow() -> Iterator[ReplayStep]:
        for time in range(4):
            clock.seconds += 10
            yield ReplayStep(time, [answer(f"d{time}", "possible", time)])

    replay = Replay(slow(), speed=1.0, clock=clock)
    replay.play()
    for time in range(4):
        while replay.board.summary.step <= time:
            wait = replay.tick()
            assert wait is not None
            clock.seconds += wait
        assert replay.stream_time() == time


def test_time_never_runs_beyond_what_is_shown() -> None:
    clock = Clock()
    replay = Replay(source(0, 3), speed=1.0, clock=clock)
    replay.play()
    ticks(replay)
    clock.seconds += 50
    assert replay.stream_time() == 3


def test_a_source_that_fails_ends_the_replay_with_its_message() -> None:
    def failing() -> Iterator[ReplayStep]:
        yield ReplayStep(0, [answer("a", "possible", 0)])
        raise PresageError("facts.jsonl:7: this is wrong")

    replay = Replay(failing(), speed=0.0, clock=Clock())
    replay.play()
    ticks(replay)
    assert replay.finished and replay.state()["problem"] == "facts.jsonl:7: this is wrong"
    assert shown(replay) == ["malf(a)@0"]


def test_rates_are_of_late() -> None:
    clock = Clock()
    replay = Replay((ReplayStep(time, [], facts=time * 10) for time in range(100)), speed=0.0, clock=clock)
    replay.play()
    for _ in range(50):
        clock.seconds += 0.1
        replay.tick()
    assert replay.state()["facts_per_second"] == pytest.approx(100, rel=0.1)
    clock.seconds += 1000
    assert replay.state()["facts_per_second"] < 1


# -- the board ------------------------------------------------------------------------------------


def test_the_past_is_as_it_was() -> None:
    board = Board()
    told = [
        [answer("a", "possible", 0, needs=2)],
        [answer("a", "possible", 1, needs=1), answer("b", "possible", 1, needs=1)],
        [answer("a", "confirmed", 2), answer("b", "unsupported", 2)],
        [answer("b", "refuted", 3)],
    ]
    states = [dict(board.rows)]
    for now, answers in enumerate(told):
        board.apply(answers, now)
        states.append(dict(board.rows))
    for step, state in enumerate(states):
        rows, summary = board.past(step)
        assert rows == state and summary.step == step
        assert summary.now == (step - 1 if step else None)
    with pytest.raises(KeyError):
        board.past(5)


def test_statuses_are_counted() -> None:
    board = Board(kept_settled=1)
    board.apply([answer("a", "possible", 0), answer("b", "possible", 0), answer("c", "possible", 0)], 0)
    assert board.summary.statuses == {"possible": 3}
    board.apply([answer("a", "possible", 1, needs=1), answer("b", "confirmed", 1), answer("c", "unsupported", 1)], 1)
    assert board.summary.statuses == {"possible": 1, "confirmed": 1, "unsupported": 1}
    board.apply([answer("a", "confirmed", 2), answer("c", "refuted", 2)], 2)
    assert board.summary.statuses == {"confirmed": 2, "refuted": 1}
    assert list(board.rows) == ["malf(c)@0"], "only so much of what is settled stays in sight"


def test_what_was_last_possible_is_kept_with_what_is_lost() -> None:
    board = Board()
    board.apply([answer("a", "possible", 0, needs=2)], 0)
    board.apply([answer("a", "unsupported", 1)], 1)
    board.apply([answer("a", "refuted", 2)], 2)
    was = board.rows["malf(a)@0"].was
    assert was is not None and was.needs == ("temp(a, high)@1", "temp(a, high)@2")


def test_history_is_bounded() -> None:
    board = Board(kept_changes=100, kept_settled=10)
    for now in range(1000):
        board.apply([answer(f"a{now}", "confirmed", now)], now)
    assert len(board.rows) == 10
    assert 1000 - board.first_step == 50, "an answer that comes and one that goes are two changes"
    rows, summary = board.past(board.first_step)
    assert summary.step == board.first_step and len(rows) == 10
    assert f"malf(a{board.first_step - 1})@0" in rows


# -- what pages are told ---------------------------------------------------------------------------


def test_a_feed_tells_how_things_stand_at_last() -> None:
    replay = Replay(
        iter(
            [
                ReplayStep(0, [answer("a", "possible", 0), answer("b", "possible", 0)]),
                ReplayStep(1, [answer("a", "possible", 1, needs=1)]),
                ReplayStep(2, [answer("a", "confirmed", 2)]),
            ]
        ),
        speed=0.0,
        clock=Clock(),
    )
    replay.step()
    ticks(replay)
    feed = replay.subscribe()
    news, _ = replay.news(feed)
    assert news.reset and [entry.answer.answer for entry in news.rows] == ["malf(a)@0", "malf(b)@0"]
    replay.play()
    ticks(replay)
    news, state = replay.news(feed)
    assert not news.reset and [str(entry.answer) for entry in news.rows] == ["confirmed malf(a)@0"]
    assert state["finished"]
    assert not replay.news(feed)[0].rows


def test_a_feed_tells_much_in_parts() -> None:
    board = Board()
    board.apply([answer(f"a{each:02}", "possible", 0) for each in range(25)], 0)
    feed = Feed(board.rows)
    parts = [feed.take(10) for _ in range(3)]
    assert [len(part.rows) for part in parts] == [10, 10, 5]
    assert [part.more for part in parts] == [True, True, False]
    assert [part.reset for part in parts] == [True, False, False]
