"""File formats: each gives the same thing, named tensors that are read one at a time."""
