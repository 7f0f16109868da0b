"""CT-5: bipartite points of the attention flow.  Own derivation."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.power_method.bipartite import bipartite_count, bipartite_moves
from eigentoken.proofs.power_method.symbols import B1, B2, LK, LL, V, b1, b2, bbar, d, ell, k, lam, p, q, score
from eigentoken.proofs.properties.exact_points import decimals, instance, multipliers
from eigentoken.proofs.steps.bipartite_spectra import bipartite_spectrum_of
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.language.claims import SpectrumIs
from eigentoken.theory.language.conditions import Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import t_split
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement, Vector
from eigentoken.theory.statements.steps import Derivation, Identity


def derive() -> Derivation:
    """Pairs and sides from the flow; trace, determinant and discriminant of the block."""
    block = sp.Matrix(
        [[LL * (1 + b1) / 2 - LK * b1, LL * (1 - b1) / 2], [LL * (1 - b2) / 2, LL * (1 + b2) / 2 - LK * b2]]
    )
    return Derivation(
        (
            *bipartite_moves(
                "attention-flow",
                (-LK * B1, -LK * B2),
                block.subs({b1: B1, b2: B2}),
                (
                    "Two tokens at $v_k$ are moved against each other, any scores, $E = e^s$.",
                    "Two tokens at $-v_k$ are moved against each other.",
                    "The sides are moved as wholes along $v_\\ell$.",
                ),
                (
                    r"-\lambda_kb_1 = <2>,\ p - 1 \text{ times}",
                    r"-\lambda_kb_2 = <2>,\ q - 1 \text{ times}",
                    r"\dot\xi_1 = <2>, \qquad \dot\xi_2 = <4>",
                ),
                ((), (), ("the block of the flow at a bipartite point",)),
            ),
            bipartite_count(),
            Identity(
                name="trace",
                says="The trace of the block.",
                left=block.trace(),
                right=LL * (1 + bbar) - 2 * LK * bbar,
                uses=("sides",),
            ),
            Identity(
                name="determinant",
                says="Its determinant.",
                left=block.det(),
                right=(LK - LL) * (LK * b1 * b2 - LL * bbar),
                uses=("sides",),
            ),
            Identity(
                name="real",
                says="Its discriminant is a square plus a nonnegative term: the spectrum is real.",
                left=block.trace() ** 2 - 4 * block.det(),
                right=(block[0, 0] - block[1, 1]) ** 2 + LL**2 * (1 - b1) * (1 - b2),
                uses=("sides",),
            ),
        )
    )


_B1, _B2 = sp.tanh(score(k) + t_split), sp.tanh(score(k) - t_split)
_BAR = (_B1 + _B2) / 2
_T = lam(V, ell) * (1 + _BAR) - 2 * lam(V, k) * _BAR
_D = (lam(V, k) - lam(V, ell)) * (lam(V, k) * _B1 * _B2 - lam(V, ell) * _BAR)
SPECTRUM = SpectrumIs(
    BipartiteAt(V, k),
    (
        (-lam(V, k) * _B1, (p - 1) * (d - 1)),
        (-lam(V, k) * _B2, (q - 1) * (d - 1)),
        ((_T + sp.sqrt(_T**2 - 4 * _D)) / 2, 1),
        ((_T - sp.sqrt(_T**2 - 4 * _D)) / 2, 1),
    ),
)


def proof(kernel: Kernel) -> Proved:
    """The spectrum that the engine proves, in the formulas of the claim."""
    return bipartite_spectrum_of(kernel, SPECTRUM)


CT_5 = register(
    Statement(
        id="CT-5",
        kind=Kind.EXTENSION,
        source=Source(HERE, "continuous-time counterpart of Lemma 14"),
        title="Bipartite points of the attention flow",
        systems=("attention-flow",),
        conditions=(Symmetric(V),),
        claims=(SPECTRUM,),
        depends=("CT-1", "PM-L9"),
        derive=derive,
        proof=proof,
        vectors=(
            Vector(
                "V = diag(1, 1/2), e^s = 3, n = 2",
                lambda: multipliers(
                    instance(
                        "attention-flow",
                        [["1", "0"], ["-1", "0"]],
                        V=[["1", "0"], ["0", "1/2"]],
                        M=[["ln(3)", "0"], ["0", "ln(3)"]],
                    )
                ),
                decimals("-2/5", "-3/10"),
            ),
        ),
    )
)
