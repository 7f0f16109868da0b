"""CT-11: the conformal Oja layer: the exact boost in place of the normalised step conserves cross-ratios and climbs further.

Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.new_results.ct_09_cross_ratios import START, VALUE, cross_ratio
from eigentoken.proofs.power_method.symbols import V
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import Array, random_units
from eigentoken.theory.language.claims import Nonnegative, Vanishes, When
from eigentoken.theory.language.conditions import PositiveSemidefinite, Symmetric
from eigentoken.theory.language.observables import Observable, apply_matrix, dot, mean_token
from eigentoken.theory.statements.layer_systems import Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Argument, Derivation, Identity
from eigentoken.theory.systems.algebra import LoopAlgebra, Parameters
from eigentoken.theory.systems.system import System


def boost(x: Array, push: Array, alpha: float) -> Array:
    """The time-alpha flow of ``x' = P_x u`` for a fixed u."""
    size = float(np.linalg.norm(push))
    if size == 0:
        return x
    along = push / size
    c = x @ along
    sinh, cosh = np.sinh(alpha * size), np.cosh(alpha * size)
    return np.asarray((x + (sinh + (cosh - 1) * c)[:, None] * along) / (cosh + c * sinh)[:, None])


def layer(x: Array, value: Array, alpha: float) -> Array:
    """One conformal layer with the push ``V xbar``."""
    return boost(x, value @ x.mean(axis=0), alpha)


def example() -> list[float]:
    """``x_1^+`` and ``x_4^+`` for the data of CT-9, alpha = 7/10."""
    after = layer(START, VALUE, 0.7)
    return [float(each) for each in (*after[0], *after[3])]


def derive() -> Derivation:
    """The boost has unit norm, keeps the distances up to factors of the tokens, and solves the equation."""
    cosh, sinh, first, second, inner = sp.symbols("C S c e k", real=True)

    def moved(left: Any, right: Any, product: Any) -> Any:
        a, b = (sinh + (cosh - 1) * each for each in (left, right))
        return product + a * right + b * left + a * b

    square = sp.expand((cosh + first * sinh) * (cosh + second * sinh))
    difference = sp.expand(moved(first, second, inner) - square - (inner - 1))
    relation = sp.expand(cosh**2 - 1 - sinh**2)
    quotient = sp.div(sp.Poly(difference, cosh), sp.Poly(relation, cosh))[0].as_expr()
    return Derivation(
        (
            Identity(
                name="one factor for each token",
                says="With $C = \\cosh\\alpha U$, $S = \\sinh\\alpha U$, $c = x^{\\top}e$, $d = y^{\\top}e$, $k = "
                "x^{\\top}y$: the inner "
                "product of the two numerators minus the product of the denominators $C + cS$, $C + dS$ is $k - 1$, as "
                "$C^2 = 1 + "
                "S^2$. So $1 - x^{+\\top}y^+ = \\frac{1 - k}{(C + cS)(C + dS)}$, and with $x = y$ the norm is 1: cross-ratios do "
                "not change.",
                left=moved(first, second, inner) - (cosh + first * sinh) * (cosh + second * sinh),
                right=inner - 1 + quotient * (cosh**2 - 1 - sinh**2),
            ),
            Argument(
                name="the rest",
                says="The fall of $W$: $u^{\\top}(x_i^+ - x_i) = \\int_0^{\\alpha}|P_{x(s)}u|^2ds \\ge "
                "\\frac1{\\alpha}|x_i^+ - x_i|^2$ by Cauchy-Schwarz.",
                uses=("one factor for each token",),
            ),
        )
    )


def _boosted(scalars: LoopAlgebra, parameters: Parameters, x: Any) -> tuple[Any, list[Any], list[Any], Any]:
    """``u = V xbar``, the tokens after the boost, the denominators ``E_i = e^{-alpha U} D_i``, and ``e^{-alpha U}``.

    Numerator and denominator are multiplied by ``e^{-alpha U}``, which stays small where the hyperbolic functions are large.
    """
    push = apply_matrix(parameters["V"], mean_token(scalars, x))
    size = scalars.sqrt(dot(push, push))
    small: Any = scalars.exp(-parameters["alpha"] * size)
    cosh, sinh = (1 + small * small) / 2, (1 - small * small) / 2
    moved, factors = [], []
    for token in x:
        along: Any = dot(token, push) / size
        factors.append(cosh + along * sinh)
        shift = (sinh + (cosh - small) * along) / size
        moved.append([(small * a + shift * b) / factors[-1] for a, b in zip(token, push, strict=True)])
    return push, moved, factors, small


def _unit(scalars: LoopAlgebra, system: System, parameters: Parameters, x: Any, mask: Any) -> Any:
    """``|x_1^+|^2 - 1``."""
    _, moved, *_ = _boosted(scalars, parameters, x)
    return dot(moved[0], moved[0]) - scalars.one


def _one_factor(scalars: LoopAlgebra, system: System, parameters: Parameters, x: Any, mask: Any) -> Any:
    """``(1 - x_1^{+T} x_n^+) E_1 E_n - e^{-2 alpha U} (1 - x_1^T x_n)``."""
    _, moved, factors, small = _boosted(scalars, parameters, x)
    before: Any = scalars.one - dot(x[0], x[-1])
    return (scalars.one - dot(moved[0], moved[-1])) * factors[0] * factors[-1] - small * small * before


def _climb(scalars: LoopAlgebra, system: System, parameters: Parameters, x: Any, mask: Any) -> Any:
    """``u^T (xbar^+ - xbar) - 1/(alpha n) sum_i |x_i^+ - x_i|^2``."""
    push, moved, *_ = _boosted(scalars, parameters, x)
    steps = [[a - b for a, b in zip(after, token, strict=True)] for after, token in zip(moved, x, strict=True)]
    lengths: Any = sum((dot(each, each) for each in steps), 0 * scalars.one)
    return dot(push, mean_token(scalars, steps)) - lengths / (parameters["alpha"] * len(x))


def _fall(scalars: LoopAlgebra, system: System, parameters: Parameters, x: Any, mask: Any) -> Any:
    """``W(x) - W(x^+) - 1/(alpha n) sum_i |x_i^+ - x_i|^2``."""
    push, moved, *_ = _boosted(scalars, parameters, x)
    before, after = mean_token(scalars, x), mean_token(scalars, moved)
    steps = [[a - b for a, b in zip(end, token, strict=True)] for end, token in zip(moved, x, strict=True)]
    lengths: Any = sum((dot(each, each) for each in steps), 0 * scalars.one)
    rise = (dot(after, apply_matrix(parameters["V"], after)) - dot(before, push)) / 2
    return rise - lengths / (parameters["alpha"] * len(x))


_PLUS, _STEPS = r"x^{\oplus}", r"\tfrac1{\alpha n}\textstyle\sum_i|x_i^{\oplus} - x_i|^2"
#: The boost keeps tokens on the sphere and multiplies ``1 - x_1^T x_n`` by one factor for each token, so that cross-ratios are
#: conserved; it climbs along u by at least the squares of the steps, and for ``V >= 0`` that is the fall of W.
BOOST = (
    Vanishes(Observable("boosted-length", r"|x_1^{\oplus}|^2 - 1", _unit)),
    Vanishes(
        Observable(
            "boosted-gap",
            r"(1 - x_1^{\oplus\top}x_n^{\oplus})E_1E_n - e^{-2\alpha U}(1 - x_1^{\top}x_n)",
            _one_factor,
        )
    ),
    Nonnegative(Observable("boosted-climb", rf"\bar x^{{\top}}V(\bar {_PLUS} - \bar x) - {_STEPS}", _climb)),
    When(PositiveSemidefinite(V), Nonnegative(Observable("boosted-fall", rf"W(x) - W({_PLUS}) - {_STEPS}", _fall))),
)


def conformal(source: np.random.Generator) -> Mapping[str, float]:
    """Unit tokens, conserved cross-ratios, and the fall of W by the amount stated.

    Rounding moves a token by about u, and the logarithm of a cross-ratio by about u over the smallest distance of two
    tokens: its error is told times that distance.
    """
    n, d = int(source.integers(4, 7)), int(source.integers(2, 5))
    value = source.normal(size=(d, d))
    value, x = (value + value.T) / 2, random_units(source, n, d)
    low = float(np.linalg.eigvalsh(value)[0])
    alpha = float(source.uniform(0.02, 1)) * (2 / -low if low < 0 else 3.0)
    after = layer(x, value, alpha)
    potential = [-0.5 * float(y.mean(axis=0) @ value @ y.mean(axis=0)) for y in (x, after)]
    nearest = min(float(np.linalg.norm(after[i] - after[j])) for i in range(n) for j in range(i))
    room = (1 / alpha - max(0.0, -low) / 2) * float(np.sum((after - x) ** 2)) / n
    return {
        "norm": gap(np.linalg.norm(after, axis=1), np.ones(n)),
        "cross-ratio": gap(np.log(cross_ratio(after, 0, 1, 2, 3)), np.log(cross_ratio(x, 0, 1, 2, 3))) * nearest,
        "potential": potential[1] - potential[0] + room,
    }


def multipliers(source: np.random.Generator) -> Mapping[str, float]:
    """At consensus on v_k, by differences: ``e^{-a}`` on disagreements, ``e^{-a} + (1 - e^{-a}) lambda_l/lambda_k`` on common
    shifts, ``a = alpha lambda_k``; for k = 1 all are below 1 exactly where ``(1 - e^{-a})(lambda_1 - lambda_d) < 2 lambda_1``.
    """
    n, d, alpha = int(source.integers(2, 6)), int(source.integers(2, 5)), float(source.uniform(0.05, 2))
    values = np.sort(source.normal(size=d))[::-1] * float(source.uniform(0.3, 2))
    values *= min(1.0, 2 / (alpha * float(np.abs(values).max())))
    k = int(source.integers(0, d))
    if abs(values[k]) < 0.05:
        values[k] = 0.05
    kept, step, worst = float(np.exp(-alpha * values[k])), 1e-5, 0.0
    for other in (each for each in range(d) if each != k):
        common = kept + (1 - kept) * values[other] / values[k]
        for pattern, stated in ((np.ones(n), common), (np.eye(n)[0] - np.eye(n)[-1], kept)):
            ends = []
            for sign in (1, -1):
                x = np.tile(np.eye(d)[k], (n, 1))
                x[:, other] = sign * step * pattern
                ends.append(layer(x / np.linalg.norm(x, axis=1, keepdims=True), np.diag(values), alpha)[:, other])
            worst = max(
                worst, float(np.abs((ends[0] - ends[1]) / (2 * step) - stated * pattern).max()) / (1 + abs(stated))
            )
    found = {"multipliers": worst - 1e-8}
    top = float(values.max())
    if values[k] < top - 1e-3:
        found["not principal"] = 1 - (kept + (1 - kept) * top / float(values[k]))
    low = float(values.min())
    if top > 0.05 and np.sum(np.abs(values - top) < 1e-9) == 1:
        kept = float(np.exp(-alpha * top))
        radius = max(kept, *(abs(kept + (1 - kept) * each / top) for each in values if each < top))
        room = 2 * top - (1 - kept) * (top - low)
        found["stable"] = min(abs(room), (radius - 1) * float(np.sign(room)))
    return found


CT_11 = register(
    Statement(
        id="CT-11",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the conformal Oja layer"),
        title="The conformal Oja layer: cross-ratios are conserved exactly",
        systems=("oja-map",),
        conditions=(Symmetric(V),),
        covers=Covers(replaced="the normalised step replaced by the exact boost"),
        claims=BOOST,
        claims_from=(("one factor for each token",), ("one factor for each token",), ("the rest",), ("the rest",)),
        text=r"In the claims $x_i^{\oplus}$ is the boosted token and $E_i$ its denominator "
        r"times $e^{-\alpha U}$: replace "
        r"the step by $x_i^+ = \frac{x_i + [\sinh\alpha U + (\cosh\alpha U - 1)c]e}{\cosh\alpha U + "
        r"c\sinh\alpha U}$, $u = "
        r"V\bar x = Ue$, $c = x_i^{\top}e$. It is defined everywhere, all cross-ratios are conserved, and $W = -\frac12\bar "
        r"x^{\top}V\bar x$ satisfies $W(x^+) - W(x) \le -\bigl(\frac1{\alpha} - \frac12\max(0, "
        r"-\lambda_d)\bigr)\frac1n\sum_i|x_i^+ - "
        r"x_i|^2$: it does not increase for $\alpha|\lambda_d| \le 2$, twice the range of the normalised step.",
        depends=("CT-9", "PM-L7"),
        derive=derive,
        prose_from=("the rest",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"At consensus on $v_k$, $\lambda_k \neq 0$, the multipliers are $e^{-\alpha\lambda_k}$ [$(n-1)(d-1)$ times] and "
                r"$e^{-\alpha\lambda_k} + (1 - e^{-\alpha\lambda_k})\lambda_\ell/\lambda_k$: one is above 1 where $\lambda_k < "
                r"\lambda_1$, and for a simple $\lambda_1 > 0$ consensus on $v_1$ is stable iff $(1 - "
                r"e^{-\alpha\lambda_1})(\lambda_1 - \lambda_d) < 2\lambda_1$, which $\alpha|\lambda_d| \le 2$ implies. Compared "
                r"with differences.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"For $n \ge 3$ or $\lambda_2 > 0$, $d \ge 2$, simple $\lambda_1 > 0$ and $\alpha\max(0, -\lambda_d) < "
                r"2$ almost every orbit "
                r"converges to principal consensus: proved on paper (descent sequences are cited), not in the kernel. "
                r"The fall of $W$ "
                r"is by Cauchy-Schwarz along the boost and is seen on random instances.",
            ),
        ),
        vectors=(
            Vector(
                "x_1 and x_4 after a layer",
                example,
                (
                    *("0.759010077247", "0.650910089388", "0.014824242664"),
                    *("0.790104009055", "-0.277266225786", "0.546680066322"),
                ),
            ),
        ),
        property_tests=(OnInstances(conformal), OnInstances(multipliers)),
    )
)
