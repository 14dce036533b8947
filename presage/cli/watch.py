"""`presage watch`: a run on a live page in the browser."""

from __future__ import annotations

import argparse
import math
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from presage.cli import FINE
from presage.cli.options import (
    checked_program,
    facts_arguments,
    in_the_call,
    params_of,
    positive_count,
    program_argument,
    read_as_asked,
    tell_what_was_passed_over,
    wrong_call,
)
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.checking import Report
    from presage.io.facts import Fact
    from presage.model.terms import Number
    from presage.run.reasoner import Reasoner
    from presage.web.details import Describing, Details
    from presage.web.replay import Replay, ReplayStep
    from presage.web.stage import Stage

SUMMARY = "run a program on a live page in the browser"
DESCRIPTION = """\
Runs a program as `presage run` does, at a pace people can follow, on a page at 127.0.0.1: a lane for each answer
with its evidence, what it still needs and its deadline, as answers become possible, are confirmed or are refuted.
The page pauses, steps, goes back, filters, and shows the ways and the proof of an answer. The run begins when
the page is opened. Without a program, the page lists the examples that come with Presage.
Needs starlette and uvicorn: pip install 'presage-streams[watch]'"""
EXAMPLE = """\
example:
  presage watch
  presage watch turbines/turbines.psg --facts turbines/facts.jsonl --speed 0.5"""

LOCAL = "127.0.0.1"
LOCAL_NAMES = (LOCAL, "localhost", "::1")
PORT = 8765
A_MINUTE = 60
"""How many seconds a run takes at most unless a speed is given."""


def arguments(command: argparse.ArgumentParser) -> None:
    program_argument(command, required=False)
    facts_arguments(command, required=False)
    command.add_argument(
        "--answers",
        metavar="F",
        help="instead of running a program, show what a run or a pipeline writes elsewhere, as it comes: a file of "
        "JSON lines that grows, a folder of Parquet or JSON files, - for standard input",
    )
    command.add_argument(
        "--emit",
        choices=("changes", "confirmed", "states"),
        help="as for `presage run` (default: changes where the program has hypothetical answers, otherwise states, so "
        "that what goes on is one bar)",
    )
    command.add_argument(
        "--speed",
        type=_speed,
        metavar="X",
        help="units of time a second, 0 for as fast as possible (default: 1, or more so that a minute is enough)",
    )
    command.add_argument("--paused", action="store_true", help="stand still until someone presses play or step")
    command.add_argument("--port", type=_port, default=PORT, metavar="P", help=f"default {PORT}; 0 for any free one")
    command.add_argument(
        "--host", default=LOCAL, metavar="H", help=f"the address to listen on (default {LOCAL}: this machine only)"
    )
    command.add_argument(
        "--edit",
        action="store_true",
        help="whoever sees the page may change the rules, also where --host lets others in (on this machine: always)",
    )
    command.add_argument("--no-browser", action="store_true", help="do not open a browser")
    command.add_argument(
        "--history",
        type=positive_count,
        default=100_000,
        metavar="N",
        help="how many changes can be gone back through (default 100000)",
    )


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text} is not a speed: a number of time units a second, or 0")
    return value


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text} is not a port: a whole number from 0 to 65535")
    return int(text)


def run(options: argparse.Namespace) -> int:
    if not options.answers and (options.program is None) != (not options.facts):
        wrong_call("a PROGRAM and its --facts go together; without both, the examples are shown")
    _refuse_without_server()
    if options.program is None and not options.answers:
        return _show_examples(options)
    from presage.web.server import application

    stage = staged(options)
    stage.start()
    app = application(stage, _host_names(options.host), start_when_seen=not options.paused)
    _serve(app, options, str(options.answers or options.program), stage.close)
    if stage.run.replay.problem:
        raise PresageError(stage.run.replay.problem)
    return FINE


def staged(options: argparse.Namespace, home: str = "") -> Stage:
    """A run before its first step, and how it is begun again."""
    from presage.languages.files import read_file
    from presage.web.stage import Stage, StagedRun
    from presage.web.story import Story, story_of

    if options.answers:
        again = None if options.answers == "-" else (lambda _: StagedRun(*listen_to(options)))
        name = "Standard input" if options.answers == "-" else Path(options.answers).name
        return Stage(StagedRun(*listen_to(options)), again, Story(name))
    text = read_file(options.program)
    story = story_of(Path(options.program), text)
    editable = options.edit or options.host in LOCAL_NAMES
    begin = StagedRun(*prepare(options))
    return Stage(
        begin, lambda source: StagedRun(*prepare(options, source or None)), story, editable=editable, home=home
    )


def _show_examples(options: argparse.Namespace) -> int:
    """A page with the examples; each is prepared when somebody opens it."""
    from presage.cli.examples import EXAMPLES, data_of, names, opening, program_of, title
    from presage.web.gallery import ShownExample, gallery
    from presage.web.server import application

    hosts = _host_names(options.host)
    opened: list[Stage] = []

    def open_example(name: str) -> object:
        chosen = argparse.Namespace(**{**vars(options), "program": program_of(name), "facts": [data_of(name)]})
        stage = staged(chosen, home="../")
        stage.start()
        opened.append(stage)
        return application(stage, hosts, start_when_seen=not options.paused)

    shown = [ShownExample(name, title(name), opening(name), EXAMPLES / name / "small.svg") for name in names()]

    def close() -> None:
        for stage in opened:
            stage.close()

    _serve(gallery(shown, open_example, hosts), options, "the examples", close)
    return FINE


def _serve(app: object, options: argparse.Namespace, what: str, close: Callable[[], None]) -> None:
    """Listens, says where, opens a browser, and serves until somebody ends it."""
    listening = _listen(options.host, options.port)
    address = _address(options.host, listening)
    print(f"watch {what} at {address} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if not _is_local(listening):
        print("whoever can reach this machine sees the page and can stop and start it", file=sys.stderr, flush=True)
    if not options.no_browser and _has_a_screen():
        import webbrowser

        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    _answer_requests(app, listening, close)


def _refuse_without_server() -> None:
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError as missing:
        raise PresageError(
            f"`presage watch` needs {missing.name}, which is not installed: pip install 'presage-streams[watch]'"
        ) from None
    del starlette


def listen_to(options: argparse.Namespace) -> tuple[Replay, Describing]:
    """Answers that come from elsewhere; the program, if it is given, says more about them."""
    from presage.web.elsewhere import ToldDetails
    from presage.web.follow import answers_from, follow
    from presage.web.replay import FASTEST, Replay

    if options.facts or options.static or options.until or options.emit:
        wrong_call("--answers shows answers that are there: --facts, --static, --until and --emit go without it")
    subject = None
    if options.program is not None:
        report = checked_program(options).or_raise()
        assert report.findings is not None
        subject = report.findings.watched
    source = "standard input" if options.answers == "-" else options.answers
    speed = FASTEST if options.speed is None else options.speed
    replay = Replay(follow(answers_from(options.answers)), speed, history=options.history)
    return replay, ToldDetails(source, subject)


def prepare(options: argparse.Namespace, text: str | None = None) -> tuple[Replay, Details]:
    """The replay of a run before its first step; with a text, of the program as somebody has changed it in the page."""
    from presage.checking import check_text
    from presage.cli.run import last_step_asked, take_facts
    from presage.parser.including import Folder
    from presage.run.reasoner import reasoner_of
    from presage.web.details import Details
    from presage.web.replay import Replay

    if text is None:
        report = checked_program(options)
    else:
        below = Folder(Path(options.program).parent, only_below=True)
        report = check_text(text, str(options.program), folder=below, params=params_of(options))
    emit = options.emit or _told_by_itself(report)
    reasoner = reasoner_of(report, emit)
    read_as_asked(options, reasoner.checker)
    gathered, statics = take_facts(reasoner, options.facts, options.static)
    facts = list(gathered)
    tell_what_was_passed_over(reasoner.checker)
    with in_the_call():
        until = last_step_asked(reasoner, options.until)
    speed = _comfortable_speed(facts, until) if options.speed is None else options.speed
    replay = Replay(_steps(reasoner, facts, until), speed, history=options.history)
    found = report.findings
    assert found is not None
    delays = {asked.query: asked.reach.delay for asked in found.queries}

    def fresh() -> Reasoner:
        made = reasoner_of(report, emit)
        made.add_statics(statics)
        return made

    return replay, Details(reasoner, facts, statics, delays, fresh)


def _told_by_itself(report: Report) -> str | None:
    """What a page is told without being asked: where nothing can be foretold, what goes on, as stretches."""
    found = report.or_raise().findings
    assert found is not None
    foretold = any(each.hypothetical.possible for each in found.queries)
    return None if foretold or report.program.meaning is not None else "states"


def _comfortable_speed(facts: list[Fact], until: Number | None) -> float:
    arrivals = [fact.arrival for fact in facts]
    last = max(arrivals, default=0) if until is None else until
    return float(max(1, math.ceil((last - min(arrivals, default=0)) / A_MINUTE)))


def _steps(reasoner: Reasoner, facts: list[Fact], until: Number | None) -> Iterator[ReplayStep]:
    import bisect

    from presage.run.schedule import steps
    from presage.web.replay import ReplayStep

    arrivals = sorted(fact.arrival for fact in facts)
    for answers in steps(reasoner, facts, until):
        assert reasoner.now is not None
        arrived = bisect.bisect_right(arrivals, reasoner.now)
        yield ReplayStep(reasoner.now, answers, arrived, len(reasoner.late), _remembered(reasoner))
    ended = reasoner.end()
    if len(ended):
        # What still goes on ends with the run.
        assert reasoner.now is not None
        yield ReplayStep(reasoner.now, ended, len(arrivals), len(reasoner.late), _remembered(reasoner))


def _remembered(reasoner: Reasoner) -> int | None:
    try:
        return reasoner.remembered
    except PresageError:
        # Programs that the interval engine does not run have no such memory.
        return None


# -- the server ---------------------------------------------------------------------------------------


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise PresageError(f"--host {host}: there is no such address") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen()
    except PermissionError:
        listening.close()
        raise PresageError(f"--port {port}: this port is for administrators; take one above 1023") from None
    except OSError as problem:
        listening.close()
        hint = "choose another with --port, or --port 0 for any free one"
        raise PresageError(f"cannot listen on {host}, port {port} ({problem.strerror}): {hint}") from None
    return listening


def _address(host: str, listening: socket.socket) -> str:
    name = {"0.0.0.0": LOCAL, "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{listening.getsockname()[1]}/"


def _is_local(listening: socket.socket) -> bool:
    import ipaddress

    return ipaddress.ip_address(listening.getsockname()[0]).is_loopback


def _host_names(host: str) -> list[str]:
    """The names a browser may call this machine by. A page for everyone is called anything."""
    return ["*"] if host in ("0.0.0.0", "::") else [host, f"[{host}]", LOCAL, "localhost", "[::1]"]


def _has_a_screen() -> bool:
    """Whether a browser would be a window: in a terminal it would cover the messages."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _answer_requests(app: object, listening: socket.socket, close: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: object) -> None:
            # The streams to open pages end with their replays; otherwise the server would wait for them.
            close()
            super().handle_exit(sig, frame)  # type: ignore[arg-type]

    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=2)  # type: ignore[arg-type]
    try:
        Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        close()
        listening.close()
