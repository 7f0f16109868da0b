"""The words: terms, conditions, claims, places, observables, and the tables of their readings.

For: saying what is assumed and what is concluded, without saying how it is decided.
Enters: symbols of a system.  Leaves: frozen words, verdicts as the answers to them, and documents that carry both.
Below it: systems, printing.
"""
