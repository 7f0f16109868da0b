"""Attempts: a conjecture that survives, tried by the kernel's own means: a checked derivation comes out, or what was tried.

For: ``eigentoken attempt``.
Enters: a conjecture.  Leaves: a statement with a proof that the kernel accepts, or a list of means and where each stopped.
Below it: theory.kernel, the statements of the book, numerics.lab (conjectures).
"""
