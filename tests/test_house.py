"""The house rules that a program can check: which module may import which, and what starts quickly."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "presage"

# Who may import whom, by the first name below `presage`. A layer may always import itself.
ALLOWED: dict[str, set[str]] = {
    "syntax": set(),
    "errors": set(),
    # What is shown in a notebook says how; it is imported when it is shown.
    "model": {"errors", "syntax", "notebook"},
    "parser": {"model", "errors", "syntax"},
    "languages": {"parser", "rewrite", "io", "answers", "analysis", "model", "errors", "syntax"},
    "analysis": {"model", "errors", "syntax"},
    "rewrite": {"model", "analysis", "errors", "syntax"},
    "notices": set(),
    "kernels": {"notices"},
    "plan": {"model", "analysis", "errors"},
    "sealed": {"errors"},
    "memory": {"languages", "sealed", "model"},
    "comparing": {"checking", "model", "errors"},
    "layers": {"analysis", "answers", "io", "model", "supposing"},
    "engine": {"plan", "kernels", "model", "analysis", "sealed", "errors"},
    "answers": {"model", "notebook"},
    "colours": {"answers", "model"},
    "io": {"answers", "analysis", "rewrite", "model", "errors", "syntax"},
    "evidence": {"colours", "model", "errors"},
    "reasoner": {
        "analysis",
        "answers",
        "checking",
        "confirming",
        "engine",
        "hypothesis",
        "io",
        "memory",
        "model",
        "notebook",
        "plan",
        "sealed",
        "supposing",
        "supposing_ranges",
        "states",
        "choice",
        "telling",
        "errors",
    },
    "stepping": {
        "answers",
        "checking",
        "choice",
        "engine",
        "states",
        "io",
        "model",
        "models",
        "plan",
        "reasoner",
        "several",
        "supposing",
        "errors",
    },
    "incoming": {"answers", "engine", "io", "model", "reasoner", "stepping"},
    "testing": {"answers", "checking", "choice", "io", "model", "parser", "reasoner", "stepping", "errors"},
    "several": {
        "comparing",
        "layers",
        "answers",
        "choice",
        "confirming",
        "checking",
        "io",
        "languages",
        "memory",
        "model",
        "models",
        "plan",
        "reasoner",
        "sealed",
        "supposing",
        "errors",
    },
    "models": {"answers", "checking", "io", "parser", "rewrite", "analysis", "model", "errors"},
    "hypothesis": {"engine", "kernels", "analysis", "model", "sealed", "errors"},
    "confirming": {"analysis", "answers", "engine", "io", "model", "sealed", "errors"},
    "telling": {"answers", "hypothesis", "io", "kernels", "model"},
    "supposing": {"answers", "choice", "confirming", "hypothesis", "io", "model", "telling", "errors"},
    "supposing_ranges": {"answers", "choice", "hypothesis", "io", "model", "supposing", "errors"},
    "choice": set(),
    "states": {"answers", "hypothesis", "model"},
    "checking": {"languages", "parser", "rewrite", "analysis", "hypothesis", "model", "notebook", "errors", "cli"},
    "layout": {"parser", "model", "errors"},
    "editor": {"analysis", "checking", "hypothesis", "languages", "layout", "model", "parser", "errors", "syntax"},
    "pipeline": {"analysis", "answers", "checking", "io", "languages", "model", "several", "errors"},
    "serve": {
        "analysis",
        "answers",
        "checking",
        "incoming",
        "io",
        "memory",
        "model",
        "pipeline",
        "rewrite",
        "several",
        "web",
        "errors",
    },
    "web": {
        "checking",
        "colours",
        "syntax",
        "analysis",
        "answers",
        "evidence",
        "io",
        "model",
        "parser",
        "reasoner",
        "rewrite",
        "stepping",
        "supposing",
        "errors",
    },
    "cli": {
        "states",
        "several",
        "choice",
        "editor",
        "engine",
        "notices",
        "colours",
        "languages",
        "incoming",
        "stepping",
        "rewrite",
        "supposing",
        "testing",
        "checking",
        "plan",
        "layout",
        "pipeline",
        "reasoner",
        "serve",
        "spark",
        "web",
        "io",
        "answers",
        "evidence",
        "models",
        "hypothesis",
        "analysis",
        "parser",
        "model",
        "syntax",
        "errors",
    },
    "spark": {
        "analysis",
        "answers",
        "choice",
        "checking",
        "engine",
        "io",
        "kernels",
        "memory",
        "model",
        "pipeline",
        "sealed",
        "plan",
        "reasoner",
        "several",
        "rewrite",
        "stepping",
        "supposing",
        "telling",
        "errors",
    },
    "notebook": {
        "colours",
        "answers",
        "checking",
        "cli",
        "evidence",
        "io",
        "model",
        "parser",
        "reasoner",
        "stepping",
        "errors",
        "syntax",
    },
    "__init__": {"checking", "layout", "several", "answers", "model", "notebook", "spark", "errors"},
    "__main__": {"cli"},
}
# The checker of proofs trusts nobody: it knows programs and proofs, and has its own arithmetic.
CHECKER = sorted((PACKAGE / "evidence").glob("check*.py"))
CHECKER_MAY_IMPORT = ("presage.model", "presage.evidence.proof", "presage.evidence.check")
HEAVY = {"numba", "numpy", "pyspark", "pyarrow", "pandas", "clingo", "rich", "starlette", "uvicorn", "pygls"}


def modules() -> list[Path]:
    """The modules of the package; what its examples bring along are scripts of their own."""
    return sorted(path for path in PACKAGE.rglob("*.py") if "examples" not in path.relative_to(PACKAGE).parts[:1])


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    """The names below `presage` that a module imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "presage":
            names = [f"presage.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("presage.")}
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    assert imported(path) - {layer(path)} <= ALLOWED[layer(path)]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_one_folder_knows_spark(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    assert layer(path) == "spark" or not any(name.split(".")[0] == "pyspark" for name in names)


@pytest.mark.parametrize("path", [*CHECKER, PACKAGE / "evidence/proof.py"], ids=lambda path: path.name)
def test_the_checker_of_proofs_is_independent(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in nodes), "relative imports hide names"
    ours = [name for name in names if name.split(".")[0] == "presage"]
    assert ours and all(name.startswith(CHECKER_MAY_IMPORT) for name in ours)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_say_why_they_exist(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "a module opens with a paragraph on why it exists"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 450, "a module fits a few screens"


@pytest.mark.parametrize(
    "command", [["check", "--json"], ["plan", "--json"], ["fmt"], ["--help"]], ids=lambda words: words[0]
)
def test_commands_that_do_not_reason_import_nothing_heavy(command: list[str]) -> None:
    program = [str(ROOT / "presage/examples/turbines/turbines.psg")] if command != ["--help"] else []
    code = (
        "import sys; from presage.cli import main; status = main(sys.argv[1:]);"
        f"loaded = {HEAVY!r} & set(sys.modules); print(loaded, file=sys.stderr); sys.exit(status or bool(loaded))"
    )
    done = subprocess.run([sys.executable, "-c", code, *command, *program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
