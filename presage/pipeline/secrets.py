"""Secrets of a pipeline: they come from the environment, and nothing Presage prints contains them.

A file that is kept, shared and reviewed is no place for a password. A value may name variables of the environment
(`${NAME}`), or a key ending in `_env` names one. A literal is refused, and messages that show the file's lines show it
as stars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

_WORD = (
    r"pass(?:word|wd|phrase)|(?<![a-z])pass(?![a-z])|pwd|secret|token|credential|jaas|(?<![a-z])auth(?![a-z])"
    r"|(?:private|api|access|account|ssl|shared)[-_.]?key"
)
_NAME = re.compile(_WORD, re.IGNORECASE)
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
# `password = …`, as a line of the file or inside a longer text; a value that is cut off is one too.
_ASSIGNED = re.compile(
    rf"(?P<key>[\w.-]*(?:{_WORD})[\w.-]*)[\"']?\s*=\s*\\?"
    r'(?P<value>"""(?:\\.|[^\\])*?(?:"""|\Z)'
    r"|'''.*?(?:'''|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?|\[[^\]\n]*\]?|[^\s,;&}#\"']+)",
    re.IGNORECASE | re.DOTALL,
)
_LINE = re.compile(
    r"^\s*[\"']?(?P<key>[\w.-]+)[\"']?\s*=\s*(?P<value>\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\[{\"'#][^\s#]*)", re.MULTILINE
)
_SPELLED = ("password", "passwd", "passphrase", "secret", "token", "credential", "password_env", "token_env")
_IN_ADDRESS = re.compile(r"://[^/@\s:\"']*:(?P<value>[^/@\s\"']+)@")
STARS = "***"
LONG_ENOUGH = 6
"""Shorter values, of variables that nothing says to be secret, would hide half of a message."""


def is_secret(key: str) -> bool:
    """Whether a key's name says that its value must not be seen."""
    return _NAME.search(key) is not None and not key.lower().endswith("_env")


def references(text: str) -> list[str]:
    """The variables of the environment that a text names."""
    return _REFERENCE.findall(text)


def resolved(text: str, environment: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: environment.get(found[1], ""), text)


def is_variable(text: str) -> bool:
    """Whether a text can be the name of a variable of the environment, and not the secret itself."""
    return re.fullmatch(r"[A-Z_][A-Z0-9_]*", text) is not None


def _is_nearly_secret(key: str) -> bool:
    """Whether a key may be one of a secret that somebody misspelled, or names the variable that has it."""
    last = key.lower().rsplit(".", 1)[-1]
    return bool(get_close_matches(last, _SPELLED, 1, 0.75)) or (is_secret(key.removesuffix("_env")))


def _misplaced(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets may stand by mistake: as the name of a variable, or below a key that is misspelled."""
    for found in _LINE.finditer(text):
        value = found["value"].strip("\"'")
        if _is_nearly_secret(found["key"]) and not is_variable(value) and _REFERENCE.sub("", value):
            yield found.span("value")


def _literals(text: str) -> Iterator[tuple[int, int]]:
    """Where secrets stand in a text."""
    for found in _ASSIGNED.finditer(text):
        said = found["value"].strip("\"'\\")
        if is_secret(found["key"]) and _REFERENCE.sub("", said):
            yield found.span("value")
    for found in _IN_ADDRESS.finditer(text):
        if _REFERENCE.sub("", found["value"]):
            yield found.span("value")


def has_literal(text: str) -> bool:
    """Whether a text has a password in it, as the address of a database may."""
    return any(True for _ in _literals(text))


def masked(text: str) -> str:
    """The text of a file as messages may show it: secrets are stars, and everything is where it was."""
    shown = list(text)
    for start, end in (*_literals(text), *_misplaced(text)):
        for place in range(start, end):
            if not shown[place].isspace() and shown[place] not in "\"'":
                shown[place] = "*"
    return "".join(shown)


class Hidden:
    """The values that must not be printed."""

    def __init__(self) -> None:
        self.values: set[str] = set()

    def add(self, value: str, surely: bool) -> None:
        if value and (surely or len(value) >= LONG_ENOUGH):
            self.values.add(value)

    def __call__(self, text: str) -> str:
        for value in sorted(self.values, key=len, reverse=True):
            text = text.replace(value, STARS)
        return text
