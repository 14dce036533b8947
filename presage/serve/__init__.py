"""Pipelines in one process: live sources and sinks around a reasoner, durable in a folder.

Everything that comes is in a log before it is acknowledged, and everything that is told follows from the log alone: the
same entries give the same lines with the same numbers. So a process may be killed at any moment. It begins again from a
snapshot, works off the entries after it, and each sink takes the lines it does not have.
"""
