"""PH-X3: tokens that tend to zero do so at an algebraic rate, and not faster: both bounds, at any state.

``B = -W`` (every case of PH-T2 is of this form after ``x -> |A|^{1/2} x``), ``mu = lambda_min(sym W) > 0``.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.rows import I, J, K, for_all
from eigentoken.proofs.new_results.needed import one_token_grows, without_values_nothing_falls
from eigentoken.proofs.pham.late_mean import late_means, slaved_means
from eigentoken.proofs.properties.checks import OnInstances, above
from eigentoken.theory.calculus import Expression, Index, dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.propositions import Disjunction, Implication, proposition
from eigentoken.theory.kernel.tensors import Rate, Tensor
from eigentoken.theory.language.conditions import PositiveDefinite
from eigentoken.theory.language.matrix_words import IsZero
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm, d, matrix, n, sym
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

B, W = matrix("B"), matrix("W")
_OTHER = Index("token", "k")


def _square(given: Expression) -> Expression:
    return dot(given, given)


_ENERGY = _square(vector("x", I)).summed(I) / 2
_E, _MU, _SIZE = Tensor(_ENERGY), Eigenvalue(sym(W), d), SpectralNorm(W)
_FALLS = (_MU * _E, 2 * _MU**2 * sp.exp(-8 * _SIZE * _E) * _E**2 / (n * d))
#: ``-E' >= min(mu E, 2 mu^2 e^{-8 |W| E} E^2/(n d))``, ``E = sum_i |x_i|^2/2``.
FALLS = Disjunction(tuple(proposition(sp.Le(Rate(_ENERGY), -each, evaluate=False)) for each in _FALLS))

_APART = _square(vector("x", I) - vector("x", _OTHER))
_WIDEST = for_all(sp.Le(Tensor(_square(vector("x", J) - vector("x", K))), Tensor(_APART), evaluate=False), J, K)
#: ``Delta' >= -|W|^2 Delta^2/2`` at a widest pair, ``Delta = |x_i - x_k|^2``.
NOT_FASTER = for_all(
    Implication(_WIDEST, proposition(sp.Ge(Rate(_APART), -(_SIZE**2) * Tensor(_APART) ** 2 / 2, evaluate=False))),
    I,
    _OTHER,
)


def _rates(x: Any, score: Any) -> tuple[Any, Any]:
    """Velocity of the flow with B = -W, and the squares of the distances."""
    weights = np.exp(x @ score @ x.T)
    speed = -(weights / weights.sum(1, keepdims=True)) @ x @ score.T
    return speed, ((x[:, None] - x[None]) ** 2).sum(-1)


def both_rates(source: np.random.Generator) -> Mapping[str, float]:
    """Energy and widest distance at a random state, tokens of many sizes."""
    many, size = int(source.integers(1, 6)), int(source.integers(1, 5))
    x = source.normal(size=(many, size)) * source.choice([0.05, 0.5, 2.0])
    root, skew = source.normal(size=(size, size)), source.normal(size=(size, size))
    score = root @ root.T / size + 0.05 * np.eye(size) + (skew - skew.T) / 2
    speed, apart = _rates(x, score)
    mu, norm = float(np.linalg.eigvalsh((score + score.T) / 2)[0]), float(np.linalg.norm(score, 2))
    energy = float((x**2).sum() / 2)
    least = min(mu * energy, 2 * mu**2 * np.exp(-8 * norm * energy) * energy**2 / (many * size))
    i, k = np.unravel_index(int(apart.argmax()), apart.shape)
    change = float(2 * (x[i] - x[k]) @ (speed[i] - speed[k]))
    return {
        "falls": above(-float((x * speed).sum()), least),
        "not faster": above(change, -(norm**2) * float(apart[i, k]) ** 2 / 2),
    }


def not_the_widest() -> Verdict:
    """``W = 1``, ``B = -1``, tokens 0, 1/10, 3, -3: the gap of the first two falls faster than its own square allows."""
    tokens = [sp.Integer(0), sp.Rational(1, 10), sp.Integer(3), sp.Integer(-3)]

    def speed(x: Any) -> Any:
        weights = [sp.exp(x * each) for each in tokens]
        return -sum(w * each for w, each in zip(weights, tokens, strict=True)) / sum(weights)

    gap_of = tokens[1] - tokens[0]
    change = evaluate(2 * gap_of * (speed(tokens[1]) - speed(tokens[0])) + gap_of**4 / 2, 30)
    return holds(f"rate plus bound {change} < 0") if change.real < 0 else fails(str(change))


_LINE, _LATE = ("1", "0.2", "-0.9"), (1e2, 1e3, 1e4)

PH_X3 = register(
    Statement(
        id="PH-X3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the rate sentence of PH-T2"),
        title="Collapse to zero is algebraic: the rate, and that it is not faster",
        systems=("token-flow",),
        conditions=(IsZero(B + W), PositiveDefinite(W)),
        claims=(Formula(FALLS), Formula(NOT_FASTER)),
        depends=("PH-T2",),
        property_tests=(OnInstances(both_rates),),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"So $E(t) \le E_0/(1 + \frac{2\kappa}nE_0t)$ with $\kappa = \min\{\frac{\mu n}{2E_0}, \frac{\mu^2"
                r"e^{-8\lVert W\rVert E_0}}d\}$ and $\Delta(t) \ge \Delta_0/(1 + \frac12\lVert W\rVert^2\Delta_0t)$: unless "
                r"all tokens coincide $E$ is of order $1/t$. The mean is $O(t^{-5/2})$; for two tokens it decays "
                r"exponentially. On the line with $W = w$, $B = -b$ the shape $(x_l - \bar x)/\sqrt{\kappa_2}$ converges and "
                r"$(2bwt)^{5/2}\bar x \to -\frac12w^2\gamma$, $\gamma$ the skewness of the limit shape. Seen on the "
                r"vectors of PH-T2.",
            ),
        ),
        vectors=(
            Vector(
                "W = 1, B = -1 from (1, 0.2, -0.9): the mean at t = 10^3, and over -(1/2) kappa_2 kappa_3 at 10^2, 10^3, 10^4",
                lambda: [late_means(_LINE, _LATE)[1][0], *slaved_means(_LINE, _LATE)],
                ("4.1725896E-10", "1.017907", "1.001754", "1.000175"),
            ),
        ),
        variants=(
            Variant("IsZero(B + W)", "$B = 0$, $W = 1$: nothing moves.", without_values_nothing_falls),
            Variant("PositiveDefinite(W)", "$W = -1$, $B = 1$, one token: it grows.", one_token_grows),
            Variant("a widest pair", "W = 1, tokens 0, 1/10, 3, -3: an inner pair", not_the_widest),
        ),
    )
)
