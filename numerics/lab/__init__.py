"""The conjecture lab: state it, attack it, certify what breaks it.

>>> from eigentoken.numerics.lab import Conjecture
>>> from eigentoken.theory.claims import Stable
>>> from eigentoken.theory.conditions import Relation, Symmetric
>>> from eigentoken.theory.points import ConsensusAt
>>> from eigentoken.theory.terms import Eigenvalue, matrix, n
>>> V = matrix("V")
>>> guess = Conjecture("consensus", "oja-flow", [Symmetric(V), Relation(Eigenvalue(V, 1) > 0)], [Stable(ConsensusAt(V, 1))])
"""

from eigentoken.numerics.lab.conjectures import Conjecture, ConjectureError, load, new
from eigentoken.numerics.lab.refutation import refute
from eigentoken.numerics.lab.report import Progress, Report, Result

__all__ = ["Conjecture", "ConjectureError", "Progress", "Report", "Result", "load", "new", "refute"]
