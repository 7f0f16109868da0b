"""CL-7: the energy of attention on the sphere with ``V = I``, ``M = beta I``: ascent for both signs of beta.

It is CT-8 with the identity as value matrix, and a bound on the scores.
Reference: Geshkovski-et-al-perspective, from a formalisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.needed import larger_scores
from eigentoken.proofs.clusters.sources import PERSPECTIVE, recorded
from eigentoken.proofs.power_method.ct_08_attention_flow_gradient import CT_8, GRADIENT, MULTIPLE, C
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.deterministic_data import det_tokens
from eigentoken.proofs.properties.token_fields import Array, random_units, sphere
from eigentoken.proofs.steps.equations import TOKEN, at_every_token
from eigentoken.theory.calculus import Index, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Implication, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.conditions import IsIdentity, Symmetric
from eigentoken.theory.language.terms import matrix as letter
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Statement, Variant, Vector

V = letter("V")
_OTHER = Index("token", "j")
_HERE, _THERE = vector("x", TOKEN), vector("x", _OTHER)
_SCORE = dot(_HERE, _THERE, matrix("M"))
_BOUND = proposition(sp.Le(Tensor(_SCORE), C, evaluate=False))
_POSITIVE = proposition(C > 0)
#: ``M = c V``, ``c > 0``: every score is at most c, so the energy is at most its value at consensus.
AT_MOST = ForAll(C, _POSITIVE, Implication(MULTIPLE, ForAll(TOKEN, TRUE, ForAll(_OTHER, TRUE, _BOUND))))


def proof(kernel: Kernel) -> Proved:
    """CT-8; and ``x_i^T M x_j = c x_i^T x_j <= c`` on the sphere."""
    known = kernel.recall(CT_8)
    multiple, positive = kernel.assume(MULTIPLE), kernel.assume(_POSITIVE)
    value = dot(_HERE, _THERE, matrix("V"))
    own = dot(_HERE, _THERE)
    facts = [
        kernel.reduction(_SCORE, value * C, multiple),
        kernel.scaling(value, C),
        kernel.reduction(value, own, kernel.given(IsIdentity(V))),
        kernel.square(_HERE - _THERE),
        kernel.reduction(dot(_HERE - _THERE, _HERE - _THERE), own * -2 + 2),
        kernel.factors(own * -2 + 2),
        positive,
    ]
    below = at_every_token(kernel, kernel.arithmetic(facts, _BOUND), TOKEN, _OTHER)
    bounded = kernel.generalise(C, kernel.discharge(MULTIPLE, below), _POSITIVE)
    return kernel.conjunction(*(kernel.part(known, each) for each in GRADIENT), bounded)


def energy(x: Array, beta: float) -> float:
    """``E = 1/(2 beta n^2) sum_ij e^{beta x_i^T x_j}``."""
    return float(np.exp(beta * x @ x.T).sum() / (2 * beta * len(x) ** 2))


def rates(x: Array, beta: float) -> tuple[float, float]:
    """``dE/dt`` of SA and USA by the chain rule."""
    gradient = np.exp(beta * x @ x.T) @ x / len(x) ** 2
    score = beta * np.eye(x.shape[1])
    fields = (sphere(x, np.eye(x.shape[1]), score, softmax=each) for each in (True, False))
    soft, plain = (float(np.sum(gradient * each)) for each in fields)
    return soft, plain


def example() -> list[Any]:
    """beta = 2, normalised ``det_tokens(4, 3)``, in mpmath: E, its rates along SA and USA, and its maximum."""
    with mpmath.workdps(30):
        x = [[each / mpmath.norm(row) for each in row] for row in det_tokens(4, 3)]
        cosines = [[mpmath.fdot(a, b) for b in x] for a in x]
        weights = [[mpmath.exp(2 * each) for each in row] for row in cosines]
        totals, soft, plain = [mpmath.fsum(row) for row in weights], mpmath.mpf(0), mpmath.mpf(0)
        for total, row, own in zip(totals, weights, x, strict=True):
            push = [mpmath.fdot(row, column) for column in zip(*x, strict=True)]
            length = mpmath.fdot(push, push) - mpmath.fdot(push, own) ** 2
            soft, plain = soft + length / total, plain + length
        return [mpmath.fsum(totals) / 64, soft / 16, plain / 64, mpmath.exp(2) / 4]


def ascent(source: np.random.Generator) -> Mapping[str, float]:
    """The two sums of squares are the rates, for both signs of beta; the energy is below its value at consensus."""
    n, d, beta = int(source.integers(1, 6)), int(source.integers(2, 5)), float(source.uniform(-3, 3))
    x, score = random_units(source, n, d), beta * np.eye(d)
    soft, plain = rates(x, beta)
    total = np.exp(beta * x @ x.T).sum(axis=1)
    squares = [np.sum(sphere(x, np.eye(d), score, softmax=each) ** 2, axis=1) for each in (True, False)]
    found = {"SA": gap(soft, total @ squares[0] / n**2), "USA": gap(plain, squares[1].sum() / n)}
    if beta > 0:
        found["maximum"] = energy(x, beta) - np.exp(beta) / (2 * beta)
    return found


CL_7 = register(
    Statement(
        id="CL-7",
        kind=Kind.LEMMA,
        source=recorded(PERSPECTIVE, "the energy"),
        title="The energy of attention with the identity as value matrix",
        systems=("attention-flow",),
        conditions=(IsIdentity(V), Symmetric(V)),
        claims=(*map(Formula, GRADIENT), Formula(AT_MOST)),
        proof=proof,
        depends=("CT-8",),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"Energies in this literature differ by factors: with $E_{\beta} = \frac1{2\beta n^2}\sum_{ij}e^{\beta "
                r"x_i^{\top}x_j}$ the rate of the first claim is $\frac1{n^2}\sum_iZ_i|\dot x_i|^2$; the vectors use this one.",
            ),
            Remark(
                RemarkKind.OPEN,
                "The same for unnormalised weights, with the rate $\\frac1n\\sum_i|\\dot x_i|^2$, which no system here has, and "
                "that both flows have the same equilibria with the same inertia (by Sylvester and Ostrowski).",
            ),
        ),
        vectors=(
            Vector(
                "E, rates of SA and USA, maximum",
                example,
                ("0.710819532926524", "0.092479228114168", "0.297366860723742", "1.847264024732663"),
            ),
        ),
        variants=(Variant("IsIdentity(V)", "$V = 2I$, $M = V$: a score is $2 > c = 1$.", larger_scores),),
        property_tests=(OnInstances(ascent),),
    )
)
