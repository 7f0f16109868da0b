"""PH-M in the kernel: the equation, what A does to it, the growth of the norms, consensus states and states at rest."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.energy_rates import at_time
from eigentoken.proofs.pham.softmax_sums import FORM, IS_FORM, I, J, K, average, normaliser, score, sums_of_equals
from eigentoken.proofs.steps.flow_theorems import BOUND, LARGEST, NORM_BOUND, TIME, later
from eigentoken.theory.calculus import SLOT, Expression, dot, exponential, one, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, Proposition, proposition, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.terms import SpectralNorm, matrix

__all__ = ["CLAIMS", "HEIGHT", "equation", "proof"]

U, C, Z = VectorLetter("u"), VectorLetter("c"), VectorLetter("z")
HERE = vector("x", I)
NORM = SpectralNorm(matrix("B"))


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, right, evaluate=False))


def _each_token(body: Proposition) -> ForAll:
    """For every vector u and every token i."""
    return ForAll(U, TRUE, ForAll(I, TRUE, body))


def _pushed(k: Any) -> Expression:
    return dot(vector("u"), vector("x", k), product("B"))


def _scored(k: Any) -> Expression:
    return dot(vector("u"), vector("x", k), product("W"))


HEIGHT = Rate(dot(vector("u"), HERE))
EQUATION = _each_token(_said(sp.Eq, HEIGHT, Tensor(average(I, _pushed))))
_PAIRED = Rate(dot(vector("u"), HERE, product("A")))
KEY = ForAll(FORM, IS_FORM, _each_token(_said(sp.Eq, _PAIRED, Tensor(average(I, _scored)))))
#: All tokens are at c.
AT_ONE_POINT = ForAll(
    Z, TRUE, ForAll(I, TRUE, _said(sp.Eq, Tensor(dot(vector("z"), HERE)), Tensor(dot(vector("z"), vector("c")))))
)
CONSENSUS = ForAll(
    C, AT_ONE_POINT, _each_token(_said(sp.Eq, HEIGHT, Tensor(dot(vector("u"), vector("c"), product("B")))))
)
#: All scores vanish, and the tokens sum to zero.
FLAT = Conjunction(
    (
        ForAll(I, TRUE, ForAll(J, TRUE, _said(sp.Eq, Tensor(score(I, J)), sp.Integer(0)))),
        ForAll(Z, TRUE, _said(sp.Eq, Tensor(dot(vector("z"), vector("x", K).summed(K))), sp.Integer(0))),
    )
)
REST = ForAll(VectorLetter("x"), FLAT, _each_token(_said(sp.Eq, HEIGHT, sp.Integer(0))))
_SIZE = Tensor(dot(HERE, HERE))
_BELOW = ForAll(I, TRUE, _said(sp.Le, later(_SIZE, 0), BOUND))
_GROWN = ForAll(I, TRUE, _said(sp.Le, later(_SIZE), sp.exp(2 * NORM * TIME) * BOUND))
GROWTH = ForAll(BOUND, _BELOW, ForAll(TIME, _said(sp.Ge, TIME, sp.Integer(0)), _GROWN))

CLAIMS: tuple[Claim, ...] = tuple(map(Formula, (EQUATION, KEY, GROWTH, CONSENSUS, REST)))


def equation(kernel: Kernel) -> Proved:
    """``(u^T x_i)' = sum_k p_ik u^T B x_k``."""
    rate = kernel.increment(dot(vector("u"), HERE))
    found = kernel.reduction(relation_of(rate.proposition).rhs.expression, average(I, _pushed))
    return kernel.arithmetic([rate, found], relation_of(EQUATION.body.body))


def _everywhere(kernel: Kernel, proved: Proved) -> Proved:
    return kernel.generalise(U, kernel.generalise(I, proved))


def _key(kernel: Kernel) -> Proved:
    rate = kernel.increment(dot(vector("u"), HERE, product("A")))
    value = relation_of(rate.proposition).rhs.expression
    found = kernel.reduction(value, average(I, _scored), kernel.assume(IS_FORM))
    paired = kernel.arithmetic([rate, found], relation_of(KEY.body.body.body))
    return kernel.generalise(FORM, _everywhere(kernel, paired), IS_FORM)


def _growth(kernel: Kernel) -> Proved:
    """Where ``|x_i|^2`` is the largest, its rate is at most ``2 |B| |x_i|^2``."""
    top = ForAll(J, TRUE, _said(sp.Le, Tensor(dot(vector("x", J), vector("x", J))), _SIZE))
    other = kernel.instantiate(kernel.assume(top), K)
    bound = kernel.textbook(NORM_BOUND, X=matrix("B"), a=HERE, b=vector("x", K))
    pair, size = dot(HERE, vector("x", K), product("B")), dot(HERE, HERE)
    scaled = kernel.scaling(size, NORM)
    each = kernel.arithmetic([bound, other, scaled], sp.Le(Tensor(pair), Tensor(size * NORM), evaluate=False))
    weight = exponential(score(I, K)) * normaliser(I, -1)
    summed = sums_of_equals(kernel, each, weight, K)
    rate = kernel.increment(size)
    mean = average(I, lambda k: dot(HERE, vector("x", k), product("B")))
    facts = [
        rate,
        kernel.reduction(relation_of(rate.proposition).rhs.expression, mean * 2),
        kernel.scaling(mean, 2),
        summed,
        kernel.reduction((weight * (size * NORM)).summed(K), size * NORM),
        scaled,
    ]
    slope = kernel.arithmetic(facts, sp.Le(Rate(size), 2 * NORM * Tensor(size), evaluate=False))
    highest = at_time(kernel, kernel.generalise(I, slope, top))
    always = kernel.generalise(TIME, highest, sp.Ge(TIME, 0, evaluate=False))
    return kernel.textbook(LARGEST, always, h=dot(vector("x", SLOT), vector("x", SLOT)), c=2 * NORM)


def _consensus(kernel: Kernel) -> Proved:
    """Every token of the average is c, and the weights sum to one."""
    here = kernel.instantiate(kernel.assume(AT_ONE_POINT), vector("u").applied(product("B^T")))
    equal = kernel.instantiate(here, K)
    weight = exponential(score(I, K)) * normaliser(I, -1)
    summed = sums_of_equals(kernel, equal, weight, K)
    point = dot(vector("u"), vector("c"), product("B"))
    whole = kernel.reduction((weight * point).summed(K), point)
    moved = kernel.arithmetic([equation(kernel), summed, whole], relation_of(CONSENSUS.body.body.body))
    return kernel.generalise(C, _everywhere(kernel, moved), AT_ONE_POINT)


def _rest(kernel: Kernel) -> Proved:
    """All weights are ``1/n``, and the mean token is zero."""
    flat = kernel.assume(FLAT)
    scores, total = (kernel.part(flat, each) for each in FLAT.parts)
    none = kernel.instantiate(kernel.instantiate(scores, I), K)
    alike = kernel.arithmetic(
        [kernel.exponential_of(score(I, K)), none, kernel.product(one(), one()), kernel.positive(one())],
        sp.Eq(Tensor(exponential(score(I, K))), Tensor(one())),
    )
    push = _pushed(K)
    facts = [kernel.product(exponential(score(I, K)), push), alike, kernel.product(one(), push)]
    unweighted = kernel.arithmetic(facts, sp.Eq(Tensor(exponential(score(I, K)) * push), Tensor(push)))
    summed = kernel.summed(kernel.generalise(K, unweighted))
    centred = kernel.instantiate(total, vector("u").applied(product("B^T")))
    shared = (exponential(score(I, K)) * push).summed(K)
    split = kernel.product(normaliser(I, -1), shared)
    still = kernel.arithmetic([equation(kernel), split, summed, centred], sp.Eq(HEIGHT, 0, evaluate=False))
    return kernel.generalise(VectorLetter("x"), _everywhere(kernel, still), FLAT)


def proof(kernel: Kernel) -> Proved:
    """The equation; the key identity; growth; consensus; rest."""
    parts = (_everywhere(kernel, equation(kernel)), _key(kernel), _growth(kernel), _consensus(kernel), _rest(kernel))
    return kernel.conjunction(*parts)
