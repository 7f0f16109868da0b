"""AB-X3: the first eigenvector in the causal flow, linearised: when consensus there is stable, for any value matrix.

The Jacobian at ``(v, ..., v)`` is triangular in the tokens, with ``(U/i - lambda_1 I)/sqrt(d)`` on the diagonal.  Own derivation.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.properties.exact_points import instance, point_is
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Atom, Equivalence, ForAll, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.words import index_range
from eigentoken.theory.language.claims import Stable, When
from eigentoken.theory.language.conditions import Relation, SimpleTop
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, EigenvalueRealPart, ell, matrix, n
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant

U = matrix("U")
PLACE, TOP, REAL = ConsensusAt(U, 1), Eigenvalue(U, 1), EigenvalueRealPart(U, ell)
POSITIVE = Relation(TOP > 0)
#: ``Re lambda_ell < n lambda_1`` for all other eigenvalues.
FAR_BELOW = ForAll(ell, index_range(ell, 2), proposition(n * TOP > REAL))


def proof(kernel: Kernel) -> Proved:
    """The classes ``(Re lambda_ell - i lambda_1)/(i sqrt(d))`` of the tokens i are linear in i: the first and the last decide."""
    test = kernel.stability_of_any(PLACE)
    classes = test.proposition.right
    (every,) = conjuncts(classes)
    of_tokens = every.body
    token = of_tokens.letter
    here = [kernel.assume(each) for each in (*conjuncts(every.guard), *conjuncts(of_tokens.guard))]
    below = kernel.at(kernel.real_parts_below(U), ell, *here)

    def inside(known: Proved) -> Proved:
        """All classes are negative, where ``Re lambda_ell < i lambda_1`` follows from what is known."""
        level = kernel.arithmetic([below, known, *here], token * TOP > REAL)
        found = kernel.arithmetic([level, *here], of_tokens.body)
        found = kernel.generalise(ell, kernel.generalise(token, found, of_tokens.guard), every.guard)
        return kernel.part(kernel.conjunction(found), classes)

    far = kernel.at(kernel.assume(FAR_BELOW), ell, *here)
    back = kernel.discharge(FAR_BELOW, inside(far))
    known = kernel.at(kernel.assume(every), ell, *here[:2])
    last = kernel.at(known, n, kernel.arithmetic([], sp.Ge(n, 1, evaluate=False)))
    away = kernel.generalise(ell, kernel.arithmetic([last], FAR_BELOW.body), every.guard)
    forth = kernel.discharge(classes, kernel.part(kernel.conjunction(away), FAR_BELOW))
    criterion = kernel.tautology([test, kernel.iff(forth, back)], Equivalence(Atom(Stable(PLACE)), FAR_BELOW))
    good = inside(kernel.assume(POSITIVE))
    enough = kernel.discharge(POSITIVE, kernel.tautology([test, good], Stable(PLACE)))
    return kernel.conjunction(criterion, enough)


AB_X3 = register(
    Statement(
        id="AB-X3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the local part of Theorem 6.1 of Abella-Silvestre-Tabuada, for any value matrix"),
        title="Causal consensus at the first eigenvector, linearised",
        systems=("causal-flow",),
        conditions=(SimpleTop(U),),
        claims=(Formula(Equivalence(Atom(Stable(PLACE)), FAR_BELOW)), When(POSITIVE, Stable(PLACE))),
        proof=proof,
        variants=(
            Variant(
                "Re lambda_l < n lambda_1",
                "two tokens, U = diag(-1, -3/2): unstable",
                lambda: point_is(
                    instance(
                        "causal-flow", [["1", "0"]] * 2, U=[["-1", "0"], ["0", "-3/2"]], P=[["1", "0"], ["0", "1"]]
                    ),
                    "consensus",
                    stable="unstable",
                ),
            ),
        ),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "The Jacobian does not depend on the scores, so that for $P(t)$ measurable and bounded the same inequality gives "
                "exponential stability that is uniform in time, by a quadratic Lyapunov function and a quadratic remainder.",
            ),
        ),
    )
)
