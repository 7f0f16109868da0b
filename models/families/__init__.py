"""One file a family: which tensors of a checkpoint are Q, K, V, O, and what its configuration means.

For: recognising an architecture and reading its layers.
Enters: names, shapes and a configuration.  Leaves: layers in the convention.
Below it: convention.
"""
