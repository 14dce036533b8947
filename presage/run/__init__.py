"""A program at work: the reasoner, the engines it has, when it steps, and what it saves."""
