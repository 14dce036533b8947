"""`presage serve` with real services on the loopback interface: Mosquitto, PostgreSQL, Kafka; killed in between."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests import kafka, mosquitto, postgres
from tests.serving import LINES, Served, hot

TOP = 'program = "program.psg"\ncheckpoint = "state"\n'
ALL = [
    (0, "possible", "malf(wt25)@0"), (1, "possible", "malf(wt25)@0"), (1, "possible", "malf(wt25)@1"),
    (2, "confirmed", "malf(wt25)@0"), (2, "possible", "malf(wt25)@1"), (2, "possible", "malf(wt25)@2"),
]  # fmt: skip


def told(line: dict[str, Any]) -> tuple[Any, ...]:
    return line["now"], line["status"], line["answer"]


@pytest.mark.skipif(bool(mosquitto.why_not()), reason=mosquitto.why_not())
def test_mqtt_in_and_out_at_least_once(tmp_path: Path) -> None:
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    with mosquitto.broker(tmp_path) as port:
        got: list[dict[str, Any]] = []
        client = Client(CallbackAPIVersion.VERSION2, "tester")
        client.on_message = lambda _, __, message: got.append(json.loads(message.payload))
        client.connect("127.0.0.1", port)
        client.subscribe("answers", 1)
        client.loop_start()
        places = f'servers = "127.0.0.1:{port}"\n'
        file = TOP + f'[sources.incoming]\nformat = "mqtt"\n{places}topic = "farm/+"\n'
        sinks = LINES + f'[sinks.news]\nformat = "mqtt"\n{places}topic = "answers"\n'
        served = Served(tmp_path / "p", sinks, file=file).start(wait=False)
        # Its subscription is kept under its name: what is published while it is dead comes later.
        until = time.monotonic() + 60
        while not served.lines and time.monotonic() < until:
            client.publish("farm/a", hot(0) + '{"now": 0}\n', 1).wait_for_publish(10)
            time.sleep(0.3)
        served.until(lambda: bool(got))
        served.kill()
        client.publish("farm/b", hot(1) + '{"now": 1}\n', 1).wait_for_publish(10)
        served.start(wait=False)
        client.publish("farm/a", hot(2) + '{"now": 2}\n', 1).wait_for_publish(10)
        served.until(lambda: len(served.lines) >= 6)
        served.until(lambda: {line["seq"] for line in got} >= {line["seq"] for line in served.lines})
        assert [told(line) for line in served.lines] == ALL
        assert {line["seq"]: line for line in got} == {line["seq"]: line for line in served.lines}
        assert served.stop() == 0 and "Traceback" not in served.said
        client.disconnect()
        client.loop_stop()


@pytest.mark.skipif(bool(postgres.why_not()), reason=postgres.why_not())
def test_postgres_in_and_out(tmp_path: Path) -> None:
    with postgres.serving() as database:
        database.run("create table readings (id bigserial, machine text, level text, at bigint)")
        place = f'format = "jdbc"\nurl = "{database.url}"\nuser = "presage"\npassword_env = "PW"\n'
        file = TOP + f'trigger = "100ms"\n[sources.temp]\n{place}table = "readings"\nincreasing = "id"\n'
        file += 'columns = { device = "machine" }\ntime = "at"\n'
        sinks = LINES + f'[sinks.table]\n{place}table = "answers"\n'
        served = Served(tmp_path / "p", sinks, file=file, PW=postgres.PASSWORD).start(wait=False)
        database.run("insert into readings (machine, level, at) values ('wt25', 'high', 0), ('wt25', 'high', 1)")
        served.until(lambda: len(served.lines) == 1)
        served.kill()
        database.run("insert into readings (machine, level, at) values ('wt25', 'high', 2), ('wt25', 'low', 9)")
        served.start(wait=False)
        served.until(lambda: len(served.lines) == 8)
        assert [told(line) for line in served.lines][:6] == ALL

        def rows() -> list[tuple[Any, ...]]:
            try:
                return database.run("select key, status, now from answers order by key")
            except Exception:
                return []

        served.until(lambda: len(rows()) == 3 and rows()[2][1] == "refuted")
        assert [row[1:] for row in rows()] == [("confirmed", 2), ("refuted", 4), ("refuted", 4)]
        assert database.run("select told from presage_told") == [(served.lines[-1]["seq"],)]
        assert served.stop() == 0 and postgres.PASSWORD not in served.said


@pytest.mark.xdist_group("kafka")
@pytest.mark.skipif(bool(kafka.why_not()), reason=kafka.why_not())
def test_kafka_in_and_out_exactly_once(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka")
    from confluent_kafka import Consumer, Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    broker = kafka.Broker(tmp_path)
    try:
        admin = AdminClient({"bootstrap.servers": broker.servers, "log_level": 0})
        for future in admin.create_topics([NewTopic("readings", 1), NewTopic("answers", 2)]).values():
            future.result(60)
        producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0})
        place = f'format = "kafka"\nservers = "{broker.servers}"\n'
        file = TOP + f'[sources.incoming]\n{place}topic = "readings"\nstarting = "earliest"\n'
        sinks = LINES + f'[sinks.news]\n{place}topic = "answers"\n'
        served = Served(tmp_path / "p", sinks, file=file).start(wait=False)
        for at in range(30):
            producer.produce("readings", hot(at) + json.dumps({"now": at}))
            producer.flush(30)
            if at in (7, 15, 22):
                served.until(lambda at=at: len(served.lines) >= at)
                served.kill()
                served.start(wait=False)
        served.until(lambda: bool(served.lines) and served.lines[-1]["now"] == 29)
        assert served.stop() == 0
        reader = Consumer(
            {"bootstrap.servers": broker.servers, "group.id": "test", "auto.offset.reset": "earliest",
             "isolation.level": "read_committed", "enable.partition.eof": True, "log_level": 0}
        )  # fmt: skip
        reader.subscribe(["answers"])
        got: list[dict[str, Any]] = []
        until = time.monotonic() + 30
        while len(got) < len(served.lines) and time.monotonic() < until:
            message = reader.poll(1.0)
            if message is not None and message.error() is None:
                line = json.loads(message.value())
                assert message.key().decode() == line["key"]
                got.append(line)
        for _ in range(3):
            message = reader.poll(0.5)
            assert message is None or message.error() is not None, "nothing is there twice"
        reader.close()
        assert sorted(got, key=lambda line: line["seq"]) == served.lines
    finally:
        broker.stop()


@pytest.mark.skipif(bool(kafka.why_not()), reason=kafka.why_not())
def test_a_backlog_of_several_partitions_is_read_in_order(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka")
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    broker = kafka.Broker(tmp_path)
    try:
        admin = AdminClient({"bootstrap.servers": broker.servers, "log_level": 0})
        for future in admin.create_topics([NewTopic("readings", 3)]).values():
            future.result(60)
        producer = Producer({"bootstrap.servers": broker.servers, "log_level": 0})
        filler = [f"d{place}" for place in range(400)]
        for at in range(600):
            # Now and then a partition gets nothing for long.
            place = 0 if at % 200 < 100 else at % 3
            lines = "".join(hot(at, device) for device in ["wt25", *filler[: 400 if at % 3 == 0 else 3]])
            producer.produce("readings", lines, partition=place, timestamp=1_700_000_000_000 + at)
            producer.poll(0)
        producer.flush(30)
        place = f'format = "kafka"\nservers = "{broker.servers}"\n'
        file = TOP + f'emit = "confirmed"\n[metrics]\nfile = "m.prom"\n[sources.incoming]\n{place}topic = "readings"\n'
        served = Served(tmp_path / "p", LINES, file=file + 'starting = "earliest"\n').start(wait=False)
        served.until(lambda: any(line["answer"] == "malf(wt25)@596" for line in served.lines))
        assert served.stop() == 0
        own = [line["answer"] for line in served.lines if line["answer"].startswith("malf(wt25)")]
        assert own == [f"malf(wt25)@{at}" for at in range(597)]
        assert 'presage_late_facts_total{pipeline="pipeline"} 0' in (tmp_path / "p/m.prom").read_text()
    finally:
        broker.stop()
