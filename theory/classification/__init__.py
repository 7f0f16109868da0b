"""One exact point: is it an equilibrium, of which class, with which spectrum, and is it stable?

For: instances in exact numbers, the equilibria of one system, and the connections between them.
Enters: an instance (JSON or exact numbers).  Leaves: a classification with certificates.
Below it: systems, language (the verdicts), exactness.
"""
