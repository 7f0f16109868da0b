"""CL-4: the identity as value matrix: the hulls are nested, and limits lie on faces of the last one.

Reference: Geshkovski-et-al-clusters, from a formalisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.bounds.head_map import row
from eigentoken.proofs.clusters.needed import values_above_one_grow
from eigentoken.proofs.clusters.sources import EUCLIDEAN_CLUSTERS, recorded
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.token_fields import attention, euclidean, rescaled, run
from eigentoken.proofs.steps.tensor_reductions import velocity
from eigentoken.theory.calculus import Index, dot, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.conditions import IsIdentity
from eigentoken.theory.language.terms import matrix
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
    Variant,
    Vector,
)

B = matrix("B")
_W, _I, _J = VectorLetter("w"), Index("token", "i"), Index("token", "j")
_OWN, _TOP = (dot(vector("w"), vector("x", each)) for each in (_I, _J))
#: ``w^T x_i' <= w^T x_i`` for the token that is highest along w: along every direction the rescaled hull does not grow.
HULLS = ForAll(
    _W,
    TRUE,
    ForAll(
        _I,
        ForAll(_J, TRUE, proposition(sp.Le(Tensor(_TOP), Tensor(_OWN), evaluate=False))),
        proposition(sp.Le(Rate(_OWN), Tensor(_OWN), evaluate=False)),
    ),
)


def hulls(k: Kernel) -> Proved:
    """A proof of :data:`HULLS`: ``w^T x_i - w^T x_i' = sum_j a_ij (w^T x_i - w^T x_j)``, none of them negative."""
    guard, weights, other = HULLS.body.guard, row(_I), _TOP
    below = k.instantiate(k.assume(guard), _J)
    gap, weight = _OWN - other, weights.weight(_J)
    known = [below, k.total(_OWN, -other), k.scaling(other, -1), k.product(weight, gap), k.positive(weight)]
    term = k.arithmetic(known, sp.Ge(Tensor(weight * gap), 0, evaluate=False))
    moved = k.increment(_OWN)
    mean = (weight * other).summed(_J)
    written = k.reduction(moved.proposition.word.relation.rhs.expression, mean, k.given(IsIdentity(B)))
    total = [k.summed(k.generalise(_J, term)), k.reduction((weight * gap).summed(_J), _OWN - mean), k.scaling(one(), 0)]
    total += [k.total(_OWN, -mean), k.scaling(mean, -1), moved, written]
    found = k.arithmetic(total, HULLS.body.body)
    return k.generalise(_W, k.generalise(_I, found, guard))


SCORE = np.array([[2, 0.5], [0.5, 1]])
TOKENS = np.array([[1, 0.2], [-0.6, 0.9], [-0.3, -1.1], [0.2, 0.1], [0.5, -0.4]])


def late_vertices() -> list[float]:
    """The first three tokens, which are the vertices in the limit, at t = 12, and the fourth at t = 2."""
    two, late = run(lambda t, z: rescaled(z, t, np.eye(2), SCORE), TOKENS, [2.0, 12.0])
    return [float(each) for each in (*late[:3].ravel(), *two[3])]


def edge_middle() -> list[float]:
    """Tokens ``(1, +-1), (1/2, 0)`` by their exact symmetry: the limit of the third token, and the height of the edge."""

    def field(t: float, state: Any) -> Any:
        a, h, b = state.ravel()
        z = np.array([[a, h], [a, -h], [b, 0.0]])
        speed = rescaled(z, t, np.eye(2), np.eye(2))
        return np.array([[speed[0, 0], speed[0, 1], speed[2, 0]]])

    (end,) = run(field, np.array([[1.0, 1.0, 0.5]]), [32.0])
    return [float(end[0, 2]), float(end[0, 0]), float(end[0, 1])]


def token_on_the_axis_stays_there() -> Verdict:
    """Tokens ``(a, +-h), (b, 0)``: the third has no vertical velocity, and for b < a it moves towards a: its limit is on the
    axis, and no vertex of the segment with ends ``(a, +-h)``."""
    a, b, h = sp.symbols("a b h", positive=True)
    one = ((sp.Integer(1), sp.Integer(0)), (sp.Integer(0), sp.Integer(1)))
    speed = velocity("token-flow", {"B": one, "W": one}, ((a, h), (a, -h), (b, sp.Integer(0))))
    inward = sp.simplify((speed[2][0] - b).subs({a: 1, b: sp.Rational(1, 2)}))
    if sp.simplify(speed[2][1]) == 0 and bool(inward > 0) and sp.simplify(speed[0][1] + speed[1][1]) == 0:
        return holds("the third token stays on the axis, which no vertex meets")
    return fails(f"velocity {speed}")


def nested(source: np.random.Generator) -> Mapping[str, float]:
    """Along every functional the largest rescaled coordinate does not rise, for any P."""
    n, d = int(source.integers(2, 6)), int(source.integers(1, 5))
    z, score, t = source.normal(size=(n, d)), source.normal(size=(d, d)) * 2, source.uniform(0, 2)
    rates = rescaled(z, t, np.eye(d), score)
    along = source.normal(size=d)
    heights = z @ along
    return {"the hull grows": float((rates @ along)[heights.argmax()])}


def faces(source: np.random.Generator) -> Mapping[str, float]:
    """``P = I``: a fixed point x of the limiting inclusion is the projection of 0 on the face where ``x^T P .`` is largest."""
    points = source.normal(size=(int(source.integers(2, 5)), 2)) + source.normal(size=2)
    edge = points[:2]
    along = edge[1] - edge[0]
    foot = edge[0] - along * (edge[0] @ along) / (along @ along)
    return {
        "the foot of 0 on an edge has equal scores with its ends": abs(float(foot @ along)),
        "and they are |x|^2": abs(float(foot @ edge[0] - foot @ foot)),
    }


def mass_on_the_best(source: np.random.Generator) -> Mapping[str, float]:
    """The weight off the largest score is at most n exp(-gap)."""
    n, d = int(source.integers(2, 6)), int(source.integers(1, 4))
    x, score = source.normal(size=(n, d)) * 2, source.normal(size=(d, d))
    weights, scores = attention(x, score), x @ score @ x.T
    best = scores.argmax(axis=1)
    second = np.where(np.arange(n) == best[:, None], -np.inf, scores).max(axis=1)
    off = 1 - weights[np.arange(n), best]
    return {"weight off the best": float((off - n * np.exp(second - scores.max(axis=1))).max())}


def negative_scores_meet(source: np.random.Generator) -> Mapping[str, float]:
    """``B = I``, ``W = -c I``: no distance ``|x_i - x_j|`` grows, so all rescaled tokens tend to one point."""
    n, d = int(source.integers(1, 6)), int(source.integers(1, 5))
    x = source.normal(size=(n, d)) * float(source.choice([0.3, 1.0, 3.0]))
    speed = euclidean(x, np.eye(d), -float(source.uniform(0.1, 2)) * np.eye(d))
    apart, moved = x[:, None] - x[None], speed[:, None] - speed[None]
    return {"a distance grows": float(np.sum(apart * moved, axis=2).max())}


CL_4 = register(
    Statement(
        id="CL-4",
        kind=Kind.THEOREM,
        source=recorded(EUCLIDEAN_CLUSTERS, "the identity as value matrix"),
        title="Value matrix a multiple of the identity: nested hulls, limits on faces",
        systems=("token-flow",),
        conditions=(IsIdentity(B),),
        claims=(Formula(HULLS),),
        proof=hulls,
        depends=("CL-1",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"For $W = -cI$, $c > 0$, no distance of two tokens grows (PH-T1), so all $z_i$ tend to one point. For $W "
                r"\succ 0$ "
                r"that is not symmetric only (a) and (b) are known.",
            ),
            Remark(
                RemarkKind.CONVENTION,
                r"(a) For every $W$ the convex hull of the rescaled tokens $z_i = e^{-t}x_i$ is nested decreasing: along every "
                r"direction $w$ the highest token has $\frac{d}{dt}e^{-t}w^{\top}x_i \le 0$. CL-1 says it for all times.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"(b) If all $z_i$ converge, every limit $p$ satisfies $p^{\top}Wp = \max_jp^{\top}Wz_j(\infty)$, for every "
                r"$W$. (c) For $W = W^{\top} \succ 0$ and a polytope $K$ with vertices $v_j$ the set of the $x$ in $K$ with "
                r"$x^{\top}Wx = \max_jx^{\top}Wv_j$ is finite, in $\partial K \cup \{0\}$ (in $\mathbb R^d$): "
                r"at most one point for each face, the $W$-orthogonal projection of $0$ on its affine hull. Both are written "
                r"out and tried on instances. (d) That every $z_i$ converges for $W = W^{\top} \succ 0$, and that all vertices "
                r"of the last hull are such points, is cited from the source.",
            ),
        ),
        printed=Printed(
            text="The tokens tend to the vertices of a convex polytope.",
            wrong="False for some starts: a token may tend to the middle of an edge. The recorded theorem says the boundary, "
            "which must be read in $\\mathbb R^d$ and not relative to the polytope.",
            kind=SourceKind.SUMMARISED,
            counterexamples=(
                Counterexample(
                    "the middle of an edge",
                    "$B = W = I$, tokens $(1, \\pm1), (\\frac12, 0)$: the third stays on the axis and tends to the middle "
                    "$(0.9759\\ldots, 0)$ of the edge.",
                    {
                        "system": "token-flow",
                        "B": [["1", "0"], ["0", "1"]],
                        "W": [["1", "0"], ["0", "1"]],
                        "tokens": [["1", "1"], ["1", "-1"], ["1/2", "0"]],
                    },
                    token_on_the_axis_stays_there,
                ),
            ),
        ),
        vectors=(
            Vector(
                "vertices in the limit, and z_4(2)",
                late_vertices,
                (
                    *("0.928816743260", "0.166906865306", "-0.381381163368", "0.632989893644", "-0.262912485068"),
                    *("-1.006501230376", "0.767824333426", "0.137470552010"),
                ),
            ),
            Vector("the middle of an edge", edge_middle, ("0.975900016019", "0.975900016019", "0.894012982322")),
        ),
        variants=(Variant("IsIdentity(B)", "$B = 2I$: equal tokens leave the rescaled hull.", values_above_one_grow),),
        property_tests=(
            OnInstances(nested),
            OnInstances(faces),
            OnInstances(mass_on_the_best),
            OnInstances(negative_scores_meet),
        ),
    )
)
