"""The kernel: propositions, what is proved, and the rules that prove.

For: derivations whose last line is exactly what a statement claims.
Enters: words of the language, terms, systems, textbook theorems.  Leaves: values of type ``Proved``, which only the rules make.
Below it: language, calculus, proving, linearization, systems.
"""
