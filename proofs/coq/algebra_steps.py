"""Proof scripts of the rules of algebra: equations between sums, products and inner products, signs of sums."""

from __future__ import annotations

from collections.abc import Callable

from eigentoken.proofs.coq.speech import DEFINED, Speech
from eigentoken.proofs.coq.terms import NotExportable
from eigentoken.theory.calculus import Index
from eigentoken.theory.kernel.propositions import Atom, Equivalence, ForAll, free_letters, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.sameness import canonical

__all__ = ["ALGEBRA"]


def _same_number(node: Proved, speech: Speech) -> str:
    return "parts. same_number."


def _reduction(node: Proved, speech: Speech) -> str:
    return "reduced."


def _positive(node: Proved, speech: Speech) -> str:
    return "conjuncts; positivity."


def _square(node: Proved, speech: Speech) -> str:
    return "conjuncts; first [apply dot_nonneg | sorted]."


def _as_form(node: Proved, speech: Speech) -> str:
    """The form of a matrix that is a sum of products, by its letters; then the word is its definition."""
    said = canonical(node.proposition)
    word, body = (said.left, said.right) if isinstance(said.left, Atom) else (said.right, said.left)
    if not isinstance(said, Equivalence) or not isinstance(body, ForAll) or type(word.word).__name__ not in DEFINED:
        raise NotExportable("a word about a form that has no definition here")
    relation = relation_of(body.body) or body.body.word.relation
    form = next(each for each in relation[1:] if each != 0)
    matrix = speech.matrix(word.word.term, {})
    shown = speech.real(form, {body.letter: "z"})
    return (
        f"assert (form_ : forall z : vec, dot d z (image d {matrix} z) = {shown}). {{ intros z. reduced. }} "
        "split; intros word_ z_ long_; specialize (word_ z_ long_); rewrite ?form_ in *; assumption."
    )


def _invertible(node: Proved, speech: Speech) -> str:
    return "parts. assumption."


def _summand(node: Proved, speech: Speech) -> str:
    """``f_j <= sum f`` for one of the indices that occur, with the sum of f taken apart."""
    said = canonical(node.premises[0].proposition)
    relation = said.body.word.relation
    term = speech.real(relation[2], {said.letter: "k_"})
    places = [each for each in free_letters(node.proposition) if isinstance(each, Index)]
    size = speech.range(said.letter.kind)
    tries = " | ".join(
        f"(pose proof (total_term {size} {speech.name(each)} (fun k_ => {term}) ltac:(assumption) every_) as all_; "
        "cbv beta in all_; sums_in all_; conjuncts; first [assumption | lra | same_real])"
        for each in sorted(places)
    )
    return (
        f"match goal with every_ : forall _ : nat, _ |- _ => rename every_ into every0_ end. "
        f"assert (every_ : forall k_ : nat, within {size} k_ -> 0 <= {term}). "
        f"{{ intros k_ at_. specialize (every0_ k_ at_). parts. assumption. }} "
        f"assert (sure_ := every0_ 0%nat ltac:(apply within_first; assumption)). parts. first [{tries}]."
    )


#: The script of a rule, after its premises are at hand.
ALGEBRA: dict[str, Callable[[Proved, Speech], str]] = {
    "total": _same_number,
    "scaling": _same_number,
    "factors": _same_number,
    "product": _same_number,
    "exponential_of": _same_number,
    "reduction": _reduction,
    "positive": _positive,
    "square": _square,
    "as_form": _as_form,
    "invertible": _invertible,
    "summand": _summand,
}
