"""Hypothetical answers with negation for many individuals at once: those with the same recent past share one course.

`layout.py` says which programs allow it, `world.py` judges what is known of one individual, `course.py` takes
it one step further and remembers how, `engine.py` keeps the individuals and the answers about everybody else.
"""
