"""CT-3: bipartite points of the Oja flow.  Own derivation."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.bipartite import bipartite_count, bipartite_moves
from eigentoken.proofs.power_method.symbols import LK, LL, V, d, delta, ell, k, lam, n, p, q
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers, point_is
from eigentoken.proofs.steps.bipartite_spectra import bipartite_spectrum_of, first_or_other, outside_at, split
from eigentoken.proofs.steps.consensus_criteria import other_index
from eigentoken.proofs.steps.standing_assumption import ASSUMPTION_1
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import SpectrumIs, Unstable, When
from eigentoken.theory.language.conditions import AllOf, Relation, SimpleTop
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Derivation, Identity, Inequality


def derive() -> Derivation:
    """The spectrum from the flow; a positive eigenvalue for p != q."""
    share = p / (p + q)
    block = sp.Matrix([[LL * share - LK * delta, LL * (1 - share)], [LL * share, LL * (1 - share) + LK * delta]])
    bal, z, top = sp.symbols("delta z lambda_1", real=True)
    root = sp.Eq(z**2 - LL * z + bal**2 * LK * (LL - LK), 0)
    return Derivation(
        (
            *bipartite_moves(
                "oja-flow",
                (-LK * delta, LK * delta),
                block,
                (
                    "Two tokens at $v_k$ are moved against each other.",
                    "Two tokens at $-v_k$ are moved against each other.",
                    "The sides are moved as wholes along $v_\\ell$.",
                ),
                (
                    r"-\lambda_k\delta = <2>,\ p - 1 \text{ times}",
                    r"\lambda_k\delta = <2>,\ q - 1 \text{ times}",
                    r"\dot\xi_1 = <2>, \qquad \dot\xi_2 = <4>",
                ),
            ),
            bipartite_count(),
            Identity(name="trace", says="The trace of the block.", left=block.trace(), right=LL, uses=("sides",)),
            Identity(
                name="determinant",
                says="Its determinant.",
                left=block.det(),
                right=delta**2 * LK * (LL - LK),
                uses=("sides",),
            ),
            Identity(
                name="real",
                says="Its discriminant is a square plus a nonnegative term: the eigenvalues are real.",
                left=block.trace() ** 2 - 4 * block.det(),
                right=(block[0, 0] - block[1, 1]) ** 2 + 4 * LL**2 * p * q / (p + q) ** 2,
                uses=("sides",),
            ),
            Inequality(
                name="k = 1",
                says="For $p \\neq q$ and $k = 1$ the determinant is negative: one eigenvalue is positive. With $z$ "
                "the larger root,",
                hypotheses=(LK > 0, LL < LK, sp.Ne(bal, 0), root, z >= LL / 2),
                conclusion=z > 0,
                uses=("trace", "determinant", "real"),
            ),
            Inequality(
                name="k > 1",
                says="For $k \\neq 1$ take $\\ell = 1$: the trace $\\lambda_1$ is positive, and so is the larger root.",
                hypotheses=(top > 0, top > LK, root.subs(LL, top), z >= top / 2),
                conclusion=z > 0,
                uses=("trace", "determinant", "real"),
            ),
            Identity(
                name="p = q",
                says="For $p = q$ the determinant vanishes: the block has the eigenvalues $0$ and $\\lambda_\\ell$.",
                left=delta**2 * LK * (LL - LK),
                right=0,
                where={q: p},
                uses=("trace", "determinant"),
            ),
        )
    )


_DELTA = (p - q) / n
_T, _D = lam(V, ell), _DELTA**2 * lam(V, k) * (lam(V, ell) - lam(V, k))
SPECTRUM = SpectrumIs(
    BipartiteAt(V, k),
    (
        (-lam(V, k) * _DELTA, (p - 1) * (d - 1)),
        (lam(V, k) * _DELTA, (q - 1) * (d - 1)),
        ((_T + sp.sqrt(_T**2 - 4 * _D)) / 2, 1),
        ((_T - sp.sqrt(_T**2 - 4 * _D)) / 2, 1),
    ),
)
UNBALANCED = Relation(sp.Ne(p, q))
BALANCED = AllOf((Relation(sp.Eq(p, q)), Relation(sp.Or(lam(V, k) < lam(V, 1), lam(V, 2) > 0))))


def proof(kernel: Kernel) -> Proved:
    """The spectrum; on ``v_1`` the direction ``v_2`` decides, elsewhere the direction ``v_1`` has a positive trace."""
    spectrum = bipartite_spectrum_of(kernel, SPECTRUM, split(kernel))
    test = kernel.linear_instability(spectrum)
    positive, wide = kernel.given(lam(V, 1) > 0), kernel.given(d >= 2)
    first, other = kernel.assume(sp.Eq(k, 1)), kernel.assume(k >= 2)
    top = kernel.equal_indices(first, lam(V, k))
    second = kernel.at(kernel.unfold(kernel.given(SimpleTop(V))), sp.Integer(2), wide)
    elsewhere = outside_at(kernel, test, sp.Integer(1), other, positive)
    unequal = outside_at(
        kernel, test, sp.Integer(2), first, kernel.assume(UNBALANCED), positive, top, second, wide, split(kernel)
    )
    either = first_or_other(kernel)
    unbalanced = kernel.by_cases(either, (first.proposition, unequal), (other.proposition, elsewhere))
    below, grows = kernel.assume(lam(V, k) < lam(V, 1)), kernel.assume(lam(V, 2) > 0)
    not_first = outside_at(kernel, test, sp.Integer(1), other_index(kernel, below, V), positive)
    at_first = outside_at(kernel, test, sp.Integer(2), first, grows, wide)
    balanced = kernel.by_cases(
        kernel.tautology([kernel.assume(BALANCED)], BALANCED.parts[1]),
        (below.proposition, not_first),
        (grows.proposition, kernel.by_cases(either, (first.proposition, at_first), (other.proposition, elsewhere))),
    )
    return kernel.conjunction(spectrum, kernel.discharge(UNBALANCED, unbalanced), kernel.discharge(BALANCED, balanced))


CT_3 = register(
    Statement(
        id="CT-3",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemma 5"),
        title="Bipartite points of the Oja flow",
        systems=("oja-flow",),
        conditions=(*ASSUMPTION_1, Relation(d >= 2)),
        claims=(
            SPECTRUM,
            When(UNBALANCED, Unstable(BipartiteAt(V, k))),
            When(BALANCED, Unstable(BipartiteAt(V, k))),
        ),
        depends=("PM-A1", "CT-1"),
        derive=derive,
        proof=proof,
        vectors=(
            Vector(
                "V = diag(1, -1/2), n = 2, k = 1",
                lambda: multipliers(instance("oja-flow", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-1/2"]])),
                decimals("-1/2", "0"),
            ),
        ),
        variants=(
            Variant(
                "d >= 2",
                "d = 1, V = 1, tokens (1, 1, -1): a sphere of two points has no tangent directions, and nothing is unstable",
                lambda: point_is(instance("oja-flow", [["1"], ["1"], ["-1"]], V=[["1"]]), "bipartite", stable="stable"),
            ),
            Variant(
                "p != q",
                "n = 2, V = diag(1, -1/2): no eigenvalue is positive at (e_1, -e_1)",
                lambda: point_is(
                    instance("oja-flow", [["1", "0"], ["-1", "0"]], V=[["1", "0"], ["0", "-1/2"]]),
                    "bipartite",
                    stable="marginal",
                ),
            ),
        ),
    )
)
