"""Formulas as LaTeX and as plain lines: the one printer of sympy expressions, which every other room uses.

For: everything that is printed from checked objects (the expressions of the calculus print themselves with it).
Enters: sympy expressions and systems.  Leaves: strings of LaTeX, HTML-free plain text.
Below it: systems.
"""
