"""MQTT beside a pipeline in one process. Messages are acknowledged when they are in the log, and published until they
are acknowledged: at least once both ways."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from presage.errors import PresageError
from presage.pipeline.reading import Part
from presage.serve.gate import Closed
from presage.serve.reasoning import ToldLine
from presage.serve.sinks import Refused
from presage.serve.sources import Bringing

PORT = 1883
SECONDS = 10.0
ONCE_AT_LEAST = 1


def _client(part: Part, name: str, manual: bool) -> Any:
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    client = Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=False, manual_ack=manual)
    if part.text("user"):
        client.username_pw_set(part.text("user"), part.text("password_env") or None)
    client.reconnect_delay_set(1, 10)
    return client


def _address(part: Part) -> tuple[str, int]:
    host, _, port = part.text("servers").rpartition(":")
    return (host, int(port)) if host and port.isdigit() else (part.text("servers"), PORT)


class MqttSource:
    """Topics that are subscribed to under a name that stays, so that the broker keeps what comes meanwhile."""

    catches_up = False

    def __init__(self, bringing: Bringing, run: str) -> None:
        self.bringing = bringing
        self.client = _client(bringing.part, f"presage-{run[:12]}-{bringing.part.name}", manual=True)
        self.failure: BaseException | None = None

    def run(self, position: Any, stop: threading.Event) -> bool:
        part, client = self.bringing.part, self.client
        topics = [(topic.strip(), ONCE_AT_LEAST) for topic in part.text("topic").split(",")]
        client.on_connect = lambda *_: client.subscribe(topics)
        client.on_message = self._take
        host, port = _address(part)
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


class MqttSink:
    linger = 0.0

    def __init__(self, part: Part, run: str) -> None:
        self.part, self._begun = part, False
        self.client = _client(part, f"presage-{run[:12]}-{part.name}-sink", manual=False)

    def told(self) -> int | None:
        return None

    def write(self, lines: Sequence[ToldLine]) -> None:
        if not self._begun:
            host, port = _address(self.part)
            self.client.connect_async(host, port, keepalive=60)
            self.client.loop_start()
            self._begun = True
        waited = threading.Event()
        for _ in range(int(SECONDS / 0.05)):
            if self.client.is_connected():
                break
            waited.wait(0.05)
        else:
            raise Refused(f"{self.part.text('servers')}: the broker is away")
        topic = self.part.text("topic")
        sent = [self.client.publish(topic, line.text, ONCE_AT_LEAST) for line in lines]
        for each in sent:
            try:
                each.wait_for_publish(SECONDS)
            except (ValueError, RuntimeError) as found:
                raise Refused(f"{self.part.text('servers')}: {found}") from None
            if not each.is_published():
                raise Refused(f"{self.part.text('servers')}: the broker does not acknowledge")

    def close(self) -> None:
        if self._begun:
            self.client.disconnect()
            self.client.loop_stop()
