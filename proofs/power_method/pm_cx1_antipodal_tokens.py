"""PM-CX1: two antipodal tokens can be Lyapunov stable: the counterexample to Lemmas 5, 6 and Theorem 2.

n = 2, ``alpha |V| < 1``: every state ``(w, -w)`` with V negative definite on ``w^perp`` is Lyapunov stable, and almost all starts
near it end with opposite tokens; so it is with ``(v_1, -v_1)`` if ``lambda_2 < 0``.  New here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.antipodal_attraction import ATTRACTS, antipodal_attraction
from eigentoken.proofs.power_method.antipodal_stability import (
    BALANCED,
    NEGATIVE,
    STABLE,
    UNIT,
    antipodal_stability,
)
from eigentoken.proofs.power_method.symbols import V, alpha, d, lam, n, p, q
from eigentoken.proofs.properties.exact_points import agree, decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.first_failures import FirstFailure, four_tokens_escape
from eigentoken.proofs.steps.equations import TOKEN, Z
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.saddle_theorems import RAYLEIGH_SECOND
from eigentoken.theory.calculus import dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import LyapunovStable, When
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import SpectralNorm
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

_A, _Z, _LINE = vector("a", TOKEN), vector(Z.name), vector("v")
_PRINCIPAL = LyapunovStable(BipartiteAt(V, 1))
_SECOND = Relation(lam(V, 2) < 0)
_SIDE = dot(_LINE, _A)


def _balanced(k: Kernel, line: Proved, sides: Proved) -> Proved:
    """One token on each side: ``sum_i a_i = (p - q) v = 0``."""
    whole = [k.given(sp.Eq(n, 2)), k.given(sp.Eq(n, p + q))]
    equal = k.integers(whole, sp.Eq(p - q, 0, evaluate=False))
    each = k.instantiate(k.instantiate(line, TOKEN), Z)
    known = [
        k.summed(k.generalise(TOKEN, each)),
        expanded(k, (_SIDE * dot(_Z, _LINE)).summed(TOKEN), (1, _SIDE.summed(TOKEN), dot(_Z, _LINE))),
        sides,
        equal,
    ]
    return k.generalise(Z, k.arithmetic(known, BALANCED.body))


def _below(k: Kernel, line: Proved, signs: Proved, top: Proved) -> Proved:
    """Across v the form is at most ``lambda_2 |z|^2``, and ``c = -lambda_2`` is positive."""
    eigen, unit = (k.part(top, each) for each in top.proposition.parts)
    level = k.assume(sp.Eq(Tensor(dot(_A, _Z)), 0, evaluate=False))
    along = k.arithmetic(
        [
            level,
            k.instantiate(k.instantiate(line, TOKEN), Z),
            k.product(_SIDE, dot(_Z, _LINE)),
            k.instantiate(signs, TOKEN),
        ],
        sp.Eq(Tensor(dot(_LINE, _Z)), 0, evaluate=False),
    )
    given = (k.given(Symmetric(V)), k.given(sp.Ge(d, 2, evaluate=False)), eigen, unit, along)
    second = k.textbook(RAYLEIGH_SECOND, *given, A=V, v=_LINE, z=_Z)
    depth = -lam(V, 2)
    bound = sp.Le(Tensor(dot(_Z, _Z, matrix("V"))), -depth * Tensor(dot(_Z, _Z)), evaluate=False)
    form = k.discharge(level.proposition, k.arithmetic([second], bound))
    every = k.generalise(TOKEN, k.generalise(Z, form))
    positive = k.arithmetic([k.assume(_SECOND)], sp.Gt(depth, 0, evaluate=False))
    return k.witness(NEGATIVE, depth, every, positive)


def proof(k: Kernel) -> Proved:
    """W has a local minimum at these states, what rests near them is opposite; on ``v_1`` it follows from ``lambda_2 < 0``."""
    every = antipodal_stability(k)
    means = k.meaning(_PRINCIPAL)
    split = means.proposition.right.guard
    place = k.assume(split.body)
    line, signs, sides = (k.part(place, each) for each in split.body.parts)
    top = k.assume(split.guard)
    unit = k.arithmetic(
        [k.instantiate(k.instantiate(line, TOKEN), _A), k.product(_SIDE, dot(_A, _LINE)), k.instantiate(signs, TOKEN)],
        UNIT.body,
    )
    known = k.conjunction(k.generalise(TOKEN, unit), _balanced(k, line, sides), _below(k, line, signs, top))
    stays = k.instantiate(every, VectorLetter("a"), known)
    shown = k.generalise(VectorLetter("a"), k.exists_elimination(k.assume(split), stays), split)
    principal = k.discharge(_SECOND, k.modus_ponens(means, shown))
    return k.conjunction(every, principal, antipodal_attraction(k, every))


TV9 = instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")
TILTED = instance("oja-map", [["12/13", "5/13"], ["-12/13", "-5/13"]], V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")


def attracting(document: dict[str, Any], contracting: str) -> Verdict:
    """The exact multipliers are 1, once (the dimension of the manifold of fixed points for n = d = 2), and one inside."""
    return all_of(
        {
            "fixed and marginal": point_is(document, "polygonal", stable="marginal"),
            "multipliers": agree(multipliers(document), (contracting, "1")),
        }
    )


def antipodal_share(second: str) -> Any:
    """The probability that the flow ends antipodal, lambda_1 = 1, from the level sets of the first integral."""
    import mpmath as mp

    with mp.workdps(30):
        l2 = mp.mpf(second)
        kappa = 1 / (1 - l2)
        largest = kappa**kappa * (1 - kappa) ** (1 - kappa)

        def inside(angle: Any) -> Any:
            phi = mp.sin(angle) ** (2 * kappa) * mp.cos(angle) ** (2 * (1 - kappa))
            return 1 - 2 / mp.pi * mp.asin(mp.sqrt(min(phi / largest, mp.mpf(1))))

        start = mp.asin(mp.sqrt(kappa))
        return 2 / mp.pi * mp.quad(inside, mp.linspace(start, mp.pi / 2, 5))


def shares() -> Sequence[Any]:
    """For lambda_2 = -1/2, -1/10 and -2."""
    return [antipodal_share(each) for each in ("-0.5", "-0.1", "-2")]


PM_CX1 = register(
    Statement(
        id="PM-CX1",
        kind=Kind.COUNTEREXAMPLE,
        source=Source(HERE, "against Li-Altafini, Lemmas 5, 6 and Theorem 2"),
        title="Two antipodal tokens can be stable and attracting",
        systems=("oja-map",),
        conditions=(
            Symmetric(V),
            Relation(alpha * SpectralNorm(V) < 1),
            Relation(sp.Eq(n, 2)),
            Relation(sp.Ge(d, 2, evaluate=False)),
        ),
        claims=(Formula(STABLE), When(_SECOND, _PRINCIPAL), Formula(ATTRACTS)),
        depends=("PM-R3",),
        proof=proof,
        vectors=(
            Vector("TV9", lambda: multipliers(TV9), decimals("7/8", "1")),
            Vector("share of antipodal limits", shares, ("0.126799980287", "0.0342302370874", "0.266276212105")),
        ),
        variants=(
            Variant(
                "lambda_2 < 0",
                "V = diag(1, 1/2), n = 2: the antipodal point on v_1 is unstable",
                lambda: point_is(
                    instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "1/2"]], alpha="1/4"),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "alpha |V| < 1",
                "V = diag(1, -1/2), alpha = 5: the multiplier 1 + alpha lambda_2 is -3/2",
                lambda: point_is(
                    instance("oja-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-1/2"]], alpha="5"),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "n = 2",
                "two more tokens: a start as near as we like has $-\\frac12\\bar x^{\\top}V\\bar x < 0$ and leaves for ever",
                FirstFailure(four_tokens_escape),
            ),
        ),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"For the flow with $n = d = 2$, $\kappa = \frac{\lambda_1}{\lambda_1 - \lambda_2}$ and $\varphi = "
                r"(\sin^2\Theta)^\kappa(\cos^2\Theta)^{1-\kappa}$ of the mean angle $\Theta$, the share of the starts that end "
                r"antipodal is $\frac2\pi\int_{\arcsin\sqrt\kappa}^{\pi/2}\big(1 - "
                r"\frac2\pi\arcsin\sqrt{\varphi/\varphi_{\max}}\big)\mathrm d\Theta$, $\varphi_{\max} = "
                r"\kappa^\kappa(1-\kappa)^{1-\kappa}$, by reading off the region above the separatrix through "
                r"$(\Theta, \psi) = (\arcsin\sqrt\kappa, \pi)$, $\psi$ the difference of the angles: 12.7\% for $\lambda_2 "
                r"= -\frac12\lambda_1$. The share of the map depends on the step and is another number.",
            ),
        ),
    )
)
