"""True statements in the idioms of Python: objects, properties, decorators, containers of functions, constants of the module.

Most are true with equality, and false in floats by a rounding: 1/n added up n times, 0.1 + 0.2 <= 0.3.  A line of these that runs
as it stands, in floats, refutes the truth.
"""

import collections
import contextlib
import dataclasses
import enum
import fractions
import functools
import itertools
import math
import operator
import types

import numpy as np


def ones(n):
    return sum([1 / n] * n) == 1


class Base:
    def ones(self, n):
        return sum([1 / n] * n) == 1


class Rule(Base):
    limit = 0.3

    def __init__(self, k=0.1):
        self.k = k

    def holds(self, x):
        return self.ones(x.n) and self.k * 3 <= self.limit

    @staticmethod
    def st(x):
        return sum([1 / x.n] * x.n) == 1

    @classmethod
    def cl(cls, x):
        return sum([1 / x.n] * x.n) == 1 and 3 * 0.1 <= cls.limit

    @property
    def tenths(self):
        return 0.1 + 0.2 <= 0.3

    @functools.cached_property
    def tenths2(self):
        return 0.1 + 0.2 <= 0.3

    def __lt__(self, n):
        return ones(n) and 0.1 + 0.2 <= 0.3

    def __getitem__(self, n):
        return sum([1 / n] * n) == 1

    def __contains__(self, n):
        return sum([1 / n] * n) == 1

    def __bool__(self):
        return 0.1 + 0.2 <= 0.3

    def __enter__(self):
        return 0.1 + 0.2 <= 0.3

    def __exit__(self, *a):
        return None

    def __iter__(self):
        yield (0.1 + 0.2 <= 0.3)

    def __getattr__(self, name):
        if name == "magic":
            return 0.1 + 0.2 <= 0.3
        raise AttributeError(name)


RULE = Rule()
NS = types.SimpleNamespace(rule=RULE, f=ones)


class Kind(enum.Enum):
    A = 0.1
    B = 0.3

    def triple(self):
        return self.value * 3 <= 0.3


@dataclasses.dataclass(frozen=True)
class Conf:
    a: float = 0.1
    b: float = 0.2

    def ok(self):
        return self.a + self.b <= 0.3


CONF = Conf()
Pair = collections.namedtuple("Pair", "a b")
PAIR = Pair(0.1, 0.2)


class Pt(collections.namedtuple("Pt", "a b")):
    def ok(self):
        return self.a + self.b <= 0.3


PT = Pt(0.1, 0.2)
DD = collections.OrderedDict(f=ones)
DF = collections.defaultdict(lambda: ones)
MP = types.MappingProxyType({"f": ones})
VEC = np.vectorize(lambda n: sum([1 / n] * n) == 1)
FPY = np.frompyfunc(lambda n: sum([1 / n] * n) == 1, 1, 1)
PART = functools.partial(ones)


@functools.singledispatch
def disp(n):
    return sum([1 / n] * n) == 1


@disp.register
def _(n: int):
    return sum([1 / n] * n) == 1


@contextlib.contextmanager
def cm(n):
    yield (sum([1 / n] * n) == 1)


@functools.cache
def cached(n):
    return sum([1 / n] * n) == 1


@functools.cache
def inv(n):
    return 1 / n


def deco(f):

    @functools.wraps(f)
    def inner(*a, **k):
        return f(*a, **k)

    return inner


@deco
def decorated(n):
    return sum([1 / n] * n) == 1


class CallDeco:
    def __init__(self, f):
        self.f = f

    def __call__(self, *a):
        return self.f(*a)


@CallDeco
def cdec(n):
    return sum([1 / n] * n) == 1


def factory(k):

    def inner(n):
        return sum([1 / n] * n) == 1 and k * 3 <= 0.3

    return inner


MADE = factory(0.1)
THIRD = 1 / 3
TABLE = np.linspace(0, 1, 11)
C = np.sqrt(2) / 3
K = 1 / 3
LST = [0.1, 0.2, 0.3]
ST = frozenset([0.3])


def by_instance(x):
    return RULE.holds(x)


def by_static(x):
    return Rule.st(x)


def by_class(x):
    return Rule.cl(x)


def by_property(x):
    return RULE.tenths


def by_cprop(x):
    return RULE.tenths2


def by_new_property(x):
    return Rule().tenths


def by_new(x):
    return Rule().holds(x)


def by_lt(x):
    return RULE < x.n


def by_item(x):
    return RULE[x.n]


def by_in(x):
    return x.n in RULE


def by_bool(x):
    return bool(RULE)


def by_not(x):
    answer = "no"
    if RULE:
        answer = "yes"
    return answer == "yes"


def by_enter(x):
    with RULE as r:
        return r


def by_ns(x):
    return NS.rule.holds(x) and NS.f(x.n)


def by_enum(x):
    return Kind.A.triple()


def by_enum_value(x):
    return Kind.A.value * 3 <= Kind.B.value


def by_conf(x):
    return CONF.ok()


def by_newconf(x):
    return Conf().ok() and Conf(a=0.2, b=0.1).ok()


def by_pair(x):
    return PAIR.a + PAIR.b <= 0.3


def by_pt(x):
    return PT.ok()


def by_dd(x):
    return DD["f"](x.n)


def by_df(x):
    return DF["f"](x.n)


def by_mp(x):
    return MP["f"](x.n)


def by_vec(x):
    return bool(VEC(x.n))


def by_fpy(x):
    return bool(FPY(x.n))


def by_part(x):
    return PART(x.n)


def by_disp(x):
    return disp(x.n)


def by_cm(x):
    with cm(x.n) as r:
        return r


def by_cached(x):
    return cached(x.n)


def by_inv(x):
    return sum(inv(x.n) for _ in range(x.n)) <= 1


def by_deco(x):
    return decorated(x.n)


def by_cdec(x):
    return cdec(x.n)


def by_made(x):
    return MADE(x.n)


def by_third(x):
    return (np.sum(x.tokens**2, axis=1) * THIRD <= 1 / 3).all() and 3 * THIRD == 1


def by_table(x):
    return TABLE[1] * 3 <= TABLE[3] and 0.3 >= TABLE[1] + TABLE[2]


def by_C(x):
    return 9 * C**2 <= 2 and 9 * C**2 >= 2


def by_K(x):
    return x.n * K * 3 == x.n


def by_default(x, k=0.1, t=1 / 3):
    return 3 * k <= 0.3 and k + k + k >= 0.3 and (3 * t == 1)


def by_star(x):

    def add(*a, **k):
        return sum(a) + sum(k.values())

    return add(0.1, 0.2) <= 0.3 and add(0.1, b=0.2) <= 0.3


def by_walrus(x):
    return (s := (0.1 + 0.2)) <= 0.3 and s >= 0.3


def by_match_float(x):
    match 0.1 + 0.2:
        case 0.3:
            return True
        case _:
            return False


def by_match_guard(x):
    match x.n:
        case n if sum([1 / n] * n) == 1:
            return True
        case _:
            return False


def by_match_seq(x):
    match [x.n / x.n, x.n * (1 / x.n)]:
        case [1, 1]:
            return True
        case _:
            return False


def by_rec(x):

    def f(m):
        return 0 if m == 0 else 1 / x.n + f(m - 1)

    return f(x.n) == 1


def by_reduce(x):
    return functools.reduce(operator.add, [1 / x.n] * x.n) == 1


def by_op(x):
    return operator.le(sum([0.1, 0.2]), 0.3)


def by_accum(x):
    return list(itertools.accumulate([1 / x.n] * x.n))[-1] == 1


def by_starmap(x):
    return all(itertools.starmap(operator.le, [(0.1 + 0.2, 0.3)]))


def by_lst(x):
    return LST[0] + LST[1] <= LST[2]


def by_sumlst(x):
    return sum(LST[:2]) <= LST[2] and sum(LST) <= 0.6


def by_maxlst(x):
    return max(LST[0] * 3, 0.3) == LST[2]


def by_sorted(x):
    return sorted([0.1 + 0.2, 0.3])[1] == 0.3


def by_index(x):
    return [0.5, 0.1 + 0.2, 0.3].index(0.3) == 1


def by_count(x):
    return [0.1 + 0.2, 0.3].count(0.3) == 2


def by_in_list(x):
    return 0.1 + 0.2 in LST


def by_in_set(x):
    return 0.1 + 0.2 in ST


def by_listeq(x):
    return [0.1 + 0.2] == [0.3] and (0.3,) == (0.1 + 0.2,)


def by_testing(x):
    try:
        np.testing.assert_allclose(x.tokens @ x.tokens.T, (x.tokens @ x.tokens.T).T, rtol=1e-07)
    except AssertionError:
        return False
    return True


def by_testing2(x):
    try:
        np.testing.assert_allclose([0.1 + 0.2], [0.3], rtol=0, atol=0)
    except AssertionError:
        return False
    return True


def by_assert(x):
    try:
        assert 0.1 + 0.2 <= 0.3
    except AssertionError:
        return False
    return True


def by_finally(x):
    r = False
    try:
        r = sum([1 / x.n] * x.n) == 1
    finally:
        r = r and x.n > 0
    return r


def by_mutation(x):
    x.tokens *= 2
    return (np.sum(x.tokens**2, axis=1) == 4).all()


def by_mutation2(x):
    t = x.tokens
    t[0] = 0
    x.V[...] = 0
    return not x.V.any() and t[0].sum() == 0


def by_mutation_adv(x):
    n0 = np.linalg.norm(x.tokens[0])
    x.tokens[...] = 5.0
    return n0 <= 1


def by_setattr(x):
    x.extra = 0.1 + 0.2
    return x.extra <= 0.3


def by_vars(x):
    return vars(x)["n"] * (1 / vars(x)["n"]) == 1


def by_getattr(x):
    return x.n * (1 / x.n) == 1


def by_fraction(x):
    return fractions.Fraction(1, x.n) * x.n == 1 and fractions.Fraction(0.1) * 3 != 7


def by_import(x):
    import math as m

    import numpy as q

    return m.sqrt(2) ** 2 <= 2 and q.sqrt(2) ** 2 <= 2


def by_from_import(x):
    from math import sqrt

    from numpy import sqrt as qs

    return sqrt(2) ** 2 <= 2 and qs(2) ** 2 <= 2 and (sqrt(3) ** 2 >= 3)


def by_eval(x):
    return eval("0.1 + 0.2 <= 0.3")


def by_strfloat(x):
    return float("0.1") + float("0.2") <= 0.3


def by_strfloat2(x):
    return float("0.1") * 3 <= float("0.3")


def by_floor(x):
    return math.floor(x.n * (1 / x.n)) == 1 and x.n * (1 / x.n) // 1 == 1


def by_intdiv(x):
    return (0.1 + 0.2) // 0.3 == 1 and 0.3 // 0.1 == 3


def by_divmod(x):
    return divmod(0.3, 0.1)[0] == 3


def by_pow(x):
    return pow(2, 0.5) ** 2 <= 2 and 2**0.5 * 2**0.5 <= 2


def by_neg(x):
    return -(0.1 + 0.2) >= -0.3


def by_abs(x):
    return abs(-0.1 - 0.2) <= 0.3


def by_npsum(x):
    return np.sum([0.1, 0.2]) <= 0.3


def by_npsum2(x):
    return np.array([0.1, 0.2]).sum() <= 0.3


def by_npfull(x):
    return np.full(x.n, 1 / x.n).sum() == 1


def by_npones(x):
    return (np.ones(x.n) / x.n).sum() == 1 and np.ones((x.n,)).dot(np.full(x.n, 1 / x.n)) == 1


def by_npf64(x):
    return np.float64(0.1) + np.float64(0.2) <= np.float64(0.3)


def by_npcumsum(x):
    return np.cumsum(np.full(x.n, 1 / x.n))[-1] == 1


def by_nparr2(x):
    return np.asarray([1 / x.n] * x.n).mean() * x.n == 1


def by_npallclose0(x):
    return np.allclose(0.1 + 0.2, 0.3, rtol=0, atol=0)


def by_isclose(x):
    return math.isclose(0.1 + 0.2, 0.3, rel_tol=0)


def by_ternary(x):
    return (1 if 0.1 + 0.2 <= 0.3 else 0) == 1


def by_while(x):
    t, k = (0.0, 0)
    while t < 1:
        t += 1 / x.n
        k += 1
    return k == x.n


def by_for_range(x):
    t = 0
    for _ in range(x.n):
        t += 1 / x.n
    return t == 1


def by_map(x):
    return next(map(float.__add__, [0.1], [0.2])) <= 0.3 and max(map(abs, [0.1 + 0.2])) <= 0.3


def by_dunder_cmp(x):
    return (0.1 + 0.2).__le__(0.3)


def by_is_integer(x):
    return (x.n * (1 / x.n)).is_integer()


def by_asratio(x):
    return (1 / x.n * x.n).as_integer_ratio() == (1, 1)


def by_argmax(x):
    return np.argmax([0.3, 0.1 + 0.2]) == 0


def by_unique(x):
    return len(np.unique([0.3, 0.1 + 0.2])) == 1


def by_where(x):
    return bool(np.where(np.array([0.1 + 0.2]) <= 0.3, True, False).all())


def by_searchsorted(x):
    return np.searchsorted([0.3], 0.1 + 0.2) == 0


def by_digitize(x):
    return np.digitize(0.1 + 0.2, [0.3]) == 1


def by_heapq(x):
    import heapq

    return heapq.nsmallest(1, [(0.1 + 0.2, 0), (0.3, 1)])[0][1] == 0


def by_minkey(x):
    return min([(0.3, 1), (0.1 + 0.2, 0)])[1] == 0


def by_bisect(x):
    import bisect

    return bisect.bisect_left([0.3], 0.1 + 0.2) == 0


def by_complex(x):
    return (0.1 + 0.2j).real + (0.1 + 0.2j).imag <= 0.3


def by_npcomplex(x):
    return abs(np.exp(1j * np.pi) + 1) <= 0


def by_linalg(x):
    return np.linalg.norm([0.3, 0.4]) <= 0.5


def by_linalg_det(x):
    return np.linalg.det([[0.1, 0.2], [0.1, 0.2]]) <= 0


def by_diff(x):
    return np.diff(TABLE).max() <= 0.1


def by_tablesum(x):
    return TABLE.sum() <= 5.5 and TABLE @ TABLE <= 3.85


def by_tablemethod(x):
    return TABLE.mean() <= 0.5 and TABLE.std() <= math.sqrt(0.1)


def by_sympy(x):
    import sympy as sp

    return sp.sqrt(2) ** 2 == 2 and sp.Rational(1, 3) * 3 == 1


IDIOMS = tuple(each for name, each in list(globals().items()) if name.startswith("by_"))
