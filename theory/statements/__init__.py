"""Statements: conditions, claims, and the checked steps that lead from one to the other.

For: the registry of what is stated, by whom, about which system, and what rests on what.
Enters: words and steps.  Leaves: statements with their status, and the facts that others may recall.
Below it: systems, language, proving.
"""
