"""The dynamics, each written once: state space, time, attention, heads, mask, step.

For: :class:`~eigentoken.theory.systems.system.System` and the algebra in which its equation is written.
Enters: names and parameters.  Leaves: one equation that every twin (symbolic, torch, balls, exact) reads.
Below it: nothing of the house.
"""
