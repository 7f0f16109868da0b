"""Liouville's formula on the sphere of one token, as a proposition: where the token is pushed apart, almost no start stays.

The token sees itself and earlier ones only.  With the starts of all others fixed, its own start moves by a flow on the unit
sphere whose divergence is the trace of the derivative of its velocity along its own tangent vectors.  Where all values of that
form on unit tangent vectors are at least ``m > 0``, volumes grow at least like ``e^{(d-1)mt}``, and the sphere has a finite one.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import bibtex
from eigentoken.proofs.steps.causal_theorems import LATE, TIME
from eigentoken.proofs.steps.equations import Z, for_every
from eigentoken.theory.calculus import Assumptions, Expression, Index, MaskEntry, delta, differentiate, dot, vector
from eigentoken.theory.calculus.atoms import Dot, Exp, SumExp, indices_of
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Atom,
    Conjunction,
    Exists,
    ForAll,
    ForAlmostEvery,
    Negation,
    Proposition,
    proposition,
    put,
    relation_of,
)
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, AtTime, Rate, Tensor, VectorLetter
from eigentoken.theory.language.terms import d
from eigentoken.theory.systems.system import Space, Time

__all__ = ["PUSHED_APART", "own_slope"]

_X, _ANY = VectorLetter(STATE), Index("token", "a")


def _said(kind: Any, left: Any, right: Any) -> Proposition:
    return proposition(kind(left, right, evaluate=False))


def own_slope(f: Expression, i: Index) -> Expression:
    """``z^T D_i f_i z``: the derivative of ``z^T f_i`` where token i alone moves, along z."""
    z = vector(Z.name)
    return differentiate(dot(z, f), {STATE: lambda *at: delta(i, at[0]) * z}, Assumptions())


def _sees_earlier_tokens(f: Expression, i: Index) -> bool:
    """Analytic in the tokens, and every token in a sum over tokens stands under the causal mask of token i."""
    return all(_masked(monomial, i) for monomial in f.terms)


def _masked(monomial: Monomial, i: Index) -> bool:
    seen = {atom.key for atom, _ in monomial.factors if atom == _entry(i, atom)}
    if not set(monomial.bound) <= seen or any(index not in {i, *seen} for index in _indices(monomial)):
        return False
    for atom, power in monomial.factors:
        row = isinstance(atom, SumExp) and _entry(i, None, atom.bound) in atom.masks
        if not (row or isinstance(atom, Exp | MaskEntry) or (isinstance(atom, Dot) and power > 0)):
            return False
    return True


def _entry(i: Index, atom: Any, key: Index | None = None) -> Any:
    """The entry of the causal mask of token i for a key, or for that of an entry."""
    wanted = getattr(atom, "key", None) if key is None else key
    return MaskEntry("causal", i, wanted) if isinstance(wanted, Index) else None


def _indices(monomial: Monomial) -> set[Index]:
    """The indices of a monomial, those that a row of exponentials binds apart."""
    rows = {atom.bound for atom, _ in monomial.factors if isinstance(atom, SumExp)}
    return set(indices_of(monomial)) - rows


def _closed(said: Proposition) -> bool:
    """Finitely many inequalities, not strict, between numbers and polynomials of inner products of tokens."""
    if isinstance(said, Conjunction):
        return all(map(_closed, said.parts))
    if isinstance(said, ForAll):
        guards = said.guard.parts if isinstance(said.guard, Conjunction) else (said.guard,)
        fixed = all(isinstance(each, Atom) and _constant(relation_of(each)) for each in guards)
        return isinstance(said.letter, Index) and said.letter.kind == "token" and fixed and _closed(said.body)
    relation = relation_of(said)
    if not isinstance(relation, sp.Le | sp.Ge):
        return False
    terms = relation.atoms(Tensor)
    inside = [each for each in relation.atoms(sp.Function, sp.Pow) if each.has(Tensor)]
    if any(not (each.is_Pow and each.exp.is_Integer and each.exp > 0) for each in inside):
        return False
    plain = all(
        isinstance(atom, Dot) and power > 0 and not atom.letters
        for term in terms
        for part, _ in term.key
        for atom, power in part.factors
    )
    return plain and all(type(term) is Tensor and term.time is None for term in terms)


def _constant(relation: Any) -> bool:
    """A relation that does not speak of the state."""
    return relation is not None and all(
        _X not in term.letters() and term.time is None for term in relation.atoms(Tensor)
    )


def _pushed_apart(f: Expression, i: Index, R: Proposition, m: sp.Expr) -> tuple[tuple[Any, ...], Any]:
    if i.kind != "token" or not f.is_vector or f.free_indices != {i} or not _sees_earlier_tokens(f, i):
        raise Refused("the velocity of token i must be an analytic function of the tokens that it sees")
    if not _closed(R):
        raise Refused("the region must be given by inequalities that are not strict, for each token")
    if sp.sympify(m).has(Tensor):
        raise Refused(f"the rate is a number, got {m}")
    z, x = vector(Z.name), vector(STATE, _ANY)
    moves = for_every(_said(sp.Eq, Rate(dot(z, x)), Tensor(dot(z, f.at((i, _ANY))))), _ANY, Z)
    unit = for_every(_said(sp.Eq, Tensor(dot(x, x)), sp.Integer(1)), _ANY)
    tangent = Conjunction(
        (
            _said(sp.Eq, Tensor(dot(z, z)), sp.Integer(1)),
            _said(sp.Eq, Tensor(dot(vector(STATE, i), z)), sp.Integer(0)),
        )
    )
    apart = ForAll(Z, tangent, _said(sp.Ge, Tensor(own_slope(f, i)), m))
    stays = ForAll(TIME, _said(sp.Ge, TIME, LATE), put(R, {_X: AtTime(TIME)}))
    numbers = (_said(sp.Ge, d, sp.Integer(2)), _said(sp.Gt, m, sp.Integer(0)))
    hypotheses = (*numbers, moves, unit, ForAll(_X, R, apart))
    return hypotheses, ForAlmostEvery(Negation(Exists(LATE, TRUE, stays)))


#: In a region R let ``z^T D_i f_i z >= m > 0`` for unit vectors z that are tangent at token i, where ``f_i`` depends on token i
#: and earlier ones.  Then for almost every start the trajectory does not stay in R from some time on.
#:
#: Proof.  Fix T, a whole number, and the states of all other tokens at T.  Earlier tokens move by themselves, so token i moves
#: by a flow ``phi_t`` on the sphere, Lipschitz in the state and measurable in time.  Let ``S_T`` be its states at T from which
#: the whole trajectory stays in R; it is closed, since R is.  The divergence of ``f_i`` on the sphere is the sum of ``z^T D_i
#: f_i z`` over d - 1 orthonormal tangent vectors (``f_i`` is tangent, for tokens have unit length), so by Liouville's formula
#: ``vol(phi_t(S_T)) >= e^{(d-1) m (t-T)} vol(S_T)`` for every ``t >= T``, while the sphere has a finite volume: ``vol(S_T) =
#: 0``.  By Fubini's theorem the states at T that stay in R are a null set, so are their starts (the flow is Lipschitz both
#: ways), and the union over all T.
PUSHED_APART = Textbook(
    key="Liouville-fibre",
    name="Liouville's formula for the volume on the sphere of one token, and Fubini's theorem",
    letters={"f": Expression, "i": Index, "R": Proposition, "m": sp.Expr},
    says=_pushed_apart,
    reference="Hale, Ordinary Differential Equations, chapter on linear systems (Liouville's formula for the variational "
    "equation), and Rudin, Real and Complex Analysis, chapter on integration on product spaces",
    bibtex=bibtex("Hale"),
    time=Time.FLOW,
    moves=("f",),
    space=Space.SPHERE,
)
