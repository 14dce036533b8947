"""Folders wherever Spark can write one: on this machine, in a distributed file system, in a store of objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from presage.errors import PresageError

WHOLE = ".whole"
"""How a file is called that is written and not yet in place."""


class SparkFolder:
    """A folder, by Hadoop's names."""

    def __init__(self, spark: Any, folder: str) -> None:
        self.spark, self.folder = spark, folder
        self.java = spark._jvm.org.apache.hadoop.fs
        self.system = self.java.Path(folder).getFileSystem(spark._jsc.hadoopConfiguration())

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def exists(self, name: str) -> bool:
        return bool(self.system.exists(self.java.Path(self.path(name))))

    def entries(self) -> Iterable[str]:
        folder = self.java.Path(self.folder)
        return (
            [each.getPath().getName() for each in self.system.listStatus(folder)] if self.system.exists(folder) else []
        )

    def remove(self, name: str) -> None:
        self.system.delete(self.java.Path(self.path(name)), False)

    def rename(self, name: str, to: str) -> None:
        if not self.system.rename(self.java.Path(self.path(name)), self.java.Path(self.path(to))):
            raise PresageError(f"{self.path(to)} could not be put in place")

    def read(self, name: str) -> str | None:
        found = self.read_bytes(name)
        return None if found is None else found.decode()

    def read_bytes(self, name: str) -> bytes | None:
        if not self.exists(name):
            return None
        stream = self.system.open(self.java.Path(self.path(name)))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def write(self, name: str, given: str | bytes) -> None:
        stream = self.system.create(self.java.Path(self.path(name)), True)
        try:
            stream.write(bytearray(given.encode() if isinstance(given, str) else given))
        finally:
            stream.close()

    def put(self, name: str, given: str | bytes) -> None:
        """Puts a file in the place of another. Where that is cut off in the middle, `mend` finishes it."""
        whole, beside = name + WHOLE, name + ".tmp"
        self.write(beside, given)
        if self.exists(whole):
            self.remove(whole)
        self.rename(beside, whole)
        self.mend(name)

    def mend(self, name: str) -> None:
        """Finishes what `put` had written."""
        if self.exists(name + WHOLE):
            if self.exists(name):
                self.remove(name)
            self.rename(name + WHOLE, name)
