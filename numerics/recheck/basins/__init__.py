"""Re-check of basins: regions of attraction and their rates, in intervals or exact rationals, from the weights alone.

For: ``recheck`` of a document of ``basin``.
Enters: the document and, of a head, its factors.  Leaves: what was found of every leaf.
Below it: numerics.recheck.refutations (intervals), numerics.recheck.matrices (rationals).
"""
