"""Kernels by Python and kernels by the compiler are the same, whenever one follows the other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "presage" / "examples"
RUNS = {
    "turbines": ("--emit", "changes"),
    "network": ("--emit", "confirmed"),
    "belts": ("--emit", "confirmed"),
}


def _lines(name: str, kernels: str) -> str:
    program, facts = EXAMPLES / name / f"{name}.psg", EXAMPLES / name / "facts.jsonl"
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "presage", "run", program, "--facts", facts, *RUNS[name]],
        env={**os.environ, "PRESAGE_KERNELS": kernels}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", RUNS)
def test_it_does_not_matter_who_runs_them(name: str) -> None:
    by_python = _lines(name, "python")
    assert by_python.count("\n") > 3
    assert by_python == _lines(name, "compiled") == _lines(name, "700")


def test_three_facts_wait_for_no_compiler(tmp_path: Path) -> None:
    """Neither numba nor pyarrow, whose import alone costs more than the run."""
    program, facts = tmp_path / "failed.psg", tmp_path / "facts.jsonl"
    program.write_text("failed(X)@T :- temp(X, high)@T, temp(X, high)@T+1.\nquery failed(X).\n")
    facts.write_text("".join(f'{{"pred": "temp", "args": ["wt25", "high"], "time": {time}}}\n' for time in range(3)))
    code = f"""
import sys
from presage.cli import main
try:
    main(["run", {str(program)!r}, "--facts", {str(facts)!r}])
finally:
    print(sorted(name for name in ("numba", "pyarrow", "clingo", "rich") if name in sys.modules), file=sys.stderr)
"""
    environment = {name: value for name, value in os.environ.items() if name != "PRESAGE_KERNELS"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.count("confirmed") == 2, done.stderr
    assert done.stderr.strip() == "[]"
