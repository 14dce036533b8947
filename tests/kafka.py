"""A Kafka broker for tests, and Spark's connector: fetched once by `make kafka`, kept in the virtual environment.

Neither is in the package index, so both come from Maven. The connector's release is the newest that is not newer than
the installed PySpark; a missing one is no reason to fail, for its parts have not changed for years.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from presage.errors import PresageError
from presage.pipeline.checking import jar_folder

MAVEN = os.environ.get("MAVEN_REPOSITORY", "https://repo.maven.apache.org/maven2")
SCALA = "2.13"
BROKER = "3.9.2"
ARTIFACTS = (f"spark-sql-kafka-0-10_{SCALA}", f"spark-token-provider-kafka-0-10_{SCALA}")
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>presage</groupId><artifactId>broker</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_{SCALA}</artifactId><version>{BROKER}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
"""
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
    if not list(jar_folder().glob("spark-sql-kafka*.jar")) or not list(broker_folder().glob("kafka_*.jar")):
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


def _get(path: str) -> bytes:
    with urllib.request.urlopen(f"{MAVEN}/{path}", timeout=60) as answer:
        return bytes(answer.read())


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in version.split("."))


def _newest(artifact: str, most: str) -> tuple[str, bytes]:
    """The newest release of a part of Spark that can be had, and its jar."""
    listed = _get(f"org/apache/spark/{artifact}/maven-metadata.xml").decode()
    versions = [
        each for each in re.findall(r"<version>(\d+\.\d+\.\d+)</version>", listed) if _order(each) <= _order(most)
    ]
    for version in sorted(versions, key=_order, reverse=True):
        try:
            return version, _get(f"org/apache/spark/{artifact}/{version}/{artifact}-{version}.jar")
        except urllib.error.HTTPError:
            continue
    raise PresageError(f"there is no {artifact} for Spark {most}")


def fetch() -> None:
    import pyspark

    jars, broker = jar_folder(), broker_folder()
    jars.mkdir(parents=True, exist_ok=True)
    for place, artifact in enumerate(ARTIFACTS):
        version, jar = _newest(artifact, re.match(r"\d+\.\d+\.\d+", pyspark.__version__)[0])  # type: ignore[index]
        (jars / f"{artifact}-{version}.jar").write_bytes(jar)
        if place == 0:
            pom = _get(f"org/apache/spark/{artifact}/{version}/{artifact}-{version}.pom").decode()
    for group, name in (("org/apache/kafka", "kafka-clients"), ("org/apache/commons", "commons-pool2")):
        found = re.search(rf"<artifactId>{name}</artifactId>\s*<version>([\d.]+)</version>", pom)
        assert found is not None, f"the connector does not name {name}"
        (jars / f"{name}-{found[1]}.jar").write_bytes(_get(f"{group}/{name}/{found[1]}/{name}-{found[1]}.jar"))
    broker.mkdir(parents=True, exist_ok=True)
    (broker / "pom.xml").write_text(POM)
    if shutil.which("mvn") is None:
        raise PresageError("the broker needs Maven to be fetched: apt-get install maven")
    words = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={broker}"]
    done = subprocess.run(words, cwd=broker, capture_output=True, text=True)
    if done.returncode:
        raise PresageError(f"Maven could not fetch the broker: {done.stdout[-500:]}")


if __name__ == "__main__":
    try:
        if why_not():
            fetch()
        print(why_not() or f"Kafka's broker is in {broker_folder()}, Spark's connector in {jar_folder()}")
    except (PresageError, OSError) as found:
        sys.exit(f"Kafka cannot be fetched: {found}")
