"""One exact instance seen by the second arithmetic: its matrices, eigenvalues, rest and stability.

What conditions and claims say of it is in the tables of :mod:`.condition_truths` and :mod:`.claim_truths`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.interval_recheck import (
    DIGITS,
    EXACT,
    counts_outside,
    exact_count,
    interval,
    interval_jacobian,
    intrinsic_charpoly,
    middle,
    none_outside,
    some_on_boundary,
)
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language import terms
from eigentoken.theory.language.documents import WordDocumentError
from eigentoken.theory.systems.system import Space, Time

__all__ = ["IndependentInstance"]


class IndependentInstance:
    """One exact instance, seen by sympy, Fractions and mpmath intervals."""

    def __init__(self, instance: Instance, k: int, p: int, arc: int | None = None) -> None:
        """With ``arc`` the last token is anywhere within an angle of ``2 atan(1/arc)`` of the one that is given."""
        iv.dps = max(iv.dps, DIGITS)
        self.instance, self.k, self.p, self.arc = instance, k, p, arc

    def matrix(self, term: sp.MatrixExpr) -> sp.Matrix:
        values = {symbol: self.named(symbol.name) for symbol in term.atoms(sp.MatrixSymbol)}
        made = term.xreplace({symbol: sp.ImmutableMatrix(value) for symbol, value in values.items()})
        return sp.Matrix(made.doit())

    def named(self, name: str) -> sp.Matrix:
        parameters = self.instance.parameters
        if name in parameters:
            return sp.Matrix(parameters[name])
        if "heads" in parameters and name in parameters["heads"][0]:
            return sum((sp.Matrix(head[name]) for head in parameters["heads"]), sp.zeros(self.instance.d))
        if name == "F" and self.instance.system.value:
            return self.named(self.instance.system.value)
        raise WordDocumentError(f"no matrix {name}")

    def heads_alone(self) -> list[IndependentInstance]:
        """The instance with the matrices of each head in turn in the place of all heads."""
        given = self.instance.parameters
        shared = {name: value for name, value in given.items() if name != "heads"}
        each = [replace(self.instance, parameters={**shared, **head}) for head in given.get("heads", ({},))]
        return [IndependentInstance(alone, self.k, self.p, self.arc) for alone in each]

    def roots(self, value: sp.Matrix) -> list[sp.Expr] | None:
        """All eigenvalues, largest first, where they are real and the matrix is rational."""
        if not all(entry.is_Rational for entry in value):
            return None
        polynomial = sp.Poly(value.charpoly(sp.Symbol("z")).as_expr(), sp.Symbol("z"))
        found = polynomial.real_roots()
        return list(reversed(found)) if len(found) == self.instance.d else None

    def simple_top(self, value: sp.Matrix) -> sp.Expr | None:
        """The real eigenvalue ahead of all others in real part, where exactly one is right of a line (inertia)."""
        if not all(entry.is_Rational for entry in value):
            return None
        floats = np.linalg.eigvals(np.array([[float(entry) for entry in value.row(i)] for i in range(value.rows)]))
        ordered = np.sort(floats.real)[::-1]
        if len(ordered) < 2 or ordered[0] - ordered[1] < 1e-9:
            return None
        matrix = [[interval(entry) for entry in value.row(i)] for i in range(value.rows)]
        if exact_count(matrix, float(ordered[:2].mean())) != 1:
            return None
        z = sp.Symbol("z")
        real: list[sp.Expr] = sp.Poly(value.charpoly(z).as_expr(), z).real_roots()
        return real[-1]

    def eigenvector(self, value: sp.Matrix, index: int) -> sp.Matrix | None:
        roots = self.roots(value)
        if roots is None or not roots[index - 1].is_Rational:
            return None
        space = (value - roots[index - 1] * sp.eye(self.instance.d)).nullspace()
        return space[0] if len(space) == 1 else None

    def sizes(self, ell: int | None = None) -> dict[sp.Basic, sp.Basic]:
        n = self.instance.n
        known: dict[Any, Any] = {
            terms.n: n,
            terms.d: self.instance.d,
            terms.k: self.k,
            terms.p: self.p,
            terms.q: n - self.p,
        }
        if self.instance.system.time is Time.MAP:
            known[terms.alpha] = self.instance.parameters["alpha"]
        return known if ell is None else {**known, terms.ell: ell}

    def indices(self, expression: sp.Expr) -> list[int | None]:
        """The values of the free index of an expression: every ``ell != k``; ``[None]`` where it has none."""
        return [e for e in range(1, self.instance.d + 1) if e != self.k] if expression.has(terms.ell) else [None]

    def two_cycle(self) -> bool | None:
        """``f(x) = -x`` exactly."""
        if self.instance.system.time is not Time.MAP:
            return None
        image, _ = interval_jacobian(self.instance)
        state = [[interval(entry) for entry in token] for token in self.instance.tokens]
        for x, y in zip(state, image, strict=True):
            for a, b in zip(x, y, strict=True):
                if (a + b).a > 0 or (a + b).b < 0:
                    return False  # not to its negative
        exact, _ = interval_jacobian(self.instance, kind=EXACT)
        pairs = zip(self.instance.tokens, exact, strict=True)
        same = all(sp.simplify(a + b) == 0 for x, y in pairs for a, b in zip(x, y, strict=True))
        return True if same and not self.at_rest() else None

    def cycle_inside(self) -> bool | None:
        """Are all multipliers of such a state inside the circle?  ``False`` where one is exactly on it."""
        if self.instance.system.standard and self._outside(1.0) == 0:
            return True
        return False if self._some_on_boundary() else None

    def cycle_outside(self) -> bool | None:
        """Has ``-f``, which fixes the state of a 2-cycle ``x, -x`` of an odd map, a multiplier outside the circle?"""
        if not self.instance.system.standard:
            return None
        if self._outside(1.0) == 0:
            return False
        worst = float(np.abs(self._spectrum()).max())
        if worst > 1 + 1e-9:
            return True if self._outside((worst + 1) / 2) == 1 else None
        polynomial = intrinsic_charpoly(self.instance)
        return False if polynomial is not None and none_outside(polynomial, Time.MAP) else None

    def _outside(self, shift: float) -> int | None:
        pull = iv.mpf(50) if self.pulled() else None
        _, matrix = interval_jacobian(self.instance, pull=pull)
        return counts_outside(matrix, self.instance.system.time, shift)

    def pulled(self) -> bool:
        return self.instance.system.time is Time.FLOW and self.instance.system.space is not Space.EUCLIDEAN

    def _spectrum(self) -> np.ndarray:
        pull = iv.mpf(50) if self.pulled() else None
        _, matrix = interval_jacobian(self.instance, pull=pull)
        return np.linalg.eigvals(np.array([[middle(entry) for entry in row] for row in matrix]))

    def stable(self) -> bool | None:
        if self.at_rest() is not True:
            return False if self.at_rest() is False else None
        limit = 1.0 if self.instance.system.time is Time.MAP else 0.0
        if self._outside(limit) == 0:
            return True
        return False if self.unstable() or self._some_on_boundary() else None

    def unstable(self) -> bool | None:
        if self.at_rest() is not True:
            return None
        discrete = self.instance.system.time is Time.MAP
        values = self._spectrum()
        worst = float(np.abs(values).max() if discrete else values.real.max())
        limit = 1.0 if discrete else 0.0
        if worst > limit + 1e-9:
            shift = (worst + limit) / 2
            return True if self._outside(shift) == 1 else None
        if self._outside(limit) == 0:
            return False
        polynomial = intrinsic_charpoly(self.instance)
        if polynomial is None:
            return None
        inside = none_outside(polynomial, self.instance.system.time)
        return False if inside else None

    def _some_on_boundary(self) -> bool:
        polynomial = intrinsic_charpoly(self.instance)
        return polynomial is not None and some_on_boundary(polynomial, self.instance.system.time)

    def marginal(self) -> bool | None:
        """Is the spectrum of an equilibrium in the closed region, with an eigenvalue exactly on its boundary?"""
        if self.at_rest() is not True:
            return None
        polynomial = intrinsic_charpoly(self.instance)
        if polynomial is None:
            return None
        if not some_on_boundary(polynomial, self.instance.system.time):
            return False
        return none_outside(polynomial, self.instance.system.time)

    def at_rest(self) -> bool | None:
        """Is the state an equilibrium?  Exactly by sympy; intervals can only deny it."""
        image, _ = interval_jacobian(self.instance)
        discrete = self.instance.system.time is Time.MAP
        state = [[interval(entry) for entry in token] for token in self.instance.tokens]
        for x, y in zip(state, image, strict=True):
            for a, b in zip(x, y, strict=True):
                gap = b - a if discrete else b
                if gap.a > 0 or gap.b < 0:
                    return False
        exact, _ = interval_jacobian(self.instance, kind=EXACT)
        for token, after in zip(self.instance.tokens, exact, strict=True):
            for a, b in zip(token, after, strict=True):
                if sp.simplify(b - a if discrete else b) != 0:
                    return None
        return True
