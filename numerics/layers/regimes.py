"""The regime of a layer or a head in the sense of Pham et al.: convergence, divergence, intermediate, or none.

*A layer.*  With ``W = sum_h Q_h^T K_h``, ``B = sum_h O_h V_h`` (column convention) and ``A = W B^-1``: convergence needs
symmetric negative definite A and positive definite sym(W) (PH-T2), divergence symmetric positive definite A and positive
definite sym(W) (PH-T3), an indefinite symmetric A is the intermediate regime (PH-T5).  Whatever W is, a real eigenvalue
``lambda > 0`` of B makes all tokens of the half space ``u^T x > 0`` diverge (PH-T4).  The signs of sym(A) are reported
even where A is not symmetric, because the authors' code imposes only those.

*A head.*  ``B = O V`` has rank at most d_h < d, so A does not exist on R^d and no regime holds there: by PH-C4 each
``u^T x_l`` with ``B^T u = 0`` is constant, in at least d - d_h directions, so tokens neither all converge to 0 nor diverge
along them.  But the range of O is invariant: tokens ``x_l = O eta_l`` stay there (O injective) and

    ``eta_l' = sum_i p_li (V O) eta_i,   p_li ~ exp(eta_l^T (O^T Q^T K O / scale) eta_i)``

is the same system in R^d_h with ``B_c = V O`` and ``W_c = (Q O)^T (K O) / scale``.  Its regime, with
``A_c = W_c B_c^-1``, is the regime of the head on the range of O; 0 and infinity are the same in both coordinates.

The theorems are about one head with full attention and no positions in the scores.  ``of`` says what a regime is of: this
layer, where that is what the layer is; the layer *as if* it were one head, or a head as if it were alone, where several heads
act; and no regime is given where the mask or the positions differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import sympy as sp

from eigentoken.documents.check_document import HeadRegime as HeadRegimeDocument
from eigentoken.documents.check_document import LayerRegime, RegimeName, RegimeOf
from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.enclosures import product
from eigentoken.numerics.layers.hypotheses import on_weights_of_one_matrix
from eigentoken.numerics.layers.layer_readings import bind
from eigentoken.numerics.layers.symbol_values import Answers, LayerSymbolValues
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.theory.language.conditions import NegativeDefinite, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict
from eigentoken.theory.statements.layer_systems import Covers, LayerSystem, contains
from eigentoken.theory.systems.catalogue import system

__all__ = ["HeadRegime", "Regime", "head_regime", "regime"]

TIME_LIMIT = 1.0

#: What a regime is of.
LAYER: Final = "this layer"
AS_IF: Final = "as if one head"
NOT_ABOUT: Final = "not about this model"


@dataclass(frozen=True)
class Regime:
    """``name`` is ``convergence``, ``divergence``, ``intermediate``, ``none`` (no theorem applies), ``undecided`` or ``not
    about this model``; ``of`` is :data:`LAYER`, :data:`AS_IF`, or ``not about this model``."""

    name: RegimeName
    reason: str
    verdicts: dict[str, Verdict]
    of: RegimeOf = LAYER

    def as_dict(self) -> LayerRegime:
        found = {name: verdict.as_dict() for name, verdict in self.verdicts.items()}
        return {"regime": self.name, "of": self.of, "reason": self.reason, "verdicts": found}

    def about(self, layer: LayerSystem | None) -> Regime:
        """The same, said of a layer with this system, or withdrawn."""
        if layer is None:
            return self
        match = contains(system("token-flow"), Covers(), layer)
        if not match.differences:
            return self
        if match.only_heads:
            return replace(self, of=AS_IF)
        why = "; ".join(f"{each.part}: {each}" for each in match.differences if each.part != "heads")
        return replace(self, name=NOT_ABOUT, reason=why, of=NOT_ABOUT)


@dataclass(frozen=True)
class HeadRegime:
    """The regime on the range of O (all of R^d when d_h = d), and what is conserved beside it.

    ``rank`` is the verdict on the rank of ``B = O V``; ``conserved`` the number of directions u with ``B^T u = 0`` that the
    shapes guarantee.
    """

    inside: Regime
    rank: Verdict
    conserved: int

    @property
    def reason(self) -> str:
        if not self.conserved or self.inside.of == NOT_ABOUT:
            return self.inside.reason
        return (
            f"on R^d: none, B = O V is singular ({self.rank.reason}) and at least {self.conserved} components of every "
            f"token are constant (PH-C4); on the invariant range of O: {self.inside.reason}"
        )

    def as_dict(self) -> HeadRegimeDocument:
        return {
            "regime": self.inside.name,
            "of": self.inside.of,
            "on": "range of O" if self.conserved else "R^d",
            "on_whole_space": "none" if self.conserved and self.inside.of != NOT_ABOUT else self.inside.name,
            "reason": self.reason,
            "conserved_directions": self.conserved,
            "rank": self.rank.as_dict(),
            "verdicts": self.inside.as_dict()["verdicts"],
        }


def regime(weights: LayerWeights, answers: Answers) -> Regime:
    """The regime of one layer, all heads together."""
    return _regime(bind(system("token-flow"), weights, answers)).about(weights.system)


def head_regime(head: HeadWeights, layer: LayerSystem | None = None) -> HeadRegime:
    """The regime of one head of a layer on the range of its output matrix, and what is conserved off it."""
    if head.width >= head.d:
        whole = LayerSymbolValues(head.prefix, {"W": head.score, "B": head.value})
        return HeadRegime(_regime(whole).about(layer), certify("rank", head.value, time_limit=TIME_LIMIT), 0)
    value = head.low_rank("value")
    scores = product(
        product(head.named("O").transpose, head.named("Q").transpose), product(head.named("K"), head.named("O"))
    )
    inside = _regime(LayerSymbolValues(head.prefix, {"W": scores, "B": value.core}))
    injective = value.first_is_injective
    if not injective.is_holds:
        inside = Regime("undecided", f"whether O is injective is not certified: {injective.reason}", inside.verdicts)
    return HeadRegime(inside.about(layer), value.rank, head.d - head.width)


def _regime(environment: LayerSymbolValues) -> Regime:
    W, B = matrix("W"), matrix("B")
    A = sp.MatMul(W, sp.Inverse(B))
    found = {
        "A symmetric": on_weights_of_one_matrix(Symmetric(A), environment),
        "A negative definite": on_weights_of_one_matrix(NegativeDefinite(A), environment),
        "A positive definite": on_weights_of_one_matrix(PositiveDefinite(A), environment),
        "W positive definite": on_weights_of_one_matrix(PositiveDefinite(W), environment),
    }
    return Regime(*_name(found), found)


def _name(found: dict[str, Verdict]) -> tuple[RegimeName, str]:
    symmetric, negative, positive, score = found.values()
    for name in ("W positive definite", "A symmetric"):
        if found[name].is_fails:
            return "none", f"{name} fails: {found[name].reason}"
    if symmetric.is_holds and score.is_holds:
        if negative.is_holds:
            return "convergence", "A is symmetric negative definite and sym(W) positive definite (PH-T2)"
        if positive.is_holds:
            return "divergence", "A is symmetric positive definite and sym(W) positive definite (PH-T3)"
        if negative.is_fails and positive.is_fails:
            return "intermediate", "A is symmetric and indefinite, sym(W) positive definite (PH-T5)"
    open_ones = [name for name, verdict in found.items() if verdict.is_undecided]
    return "undecided", f"undecided: {', '.join(open_ones)}"
