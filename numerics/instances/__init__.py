"""Instances of statements: plans from conditions, batches by construction, exact instances, Hypothesis strategies."""
