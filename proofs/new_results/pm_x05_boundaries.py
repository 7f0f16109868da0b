"""PM-X5, PM-X6, PM-X7, CT-14, CT-15: bipartite states on the boundary of PM-N3 and CT-6, where the linearisation is silent.

With ``b_1 = tanh(s + t)``, ``b_2 = tanh(s - t)``: where ``lambda_2 = lambda_1 h(s, t)`` one multiplier is 1, the quadratic term
vanishes by symmetry, and the sign of the cubic coefficient along the null vector decides.  Own derivations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from eigentoken.proofs.bibliography import HERE
from eigentoken.proofs.new_results.antipodal_sides import kept_pairs, left_sides
from eigentoken.proofs.power_method.pm_l12_jacobian_at_bipartite import LINE, ON_THE_LINE, sigma
from eigentoken.proofs.power_method.pm_l15_attention_polygonal_points import semistable
from eigentoken.proofs.power_method.pm_n03_stable_bipartite_criterion import harmonic
from eigentoken.proofs.power_method.symbols import M, V, alpha, d, n, p, q
from eigentoken.proofs.properties.checks import OnInstances, gap
from eigentoken.proofs.steps.equations import RAW, TOKEN, Z, for_every
from eigentoken.theory.calculus import Expression, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    ForAll,
    Implication,
    Negation,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import LyapunovStable
from eigentoken.theory.language.conditions import Relation, SimpleTop, Symmetric
from eigentoken.theory.language.places import BipartiteAt
from eigentoken.theory.language.terms import Eigenvalue, ScoreAtEigenvector, SpectralNorm, t_split
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement, Variant, Vector

_SECOND = VectorLetter("u")
_v, _u, _z, _SCORE = vector(LINE.name), vector(_SECOND.name), vector(Z.name), matrix("M")
_STAYS = proposition(LyapunovStable(BipartiteAt(V, 1)))
_LEAVES = Negation(_STAYS)


def _form(one: Expression, other: Expression) -> Tensor:
    """``a^T M b``."""
    return Tensor(dot(one, other, _SCORE))


def _equal(left: object, right: object) -> Proposition:
    return proposition(sp.Eq(left, right, evaluate=False))


def _eigenvector(of: Expression, value: object) -> Proposition:
    """A unit eigenvector of V."""
    along = sp.Eq(Tensor(dot(_z, of.applied(matrix("V")))), value * Tensor(dot(_z, of)), evaluate=False)
    return Conjunction((_equal(Tensor(dot(of, of)), 1), for_every(along, Z)))


# -- two groups of equal size on a direction of score zero (K2 of the sheet) -------------------------------------------------

_UNIT = _equal(Tensor(dot(_v, _v)), 1)
_HALVES = _equal(Tensor(sigma(TOKEN).summed(TOKEN)), 0)
_ON_LINE = Tensor(dot(_z, RAW)) - Tensor(dot(_z, vector("x", TOKEN)))
_PUSHED = alpha * sp.tanh(_form(_v, _v)) * Tensor(dot(_z, vector("x", TOKEN).applied(matrix("V"))))
#: Half of the tokens at v and half at -v, v any unit vector: ``y_i = (I + alpha tanh(v^T M v) V) x_i``.
REDUCTION = ForAll(
    LINE, TRUE, Implication(Conjunction((_UNIT, ON_THE_LINE, _HALVES)), for_every(_equal(_ON_LINE, _PUSHED), TOKEN, Z))
)

_MU = sp.Symbol("mu", real=True)
_MIXED = _form(_v, _u) + _form(_u, _v)
_NO_MIXED = for_every(sp.Eq(_form(_v, _z) + _form(_z, _v), 0, evaluate=False), Z)
_BALANCED = _equal(p, q)
_PAIR = (
    _equal(n, 2),
    proposition(Eigenvalue(V, 2) < 0),
    proposition(alpha * sp.Abs(Eigenvalue(V, d)) < 2),
)


def _with_second(*said: Proposition) -> Proposition:
    """For the top eigenvector v and every eigenvector u with a smaller eigenvalue: not Lyapunov stable where that is said."""
    places = Conjunction(
        (
            _BALANCED,
            _eigenvector(_v, Eigenvalue(V, 1)),
            _eigenvector(_u, _MU),
            proposition(Eigenvalue(V, 1) > _MU),
            *said,
        )
    )
    return ForAll(LINE, TRUE, ForAll(_SECOND, TRUE, ForAll(_MU, TRUE, Implication(places, _LEAVES))))


def _pair(form: Proposition) -> Proposition:
    places = Conjunction((_BALANCED, *_PAIR, _eigenvector(_v, Eigenvalue(V, 1)), _NO_MIXED, form))
    return ForAll(LINE, TRUE, Implication(places, _STAYS))


_ACROSS = _equal(Tensor(dot(_z, _v)), 0)
_LONG = proposition(Tensor(dot(_z, _z)) > 0)
_POSITIVE = ForAll(Z, Conjunction((_ACROSS, _LONG)), proposition(_form(_z, _z) > 0))
ANTIPODAL_AT_ZERO = (
    REDUCTION,
    _with_second(_equal(_form(_v, _v), 0), proposition(sp.Ne(_MIXED, 0))),
    _with_second(_NO_MIXED, proposition(_form(_u, _u) < 0)),
    _pair(_POSITIVE),
    _pair(for_every(sp.Eq(_form(_z, _z), 0, evaluate=False), Z)),
)


def on_the_antipodal_set(source: np.random.Generator) -> Mapping[str, float]:
    """One step of the map on half of the tokens at z and half at -z, and the ratio of the coordinates in an eigenbasis."""
    half, size = int(source.integers(1, 4)), int(source.integers(2, 5))
    values = np.sort(source.normal(size=size))[::-1]
    M, z, step = source.normal(size=(size, size)), source.normal(size=size), float(source.uniform(0.05, 0.3))
    z = z / np.linalg.norm(z)
    x = np.array([z] * half + [-z] * half)
    scores = np.exp(x @ M @ x.T)
    y = x + step * (scores / scores.sum(1, keepdims=True)) @ x * values
    slope = np.tanh(z @ M @ z)
    return {"reduction": gap(y, x * (1 + step * slope * values))}


# -- the boundary of the criterion (K3) ---------------------------------------------------------------------------------------


def cubic(s: Any, m: Any, b1: Any, b2: Any) -> Any:
    """``C / lambda_1``: the cubic coefficient along the null vector, m the score of the second eigenvector."""
    low, sums = _parts(b1, b2)
    return -sums[0] * (s * low[0] + m * low[1] + low[2]) / (4 * (b1 + b2) * sums[1])


def _parts(b1: Any, b2: Any) -> tuple[tuple[Any, Any, Any], tuple[Any, Any]]:
    """``(p_s, p_m, p_0)`` and ``(X, Y)``."""
    both = b1 * (1 - b2) + b2 * (1 - b1)
    squares = b1**2 * (1 - b2) + b2**2 * (1 - b1)
    p_s = 8 * b1**4 * b2**4 - 8 * b1**4 * b2**3 - 8 * b1**3 * b2**4 + 6 * b1**4 * b2 + 6 * b1 * b2**4
    p_s += -3 * b1**4 - 3 * b2**4 + 2 * b1**3 * b2**2 + 2 * b1**2 * b2**3 - 2 * b1**2 * b2**2
    p_m = 2 * (b1 - b2) ** 2 * (squares + b1 * b2 - b1**2 * b2**2)
    return (p_s, p_m, -((b1 - b2) ** 2) * (b1 + b2) * both), (both, squares)


def threshold(s: Any, b1: Any, b2: Any) -> Any:
    """``m*``, for groups of different sizes."""
    p_s, p_m, p_0 = _parts(b1, b2)[0]
    return -(s * p_s + p_0) / p_m


_S = _form(_v, _v)
_B1, _B2 = sp.symbols("b_1 b_2", real=True)
_SLOPES = (_equal(_B1, sp.tanh(_S + t_split)), _equal(_B2, sp.tanh(_S - t_split)))
_C = Eigenvalue(V, 1) * cubic(_S, _form(_u, _u), _B1, _B2)
_THIRD = proposition(sp.Or(sp.Eq(d, 2), Eigenvalue(V, 3) < Eigenvalue(V, 2)))
_SMALL_GROUP = Disjunction((_equal(q, 1), proposition(sp.Gt(_S, t_split, evaluate=False))))


def _at_boundary(*said: Proposition) -> Conjunction:
    h = sp.sympify(harmonic(1)).xreplace({ScoreAtEigenvector(M, V, 1): _S})
    crosses = (_equal(_form(_v, _u), 0), _equal(_form(_u, _v), 0))
    eigen = (_eigenvector(_v, Eigenvalue(V, 1)), _eigenvector(_u, Eigenvalue(V, 2)))
    return Conjunction(
        (
            *eigen,
            *crosses,
            proposition(_S > 0),
            _SMALL_GROUP,
            _THIRD,
            _equal(Eigenvalue(V, 2), Eigenvalue(V, 1) * h),
            *said,
        )
    )


def _both(said: Proposition, then: Proposition) -> Proposition:
    return ForAll(LINE, TRUE, ForAll(_SECOND, TRUE, Implication(said, then)))


def _by_slopes(said: Proposition, then: Proposition) -> Proposition:
    return ForAll(_B1, TRUE, ForAll(_B2, TRUE, _both(said, then)))


#: Stable in the sense of Lyapunov where C < 0, not where C > 0.
AT_THE_BOUNDARY = (
    _by_slopes(_at_boundary(*_SLOPES, proposition(sp.Lt(_C, 0, evaluate=False))), _STAYS),
    _by_slopes(_at_boundary(*_SLOPES, proposition(sp.Gt(_C, 0, evaluate=False))), _LEAVES),
    _both(_at_boundary(_equal(p, q)), _LEAVES),
)

_NEUTRAL = Eigenvalue(V, 1) * (1 + 3 * _S) / 4 + Eigenvalue(V, 2) * _form(_u, _u) / 2


def _neutral(*said: Proposition) -> Conjunction:
    crosses = (_equal(_form(_v, _u), 0), _equal(_form(_u, _v), 0))
    eigen = (_eigenvector(_v, Eigenvalue(V, 1)), _eigenvector(_u, Eigenvalue(V, 2)))
    sizes = (_equal(d, 2), _equal(q, 2), proposition(p > 2), proposition(Eigenvalue(V, 2) < 0))
    return Conjunction((*eigen, *crosses, *sizes, _equal(_S, t_split), *said))


#: A group of two whose own pull is neutral, ``s = t``.
NEUTRAL_GROUP = (
    _both(_neutral(proposition(sp.Lt(_NEUTRAL, 0, evaluate=False))), _STAYS),
    _both(_neutral(proposition(sp.Gt(_NEUTRAL, 0, evaluate=False))), _LEAVES),
)

_DIGITS = 40


def _tanhs(s: Any, many: int, few: int) -> tuple[Any, Any]:
    t = mp.log(mp.mpf(many) / few) / 2
    return mp.tanh(s + t), mp.tanh(s - t)


Groups = list[tuple[int, Any]]
"how many tokens are at which angle of the plane"


def motion(second: Any, scores: Any, groups: Groups, step: Any = None) -> list[Any]:
    """Angular velocity of each group (of the map with that step: how far its angle moves), V = diag(1, second)."""
    tokens = [(mp.cos(each), mp.sin(each)) for _, each in groups]
    found = []
    for c, y in tokens:
        query = (c * scores[0][0] + y * scores[1][0], c * scores[0][1] + y * scores[1][1])
        weights = [
            many * mp.exp(query[0] * other[0] + query[1] * other[1])
            for (many, _), other in zip(groups, tokens, strict=True)
        ]
        whole = sum(weights)
        push = [sum(w * other[k] for w, other in zip(weights, tokens, strict=True)) / whole for k in range(2)]
        across, along = c * second * push[1] - y * push[0], c * push[0] + y * second * push[1]
        found.append(across if step is None else mp.atan2(step * across, 1 + step * along))
    return found


def _diagonal(s: Any, m: Any, up: Any = 0, down: Any = 0) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    return ((mp.mpf(s), mp.mpf(up)), (mp.mpf(down), mp.mpf(m)))


def along_the_null_vector(
    s: Any, m: Any, many: int, few: int, size: Any, step: Any = None, mixed: tuple[Any, Any] = (0, 0)
) -> Any:
    """``L f(size R) / (L R)`` for the motion f of the two groups in the plane, at the boundary."""
    b1, b2 = _tanhs(s, many, few)
    second = 2 * b1 * b2 / (b1 + b2)
    null = (b2 * (1 - b1), -b1 * (1 - b2))
    left = ((1 - b2) * null[0], (1 - b1) * null[1])
    if step is not None:
        left = (left[0] * (1 + step * b1), left[1] * (1 + step * b2))
    groups = [(many, size * null[0]), (few, mp.pi + size * null[1])]  # the second group is at -(cos b, sin b)
    found = motion(second, _diagonal(s, m, *mixed), groups, step)
    return (left[0] * found[0] + left[1] * found[1]) / (left[0] * null[0] + left[1] * null[1])


def _coefficient(value: Any, power: int) -> Any:
    """The coefficient of ``size^power`` of an odd (or even) function without lower terms, by Richardson's rule."""
    size = mp.mpf(1) / 1000
    one, two = value(size) / size**power, value(size / 2) / (size / 2) ** power
    return (4 * two - one) / 3


def boundary_coefficient(source: np.random.Generator) -> Mapping[str, float]:
    """The cubic coefficient of the tokens themselves against C; the map has the same sign."""
    with mp.workdps(_DIGITS):
        few = int(source.integers(1, 3))
        many = few + int(source.integers(0, 3))
        s = mp.log(mp.mpf(many) / few) / 2 + mp.mpf(float(source.uniform(0.2, 1.5)))
        m = mp.mpf(float(source.normal())) * 3
        b1, b2 = _tanhs(s, many, few)
        stated = cubic(s, m, b1, b2)
        flow = _coefficient(lambda size: along_the_null_vector(s, m, many, few, size), 3)
        step = mp.mpf(1) / 3
        layer = _coefficient(lambda size: along_the_null_vector(s, m, many, few, size, step), 3)
        found = {"cubic": gap(float(flow), float(stated))}
        if abs(stated) > 1e-6:
            found["sign for the map"] = float(-sp.sign(layer * stated))
        if many == few:
            found["equal groups"] = float(-stated)
        return found


def opened(many: int, size: Any) -> Groups:
    """``(v_1, ..., v_1, -(cos size, +-sin size))``."""
    return [(many, mp.mpf(0)), (1, mp.pi + size), (1, mp.pi - size)]


def neutral_coefficient(source: np.random.Generator) -> Mapping[str, float]:
    """``beta' = C_b beta^3`` on the invariant set ``(v_1, ..., v_1, -(cos beta, +-sin beta))``; the layer moves the same way."""
    with mp.workdps(_DIGITS):
        many, second = int(source.integers(3, 7)), -mp.mpf(float(source.uniform(0.1, 0.9)))
        s, m = mp.log(mp.mpf(many) / 2) / 2, mp.mpf(float(source.normal())) * 4
        stated = (1 + 3 * s) / 4 + second * m / 2

        def moved(size: Any, step: Any = None) -> list[Any]:
            return motion(second, _diagonal(s, m), opened(many, size), step)

        flow = _coefficient(lambda size: moved(size)[1], 3)
        step = mp.mpf(1) / 3
        layer = _coefficient(lambda size: moved(size, step)[1], 3)
        rests = abs(moved(mp.mpf(1) / 10)[0])
        found = {"cubic": gap(float(flow), float(stated)), "invariant": float(rests) - 1e-20}
        if abs(stated) > 1e-6:
            found["sign for the map"] = float(-sp.sign(layer * stated))
        return found


def boundary_example() -> list[Any]:
    """``s = 1``, p = 2, q = 1: h, m*, C at m = 0 and 5; m* for ``s = ln 3`` and for ``s = 3/2``, p = 3, q = 2."""
    with mp.workdps(30):
        b1, b2 = _tanhs(mp.mpf(1), 2, 1)
        others = [threshold(s, *_tanhs(s, many, few)) for s, many, few in ((mp.log(3), 2, 1), (mp.mpf(3) / 2, 3, 2))]
        one = mp.mpf(1)
        return [
            *(2 * b1 * b2 / (b1 + b2), threshold(one, b1, b2), cubic(one, 0, b1, b2), cubic(one, 5, b1, b2)),
            *others,
        ]


def neutral_example() -> list[Any]:
    """p = 4, q = 2, V = diag(1, -1/2): C_b at m = 0 and 8, and where it vanishes."""
    s = sp.log(2) / 2
    return [(1 + 3 * s) / 4, (1 + 3 * s) / 4 - 2, 1 + 3 * s]


def mixed_scores_are_quadratic() -> Verdict:
    """``s = 1``, p = 2, q = 1, m = 5 and ``v_1^T M v_2 = 1``: a quadratic term, so that one side is left."""
    with mp.workdps(_DIGITS):
        found = _coefficient(lambda size: along_the_null_vector(mp.mpf(1), 5, 2, 1, size, mixed=(1, 0)), 2)
        below = _coefficient(lambda size: along_the_null_vector(mp.mpf(1), 5, 2, 1, -size, mixed=(1, 0)), 2)
        if abs(found) > mp.mpf(1) / 1000 and abs(found - below) < abs(found) / 100:
            return holds(f"quadratic coefficient {mp.nstr(found, 8)}: the same direction on both sides")
        return fails(f"{mp.nstr(found, 8)} and {mp.nstr(below, 8)}")


def second_score_too_small() -> Verdict:
    """p = 4, q = 2, V = diag(1, -1/2), m = 0: the angle of the group grows from 1/10."""
    with mp.workdps(_DIGITS):
        speed = motion(-mp.mpf(1) / 2, _diagonal(mp.log(2) / 2, 0), opened(4, mp.mpf(1) / 10))[1]
        return holds(f"beta' = {mp.nstr(speed, 8)} > 0 at beta = 1/10") if speed > 0 else fails(mp.nstr(speed, 8))


_SHARED = (Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(d >= 2), Relation(p >= q))
_SHORT = Relation(alpha * SpectralNorm(V) < 1)
_ASYMPTOTIC = Remark(
    RemarkKind.OPEN,
    r"Where it is stable the point attracts what starts near it: all other multipliers are inside the circle, and the reduction "
    r"principle puts the question to one curve. The coefficient is compared with the motion of the tokens to 40 digits; neither "
    r"the principle nor its use is in the kernel.",
)

PM_X5 = register(
    Statement(
        id="PM-X5",
        kind=Kind.EXTENSION,
        source=Source(HERE, "what replaces a sentence on PM-L15"),
        title="Two antipodal groups whose direction has the score zero",
        systems=("attention-map",),
        conditions=(Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(d >= 2)),
        claims=tuple(map(Formula, ANTIPODAL_AT_ZERO)),
        depends=("PM-L15",),
        property_tests=(OnInstances(on_the_antipodal_set), OnInstances(left_sides), OnInstances(kept_pairs)),
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"In coordinates $t_\ell = z_\ell/z_1$ of an eigenbasis the step is $t_\ell^+ = t_\ell\frac{1 + "
                r"\alpha\lambda_\ell\tau}{1 + \alpha\lambda_1\tau}$, $\tau = \tanh(z^{\top}Mz)$. Undecided: all mixed scores "
                r"vanish, and the form of $M$ across $v_1$ is neither definite nor zero. With a definite form the pair attracts.",
            ),
        ),
        variants=(
            Variant(
                "no mixed scores",
                "V = diag(1, -1/2), M = (0 1; 0 0), alpha = 1/4: the multipliers are 7/8 and 1, and a start at -1/10 leaves",
                semistable,
            ),
        ),
    )
)

_BOUNDARY_VECTOR = Vector(
    "s = 1, p = 2, q = 1: h, m*, C at m = 0 and m = 5; m* for s = ln 3, and for s = 3/2, p = 3, q = 2",
    boundary_example,
    (
        *("0.692664014762819", "2.57789309964301", "0.0596721086668933", "-0.0560660277887198"),
        *("2.83639516904834", "6.52385880507267"),
    ),
)
_NEUTRAL_VECTOR = Vector(
    "p = 4, q = 2, V = diag(1, -1/2): C_b at m = 0 and m = 8; the score at which it vanishes",
    neutral_example,
    ("0.509930192709979", "-1.490069807290021", "2.039720770839918"),
)


#: Witnesses along the flow; the map of a short step has the same terms of lowest order.
_SEMISTABLE = Variant("v_1^T M v_2 = 0", "a quadratic term: the point is semistable", mixed_scores_are_quadratic)
_OPENS = Variant("m > (1 + 3s)/(2|lambda_2|)", "m = 0: the group opens", second_score_too_small)


def _boundary(name: str, at: str, leans: str, *more: Relation) -> None:
    register(
        Statement(
            id=name,
            kind=Kind.EXTENSION,
            source=Source(HERE, f"{leans} where one of its inequalities is an equality"),
            title="Bipartite points on the boundary of the criterion: the score of the second eigenvector decides",
            systems=(at,),
            conditions=(*_SHARED, *more),
            claims=tuple(map(Formula, AT_THE_BOUNDARY)),
            depends=(leans,),
            property_tests=(OnInstances(boundary_coefficient),),
            notes=(_ASYMPTOTIC,),
            vectors=(_BOUNDARY_VECTOR,),
            variants=(_SEMISTABLE,) if at == "attention-flow" else (),
        )
    )


def _neutral_group(name: str, at: str, leans: str, *more: Relation) -> None:
    register(
        Statement(
            id=name,
            kind=Kind.EXTENSION,
            source=Source(HERE, f"{leans} with a group of two that neither attracts nor repels itself"),
            title="Bipartite points with a neutral group of two",
            systems=(at,),
            conditions=(*_SHARED, *more),
            claims=tuple(map(Formula, NEUTRAL_GROUP)),
            depends=(leans,),
            property_tests=(OnInstances(neutral_coefficient),),
            notes=(
                _ASYMPTOTIC,
                Remark(
                    RemarkKind.OPEN,
                    r"For even $q < p$, $s = t$ and any $d$ the point is left where $C_b = \frac{\lambda_1(1 + 3s)}4 + "
                    r"\frac{\lambda_2m}2 > 0$; for $q \ge 4$ or $d \ge 3$ nothing is known where $C_b < 0$.",
                ),
            ),
            vectors=(_NEUTRAL_VECTOR,),
            variants=(_OPENS,) if at == "attention-flow" else (),
        )
    )


_boundary("PM-X6", "attention-map", "PM-N3", _SHORT)
_boundary("CT-14", "attention-flow", "CT-6")
_neutral_group("PM-X7", "attention-map", "PM-N3", _SHORT)
_neutral_group("CT-15", "attention-flow", "CT-6")
