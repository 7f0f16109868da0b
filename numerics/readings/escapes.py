"""Certified escape to infinity in Euclidean flows: a quadratic cone that is kept, and in which the tokens grow.

``x_i' = B sum_j a_ij x_j`` with ``a_ij = exp(x_i^T W x_j) / sum``.  Let token i attend most to token s(i).  Far out the flow is
nearly the linear one, ``(L x)_i = B x_{s(i)}``.  On a linear space that is kept (all states, or those fixed by a symmetry
``(g x)_i = Q x_{pi(i)}``) with ``|x|^2 = z^T N z``, let H be a form with, for every z,

    ``2 z^T H L z >= 2 growth H(z) + gain |x|^2``,   ``|H| <= size |x|^2``,   and for all i and j != s(i) that i sees
    ``x_i^T W (x_{s(i)} - x_j) >= gap |x|^2 + multiplier H(z)``.

Where ``H >= h > 0`` every other weight is at most ``exp(-gap |x|^2)``, with ``|x|^2 >= h/size``, so the velocity differs from L
by at most ``C |x| exp(-gap |x|^2)``, ``C = sqrt(2n) (n-1) |B|``.  If ``gain >= 2 size C exp(-gap h/size)`` then
``H' >= 2 growth H``: the cone ``H >= h`` is kept, H grows like ``exp(2 growth t)``, and with it ``|x|^2``.  Every condition but
the last is one on definite rational matrices.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, fmpq, fmpq_mat

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.systems.system import Space, Time

__all__ = ["Escape", "escape", "is_escape", "is_linear_far_out"]

Rows = tuple[tuple[Fraction, ...], ...]
Floats = np.ndarray[Any, np.dtype[np.float64]]
#: Forms are rounded to so many binary digits after the point, relative to their largest entry.
DIGITS = 24
#: How thin the cones are that are tried, wide ones first, relative to what the gap needs.
MULTIPLIERS = (1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0)
#: Eigenvalues whose real parts are nearer than this are taken together.
TOGETHER = 1e-6


@dataclass(frozen=True)
class Escape:
    """The cone: whom each token attends to, the space that is kept, the form on it, and the constants."""

    targets: tuple[int, ...]
    basis: Rows
    "nd rows, one column for each coordinate z"
    symmetry: tuple[Rows, tuple[int, ...]] | None
    "Q and the permutation; None: all states"
    form: Rows
    growth: Fraction
    gain: Fraction
    gap: Fraction
    multiplier: Fraction
    size: Fraction

    def as_data(self) -> dict[str, Any]:
        def texts(rows: Rows) -> list[list[str]]:
            return [[str(entry) for entry in row] for row in rows]

        symmetry = None
        if self.symmetry is not None:
            symmetry = {"matrix": texts(self.symmetry[0]), "permutation": list(self.symmetry[1])}
        return {
            "targets": list(self.targets),
            "basis": texts(self.basis),
            "symmetry": symmetry,
            "form": texts(self.form),
            **{each: str(getattr(self, each)) for each in ("growth", "gain", "gap", "multiplier", "size")},
        }


def is_linear_far_out(instance: Instance) -> bool:
    """Is it one head of the papers' Euclidean flow, in rational numbers?"""
    system = instance.system
    if system.space is not Space.EUCLIDEAN or system.time is not Time.FLOW or not system.standard or system.multihead:
        return False
    if system.rotary is not None or system.over_root_d or system.value is None or system.score is None:
        return False
    numbers = [*instance.parameters[system.value], *instance.parameters[system.score], *instance.tokens]
    return all(sp.sympify(entry).is_Rational for row in numbers for entry in row)


def escape(case: Case) -> Escape | None:
    """A cone that holds the tokens of the case and in which they escape: in all states, or on a ring; ``None``."""
    instance = case.instance
    if not is_linear_far_out(instance) or instance.n < 2:
        return None
    whole = tuple(tuple(Fraction(int(i == j)) for j in range(case.n * case.d)) for i in range(case.n * case.d))
    places: list[tuple[Rows, tuple[Rows, tuple[int, ...]] | None]] = [(whole, None)]
    ring = _ring(instance)
    if ring is not None:
        places.append(ring)
    for basis, symmetry in places:
        for found in _proposals(instance, basis, symmetry):
            if is_escape(instance, found):
                return found
    return None


# --- the check, in exact numbers -------------------------------------------------------------------------------------


def is_escape(instance: Instance, cone: Escape) -> bool:
    """Every condition of the head of this module, and that the tokens are in the cone."""
    exact = _Exact(instance, cone)
    if not exact.is_kept() or not exact.attends():
        return False
    if any(each <= 0 for each in (cone.growth, cone.gain, cone.gap, cone.size)) or cone.multiplier < 0:
        return False
    N, H = exact.gram, exact.form
    twice = H * exact.linear + (H * exact.linear).transpose()
    if not _definite(twice - 2 * _q(cone.growth) * H - _q(cone.gain) * N):
        return False
    if not _definite(_q(cone.size) * N - H) or not _definite(_q(cone.size) * N + H):
        return False
    if not all(_definite(each - _q(cone.gap) * N - _q(cone.multiplier) * H) for each in exact.gaps()):
        return False
    height = exact.height()
    return height is not None and height > 0 and _far_enough(instance, cone, height)


class _Exact:
    """The matrices of the conditions on the space that is kept."""

    def __init__(self, instance: Instance, cone: Escape) -> None:
        self.instance, self.cone = instance, cone
        system = instance.system
        self.n, self.d = instance.n, instance.d
        self.B, self.W = (_matrix(instance.parameters[name]) for name in (str(system.value), str(system.score)))
        self.basis, self.form = _matrix(cone.basis), _matrix(cone.form)
        self.gram = self.basis.transpose() * self.basis
        jump = fmpq_mat(self.n * self.d, self.n * self.d)
        for i, target in enumerate(cone.targets):
            for a in range(self.d):
                for b in range(self.d):
                    jump[i * self.d + a, target * self.d + b] = self.B[a, b]
        image = jump * self.basis
        self.linear = self.gram.inv() * self.basis.transpose() * image
        self.linear_is_inner = self.basis * self.linear == image

    def token(self, i: int) -> Any:
        rows = [[self.basis[i * self.d + a, z] for z in range(self.basis.ncols())] for a in range(self.d)]
        return fmpq_mat(rows)

    def is_kept(self) -> bool:
        """The space is all states, or exactly the fixed ones of a symmetry of the flow."""
        size = self.n * self.d
        if self.cone.symmetry is None:
            return bool(self.basis == fmpq_mat([[int(i == j) for j in range(size)] for i in range(size)]))
        Q, order = _matrix(self.cone.symmetry[0]), self.cone.symmetry[1]
        mask = self.instance.mask
        if sorted(order) != list(range(self.n)) or Q * self.B != self.B * Q or Q.transpose() * self.W * Q != self.W:
            return False
        if mask is not None and any(
            bool(mask[i][j]) != bool(mask[order[i]][order[j]]) for i in range(self.n) for j in range(self.n)
        ):
            return False
        moved = fmpq_mat(size, size)
        for i in range(self.n):
            for a in range(self.d):
                for b in range(self.d):
                    moved[i * self.d + a, order[i] * self.d + b] = Q[a, b]
        for i in range(size):
            moved[i, i] = moved[i, i] - 1
        fixed = size - moved.rank()
        return bool(moved * self.basis == fmpq_mat(size, fixed)) if self._is_basis(fixed) else False

    def _is_basis(self, dimension: int) -> bool:
        return bool(self.basis.ncols() == dimension == self.basis.rank())

    def attends(self) -> bool:
        mask = self.instance.mask
        seen = all(mask is None or mask[i][target] for i, target in enumerate(self.cone.targets))
        return bool(seen and self.linear_is_inner)

    def gaps(self) -> list[Any]:
        """The symmetric forms ``x_i^T W (x_s(i) - x_j)`` for the tokens j that i sees and that are not equal to it there."""
        mask, found = self.instance.mask, []
        for i, target in enumerate(self.cone.targets):
            for j in range(self.n):
                away = self.token(target) - self.token(j)
                if (mask is not None and not mask[i][j]) or away == fmpq_mat(self.d, self.basis.ncols()):
                    continue
                form = self.token(i).transpose() * self.W * away
                found.append((form + form.transpose()) * fmpq(1, 2))
        return found

    def height(self) -> Any:
        """``H`` at the tokens; ``None`` where they are not in the space."""
        tokens = fmpq_mat([[_rational(entry)] for token in self.instance.tokens for entry in token])
        z = self.gram.inv() * self.basis.transpose() * tokens
        return (z.transpose() * self.form * z)[0, 0] if self.basis * z == tokens else None


def _far_enough(instance: Instance, cone: Escape, height: Any) -> bool:
    """``gain^2 exp(2 gap h/size) >= (2 size C)^2``, in balls."""
    B = instance.parameters[str(instance.system.value)]
    norm = sum((sp.Rational(entry) ** 2 for row in B for entry in row), sp.Integer(0))
    n = instance.n
    with precision(128):
        least = 4 * _q(cone.size) ** 2 * 2 * n * (n - 1) ** 2 * fmpq(int(norm.p), int(norm.q))
        rate = (arb(2 * _q(cone.gap) * height / _q(cone.size))).exp()
        return bool(arb(_q(cone.gain) ** 2) * rate >= arb(least))


def _rational(value: Any) -> fmpq:
    number = sp.Rational(value)
    return fmpq(int(number.p), int(number.q))


def _q(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _matrix(rows: Any) -> Any:
    return fmpq_mat([[_q(e) if isinstance(e, Fraction) else _rational(e) for e in row] for row in rows])


def _definite(matrix: Any) -> bool:
    """Is a symmetric rational matrix positive definite?  By its pivots."""
    size = matrix.nrows()
    rows = [[matrix[i, j] for j in range(size)] for i in range(size)]
    for k in range(size):
        if not rows[k][k] > 0:
            return False
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


# --- proposals, in floats --------------------------------------------------------------------------------------------


def _ring(instance: Instance) -> tuple[Rows, tuple[Rows, tuple[int, ...]]] | None:
    """The states ``x_i = Q^i z``, where the tokens are one of them and Q commutes with the weights."""
    n, d = instance.n, instance.d
    if n <= d:
        return None
    tokens = [sp.Matrix(list(token)) for token in instance.tokens]
    first = sp.Matrix.hstack(*tokens[:d])
    if first.det() == 0:
        return None
    Q = sp.Matrix.hstack(*tokens[1 : d + 1]) * first.inv()
    B, W = (sp.Matrix(instance.parameters[str(name)]) for name in (instance.system.value, instance.system.score))
    if any(Q * tokens[i - 1] != tokens[i] for i in range(n)) or Q**n != sp.eye(d):
        return None
    if Q * B != B * Q or Q.T * W * Q != W:
        return None

    def rows(value: sp.Matrix) -> Rows:
        return tuple(tuple(Fraction(int(e.p), int(e.q)) for e in value.row(i)) for i in range(value.rows))

    basis = rows(sp.Matrix.vstack(*[Q**i for i in range(n)]))
    return basis, (rows(Q), tuple((i - 1) % n for i in range(n)))


def _attended(instance: Instance) -> tuple[int, ...]:
    x = np.array([[float(a) for a in token] for token in instance.tokens])
    W = np.array([[float(a) for a in row] for row in instance.parameters[str(instance.system.score)]])
    scores = x @ W @ x.T
    if instance.mask is not None:
        scores = np.where(np.array(instance.mask, dtype=bool), scores, -np.inf)
    return tuple(int(each) for each in scores.argmax(1))


def _proposals(instance: Instance, basis: Rows, symmetry: Any) -> list[Escape]:
    targets = _attended(instance)
    n, d = instance.n, instance.d
    E = np.array([[float(a) for a in row] for row in basis])
    B, W = (
        np.array([[float(a) for a in row] for row in instance.parameters[str(name)]])
        for name in (instance.system.value, instance.system.score)
    )
    gram = E.T @ E
    jump = np.kron(np.eye(n)[list(targets)], B)
    linear = np.linalg.solve(gram, E.T @ jump @ E)
    root = np.linalg.cholesky(gram).T  # |x| = |root z|
    back = np.linalg.inv(root)
    inner = root @ linear @ back
    token = [E[i * d : (i + 1) * d] @ back for i in range(n)]
    gaps = []
    for i, target in enumerate(targets):
        for j in range(n):
            if (instance.mask is None or instance.mask[i][j]) and np.abs(token[target] - token[j]).max() > 1e-9:
                form = token[i].T @ W @ (token[target] - token[j])
                gaps.append((form + form.T) / 2)
    found = []
    for leading in _groups(inner):
        for multiplier in MULTIPLIERS:
            made = _cone(inner, gaps, leading, multiplier)
            if made is not None:
                form, growth, gain, gap, scaled, size = made
                rounded = _rounded(root.T @ form @ root)
                cone = Escape(targets, basis, symmetry, rounded, growth, gain, gap, scaled, size)
                found.append(cone)
                break
    return found


def _groups(inner: Floats) -> list[float]:
    """Numbers below the real parts of a leading group of eigenvalues (above 0), and above the others."""
    reals = sorted(np.linalg.eigvals(inner).real, reverse=True)
    cuts = []
    for high, low in zip(reals, [*reals[1:], -np.inf], strict=True):
        if high > 1e-6 and high - low > TOGETHER:
            middle = max((high + low) / 2, high / 2) if np.isfinite(low) else high / 2
            short = float(f"{middle:.1g}")
            cuts.append(short if max(low, 0.0) < short < high else float(f"{middle:.6g}"))
    return cuts


def _cone(inner: Floats, gaps: Sequence[Floats], cut: float, multiplier: float) -> tuple[Any, ...] | None:
    """The form and the constants for the eigenvalues right of the cut, in coordinates with ``|x| = |y|``."""
    from scipy.linalg import schur, solve_continuous_lyapunov

    size = len(inner)
    _, ahead, count = schur(inner, sort=lambda re, im=0.0: re > cut)
    _, behind, _ = schur(inner, sort=lambda re, im=0.0: re <= cut)
    T = np.concatenate([ahead[:, :count], behind[:, : size - count]], 1)
    if count == 0 or abs(np.linalg.det(T)) < 1e-9:
        return None
    seen = [T[:, :count].T @ each @ T[:, :count] for each in gaps]
    least = min((float(np.linalg.eigvalsh(each).min()) for each in seen), default=1.0)
    if least <= 1e-6:
        return None
    blocks = np.linalg.solve(T, inner @ T)
    up = blocks[:count, :count] - cut * np.eye(count)
    form_down = np.zeros((size - count, size - count))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an ill-conditioned proposal is refused by the check
        form_up = solve_continuous_lyapunov(up.T, np.eye(count))
        if count < size:
            down = blocks[count:, count:] - cut * np.eye(size - count)
            form_down = -solve_continuous_lyapunov(down.T, -np.eye(size - count))
    most = max((float(np.linalg.norm(each, 2)) for each in gaps), default=1.0)
    weight = multiplier * most if count < size else 0.0
    share = least / 4 / weight / float(np.linalg.norm(form_up, 2)) if weight else 1.0
    diagonal = np.zeros((size, size))
    diagonal[:count, :count], diagonal[count:, count:] = share * form_up, form_down
    inverse = np.linalg.inv(T)
    form = inverse.T @ diagonal @ inverse
    form = (form + form.T) / 2
    scale = float(np.linalg.norm(form, 2))
    form, weight = form / scale, weight * scale
    gap = min((float(np.linalg.eigvalsh(each - weight * form).min()) for each in gaps), default=1.0)
    gain = float(np.linalg.eigvalsh(form @ inner + inner.T @ form - 2 * cut * form).min())
    if gap <= 1e-9 or gain <= 1e-9:
        return None
    return form, _simple(cut), _simple(0.9 * gain), _simple(0.9 * gap), _simple(weight), Fraction(101, 100)


def _simple(value: float) -> Fraction:
    """A rational number of few digits near the value, not above it by more than a millionth part."""
    return Fraction(0) if value == 0 else Fraction(f"{value:.7e}")


def _rounded(form: Floats) -> Rows:
    scale = Fraction(2) ** (DIGITS - int(np.ceil(np.log2(max(float(np.abs(form).max()), 1e-300)))))
    size = len(form)
    return tuple(
        tuple(Fraction(round(Fraction(float(form[min(i, j), max(i, j)])) * scale)) / scale for j in range(size))
        for i in range(size)
    )
