"""The core language: what a rule says, in a dozen nodes.

The model keeps what an author wrote; core keeps what it means. Past and future are one signed reach, `some` and `all`
in a window are reaches that end where the stream does, every time is a number, and nothing is left of `implies`, of
filters and of negations of negations. The passes of `presage.rewrite` lead here. Plans, premise patterns, answer
streams and proofs read core; so a construct that core can express is known to none of them.
"""
