"""The conjecture lab: state it, attack it, certify what breaks it.

>>> from eigentoken.numerics.lab import Conjecture
>>> from eigentoken.theory.language.claims import Stable
>>> from eigentoken.theory.language.conditions import Relation, Symmetric
>>> from eigentoken.theory.language.places import ConsensusAt
>>> from eigentoken.theory.language.terms import Eigenvalue, matrix, n
>>> V = matrix("V")
>>> guess = Conjecture("consensus", "oja-flow", [Symmetric(V), Relation(Eigenvalue(V, 1) > 0)], [Stable(ConsensusAt(V, 1))])

For: ``refute``: search, shrink to simple numbers, certify; ``strengthen``: what a survivor could say beyond that.
Enters: a conjecture.  Leaves: a report with a certified counterexample, or how hard it was looked for.
Below it: theory, instances, readings, author_code.
"""

from eigentoken.numerics.lab.conjectures import Conjecture, ConjectureError, load, new
from eigentoken.numerics.lab.refutation import refute
from eigentoken.numerics.lab.report import Progress, RefutationReport, RefutationResult
from eigentoken.numerics.lab.strengthen import strengthen
from eigentoken.numerics.lab.strengthen_report import StrengthenReport

__all__ = [
    "Conjecture",
    "ConjectureError",
    "Progress",
    "RefutationReport",
    "RefutationResult",
    "StrengthenReport",
    "load",
    "new",
    "refute",
    "strengthen",
]
