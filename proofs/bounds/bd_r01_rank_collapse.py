"""BD-R1, BD-R2, BD-R4, BD-M1, BD-M2: how fast attention without a skip collapses, its basin, the skip, and masks with a root.

New here: own derivations.

``omega_ij = osc_l (s_il - s_jl) <= |P| |x_i - x_j| D``, in which all biases cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.bounds.depth import DEPTH, depth
from eigentoken.proofs.bounds.diameters import CONTRACTED, SKIP, contracted, skip
from eigentoken.proofs.bounds.head_map import COLLAPSE, collapse
from eigentoken.proofs.bounds.heads import diameter, norm, random_head, softmax, variation
from eigentoken.proofs.bounds.shared_mass import CHAIN, SINK, chain, sink
from eigentoken.proofs.properties.checks import OnInstances, above, gap
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    SourceKind,
    Statement,
    Variant,
    Vector,
)


def two_tokens_of_a_head(source: np.random.Generator) -> Mapping[str, float]:
    """BD-R1 at every pair, in diameters, from the norms alone; biases do not enter omega."""
    head = random_head(source, masks=False)
    f, omega, D = head.output, head.omega(), diameter(head.x)
    pairs = [
        above(np.tanh(omega[i, j] / 4) * diameter(head.x @ head.U.T), np.linalg.norm(f[i] - f[j]))
        for i in range(head.n)
        for j in range(head.n)
    ]
    size, reach = norm(head.U), norm(head.P) * D**2 / 4
    plain = replace(head, bias=np.zeros_like(head.bias))
    return {
        "pairs": max(pairs),
        "diameter": above(size * D * np.tanh(reach), diameter(f)),
        "cubic": above(size * D * reach, diameter(f)),
        "biases": gap(omega, plain.omega()),
    }


def several_heads(source: np.random.Generator) -> Mapping[str, float]:
    """BD-R1 for heads with a common output matrix, and BD-R4 with a skip."""
    n, d, h = int(source.integers(2, 6)), int(source.integers(2, 5)), int(source.integers(1, 4))
    x = source.normal(size=(n, d)) * source.choice([0.2, 1.0])
    P, V, O = source.normal(size=(h, d, d)), source.normal(size=(h, d, d)), source.normal(size=(h, d, d))
    heads = [
        replace(
            random_head(source, masks=False),
            x=x,
            P=P[k],
            U=V[k],
            bias=source.normal(size=d),
            mask=np.ones((n, n), dtype=bool),
        )
        for k in range(h)
    ]
    f = sum(head.output @ O[k].T for k, head in enumerate(heads))
    parts = [np.tanh(head.omega().max() / 4) * diameter(x @ V[k].T) for k, head in enumerate(heads)]
    bound = norm(np.concatenate(list(O), axis=1)) * np.sqrt(np.sum(np.square(parts)))
    D = diameter(x)
    skip = D * sum(norm(O[k] @ V[k]) * np.tanh(norm(P[k]) * D**2 / 4) for k in range(h))
    return {"heads": above(bound, diameter(f)), "skip": above(skip, abs(diameter(x + f) - D))}


def basin_radius(U: Any, P: Any) -> Any:
    """``D* = sqrt(4 artanh(1/|U|)/|P|)``."""
    return mp.sqrt(4 * mp.atanh(1 / mp.mpf(U)) / P)


def recursion(source: np.random.Generator) -> Mapping[str, float]:
    """BD-R2: orbits of the pair from both sides of D*, and the closed bound."""
    U, P = float(source.uniform(1.05, 4)), float(source.uniform(0.2, 3))
    star = float(basin_radius(U, P))

    def step(D: float) -> float:
        return float(U * D * np.tanh(P * D * D / 4))

    low, high = star * float(source.uniform(0.1, 0.999)), star * float(source.uniform(1.001, 2))
    D, bound = low, []
    for k in range(1, 4):
        D = step(D)
        bound.append(above((U * P / 4) ** ((3**k - 1) / 2) * low ** (3**k), D))
    small, free = float(source.uniform(0, 1)), float(source.uniform(0.1, 9))
    return {
        "fixed": gap(step(star), star),
        "falls": above(low, step(low)),
        "rises": above(step(high), high),
        "closed form": max(bound),
        "no basin": above(free, small * free * np.tanh(P * free * free / 4)),
    }


def sinks(source: np.random.Generator) -> Mapping[str, float]:
    """BD-M1: a causal head, its first column, and the bound on it from the scores."""
    head = replace(random_head(source), bias=np.zeros(1))
    n = head.n
    head = replace(head, mask=np.tril(np.ones((n, n), dtype=bool)))
    A = head.weights
    least = float(A[:, 0].min())
    seen = [row[: i + 1] for i, row in enumerate(head.scores)]
    width = max(float(each.max() - each.min()) for each in seen)
    pairs = [variation(A[i], A[j]) for i in range(n) for j in range(n)]
    return {
        "variation": above(1 - least, max(pairs)),
        "diameter": above(norm(head.U) * (1 - least) * diameter(head.x), diameter(head.output)),
        "least": above(least, 1 / (1 + (n - 1) * np.exp(width))),
    }


def windows(source: np.random.Generator) -> Mapping[str, float]:
    """BD-M2: products of sliding causal windows have a first column of at least ``eps^r``."""
    n, w = int(source.integers(3, 8)), int(source.integers(2, 4))
    r = -(-(n - 1) // (w - 1))
    i, j = np.indices((n, n))
    mask = (j <= i) & (j > i - w)
    layers = [softmax(np.where(mask, source.normal(size=(n, n)), -np.inf)) for _ in range(r)]
    eps = min(float(A[mask].min()) for A in layers)
    product = np.linalg.multi_dot(layers[::-1]) if r > 1 else layers[0]
    pairs = [variation(product[a], product[b]) for a in range(n) for b in range(n)]
    return {"column": above(product[:, 0].min(), eps**r), "variation": above(1 - eps**r, max(pairs))}


def _orbit() -> list[Any]:
    """``n = 2``, upsilon = 3/2, pi = 1, D_0 = 1: three steps of the pair itself, and D* for |U| = 3."""
    with mp.workdps(40):
        x, found = [mp.mpf(1) / 2, -mp.mpf(1) / 2], []
        for _ in range(3):
            rows = []
            for a in x:
                weights = [mp.exp(a * b) for b in x]
                rows.append(mp.mpf(3) / 2 * sum(w * b for w, b in zip(weights, x, strict=True)) / sum(weights))
            x = rows
            found.append(x[0] - x[1])
        return [basin_radius(3, 1), *found]


def _stays() -> list[Any]:
    """``P = 1``, ``U = 2``, ``x = +- sqrt(2 ln 3)/2``: the token, and what the head makes of it."""
    x = sp.sqrt(2 * sp.log(3)) / 2
    up, down = sp.exp(sp.expand(x * x)), sp.exp(sp.expand(-x * x))
    return [x, sp.simplify(2 * (up - down) / (up + down)) * x]


def _never_collapses() -> Verdict:
    x, image = _stays()
    same = sp.simplify(x - image) == 0
    return holds(f"f(x) = x = {sp.N(x, 15)}") if same else fails(f"{x} becomes {image}")


def _causal_pair() -> Verdict:
    """``n = 2``, ``P = 0``, ``U = 1``, causal: D becomes D/2, the bound of BD-R1 is 0."""
    x = sp.Matrix([0, 1])
    f = sp.Matrix([x[0], (x[0] + x[1]) / 2])
    return holds(f"D(f) = {f[1] - f[0]} > 0 = tanh(0)") if f[1] - f[0] > 0 else fails("no difference")


def _an_eighth() -> Verdict:
    """``1/8`` for ``1/4``: the pair with P = U = 1 and D = 1 attains ``tanh(1/4)``."""
    attained, bound = sp.tanh(sp.Rational(1, 4)), sp.tanh(sp.Rational(1, 8))
    return holds(f"{sp.N(attained, 8)} > {sp.N(bound, 8)}") if attained > bound else fails("not exceeded")


def _nilpotent() -> Verdict:
    """U nilpotent has spectral radius 0; a pair with D(UX) > 0 and unequal weights has f_1 != f_2."""
    U, x = sp.Matrix([[0, 1], [0, 0]]), sp.Matrix([[0, 1], [0, -1]])
    up, down = sp.exp(1), sp.exp(-1)
    first = (up * x[0, :] + down * x[1, :]) / (up + down) * U.T
    gap_of = sp.simplify(2 * first[0, 0])
    return holds(f"D(f) = {sp.N(gap_of, 8)} > 0") if gap_of > 0 else fails(str(gap_of))


def _no_self_loops() -> Verdict:
    """Without self-loops "at most r steps" is not enough: two tokens that look at each other never mix."""
    A = sp.Matrix([[0, 1], [1, 0]])
    return holds("A A = I has the variation 1") if sp.eye(2) == A * A else fails(str(A * A))


BD_R1 = register(
    Statement(
        id="BD-R1",
        kind=Kind.EXTENSION,
        source=Source(HERE, "without the constants of Dong-Cordonnier-Loukas, whose printed form was not read"),
        title="Pure attention contracts diameters",
        systems=("token-flow",),
        claims=(Formula(COLLAPSE),),
        proof=collapse,
        depends=("BD-S2",),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"So $|f_i - f_j| \le \tanh(\frac14\omega_{ij})\,D(UX)$ with $\omega_{ij} = \max_{l,m}(x_i - x_j)^{\top}P(x_l - "
                r"x_m)$, with equality for two opposite tokens and multiples of the identity. For $H$ heads $D(f) \le \lVert "
                r"O\rVert\bigl(\sum_h\tanh^2(\frac14\omega^h)D(V_hX)^2\bigr)^{1/2}$; biases change nothing: seen on random "
                r"heads.",
            ),
        ),
        property_tests=(OnInstances(two_tokens_of_a_head), OnInstances(several_heads)),
        vectors=(
            Vector(
                "TV-R2: D* for |U| = 3, |P| = 1; three steps of the equality case",
                _orbit,
                ("1.17741002251547", "0.367377993605564", "0.018586854996231", "0.00000240795850762"),
            ),
        ),
        variants=(
            Variant("no mask", "causal, n = 2, P = 0: D becomes D/2, the bound is 0", _causal_pair),
            Variant("the factor 1/4", "1/8: the pair attains tanh(1/4)", _an_eighth),
            Variant("the norm of U", "the spectral radius: U nilpotent", _nilpotent),
        ),
    )
)

BD_R1b = register(
    Statement(
        id="BD-R1b",
        kind=Kind.EXTENSION,
        source=Source(HERE, "BD-R1 for diameters"),
        title="Pure attention contracts diameters, from norms alone",
        systems=("token-flow",),
        claims=tuple(map(Formula, CONTRACTED)),
        proof=contracted,
        depends=("BD-R1",),
        property_tests=(OnInstances(two_tokens_of_a_head),),
        variants=(
            Variant("no mask", "causal, n = 2, P = 0: D becomes D/2, the bound is 0", _causal_pair),
            Variant("the factor 1/4", "1/8: the pair attains tanh(1/4)", _an_eighth),
        ),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$f_i = B\bar x_i$ is the velocity of the flow. The bound says nothing beyond $D(f) \le \lVert B\rVert D$ "
                r"where $\lVert W\rVert D^2/4$ is large; `check` calls it vacuous there.",
            ),
        ),
    )
)

BD_R2 = register(
    Statement(
        id="BD-R2",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="The basin of rank collapse",
        claims=tuple(map(Formula, DEPTH)),
        proof=depth,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$U = \lVert U\rVert$ and $P = \lVert P\rVert$, and $D_0$ is the diameter before a layer: by BD-R1 (several "
                r"tokens; BD-R1b) the diameter behind it is at most $UD_0\tanh(\frac14PD_0^2)$. The edge is $(D^*)^2 = "
                r"\frac4P\operatorname{artanh}\frac1U = \frac2P\ln\frac{U + 1}{U - 1}$.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"So, layer after layer: if $U \le 1$, $D_k \to 0$ from every start; if $U > 1$, whenever $D_0 < D^*$, and no "
                r"larger number would do (the counterexample above and BD-R1's case of equality). With $\beta = UP$ the cubic "
                r"bound gives $D_k \le (\beta/4)^{(3^k-1)/2}D_0^{3^k}$. The iteration is tried on instances.",
            ),
        ),
        depends=("BD-R1",),
        property_tests=(OnInstances(recursion),),
        printed=Printed(
            text="Without skip connections and feed-forward blocks the output of attention always converges to rank one.",
            wrong=r"Not for $\lVert U\rVert > 1$ and $D_0 \ge D^*$. Said of a literal reading of an abstract; the "
            r"theorem was not read.",
            kind=SourceKind.SUMMARISED,
            counterexamples=(
                Counterexample(
                    "CX-R2",
                    r"$d = 1$, $P = 1$, $U = 2$, $x = \pm\frac12\sqrt{2\ln 3}$: $f(X) = X$.",
                    {"P": "1", "U": "2", "x": "sqrt(2 ln(3))/2"},
                    _never_collapses,
                ),
            ),
        ),
        vectors=(Vector("CX-R2: the token and its image", _stays, ("0.741151903683756", "0.741151903683756")),),
    )
)

BD_R4 = register(
    Statement(
        id="BD-R4",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="With a skip, attention hardly changes diameters near consensus",
        systems=("residual-map",),
        claims=tuple(map(Formula, SKIP)),
        proof=skip,
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"With several heads and any biases, $Y = X + \sum_hA_hXU_h^{\top}$, $|D(Y) - D(X)| \le "
                r"D(X)\sum_h\lVert U_h\rVert\tanh(\frac14\lVert P_h\rVert D(X)^2)$: tried on instances, proved for one head "
                r"without biases. No mask, no rotary positions.",
            ),
        ),
        depends=("BD-R1",),
        property_tests=(OnInstances(several_heads),),
        variants=(Variant("no mask", "causal, n = 2, P = 0: D changes by D/2, the bound is 0", _causal_pair),),
    )
)

BD_M1 = register(
    Statement(
        id="BD-M1",
        kind=Kind.EXTENSION,
        source=Source(HERE, ""),
        title="Under a causal mask, an attention sink contracts the values",
        systems=("token-flow",),
        claims=tuple(map(Formula, SINK)),
        proof=sink,
        depends=("BD-S3",),
        property_tests=(OnInstances(sinks),),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"In the claims $a_{ij}$ and $\bar x_i = \sum_{j \le i} a_{ij}x_j$ are those under the causal mask, and $f$ is a "
                r"token that all tokens see (the first). In diameters: $D(f) \le \lVert U\rVert(1 - \epsilon)D(X)$ with "
                r"$\epsilon = \min_ja_{j1} \ge 1/(1 + (n - 1)e^w)$.",
            ),
        ),
    )
)

BD_M2 = register(
    Statement(
        id="BD-M2",
        kind=Kind.EXTENSION,
        source=Source(HERE, "in the place of a theorem of Wu et al., whose printed form was not read"),
        title="Masks with a root: products of attention matrices contract",
        systems=("token-flow",),
        claims=tuple(map(Formula, CHAIN)),
        proof=chain,
        depends=("BD-M1",),
        property_tests=(OnInstances(windows),),
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"In the claims the rows of a later layer have any queries $u_i$ and keys $k_j$; the token $f$ is the root.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"So, by induction over layers: if every nonzero weight of $r$ successive layers is at least $\epsilon$, every "
                r"token attends to itself, and token $c$ is reached from every token in at most $r$ steps, then column $c$ of "
                r"the product is at least $\epsilon^r$, and the total variation of two of its rows at most $1 - \epsilon^r$. For "
                r"a sliding causal window $w$: $c = 1$, $r = \lceil(n - 1)/(w - 1)\rceil$. The induction is tried on windows.",
            ),
        ),
        variants=(Variant("self-loops", "two tokens that look at each other only", _no_self_loops),),
    )
)
