"""What is saved is plain data under a seal: no byte of it can be changed unseen, and nothing in it is ever run."""

from __future__ import annotations

import json
import os
import pickle
import random
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import presage
from presage import sealed
from presage.errors import PresageError
from presage.model.program import Program
from presage.run import saving as memory

ROOT = Path(__file__).parent.parent.parent
TURBINES = """input temp(device, level) delay 1.
flag(X) :- temp(X, high).
cool(X)@T+1 :- flag(X)@T, flag(X)@T+1.
query cool(X).
"""
KINDS = {
    "columns": (TURBINES, [("temp", ("wt25", "high"), 0)]),
    "dense": ("near(X) :- p(X), once(0,1] q(X).\nquery near(X).\n", [("q", ("a",), 0)]),
    "negation": (
        "input p(x) delay 2. input q(x). a(X)@T+1 :- p(X)@T, not q(X)@T. query a(X).",
        [("p", ("b",), 0), ("q", (3,), 0)],
    ),
    "rows": (
        "input p(x: any). input q(x). query two(X). two(X) :- q(X), window(rows 2 by p(X)) some p(X).",
        [("p", ("a",), 0), ("q", ("a",), 0), ("p", ("b",), 0)],
    ),
    "derived in rows": (
        "input p(x). input q(x). d(X) :- p(X), q(X). query two(X). two(X) :- q(X), window(rows 3) some d(X).",
        [("p", ("a",), 0), ("q", ("a",), 0), ("p", ("b",), 0)],
    ),
    "invented": ("input p(x). exists lasting Y: has(X, Y) :- p(X). query has(X, Y).", [("p", ("a",), 0)]),
    "several models": (
        "input guest(x) delay 1. seated(X) | away(X) :- guest(X). :- away(X), guest(X). query seated(X).",
        [("guest", ("ann",), 0)],
    ),
    "now": (
        "reading now. input r(x). input t. query a(X). a(X) :- window(2) some r(X), not b(X). "
        "b(X) :- window(2) some r(X), not a(X), t.",
        [("r", ("x",), 0)],
    ),
}


def saved(kind: str) -> tuple[Program, bytes]:
    text, facts = KINDS[kind]
    program = presage.parse(text)
    reasoner = presage.Reasoner(program)
    reasoner.push(facts, now=0)
    return program, reasoner.save()


def restored(program: Program, blob: bytes) -> presage.Reasoner:
    return presage.Reasoner.restore(program, blob)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_goes_on(kind: str) -> None:
    program, blob = saved(kind)
    facts = KINDS[kind][1]
    plain = presage.Reasoner(program)
    plain.push(facts, now=0)
    again = restored(program, blob)
    assert list(again.answers()) == list(plain.answers())
    for now in range(1, 6):
        more = [(name, arguments, now) for name, arguments, _ in facts] if now % 2 else []
        assert list(again.push(more, now=now)) == list(plain.push(more, now=now))
    assert list(restored(program, again.save()).answers()) == list(plain.answers())


@pytest.mark.parametrize("kind", KINDS)
def test_every_byte_counts(kind: str) -> None:
    """Flipping any byte, and any bit of some, is noticed; so is a byte more or less."""
    program, blob = saved(kind)
    for place in range(len(blob)):
        damaged = bytearray(blob)
        damaged[place] ^= 255 if place % 3 else 1 << place % 8
        with pytest.raises(PresageError):
            memory.unpacked(program, bytes(damaged))
    for cut in (blob[:-1], blob + b"\0", blob[: len(blob) // 2], b"", blob[:8], blob[1:]):
        with pytest.raises(PresageError):
            restored(program, cut)


@pytest.mark.parametrize("kind", KINDS)
def test_what_somebody_seals_anew_is_still_looked_at(kind: str) -> None:
    """Damage below a good seal is refused or does no harm: what comes back steps on without touching foreign memory."""
    program, blob = saved(kind)
    _, content = sealed.opened(memory.KIND, memory.READABLE, blob, "it")
    chance = random.Random(kind)
    for place in chance.sample(range(len(content)), min(60, len(content))):
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        tried(program, sealed.sealed(memory.KIND, memory.FORMAT, bytes(damaged)))


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_out_of_range_are_refused(kind: str) -> None:
    """Kernels go by numbers as by addresses: no array may lead them astray, whoever made it."""
    program, blob = saved(kind)
    header, arrays = memory.unpacked(program, blob)
    for name in arrays:
        for wrong in (-7, 1 << 20, 1 << 30, -(1 << 31)):
            array = arrays[name].copy()
            if array.size and np.iinfo(array.dtype).min <= wrong <= np.iinfo(array.dtype).max:
                array.flat[array.size // 2] = wrong
                tried(program, memory.packed(program, header, {**arrays, name: array}))
        for other in (arrays[name].ravel()[:0], arrays[name].astype(np.float64), np.zeros((2, 3, 4), np.int64)):
            tried(program, memory.packed(program, header, {**arrays, name: other}))
        without = {each: array for each, array in arrays.items() if each != name}
        tried(program, memory.packed(program, header, without))


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_other_kinds_are_refused(kind: str) -> None:
    """Any JSON value may stand anywhere in what is read."""
    program, blob = saved(kind)
    header, arrays = memory.unpacked(program, blob)
    own = {name: each for name, each in header.items() if name not in ("fingerprint", "program")}
    chance = random.Random(kind)
    places = list(paths(own))
    for path in chance.sample(places, min(20, len(places))):
        for wrong in (None, -1, "x", [], {}, [[]], {"rule": 1}, 1 << 70, True):
            tried(program, memory.packed(program, put(own, path, wrong), arrays))


def test_nobody_is_sent_through_times_without_end() -> None:
    """How far an engine has looked is no farther than it can: otherwise reading it would take all memory there is."""
    program = presage.parse(
        "timeline discrete. input temp(d, l) delay 2. input ok(d). query h(X). "
        "h(X)@T+2 :- temp(X, high)@T, temp(X, high)@T+2, not ok(X)@T+1."
    )
    reasoner = presage.Reasoner(program)
    reasoner.push([("temp", ("a", "high"), 0)], now=0)
    header, arrays = memory.unpacked(program, reasoner.save())
    reached = header["extra"]["supposing"]["engine"]["reached"]
    assert restored(program, memory.packed(program, header, arrays)).now == 0
    for wrong in (1 << 40, 1 << 70, reached["h"] + 1):
        reached["h"] = wrong
        with pytest.raises(PresageError, match="farther ahead than it can"):
            restored(program, memory.packed(program, header, arrays))


def tried(program: Program, blob: bytes) -> None:
    """Either refused in words, or something that steps on, or refuses to in words."""
    try:
        reasoner = restored(program, blob)
    except PresageError:
        return
    try:
        for now in range(1, 4):
            reasoner.push([], now=(reasoner.now if isinstance(reasoner.now, int) else 0) + now)
    except (PresageError, ArithmeticError, LookupError, TypeError, ValueError, AssertionError, AttributeError):
        pass  # What is made up may make no sense; it only must not go beyond Python.


def paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        yield from paths(each, (*path, name))


def put(value: Any, path: tuple[Any, ...], wrong: Any) -> Any:
    """A copy with something else at a place; the whole is an object in any case."""
    if not path:
        return wrong if isinstance(wrong, dict) else {}
    copy = json.loads(json.dumps(value))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = wrong
    return copy


class Shell:
    def __reduce__(self) -> Any:
        return os.system, ("touch /tmp/presage-was-here",)


def test_no_blob_runs_code() -> None:
    witness = Path("/tmp/presage-was-here")
    witness.unlink(missing_ok=True)
    program, blob = saved("several models")
    run = pickle.dumps(Shell())
    # As the allow-list of version 0.1 was got around: a dotted name leads from an allowed module to anything.
    dotted = b"\x80\x04\x8c\x10presage.io.facts\x8c\x13dataclass.__class__\x93."
    hostile = [
        run,
        b"presage answer streams 2\n" + run,
        b"presage answer streams 2\n" + dotted,
        sealed.sealed(memory.KIND, memory.FORMAT, run),
        sealed.sealed(memory.KIND, memory.FORMAT, sealed.with_arrays({"fingerprint": 1}, {})),
        sealed.sealed("shard", 1, run),
        b"PK\x03\x04" + run,
        blob + run,
    ]
    packed = BytesIO()
    np.savez(packed, header=np.array([Shell()], dtype=object), allow_pickle=True)
    hostile.append(packed.getvalue())
    for each in hostile:
        with pytest.raises(PresageError):
            restored(program, each)
    assert not witness.exists()


def test_nothing_of_ours_unpickles() -> None:
    """But for closures that Spark ships, which is Spark's doing."""
    for path in (ROOT / "presage").rglob("*.py"):
        text = path.read_text()
        assert "import pickle" not in text and "cloudpickle" not in text and "allow_pickle=True" not in text, path


def test_refusals_name_what_it_is() -> None:
    program, blob = saved("columns")
    with pytest.raises(PresageError, match="another program"):
        restored(presage.parse("input p(x). q(X) :- p(X). query q(X)."), blob)
    with pytest.raises(PresageError, match="of another kind: shard"):
        restored(program, sealed.sealed("shard", 1, b""))
    with pytest.raises(PresageError, match="newer version of Presage"):
        restored(program, sealed.sealed(memory.KIND, memory.FORMAT + 1, b""))
    with pytest.raises(PresageError, match="an older version of Presage"):
        restored(program, sealed.sealed(memory.KIND, 1, b""))
    with pytest.raises(PresageError, match="3 bytes are missing"):
        restored(program, blob[:-3])
    with pytest.raises(PresageError, match=r"version 0\.1, whose states of programs with several models are code"):
        restored(program, b"presage answer streams 2\nx")
    assert memory.program_in(blob) == program


BEFORE = ROOT / "tests/states"


def test_states_of_the_version_before_are_read() -> None:
    """Saved by version 0.1, as its bytes still lie in `tests/states`."""
    for kind in ("columns", "dense", "negation", "rows", "derived in rows", "invented"):
        text, facts = KINDS[kind]
        program = presage.parse(text)
        # On dense time it told what is confirmed, unless asked for more.
        plain = presage.Reasoner(program, emit="confirmed" if kind == "dense" else None)
        plain.push(facts, now=0)
        again = restored(program, (BEFORE / f"{kind.replace(' ', '-')}.0.1").read_bytes())
        assert list(again.answers()) == list(plain.answers())
        for now in range(1, 6):
            more = [(name, arguments, now) for name, arguments, _ in facts] if now % 2 else []
            assert list(again.push(more, now=now)) == list(plain.push(more, now=now))
    with pytest.raises(PresageError, match=r"version 0\.1"):
        restored(presage.parse(KINDS["now"][0]), (BEFORE / "now.0.1").read_bytes())


# -- programs --------------------------------------------------------------------------------------


def programs() -> list[Path]:
    return sorted((ROOT / "presage/examples").rglob("*.psg"))


def test_programs_have_a_plain_form() -> None:
    assert len(programs()) > 5
    for path in programs():
        program = presage.load(path)
        plain = json.loads(json.dumps(program.plain()))
        again = Program.of_plain(plain)
        assert again == program and str(again) == str(program)
        assert [statement.span for statement in again.statements] == [each.span for each in program.statements]
        assert again.source == program.source and again.plain() == plain


def test_other_values_are_no_program() -> None:
    chance = random.Random(3)
    plain = presage.parse(TURBINES + "start 2026-01-01T00:00:00Z. tick 1s. a(X) :- temp(X, 1/3).").plain()
    for wrong in (None, 3, {}, {"format": 1}, {"format": 9, "program": {}}, {"format": 1, "program": {"is": "os"}}):
        with pytest.raises(PresageError):
            Program.of_plain(wrong)
    for path in chance.sample(list(paths(plain)), 120):
        for wrong in ({"is": "Program"}, {"is": "system"}, [None], 1.5, True):
            try:
                Program.of_plain(put(plain, path, wrong))
            except PresageError:
                continue
