"""PM-L6: polygonal points of the Oja map, ``V xbar = 0``: they rest, and which of them are linearly unstable.

Two tokens that are not on one line give a multiplier above 1 for every step; so does a direction b across all tokens with
``b^T V b > 0``, and there is one if ``lambda_2 > 0``.  For n = 2 and ``lambda_2 < 0`` such a point can be stable (PM-CX1).
Reference: Li-Altafini, Lemma 6 (false for n = 2).
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import TILTED, TV9, attracting
from eigentoken.proofs.power_method.pm_e09_oja_map import influence
from eigentoken.proofs.power_method.pm_l05_oja_bipartite_points import LONG_STEP
from eigentoken.proofs.power_method.polygons import ACROSS, APART, NO_PUSH, across, apart, polygon, rests
from eigentoken.proofs.power_method.principal_limits import eigenvectors, of_any
from eigentoken.proofs.power_method.saddles import SADDLE, saddle
from eigentoken.proofs.power_method.symbols import V, d, lam
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.equations import TOKEN, Z
from eigentoken.proofs.steps.fixed_points import RESTS
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.theory.calculus import TOKENS, Letter, dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.multipliers import HALF_AND_HALF, MULTIPLIER
from eigentoken.theory.kernel.propositions import Conjunction, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import STATE, VectorLetter
from eigentoken.theory.language.claims import Unstable, When
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import AntipodalAt
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector

_SECOND = proposition(lam(V, 2) > 0)


def _without_push(*further: Proposition) -> Implication:
    """``V xbar = 0``, and this, give a multiplier above 1."""
    return Implication(Conjunction((NO_PUSH, *further)), MULTIPLIER)


CLAIMS = (
    Implication(NO_PUSH, RESTS),
    SADDLE,
    _without_push(APART),
    _without_push(ACROSS),
    _without_push(_SECOND),
)


def _antipodal(k: Kernel, found: Proved) -> Proved:
    """Half of the tokens at w and half at -w have no push; what was found holds at all these states."""
    back = vector(Z.name).applied((Letter("V", True),))
    place = k.assume(HALF_AND_HALF)
    level = k.instantiate(k.part(place, HALF_AND_HALF.parts[0]), back)
    push = expanded(k, dot(vector(Z.name), influence()), (1 / TOKENS, dot(back, vector("x", TOKEN)).summed(TOKEN)))
    still = k.generalise(Z, k.arithmetic([level, push], NO_PUSH.body))
    every = k.generalise(VectorLetter(STATE), k.discharge(HALF_AND_HALF, k.supply(found, still)))
    return k.discharge(_SECOND, k.unstable(AntipodalAt("w"), every))


def proof(k: Kernel) -> Proved:
    """The form of the derivative at rest, and a family for each kind of polygon."""
    resting, known = rests(k), saddle(k)
    rule = k.modus_ponens(known, resting)
    some, both = eigenvectors(k)
    top = k.part(both, both.proposition.parts[0])
    found = (
        of_any(k, some, apart(k, rule, top)),
        across(k, rule),
        of_any(k, some, polygon(k, rule, both)),
    )
    shown = (k.discharge(claim.left, each) for claim, each in zip(CLAIMS[2:], found, strict=True))
    return k.conjunction(_antipodal(k, found[-1]), k.discharge(NO_PUSH, resting), known, *shown)


_TRIANGLE = [["1", "0"], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]
TV8 = instance("oja-map", _TRIANGLE, V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")
FOUR = instance("oja-map", [["1", "0"]] * 2 + [["-1", "0"]] * 2, V=[["1", "0"], ["0", "-1/2"]], alpha="1/4")


#: V is -47/169 on w^perp, and alpha |nu| = 376/169.
TILTED_FAR = {**TILTED, "alpha": "8"}


PM_L6 = register(
    Statement(
        id="PM-L6",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 6"),
        title="Polygonal points of the Oja map",
        systems=("oja-map",),
        conditions=(Symmetric(V), Relation(lam(V, 1) > 0), Relation(sp.Ge(d, 2, evaluate=False))),
        claims=(When(Relation(lam(V, 2) > 0), Unstable(AntipodalAt("w"))), *map(Formula, CLAIMS)),
        depends=("PM-CX1",),
        proof=proof,
        printed=Printed(
            text=r"All polygonal equilibria of the Oja map are unstable.",
            wrong=(
                r"False for $n = 2$, $V|_{w^\perp} \prec 0$ (possible iff $\lambda_2 < 0$) and a short step. For even "
                r"$n \geq 4$ the claim is true but the linearisation may be silent (spectral radius 1), so no proof "
                r"by linearisation exists there."
            ),
            counterexamples=(
                Counterexample(
                    "tilted",
                    r"$V = \operatorname{diag}(1, -\frac12)$, $\alpha = \frac14$, $w = \frac1{13}(12, 5)$, which is no "
                    r"eigenvector: multipliers $\frac{629}{676}$ and $1$ at $(w, -w)$, stable by PM-CX1.",
                    TILTED,
                    lambda: attracting(TILTED, "629/676"),
                ),
                Counterexample(
                    "TV9",
                    r"The same on the eigenvector: $\frac78$ and $1$.",
                    TV9,
                    lambda: attracting(TV9, "7/8"),
                ),
            ),
        ),
        vectors=(
            Vector("TV8", lambda: multipliers(TV8), decimals("15/16", "1", "9/8")),
            Vector("tilted", lambda: multipliers(TILTED), decimals("629/676", "1")),
            Vector("tilted, a long step", lambda: multipliers(TILTED_FAR), ("-1.224852071006", "1")),
            Vector("n = 4, silent", lambda: multipliers(FOUR), decimals("0.875", "1 * 3")),
        ),
        variants=(
            Variant(
                "lambda_2 > 0",
                "V = diag(1, -1/2), n = 2, w = (12, 5)/13: no multiplier above 1 (and stable, PM-CX1)",
                lambda: attracting(TILTED, "629/676"),
            ),
            Variant(
                "alpha |lambda_d| < 2",
                "n = 2, V = diag(1, -3), alpha = 1, w = e_1: multipliers -2 and 1 although V is negative on w^perp",
                lambda: point_is(LONG_STEP, "polygonal", stable="unstable"),
            ),
            Variant(
                "alpha |nu_min| < 2",
                "V = diag(1, -1/2), alpha = 8, w = (12, 5)/13: the multiplier 1 + alpha nu is -207/169",
                lambda: point_is(TILTED_FAR, "polygonal", stable="unstable"),
            ),
        ),
    )
)
