"""BD-R1b and BD-R4 in the kernel: diameters across attention, from norms alone, without a skip and with one.

Of finitely many numbers one is the largest: numbers that differ by at most 2r lie within r of the largest one less r.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bounds.head_map import OTHER, head, two_tokens
from eigentoken.proofs.bounds.rows import I, J, K, for_all
from eigentoken.proofs.steps.theorems import EUCLIDEAN, LARGEST_NUMBER, OPERATOR_NORM, TANGENT_OF_TANH
from eigentoken.theory.calculus import SLOT, Expression, Index, dot, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import TRUE, Disjunction, Exists, ForAll, Proposition, conjuncts, proposition
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Rate, Tensor
from eigentoken.theory.language.terms import SpectralNorm, alpha, matrix

__all__ = ["CONTRACTED", "SKIP"]

_B, _W = matrix("B"), matrix("W")
_VALUES, _SCORES = SpectralNorm(_B), SpectralNorm(_W)
_D = sp.Symbol("D", nonnegative=True)


def _token(at: Index) -> Expression:
    return vector("x", at)


def _square(given: Expression) -> Expression:
    return dot(given, given)


_IN_DIAMETER = for_all(sp.Le(Tensor(_square(_token(J) - _token(K))), _D**2, evaluate=False), J, K)
_GAP = head(I) - head(OTHER)
_SIZE = Tensor(_square(_GAP))
_REACH = _SCORES * _D**2 / 4
_FROM_NORMS = _VALUES * _D * sp.tanh(_REACH)
_CUBIC = _VALUES * _SCORES * _D**3 / 4
#: BD-R1b: ``|f_i - f_k| <= |B| D tanh(|W| D^2/4) <= |B| |W| D^3/4`` where all distances are at most D.
CONTRACTED = tuple(
    ForAll(_D, _IN_DIAMETER, for_all(sp.Le(sp.sqrt(_SIZE), bound, evaluate=False), I, OTHER))
    for bound in (_FROM_NORMS, _CUBIC)
)

_APART = _square(_token(I) - _token(OTHER))
_AFTER = Tensor(_APART) + Rate(_APART)
_UP = sp.Le(sp.sqrt(_AFTER), sp.sqrt(Tensor(_APART)) + alpha * _FROM_NORMS, evaluate=False)
_DOWN = sp.Ge(sp.sqrt(_AFTER), sp.sqrt(Tensor(_APART)) - alpha * _FROM_NORMS, evaluate=False)
#: BD-R4 for one head: a distance changes by at most ``alpha |B| D tanh(|W| D^2/4)`` where all distances are at most D.
SKIP = tuple(ForAll(_D, _IN_DIAMETER, for_all(each, I, OTHER)) for each in (_UP, _DOWN))


class _Spread:
    """The numbers ``v_j = y^T A x_j``: they differ by at most ``|A| |y| D = 2r``, so they lie within r of the largest less r."""

    def __init__(self, left: Expression, name: str, top: str, twice: sp.Expr) -> None:
        self.left, self.name, self.top, self.twice = left, name, Index("token", top), twice

    def value(self, at: Index) -> Expression:
        """``y^T A x_j``."""
        return dot(self.left, _token(at), product(self.name))

    def largest(self, k: Kernel) -> Proved:
        """One of them is the largest."""
        found = k.textbook(LARGEST_NUMBER, value=self.value(SLOT))
        below = sp.Le(Tensor(self.value(J)), Tensor(self.value(self.top)), evaluate=False)
        return k.part(found, Exists(self.top, TRUE, for_all(below, J)))

    def near(self, k: Kernel, radius: sp.Expr, *known: Proved) -> Proved:
        """All lie within r of the largest less r; ``known``: ``|A|^2 |y|^2 D^2 <= (2r)^2`` and ``2r >= 0``."""
        apart, size = _token(self.top) - _token(J), SpectralNorm(matrix(self.name))
        pushed, most = apart.applied(product(self.name)), self.value(self.top)
        close_by = k.instantiate(k.instantiate(k.assume(_IN_DIAMETER), self.top), J)
        norm = k.textbook(OPERATOR_NORM, A=matrix(self.name), z=apart)
        image = sp.Le(Tensor(_square(pushed)), size**2 * _D**2, evaluate=False)
        image = k.arithmetic([close_by, norm, k.square(apart)], image)
        parts = [k.textbook(EUCLIDEAN, y=self.left, z=pushed), image, *known, k.square(self.left), k.square(pushed)]
        small = k.arithmetic(parts, sp.Le(Tensor(dot(self.left, pushed)) ** 2, self.twice**2, evaluate=False))
        split = [k.total(most, -self.value(J)), k.scaling(self.value(J), -1), small, *known]
        first, own = Tensor(most), Tensor(self.value(J))
        gap = k.arithmetic(split, sp.Le(first - own, self.twice, evaluate=False))
        above = k.instantiate(k.assume(self.largest(k).proposition.body), J)
        sides = [sp.Le(own, first, evaluate=False), sp.Ge(own, first - 2 * radius, evaluate=False)]
        return k.generalise(J, k.conjunction(*(k.arithmetic([above, gap, *known], each) for each in sides)))


_LEFT = _token(I) - _token(OTHER)
_SCORED = _Spread(_LEFT, "W", "m", _SCORES * _D**2)
_VALUED = _Spread(_GAP, "B", "g", _VALUES * sp.sqrt(_SIZE) * _D)
_RADIUS = _VALUED.twice / 2


def _sizes(k: Kernel) -> tuple[Proved, ...]:
    """The two norms and the two squares that :class:`_Spread` asks for."""
    norms = [k.textbook(OPERATOR_NORM, A=each, z=_LEFT) for each in (_B, _W)]
    positive = [k.arithmetic([norm], sp.Ge(size, 0)) for norm, size in zip(norms, (_VALUES, _SCORES), strict=True)]
    return (*positive, k.square(_LEFT), k.square(_GAP), k.instantiate(k.instantiate(k.assume(_IN_DIAMETER), I), OTHER))


def _case(k: Kernel, found: Proved, reach: sp.Expr, radius: sp.Expr, *known: Proved) -> Proved:
    """``|f_i - f_k|^2 <= 2 r tanh h`` for the values of h and r in this case: positive ones, or zero."""
    squares = [k.square(_GAP)]
    middle = Tensor(_SCORED.value(_SCORED.top)) - 2 * reach
    centre = Tensor(_VALUED.value(_VALUED.top)) - radius
    for value in (I, OTHER, _GAP, middle, reach, centre, radius):
        guards = [*known, *squares, k.arithmetic(squares, sp.Ge(_SIZE, 0, evaluate=False))]
        found = k.instantiate(found, value, *guards)
    left = found.proposition.left
    scores = _SCORED.near(k, 2 * reach, *known)
    values = _VALUED.near(k, radius, *known)
    parts = []
    for said, here in zip(conjuncts(left), (scores, values), strict=True):
        inner = k.instantiate(here, J)
        parts.append(k.generalise(J, k.conjunction(*(k.arithmetic([inner], each) for each in conjuncts(said.body)))))
    return k.modus_ponens(found, k.conjunction(*parts))


def _sign_cases(k: Kernel, value: sp.Expr, known: tuple[Proved, ...]) -> tuple[Proved, tuple[Proposition, ...]]:
    """A number that is not negative is positive or zero."""
    ways = (sp.Gt(value, 0, evaluate=False), sp.Eq(value, 0, evaluate=False))
    either = Disjunction(tuple(map(proposition, ways)))
    return k.arithmetic(known, either), either.parts


def _tanh_of_reach(k: Kernel, known: tuple[Proved, ...]) -> Proved:
    """``0 <= tanh(|W| D^2/4) <= |W| D^2/4``."""
    reach = k.arithmetic(known, sp.Ge(_REACH, 0, evaluate=False))
    value = sp.Symbol("h", real=True)
    sign = k.lemma((sp.Ge(value, 0),), sp.Ge(sp.tanh(value), 0), value)
    return k.conjunction(k.apply(sign, [_REACH], reach), k.textbook(TANGENT_OF_TANH, reach, x=_REACH))


def _distance(k: Kernel, bound: sp.Expr) -> Proved:
    """``|f_i - f_k| <= bound`` under the diameter D, by cases for h and r."""
    known, said = _sizes(k), sp.Le(sp.sqrt(_SIZE), bound, evaluate=False)
    tanh = _tanh_of_reach(k, known)
    split = [k.total(dot(_GAP, head(I)), -dot(_GAP, head(OTHER))), k.scaling(dot(_GAP, head(OTHER)), -1)]
    rows = two_tokens(k)
    scores, reaches = _sign_cases(k, _REACH, known)
    values, radii = _sign_cases(k, _RADIUS, known)
    ways = []
    for reach, far in zip((_REACH, sp.Integer(0)), reaches, strict=True):
        inner = []
        for radius, wide in zip((_RADIUS, sp.Integer(0)), radii, strict=True):
            case = _case(k, rows, reach, radius, k.assume(far), k.assume(wide), *known)
            found = k.arithmetic([case, *split], sp.Le(_SIZE, 2 * radius * sp.tanh(reach), evaluate=False))
            here = [found, tanh, k.assume(far), k.assume(wide), *known]
            inner.append((wide, k.arithmetic(here, said)))
        ways.append((far, k.by_cases(values, *inner)))
    found = k.by_cases(scores, *ways)
    for spread in (_VALUED, _SCORED):
        found = k.exists_elimination(spread.largest(k), found)
    return found


def contracted(k: Kernel) -> Proved:
    """A proof of :data:`CONTRACTED`: the second bound follows from the first, ``tanh h <= h``."""
    sizes, ends = _sizes(k), []
    first = _distance(k, _FROM_NORMS)
    slope = k.arithmetic([_tanh_of_reach(k, sizes), *sizes], sp.Le(_FROM_NORMS, _CUBIC, evaluate=False))
    for found in (first, k.arithmetic([first, slope], sp.Le(sp.sqrt(_SIZE), _CUBIC, evaluate=False))):
        for letter in (OTHER, I):
            found = k.generalise(letter, found)
        ends.append(k.generalise(_D, found, _IN_DIAMETER))
    return k.conjunction(*ends)


def skip(k: Kernel) -> Proved:
    """A proof of :data:`SKIP`: the increment of ``|x_i - x_k|^2``, and the triangle inequality."""
    apart = _token(I) - _token(OTHER)
    moved = k.increment(_APART)
    found = moved.proposition.word.relation.rhs.expression
    cross, own = dot(apart, _GAP), dot(_GAP, _GAP)
    known = [
        moved,
        k.reduction(found, cross * (2 * alpha) + own * alpha**2),
        k.total(cross * (2 * alpha), own * alpha**2),
        k.scaling(cross, 2 * alpha),
        k.scaling(own, alpha**2),
    ]
    after = k.arithmetic(
        known, sp.Eq(_AFTER, Tensor(_APART) + 2 * alpha * Tensor(cross) + alpha**2 * _SIZE, evaluate=False)
    )
    squares = [k.textbook(EUCLIDEAN, y=apart, z=_GAP), k.square(apart), k.square(_GAP)]
    sides = sp.sqrt(Tensor(_APART)), sp.sqrt(_SIZE)
    along = sp.And(sp.Le(Tensor(cross), sides[0] * sides[1]), sp.Ge(Tensor(cross), -sides[0] * sides[1]))
    between = k.arithmetic(squares, along)
    far = (sides[0] + alpha * sides[1]) ** 2, (sides[0] - alpha * sides[1]) ** 2
    within = k.arithmetic([after, between, *squares[1:]], sp.And(sp.Le(_AFTER, far[0]), sp.Ge(_AFTER, far[1])))
    values = (sp.sqrt(_AFTER), *sides, _FROM_NORMS)
    letters = new, old, way, most = sp.symbols("u v g m", real=True)
    given = [sp.Ge(each, 0) for each in letters[:3]]
    given += [sp.Le(new**2, (old + alpha * way) ** 2), sp.Ge(new**2, (old - alpha * way) ** 2), sp.Le(way, most)]
    at_values = dict(zip(letters, values, strict=True))
    known = [within, *squares[1:]]
    shown = [k.arithmetic(known, each.xreplace(at_values)) for each in given[:5]]
    shown.append(_distance(k, _FROM_NORMS))
    ends = []
    for said, short in ((_UP, new <= old + alpha * most), (_DOWN, new >= old - alpha * most)):
        lemma = k.lemma(given, short, *letters)
        defined = [k.arithmetic(known, sp.Ge(each**2, 0, evaluate=False)) for each in values[:3]]
        for value in values:
            lemma = k.instantiate(lemma, value, *defined)
        end = k.arithmetic([k.modus_ponens(lemma, k.conjunction(*shown))], said)
        for letter in (OTHER, I):
            end = k.generalise(letter, end)
        ends.append(k.generalise(_D, end, _IN_DIAMETER))
    return k.conjunction(*ends)
