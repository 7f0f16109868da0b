"""Builders of steps that several derivations share: calculus, reductions, groups of tokens, cited theorems.

For: derivations made of named parts.
Enters: systems and expressions.  Leaves: steps, each with a checker that can say no.
Below it: theory.
"""
