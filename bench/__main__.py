"""All comparisons in one run, and a table of them at the end.

    python -m bench [--data DIR] [--chasebench DIR] [--only NAME …] [--network N] [--history N]

Answers are compared, times are not judged: nothing here passes or fails by its speed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import (
    aggregates,
    answer_streams,
    breadth,
    by_hand,
    closure,
    columns,
    existential,
    growth,
    hypothetical,
    memory,
    network,
    peers,
    shortstop,
    windows,
)
from bench.common import Row, show


def spark() -> Iterator[Row]:
    from bench.spark import measure  # PySpark need not be there.

    return measure()


def spark_breadth() -> Iterator[Row]:
    from bench.spark_breadth import measure

    return measure()


def languages() -> Iterator[Row]:
    from bench.languages import measure

    return measure()


def history(facts: int) -> Iterator[Row]:
    from bench.history import measure

    return measure(facts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Presage beside its peers, in one run.")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where S2.jsonl.gz, the ShortStop stream of [MTL], is")
    parser.add_argument("--chasebench", type=Path, metavar="DIR", help="ChaseBench's scenarios/deep/100")
    parser.add_argument("--network", type=int, default=100_000, metavar="N", help="facts of the network example")
    parser.add_argument("--history", type=int, default=50_000_000, metavar="N", help="facts of the batch on Spark")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of them by name")
    options = parser.parse_args()
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "by_hand": by_hand.measure,
        "shortstop": lambda: shortstop.measure(options.data),
        "network": lambda: network.measure(options.network),
        "closure": closure.measure,
        "memory": memory.measure,
        "columns": columns.measure,
        "hypothetical": hypothetical.measure,
        "breadth": breadth.measure,
        "peers": peers.measure,
        "growth": growth.measure,
        "windows": windows.measure,
        "aggregates": aggregates.measure,
        "languages": languages,
        "existential": lambda: existential.measure(options.chasebench),
        "spark": spark,
        "spark_breadth": spark_breadth,
        "history": lambda: history(options.history),
        "answer_streams": answer_streams.measure,
    }
    unknown = set(options.only or ()) - set(parts)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    rows: list[Row] = []
    for name, measure in parts.items():
        if not options.only or name in options.only:
            print(f"{name} …", file=sys.stderr)
            rows.extend(measure())
    show(rows)


if __name__ == "__main__":
    main()
