"""Scalar questions decided: identities by normal form and FLINT, inequalities by real arithmetic and cvc5.

For: the checkers of steps; each question has two procedures that share no code.
Enters: sympy expressions with assumptions on their symbols.  Leaves: verdicts.
Below it: language (the verdicts).
"""
