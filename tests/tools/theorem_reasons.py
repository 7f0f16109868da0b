"""Theorems that say more than a book, which no small world decides: examples that contradict them, and those that are true.

``key: what was changed``; hypotheses are numbered as the page of textbook theorems prints them.
"""

from __future__ import annotations

__all__ = ["FAILS", "STILL_TRUE"]

STILL_TRUE: dict[str, str] = {
    "adapted-norm: for all, place 1": "there is one such v, and the norm does not depend on it",
    "Stewart: without hypothesis 4 of 8": "with -gap in place of gap it is the theorem, and the bound says nothing more",
    "uniform-continuity-of-a-quantity: without hypothesis 1 of 4": "x^T A x = 1 is the ellipsoid of sym(A): it is compact",
    "uniform-continuity-of-a-quantity: a strict conclusion, place 1": "take the delta of half of epsilon",
    "uniform-continuity-of-a-quantity: a strict conclusion, place 2": "take the delta of half of epsilon",
    "Wendel-recursion: a strict conclusion, place 1": "points that are close to each other share a hemisphere",
    "rises-between-levels: without hypothesis 1 of 4": "the same from any time on at which there is a trajectory",
    "exponential-decay: a strict conclusion, place 1": "wait until it is at most half of epsilon",
    "monotone: for any time": "a sum of increments that are not positive is not positive",
    "Liouville-fibre: without hypothesis 4 of 5": "it is about tokens on the sphere",
    "Liouville-fibre: for any space": "that tokens have unit length is among the hypotheses",
    "Rayleigh-second: without hypothesis 2 of 5": "with d = 1 the vector z is zero, and so are both sides",
    "ray: for any autonomous": "the weights in it are given numbers",
    "spectral-theorem: for all, place 1": "it is one of an orthonormal basis of eigenvectors",
    "stable-minima: without hypothesis 6 of 8": "no state is near a point off the sphere",
    "limit-at-rest: a strict conclusion, place 1": "wait until it is at most half of epsilon",
    "limit-at-rest: for any time": "the same of a flow at whole times: at rest its velocity is zero",
    "limit-at-rest: for any space": "a ball is closed and a polynomial is continuous in any space",
    "spectral-bounds-deflated: without hypothesis 2 of 5": "with d = 1 the vector z is zero, and so are all terms",
}

_MOVING = "a rate holds matrices fixed: tokens at rest and a matrix in the quantity that moves"
_FREE = "of a flow y_i and r_i are any vectors and numbers: with those of the identity nothing is asked of the flow"
_UNDEFINED = "where y_i = 0 the map has no value, and near it no limit"
_AT_REST = "a flow at rest stays where it is"
_TURNS = "the rotation of a circle has no limit"

FAILS: dict[str, str] = {
    "mean-value-tanh: without hypothesis 1 of 1": "tanh(-1) is above -1",
    "mean-value-tanh: a strict conclusion, place 1": "both sides are 0 at x = 0",
    "adapted-norm: for all, place 2": "(2, 0, 0; 0, 1, 9; 0, 0, 1) in the Euclidean norm",
    "adapted-norm: for all, place 3": "rho = 0, and an eigenvalue that is not zero",
    "Stewart: without hypothesis 5 of 8": "(0, 1; -1, 1) has no real eigenvector: below = beside = gap = 1",
    "Stewart: without hypothesis 7 of 8": "(0, 1; -1, 1) has no real eigenvector: below = gap = 1, beside = 0",
    "stable-minima: for any autonomous": "maps that are steeper with each step: a start near the minimum jumps to a lower one",
    "uniform-continuity-of-a-quantity: without hypothesis 2 of 4": "a token goes along a hyperbola with speed 1: its square",
    "uniform-continuity-of-a-quantity: without hypothesis 3 of 4": "a token goes along a line with speed 1: its square",
    "uniform-continuity-of-a-quantity: for all, place 1": "a token that moves, at times that are far apart",
    "Wendel-recursion: a strict conclusion, place 2": "one point lies in a hemisphere",
    "rises-between-levels: for any time": "the increments of -1, 3, -1, 3, ...: never between the levels 0 and 1",
    "comparison-linear: for any time": "v -> (1 + a) v grows less than e^{at}",
    "comparison-linear: for any autonomous": _MOVING,
    "comparison-of-the-largest: for any time": "(1, 0) -> (0, 5): the largest falls, another one jumps",
    "largest: for any time": "(1, 0) -> (0, 5): the largest falls, another one jumps",
    "largest: for any autonomous": _MOVING,
    "monotone: for any autonomous": _MOVING,
    "descent-sequences: without hypothesis 1 of 5": f"{_TURNS}: v = 0, c = 0",
    "descent-sequences: without hypothesis 2 of 5": _UNDEFINED,
    "descent-sequences: without hypothesis 3 of 5": f"{_TURNS}: v = 0",
    "descent-sequences: without hypothesis 4 of 5": "height h: turned by h, lowered by h^2, v = h; it goes round for ever",
    "descent-sequences: without hypothesis 5 of 5": _UNDEFINED,
    "descent-sequences: for any time": f"{_FREE}; {_TURNS}",
    "descent-sequences: for any autonomous": "at the limit, a saddle of v, each of the maps may still move",
    "descent-sequences: for any space": "x -> x + 1 on a line, v = -x",
    "limit-at-rest: without hypothesis 1 of 3": "the rotation of a circle rests nowhere, in a ball that is large: q = 1",
    "limit-at-rest: without hypothesis 2 of 3": "a state of rest that is not in the ball",
    "limit-at-rest: without hypothesis 3 of 3": "a state of rest, q = 1",
    "limit-at-rest: for all, place 1": "at the start it is not small",
    "limit-at-rest: a rate for a limit, place 1": "a limit may be reached as slowly as 1/t",
    "limit-at-rest: for any autonomous": "at the limit each of the maps may still move",
    "stable-minima: without hypothesis 1 of 8": "v = 0, c = 0 and an unstable fixed point",
    "stable-minima: without hypothesis 2 of 8": _UNDEFINED,
    "stable-minima: without hypothesis 3 of 8": "v = 0 and an unstable fixed point",
    "stable-minima: without hypothesis 4 of 8": "height h: turned by h^2, lowered by h^3, v = h^2; it goes round",
    "stable-minima: without hypothesis 5 of 8": _UNDEFINED,
    "stable-minima: without hypothesis 7 of 8": "a map that sends the minimum to a lower one far away",
    "stable-minima: without hypothesis 8 of 8": "a maximum is left",
    "stable-minima: for all, place 1": "a start that is far away need not come near",
    "stable-minima: for any time": f"{_FREE}; v = 0 and an unstable equilibrium",
    "LaSalle-principle: without hypothesis 1 of 2": "a rotation of the plane, v = x_1 and w = x_2",
    "LaSalle-principle: without hypothesis 2 of 2": "a rotation of the plane, v = 0 and w = 1",
    "LaSalle-principle: for all, place 1": "x' = -x, v = w = x^2, from x = 2",
    "LaSalle-principle: a rate for a limit, place 1": "x' = -x, v = w = x^2, from x = 2",
    "LaSalle-principle: for any time": "near y_i = 0 a map has no limit: limit sets need not be invariant",
    "LaSalle-principle: for any autonomous": "x' = -e^{-t} x, v = w = x^2",
    "Liouville-fibre: without hypothesis 1 of 5": "with d = 1 there is no tangent vector, and tokens rest",
    "Liouville-fibre: without hypothesis 2 of 5": f"{_AT_REST}: m = 0",
    "Liouville-fibre: without hypothesis 3 of 5": _AT_REST,
    "Liouville-fibre: without hypothesis 5 of 5": _AT_REST,
    "Liouville-fibre: for any time": "the doubling map of the circle stays there, and stretches",
    "Rayleigh-self-adjoint: without hypothesis 3 of 4": "d = 3, one token: twice a quarter turn of the tangent plane, plus two",
    "Rayleigh-second: without hypothesis 1 of 5": "d = 3, 2 beside the block (1, 4; 0, 1), z = (0, 1, 1): 6 > 2",
    "spectral-theorem: without hypothesis 2 of 2": "with d = 1 two unit vectors are not at right angles",
    "ray: without hypothesis 1 of 2": _AT_REST,
    "ray: without hypothesis 2 of 2": f"{_AT_REST}: g = 0",
    "ray: for any time": "x -> x - 3x, g = -3r < 0: it does not tend to zero",
    "strict-saddles: without hypothesis 2 of 6": _UNDEFINED,
    "strict-saddles: without hypothesis 3 of 6": f"{_TURNS}, nor a fixed point",
    "strict-saddles: without hypothesis 4 of 6": _UNDEFINED,
    "strict-saddles: without hypothesis 5 of 6": "a map that sends an open set to a saddle",
    "strict-saddles: without hypothesis 6 of 6": "the identity",
    "strict-saddles: for any time": f"{_FREE}; {_AT_REST}",
    "uniform-continuity-of-a-quantity: without hypothesis 4 of 4": "a token that turns with the angle t^2",
    "uniform-continuity-of-a-quantity: for any time": "the next state is anywhere within the speed",
    "Stewart: for any autonomous": "the matrix at another time has other eigenvectors: one is not one for all times",
    "adapted-norm: for any autonomous": "the matrix at another time has another norm: one is not one for all times",
}
_GRADIENT = {
    2: "the hyperboloid of an indefinite A has trajectories that leave every bounded set",
    3: "x' = 1 on a line, V = -x",
    4: f"{_TURNS}: V = 0, f = 0",
    5: f"{_TURNS}: V = 0, weight = 0",
    6: _TURNS,
}
for _key, _count in (("Lojasiewicz-gradient-flow", 6), ("strict-saddles-of-gradient-flows", 7)):
    FAILS |= {f"{_key}: without hypothesis {place} of {_count}": told for place, told in _GRADIENT.items()}
    FAILS[f"{_key}: for any time"] = "a step that is too long: a two-cycle about the minimum"
    FAILS[f"{_key}: for any autonomous"] = "a potential -b(t)^T x that turns: x follows it round"
FAILS["strict-saddles-of-gradient-flows: without hypothesis 7 of 7"] = f"{_AT_REST}: V = 0"

_SKEW = (
    "I + J in the plane, J the quarter turn: V = |x|^2 falls by the formula along x' = -Jx, which goes round for ever"
)
FAILS |= {
    "mean-of-a-form: without hypothesis 1 of 2": "A = I + J: (v^T A a)(v^T A b) + (v^T A c)(v^T A f) at c = -b, f = a is zero "
    "for every v, and its mean would be 2 a^T J b/d",
    "Lojasiewicz-gradient-flow: without hypothesis 1 of 6": _SKEW,
    "strict-saddles-of-gradient-flows: without hypothesis 1 of 7": f"{_SKEW}; no state is critical there",
    "strict-saddles: for any autonomous": "diag(11/10, 1/2) and diag(1/2, 11/10) in turn near a fixed point: each has a "
    "multiplier above 1, and together they contract",
    "strict-saddles: for any space": "an ellipse: a fixed point off the axes that attracts, by a formula that stretches at right "
    "angles to the state, where the ellipse does not go",
    "stable-minima: for any space": "an ellipsoid off its axes: (u, s) -> (u - u^3, s + u^2) with the function "
    "u^2 + m (x^T A x - 1), m such that it has no slope at right angles to x; s grows like the sum of 1/k",
}
FAILS |= {
    f"{_key}: for any matrices that move": _MOVING for _key in ("comparison-of-the-largest", "rises-between-levels")
}
STILL_TRUE |= {
    "Liouville-fibre: for any matrices that move": "volumes grow in a region that moves as in one that does not",
    "strict-saddles: without hypothesis 1 of 6": "to one of the unit vectors of the first eigenvalue, as the word says",
    "circle-landscape-exponential: without hypothesis 1 of 4": "in the coordinates of sym(A) it is I + sJ; along (J + sI)x the "
    "slope is -s sum a_ij e^{a_ij}, a_ij = x_i^T A x_j, and a e^a >= a with sum a_ij >= 0: for s != 0 no state is critical",
}
