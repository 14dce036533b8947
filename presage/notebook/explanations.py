"""An explanation in one sentence, and as a picture: the tree of reasons over a time axis."""

from __future__ import annotations

from presage.explanations.result import Explanation
from presage.explanations.room import with_room
from presage.notebook.html import piece, status, text, whole


def explanation_html(explanation: Explanation) -> str:
    title = piece("p", f"{status(explanation.status, explanation.tone)} {text(explanation.says)}")
    return whole(title, piece("div", with_room(explanation.svg)))
