"""BD-P1 to BD-P7: where the norm stands: post, pre, peri, nGPT and LN-scaling as flows, on equiangular tokens.

New here: own derivations.

``x_j = r_j theta_j``, ``A_j = sum_k a_jk theta_k``, ``dtheta_j/dt = (I - theta_j theta_j^T) A_j / s_j``; V = I, scores
``beta theta_i^T theta_j``.  Post: s = 1; pre: s = r, ``dr/dt = theta^T A``; peri: ``s = r |A|``, ``dr/dt = theta^T A/|A|``;
nGPT: ``s = |A|/alpha``; LN-scaling: ``s = sqrt(t + 1)``.  The definitions are those that a public Lean library restates from the
paper, which was not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.bd_t01_temperature import equiangular, weights
from eigentoken.proofs.bounds.heads import norm, softmax
from eigentoken.proofs.bounds.late_slopes import late_slopes
from eigentoken.proofs.bounds.placement_claims import (
    BETA,
    CLOSED,
    CURVE,
    FIRST_SPEED,
    GROWING,
    NEAR_CONSENSUS,
    ROOM,
    SETTING,
    SPEED,
    SPEED_OF_PERI,
    TWO_SIDED,
)
from eigentoken.proofs.properties.checks import OnInstances, above, gap
from eigentoken.proofs.properties.trajectories import extrapolated
from eigentoken.theory.language.claims import ForwardInvariant
from eigentoken.theory.language.conditions import IsIdentity, Relation
from eigentoken.theory.language.places import Equiangular
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

_DIGITS = 24
SCHEMES = ("post", "pre", "peri", "ngpt", "scaled")


def length_of_average(n: Any, beta: Any, rho: Any) -> Any:
    """``|A|`` of BD-P1."""
    a, _ = weights(n, beta, rho)
    return mp.sqrt(a * a + 2 * a * (1 - a) * rho + (1 - a) ** 2 * (1 + (n - 2) * rho) / (n - 1))


def rates(scheme: str, n: Any, beta: Any, rho: Any, r: Any, t: Any = 0, alpha: Any = 1) -> tuple[Any, Any]:
    """``drho/dt`` and ``dr/dt`` of BD-P1."""
    a, b = weights(n, beta, rho)
    size, height = length_of_average(n, beta, rho), a + (1 - a) * rho
    slow = {"post": 1, "pre": r, "peri": r * size, "ngpt": size / alpha, "scaled": mp.sqrt(t + 1)}[scheme]
    growth = {"pre": height, "peri": height / size}.get(scheme, mp.mpf(0))
    return 2 * b * (1 - rho) * (1 + (n - 1) * rho) / slow, growth


def flow(scheme: str, n: Any, beta: Any, rho: Any, r: Any, end: Any) -> tuple[Any, Any]:
    """``rho`` and ``r`` at a time (mpmath)."""
    ((cosine, length),) = extrapolated(lambda t, y: rates(scheme, n, beta, y[0], y[1], t), [rho, r], [end], 20)
    return cosine, length


def constant(n: Any, beta: Any, rho: Any, r: Any = 1, until: Any = 1) -> Any:
    """``(1 - rho) r^2`` on the curve of pre and peri at the cosine ``until``; its limit at 1 is ``C_pre``."""

    def slope(at: Any) -> Any:
        if at == 1:
            return beta / mp.mpf(n)
        return mp.expm1(beta * (1 - at)) / ((1 - at) * (1 + (n - 1) * at))

    return (1 - rho) * r * r * mp.exp(mp.quad(slope, [rho, until]))


def _particles(scheme: str, theta: Any, r: Any, beta: float) -> tuple[Any, Any]:
    """Velocities of directions and lengths, of the whole system."""
    A = softmax(beta * theta @ theta.T) @ theta
    sizes, heights = np.linalg.norm(A, axis=1), (theta * A).sum(1)
    slow = {"post": np.ones_like(r), "pre": r, "peri": r * sizes, "ngpt": sizes, "scaled": np.ones_like(r)}[scheme]
    growth = {"pre": heights, "peri": heights / sizes}.get(scheme, np.zeros_like(r))
    return (A - heights[:, None] * theta) / slow[:, None], growth


def equiangular_speed(source: np.random.Generator) -> Mapping[str, float]:
    """BD-P1 and BD-P3 against the whole system of particles at an equiangular state: speeds of the cosine and of the length."""
    n, beta, r = int(source.integers(2, 8)), float(source.uniform(-3, 4)), float(source.uniform(0.3, 3))
    rho = float(source.uniform(-0.9 / (n - 1), 0.97))
    theta, lengths = equiangular(n, rho), np.full(n, r)
    found: dict[str, float] = {}
    for scheme in SCHEMES:
        moved, growth = _particles(scheme, theta, lengths, beta)
        speed, own = rates(scheme, n, mp.mpf(beta), mp.mpf(rho), mp.mpf(r))
        found[scheme] = max(gap(moved[0] @ theta[1] + theta[0] @ moved[1], float(speed)), gap(growth[0], float(own)))
    speed, own = rates("pre", n, mp.mpf(beta), mp.mpf(rho), mp.mpf(r))
    a, b = weights(n, mp.mpf(beta), mp.mpf(rho))
    found["raw distances"] = gap(float(-speed / (1 - rho) + 2 * own / r), float(2 * (a - b) / r))
    if beta >= 0:
        found["never shrink"] = above(float(a - b), 0.0)
    return found


def post_between(source: np.random.Generator) -> Mapping[str, float]:
    """BD-P2: ``g = (1 + (n-1) rho) b`` lies between g_0 and 1 and does not decrease: the two bounds, for all times."""
    n, beta = int(source.integers(2, 30)), mp.mpf(float(source.uniform(0, 6)))
    rho = mp.mpf(float(source.uniform(-0.99 / (n - 1), 0.98)))
    more = rho + (1 - rho) * mp.mpf(float(source.uniform(0, 1)))

    def g(at: Any) -> Any:
        return (1 + (n - 1) * at) * weights(n, beta, at)[1]

    return {
        "rises": above(float(g(more)), float(g(rho))),
        "below one": above(1.0, float(g(more))),
        "end": gap(float(g(mp.mpf(1))), 1.0),
    }


def same_curve(source: np.random.Generator) -> Mapping[str, float]:
    """BD-P4: ``(1 - rho) r^2`` against the integral up to the current cosine, for pre and peri; the ratio of the constants."""
    n, beta = int(source.integers(2, 7)), mp.mpf(float(source.uniform(-2, 2)))
    rho = mp.mpf(float(source.uniform(-0.5 / (n - 1), 0.8)))
    found = {}
    for scheme in ("pre", "peri"):
        state, h = [rho, mp.mpf(1)], mp.mpf(1) / 256
        for _ in range(8):
            state = _runge_kutta(scheme, n, beta, state, h)
        found[scheme] = gap(float((1 - state[0]) * state[1] ** 2), float(constant(n, beta, rho, 1, state[0])))
    return found


def rates_near_consensus(source: np.random.Generator) -> Mapping[str, float]:
    """``-(1 - rho)'/(1 - rho)`` near 1: 2 (post), 2 alpha (nGPT), ``2/sqrt(t + 1)`` (LN-scaling); peri is not slower than pre."""
    n, beta, near = int(source.integers(2, 9)), mp.mpf(float(source.uniform(-2, 3))), mp.mpf("1e-9")
    t, alpha = mp.mpf(float(source.uniform(0, 9))), mp.mpf(float(source.uniform(0.1, 3)))
    found = {}
    for scheme, expected in (("post", mp.mpf(2)), ("ngpt", 2 * alpha), ("scaled", 2 / mp.sqrt(t + 1))):
        speed = rates(scheme, n, beta, 1 - near, mp.mpf(1), t, alpha)[0]
        found[scheme] = float(abs(speed / near / expected - 1) - 100 * near)
    rho = mp.mpf(float(source.uniform(-0.9 / (n - 1), 0.99)))
    pre, peri = (rates(each, n, beta, rho, mp.mpf(1))[0] for each in ("pre", "peri"))
    return {**found, "peri": float((pre - peri) / pre)}


def _runge_kutta(scheme: str, n: int, beta: Any, y: list[Any], h: Any) -> list[Any]:
    def f(at: list[Any]) -> tuple[Any, Any]:
        return rates(scheme, n, beta, at[0], at[1])

    k1 = f(y)
    k2 = f([y[i] + h / 2 * k1[i] for i in range(2)])
    k3 = f([y[i] + h / 2 * k2[i] for i in range(2)])
    k4 = f([y[i] + h * k3[i] for i in range(2)])
    return [y[i] + h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) for i in range(2)]


def closed_forms(source: np.random.Generator) -> Mapping[str, float]:
    """BD-P5: the closed forms at beta = 0 satisfy the equations: derivatives in t."""
    n, rho = int(source.integers(2, 9)), mp.mpf(float(source.uniform(0, 0.9)))
    time, zero = mp.mpf(float(source.uniform(0.1, 2))), mp.mpf(0)
    post = mp.diff(lambda t: _post(n, rho, t), time)
    r = mp.mpf(float(source.uniform(1.01, 5)))
    k = mp.sqrt((n - 1) * (1 - rho) / n)
    clock = mp.diff(lambda s: s + k / 2 * mp.log((s - k) / (s + k)), r)
    cosine = 1 - (1 - rho) / r**2
    return {
        "post": gap(float(post), float(rates("post", n, zero, _post(n, rho, time), 1)[0])),
        "pre": gap(float(1 / clock), float(rates("pre", n, zero, cosine, r)[1])),
    }


def _post(n: Any, rho: Any, t: Any) -> Any:
    """``(1 + (n-1) rho)/(1 - rho) = e^{2t} (1 + (n-1) rho_0)/(1 - rho_0)``, solved for rho."""
    ratio = mp.exp(2 * t) * (1 + (n - 1) * rho) / (1 - rho)
    return (ratio - 1) / (ratio + n - 1)


def initial_speeds(source: np.random.Generator) -> Mapping[str, float]:
    """BD-P6 at orthogonal tokens."""
    n, beta, r = int(source.integers(2, 9)), mp.mpf(float(source.uniform(-2, 3))), mp.mpf(float(source.uniform(0.2, 3)))
    base = 2 / (n - 1 + mp.exp(beta))
    size = length_of_average(n, beta, mp.mpf(0))
    a, _ = weights(n, beta, mp.mpf(0))
    expected = {"post": base, "pre": base / r, "peri": base / (r * size), "ngpt": base / size}
    found = {name: gap(float(rates(name, n, beta, mp.mpf(0), r)[0]), float(value)) for name, value in expected.items()}
    return {**found, "length": gap(float(size**2), float(a * a + (1 - a) ** 2 / (n - 1)))}


def near_consensus(source: np.random.Generator) -> Mapping[str, float]:
    """BD-P7: rates of pre-LN at a consensus on v_1: ``-lambda_1/r`` on differences, ``(lambda_l - lambda_1)/r`` on means."""
    d, n, r = int(source.integers(2, 5)), int(source.integers(2, 5)), float(source.uniform(0.5, 4))
    V = np.diag(np.concatenate([[float(source.uniform(1, 2))], source.uniform(-1, 0.9, size=d - 1)]))
    beta, step = float(source.uniform(0, 3)), 1e-5

    def velocity(theta: Any) -> Any:
        A = softmax(beta * theta @ theta.T) @ theta @ V.T
        return (A - (theta * A).sum(1, keepdims=True) * theta) / r

    base, worst = np.tile(np.eye(d)[0], (n, 1)), 0.0
    for axis in range(1, d):
        for pattern, rate in ((np.ones(n), V[axis, axis] - V[0, 0]), (np.eye(n)[0] - np.eye(n)[1], -V[0, 0])):
            moved = np.zeros((n, d))
            moved[:, axis] = pattern
            slope = (velocity(base + step * moved) - velocity(base - step * moved)) / (2 * step)
            worst = max(worst, gap(slope[:, axis] * r, rate * pattern))
    return {"rates": worst}


def general_distances(source: np.random.Generator) -> Mapping[str, float]:
    """BD-P3, general form: ``|d/dt |x_i - x_j|| <= |V| D(theta) tanh(omega_ij/4)`` for any tokens, scores and V."""
    n, d = int(source.integers(2, 6)), int(source.integers(1, 5))
    x, V, P = source.normal(size=(n, d)), source.normal(size=(d, d)), source.normal(size=(d, d))
    theta = x / np.linalg.norm(x, axis=1, keepdims=True)
    scores = theta @ P @ theta.T
    moved = softmax(scores) @ theta @ V.T
    worst = -1.0
    span = np.linalg.norm(theta[:, None] - theta[None], axis=-1).max()
    for i in range(n):
        for j in range(i):
            apart = x[i] - x[j]
            speed = abs(apart @ (moved[i] - moved[j])) / np.linalg.norm(apart)
            omega = np.ptp(scores[i] - scores[j])
            worst = max(worst, above(norm(V) * span * np.tanh(omega / 4), speed))
    return {"speed": worst}


# -- vectors ------------------------------------------------------------------------------------------------------------------


def _at_one() -> list[Any]:
    """TV-P: post rho; pre rho, r; nGPT rho; peri rho, r at T = 1."""
    found = {name: flow(name, 4, 1, 0, 1, 1) for name in ("post", "pre", "ngpt", "peri")}
    return [found["post"][0], *found["pre"], found["ngpt"][0], *found["peri"]]


def _constants() -> list[Any]:
    with mp.workdps(_DIGITS):
        found = []
        for n, rho, beta in ((4, mp.mpf(0), 1), (8, mp.mpf(1) / 10, 2)):
            pre = constant(n, beta, rho)
            found += [n / (1 + (n - 1) * rho) * pre, pre]
        return found


def _astronomic() -> list[Any]:
    """``C_pre`` for n = 3, beta = 4, rho_0 = -3/10, in units of 1e24."""
    with mp.workdps(_DIGITS):
        return [constant(3, 4, mp.mpf(-3) / 10) / mp.mpf(10) ** 24]


def _closed() -> list[Any]:
    """beta = 0, n = 5, rho_0 = 1/4, t = 2: post rho; pre k, r, rho."""
    with mp.workdps(40):
        n, rho = 5, mp.mpf(1) / 4
        k = mp.sqrt(mp.mpf(4) / 5 * (1 - rho))

        def clock(r: Any) -> Any:
            return r + k / 2 * mp.log((r - k) / (r + k))

        r = mp.findroot(lambda each: clock(each) - clock(mp.mpf(1)) - 2, mp.mpf(2.4))
        return [_post(n, rho, 2), k, r, 1 - (1 - rho) / r**2]


def _speeds() -> list[Any]:
    """n = 8, beta = 2: ``|A|``, the initial speeds of post and peri (r_0 = 1)."""
    with mp.workdps(40):
        zero = mp.mpf(0)
        return [length_of_average(8, 2, zero), rates("post", 8, 2, zero, 1)[0], rates("peri", 8, 2, zero, mp.mpf(1))[0]]


# -- variants -----------------------------------------------------------------------------------------------------------------


def _not_exponential() -> Verdict:
    """Pre-LN at beta = 0: ``(1 - rho) r^2`` is constant and r grows like t, so that ``1 - rho`` is no ``e^{-2t}``."""
    with mp.workdps(30):
        n, k = 4, mp.sqrt(mp.mpf(3) / 4)
        r = mp.findroot(
            lambda s: s + k / 2 * mp.log((s - k) / (s + k)) - (1 + k / 2 * mp.log((1 - k) / (1 + k))) - 50, mp.mpf(50)
        )
        left = 1 / r**2
    return (
        holds(f"1 - rho(50) = {mp.nstr(left, 5)}, e^-100 is 3.7e-44, n = {n}")
        if left > mp.mpf("1e-6")
        else fails(str(left))
    )


def _distances_grow() -> Verdict:
    """n = 2, beta = 1, rho = 0, r = 1: the raw squared distance has the positive rate ``2 (a - b) (1 - rho) r``."""
    a, b = weights(2, mp.mpf(1), mp.mpf(0))
    return holds(f"a - b = {mp.nstr(a - b, 6)} > 0") if a > b else fails("it shrinks")


def _negative_scores(beta: int) -> Callable[[], Verdict]:
    def found() -> Verdict:
        """For ``beta < -(n-1)`` the rate g exceeds 1 near consensus; for ``beta < 0`` distances shrink (a < b)."""
        n, rho = 3, mp.mpf("0.9")
        a, b = weights(n, mp.mpf(beta), rho)
        g = (1 + (n - 1) * rho) * b
        broken = g > 1 if beta < -(n - 1) else a < b
        return holds(f"g = {mp.nstr(g, 6)}, a - b = {mp.nstr(a - b, 4)}") if broken else fails(f"g = {g}")

    return found


def _rest_point() -> Verdict:
    """The simplex ``rho = -1/(n-1)`` is a rest point of post-LN."""
    speed = rates("post", 3, mp.mpf(1), mp.mpf(-1) / 2, 1)[0]
    return holds("the cosine does not move") if speed == 0 else fails(str(speed))


def _other_exponent() -> Verdict:
    """Pre and peri have one constant: ``C_pre`` does not contain ``|A|``."""
    rho, r = sp.symbols("rho r", positive=True)
    n, beta = 4, 1
    b = 1 / (n - 1 + sp.exp(beta * (1 - rho)))
    height, rise = 1 - (n - 1) * b + (n - 1) * b * rho, 2 * b * (1 - rho) * (1 + (n - 1) * rho)
    size = sp.Symbol("A", positive=True)
    pre, peri = height / (rise / r), (height / size) / (rise / (r * size))
    return holds("dr/drho is the same for both") if sp.simplify(pre - peri) == 0 else fails("they differ")


_LEAN = "for the flows of Karagodin-Ge-Polyanskiy-Rigollet, as a public Lean library restates them"


def _statement(number: int, title: str, text: str, **parts: Any) -> Statement:
    kind = parts.pop("kind", Kind.LEMMA)
    return Statement(id=f"BD-P{number}", kind=kind, source=Source(HERE, _LEAN), title=title, text=text, **parts)


BD_P1 = register(
    _statement(
        1,
        "Placements of the norm on equiangular tokens: one equation",
        r"Unit directions with cosines $\rho$ and equal lengths $r$ keep both, and $\dot\rho = \frac2s\,b\,(1 - \rho)(1 "
        r"+ (n - 1)\rho)$ with $b = "
        r"1/(n - 1 + e^{\beta(1 - \rho)})$, $a = 1 - (n - 1)b$, $\theta^{\top}A = a + (1 - a)\rho$, $|A|^2 = a^2 + 2a(1 "
        r"- a)\rho + (1 - a)^2"
        r"\frac{1 + (n - 2)\rho}{n - 1}$; $s = 1$ (post), $r$ (pre), $r|A|$ (peri), $|A|/\alpha$ (nGPT), $\sqrt{t + 1}$ "
        r"(LN-scaling).",
        systems=("post-norm-flow", "pre-norm-flow"),
        conditions=(*SETTING, *ROOM),
        claims=(ForwardInvariant(Equiangular()), SPEED),
        property_tests=(OnInstances(equiangular_speed),),
        vectors=(
            Vector(
                "TV-P: post rho; pre rho, r; nGPT rho; peri rho, r",
                _at_one,
                (
                    "0.4794867821854205",
                    "0.3742741602434541",
                    "1.538870963020184",
                    "0.680141027696624",
                    "0.5203585095781524",
                    "1.832745830382295",
                ),
            ),
        ),
    )
)

BD_P2 = register(
    _statement(
        2,
        "Post-norm: exponential from both sides, for all times",
        r"Post, $\beta \ge 0$, $-\frac1{n-1} < \rho_0 < 1$, $g_0 = (1 + (n - 1)\rho_0)b(\rho_0)$: $(1 - \rho_0)e^{-2t} "
        r"\le 1 - \rho(t) \le "
        r"(1 - \rho_0)e^{-2g_0t}$.",
        depends=("BD-P1",),
        systems=("post-norm-flow",),
        conditions=(*SETTING, *ROOM, Relation(BETA >= 0)),
        claims=TWO_SIDED,
        property_tests=(OnInstances(post_between),),
        variants=(
            Variant("beta >= -(n - 1)", "n = 3, beta = -4: the rate exceeds 1 near consensus", _negative_scores(-4)),
            Variant("rho_0 > -1/(n - 1)", "the simplex is a rest point", _rest_point),
        ),
    )
)

BD_P3 = register(
    _statement(
        3,
        "Pre-norm: raw distances of equiangular tokens never shrink",
        r"Pre: $\frac{d}{dt}\ln[(1 - \rho)r^2] = \frac2r(a - b) \ge 0$ for $\beta \ge 0$. For any tokens, scores and "
        r"$V$, one head, no mask: $\bigl|"
        r"\frac{d}{dt}|x_i - x_j|\bigr| \le \lVert V\rVert\,D(\theta)\tanh(\frac14\omega_{ij})$.",
        depends=("BD-P1", "BD-R1"),
        systems=("pre-norm-flow",),
        conditions=(*SETTING, *ROOM, Relation(BETA >= 0)),
        claims=(*GROWING, CURVE),
        property_tests=(OnInstances(equiangular_speed), OnInstances(general_distances)),
        variants=(
            Variant("raw distances", "shrinking distances: n = 2, beta = 1, rho = 0", _distances_grow),
            Variant("beta >= 0", "n = 3, beta = -1: a < b", _negative_scores(-1)),
        ),
    )
)

BD_P4 = register(
    _statement(
        4,
        "Pre- and peri-norm run on one curve: the constants",
        r"$(1 - \rho)r^2 \to C_{pre} = (1 - \rho_0)r_0^2\exp\int_{\rho_0}^1\frac{e^{\beta(1-\rho)} - 1}{(1 - \rho)(1 + "
        r"(n - 1)\rho)}d\rho$ for pre and "
        r"peri, so that $1 - \rho \sim C_{pre}t^{-2}$; $e^{2t}(1 - \rho) \to C_{post} = \frac n{1 + "
        r"(n-1)\rho_0}\cdot\frac{C_{pre}}{r_0^2}$ for post.",
        kind=Kind.EXTENSION,
        depends=("BD-P1",),
        systems=("peri-norm-flow",),
        conditions=(*SETTING, IsIdentity(matrix("H")), *ROOM),
        claims=(SPEED_OF_PERI, CURVE),
        property_tests=(OnInstances(same_curve), OnInstances(rates_near_consensus)),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"nGPT: $1 - \rho \sim C\exp(-2\int\alpha)$; LN-scaling: $1 - \rho \sim C\exp(-4\sqrt{t + 1})$, with other "
                r"constants; $1/|A| \ge 1$ is the factor by which peri is faster. The power law of pre-LN is visible only for $t "
                r"\gg \sqrt{C_{pre}}$.",
            ),
        ),
        vectors=(
            Vector(
                "C_post, C_pre for n = 4, rho_0 = 0, beta = 1 and n = 8, rho_0 = 1/10, beta = 2",
                _constants,
                ("7.639255154710536", "1.909813788677634", "10.01931279209427", "2.129103968320032"),
            ),
            Vector("C_pre for n = 3, beta = 4, rho_0 = -3/10, in 1e24", _astronomic, ("2.33",)),
        ),
        variants=(
            Variant("$t^{-2}$", "$e^{-2t}$ in pre-LN: $\\beta = 0$, $t = 50$", _not_exponential),
            Variant("one exponent", "another one for peri: dr/drho is the same", _other_exponent),
        ),
    )
)

BD_P5 = register(
    _statement(
        5,
        "Closed forms at beta = 0",
        r"Post: $\frac{1 + (n-1)\rho}{1 - \rho} = e^{2t}\frac{1 + (n-1)\rho_0}{1 - \rho_0}$. Pre: with $C = (1 - "
        r"\rho_0)r_0^2$, $k^2 = \frac{n-1}nC$: "
        r"$r + \frac k2\ln\frac{r - k}{r + k} = t + \mathrm{const}$, $\rho = 1 - C/r^2$.",
        depends=("BD-P1",),
        systems=("post-norm-flow", "pre-norm-flow"),
        conditions=(*SETTING, *ROOM, Relation(sp.Eq(BETA, 0))),
        claims=(CLOSED,),
        property_tests=(OnInstances(closed_forms),),
        vectors=(
            Vector(
                "n = 5, rho_0 = 1/4, t = 2: post rho; pre k, r, rho",
                _closed,
                ("0.966576437923671254", "0.774596669241483377", "2.45397833607206136", "0.875456858986924973"),
            ),
        ),
    )
)

BD_P6 = register(
    _statement(
        6,
        "The first speed of the cosine",
        r"At $\rho = 0$: $\dot\rho = \frac2{s(n - 1 + e^\beta)}$; post : pre : peri : nGPT $= 1 : \frac1{r_0} : "
        r"\frac1{r_0|A|} : \frac\alpha{|A|}$ with "
        r"$|A|^2 = a^2 + \frac{(1-a)^2}{n-1}$.",
        depends=("BD-P1",),
        systems=("post-norm-flow", "pre-norm-flow"),
        conditions=(*SETTING, *ROOM),
        claims=(FIRST_SPEED,),
        property_tests=(OnInstances(initial_speeds),),
        vectors=(
            Vector("n = 8, beta = 2: |A|, post, peri", _speeds, ("0.545445708147", "0.138994523772", "0.254827422227")),
        ),
    )
)

BD_P7 = register(
    _statement(
        7,
        "Pre-norm near consensus, for any value matrix",
        r"So, at a consensus of pre-LN on a real leader $\lambda_1 > 0$ with length $r$ the linear part has the rates "
        r"$-\lambda_1/r$ on differences of "
        r"tokens and $(\lambda_\ell - \lambda_1)/r$ on common shifts along $\lambda_\ell$; with $r \sim \lambda_1t$ "
        r"they give $t^{-1}$ and "
        r"$t^{-(1 - \operatorname{Re}\lambda_\ell/\lambda_1)}$.",
        systems=("pre-norm-flow",),
        conditions=(IsIdentity(matrix("G")),),
        claims=NEAR_CONSENSUS,
        property_tests=(OnInstances(near_consensus),),
        vectors=(
            Vector(
                "V = diag(1, 2/5, -3/10), beta = 2, lengths 1 at t = 0: slopes in ln t from 10^4 to 10^5",
                late_slopes,
                ("-0.99996", "-0.59998", "-1.29995"),
            ),
        ),
        notes=(Remark(RemarkKind.OPEN, "It is a linearisation, not a theorem about trajectories."),),
    )
)
