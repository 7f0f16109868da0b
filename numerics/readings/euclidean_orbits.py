"""Starts whose trajectories are known exactly: what they do for ever.

* *Equal* tokens move by ``x' = B x``: the roots of the least polynomial p with ``p(B) x = 0`` say whether x(t) tends to 0, comes
  to rest, stays bounded (a root 0 or a pair on the axis is harmless where it is simple).
* A *mirrored* state on the line of an eigenvector (``x_i = s_i v``, ``B v = b v``, with -s for each s) stays one, and token i
  moves by ``s_i' = b m_i``, where m_i is the mean of the s_j with weights ``exp(w s_i s_j)``, ``w = v^T W v``.  For mirrored s
  the sign of m_i is that of ``w s_i``: each ``|s_i|`` falls to 0 where ``b w < 0``, and rises without bound where ``b w > 0``,
  but for tokens at 0.
* *Equal* tokens on the sphere go in the direction of ``e^{tF} x`` (of ``(I + alpha F)^k x``), F the sum of the value matrices.  A
  limit would be an eigenvector of F in the span of the ``F^k x``: where p has no real root there is none, and they turn for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp
from flint import fmpq, fmpq_mat, fmpq_poly

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings.exact_places import same_tokens
from eigentoken.numerics.readings.silent_linearizations import exact_rows, values_together
from eigentoken.theory.systems.system import Space, Time

__all__ = ["KnownOrbit", "known_orbit"]


@dataclass(frozen=True)
class KnownOrbit:
    """What is known of the trajectory; ``None``: nothing."""

    vanishes: bool | None
    "It tends to 0."
    rests: bool | None
    "It has a limit."
    bounded: bool | None
    told: str


def known_orbit(case: Case) -> KnownOrbit | None:
    """The trajectory of the start of the case, where it is one of those that are known."""
    system, tokens = case.instance.system, case.instance.tokens
    if system.space is Space.SPHERE:
        return _turning(case)
    if system.space is not Space.EUCLIDEAN or system.time is not Time.FLOW or not system.standard or system.multihead:
        return None
    if system.value is None or system.over_root_d:
        return None
    B, x = exact_rows(case.instance.parameters[system.value]), exact_rows(tokens)
    if B is None or x is None or not any(entry != 0 for token in x for entry in token):
        return None
    if all(same_tokens(token, tokens[0]) is True for token in tokens):
        return _equal(fmpq_mat(B), x[0])
    return _mirrored(case, fmpq_mat(B), x)


def _equal(B: fmpq_mat, x: list[fmpq]) -> KnownOrbit:
    p = _least_polynomial(B, x)
    stable = to_rest = bounded = True
    known = True
    for factor, times in p.factor()[1]:
        if factor.degree() == 1 and factor[0] == 0:
            stable, to_rest, bounded = False, to_rest and times == 1, bounded and times == 1
        elif factor.degree() == 2 and factor[1] == 0 and factor[0] * factor[2] > 0:
            stable, to_rest, bounded = False, False, bounded and times == 1
        else:
            roots = [root for root, _ in factor.complex_roots()]
            if any(root.real > 0 for root in roots):
                stable = to_rest = bounded = False
            elif not all(root.real < 0 for root in roots):
                known = False
    told = f"equal tokens move by x' = B x, and the least polynomial of B at the start is {_shown(p)}"
    if not known:  # what was found so far may only be denied
        return KnownOrbit(stable and None, to_rest and None, bounded and None, told)
    return KnownOrbit(stable, to_rest, bounded, told)


def _turning(case: Case) -> KnownOrbit | None:
    """Equal tokens on the sphere whose least polynomial has no real root."""
    tokens, F = case.instance.tokens, values_together(case)
    x = exact_rows(tokens[:1])
    if not case.instance.system.standard or F is None or x is None:
        return None
    if any(same_tokens(token, tokens[0]) is not True for token in tokens):
        return None
    p = _least_polynomial(F, x[0])
    z = sp.Symbol("z")
    if sp.Poly(_shown(p), z, domain="QQ").count_roots() > 0:
        return None
    told = f"equal tokens move by the value matrix alone, whose least polynomial at the start, {_shown(p)}, has no real root"
    return KnownOrbit(None, False, None, told)


def _shown(p: fmpq_poly) -> str:
    z = sp.Symbol("z")
    return str(sp.Poly([sp.Rational(int(p[i].p), int(p[i].q)) for i in range(p.degree(), -1, -1)], z).as_expr())


def _least_polynomial(B: fmpq_mat, x: list[fmpq]) -> fmpq_poly:
    """The monic p of least degree with ``p(B) x = 0``."""
    columns = [fmpq_mat([[entry] for entry in x])]
    while True:
        count = len(columns)
        rows = [[column[i, 0] for column in columns] for i in range(len(x))]
        following = B * columns[-1]
        wider = fmpq_mat([[*row, following[i, 0]] for i, row in enumerate(rows)])
        reduced, rank = wider.rref()
        if rank == count:
            return fmpq_poly([-reduced[i, count] for i in range(count)] + [fmpq(1)])
        columns.append(following)


def _mirrored(case: Case, B: fmpq_mat, x: list[list[fmpq]]) -> KnownOrbit | None:
    instance = case.instance
    system = instance.system
    if instance.mask is not None or system.rotary is not None or system.score is None:
        return None
    W = exact_rows(instance.parameters[system.score])
    v = next(token for token in x if any(entry != 0 for entry in token))
    pivot = next(a for a, entry in enumerate(v) if entry != 0)
    heights = [token[pivot] / v[pivot] for token in x]
    if W is None or any(token[a] != s * v[a] for token, s in zip(x, heights, strict=True) for a in range(case.d)):
        return None
    if sorted(heights) != sorted(-s for s in heights):
        return None
    image = B * fmpq_mat([[entry] for entry in v])
    b = image[pivot, 0] / v[pivot]
    if any(image[a, 0] != b * v[a] for a in range(case.d)):
        return None
    w = sum((v[i] * W[i][j] * v[j] for i in range(case.d) for j in range(case.d)), fmpq(0))
    if b * w < 0:
        return KnownOrbit(
            True, True, True, "a mirrored state on the line of an eigenvector of B, where every |x_i| falls to 0"
        )
    if b * w > 0:
        return KnownOrbit(
            False, False, False, "a mirrored state on the line of an eigenvector of B, where |x_i| rises without bound"
        )
    return KnownOrbit(False, True, True, "a mirrored state on the line of an eigenvector of B, where nothing moves")
