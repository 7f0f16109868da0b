"""Instances: batches of systems, parameters and tokens that satisfy given words, or just miss them.

For: property tests, the lab, strategies of Hypothesis.
Enters: conditions and claims (as plans).  Leaves: float batches, and the same instances in exact numbers.
Below it: theory, certified, dynamics.
"""
