"""A pipeline between two topics of a real Kafka broker, in KRaft mode on the loopback interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import skip_without_spark
from tests.kafka import Broker, why_not

skip_without_spark()
pytestmark = [
    pytest.mark.xdist_group("pipelines"),
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

FILE = """
program = "turbines.psg"
checkpoint = "checkpoint"
trigger = "available-now"
shards = 2

[sources.temp]
format = "kafka"
servers = "{servers}"
topic = "readings"
starting = "earliest"
per_batch = 700
schema = {{ machine = "string", level = "string", ts = "timestamp" }}
columns = {{ device = "machine" }}
time = "ts"
bad_rows = "skip"

[sinks.alarms]
format = "kafka"
servers = "{servers}"
topic = "alarms"
statuses = ["confirmed"]
"""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    (tmp_path / "kafka").mkdir()
    started = Broker(tmp_path / "kafka")
    yield started
    started.stop()


def send(spark: Any, broker: Broker, lines: list[str]) -> None:
    """All into one of the topic's partitions: a producer that changes between them would have some come too late."""
    frame = spark.createDataFrame([(line, 0) for line in lines], "value string, partition int").coalesce(1)
    frame.write.format("kafka").option("kafka.bootstrap.servers", broker.servers).option("topic", "readings").save()


def alarms(spark: Any, broker: Broker) -> list[tuple[str, dict[str, Any]]]:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.servers).option("subscribe", "alarms")
    rows = reader.load().selectExpr("cast(key as string) as key", "cast(value as string) as value").collect()
    return sorted((row.key, json.loads(row.value)) for row in rows)


def test_from_topic_to_topic_and_on_from_the_checkpoint(broker: Broker, tmp_path: Path, spark: Any) -> None:
    from tests.spark.test_pipeline_spark import at, run, write_demo

    farm = tmp_path / "farm"
    write_demo(farm)
    (farm / "pipeline.toml").write_text(FILE.format(servers=broker.servers))
    readings = [line for path in sorted((farm / "readings").iterdir()) for line in path.read_text().splitlines()]
    send(spark, broker, [*readings[:900], "this is no JSON"])
    running, _ = run(farm, spark)
    assert (running.measures.facts, running.measures.skipped, running.measures.late) == (901, 1, 0)
    assert [key for key, _ in alarms(spark, broker)] == [at("malf(wt3)@14")]
    send(spark, broker, readings[900:])
    running, _ = run(farm, spark)
    assert running.measures.facts == 300 and running.measures.waiting == 0
    found = alarms(spark, broker)
    assert [key for key, _ in found] == [at("malf(wt3)@14"), at("malf(wt34)@22"), at("malf(wt34)@23")]
    assert found[0][1]["time"] == "2026-01-01T00:14:00Z"
    assert all(line["answer"] == key and line["status"] == "confirmed" and line["because"] for key, line in found)
