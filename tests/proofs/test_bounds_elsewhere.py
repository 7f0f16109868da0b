"""The sheet of bounds at parameters that it does not print: its formulas, or what they are about, in mpmath beside ours."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers.margins import certified_margin
from eigentoken.numerics.layers.skew_margin import skew_at_leader, symmetric_parts
from eigentoken.numerics.layers.token_bounds import ROOM, LayerAtTokens, NormAtTokens, bounds_of_layer
from eigentoken.proofs.bounds.bd_p01_placements import constant, flow
from eigentoken.proofs.bounds.bd_r01_rank_collapse import basin_radius
from eigentoken.proofs.bounds.bd_t01_temperature import cosine_after
from eigentoken.proofs.bounds.heads import HeadAtTokens, norm

#: Three tokens in the plane, the scores and the values of a head, and its query bias.
X = [["1/2", "-1"], ["3/4", "1/4"], ["-5/4", "1/2"]]
Q = [["1", "-1/2"], ["1/4", "3/2"]]
K = [["1/2", "1"], ["-1", "3/4"]]
V = [["2", "1/4"], ["-1/2", "1"]]
O = [["1", "-1/3"], ["1/2", "3/4"]]
BIAS, SCALE = ["1/4", "-1/2"], 2


def number(text: Any) -> Any:
    """An integer or a quotient of two."""
    top, _, bottom = str(text).partition("/")
    return mp.mpf(int(top)) / int(bottom or 1)


def exact(rows: Any) -> Any:
    return mp.matrix([[number(each) for each in row] for row in rows])


def spectral(matrix: Any) -> Any:
    return max(mp.svd_r(matrix, compute_uv=False)) if matrix.rows > 1 or matrix.cols > 1 else abs(matrix[0])


def floats(rows: Any) -> Any:
    return np.array([[float(each) for each in exact(rows)[i, :]] for i in range(len(rows))])


class Head:
    """One head with high precision: rows of weights from scores, the Jacobian by differences."""

    def __init__(self, causal: bool) -> None:
        self.x, self.causal = exact(X), causal
        self.P = exact(Q).T * exact(K) / SCALE
        self.U = exact(O) * exact(V)
        self.shift = exact(K).T * exact([BIAS]).T / SCALE
        self.q = [self.P.T * self.x[i, :].T + self.shift for i in range(3)]

    def rows(self, x: Any) -> Any:
        found = mp.zeros(3)
        for i in range(3):
            seen = range(i + 1) if self.causal else range(3)
            sizes = {j: mp.exp(((x[i, :] * self.P + self.shift.T) * x[j, :].T)[0]) for j in seen}
            for j, size in sizes.items():
                found[i, j] = size / sum(sizes.values())
        return found

    def output(self, x: Any) -> Any:
        return self.rows(x) * x * self.U.T

    def jacobian(self) -> Any:
        h, found = mp.mpf(10) ** -20, mp.zeros(6)
        for place in range(6):
            ends = []
            for sign in (1, -1):
                moved = self.x.copy()
                moved[place // 2, place % 2] += sign * h
                ends.append(self.output(moved))
            for row in range(6):
                found[row, place] = (ends[0][row // 2, row % 2] - ends[1][row // 2, row % 2]) / (2 * h)
        return found

    def spreads(self) -> tuple[list[Any], list[Any]]:
        a = self.rows(self.x)
        means = [sum((a[i, j] * self.x[j, :].T for j in range(3)), mp.zeros(2, 1)) for i in range(3)]
        apart = [[self.x[j, :].T - means[i] for j in range(3)] for i in range(3)]
        return means, [sum((a[i, j] * apart[i][j] * apart[i][j].T for j in range(3)), mp.zeros(2)) for i in range(3)]


def ours(causal: bool, asked: tuple[str, ...]) -> dict[str, Any]:
    head = {"Q": floats(Q), "K": floats(K), "V": floats(V), "O": floats(O), "scale": float(SCALE)}
    head["q_bias"] = floats([BIAS])[0]
    mask = np.tril(np.ones((3, 3), dtype=bool)) if causal else np.ones((3, 3), dtype=bool)
    x = floats(X)
    given = HeadAtTokens(
        x, head["Q"].T @ head["K"] / SCALE, head["O"] @ head["V"], head["q_bias"] @ head["K"] / SCALE, mask
    )
    layer = LayerAtTokens([head], x, x, given.output, mask)
    return {"dense": given} | {each.statement: each for each in bounds_of_layer(layer, asked)}


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(50):
        yield


@pytest.mark.parametrize("causal", [False, True])
def test_jacobians_and_their_bounds(causal: bool) -> None:
    """BD-J1, BD-J2, BD-J3 and BD-L1 with a query bias, by the formulas; the Jacobian by differences of the map."""
    head, found = Head(causal), ours(causal, ("BD-J2", "BD-J3", "BD-L1"))
    dense, whole = found["dense"], head.jacobian()
    size = spectral(whole)
    assert norm(dense.jacobian()) == pytest.approx(float(size), rel=1e-12)
    a, (means, spreads) = head.rows(head.x), head.spreads()
    lengths = [mp.norm(each) for each in head.q]
    squares = [spectral(head.U * (mp.eye(2) + lengths[i] ** 2 * spreads[i]) * head.U.T) for i in range(3)]
    own = [spectral(head.U * spreads[i] * head.P.T) for i in range(3)]
    sharp = mp.sqrt(max(sum(a[i, j] * squares[i] for i in range(3)) for j in range(3))) + max(own)
    assert dense.row_operator_bounds()[0] == pytest.approx(float(sharp), rel=1e-12)
    blocks = mp.matrix([[spectral(whole[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]) for j in range(3)] for i in range(3)])
    assert dense.block_norm_bound() == pytest.approx(float(spectral(blocks)), rel=1e-12)
    U = spectral(head.U)
    larger = mp.matrix(3)
    for i in range(3):
        for j in range(3):
            larger[i, j] = a[i, j] * (U + mp.norm(head.U * (head.x[j, :].T - means[i])) * lengths[i])
        larger[i, i] += own[i]
    assert found["BD-J3"].bound == pytest.approx(float(spectral(larger)), rel=2 * ROOM)
    assert float(size) <= float(sharp) <= found["BD-J2"].bound and float(spectral(blocks)) <= found["BD-J3"].bound
    assert found["BD-J3"].measured == pytest.approx(float(size), rel=1e-3)
    R = max(mp.norm(head.x[i, :]) for i in range(3))
    p = spectral(head.P) * R**2
    with_bias = p + R * mp.norm(head.shift)
    on_ball = U * (mp.sqrt(3 * (1 + mp.mpf(16) / 27 * with_bias**2)) + p)
    assert found["BD-L1"].bound == pytest.approx(float(on_ball), rel=2 * ROOM)


@pytest.mark.parametrize("causal", [False, True])
def test_diameters_and_directions(causal: bool) -> None:
    """BD-D1 and BD-H2: the largest variation of two rows; widths along the sum of the tokens."""
    head, found = Head(causal), ours(causal, ("BD-D1", "BD-H2"))
    a, x = head.rows(head.x), head.x
    most = max(sum(abs(a[i, k] - a[j, k]) for k in range(3)) / 2 for i in range(3) for j in range(3))
    assert found["BD-D1"].bound == pytest.approx(min(1.0, float(most)), rel=2 * ROOM)
    z = sum((x[i, :].T for i in range(3)), mp.zeros(2, 1))

    def width(rows: Any) -> Any:
        heights = [(rows[i, :] * z)[0] for i in range(3)]
        return max(heights) - min(heights)

    assert found["BD-H2"].bound == pytest.approx(float(width(x * head.U.T) / width(x)), rel=2 * ROOM)
    assert found["BD-H2"].measured == pytest.approx(float(width(head.output(x)) / width(x)), rel=1e-12)


@pytest.mark.parametrize(("gain", "bias"), [((1, 2, 5), None), ((-2, 7, 1, 3), (1, -2, 2, 4))])
def test_radius_of_a_norm(gain: tuple[int, ...], bias: tuple[int, ...] | None) -> None:
    """BD-N1: ``sqrt(d) |diag(g) Pi| + |b|``."""
    d = len(gain)
    inner = mp.diag(gain) * (mp.eye(d) - mp.ones(d) / d)
    expected = mp.sqrt(d) * spectral(inner) + (0 if bias is None else mp.norm(mp.matrix(bias)))
    given = NormAtTokens(np.array(gain, float), None if bias is None else np.array(bias, float), True, np.ones((1, d)))
    assert given.bound().bound == pytest.approx(float(expected), rel=2 * ROOM)
    assert given.bound().bound >= float(expected)


def test_basin_of_rank_collapse() -> None:
    """BD-R2 at |U| = 5/2, |P| = 3/4: ``|U| tanh(|P| D^2/4) = 1`` at D*; the pair stands there."""
    star = mp.findroot(lambda D: mp.mpf(5) / 2 * mp.tanh(mp.mpf(3) / 4 * D**2 / 4) - 1, 1.5)
    assert float(basin_radius(mp.mpf(5) / 2, mp.mpf(3) / 4)) == pytest.approx(float(star), rel=1e-14)
    x = star / 2  # tokens x and -x in one dimension: weights e^(P x^2) against e^(-P x^2)
    own, other = mp.exp(mp.mpf(3) / 4 * x * x), mp.exp(-mp.mpf(3) / 4 * x * x)
    assert mp.almosteq(mp.mpf(5) / 2 * (own - other) / (own + other) * x, x, rel_eps=mp.mpf(10) ** -40)


PLACES = [("post", 3, 2, "1/5", 1, "1/2"), ("pre", 5, "1/2", "-1/10", 2, 1), ("peri", 6, "3/2", "1/10", "1/2", "1/2")]


@pytest.mark.parametrize(("scheme", "n", "beta", "rho", "r", "end"), PLACES)
def test_placements_of_the_norm(scheme: str, n: int, beta: Any, rho: Any, r: Any, end: Any) -> None:
    """BD-P1: the two tokens 1 and 2 of the whole particle system stay equiangular; rho and r by Taylor series of mpmath."""
    beta, rho, r, end = map(number, (beta, rho, r, end))

    def slope(_: Any, y: Any) -> Any:
        own, other = mp.exp(beta), mp.exp(beta * y[0])
        a = [(own if k == 0 else other) / (own + (n - 1) * other) for k in range(n)]  # of the first token
        height, beside = (
            sum(a[k] * (1 if k == at else y[0]) for k in range(n)) for at in (0, 1)
        )  # theta_1 . A_1, theta_2 . A_1
        size = mp.sqrt(sum(a[k] * a[l] * (1 if k == l else y[0]) for k in range(n) for l in range(n)))
        slow = {"post": 1, "pre": y[1], "peri": y[1] * size}[scheme]
        growth = {"post": 0, "pre": height, "peri": height / size}[scheme]
        return [2 * (beside - height * y[0]) / slow, growth]

    with mp.workdps(16):
        expected = mp.odefun(slope, 0, [rho, r])(end)
    found = flow(scheme, n, beta, rho, r, end)
    assert [float(each) for each in found] == pytest.approx([float(each) for each in expected], rel=1e-11)


def test_constant_of_pre_norm() -> None:
    """BD-P4 at n = 5, beta = 7/2, rho_0 = 3/10, r_0 = 2: the integral from the series of the exponential, in ``s = 1 - rho``."""
    n, beta, rho, r = 5, mp.mpf(7) / 2, mp.mpf(3) / 10, 2

    def slope(s: Any) -> Any:
        return sum(beta**k * s ** (k - 1) / mp.factorial(k) for k in range(1, 60)) / (n - (n - 1) * s)

    expected = (1 - rho) * r**2 * mp.exp(mp.quad(slope, [0, 1 - rho], method="gauss-legendre"))
    assert float(constant(n, beta, rho, r)) == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize(("n", "gamma", "rho"), [(64, "3/2", "1/4"), (7, "1/3", "-1/10")])
def test_cosine_after_one_layer(n: int, gamma: str, rho: str) -> None:
    """BD-T1 from the Gram matrix: ``A G A^T`` entry by entry."""
    g, cosine = map(number, (gamma, rho))
    beta = g * mp.log(n)
    gram = mp.matrix(n)
    for i in range(n):
        for j in range(n):
            gram[i, j] = 1 if i == j else cosine
    own, other = mp.exp(beta), mp.exp(beta * cosine)
    rows = [[(own if i == j else other) / (own + (n - 1) * other) for j in range(n)] for i in (0, 1)]
    a = mp.matrix(rows)
    out = a * gram * a.T
    assert float(cosine_after(n, beta, cosine)) == pytest.approx(
        float(out[0, 1] / mp.sqrt(out[0, 0] * out[1, 1])), rel=1e-14
    )


@pytest.mark.parametrize(
    "F",
    [
        [["5", "-1/4", "1/2", "0"], ["3/4", "2", "-2", "1"], ["1/2", "2", "1", "0"], ["1/4", "1", "3", "-1"]],
        [["3", "1/2", "0"], ["-1/2", "-1", "4"], ["1/4", "-4", "-2"]],
    ],
)
def test_leader_with_a_margin(F: Any) -> None:
    """BD-E1: ``c_0 +- sigma`` from the eigenvectors of the symmetric part; and the eigenvalues of F themselves."""
    given = exact(F)
    values, vectors = mp.eigsy((given + given.T) / 2)
    order = sorted(range(len(F)), key=lambda k: values[k])
    top, second, v = values[order[-1]], values[order[-2]], vectors[:, order[-1]]
    kappa, gap = mp.norm((given - given.T) * v / 2), top - second
    assert 2 * kappa < gap
    sigma, middle = mp.sqrt(gap**2 / 4 - kappa**2), (top + second) / 2
    whole = as_enclosure(floats(F), name="F")
    margin = certified_margin(symmetric_parts(whole), skew_at_leader(whole))
    assert margin is not None
    low, high = (float(each) for each in margin)
    assert [low, high] == pytest.approx([float(middle + sigma), float(middle - sigma)], abs=4 * ROOM * float(gap))
    parts = sorted(mp.re(each) for each in mp.eig(given, left=False, right=False))
    assert low <= float(parts[-1]) and float(parts[-2]) <= high
