"""CL-1: rescaled tokens are drawn towards each other: monotone coordinates along left eigenvectors.

With ``z_i = e^{-tB} x_i`` the flow is ``z_i' = sum_j a_ij B (z_j - z_i)``; along a left eigenvector for ``lambda >= 0`` the
largest
``e^{-lambda t} w^T x_i`` does not grow and the smallest does not fall.  Nothing is asked of the scores.
Reference: Geshkovski-et-al-clusters, from a formalisation; PH-T4 is the same for the tokens themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.sources import EUCLIDEAN_CLUSTERS, recorded
from eigentoken.proofs.pham.half_spaces import EIGEN, LAM, NORMAL, W, bound, extreme, lower, said
from eigentoken.proofs.pham.softmax_sums import I, J, K, average, normaliser, score, sums_of_equals
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import attention, euclidean
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.calculus import dot, exponential, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Conjunction, ForAll, proposition, put, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant

_OWN = dot(NORMAL, vector("x", I))
_WEIGHT = exponential(score(I, K)) * normaliser(I, -1)
_GAPS = average(I, lambda k: dot(NORMAL, vector("x", k) - vector("x", I), product("B")))
#: ``w^T x_i' = w^T B x_i + sum_k a_ik w^T B (x_k - x_i)``: the flow of ``z_i``, multiplied by ``e^{tB}``.
RESCALED = ForAll(
    W,
    TRUE,
    ForAll(
        I,
        TRUE,
        said(sp.Eq, Rate(_OWN), Tensor(dot(NORMAL, vector("x", I), product("B"))) + Tensor(_GAPS)),
    ),
)
NOT_NEGATIVE, NOT_POSITIVE = (proposition(kind(LAM, 0, evaluate=False)) for kind in (sp.Ge, sp.Le))
ABOVE, BELOW = (ForAll(LAM, NOT_NEGATIVE, ForAll(W, EIGEN, bound(kind))) for kind in (sp.Le, sp.Ge))
_TOP = ForAll(J, TRUE, said(sp.Le, Tensor(dot(NORMAL, vector("x", J))), Tensor(_OWN)))
#: For ``lambda <= 0`` the largest grows at least like ``e^{lambda t}``.
SPREADS = ForAll(LAM, NOT_POSITIVE, ForAll(W, EIGEN, ForAll(I, _TOP, said(sp.Ge, Rate(_OWN), LAM * Tensor(_OWN)))))
#: ``B = lambda I``: the same along every direction, so the hull of the rescaled tokens is nested.
_SCALAR = ForAll(VectorLetter("u"), TRUE, put(EIGEN, {W: vector("u")}))
NESTED = ForAll(LAM, Conjunction((NOT_NEGATIVE, _SCALAR)), ForAll(W, TRUE, bound(sp.Le)))


def _rescaled(kernel: Kernel) -> Proved:
    rate = kernel.increment(_OWN)
    own = dot(NORMAL, vector("x", I), product("B"))
    value = relation_of(rate.proposition).rhs.expression
    facts = [rate, kernel.reduction(value, own + _GAPS), kernel.total(own, _GAPS)]
    found = kernel.arithmetic(facts, relation_of(RESCALED.body.body))
    return kernel.generalise(W, kernel.generalise(I, found))


def _spreads(kernel: Kernel) -> Proved:
    negative, eigen = kernel.assume(NOT_POSITIVE), kernel.assume(EIGEN)
    highest = kernel.instantiate(kernel.assume(_TOP), K)
    push = dot(NORMAL, vector("x", K), product("B"))
    facts = [kernel.instantiate(eigen, vector("x", K)), highest, negative, kernel.scaling(_OWN, LAM)]
    each = kernel.arithmetic(facts, sp.Ge(Tensor(push), Tensor(_OWN * LAM), evaluate=False))
    rate = kernel.increment(_OWN)
    mean = average(I, lambda k: dot(NORMAL, vector("x", k), product("B")))
    slope = kernel.arithmetic(
        [
            rate,
            kernel.reduction(relation_of(rate.proposition).rhs.expression, mean),
            sums_of_equals(kernel, each, _WEIGHT, K),
            kernel.reduction((_WEIGHT * (_OWN * LAM)).summed(K), _OWN * LAM),
            kernel.scaling(_OWN, LAM),
        ],
        relation_of(SPREADS.body.body.body),
    )
    found = kernel.generalise(W, kernel.generalise(I, slope, _TOP), EIGEN)
    return kernel.generalise(LAM, found, NOT_POSITIVE)


def proof(kernel: Kernel) -> Proved:
    """The equation; the comparison of the largest of finitely many quantities; the same in every direction."""
    bounds = [
        kernel.generalise(LAM, kernel.generalise(W, each, EIGEN), NOT_NEGATIVE)
        for each in (extreme(kernel, 1, NOT_NEGATIVE), lower(kernel, NOT_NEGATIVE))
    ]
    here = kernel.instantiate(bounds[0], LAM, kernel.assume(NOT_NEGATIVE))
    eigen = kernel.instantiate(kernel.assume(_SCALAR), W)
    nested = kernel.generalise(W, kernel.instantiate(here, W, eigen))
    scalar = kernel.generalise(LAM, nested, Conjunction((NOT_NEGATIVE, _SCALAR)))
    return kernel.conjunction(_rescaled(kernel), *bounds, _spreads(kernel), scalar)


def negative_values_spread() -> Verdict:
    """``B = W = -1``, tokens +-1: ``z = e^{t} x`` spreads, for x' - x (-1) > 0 at the upper token."""
    minus, one = ((sp.Integer(-1),),), sp.Integer(1)
    speed = velocity("token-flow", {"B": minus, "W": minus}, ((one,), (-one,)))[0][0]
    return holds("the upper rescaled token rises") if bool(sp.simplify(speed + 1) > 0) else fails(f"{speed}")


def eigenvectors(source: np.random.Generator) -> Mapping[str, float]:
    """Every real left eigenvector: the coordinates move with lambda times the gaps; highest and lowest as stated."""
    n, d = int(source.integers(2, 6)), int(source.integers(1, 5))
    x, value, scores = source.normal(size=(n, d)), source.normal(size=(d, d)), source.normal(size=(d, d)) * 2
    values, vectors = np.linalg.eig(value.T)
    speed, weights = euclidean(x, value, scores), attention(x, scores)
    worst, identity = -1.0, 0.0
    for k in np.flatnonzero(np.abs(values.imag) < 1e-12):
        u, lam = vectors[:, k].real, float(values[k].real)
        f = x @ u
        moved = speed @ u - lam * f
        identity = max(identity, gap(moved, lam * (weights @ f - f)))
        worst = max(worst, np.sign(lam) * float(moved[f.argmax()]), -np.sign(lam) * float(moved[f.argmin()]))
    return {"the equation": identity, "extremes": worst}


def several_heads(source: np.random.Generator) -> Mapping[str, float]:
    """Heads with one common left eigenvector u and eigenvalues from 0 on: the coordinate moves with the sum of the gaps."""
    n, d, heads = int(source.integers(1, 6)), int(source.integers(1, 5)), int(source.integers(1, 4))
    x, turn = source.normal(size=(n, d)), np.linalg.qr(source.normal(size=(d, d)))[0]
    speed, gaps, total = np.zeros((n, d)), np.zeros(n), 0.0
    f = x @ turn[0]
    for _ in range(heads):
        core, lam = source.normal(size=(d, d)), float(source.uniform(0, 2))
        core[0], core[0, 0] = 0.0, lam
        value, score = turn.T @ core @ turn, source.normal(size=(d, d))
        speed += euclidean(x, value, score)
        gaps += lam * (attention(x, score) @ f - f)
        total += lam
    moved = speed @ turn[0] - total * f
    return {"the equation": gap(moved, gaps), "extremes": max(float(moved[f.argmax()]), -float(moved[f.argmin()]))}


CL_1 = register(
    Statement(
        id="CL-1",
        kind=Kind.LEMMA,
        source=recorded(EUCLIDEAN_CLUSTERS, "rescaling"),
        title="Rescaled tokens: monotone coordinates and nested hulls",
        systems=("token-flow",),
        claims=tuple(map(Formula, (RESCALED, ABOVE, BELOW, SPREADS, NESTED))),
        proof=proof,
        depends=("PH-M",),
        notes=(
            Remark(
                RemarkKind.SOURCE,
                r"The record of well-posedness asks for a solution that is Lipschitz on all of $\mathbb R$; for one "
                r"token and $B = "
                r"1$ it is $e^tx_0$: read on compact intervals.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"The same for several heads with one common left eigenvector and nonnegative eigenvalues: seen on random "
                r"heads. The residual map is "
                r"PH-X2.",
            ),
        ),
        variants=(
            Variant(
                r"$\lambda \ge 0$", "$B = W = -1$, tokens $\\pm1$: the rescaled tokens spread.", negative_values_spread
            ),
        ),
        property_tests=(OnInstances(eigenvectors), OnInstances(several_heads)),
    )
)
