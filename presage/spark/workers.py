"""The process that Spark forks its Python workers from, with Presage loaded before the first of them.

Loading Presage and what it needs takes a core two seconds, and a stream has several workers at once: forked from here,
they have it from their start, and share its memory. Spark starts this module in place of its own, `pyspark.daemon`.
"""

from __future__ import annotations

from pyspark.daemon import manager

from presage.spark import batch, streaming
from presage.spark.garbage import out_of_sight

LOADED = (batch, streaming)
"""All that workers run."""

if __name__ == "__main__":
    out_of_sight()
    manager()
