"""PH-X2: the residual map: all tokens on one side of a left eigenvector grow together, and their directions agree in the limit.

``x_l^+ = x_l + tau sum_i p_li B x_i`` with any row-stochastic weights; ``H_l = u^T x_l > 0``.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.clusters.residual_steps import STEPS, steps
from eigentoken.proofs.pham.ph_t03_divergence import middle_token_stays
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.token_fields import Array, attention
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.claims import Diverges, ForwardInvariant, When
from eigentoken.theory.language.conditions import AllOf, InHemisphere, Relation, SimpleTop
from eigentoken.theory.language.places import Hemisphere
from eigentoken.theory.language.terms import Eigenvalue, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.statements.layer_systems import ANY, Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality

VALUE = np.array([[0.5, 1.0], [0.0, -0.2]])
SCORE = np.array([[1.0, 0.5], [-0.5, 1.0]])
LEFT = np.array([1.0, 10 / 7])
TOKENS = np.array([[1.0, 0.0], [0.5, 0.3], [2.0, -1.0]])


def residual(x: Array, value: Array, weights: Array, tau: float) -> Array:
    """``x_l + tau sum_i p_li B x_i``."""
    return np.asarray(x + tau * weights @ x @ value.T)


def example() -> list[float]:
    """Heights at the start, after one and after ten steps, and the two bounds then."""
    x, found = TOKENS, [*map(float, TOKENS @ LEFT)]
    low, high = float((x @ LEFT).min()), float((x @ LEFT).max())
    for number in range(1, 11):
        x = residual(x, VALUE, attention(x, SCORE), 0.2)
        if number in (1, 10):
            found += [*map(float, x @ LEFT)]
    return [*found, 1.1**10 * low, 1.1**10 * high]


def derive() -> Derivation:
    """One step of the heights, the recursion of the directions, and its factor."""
    lam, tau, weight, height, low, high, rho, sums, least = sp.symbols("lambda tau p h m M rho g beta", positive=True)
    own, pushed = sp.symbols("r B", real=True)
    return Derivation(
        (
            Inequality(
                name="heights",
                says="$H_l^+ = H_l + \\tau\\lambda\\sum_ip_{li}H_i$: each summand lies between its values at the lowest and the "
                "highest height, so $\\min H$ and $\\max H$ grow by at least, at most, $1 + \\tau\\lambda$.",
                hypotheses=(low <= height, height <= high),
                conclusion=sp.And(
                    tau * lam * weight * height >= tau * lam * weight * low,
                    tau * lam * weight * height <= tau * lam * weight * high,
                ),
            ),
            Identity(
                name="directions",
                says="$x_l = H_l(v + \\varrho_l)$, $g = \\sum_ip_{li}H_i/H_l$: the scale cancels.",
                left=(height * own + tau * height * pushed) / (height * (1 + tau * lam * sums)),
                right=(own + tau * pushed) / (1 + tau * lam * sums),
                uses=("heights",),
            ),
            Inequality(
                name="they agree in the limit",
                says="$|\\varrho_l^+|_* \\le \\frac{1 + \\tau\\rho g}{1 + \\tau\\lambda g}\\max|\\varrho|_*$, and $g "
                "\\ge \\beta = "
                "\\min H(0)/\\max H(0)$ by the first step: the factor is at most its value at $\\beta$, below 1.",
                hypotheses=(rho < lam, sums >= least),
                conclusion=sp.And(
                    (1 + tau * rho * sums) * (1 + tau * lam * least)
                    <= (1 + tau * rho * least) * (1 + tau * lam * sums),
                    1 + tau * rho * least < 1 + tau * lam * least,
                ),
                uses=("directions",),
            ),
        )
    )


def grows_and_aligns(source: np.random.Generator) -> Mapping[str, float]:
    """Heights between the two powers and directions contracting, for random weights that change from step to step."""
    n, d, tau = int(source.integers(1, 6)), int(source.integers(1, 5)), float(10 ** source.uniform(-2, 1))
    lam = float(source.uniform(0.1, 2))
    rest = source.normal(size=(d - 1, d - 1))
    rest *= source.uniform(0, 0.95) * lam / max(1e-9, np.linalg.norm(rest, 2) if d > 1 else 1.0)
    value = np.zeros((d, d))
    value[0, 0], value[1:, 1:] = lam, rest
    rho = float(np.linalg.norm(rest, 2)) if d > 1 else 0.0
    x = source.normal(size=(n, d))
    x[:, 0] = np.abs(x[:, 0]) + 0.05
    heights = x[:, 0].copy()
    ratio = heights.min() / heights.max()
    first = float(np.linalg.norm(x[:, 1:] / x[:, :1], axis=1).max()) if d > 1 else 0.0
    for _ in range(3):
        x = residual(x, value, source.dirichlet(np.ones(n), size=n), tau)
    scale = (1 + tau * lam) ** 3
    factor = ((1 + tau * rho * ratio) / (1 + tau * lam * ratio)) ** 3
    last = float(np.linalg.norm(x[:, 1:] / x[:, :1], axis=1).max()) if d > 1 else 0.0
    return {
        "lowest": float(heights.min() - x[:, 0].min() / scale),
        "highest": float(x[:, 0].max() / scale - heights.max()),
        "directions": (last - factor * first) / (1 + first),
    }


def negative_values_spread_in_a_step() -> Verdict:
    """``W = B = -1``, alpha = 1, tokens +-1: the upper average is ``-tanh 1``, and that token moves to ``1 + tanh 1``."""
    found = evaluate(1 + sp.tanh(1), 30).real
    return holds(f"the upper token moves to {found} > 0") if found > 0 else fails(str(found))


B = matrix("B")
#: The leading eigenvalue is real, simple and positive, and the tokens start above its left eigenvector.
ABOVE = AllOf((SimpleTop(B), Relation(Eigenvalue(B, 1) > 0), InHemisphere(B, left=True)))

PH_X2 = register(
    Statement(
        id="PH-X2",
        kind=Kind.THEOREM,
        source=Source(HERE, "the residual map"),
        title="The residual map: divergence at one rate, and directions that collapse",
        systems=("residual-map",),
        covers=Covers(masks=(ANY,), positions=(ANY,)),
        claims=tuple(When(ABOVE, each) for each in (ForwardInvariant(Hemisphere(B, left=True)), Diverges(every=True))),
        claims_from=(("heights",), ("heights",)),
        text=r"Let $x_l^+ = x_l + \tau\sum_ip_{li}Bx_i$, $\tau > 0$, with any nonnegative weights whose rows sum to one "
        r"(any scores, mask, "
        r"positions, layer by layer), $u^{\top}B = \lambda u^{\top}$, $\lambda > 0$, $H_l = u^{\top}x_l(0) > 0$. (a) $(1 + "
        r"\tau\lambda)^k\min H(0) \le u^{\top}x_l(k) \le (1 + \tau\lambda)^k\max H(0)$. (b) If $Bv = \lambda v$, "
        r"$u^{\top}v = 1$ and "
        r"$\lVert B|_{u^{\perp}}\rVert_* \le \rho < \lambda$ in some norm, then $x_l/u^{\top}x_l = v + \varrho_l$ with "
        r"$\max_l|\varrho_l|_* \le \bigl(\frac{1 + \tau\rho\beta}{1 + \tau\lambda\beta}\bigr)^k\max_l|\varrho_l(0)|_*$, $\beta = "
        r"\min H(0)/\max H(0)$.",
        depends=("PH-T4", "CL-1"),
        derive=derive,
        prose_from=("they agree in the limit",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "What is said of a trajectory stands in the kernel for flows alone: the steps are checked "
                "and put together by hand (one step is proved, PH-X2a). The normalised layer obeys the same recursion (PM-X1).",
            ),
        ),
        vectors=(
            Vector(
                "heights at 0, 1 and 10 steps, bounds",
                example,
                (
                    *("1", "0.928571428571", "0.571428571429", "1.077428055674", "1.013561268799", "0.632513032397"),
                    *("2.214010184518", "2.210091777566", "1.609591077745", "1.482138548629", "2.593742460100"),
                ),
            ),
        ),
        variants=(Variant("$H_l > 0$", "Tokens $1, 0, -1$, $W = B = 1$: the middle token stays.", middle_token_stays),),
        property_tests=(OnInstances(grows_and_aligns),),
    )
)


def one_step(source: np.random.Generator) -> Mapping[str, float]:
    """Two real left eigenvectors: heights between the two multiples of the extremes, and the cone, for any scores and steps."""
    n, d, tau = int(source.integers(1, 6)), int(source.integers(2, 5)), float(10 ** source.uniform(-2, 1))
    lam = float(source.uniform(0, 2))
    mu = lam * float(source.uniform(-1, 1))
    basis = source.normal(size=(d, d)) + 2 * np.eye(d)  # its rows are left eigenvectors
    value = np.linalg.inv(basis) @ np.diag([lam, mu, *source.normal(size=d - 2)]) @ basis
    x = source.normal(size=(n, d))
    x *= np.where(x @ basis[0] < 0, -1.0, 1.0)[:, None]
    size = float(np.abs(x @ basis[1] / (x @ basis[0])).max())
    after = residual(x, value, attention(x, source.normal(size=(d, d)) * 3), tau)
    scale, heights, later = 1 + tau * lam, x @ basis[0], after @ basis[0]
    return {
        "lowest": (scale * float(heights.min()) - float(later.min())) / scale,
        "highest": (float(later.max()) - scale * float(heights.max())) / scale,
        "the cone": float((np.abs(after @ basis[1]) - size * later).max()) / (scale * (1 + size)),
    }


PH_X2A = register(
    Statement(
        id="PH-X2a",
        kind=Kind.LEMMA,
        source=Source(HERE, "the residual map, one step"),
        title="One step of the residual map: heights along a left eigenvector, and a cone",
        systems=("residual-map",),
        claims=tuple(map(Formula, STEPS)),
        proof=steps,
        depends=("CL-1",),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"So $\max_iw^{\top}x_i/(1 + \alpha\lambda)^k$ does not rise from step to step and the smallest does not fall, "
                r"for every $\alpha > 0$: the rescaled heights of CL-1, for the map.",
            ),
        ),
        property_tests=(OnInstances(one_step),),
        variants=(
            Variant(
                "$\\lambda \\ge 0$",
                "$W = B = -1$, $\\alpha = 1$, tokens $\\pm1$: the upper one moves to $1 + \\tanh 1 > 0$.",
                negative_values_spread_in_a_step,
            ),
        ),
    )
)
