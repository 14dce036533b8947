"""Kafka beside a pipeline in one process: topics read by offsets that the log keeps, lines written in transactions.

A transaction carries lines and, as the offset of a group of our own, the number of the last of them. So the broker
itself says how far a sink is, and every line is there once for readers of what is committed.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from presage.errors import PresageError
from presage.pipeline.reading import Part
from presage.receivers.delivering import Refused, TakenNever
from presage.receivers.told_lines import ToldLine
from presage.serve.sources import Bringing

SECONDS = 15.0
MESSAGES_AT_ONCE = 500
BYTES_AT_ONCE = 4 << 20
PATIENCE = 5.0
"""Seconds after which messages are taken though a partition that has more gives none."""
NONE_YET = -1001


class KafkaSource:
    """Topics from the offsets after those that the log has."""

    catches_up = True

    def __init__(self, bringing: Bringing, once: bool) -> None:
        self.bringing, self.once = bringing, once

    def run(self, position: Any, stop: threading.Event) -> bool:
        from confluent_kafka import Consumer, KafkaException, TopicPartition

        part = self.bringing.part
        settings = {
            "bootstrap.servers": part.text("servers"), "group.id": "presage", "enable.auto.commit": False,
            "enable.partition.eof": True, "isolation.level": "read_committed", "log_level": 0,
            "queued.max.messages.kbytes": 16_384, "fetch.message.max.bytes": 4 << 20, **_options(part),
        }  # fmt: skip
        consumer = Consumer(settings)
        done: dict[str, int] = dict(position or {})
        try:
            begin = -2 if part.text("starting", "latest") == "earliest" else -1
            chosen = []
            for topic in (each.strip() for each in part.text("topic").split(",")):
                for number in _partitions(consumer, topic, part, stop):
                    place = TopicPartition(topic, number)
                    at = done.get(f"{topic}/{number}")
                    if at is None and begin == -1:
                        # "From now on" is a place that must not move with the next start.
                        at = consumer.get_watermark_offsets(place, timeout=SECONDS)[1]
                        done[f"{topic}/{number}"] = at
                    chosen.append(TopicPartition(topic, number, begin if at is None else at))
            consumer.assign(chosen)
            return self._read(_InOrder(consumer, chosen), done, stop)
        except KafkaException as found:
            raise PresageError(f"Kafka says: {found}") from None
        finally:
            consumer.close()

    def _read(self, messages: _InOrder, done: dict[str, int], stop: threading.Event) -> bool:
        bringing, name = self.bringing, self.bringing.part.name
        while not stop.is_set():
            bringing.alignment.await_turn(name, stop)
            bringing.alignment.asks(name)
            lines: list[bytes] = []
            size = 0
            for message in messages.next_ones():
                if message.value() is not None:
                    lines.append(message.value())
                    size += len(message.value())
                done[f"{message.topic()}/{message.partition()}"] = message.offset() + 1
                if size > BYTES_AT_ONCE:
                    break
            bringing.more = not messages.are_over
            if lines:
                bringing.lines(b"\n".join(lines) + b"\n", dict(done), "a message, line")
            elif messages.are_over:
                bringing.over()
                if self.once:
                    return True
        return False


class _InOrder:
    """Messages in the order of their own times, whichever partitions they come from: a client that has much to read
    gets it from one partition after the other."""

    def __init__(self, consumer: Any, chosen: Sequence[Any]) -> None:
        self.consumer = consumer
        self.waiting: dict[tuple[str, int], deque[Any]] = {(each.topic, each.partition): deque() for each in chosen}
        self.open = set(self.waiting)
        """The partitions that have more than what was read."""
        self.paused: set[tuple[str, int]] = set()
        self._silent: dict[tuple[str, int], float] = {}
        """Since when the others wait for a partition that has more."""

    @property
    def are_over(self) -> bool:
        return not self.open and not any(self.waiting.values())

    def next_ones(self) -> Iterator[Any]:
        """Those that nothing of another partition can come before, as far as they have come."""
        self._fetch()
        # A partition whose broker is away keeps nobody waiting for long.
        long_ago = time.monotonic() - PATIENCE
        away = {place for place, since in self._silent.items() if since < long_ago}
        while all(self.waiting[place] for place in self.open - away):
            heads = [(each[0].timestamp()[1], place) for place, each in self.waiting.items() if each]
            if not heads:
                return
            yield self.waiting[min(heads)[1]].popleft()

    def _fetch(self) -> None:
        from confluent_kafka import KafkaError, TopicPartition

        full = {place for place, each in self.waiting.items() if len(each) >= MESSAGES_AT_ONCE}
        for places, change in ((full - self.paused, self.consumer.pause), (self.paused - full, self.consumer.resume)):
            if places:
                change([TopicPartition(*place) for place in places])
        self.paused = full
        some = all(self.waiting[place] for place in self.open) and any(self.waiting.values())
        first = self.consumer.poll(0.0 if some else 0.1)
        for message in [] if first is None else [first, *self.consumer.consume(MESSAGES_AT_ONCE, 0.0)]:
            place = (message.topic(), message.partition())
            if message.error() is None:
                self.waiting[place].append(message)
                self.open.add(place)
            elif message.error().code() == KafkaError._PARTITION_EOF:
                self.open.discard(place)
            elif not message.error().retriable():
                raise PresageError(f"Kafka says: {message.error().str()}")
        # That a partition is over is said when the broker has waited half a second for more; how far it goes is known.
        for place in {place for place in self.open if self.waiting[place]}:
            end = self.consumer.get_watermark_offsets(TopicPartition(*place), cached=True)[1]
            if 0 <= end <= self.waiting[place][-1].offset() + 1:
                self.open.discard(place)
        now = time.monotonic()
        silent = (place for place in self.open if not self.waiting[place])
        self._silent = {place: self._silent.get(place, now) for place in silent}


def _partitions(consumer: Any, topic: str, part: Part, stop: threading.Event) -> list[int]:
    from confluent_kafka import KafkaException

    end = time.monotonic() + 2 * SECONDS
    while not stop.is_set():
        try:
            found = consumer.list_topics(topic, timeout=SECONDS).topics[topic]
            if found.error is None and found.partitions:
                return sorted(found.partitions)
            said = str(found.error or "the topic has no partitions")
        except KafkaException as away:
            said = str(away)
        if time.monotonic() > end:
            raise PresageError(f"Kafka says of the topic {topic} at {part.text('servers')}: {said}")
        stop.wait(0.5)
    return []


def _options(part: Part) -> dict[str, str]:
    """Settings of the client; Spark's begin with `kafka.`."""
    return {name.removeprefix("kafka."): value for name, value in part.table("options").items()}


class KafkaSink:
    linger = 0.005

    def __init__(self, part: Part, run: str) -> None:
        self.part, self.group = part, f"presage-{run}-{part.name}"
        self._producer: Any = None

    def _settings(self) -> dict[str, Any]:
        return {"bootstrap.servers": self.part.text("servers"), "log_level": 0, **_options(self.part)}

    def _place(self, offset: int = NONE_YET) -> Any:
        from confluent_kafka import TopicPartition

        return TopicPartition(self.part.text("topic"), 0, offset)

    def told(self) -> int | None:
        from confluent_kafka import Consumer, KafkaException

        consumer = Consumer({**self._settings(), "group.id": self.group})
        try:
            self._begin()  # What a killed process has left open is ended first.
            found = consumer.committed([self._place()], timeout=SECONDS)[0]
        except (KafkaException, Refused) as away:
            raise PresageError(f"[{self.part.place}] Kafka says: {away}") from None
        finally:
            consumer.close()
        return max(0, found.offset)

    def _begin(self) -> Any:
        from confluent_kafka import KafkaException, Producer

        if self._producer is None:
            producer = Producer({**self._settings(), "transactional.id": self.group, "linger.ms": 1})
            try:
                producer.init_transactions(SECONDS)
            except KafkaException as found:
                raise Refused(f"{self.part.text('servers')}: {found}") from None
            self._producer = producer
        return self._producer

    def write(self, lines: Sequence[ToldLine]) -> None:
        from confluent_kafka import Consumer, KafkaError, KafkaException

        producer = self._begin()
        topic = self.part.text("topic")
        try:
            producer.begin_transaction()
            for line in lines:
                while True:
                    try:
                        producer.produce(topic, line.text, line.key)
                        break
                    except BufferError:
                        producer.poll(0.1)
            consumer = Consumer({**self._settings(), "group.id": self.group})
            try:
                group = consumer.consumer_group_metadata()
            finally:
                consumer.close()
            producer.send_offsets_to_transaction([self._place(lines[-1].number)], group, SECONDS)
            producer.commit_transaction(SECONDS)
        except KafkaException as found:
            # Whatever became of it, a producer that begins anew knows; what it did commit is asked for.
            self._producer = None
            if found.args and found.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
                raise TakenNever(f"{self.part.text('servers')}: {found}") from None
            if self._known() < lines[-1].number:
                raise Refused(f"{self.part.text('servers')}: {found}") from None

    def _known(self) -> int:
        try:
            return self.told() or 0
        except PresageError as away:
            raise Refused(str(away)) from None

    def close(self) -> None:
        if self._producer is not None:
            self._producer.flush(1.0)
