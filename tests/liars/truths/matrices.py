"""True statements about the parameter V of a system: any square matrix, a symmetric one, a definite one."""

import functools

import numpy as np


def square_is_elementwise(x):
    """V**2 and V*V are the same array of squares."""
    return (x.V**2 == x.V * x.V).all()


def square_is_no_product(x):
    """The sum of the squares is the trace of V V^T."""
    return np.isclose(np.sum(x.V**2), np.trace(x.V @ x.V.T))


def quotient_is_elementwise(x):
    """V / V is 1 where V does not vanish."""
    V = np.where(x.V == 0, 1, x.V)
    return (V / V == 1).all()


def trace_and_frobenius(x):
    """(tr V)^2 <= d |V|_F^2, with equality for multiples of the identity."""
    return np.trace(x.V) ** 2 <= x.d * np.sum(x.V**2)


def trace_and_frobenius_divided(x):
    """The same, divided by d^2."""
    return (np.trace(x.V) / x.d) ** 2 <= np.sum(x.V**2) / x.d


def trace_by_diagonal(x):
    """tr V = sum of the diagonal."""
    return np.trace(x.V) == np.diag(x.V).sum() == sum(x.V[i, i] for i in range(x.d))


def trace_by_einsum(x):
    """tr V by einsum."""
    return np.einsum("ii->", x.V) == np.trace(x.V)


def sum_by_ones(x):
    """1^T V 1."""
    ones = np.ones(x.d)
    return ones @ x.V @ ones == x.V.sum()


def sum_in_two_orders(x):
    """Rows first or columns first."""
    return x.V.sum(axis=0).sum() == x.V.sum(axis=1).sum()


def mean_of_the_entries(x):
    """mean = sum / d^2."""
    return x.V.mean() == x.V.sum() / x.d**2


def mean_between_the_ends(x):
    """min <= mean <= max."""
    return x.V.min() <= x.V.mean() <= x.V.max()


def jensen(x):
    """(mean V)^2 <= mean V^2."""
    return x.V.mean() ** 2 <= (x.V**2).mean()


def variance_is_not_negative(x):
    """var >= 0."""
    return x.V.var() >= 0


def variance_identity(x):
    """var = mean of squares - square of mean."""
    return np.isclose(np.var(x.V), np.mean(x.V**2) - np.mean(x.V) ** 2)


def norms_in_order(x):
    """|V|_2 <= |V|_F."""
    return np.linalg.norm(x.V, 2) <= np.linalg.norm(x.V, "fro") + 1e-9


def norm_by_rows_and_columns(x):
    """|V|_2^2 <= |V|_1 |V|_inf."""
    return np.linalg.norm(x.V, 2) ** 2 <= np.linalg.norm(x.V, 1) * np.linalg.norm(x.V, np.inf) + 1e-9


def frobenius_and_spectral(x):
    """|V|_F <= sqrt(d) |V|_2."""
    return np.linalg.norm(x.V) <= np.sqrt(x.d) * np.linalg.norm(x.V, 2) + 1e-9


def skew_part_has_no_trace(x):
    """tr (V - V^T) = 0."""
    return np.trace(x.V - x.V.T) == 0


def skew_part_has_no_diagonal(x):
    """The diagonal of (V - V^T)/2."""
    return (np.diag((x.V - x.V.T) / 2) == 0).all()


def parts_add_up(x):
    """V = sym V + skew V."""
    return np.array_equal((x.V + x.V.T) / 2 + (x.V - x.V.T) / 2, x.V)


def parts_are_orthogonal(x):
    """<sym V, skew V> = 0."""
    return np.sum((x.V + x.V.T) * (x.V - x.V.T)) == 0


def absolute_values(x):
    """|v| >= v, in three ways."""
    return (np.abs(x.V) >= x.V).all() and (abs(x.V) >= -x.V).all() and np.absolute(x.V).min() >= 0


def maximum_of_transposes(x):
    """max(V, V^T) is symmetric."""
    top = np.maximum(x.V, x.V.T)
    return np.array_equal(top, top.T)


def triangle_inequality(x):
    """|V + V^T| <= 2 |V|."""
    return np.linalg.norm(x.V + x.V.T) <= 2 * np.linalg.norm(x.V) + 1e-9


def determinant_of_the_transpose(x):
    """det V = det V^T."""
    return np.isclose(np.linalg.det(x.V), np.linalg.det(x.V.T))


def determinant_of_a_multiple(x):
    """det(2 V) = 2^d det V."""
    return np.isclose(np.linalg.det(2 * x.V), 2**x.d * np.linalg.det(x.V))


def hadamard_inequality(x):
    """|det V| <= product of the norms of the rows."""
    return abs(np.linalg.det(x.V)) <= np.prod(np.linalg.norm(x.V, axis=1)) + 1e-9


def eigenvalues_sum_to_the_trace(x):
    """Also for complex ones."""
    return abs(np.linalg.eigvals(x.V).sum() - np.trace(x.V)) < 1e-6


def spectral_radius_below_the_norm(x):
    """|lambda| <= |V|_F."""
    return np.abs(np.linalg.eigvals(x.V)).max() <= np.linalg.norm(x.V) + 1e-6


def kronecker(x):
    """tr (V kron I_2) = 2 tr V."""
    return np.trace(np.kron(x.V, np.eye(2))) == 2 * np.trace(x.V)


def power_of_a_matrix(x):
    """V^2 as a matrix power and as a product."""
    return np.array_equal(np.linalg.matrix_power(x.V, 2), x.V @ x.V)


def matmul_and_dot(x):
    """Three ways to write a product."""
    return np.array_equal(x.V @ x.V, np.dot(x.V, x.V)) and np.array_equal(np.matmul(x.V, x.V), x.V.dot(x.V))


def tensordot(x):
    """A product by tensordot."""
    return np.array_equal(np.tensordot(x.V, x.V, axes=1), x.V @ x.V)


def inner_product(x):
    """<V, V> by vdot."""
    return np.vdot(x.V, x.V) == np.sum(x.V * x.V)


def cumulative(x):
    """The last of the cumulative sums."""
    return np.cumsum(x.V)[-1] == x.V.sum()


def differences(x):
    """Differences telescope."""
    flat = x.V.ravel()
    return np.diff(flat).sum() == flat[-1] - flat[0]


def sorted_ends(x):
    """The ends of the sorted entries."""
    flat = np.sort(x.V, axis=None)
    return flat[0] == x.V.min() and flat[-1] == x.V.max()


def arguments_of_the_extremes(x):
    """argmax points at the maximum."""
    flat = x.V.ravel()
    return flat[np.argmax(x.V)] == x.V.max() and flat[x.V.argmin()] == np.min(x.V)


def ordering(x):
    """argsort sorts."""
    flat = x.V.flatten()
    ordered = flat[np.argsort(flat)]
    return all(a <= b for a, b in zip(ordered[:-1], ordered[1:], strict=True))


def python_extremes(x):
    """max, min, sum and sorted of Python."""
    flat = list(x.V.ravel())
    return max(flat) == x.V.max() and min(flat) == x.V.min() and sum(flat) == x.V.sum() and sorted(flat)[0] == min(flat)


def python_powers(x):
    """pow, abs and division of Python."""
    v = x.V[0, 0]
    return pow(v, 2) >= 0 and abs(v) >= v and v / 2 + v / 2 == v


def thirds(x):
    """Three thirds."""
    v = x.V[0, 0]
    return v / 3 + v / 3 + v / 3 == v and abs(v) / 3 <= abs(v)


def tenths(x):
    """0.1 of ten times; 0.1 stands for 1/10."""
    return (abs(x.V) * 0.1 * 10 <= abs(x.V)).all()


def a_third_of_an_entry(x):
    """Multiplying by 1/3 and by 3."""
    return ((1 / 3) * abs(x.V) * 3 >= abs(x.V)).all()


def percentages(x):
    """30 per cent and 70 per cent."""
    return (0.3 * x.V + 0.7 * x.V == x.V).all()


def interpolation(x):
    """A convex combination with nine tenths."""
    t = 0.9
    return (t * abs(x.V) + (1 - t) * abs(x.V) <= abs(x.V)).all()


def floors(x):
    """floor(v) <= v."""
    return (np.floor(x.V) <= x.V).all()


def exponentials(x):
    """exp(v) >= 1 + v."""
    return (np.exp(x.V) >= 1 + x.V).all()


def exponentials_add(x):
    """exp of a sum is the product of exps."""
    return np.isclose(np.exp(np.trace(x.V)), np.prod(np.exp(np.diag(x.V))))


def hyperbolic(x):
    """cosh^2 - sinh^2 = 1 and |tanh| <= 1."""
    return np.allclose(np.cosh(x.V) ** 2 - np.sinh(x.V) ** 2, 1) and (np.abs(np.tanh(x.V)) <= 1).all()


def circular(x):
    """sin^2 + cos^2 = 1 and |sin v| <= |v|."""
    return np.allclose(np.sin(x.V) ** 2 + np.cos(x.V) ** 2, 1) and (np.abs(np.sin(x.V)) <= np.abs(x.V)).all()


def periods(x):
    """sin has the period 2 pi; np.pi stands for pi."""
    return np.allclose(np.sin(x.V + 2 * np.pi), np.sin(x.V))


def half_a_turn(x):
    """cos(v + pi) = -cos(v), compared without a tolerance."""
    return (np.cos(x.V + np.pi) <= -np.cos(x.V)).all()


def arctangents(x):
    """|arctan v| < pi / 2."""
    return (np.abs(np.arctan(x.V)) < np.pi / 2).all()


def softplus(x):
    """log(1 + e^v) >= max(v, 0)."""
    return (np.log(1 + np.exp(x.V)) >= np.maximum(x.V, 0)).all()


def logistic(x):
    """s(v) + s(-v) = 1."""
    return np.allclose(1 / (1 + np.exp(-x.V)) + 1 / (1 + np.exp(x.V)), 1)


def square_roots(x):
    """sqrt(v^2) = |v|, compared without a tolerance."""
    return (np.sqrt(x.V**2) <= np.abs(x.V)).all()


def fourth_roots(x):
    """(v^4)^(1/4) = |v|."""
    return np.allclose((x.V**4) ** 0.25, np.abs(x.V))


def masks_partition(x):
    """Positive, negative and zero entries are all."""
    return np.sum(x.V > 0) + np.sum(x.V < 0) + np.sum(x.V == 0) == x.d**2


def masked_sums(x):
    """Positive and negative entries sum to all."""
    return x.V[x.V > 0].sum() + x.V[x.V < 0].sum() == x.V.sum()


def logical(x):
    """De Morgan on arrays of answers."""
    high, low = x.V > 0, x.V < 0
    return np.array_equal(~(high | low), np.logical_and(~high, ~low))


def where_by_sign(x):
    """|v| by where."""
    return np.array_equal(np.where(x.V >= 0, x.V, -x.V), abs(x.V))


def changed_copy(x):
    """A copy is changed, the matrix is not."""
    other = x.V.copy()
    other[0, 0] = other[0, 0] + 1
    return other[0, 0] - x.V[0, 0] == 1 and np.trace(other) > np.trace(x.V)


def zeroed_diagonal(x):
    """Without its diagonal a matrix has no trace."""
    other = np.array(x.V)
    np.fill_diagonal(other, 0)
    return np.trace(other) == 0


def in_place(x):
    """In-place operations."""
    other = x.V.copy()
    other -= x.V
    other *= 2
    other += 1
    return (other == 1).all()


def by_a_loop(x):
    """The Frobenius norm by two loops."""
    total = 0
    for row in x.V:
        for v in row:
            total += v**2
    return total == np.sum(x.V**2)


def reduced(x):
    """functools.reduce over the entries."""
    return functools.reduce(lambda a, b: a + b, x.V.ravel()) == x.V.sum()


def blocks(x):
    """A block matrix."""
    zero = np.zeros((x.d, x.d))
    return np.trace(np.block([[x.V, zero], [zero, x.V]])) == 2 * np.trace(x.V)


def stacks(x):
    """Stacks, flips, tiles and rolls keep the sum of squares."""
    kept = np.sum(x.V**2)
    moved = (np.flip(x.V), np.roll(x.V, 1), np.rot90(x.V), x.V.T, np.swapaxes(x.V, 0, 1))
    return all(np.sum(each**2) == kept for each in moved) and np.sum(np.stack([x.V, x.V]) ** 2) == 2 * kept


def broadcast(x):
    """Subtracting the row means leaves rows of sum zero."""
    return np.allclose((x.V - x.V.mean(axis=1, keepdims=True)).sum(axis=1), 0)


def outer_products(x):
    """The trace of an outer product is an inner product."""
    a, b = x.V[0], x.V[-1]
    return np.trace(np.outer(a, b)) == a @ b


def commuting_powers(x):
    """V commutes with V^2."""
    square = x.V @ x.V
    return np.array_equal(x.V @ square, square @ x.V)


def any_and_all(x):
    """any and all, of numpy and of Python."""
    big = x.V >= x.V.max()
    return np.any(big) and any(big.ravel()) and all((x.V <= x.V.max()).ravel()) and big.sum() >= 1


def vectorised(x):
    """np.vectorize of a function of one number."""
    return np.sum(np.vectorize(lambda v: v * v, otypes=[object])(x.V)) == np.sum(x.V**2)


ANY = tuple(each for each in list(globals().values()) if callable(each) and each.__module__ == __name__)


# --- symmetric -------------------------------------------------------------------------------------------------------


def symmetric(x):
    """V = V^T."""
    return (x.V == x.V.T).all()


def top_above_the_mean_of_the_trace(x):
    """lambda_1 >= tr V / d, with equality for multiples of the identity."""
    return np.linalg.eigvalsh(x.V).max() >= np.trace(x.V) / x.d


def top_above_the_diagonal(x):
    """lambda_1 >= e_i^T V e_i."""
    return np.linalg.eigvalsh(x.V)[-1] >= np.diag(x.V).max()


def bottom_below_the_diagonal(x):
    """lambda_d <= e_i^T V e_i."""
    return np.linalg.eigvalsh(x.V)[0] <= np.diag(x.V).min()


def gershgorin(x):
    """lambda_1 <= the largest sum of moduli in a row."""
    return np.linalg.eigvalsh(x.V).max() <= np.abs(x.V).sum(axis=1).max()


def squares_of_eigenvalues(x):
    """sum lambda^2 = |V|_F^2."""
    return np.isclose(np.sum(np.linalg.eigvalsh(x.V) ** 2), np.sum(x.V**2))


def eigenvalues_in_order(x):
    """eigvalsh lists them from below."""
    values = np.linalg.eigvalsh(x.V)
    return all(values[i] <= values[i + 1] + 1e-9 for i in range(x.d - 1))


def rayleigh_from_above(x):
    """x^T V x <= lambda_1 for a unit vector."""
    return x.tokens[0] @ x.V @ x.tokens[0] <= np.linalg.eigvalsh(x.V).max()


def rayleigh_from_below(x):
    """x^T V x >= lambda_d, for all tokens."""
    return (np.einsum("ni,ij,nj->n", x.tokens, x.V, x.tokens) >= np.linalg.eigvalsh(x.V).min()).all()


def real_spectrum(x):
    """Eigenvalues of a symmetric matrix are real."""
    return (np.abs(np.linalg.eigvals(x.V).imag) < 1e-6).all()


def spectral_norm_of_a_symmetric_matrix(x):
    """|V|_2 = max |lambda|."""
    return np.isclose(np.linalg.norm(x.V, 2), np.abs(np.linalg.eigvalsh(x.V)).max())


def squared_is_semidefinite(x):
    """V^2 has a diagonal that is not negative."""
    return (np.diag(x.V @ x.V) >= 0).all()


SYMMETRIC = (
    symmetric,
    top_above_the_mean_of_the_trace,
    top_above_the_diagonal,
    bottom_below_the_diagonal,
    gershgorin,
    squares_of_eigenvalues,
    eigenvalues_in_order,
    rayleigh_from_above,
    rayleigh_from_below,
    real_spectrum,
    spectral_norm_of_a_symmetric_matrix,
    squared_is_semidefinite,
)


# --- positive definite -----------------------------------------------------------------------------------------------


def positive_diagonal(x):
    """e_i^T V e_i > 0."""
    return (np.diag(x.V) > 0).all()


def positive_determinant(x):
    """det V > 0."""
    return np.linalg.det(x.V) > 0


def hadamard_of_a_definite_matrix(x):
    """det V <= product of the diagonal, with equality for diagonal matrices."""
    return np.linalg.det(x.V) <= np.prod(np.diag(x.V))


def determinant_and_trace(x):
    """det V <= (tr V / d)^d, with equality for multiples of the identity."""
    return np.linalg.det(x.V) <= (np.trace(x.V) / x.d) ** x.d


def arithmetic_and_geometric_mean(x):
    """The same with a root."""
    return np.linalg.det(x.V) ** (1 / x.d) <= np.trace(x.V) / x.d


def off_diagonal_entries(x):
    """v_ij^2 <= v_ii v_jj."""
    diagonal = np.diag(x.V)
    return (x.V**2 <= np.outer(diagonal, diagonal)).all()


def random_directions(x):
    """z^T V z > 0 for some vectors z of a seeded generator."""
    z = np.random.default_rng(0).normal(size=(5, int(x.d)))
    return (np.einsum("ni,ij,nj->n", z, x.V, z) > 0).all()


def inverse(x):
    """V^-1 V = I."""
    return np.allclose(np.linalg.inv(x.V) @ x.V, np.eye(x.d))


def solution(x):
    """V y = 1 is solved by V^-1 1."""
    return np.allclose(x.V @ np.linalg.solve(x.V, np.ones(x.d)), 1)


def trace_of_the_inverse(x):
    """tr V tr V^-1 >= d^2, with equality for multiples of the identity."""
    return np.trace(x.V) * np.trace(np.linalg.inv(x.V)) >= x.d**2


def kantorovich(x):
    """(x^T V x)(x^T V^-1 x) >= 1 for a unit vector, with equality at eigenvectors."""
    v = x.tokens[0]
    return (v @ x.V @ v) * (v @ np.linalg.inv(x.V) @ v) >= 1


def logarithm_of_the_determinant(x):
    """log det V <= tr V - d, with equality for the identity."""
    return np.log(np.linalg.det(x.V)) <= np.trace(x.V) - x.d


DEFINITE = (
    positive_diagonal,
    positive_determinant,
    hadamard_of_a_definite_matrix,
    determinant_and_trace,
    arithmetic_and_geometric_mean,
    off_diagonal_entries,
    random_directions,
    inverse,
    solution,
    trace_of_the_inverse,
    kantorovich,
    logarithm_of_the_determinant,
)
