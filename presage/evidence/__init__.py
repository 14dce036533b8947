"""Evidence: why an answer holds, as a proof that somebody else can check.

`proof` is the model of proofs, `prove` finds one, `check` accepts or rejects one without trusting how it
was found, `show` prints it.
"""
