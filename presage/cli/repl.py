"""`presage repl`: a prompt that takes rules, facts and queries, and tells what they change."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from presage.cli import FINE, WRONG_INPUT
from presage.cli.options import params_in_the_call, params_of, set_argument, signature_argument
from presage.errors import PresageError

if TYPE_CHECKING:
    from presage.cli.typed import Typed, TypedOutcome

SUMMARY = "a prompt: type rules and facts, see answers change"
DESCRIPTION = """\
A prompt for rules, facts and queries. Whatever is typed ends with a full stop, as in a program, and may take several
lines. A fact with a time, `temp(wt25, high)@0.`, comes with the stream: it arrives at its time, or now if that is later
(or when it says, `temp(wt25, high)@0 arrives 2.`), and time moves on to it. After each entry the answers that are new
or other than before are told; `:help` lists what else there is. A program of another language stays as its file has
it: facts are typed. Lines may come from a pipe too; the exit status is then 1 if one of them was wrong."""
EXAMPLE = """\
example:
  presage repl
  presage repl turbines.psg
  presage repl turbines.psg --facts facts.jsonl < what-else-happens.txt"""

HELP = """\
  alarm(X) :- temp(X, high).     a rule; declarations and queries are typed as in a program
  temp(wt25, high)@0.            a fact of the stream; `… arrives 2.` says when it comes
  :now                           what time it is
  :now 5                         let time pass, up to 5
  :settle                        let time pass until all is decided that is open now
  :answers                       all that was told, as it stands
  :why                           why what was told last is so, what it waits for or what failed; :why alarm(wt25)@0
  :program                       the rules so far; :facts for the facts
  :check                         what `presage check` says about the rules
  :undo                          take back the last entry
  :clear                         begin anew
  :save F                        write the rules to a file
  :help, :quit"""

WORDS = ("help", "why", "settle", "answers", "program", "facts", "check", "undo", "clear", "quit", "exit")
"""Commands that nobody means otherwise who types them alone, without the colon."""


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("program", type=Path, nargs="?", metavar="PROGRAM", help="a program to begin with (.psg)")
    signature_argument(command)
    set_argument(command)
    command.add_argument("--facts", nargs="+", type=Path, default=[], metavar="F", help="files of facts to begin with")
    command.add_argument("--json", action="store_true", help="tell answers as JSON lines")


def run(options: argparse.Namespace) -> int:
    from presage.cli.typed import Typed
    from presage.languages import PRESAGE, language_of
    from presage.languages.files import read_file

    typed = Typed(files=tuple(options.facts))
    if options.program is not None:
        if language_of(options.program) is not PRESAGE:
            typed.name = str(options.program)
        typed.folder = options.program.parent
        typed.texts.append(read_file(options.program).removeprefix("\ufeff").rstrip("\n"))
    typed.params = params_of(options)
    if typed.params:
        with params_in_the_call():
            typed.report()
    prompt = Prompt(typed, options.json)
    if typed.texts or typed.files:
        for text in typed.run():
            print(text, file=sys.stderr)
        prompt.tell()
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        print("Rules, facts and queries end with a full stop; :help says more, :quit ends.")
    for entry in _entries(_typed_lines if is_terminal else _piped_lines):
        if entry in (":quit", ":q", ":exit"):
            break
        prompt.take(entry)
    return WRONG_INPUT if prompt.mistakes and not is_terminal else FINE


def _piped_lines(begun: list[str]) -> Iterator[str]:
    for line in sys.stdin:
        yield line.rstrip("\n")


def _typed_lines(begun: list[str]) -> Iterator[str]:
    """What is typed; a statement that has begun asks for more with another prompt."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (input() edits lines with it)
    while True:
        try:
            yield input("    ...> " if begun else "presage> ")
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            # What is half typed is dropped, as in other prompts.
            print()
            yield _DROP


_DROP = "\x03"


def _entries(lines: Callable[[list[str]], Iterator[str]]) -> Iterator[str]:
    """What belongs together: a line that begins with a colon, or is a command without it; otherwise lines up to one
    that ends with a full stop, or to an empty one."""
    from presage.cli.typed import is_whole

    waiting: list[str] = []
    for line in lines(waiting):
        if line == _DROP:
            waiting.clear()
            continue
        word = line.strip()
        if (word.startswith(":") and not word.startswith(":-")) or word in WORDS:
            if waiting:
                yield "\n".join(waiting)
                waiting.clear()
            yield f":{word.removeprefix(':')}"
            continue
        if line.strip():
            waiting.append(line)
        text = "\n".join(waiting)
        if waiting and (not line.strip() or is_whole(text)):
            waiting.clear()
            yield text
    if waiting:
        yield "\n".join(waiting)


class Prompt:
    """Takes entries and tells what they change."""

    def __init__(self, typed: Typed, as_json: bool) -> None:
        self.typed, self.as_json = typed, as_json
        self.told: TypedOutcome | None = None
        self.history: list[Typed] = []
        self.mistakes = 0

    def take(self, entry: str) -> None:
        try:
            if entry.startswith(":") and not entry.startswith(":-"):
                self._command(entry)
            else:
                self._add(entry)
        except PresageError as problem:
            self.mistakes += 1
            sys.stdout.flush()
            print(problem, file=sys.stderr, flush=True)

    def _add(self, text: str) -> None:
        from presage.cli.typed import statements

        for each in statements(text):
            before = self._state()
            for said in self.typed.add(each):
                print(f"note: {said}", file=sys.stderr)
            self.history.append(before)
            self.tell()

    def _state(self) -> Typed:
        from dataclasses import replace

        return replace(self.typed, texts=list(self.typed.texts), facts=list(self.typed.facts))

    def tell(self) -> None:
        """Says what is other than when it was said last."""
        from presage.cli.typed import TypedOutcome, changes

        for line in changes(self.told or TypedOutcome(), self.typed.outcome):
            if isinstance(line, str):
                print(json.dumps({"gone": line}, ensure_ascii=False) if self.as_json else f"gone: {line}")
            else:
                self._show(line)
        self.told = self.typed.outcome
        sys.stdout.flush()

    def _show(self, line: dict[str, object]) -> None:
        from presage.cli.typed import in_words

        print(json.dumps(line, ensure_ascii=False) if self.as_json else "\n".join(in_words(line)))

    def _command(self, entry: str) -> None:
        from presage.errors import nearest

        word, _, rest = entry[1:].partition(" ")
        commands = {
            "help": self._help, "now": self._now, "settle": self._settle, "answers": self._answers, "why": self._why,
            "program": self._program, "facts": self._facts, "check": self._check, "undo": self._undo,
            "clear": self._clear, "save": self._save,
        }  # fmt: skip
        if word not in commands:
            near = nearest(word, commands)
            raise PresageError(
                f":{word}: there is no such command" + (f"; did you mean :{near}?" if near else "; :help")
            )
        commands[word](rest.strip())
        sys.stdout.flush()

    def _help(self, rest: str) -> None:
        print(HELP)

    def _now(self, rest: str) -> None:
        from presage.model.printer import show_number

        if rest:
            self.typed.move(rest)
            self.tell()
        else:
            print("nothing has come yet" if self.typed.now is None else f"now is {show_number(self.typed.now)}")

    def _settle(self, rest: str) -> None:
        self.typed.settle()
        self.tell()

    def _answers(self, rest: str) -> None:
        for line in self.typed.outcome.lines.values():
            self._show(line)

    def _why(self, rest: str) -> None:
        print(self.typed.why(rest))

    def _program(self, rest: str) -> None:
        sys.stdout.write(self.typed.program)

    def _facts(self, rest: str) -> None:
        for path in self.typed.files:
            print(f"% {path}")
        for each in self.typed.facts:
            print(f"{each.text}.")

    def _check(self, rest: str) -> None:
        report = self.typed.report()
        print("there is no rule and no query yet" if report is None else report)

    def _undo(self, rest: str) -> None:
        if not self.history:
            raise PresageError(":undo: there is nothing to take back")
        self.typed = self.history.pop()
        self.tell()

    def _clear(self, rest: str) -> None:
        self.history.append(self._state())
        self.typed = type(self.typed)(self.typed.folder)
        self.told = None

    def _save(self, rest: str) -> None:
        if not rest:
            raise PresageError(":save: say to which file, as in :save rules.psg")
        try:
            Path(rest).write_text(self.typed.program, encoding="utf-8")
        except OSError as found:
            raise PresageError(f"{rest}: cannot be written ({found.strerror or found})") from None
