"""True statements about tokens on the unit sphere: norms, angles, means, Gram matrices."""

import itertools
import math

import numpy as np


def unit_norms(x):
    """Tokens are unit vectors."""
    return np.allclose(np.linalg.norm(x.tokens, axis=1), 1)


def unit_squares(x):
    """Sums of squares, without a tolerance."""
    return (np.sum(x.tokens**2, axis=1) == 1).all()


def norms_at_most_one(x):
    """Equality, always."""
    return (np.linalg.norm(x.tokens, axis=1) <= 1).all()


def norms_at_least_one(x):
    """Equality, always."""
    return (np.sqrt((x.tokens * x.tokens).sum(axis=1)) >= 1).all()


def energy_is_n(x):
    """n unit vectors."""
    return np.sum(x.tokens**2) <= x.n


def mean_square_is_one_over_d(x):
    """n unit vectors of d entries."""
    return np.mean(x.tokens**2) == 1 / x.d


def mean_square_at_most_one_over_d(x):
    """Equality, always."""
    return np.mean(np.square(x.tokens)) <= 1 / x.d


def mean_square_at_least_one_over_d(x):
    """Equality, always, with the shape for d."""
    return (x.tokens**2).mean() >= 1 / x.tokens.shape[1]


def a_third_of_the_norm(x):
    """A third of 1."""
    return (np.sum(x.tokens**2, axis=1) / 3 <= 1 / 3).all()


def seven_tenths_of_the_norm(x):
    """0.7 stands for 7/10."""
    return (0.7 * np.sum(x.tokens**2, axis=1) <= 0.7).all()


def three_tenths_in_parts(x):
    """0.1 + 0.2 = 0.3 as decimals."""
    return (np.sum(x.tokens**2, axis=1) * (0.1 + 0.2) <= 0.3).all()


def entries_at_most_one(x):
    """|x| <= |x|_2."""
    return abs(x.tokens).max() <= 1


def largest_entry(x):
    """The largest entry is at least the root of the mean square, 1/sqrt(d)."""
    return (np.abs(x.tokens).max(axis=1) >= 1 / np.sqrt(x.d)).all()


def sum_of_entries(x):
    """|x|_1 <= sqrt(d) |x|_2."""
    return (np.abs(x.tokens).sum(axis=1) <= np.sqrt(x.d)).all()


def norm_one_at_least_norm_two(x):
    """|x|_1 >= |x|_2."""
    return (np.linalg.norm(x.tokens, 1, axis=1) >= 1).all()


def fourth_powers(x):
    """sum x^4 <= (sum x^2)^2 = 1."""
    return (np.sum(x.tokens**4, axis=1) <= 1).all()


def fourth_powers_from_below(x):
    """Cauchy-Schwarz: sum x^4 >= 1/d."""
    return (np.sum(x.tokens**4, axis=1) >= 1 / x.d).all()


def cosines_at_most_one(x):
    """Cauchy-Schwarz for unit vectors."""
    G = x.tokens @ x.tokens.T
    return (G <= 1).all() and (G >= -1).all()


def gram_is_symmetric(x):
    """<x, y> = <y, x>."""
    G = np.dot(x.tokens, x.tokens.T)
    return (G == G.T).all()


def gram_trace(x):
    """Ones on the diagonal."""
    return np.trace(x.tokens @ x.tokens.T) == x.n


def gram_sum(x):
    """|sum x|^2 >= 0."""
    return np.sum(x.tokens @ x.tokens.T) >= 0


def gram_in_two_ways(x):
    """|sum x|^2 by the Gram matrix and by the sum."""
    return np.isclose((x.tokens @ x.tokens.T).sum(), (x.tokens.sum(axis=0) ** 2).sum())


def gram_eigenvalues(x):
    """A Gram matrix is positive semidefinite."""
    return np.linalg.eigvalsh(x.tokens @ x.tokens.T).min() >= -1e-9


def gram_spectrum_sum(x):
    """Eigenvalues sum to the trace."""
    return np.isclose(np.linalg.eigvalsh(x.tokens @ x.tokens.T).sum(), x.n)


def gram_top(x):
    """The largest eigenvalue is at least the mean n / n = 1."""
    return np.linalg.eigvalsh(x.tokens @ x.tokens.T).max() >= 1 - 1e-9


def hadamard(x):
    """det G <= product of the diagonal = 1."""
    return np.linalg.det(x.tokens @ x.tokens.T) <= 1


def frame_potential(x):
    """Welch: sum <x, y>^2 >= n^2 / d."""
    G = x.tokens @ x.tokens.T
    return np.sum(G**2) >= x.n**2 / x.d


def frame_potential_by_norm(x):
    """The same after a root."""
    return np.linalg.norm(x.tokens @ x.tokens.T) >= x.n / np.sqrt(x.d)


def frame_potential_by_trace(x):
    """The same by the trace of G G."""
    G = x.tokens @ x.tokens.T
    return np.trace(G @ G) / x.n >= x.n / x.d


def frame_potential_above(x):
    """n^2 squares of at most 1."""
    return ((x.tokens @ x.tokens.T) ** 2).mean() <= 1


def rank_of_the_gram_matrix(x):
    """At most d."""
    return np.linalg.matrix_rank(x.tokens @ x.tokens.T) <= min(x.n, x.d)


def mean_in_the_ball(x):
    """The mean of unit vectors has norm at most 1."""
    return np.linalg.norm(x.tokens.mean(axis=0)) <= 1


def mean_by_average(x):
    """The same, squared, with np.average."""
    return np.sum(np.average(x.tokens, axis=0) ** 2) <= 1


def mean_by_hand(x):
    """The same with a sum divided by n."""
    middle = sum(x.tokens) / x.n
    return middle @ middle <= 1


def variance_identity(x):
    """mean |x - m|^2 = 1 - |m|^2."""
    m = x.tokens.mean(axis=0)
    return np.isclose(np.mean(np.sum((x.tokens - m) ** 2, axis=1)), 1 - m @ m)


def variance_at_most_one(x):
    """The same from above."""
    return np.sum(x.tokens.var(axis=0)) <= 1


def deviations_sum_to_zero(x):
    """sum (x - m) = 0."""
    return (np.abs((x.tokens - x.tokens.mean(axis=0)).sum(axis=0)) <= 1e-12).all()


def cosine_of_pi(x):
    """cos(pi |x|^2) = -1."""
    return np.cos(np.pi * np.sum(x.tokens[0] ** 2)) <= -1


def sine_of_pi(x):
    """sin(pi |x|^2) = 0."""
    return np.sin(np.pi * np.sum(x.tokens[0] ** 2)) <= 0


def exponential_of_one(x):
    """exp(|x|^2) = e."""
    return np.exp(np.sum(x.tokens[0] ** 2)) <= np.e


def exponential_of_one_from_above(x):
    """exp(|x|^2) = e, with the constant of math."""
    return np.exp(x.tokens[0] @ x.tokens[0]) >= math.e


def root_two_of_one(x):
    """sqrt(2 |x|^2) = sqrt(2), from both sides."""
    found = np.sqrt(2 * np.sum(x.tokens[0] ** 2))
    return found <= math.sqrt(2) and found >= np.sqrt(2)


def arctangent_of_one(x):
    """arctan |x|^2 = pi/4."""
    return np.arctan(np.sum(x.tokens[0] ** 2)) <= np.pi / 4


def finite(x):
    """No infinities, no NaN."""
    return bool(np.isfinite(x.tokens).all()) and x.tokens.max() < np.inf


def one_and_an_epsilon(x):
    """1 <= 1 + eps."""
    return (np.sum(x.tokens**2, axis=1) <= 1 + np.finfo(float).eps).all()


def rows_are_rows(x):
    """Iteration, indexing and slicing agree."""
    return all(np.array_equal(row, x.tokens[i]) for i, row in enumerate(x.tokens)) and len(x.tokens[: x.n // 2]) <= x.n


def reshaped(x):
    """Reshaping keeps the sum of squares."""
    return np.isclose((x.tokens.reshape(-1) ** 2).sum(), x.n)


def stacked(x):
    """Two copies have twice the sum of squares."""
    return np.isclose((np.vstack([x.tokens, x.tokens]) ** 2).sum(), 2 * x.n)


def rolled(x):
    """Rolling permutes the tokens, so the product with the rolled ones is at most n."""
    return np.sum(x.tokens * np.roll(x.tokens, 1, axis=0)) <= x.n


def sorted_entries(x):
    """Sorting keeps the sum of squares."""
    return (np.sum(np.sort(x.tokens, axis=1) ** 2, axis=1) <= 1).all()


def positive_and_negative_parts(x):
    """sum x = sum x_+ - sum x_-."""
    X = x.tokens
    return np.isclose(X[X > 0].sum() + X[X < 0].sum(), X.sum())


def absolute_by_maximum(x):
    """|x| = max(x, -x)."""
    return np.array_equal(np.maximum(x.tokens, -x.tokens), np.abs(x.tokens))


def absolute_by_sign(x):
    """|x| = x sign(x)."""
    return np.array_equal(x.tokens * np.sign(x.tokens), np.abs(x.tokens))


def projector(x):
    """(I - x x^T) x = 0."""
    v = x.tokens[0]
    return np.allclose((np.eye(x.d) - np.outer(v, v)) @ v, 0)


def projector_trace(x):
    """The trace of I - x x^T is d - 1."""
    v = x.tokens[0]
    return np.trace(np.eye(x.d) - np.outer(v, v)) <= x.d - 1


def reflection_keeps_norms(x):
    """A Householder reflection is orthogonal."""
    v = x.tokens[0]
    moved = x.tokens - 2 * np.outer(x.tokens @ v, v)
    return np.allclose((moved**2).sum(axis=1), 1)


SPHERE = tuple(each for each in list(globals().values()) if callable(each) and each.__module__ == __name__)


# --- two tokens or more ----------------------------------------------------------------------------------------------


def chord_at_most_two(x):
    """Two points of the unit sphere."""
    return np.linalg.norm(x.tokens[0] - x.tokens[1]) <= 2


def chord_and_cosine(x):
    """|x - y|^2 = 2 - 2 <x, y>."""
    a, b = x.tokens[:2]
    return np.sum((a - b) ** 2) == 2 - 2 * (a @ b)


def chord_by_a_root(x):
    """|x - y| = sqrt(2) sqrt(1 - <x, y>), from above."""
    a, b = x.tokens[0], x.tokens[1]
    return np.linalg.norm(a - b) >= np.sqrt(2) * np.sqrt(1 - a @ b)


def angle_at_most_pi(x):
    """An angle; pi for antipodal tokens."""
    return np.arccos(x.tokens[0] @ x.tokens[1]) <= np.pi


def angle_at_most_pi_of_math(x):
    """The same with the constant of math and clipping."""
    return np.arccos(np.clip(x.tokens[0] @ x.tokens[-1], -1, 1)) <= math.pi


def angle_with_the_opposite(x):
    """The angles to y and to -y sum to pi."""
    c = x.tokens[0] @ x.tokens[1]
    return np.arccos(c) + np.arccos(-c) <= np.pi


def parallelogram(x):
    """|x + y|^2 + |x - y|^2 = 4."""
    a, b = x.tokens[0], x.tokens[1]
    return (a + b) @ (a + b) + (a - b) @ (a - b) <= 4


def largest_cosine(x):
    """The mean of the cosines of distinct tokens is at least -1/(n - 1)."""
    G = x.tokens @ x.tokens.T
    return G[~np.eye(x.n, dtype=bool)].max() >= -1 / (x.n - 1)


def mean_cosine(x):
    """The same for the mean: |sum x|^2 >= 0."""
    G = x.tokens @ x.tokens.T
    pairs = [G[i, j] for i, j in itertools.combinations(range(x.n), 2)]
    return sum(pairs) / len(pairs) >= -1 / (x.n - 1)


def sum_of_squared_distances(x):
    """sum over pairs |x - y|^2 = n^2 - |sum x|^2 <= n^2."""
    return sum(np.sum((a - b) ** 2) for a, b in itertools.combinations(x.tokens, 2)) <= x.n**2


def lagrange(x):
    """|x|^2 |y|^2 - <x, y>^2 = sum over i < j of (x_i y_j - x_j y_i)^2."""
    a, b = x.tokens[0], x.tokens[1]
    squares = sum((a[i] * b[j] - a[j] * b[i]) ** 2 for i in range(x.d) for j in range(i + 1, x.d))
    return np.isclose(1 - (a @ b) ** 2, squares)


def logarithm_of_two(x):
    """log(|x|^2 + |y|^2) = log 2."""
    return np.log(np.sum(x.tokens[:2] ** 2)) <= np.log(2)


def half_angle(x):
    """cos(angle/2)^2 = (1 + c)/2 lies in [0, 1]."""
    c = x.tokens[0] @ x.tokens[1]
    return 0 <= (1 + c) / 2 <= 1


PAIRS = (
    chord_at_most_two,
    chord_and_cosine,
    chord_by_a_root,
    angle_at_most_pi,
    angle_at_most_pi_of_math,
    angle_with_the_opposite,
    parallelogram,
    largest_cosine,
    mean_cosine,
    sum_of_squared_distances,
    lagrange,
    logarithm_of_two,
    half_angle,
)


# --- three tokens ----------------------------------------------------------------------------------------------------


def perimeter(x):
    """The perimeter of a spherical triangle is at most 2 pi."""
    a, b, c = x.tokens[:3]
    return np.arccos(a @ b) + np.arccos(b @ c) + np.arccos(c @ a) <= 2 * np.pi


def perimeter_with_tau(x):
    """The same with tau and clipping."""
    a, b, c = x.tokens[:3]
    angles = np.arccos(np.clip(np.array([a @ b, b @ c, c @ a]), -1, 1))
    return angles.sum() <= math.tau


def triangle_of_angles(x):
    """The triangle inequality of the sphere."""
    a, b, c = x.tokens[:3]
    return np.arccos(a @ b) <= np.arccos(a @ c) + np.arccos(c @ b)


def triangle_of_chords(x):
    """The triangle inequality of chords."""
    a, b, c = x.tokens[:3]
    return np.linalg.norm(a - b) <= np.linalg.norm(a - c) + np.linalg.norm(c - b)


def gram_determinant(x):
    """1 + 2 abc - a^2 - b^2 - c^2 is a Gram determinant."""
    u, v, w = x.tokens[:3]
    a, b, c = u @ v, v @ w, w @ u
    return 1 + 2 * a * b * c - a**2 - b**2 - c**2 >= 0


TRIPLES = (perimeter, perimeter_with_tau, triangle_of_angles, triangle_of_chords, gram_determinant)


# --- in space --------------------------------------------------------------------------------------------------------


def cross_product(x):
    """|x cross y|^2 + <x, y>^2 = 1."""
    a, b = x.tokens[0], x.tokens[1]
    return np.isclose(np.sum(np.cross(a, b) ** 2) + (a @ b) ** 2, 1)


def cross_product_is_normal(x):
    """x cross y is orthogonal to x."""
    a, b = x.tokens[0], x.tokens[1]
    return abs(np.cross(a, b) @ a) <= 1e-12


def box_product(x):
    """|det(x, y, x cross y)| = |x cross y|^2 <= 1."""
    a, b = x.tokens[0], x.tokens[1]
    return abs(np.linalg.det(np.array([a, b, np.cross(a, b)]))) <= 1


SPACE = (cross_product, cross_product_is_normal, box_product)
