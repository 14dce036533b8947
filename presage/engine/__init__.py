"""The interval engine: incremental evaluation of plans over relations of tuples and intervals."""
