"""``eigentoken chance``: heads and layers against random weights of the same shapes.

For: which heads differ from chance, in what, by how much, after a correction for many heads.
Enters: a model.  Leaves: a statistic, its null, a p-value and a q-value each; sentences.
Below it: numerics, which draws the nulls; checking, which opens the model.
"""
