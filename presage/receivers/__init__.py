"""Who is told from one process: numbered lines, the alerts that are made of answers, and receivers outside.

Pipelines in one process tell all of their lines this way, and those on Spark what their driver tells.
"""
