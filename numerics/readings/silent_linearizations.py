"""Stability in the sense of Lyapunov where the linearization is silent: exact solutions, a falling form, a manifold of rest.

Unstable:

* *defective*: equal tokens ``x = v`` with ``F v = mu v`` and ``N w = u``, ``N u = 0``, ``u != 0`` for some w, with
  ``N = F - mu`` (F the sum of the value matrices).  Equal tokens stay equal and move by F alone, along the direction of
  ``e^{tF}(v - eps w) = e^{t mu} (v - eps t u - eps w)``, which goes to that of u however small eps is (past that of w, where
  ``u = v``).  Two layers do the same with ``N = G^2 - rho^2``, ``G = I + alpha F``, ``rho = 1 + alpha mu > 0``.  For a
  Euclidean flow v = 0 and mu = 0;
* *pair*: tokens ``s v, -s v, 0, ..., 0`` of a Euclidean flow with ``B v = b v`` stay such a state, and
  ``s' = 2 b s sinh(w s^2) / (2 cosh(w s^2) + n - 2)`` with ``w = v^T W v``: where ``b w > 0`` every s > 0 grows without bound.
* *one token moved*: as many tokens at v as at -v on the sphere, equal weights, ``F v = mu v`` with ``mu > 0``, and ``F w = 0``
  for a unit vector w orthogonal to v.  With one token at ``cos(s) v + sin(s) w`` the mean is
  ``(cos s - 1)/n v + (sin s)/n w``, so that the others stay,
  and ``s' = mu (1 - cos s) sin(s)/n > 0`` (a layer turns the token the same way).

Stable:

* ``H = sum_i x_i^T P x_i`` with ``P = -W B^{-1}`` symmetric positive definite and sym W positive semidefinite falls along a
  Euclidean flow: ``H' = -2 sum_i x_i^T W m_i``, and ``x_i^T W m_i >= x_i^T W m`` for the tilted means m_i and the mean m;
* the state is on a manifold of equilibria (rotated states, or states without push of equal weights), and exactly as many
  multipliers are on the boundary as it has dimensions, all others inside. Then it is the centre manifold, on which nothing
  moves (cited: Carr, Applications of Centre Manifold Theory, 1981);
* the same of two layers: equal tokens move by ``G = I + alpha F`` alone, so with ``G v = rho v``, ``rho > 0``, all equal tokens
  along a vector of ``ker(G^2 - rho^2)`` come back after two layers. These are fixed points of f^2, whose multipliers are the
  squares of those of f: -1 counts as on the boundary.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import acb, arb, arb_mat, fmpq, fmpq_mat

from eigentoken.numerics.instances.exact_values import Case, relation_truth, zero
from eigentoken.numerics.readings.exact_places import same_tokens
from eigentoken.theory.classification.classification import Classification, ExactEigenvalue
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "exact_rows",
    "falling_form",
    "hidden_growth",
    "is_definite",
    "manifold_of_rest",
    "rational_eigenspaces",
    "values_together",
]

#: A direction of growth is looked for among combinations of eigenvectors with these denominators.
DENOMINATORS = (1, 2, 5, 20, 100)
BITS_HERE = 128


def exact_rows(rows: Any) -> list[list[fmpq]] | None:
    """The entries as rational numbers, or ``None``."""
    listed = [[sp.sympify(entry) for entry in row] for row in rows]
    if any(not entry.is_Rational for row in listed for entry in row):
        return None
    return [[fmpq(int(entry.p), int(entry.q)) for entry in row] for row in listed]


def values_together(case: Case) -> fmpq_mat | None:
    """The sum of the value matrices of the heads, where it is rational."""
    system, parameters = case.instance.system, case.instance.parameters
    total = fmpq_mat(case.d, case.d)
    for head in parameters["heads"] if system.multihead else (parameters,):
        given = None if system.value is None else head.get(system.value)
        rows = [[int(i == j) for j in range(case.d)] for i in range(case.d)] if given is None else given
        found = exact_rows(rows)
        if found is None:
            return None
        total = total + fmpq_mat(found)
    return total


def hidden_growth(case: Case) -> str | None:
    """Why the state is unstable although its linearization may be silent, or ``None``."""
    system = case.instance.system
    if not system.standard:
        return None
    if any(same_tokens(x, case.instance.tokens[0]) is not True for x in case.instance.tokens):
        return _one_token_moved(case)
    F, rows = values_together(case), exact_rows(case.instance.tokens[:1])
    if F is None or rows is None:
        return None
    token = rows[0]
    if system.space is Space.EUCLIDEAN:
        if system.time is not Time.FLOW or any(entry != 0 for entry in token):
            return None
        if F.rank() > (F * F).rank():
            return "equal tokens move by x' = B x, and the eigenvalue 0 of B is defective: they drift away (exact)"
        return _growing_pair(case, F)
    pivot = next(a for a, entry in enumerate(token) if entry != 0)
    image = F * fmpq_mat([[entry] for entry in token])
    mu = image[pivot, 0] / token[pivot]
    if any(image[a, 0] != mu * token[a] for a in range(case.d)):
        return None
    if system.time is Time.MAP and not _step_keeps_side(case, mu):
        return None
    one = fmpq_mat([[fmpq(int(i == j)) for j in range(case.d)] for i in range(case.d)])
    if system.time is Time.MAP:
        layer = one + F * _step(case)
        rho = 1 + _step(case) * mu
        around = layer * layer - one * (rho * rho)
    else:
        around = F - one * mu
    if around.rank() == (around * around).rank():
        return None
    return "equal tokens move by the values alone, and an eigenvalue as large as theirs is defective: they turn away (exact)"


def _one_token_moved(case: Case) -> str | None:
    """As many tokens at v as at -v, with equal weights: one of them leaves along a direction that the values do not see."""
    instance = case.instance
    system, tokens = instance.system, instance.tokens
    plain = system.space is Space.SPHERE and system.rotary is None and instance.mask is None
    sides = [next((s for s in (1, -1) if same_tokens(x, tokens[0], s) is True), None) for x in tokens]
    if not plain or None in sides or sum(side or 0 for side in sides) != 0:
        return None
    heads = instance.parameters["heads"] if system.multihead else (instance.parameters,)
    scores = [entry for head in heads for row in head[system.score] for entry in row] if system.score else []
    F, rows = values_together(case), exact_rows(tokens[:1])
    if F is None or rows is None or any(zero(sp.sympify(entry)) is not True for entry in scores):
        return None
    v = rows[0]
    image = F * fmpq_mat([[entry] for entry in v])
    pivot = next(a for a, entry in enumerate(v) if entry != 0)
    mu = image[pivot, 0] / v[pivot]
    if not mu > 0 or any(image[a, 0] != mu * v[a] for a in range(case.d)):
        return None
    beside = fmpq_mat([[F[i, j] for j in range(case.d)] for i in range(case.d)] + [v])
    if beside.rank() == case.d:
        return None
    return "one token, moved along a direction w with F w = 0, goes on moving away, and the others stay (exact)"


def _step_keeps_side(case: Case, mu: fmpq) -> bool:
    return bool(sp.sympify(case.instance.parameters["alpha"]).is_Rational and 1 + _step(case) * mu > 0)


def _step(case: Case) -> fmpq:
    alpha = sp.sympify(case.instance.parameters["alpha"])
    return fmpq(int(alpha.p), int(alpha.q))


def _growing_pair(case: Case, B: fmpq_mat) -> str | None:
    """Two tokens on the line of an eigenvector of B, opposite to each other, the others at 0."""
    instance = case.instance
    system = instance.system
    if case.n < 2 or system.multihead or system.score is None or instance.mask is not None or system.rotary is not None:
        return None
    scores = exact_rows(instance.parameters[system.score])
    if scores is None:
        return None
    W = fmpq_mat(scores)
    for b, vectors in rational_eigenspaces(B):
        v = _with_sign(W, vectors, 1 if b > 0 else -1) if b != 0 else None
        if v is not None:
            shown = ", ".join(str(entry) for entry in v)
            return (
                f"tokens s v, -s v (the others 0) with v = ({shown}) stay such a state and grow for every s > 0 (exact)"
            )
    return None


def rational_eigenspaces(B: fmpq_mat) -> list[tuple[fmpq, list[list[fmpq]]]]:
    """Rational eigenvalues, each with a basis of its eigenvectors."""
    d = B.nrows()
    found = []
    for factor, _ in B.charpoly().factor()[1]:
        if factor.degree() == 1:
            value = -fmpq(factor[0]) / fmpq(factor[1])
            shifted = [[B[i, j] - (value if i == j else 0) for j in range(d)] for i in range(d)]
            reduced, rank = fmpq_mat(shifted).rref()
            found.append((value, _null_space(reduced, rank, d)))
    return found


def _null_space(reduced: fmpq_mat, rank: int, d: int) -> list[list[fmpq]]:
    pivots = [next(j for j in range(d) if reduced[i, j] != 0) for i in range(rank)]
    basis = []
    for free in (j for j in range(d) if j not in pivots):
        vector = [fmpq(int(j == free)) for j in range(d)]
        for row, pivot in enumerate(pivots):
            vector[pivot] = -reduced[row, free]
        basis.append(vector)
    return basis


def _with_sign(W: fmpq_mat, vectors: list[list[fmpq]], sign: int) -> list[fmpq] | None:
    """A combination v of the vectors with ``sign v^T W v > 0``: each alone, then near the extreme eigenvector of the form."""

    def form(v: list[fmpq]) -> fmpq:
        return sum((v[i] * W[i, j] * v[j] for i in range(len(v)) for j in range(len(v))), fmpq(0))

    for v in vectors:
        if sign * form(v) > 0:
            return v
    floats = np.array([[float(Fraction(int(a.p), int(a.q))) for a in v] for v in vectors])
    scores = np.array(
        [[float(Fraction(int(W[i, j].p), int(W[i, j].q))) for j in range(W.ncols())] for i in range(W.nrows())]
    )
    inner = floats @ (scores + scores.T) @ floats.T
    shares = np.linalg.eigh(sign * inner)[1][:, -1]
    shares = shares / max(float(np.abs(shares).max()), 1e-12)
    for denominator in DENOMINATORS:
        whole = [fmpq(round(float(share) * denominator)) for share in shares]
        v = [sum((c * each[a] for c, each in zip(whole, vectors, strict=True)), fmpq(0)) for a in range(W.nrows())]
        if sign * form(v) > 0:
            return v
    return None


def falling_form(case: Case) -> str | None:
    """Why 0 is stable in a Euclidean flow: a quadratic form that falls; else ``None``."""
    instance = case.instance
    system = instance.system
    if system.space is not Space.EUCLIDEAN or system.time is not Time.FLOW or not system.standard or system.multihead:
        return None
    if instance.mask is not None or system.rotary is not None or system.value is None or system.score is None:
        return None
    if any(zero(entry) is not True for token in instance.tokens for entry in token):
        return None
    B, W = (exact_rows(instance.parameters[name]) for name in (system.value, system.score))
    if B is None or W is None or fmpq_mat(B).det() == 0:
        return None
    P = -1 * (fmpq_mat(W) * fmpq_mat(B).inv())
    if P.transpose() != P or not is_definite(P, strict=True):
        return None
    if not is_definite(fmpq_mat(W) + fmpq_mat(W).transpose(), strict=False):
        return None
    return "sum_i x_i^T P x_i with P = -W B^-1 symmetric positive definite does not rise, since sym W is semidefinite (exact)"


def is_definite(form: fmpq_mat, *, strict: bool) -> bool:
    """Are the signs of the characteristic polynomial those of roots that are all positive (not negative)?"""
    p = form.charpoly()
    d = p.degree()
    signed = [p[i] * (-1) ** (d - i) for i in range(d)]
    return all(each > 0 if strict else each >= 0 for each in signed)


# --- at rest on a manifold -------------------------------------------------------------------------------------------


def manifold_of_rest(case: Case, found: Classification) -> str | None:
    """Why the state is stable in the sense of Lyapunov: it is on an attracting manifold of equilibria; else ``None``.

    Of equal tokens of a map the manifold may be one of states that come back after two layers.
    """
    if not case.instance.system.standard or found.linearization != "marginal" or not found.equilibrium.is_holds:
        return None
    limit = 1 if case.instance.system.time is Time.MAP else 0
    at_limit = flipped = 0
    for entry in found.spectrum:
        value = entry.exact
        if value is not None and zero(value - limit) is True:
            at_limit += entry.multiplicity
        elif limit and value is not None and zero(value + 1) is True:
            flipped += entry.multiplicity
        elif not _inside(entry, limit, case):
            return None
    if flipped:
        dimension = _returns_in_two(case)
        return None if dimension is None or at_limit + flipped != dimension else _told(dimension, twice=True)
    dimension = case.d - 1 if _all_pairs_rest(case) else _dimension(case)
    dimension = max((each for each in (dimension, _equal_weights_rest(case)) if each is not None), default=None)
    return None if dimension is None or at_limit != dimension else _told(dimension, twice=False)


def _told(dimension: int, *, twice: bool) -> str:
    where = "fixed points of two layers" if twice else "equilibria"
    return (
        f"the state is on a manifold of {where} of dimension {dimension}; exactly {dimension} multipliers are on the boundary "
        f"and all others inside, so nothing moves on its centre manifold{' after two layers' if twice else ''} (exact spectrum)"
    )


def _inside(entry: ExactEigenvalue, limit: int, case: Case) -> bool:
    """Is the eigenvalue certainly inside, by its exact value or its enclosure?"""
    value = entry.exact
    if value is not None:
        margin = 1 - value * sp.conjugate(value) if limit else -sp.re(value)
        return relation_truth(case, sp.Gt(sp.simplify(margin), 0, evaluate=False)) is True
    if entry.ball is None:
        return False
    ball = acb(entry.ball)
    return bool(abs(ball) < 1 if limit else ball.real < 0)


def _returns_in_two(case: Case) -> int | None:
    """The dimension of the equal tokens near these that come back after two layers: ``ker(G^2 - rho^2)``, one less."""
    system, tokens = case.instance.system, case.instance.tokens
    if system.space is not Space.SPHERE or system.time is not Time.MAP or system.rotary is not None:
        return None
    F, row, alpha = values_together(case), exact_rows(tokens[:1]), sp.sympify(case.instance.parameters["alpha"])
    if any(same_tokens(x, tokens[0]) is not True for x in tokens) or F is None or row is None or not alpha.is_Rational:
        return None
    one = fmpq_mat([[fmpq(int(i == j)) for j in range(case.d)] for i in range(case.d)])
    G, v = one + F * fmpq(int(alpha.p), int(alpha.q)), fmpq_mat([[entry] for entry in row[0]])
    pivot = next(a for a, entry in enumerate(row[0]) if entry != 0)
    rho = (G * v)[pivot, 0] / row[0][pivot]
    return None if G * v != v * rho or not rho > 0 else int(case.d - (G * G - one * (rho * rho)).rank() - 1)


def _dimension(case: Case) -> int | None:
    """The dimension of the manifold of equilibria through the state, where its form is known.

    All tokens at v or -v, with v an eigenvector of every value matrix: any vector near it of the common eigenspaces does as well
    (the factor by which a layer stretches a token stays positive).
    """
    system, tokens = case.instance.system, case.instance.tokens
    if system.space is not Space.SPHERE or system.rotary is not None:
        return None
    sides = [next((s for s in (1, -1) if same_tokens(x, tokens[0], s) is True), None) for x in tokens]
    row = exact_rows(tokens[:1])
    if None in sides or row is None:
        return None
    heads = case.instance.parameters["heads"] if system.multihead else (case.instance.parameters,)
    stacked: list[list[fmpq]] = []
    for head in heads:
        given = None if system.value is None else head.get(system.value)
        if given is None:
            continue
        F = exact_rows(given)
        if F is None:
            return None
        image = [sum((a * b for a, b in zip(line, row[0], strict=True)), fmpq(0)) for line in F]
        pivot = next(a for a, entry in enumerate(row[0]) if entry != 0)
        mu = image[pivot] / row[0][pivot]
        if any(a != mu * b for a, b in zip(image, row[0], strict=True)):
            return None
        stacked += [[F[i][j] - (mu if i == j else 0) for j in range(case.d)] for i in range(case.d)]
    rank = fmpq_mat(stacked).rank() if stacked else 0
    return case.d - rank - 1


def _all_pairs_rest(case: Case) -> bool:
    """Half of the tokens at w, the others at -w, with equal weights for every w: all such states are at rest."""
    system, tokens, half = case.instance.system, case.instance.tokens, case.n // 2
    if case.n % 2 or system.space is not Space.SPHERE or system.rotary is not None or case.instance.mask is not None:
        return False
    if any(same_tokens(x, tokens[0], 1 if i < half else -1) is not True for i, x in enumerate(tokens)):
        return False
    heads = case.instance.parameters["heads"] if system.multihead else (case.instance.parameters,)
    scores = [sp.Matrix([list(row) for row in head[system.score]]) for head in heads] if system.score else []
    return all(zero(entry) is True for M in scores for entry in M + M.T)


def _equal_weights_rest(case: Case) -> int | None:
    """The dimension of the states near this one on which all pushes vanish, where the weights do not depend on the state.

    ``(A (x) F) x = 0`` is linear; its solutions are a manifold where its rank on the tangent spaces is its rank.
    """
    system, F, tokens = case.instance.system, values_together(case), case.instance.tokens
    if system.space is Space.ELLIPSOID or system.rotary is not None or F is None:
        return None
    heads = case.instance.parameters["heads"] if system.multihead else (case.instance.parameters,)
    scores = [entry for head in heads for row in head[system.score] for entry in row] if system.score else []
    if any(zero(sp.sympify(entry)) is not True for entry in scores):
        return None
    n, d, mask = case.n, case.d, case.instance.mask
    push = fmpq_mat(n * d, n * d)
    for i in range(n):
        seen = [j for j in range(n) if mask is None or mask[i][j]]
        for j in seen:
            for a in range(d):
                for b in range(d):
                    push[i * d + a, j * d + b] = F[a, b] / len(seen)
    reduced, rank = push.rref()
    state = [sp.sympify(entry) for token in tokens for entry in token]
    rows = [[reduced[i, j] for j in range(n * d)] for i in range(rank)]
    sums = (
        sum((sp.Rational(int(a.p), int(a.q)) * x for a, x in zip(row, state, strict=True)), sp.Integer(0))
        for row in rows
    )
    if any(zero(each) is not True for each in sums):
        return None
    flat = system.space is Space.EUCLIDEAN
    return n * (d if flat else d - 1) - rank if flat or rank == 0 or _seen_by_tangents(rows, state, d) else None


def _seen_by_tangents(rows: list[list[fmpq]], state: list[sp.Expr], d: int) -> bool:
    """Has ``R P``, R the rows and P the projections on the tangent spaces of the tokens, full rank (in balls)?"""
    with precision(BITS_HERE):
        x = [expression_ball(entry, BITS_HERE) for entry in state]
        made = []
        for row in rows:
            along = [arb(a) for a in row]
            for start in range(0, len(state), d):
                height = sum((along[c] * x[c] for c in range(start, start + d)), arb(0))
                for c in range(start, start + d):
                    along[c] = along[c] - height * x[c]
            made.append(along)
        matrix = arb_mat(made)
        return bool((matrix * matrix.transpose()).det() > 0)
