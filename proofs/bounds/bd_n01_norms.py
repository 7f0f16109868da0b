"""BD-N1, BD-N2, BD-N3: RMSNorm and LayerNorm: radius of the image, derivative, directions.

New here: own derivations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.heads import norm, norm_derivative, normalised
from eigentoken.proofs.bounds.norm_claims import (
    CENTRED_NORM_DERIVATIVE,
    DERIVATIVE_BOUND,
    NORM_DERIVATIVE,
    RADIUS_OF_A_CENTRED_NORM,
    RADIUS_OF_A_NORM,
    derivatives,
    radii,
)
from eigentoken.proofs.bounds.rows import for_all
from eigentoken.proofs.properties.checks import OnInstances, above, gap
from eigentoken.proofs.properties.exact_points import decimals
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector


def _drawn(source: np.random.Generator) -> tuple[Any, Any, Any, float, bool]:
    d = int(source.integers(2, 7))
    x, gain = source.normal(size=d) * source.choice([0.01, 1.0, 50.0]), source.normal(size=d)
    bias = source.normal(size=d) if source.random() < 0.5 else np.zeros(d)
    return x, gain, bias, float(source.choice([0.0, 1e-6, 0.1])), bool(source.random() < 0.5)


def radius(gain: Any, bias: Any, centre: bool) -> float:
    """``sqrt(d) |diag(g) Pi| + |b|``, without Pi for RMSNorm."""
    d = len(gain)
    inner = np.eye(d) - (np.ones((d, d)) / d if centre else 0)
    return float(np.sqrt(d) * norm(np.diag(gain) @ inner) + np.linalg.norm(bias))


def image_of_a_norm(source: np.random.Generator) -> Mapping[str, float]:
    """BD-N1: the length of the image, and ``sqrt(d) max|g|`` above the sharp radius of LayerNorm."""
    x, gain, bias, eps, centre = _drawn(source)
    size = float(np.linalg.norm(normalised(x, gain, bias, eps, centre=centre)))
    sharp = radius(gain, bias, centre)
    plain = np.sqrt(len(x)) * np.abs(gain).max() + np.linalg.norm(bias)
    return {"radius": above(sharp, size), "plain": above(plain, sharp)}


def derivative_of_a_norm(source: np.random.Generator) -> Mapping[str, float]:
    """BD-N2 against central differences, and the bound ``max|g| / sigma``."""
    x, gain, _, eps, centre = _drawn(source)
    x = x / np.linalg.norm(x)
    found = norm_derivative(x, gain, eps, centre=centre)
    step, none = 1e-5, np.zeros(len(x))
    columns = [
        (
            normalised(x + step * e, gain, none, eps, centre=centre)
            - normalised(x - step * e, gain, none, eps, centre=centre)
        )
        / (2 * step)
        for e in np.eye(len(x))
    ]
    y = x - x.mean() if centre else x
    sigma = float(np.sqrt((y**2).mean() + eps))
    if sigma < 0.05:  # the differences would be those of a kink
        return {"bound": above(np.abs(gain).max() / sigma, norm(found))}
    return {
        "derivative": gap(np.array(columns).T * sigma**3, found * sigma**3),
        "bound": above(np.abs(gain).max() / sigma, norm(found)),
    }


def directions(source: np.random.Generator) -> Mapping[str, float]:
    """BD-N3: the identity, and the inequality for RMSNorm and LayerNorm with and without epsilon."""
    a, gain, _, eps, centre = _drawn(source)
    b = source.normal(size=len(a))
    la, lb = np.linalg.norm(a), np.linalg.norm(b)
    left, right = ((a / la - b / lb) ** 2).sum(), (((a - b) ** 2).sum() - (la - lb) ** 2) / (la * lb)
    rows = np.stack([a, b])
    out = normalised(rows, gain, np.zeros(len(a)), eps, centre=centre)
    y = rows - rows.mean(1, keepdims=True) if centre else rows
    sizes = np.sqrt(len(a) * ((y**2).mean(1) + eps))
    bound = np.abs(gain).max() * np.sqrt(len(a)) * np.linalg.norm(y[0] - y[1]) / np.sqrt(sizes[0] * sizes[1])
    return {"identity": gap(left, right), "distance": above(bound, np.linalg.norm(out[0] - out[1]))}


# -- the identity in the kernel -----------------------------------------------------------------------------------------------

_A, _B = VectorLetter("a"), VectorLetter("b")
_R, _S = sp.symbols("r s", positive=True)
_a, _b = vector("a"), vector("b")
_UNIT, _GAP = _a / _R - _b / _S, _a - _b
_LENGTHS = Conjunction(
    (
        proposition(sp.Eq(Tensor(dot(_a, _a)), _R**2, evaluate=False)),
        proposition(sp.Eq(Tensor(dot(_b, _b)), _S**2, evaluate=False)),
    )
)
_EQUAL = sp.Eq(Tensor(dot(_UNIT, _UNIT)), (Tensor(dot(_GAP, _GAP)) - (_R - _S) ** 2) / (_R * _S), evaluate=False)
_BELOW = sp.Le(Tensor(dot(_UNIT, _UNIT)), Tensor(dot(_GAP, _GAP)) / (_R * _S), evaluate=False)
_LETTERS = (_A, _B, _R, _S)


def proof_of_directions(k: Kernel) -> Proved:
    """Multiply out ``|a/r - b/s|^2`` and ``|a - b|^2``."""
    known = [
        expanded(
            k, dot(_UNIT, _UNIT), (1 / _R**2, dot(_a, _a)), (-2 / (_R * _S), dot(_a, _b)), (1 / _S**2, dot(_b, _b))
        ),
        expanded(k, dot(_GAP, _GAP), (1, dot(_a, _a)), (-2, dot(_a, _b)), (1, dot(_b, _b))),
        k.assume(_LENGTHS),
    ]
    equal = k.arithmetic(known, _EQUAL)
    ends = []
    for each in (equal, k.arithmetic([equal], _BELOW)):
        found = k.discharge(_LENGTHS, each)
        for letter in reversed(_LETTERS):
            found = k.generalise(letter, found)
        ends.append(found)
    return k.conjunction(*ends)


def _sides() -> list[Any]:
    a, b = sp.Matrix([3, 4, 0]), sp.Matrix([1, -2, 2])
    la, lb = a.norm(), b.norm()
    left = (a / la - b / lb).norm() ** 2
    return [left, ((a - b).norm() ** 2 - (la - lb) ** 2) / (la * lb)]


def _layernorm_radius() -> list[Any]:
    """``sqrt(2) |diag(3, 4) Pi|``, and the plain ``4 sqrt(2)``."""
    inner = sp.diag(3, 4) * (sp.eye(2) - sp.ones(2, 2) / 2)
    return [sp.sqrt(2 * max((inner.T * inner).eigenvals())), 4 * sp.sqrt(2)]


def _mean_gain() -> Verdict:
    """``sqrt(d) mean|g|`` is below the length of the image of e_1 under RMSNorm with g = (3, 1)."""
    size, bound = 3 * sp.sqrt(2), sp.sqrt(2) * 2
    return holds(f"length {size} > {bound}") if size > bound else fails(f"{size} <= {bound}")


BD_N1 = register(
    Statement(
        id="BD-N1",
        kind=Kind.LEMMA,
        source=Source(HERE, ""),
        title="The radius of what a norm puts out",
        systems=("pre-norm-flow",),
        claims=(Formula(RADIUS_OF_A_NORM), Formula(RADIUS_OF_A_CENTRED_NORM)),
        proof=radii,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"RMSNorm $x \mapsto g \odot x/\sqrt{|x|^2/d + \epsilon} + b$ is $sGw + b$ with $w = x$, $G = "
                r"\operatorname{diag}(g)$ and $s \le \sqrt d/|x|$; its radius is $\sqrt d\max_k|g_k| + |b|$. For LayerNorm "
                r"$w = \Pi_dx$ with $\Pi_d = I - \frac1d\mathbf 1\mathbf 1^{\top}$, $f$ is $\mathbf 1$, and the least $c$ is "
                r"$\lVert\operatorname{diag}(g)\Pi_d\rVert$.",
            ),
            Remark(RemarkKind.OPEN, "Both radii are suprema when $b = 0$: seen on the vector, not proved here."),
        ),
        property_tests=(OnInstances(image_of_a_norm),),
        vectors=(Vector("TV-N1: LayerNorm, g = (3, 4), and 4 sqrt(2)", _layernorm_radius, ("5", "5.656854249492380")),),
        variants=(Variant("max|g|", "the mean gain: g = (3, 1), x = e_1", _mean_gain),),
    )
)

BD_N2 = register(
    Statement(
        id="BD-N2",
        kind=Kind.LEMMA,
        source=Source(HERE, ""),
        title="The derivative of a norm",
        systems=("token-flow",),
        claims=(Formula(NORM_DERIVATIVE), Formula(CENTRED_NORM_DERIVATIVE), Formula(DERIVATIVE_BOUND)),
        proof=derivatives,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"Of the quotients that norms are, $B$ in the place of the gain $\operatorname{diag}(g)$: with "
                r"$\sigma = |x|/\sqrt d$ this is $D\,\mathrm{RMS}(x) = "
                r"\frac1\sigma\mathrm{diag}(g)(I - \frac{xx^{\top}}{d\sigma^2})$ and, for $z = \Pi_dx/\sigma$, "
                r"$D\,\mathrm{LN}(x) = \frac1\sigma\mathrm{diag}(g)(I - \frac{\mathbf 1\mathbf 1^{\top}}d - "
                r"\frac{zz^{\top}}d)$, with norms of at most $\max_k|g_k|/\sigma(x)$. The system of the claims is a flow of "
                r"tokens in Euclidean space: only its states enter. An $\epsilon > 0$ acts as one more coordinate.",
            ),
        ),
        property_tests=(OnInstances(derivative_of_a_norm),),
    )
)

BD_N3 = register(
    Statement(
        id="BD-N3",
        kind=Kind.LEMMA,
        source=Source(HERE, ""),
        title="The distance of two directions",
        claims=tuple(
            Formula(for_all(Implication(_LENGTHS, proposition(each)), *_LETTERS)) for each in (_EQUAL, _BELOW)
        ),
        proof=proof_of_directions,
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Behind RMSNorm without $\epsilon$: $|N(y_i) - N(y_j)| \le \max_k|g_k|\sqrt d\,|y_i - y_j|/\sqrt{|y_i||y_j|}$; "
                r"for LayerNorm with centred $y$; with $\epsilon > 0$ with $\sqrt d\,\sigma$ in the place of $|y|$: seen on "
                r"random "
                r"vectors.",
            ),
        ),
        property_tests=(OnInstances(directions),),
        vectors=(Vector("TV-N3: both sides", _sides, decimals("8/3", "8/3")),),
    )
)
