"""The few pieces of HTML that everything shown in a notebook is made of.

Each piece carries its own style, since outputs travel alone. Whatever comes from data or programs is escaped here, in
`text`, and nowhere else. Colours follow the notebook: JupyterLab says whether its theme is dark, others ask the system.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from presage.colours import DARK, LIGHT, variables
from presage.explanations.outline import Sign

SIGNS = {
    "confirmed": Sign.CONFIRMED.value,
    "holds": Sign.CONFIRMED.value,
    "possible": Sign.POSSIBLE.value,
    "unsupported": Sign.UNSUPPORTED.value,
    "refuted": Sign.REFUTED.value,
    "inconsistent": Sign.FAILED.value,
    "error": Sign.FAILED.value,
    "warning": Sign.UNSUPPORTED.value,
}
"""A shape for each status, so that nothing is said by colour alone."""

_LIGHT = (
    "--presage-line:#d9d6ce;--presage-quiet:#5a6068;--presage-faint:#f1efe9;--presage-word:#7b2d8e;"
    "--presage-variable:#1d5fb8;--presage-constant:#17703a;--presage-warning:#8a5a00;" + variables("presage-", LIGHT)
)
_DARK = (
    "--presage-line:#41464d;--presage-quiet:#a3a8b0;--presage-faint:#262a2f;--presage-word:#d7a3e6;"
    "--presage-variable:#7fb2f5;--presage-constant:#6bcb8b;--presage-warning:#e0b04c;" + variables("presage-", DARK)
)
STYLE = (
    f".presage{{{_LIGHT};color:inherit;line-height:1.45}}"
    f"@media (prefers-color-scheme:dark){{.presage{{{_DARK}}}}}"
    f'[data-jp-theme-light="true"] .presage{{{_LIGHT}}}'
    f'[data-jp-theme-light="false"] .presage,body.vscode-dark .presage{{{_DARK}}}'
    ".presage table{border-collapse:collapse;margin:.3em 0;font-size:.92em;color:inherit}"
    ".presage caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".presage th,.presage td{text-align:left;vertical-align:top;padding:.2em .7em;background:none;color:inherit;"
    "border-bottom:1px solid var(--presage-line)}"
    ".presage th{font-weight:600;color:var(--presage-quiet)}"
    ".presage pre{background:var(--presage-faint);color:inherit;padding:.5em .8em;overflow-x:auto;line-height:1.45}"
    ".presage .mono,.presage pre{font-family:ui-monospace,'SF Mono','DejaVu Sans Mono',Menlo,Consolas,monospace}"
    ".presage .quiet,.presage .comment,.presage .number-of-line{color:var(--presage-quiet)}"
    ".presage .number-of-line{user-select:none}"
    ".presage .keyword{color:var(--presage-word);font-weight:600}"
    ".presage .status{white-space:nowrap;font-weight:600}"
    ".presage .variable{color:var(--presage-variable)}.presage .constant{color:var(--presage-constant)}"
    ".presage .possible{color:var(--presage-plain-possible)}.presage .possible.bad{color:var(--presage-bad-possible)}"
    ".presage .possible.good{color:var(--presage-good-possible)}"
    ".presage .confirmed,.presage .holds{color:var(--presage-plain-confirmed)}"
    ".presage .confirmed.bad,.presage .holds.bad{color:var(--presage-bad-confirmed)}"
    ".presage .confirmed.good,.presage .holds.good{color:var(--presage-good-confirmed)}"
    ".presage .unsupported{color:var(--presage-unsupported)}.presage .warning{color:var(--presage-warning)}"
    ".presage .refuted{color:var(--presage-refuted);font-weight:400}"
    ".presage .inconsistent,.presage .error{color:var(--presage-wrong)}"
    ".presage .wrong{text-decoration:underline wavy var(--presage-wrong)}"
    ".presage details>summary{cursor:pointer;color:var(--presage-quiet)}"
)


def text(given: object) -> str:
    """Text from anywhere, made harmless."""
    return escape(str(given))


def whole(*parts: str) -> str:
    """An output of its own, style included."""
    return f'<div class="presage"><style>{STYLE}</style>{"".join(parts)}</div>'


def piece(tag: str, inside: str, look: str = "") -> str:
    return f'<{tag} class="{look}">{inside}</{tag}>' if look else f"<{tag}>{inside}</{tag}>"


def status(word: str, tone: str = "") -> str:
    """A status by colour, shape and name; `bad` and `good` say what it means to people."""
    known = word if word in SIGNS else "unsupported"
    look = f"status {known} {tone}".rstrip()
    return piece("span", f'<span aria-hidden="true">{SIGNS[known]}</span> {text(word)}', look)


def listed(texts: Sequence[str], most: int = 6) -> str:
    """Facts below each other; where there are many, the rest can be opened."""
    shown = "<br>".join(piece("span", text(each), "mono") for each in texts[:most])
    if len(texts) <= most:
        return shown
    rest = "<br>".join(piece("span", text(each), "mono") for each in texts[most:])
    return f"{shown}<details><summary>and {len(texts) - most} more</summary>{rest}</details>"


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are HTML already, its caption and header are not."""
    head = "".join(f'<th scope="col">{text(each)}</th>' for each in header)
    top = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    body = "".join("<tr>" + "".join(piece("td", cell) for cell in row) + "</tr>" for row in rows)
    title = piece("caption", text(caption)) if caption else ""
    return f"<table>{title}{top}<tbody>{body}</tbody></table>"
