"""The house rules that a program can check: which module may import which, and what starts quickly."""

from __future__ import annotations

import ast
import os
import re
import resource
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "presage"

# Who may import whom, by the first name below `presage`, from the ground up: a room only imports rooms before it,
# inside functions too. A room may always import itself.
ALLOWED: dict[str, set[str]] = {
    "syntax": set(),
    "errors": set(),
    "showing": set(),
    "notices": set(),
    "support": set(),
    "sealed": {"errors"},
    "model": {"errors", "showing", "syntax"},
    "answers": {"model", "showing"},
    "time": {"errors", "model"},
    "analysis": {"errors", "model", "time"},
    "kernels": {"notices", "time"},
    "core": {"errors", "model"},
    "rewrite": {"analysis", "core", "errors", "model", "syntax"},
    "plan": {"analysis", "core", "errors", "model", "rewrite", "time"},
    "engine": {"analysis", "core", "errors", "kernels", "model", "plan", "sealed", "time"},
    "patterns": {"analysis", "core", "model", "rewrite", "support", "time"},
    "hypothesis": {
        "answers",
        "analysis",
        "engine",
        "errors",
        "kernels",
        "model",
        "patterns",
        "sealed",
        "time",
    },
    "io": {"analysis", "answers", "errors", "kernels", "model", "rewrite", "syntax"},
    "parser": {"errors", "model", "syntax"},
    "languages": {"analysis", "answers", "errors", "io", "model", "parser", "rewrite", "syntax"},
    "checking": {
        "analysis",
        "errors",
        "languages",
        "model",
        "parser",
        "patterns",
        "rewrite",
        "showing",
        "support",
        "syntax",
    },
    "answer_streams": {
        "analysis",
        "answers",
        "checking",
        "core",
        "errors",
        "io",
        "model",
        "parser",
        "plan",
        "rewrite",
        "time",
    },
    "colours": {"answers", "model"},
    "evidence": {"core", "errors", "model", "rewrite", "support", "time"},
    "run": {
        "analysis",
        "answer_streams",
        "answers",
        "checking",
        "engine",
        "errors",
        "hypothesis",
        "io",
        "kernels",
        "languages",
        "model",
        "patterns",
        "plan",
        "sealed",
        "showing",
        "time",
    },
    "explanations": {
        "analysis",
        "answer_streams",
        "answers",
        "checking",
        "colours",
        "errors",
        "evidence",
        "hypothesis",
        "io",
        "model",
        "parser",
        "patterns",
        "run",
        "showing",
        "time",
        "support",
    },
    "layout": {"errors", "model", "parser"},
    "notebook": {
        "answers",
        "checking",
        "colours",
        "errors",
        "explanations",
        "io",
        "model",
        "parser",
        "run",
        "showing",
        "syntax",
    },
    "pipeline": {"analysis", "answers", "checking", "errors", "io", "languages", "model", "run"},
    "receivers": {"answers", "colours", "errors", "io", "model", "pipeline", "rewrite"},
    "spark": {
        "analysis",
        "answers",
        "checking",
        "core",
        "engine",
        "errors",
        "io",
        "kernels",
        "model",
        "pipeline",
        "plan",
        "receivers",
        "rewrite",
        "run",
        "sealed",
    },
    "editor": {"analysis", "checking", "errors", "languages", "layout", "model", "parser", "patterns", "syntax"},
    "web": {
        "analysis",
        "answers",
        "checking",
        "colours",
        "errors",
        "evidence",
        "explanations",
        "io",
        "model",
        "notices",
        "parser",
        "rewrite",
        "run",
        "syntax",
    },
    "serve": {
        "analysis",
        "answers",
        "checking",
        "errors",
        "io",
        "model",
        "pipeline",
        "receivers",
        "rewrite",
        "run",
        "web",
    },
    "testing": {"answers", "checking", "errors", "io", "languages", "model", "parser", "run", "time"},
    "cli": {
        "analysis",
        "answer_streams",
        "answers",
        "checking",
        "colours",
        "core",
        "editor",
        "engine",
        "errors",
        "explanations",
        "io",
        "languages",
        "layout",
        "model",
        "notices",
        "parser",
        "pipeline",
        "patterns",
        "plan",
        "rewrite",
        "run",
        "serve",
        "spark",
        "syntax",
        "testing",
        "web",
    },
    "__init__": {
        "answers",
        "checking",
        "errors",
        "explanations",
        "layout",
        "model",
        "notebook",
        "run",
        "showing",
        "spark",
    },
    "__main__": {"cli"},
}
# The checker of proofs trusts nobody: it knows programs and proofs, and has its own arithmetic.
CHECKER = sorted((PACKAGE / "evidence").glob("check*.py"))
CHECKER_MAY_IMPORT = ("presage.model", "presage.evidence.proof", "presage.evidence.check_")
# What an author writes over times is known to what reads, prints, rewrites and analyses programs, and to that checker;
# all that runs, and the prover, read core. Answers and proofs are shown to people as they would write them.
OPERATORS = {"And", "Or", "Implies", "Metric", "BinaryMetric", "Beside", "Windowed", "Modal", "Reset", "TimeWindow"}
OTHER_FORMULAS = {"Not", "Pinned", "Over", "Top"}
KNOW_OPERATORS = {"model", "parser", "languages", "rewrite", "analysis"}
SHOW_FORMULAS = KNOW_OPERATORS | {"explanations", "web"}
# The public name of a type stands for one thing. What an author writes and what it means are both a negation, though,
# and the model's names are the plain form of programs.
TWICE = {"Not": ["presage/core/formulas.py", "presage/model/formulas.py"]}
# A command has the name of the room that does its work, and so has a notebook's module of what it shows.
NAMED_AFTER_ROOMS = ("cli", "notebook")
BUILT_IN = {"bool", "bytes", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple", "type"}
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


def test_the_map_says_who_imports_whom() -> None:
    drawn: dict[str, set[str]] = {room: set() for room in ALLOWED}
    for path in modules():
        drawn[layer(path)] |= imported(path) - {layer(path)}
    assert drawn == ALLOWED
    text = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z_]+)(?:\.py|/)` \|.*\| ([^|]*) \|$", text.split("## Words")[0], re.MULTILINE)
    said = {room: set(re.findall(r"`([a-z_]+)`", words)) for room, words in rows}
    assert said == {room: others for room, others in ALLOWED.items() if not room.startswith("__")}


def test_the_map_names_what_is_there() -> None:
    there = [str(each) for top in ("presage", "tests", "docs", "bench") for each in (ROOT / top).rglob("*.py")]
    text = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_/]+\.py)`", text))
    assert {each for each in named if not any(path.endswith(f"/{each}") for path in there)} == set()
    asked = text.split("## The questions, and where they come from")[1].split("###")[0]
    questions = {each.name for each in (PACKAGE / "analysis").glob("[a-z]*.py")}
    assert {each for each in questions if f"`{each}`" not in asked} == set()


def test_the_arrows_are_no_circle() -> None:
    before: set[str] = set()
    for room, allowed in ALLOWED.items():
        assert allowed <= before, f"{room} would import what comes after it"
        before.add(room)


def named(path: Path) -> str:
    """What a module is imported as."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def needs_to_run(path: Path, known: set[str]) -> set[str]:
    """The modules of the package that a module imports, inside functions too, but for what only its types name."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & known or {node.module}
        waiting.extend(ast.iter_child_nodes(node))
    return (found & known) - {named(path)}


def in_circles(needed: dict[str, set[str]]) -> set[str]:
    """Who is needed, by way of others, by what it needs itself."""
    found = set()
    for start in needed:
        reached: set[str] = set()
        waiting = set(needed[start])
        while waiting:
            reached |= waiting
            waiting = set().union(*(needed[each] for each in waiting)) - reached
        if start in reached:
            found.add(start)
    return found


def test_modules_are_no_circle() -> None:
    """Neither at the start nor in functions: only a language whose terms hold formulas, and these terms, is one."""
    known = {named(path): path for path in modules()}
    left = in_circles({name: needs_to_run(path, set(known)) for name, path in known.items()})
    assert {name.rpartition(".")[0] for name in left} == {"presage.model", "presage.parser"}
    assert {name.rpartition(".")[2] for name in left} == {"formulas", "functions", "terms", "time", "windows"}


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


def names_of_the_model(path: Path) -> set[str]:
    """What a module takes from `presage.model`."""
    nodes = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom))
    return {alias.name for node in nodes if (node.module or "").startswith("presage.model") for alias in node.names}


def test_operators_of_the_model_end_at_core() -> None:
    known = {path: names_of_the_model(path) for path in modules() if path not in CHECKER}
    assert [path for path, names in known.items() if names & OPERATORS and layer(path) not in KNOW_OPERATORS] == []
    denied = PACKAGE / "evidence/prove.py"  # says what it shows to be absent
    others = [path for path, names in known.items() if names & OTHER_FORMULAS and layer(path) not in SHOW_FORMULAS]
    assert others == [denied]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_say_why_they_exist(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "a module opens with a paragraph on why it exists"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 450, "a module fits a few screens"


def test_the_name_of_a_type_stands_for_one_thing() -> None:
    """Of a class, an alias or a type variable; one letter may stand for any type."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # also in functions and conditions
            name = node.name if isinstance(node, ast.ClassDef) else alias(node)
            if name and len(name) > 1 and not name.startswith("_"):
                found[name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == TWICE


def alias(node: ast.AST) -> str | None:
    """What is given another name there, if it is a type."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
            name[0].isupper() and not name.isupper() and is_type(value)
        ):
            return name
        case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
            return name
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="TypeVar" | "NewType"))):
            return name
    return None


def is_type(value: ast.expr) -> bool:
    """Whether an expression reads as one: the name of a class, with what is in brackets, or several to choose from."""
    match value:
        case ast.Subscript(value=of):
            return is_type(of)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return is_type(left) and (is_type(right) or isinstance(right, ast.Constant))
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in BUILT_IN or (name[0].isupper() and not name.isupper())
    return False


def test_modules_of_one_name_are_in_the_glossary() -> None:
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for path in modules():
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if parts and not (len(parts) == 2 and parts[0] in NAMED_AFTER_ROOMS and is_room_or_main(parts[1])):
            found[parts[-1]].append(parts)
    several = {name for name, places in found.items() if len(places) > 1}
    text = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    table = text.split("| module | what it is, in every room |", 1)[1].split("\n\n", 1)[0]
    explained = {name for row in re.findall(r"^\| ([a-z_, ]+) \|", table, re.MULTILINE) for name in row.split(", ")}
    assert several == explained


def is_room_or_main(name: str) -> bool:
    """Whether a name is that of a room, or of the function that a room is there for."""
    return name in ALLOWED or name == "explain"


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


ENOUGH_TO_START = 4.0
"""How often the imports that no run can do without: 0.6 s where these take 0.15. It is 2.5 to 3.5 today."""


@pytest.mark.parametrize("example", ["turbines", "hospital"])
def test_a_run_over_a_few_facts_costs_little_more_than_its_imports(example: str, tmp_path: Path) -> None:
    """A warm run: bytecode is there, as where Presage was installed. Least of three, side by side, in CPU time."""
    folder = ROOT / "presage/examples" / example
    facts = tmp_path / "few.jsonl"
    facts.write_text("".join((folder / "facts.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:3]))
    run = ["-m", "presage", "run", str(folder / f"{example}.psg"), "--facts", str(facts)]
    bare = ["-c", "import numpy, pyarrow"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    ratios = []
    for _ in range(4):  # the first writes bytecode
        ratios.append(_cpu_seconds(run, environment) / _cpu_seconds(bare, environment))
    assert min(ratios[1:]) < ENOUGH_TO_START


def _cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
