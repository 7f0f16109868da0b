"""PM-N6: stable bipartite points are not rare, and their basins are not small in general.

New here, against the remarks in Li-Altafini, D.4.2 and D.5.  What is checked exactly: all splits of ten tokens are stable for
large scores.  The counts of random starts are observations.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.pm_n03_stable_bipartite_criterion import PM_N3
from eigentoken.proofs.power_method.symbols import E, V, lam, p, q, score
from eigentoken.proofs.power_method.symbols import k as INDEX
from eigentoken.proofs.properties.exact_points import instance, multipliers, point_is
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import Stable, When
from eigentoken.theory.language.conditions import AllOf, Relation
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.statements.steps import Computation, Derivation, Inequality

_V = [["1", "0", "0"], ["0", "1/4", "0"], ["0", "0", "1/8"]]


def _split(first: int, total: int, score: str) -> dict[str, Any]:
    scores = [[score if i == j else "0" for j in range(3)] for i in range(3)]
    tokens = [["1", "0", "0"]] * first + [["-1", "0", "0"]] * (total - first)
    return instance("attention-map", tokens, V=_V, M=scores, alpha="1/2")


@cache
def every_split() -> Verdict:
    """V = diag(1, 1/4, 1/8), M = (ln 20) I, alpha = 1/2, n = 10: all splits 1 <= p <= 9 are stable, exactly."""
    return all_of(
        {f"p = {first}": point_is(_split(first, 10, "ln(20)"), "bipartite", stable="stable") for first in range(5, 10)}
    )


def two_tokens(step: str) -> dict[str, Any]:
    """V = diag(1, -3), s = 10, one token on each side."""
    tokens = [["1", "0"], ["-1", "0"]]
    return instance("attention-map", tokens, V=[["1", "0"], ["0", "-3"]], M=[["10", "0"], ["0", "0"]], alpha=step)


def four_tokens() -> dict[str, Any]:
    """V = diag(1, -3), s = 20, two tokens on each side, alpha = 2."""
    tokens = [["1", "0"]] * 2 + [["-1", "0"]] * 2
    return instance("attention-map", tokens, V=[["1", "0"], ["0", "-3"]], M=[["20", "0"], ["0", "0"]], alpha="2")


def derive() -> Derivation:
    """Large scores stabilise every split whatever the gap; then the ten tokens."""
    gap, top, second, height = sp.symbols("g lambda_1 lambda_2 h", real=True)
    first, second = (p * E**2 - q) / (p * E**2 + q), (q * E**2 - p) / (q * E**2 + p)
    harmonic = 2 * first * second / (first + second)
    return Derivation(
        (
            Inequality(
                name="large scores",
                says="With $E = e^s$, $p \\geq q$ and $g = \\max(\\lambda_2, 0)/\\lambda_1$: if $q(1-g)E^2 > 2p$, the "
                "harmonic mean $h$ of PM-N3 exceeds $g$.",
                hypotheses=(p >= q, gap >= 0, gap < 1, q * (1 - gap) * E**2 > 2 * p),
                conclusion=harmonic > gap,
            ),
            Inequality(
                name="heights",
                says="Then $E^2 > p/q \\geq 1$, that is $s > t$ and $s > 0$.",
                hypotheses=(p >= q, gap >= 0, gap < 1, q * (1 - gap) * E**2 > 2 * p),
                conclusion=sp.And(p / q < E**2, E > 1),
                uses=("large scores",),
            ),
            Inequality(
                name="the criterion",
                says="So $\\lambda_2 < \\lambda_1h$, and these are the conditions of PM-N3 for linear stability on "
                "$v_1$, where $\\alpha\\lVert V\\rVert < 1$.",
                hypotheses=(top > 0, height > gap, sp.Eq(gap, sp.Max(second, 0) / top)),
                conclusion=second < top * height,
                uses=("large scores", "heights"),
            ),
            Computation(
                name="ten tokens",
                says="$V = \\operatorname{diag}(1, \\frac14, \\frac18)$, $M = (\\ln 20)I$, $\\alpha = \\frac12$, $n = "
                "10$: all nine splits on $v_1$ are asymptotically stable (those with $p < 5$ by exchanging the "
                "sides), by exact classification.",
                run=every_split,
                formula=r"p = 5, \dots, 9",
                scope="n = 10, d = 3, M = (ln 20) I",
            ),
        )
    )


def random_starts(instances: int, seed: int) -> Verdict:
    """Random starts for M = 10 I: how many end bipartite (observed in floating point, not proved)."""
    import numpy as np

    source = np.random.default_rng(seed)
    value, step, scale = np.diag([1.0, 0.25, 0.125]), 0.5, 10.0
    x = source.normal(size=(max(instances, 200), 10, 3))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    for _ in range(400):
        scores = scale * np.einsum("bid,bjd->bij", x, x)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        y = x + step * np.einsum("bij,bjd->bid", weights, x) @ value
        x = y / np.linalg.norm(y, axis=-1, keepdims=True)
    signs = np.sign(x[..., 0])
    bipartite = int(((np.abs(x[..., 0]) > 0.999).all(axis=1) & (np.abs(signs.sum(axis=1)) < 10)).sum())
    total = x.shape[0]
    reason = f"{bipartite} of {total} random starts end bipartite on v_1"
    return holds(reason) if 2 * bipartite > total else fails(reason)


_SQUARE = sp.exp(2 * score(1))
#: ``e^{2s} > 2p / (q (1 - g))`` with ``g = max(lambda_2, 0) / lambda_1``, without the quotients.
LARGE = AllOf((Relation(q * _SQUARE > 2 * p), Relation(q * (lam(V, 1) - lam(V, 2)) * _SQUARE > 2 * p * lam(V, 1))))


def proof(k: Kernel) -> Proved:
    """The criterion of PM-N3 at v_1, each of its parts by arithmetic in ``e^s``."""
    criterion = k.recall(PM_N3, letters={INDEX: sp.Integer(2)})  # what it says of v_k is not used
    first = k.part(criterion, criterion.proposition.parts[0])
    large = k.assume(LARGE)
    known = [large, k.given(p >= q), k.given(lam(V, 1) > 0)]
    parts = [k.arithmetic(known, each) for each in first.proposition.right.parts]
    return k.discharge(LARGE, k.modus_ponens(first, k.conjunction(*parts)))


PM_N6 = register(
    Statement(
        id="PM-N6",
        kind=Kind.EXTENSION,
        source=Source(HERE, "against Li-Altafini, D.4.2 and D.5"),
        title="Bipartite points are stable where scores are large",
        systems=("attention-map",),
        conditions=PM_N3.conditions,
        claims=(When(LARGE, Stable(BipartiteAt(V, 1))),),
        depends=("PM-N3",),
        derive=derive,
        proof=proof,
        printed=Printed(
            text=r"Stable bipartite points appear to be rare, and their basin of attraction is very small.",
            wrong=r"Not in general: for $M = (\ln 20)I$ every split of ten tokens is linearly stable; for $M = 10I$ "
            r"most random starts were seen to end bipartite.",
            kind=SourceKind.FORMALISED,
            counterexamples=(
                Counterexample(
                    "all splits stable",
                    r"$V = \operatorname{diag}(1, \frac14, \frac18)$, $M = (\ln 20)I$, $\alpha = \frac12$, $n = 10$: "
                    r"every split is asymptotically stable.",
                    _split(8, 10, "ln(20)"),
                    every_split,
                ),
            ),
        ),
        property_tests=(random_starts,),
        vectors=(
            Vector(
                "V = diag(1, -3), s = 10, alpha = 2", lambda: multipliers(two_tokens("2")), ("-1.6666666", "-1.6666666")
            ),
            Vector(
                "V = diag(1, -3), s = 10, alpha = 9/10",
                lambda: multipliers(two_tokens("9/10")),
                ("-0.8947368", "-0.8947368"),
            ),
        ),
        variants=(
            Variant(
                "alpha |V| < 1",
                "V = diag(1, -3), alpha = 2, with s = 10 and p = q = 1, and with s = 20 and p = q = 2: multipliers near -5/3",
                lambda: all_of(
                    {
                        name: point_is(document, "bipartite", stable="unstable")
                        for name, document in (("p = q = 1", two_tokens("2")), ("p = q = 2", four_tokens()))
                    }
                ),
            ),
        ),
    )
)
