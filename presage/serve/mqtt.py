"""Topics of MQTT as sources of a pipeline in one process. Messages are acknowledged when they are in the log: at least
once."""

from __future__ import annotations

import threading
from typing import Any

from presage.errors import PresageError
from presage.receivers.mqtt import ONCE_AT_LEAST, address_of, client_of
from presage.serve.gate import Closed
from presage.serve.sources import Bringing


class MqttSource:
    """Topics that are subscribed to under a name that stays, so that the broker keeps what comes meanwhile."""

    catches_up = False

    def __init__(self, bringing: Bringing, run: str) -> None:
        self.bringing = bringing
        self.client = client_of(bringing.part, f"presage-{run[:12]}-{bringing.part.name}", manual=True)
        self.failure: BaseException | None = None

    def run(self, position: Any, stop: threading.Event) -> bool:
        part, client = self.bringing.part, self.client
        topics = [(topic.strip(), ONCE_AT_LEAST) for topic in part.text("topic").split(",")]
        client.on_connect = lambda *_: client.subscribe(topics)
        client.on_message = self._take
        host, port = address_of(part)
        client.connect_async(host, port, keepalive=60)
        client.loop_start()
        try:
            while not stop.wait(0.1):
                if self.failure is not None:
                    raise self.failure
        finally:
            client.disconnect()
            client.loop_stop()
        return False

    def _take(self, client: Any, _: Any, message: Any) -> None:
        """In the client's thread: while there is no room nothing more is read from the broker."""
        try:
            payload = message.payload if message.payload.endswith(b"\n") else message.payload + b"\n"
            self.bringing.lines(payload, None, f"a message of {message.topic}, line")
            client.ack(message.mid, message.qos)
        except Closed:
            pass
        except PresageError as found:
            self.failure = found
