"""Hypothetical answers ([HA], [HAD]): what may come true, because of what, and if which facts still arrive."""
