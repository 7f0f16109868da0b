"""Where a map on the sphere rests: the push of every token is radial, and does not turn it round.

``x_i^+ = y_i / r_i`` with ``y_i = x_i + alpha u_i`` is ``x_i`` for every i iff for every i there is a number c with
``u_i = c x_i`` and ``1 + alpha c > 0``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.steps.equations import RAW, TOKEN, Z
from eigentoken.theory.calculus import ALPHA, Expression, Norm, dot, factor, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Equivalence, Exists, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor

__all__ = ["RESTS", "C", "along", "at_rest_iff", "radial"]

_Z, _X = vector(Z.name), vector("x", TOKEN)
_LENGTH = factor(Norm("r", (TOKEN,)))
C = sp.Symbol("c", real=True)
#: ``x_i^+ = x_i``.
RESTS = ForAll(TOKEN, TRUE, ForAll(Z, TRUE, proposition(sp.Eq(Rate(dot(_Z, _X)), 0, evaluate=False))))


def along(push: Expression) -> Exists:
    """The push of token i is ``c x_i`` for a number c with ``1 + alpha c > 0``."""
    equal = proposition(sp.Eq(Tensor(dot(_Z, push)), C * Tensor(dot(_Z, _X)), evaluate=False))
    return Exists(C, proposition(1 + ALPHA * C > 0), ForAll(Z, TRUE, equal))


def at_rest_iff(push: Expression) -> Formula:
    """The map rests at the state iff every push is radial and does not turn its token round."""
    return Formula(Equivalence(RESTS, ForAll(TOKEN, TRUE, along(push))))


def radial(k: Kernel, push: Expression) -> Proved:
    """A proof of :func:`at_rest_iff`; ``push`` is ``u_i`` of the system."""
    step = k.increment(dot(_Z, _X))  # [z x_i^+] - [z x_i] = [z y_i / r_i] - [z x_i]
    length = k.positive(_LENGTH)
    split = k.factors(step.proposition.word.relation.rhs.expression)
    split = k.supply(split, *(k.arithmetic([length], each) for each in split.hypotheses))
    raw = k.reduction(dot(_Z, RAW), dot(_Z, _X) + dot(_Z, push) * ALPHA)
    apart = k.total(dot(_Z, _X), dot(_Z, push) * ALPHA)
    scaled = k.scaling(dot(_Z, push), ALPHA)
    known = (step, split, raw, apart, scaled, length)
    return k.iff(_rests_then(k, push, known), _then_rests(k, push, known))


def _rests_then(k: Kernel, push: Expression, known: tuple[Proved, ...]) -> Proved:
    resting = k.assume(RESTS)
    still = k.instantiate(k.instantiate(resting, TOKEN), Z)
    length = Tensor(_LENGTH)
    value = (length - 1) / ALPHA
    radial_ = sp.Eq(Tensor(dot(_Z, push)), value * Tensor(dot(_Z, _X)), evaluate=False)
    found = k.generalise(Z, k.arithmetic([still, *known], radial_))
    forward = k.arithmetic([known[-1]], 1 + ALPHA * value > 0)
    some = k.witness(along(push), value, forward, found)
    return k.discharge(RESTS, k.generalise(TOKEN, some))


def _then_rests(k: Kernel, push: Expression, known: tuple[Proved, ...]) -> Proved:
    every = k.assume(ForAll(TOKEN, TRUE, along(push)))
    some = k.instantiate(every, TOKEN)
    ahead, equal = k.assume(some.proposition.guard), k.assume(some.proposition.body)
    # r_i^2 = |x_i + alpha u_i|^2 = 1 + 2 alpha [x_i u_i] + alpha^2 [u_i u_i], and [x_i u_i] = c, [u_i u_i] = c^2
    own, twice = k.instantiate(equal, _X), k.instantiate(equal, push)
    pieces = (one(), dot(_X, push) * (2 * ALPHA), dot(push, push) * ALPHA**2)
    sizes = (
        k.reduction(dot(RAW, RAW), _LENGTH * _LENGTH),
        k.reduction(dot(RAW, RAW), pieces[0] + pieces[1] + pieces[2]),
        k.total(*pieces),
        k.scaling(dot(_X, push), 2 * ALPHA),
        k.scaling(dot(push, push), ALPHA**2),
        k.product(_LENGTH, _LENGTH),
        k.reduction(dot(_X, _X), one()),
        k.factors(one()),
    )
    length = k.arithmetic([own, twice, *sizes, ahead, known[-1]], sp.Eq(Tensor(_LENGTH), 1 + ALPHA * C, evaluate=False))
    still = k.arithmetic([length, k.instantiate(equal, Z), ahead, *known], RESTS.body.body)
    rests = k.exists_elimination(some, k.generalise(Z, still))
    return k.discharge(every.proposition, k.generalise(TOKEN, rests))
