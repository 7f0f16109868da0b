"""What a claim says about the symbols: a sympy Boolean over the quantities of the parameters.

``SYMBOLIC(claim, system)`` gives the closed form where the spectrum at the place is known for every n and d (consensus and
bipartite points of the maps and flows on the sphere, PM-L3, PM-L12, CT-2, CT-5; the free index ``ell`` stands for every
``ell != k``).  Elsewhere, and without a system, a claim is an atom that derivations name.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.theory.language import claims
from eigentoken.theory.language.places import BipartiteAt, ConsensusAt, Place
from eigentoken.theory.language.readings import LATEX, SYMBOLIC
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, alpha, d, ell, matrix, n, p, q, t_split
from eigentoken.theory.systems.catalogue import system as system_named
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["spectrum_classes"]


def _atom(claim: Any) -> Any:
    return sp.Symbol(f"[{LATEX(claim)}]")


def _known(system: System | str | None) -> System | None:
    return system_named(system) if isinstance(system, str) else system


def _on_the_sphere(system: System | None, place: Place) -> bool:
    """Full attention with unit row sums on the sphere, at a point on eigenvectors of the value matrix."""
    if system is None or system.space is not Space.SPHERE or system.over_root_d or system.value is None:
        return False
    if not system.standard or system.mask != "full":
        return False
    return isinstance(place, ConsensusAt | BipartiteAt) and place.term == matrix(system.value)


def _heights(system: System, place: Place) -> tuple[Any, Any]:
    """``b_1, b_2``: the attention-weighted mean of the tokens is ``b_i v_k`` at the tokens on the two sides."""
    if isinstance(place, ConsensusAt):
        return sp.Integer(1), sp.Integer(1)
    if system.score is None:
        share = (p - q) / n
        return share, -share
    value = matrix(str(system.value))
    s = ScoreAtEigenvector(matrix(system.score), value, place.index)  # type: ignore[attr-defined]
    return sp.tanh(s + t_split), sp.tanh(s - t_split)


def spectrum_classes(system: System | str, place: Place) -> tuple[tuple[Any, Any], ...] | None:
    """The intrinsic spectrum at the place as (expression, multiplicity), or ``None`` where no closed form is listed.

    >>> spectrum_classes("oja-flow", ConsensusAt(matrix("V"), 1))[0][0]
    -Eigenvalue(V, 1) + Eigenvalue(V, ell)
    """
    found = _known(system)
    if found is None or not _on_the_sphere(found, place) or (found.multihead and isinstance(place, BipartiteAt)):
        return None
    value = matrix(str(found.value))
    own: Any = Eigenvalue(value, place.index)  # type: ignore[attr-defined]
    other: Any = Eigenvalue(value, ell)
    if isinstance(place, ConsensusAt):
        if found.time is Time.MAP:
            scale = sp.Abs(1 + alpha * own)
            return ((1 + alpha * other) / scale, sp.Integer(1)), (1 / scale, (n - 1) * (d - 1))
        return (other - own, sp.Integer(1)), (-own, (n - 1) * (d - 1))
    b1, b2 = _heights(found, place)
    uniform = found.score is None
    a11, a12 = (p / n, q / n) if uniform else ((1 + b1) / 2, (1 - b1) / 2)
    a21, a22 = (p / n, q / n) if uniform else ((1 - b2) / 2, (1 + b2) / 2)
    # the two groups with perturbations of the same sense: rows (a11, a12), (a21, a22) of the grouped attention
    if found.time is Time.MAP:
        m1, m2 = 1 + alpha * own * b1, 1 + alpha * own * b2
        block = sp.Matrix(
            [
                [(1 + alpha * other * a11) / m1, alpha * other * a12 / m1],
                [alpha * other * a21 / m2, (1 + alpha * other * a22) / m2],
            ]
        )
        lone = (1 / m1, 1 / m2)
    else:
        h1, h2 = own * b1, own * b2
        block = sp.Matrix([[other * a11 - h1, other * a12], [other * a21, other * a22 - h2]])
        lone = (-h1, -h2)
    trace, root = block.trace(), sp.sqrt(block.trace() ** 2 - 4 * block.det())
    return (
        ((trace + root) / 2, sp.Integer(1)),
        ((trace - root) / 2, sp.Integer(1)),
        (lone[0], (p - 1) * (d - 1)),
        (lone[1], (q - 1) * (d - 1)),
    )


@SYMBOLIC.register(claims.Stable)
def symbolic_stable(claim: claims.Stable, system: System | str | None = None) -> Any:
    found = _known(system)
    classes = None if found is None else spectrum_classes(found, claim.place)
    if classes is None or found is None:
        return _atom(claim)
    inside = [sp.Abs(value) < 1 if found.time is Time.MAP else value < 0 for value, _ in classes]
    return sp.And(*(_unless_empty(part, count) for part, (_, count) in zip(inside, classes, strict=True)))


@SYMBOLIC.register(claims.Unstable)
def symbolic_unstable(claim: claims.Unstable, system: System | str | None = None) -> Any:
    """Some class is outside; a class with the index ``ell`` is outside for some ``ell``, which stays an atom."""
    return _atom(claim)


def _unless_empty(part: Any, count: Any) -> Any:
    return part if count == 1 else sp.Or(sp.Eq(count, 0), part)


@SYMBOLIC.register(claims.SpectrumIs)
def symbolic_spectrum_is(claim: claims.SpectrumIs, system: System | str | None = None) -> Any:
    """The claimed classes against the listed ones, entry by entry: equalities of expressions."""
    found = _known(system)
    classes = None if found is None else spectrum_classes(found, claim.place)
    if classes is None or len(classes) != len(claim.classes):
        return _atom(claim)
    pairs = zip(classes, claim.classes, strict=True)
    return sp.And(*(sp.And(sp.Eq(v, w), sp.Eq(c, e)) for (v, c), (w, e) in pairs))


@SYMBOLIC.register(claims.Equilibrium)
def symbolic_equilibrium(claim: claims.Equilibrium, system: System | str | None = None) -> Any:
    """On eigenvectors a map has a fixed point iff ``1 + alpha lambda_k b_i > 0``; a flow always."""
    found = _known(system)
    if found is None or not _on_the_sphere(found, claim.place) or found.multihead:
        return _atom(claim)
    if found.time is Time.FLOW:
        return sp.true
    own: Any = Eigenvalue(matrix(str(found.value)), claim.place.index)  # type: ignore[attr-defined]
    b1, b2 = _heights(found, claim.place)
    return sp.And(1 + alpha * own * b1 > 0, 1 + alpha * own * b2 > 0)


@SYMBOLIC.register(claims.TwoCycle)
def symbolic_two_cycle(claim: claims.TwoCycle, system: System | str | None = None) -> Any:
    """Consensus on v_k is sent to its negative iff ``1 + alpha lambda_k < 0``."""
    found = _known(system)
    if found is None or found.time is not Time.MAP or not _on_the_sphere(found, claim.place):
        return _atom(claim)
    if not isinstance(claim.place, ConsensusAt):
        return _atom(claim)
    own: Any = Eigenvalue(matrix(str(found.value)), claim.place.index)
    return 1 + alpha * own < 0


@SYMBOLIC.register(claims.Iff)
def symbolic_iff(claim: claims.Iff, system: System | str | None = None) -> Any:
    return sp.Equivalent(SYMBOLIC(claim.claim, system), SYMBOLIC(claim.condition))


@SYMBOLIC.register(claims.When)
def symbolic_when(claim: claims.When, system: System | str | None = None) -> Any:
    return sp.Implies(SYMBOLIC(claim.condition), SYMBOLIC(claim.claim, system))


@SYMBOLIC.register(claims.Claim)
def symbolic_claim(claim: claims.Claim, system: System | str | None = None) -> Any:
    """A claim about trajectories or states: an atom."""
    return _atom(claim)
