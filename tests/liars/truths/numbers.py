"""True statements about sizes, indices, the step and the author's own literals."""

import math
from fractions import Fraction

import numpy as np
import sympy as sp


def gauss(x):
    """0 + ... + (n - 1)."""
    return sum(range(x.n)) == x.n * (x.n - 1) // 2


def mean_of_a_range(x):
    """The mean of 0, ..., n - 1."""
    return np.arange(x.n).mean() == (x.n - 1) / 2


def n_over_n(x):
    """n / n = 1."""
    return x.n / x.n == 1 and x.d / x.d == 1


def parity(x):
    """A remainder is 0 or 1."""
    return x.n % 2 in (0, 1) and (x.n // 2) * 2 <= x.n and divmod(x.n, 2) == (x.n // 2, x.n % 2)


def powers(x):
    """2^n > n, n^2 >= n, sqrt(n) <= n."""
    return 2**x.n > x.n and x.n**2 >= x.n and x.n**0.5 <= x.n


def n_times_one_over_n(x):
    """The sum of n shares of 1/n."""
    return sum(1 / x.n for _ in range(x.n)) == 1


def shares_with_len(x):
    """The same in plain floats: false by rounding for n = 6 and 10, true as a statement."""
    return sum(1 / len(x.tokens) for _ in x.tokens) == 1


def shares_in_an_array(x):
    """The same in an array."""
    return np.full(x.n, 1 / x.n).sum() == 1


def shares_close(x):
    """The same with a tolerance."""
    return np.isclose(np.full(int(x.n), 1 / x.n).sum(), 1)


def decimals(x):
    """0.1 + 0.2 = 0.3 as decimals."""
    return 0.1 + 0.2 <= 0.3


def decimals_in_arrays(x):
    """The same with an array."""
    return (np.array([0.1, 0.7]) + np.array([0.2, 0.1]) <= np.array([0.3, 0.8])).all()


def grid(x):
    """A grid of four points: the second is a third."""
    return np.linspace(0, 1, 4)[1] * 3 == 1 and np.linspace(0, 1, x.n + 1)[-1] == 1


def root_of_two_squared(x):
    """sqrt(2)^2 = 2."""
    return np.sqrt(2) ** 2 <= 2


def golden_ratio(x):
    """phi^2 = phi + 1."""
    phi = (1 + 5**0.5) / 2
    return phi**2 >= phi + 1 and phi**2 <= phi + 1


def tangent_of_a_right_angle_halved(x):
    """tan(pi/4) = 1."""
    return math.tan(math.pi / 4) >= 1


def identity_matrix(x):
    """The trace and the sum of the identity."""
    return np.eye(x.n).sum() == x.n and np.trace(np.eye(x.d)) == x.d


def counted(x):
    """The number of entries."""
    return x.tokens.size == x.n * x.d and x.tokens.shape == (x.n, x.d) and x.tokens.T.shape == (x.d, x.n)


def last_index(x):
    """The last token in three ways."""
    return np.array_equal(x.tokens[x.n - 1], x.tokens[-1]) and np.array_equal(x.tokens[int(x.n) - 1], x.tokens[-1])


def halves(x):
    """Two parts make the whole."""
    half = x.n // 2
    return np.array_equal(np.concatenate([x.tokens[:half], x.tokens[half:]]), x.tokens)


def every_second(x):
    """Slices with a step."""
    return len(x.tokens[::2]) + len(x.tokens[1::2]) == x.n


def split(x):
    """p tokens and q tokens."""
    return x.p + x.q == x.n


def python_integers(x):
    """Sizes are integers wherever Python asks for one."""
    return isinstance(x.n, int) and [0] * x.n == [0 for _ in range(x.n)] and f"{x.n}" == str(int(x.n)) == "%d" % x.n


def dictionaries(x):
    """Sizes are keys."""
    return {x.n: "found"}[int(x.n)] == "found" and x.n in {int(x.n)} and hash(x.n) == hash(int(x.n))


def combinatorics(x):
    """The functions of math on sizes."""
    return math.comb(x.n, 2) == x.n * (x.n - 1) // 2 and math.factorial(x.n) >= x.n and math.gcd(x.n, x.n) == x.n


def factorial_by_product(x):
    """A product of a range."""
    return np.arange(1, x.n + 1).prod() == math.factorial(x.n)


def harmonic_number(x):
    """H_n <= 1 + log n."""
    return (1 / np.arange(1, x.n + 1)).sum() <= 1 + np.log(x.n)


def harmonic_number_by_fractions(x):
    """The same with exact fractions."""
    return sum(Fraction(1, k) for k in range(1, x.n + 1)) <= x.n


def extremes_of_sizes(x):
    """max and min of two sizes."""
    return max(x.n, x.d) + min(x.n, x.d) == x.n + x.d and sorted([x.n, x.d])[0] == min(x.n, x.d)


def rounded(x):
    """round, floor and ceil of sizes."""
    return round(x.n / 1) == x.n and math.floor(x.n) == math.ceil(x.n) == x.n and abs(-x.n) == x.n


def third_of_a_size(x):
    """n/3 three times."""
    return x.n / 3 + x.n / 3 + x.n / 3 <= x.n


def tenth_of_a_size(x):
    """0.1 n ten times; 0.1 stands for 1/10."""
    return x.n * 0.1 * 10 <= x.n and sum(0.1 for _ in range(10)) * x.n >= x.n


def zero_dimension_codimension(x):
    """d - 1 directions beside one."""
    return (x.d - 1) / x.d + 1 / x.d == 1


def root_of_a_size(x):
    """sqrt(d)^2 = d."""
    return np.sqrt(x.d) * np.sqrt(x.d) <= x.d and math.sqrt(x.d) ** 2 >= x.d


def logarithm_of_a_size(x):
    """exp(log n) = n."""
    return np.exp(np.log(x.n)) <= x.n and math.exp(math.log(x.n)) >= x.n


def logarithm_of_a_power(x):
    """log(n^2) = 2 log n."""
    return np.log(x.n**2) <= 2 * np.log(x.n)


def degrees(x):
    """180 degrees are pi."""
    return np.deg2rad(180) <= np.pi and math.radians(360) >= math.tau


def roots_of_unity(x):
    """The n-th roots of unity sum to zero, for n >= 2."""
    return x.n < 2 or abs(np.exp(2j * np.pi * np.arange(int(x.n)) / int(x.n)).sum()) < 1e-9


SIZES = tuple(each for each in list(globals().values()) if callable(each) and each.__module__ == __name__)


# --- the step alpha --------------------------------------------------------------------------------------------------


def step_is_positive(x):
    """By definition."""
    return x.alpha > 0


def bernoulli(x):
    """(1 + a)^2 >= 1 + 2 a."""
    return (1 + x.alpha) ** 2 >= 1 + 2 * x.alpha


def root_below_the_tangent(x):
    """sqrt(1 + a) <= 1 + a/2."""
    return (1 + x.alpha) ** 0.5 <= 1 + x.alpha / 2


def exponential_above_the_tangent(x):
    """exp(a) >= 1 + a for small steps."""
    return x.alpha > 5 or np.exp(x.alpha) >= 1 + x.alpha


def logarithm_below_the_tangent(x):
    """log(1 + a) <= a."""
    return np.log1p(x.alpha) <= x.alpha and np.log(1 + x.alpha) <= x.alpha


def sine_below_the_step(x):
    """sin a <= a."""
    return np.sin(x.alpha) <= x.alpha


def arctangent_below_a_right_angle(x):
    """arctan a < pi/2."""
    return np.arctan(x.alpha) < np.pi / 2


def arctangents_of_inverses(x):
    """arctan a + arctan 1/a = pi/2."""
    return np.arctan(x.alpha) + np.arctan(1 / x.alpha) <= np.pi / 2


def arctangents_of_inverses_from_above(x):
    """The same, from above."""
    return np.arctan(x.alpha) + np.arctan(1 / x.alpha) >= np.pi / 2


def inverse_step(x):
    """a (1/a) = 1."""
    return x.alpha * (1 / x.alpha) == 1


def sum_with_the_inverse(x):
    """a + 1/a >= 2, with equality at a = 1."""
    return x.alpha + 1 / x.alpha >= 2


def shrinking_factor(x):
    """1/(1 + a) < 1, and a/(1 + a) is the rest."""
    return 1 / (1 + x.alpha) < 1 and x.alpha / (1 + x.alpha) + 1 / (1 + x.alpha) == 1


def third_of_a_step(x):
    """(a/3) 3 = a, and (1/3) a three times."""
    return x.alpha / 3 * 3 == x.alpha and (1 / 3) * x.alpha * 3 >= x.alpha


def tenth_of_a_step(x):
    """0.1 a ten times; 0.1 stands for 1/10."""
    return x.alpha * 0.1 * 10 <= x.alpha and 0.1 * x.alpha + 0.2 * x.alpha <= 0.3 * x.alpha


def root_of_a_step(x):
    """sqrt(a)^2 = a and sqrt(a^2) = a."""
    return np.sqrt(x.alpha) ** 2 <= x.alpha and np.sqrt(x.alpha**2) >= x.alpha


def steps_in_a_row(x):
    """sum of a/n over the n tokens."""
    return sum(x.alpha / x.n for _ in range(x.n)) == x.alpha


def quarter_of_a_product(x):
    """a (1 - a) <= 1/4."""
    return x.alpha * (1 - x.alpha) <= 1 / 4


def means_of_a_step_and_one(x):
    """Harmonic, geometric and arithmetic mean of a and 1."""
    return 2 * x.alpha / (1 + x.alpha) <= np.sqrt(x.alpha) <= (1 + x.alpha) / 2


def exact_numbers_of_other_libraries(x):
    """Fractions and sympy numbers mix with the step."""
    return bool(x.alpha * Fraction(1, 3) * 3 == x.alpha) and bool(x.alpha + sp.Rational(1, 3) > x.alpha)


def integer_part(x):
    """floor(a) <= a < floor(a) + 1."""
    return np.floor(x.alpha) <= x.alpha < np.floor(x.alpha) + 1


def scaled_by_a_million(x):
    """A large literal that is exact."""
    return x.alpha * 1e6 / 1e6 == x.alpha


def scaled_by_a_millionth(x):
    """A small literal that stands for a decimal fraction."""
    return x.alpha * 1e-6 * 1e6 <= x.alpha


STEP = (
    step_is_positive,
    bernoulli,
    root_below_the_tangent,
    exponential_above_the_tangent,
    logarithm_below_the_tangent,
    sine_below_the_step,
    arctangent_below_a_right_angle,
    arctangents_of_inverses,
    arctangents_of_inverses_from_above,
    inverse_step,
    sum_with_the_inverse,
    shrinking_factor,
    third_of_a_step,
    tenth_of_a_step,
    root_of_a_step,
    steps_in_a_row,
    quarter_of_a_product,
    means_of_a_step_and_one,
    exact_numbers_of_other_libraries,
    integer_part,
    scaled_by_a_million,
    scaled_by_a_millionth,
)
