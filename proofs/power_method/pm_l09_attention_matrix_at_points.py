"""PM-L9: the attention matrix at consensus and at bipartite points, its eigenvalues and its rank.

Reference: Li-Altafini, Lemma 9, eq. (13) (rank 2 needs s != 0; the rank of m-clusterings is false in general).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.bipartite import written_determinant, written_trace
from eigentoken.proofs.power_method.symbols import (
    B1,
    B2,
    Z1,
    Z2,
    E,
    S,
    T,
    V,
    any_score,
    b1,
    b2,
    bbar,
    k,
    n,
    p,
    q,
    score,
)
from eigentoken.proofs.properties.exact_points import instance
from eigentoken.proofs.steps.reductions import grouped
from eigentoken.theory.language.claims import AttentionRank, When
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality


def _weights(groups: list[Any], first: Any) -> Any:
    def run() -> list[Any]:
        from eigentoken.proofs.steps.token_groups import attention_groups

        return [entry for row in attention_groups(any_score(2, first), groups) for entry in row]

    return run


def derive() -> Derivation:
    """The weights from the definition of attention; their eigenvalues in s and t; the sign of the second one."""
    rows = sp.Matrix([[(1 + b1) / 2, (1 - b1) / 2], [(1 - b2) / 2, (1 + b2) / 2]])
    named = {E: sp.exp(S), p: q * sp.exp(2 * T)}
    size = sp.Symbol("E", positive=True)
    return Derivation(
        (
            grouped(
                "consensus",
                "All tokens equal: whatever the scores, a token pays the total attention 1 to the $n$ tokens, $1/n$ to "
                "each.",
                _weights([(1, (1, 0)), (n - 1, (1, 0))], S),
                (1 / n, (n - 1) / n, 1 / n, (n - 1) / n),
                r"a_{ij} = <1>",
            ),
            grouped(
                "bipartite",
                "With $E = e^s$, $s = v_k^{\\top} M v_k$: the attention of a token at $v_k$ to the $p$ tokens there "
                "and to the $q$ tokens at $-v_k$, and of a token at $-v_k$ to both groups.",
                _weights([(p, (1, 0)), (q, (-1, 0))], sp.log(E)),
                (p * E / Z1, q / E / Z1, p / E / Z2, q * E / Z2),
                r"<1>, \quad <2>; \qquad <3>, \quad <4>",
                establishes=("the attention matrix at a bipartite point",),
            ),
            Identity(
                name="height of the first side",
                says="The difference of the two weights of the first side, with $t = \\frac12\\ln(p/q)$.",
                left=B1.subs(named),
                right=sp.tanh(S + T),
                uses=("bipartite",),
            ),
            Identity(
                name="height of the second side",
                says="Likewise for the second side.",
                left=B2.subs(named),
                right=sp.tanh(S - T),
                uses=("bipartite",),
            ),
            Identity(
                name="trace",
                says="The quotient matrix $\\big(\\begin{smallmatrix}(1+b_1)/2 & (1-b_1)/2 \\\\ (1-b_2)/2 & "
                "(1+b_2)/2\\end{smallmatrix}\\big)$ has the eigenvalues $1$ and $\\bar b = (b_1+b_2)/2$: this is the "
                "trace.",
                left=written_trace(rows),
                right=1 + bbar,
            ),
            Identity(
                name="determinant",
                says="This is the determinant. All other eigenvalues of $A$ are 0: zero-sum vectors of a side are in "
                "its kernel.",
                left=written_determinant(rows),
                right=bbar,
            ),
            Identity(
                name="second eigenvalue",
                says="In $s$ and $t$.",
                left=(sp.tanh(S + T) + sp.tanh(S - T)) / 2,
                right=sp.sinh(2 * S) / (2 * sp.cosh(S + T) * sp.cosh(S - T)),
                uses=("height of the first side", "height of the second side"),
            ),
            Inequality(
                name="rank",
                says="It is zero exactly for $s = 0$ ($E = 1$): the rank is 2 iff $s \\neq 0$, and 1 for $s = 0$.",
                hypotheses=(sp.Eq((p * size**2 - q) / (p * size**2 + q) + (q * size**2 - p) / (q * size**2 + p), 0),),
                conclusion=sp.Eq(size, 1),
                uses=("trace", "determinant"),
            ),
            Inequality(
                name="rank, converse",
                says="And for $E = 1$ it is zero.",
                hypotheses=(sp.Eq(size, 1),),
                conclusion=sp.Eq((p * size**2 - q) / (p * size**2 + q) + (q * size**2 - p) / (q * size**2 + p), 0),
            ),
        )
    )


SKEW = instance(
    "attention-map", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "1/2"]], M=[["0", "1"], ["-1", "0"]], alpha="1/4"
)


def rank_one() -> Verdict:
    """A skew M has s = 0: the attention matrix at a bipartite point has rank 1."""
    from eigentoken.theory.classification.classify import classify
    from eigentoken.theory.classification.instances import read_instance

    found = classify(read_instance(SKEW))
    if found.kind != "bipartite":
        return fails(f"the point is {found.kind}")
    return holds("bipartite, rank 1") if found.attention_rank == (1,) else fails(f"rank {found.attention_rank}")


# TV15: a clustering of three directions whose attention matrix has rank 2.  With C = cosh(3/2) and
# M = diag(-4 ln C, 2) the scores give a_11 = 1/(1 + 2 C^2), and V_22 is chosen so that each u_i is parallel to x_i.
def _three_clusters() -> dict[str, Any]:
    cosh = sp.cosh(sp.Rational(3, 2)).rewrite(sp.exp)
    tokens = sp.Matrix([[1, 0], [sp.Rational(1, 2), sp.sqrt(3) / 2], [sp.Rational(1, 2), -sp.sqrt(3) / 2]])
    score_matrix = sp.diag(-4 * sp.log(cosh), 2)
    numerators = (tokens * score_matrix * tokens.T).applyfunc(lambda each: sp.exp(sp.expand(each)))
    rows = sp.Matrix(3, 3, lambda i, j: numerators[i, j] / sum(numerators[i, :]))
    value = sp.diag(1, (1 + rows[1, 0]) / (rows[1, 1] - rows[1, 2]))
    heights = [(value * (rows * tokens).T)[:, i].dot(tokens[i, :]) for i in range(3)]
    return {"tokens": tokens, "M": score_matrix, "A": rows, "numerators": numerators, "V": value, "c": heights}


def three_clusters_have_rank_two() -> Verdict:
    """det A = 0, the three directions differ, u_i = c_i x_i with c_i > 0, and V satisfies PM-A1: all exactly."""
    from eigentoken.theory.proving.ball_evaluation import sign
    from eigentoken.theory.proving.normal_form import identity_verdict

    found = _three_clusters()
    push = found["V"] * (found["A"] * found["tokens"]).T
    parts: dict[str, Verdict] = {"det A = 0": identity_verdict(found["numerators"].det(method="berkowitz"), 0)}
    for i in range(3):
        x = found["tokens"][i, :]
        parts[f"u_{i + 1} parallel to x_{i + 1}"] = identity_verdict(push[0, i] * x[1] - push[1, i] * x[0], 0)
        good = sign(found["c"][i]) == 1
        parts[f"c_{i + 1} > 0"] = holds("a ball excludes 0") if good else fails("not positive")
    minor = found["numerators"][:2, :2].det()
    parts["rank 2"] = holds("a 2 x 2 minor is not zero") if sign(minor) in (1, -1) else fails("a minor vanishes")
    gap = sign(found["V"][1, 1] - 1)
    parts["PM-A1"] = holds("lambda_1 = V_22 > 1") if gap == 1 else fails("V_22 is not above 1")
    return all_of(parts)


def tv15_numbers() -> Sequence[Any]:
    """m_11, V_22, the first two rows of A, and the heights c."""
    found = _three_clusters()
    listed = [found["M"][0, 0], found["V"][1, 1], *found["A"][0, :], *found["A"][1, :], *found["c"]]
    return [sp.N(each, 30) for each in listed]


def tv15_spectrum() -> Sequence[Any]:
    """The multipliers at alpha = 1/10, from balls."""
    return _ball_multipliers(_three_clusters(), sp.Rational(1, 10))


def _ball_multipliers(found: dict[str, Any], step: Any) -> list[Any]:
    """Eigenvalues of the intrinsic Jacobian at a planar state given by sympy closed forms."""
    from flint import acb_mat, arb, ctx

    from eigentoken.theory.classification.jacobians import Jet
    from eigentoken.theory.proving.ball_evaluation import evaluate
    from eigentoken.theory.systems.algebra import LoopAlgebra
    from eigentoken.theory.systems.catalogue import SYSTEMS

    before = ctx.dps
    ctx.dps = 50
    try:

        def ball(value: Any) -> Any:
            return evaluate(value, 50).real

        def lifted(function: Any, slope: Any) -> Any:
            def run(number: Any) -> Any:
                value = function(number.value)
                return Jet(value, {key: each * slope(value) for key, each in number.slopes.items()})

            return run

        algebra = LoopAlgebra(
            lifted(lambda z: z.exp(), lambda z: z), lifted(lambda z: z.sqrt(), lambda z: 1 / (2 * z)), arb(1)
        )
        tokens = [[ball(entry) for entry in found["tokens"][i, :]] for i in range(found["tokens"].rows)]
        state = tuple((Jet(a, {i: -b}), Jet(b, {i: a})) for i, (a, b) in enumerate(tokens))  # moved along the circle
        matrices = {name: [[ball(found[name][i, j]) for j in range(2)] for i in range(2)] for name in ("V", "M")}
        after = SYSTEMS["attention-map"].advance(algebra, {**matrices, "alpha": ball(step)}, state)
        zero = arb(0)
        rows = [
            [x.slopes.get(j, zero) * -b + y.slopes.get(j, zero) * a for j in range(len(tokens))]
            for (a, b), (x, y) in zip(tokens, after, strict=True)
        ]
        return sorted((each.real for each in acb_mat(rows).eig(multiple=True)), key=lambda each: float(each.mid()))
    finally:
        ctx.dps = before


PM_L9 = register(
    Statement(
        id="PM-L9",
        kind=Kind.LEMMA,
        source=Source(LI_ALTAFINI, "Lemma 9, eq. (13)"),
        title="The attention matrix at consensus and at bipartite points",
        systems=("attention-map",),
        conditions=(Symmetric(V),),
        claims=(
            AttentionRank(ConsensusAt(V, k), 1),
            When(Relation(sp.Ne(score(k), 0)), AttentionRank(BipartiteAt(V, k), 2)),
        ),
        text=(
            r"At consensus $A = \frac1n \mathbf 1\mathbf 1^{\top}$. At a bipartite point, with $s = v_k^{\top}Mv_k$, "
            r"$t = \frac12\ln(p/q)$, the weights are $\frac{e^{s}}{Z_1}, \frac{e^{-s}}{Z_1}$ ($Z_1 = pe^s + qe^{-s}$) "
            r"for the first side and $\frac{e^{-s}}{Z_2}, \frac{e^{s}}{Z_2}$ ($Z_2 = qe^s + pe^{-s}$) for the second; "
            r"the total weights are $\frac{1 \pm b_1}{2}$ and $\frac{1 \mp b_2}{2}$ with $b_1 = \tanh(s+t)$, $b_2 = "
            r"\tanh(s-t)$. The nonzero eigenvalues of $A$ are $1$ and $\bar b = \frac{\sinh "
            r"2s}{2\cosh(s+t)\cosh(s-t)}$: the rank is 2 iff $s \neq 0$. At an $m$-clustering with directions $\xi_a$ "
            r"the rank is that of $(e^{\xi_a^{\top}M\xi_b})_{a,b \leq m}$, generically $m$ but not always."
        ),
        derive=derive,
        claims_from=(("consensus",), ("rank", "rank, converse")),
        prose_from=("second eigenvalue",),
        printed=Printed(
            text=r"The rank of $A$ is 1 at consensus, 2 at bipartite consensus, and $m$ at an $m$-clustering "
            r"equilibrium.",
            wrong=r"At a bipartite point with $s = 0$ the rank is 1; and some $m$-clusterings have rank below $m$.",
            counterexamples=(
                Counterexample(
                    "skew M",
                    r"$M$ skew, $x = (e_1, -e_1)$: $s = 0$ and all weights are $\frac12$.",
                    SKEW,
                    rank_one,
                ),
                Counterexample(
                    "TV15",
                    r"$\xi = (1,0), (\frac12, \pm\frac{\sqrt3}{2})$, $M = \operatorname{diag}(-4\ln\cosh\frac32, 2)$, "
                    r"$V = \operatorname{diag}(1, V_{22})$ with $V_{22} = (1 + a_{21})/(a_{22} - a_{23})$: a "
                    r"3-clustering with $\det A = 0$, rank 2, for every $\alpha > 0$.",
                    {
                        "system": "attention-map",
                        "M": "diag(-4 ln cosh(3/2), 2)",
                        "V": "diag(1, (1+a21)/(a22-a23))",
                        "n": 3,
                    },
                    three_clusters_have_rank_two,
                ),
            ),
        ),
        vectors=(
            Vector(
                "TV15, M, V, A, c",
                tv15_numbers,
                (
                    "-3.42176068405519",
                    "1.30443453232016",
                    "0.0828660928976864",
                    "0.458566953551157",
                    "0.458566953551157",
                    "0.0828660928976864",
                    "0.873638030737233",
                    "0.0434958763650806",
                    "0.541433046448843",
                    "1.08286609289769",
                    "1.08286609289769",
                ),
            ),
            Vector("TV15, spectrum", tv15_spectrum, ("1.01356599439203", "1.03973843594174", "1.10444814757400")),
        ),
        variants=(Variant("s != 0", "a skew M gives rank 1 at a bipartite point", rank_one),),
    )
)
