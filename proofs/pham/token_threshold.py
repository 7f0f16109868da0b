"""PH-T3 (c) in the kernel: a token beyond a threshold grows exponentially.

With ``g = x_i^T A x_i`` and ``u_k = s_ii - ln n - s_ik``: ``e^u >= 1 + u`` gives ``p_ik (1 + u_k) <= p_ii / n``, and summed over
k ``sum_k p_ik s_ik >= s_ii - ln n``.  So ``g' >= 2 (kappa g - ln n)`` wherever ``z^T W z >= kappa z^T A z`` for all z.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.pham.energy_rates import at_time
from eigentoken.proofs.pham.softmax_sums import FORM, I, K, average, form_letter, known_form, normaliser, score
from eigentoken.proofs.steps.flow_theorems import COMPARISON, TIME, later
from eigentoken.theory.calculus import TOKENS, dot, exponential, one, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, proposition, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import Symmetric

__all__ = ["THRESHOLD", "threshold"]

KAPPA = sp.Symbol("kappa", positive=True)
LOG = sp.log(TOKENS)
HERE, Z = vector("x", I), vector("z")
FORM_AT = dot(HERE, HERE, product("A"))
WEIGHT = exponential(score(I, K)) * normaliser(I, -1)
OWN = exponential(score(I, I)) * normaliser(I, -1)

#: ``z^T W z >= kappa z^T A z``.
DOMINATES = ForAll(
    VectorLetter("z"),
    TRUE,
    proposition(sp.Ge(Tensor(dot(Z, Z, product("W"))), KAPPA * Tensor(dot(Z, Z, product("A"))), evaluate=False)),
)


def _level(time: object) -> sp.Expr:
    return 2 * KAPPA * later(Tensor(FORM_AT), time) - 2 * LOG


_GROWN = proposition(sp.Ge(_level(TIME), _level(0) * sp.exp(2 * KAPPA * TIME), evaluate=False))
_ALWAYS = ForAll(TIME, proposition(sp.Ge(TIME, 0, evaluate=False)), _GROWN)
THRESHOLD = ForAll(FORM, known_form(Symmetric(FORM)), ForAll(KAPPA, DOMINATES, ForAll(I, TRUE, _ALWAYS)))


def _gibbs(kernel: Kernel) -> Proved:
    """``sum_k p_ik s_ik >= s_ii - ln n``."""
    excess = score(I, I) - score(I, K) - one() * LOG
    each = [
        kernel.exponential_of(excess),
        kernel.product(WEIGHT, exponential(excess)),
        kernel.product(WEIGHT, excess),
        kernel.positive(WEIGHT),
    ]
    bound = sp.Le(Tensor(WEIGHT * excess), Tensor(OWN * (1 / TOKENS)) - Tensor(WEIGHT), evaluate=False)
    summed = kernel.summed(kernel.generalise(K, kernel.arithmetic(each, bound)))
    weights = kernel.arithmetic([kernel.positive(WEIGHT)], sp.Ge(Tensor(WEIGHT), 0, evaluate=False))
    mean = average(I, lambda k: score(I, k))
    parts = [score(I, I), -mean, one() * -LOG]
    facts = [
        summed,
        kernel.summand(kernel.generalise(K, weights), I),
        kernel.total(OWN, one() * -1),
        kernel.scaling(one(), -1),
        kernel.total(*parts),
        kernel.scaling(mean, -1),
        kernel.scaling(one(), -LOG),
        kernel.product(one(), one()),
        kernel.positive(one()),
    ]
    return kernel.arithmetic(facts, sp.Ge(Tensor(mean), Tensor(score(I, I)) - LOG, evaluate=False))


def threshold(kernel: Kernel) -> Proved:
    """``2 kappa g(t) - 2 ln n >= (2 kappa g(0) - 2 ln n) e^{2 kappa t}``."""
    rate = kernel.increment(FORM_AT)
    mean = average(I, lambda k: score(I, k))
    reduced = kernel.reduction(relation_of(rate.proposition).rhs.expression, mean * 2, *form_letter(kernel))
    above = kernel.instantiate(kernel.assume(DOMINATES), HERE)
    slope = sp.Ge(Rate(FORM_AT), 2 * KAPPA * Tensor(FORM_AT) - 2 * LOG, evaluate=False)
    rises = kernel.arithmetic([rate, reduced, kernel.scaling(mean, 2), _gibbs(kernel), above], slope)
    always = kernel.generalise(TIME, at_time(kernel, rises), sp.Ge(TIME, 0, evaluate=False))
    positive = kernel.arithmetic([], sp.Gt(2 * KAPPA, 0, evaluate=False))
    grown = kernel.textbook(COMPARISON, positive, always, v=FORM_AT, a=2 * KAPPA, b=2 * LOG)
    by_token = kernel.generalise(KAPPA, kernel.generalise(I, grown), DOMINATES)
    return kernel.generalise(FORM, by_token, known_form(Symmetric(FORM)))
