"""Re-check counterexamples from a report alone, with the second arithmetic.

``recheck(document)`` takes what ``Certified.as_dict()`` wrote (a counterexample of a report) and gives a verdict for each
of its certificates: ``holds`` where the second arithmetic agrees, ``fails`` where it finds the opposite or the numbers
were changed, ``undecided`` where it has no method.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.numerics.lab.documents import DocumentError, decode
from eigentoken.numerics.lab.second_arithmetic import (
    DIGITS,
    EXACT,
    counts_outside,
    exact_charpoly,
    interval,
    interval_jacobian,
    is_definite,
    middle,
    none_outside,
)
from eigentoken.theory import claims, conditions, points, terms
from eigentoken.theory.instances import Instance, InstanceError, read_instance
from eigentoken.theory.systems import Space, Time
from eigentoken.theory.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.words_flows import IsIdentity

__all__ = ["recheck", "recheck_report"]


def recheck_report(report: Mapping[str, Any]) -> list[tuple[str, Verdict]]:
    """Every certificate of every counterexample of a report of ``refute``."""
    listed = []
    for result in report.get("results", []):
        parts = [(result["name"], result.get("counterexample"))]
        parts += [
            (f"{result['name']} without {line['condition']}", line.get("counterexample")) for line in result["dropped"]
        ]
        for name, counterexample in parts:
            if counterexample is not None:
                listed += [(f"{name}: {what}", verdict) for what, verdict in recheck(counterexample)]
    return listed


def recheck(counterexample: Mapping[str, Any]) -> list[tuple[str, Verdict]]:
    """The verdict of the second arithmetic for each certificate of one counterexample."""
    listed = []
    for certificate in counterexample["certificates"]:
        try:
            verdict = _one(certificate, counterexample)
        except (DocumentError, InstanceError, KeyError, TypeError, ValueError) as problem:
            verdict = fails(f"the certificate cannot be read: {type(problem).__name__}: {problem}")
        listed.append((certificate.get("condition", "?"), verdict))
    return listed


def _one(certificate: Mapping[str, Any], counterexample: Mapping[str, Any]) -> Verdict:
    data = certificate["data"]
    document = {"instance": data["instance"], "k": data["k"], "p": data["p"]}
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    if certificate["inputs"].get("instance") != digest or data["instance"] != counterexample["instance"]:
        return fails("the numbers are not those that were certified: the digest differs")
    if data.get("statement") is None:
        return undecided("a free predicate has no second arithmetic")
    look = SecondLook(read_instance(data["instance"]), int(data["k"]), int(data["p"]))
    word = decode(data["statement"])
    if certificate["kind"] == "lab/condition":
        truth = look.condition(word)
    else:
        found = look.claim(word, data)
        truth = None if found is None else not found
    if truth is None:
        return undecided("the second arithmetic has no method for this")
    return holds("the second arithmetic agrees") if truth else fails("the second arithmetic finds the opposite")


class SecondLook:
    """One exact instance, seen by sympy, Fractions and mpmath intervals."""

    def __init__(self, instance: Instance, k: int, p: int) -> None:
        iv.dps = DIGITS
        self.instance, self.k, self.p = instance, k, p

    # -- conditions ------------------------------------------------------------------------------------------------

    def matrix(self, term: Any) -> sp.Matrix:
        values = {symbol: self._named(symbol.name) for symbol in term.atoms(sp.MatrixSymbol)}
        made = term.xreplace({symbol: sp.ImmutableMatrix(value) for symbol, value in values.items()})
        return sp.Matrix(made.doit())

    def _named(self, name: str) -> sp.Matrix:
        parameters = self.instance.parameters
        if name in parameters:
            return sp.Matrix(parameters[name])
        if "heads" in parameters and name in parameters["heads"][0]:
            return sum((sp.Matrix(head[name]) for head in parameters["heads"]), sp.zeros(self.instance.d))
        if name == "F" and self.instance.system.value:
            return self._named(self.instance.system.value)
        raise DocumentError(f"no matrix {name}")

    def roots(self, value: sp.Matrix) -> list[sp.Expr] | None:
        """All eigenvalues, largest first, where they are real and the matrix is rational."""
        if not all(entry.is_Rational for entry in value):
            return None
        polynomial = sp.Poly(value.charpoly(sp.Symbol("z")).as_expr(), sp.Symbol("z"))
        found = polynomial.real_roots()
        return list(reversed(found)) if len(found) == self.instance.d else None

    def condition(self, word: Any) -> bool | None:
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
            roots = self.roots(self.matrix(word.term))
            if roots is None:
                return None
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
            return len(set(self.instance.tokens)) > 1
        if isinstance(word, conditions.BoundedInTime | conditions.UniformlyContinuous):
            return True
        if isinstance(word, IsIdentity):
            heads = self.instance.parameters.get("heads", (self.instance.parameters,))
            return all(sp.Matrix(head[word.term.name]) == sp.eye(self.instance.d) for head in heads)
        if isinstance(word, conditions.InHemisphere):
            return self._hemisphere(word)
        return None

    def _definite(self, word: Any) -> bool | None:
        value = self.matrix(word.term)
        half = (value + value.T) / 2
        roots = self.roots(half)
        if roots is None:
            return None
        if isinstance(word, conditions.NegativeDefinite):
            return bool(roots[0] < 0)
        return bool(roots[-1] >= 0 if isinstance(word, conditions.PositiveSemidefinite) else roots[-1] > 0)

    def _hemisphere(self, word: conditions.InHemisphere) -> bool | None:
        if word.normal is None:
            return None
        value = self.matrix(word.normal)
        vector = self._eigenvector(value.T if word.left else value, 1)
        if vector is None:
            return None
        heights = [(sp.Matrix(token).T * vector)[0, 0] for token in self.instance.tokens]
        return all(bool(h > 0) for h in heights) or all(bool(h < 0) for h in heights)

    def _eigenvector(self, value: sp.Matrix, index: int) -> sp.Matrix | None:
        roots = self.roots(value)
        if roots is None or not roots[index - 1].is_Rational:
            return None
        space = (value - roots[index - 1] * sp.eye(self.instance.d)).nullspace()
        return space[0] if len(space) == 1 else None

    def number(self, number: Any, ell: int | None) -> sp.Expr | None:
        sizes = self._sizes(ell)
        if isinstance(number, terms.Eigenvalue):
            roots = self.roots(self.matrix(number.args[0]))
            index = number.args[1].subs(sizes)
            return None if roots is None or not 1 <= index <= len(roots) else roots[int(index) - 1]
        if isinstance(number, terms.SpectralNorm):
            value = self.matrix(number.args[0])
            roots = self.roots(value) if value == value.T else None
            return None if roots is None else sp.Max(*(sp.Abs(root) for root in roots))
        if isinstance(number, terms.ScoreAtEigenvector):
            vector = self._eigenvector(self.matrix(number.args[1]), int(number.args[2].subs(sizes)))
            if vector is None:
                return None
            return (vector.T * self.matrix(number.args[0]) * vector)[0, 0] / (vector.T * vector)[0, 0]
        return None

    def _sizes(self, ell: int | None = None) -> dict[Any, Any]:
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
        ells = (
            [e for e in range(1, self.instance.d + 1) if e != self.k] if terms.ell in relation.free_symbols else [None]
        )
        answers = []
        for ell in ells:
            values = {number: self.number(number, ell) for number in relation.atoms(terms.MatrixNumber)}
            if any(value is None for value in values.values()):
                return None
            answer = relation.xreplace(values).subs(self._sizes(ell))
            answer = answer if answer in (sp.true, sp.false) else sp.simplify(answer)
            if answer not in (sp.true, sp.false):
                return None
            answers.append(bool(answer))
        return all(answers)

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
        if isinstance(word, claims.Stable):
            return self._stable()
        if isinstance(word, claims.Unstable):
            return self._unstable()
        if isinstance(word, claims.AttentionRank):
            rank = self.attention_rank()
            return None if rank is None else rank == sp.sympify(word.rank).subs(self._sizes())
        if isinstance(word, claims.Converges | claims.AlmostEveryConverges):
            return self._limit(word, data)
        if isinstance(word, claims.Decreases | claims.Increases | claims.Nonnegative | claims.Vanishes):
            return self._observable(word)
        return None

    def _outside(self, shift: float) -> int | None:
        pull = iv.mpf(50) if self._pulled() else None
        _, matrix = interval_jacobian(self.instance, pull=pull)
        return counts_outside(matrix, self.instance.system.time, shift)

    def _pulled(self) -> bool:
        return self.instance.system.time is Time.FLOW and self.instance.system.space is not Space.EUCLIDEAN

    def _spectrum(self) -> np.ndarray:
        pull = iv.mpf(50) if self._pulled() else None
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
        polynomial = exact_charpoly(self.instance)
        if polynomial is None or self._pulled():
            return None
        inside = none_outside(polynomial, self.instance.system.time)
        return False if inside else None

    def _some_on_boundary(self) -> bool:
        polynomial = exact_charpoly(self.instance)
        limit = 1 if self.instance.system.time is Time.MAP else 0
        return polynomial is not None and not self._pulled() and bool(polynomial.eval(limit) == 0)

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
        score = None if self.instance.system.score is None else self._named(self.instance.system.score)
        tokens = [sp.Matrix(token) for token in self.instance.tokens]
        rows = []
        for x in tokens:
            raw = [sp.exp((x.T * score * y)[0, 0]) if score is not None else sp.Integer(1) for y in tokens]
            rows.append([sp.simplify(each / sum(raw)) for each in raw])
        return int(sp.Matrix(rows).rank(simplify=True))

    def _observable(self, word: Any) -> bool | None:
        from eigentoken.theory.algebra import LoopAlgebra

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
            if self.instance.system.time is not Time.MAP:
                return None
            image, _ = interval_jacobian(self.instance)
            after = word.observable(scalars, self.instance.system, parameters, image, self.instance.mask)
            value = value - after if isinstance(word, claims.Decreases) else after - value
        if isinstance(word, claims.Vanishes):
            return False if value.a > 0 or value.b < 0 else None
        if isinstance(word, claims.Nonnegative) and word.strict and value.a == 0 and value.b == 0:
            return False
        return True if value.a > 0 else False if value.b < 0 else None

    # -- limits ----------------------------------------------------------------------------------------------------

    def _limit(self, word: Any, data: Mapping[str, Any]) -> bool | None:
        """``False`` where the attracting set elsewhere is confirmed; a limit claim is never confirmed."""
        kind, inner = data.get("kind", ""), data.get("data", {})
        if kind == "limit/contraction":
            return False if self._contracts(inner) and self._far(word.place, inner) else None
        if kind == "limit/exact-start":
            return False if self.at_rest() and self._not_at(word.place) else None
        if kind == "limit/attracting-manifold":
            return False if self._manifold() and self._not_at(word.place) else None
        if kind == "limit/growing-consensus":
            return False if self._grows() else None
        return None

    def _contracts(self, data: Mapping[str, Any]) -> bool:
        def rows(value: Any) -> list[list[Any]]:
            return [[_fraction(entry) for entry in row] for row in value]

        shape, centre = rows(data["shape"]), rows(data["centre"])
        eps, rate, pull = (_fraction(data[each]) for each in ("eps", "rate", "pull"))
        floats = np.array([[float(Fraction(entry)) for entry in row] for row in data["shape"]])
        widths = float(Fraction(data["eps"])) * np.sqrt(np.diag(np.linalg.inv(floats))) * 1.02
        size = len(shape)
        if not is_definite(shape):
            return False
        for a in range(size):  # the box holds the ellipsoid
            corner = (iv.mpf(float(widths[a])) / eps) ** 2
            bordered = [[*row, iv.mpf(int(i == a))] for i, row in enumerate(shape)]
            bordered.append([*(iv.mpf(int(i == a)) for i in range(size)), corner])
            if not is_definite(bordered):
                return False
        box = self._box(data)
        given = pull if self._pulled() else None
        _, matrix = interval_jacobian(self.instance, box, given)
        image, _ = interval_jacobian(self.instance, centre, given)
        discrete = self.instance.system.time is Time.MAP
        product = [[_sum(shape[i][k] * matrix[k][j] for k in range(size)) for j in range(size)] for i in range(size)]
        if discrete:
            gap = [
                [
                    rate * rate * shape[i][j] - _sum(matrix[k][i] * product[k][j] for k in range(size))
                    for j in range(size)
                ]
                for i in range(size)
            ]
            room = (1 - rate) * eps
            moved = [b - a for x, y in zip(centre, image, strict=True) for a, b in zip(x, y, strict=True)]
        else:
            gap = [
                [-(product[i][j] + product[j][i]) - 2 * rate * shape[i][j] for j in range(size)] for i in range(size)
            ]
            room = rate * eps
            moved = [b for y in image for b in y]
        half = [[(gap[i][j] + gap[j][i]) / 2 for j in range(size)] for i in range(size)]
        square = _sum(moved[i] * shape[i][j] * moved[j] for i in range(size) for j in range(size))
        return bool((rate.b < 1 or not discrete) and is_definite(half) and square.b < (room * room).a)

    def _far(self, place: Any, data: Mapping[str, Any]) -> bool:
        """No state of the box is at the place: tokens stay apart, or off the eigenvector, in interval arithmetic."""
        box = self._box(data)

        def parted(x: list[Any], y: list[Any]) -> tuple[bool, bool]:
            product = _sum(a * b for a, b in zip(x, y, strict=True))
            norms = _sum(a * a for a in x) * _sum(b * b for b in y)
            return bool((product * product - norms).b < 0), bool(product.b < 0)

        for i, x in enumerate(box):
            for y in box[:i]:
                apart, opposite = parted(x, y)
                if isinstance(place, points.ConsensusAt | points.ConsensusSet) and (apart or opposite):
                    return True
                if isinstance(place, points.BipartiteAt) and apart:
                    return True
        if isinstance(place, points.ConsensusAt):
            vector = self._eigenvector(self.matrix(place.term), int(sp.sympify(place.index).subs(self._sizes())))
            return vector is not None and any(parted(x, [interval(e) for e in vector])[0] for x in box)
        return isinstance(place, points.Zero) and any(a.a > 0 or a.b < 0 for x in box for a in x)

    def _box(self, data: Mapping[str, Any]) -> list[list[Any]]:
        floats = np.array([[float(Fraction(entry)) for entry in row] for row in data["shape"]])
        widths = float(Fraction(data["eps"])) * np.sqrt(np.diag(np.linalg.inv(floats))) * 1.02
        d = self.instance.d
        return [
            [_fraction(x) + iv.mpf([-float(widths[i * d + a]), float(widths[i * d + a])]) for a, x in enumerate(token)]
            for i, token in enumerate(data["centre"])
        ]

    def _not_at(self, place: Any) -> bool:
        tokens = [sp.Matrix(token) for token in self.instance.tokens]
        equal = all(token == tokens[0] for token in tokens)
        if isinstance(place, points.ConsensusSet):
            return not equal
        if isinstance(place, points.Zero):
            return any(token != sp.zeros(self.instance.d, 1) for token in tokens)
        if isinstance(place, points.ConsensusAt):
            if not equal:
                return True
            vector = self._eigenvector(self.matrix(place.term), int(sp.sympify(place.index).subs(self._sizes())))
            return vector is not None and sp.Matrix.hstack(vector, tokens[0]).rank() == 2
        return False

    def _manifold(self) -> bool:
        score = self.instance.system.score
        skew = score is None or self._named(score) == -self._named(score).T
        polynomial = exact_charpoly(self.instance)
        if (
            not skew
            or polynomial is None
            or self.instance.system.time is not Time.MAP
            or self.instance.mask is not None
        ):
            return False
        if self.instance.n != 2 or list(self.instance.tokens[0]) != [-entry for entry in self.instance.tokens[1]]:
            return False
        z = polynomial.gen
        rest, times = polynomial, 0
        while rest.eval(1) == 0:
            rest, times = rest.quo(sp.Poly(z - 1, z)), times + 1
        square_free = rest.quo(rest.gcd(rest.diff()))
        inside = square_free.count_roots(-1, 1) == square_free.degree() and square_free.eval(-1) != 0
        return bool(times == self.instance.d - 1 and inside and self.at_rest())

    def _grows(self) -> bool:
        from scipy.linalg import solve_continuous_lyapunov

        if len(set(self.instance.tokens)) != 1 or all(entry == 0 for entry in self.instance.tokens[0]):
            return False
        value = self._named(str(self.instance.system.value))
        floats = np.array([[float(entry) for entry in value.row(i)] for i in range(value.rows)])
        form = solve_continuous_lyapunov(floats.T, np.eye(value.rows))
        H = [[iv.mpf(float(form[min(i, j), max(i, j)])) for j in range(value.rows)] for i in range(value.rows)]
        B = [[interval(entry) for entry in value.row(i)] for i in range(value.rows)]
        size = value.rows
        product = [[_sum(H[i][k] * B[k][j] for k in range(size)) for j in range(size)] for i in range(size)]
        gap = [[product[i][j] + product[j][i] for j in range(size)] for i in range(size)]
        return is_definite(H) and is_definite(gap)


def _fraction(value: Any) -> Any:
    number = Fraction(str(value))
    return iv.mpf(number.numerator) / iv.mpf(number.denominator)


def _sum(values: Any) -> Any:
    total: Any = iv.mpf(0)
    for value in values:
        total = total + value
    return total
