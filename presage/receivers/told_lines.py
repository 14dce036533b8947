"""Numbered lines as receivers get them: an answer, a fact that came too late, or an alert."""

from __future__ import annotations

import json
from typing import Any

from presage.answers import Answer

ANSWER, LATE, ALERT = "answer", "late", "alert"


class ToldLine:
    """What is told, in JSON: an answer, a fact that came too late, or an alert. `key` is what it is about: the latest
    line with the same key is the one that counts."""

    __slots__ = ("_fields", "answer", "key", "kind", "number", "status", "text")

    def __init__(
        self, number: int, text: str, key: str, kind: str = ANSWER, status: str = "", answer: Answer | None = None
    ) -> None:
        self.number, self.text, self.key, self.kind = number, text, key, kind
        self.status, self.answer = status, answer
        self._fields: dict[str, Any] | None = None

    @classmethod
    def of(cls, number: int, said: dict[str, Any], kind: str, answer: Answer | None = None) -> ToldLine:
        fields = {"seq": number, **said}
        key = str(said.get("key") or said.get("answer") or said.get("fact") or "")
        text = json.dumps(fields, ensure_ascii=False)
        return cls(number, text, key, kind, str(said.get("status", "")), answer)

    @property
    def fields(self) -> dict[str, Any]:
        if self._fields is None:
            self._fields = json.loads(self.text)
        return self._fields
