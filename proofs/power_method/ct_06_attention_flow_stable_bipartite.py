"""CT-6: stable bipartite points of the flow: the criterion of PM-N3 again.  Own derivation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.bipartite import written_trace
from eigentoken.proofs.power_method.bipartite_examples import SIDE_EXPANDS
from eigentoken.proofs.power_method.ct_05_attention_flow_bipartite import SPECTRUM
from eigentoken.proofs.power_method.pm_n03_stable_bipartite_criterion import (
    CRITERION_FIRST,
    CRITERION_LAST,
    D1,
    D2,
    DET,
    first_eigenvector,
    in_s_and_t,
    other_eigenvectors,
)  # fmt: skip
from eigentoken.proofs.power_method.symbols import LK, LL, E, V, b1, b2, d, k, kappa, lam, mu, p, q
from eigentoken.proofs.properties.exact_points import instance, point_is
from eigentoken.proofs.properties.first_failures import FirstFailure, map_beyond_the_flow
from eigentoken.proofs.steps.bipartite_criteria import BipartiteCriterion
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Iff, Stable, Unstable, When
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.statements.registry import recalled, register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality, Step


def derive() -> Derivation:
    """Minus the block of CT-5 is the form of PM-N3; the rest is the same real arithmetic."""
    plain = {kappa: LK, mu: LL}
    block = sp.Matrix(
        [[LL * (1 + b1) / 2 - LK * b1, LL * (1 - b1) / 2], [LL * (1 - b2) / 2, LL * (1 + b2) / 2 - LK * b2]]
    )
    one, two, off, det = sp.symbols("d_1 d_2 o D", real=True)
    z1, z2 = sp.symbols("z_1 z_2", real=True)
    shared = (*first_eigenvector(), *other_eigenvectors(), *in_s_and_t())
    return Derivation(
        (
            recalled(
                "CT-5",
                "the block of the flow at a bipartite point",
                "Take the block of CT-5.",
                r"\lambda_\ell A_2 - \lambda_k\operatorname{diag}(b_1, b_2)",
            ),
            Identity(
                name="trace",
                says="Minus its trace is the trace of $\\lambda_k\\operatorname{diag}(b) - \\lambda_\\ell S$.",
                left=-written_trace(block),
                right=sp.Add(D1.subs(plain), D2.subs(plain), evaluate=False),
                uses=("from CT-5",),
            ),
            Identity(
                name="determinant",
                says="Its determinant is that of the same form.",
                left=block.det(),
                right=DET.subs(plain),
                uses=("from CT-5",),
            ),
            Inequality(
                name="negative roots",
                says="Two real numbers are negative iff their product is positive and their sum negative;",
                hypotheses=(z1 * z2 > 0, z1 + z2 < 0),
                conclusion=sp.And(z1 < 0, z2 < 0),
                uses=("trace", "determinant"),
            ),
            Inequality(
                name="definite",
                says="With $D = d_1d_2 - o$, $o \\geq 0$, this says that the form is positive definite: the condition "
                "of PM-N3, which does not contain $\\alpha$.",
                hypotheses=(off >= 0, sp.Eq(det, one * two - off), det > 0, one + two > 0),
                conclusion=sp.And(one > 0, two > 0),
                uses=("negative roots",),
            ),
            *(_renamed(step) for step in shared),
            *_mirror_steps(),
        )
    )


def _mirror() -> list[Any]:
    """The velocities of (c, y) and (-c, y) along the tangents (-y, c) and (y, c), M = diag(m, 0): e^{m c^2} = E."""
    from eigentoken.proofs.steps.token_groups import push_groups

    tau, l1, l2 = sp.symbols("tau lambda_1 lambda_2", real=True)
    c, y = (1 - tau**2) / (1 + tau**2), 2 * tau / (1 + tau**2)
    parameters = {"V": [[l1, 0], [0, l2]], "M": [[sp.log(E) / c**2, 0], [0, 0]]}
    one, two = push_groups("attention-flow", parameters, [(1, (c, y)), (1, (-c, y))])
    return [one[1] * c - one[0] * y, two[1] * c + two[0] * y]


def _mirror_steps() -> tuple[Step, ...]:
    """On the boundary, p = q = 1: an invariant circle of states that leave."""
    tau, l1, l2, t, least, sine, cosine = sp.symbols("tau lambda_1 lambda_2 T T_0 S C", real=True)
    c, y = (1 - tau**2) / (1 + tau**2), 2 * tau / (1 + tau**2)
    speed = c * y * (l2 - l1 * (E**2 - 1) / (E**2 + 1))
    return (
        grouped(
            "mirror states",
            "Let $p = q = 1$ and $M = \\operatorname{diag}(s, 0)$ on $\\operatorname{span}(v_1, v_2)$. Two tokens at "
            "angles $\\theta$ and $\\pi - \\theta$, $\\tau = \\tan\\frac\\theta2$, have opposite angular velocities, "
            "so they stay mirror images; with $E = e^{s\\cos^2\\theta}$, $\\tanh(s\\cos^2\\theta) = (E^2-1)/(E^2+1)$:",
            _mirror,
            (speed, speed),
            r"\dot\theta = \sin\theta\cos\theta\Big(\lambda_2 - \lambda_1\frac{E^2-1}{E^2+1}\Big)",
        ),
        Inequality(
            name="they leave",
            says="If $\\lambda_2 = \\lambda_1\\tanh s$ with $s > 0$, then for $0 < \\theta < \\frac\\pi2$ the number "
            "$T = \\tanh(s\\cos^2\\theta)$ is below $T_0 = \\tanh s$, and $\\dot\\theta > 0$: the angle increases as "
            "long as it is below $\\frac\\pi2$ ($S = \\sin\\theta$, $C = \\cos\\theta$).",
            hypotheses=(l1 > 0, sp.Eq(l2, l1 * least), t < least, sine > 0, cosine > 0),
            conclusion=sine * cosine * (l2 - l1 * t) > 0,
            uses=("mirror states",),
        ),
    )


def boundary_speed() -> Sequence[Any]:
    """From the flow itself: V = diag(1, 1/2), M = diag(artanh 1/2, 0), tokens at the angles 0.1 and pi - 0.1."""
    import mpmath as mp

    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import system

    with mp.workdps(30):
        c, y = mp.cos(mp.mpf(1) / 10), mp.sin(mp.mpf(1) / 10)
        value, score = ((1, 0), (0, mp.mpf(1) / 2)), ((mp.atanh(mp.mpf(1) / 2), 0), (0, 0))
        algebra = LoopAlgebra(mp.exp, mp.sqrt, mp.mpf(1))
        velocity = system("attention-flow").advance(algebra, {"V": value, "M": score}, ((c, y), (-c, y)))
        return [velocity[0][1] * c - velocity[0][0] * y]


def _renamed(step: Identity | Inequality) -> Identity | Inequality:
    """The steps of PM-N3 from here on, with the names of this derivation."""
    from dataclasses import replace

    return replace(step, uses=tuple(each for each in step.uses if each in KNOWN))


KNOWN = frozenset({"definite", "k > 1, direction v_1"})

BETWEEN = Relation(sp.And(lam(V, k) < lam(V, 1), lam(V, k) > lam(V, d)))


def proof(kernel: Kernel) -> Proved:
    """The spectrum of CT-5 against the imaginary axis, by the sum and the product of its pairs of roots."""
    criterion = BipartiteCriterion(kernel, SPECTRUM)
    return kernel.conjunction(
        criterion.first(CRITERION_FIRST), criterion.last(CRITERION_LAST), criterion.between(BETWEEN)
    )


CT_6 = register(
    Statement(
        id="CT-6",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of PM-N3"),
        title="Stable bipartite points of the attention flow",
        systems=("attention-flow",),
        conditions=(Symmetric(V), SimpleTop(V), Relation(lam(V, 1) > 0), Relation(d >= 2), Relation(p >= q)),
        claims=(
            Iff(Stable(BipartiteAt(V, 1)), CRITERION_FIRST),
            Iff(Stable(BipartiteAt(V, d)), CRITERION_LAST),
            When(BETWEEN, Unstable(BipartiteAt(V, k))),
        ),
        depends=("CT-5", "PM-N3"),
        derive=derive,
        proof=proof,
        vectors=(Vector("angular velocity on the boundary at 0.1", boundary_speed, ("0.000408991737097312",)),),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"Above, $s = v_k(V)^{\top}Mv_k(V)$ at the point on $v_k$ ($k = 1$ where no other $k$ is named), "
                r"$t = \frac12\ln\frac pq$ and $h = (\cosh 2s - \cosh 2t)/\sinh 2s$, where $\cosh 2t = \frac p{2q} + "
                r"\frac q{2p}$.",
            ),
        ),
        variants=(
            Variant(
                "lambda_2 < lambda_1 h",
                "p = q = 1, V = diag(1, 1/2), tanh s = 1/3 < 1/2: unstable",
                lambda: point_is(
                    instance(
                        "attention-flow",
                        [["1", "0"], ["-1", "0"]],
                        V=[["1", "0"], ["0", "1/2"]],
                        M=[["1/2*ln(2)", "0"], ["0", "0"]],
                    ),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "s > 0",
                "p = q = 1, V = diag(1, 1/2), s = -ln 2: unstable",
                lambda: point_is(
                    instance(
                        "attention-flow",
                        [["1", "0"], ["-1", "0"]],
                        V=[["1", "0"], ["0", "1/2"]],
                        M=[["-ln(2)", "0"], ["0", "0"]],
                    ),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "q = 1 or s > t",
                "p = 3, q = 2, V = diag(1, -9/10), 0 < s < t: the side of two tokens expands",
                lambda: point_is(
                    instance("attention-flow", SIDE_EXPANDS["tokens"], V=SIDE_EXPANDS["V"], M=SIDE_EXPANDS["M"]),
                    "bipartite",
                    stable="unstable",
                ),
            ),
            Variant(
                "alpha |V| < 1",
                "a point that is stable for the flow and unstable for the map",
                FirstFailure(map_beyond_the_flow),
            ),
        ),
    )
)
