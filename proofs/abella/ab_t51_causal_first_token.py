"""AB-T5.1: causal consensus at the first token, for almost every start, and the domain claim that is false.

Token after token: where the earlier ones tend to the first, the height over it tends to 1 or -1; near the antipode the velocity
pushes neighbours apart, so that volumes grow there and almost no start stays.  For l >= 3 the domain of attraction does not
contain ``{y_j != -y_1}``.  Reference: Abella-Silvestre-Tabuada, Theorem 5.1.
"""

from __future__ import annotations

from eigentoken.proofs.abella.causal_almost_every import AT_FIRST, STILL, proof
from eigentoken.proofs.abella.causal_examples import (
    angles_example,
    bad_angle,
    bad_start_between,
    discrete_sphere_stays,
    sphere_example,
    unbounded_causal_freezes,
)
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import BoundedInTime, IsIdentity, Relation
from eigentoken.theory.language.places import ConsensusSet
from eigentoken.theory.language.terms import d, matrix
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

U = matrix("U")

AB_T51 = register(
    Statement(
        id="AB-T5.1",
        kind=Kind.THEOREM,
        source=Source(ABELLA, "Theorem 5.1"),
        title="Causal consensus at the first token",
        systems=("causal-flow",),
        conditions=(IsIdentity(U), BoundedInTime("P"), Relation(d >= 2)),
        claims=(AlmostEveryConverges(ConsensusSet()), Formula(STILL), Formula(AT_FIRST)),
        depends=("AB-E15",),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.OPEN,
                "For $y_1, \\dots, y_{i-1}$ in the domain of attraction there is exactly one bad start $y_i^*$ of token $i$, "
                "whose trajectory tends to $-y_1$; $y_2^* = -y_1$, but $y_3^* \\neq -y_1$ whenever $y_2 \\notin \\{y_1, "
                "-y_1\\}$. The consensus set is asymptotically stable. The same for several heads.",
            ),
        ),
        printed=Printed(
            text="The domain of attraction contains $\\{(y_1, \\dots, y_{\\ell}) : y_j \\neq -y_1,\\ 2 \\le j \\le "
            "\\ell\\}$.",
            wrong="False for every $\\ell \\ge 3$ and $n \\ge 1$ (true for $\\ell = 2$). The printed estimate $\\dot V "
            "\\le -cV'(a)^2 + C|e|$ is not an input-to-state estimate on $(-1, 1]$, because $V'(-1) = 0$.",
            counterexamples=(
                Counterexample(
                    name="three tokens on the circle",
                    says="$S^1$, $P = 0$, angles $\\theta_1 = 0$, $\\theta_2 = \\tfrac{\\pi}{2}$: some $\\theta_3 \\in "
                    "[3.5994, 3.5995]$, which is not $\\pi$, does not reach consensus ($\\theta_3^* = "
                    "3.599405655\\ldots$).",
                    instance={
                        "system": "causal-flow",
                        "P": [["0", "0"], ["0", "0"]],
                        "angles": ["0", "pi/2", ["3.5994", "3.5995"]],
                    },
                    check=lambda: bad_start_between("3.5994", "3.5995"),
                ),
            ),
        ),
        vectors=(
            Vector(
                "angles at t = 10 from (0, pi/2, 2.5), and theta_2 in closed form",
                angles_example,
                ("0.058269893251061", "0.12240531375280", "0.058269893251061"),
            ),
            Vector(
                "bad third angles for theta_2 = pi/2 and 1",
                lambda: [bad_angle(1.5707963267948966), bad_angle(1.0)],
                ("3.599405655007", "3.429582497847"),
            ),
            Vector(
                "bad third token on the sphere, P = 0.8 det_matrix(3), and its distance to -y_1",
                sphere_example,
                ("-0.961364", "-0.275279", "0.277977"),
            ),
        ),
        variants=(
            Variant(
                'BoundedInTime("P")',
                "With $P(t) = e^{2t}I$ on the circle the second token freezes away from the first.",
                unbounded_causal_freezes,
            ),
            Variant("Relation(d >= 2)", "On $S^0$ no token moves.", discrete_sphere_stays),
        ),
    )
)
