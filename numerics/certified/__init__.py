"""Certified linear algebra: definiteness, inertia, rank, norms and spectra of float or exact matrices.

For: one condition on one matrix (or one product of matrices), decided at the price of LAPACK.
Enters: arrays and enclosures.  Leaves: verdicts with margins, and certificates that recheck can confirm.
Below it: theory.language (the verdicts), theory.exactness (roots in balls).
"""
