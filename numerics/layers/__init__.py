"""Layers of a model as enclosures: what the theorems' conditions say of real weights, certified."""
