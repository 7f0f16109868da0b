"""CL-5: a leading eigenvalue with multiplicity: the remainder of the scores when the projection comes first.

Reference: Geshkovski-et-al-clusters, from a formalisation; the bound recorded there is false, the repaired one is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.score_remainder import REMAINDER, remainder
from eigentoken.proofs.clusters.sources import EUCLIDEAN_CLUSTERS, recorded
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    SourceKind,
    Statement,
    Vector,
)

T = sp.Symbol("t", real=True)
ROOT = sp.Matrix([[1, sp.Rational(1, 2)], [sp.Rational(1, 2), 1]])
FLOW = sp.diag(sp.exp(T), 1)
ON_LEADERS = sp.diag(1, 0)
FIRST, SECOND = sp.Matrix([0, 1]), sp.Matrix([0, 2])


def remainders() -> tuple[Any, Any]:
    """The recorded remainder ``r_2`` and the repaired one, of two stationary tokens: exactly, as functions of t."""
    moved = (ROOT * FLOW * FIRST).dot(ROOT * FLOW * (SECOND - FIRST))
    recorded_form = (ON_LEADERS * ROOT * FIRST).dot(ON_LEADERS * ROOT * (SECOND - FIRST))
    repaired = (ROOT * ON_LEADERS * FIRST).dot(ROOT * ON_LEADERS * (SECOND - FIRST))
    return tuple(sp.simplify(moved - sp.exp(2 * T) * each) for each in (recorded_form, repaired))


def remainder_grows() -> Verdict:
    """``r_2 = 5/4 - e^{2t}/4``: not ``O(e^{t})``."""
    wrong, right = remainders()
    if sp.simplify(wrong - (sp.Rational(5, 4) - sp.exp(2 * T) / 4)) == 0 and right == sp.Rational(5, 4):
        return holds("with the projection after A the remainder is 5/4 - e^{2t}/4, with the projection first it is 5/4")
    return fails(f"remainders {wrong}, {right}")


def projected_first(source: np.random.Generator) -> Mapping[str, float]:
    """``|r| <= C e^{(lambda + mu) t}`` with the C of the three cross terms, on random matrices of dimension 4."""
    basis = source.normal(size=(4, 4)) + 2 * np.eye(4)
    inverse = np.linalg.inv(basis)
    root, (z, w) = source.normal(size=(4, 4)), source.normal(size=(2, 4))
    project = basis @ np.diag([1.0, 1, 0, 0]) @ inverse
    t = source.uniform(0, 6)
    flow = basis @ np.diag(np.exp(t * np.array([1, 1, 0.5, 0.2]))) @ inverse
    rest = (root @ flow @ z) @ (root @ flow @ w) - np.exp(2 * t) * (root @ project @ z) @ (root @ project @ w)
    sizes = [np.linalg.norm(root @ part) for part in (project @ z, project @ w)]
    off = [np.linalg.norm(root @ (flow - np.exp(t) * project) @ part) for part in (z, w)]
    bound = np.exp(t) * (sizes[0] * off[1] + sizes[1] * off[0]) + off[0] * off[1]
    return {"three cross terms": float((abs(rest) - bound) / bound)}


CL_5 = register(
    Statement(
        id="CL-5",
        kind=Kind.LEMMA,
        source=recorded(EUCLIDEAN_CLUSTERS, "the mixed theorem, leading eigenvalue with multiplicity"),
        title="A leading eigenvalue with multiplicity: the remainder of the scores",
        systems=("token-flow",),
        claims=tuple(map(Formula, REMAINDER)),
        proof=remainder,
        depends=("CL-1",),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$\mathbb R^d = \mathcal F \oplus \mathcal G$ is invariant under $B$, $B = \lambda > 0$ on $\mathcal F$, the "
                r"spectral radius on $\mathcal G$ is below $\mu < \lambda$, and $\pi$ is the projection on $\mathcal F$ along "
                r"$\mathcal G$: for $x_i = e^{tB}z_i$ is $E = e^{\lambda t}$, $u_i = \pi z_i$ and $v_i = e^{tB}(z_i - \pi "
                r"z_i)$, of length at most $Ce^{\mu t}$. So the projection comes before $A$, where $W = A^{\top}A$.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"The theorem that needs it (every $z_i$ approaches $(\partial K \cup \{0\}) \times \mathcal G$ for a polytope "
                r"$K \subset \mathcal F$) is cited from the source.",
            ),
        ),
        printed=Printed(
            text=r"With $a_j = \langle\pi Az_i, \pi A(z_j - z_i)\rangle$ the remainder is $O(e^{(\lambda + \mu)t})$.",
            wrong=r"False: $\pi$ and $A$ do not commute.",
            kind=SourceKind.RECORDED,
            counterexamples=(
                Counterexample(
                    "two stationary tokens",
                    r"$B = \operatorname{diag}(1, 0)$, $A = (1, \frac12; \frac12, 1)$, tokens $(0, 1), (0, 2)$: the remainder is "
                    r"$\frac54 - \frac14e^{2t}$.",
                    {
                        "B": [["1", "0"], ["0", "0"]],
                        "A": [["1", "1/2"], ["1/2", "1"]],
                        "tokens": [["0", "1"], ["0", "2"]],
                    },
                    remainder_grows,
                ),
            ),
        ),
        vectors=(
            Vector(
                "remainders at t = 0",
                lambda: [each.subs(T, 0) for each in map(sp.sympify, remainders())],
                ("1", "1.25"),
            ),
        ),
        property_tests=(OnInstances(projected_first),),
    )
)
