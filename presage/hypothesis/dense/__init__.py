"""Hypothetical answers on dense time, where an answer, its evidence and its premises have whole stretches of time.

What it means is in docs/explanation/hypothetical-answers.md; `presage.supposing` takes this road for all programs
without negation whose timeline is dense.
"""
