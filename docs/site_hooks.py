"""What the documentation site takes from outside `docs`: the pages and pictures of the examples.

They live in the package, where `presage examples` finds them. Links between the two, written so that they work in the
repository, are made to work on the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "presage" / "examples"
REPOSITORY_ONLY = ("CONTRIBUTING.md", "LICENSE", "CHANGELOG.md")
_LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")


def on_files(files: Files, config: Any, **_: Any) -> Files:
    for path in sorted(EXAMPLES.rglob("*")):
        if path.is_file() and path.suffix in (".md", ".svg", ".psg", ".case"):
            place = _on_the_site(path)
            assert place is not None
            if path.suffix == ".md":
                text = path.read_text(encoding="utf-8")
                files.append(File.generated(config, place, content=_linked(text, path, place)))
            else:
                files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    source = ROOT / "docs" / page.file.src_uri
    return _linked(markdown, source, page.file.src_uri) if source.is_file() else markdown


def _on_the_site(path: Path) -> str | None:
    """Where a file of the repository is on the site; some are not."""
    if path.is_relative_to(EXAMPLES):
        return f"gallery/{path.relative_to(EXAMPLES).as_posix()}"
    if path.is_relative_to(ROOT / "docs"):
        return path.relative_to(ROOT / "docs").as_posix()
    return None


def _linked(text: str, source: Path, place: str) -> str:
    def moved(link: re.Match[str]) -> str:
        target = (source.parent / link[2]).resolve()
        there = _on_the_site(target)
        if not target.exists() or there is None:
            return link[0]
        return link[1] + posixpath.relpath(there, posixpath.dirname(place)) + link[3]

    return _LINK.sub(moved, text)
