"""A reasoner's memory as bytes: what `save` gives and `restore` takes, decided in one place.

Engines give plain JSON values and arrays of numbers; here they are put under a seal (`sealed.py`), with the program in
its plain form and its fingerprint. Another program's memory is refused, and so is what this version cannot read, each
by its name. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from presage import languages
from presage.model.program import Program
from presage.sealed import Arrays, StateError, opened, parted, reading, sealed, with_arrays

KIND = "reasoner"
FORMAT = 5
READABLE = range(4, FORMAT + 1)
"""The formats that this version reads under a seal. To change what engines save is to raise `FORMAT`."""
BEFORE = 3
"""The format of version 0.1, which had no seal: a zip file of arrays. Its content is that of format 4."""
_PICKLED = b"presage answer streams "
WHAT = "the saved reasoner"


def fingerprint_of(program: Program) -> str:
    """Tells programs apart by what they say, not by how they are laid out."""
    said = str(program) if program.meaning is None else f"{program.meaning.engine}\n{program.source.text}"
    return hashlib.sha256(said.encode()).hexdigest()


def packed(program: Program, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """The memory of a program's reasoner."""
    owner = {"fingerprint": fingerprint_of(program), "program": program.plain()}
    return sealed(KIND, FORMAT, with_arrays({**owner, **header}, arrays))


def unpacked(program: Program, blob: bytes) -> tuple[dict[str, Any], Arrays]:
    """What was packed; raises `StateError` where it is not this program's, or cannot be read."""
    header, arrays = _content(blob)
    with reading(WHAT):
        owner = header["fingerprint"]
    if owner != fingerprint_of(program):
        raise StateError("the state belongs to another program: restore it with the program it was saved with")
    return header, arrays


def program_in(blob: bytes) -> Program:
    """The program that a memory was saved with."""
    header, _ = _content(blob)
    if "program" not in header:
        raise StateError("the state was saved by version 0.1, which did not keep the program with it")
    with reading(WHAT):
        return program_of(header["program"])


def program_of(plain: Any) -> Program:
    """The program that its plain form says."""
    if "language" in plain:
        # What a program of another language means is in its text alone.
        return languages.read(str(plain["text"]), str(plain["language"])).program
    return Program.of_plain(plain)


def _content(blob: bytes) -> tuple[dict[str, Any], Arrays]:
    if blob[:2] == b"PK":
        return _content_before(blob)
    if blob.startswith(_PICKLED):
        raise StateError(
            "the state was saved by version 0.1, whose states of programs with several models are code that would have "
            "to be run to be read: feed the facts again, from as far back as the program looks"
        )
    _, content = opened(KIND, READABLE, blob, WHAT)
    with reading(WHAT):
        header, arrays = parted(content)
        if not isinstance(header, dict):
            raise ValueError("no header")
        return header, Arrays(arrays)


def _content_before(blob: bytes) -> tuple[dict[str, Any], Arrays]:
    """What version 0.1 saved."""
    try:
        with np.load(io.BytesIO(blob), allow_pickle=False) as loaded:
            arrays = {name: loaded[name] for name in loaded.files}
        header: dict[str, Any] = json.loads(bytes(arrays.pop("header")))
        version = header["format"]
    except Exception:
        raise StateError("these bytes are not a saved reasoner, or are damaged") from None
    if version != BEFORE:
        raise StateError(f"the state was saved in format {version}, before version 0.1: feed the facts again")
    return header, Arrays(arrays)
