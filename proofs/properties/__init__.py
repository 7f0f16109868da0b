"""Property tests of the statements: instances that should satisfy a claim, and variants that should not.

For: ``verify --instances``, vectors, dropped conditions.
Enters: a statement and a seed.  Leaves: verdicts; a sample is never called a proof.
Below it: theory, numerics, proofs.steps.
"""
