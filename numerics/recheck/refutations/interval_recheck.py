"""A second arithmetic for counterexamples: mpmath intervals, Fractions and sympy, closed-form Jacobians, inertia.

It shares neither the ball arithmetic nor the automatic differentiation of the first: Jacobians are the formula of PM-L10,
intervals are mpmath's, and stability is decided by inertia: for a rational symmetric H with ``r^2 H - G^T H G > 0`` (map) or
``-(G^T H + H G) > 0`` (flow) the number of eigenvalues of G outside the circle of radius r (right of the axis) is the number
of negative eigenvalues of H (Ostrowski-Schneider, Taussky).  H is proposed by floating point and not trusted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.points.attention import POINTS
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space, Time

__all__ = [
    "EXACT",
    "INTERVALS",
    "Arithmetic",
    "counts_outside",
    "exact_charpoly",
    "exact_count",
    "interval",
    "interval_jacobian",
    "intrinsic_charpoly",
    "is_definite",
    "none_outside",
    "some_on_boundary",
    "turned_scores",
]

DIGITS = 40
Row = list[Any]


def interval(value: sp.Expr) -> Any:
    """An mpmath interval around an exact sympy number."""
    iv.dps = max(iv.dps, DIGITS)
    if value.is_Rational:
        return iv.mpf(int(value.p)) / iv.mpf(int(value.q))
    if value is sp.E:
        return iv.exp(iv.mpf(1))
    if value is sp.pi:
        return iv.pi
    if value.is_Add:
        return sum((interval(part) for part in value.args[1:]), interval(value.args[0]))
    if value.is_Mul:
        product = interval(value.args[0])
        for part in value.args[1:]:
            product = product * interval(part)
        return product
    if isinstance(value, sp.exp):
        return iv.exp(interval(value.args[0]))
    if isinstance(value, sp.log):
        return iv.log(interval(value.args[0]))
    if value.is_Pow:
        base, exponent = value.args
        if exponent.is_Integer:
            return interval(base) ** int(exponent)
        if exponent == sp.Rational(1, 2):
            return iv.sqrt(interval(base))
        return iv.exp(interval(exponent) * iv.log(interval(base)))
    raise ValueError(f"no interval for {value}")


@dataclass(frozen=True)
class Arithmetic:
    """Numbers of one kind: how an exact sympy number is read, and the two functions that the systems need."""

    number: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]


INTERVALS = Arithmetic(interval, iv.exp, iv.sqrt)
EXACT = Arithmetic(sp.sympify, sp.exp, sp.sqrt)


def _rows(matrix: Any, kind: Arithmetic = INTERVALS) -> list[Row]:
    return [[kind.number(sp.sympify(entry)) for entry in row] for row in matrix]


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    total: Any = 0
    for a, b in zip(x, y, strict=True):
        total = total + a * b
    return total


def _times(matrix: list[Row], x: Sequence[Any]) -> Row:
    return [_dot(row, x) for row in matrix]


def _product(a: list[Row], b: list[Row]) -> list[Row]:
    columns = list(zip(*b, strict=True))
    return [[_dot(row, column) for column in columns] for row in a]


def _turned(matrix: list[Row]) -> list[Row]:
    return [list(row) for row in zip(*matrix, strict=True)]


def turned_scores(system: Any, parameters: Any, kind: Arithmetic) -> Any:
    """``(l, i) -> Q R^(l-i) K^T``; for l < i the transposes of R, which is orthogonal."""
    if system.rotary is None:
        return None
    query, key, turn = (_rows(parameters[name], kind) for name in system.rotary)

    def score(l: int, i: int) -> list[Row]:
        made = query
        for _ in range(abs(l - i)):
            made = _product(made, turn if l > i else _turned(turn))
        return _product(made, _turned(key))

    return score


def _direction(x: Row, kind: Arithmetic) -> tuple[Row, list[Row]]:
    """``e = x/|x|`` and its derivative ``(I - e e^T)/|x|``."""
    size = kind.sqrt(_dot(x, x))
    e = [a / size for a in x]
    return e, [[(int(a == b) - e[a] * e[b]) / size for b in range(len(e))] for a in range(len(e))]


class _Point:
    """Pushes and derivatives of the pushes at a state, by the closed form of PM-L10.

    With a norm or a gain before or behind the sublayer by the chain rule: attention reads ``G x/|x|`` (or ``G x``), and a push
    that is normalised is ``H u/|u|``.
    """

    def __init__(self, instance: Instance, tokens: Sequence[Row], kind: Arithmetic) -> None:
        system = instance.system
        self.kind = kind
        self.n, self.d, self.x = len(tokens), instance.d, [list(token) for token in tokens]
        parameters = instance.parameters
        shape = POINTS.get(system.name)
        self.gain = _rows(parameters[shape.gain], kind) if shape is not None and shape.gain is not None else None
        inner = self._read(shape is not None and shape.before)
        groups = parameters["heads"] if system.multihead else [parameters]
        zero = kind.number(sp.Integer(0))
        scale = 1 / kind.sqrt(kind.number(sp.Integer(self.d))) if system.over_root_d else kind.number(sp.Integer(1))
        self.push = [[zero] * self.d for _ in range(self.n)]
        self.slope = [[[[zero] * self.d for _ in range(self.d)] for _ in range(self.n)] for _ in range(self.n)]
        allowed = instance.mask or [[1] * self.n for _ in range(self.n)]
        for group in groups:
            value = (
                None if system.value is None or group.get(system.value) is None else _rows(group[system.value], kind)
            )
            score = None if system.score is None else _rows(group[system.score], kind)
            self.turned = turned_scores(system, parameters, kind)
            for i in range(self.n):
                self._add(i, value, score, allowed[i], scale)
        if inner:
            self.slope = [[_product(part, inner[j]) for j, part in enumerate(row)] for row in self.slope]
        if shape is not None and shape.second is not None:
            self._behind(_rows(parameters[shape.second], kind))

    def _read(self, before: bool) -> list[list[Row]]:
        """What attention reads in the place of the tokens, and its derivatives; nothing where it reads them as they are."""
        inner: list[list[Row]] = []
        if before:
            pairs = [_direction(token, self.kind) for token in self.x]
            self.x, inner = [e for e, _ in pairs], [slope for _, slope in pairs]
        if self.gain is not None:
            gain, self.x = self.gain, [_times(self.gain, token) for token in self.x]
            inner = [_product(gain, each) for each in inner] if inner else [gain] * self.n
        return inner

    def _behind(self, second: list[Row]) -> None:
        """``H u/|u|``."""
        for i in range(self.n):
            e, turn = _direction(self.push[i], self.kind)
            self.push[i] = _times(second, e)
            outer = _product(second, turn)
            self.slope[i] = [_product(outer, part) for part in self.slope[i]]

    def _add(self, i: int, value: Any, score: Any, allowed: Sequence[int], scale: Any) -> None:
        x, d = self.x, self.d
        if self.turned is not None:
            if not all(allowed):
                raise ValueError("rotated scores have no mask here")
            raw = [self.kind.exp(_dot(x[i], _times(self.turned(i, j), x[j]))) for j in range(self.n)]
        elif score is None:
            raw = [self.kind.number(sp.Integer(bool(each))) for each in allowed]
        else:
            zero = self.kind.number(sp.Integer(0))
            raw = [
                self.kind.exp(_dot(x[i], _times(score, y))) if seen else zero
                for y, seen in zip(x, allowed, strict=True)
            ]
        total = sum(raw[1:], raw[0])
        weights = [each / total for each in raw]
        mean = [_dot(weights, column) for column in zip(*x, strict=True)]
        moved = mean if value is None else _times(value, mean)
        self.push[i] = [a + scale * b for a, b in zip(self.push[i], moved, strict=True)]
        left = None if score is None else _times(_turned(score), x[i])  # M^T x_i
        spread = None
        if score is not None:
            away = [[a - b for a, b in zip(y, mean, strict=True)] for y in x]
            spread = [
                [sum((w * y[a] * y[b] for w, y in zip(weights, away, strict=True)), 0 * weights[0]) for b in range(d)]
                for a in range(d)
            ]
            spread = _product(spread, _turned(score))
        for j in range(self.n):
            inner = [[weights[j] * int(a == b) for b in range(d)] for a in range(d)]
            if score is not None and left is not None and spread is not None:
                for a in range(d):
                    for b in range(d):
                        inner[a][b] = inner[a][b] + weights[j] * (x[j][a] - mean[a]) * left[b]
                        if i == j:
                            inner[a][b] = inner[a][b] + spread[a][b]
            outer = inner if value is None else _product(value, inner)
            for a in range(d):
                for b in range(d):
                    self.slope[i][j][a][b] = self.slope[i][j][a][b] + scale * outer[a][b]


def interval_jacobian(
    instance: Instance, tokens: Sequence[Row] | None = None, pull: Any = None, kind: Arithmetic = INTERVALS
) -> tuple[list[Row], list[Row]]:
    """The next state (velocity) and the nd x nd Jacobian of the map (flow), over a box of states if given one.

    For a flow on the sphere or ellipsoid the field is extended by ``pull (1 - x^T W x) x``, which vanishes on it.  Where scores
    depend on the positions only the velocity is given: there is no closed form of the Jacobian here.
    """
    iv.dps = max(iv.dps, DIGITS)
    system, d = instance.system, instance.d
    state = _rows(instance.tokens, kind) if tokens is None else [list(token) for token in tokens]
    point = _Point(instance, state, kind)
    n = point.n
    metric = None if instance.metric is None else _rows(instance.metric, kind)
    one = kind.number(sp.Integer(1))
    result = [[0 * one] * (n * d) for _ in range(n * d)]
    image: list[Row] = []
    for i in range(n):
        x, u = state[i], point.push[i]
        if system.space is Space.EUCLIDEAN and system.time is Time.MAP:
            factor = kind.number(instance.parameters["alpha"])
            image.append([a + factor * b for a, b in zip(x, u, strict=True)])
            project, own = None, [[int(a == b) * one for b in range(d)] for a in range(d)]
        elif system.space is Space.EUCLIDEAN:
            image.append(list(u))
            project, own, factor = None, None, one
        elif system.time is Time.MAP:
            factor = kind.number(instance.parameters["alpha"])
            carried = x if point.gain is None else _times(point.gain, x)
            y = [a + factor * b for a, b in zip(carried, u, strict=True)]
            norm = kind.sqrt(_dot(y, y if metric is None else _times(metric, y)))
            hat = [a / norm for a in y]
            low = hat if metric is None else _times(metric, hat)
            project = [[(int(a == b) - hat[a] * low[b]) / norm for b in range(d)] for a in range(d)]
            own = project if point.gain is None else _product(project, point.gain)
            image.append(hat)
        else:
            factor = one
            low = x if metric is None else _times(metric, x)
            pushed = u if metric is None else _times(metric, u)
            height = _dot(x, pushed)
            project = [[int(a == b) - x[a] * low[b] for b in range(d)] for a in range(d)]
            own = [[-(height * int(a == b)) - x[a] * pushed[b] for b in range(d)] for a in range(d)]
            excess = 1 - _dot(x, low)
            if pull is not None:
                for a in range(d):
                    for b in range(d):
                        own[a][b] = own[a][b] + pull * (excess * int(a == b) - 2 * x[a] * low[b])
            image.append(
                [a - height * b + (0 if pull is None else pull * excess * b) for a, b in zip(u, x, strict=True)]
            )
        for j in range(n):
            block = point.slope[i][j]
            moved = block if project is None else _product(project, block)
            for a in range(d):
                for b in range(d):
                    entry = factor * moved[a][b]
                    if i == j and own is not None:
                        entry = entry + own[a][b]
                    result[i * d + a][j * d + b] = entry
    return image, [] if system.rotary is not None else result


def middle(value: Any) -> float:
    """A float inside (or near) an interval."""
    return float(value.mid) if hasattr(value, "mid") else float(value)


def is_definite(matrix: list[Row]) -> bool:
    """All pivots of a symmetric interval matrix are certainly positive."""
    rows = [list(row) for row in matrix]
    for k in range(len(rows)):
        if not rows[k][k].a > 0:
            return False
        for i in range(k + 1, len(rows)):
            ratio = rows[i][k] / rows[k][k]
            for j in range(k, len(rows)):
                rows[i][j] = rows[i][j] - ratio * rows[k][j]
    return True


def _symmetric(matrix: list[Row]) -> list[Row]:
    size = len(matrix)
    return [[(matrix[i][j] + matrix[j][i]) / 2 for j in range(size)] for i in range(size)]


def _proposed(floats: np.ndarray, time: Time, shift: float) -> np.ndarray:
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    size = len(floats)
    if time is Time.MAP:
        return np.asarray(solve_discrete_lyapunov((floats / shift).T, np.eye(size)))
    return np.asarray(solve_continuous_lyapunov((floats - shift * np.eye(size)).T, -np.eye(size)))


def counts_outside(matrix: list[Row], time: Time, shift: float) -> int | None:
    """How many eigenvalues are outside the circle of radius ``shift`` (right of the line ``Re = shift``); ``None``: not told.

    Only ``0`` and "at least one" are ever certified: the return value is 0 or 1.
    """
    found = _form(matrix, time, shift)
    if found is None:
        return None
    H, form = found
    if is_definite(H):
        return 0
    values, vectors = np.linalg.eigh(form)
    x = [iv.mpf(float(entry)) for entry in vectors[:, int(values.argmin())]]
    return 1 if _dot(x, _times(H, x)).b < 0 else None


def exact_count(matrix: list[Row], shift: float, time: Time = Time.FLOW) -> int | None:
    """The number of eigenvalues right of the line ``Re = shift`` (outside the circle), by the pivots of H; ``None``: not told."""
    found = _form(matrix, time, shift)
    return None if found is None else _negative_pivots(found[0])


def _negative_pivots(matrix: list[Row]) -> int | None:
    rows = [list(row) for row in matrix]
    negative = 0
    for k in range(len(rows)):
        if not (rows[k][k].a > 0 or rows[k][k].b < 0):
            return None
        negative += int(rows[k][k].b < 0)
        for i in range(k + 1, len(rows)):
            ratio = rows[i][k] / rows[k][k]
            for j in range(k, len(rows)):
                rows[i][j] = rows[i][j] - ratio * rows[k][j]
    return negative


def _form(matrix: list[Row], time: Time, shift: float) -> tuple[list[Row], np.ndarray] | None:
    """A symmetric H for which the gap of the inertia theorem is certainly positive definite."""
    size = len(matrix)
    floats = np.array([[middle(entry) for entry in row] for row in matrix])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an ill-conditioned proposal is refused below, not trusted
            form = _proposed(floats, time, shift)
    except (np.linalg.LinAlgError, ValueError):
        return None
    form = (form + form.T) / 2
    scale = float(np.abs(form).max())
    if not np.isfinite(scale) or scale == 0:
        return None
    H = [[iv.mpf(float(entry) / scale) for entry in row] for row in form]
    radius = iv.mpf(shift)
    inner = _product(_turned(matrix), _product(H, matrix)) if time is Time.MAP else _product(H, matrix)
    if time is Time.MAP:
        gap = [[radius * radius * H[i][j] - inner[i][j] for j in range(size)] for i in range(size)]
    else:
        gap = [[-(inner[i][j] + inner[j][i]) + 2 * radius * H[i][j] for j in range(size)] for i in range(size)]
    return (H, form) if is_definite(_symmetric(gap)) else None


def exact_charpoly(instance: Instance) -> sp.Poly | None:
    """The characteristic polynomial of the Jacobian at an exact point, by sympy numbers; ``None`` where not rational."""
    _, matrix = interval_jacobian(instance, kind=EXACT)
    exact = sp.Matrix(matrix)
    if not all(entry.is_Rational for entry in exact):
        exact = exact.applyfunc(sp.simplify)
    if not all(entry.is_Rational for entry in exact):
        return None
    z = sp.Symbol("z")
    return sp.Poly(exact.charpoly(z).as_expr(), z)


def intrinsic_charpoly(instance: Instance) -> sp.Poly | None:
    """The characteristic polynomial on the tangent spaces at an exact equilibrium; ``None`` where not rational.

    Off the sphere the extension of a map adds the eigenvalue 0 for each token, that of a flow ``-2 x_i^T W u_i``.
    """
    whole = exact_charpoly(instance)
    if whole is None or instance.system.space is Space.EUCLIDEAN:
        return whole
    z = whole.gen
    point = _Point(instance, [[sp.sympify(entry) for entry in token] for token in instance.tokens], EXACT)
    metric = None if instance.metric is None else _rows(instance.metric, EXACT)
    for x, u in zip(point.x, point.push, strict=True):
        height = sp.simplify(_dot(x, u if metric is None else _times(metric, u)))
        factor = sp.Poly(z if instance.system.time is Time.MAP else z + 2 * height, z)
        whole, rest = sp.div(whole, factor)
        if not rest.is_zero:
            return None
    return whole


def none_outside(polynomial: sp.Poly, time: Time) -> bool | None:
    """No root outside the closed unit disc (right of the axis), by Sturm counts, for polynomials with real roots only."""
    square_free = polynomial.quo(polynomial.gcd(polynomial.diff()))
    if square_free.count_roots() != square_free.degree():
        return None
    beyond = square_free.count_roots(1, None) - int(square_free.eval(1) == 0)
    if time is Time.FLOW:
        return bool(square_free.count_roots(0, None) - int(square_free.eval(0) == 0) == 0)
    before = square_free.count_roots(None, -1) - int(square_free.eval(-1) == 0)
    return bool(beyond == 0 and before == 0)


def some_on_boundary(polynomial: sp.Poly, time: Time) -> bool:
    """Is a root exactly on the unit circle (map), or on the imaginary axis (flow)?  Rational coefficients, exactly.

    On the axis ``p(iw)`` has a real root w in its real and its imaginary part; the circle without -1 is
    ``z = (1 + iw)/(1 - iw)``.
    """
    w, degree, z = sp.Symbol("w", real=True), polynomial.degree(), polynomial.gen
    if time is Time.FLOW:
        moved = polynomial.as_expr().subs(z, sp.I * w)
    else:
        if polynomial.eval(-1) == 0:
            return True
        terms = polynomial.all_coeffs()
        moved = sum(c * (1 + sp.I * w) ** (degree - i) * (1 - sp.I * w) ** i for i, c in enumerate(terms))
    real, imaginary = sp.expand(moved).as_real_imag()
    common = sp.gcd(sp.Poly(real, w), sp.Poly(imaginary, w))
    return bool(common.degree() > 0 and common.count_roots() > 0)
