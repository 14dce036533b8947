"""Presage in notebooks: answers, programs, reports and reasoners show themselves, and `%%presage` runs a cell.

Nothing here is imported before a notebook asks for it.
"""
