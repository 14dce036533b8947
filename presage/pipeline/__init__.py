"""Pipelines as files: what stands in a TOML file, whether it can run, and what is measured while it does.

Nothing here knows Spark: a file is checked, with file, line and hint for each mistake, before Spark starts.
"""
