"""PH-T6: absolute positional encoding shifts the equilibrium and changes nothing else.

Re-added in every layer, ``du_i/dt = sum_j a_ij B (u_j + c_j)`` with the scores of ``u + c``: the sums ``x = u + c`` follow PH-M.
(Which encoding the paper means, added once at the input or in every layer, is not settled by the texts at hand; a shifted
equilibrium is the latter.)  Reference: Pham-et-al, absolute positional encoding; derived here.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import PHAM
from eigentoken.proofs.pham.ph_m_token_flow import A, W
from eigentoken.proofs.pham.ph_t02_convergence_to_zero import PH_T2
from eigentoken.proofs.pham.softmax_sums import I, J, average
from eigentoken.proofs.properties.flow_properties import encoded_is_shifted
from eigentoken.proofs.steps.equations import Z, at_every_token, for_every
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import Expression, Index, dot, substitute, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    Exists,
    ForAll,
    Implication,
    Proposition,
    proposition,
    relation_of,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import Converges
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Symmetric
from eigentoken.theory.language.places import Zero
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, SourceKind, Statement

__all__ = ["PH_T6"]

CODES, PLAIN = VectorLetter("c"), VectorLetter("u")
TIME, SINCE, SMALL = sp.symbols("t s K", real=True)
_Z, _STATE = vector(Z.name), vector(STATE, I)
#: ``u_i = x_i - c_i``, in the state and by its own letter.
TOKEN, ENCODED = _STATE - vector("c", I), vector("u", I) + vector("c", I)


def _pushed(k: Index) -> Expression:
    return dot(_Z, vector(STATE, k), product("B"))


def _encoded(*indices: Index) -> Expression:
    return ENCODED.at((I, indices[0]))


#: ``x_i = u_i + c_i`` for every token.
SUM = for_every(sp.Eq(Tensor(dot(_Z, _STATE)), Tensor(dot(_Z, ENCODED)), evaluate=False), I, Z)
#: ``sum_j a_ij z^T B x_j`` of the plain model, and the same of ``u + c``.
FIELD = average(I, _pushed)
ENCODED_FIELD = substitute(FIELD, {STATE: _encoded})
_MOVES = sp.Eq(Rate(dot(_Z, TOKEN)), Tensor(ENCODED_FIELD), evaluate=False)
#: The tokens ``u_i = x_i - c_i`` follow the model with encodings.
EQUATION = for_every(Implication(SUM, for_every(_MOVES, I, Z)), CODES, PLAIN)


def _near(time: sp.Expr) -> Proposition:
    """``(z^T u_i + z^T c_i)^2 < K``."""
    apart = Tensor(dot(_Z, TOKEN), time) + Tensor(dot(_Z, vector("c", I)))
    return proposition(sp.Lt(apart**2, SMALL, evaluate=False))


def _from(time: sp.Symbol, first: sp.Expr) -> Proposition:
    return proposition(sp.Ge(time, first, evaluate=False))


_UNIT = proposition(sp.Eq(Tensor(dot(_Z, _Z)), 1, evaluate=False))
_LATE = Exists(SINCE, _from(SINCE, sp.Integer(0)), ForAll(TIME, _from(TIME, SINCE), _near(TIME)))
#: ``u_i -> -c_i``, seen with every unit vector z.
LIMIT = for_every(
    ForAll(Z, _UNIT, ForAll(SMALL, proposition(sp.Gt(SMALL, 0, evaluate=False)), _LATE)),
    CODES,
    I,
)


def _equation(kernel: Kernel) -> Proved:
    """The encodings do not move; equals for equals in the field of the plain model."""
    rate = kernel.increment(dot(_Z, TOKEN))
    plain = kernel.reduction(relation_of(rate.proposition).rhs.expression, FIELD)
    same = kernel.congruent(FIELD, STATE, ENCODED, I, kernel.assume(SUM))
    moves = at_every_token(kernel, kernel.arithmetic([rate, plain, same], _MOVES), I, Z)
    return at_every_token(kernel, kernel.discharge(SUM, moves), CODES, PLAIN)


def _limit(kernel: Kernel, vanishes: Proved) -> Proved:
    """``(z^T x_i)^2 <= |x_i|^2 <= sum_j |x_j|^2``, which is below K from some time on."""
    small = kernel.unfold(vanishes)
    positive = kernel.assume(sp.Gt(SMALL, 0, evaluate=False))
    some = kernel.instantiate(small, SMALL, positive)
    squares = kernel.generalise(J, kernel.square(vector(STATE, J)))
    known = [
        kernel.textbook(EUCLIDEAN, y=_Z, z=_STATE),
        kernel.summand(squares, I),
        kernel.square(_STATE),
        kernel.total(dot(_Z, _STATE), dot(_Z, vector("c", I)) * -1),
        kernel.scaling(dot(_Z, vector("c", I)), -1),
        kernel.assume(_UNIT),
    ]
    size = Tensor(dot(vector(STATE, J), vector(STATE, J)).summed(J))
    seen = (Tensor(dot(_Z, TOKEN)) + Tensor(dot(_Z, vector("c", I)))) ** 2
    below = kernel.settled(kernel.arithmetic(known, sp.Le(seen, size, evaluate=False)))
    along = kernel.instantiate(kernel.generalise(VectorLetter(STATE), below), AtTime(TIME))
    after = kernel.assume(_from(TIME, SINCE))
    late = kernel.instantiate(kernel.assume(some.proposition.body), TIME, after)
    near = kernel.generalise(TIME, kernel.arithmetic([along, late], _near(TIME)), after.proposition)
    there = kernel.witness(_LATE, SINCE, kernel.assume(_from(SINCE, sp.Integer(0))), near)
    found = kernel.generalise(SMALL, kernel.exists_elimination(some, there), positive.proposition)
    return at_every_token(kernel, kernel.generalise(Z, found, _UNIT), CODES, I)


def proof(kernel: Kernel) -> Proved:
    """The equation by substitution; the limit from PH-T2 for the sums."""
    vanishes = kernel.part(kernel.recall(PH_T2), Converges(Zero()))
    return kernel.conjunction(_equation(kernel), vanishes, _limit(kernel, vanishes))


PH_T6 = register(
    Statement(
        id="PH-T6",
        kind=Kind.THEOREM,
        source=Source(PHAM, "absolute positional encoding; derived here", SourceKind.SUMMARISED),
        title="Absolute encodings shift the equilibrium",
        systems=("token-flow",),
        conditions=(Symmetric(A), NegativeDefinite(A), PositiveDefinite(W)),
        claims=(Formula(EQUATION), Converges(Zero()), Formula(LIMIT)),
        depends=("PH-M", "PH-T2"),
        proof=proof,
        property_tests=(encoded_is_shifted,),
    )
)
