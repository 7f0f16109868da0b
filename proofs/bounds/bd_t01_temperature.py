"""BD-T1, BD-T2, BD-T3: temperature and context length, for equiangular tokens and for given scores.

New here: own derivations.

``a`` is the weight of a token for itself, ``b`` for each other one; ``u = (a - b)^2``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.bd_s01_softmax import of_each_weight, proof_of_range, weights_of_a_row
from eigentoken.proofs.bounds.equiangular import outputs
from eigentoken.proofs.bounds.heads import softmax
from eigentoken.proofs.bounds.layer_claims import WIDE_ROW, wide_row
from eigentoken.proofs.bounds.lemmas import HALF
from eigentoken.proofs.bounds.placement_claims import ONE_LAYER, ROOM
from eigentoken.proofs.bounds.temperature_claims import THRESHOLD, threshold
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.exact_points import decimals
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.proportion import MultipleOf
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    SourceKind,
    Statement,
    Vector,
)


def weights(n: Any, beta: Any, rho: Any) -> tuple[Any, Any]:
    """``a`` and ``b`` for scores ``beta x_i^T x_j`` of unit tokens with the cosine rho."""
    b = 1 / (n - 1 + mp.exp(beta * (1 - rho)))
    return 1 - (n - 1) * b, b


def cosine_after(n: Any, beta: Any, rho: Any) -> Any:
    """``c_n`` of BD-T1."""
    a, b = weights(n, beta, rho)
    u = (a - b) ** 2
    even = (1 - u) / n
    return (rho + (1 - rho) * even) / (rho + (1 - rho) * (u + even))


def equiangular(n: int, rho: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """n unit vectors with that cosine, as rows."""
    gram = (1 - rho) * np.eye(n) + rho * np.ones((n, n))
    return np.asarray(np.linalg.cholesky(gram))


def one_layer(source: np.random.Generator) -> Mapping[str, float]:
    """BD-T1 against explicit tokens, n up to 50."""
    n, rho, beta = int(source.integers(2, 51)), float(source.uniform(0, 0.99)), float(source.uniform(-2, 8))
    x = equiangular(n, rho)
    y = softmax(beta * x @ x.T) @ x
    cosine = y[0] @ y[1] / (np.linalg.norm(y[0]) * np.linalg.norm(y[1]))
    return {"cosine": gap(cosine, float(cosine_after(n, mp.mpf(beta), mp.mpf(rho))))}


def thresholds(source: np.random.Generator) -> Mapping[str, float]:
    """BD-T2 at ``n = 10^400``: the limit on either side of the threshold, and on it."""
    rho = mp.mpf(float(source.uniform(0.05, 0.95)))
    with mp.workdps(450):
        n = mp.mpf(10) ** 400
        edge = 1 / (1 - rho)
        limits = {"below": (0.7, mp.mpf(1)), "on": (1, 4 * rho / (1 + 3 * rho)), "above": (1.3, rho)}
        return {
            name: gap(float(cosine_after(n, share * edge * mp.log(n), rho)), float(limit))
            for name, (share, limit) in limits.items()
        }


def _values() -> list[Any]:
    """TV-T: ``c_n`` for three instances of (n, gamma, rho)."""
    with mp.workdps(40):
        told = ((100, 1, mp.mpf(1) / 2), (4096, 2, mp.mpf(1) / 2), (100, mp.mpf(5) / 4, mp.mpf(1) / 5))
        return [cosine_after(n, gamma * mp.log(n), rho) for n, gamma, rho in told]


def _exactly(n: int, growth: int) -> sp.Expr:
    """``c_n`` for rho = 1/2, where ``e^{beta (1 - rho)}`` is a whole number."""
    rho, b = sp.Rational(1, 2), sp.Rational(1, n - 1 + growth)
    u = (1 - n * b) ** 2
    return (rho + (1 - rho) * (1 - u) / n) / (rho + (1 - rho) * (u + (1 - u) / n))


def _orthogonal() -> list[Any]:
    """rho = 0, gamma = 3/4: ``c_n`` at ``n = 10^2``."""
    with mp.workdps(40):
        return [cosine_after(100, mp.mpf(3) / 4 * mp.log(100), mp.mpf(0))]


def _no_consensus_at_zero() -> Verdict:
    """At rho = 0 the threshold is 1/2: gamma = 3/4 is below 1/(1 - rho) = 1, and ``c_n`` is 1.0e-4 at ``n = 10^8``."""
    with mp.workdps(40):
        found = cosine_after(mp.mpf(10) ** 8, mp.mpf(3) / 4 * mp.log(mp.mpf(10) ** 8), mp.mpf(0))
    return holds(f"c_n = {mp.nstr(found, 6)}, far from 1") if found < mp.mpf("2e-4") else fails(str(found))


BD_T1 = register(
    Statement(
        id="BD-T1",
        kind=Kind.LEMMA,
        source=Source(HERE, ""),
        title="One attention layer on equiangular tokens",
        systems=("token-flow",),
        conditions=(IsIdentity(matrix("B")), MultipleOf(matrix("W")), *ROOM),
        claims=(ONE_LAYER,),
        proof=lambda k: outputs(k, proposition(ONE_LAYER)),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"So, for unit tokens with cosines $\rho$, $V = I$, no skip and scores $\beta x_i^{\top}x_j$, all cosines behind "
                r"it are $c_n = \dfrac{\rho + (1 - \rho)\frac{1 - u}n}{\rho + (1 - \rho)(u + \frac{1 - u}n)}$, $u = (a - "
                r"b)^2$, $b = 1/(n - 1 + e^{\beta(1 - \rho)})$, $a = 1 - (n - 1)b$; $f_i = B\bar x_i$ is what it puts out.",
            ),
        ),
        property_tests=(OnInstances(one_layer),),
        vectors=(
            Vector(
                "TV-T",
                _values,
                ("0.993294701986754967", "0.800068357467371929", "0.50993162243584"),
            ),
            Vector(
                "TV-T in exact numbers: n^{gamma (1 - rho)} = 10 and 4096",
                lambda: [_exactly(100, 10), _exactly(4096, 4096)],
                decimals("11999/12080", "67104767/83873792"),
            ),
        ),
    )
)

BD_T2 = register(
    Statement(
        id="BD-T2",
        kind=Kind.THEOREM,
        source=Source(HERE, "for the threshold of Chen-Lin-Polyanskiy-Rigollet, whose printed form was not read"),
        title="The threshold of the temperature for long contexts",
        claims=tuple(map(Formula, THRESHOLD)),
        proof=threshold,
        depends=("BD-T1",),
        property_tests=(OnInstances(thresholds),),
        printed=Printed(
            text=r"For tokens with the cosine $\rho$ the threshold is $\gamma = \frac1{1-\rho}$.",
            wrong=r"It needs $\rho > 0$: at $\rho = 0$ it is $\frac12$, not 1. Whether the printed theorem says so "
            r"was not read.",
            kind=SourceKind.SUMMARISED,
            counterexamples=(
                Counterexample(
                    "orthogonal tokens",
                    r"$\rho = 0$, $\gamma = \frac34 < 1$: $c_n$ is $1.0\cdot10^{-4}$ at $n = 10^8$.",
                    {"rho": "0", "gamma": "3/4", "n": "100000000"},
                    _no_consensus_at_zero,
                ),
            ),
        ),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$E = e^{\beta(1 - \rho)}$, and the left side of the first claim is the cosine $c_n$ of BD-T1; in the fourth "
                r"claim $E = n$, in the last three $\rho = 0$.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"With $\beta = \gamma\ln n$ is $E = n^{\gamma(1 - \rho)}$, and the bounds give the limits as $n$ grows: for a "
                r"fixed $\rho$ in $(0, 1)$ $c_n \to 1$ if $\gamma < \frac1{1 - \rho}$, $\frac{4\rho}{1 + 3\rho}$ on the "
                r"threshold, $\rho$ above it; for $\rho = 0$ the threshold is $\gamma = \frac12$, with the limits "
                r"$1, \frac12, 0$.",
            ),
        ),
        vectors=(Vector("rho = 0, gamma = 3/4, n = 100", _orthogonal, ("0.146720",)),),
    )
)


def _diffuse(k: Kernel) -> Proved:
    """The width of a row, and the last claim of BD-S3."""
    half = proof_of_range(k)
    return k.conjunction(wide_row(k), k.part(half, half.proposition.parts[2]))


BD_T3 = register(
    Statement(
        id="BD-T3",
        kind=Kind.REMARK,
        source=Source(HERE, ""),
        title="The context length beyond which a head is diffuse",
        claims=(Formula(WIDE_ROW), of_each_weight(HALF)),
        proof=_diffuse,
        depends=("BD-S3", "BD-N1"),
        property_tests=(OnInstances(weights_of_a_row),),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"At given tokens $R$ and $Q$ are the largest lengths of a key and of a query; from the weights alone, with "
                r"the radius of BD-N1, they are larger, and so is $w = 2RQ$.",
            ),
        ),
    )
)
