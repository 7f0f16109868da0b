"""Heads that share a dominant pair and a norm (AB-X2), read on the weights of a layer.

Refuted where some head has no dominant real eigenvalue of its own, or where the ranges of two output matrices meet only in
zero: a common v with ``U_h v = lambda_h v``, ``lambda_h > 0``, lies in the range of every ``O_h``.  Shown in exact arithmetic for
small layers (:mod:`eigentoken.numerics.certified.dominant_pairs`).  Everything else is undecided.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.dominant_pairs import LARGEST, shared_pair
from eigentoken.numerics.certified.enclosures import product
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.layers.head_symbol_values import HeadLetters
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS
from eigentoken.numerics.layers.symbol_values import Letters
from eigentoken.numerics.layers.weights import HeadWeights, pair_of_outputs
from eigentoken.theory.language.conditions import NonPrincipalModulusBelow, ShareDominantPair
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, undecided

__all__ = ["ranges_meet"]


@ON_WEIGHTS.register(ShareDominantPair)
def on_weights_share_dominant_pair(condition: ShareDominantPair, environment: Letters) -> Verdict:
    letter = matrix(condition.name)
    heads = environment.heads or (environment,)
    for index, head in enumerate(heads):
        dominant = ON_WEIGHTS(NonPrincipalModulusBelow(letter), head)
        if dominant is not None and dominant.is_fails:
            return replace(dominant, reason=f"head {index} has no dominant positive eigenvalue: {dominant.reason}")
    narrow = [head.head for head in heads if isinstance(head, HeadLetters)]
    if len(narrow) > 1:
        apart = ranges_meet(narrow[0], narrow[1])
        if apart.is_fails:
            return apart
    wholes = [head.whole(letter) for head in heads]
    if wholes[0].shape[0] > LARGEST:
        return undecided(f"a common pair is looked for in exact arithmetic up to width {LARGEST}")
    values = [each.exact for each in wholes]
    known = [each for each in values if each is not None]
    return shared_pair(known) if len(known) == len(values) else undecided("the products are not known exactly")


def ranges_meet(first: HeadWeights, second: HeadWeights) -> Verdict:
    """``fails`` where the ranges of O_1 and O_2 are certified to meet only in zero: ``[O_1 O_2]`` has full column rank."""
    if first.width + second.width > first.d:
        return undecided("the ranges of two output matrices meet by their shapes")
    name, stacked = pair_of_outputs(first, second)
    z = as_enclosure(np.ascontiguousarray(stacked), name=name)
    full = certify("positive-definite", product(z, z.transpose))
    if not full.is_holds:
        return undecided(f"whether the ranges of two output matrices meet is not decided: {full.reason}")
    why = (
        f"no common v: the ranges of O of {first.prefix} and {second.prefix} meet only in 0, [O O] has full column rank"
    )
    return fails(why, margin=full.margin, unit=f"{full.unit} of the Gram matrix", details={"full_rank": full.as_dict()})
