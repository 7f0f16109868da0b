"""States of the attention map without push, and states on one line.

If ``m_i = sum_j a_ij x_j`` vanishes for every token, there is no push and the map rests.  On the line of a vector v the push is
along ``V v``: at rest every ``m_i`` vanishes, or v is an eigenvector.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.power_method.pm_e08_attention_map import OTHER, attention_weight, push
from eigentoken.proofs.power_method.pm_l12_jacobian_at_bipartite import LINE, ON_THE_LINE, sigma
from eigentoken.proofs.steps.equations import TOKEN, Z, at_every_token, for_every
from eigentoken.proofs.steps.fixed_points import RESTS, C, along, radial
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.theory.calculus import Letter, dot, matrix, vector
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    Exists,
    Implication,
    Negation,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor

__all__ = ["ANTIPODAL", "POLYGONAL", "antipodal", "polygonal"]

_Z, _V, _X = vector(Z.name), vector(LINE.name), vector("x", TOKEN)
_TURNED = _Z.applied((Letter("V", True),))
_MEAN = (attention_weight() * vector("x", OTHER)).summed(OTHER)
#: ``sum_j a_ij x_j = 0`` for every token.
NO_MEAN = for_every(sp.Eq(Tensor(dot(_Z, _MEAN)), 0, evaluate=False), TOKEN, Z)
#: Then the map rests.
POLYGONAL = Implication(NO_MEAN, RESTS)
#: ``V v = c v`` for some c.
_IMAGE = dot(_Z, _V.applied(matrix("V")))
_EIGEN = Exists(C, TRUE, for_every(sp.Eq(Tensor(_IMAGE), C * Tensor(dot(_Z, _V)), evaluate=False), Z))
_PLACE = Conjunction((ON_THE_LINE, RESTS))
#: Tokens on the line of v that rest have no such mean, or v is an eigenvector.
ANTIPODAL = for_every(Implication(_PLACE, Disjunction((NO_MEAN, _EIGEN))), LINE)


def polygonal(k: Kernel) -> Proved:
    """A proof of :data:`POLYGONAL`: the push is 0 times the token."""
    here = k.instantiate(k.instantiate(k.assume(NO_MEAN), TOKEN), _TURNED)
    zero = sp.Eq(Tensor(dot(_Z, push())), 0 * Tensor(dot(_Z, _X)), evaluate=False)
    none = k.arithmetic([here, expanded(k, dot(_Z, push()), (1, dot(_TURNED, _MEAN)))], zero)
    some = k.witness(along(push()), sp.Integer(0), k.arithmetic([], sp.Gt(1, 0, evaluate=False)), k.generalise(Z, none))
    return k.discharge(NO_MEAN, k.modus_ponens(radial(k, push()), k.generalise(TOKEN, some)))


def _height(k: Kernel, line: Proved) -> Proved:
    """``m_i = beta_i v`` with ``beta_i = sum_j a_ij sigma_j``, for every z."""
    own, weight = dot(_Z, vector("x", OTHER)), attention_weight()
    each = k.arithmetic(
        [
            *(k.instantiate(k.instantiate(line, OTHER), Z), k.product(sigma(OTHER), dot(_Z, _V))),
            *(k.product(weight, own), k.product(weight, sigma(OTHER)), k.product(weight * sigma(OTHER), dot(_Z, _V))),
        ],
        sp.Eq(Tensor(weight * own), Tensor(weight * sigma(OTHER) * dot(_Z, _V)), evaluate=False),
    )
    mean = (weight * sigma(OTHER)).summed(OTHER)
    known = [
        k.summed(k.generalise(OTHER, each)),
        expanded(k, dot(_Z, _MEAN), (1, (weight * own).summed(OTHER))),
        expanded(k, (weight * sigma(OTHER) * dot(_Z, _V)).summed(OTHER), (1, mean, dot(_Z, _V))),
    ]
    equal = sp.Eq(Tensor(dot(_Z, _MEAN)), Tensor(mean) * Tensor(dot(_Z, _V)), evaluate=False)
    return k.generalise(Z, k.arithmetic(known, equal))


def antipodal(k: Kernel) -> Proved:
    """A proof of :data:`ANTIPODAL`: where some ``beta_i != 0``, ``V v = (c_i sigma_i / beta_i) v``."""
    place = k.assume(_PLACE)
    line = k.part(place, ON_THE_LINE)
    height, beta = _height(k, line), Tensor((attention_weight() * sigma(OTHER)).summed(OTHER))
    rests = k.instantiate(k.modus_ponens(radial(k, push()), k.part(place, RESTS)), TOKEN)
    pushed = k.instantiate(k.assume(rests.proposition.body), Z)
    own = k.instantiate(k.instantiate(line, TOKEN), Z)
    side, apart = Tensor(sigma(TOKEN)), proposition(sp.Ne(beta, 0))
    known = [
        *(k.instantiate(height, _TURNED), pushed, own, k.product(sigma(TOKEN), dot(_Z, _V)), k.assume(apart)),
        expanded(k, dot(_Z, push()), (1, dot(_TURNED, _MEAN))),
        expanded(k, dot(_TURNED, _V), (1, _IMAGE)),
    ]
    value = C * side / beta
    image = k.generalise(Z, k.arithmetic(known, sp.Eq(Tensor(_IMAGE), value * Tensor(dot(_Z, _V)), evaluate=False)))
    some = k.exists_elimination(rests, k.witness(_EIGEN, value, image, k.assume(apart)))
    zero = proposition(sp.Eq(beta, 0, evaluate=False))
    still = NO_MEAN.body.body
    none = k.assume(Negation(_EIGEN))
    no_height = k.by_cases(
        k.arithmetic([], Disjunction((zero, apart))), (zero, k.assume(zero)), (apart, k.tautology([some, none], zero))
    )
    gone = k.arithmetic([no_height, k.instantiate(height, Z)], still)
    either = k.discharge(none.proposition, at_every_token(k, gone, TOKEN, Z))
    whole = k.tautology([either], ANTIPODAL.body.right)
    return k.generalise(LINE, k.discharge(_PLACE, whole))
