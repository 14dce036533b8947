"""Presage on Spark: DataFrames in, one DataFrame of answers out, batch or streaming.

answers = presage.spark.answers(program, {"temp": temperatures}, time="ts")
"""

from __future__ import annotations

from presage.errors import PresageError

try:
    import pyspark  # noqa: F401
except ImportError:
    raise PresageError("running on Spark needs PySpark: pip install presage-streams[spark]") from None

from presage.spark.anew import reread
from presage.spark.call import answers
from presage.spark.session import local_session

__all__ = ["answers", "local_session", "reread"]
