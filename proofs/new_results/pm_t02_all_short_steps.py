"""PM-T2+: the Oja map from almost every start, for all steps with ``alpha |V| < 1``.

Own derivation: tokens never merge, and cross-ratios lose only a summable amount.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.new_results.needed import a_spiral_repels, negative_leaders_repel
from eigentoken.proofs.power_method.pm_cx1_antipodal_tokens import TV9, attracting
from eigentoken.proofs.power_method.pm_l01_oja_fixed_points import flipped
from eigentoken.proofs.power_method.symbols import V, alpha, d, n
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.properties.token_fields import random_units, unit_rows
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import AnyOf, Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, SpectralNorm
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant
from eigentoken.theory.statements.steps import Argument, Derivation, Identity, Inequality


def derive() -> Derivation:
    """The loss of a distance in a step, and that different tokens stay different."""
    first, second, inner, length, short = sp.symbols("r q k s rho", real=True)
    return Derivation(
        (
            Identity(
                name="distances",
                says="$y_a - y_b = x_a - x_b$: with lengths $r, q$ and $k = x_a^{+\\top}x_b^+$, $|y_a - y_b|^2 = r^2 + "
                "q^2 - 2rqk = D$ "
                "gives $rq\\,D^+ = D - (r - q)^2$.",
                left=first * second * (2 - 2 * inner),
                right=(first**2 + second**2 - 2 * first * second * inner) - (first - second) ** 2,
            ),
            Inequality(
                name="tokens never merge",
                says="For a unit direction and a push of length $s < 1$, $|\\rho e - \\alpha u| = 1$ has roots with "
                "the product $s^2 - 1 "
                "< 0$: only one of them is positive.",
                hypotheses=(
                    length >= 0,
                    length < 1,
                    short * second <= 0,
                    sp.Eq(short * second, length**2 - 1),
                    second > 0,
                ),
                conclusion=short < 0,
                uses=("distances",),
            ),
            Argument(
                name="the rest",
                says="Every orbit converges (PM-R3); every other fixed point but an even antipodal split has a "
                "multiplier above 1; there the cross-ratio of four distinct tokens would tend to 0, though its losses "
                "are summable.",
                uses=("tokens never merge",),
            ),
        )
    )


def distances(source: np.random.Generator) -> Mapping[str, float]:
    """``r_a r_b D_ab^+ = D_ab - (r_a - r_b)^2``, and the bound of the loss."""
    size = int(source.integers(2, 6))
    x, push = random_units(source, 2, size), source.normal(size=size)
    push *= float(source.uniform(0, 0.99)) / np.linalg.norm(push)
    y = x + push
    r = np.linalg.norm(y, axis=1)
    before, after = (float(np.sum((z[0] - z[1]) ** 2)) for z in (x, unit_rows(y)))
    found = {"the identity": gap(r[0] * r[1] * after, before - (r[0] - r[1]) ** 2)}
    if x[0] @ x[1] >= 0:
        tangential = [push - (push @ each) * each for each in x]
        bound = sum(float(each @ each) for each in tangential)
        found["along the chord"] = float((push @ (x[0] - x[1])) ** 2 / before) - bound
    return found


PM_T2_PLUS = register(
    Statement(
        id="PM-T2+",
        kind=Kind.THEOREM,
        source=Source(HERE, "PM-T2 for all short steps"),
        title="The Oja map: almost every start reaches principal consensus for every step below 1/|V|",
        systems=("oja-map",),
        conditions=(
            Symmetric(V),
            SimpleTop(V),
            Relation(Eigenvalue(V, 1) > 0),
            Relation(d >= 2),
            Relation(alpha * SpectralNorm(V) < 1),
            AnyOf((Relation(n >= 3), Relation(Eigenvalue(V, 2) > 0))),
        ),
        claims=(AlmostEveryConverges(ConsensusAt(V, 1)),),
        depends=("PM-T2", "PM-R3", "CT-9"),
        derive=derive,
        claims_from=(("the rest",),),
        notes=(
            Remark(
                RemarkKind.OPEN,
                "Proved on paper up to descent sequences of analytic functions and infinite products, which are cited; "
                "of the steps "
                "two are checked here, and the kernel has only PM-T2 (half the step, second eigenvalue positive).",
            ),
        ),
        variants=(
            Variant(
                "Symmetric(V)",
                "$V = 1 \\oplus (\\frac9{10}, -3; 3, \\frac9{10})$, $\\alpha = \\frac3{10}$: principal consensus is unstable.",
                a_spiral_repels,
            ),
            Variant(
                "Relation(Eigenvalue(V, 1) > 0)",
                "$V = \\operatorname{diag}(-\\frac14, -\\frac12)$, $\\alpha = 1$: principal consensus is unstable.",
                negative_leaders_repel,
            ),
            Variant(
                "Relation(alpha*SpectralNorm(V) < 1)",
                "$V = \\operatorname{diag}(\\frac12, -1)$, $\\alpha = \\frac{41}{10}$: consensus on $v_2$ flips for ever.",
                flipped,
            ),
            Variant(
                "AnyOf((Relation(n >= 3), Relation(Eigenvalue(V, 2) > 0)))",
                r"$n = d = 2$, $\lambda_2 < 0$: antipodal pairs attract an open set (PM-CX1).",
                lambda: attracting(TV9, "7/8"),
            ),
        ),
        property_tests=(OnInstances(distances),),
    )
)
