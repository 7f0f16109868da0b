"""Bounds that say something about trained weights: softmax, Jacobians, diversity, norms, non-symmetric weights (BD-*).

For: the statements of the sheet of bounds, with their lemmas about rows of attention for the kernel.
Enters: the calculus, the kernel, property tests.  Leaves: registered statements.
Below it: proofs.properties, proofs.steps.
"""
