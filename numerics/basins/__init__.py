"""Certified basins of attraction: a region around a stable equilibrium, a rate, and facts that a re-check confirms.

For: ``eigentoken basin``; the theorems PM-X1, PM-X2 (symmetric values), CT-12, CT-13 (their flows), BD-H1 (any head), and the
contraction principle.
Enters: an exact instance at an equilibrium, or the factors O and V of one head.  Leaves: regions with rates.
Below it: numerics.readings (contraction regions), theory.exactness (balls, Krawczyk's test).
"""
