"""What the sheet of bounds knows of each hypothesis: one instance that fails without it, by the variant of this name."""

from __future__ import annotations

from .dropped_conditions import Known

__all__ = ["KNOWN_BOUNDS"]

KNOWN_BOUNDS: dict[str, tuple[Known, ...]] = {
    "BD-D1": (Known("the diameter", r"in the Frobenius norm $|\Pi A \Pi|$ may be $\sqrt2$"),),
    "BD-D2b": (Known("the norm of the centred weights", r"1 in its place: it may be $\sqrt2$"),),
    "BD-D3": (Known("the largest distance of a value", "the residual of the values in its place"),),
    "BD-E1": (
        Known("kappa", "half the norm of K in its place: a complex pair"),
        Known("2 kappa < g", "kappa < g: a complex pair", place="c1", searched=False),
        Known("real part", "the modulus of the others is not bounded"),
        Known("the top eigenvector", "the second one in its place"),
    ),
    "BD-E2": (
        Known("mu_- > 0", "F = diag(-1/4, -1/2), alpha = 1: differences grow by 4/3", place="c2", searched=False),
        Known("the step", "F = diag(1, -2), alpha = 3: the multiplier -5/4", place="c3", searched=False),
    ),
    "BD-H1": (
        Known("modulus dominance", "F = P = diag(1, -2), alpha = 1/4: ends at +- e_2", place="c1", searched=False),
        Known("a simple leader", "it follows from its modulus", needed=False, place="c0"),
        Known("one side", "a pair on both sides stays", place="c3", searched=False),
        Known("lambda > 0", "F = -I: a 2-cycle", place="c2", searched=False),
    ),
    "BD-J2": (Known("the column sum", "the largest entry in its place: all rows look at one key"),),
    "BD-L1": (
        Known("16/27 and the last p", "1/4 and no p: n = 2, d = 1, p = 1 exceeds 1.5811"),
        Known("the query bias", "P = 0, b_Q = 3: the bound without it is sqrt(2)"),
    ),
    "BD-M2": (Known("self-loops", "two tokens that look at each other only"),),
    "BD-N1": (Known("max|g|", "the mean gain: g = (3, 1), x = e_1"),),
    "BD-P2": (
        Known("beta >= -(n - 1)", "n = 3, beta = -4: the rate exceeds 1 near consensus", place="c5", searched=False),
        Known("rho_0 > -1/(n - 1)", "the simplex is a rest point"),
    ),
    "BD-P3": (
        Known("raw distances", "shrinking distances: n = 2, beta = 1, rho = 0"),
        Known("beta >= 0", "n = 3, beta = -1: a < b", place="c5", searched=False),
    ),
    "BD-P4": (
        Known("$t^{-2}$", "$e^{-2t}$ in pre-LN: $\\beta = 0$, $t = 50$"),
        Known("one exponent", "another one for peri: dr/drho is the same"),
    ),
    "BD-R1": (
        Known("no mask", "causal, n = 2, P = 0: D becomes D/2, the bound is 0"),
        Known("the factor 1/4", "1/8: the pair attains tanh(1/4)"),
        Known("the norm of U", "the spectral radius: U nilpotent"),
    ),
    "BD-R1b": (
        Known("no mask", "causal, n = 2, P = 0: D becomes D/2, the bound is 0"),
        Known("the factor 1/4", "1/8: the pair attains tanh(1/4)"),
    ),
    "BD-R4": (Known("no mask", "causal, n = 2, P = 0: D changes by D/2, the bound is 0"),),
    "BD-S1": (Known("the factor 2", "a = (1/2, 1/2): the norm is 1/2, a_i (1 - a_i) = 1/4"),),
    "BD-S2": (Known("osc/4", "osc/8: TV-S2 has variation 1/2 and tanh(ln(9)/8) < 1/2"),),
    "BD-S3": (Known("e^w", "$e^{w/2}$: one key at ln 16 above two others has the weight 8/9 > 2/3"),),
}
