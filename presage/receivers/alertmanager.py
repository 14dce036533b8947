"""Alerts to Alertmanager, through the second version of its interface.

Alertmanager forgets an alert that nobody repeats. So what fires is sent again every so often, each time good for a few
times as long; what is over is sent with its end. An alert is known by its labels, and sending it twice changes nothing.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from presage.io.facts import exact
from presage.io.moments import in_order
from presage.pipeline.reading import Part
from presage.receivers.alerts import PENDING, RESOLVED
from presage.receivers.delivering import Refused, TakenNever
from presage.receivers.told_lines import ToldLine
from presage.receivers.webhook import Post
from presage.rewrite.units import Units

AGAIN = 30.0
"""Seconds after which what stands is sent again."""
GOOD_FOR = timedelta(seconds=4 * AGAIN)
_LABEL = re.compile(r"[^a-zA-Z0-9_]")


class Alertmanager:
    linger = 0.0

    def __init__(self, part: Part, pipeline: str, units: Units, standing: Callable[[], list[dict[str, Any]]]) -> None:
        self.post, self.pipeline, self.units, self.standing = Post(part), pipeline, units, standing
        if urlsplit(part.text("url")).path.rstrip("/") == "":
            self.post.path = "/api/v2/alerts"
        # It may have forgotten by now what stood when this process ended.
        self._sent = time.monotonic() - AGAIN

    def told(self) -> int | None:
        return None

    def write(self, lines: Sequence[ToldLine]) -> None:
        self._send([line.fields for line in lines])

    def pulse(self) -> None:
        """Sends what stands again, when it is time to."""
        if time.monotonic() - self._sent >= AGAIN:
            standing = self.standing()
            if standing:
                self._send(standing)
            self._sent = time.monotonic()

    def _send(self, alerts: Sequence[dict[str, Any]]) -> None:
        # A list with one alert twice would be ambiguous. So first how each stood when it last did, if it is over by
        # now: otherwise nobody would hear of what is short; then how all of them stand at last.
        stood: dict[str, dict[str, Any]] = {}
        last: dict[str, dict[str, Any]] = {}
        for each, is_over in (each for alert in alerts for each in self._of(alert)):
            labels = json.dumps(each["labels"], sort_keys=True)
            last[labels] = each
            if not is_over:
                stood[labels] = each
        earlier = [each for labels, each in stood.items() if last[labels] is not each]
        for together in (earlier, list(last.values())):
            if together:
                self._post(together)

    def _post(self, sent: Sequence[dict[str, Any]]) -> None:
        status, said = self.post.send(json.dumps(sent, ensure_ascii=False).encode())
        if not 200 <= status < 300:
            # It looks at each alert of a list, and with 400 has taken all but those that it will never take.
            raise (TakenNever if status == 400 else Refused)(self.post.answered(status, said))

    def _of(self, alert: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
        """An alert, and the end of what was pending before: that has a label more, and is another one. With each,
        whether it is over."""
        labels = {"alertname": alert["alert"], "severity": alert["severity"], "pipeline": self.pipeline}
        labels |= {_LABEL.sub("_", name): str(value) for name, value in alert["bindings"].items()}
        labels |= alert["labels"]
        notes = {"summary": alert["text"], "answer": alert["answer"]}
        if alert["deadline"] is not None:
            notes["deadline"] = str(alert["deadline"])
        now = datetime.now(UTC)
        found = {"annotations": notes, "startsAt": self._moment(alert["since"], alert["now"], now)}
        pending = labels | {"alertstate": PENDING}
        if alert["state"] == PENDING:
            yield found | {"labels": pending, "endsAt": (now + GOOD_FOR).isoformat()}, False
            return
        yield found | {"labels": pending, "endsAt": now.isoformat()}, True
        is_over = alert["state"] == RESOLVED
        if not is_over or alert["since"] is not None:  # What was never more than pending has not fired.
            yield found | {"labels": labels, "endsAt": (now if is_over else now + GOOD_FOR).isoformat()}, is_over

    def _moment(self, since: Any, now: Any, present: datetime) -> str:
        """A time of the stream as a moment, the `present` without a `tick`; never later than that, since an alert that
        ends before it starts is refused."""
        said = str(since if since is not None else now)
        given = exact(said)
        if given is None:  # It is one, then.
            return min(present, datetime.fromtimestamp(float(in_order(said)), UTC)).isoformat()
        if self.units.tick is None:
            return present.isoformat()
        gone = Fraction(given) * self.units.tick / 1000
        if gone > present.timestamp() - self.units.start.timestamp():
            return present.isoformat()  # It may lie beyond all calendars.
        return (self.units.start + timedelta(seconds=float(gone))).isoformat()

    def close(self) -> None:
        self.post.close()
