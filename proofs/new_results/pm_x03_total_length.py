"""PM-X3: the total length before normalisation never decreases along the Oja map, for every step and every symmetric V.

``T x = (x_i + alpha V xbar)_i`` is a symmetric operator and the map is its generalised power method: ``sum_i x_i^T (T x^+)_i =
sum_i x_i^{+T} (T x)_i = sum_i |y_i|``, and ``x_i^T (T x^+)_i <= |y_i^+|`` because the tokens are units.  Own derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.symbols import V
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import Array, random_units, unit_rows
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, for_every
from eigentoken.theory.calculus import ALPHA, TOKENS, Expression, Index, Norm, dot, factor, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import ForAll, proposition, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

G = VectorLetter("g")
_OTHER = Index("token", "j")


def _raw(token: Index) -> Expression:
    """``x_i + alpha V xbar`` in the state."""
    mean = vector("x", _OTHER).summed(_OTHER) / TOKENS
    return vector("x", token) + mean.applied(matrix("V")) * ALPHA


_PAIRED = dot(vector("g", TOKEN), _raw(TOKEN)).summed(TOKEN)
_LENGTHS = factor(Norm("r", (TOKEN,))).summed(TOKEN)
#: ``g_i = x_i``: a copy of the present state, which does not move.
COPY = for_every(
    sp.Eq(
        Tensor(dot(vector(Z.name), vector("g", TOKEN))), Tensor(dot(vector(Z.name), vector("x", TOKEN))), evaluate=False
    ),
    TOKEN,
    Z,
)
#: ``sum_i x_i^T y_i(x^+) = sum_i |y_i(x)|``.
LENGTH = ForAll(G, COPY, proposition(sp.Eq(Tensor(_PAIRED) + Rate(_PAIRED), Tensor(_LENGTHS), evaluate=False)))


def proof(kernel: Kernel) -> Proved:
    """The step of the map in ``sum g_i^T y_i``; ``g = x``; the normal form with symmetric V and ``y_i^T y_i = r_i^2``."""
    rate = kernel.increment(_PAIRED)
    moved = relation_of(rate.proposition).rhs.expression
    copy = kernel.assume(COPY)
    here = kernel.congruent(moved + _PAIRED, "g", vector("x", TOKEN), TOKEN, copy)
    value = relation_of(here.proposition).rhs.expression
    squares = (factor(Norm("r", (TOKEN,)), -1) * dot(RAW, RAW)).summed(TOKEN)
    same = kernel.reduction(value, squares, kernel.given(Symmetric(V)))
    facts = [rate, kernel.total(moved, _PAIRED), here, same, kernel.reduction(squares, _LENGTHS)]
    found = kernel.arithmetic(facts, relation_of(LENGTH.body))
    return kernel.generalise(G, found, COPY)


def raw(x: Array, value: Array, alpha: float) -> Array:
    """``x_i + alpha V xbar``."""
    return np.asarray(x + alpha * (value @ x.mean(axis=0)))


def lengths(alpha: Any) -> list[float]:
    """L at four states of the data TV14."""
    value = np.array([[1, 1 / 2], [1 / 2, -1 / 3]])
    x = np.array([[3 / 5, 4 / 5], [5 / 13, -12 / 13]])
    found = []
    for _ in range(4):
        y = raw(x, value, float(alpha))
        found.append(float(np.linalg.norm(y, axis=1).sum()))
        x = unit_rows(y)
    return found


def flipping_cycle() -> list[float]:
    """``V = diag(3/10, -1)``, alpha = 9/5, three tokens that flip their second entry: the multipliers of two steps.

    They are the eigenvalues of ``G^T G``, ``G = diag(r)^{-1/2} P' T P diag(r')^{-1/2}`` with the tangent projections;
    last the bound of the largest.
    """
    value, alpha, wide = np.diag([0.3, -1.0]), 1.8, np.sqrt(7) / 4
    x = np.array([[0.0, 1.0], [wide, 0.75], [-wide, 0.75]])
    other = x * [1, -1]
    if np.abs(unit_rows(raw(x, value, alpha)) - other).max() > 1e-12:
        return []  # no 2-cycle: no number to compare
    sizes = np.linalg.norm(raw(x, value, alpha), axis=1), np.linalg.norm(raw(other, value, alpha), axis=1)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    here, there = x @ turn, other @ turn
    G = np.array([[there[i] @ ((i == j) * here[j] + alpha / 3 * value @ here[j]) for j in range(3)] for i in range(3)])
    G = G / np.sqrt(sizes[0])[:, None] / np.sqrt(sizes[1])[None]
    least = (1 + alpha * 0.3 / 3) / (2 * alpha / 3 / (2 - 2 * alpha / 3) - 1)  # (1 + alpha lambda_1 phi)/(|delta| - 1)
    return [*(float(each) for each in np.linalg.eigvalsh(G.T @ G)[::-1]), least**2]


def flipping_family(source: np.random.Generator) -> Mapping[str, float]:
    """m tokens that jump between +-v_d, the others flip their height: a 2-cycle, and a multiplier of at least what is stated."""
    m, pairs = int(source.integers(1, 4)), int(source.integers(1, 3))
    n, top = m + 2 * pairs, float(source.uniform(0.05, 1.5))
    share = m / n
    low = 2 / (1 + share)
    alpha = low + (2 - low) * float(source.uniform(0.05, 0.95))
    delta = 2 * share * alpha / (2 - (1 - share) * alpha)
    wide = np.sqrt(1 - delta**2 / 4)
    x = np.array([[0.0, 1.0]] * m + [[wide, delta / 2], [-wide, delta / 2]] * pairs)
    value, other = np.diag([top, -1.0]), x * [1, -1]
    y, back = raw(x, value, alpha), raw(other, value, alpha)
    sizes = np.linalg.norm(y, axis=1), np.linalg.norm(back, axis=1)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    here, there = x @ turn, other @ turn
    G = (there @ here.T) * np.eye(n) + alpha / n * there @ value @ here.T
    G = G / np.sqrt(sizes[0])[:, None] / np.sqrt(sizes[1])[None]
    stated = ((1 + alpha * top * share) / (delta - 1)) ** 2
    return {
        "a 2-cycle": gap(unit_rows(y), other),
        "unstable": (stated - float(np.linalg.eigvalsh(G.T @ G)[-1])) / stated,
        "above 1": 1 - stated,
    }


def grows(source: np.random.Generator) -> Mapping[str, float]:
    """``L(x^+) - L(x) = 1/2 sum r_i(x^+) |x_i^{++} - x_i|^2``, for any step."""
    n, d, alpha = int(source.integers(1, 6)), int(source.integers(1, 5)), float(10 ** source.uniform(-1.5, 1.5))
    value = source.normal(size=(d, d))
    value, x = value + value.T, random_units(source, n, d)
    y = raw(x, value, alpha)
    after = unit_rows(y)
    again = raw(after, value, alpha)
    sizes = np.linalg.norm(again, axis=1)
    rise = float(sizes.sum() - np.linalg.norm(y, axis=1).sum())
    stated = float(sizes @ np.sum((unit_rows(again) - x) ** 2, axis=1)) / 2
    scale = max(1.0, float(sizes.sum()))
    return {"the identity": gap(rise / scale, stated / scale), "it falls": -rise / scale}


def rotation_turns_for_ever() -> Verdict:
    """``V`` a quarter turn, one token: each step turns it by ``arctan alpha``, so no 2-periodic limit: exactly, alpha = 1."""
    x = sp.Matrix([1, 0])
    turn = sp.Matrix([[0, -1], [1, 0]])
    states = [x]
    for _ in range(2):
        y = states[-1] + turn * states[-1]
        states.append(sp.simplify(y / y.norm()))
    moved = sp.simplify(states[2] - x)
    return holds("after two steps the token is a quarter turn on") if moved != sp.zeros(2, 1) else fails("it came back")


PM_X3 = register(
    Statement(
        id="PM-X3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "the Oja map as a generalised power method"),
        title="The total length never decreases along the Oja map",
        systems=("oja-map",),
        conditions=(Symmetric(V),),
        claims=(Formula(LENGTH),),
        proof=proof,
        depends=("PM-E9",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"At a 2-cycle $x \leftrightarrow x'$ the multipliers of two steps are the eigenvalues of $G^{\top}G$, $G = "
                r"\operatorname{diag}(r_i)^{-1/2}P'TP\operatorname{diag}(r_i')^{-1/2}$, $Tx = (x_i + \alpha V\bar x)_i$: real "
                r"and not negative. For $\frac2{1 + \varphi} < \alpha|\lambda_d| < 2$, $\varphi = \frac mn$, $n - m \ge 2$ (even "
                r"if $d = 2$), there are 2-cycles in which $m$ tokens jump between $\pm v_d$ and the others flip their height "
                r"$\pm\frac12|\delta|$, $|\delta| = \frac{2\varphi\alpha|\lambda_d|}{2 - (1 - \varphi)\alpha|\lambda_d|}$; all "
                r"are unstable, with a multiplier of at least $\bigl(\frac{1 + \alpha\lambda_1\varphi}{|\delta| - 1}\bigr)^2 > "
                r"1$. Of simulations with an even number of tokens: distinct tokens may coalesce in floats, and then behave as "
                r"two.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"With $L(x) = \sum_i|y_i|$ the claim gives $L(x^+) - L(x) = \frac12\sum_ir_i(x^+)|x_i^{++} - x_i|^2 \ge 0$, for "
                r"every step $\alpha$ (seen on random instances). Orbits that stay away from $y_i = 0$ tend to a fixed "
                r"point or a "
                r"2-cycle, by the theorem on descent sequences of analytic functions; for $1 + \alpha\lambda_d \ge 0$ "
                r"there is no "
                r"2-cycle. These are proved on paper. Whether every 2-cycle but consensus is unstable is open.",
            ),
        ),
        vectors=(
            Vector(
                "alpha = 1/3",
                lambda: lengths(1 / 3),
                ("2.158387296363", "2.245511180409", "2.360771010987", "2.486673057686"),
            ),
            Vector(
                "alpha = 5",
                lambda: lengths(5),
                ("6.329739463833", "13.249374923955", "13.656523489075", "13.666408226463"),
            ),
            Vector(
                "a 2-cycle of three tokens: multipliers of two steps, and the stated bound of the largest",
                flipping_cycle,
                ("5.73725", "0.42250", "0.08541", "5.5696"),
            ),
        ),
        variants=(Variant("Symmetric(V)", "A quarter turn, one token: it turns for ever.", rotation_turns_for_ever),),
        property_tests=(OnInstances(grows), OnInstances(flipping_family)),
    )
)
