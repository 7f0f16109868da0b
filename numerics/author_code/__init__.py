"""Functions that a user wrote, run on exact numbers: a predicate has one meaning in floats, balls and exact arithmetic.

For: the predicates of conjectures and observables of one's own.
Enters: Python functions with their source.  Leaves: decided booleans and numbers, or a refusal that names the line.
Below it: theory.
"""
