"""True statements about attention weights, written as a careful numpy user writes them.

``A = x.attention()`` has positive rows that sum to one (to ``1/sqrt(d)`` in the systems of Rodriguez Abella et al.); where all
tokens are equal every row is uniform, so that the inequalities of means hold with equality: that is where rounding refutes.
"""

import math
from fractions import Fraction

import numpy as np


def rows_sum_to_one(x):
    """By definition of the softmax."""
    return np.allclose(x.attention().sum(axis=1), 1)


def rows_sum_to_one_exactly(x):
    """The same, without a tolerance."""
    return (x.attention().sum(axis=1) == 1).all()


def squares_below_sum_times_largest(x):
    """sum a^2 <= (sum a) max a, since each a <= max a."""
    A = x.attention()
    return np.sum(A**2) <= np.sum(A) * np.max(A)


def squares_in_two_ways(x):
    """sum a^2 added up by squares and by a trace."""
    A = x.attention()
    return abs(np.sum(A**2) - np.trace(A @ A.T)) <= 1e-9


def squares_below_sum(x):
    """a^2 <= a for a <= 1."""
    A = x.attention()
    return np.sum(np.square(A)) <= np.sum(A)


def squares_at_least_one(x):
    """Cauchy-Schwarz in each row: sum_j a_ij^2 >= 1/n, and n rows."""
    A = x.attention()
    return (A * A).sum() >= 1


def powers_at_least_one(x):
    """The same with np.power."""
    return np.power(x.attention(), 2).sum() >= 1


def einsum_at_least_one(x):
    """The same with einsum."""
    A = x.attention()
    return np.einsum("ij,ij->", A, A) >= 1


def between_zero_and_one(x):
    """Quotients of positive numbers by a sum that contains them."""
    A = x.attention()
    return A.min() > 0 and A.max() <= 1


def mean_is_one_over_n(x):
    """n rows of sum 1 among n^2 entries."""
    return np.isclose(x.attention().mean(), 1 / x.n)


def row_means_equal_one_over_n(x):
    """The mean of a row of sum 1."""
    return (x.attention().mean(axis=1) == 1 / x.n).all()


def row_means_at_most_one_over_n(x):
    """Equality, always."""
    return (x.attention().mean(axis=1) <= 1 / x.n).all()


def row_means_at_least_one_over_n(x):
    """Equality, always."""
    return (x.attention().mean(axis=1) >= 1 / x.n).all()


def row_means_with_len(x):
    """Equality, with the length of the matrix for n."""
    A = x.attention()
    return all(row.mean() <= 1 / len(A) for row in A)


def row_means_with_shape(x):
    """Equality, with the shape for n."""
    A = x.attention()
    return (A.mean(axis=1) >= 1 / A.shape[0]).all()


def row_means_as_fractions(x):
    """Equality, with an exact fraction."""
    return (x.attention().mean(axis=1) <= Fraction(1, int(x.n))).all()


def trace_at_most_n(x):
    """n entries of at most 1."""
    A = x.attention()
    return np.trace(A) <= len(A)


def largest_row_sum_norm(x):
    """The infinity norm is the largest row sum."""
    return np.linalg.norm(x.attention(), np.inf) <= 1 + 1e-9


def frobenius_below_root_n(x):
    """Each row has Euclidean norm at most 1."""
    return np.linalg.norm(x.attention()) <= np.sqrt(x.n)


def one_is_an_eigenvalue(x):
    """A 1 = 1."""
    A = x.attention()
    return abs(np.linalg.det(A - np.eye(x.n))) < 1e-9


def spectral_radius(x):
    """Row sums bound the modulus."""
    return np.abs(np.linalg.eigvals(x.attention())).max() <= 1 + 1e-6


def entropy_below_log_n(x):
    """Gibbs: the uniform distribution has the largest entropy."""
    A = x.attention()
    return (-(A * np.log(A)).sum(axis=1) <= np.log(x.n)).all()


def entropy_with_slack(x):
    """Gibbs, with a tolerance."""
    A = x.attention()
    return (-(A * np.log(A)).sum(axis=1) <= math.log(x.n) + 1e-9).all()


def entropy_not_negative(x):
    """-a log a >= 0 for 0 < a <= 1."""
    A = x.attention()
    return (-(A * np.log(A)).sum(axis=1) >= 0).all()


def cumulative_sums_end_at_one(x):
    """The last partial sum is the sum."""
    return np.allclose(np.cumsum(x.attention(), axis=1)[:, -1], 1)


def largest_at_least_the_mean(x):
    """The largest entry of a row is at least its mean 1/n."""
    return (np.sort(x.attention(), axis=1)[:, -1] >= 1 / x.n).all()


def maximum_at_least_one_over_n(x):
    """The same with max."""
    return (x.attention().max(axis=1) >= 1 / x.n).all()


def minimum_at_most_one_over_n(x):
    """The smallest entry of a row is at most its mean."""
    return (x.attention().min(axis=1) <= 1 / x.n).all()


def maximum_at_least_row_mean(x):
    """The same without n."""
    A = x.attention()
    return (A.max(axis=1) >= A.mean(axis=1)).all()


def variance_at_most_a_quarter(x):
    """Popoviciu for numbers in [0, 1]."""
    return (x.attention().var(axis=1) <= 0.25).all()


def deviation_at_most_a_half(x):
    """The same for the whole matrix."""
    return x.attention().std() <= 0.5


def spread_below_one(x):
    """All entries are positive and at most one."""
    A = x.attention()
    return (A.max(axis=1) - A.min(axis=1) < 1).all()


def powers_of_zero(x):
    """a^0 = 1."""
    return (x.attention() ** 0 == 1).all()


def inverses_at_least_one(x):
    """1/a >= 1."""
    return (x.attention() ** -1 >= 1).all()


def inverses_by_division(x):
    """1/a >= 1."""
    return (1 / x.attention() >= 1).all()


def roots_above_the_weights(x):
    """sqrt(a) >= a on [0, 1]."""
    A = x.attention()
    return (np.sqrt(A) >= A).all()


def roots_by_power(x):
    """(a^(1/2))^2 = a."""
    A = x.attention()
    return np.allclose((A**0.5) ** 2, A)


def harmonic_mean(x):
    """The harmonic mean of a row is at most its mean 1/n."""
    return (x.n / (1 / x.attention()).sum(axis=1) <= 1 / x.n).all()


def geometric_mean(x):
    """The geometric mean of a row is at most its mean 1/n."""
    return (np.prod(x.attention(), axis=1) ** (1 / x.n) <= 1 / x.n).all()


def sum_of_logarithms(x):
    """The same after taking logarithms."""
    return (np.log(x.attention()).sum(axis=1) <= -x.n * np.log(x.n)).all()


def product_of_a_row(x):
    """The same without roots: the product is at most n^-n."""
    return (np.prod(x.attention(), axis=1) <= (1 / x.n) ** x.n).all()


def applied_to_ones(x):
    """A 1 = 1."""
    return np.allclose(x.attention() @ np.ones(x.n), 1)


def powers_are_stochastic(x):
    """A^3 1 = 1."""
    return np.allclose(np.linalg.matrix_power(x.attention(), 3).sum(axis=1), 1)


def two_layers_lift_the_smallest(x):
    """(A A)_ij is an average of entries of A."""
    A = x.attention()
    return (A @ A).min() >= A.min()


def two_layers_lower_the_largest(x):
    """(A A)_ij is an average of entries of A."""
    A = x.attention()
    return np.dot(A, A).max() <= A.max()


def entries_by_argmax(x):
    """Indexing with argmax gives the maximum."""
    A = x.attention()
    return np.allclose(A[np.arange(x.n), np.argmax(A, axis=1)], A.max(axis=1))


def one_majority_in_a_row(x):
    """Two entries above 1/2 would sum to more than 1."""
    return ((x.attention() > 1 / 2).sum(axis=1) <= 1).all()


def not_all_above_the_mean(x):
    """n entries above 1/n would sum to more than 1."""
    return ((x.attention() > 1 / x.n).sum(axis=1) < x.n).all()


def some_at_least_the_mean(x):
    """In each row one entry is at least 1/n."""
    return sum(1 for row in x.attention() for a in row if a >= 1 / x.n) >= x.n


def shape_and_size(x):
    """n by n."""
    A = x.attention()
    return A.shape == (x.n, x.n) and A.size == x.n**2 and A.ndim == 2 and len(A) == x.n


def triangles_add_up(x):
    """Upper and lower part."""
    A = x.attention()
    return np.allclose(np.triu(A, 1) + np.tril(A), A)


def column_sums_average_one(x):
    """Column sums have mean 1, so the largest is at least 1."""
    return x.attention().sum(axis=0).max() >= 1


def sum_is_n(x):
    """n rows of sum 1."""
    return x.attention().sum() == x.n


def sum_at_most_n(x):
    """Equality, always."""
    return x.attention().sum() <= x.n


def sum_at_least_n(x):
    """Equality, always."""
    return np.sum(x.attention()) >= x.n


def total_variation(x):
    """Half the l1 distance of two distributions is at most 1."""
    A = x.attention()
    return 0.5 * np.abs(A[0] - A[-1]).sum() <= 1


def divergence_not_negative(x):
    """Gibbs' inequality for two rows."""
    A = x.attention()
    return (A[0] * (np.log(A[0]) - np.log(A[-1]))).sum() >= 0


def divergence_by_quotient(x):
    """The same with one logarithm."""
    A = x.attention()
    return np.sum(A[0] * np.log(A[0] / A[-1])) >= -1e-12


def overlap_at_most_one(x):
    """sum min(a, b) <= sum a = 1."""
    A = x.attention()
    return np.minimum(A[0], A[-1]).sum() <= 1


def overlap_and_distance(x):
    """min(a, b) = (a + b - |a - b|) / 2."""
    A = x.attention()
    return np.isclose(np.minimum(A[0], A[-1]).sum(), 1 - np.abs(A[0] - A[-1]).sum() / 2)


def cauchy_schwarz_of_rows(x):
    """<a, b> <= |a| |b|."""
    A = x.attention()
    return np.dot(A[0], A[-1]) <= np.linalg.norm(A[0]) * np.linalg.norm(A[-1])


def clipping_changes_nothing(x):
    """All entries lie in [0, 1]."""
    A = x.attention()
    return np.allclose(np.clip(A, 0, 1), A)


def where_changes_nothing(x):
    """All entries are positive."""
    A = x.attention()
    return np.isclose(np.where(A > 0, A, 0).sum(), x.n)


def all_entries_count(x):
    """None vanishes."""
    return np.count_nonzero(x.attention() > 0) == x.n * x.n


def partial_sums_grow(x):
    """Positive entries."""
    return np.all(np.diff(np.cumsum(x.attention()[0])) > 0)


def deviation_from_row_mean(x):
    """Numbers in (0, 1] differ from their mean by less than 1."""
    A = x.attention()
    return np.max(np.abs(A - A.mean(axis=1, keepdims=True))) < 1


def angle_below_a_right_one(x):
    """arccos of a positive number."""
    return np.arccos(np.clip(x.attention(), 0, 1)).max() <= np.pi / 2


def exponential_of_logarithm(x):
    """exp(log a) = a."""
    A = x.attention()
    return np.allclose(np.exp(np.log(A)), A)


def weighted_average_of_weights(x):
    """sum a^2 >= 1/n for a row of sum 1."""
    row = x.attention()[0]
    return np.average(row, weights=row) >= 1 / x.n


def participation_at_most_n(x):
    """1 / sum a^2 <= n."""
    return (1 / np.sum(x.attention() ** 2, axis=1) <= x.n).all()


def ten_per_cent_of_the_sum(x):
    """A tenth of a sum of n is a tenth of n; 0.1 stands for 1/10."""
    return x.attention().sum() * 0.1 <= x.n * 0.1


def thirds_of_rows(x):
    """A third of a row sum is a third."""
    return (x.attention().sum(axis=1) / 3 <= 1 / 3).all()


def logits_from_weights(x):
    """log(a_ij / a_ik) is the difference of the scores, so it changes its sign with j and k."""
    A = x.attention()
    return np.isclose(np.log(A[0, 0] / A[0, -1]), -np.log(A[0, -1] / A[0, 0]))


STOCHASTIC = tuple(each for each in list(globals().values()) if callable(each) and each.__module__ == __name__)


# --- all tokens equal ------------------------------------------------------------------------------------------------


def uniform(x):
    """Equal tokens, equal scores."""
    return np.allclose(x.attention(), 1 / x.n)


def uniform_exactly(x):
    """Equality of every entry with 1/n."""
    return (x.attention() == 1 / x.n).all()


def uniform_from_below(x):
    """At most 1/n."""
    return (x.attention() <= 1 / x.n).all()


def uniform_from_above(x):
    """At least 1/n."""
    return (x.attention() >= 1 / x.n).all()


def uniform_distance(x):
    """No distance to 1/n."""
    return abs(x.attention() - 1 / x.n).max() <= 0


def uniform_full(x):
    """Against an array of floats."""
    return np.array_equal(x.attention(), np.full((x.n, x.n), 1 / x.n))


def uniform_ones(x):
    """Against ones over n."""
    return (x.attention() <= np.ones((x.n, x.n)) / x.n).all()


def uniform_times_n(x):
    """n/n = 1."""
    return (x.attention() * x.n == 1).all()


def uniform_rank(x):
    """All rows are equal."""
    return np.linalg.matrix_rank(x.attention()) == 1


def uniform_entropy(x):
    """log n, from above."""
    A = x.attention()
    return (-(A * np.log(A)).sum(axis=1) >= np.log(x.n) - 1e-12).all()


def uniform_logarithm(x):
    """log(1/n) = -log n, compared without a tolerance."""
    return (np.log(x.attention()) <= -np.log(x.n)).all()


def uniform_variance(x):
    """Nothing varies."""
    return x.attention().var() <= 1e-15


def uniform_root(x):
    """1/sqrt(n), compared with a float root."""
    return (np.sqrt(x.attention()) <= 1 / np.sqrt(x.n)).all()


def uniform_norm(x):
    """The Frobenius norm of the uniform matrix is 1."""
    return np.linalg.norm(x.attention()) <= 1


def uniform_square(x):
    """A A = A: the matrix product, not the squares."""
    A = x.attention()
    return np.allclose(A @ A, A)


def uniform_elementwise_square(x):
    """Squares of the entries are 1/n^2."""
    return (x.attention() ** 2 <= 1 / x.n**2).all()


UNIFORM = (
    uniform,
    uniform_exactly,
    uniform_from_below,
    uniform_from_above,
    uniform_distance,
    uniform_full,
    uniform_ones,
    uniform_times_n,
    uniform_rank,
    uniform_entropy,
    uniform_logarithm,
    uniform_variance,
    uniform_root,
    uniform_norm,
    uniform_square,
    uniform_elementwise_square,
)


# --- a causal mask ---------------------------------------------------------------------------------------------------


def nothing_ahead(x):
    """Masked weights are zero."""
    return (np.triu(x.attention(), 1) == 0).all()


def first_token_alone(x):
    """It sees only itself."""
    return x.attention()[0, 0] == 1


def causal_rows(x):
    """Rows of sum 1."""
    return np.allclose(x.attention().sum(axis=1), np.ones(x.n))


def causal_largest(x):
    """Row i has i + 1 entries of sum 1."""
    A = x.attention()
    return all(A[i].max() >= 1 / (i + 1) for i in range(x.n))


def causal_determinant(x):
    """A triangular matrix."""
    A = x.attention()
    return np.isclose(np.linalg.det(A), np.prod(np.diag(A)))


def causal_trace(x):
    """The first entry is 1 and the others are at most 1."""
    A = x.attention()
    return 1 <= np.trace(A) <= x.n


def causal_sum(x):
    """n rows of sum 1."""
    return x.attention().sum() <= x.n


CAUSAL = (nothing_ahead, first_token_alone, causal_rows, causal_largest, causal_determinant, causal_trace, causal_sum)


def harmonic_trace(x):
    """Equal tokens: a_ii = 1/(i + 1)."""
    return np.trace(x.attention()) <= sum(1 / (i + 1) for i in range(x.n))


def harmonic_diagonal(x):
    """Equal tokens: a_ii = 1/(i + 1)."""
    return (np.diag(x.attention()) == 1 / np.arange(1, x.n + 1)).all()


def harmonic_first_column(x):
    """Equal tokens: the first column is 1/(i + 1)."""
    return np.allclose(x.attention()[:, 0], [1 / (i + 1) for i in range(x.n)])


CAUSAL_UNIFORM = (harmonic_trace, harmonic_diagonal, harmonic_first_column)


# --- rows that sum to 1/sqrt(d) --------------------------------------------------------------------------------------


def root_rows(x):
    """The convention of Rodriguez Abella et al."""
    return np.allclose(x.attention().sum(axis=1), 1 / np.sqrt(x.d))


def root_rows_from_below(x):
    """Equality, compared without a tolerance."""
    return (x.attention().sum(axis=1) <= 1 / np.sqrt(x.d)).all()


def root_rows_from_above(x):
    """Equality, with a power for the root."""
    return (x.attention().sum(axis=1) >= x.d**-0.5).all()


def root_sum(x):
    """All of them."""
    return np.isclose(x.attention().sum(), x.n / x.d**0.5)


def root_squares(x):
    """d times the square of a row sum is 1."""
    return (x.attention().sum(axis=1) ** 2 * x.d <= 1 + 1e-9).all()


def root_of_math(x):
    """With the root of the math module."""
    return (x.attention().sum(axis=1) * math.sqrt(x.d) <= 1).all()


OVER_ROOT_D = (root_rows, root_rows_from_below, root_rows_from_above, root_sum, root_squares, root_of_math)
