"""Proof scripts of the rules of algebra: equations between sums, products and inner products, signs of sums."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from eigentoken.proofs.coq.quantities import tensor_text
from eigentoken.proofs.coq.speech import DEFINED, Speech
from eigentoken.proofs.coq.terms import NotExportable
from eigentoken.theory.calculus import Index
from eigentoken.theory.kernel.propositions import Atom, Equivalence, ForAll, canonical, free_letters, relation_of
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.structure import quantity_of
from eigentoken.theory.kernel.tensors import Tensor

__all__ = ["ALGEBRA"]


def _same_number(node: Proved, speech: Speech) -> str:
    return "parts. same_number." if speech.raw is None else "parts. first [solve [same_number] | solve [of_the_map]]."


def _reduction(node: Proved, speech: Speech) -> str:
    return "reduced." if speech.raw is None else "first [solve [of_the_map] | solve [reduced]]."


def _positive(node: Proved, speech: Speech) -> str:
    return "conjuncts; positivity."


def _square(node: Proved, speech: Speech) -> str:
    plain = "conjuncts; first [apply dot_nonneg | sorted]"
    if speech.raw is None:
        return f"{plain}."
    return f"first [solve [{plain}] | solve [apply total_nonneg; intros; apply dot_nonneg] | solve [of_the_map]]."


def _summed(node: Proved, speech: Speech) -> str:
    """Both sides for each index, as sums of multiples of quantities; then sum by sum."""
    said = node.premises[0].proposition
    relation = relation_of(said.body)
    sign = {sp.Eq: "=", sp.Le: "<=", sp.Ge: "<="}[relation.func]
    sides = (relation.lhs, relation.rhs) if relation.func in (sp.Eq, sp.Le) else (relation.rhs, relation.lhs)
    left, right = (tensor_text(Tensor(quantity_of(each)).key, speech, {said.letter: "k_"}) for each in sides)
    size = speech.range(said.letter.kind)
    lemma, same = ("total_ext", "same_eq") if sign == "=" else ("total_le", "same_le")
    return (
        f"match goal with every_ : forall _ : nat, _ |- _ => rename every_ into every0_ end. "
        f"assert (every_ : forall k_ : nat, within {size} k_ -> {left} {sign} {right}). "
        f"{{ intros k_ at_. specialize (every0_ k_ at_). parts. "
        f"match goal with every_ : ?a {sign} ?b |- _ {sign} _ => refine ({same} a b _ _ _ _ every_); solve [equal_reals] end. }} "
        f"assert (all_ := {lemma} {size} (fun k_ => {left}) (fun k_ => {right}) every_). cbv beta in all_. sums_in all_. "
        f"conjuncts. match type of all_ with ?a {sign} ?b => refine ({same} a b _ _ _ _ all_); "
        f"first [solve [equal_reals] | solve [same_sums; equal_reals]] end."
    )


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
    "summed": _summed,
    "congruent": _reduction,
}
