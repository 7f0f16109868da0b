"""Re-check of facts about one point of a system: the equation, its class, its spectrum.

For: classifications and certified equilibria.
Enters: an instance in exact numbers.  Leaves: confirmed, refused or open.
Below it: recheck.documents, recheck.matrices (rational arithmetic).
"""
