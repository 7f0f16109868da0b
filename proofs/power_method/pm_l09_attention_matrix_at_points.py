"""PM-L9: the attention matrix at consensus and at bipartite points, its weights and its rank.

Reference: Li-Altafini, Lemma 9, eq. (13) (rank 2 needs s != 0; the rank of m-clusterings is false in general).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_e08_attention_map import OTHER, attention_weight
from eigentoken.proofs.power_method.pm_l12_jacobian_at_bipartite import LINE, ON_THE_LINE, WEIGHTS, sigma
from eigentoken.proofs.power_method.symbols import V, k, n, score
from eigentoken.proofs.properties.exact_points import instance
from eigentoken.proofs.steps.equations import TOKEN, Z, at_every_token, for_every
from eigentoken.theory.calculus import dot, one, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Implication
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.claims import AttentionRank, Iff
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt
from eigentoken.theory.language.verdicts import Verdict, all_of, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector

_Z, _V = vector(Z.name), vector(LINE.name)
#: All tokens at one vector.
_TOGETHER = for_every(sp.Eq(Tensor(dot(_Z, vector("x", TOKEN))), Tensor(dot(_Z, _V)), evaluate=False), TOKEN, Z)
#: Every weight is ``1/n``; and on a line the weights depend on M through ``s = v^T M v`` alone.
_UNIFORM = for_every(sp.Eq(Tensor(attention_weight()), 1 / n, evaluate=False), TOKEN, OTHER)
EQUAL = ForAll(LINE, TRUE, Implication(_TOGETHER, _UNIFORM))
ON_A_LINE = ForAll(LINE, TRUE, Implication(ON_THE_LINE, WEIGHTS))
_SCORED = Relation(sp.Ne(score(k), 0))
_BIPARTITE = BipartiteAt(V, k)
CLAIMS = (
    Formula(EQUAL),
    AttentionRank(ConsensusAt(V, k), 1),
    Formula(ON_A_LINE),
    Iff(AttentionRank(_BIPARTITE, 2), _SCORED),
    Iff(AttentionRank(_BIPARTITE, 1), Relation(sp.Eq(score(k), 0))),
)


def proof(kernel: Kernel) -> Proved:
    """Equals for equals in the weights; the rank of the matrix of the groups."""
    together, line = kernel.assume(_TOGETHER), kernel.assume(ON_THE_LINE)
    member = kernel.congruent(attention_weight(), "x", _V, TOKEN, together)
    even = kernel.arithmetic([member, kernel.factors(one() / n)], _UNIFORM.body.body)
    weights = kernel.congruent(attention_weight(), "x", sigma(TOKEN) * _V, TOKEN, line)
    shown = kernel.arithmetic([weights], WEIGHTS.body.body)
    ranks = kernel.attention_rank(_BIPARTITE)
    two, one_ = (kernel.part(ranks, each) for each in ranks.proposition.parts)
    return kernel.conjunction(
        kernel.generalise(LINE, kernel.discharge(_TOGETHER, at_every_token(kernel, even, TOKEN, OTHER))),
        kernel.attention_rank(ConsensusAt(V, k)),
        kernel.generalise(LINE, kernel.discharge(ON_THE_LINE, at_every_token(kernel, shown, TOKEN, OTHER))),
        kernel.restated(two, CLAIMS[3]),
        kernel.restated(one_, CLAIMS[4]),
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
        claims=CLAIMS,
        depends=("PM-L12",),
        proof=proof,
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
