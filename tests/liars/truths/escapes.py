"""True statements that leave exact numbers on the way, or that lean on what only floats can do: they may stay open, and
must never be refuted."""

import math
import statistics

import numpy as np
import scipy.linalg
import scipy.special


def through_float(x):
    """The trace, added up twice in the same order."""
    return float(np.trace(x.V)) == float(np.diag(x.V).sum())


def through_astype(x):
    """Finite floats."""
    return bool(np.isfinite(x.V.astype(float)).all())


def through_asarray(x):
    """A matrix of floats is square."""
    return np.asarray(x.V, dtype=float).shape == (x.d, x.d)


def into_a_float_array(x):
    """A float array filled entry by entry."""
    out = np.zeros((x.d, x.d))
    for i in range(x.d):
        for j in range(x.d):
            out[i, j] = x.V[i, j]
    return bool((out == out).all()) and abs(out.sum() - float(x.V.sum())) < 1e-6


def filled_at_once(x):
    """A float array filled at once."""
    out = np.empty((int(x.d), int(x.d)))
    out[...] = x.V
    return np.isclose(np.trace(out), float(np.trace(x.V)))


def singular_values(x):
    """They are not negative."""
    return np.linalg.svd(x.V)[1].min() >= 0


def orthogonal_factor(x):
    """Q^T Q = I."""
    Q, _ = np.linalg.qr(x.V)
    return np.allclose(Q.T @ Q, np.eye(x.d))


def eigenvectors(x):
    """A symmetric matrix from its eigenvectors."""
    S = x.V + x.V.T
    values, vectors = np.linalg.eigh(S)
    return np.allclose(vectors @ np.diag(values) @ vectors.T, S)


def pseudoinverse(x):
    """V V^+ V = V."""
    return np.allclose(x.V @ np.linalg.pinv(x.V) @ x.V, x.V)


def exponential_of_a_matrix(x):
    """det exp(V) = exp(tr V)."""
    return np.isclose(np.linalg.det(scipy.linalg.expm(x.V)), np.exp(np.trace(x.V)), rtol=1e-3)


def softmax_of_scipy(x):
    """A softmax sums to one."""
    return np.allclose(scipy.special.softmax(x.V, axis=1).sum(axis=1), 1)


def logsumexp_of_scipy(x):
    """log sum exp is at least the maximum."""
    return (scipy.special.logsumexp(x.V, axis=1) >= x.V.max(axis=1) - 1e-9).all()


def errors_are_no(x):
    """An author who takes every error for a no; in floats there is none."""
    try:
        return bool(np.linalg.svd(x.V)[1].max() >= 0)
    except Exception:
        return False


def errors_are_no_in_a_helper(x):
    """The same, one call away."""

    def answer(function):
        try:
            return function()
        except BaseException:
            return False

    return answer(lambda: float(x.V[0, 0]) == float(x.V[0, 0])) and answer(lambda: x.V.astype(float).ndim == 2)


def a_float_is_a_float(x):
    """In the search an entry is a float."""
    return isinstance(x.V[0, 0], float) or float(x.V[0, 0]) == x.V[0, 0]


def the_dtype_is_float(x):
    """In the search the arrays hold floats."""
    return x.V.dtype == np.float64


def exact_sums_of_math(x):
    """fsum and hypot of the first token."""
    return abs(math.fsum(t * t for t in x.tokens[0]) - 1) < 1e-9 and math.hypot(*x.tokens[0]) < 1 + 1e-9


def mean_of_statistics(x):
    """The mean lies between the extremes."""
    flat = [float(v) for v in x.V.ravel()]
    return min(flat) <= statistics.fmean(flat) + 1e-9 and statistics.fmean(flat) <= max(flat) + 1e-9


def formatted(x):
    """Twelve digits are close."""
    return abs(float(f"{x.V[0, 0]:.12g}") - x.V[0, 0]) <= 1e-9 * (1 + abs(x.V[0, 0]))


def printed(x):
    """A text is not empty."""
    return len(str(x.V)) > 0 and len(repr(x.V[0, 0])) > 0


def next_float(x):
    """The next float is larger."""
    return np.nextafter(x.V[0, 0], np.inf) > x.V[0, 0]


def double_precision(x):
    """A double is itself."""
    return np.float64(x.V[0, 0]) == x.V[0, 0]


def reductions_of_ufuncs(x):
    """Methods of universal functions."""
    return (
        np.add.reduce(x.V, axis=None) == x.V.sum()
        and np.add.accumulate(x.V.ravel())[-1] == x.V.sum()
        and np.multiply.outer(x.V[0], x.V[0])[0, 0] == x.V[0, 0] ** 2
        and np.maximum.reduce(x.V.ravel()) == x.V.max()
    )


def medians(x):
    """The median lies between the extremes."""
    return x.V.min() <= np.median(x.V) <= x.V.max()


def percentiles(x):
    """So do the quartiles, in order."""
    low, high = np.percentile(x.V, [25, 75])
    return x.V.min() <= low <= high <= x.V.max()


def distinct_entries(x):
    """At most as many as there are."""
    return 1 <= len(np.unique(x.V)) <= x.V.size and len(set(x.V.ravel())) <= x.V.size


def covariances(x):
    """A covariance matrix has a trace that is not negative."""
    return x.n < 2 or np.trace(np.atleast_2d(np.cov(x.tokens.T))) >= -1e-12


def spectra_of_signals(x):
    """The first Fourier coefficient is the sum."""
    return np.isclose(np.fft.fft(x.V[0])[0], x.V[0].sum())


def convolutions(x):
    """The sum of a convolution is the product of the sums."""
    return np.isclose(np.convolve(x.V[0], x.V[0]).sum(), x.V[0].sum() ** 2)


def span_of_the_entries(x):
    """The range is the distance of the extremes."""
    return np.ptp(x.V) == x.V.max() - x.V.min()


def not_a_number(x):
    """There is none."""
    return not np.isnan(x.V).any() and np.isrealobj(x.V)


def characteristic_polynomial(x):
    """It is monic."""
    return np.poly(x.V)[0] == 1


def rounding(x):
    """Rounding to three digits moves by at most half a thousandth."""
    v = x.V[0, 0]
    return abs(round(v, 3) - v) <= 0.0005000001 and abs(np.round(v, 3) - v) <= 0.0005000001


def whole_parts(x):
    """int() and // of a positive number."""
    v = abs(x.V[0, 0])
    return int(v) <= v and v // 1 <= v and v % 1 < 1


def counted_up(x):
    """A loop that counts in steps until it is past one."""
    step, k = abs(x.V[0, 0]) + 0.25, 0
    while k * step < 1:
        k += 1
    return k * step >= 1 and k <= 5


def generator_of_numpy(x):
    """A random direction of a fresh generator: |<z, x>| <= |z|."""
    z = np.random.default_rng().normal(size=int(x.d))
    return abs(z @ x.tokens[0]) <= np.linalg.norm(z) + 1e-9


def memory(x, seen=[]):  # noqa: B006 - an author's counter
    """A predicate with a memory: it has been called."""
    seen.append(1)
    return len(seen) >= 1


def interpolated(x):
    """Interpolation stays between the ends."""
    v = np.interp(0.5, [0.0, 1.0], [float(x.V[0, 0]), float(x.V[0, 0])])
    return abs(v - float(x.V[0, 0])) < 1e-9


def booleans_of_python(x):
    """and, or, not and a conditional expression."""
    v = x.V[0, 0]
    return (v >= 0 or v < 0) and not (v > 0 and v < 0) and (v if v >= 0 else -v) >= 0


def matched(x):
    """Indices from nonzero and flatnonzero."""
    rows, columns = np.nonzero(x.V > 0)
    return len(rows) == len(columns) == len(np.flatnonzero(x.V > 0)) and all(
        x.V[i, j] > 0 for i, j in zip(rows, columns, strict=True)
    )


ESCAPES = tuple(each for each in list(globals().values()) if callable(each) and each.__module__ == __name__)
