"""PH-C4 in the kernel: a left kernel vector of B is conserved; and ``W = A B`` with ``sym W > 0`` forces B to be invertible."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.pham.energy_rates import at_time
from eigentoken.proofs.pham.softmax_sums import FORM, IS_FORM, I, K, average, normaliser, score, sums_of_equals
from eigentoken.proofs.pham.token_equation import HEIGHT, equation
from eigentoken.proofs.steps.flow_theorems import MONOTONE, TIME, later
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import dot, exponential, one, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Atom, ForAll, Implication, Proposition, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor, VectorLetter
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import Nonsingular, PositiveDefinite
from eigentoken.theory.language.terms import matrix

__all__ = ["CLAIMS", "proof"]

B, W = matrix("B"), matrix("W")
U, Z = VectorLetter("u"), VectorLetter("z")
QUANTITY = dot(vector("u"), vector("x", I))


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, sp.sympify(right), evaluate=False))


#: ``u^T B z = 0`` for every z.
KERNEL = ForAll(Z, TRUE, _said(sp.Eq, Tensor(dot(vector("u"), vector("z"), product("B"))), 0))
AFTER = _said(sp.Ge, TIME, 0)
_KEPT = _said(sp.Eq, later(Tensor(QUANTITY)), later(Tensor(QUANTITY), 0))
CONSERVED = ForAll(U, KERNEL, ForAll(I, TRUE, ForAll(TIME, AFTER, _KEPT)))
INVERTIBLE = Implication(Atom(PositiveDefinite(W)), ForAll(FORM, IS_FORM, Atom(Nonsingular(B))))
CLAIMS: tuple[Claim, ...] = (Formula(CONSERVED), Formula(INVERTIBLE))


def _conserved(kernel: Kernel) -> Proved:
    """The rate is an average of zeros, so that neither the quantity nor its negative grows."""
    none = kernel.instantiate(kernel.assume(KERNEL), vector("x", K))
    push = dot(vector("u"), vector("x", K), product("B"))
    empty = kernel.arithmetic([none, kernel.scaling(one(), 0)], sp.Eq(Tensor(push), Tensor(one() * 0)))
    weight = exponential(score(I, K)) * normaliser(I, -1)
    summed = sums_of_equals(kernel, empty, weight, K)
    still = kernel.arithmetic([equation(kernel), summed, kernel.scaling(one(), 0)], sp.Eq(HEIGHT, 0, evaluate=False))
    turned = kernel.increment(-QUANTITY)
    mean = average(I, lambda k: dot(vector("u"), vector("x", k), product("B")))
    facts = [turned, kernel.scaling(mean, -1), summed, kernel.scaling(one(), 0)]
    bounds = []
    for sign, known in ((1, [still]), (-1, facts)):
        slope = kernel.arithmetic(known, sp.Le(Rate(QUANTITY * sign), 0, evaluate=False))
        always = kernel.generalise(TIME, at_time(kernel, slope), AFTER)
        falls = kernel.textbook(MONOTONE, always, v=QUANTITY * sign)
        bounds.append(kernel.instantiate(falls, TIME, kernel.assume(AFTER)))
    bounds += [at_time(kernel, kernel.scaling(QUANTITY, -1), time) for time in (TIME, sp.Integer(0))]
    kept = kernel.generalise(TIME, kernel.arithmetic(bounds, _KEPT), AFTER)
    return kernel.generalise(U, kernel.generalise(I, kept), KERNEL)


def _invertible(kernel: Kernel) -> Proved:
    """``z^T W z = (A^T z)^T (B z)``: where ``B z = 0`` it vanishes."""
    word, z = PositiveDefinite(W), vector("z")
    signed = kernel.modus_ponens(kernel.as_form(word), kernel.assume(word))
    guard = signed.proposition.guard
    above = kernel.instantiate(signed, z, kernel.assume(guard))
    image = z.applied(product("B"))
    cauchy = kernel.textbook(EUCLIDEAN, y=z.applied(product("A^T")), z=image)
    split = kernel.reduction(dot(z, z, product("A", "B")), dot(z, z, product("W")), kernel.assume(IS_FORM))
    nonzero = kernel.arithmetic(
        [above, cauchy, split, kernel.square(image)], sp.Gt(Tensor(dot(image, image)), 0, evaluate=False)
    )
    every = kernel.generalise(Z, nonzero, guard)
    regular = kernel.modus_ponens(kernel.as_form(Nonsingular(B)), every)
    return kernel.discharge(word, kernel.generalise(FORM, regular, IS_FORM))


def proof(kernel: Kernel) -> Proved:
    """Conservation, and invertibility."""
    return kernel.conjunction(_conserved(kernel), _invertible(kernel))
