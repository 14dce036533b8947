"""Pipelines on Spark: a checked file becomes DataFrames, a query and sinks."""
