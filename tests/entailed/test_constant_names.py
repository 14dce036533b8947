"""Names of constants by the column: in the order of their texts, and written as Python writes them."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np

from presage.kernels.lines import AS_IS
from presage.model.printer import show_term
from presage.model.terms import Constant
from presage.run.names import SHOWN, ConstantNames

VALUES: list[Any] = [
    "a", "ab", "abcdefgh", "abcdefghi", "abcdefg", "B c", "ä", "日本", "\U0001f600", "it's", "x" * 40, "x" * 40 + "y",
    "not",
    0, 5, 50, -5, 10**15, 10**30, -(10**19), Fraction(1, 3), Fraction(-5, 2), Fraction(1, 8), 7, 70, 700,
]  # fmt: skip
AS_THEY_ARE = [3, 30, -4, 10**14, 6]


def test_names_are_in_the_order_of_their_texts() -> None:
    texts = [show_term(Constant(value)) for value in VALUES]
    for seed in range(30):
        chance = random.Random(seed)
        names = ConstantNames(list(VALUES))
        for _ in range(6):
            given = [chance.randrange(len(VALUES)) for _ in range(chance.randint(1, 30))]
            wholes = chance.sample(AS_THEY_ARE, chance.choice([0, 0, 2]))
            shown = [texts[each] for each in given] + [str(each) for each in wholes]
            ranks = names.ranks(np.array(given + [each + AS_IS for each in wholes], np.int64)).tolist()
            by_rank = [text for _, text in sorted(zip(ranks, shown, strict=True), key=lambda each: each[0])]
            assert by_rank == sorted(shown, key=lambda text: text.encode()), (seed, shown)
            assert all(
                (one == other) == (ranks[i] == ranks[j]) for i, one in enumerate(shown) for j, other in enumerate(shown)
            )


def test_names_are_written_as_programs_show_them() -> None:
    names = ConstantNames(list(VALUES))
    names.make(np.arange(len(VALUES)))
    for number, value in enumerate(VALUES):
        begin, end = names.at[SHOWN - SHOWN, number]
        assert bytes(names.bytes[begin:end]).decode() == show_term(Constant(value))
