"""Jacobians, spectra and stability at the equilibria, for symbolic numbers of tokens n and dimensions d.

For: consensus, bipartite and polygonal points of the maps and flows, with full, causal or any mask.
Enters: a system and a kind of point.  Leaves: families of eigenvalues with multiplicities, and criteria of stability.
Below it: systems, language, calculus, proving, printing, classification (the signs of one block).
"""
