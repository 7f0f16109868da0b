"""Flows and maps of tokens in torch: the fast twins of :mod:`eigentoken.theory.systems.catalogue`, and what is measured on them.

Import the modules (``eigentoken.numerics.dynamics.simulate`` and so on); this package loads nothing by itself, so that
a command that needs no torch does not pay for it.

For: simulating, equilibria, limits, basins.
Enters: a system, parameters and tokens as arrays.  Leaves: trajectories, observables, certified zeros.
Below it: theory.systems, theory.language (the verdicts), theory.exactness (balls, Krawczyk), theory.classification (jets).
"""
