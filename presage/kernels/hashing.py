"""How tuples find their place in an open-addressing hash.

The number of a single constant is its own first place: streams mention constants in the order in which they were
numbered, so that walking along a stream walks along the hash. Where that place is taken, the search goes on in strides
that are mixed from all bits: neither ranges of numbers nor the graves they leave make it long.
"""

from __future__ import annotations

import numpy as np

from presage.kernels.compiling import inlined
from presage.kernels.fields import get, get32

EMPTY, GONE = -1, -2


@inlined
def _mix(code):  # type: ignore[no-untyped-def]
    code *= np.uint64(0x9E3779B97F4A7C15)
    code ^= code >> np.uint64(32)
    return code


@inlined
def scatter(code):  # type: ignore[no-untyped-def]
    """Every bit of a number over all bits."""
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xFF51AFD7ED558CCD)
    code ^= code >> np.uint64(33)
    code *= np.uint64(0xC4CEB9FE1A85EC53)
    code ^= code >> np.uint64(33)
    return code


@inlined
def hash_tuple(place, width):  # type: ignore[no-untyped-def]
    """The hash of the integers at an address."""
    code = np.uint64(get32(place, 0))
    for column in range(1, width):
        code = _mix(code) + np.uint64(get32(place, column))
        if column == width - 1:
            code = _mix(code)
    return code


@inlined
def hash_columns(place, key, keys):  # type: ignore[no-untyped-def]
    """The same for some of a tuple's columns."""
    code = np.uint64(get32(place, get(key, 0)))
    for number in range(1, keys):
        code = _mix(code) + np.uint64(get32(place, get(key, number)))
        if number == keys - 1:
            code = _mix(code)
    return code


@inlined
def first_place(code, mask):  # type: ignore[no-untyped-def]
    return np.int64(code & np.uint64(mask))


@inlined
def stride(code):  # type: ignore[no-untyped-def]
    """How far it is from each place of a tuple to the next: odd, so that all places are visited."""
    return np.int64(_mix(code ^ np.uint64(0xC2B2AE3D27D4EB4F)) >> np.uint64(8)) | np.int64(1)
