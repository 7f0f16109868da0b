"""PM-S1: steering by a rank-one edit of the output matrix.  Reference: Li-Altafini, section 2.3."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.reductions import grouped, tensor
from eigentoken.proofs.textbook_maps import DETERMINANT_LEMMA
from eigentoken.theory.registry import register
from eigentoken.theory.statements import Kind, Source, Statement
from eigentoken.theory.steps import Citation, Derivation, Identity
from eigentoken.theory.verdicts import Verdict, fails, holds

MU = sp.Symbol("mu", positive=True)
F1, F2, F3 = sp.symbols("f_1 f_2 f_3", real=True)


def _edited() -> tuple[Any, Any]:
    """``(U + mu w z^T C) V_cat x`` with ``C V_cat = I``."""
    from eigentoken.theory.calculus import Assumptions, dot, matrix, vector

    rules = Assumptions(products={("C", "K"): (), ("U", "K"): matrix("F")})
    values = vector("x").applied(matrix("K"))
    edit = dot(vector("z"), values, matrix("C")) * vector("w") * MU
    return values.applied(matrix("U")) + edit, rules


def _sum() -> Any:
    from eigentoken.theory.calculus import dot, matrix, vector

    return vector("x").applied(matrix("F")) + dot(vector("z"), vector("x")) * vector("w") * MU


def _expansion() -> list[Any]:
    """Coefficients of the root of ``1 = mu sum_j f_j / zeta^{j+1}``, f_0 = 1, in powers of 1/mu, by substitution.

    With ``zeta = (1/e)(1 + a e + b e^2 + ...)``, e = 1/mu, the equation ``1 + f_1/zeta + f_2/zeta^2 + f_3/zeta^3 = e zeta`` is
    solved order by order.
    """
    e, a, b = sp.symbols("e a b")
    zeta = (1 + a * e + b * e**2) / e
    residual = sp.series(sp.expand(1 + F1 / zeta + F2 / zeta**2 + F3 / zeta**3 - e * zeta), e, 0, 3).removeO()
    first = sp.solve(residual.coeff(e, 1), a)[0]
    second = sp.solve(residual.coeff(e, 2).subs(a, first), b)[0]
    return [first, second]


def derive() -> Derivation:
    """The edited layer matrix; the secular equation; its large root and the angle of its eigenvector."""
    zeta = sp.Symbol("zeta", positive=True)
    tangent = sp.Symbol("tau", nonnegative=True)
    return Derivation(
        (
            tensor(
                "edit",
                "With $\\widetilde U = U + \\mu wz^{\\top}V_{\\rm cat}^{-1}$ and $UV_{\\rm cat} = F$, for all sizes.",
                _edited,
                _sum(),
                r"\widetilde UV_{\rm cat}\,x = Fx + \mu w\,(z^{\top}x)",
                establishes=("the matrix is changed by a term of rank one",),
            ),
            Citation(
                name="secular equation",
                says="So the new eigenvalues $\\zeta \\notin \\operatorname{spec}F$ are the roots of the secular "
                "equation.",
                theorem=DETERMINANT_LEMMA,
                formula=r"1 = \mu\,z^{\top}(\zeta I - F)^{-1}w = \mu\sum_{j \geq 0}\frac{f_j}{\zeta^{j+1}}, \qquad "
                r"f_j = z^{\top}F^jw",
                uses=("edit",),
            ),
            grouped(
                "large root",
                "Normalise $f_0 = z^{\\top}w = 1$. Solving order by order in $1/\\mu$, $\\zeta = \\mu + f_1 + (f_2 "
                "- f_1^2)/\\mu + O(\\mu^{-2})$, where "
                "$f_2 - f_1^2 = z^{\\top}F(I - wz^{\\top})Fw$.",
                _expansion,
                (F1, F2 - F1**2),
                r"\zeta = \mu + \left(<1>\right) + \frac{<2>}{\mu} + O(\mu^{-2})",
                uses=("secular equation",),
            ),
            Identity(
                name="angle",
                says="The eigenvector $(\\zeta I - F)^{-1}w = \\frac1\\zeta(w + \\frac1\\zeta Fw + \\dots)$ has, "
                "to first order in $1/\\zeta$, the component $1 + \\nu/\\zeta$ "
                "along $w$ ($Fw = \\nu w + \\tau e$) and $\\tau/\\zeta$ across: the leading term of its tangent to "
                "$w$ is $\\lVert P_wFw\\rVert/\\zeta$.",
                left=sp.limit(zeta * ((tangent / zeta) / (1 + F1 / zeta)), zeta, sp.oo),
                right=tangent,
                uses=("secular equation",),
            ),
        )
    )


def large_root_found(instances: int, seed: int) -> Verdict:
    """Random edits with ``mu > 20 |F||z|``: the remainder of the expansion is below ``7 (|F||z|)^3 / mu^2`` (floats)."""
    import numpy as np

    source = np.random.default_rng(seed)
    for case in range(instances):
        size = int(source.integers(2, 7))
        f, w, z = source.normal(size=(size, size)), source.normal(size=size), source.normal(size=size)
        w /= np.linalg.norm(w)
        z /= z @ w
        scale = np.linalg.norm(f, 2) * np.linalg.norm(z)
        mu = 21 * scale
        root = max(np.linalg.eigvals(f + mu * np.outer(w, z)), key=lambda each: each.real).real
        f1, f2 = z @ f @ w, z @ f @ f @ w
        gap = abs(root - (mu + f1 + (f2 - f1**2) / mu))
        if gap > 7 * scale**3 / mu**2 + 1e-10 * mu:
            return fails(f"case {case}: remainder {gap:.3g}, allowed {7 * scale**3 / mu**2:.3g}")
    return holds(f"{instances} random edits")


PM_S1 = register(
    Statement(
        id="PM-S1",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "section 2.3"),
        title="Steering by a rank-one edit",
        systems=("multihead-map",),
        text=(
            r"Let $V_{\rm cat}$ be invertible and $\widetilde U = U + \mu wz^{\top}V_{\rm cat}^{-1}$; then "
            r"$\widetilde F = F + \mu wz^{\top}$. With "
            r"$\lVert w\rVert = 1$ and $z^{\top}w = 1$ the large eigenvalue satisfies $1 = \mu z^{\top}(\zeta I - "
            r"F)^{-1}w$ and is $\zeta = \mu + z^{\top}Fw + "
            r"\frac1\mu z^{\top}F(I - wz^{\top})Fw + O(\mu^{-2})$; its eigenvector has the angle $\lVert "
            r"P_wFw\rVert/|\zeta| + O(\zeta^{-2})$ to $w$. (With a unit $z$ the "
            r"eigenvalue is $\approx \mu z^{\top}w$, and $z \perp w$ creates no gap.)"
        ),
        derive=derive,
        property_tests=(large_root_found,),
    )
)
