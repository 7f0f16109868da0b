"""Formulas as LaTeX and as plain lines: one printer for sympy expressions and for sums over tokens.

For: everything that is printed from checked objects.
Enters: sympy and calculus expressions.  Leaves: strings of LaTeX, HTML-free plain text.
Below it: calculus.
"""
