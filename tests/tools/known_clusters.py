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
    "CL-3": (Known("distinct tokens", "two equal leaders share a row"),),
    "CL-6": (Known("PositiveDefinite(W)", "W = B = -1, tokens +-x: they move apart", place="c2"),),
    "CL-8": (Known("InHemisphere()", "an antipodal pair rests", place="c5", searched=False),),
    "CL-10": (Known("Relation(d >= 3)", "d = 2: the bracket changes sign", place="c1", searched=False),),
    "CL-12": (Known("Relation(d >= 2)", "on two points no token moves", place="c2", searched=False),),
    "CL-14": (Known("far from all earlier tokens", "an ordinary centre moves by -0.198 where 0.075 is allowed"),),
    "CL-15": (Known("IsIdentity(V)", "a rotation as value matrix: clusters rotate", place="c0", searched=False),),
    "CT-9a": (Known(_PAIR, "n = 2, V = diag(1, -1): antipodal pairs attract an open set", place="c4"),),
    "CT-12": (
        Known(
            "NonPrincipalModulusBelow(V)",
            "V = diag(1, -5), M = -I, angles +-0.6: the angle grows",
            place="c3",
        ),
    ),
    "CT-13": (Known("SimpleTop(V)", "V = I: every consensus is at rest", place="c1", searched=False),),
    "CT-14": (Known("v_1^T M v_2 = 0", "a quadratic term: the point is semistable"),),
    "CT-15": (Known("m > (1 + 3s)/(2|lambda_2|)", "m = 0: the group opens"),),
    "PM-X5": (Known("no mixed scores", "V = diag(1, -1/2), M = (0 1; 0 0), alpha = 1/4: a start at -1/10 leaves"),),
    "PH-X3": (Known("a widest pair", "W = 1, tokens 0, 1/10, 3, -3: an inner pair"),),
    "PH-X2": (Known("$H_l > 0$", "tokens 1, 0, -1, W = B = 1: the middle token stays"),),
    "PM-T2+": (Known(_PAIR, "n = d = 2, lambda_2 < 0: antipodal pairs attract", place="c5"),),
    "PM-X1": (
        Known(
            "NonPrincipalModulusBelow(V)",
            "V = diag(1, -5), M = -I, alpha = 1/10, angles +-0.6: the angle grows",
            place="c3",
            searched=False,
        ),
    ),
    "PM-X2": (
        Known(
            "Relation(alpha * (EigenvalueModulus(V, d) - Eigenvalue(V, 1)) < 2)",
            "V = diag(1, -2), alpha = 2: a multiplier is -1",
            place="c3",
            searched=False,
        ),
    ),
    "PM-X3": (Known("Symmetric(V)", "a quarter turn, one token: it turns for ever", place="c0", searched=False),),
    "PM-X4": (
        Known(
            "PositiveSemidefinite(V)",
            "V = diag(1, -20/21, -1), c = 1, alpha = 21/20: E falls from 0.7535 to 0.7358",
            place="c1",
            searched=False,
        ),
    ),
}
