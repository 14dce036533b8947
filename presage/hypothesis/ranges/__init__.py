"""Hypothetical answers whose times may stay open, on both timelines.

A rule that says "within ten minutes" leaves a time open, and one that says "for ten minutes" asks for a stretch of
time. Neither is worked off time by time here: what a choice of times must satisfy is a zone, and all that can be said
of one choice of values is said of all times at once.
"""
