"""PM-L15: polygonal points of the attention map rest, and need not be unstable.

The scores enter the derivative at first order and can turn every multiplier inward.  Reference: Li-Altafini, Lemma 15, eq. (20),
and the last claim of Theorem 3 (both false).
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.antipodal_scores import ANTIPODAL, antipodal
from eigentoken.proofs.power_method.attention_polygons import LINEARISED, POLYGON, linearised, rests
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.exact_points import agree, decimals, instance, multipliers, point_is
from eigentoken.proofs.properties.point_checks import antipodal_points
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    Statement,
    Variant,
    Vector,
)


def proof(k: Kernel) -> Proved:
    """Without a push the map rests; the derivative of the weights keeps two terms with M; all weights equal."""
    return k.conjunction(rests(k), linearised(k), antipodal(k))


_V = [["2", "1"], ["1", "2"]]
_PAIR_STATE = [["1", "0"], ["-1", "0"]]
TV10 = instance("attention-map", _PAIR_STATE, V=_V, M=[["0", "0"], ["-3", "0"]], alpha="1/10")
TV10_FOUR = instance(
    "attention-map", [["1", "0"]] * 2 + [["-1", "0"]] * 2, V=_V, M=[["0", "0"], ["-3", "0"]], alpha="1/10"
)
TV10_SYMMETRIC = instance("attention-map", _PAIR_STATE, V=_V, M=[["0", "-3"], ["-3", "0"]], alpha="1/10")
TV10_GRADIENT = instance(
    "attention-map", _PAIR_STATE, V=[["0", "1"], ["1", "1"]], M=[["0", "-2"], ["-2", "-2"]], alpha="1/10"
)

#: omega = 0, s(w) = 0 and v_1^T (M + M^T) v_2 = 1.
SEMISTABLE = instance(
    "attention-map", _PAIR_STATE, V=[["1", "0"], ["0", "-1/2"]], M=[["0", "1"], ["0", "0"]], alpha="1/4"
)


def reduced(angle: str, steps: int) -> Any:
    """The angle after some steps of ``tan theta^+ = tan theta (1 - T/8)/(1 + T/4)``, ``T = tanh(sin theta cos theta)``."""
    import mpmath as mp

    with mp.workdps(30):
        theta = mp.mpf(sp.Rational(angle).p) / sp.Rational(angle).q
        for _ in range(steps):
            slope = mp.tanh(mp.sin(theta) * mp.cos(theta))
            theta = mp.atan(mp.tan(theta) * (1 - slope / 8) / (1 + slope / 4))
        return theta


def both_tokens(angle: str, steps: int) -> Any:
    """The angle of token 1 after some steps of the attention map on (z, -z)."""
    import mpmath as mp

    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    with mp.workdps(30):
        theta = mp.mpf(sp.Rational(angle).p) / sp.Rational(angle).q
        tokens: Any = ((mp.cos(theta), mp.sin(theta)), (-mp.cos(theta), -mp.sin(theta)))
        half, quarter = mp.mpf(1) / 2, mp.mpf(1) / 4
        given = {"V": ((1, 0), (0, -half)), "M": ((0, 1), (0, 0)), "alpha": quarter}
        for _ in range(steps):
            tokens = system("attention-map").advance(LoopAlgebra(mp.exp, mp.sqrt, mp.mpf(1)), given, tokens)
        return mp.atan2(tokens[0][1], tokens[0][0])


def semistable() -> Verdict:
    """The multipliers are 7/8 and 1, and the angle of the reduced map passes -1 from -1/10 (30 digits)."""
    marginal = agree(multipliers(SEMISTABLE), ("7/8", "1"))
    last = reduced("-1/10", 1000)
    return all_of({"multipliers": marginal, "leaves": holds(f"angle {last}") if last < -1 else fails(f"angle {last}")})


PM_L15 = register(
    Statement(
        id="PM-L15",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 15, eq. (20), and Theorem 3, last claim"),
        title="Polygonal points of the attention map",
        systems=("attention-map",),
        claims=tuple(map(Formula, (Implication(POLYGON, RESTS), LINEARISED, ANTIPODAL))),
        depends=("PM-L10",),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"The map keeps the set of states with half of the tokens at $z$ and half at $-z$, $z^+$ the direction of $(I + "
                r"\alpha\tanh(z^{\top}Mz)V)z$. If $z = v_1$, $\lambda_1 > 0$ simple, $v_1^{\top}Mv_1 = 0$ and $v_1^{\top}(M + "
                r"M^{\top})v_\ell \neq 0$ for some $\ell \geq 2$, it is left on one side, also where no multiplier is outside "
                r"the unit circle.",
            ),
        ),
        printed=Printed(
            text=r"The polygonal equilibria are all unstable for the attention map.",
            wrong=(
                r"The proof bounds the terms with $M$ as if they were of higher order; they are of first order in "
                r"$\delta x$ and of the same order in $\alpha$ as the others, and can reverse the sign of every "
                r"multiplier."
            ),
            counterexamples=(
                Counterexample(
                    "TV10, n = 2",
                    r"$V = \big(\begin{smallmatrix}2&1\\1&2\end{smallmatrix}\big)$ ($\lambda = 3, 1$), $M = "
                    r"\big(\begin{smallmatrix}0&0\\-3&0\end{smallmatrix}\big)$, $\alpha = \frac1{10}$, $x = (e_1, "
                    r"-e_1)$, $e_1$ no eigenvector: multipliers $0.7$ and $0.9$, asymptotically stable.",
                    TV10,
                    lambda: point_is(TV10, "polygonal", stable="stable"),
                ),
                Counterexample(
                    "TV10, n = 4",
                    r"The same with two tokens on each side: $0.7$ (three times) and $0.9$.",
                    TV10_FOUR,
                    lambda: point_is(TV10_FOUR, "polygonal", stable="stable"),
                ),
                Counterexample(
                    "TV10, symmetric M",
                    r"$M = \big(\begin{smallmatrix}0&-3\\-3&0\end{smallmatrix}\big)$: $0.4$ and $0.9$.",
                    TV10_SYMMETRIC,
                    lambda: point_is(TV10_SYMMETRIC, "polygonal", stable="stable"),
                ),
                Counterexample(
                    "gradient structure",
                    r"$V = \big(\begin{smallmatrix}0&1\\1&1\end{smallmatrix}\big)$, $M = -2V$: $0.6$ and $0.9$.",
                    TV10_GRADIENT,
                    lambda: point_is(TV10_GRADIENT, "polygonal", stable="stable"),
                ),
            ),
        ),
        vectors=(
            Vector("TV10, n = 2", lambda: multipliers(TV10), decimals("7/10", "9/10")),
            Vector("TV10, n = 4", lambda: multipliers(TV10_FOUR), decimals("7/10 * 3", "9/10")),
            Vector("TV10, symmetric M", lambda: multipliers(TV10_SYMMETRIC), decimals("4/10", "9/10")),
            Vector("omega = 0: multipliers", lambda: multipliers(SEMISTABLE), decimals("7/8", "1")),
            Vector(
                "omega = 0: angle of token 1 after 1 and 1000 steps of the reduced map, from -0.1 and from 0.1",
                lambda: [reduced("-1/10", 1), reduced("-1/10", 1000), reduced("1/10", 1), reduced("1/10", 1000)],
                ("-0.103780297739227", "-1.56806305796307", "0.0963996573056255", "0.00259542117644058"),
            ),
            Vector(
                "omega = 0: the same from both tokens, one step from -0.1, and 1 and 1000 steps from 0.1",
                lambda: [both_tokens("-1/10", 1), both_tokens("1/10", 1), both_tokens("1/10", 1000)],
                ("-0.103780297739227", "0.0963996573056255", "0.00259542117644058"),
            ),
            Vector("TV10, M = -2V", lambda: multipliers(TV10_GRADIENT), decimals("6/10", "9/10")),
        ),
        variants=(
            Variant(
                "M = 0",
                "V = diag(1, -1/2), M = (0 1; 0 0), alpha = 1/4, w = e_1: omega = 0 and the multipliers 7/8 and 1 are "
                "those of PM-L6 (d), where the point is stable; here a start at the angle -1/10 leaves",
                semistable,
            ),
        ),
        property_tests=(OnInstances(antipodal_points),),
    )
)
