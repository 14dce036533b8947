"""MQTT: messages are published until they are acknowledged, at least once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from presage.pipeline.reading import Part
from presage.receivers.delivering import Refused
from presage.receivers.told_lines import ToldLine

PORT = 1883
SECONDS = 10.0
ONCE_AT_LEAST = 1


def client_of(part: Part, name: str, manual: bool) -> Any:
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    client = Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=False, manual_ack=manual)
    if part.text("user"):
        client.username_pw_set(part.text("user"), part.text("password_env") or None)
    client.reconnect_delay_set(1, 10)
    return client


def address_of(part: Part) -> tuple[str, int]:
    host, _, port = part.text("servers").rpartition(":")
    return (host, int(port)) if host and port.isdigit() else (part.text("servers"), PORT)


class MqttSink:
    linger = 0.0

    def __init__(self, part: Part, run: str) -> None:
        self.part, self._begun = part, False
        self.client = client_of(part, f"presage-{run[:12]}-{part.name}-sink", manual=False)

    def told(self) -> int | None:
        return None

    def write(self, lines: Sequence[ToldLine]) -> None:
        if not self._begun:
            host, port = address_of(self.part)
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
