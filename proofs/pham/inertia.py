"""PH-T5 in the kernel: ``A B + B^T A = W + W^T`` and the inertia theorem, for both signs of W."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.softmax_sums import FORM, form_letter, known_form
from eigentoken.proofs.steps.theorems import ON_THE_RIGHT, OSTROWSKI_SCHNEIDER
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.forms import bilinear
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import Claim, When
from eigentoken.theory.language.conditions import AllOf, NegativeDefinite, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import RightCount, d, matrix

__all__ = ["CLAIMS", "proof"]

B, W = matrix("B"), matrix("W")
QUOTIENT = W * B.inv()


def _equal(left: Any, right: Any) -> Proposition:
    return proposition(sp.Eq(left, right, evaluate=False))


def _counts(form: Any, sign: int) -> Conjunction:
    """``sign B`` has as many eigenvalues on the right as A, ``-sign B`` as many as -A, and B has none on the axis."""
    value = sign * B
    return Conjunction(
        (
            _equal(RightCount(value), RightCount(form)),
            _equal(RightCount(-value), RightCount(-form)),
            _equal(RightCount(value) + RightCount(-value), d),
        )
    )


def _whole(sign: int) -> Formula:
    return Formula(_equal(RightCount(sign * B), d))


CLAIMS: tuple[Claim, ...] = (
    When(PositiveDefinite(W), Formula(_counts(QUOTIENT, 1))),
    When(NegativeDefinite(W), Formula(_counts(QUOTIENT, -1))),
    When(AllOf((PositiveDefinite(W), PositiveDefinite(QUOTIENT))), _whole(1)),
    When(AllOf((PositiveDefinite(W), NegativeDefinite(QUOTIENT))), _whole(-1)),
    When(AllOf((NegativeDefinite(W), NegativeDefinite(QUOTIENT))), _whole(1)),
)
#: What W is, and the sign that it gives to B.
SIGNS = ((PositiveDefinite(W), 1), (NegativeDefinite(W), -1))


def _inertia(kernel: Kernel, word: Any, sign: int) -> Proved:
    """The counts for a letter A with ``A B = W`` and ``A = A^T``."""
    is_form, symmetric = form_letter(kernel)
    value = sign * B
    term = FORM * value + value.T * FORM
    z, at = vector("z"), VectorLetter("z")
    form, score = bilinear(z, term, z), dot(z, z, product("W"))
    signed = kernel.modus_ponens(kernel.as_form(word), kernel.assume(word))
    here = kernel.assume(signed.proposition.guard)
    facts = [
        kernel.reduction(form, score * (2 * sign), is_form, symmetric),
        kernel.scaling(score, 2 * sign),
        kernel.instantiate(signed, z, here),
    ]
    positive = kernel.arithmetic(facts, sp.Gt(Tensor(form), 0, evaluate=False))
    every = kernel.generalise(at, positive, signed.proposition.guard)
    definite = kernel.modus_ponens(kernel.as_form(PositiveDefinite(term)), every)
    return kernel.textbook(OSTROWSKI_SCHNEIDER, symmetric, definite, H=FORM, X=value)


def _of_quotient(kernel: Kernel, proved: Proved, *words: Any) -> Proved:
    """What is proved for the letter A, for ``W B^{-1}``."""
    given = [kernel.given(type(each)(QUOTIENT)) for each in words]
    every = kernel.generalise(FORM, proved, known_form(*words))
    return kernel.instantiate(every, QUOTIENT, kernel.invertible(given[0], B), *given)


def _on_one_side(kernel: Kernel, counts: Proved, form_sign: int) -> Proved:
    """All d eigenvalues on one side, from the sign of A."""
    if form_sign > 0:
        definite = kernel.assume(PositiveDefinite(FORM))
    else:
        negative = kernel.modus_ponens(kernel.as_form(NegativeDefinite(FORM)), kernel.assume(NegativeDefinite(FORM)))
        here = kernel.assume(negative.proposition.guard)
        form = dot(vector("z"), vector("z"), product("A"))
        facts = [kernel.instantiate(negative, vector("z"), here), kernel.scaling(form, -1)]
        above = kernel.arithmetic(facts, sp.Gt(Tensor(-form), 0, evaluate=False))
        every = kernel.generalise(VectorLetter("z"), above, negative.proposition.guard)
        definite = kernel.modus_ponens(kernel.as_form(PositiveDefinite(-FORM)), every)
    whole = kernel.textbook(ON_THE_RIGHT, definite, X=form_sign * FORM)
    first, second, _ = counts.proposition.parts
    count = kernel.part(counts, first if form_sign > 0 else second)
    return kernel.arithmetic([whole, count], _equal(count.proposition.word.relation.lhs, d))


def proof(kernel: Kernel) -> Proved:
    """The counts for both signs of W; and all eigenvalues on one side where A is definite."""
    parts = []
    counted = {}
    for word, sign in SIGNS:
        counted[sign] = _inertia(kernel, word, sign)
        parts.append(kernel.discharge(word, _of_quotient(kernel, counted[sign], Symmetric(FORM))))
    for word, sign, form in ((SIGNS[0][0], 1, 1), (SIGNS[0][0], 1, -1), (SIGNS[1][0], -1, -1)):
        of_form = (PositiveDefinite if form > 0 else NegativeDefinite)(QUOTIENT)
        within = Kernel(kernel.system, (*kernel.conditions, proposition(of_form)))
        side = _on_one_side(kernel, counted[sign], form)
        named = _of_quotient(within, side, Symmetric(FORM), type(of_form)(FORM))
        parts.append(kernel.discharge(AllOf((word, of_form)), named))
    return kernel.conjunction(*parts)
