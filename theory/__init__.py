"""Symbols and meaning: what a system, a word, a statement is, and how each is decided exactly.

For: sympy, exact numbers and networkx; nothing here is a float that is believed.
Enters: systems, terms and rational numbers.  Leaves: verdicts, spectra, classes, LaTeX.
Below: :mod:`eigentoken.files`.  Inside, imports go one way:
systems < language < proving, calculus < statements; exactness < classification; printing < linearization.
"""
