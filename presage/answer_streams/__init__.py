"""Formulas over finite streams, and the answer streams of programs that may have none or several ([LARS])."""
