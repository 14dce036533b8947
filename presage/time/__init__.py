"""Times to compute with: cells, sets of time points, stretches between cuts, zones of several times."""
