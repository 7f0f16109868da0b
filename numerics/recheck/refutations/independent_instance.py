"""One exact instance seen by the second arithmetic: are its conditions true, are its claims?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.numerics.recheck.refutations.flows import slope_along
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
)
from eigentoken.numerics.recheck.refutations.limits import left_region, limit_truth, stays_bounded
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language import claims, conditions, terms
from eigentoken.theory.language.conditions import IsIdentity, NoneOpposite, NotAllZero
from eigentoken.theory.language.documents import DocumentError
from eigentoken.theory.systems.catalogue import Space, Time

__all__ = ["IndependentInstance"]


class IndependentInstance:
    """One exact instance, seen by sympy, Fractions and mpmath intervals."""

    def __init__(self, instance: Instance, k: int, p: int, arc: int | None = None) -> None:
        """With ``arc`` the last token is anywhere within an angle of ``2 atan(1/arc)`` of the one that is given."""
        iv.dps = max(iv.dps, DIGITS)
        self.instance, self.k, self.p, self.arc = instance, k, p, arc

    # -- conditions ------------------------------------------------------------------------------------------------

    def matrix(self, term: Any) -> sp.Matrix:
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
        raise DocumentError(f"no matrix {name}")

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

    def condition(self, word: Any, data: Mapping[str, Any] | None = None) -> bool | None:
        """Is the condition true of this instance?  ``data`` is that of its certificate, and not trusted."""
        if isinstance(word, conditions.Symmetric):
            value = self.matrix(word.term)
            return bool(value == value.T)
        if isinstance(
            word, conditions.PositiveDefinite | conditions.NegativeDefinite | conditions.PositiveSemidefinite
        ):
            return self._definite(word)
        if isinstance(word, conditions.Nonsingular):
            return bool(self.matrix(word.term).det() != 0)
        if isinstance(word, conditions.SimpleTop | conditions.NonPrincipalModulusBelow):
            value = self.matrix(word.term)
            roots = self.roots(value)
            if roots is None:
                return True if isinstance(word, conditions.SimpleTop) and self.simple_top(value) is not None else None
            if isinstance(word, conditions.SimpleTop):
                return len(roots) == 1 or bool(roots[0] > roots[1])
            return all(bool(sp.Abs(root) < roots[0]) for root in roots[1:])
        if isinstance(word, conditions.Relation):
            return self.relation(word.relation)
        if isinstance(word, conditions.AllOf | conditions.AnyOf):
            parts = [self.condition(part) for part in word.parts]
            if any(part is None for part in parts):
                return None
            return all(parts) if isinstance(word, conditions.AllOf) else any(parts)
        if isinstance(word, conditions.Not):
            inner = self.condition(word.part)
            return None if inner is None else not inner
        if isinstance(word, conditions.Commute):
            first, second = self.matrix(word.first), self.matrix(word.second)
            return bool(first * second == second * first)
        if isinstance(word, conditions.NotAllEqual):
            fixed = self.instance.tokens if self.arc is None else self.instance.tokens[:-1]
            return True if len(set(fixed)) > 1 else None if self.arc else False
        if isinstance(word, NoneOpposite):
            return self._none_opposite()
        if isinstance(word, NotAllZero):
            return None if self.arc else any(entry != 0 for token in self.instance.tokens for entry in token)
        if isinstance(word, conditions.BoundedInTime | conditions.UniformlyContinuous):
            return True
        if isinstance(word, IsIdentity) and not isinstance(word.term, sp.MatrixSymbol):
            return bool(self.matrix(word.term) == sp.eye(self.instance.d))
        if isinstance(word, IsIdentity):
            heads = self.instance.parameters.get("heads", (self.instance.parameters,))
            return all(sp.Matrix(head[word.term.name]) == sp.eye(self.instance.d) for head in heads)
        if isinstance(word, conditions.InHemisphere):
            return self._hemisphere(word, data or {})
        if isinstance(word, conditions.SharesTopEigenvector):
            return self._shares_top(word.name)
        return None

    def _shares_top(self, name: str) -> bool | None:
        """Each head is symmetric, and the first of them has a top eigenvector that is simple, positive, and top for all."""
        heads = self.instance.parameters.get("heads", (self.instance.parameters,))
        values = [sp.Matrix(head[name]) for head in heads]
        if any(value != value.T for value in values):
            return False
        roots = [self.roots(value) for value in values]
        vector = self.eigenvector(values[0], 1)
        if vector is None or any(each is None for each in roots):
            return None
        for value, listed in zip(values, roots, strict=True):
            assert listed is not None
            if not listed[0] > 0 or (len(listed) > 1 and not listed[0] > listed[1]):
                return False
            if value * vector != listed[0] * vector:
                return False
        return True

    def _definite(self, word: Any) -> bool | None:
        value = self.matrix(word.term)
        half = (value + value.T) / 2
        roots = self.roots(half)
        if roots is None:
            return None
        if isinstance(word, conditions.NegativeDefinite):
            return bool(roots[0] < 0)
        return bool(roots[-1] >= 0 if isinstance(word, conditions.PositiveSemidefinite) else roots[-1] > 0)

    def _none_opposite(self) -> bool | None:
        """Exact; on an arc, minus the first token is outside: the cosine of the angle is below that of the half width."""
        first, *others = (sp.Matrix(token) for token in self.instance.tokens)
        if any(sp.simplify(token + first) == sp.zeros(self.instance.d, 1) for token in others):
            return False
        if self.arc is None or not others:
            return True
        cosine = -(first.T * others[-1])[0, 0]
        return True if cosine < sp.Rational(self.arc**2 - 1, self.arc**2 + 1) else None

    def _hemisphere(self, word: conditions.InHemisphere, data: Mapping[str, Any]) -> bool | None:
        if self.arc is not None:
            return None
        if word.normal is None:  # the vector of the certificate, or the sum of the tokens
            tokens = [[interval(entry) for entry in token] for token in self.instance.tokens]
            given = [sp.Rational(str(entry)) for entry in data.get("data", {}).get("vector", ())]
            proposals = [[interval(entry) for entry in given]] if len(given) == self.instance.d else []
            proposals.append([sum(column[1:], column[0]) for column in zip(*tokens, strict=True)])
            up = [
                all(sum((a * b for a, b in zip(w, x, strict=True)), iv.mpf(0)).a > 0 for x in tokens) for w in proposals
            ]
            return True if any(up) else None
        value = self.matrix(word.normal)
        vector = self.eigenvector(value.T if word.left else value, 1)
        if vector is None:
            return None
        heights = [(sp.Matrix(token).T * vector)[0, 0] for token in self.instance.tokens]
        return all(bool(h > 0) for h in heights) or all(bool(h < 0) for h in heights)

    def eigenvector(self, value: sp.Matrix, index: int) -> sp.Matrix | None:
        roots = self.roots(value)
        if roots is None or not roots[index - 1].is_Rational:
            return None
        space = (value - roots[index - 1] * sp.eye(self.instance.d)).nullspace()
        return space[0] if len(space) == 1 else None

    def number(self, number: Any, ell: int | None) -> sp.Expr | None:
        sizes = self.sizes(ell)
        if isinstance(number, terms.Eigenvalue):
            value = self.matrix(number.args[0])
            roots = self.roots(value)
            index = number.args[1].subs(sizes)
            if roots is None and index == 1:
                return self.simple_top(value)
            return None if roots is None or not 1 <= index <= len(roots) else roots[int(index) - 1]
        if isinstance(number, terms.SpectralNorm):
            value = self.matrix(number.args[0])
            if value != value.T:
                roots = self.roots(value.T * value)
                return None if roots is None else sp.sqrt(roots[0])
            roots = self.roots(value)
            return None if roots is None else sp.Max(*(sp.Abs(root) for root in roots))
        if isinstance(number, terms.ScoreAtEigenvector):
            vector = self.eigenvector(self.matrix(number.args[1]), int(number.args[2].subs(sizes)))
            if vector is None:
                return None
            return (vector.T * self.matrix(number.args[0]) * vector)[0, 0] / (vector.T * vector)[0, 0]
        return None

    def sizes(self, ell: int | None = None) -> dict[Any, Any]:
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

    def relation(self, relation: Any) -> bool | None:
        top = self._below(relation)
        if top is not None:
            return top
        ells = (
            [e for e in range(1, self.instance.d + 1) if e != self.k] if terms.ell in relation.free_symbols else [None]
        )
        answers = []
        for ell in ells:
            values = {number: self.number(number, ell) for number in relation.atoms(terms.MatrixNumber)}
            if any(value is None for value in values.values()):
                return None
            answer = relation.xreplace(values).subs(self.sizes(ell))
            answer = answer if answer in (sp.true, sp.false) else sp.simplify(answer)
            if answer not in (sp.true, sp.false):
                return None
            answers.append(bool(answer))
        return all(answers)

    def _below(self, relation: Any) -> bool | None:
        """``lambda_1(X) < c`` for a number c: no eigenvalue is right of the line ``Re = c``; ``None`` where not told so."""
        if not isinstance(relation, sp.StrictLessThan) or not isinstance(relation.lhs, terms.Eigenvalue):
            return None
        term, index = relation.lhs.args
        if index != 1 or not relation.rhs.is_Rational or self.roots(self.matrix(term)) is not None:
            return None
        value = self.matrix(term)
        if not all(entry.is_Rational for entry in value):
            return None
        rows = [
            [interval(entry - (relation.rhs if i == j else 0)) for j, entry in enumerate(value.row(i))]
            for i in range(value.rows)
        ]
        return True if counts_outside(rows, Time.FLOW, 0.0) == 0 else None

    # -- claims ----------------------------------------------------------------------------------------------------

    def claim(self, word: Any, data: Mapping[str, Any]) -> bool | None:
        """Is the claim true of this instance?"""
        if isinstance(word, claims.When):
            given = self.condition(word.condition)
            return None if given is None else True if not given else self.claim(word.claim, data)
        if isinstance(word, claims.Iff):
            given, inner = self.condition(word.condition), self.claim(word.claim, data)
            return None if given is None or inner is None else given == inner
        if isinstance(word, claims.Equilibrium):
            return self.at_rest()
        if isinstance(word, claims.Diverges):
            return stays_bounded(self, word.every)
        if self.instance.system.rotary is not None and not isinstance(word, claims.Converges | claims.Vanishes):
            return None  # no closed form of the Jacobian here
        if isinstance(word, claims.Stable):
            return self._stable()
        if isinstance(word, claims.Unstable):
            return self._unstable()
        if isinstance(word, claims.LyapunovStable):  # the linearization denies it, or gives more
            moves = self.at_rest() is False and not self.two_cycle()
            return False if moves or self._unstable() else True if self._stable() else None
        if isinstance(word, claims.SpectrumIs):
            return self._spectrum_is(word)
        if isinstance(word, claims.TwoCycle):
            return self.two_cycle()
        if isinstance(word, claims.AttentionRank):
            rank = self.attention_rank()
            return None if rank is None else rank == sp.sympify(word.rank).subs(self.sizes())
        if isinstance(word, claims.Converges | claims.AlmostEveryConverges):
            return limit_truth(self, word, data)
        if isinstance(word, claims.ForwardInvariant):
            return left_region(self, word, data)
        if isinstance(word, claims.Decreases | claims.Increases | claims.Nonnegative | claims.Vanishes):
            return self._observable(word)
        return None

    def _spectrum_is(self, word: claims.SpectrumIs) -> bool | None:
        """Claimed values against the exact characteristic polynomial on the tangent spaces."""
        polynomial = intrinsic_charpoly(self.instance) if self.at_rest() else None
        if polynomial is None:
            return None
        z = polynomial.gen
        claimed = sp.Poly(1, z)
        for value, count in word.classes:
            indexed = terms.ell in (sp.sympify(value).free_symbols | sp.sympify(count).free_symbols)
            for ell in [e for e in range(1, self.instance.d + 1) if e != self.k] if indexed else [None]:
                values = {number: self.number(number, ell) for number in sp.sympify(value).atoms(terms.MatrixNumber)}
                if any(each is None for each in values.values()):
                    return None
                number = sp.simplify(sp.sympify(value).xreplace(values).subs(self.sizes(ell)))
                times = sp.sympify(count).subs(self.sizes(ell))
                if not number.is_Rational or not times.is_Integer or times < 0:
                    return None
                claimed = claimed * sp.Poly(z - number, z) ** int(times)
        return bool(claimed.monic() == polynomial.monic())

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

    def _stable(self) -> bool | None:
        if self.at_rest() is not True:
            return False if self.at_rest() is False else None
        limit = 1.0 if self.instance.system.time is Time.MAP else 0.0
        if self._outside(limit) == 0:
            return True
        return False if self._unstable() or self._some_on_boundary() else None

    def _unstable(self) -> bool | None:
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
        limit = 1 if self.instance.system.time is Time.MAP else 0
        return polynomial is not None and bool(polynomial.eval(limit) == 0)

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

    def attention_rank(self) -> int | None:
        if self.instance.system.multihead:
            return None  # each head has weights of its own
        score = None if self.instance.system.score is None else self.named(self.instance.system.score)
        tokens = [sp.Matrix(token) for token in self.instance.tokens]
        seen = self.instance.mask or [[1] * len(tokens)] * len(tokens)
        rows = []
        for x, mask in zip(tokens, seen, strict=True):
            raw = [
                sp.Integer(0) if not sees else sp.Integer(1) if score is None else sp.exp((x.T * score * y)[0, 0])
                for y, sees in zip(tokens, mask, strict=True)
            ]
            rows.append([sp.simplify(each / sum(raw)) for each in raw])
        return int(sp.Matrix(rows).rank(simplify=True))

    def _observable(self, word: Any) -> bool | None:
        from eigentoken.theory.systems.algebra import LoopAlgebra

        scalars = LoopAlgebra(iv.exp, iv.sqrt, iv.mpf(1))

        def numbers(value: Any) -> Any:
            if isinstance(value, tuple) and value and isinstance(value[0], Mapping):
                return [{name: numbers(each) for name, each in head.items()} for head in value]
            return (
                [[interval(entry) for entry in row] for row in value] if isinstance(value, tuple) else interval(value)
            )

        parameters = {name: numbers(value) for name, value in self.instance.parameters.items()}
        state = [[interval(entry) for entry in token] for token in self.instance.tokens]
        value = word.observable(scalars, self.instance.system, parameters, state, self.instance.mask)
        if isinstance(word, claims.Decreases | claims.Increases):
            image, _ = interval_jacobian(self.instance)
            if self.instance.system.time is Time.MAP:
                after = word.observable(scalars, self.instance.system, parameters, image, self.instance.mask)
                change = after - value
            else:
                change = slope_along(word.observable, self.instance, parameters, state, image)
            value = -change if isinstance(word, claims.Decreases) else change
        if isinstance(word, claims.Vanishes):
            return False if value.a > 0 or value.b < 0 else None
        if isinstance(word, claims.Nonnegative) and word.strict and value.a == 0 and value.b == 0:
            return False
        return True if value.a > 0 else False if value.b < 0 else None
