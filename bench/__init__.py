"""Presage beside its peers: `python -m bench`."""
