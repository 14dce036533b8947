"""Keeps Spark's workers from looking for garbage where there is none.

A worker that has done a task looks through all its objects for garbage, and what Presage and its libraries load are
hundreds of thousands of them, which stay: that took a quarter of the time of a stream. They are taken out of sight in
the process that workers are forked from, and again in each worker once its first task has loaded the rest.
"""

from __future__ import annotations

import gc

_is_loaded = False


def after_a_task() -> None:
    """To be called when a worker has done its part of a task."""
    global _is_loaded
    if not _is_loaded:
        _is_loaded = True
        out_of_sight()


def out_of_sight() -> None:
    """What there is now stays."""
    gc.collect()
    gc.freeze()
