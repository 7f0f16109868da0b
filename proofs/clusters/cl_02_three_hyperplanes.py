"""CL-2: for a good triple the rescaled tokens approach at most three parallel hyperplanes.

``V`` has a real simple positive eigenvalue that is the largest by modulus, with right eigenvector phi and ``phi^T P phi > 0``.
The coordinates ``f_i = u^T z_i`` along the left eigenvector converge, to the lowest limit, to the highest, or to 0.
Reference: Geshkovski-et-al-clusters, from a formalisation; the proof of the sheet is complete and is not in the kernel yet.
"""

from __future__ import annotations

from collections.abc import Mapping

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.needed import negative_values_spread_a_pair
from eigentoken.proofs.clusters.sources import EUCLIDEAN_CLUSTERS, recorded
from eigentoken.proofs.pham.ph_t03_divergence import middle_token_stays
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.token_fields import Array, attention, euclidean, precise, rescaled, run
from eigentoken.theory.language.conditions import NonPrincipalModulusBelow, Relation, SimpleTop
from eigentoken.theory.language.contractions import HyperplaneLimits
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.proving.ball_evaluation import evaluate
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector

B, W = matrix("B"), matrix("W")
VALUE = np.array([[2.0, 1.0], [0.0, 1.0]])
TOKENS = np.array([[1, 0.5], [-0.4, 0.3], [0.2, -0.9], [0.7, 0.1], [-1.2, 0.4]])
LEFT = np.array([1.0, 1.0])


def coordinates(score: Array, times: list[float]) -> list[float]:
    """``u^T z_i`` of the example at the times."""
    states = run(lambda t, z: rescaled(z, t, VALUE, score), TOKENS, times)
    return [float(each) for z in states for each in z @ LEFT]


def sign_of_the_triple() -> list[sp.Expr]:
    """``phi^T P phi`` and ``u^T P u`` of the first example: the right eigenvector decides."""
    value, score = sp.Matrix([[2, 1], [0, 1]]), sp.diag(1, -3)
    (right,) = (value - 2 * sp.eye(2)).nullspace()
    (left,) = (value.T - 2 * sp.eye(2)).nullspace()
    right, left = right / right[0], left / left[0]
    return [(right.T * score * right)[0], (left.T * score * left)[0]]


def pair_on_a_line() -> list[mpmath.mpf]:
    """``V = diag(1, 1/2)``, ``P = I``, ``x = (a, +-h)``: ``h' = h/2 tanh h^2``; h and the attention at t = 2."""
    height = precise(lambda t, h: [h[0] / 2 * mpmath.tanh(h[0] ** 2)], [1], 2)[0]
    return [height, 1 / (1 + mpmath.exp(-2 * height**2))]


def four_limits() -> list[float]:
    """``phi^T P phi = 0``: the limits of the first coordinate from a square, in which the others do not move it."""
    value, score = np.diag([1.0, 0.5, 0.5]), np.diag([0.0, 1.0, 1.0])
    start = np.array([[1.0, 2, 0], [2, 0, 2], [3, -2, 0], [4, 0, -2]])
    (end,) = run(lambda t, z: rescaled(z, t, value, score), start, [8.0])
    return [float(each) for each in end[:, 0]]


def square_keeps_four_hyperplanes() -> Verdict:
    """Exactly: with ``P = diag(0, 1, 1)`` and tokens ``(c_j, r e_j)`` on a square the weights do not depend on the first
    coordinates, so the limits ``c_i`` obey a linear equation whose matrix is a circulant that tends to the identity."""
    r = sp.Symbol("r", positive=True)
    corners = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    scores = [[r**2 * (a * c + b * e) for c, e in corners] for a, b in corners]
    row = [sp.exp(each) for each in scores[0]]
    same = all(sorted(map(str, line)) == sorted(map(str, scores[0])) for line in scores)
    gaps = [sp.limit(each / row[0], r, sp.oo) for each in row[1:]]
    radial = sp.simplify((row[0] - row[2]) / sum(row))
    if same and gaps == [0, 0, 0] and sp.limit(radial, r, sp.oo) == 1 and radial.subs(r, 1) > 0:
        return holds("each corner sees itself alone in the limit, and the weights do not know the first coordinates")
    return fails(f"scores {scores[0]}, limits {gaps}")


#: Six tokens over the corners of a hexagon, opposite ones at the same first coordinate, for ``B = diag(1, -2, -2)`` and
#: ``W = diag(1/10, -1, -1)``: first coordinate and angle.
_HEXAGON = [(one, np.pi / 3 * k) for k, one in enumerate((1.0, 2.0, 3.0, 1.0, 2.0, 3.0))]


def hexagon_keeps_three() -> list[float]:
    """The first coordinates ``e^{-t} x_1`` of the first three tokens at t = 1/2, the corners at distance ``sqrt 50``."""
    start = np.array([[one, np.sqrt(50) * np.cos(angle), np.sqrt(50) * np.sin(angle)] for one, angle in _HEXAGON])
    value, score = np.diag([1.0, -2.0, -2.0]), np.diag([0.1, -1.0, -1.0])
    (end,) = run(lambda t, x: euclidean(x, value, score), start, [0.5])
    return [float(each) for each in end[:3, 0] * np.exp(-0.5)]


def a_larger_modulus_keeps_three() -> Verdict:
    """Tokens ``(e^t f_i, r (u_i + delta_i))``, ``r^2 = 50 e^{4t}``, u_i the corners: each looks at its opposite, for ever.

    While ``|delta_i| <= 1/100`` and ``9/10 <= f_i <= 31/10`` the score of the opposite token is ahead by at least
    ``r^2 (1/2 - 402/10000) - (1/10) e^{2t} (31/10) (22/10) >= 22 e^{2t}``, so that all others have together a weight
    ``q(t) <= 5 e^{-22 e^{2t}}``, whose integral is at most ``5 e^{-22}/44``.  The f_i move by at most 5 times that (the two of a
    pair come together), the ``delta_i`` by at most 20 times (``(delta_i + delta_o)' = -4 (delta_i + delta_o) + ...``): the
    bounds are never reached, and the limits are near 1, 2, 3.
    """
    ahead = sp.Integer(50) * (sp.Rational(1, 2) - sp.Rational(402, 10000)) - sp.Rational(31 * 22, 1000)
    whole = 5 * sp.exp(-22) / 44
    drift = evaluate(20 * whole, 30).real
    if ahead >= 22 and drift < 1e-8:
        return holds("limits within 1e-8 of 1, 2 and 3: the middle one is none of a, 0, b")
    return fails(f"ahead by {ahead}, drift {drift}")


def late_coordinates(source: np.random.Generator) -> Mapping[str, float]:
    """A random good triple in the plane: at a late time each coordinate is near the lowest, the highest, or small."""
    n = int(source.integers(2, 5))
    second = source.uniform(-0.3, 0.3)
    basis = source.normal(size=(2, 2)) + 2 * np.eye(2)
    value = basis @ np.diag([1.0, second]) @ np.linalg.inv(basis)
    phi = basis[:, 0] / np.linalg.norm(basis[:, 0])
    score = source.normal(size=(2, 2))
    score += max(0.0, 1.5 - phi @ score @ phi) * np.outer(phi, phi)
    left = np.linalg.inv(basis)[0]
    z, steps, end = source.normal(size=(n, 2)), 120, 5.0
    heights = [float((z @ left).max()), float((z @ left).min())]
    powers = [
        basis @ np.diag([1.0, np.exp(end * k / steps * (second - 1))]) @ np.linalg.inv(basis) for k in range(steps + 1)
    ]
    rises = 0.0
    for k in range(steps):  # the coordinates are averages: max falls, min rises (CL-1), at every step
        x = z @ powers[k].T * np.exp(end * k / steps)
        weights = attention(x, score)
        z = z + (end / steps) * (weights @ z - z) @ value.T
        now = z @ left
        rises = max(rises, float(now.max()) - heights[0], heights[1] - float(now.min()))
        heights = [float(now.max()), float(now.min())]
    return {"the highest coordinate falls and the lowest rises": rises}


def scalar_tokens_meet(source: np.random.Generator) -> Mapping[str, float]:
    """``d = 1``, ``B > 0``, ``W < 0``: no distance ``|x_i - x_j|`` grows, so the rescaled ones shrink like ``e^{-lambda t}``."""
    n = int(source.integers(1, 7))
    x = source.normal(size=(n, 1)) * float(source.choice([0.3, 1.0, 4.0]))
    value, score = np.array([[source.uniform(0.1, 3)]]), -np.array([[source.uniform(0.1, 3)]])
    speed = euclidean(x, value, score)[:, 0]
    apart = x[:, 0][:, None] - x[:, 0][None]
    return {"a distance grows": float((np.sign(apart) * (speed[:, None] - speed[None])).max())}


def same_triple(source: np.random.Generator) -> Mapping[str, float]:
    """``phi^T W phi`` in units of ``|phi|^2`` keeps its sign, and ``max |lambda_k| / lambda_1``, under scaling and change of "
    "basis."""
    size = int(source.integers(2, 6))
    basis, turn = source.normal(size=(size, size)), source.normal(size=(size, size)) + 3 * np.eye(size)
    value = basis @ np.diag(np.concatenate([[2.0], source.uniform(-1.5, 1.5, size - 1)])) @ np.linalg.inv(basis)
    score = source.normal(size=(size, size))
    scales = np.exp(source.uniform(-2, 2, 2))
    inverse = np.linalg.inv(turn)
    found = []
    for b, w in ((value, score), (scales[0] * turn @ value @ inverse, scales[1] * inverse.T @ score @ inverse)):
        roots, vectors = np.linalg.eig(b)
        order = np.argsort(-np.abs(roots))
        phi = vectors[:, order[0]].real
        found.append((np.sign(phi @ w @ phi), float(np.abs(roots[order[1]]) / roots[order[0]].real)))
    return {
        "sign": abs(float(found[0][0] - found[1][0])),
        "ratio": abs(found[0][1] - found[1][1]) / float(np.linalg.cond(basis)),
    }


CL_2 = register(
    Statement(
        id="CL-2",
        kind=Kind.THEOREM,
        source=recorded(EUCLIDEAN_CLUSTERS, "good triples and hyperplanes"),
        title="At most three hyperplanes for a good triple",
        systems=("token-flow",),
        conditions=(
            SimpleTop(B),
            NonPrincipalModulusBelow(B),
            Relation(Eigenvalue(B, 1) > 0),
            Relation(ScoreAtEigenvector(W, B, 1) > 0),
        ),
        claims=(HyperplaneLimits(B),),
        text=r"In other words: "
        r"let $u^{\top}B = \lambda_1u^{\top}$, $z_i = e^{-tB}x_i$, $f_i = u^{\top}z_i$, $a = \lim\min_if_i$, $b = "
        r"\lim\max_if_i$. "
        r"From every start each $f_i(t)$ converges, and its limit is $a$, $0$ or $b$: $z_i$ approaches one of at most three "
        r"parallel hyperplanes $\{u^{\top}z = c\}$, exactly one if $a > 0$ or $b < 0$. The bound three is attained.",
        depends=("CL-1",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"The same holds for the map $x_i^+ = x_i + \alpha B\bar x_i$ with any $\alpha > 0$ and $f_i = (1 + "
                r"\alpha\lambda_1)^{-k}u^{\top}x_i$ (that its extremes are monotone is PH-X2a). For $d = 1$, $B = \lambda > 0$ "
                r"and $W < 0$ all $z_i$ tend to one value, $|z_i - z_j| \le e^{-\lambda t}|z_i(0) - z_j(0)|$, by PH-T1. Scaling "
                r"$B$ and $W$ by positive numbers and changes of basis $(S^{-\top}WS^{-1}, SBS^{-1})$ keep a good triple good.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"The proof is by an adapted norm on $u^{\perp}$ (here the modulus is needed), the expansion of the scores and "
                r"a trapping argument; it is written out in full and was not made a derivation of the kernel.",
            ),
            Remark(
                RemarkKind.CONVENTION,
                r"The eigenvector in $\varphi^{\top}W\varphi > 0$ is the right one, $B\varphi = \lambda_1\varphi$; $W$ need not "
                r"be symmetric or definite.",
            ),
        ),
        vectors=(
            Vector("phi^T P phi and u^T P u", sign_of_the_triple, ("1", "-2")),
            Vector(
                "coordinates at t = 1 and t = 5, P = diag(1, -3)",
                lambda: coordinates(np.diag([1.0, -3.0]), [1.0, 5.0]),
                (
                    *("0.603719950618", "-0.401708673326", "0.410074862277", "0.573266089336", "-0.604097648901"),
                    *("0.575297839436", "-0.604025884204", "0.575240766684", "0.575290372094", "-0.604093800896"),
                ),
            ),
            Vector(
                "coordinates at t = 5, P = (1, 2; 0, 3)",
                lambda: coordinates(np.array([[1.0, 2.0], [0.0, 3.0]]), [5.0]),
                ("1.413675638225", "-0.633679832936", "-0.633728221940", "1.413637488299", "-0.633733300272"),
            ),
            Vector("one hyperplane, attention of rank 2", pair_on_a_line, ("2.577752286531073", "0.999998308027235")),
            Vector(
                "an eigenvalue of larger modulus: three coordinates at t = 1/2", hexagon_keeps_three, ("1", "2", "3")
            ),
            Vector(
                "phi^T P phi = 0: four limits",
                four_limits,
                ("1.015108720964", "2.000103133414", "2.999896866586", "3.984891279036"),
            ),
        ),
        variants=(
            Variant(
                "Relation(Eigenvalue(B, 1) > 0)",
                "$B = -1$, $W = 1$, tokens $\\pm x$: $e^tx$ grows without bound.",
                negative_values_spread_a_pair,
            ),
            Variant(
                "Relation(ScoreAtEigenvector(W, B, 1) > 0)",
                r"$B = \operatorname{diag}(1, \frac12, \frac12)$, $W = \operatorname{diag}(0, 1, 1)$, tokens over the corners of "
                r"a square: four hyperplanes.",
                square_keeps_four_hyperplanes,
            ),
            Variant(
                "NonPrincipalModulusBelow(B)",
                r"$B = \operatorname{diag}(1, -2, -2)$, $W = \operatorname{diag}(\frac1{10}, -1, -1)$, six tokens over the "
                r"corners of a hexagon, opposite ones at the first coordinates 1, 2, 3: three limits near 1, 2, 3.",
                a_larger_modulus_keeps_three,
            ),
            Variant("two instead of three", "$d = 1$, $B = W = 1$, tokens $-1, 0, 1$.", middle_token_stays),
        ),
        property_tests=(
            OnInstances(late_coordinates),
            OnInstances(scalar_tokens_meet),
            OnInstances(same_triple),
        ),
    )
)
