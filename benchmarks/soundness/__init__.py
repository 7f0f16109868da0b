"""Attacks with exact ground truth on every word that the toolkit says: ``python -m benchmarks.soundness`` (``make soundness``).

A case is one verdict that is compared with the truth.  The truth never comes from the code that issues the verdict: it is known
by construction (integer congruences and similarities), or found in rational arithmetic written here (``exact.py``).  One module
a domain; each names its generators, and a generator makes the cases of one seed.
"""
