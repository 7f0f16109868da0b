"""The layers of a model as systems: which words can be asked of their weights, and the verdicts on them.

For: ``check`` and ``steer``: heads, layer matrices, rotary scores, idealisations.
Enters: weights of one layer in the convention of :mod:`eigentoken.models`.  Leaves: findings with certificates.
Below it: theory, certified.
"""
