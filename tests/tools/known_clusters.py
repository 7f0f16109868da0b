"""What the sheets on clusters and of new results know of each hypothesis: one instance that fails without it."""

from __future__ import annotations

from .dropped_conditions import Known

__all__ = ["KNOWN_CLUSTERS"]

_PAIR = "AnyOf((Relation(n >= 3), Relation(Eigenvalue(V, 2) > 0)))"

KNOWN_CLUSTERS: dict[str, tuple[Known, ...]] = {
    "AB-X6": (
        Known(
            "Relation(Eq(SpectralNorm(P), 0))",
            "U = diag(1, 1/2), P = diag(0, 3): a stable rest off the axis",
            place="c4",
        ),
    ),
    "CL-1": (Known("$\\lambda \\ge 0$", "B = W = -1, tokens +-1: the rescaled tokens spread"),),
    "CL-2": (
        Known(
            "Relation(Eigenvalue(B, 1) > 0)",
            "B = -1, W = 1, tokens +-x: e^t x grows without bound",
            place="c2",
            searched=False,
        ),
        Known("a simple leader", "it follows from its modulus", place="c0", needed=False),
        Known(
            "Relation(ScoreAtEigenvector(W, B, 1) > 0)",
            "B = diag(1, 1/2, 1/2), W = diag(0, 1, 1): four hyperplanes",
            place="c3",
            searched=False,
        ),
        Known(
            "NonPrincipalModulusBelow(B)",
            "B = diag(1, -2, -2), W = diag(1/10, -1, -1), a hexagon: limits near 1, 2, 3",
            place="c1",
            searched=False,
        ),
        Known("two instead of three", "d = 1, B = W = 1, tokens -1, 0, 1"),
    ),
    "CL-3": (
        Known("PositiveDefinite(W)", "W = -1, tokens +-1: averages fall with the query", place="c2", searched=False),
        Known(
            "Relation(Eq(d, 1))",
            "W = diag(1, 10), tokens +-(1, 1): an average moves against its query",
            place="c0",
            searched=False,
        ),
        Known("distinct tokens", "two equal leaders share a row"),
    ),
    "CL-6": (
        Known("IsIdentity(-B)", "B = I: equal tokens grow", place="c0", searched=False),
        Known(
            "Symmetric(W)", "W a rotation with cosine 5/13: a ring of three tokens grows", place="c1", searched=False
        ),
        Known("PositiveDefinite(W)", "W = B = -1, tokens +-x: they move apart", place="c2"),
    ),
    "CL-8": (
        Known("IsIdentity(U)", "U = -I: two tokens at right angles part", place="c3", searched=False),
        Known('BoundedInTime("P")', "the gap freezes for P(t) = e^{2t} I", place="c4", searched=False),
        Known("the sphere", "AB-X1 holds on every ellipsoid", place="c0", needed=False),
        Known("a symmetric metric", "W = I is symmetric", place="c1", needed=False),
        Known("a definite metric", "W = I is definite", place="c2", needed=False),
        Known("InHemisphere()", "an antipodal pair rests", place="c5", searched=False),
    ),
    "CL-9a": (
        Known("IsIdentity(V)", "V = -I: two orthogonal tokens move apart", place="c0", searched=False),
        Known("MultipleOf(M)", "M = diag(1, 0): another rate than for either eigenvalue", place="c1", searched=False),
    ),
    "CL-10": (
        Known("IsIdentity(V)", "V = -I: two tokens at right angles part", place="c0", searched=False),
        Known(
            "Relation(Eigenvalue(M, 1) >= -1/2)",
            "d = 3, M = -2 I: the regular tetrahedron attracts",
            place="c3",
            searched=False,
        ),
        Known("Relation(d >= 3)", "d = 2: the bracket changes sign", place="c2", searched=False),
        Known("almost every start", "an antipodal pair rests"),
        Known("a connected graph", "two groups with no weight between them"),
    ),
    "CL-12": (
        Known("IsIdentity(U)", "U = diag(2, 1): the first token moves", place="c0", searched=False),
        Known('BoundedInTime("P")', "token 2 freezes for P(t) = e^{2t} I", place="c1", searched=False),
        Known("Relation(d >= 2)", "on two points no token moves", place="c2", searched=False),
    ),
    "CL-14": (
        Known("IsIdentity(U)", "U = diag(2, 1): the first token moves", place="c0", searched=False),
        Known("the circle", "the bound of the velocity needs no order of the tokens", place="c1", needed=False),
        Known("far from all earlier tokens", "an ordinary centre moves by -0.198 where 0.075 is allowed"),
    ),
    "CL-15": (Known("IsIdentity(V)", "a rotation as value matrix: clusters rotate", place="c0", searched=False),),
    "CL-16": (
        Known(
            "Symmetric(M)",
            "M = (1, 1; 0, 1), tokens (2, 0), (1, 6/5): 4 > 3.64, but 4.4",
            place="=>2.0",
            searched=False,
        ),
        Known(
            "two tokens, for a leader if only sym M > 0", "M = (1, 2; -2, 1), three tokens at 120 degrees: no leader"
        ),
        Known("one gain for all coordinates", "diag(3/5, 7/10) moves e_1 out of the triangle 0, e_1, e_2"),
    ),
    "CT-10": (
        Known("Symmetric(V)", "V = M a quarter turn, one token: it turns for ever", place="c0", searched=False),
        Known(
            "scores that are not zero",
            "without scores it is the Oja flow, a gradient flow, too",
            needed=False,
            place="c2",
        ),
    ),
    "CT-9a": (
        Known(
            "Relation(Eigenvalue(V, 1) > 0)", "V = diag(-1/4, -1/2): consensus is unstable", place="c2", searched=False
        ),
        Known(_PAIR, "n = 2, V = diag(1, -1): antipodal pairs attract an open set", place="c4"),
    ),
    "CT-12": (
        Known("Symmetric(V)", "V = (1, 1; 0, 1/2): equal tokens along (7, -24) leave", place="c0", searched=False),
        Known("a simple leader", "it follows from its modulus", needed=False, place="c1"),
        Known("a positive leader", "it follows from its modulus (for d = 1 nothing moves)", needed=False, place="c2"),
        Known("InHemisphere(V)", "V = diag(1, 1/2), M = 0: the tokens +-e_1 rest", place="c4", searched=False),
        Known(
            "NonPrincipalModulusBelow(V)",
            "V = diag(1, -5), M = -I, angles +-0.6: the angle grows",
            place="c3",
        ),
    ),
    "CT-13": (
        Known("Symmetric(V)", "V = (1, 20; 0, 1/2), M = 0: the tangent 1/10 grows", place="c0", searched=False),
        Known(
            "a simple leader",
            "where lambda_1 = lambda_2 no ball is claimed: nu is not positive",
            needed=False,
            place="c1",
        ),
        Known(
            "a positive leader", "where lambda_1 <= 0 no ball is claimed: nu is not positive", needed=False, place="c2"
        ),
    ),
    "CT-14": (Known("v_1^T M v_2 = 0", "a quadratic term: the point is semistable"),),
    "CT-15": (Known("m > (1 + 3s)/(2|lambda_2|)", "m = 0: the group opens"),),
    "PM-X5": (Known("no mixed scores", "V = diag(1, -1/2), M = (0 1; 0 0), alpha = 1/4: a start at -1/10 leaves"),),
    "PH-X3": (
        Known("IsZero(B + W)", "B = 0, W = 1: nothing moves", place="c0", searched=False),
        Known("PositiveDefinite(W)", "W = -1, B = 1, one token: it grows", place="c1", searched=False),
        Known("a widest pair", "W = 1, tokens 0, 1/10, 3, -3: an inner pair"),
    ),
    "PH-X2a": (Known("$\\lambda \\ge 0$", "W = B = -1, alpha = 1, tokens +-1: the upper one moves to 1 + tanh 1"),),
    "PH-X2": (Known("$H_l > 0$", "tokens 1, 0, -1, W = B = 1: the middle token stays"),),
    "PM-T2+": (
        Known(
            "Symmetric(V)",
            "V = 1 + (9/10, -3; 3, 9/10), alpha = 3/10: consensus is unstable",
            place="c0",
            searched=False,
        ),
        Known(
            "Relation(Eigenvalue(V, 1) > 0)",
            "V = diag(-1/4, -1/2), alpha = 1: consensus is unstable",
            place="c2",
            searched=False,
        ),
        Known(
            "Relation(alpha*SpectralNorm(V) < 1)",
            "V = diag(1/2, -1), alpha = 41/10: v_2 flips for ever",
            place="c4",
            searched=False,
        ),
        Known(_PAIR, "n = d = 2, lambda_2 < 0: antipodal pairs attract", place="c5"),
    ),
    "PM-X1": (
        Known(
            "Symmetric(V)", "V = (1, 1; 0, 1/2), alpha = 1: a token along (1, -3) leaves", place="c0", searched=False
        ),
        Known("a simple leader", "it follows from its modulus", needed=False, place="c1"),
        Known(
            "Relation(Eigenvalue(V, 1) > 0)", "d = 1, V = -1, alpha = 2: the token flips", place="c2", searched=False
        ),
        Known("InHemisphere(V)", "V = diag(1, 1/2), M = 0: the tokens +-e_1 rest", place="c4", searched=False),
        Known(
            "NonPrincipalModulusBelow(V)",
            "V = diag(1, -5), M = -I, alpha = 1/10, angles +-0.6: the angle grows",
            place="c3",
            searched=False,
        ),
    ),
    "PM-X2": (
        Known(
            "Symmetric(V)", "V = (1, 20; 0, 1/2), alpha = 1: the tangent 1/20 becomes 3/40", place="c0", searched=False
        ),
        Known("a simple leader", "where lambda_1 = lambda_2 no ball is claimed: eta* is 0", needed=False, place="c1"),
        Known(
            "a positive leader",
            "where lambda_1 <= 0 no ball is claimed: eta* is not positive",
            needed=False,
            place="c2",
        ),
        Known("the step", "beyond it no ball is claimed: eta* is not positive", needed=False, place="c3"),
    ),
    "PM-X3": (Known("Symmetric(V)", "a quarter turn, one token: it turns for ever", place="c0", searched=False),),
    "PM-X4": (
        Known("MultipleOf(M, V)", "V = diag(1, 1/10), M = diag(-1, 20): a score falls", place="c2", searched=False),
        Known("Relation(Trace(M*V) > 0)", "V = I, M = -I: the energy falls", place="c3", searched=False),
        Known(
            "PositiveSemidefinite(V)",
            "V = diag(1, -20/21, -1), c = 1, alpha = 21/20: E falls from 0.7535 to 0.7358",
            place="c1",
            searched=False,
        ),
    ),
    "CL-4": (Known("IsIdentity(B)", "B = 2 I: equal tokens leave the rescaled hull", place="c0", searched=False),),
    "CL-7": (
        Known("IsIdentity(V)", "V = 2 I, M = V: a score is 2 > c = 1", place="c0", searched=False),
        Known("symmetric values", "V = I is symmetric", place="c1", needed=False),
    ),
    "AB-X5": (
        Known("P = I", "z = P^{1/2} y is an exact conjugacy (AB-X0)", place="c0", needed=False),
        Known("the circle", "AB-X0 has every d >= 2", place="c1", needed=False),
        Known("four tokens", "AB-X0 has every n, by a cited theorem", place="c2", needed=False),
    ),
}
