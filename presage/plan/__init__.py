"""Plans: what the interval engine runs. A handful of node types over named relations, and their builder."""
