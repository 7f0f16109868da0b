"""What others proved before, and what a statement adds: by statement, with keys of ``references.bib``.

Of these papers abstracts and records of a public formalisation were read, not the proofs; a sentence says what these say.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PRIOR_ART", "Prior"]


class Prior(NamedTuple):
    """An entry of the bibliography, and what it has of the statement, in a sentence (LaTeX)."""

    key: str
    has: str


_OSCILLATORS = (
    Prior("Watanabe-Strogatz", "Constants of motion of identical oscillators on the circle."),
    Prior("Marvel-Mirollo-Strogatz", "The Möbius group acts on such oscillators, and cross-ratios are conserved."),
    Prior("Lohe", "Synchronisation of oscillators on spheres and groups."),
)
_MULTISTABILITY = Prior(
    "Altafini",
    "The flow is related to a multi-agent Oja flow; its equilibria are consensus, bipartite, clustering and polygonal points.",
)
_CLUSTERS = Prior(
    "Geshkovski-et-al-clusters", "Clusters of the flow in Euclidean space, by the eigenvalues of the value matrix."
)

PRIOR_ART: dict[str, tuple[Prior, ...]] = {
    "AB-X0": (
        Prior(
            "Geshkovski-et-al-perspective", "Almost every start reaches consensus on spheres of dimension at least 2."
        ),
        Prior(
            "Markdahl-Thunberg-Goncalves",
            "Almost global consensus on spheres of dimension at least 2, for a class of couplings.",
        ),
        Prior("Criscitiello-et-al", "The circle for $0 \\le \\beta \\le 1$, and spheres with nonlinear interactions."),
        Prior("Polyanskiy-Rigollet-Yao", "The circle for all $\\beta \\ge -0.16$."),
    ),
    "AB-T4.1": (Prior("Geshkovski-et-al-perspective", "Consensus from a hemisphere for constant weights."),),
    "AB-T5.1": (
        Prior(
            "Karagodin-Polyanskiy-Rigollet",
            "Almost every start converges to the first token for causal attention with the identity as value matrix and any "
            "keys and queries, constant in time.",
        ),
    ),
    "BD-L1": (
        Prior("Castin-Ablin-Peyre", "Bounds on the Lipschitz constant of attention on a ball, of the order root n."),
    ),
    "BD-K1": (Prior("Kim-Papamakarios-Mnih", "Dot-product attention is not Lipschitz on unbounded domains."),),
    "BD-R1": (
        Prior(
            "Dong-Cordonnier-Loukas", "Without skips and feed-forward blocks attention loses rank doubly exponentially."
        ),
    ),
    "BD-R3": (
        Prior("Dong-Cordonnier-Loukas", "A lemma on softmax of perturbed scores; the authors announce a repair."),
    ),
    "BD-M2": (Prior("Wu-et-al-masks", "Masks and LayerNorm decide whether attention loses rank."),),
    **{
        f"BD-P{number}": (
            Prior("Karagodin-et-al-normalization", "The placements of the norm as flows, and their speeds."),
        )
        for number in (1, 2, 3, 4, 6)
    },
    "BD-T2": (Prior("Chen-et-al-scaling", "A threshold of the order of the logarithm of the context length."),),
    "CT-1": (_MULTISTABILITY,),
    "CT-4": (*_OSCILLATORS, _MULTISTABILITY),
    "PM-CX1": _OSCILLATORS,
    "PM-T2": _OSCILLATORS,
    "PH-M": (_CLUSTERS,),
    "PH-T3": (_CLUSTERS,),
}
