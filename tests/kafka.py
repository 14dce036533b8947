"""A Kafka broker for tests, and Spark's connector: fetched once by `make kafka`, kept in the virtual environment.

Neither is in the package index, so both come through the machine's Maven, from wherever that is told to look. The
connector's release is the newest that can be had and is not newer than the installed PySpark; a missing one is no
reason to fail, for its parts have not changed for years. What it needs besides, the broker needs too.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.maven import fetch_into, project, said_by
from presage.errors import PresageError
from presage.pipeline.checking import jar_folder

SCALA = "2.13"
BROKER = "3.9.2"
CONNECTOR = (f"spark-sql-kafka-0-10_{SCALA}", f"spark-token-provider-kafka-0-10_{SCALA}")
SHARED = ("kafka-clients", "commons-pool2")
"""What the connector needs and the broker's folder has."""
POM = project(
    "broker",
    [
        f"org.apache.kafka:kafka_{SCALA}:{BROKER}",
        "org.apache.commons:commons-pool2:2.12.1",
        "org.slf4j:slf4j-nop:1.7.36",
    ],
)
PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
num.partitions=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def broker_folder() -> Path:
    return jar_folder().parent / "broker"


def why_not() -> str:
    """Why tests with Kafka cannot run; empty if they can."""
    wanted = [(jar_folder(), name) for name in (*CONNECTOR, *SHARED)] + [(broker_folder(), f"kafka_{SCALA}")]
    if not all(list(folder.glob(f"{name}-*.jar")) for folder, name in wanted):
        return "Kafka and Spark's connector are not fetched: make kafka"
    return "" if shutil.which("java") else "the Kafka broker needs a Java on the path"


class Broker:
    """A broker in KRaft mode, on the loopback interface."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, controller = _free_port(), _free_port()
        self.servers = f"127.0.0.1:{self.port}"
        self.settings = folder / "server.properties"
        self.settings.write_text(PROPERTIES.format(port=self.port, controller=controller, folder=folder))
        self._java("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(self.settings)).wait(
            120
        )
        self.process = self._java("kafka.Kafka", str(self.settings))
        self._await()

    def _java(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / "broker.out").open("ab") as out:
            return subprocess.Popen(
                ["java", "-Xmx256m", "-cp", f"{broker_folder()}/*", *words], stdout=out, stderr=out, cwd=self.folder
            )

    def _await(self) -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.2)
        raise AssertionError((self.folder / "broker.out").read_text()[-2000:])

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# -- fetching -----------------------------------------------------------------------------------------


def fetch() -> None:
    import pyspark

    jars, broker = jar_folder(), broker_folder()
    jars.mkdir(parents=True, exist_ok=True)
    fetch_into(broker, POM)
    for path in (path for name in SHARED for path in broker.glob(f"{name}-*.jar")):
        shutil.copy(path, jars)
    release = re.match(r"\d+\.\d+\.\d+", pyspark.__version__)
    assert release is not None
    newest = release[0]
    for artifact in CONNECTOR:
        newest = _newest(artifact, newest, jars)


def _newest(artifact: str, most: str, folder: Path) -> str:
    """The newest release of a part of Spark that can be had, now in the folder."""
    said = ""
    for version in _releases(most):
        said = said_by(
            broker_folder(),
            "dependency:copy",
            f"-Dartifact=org.apache.spark:{artifact}:{version}",
            f"-DoutputDirectory={folder}",
        )
        if not said:
            return version
    raise PresageError(f"Maven could not fetch {artifact} for Spark {most}: {said}")


def _releases(most: str) -> Iterator[str]:
    """A release of Spark, and the first ones of the series before it."""
    yield most
    major, minor, patch = map(int, most.split("."))
    for earlier in range(minor if patch else minor - 1, -1, -1):
        yield f"{major}.{earlier}.0"


if __name__ == "__main__":
    try:
        if why_not():
            fetch()
        print(why_not() or f"Kafka's broker is in {broker_folder()}, Spark's connector in {jar_folder()}")
    except (PresageError, OSError) as found:
        sys.exit(f"Kafka cannot be fetched: {found}")
