"""PM-S1: steering by a rank-one edit of the output matrix.

``F + mu w z^T`` with ``|w| = 1``, ``z^T w = 1`` and ``mu >= 20 B``, ``B = |F||z|``: exactly one eigenvalue has modulus at least
mu/2; it is real, and ``|zeta - mu - z^T F w - z^T F (I - w z^T) F w / mu| <= 8 B^3 / mu^2``.  Every constant is derived, none is
fitted.  Reference: Li-Altafini, section 2.3.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.orthogonal_steering import orthogonal_eigenvalues, orthogonal_steps
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.steering_checks import no_gap, steering
from eigentoken.proofs.steps.reductions import tensor
from eigentoken.proofs.steps.textbook_maps import DETERMINANT_LEMMA, NEUMANN, ROUCHE
from eigentoken.theory.calculus import Assumptions, dot, matrix, vector
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Derivation, Identity, Inequality, Step

MU = sp.Symbol("mu", real=True)
F1, F2 = sp.symbols("f_1 f_2", real=True)
ROOT, N, Z, B = sp.symbols("zeta N Z B", real=True)
SETTING = (MU > 0, N >= 0, B >= N, MU >= 20 * B)

FACTOR = "the characteristic polynomial is multiplied by 1 - mu z^T (zeta I - F)^(-1) w"
RESOLVENT = "the resolvent is analytic there and at most 1/(|zeta| - |F|)"


def _edited() -> tuple[Any, Any]:
    """``(U + mu w z^T C) V_cat x`` with ``C V_cat = I``."""
    rules = Assumptions(products={("C", "K"): (), ("U", "K"): matrix("F")})
    values = vector("x").applied(matrix("K"))
    edit = dot(vector("z"), values, matrix("C")) * vector("w") * MU
    return values.applied(matrix("U")) + edit, rules


def _sum() -> Any:
    return vector("x").applied(matrix("F")) + dot(vector("z"), vector("x")) * vector("w") * MU


def _rouche_steps() -> tuple[Step, ...]:
    """Exactly one eigenvalue beyond mu/2, by Rouche."""
    zeta, f = sp.symbols("zeta F")
    radius, distance = sp.symbols("r t", real=True)
    far = (N >= 0, B >= N, MU >= 20 * B, radius >= MU / 2)
    return (
        Inequality(
            name="norms",
            says="Let $N = \\lVert F\\rVert$, $Z = \\lVert z\\rVert$, $B = ZN$, $f_j = z^{\\top}F^jw$. Since $1 = "
            "z^{\\top}w \\leq Z$, the bounds $|f_j| \\leq ZN^j$ are at most $B^j$.",
            hypotheses=(Z >= 1, N >= 0, sp.Eq(B, Z * N)),
            conclusion=sp.And(N <= B, Z * N**2 <= B**2, Z * N**3 <= B**3),
        ),
        Inequality(
            name="outside",
            says="Let $\\mu \\geq 20B$. Every $\\zeta$ of modulus $r \\geq \\mu/2$ lies outside the disc of radius $N$.",
            hypotheses=(*far, MU > 0),
            conclusion=radius > N,
            uses=("norms",),
            establishes=("the number lies outside the disc of the norm",),
        ),
        Citation(
            name="resolvent",
            says="So the resolvent exists there, is analytic in $\\zeta$, and is bounded.",
            theorem=NEUMANN,
            formula=r"\lVert(\zeta I - F)^{-1}\rVert \leq \frac{1}{r - N}",
            uses=("outside",),
            establishes=(RESOLVENT,),
        ),
        Identity(
            name="expansion",
            says="All matrices here are functions of $F$ and commute, so that this identity of a number $F$ is one of "
            "matrices.",
            left=1 / (zeta - f),
            right=1 / zeta + f / zeta**2 + f**2 / zeta**3 + f**3 / (zeta**3 * (zeta - f)),
            uses=("resolvent",),
        ),
        Inequality(
            name="on the circle",
            says="The secular equation is $\\zeta - \\mu = \\mu\\, z^{\\top}F(\\zeta I - F)^{-1}w$. Its right side is "
            "at most $\\mu B/(r - N)$, which is below $\\mu/2$ for every $r \\geq \\mu/2$, hence on the circle "
            "$|\\zeta - \\mu| = \\mu/2$ and wherever $|\\zeta| \\geq \\mu/2$ outside of it.",
            hypotheses=(*far, MU > 0),
            conclusion=MU * B / (radius - N) < MU / 2,
            uses=("secular equation", "norms", "resolvent"),
            needs=(RESOLVENT,),
            establishes=("the right side is smaller than zeta - mu in modulus on the circle of the disc",),
        ),
        Inequality(
            name="in the disc",
            says="In the disc $|\\zeta - \\mu| = t \\leq \\mu/2$, and on its circle, the modulus $r \\geq \\mu - t$ is "
            "at least $\\mu/2$: there $\\zeta - \\mu$ and $\\mu\\, z^{\\top}F(\\zeta I - F)^{-1}w$ are analytic.",
            hypotheses=(radius >= MU - distance, distance <= MU / 2),
            conclusion=radius >= MU / 2,
            uses=("resolvent",),
            needs=(RESOLVENT,),
            establishes=("zeta - mu and the right side are analytic on the disc and its circle",),
        ),
        Citation(
            name="Rouche",
            says="So $\\zeta - \\mu - \\mu\\, z^{\\top}F(\\zeta I - F)^{-1}w$ has as many zeros in the disc as $\\zeta "
            "- \\mu$.",
            theorem=ROUCHE,
            letters={"f": "zeta - mu", "g": "the right side", "disc": "the disc"},
            formula=r"\#\{\zeta : \zeta - \mu = \mu\, z^{\top}F(\zeta I - F)^{-1}w,\ |\zeta - \mu| < \tfrac{\mu}{2}\} "
            r"= \#\{\mu\}",
            uses=("in the disc", "on the circle"),
            establishes=("zeta - mu and its difference with the right side have equally many zeros in the disc",),
        ),
    )


def _distance_steps() -> tuple[Step, ...]:
    """The distance of this root from mu, estimated twice."""
    distance, smaller, imaginary = sp.symbols("t s y", real=True)
    return (
        Inequality(
            name="one root",
            says="That is one zero. Outside of the disc, where $|\\zeta| \\geq \\mu/2$, there is none: the right side "
            "has a modulus $s < \\mu/2$, and $t = |\\zeta - \\mu| \\geq \\mu/2$. The zero is real: its complex "
            "conjugate is a zero in the disc too, so its imaginary part is $y = -y$.",
            hypotheses=(smaller < MU / 2, distance >= MU / 2, sp.Eq(imaginary, -imaginary)),
            conclusion=sp.And(sp.Ne(distance, smaller), sp.Eq(imaginary, 0)),
            uses=("secular equation", "Rouche", "on the circle"),
            needs=(
                "zeta - mu and its difference with the right side have equally many zeros in the disc",
                "the new eigenvalues are the roots of the secular equation",
            ),
            establishes=("exactly one eigenvalue lies within mu/2 of mu, and no other has a modulus of mu/2 or more",),
        ),
        Inequality(
            name="near mu, first",
            says="With $\\zeta \\geq \\mu/2$ the estimate $|\\zeta - \\mu|(\\zeta - N) \\leq \\mu B$ gives",
            hypotheses=(*SETTING, ROOT >= MU / 2, sp.Abs(ROOT - MU) * (ROOT - N) <= MU * B),
            conclusion=sp.Abs(ROOT - MU) <= sp.Rational(20, 9) * B,
            uses=("one root",),
        ),
        Inequality(
            name="near mu",
            says="With this the same estimate gives",
            hypotheses=(
                *SETTING,
                sp.Abs(ROOT - MU) <= sp.Rational(20, 9) * B,
                sp.Abs(ROOT - MU) * (ROOT - N) <= MU * B,
            ),
            conclusion=sp.Abs(ROOT - MU) <= sp.Rational(6, 5) * B,
            uses=("near mu, first",),
        ),
    )


def _root_steps() -> tuple[Step, ...]:
    """Exactly one eigenvalue beyond mu/2, by Rouche; then twice the same estimate for its distance from mu."""
    return (
        *_rouche_steps(),
        *_distance_steps(),
    )


def _remainder_steps() -> tuple[Step, ...]:
    """The exact remainder of the expansion of the root, and its three terms."""
    tail, factor, middle, gap = sp.symbols("T q p u", real=True)
    e1, e2, e3 = sp.symbols("e_1 e_2 e_3", real=True)
    near = (*SETTING, sp.Abs(ROOT - MU) <= sp.Rational(6, 5) * B)
    cube = B**3 / MU**2
    return (
        Identity(
            name="remainder",
            says="Let $T = z^{\\top}F^3(\\zeta I - F)^{-1}w$. The secular equation, multiplied out, is $\\zeta^3 = "
            "\\mu(\\zeta^2 + f_1\\zeta + f_2 + T)$, and gives exactly",
            left=ROOT - MU - F1 - (F2 - F1**2) / MU,
            right=(F2 - F1**2) * (MU / ROOT**2 - 1 / MU) - MU * F1 * (F2 + tail) / ROOT**3 + MU * tail / ROOT**2,
            where={MU: ROOT**3 / (ROOT**2 + F1 * ROOT + F2 + tail)},
            uses=("secular equation", "expansion"),
        ),
        Inequality(
            name="tail",
            says="The tail satisfies $|T|(\\zeta - N) \\leq B^3$, hence",
            hypotheses=(*near, sp.Abs(tail) * (ROOT - N) <= B**3),
            conclusion=sp.Abs(tail) <= sp.Rational(9, 8) * B**3 / MU,
            uses=("near mu", "norms", "resolvent"),
        ),
        Inequality(
            name="quotients",
            says="The quotients that occur are close to $0$, $1/\\mu$ and $1/\\mu^2$.",
            hypotheses=near,
            conclusion=sp.And(
                sp.Abs(MU / ROOT**2 - 1 / MU) <= sp.Rational(53, 20) * B / MU**2,
                sp.Le(MU / ROOT**2, sp.Rational(23, 20) / MU),
                sp.Le(MU / ROOT**3, sp.Rational(61, 50) / MU**2),
            ),
            uses=("near mu",),
        ),
        Inequality(
            name="first term",
            says="With $q = f_2 - f_1^2$, $|q| \\leq 2B^2$, and $u$ the first quotient,",
            hypotheses=(
                *SETTING,
                sp.Abs(factor) <= 2 * B**2,
                sp.Abs(gap) <= sp.Rational(53, 20) * B / MU**2,
            ),
            conclusion=sp.Abs(factor * gap) <= sp.Rational(53, 10) * cube,
            uses=("quotients", "norms"),
        ),
        Inequality(
            name="second term",
            says="With $p = f_2 + T$, $|p| \\leq B^2 + \\frac98B^3/\\mu$, and $u = \\mu/\\zeta^3$,",
            hypotheses=(
                *SETTING,
                sp.Abs(F1) <= B,
                sp.Abs(middle) <= B**2 + sp.Rational(9, 8) * B**3 / MU,
                gap >= 0,
                gap <= sp.Rational(61, 50) / MU**2,
            ),
            conclusion=sp.Abs(F1 * middle * gap) <= sp.Rational(13, 10) * cube,
            uses=("quotients", "tail", "norms"),
        ),
        Inequality(
            name="third term",
            says="With $u = \\mu/\\zeta^2$,",
            hypotheses=(
                *SETTING,
                sp.Abs(tail) <= sp.Rational(9, 8) * B**3 / MU,
                gap >= 0,
                gap <= sp.Rational(23, 20) / MU,
            ),
            conclusion=sp.Abs(tail * gap) <= sp.Rational(13, 10) * cube,
            uses=("quotients", "tail"),
        ),
        Inequality(
            name="large root",
            says="So the remainder, a sum of these three terms, is at most $8B^3/\\mu^2$; note $f_2 - f_1^2 = "
            "z^{\\top}F(I - wz^{\\top})Fw$.",
            hypotheses=(
                *SETTING,
                sp.Abs(e1) <= sp.Rational(53, 10) * cube,
                sp.Abs(e2) <= sp.Rational(13, 10) * cube,
                sp.Abs(e3) <= sp.Rational(13, 10) * cube,
            ),
            conclusion=sp.Abs(e1 - e2 + e3) <= 8 * cube,
            uses=("remainder", "first term", "second term", "third term"),
        ),
    )


def _angle_steps() -> tuple[Step, ...]:
    """The eigenvector, its parts along and across w, and the tangent."""
    zeta, f = sp.symbols("zeta F")
    across, along, lead = sp.symbols("A a tau", real=True)
    return (
        Identity(
            name="eigenvector",
            says="The eigenvector is $(\\zeta I - F)^{-1}w$. In the algebra of $F$,",
            left=zeta / (zeta - f),
            right=1 + f / zeta + f**2 / (zeta * (zeta - f)),
            uses=("one root",),
        ),
        Inequality(
            name="angle",
            says="So $\\zeta(\\zeta I - F)^{-1}w$ has the part $a = 1 + w^{\\top}F(\\zeta I - F)^{-1}w$ along $w$ and "
            "a part of length $A$ across, which differs from $\\tau = \\lVert P_wFw\\rVert/\\zeta \\leq N/\\zeta$ by "
            "at most $N^2/(\\zeta(\\zeta - N))$. The tangent of the angle to $w$ is $A/a$.",
            hypotheses=(
                N >= 0,
                ROOT > 2 * N,
                lead >= 0,
                lead <= N / ROOT,
                sp.Abs(across - lead) <= N**2 / (ROOT * (ROOT - N)),
                sp.Abs(along - 1) <= N / (ROOT - N),
            ),
            conclusion=sp.Abs(across / along - lead) <= 2 * N**2 / (ROOT * (ROOT - 2 * N)),
            uses=("eigenvector", "resolvent"),
        ),
    )


def derive() -> Derivation:
    """The edited layer matrix; the secular equation; its large root with a remainder, and the angle of its eigenvector."""
    determinant, quotient = sp.symbols("D q", real=True)
    return Derivation(
        (
            tensor(
                "edit",
                "With $\\widetilde U = U + \\mu wz^{\\top}V_{\\rm cat}^{-1}$ and $UV_{\\rm cat} = F$, for all sizes.",
                _edited,
                _sum(),
                r"\widetilde UV_{\rm cat}\,x = Fx + \mu w\,(z^{\top}x)",
                establishes=("the matrix is changed by a term of rank one",),
            ),
            Citation(
                name="determinant",
                says="For the edited matrix:",
                theorem=DETERMINANT_LEMMA,
                formula=r"\det(\zeta I - \widetilde F) = \det(\zeta I - F)\,\big(1 - \mu\,z^{\top}(\zeta I - "
                r"F)^{-1}w\big)",
                uses=("edit",),
                establishes=(FACTOR,),
            ),
            Inequality(
                name="secular equation",
                says="So the new eigenvalues $\\zeta \\notin \\operatorname{spec}F$, where $D = \\det(\\zeta I - F) "
                "\\neq 0$, are the roots of the secular equation $1 = \\mu\\,z^{\\top}(\\zeta I - F)^{-1}w = q$.",
                hypotheses=(sp.Ne(determinant, 0), sp.Eq(determinant * (1 - quotient), 0)),
                conclusion=sp.Eq(quotient, 1),
                uses=("determinant",),
                needs=(FACTOR,),
                establishes=("the new eigenvalues are the roots of the secular equation",),
            ),
            *_root_steps(),
            *_remainder_steps(),
            *_angle_steps(),
            *orthogonal_steps(),
        )
    )


_ROOT_40 = ("-6.32455532033676", "6.32455532033676")


def grows_like_a_root() -> Verdict:
    """z is orthogonal to w, and the top eigenvalue of F + mu w z^T exceeds sqrt(mu) for mu = 10^2, 10^4, 10^6."""
    seen = [orthogonal_eigenvalues("1", "0", "1", "1/2", 10**each)[-1] for each in (2, 4, 6)]
    if all(value > 10**each for value, each in zip(seen, (1, 2, 3), strict=True)):
        return holds(f"top eigenvalues {', '.join(str(each) for each in seen)}")
    return fails(f"top eigenvalues {seen}")


PM_S1 = register(
    Statement(
        id="PM-S1",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "section 2.3"),
        title="Steering by a rank-one edit",
        systems=("multihead-map",),
        text=(
            r"Let $V_{\rm cat}$ be invertible and $\widetilde U = U + \mu wz^{\top}V_{\rm cat}^{-1}$; then $\widetilde "
            r"F = F + \mu wz^{\top}$. With $\lVert w\rVert = 1$ and $z^{\top}w = 1$ the large eigenvalue satisfies $1 "
            r"= \mu z^{\top}(\zeta I - F)^{-1}w$ and is $\zeta = \mu + z^{\top}Fw + \frac1\mu z^{\top}F(I - "
            r"wz^{\top})Fw$ up to an error of at most $8B^3/\mu^2$ if $\mu \geq 20B$, $B = \lVert F\rVert\lVert "
            r"z\rVert$; it is then the only eigenvalue of modulus at least $\mu/2$, is real, and $|\zeta - \mu| \leq "
            r"\frac65B$. The tangent of the angle of its eigenvector to $w$ differs from $\lVert P_wFw\rVert/\zeta$ "
            r"by at most $2\lVert F\rVert^2/(\zeta(\zeta - 2\lVert F\rVert))$. For $z \perp w$, $f_1 = z^{\top}Fw "
            r"\neq 0$ and $\eta = \sqrt{\mu|f_1|} \geq 6\lVert z\rVert\lVert F\rVert^2/|f_1|$ there are exactly two "
            r"eigenvalues of modulus at least $\eta/2$, one within $2\lVert z\rVert\lVert F\rVert^2/|f_1|$ of each "
            r"square root of $\mu f_1$, real for $f_1 > 0$: a gap of the order $\sqrt\mu$."
        ),
        derive=derive,
        prose_from=("large root", "angle", "orthogonal z: two roots"),
        vectors=(
            Vector("z orthogonal to w, mu = 40", lambda: orthogonal_eigenvalues("0", "0", "1", "0", 40), _ROOT_40),
            Vector(
                "the same, c = -1, imaginary parts",
                lambda: orthogonal_eigenvalues("0", "0", "-1", "0", 40, sp.im),
                _ROOT_40,
            ),
            Vector(
                "F = (1 1/2; 2 -1), mu = 800",
                lambda: orthogonal_eigenvalues("1", "1/2", "2", "-1", 800),
                ("-40.0249921924", "40.0249921924"),
            ),
            Vector(
                "F = (1 0; 1 1/2), mu = 40: 3/4 -+ sqrt(641)/4",
                lambda: orthogonal_eigenvalues("1", "0", "1", "1/2", 40),
                ("-5.57949445059", "7.07949445059"),
            ),
        ),
        variants=(
            Variant(
                "z^T w = 1, and z^T F w = 0 for no change",
                "F = (1 0; 1 1/2), w = e_1, z = e_2: the eigenvalues are 3/4 +- sqrt(1/16 + mu) and grow without bound",
                grows_like_a_root,
            ),
            Variant(
                "z^T w = 1",
                "F = diag(1, 1/2), w = e_1, z = e_2, mu = 40: the eigenvalues stay 1 and 1/2",
                no_gap,
            ),
        ),
        property_tests=(OnInstances(steering),),
    )
)
