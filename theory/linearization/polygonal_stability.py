"""Polygonal points are never asymptotically stable, but for antipodal tokens in a plane: an eigenvalue is on the boundary.

For r >= 2 (r the dimension of the span of the tokens) the class *inside* has ``n(r-1) - r >= 1`` eigenvalues 1 (map) or 0
(flow), since ``sum_j x_j = 0`` forces ``n >= r + 1``.  For r = 1 the operators on Hom(E, F) = R^(d-1) and on F are
``xi -> omega (...)^T xi``, of rank one, so that the boundary is an eigenvalue (n-1)(d-2) times.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.calculus import DIMENSION, TOKENS
from eigentoken.theory.linearization.attention_polygons import RANK
from eigentoken.theory.linearization.criterion import Criterion, Equality
from eigentoken.theory.linearization.polygonal_spectra import antipodal_spectrum
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.system import Space, System

__all__ = ["antipodal_criterion", "polygon_criterion"]


def _never(name: str, spectrum: Spectrum, hypotheses: tuple[sp.Basic, ...], because: str) -> Criterion:
    """The last class is on the boundary, and there is some of it."""
    last = spectrum.tangent[-1]
    reals = {symbol: sp.Symbol(symbol.name, real=True) for symbol in (TOKENS, DIMENSION, RANK)}
    given = tuple(each.subs(reals) for each in hypotheses)
    boundary = sp.Integer(0 if spectrum.flow else 1)
    return Criterion(
        name,
        spectrum,
        hypotheses,
        sp.false,
        (
            Equality(f"the class {last.title} is on the boundary", last.value, boundary),
            Lemma("it is not empty", given, last.multiplicity.subs(reals) >= 1),
        ),
        because,
    )


def polygon_criterion(system: System, spectrum: Spectrum) -> Criterion:
    """A polygonal point with r >= 2 (Oja: with ``n (d-1) > d``) is not asymptotically stable."""
    name = f"{system.name}: {spectrum.point}"
    if RANK not in sp.Add(*(entry.multiplicity for entry in spectrum.tangent)).free_symbols:
        room = (sp.Ge(TOKENS * (DIMENSION - 1), DIMENSION + 1, evaluate=False),)
        return _never(name, spectrum, room, "Perturbations with mean zero leave every token without a push.")
    least = 1 if system.space is Space.EUCLIDEAN else 2
    given = (sp.Ge(RANK, least, evaluate=False), sp.Ge(TOKENS, RANK + 1, evaluate=False))
    return _never(name, spectrum, given, "Perturbations within the span of the tokens, of mean zero, are not felt.")


def antipodal_criterion(system: System) -> Criterion:
    """An antipodal attention polygon in three dimensions or more is not asymptotically stable."""
    given = (sp.Ge(TOKENS, 2, evaluate=False), sp.Ge(DIMENSION, 3, evaluate=False))
    because = "Perturbations orthogonal to the scores' gradient are not felt."
    return _never(f"{system.name}: antipodal polygon", antipodal_spectrum(system), given, because)
