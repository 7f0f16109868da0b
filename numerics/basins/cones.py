"""The half space of BD-H1 for a layer matrix ``F = O V`` given by its factors: any attention, no symmetry, nothing d x d.

With the core ``C = V O`` (k x k), ``C rho = lambda rho``, ``l^T C = lambda l^T``: ``u = V^T l/|V^T l|`` and
``w = O rho/(u^T O rho)`` are the leading eigenvectors of F.  With ``H = I + V^T G V`` the hypothesis
``F^T H F <= q^2 lambda^2 H`` on the complement of u follows from

    ``q^2 lambda^2 G + tau l l^T - O^T O - C^T G C > 0``,  ``G >= 0``

for one ``tau`` (Finsler), which is k x k.  l and rho are enclosed by Krawczyk's test; G is a solution of Stein's equation in
floats, not trusted.  Then ``E(t) <= r^t E(0)`` for ``E = max_i |x_i/(u^T x_i) - w|_H`` with
``r = (a + alpha lambda q)/(a + alpha lambda)``, ``a = |w| + E(0)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat

from eigentoken.numerics.basins.decimals import above, ball_of, below
from eigentoken.numerics.basins.regions import BasinRegion, Floats, RegionRate, facts_of, strictly_rated
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.exactness.krawczyk import newton, positive_definite, zero_in_box

__all__ = ["Cone", "cone_region"]

BITS = 192
RADIUS = 2.0**-60
"half width of the box in which an eigenpair is sought around its Newton iterate"
SLACK = 1e-3
"G solves Stein's equation with this much more than O^T O on the right: room for the strict inequality"
MULTIPLES = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5), Fraction(10))
"Radii for which rates are stated, in units of |w|"


@dataclass(frozen=True)
class Cone:
    """The float twins of u, w, V and G: for measuring states, not for deciding."""

    u: Floats
    w: Floats
    V: Floats
    G: Floats

    def errors(self, tokens: Floats) -> Floats:
        """``|x_i/(u^T x_i) - w|_H`` for each token, whatever its side and length."""
        away = tokens / (tokens @ self.u)[..., None] - self.w
        inner = away @ self.V.T
        return np.asarray(np.sqrt((away**2).sum(-1) + np.einsum("...k,kl,...l->...", inner, self.G, inner)))

    def measure(self, tokens: Floats) -> float:
        return float(self.errors(tokens).max()) if (tokens @ self.u > 0).all() else float("inf")


@dataclass(frozen=True)
class _Guess:
    """Floats from which everything is proposed."""

    leader: float
    left: Floats
    right: Floats
    q: float


def cone_region(
    O: arb_mat, V: arb_mat, floats: tuple[Floats, Floats], step: Fraction, side: Floats | None = None
) -> tuple[BasinRegion, Cone] | None:
    """The region of a layer matrix ``O V``; ``None`` where its leader is not real, positive and ahead, or no test passes.

    ``floats``: O and V in floats, for proposals.  ``side``: a vector on the side of the hyperplane that is meant.
    """
    core = floats[1] @ floats[0]
    guess = _guess(core)
    if guess is None:
        return None
    with precision(BITS):
        C, gram = V * O, O.transpose() * O
        left, right = _pair(C.transpose(), guess.leader, guess.left), _pair(C, guess.leader, guess.right)
        if left is None or right is None:
            return None
        leader = left[1]
        if not leader > 0 or not abs(leader - right[1]) < arb(10) ** -6 * leader:
            return None
        q = above(arb(guess.q), 6)
        form, weight = _form(floats[0].T @ floats[0], core, guess, float(q))
        G = arb_mat(form.tolist())
        low, high = below(leader), above(leader)
        if not (ball_of(q) * ball_of(high) < ball_of(low)) or not _dominated(C, gram, G, left[0], low, q, weight):
            return None
        reach = _reach(gram, V * V.transpose(), left[0], right[0], ball_of(low))
    if reach is None:
        return None

    def rate(radius: Fraction) -> Fraction:
        size, push = reach + radius, step * low
        exact = (size + push * q) / (size + push)
        return above(ball_of(exact))

    rates = strictly_rated([_rounded(multiple * reach) for multiple in MULTIPLES], rate, True)
    facts = facts_of({"leader": (low, high), "contraction": q, "reach": reach, "weight": weight})
    facts |= {"left": guess.left.tolist(), "right": guess.right.tolist(), "form": form.tolist()}
    cone = _float_cone(floats, guess, form, side)
    return BasinRegion("cone", "BD-H1", True, rates, facts, cone.measure), cone


def rate_at(region: BasinRegion, step: Fraction, radius: float) -> RegionRate:
    """The certified rate for starts within another radius."""
    low, reach, q = (
        Fraction(region.facts["leader"][0]),
        Fraction(region.facts["reach"]),
        Fraction(region.facts["contraction"]),
    )
    stated = above(arb(radius), 3)
    size, push = reach + stated, step * low
    with precision(BITS):
        return RegionRate(stated, above(ball_of((size + push * q) / (size + push))))


def _rounded(value: Fraction) -> Fraction:
    return above(ball_of(value), 6)


def _guess(core: Floats) -> _Guess | None:
    values, right = np.linalg.eig(core)
    order = np.argsort(-np.abs(values))
    first = values[order[0]]
    if abs(first.imag) > 0 or not first.real > 0:
        return None
    second = float(abs(values[order[1]])) if len(values) > 1 else 0.0
    others, left = np.linalg.eig(core.T)
    nearest = int(np.argmin(np.abs(others - first)))
    ratio = second / float(first.real)
    if ratio > 1 - 1e-6:
        return None
    return _Guess(float(first.real), _unit(left[:, nearest].real), _unit(right[:, order[0]].real), (1 + ratio) / 2)


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector))


def _pair(C: arb_mat, leader: float, vector: Floats) -> tuple[list[arb], arb] | None:
    """Balls around the eigenvector (``c^T v = 1`` with c the float proposal) and the eigenvalue."""
    size = len(vector)
    along = [arb(float(entry)) for entry in vector]

    def system(z: object) -> tuple[list[arb], arb_mat]:
        v, value = list(z)[:-1], list(z)[-1]  # type: ignore[call-overload]
        image = C * arb_mat([[entry] for entry in v])
        residual = [image[i, 0] - value * v[i] for i in range(size)]
        residual.append(sum((a * b for a, b in zip(along, v, strict=True)), arb(-1)))
        rows = [[C[i, j] - (value if i == j else 0) for j in range(size)] + [-v[i]] for i in range(size)]
        return residual, arb_mat([*rows, [*along, arb(0)]])

    centre = newton(system, [*along, arb(leader)])
    found = None if centre is None else zero_in_box(system, centre, RADIUS)
    return None if found is None else (found[:-1], found[-1])


def _form(gram: Floats, core: Floats, guess: _Guess, q: float) -> tuple[Floats, Fraction]:
    """G of the deflated core, and a weight ``tau`` that is large enough by far."""
    from scipy.linalg import solve_discrete_lyapunov

    size = q * guess.leader
    deflated = core - guess.leader * np.outer(guess.right, guess.left) / float(guess.left @ guess.right)
    wanted = gram + SLACK * float(np.linalg.norm(gram, 2)) * np.eye(len(core))
    found = solve_discrete_lyapunov((deflated / size).T, wanted / size**2)
    form = (found + found.T) / 2
    spread = float(np.linalg.norm(core.T @ form @ core, 2)) + float(np.linalg.norm(gram, 2))
    floor = SLACK * float(np.linalg.norm(gram, 2))
    return form, above(arb(4 * spread * (1 + spread / floor)), 3)


def _dominated(
    C: arb_mat, gram: arb_mat, G: arb_mat, left: list[arb], low: Fraction, q: Fraction, weight: Fraction
) -> bool:
    """``q^2 lambda^2 G + tau l l^T - O^T O - C^T G C > 0`` and ``G > 0``, in balls."""
    row = arb_mat([left])
    square = (ball_of(q) * ball_of(low)) ** 2
    gap = G * square + row.transpose() * row * ball_of(weight) - gram - C.transpose() * G * C
    return positive_definite(G) and positive_definite(gap)


def _reach(gram: arb_mat, outer: arb_mat, left: list[arb], right: list[arb], leader: arb) -> Fraction | None:
    """``|w| = |O rho| |V^T l|/(lambda |l^T rho|)`` from above, for a lower bound of lambda."""

    def form(matrix: arb_mat, vector: list[arb]) -> arb:
        column = arb_mat([[entry] for entry in vector])
        return (column.transpose() * matrix * column)[0, 0]

    across = abs(sum((a * b for a, b in zip(left, right, strict=True)), arb(0)))
    if not across > 0:
        return None
    return above((form(gram, right) * form(outer, left)).sqrt() / (leader * across))


def _float_cone(floats: tuple[Floats, Floats], guess: _Guess, form: Floats, side: Floats | None) -> Cone:
    O, V = floats
    u = _unit(V.T @ guess.left)
    if side is not None and float(u @ side) < 0:
        u = -u
    w = O @ guess.right
    return Cone(u, np.asarray(w / float(u @ w)), V, form)
