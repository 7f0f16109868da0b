"""BD-E1, BD-E2, BD-H1: layers whose matrix is not symmetric: a leader with a margin, and a half space that converges.

New here: own derivations.

``F = S + K`` with S symmetric and K skew; v the top eigenvector of S, ``g`` its gap, ``kappa = |K v|``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.heads import norm, stochastic
from eigentoken.proofs.properties.checks import OnInstances, above, gap
from eigentoken.proofs.properties.exact_points import decimals, point_is
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.propositions import ForAll, proposition
from eigentoken.theory.kernel.words import index_range
from eigentoken.theory.language.claims import Converges, ForwardInvariant, Stable
from eigentoken.theory.language.conditions import InHemisphere, NonPrincipalModulusBelow, Relation, SimpleTop
from eigentoken.theory.language.places import ConsensusAt, Hemisphere
from eigentoken.theory.language.terms import (
    Eigenvalue,
    EigenvalueRealPart,
    ScoreAtEigenvector,
    SpectralNorm,
    alpha,
    d,
    ell,
    matrix,
    skew,
    sym,
)
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.layer_systems import ANY, Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

F, V = matrix("F"), matrix("V")
#: ``kappa^2``, the gap, ``c_0``, ``sigma`` and ``mu_- = c_0 + sigma``.
SQUARE = ScoreAtEigenvector(skew(F).T * skew(F), sym(F), 1)
_TOP, _SECOND = Eigenvalue(sym(F), 1), Eigenvalue(sym(F), 2)
SIGMA = sp.sqrt((_TOP - _SECOND) ** 2 / 4 - SQUARE)
LOW = (_TOP + _SECOND) / 2 + SIGMA
#: ``2 kappa < g``, in squares.
MARGIN = (Relation(d >= 2), Relation(sp.Lt(4 * SQUARE, (_TOP - _SECOND) ** 2, evaluate=False)))
_OTHERS = sp.Le(EigenvalueRealPart(F, ell), (_TOP + _SECOND) / 2 - SIGMA, evaluate=False)
#: The leader is real and simple and lies between ``c_0 + sigma`` and ``lambda_1(S)``; the others are left of ``c_0 - sigma``.
LEADER = tuple(
    map(
        Formula,
        (
            proposition(SimpleTop(F)),
            proposition(sp.Ge(Eigenvalue(F, 1), LOW, evaluate=False)),
            proposition(sp.Le(Eigenvalue(F, 1), _TOP, evaluate=False)),
            ForAll(ell, index_range(ell, 2), proposition(_OTHERS)),
        ),
    )
)


def margin(F: Any) -> tuple[float, float, float, float]:
    """``lambda_1(S)``, the gap g, ``kappa`` and ``c_0``."""
    values, vectors = np.linalg.eigh((F + F.T) / 2)
    v = vectors[:, -1]
    kappa = float(np.linalg.norm((F - F.T) @ v / 2))
    return float(values[-1]), float(values[-1] - values[-2]), kappa, float(values[-1] + values[-2]) / 2


def _with_margin(source: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A matrix with ``2 kappa < g``; in two dimensions the case of equality."""
    d = int(source.integers(2, 7))
    S, K = source.normal(size=(d, d)), source.normal(size=(d, d))
    S, K = S + S.T, K - K.T
    values, vectors = np.linalg.eigh(S)
    v, g = vectors[:, -1], float(values[-1] - values[-2])
    kappa = float(np.linalg.norm(K @ v))
    return np.asarray(S + K * (0.5 * g * float(source.uniform(0, 0.999)) / max(kappa, 1e-9)))


def leader_with_margin(source: np.random.Generator) -> Mapping[str, float]:
    """BD-E1: one real leader, where it lies, where the others lie; BD-E2: the map below its step."""
    F = _with_margin(source)
    top, g, kappa, middle = margin(F)
    sigma = float(np.sqrt(max(0.0, g * g / 4 - kappa * kappa)))
    values = sorted(np.linalg.eigvals(F), key=lambda each: each.real)
    leader, others = values[-1], np.array(values[:-1])
    low = middle + sigma
    found = {
        "real": abs(leader.imag),
        "from below": above(leader.real, low),
        "from above": above(top, leader.real),
        "others": above(middle - sigma, others.real.max()),
    }
    room = norm(F) ** 2 - low**2
    if low > 0 and sigma > 1e-6:
        alpha = 0.999 * 4 * sigma / room if room > 0 else 1.0
        found["stable"] = above(1 + alpha * leader.real, np.abs(1 + alpha * others).max())
    if len(F) == 2:
        found["equality"] = gap(leader.real - others[0].real, 2 * sigma)
    return found


# -- the half space -----------------------------------------------------------------------------------------------------------


def _half_space(source: np.random.Generator) -> tuple[Any, ...]:
    """F with ``u^T F = lambda u^T``, ``F w = lambda w`` and a contraction in an H-norm on the complement."""
    d = int(source.integers(2, 5))
    lam, q = float(source.uniform(0.3, 3)), float(source.uniform(0.1, 0.95))
    rest, turn = source.normal(size=(d - 1, d - 1)), np.linalg.qr(source.normal(size=(d, d)))[0]
    rest *= q * lam / norm(rest)
    shear = source.normal(size=(d, d)) * 0.3
    shear[0] = 0.0
    shear[0, 0] = 0.0
    change = np.eye(d) + shear
    change[0] = np.eye(d)[0]
    core = np.zeros((d, d))
    core[0, 0], core[1:, 1:] = lam, rest
    F = turn @ change @ core @ np.linalg.inv(change) @ turn.T
    u, w = turn[:, 0], turn @ change[:, 0]
    inner = np.linalg.inv(change)[1:, 1:]
    H = inner.T @ inner
    H = H / np.linalg.eigvalsh(H)[0]
    return F, u, w, turn[:, 1:], H, lam, q


def half_space(source: np.random.Generator) -> Mapping[str, float]:
    """BD-H1 (a) to (d) along ten steps, with new stochastic weights at each."""
    F, u, w, basis, H, lam, q = _half_space(source)
    n, alpha = int(source.integers(1, 6)), float(source.uniform(0.05, 2))
    x = source.normal(size=(n, len(F)))
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    x = x * np.where(x @ u < 0, -1.0, 1.0)[:, None]

    def errors(tokens: Any) -> Any:
        apart = (tokens / (tokens @ u)[:, None] - w) @ basis
        return np.sqrt(np.einsum("ik,kl,il->i", apart, H, apart))

    first = start = float(errors(x).max())
    least = 1 / (np.linalg.norm(w) + start)
    rate = (1 + alpha * lam * least * q) / (1 + alpha * lam * least)
    found = {"heights": 0.0, "step": -1.0, "rate": -1.0, "distance": -1.0}
    for time in range(1, 11):
        A = stochastic(source, n, bool(source.random() < 0.3))
        h = x @ u
        shares = h / (h + alpha * lam * (A @ h))
        x = x + alpha * A @ x @ F.T
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        now = float(errors(x).max())
        found["step"] = max(found["step"], above(float((shares + (1 - shares) * q).max()) * start, now))
        found["rate"] = max(found["rate"], above(rate**time * first, now))
        found["heights"] = max(found["heights"], above(float((x @ u).min()), least))
        far = np.linalg.norm(x - w / np.linalg.norm(w), axis=1).max()
        found["distance"] = max(found["distance"], above(now, float(far)))
        start = now
    return found


# -- vectors ------------------------------------------------------------------------------------------------------------------


def _three() -> list[Any]:
    """TV-E1: g, kappa, the bounds; the eigenvalues as real part and imaginary part."""
    with mp.workdps(40):
        third = mp.mpf(1) / 3
        F = mp.matrix([[4, mp.mpf(-1) / 2, -third], [mp.mpf(1) / 2, 1, -1], [third, 1, 0]])
        values, vectors = mp.eigsy((F + F.T) / 2)
        order = sorted(range(3), key=lambda k: values[k])
        v = vectors[:, order[-1]]
        K = (F - F.T) / 2
        kappa, g = mp.norm(K * v), values[order[-1]] - values[order[-2]]
        middle, sigma = (values[order[-1]] + values[order[-2]]) / 2, mp.sqrt(g * g / 4 - kappa * kappa)
        found = sorted(mp.eig(F, left=False, right=False), key=lambda each: (mp.re(each), mp.im(each)))
        return [g, kappa, middle + sigma, middle - sigma, mp.re(found[2]), mp.re(found[1]), abs(mp.im(found[1]))]


def _two_tokens() -> list[Any]:
    """TV-H1a in exact numbers, in the scale u = (1, 1), w = e_1: coefficients of (1, -1), shares, factor."""
    F, half = sp.Matrix([[2, 1], [0, 1]]), sp.Rational(1, 2)
    x = [sp.Matrix([sp.Rational(3, 5), sp.Rational(4, 5)]), sp.Matrix([sp.Rational(12, 13), sp.Rational(5, 13)])]
    u, q = sp.Matrix([1, 1]), half
    step = [each + half * F * (x[0] + x[1]) * half for each in x]

    def coefficient(token: sp.Matrix) -> sp.Expr:
        return -token[1] / u.dot(token)

    heights = [u.dot(each) for each in x]
    shares = [h / (h + half * 2 * sum(heights) * half) for h in heights]
    factor = max(c + (1 - c) * q for c in shares)
    return [*map(coefficient, x), *map(coefficient, step), *shares, factor]


def _three_tokens() -> list[Any]:
    """TV-H1b: E before and after one step, and the factor of (b)."""
    with mp.workdps(40):
        r = mp.mpf
        F, w = mp.matrix([[3, 0, 0], [1, 1, -1], [0, 1, 1]]), [r(1), r(2) / 5, r(1) / 5]
        x = [[r(3) / 5, r(4) / 5, r(0)], [r(2) / 3, r(2) / 3, r(1) / 3], [r(6) / 7, r(-2) / 7, r(3) / 7]]
        q = mp.sqrt(2) / 3

        def error(tokens: Any) -> Any:
            return max(mp.norm([each[k] / each[0] - w[k] for k in range(3)]) for each in tokens)

        mean = mp.matrix([sum(each[k] for each in x) / 3 for k in range(3)])
        push = F * mean
        after = [[each[k] + push[k] for k in range(3)] for each in x]
        shares = [each[0] / (each[0] + 3 * mean[0]) for each in x]
        return [error(x), error(after), max(c + (1 - c) * q for c in shares)]


# -- variants -----------------------------------------------------------------------------------------------------------------


def _plane(top: Any, kappa: Any, second: Any) -> sp.Matrix:
    return sp.Matrix([[top, -kappa], [kappa, second]])


def _half_norm() -> Verdict:
    """``|K|/2`` for kappa: F = [[1, -9/10], [9/10, 0]] has |K|/2 = 9/20 < g/2 and a complex pair."""
    found = list(_plane(1, sp.Rational(9, 10), 0).eigenvals())
    return holds(f"eigenvalues {found}") if not any(each.is_real for each in found) else fails(str(found))


def _up_to_the_gap() -> Verdict:
    """``kappa < g`` for ``2 kappa < g``: F = [[1, -3/4], [3/4, 0]]."""
    found = list(_plane(1, sp.Rational(3, 4), 0).eigenvals())
    return holds(f"eigenvalues {found}") if not any(each.is_real for each in found) else fails(str(found))


def _moduli() -> Verdict:
    """The others are bounded by their real parts: diag(1, -2) has g = 3, kappa = 0 and an eigenvalue of modulus 2 > 1."""
    found = sorted(map(abs, sp.diag(1, -2).eigenvals()))
    return holds(f"moduli {found}") if found[-1] > 1 else fails(str(found))


def _second_vector() -> Verdict:
    """kappa of the second eigenvector may vanish alone: S = diag(2, 1, 0), K = 5 (e_3 e_1^T - e_1 e_3^T)."""
    F = sp.Matrix([[2, 0, -5], [0, 1, 0], [5, 0, 0]])
    found = sorted(F.eigenvals(), key=lambda each: sp.re(each))
    two = [each for each in found if not each.is_real]
    return holds(f"eigenvalues {found}, |K e_2| = 0") if len(two) == 2 else fails(str(found))


def _largest_real_part() -> Verdict:
    """``F = P = diag(1, -2)``, alpha = 1/4, starts with u^T x > 0: ends at +- e_2, not at e_1."""
    x = np.array([[0.05, 1], [0.03, 1], [0.04, -1], [0.02, -1]])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    F = np.diag([1.0, -2.0])
    for _ in range(4000):
        s = x @ F @ x.T
        A = np.exp(s - s.max(1, keepdims=True))
        x = x + 0.25 * (A / A.sum(1, keepdims=True)) @ x @ F.T
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    end = float(np.abs(x[:, 0]).max())
    return holds(f"after 4000 steps |x_i1| <= {end:.2g}: at +- e_2") if end < 1e-6 else fails(f"|x_i1| is {end}")


def _opposite_sides() -> Verdict:
    """A pair on both sides of the hyperplane, x and -x with n = 2 and even weights, does not move: it never meets w."""
    return (
        holds("sum_j a_ij x_j = 0: x_i^+ = x_i")
        if sp.Matrix([1, 0]) + sp.Matrix([-1, 0]) == sp.zeros(2, 1)
        else fails("")
    )


def _negative_leader() -> Verdict:
    """``F = -I``: lambda = -1, alpha = 3/2, equal tokens: y = -x/2, the token jumps to -x for ever."""
    y = 1 - sp.Rational(3, 2)
    return holds(f"1 + alpha lambda = {y} < 0: a 2-cycle") if y < 0 else fails(str(y))


def _consensus_leaves(values: tuple[str, str], alpha: str) -> Verdict:
    """Two tokens at e_1 under ``F = diag(values)``: linearly unstable, exactly."""
    (a, b), zero = values, [["0", "0"], ["0", "0"]]
    heads: Any = [{"F": [[a, "0"], ["0", b]], "M": zero}]
    return point_is(
        {"system": "multihead-map", "heads": heads, "alpha": alpha, "tokens": [["1", "0"], ["1", "0"]]},
        "consensus",
        stable="unstable",
    )


BD_E1 = register(
    Statement(
        id="BD-E1",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="A leader with a margin: the skew part matters at one vector only",
        systems=("multihead-map",),
        conditions=MARGIN,
        claims=LEADER,
        text=r"$F = S + K$, $S$ symmetric with top eigenvector $v$, $|v| = 1$, and gap $g = \lambda_1 - \lambda_2$, "
        r"$\kappa = |Kv|$. If "
        r"$2\kappa < g$, put $c_0 = \frac{\lambda_1 + \lambda_2}2$ and $\sigma = \sqrt{g^2/4 - \kappa^2}$: exactly "
        r"one eigenvalue $\mu$ of $F$ "
        r"has $\operatorname{Re} > c_0 - \sigma$; it is real and simple, $c_0 + \sigma \le \mu \le \lambda_1$; all others have "
        r"$\operatorname{Re} \le c_0 - \sigma$.",
        property_tests=(OnInstances(leader_with_margin),),
        vectors=(
            Vector(
                "TV-E1: g, kappa, bounds, leader, the pair",
                _three,
                (
                    "3",
                    "0.600925212577332",
                    "3.874368541872554",
                    "1.125631458127446",
                    "3.894460257586037",
                    "0.552769871206981",
                    "0.866069275857218",
                ),
            ),
        ),
        variants=(
            Variant("kappa", "half the norm of K in its place: a complex pair", _half_norm),
            Variant("2 kappa < g", "kappa < g: a complex pair", _up_to_the_gap),
            Variant("real part", "the modulus of the others is not bounded", _moduli),
            Variant("the top eigenvector", "the second one in its place", _second_vector),
        ),
    )
)

BD_E2 = register(
    Statement(
        id="BD-E2",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="Stable principal consensus of a layer that is not symmetric, below a step",
        systems=("multihead-map",),
        conditions=(
            *MARGIN,
            Relation(LOW > 0),
            Relation(sp.Lt(alpha * (SpectralNorm(F) ** 2 - LOW**2), 4 * SIGMA, evaluate=False)),
        ),
        claims=(Stable(ConsensusAt(F, 1)),),
        text=r"Under BD-E1 with $\mu_- = c_0 + \sigma > 0$ principal consensus of the attention map with layer "
        r"matrix $F$ is stable for every "
        r"$\alpha > 0$ with $\alpha(\lVert F\rVert^2 - \mu_-^2) < 4\sigma$; for the flow without a bound on the step.",
        depends=("BD-E1", "PM-N1"),
        property_tests=(OnInstances(leader_with_margin),),
        variants=(
            Variant(
                "mu_- > 0",
                r"$F = \operatorname{diag}(-\frac14, -\frac12)$, $\alpha = 1$: differences grow by $\frac43$",
                lambda: _consensus_leaves(("-1/4", "-1/2"), "1"),
            ),
            Variant(
                "the step",
                r"$F = \operatorname{diag}(1, -2)$, $\alpha = 3$: the multiplier $-\frac54$",
                lambda: _consensus_leaves(("1", "-2"), "3"),
            ),
        ),
    )
)

BD_H1 = register(
    Statement(
        id="BD-H1",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="A half space that converges, for any attention and a layer that is not symmetric",
        systems=("attention-map",),
        conditions=(
            SimpleTop(V),
            NonPrincipalModulusBelow(V),
            Relation(Eigenvalue(V, 1) > 0),
            InHemisphere(V, left=True),
        ),
        claims=(ForwardInvariant(Hemisphere(V, left=True)), Converges(ConsensusAt(V, 1))),
        covers=Covers(masks=(ANY,), positions=(ANY,)),
        text=r"$x_i^+ = y_i/|y_i|$, $y_i = x_i + \alpha F\sum_ja_{ij}x_j$, any row-stochastic weights, changing "
        r"with depth. (i) $u^{\top}F = "
        r"\lambda u^{\top}$, $\lambda > 0$, $|u| = 1$, $Fw = \lambda w$, $u^{\top}w = 1$; (ii) $H \succeq I$ on "
        r"$u^{\perp}$ and $q < 1$ with "
        r"$F^{\top}HF \preceq q^2\lambda^2H$ there; (iii) $u^{\top}x_i > 0$ at the start. With $e_i = "
        r"x_i/(u^{\top}x_i) - w$, $E = \max_i|e_i|_H$, "
        r"$c_i = h_i/(h_i + \alpha\lambda\sum_ja_{ij}h_j)$: heights stay positive, $E^+ \le \max_i(c_i + (1 - "
        r"c_i)q)E$, and with $h_* = 1/(|w| + "
        r"E(0))$: $E(t) \le r^tE(0)$, $r = \frac{1 + \alpha\lambda h_*q}{1 + \alpha\lambda h_*} < 1$, $|x_i(t) - "
        r"w/|w|| \le E(t)$.",
        depends=("BD-N3",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Several heads: the same if all share $u$ and $w$, $u^{\top}U_h = \lambda_hu^{\top}$, $\lambda_h \ge 0$, "
                r"$U_hw = "
                r"\lambda_hw$, and $U_h^{\top}HU_h \preceq q^2\lambda_h^2H$ on $u^{\perp}$, with $\lambda = \sum_h\lambda_h > "
                r"0$. "
                r"For the flow $E(t) \le e^{-(1-q)\lambda h_*t}E(0)$. For a symmetric $F$ the lowest height never falls.",
            ),
        ),
        property_tests=(OnInstances(half_space),),
        vectors=(
            Vector(
                "TV-H1a: coefficients before and after, shares, factor",
                _two_tokens,
                decimals("-4/7", "-5/17", "-285/716", "-177/692", "91/179", "85/173", "135/179"),
            ),
            Vector(
                "TV-H1b: E before and after, factor",
                _three_tokens,
                ("0.954521404218424", "0.265821608413453", "0.623396831106710"),
            ),
        ),
        variants=(
            Variant("modulus dominance", "F = P = diag(1, -2), alpha = 1/4: ends at +- e_2", _largest_real_part),
            Variant("one side", "a pair on both sides stays", _opposite_sides),
            Variant("lambda > 0", "F = -I: a 2-cycle", _negative_leader),
        ),
    )
)
