"""Derived spectra against 60-digit Jacobians of the plain loops, and against the test vectors of the papers."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest
import sympy as sp

from eigentoken.theory.calculus import DIMENSION, SLOT, TOKENS, Norm, factor, prove_equal, vector
from eigentoken.theory.linearization.at_points import spectrum as spectrum_at
from eigentoken.theory.linearization.circle_spectra import (
    circle_spectrum,
    consensus_set_derivative,
    consensus_set_identity,
)
from eigentoken.theory.linearization.consensus_spectra import (
    LAMBDA_K,
    LAMBDA_L,
    bipartite_spectrum,
    consensus_spectrum,
    zero_spectrum,
)
from eigentoken.theory.linearization.masked_spectra import masked_bipartite_spectrum, signed_response
from eigentoken.theory.linearization.polygonal_spectra import antipodal_blocks, antipodal_spectrum, polygonal_spectrum
from eigentoken.theory.linearization.spectrum import Entry
from eigentoken.theory.systems.catalogue import SYSTEMS, system

from ..shares import others_slow

_spec = importlib.util.spec_from_file_location("numeric_jacobians", Path(__file__).with_name("numeric_jacobians.py"))
numeric = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(numeric)
mp = numeric.mp

alpha = sp.Symbol("alpha", positive=True)
R = sp.Rational


@pytest.fixture(scope="module")
def derived():
    """Each spectrum is derived once."""
    table = {}

    def get(function, name, **options):
        key = (function.__name__, name, tuple(sorted(options.items())))
        if key not in table:
            table[key] = function(system(name), **options)
        return table[key]

    return get


def eigenvalue_lists(draw, d):
    """Spectra with negative dominant, repeated and zero eigenvalues among them."""
    kinds = (
        [R(draw.randint(-20, 20), 7) for _ in range(d)],
        [R(1, 2), *[R(-draw.randint(5, 30), 7)] * (d - 1)],
        [R(draw.randint(1, 20), 7), *[R(0)] * (d - 1)],
        [R(3, 2), *[R(draw.randint(-9, 9), 7)] * (d - 1)],
    )
    return kinds[draw.randrange(len(kinds))]


STEPS = (R(1, 100), R(1, 4), R(1), R(37, 10), R(10))


@pytest.mark.parametrize("name", ["oja-map", "oja-flow", "attention-map", "attention-flow"])
@pytest.mark.parametrize("mask", [None, "causal"])
def test_consensus_on_random_instances(derived, name, mask):
    spectrum = derived(consensus_spectrum, name, mask=mask, fixed_point=False)
    draw = random.Random(f"{name}{mask}")
    for case in range(20):
        n, d = draw.choice([(1, 3), (2, 2), (2, 3), (3, 2), (3, 3)])
        eigenvalues = eigenvalue_lists(draw, d)
        symmetric = case % 2 == 0
        basis = numeric.random_orthogonal(d, draw) if symmetric else numeric.random_matrix(d, draw) + 7 * mp.eye(d)
        k, step = draw.randrange(d), draw.choice(STEPS)
        if 1 + step * eigenvalues[k] == 0:
            continue
        parameters = {"V": numeric.rows(numeric.from_eigenvalues(eigenvalues, basis)), "alpha": numeric.number(step)}
        parameters["M"] = numeric.rows(numeric.random_matrix(d, draw))
        v = basis[:, k] / mp.norm(basis[:, k])
        tokens = [list(v)] * n
        matrix = numeric.tangent_restriction(numeric.jacobian(name, parameters, tokens, mask), tokens)
        others = [value for place, value in enumerate(eigenvalues) if place != k]
        found = spectrum.at(
            {"alpha": step, "lambda_k": eigenvalues[k], "n": n, "d": d},
            {"lambda_ell": others, "i": range(1, n + 1)},
            numeric.number,
        )
        numeric.assert_spectrum(matrix, found)


@pytest.mark.parametrize(
    "name", others_slow(["oja-map", "oja-flow", "attention-map", "attention-flow"], lambda name: "attention" in name)
)
def test_bipartite_on_random_instances(derived, name):
    spectrum = derived(bipartite_spectrum, name, fixed_point=False)
    draw = random.Random(name)
    done = 0
    while done < 25:
        p, q, d = draw.choice([(1, 1, 3), (2, 1, 2), (2, 1, 3), (2, 2, 2), (3, 1, 2), (1, 2, 3)])
        eigenvalues = eigenvalue_lists(draw, d)
        basis = numeric.random_orthogonal(d, draw)
        k, step = draw.randrange(d), draw.choice(STEPS)
        score = numeric.random_matrix(d, draw)
        v = basis[:, k]
        s = (v.T * score * v)[0]
        parameters = {"V": numeric.rows(numeric.from_eigenvalues(eigenvalues, basis)), "alpha": numeric.number(step)}
        parameters["M"] = numeric.rows(score)
        tokens = [list(v)] * p + [list(-v)] * q
        values = {"alpha": step, "lambda_k": eigenvalues[k], "p": p, "q": q, "d": d, "s": sp.Float(str(s), 85)}
        heights = [
            numeric.number(height.xreplace({sym: sp.sympify(values[sym.name]) for sym in height.free_symbols}))
            for height in (spectrum.expanded(condition.lhs) for condition in spectrum.conditions)
        ]
        if heights and (min(map(abs, heights)) < mp.mpf(1) / 50 or heights[0] * heights[-1] < 0):
            continue
        matrix = numeric.tangent_restriction(numeric.jacobian(name, parameters, tokens), tokens)
        others = [value for place, value in enumerate(eigenvalues) if place != k]
        numeric.assert_spectrum(matrix, spectrum.at(values, {"lambda_ell": others}, numeric.number))
        done += 1


def test_multihead_consensus_only_knows_the_sum(derived):
    for name in ("multihead-map", "multihead-flow"):
        spectrum = derived(consensus_spectrum, name)
        assert spectrum.same_as(derived(consensus_spectrum, name.replace("multihead", "attention")))
        draw = random.Random(name)
        for _ in range(8):
            n, d = draw.choice([(2, 2), (2, 3), (3, 2)])
            eigenvalues = [R(draw.randint(1, 20), 7), *[R(draw.randint(-20, 20), 7) for _ in range(d - 1)]]
            basis = numeric.random_orthogonal(d, draw)
            total = numeric.from_eigenvalues(eigenvalues, basis)
            first, second = numeric.random_matrix(d, draw), numeric.random_matrix(d, draw)
            values = [first, second, total - first - second]
            heads = [{"F": numeric.rows(F), "M": numeric.rows(numeric.random_matrix(d, draw))} for F in values]
            tokens = [list(basis[:, 0])] * n
            matrix = numeric.tangent_restriction(
                numeric.jacobian(name, {"heads": heads, "alpha": mp.mpf(1) / 3}, tokens), tokens
            )
            values = {"alpha": R(1, 3), "lambda_k": eigenvalues[0], "n": n, "d": d}
            numeric.assert_spectrum(matrix, spectrum.at(values, {"lambda_ell": eigenvalues[1:]}, numeric.number))


def test_multihead_bipartite(derived):
    spectrum = derived(bipartite_spectrum, "multihead-flow", heads=2)
    assert spectrum.count_check().is_holds
    diagonals = [(R(2), R(1, 2), R(-1)), (R(1), R(-1, 3), R(2))]
    scores = [mp.diag([mp.mpf(1) / 2, 1, 0]), mp.diag([-mp.mpf(1) / 3, 0, 1])]
    heads = [
        {"F": numeric.rows(mp.diag([numeric.number(x) for x in row])), "M": numeric.rows(M)}
        for row, M in zip(diagonals, scores, strict=True)
    ]
    v = [mp.mpf(1), mp.mpf(0), mp.mpf(0)]
    tokens = [v, v, [-x for x in v]]
    matrix = numeric.tangent_restriction(numeric.jacobian("multihead-flow", {"heads": heads}, tokens), tokens)
    found = []
    for l in (1, 2):
        values = {
            "lambda_k__1": 2,
            "lambda_k__2": 1,
            "lambda_ell__1": diagonals[0][l],
            "lambda_ell__2": diagonals[1][l],
        }
        values |= {"s__1": R(1, 2), "s__2": R(-1, 3), "p": 2, "q": 1, "d": 2}
        found += spectrum.at(values, {"lambda_ell__1": [diagonals[0][l]]}, numeric.number, partial=True)
    numeric.assert_spectrum(matrix, found)


def test_the_abella_and_pham_systems(derived):
    draw = random.Random(7)
    d, n = 3, 3
    root = numeric.random_matrix(d, draw)
    P = root * root.T / 9 + mp.eye(d)
    z = mp.matrix([1, 2, -1])
    z = z / mp.sqrt((z.T * P * z)[0])
    tokens = [list(z)] * n
    matrix = numeric.tangent_restriction(numeric.jacobian("ellipsoid-flow", {"P": numeric.rows(P)}, tokens), tokens, P)
    spectrum = derived(consensus_spectrum, "ellipsoid-flow")
    numeric.assert_spectrum(matrix, spectrum.at({"n": n, "d": d}, {}, numeric.number))

    eigenvalues = [R(-1), R(3, 2), R(2, 5)]
    basis = numeric.random_orthogonal(d, draw)
    parameters = {"U": numeric.rows(numeric.from_eigenvalues(eigenvalues, basis)), "P": numeric.rows(root)}
    tokens = [list(basis[:, 0])] * n
    matrix = numeric.tangent_restriction(numeric.jacobian("causal-flow", parameters, tokens), tokens)
    spectrum = derived(consensus_spectrum, "causal-flow")
    values = {"n": n, "d": d, "lambda_k": R(-1)}
    numeric.assert_spectrum(
        matrix, spectrum.at(values, {"lambda_ell": eigenvalues[1:], "i": [1, 2, 3]}, numeric.number)
    )
    assert (
        sp.simplify(
            spectrum.tangent[0].value
            - (LAMBDA_L / sp.Symbol("i", integer=True, positive=True) - LAMBDA_K) / sp.sqrt(DIMENSION)
        )
        == 0
    )

    B = numeric.from_eigenvalues(eigenvalues, basis)
    matrix = numeric.jacobian("token-flow", {"B": numeric.rows(B), "W": numeric.rows(root)}, [[mp.mpf(0)] * d] * n)
    found = derived(zero_spectrum, "token-flow").at({"n": n, "d": d}, {"lambda_ell": eigenvalues}, numeric.number)
    numeric.assert_spectrum(matrix, found)
    common = numeric.jacobian("token-flow", {"B": numeric.rows(B), "W": numeric.rows(root)}, [[mp.mpf(2), 1, -3]] * n)
    numeric.assert_spectrum(common, found)


def test_masked_bipartite(derived):
    signs = [1, -1, 1, 1]
    eigenvalues = [R(3, 2), R(-1, 3), R(4, 5)]
    draw = random.Random(3)
    basis = numeric.random_orthogonal(3, draw)
    score = numeric.random_matrix(3, draw)
    v = basis[:, 0]
    s = sp.Float(str((v.T * score * v)[0]), 85)
    tokens = [list(sign * v) for sign in signs]
    for name in ("attention-map", "attention-flow", "oja-map"):
        spectrum = derived(masked_bipartite_spectrum, name)
        parameters = {"V": numeric.rows(numeric.from_eigenvalues(eigenvalues, basis)), "M": numeric.rows(score)}
        parameters["alpha"] = mp.mpf(1) / 4
        matrix = numeric.tangent_restriction(numeric.jacobian(name, parameters, tokens, "causal"), tokens)
        found = []
        for i in range(4):
            same = sum(1 for j in range(i + 1) if signs[j] == signs[i])
            values = {
                "alpha": R(1, 4),
                "lambda_k": eigenvalues[0],
                "s": s,
                "p_i": same,
                "q_i": i + 1 - same,
                "d": 3,
                "n": 4,
            }
            found += spectrum.at(values, {"lambda_ell": eigenvalues[1:], "i": [i + 1]}, numeric.number, partial=True)
        numeric.assert_spectrum(matrix, found)


def test_polygonal_oja(derived):
    draw = random.Random(5)
    for name in ("oja-map", "oja-flow"):
        spectrum = derived(polygonal_spectrum, name)
        for n in (3, 5):
            V = numeric.random_matrix(2, draw)
            V = V + V.T
            angles = [2 * mp.pi * j / n for j in range(n)]
            tokens = [[mp.cos(a), mp.sin(a)] for a in angles]
            parameters = {"V": numeric.rows(V), "alpha": mp.mpf(2) / 5}
            matrix = numeric.tangent_restriction(numeric.jacobian(name, parameters, tokens), tokens)
            mean = mp.eye(2)
            for token in tokens:
                mean -= mp.matrix(token) * mp.matrix(token).T / n
            product = mean * V
            trace, det = product[0, 0] + product[1, 1], mp.det(product)
            roots = [(trace + sign * mp.sqrt(trace**2 - 4 * det)) / 2 for sign in (1, -1)]
            listed = [sp.Float(str(root), 85) for root in roots]
            found = spectrum.at({"alpha": R(2, 5), "n": n, "d": 2}, {"nu": listed}, numeric.number)
            numeric.assert_spectrum(matrix, found, mp.mpf(10) ** -38)


@pytest.mark.parametrize("name", ["attention-map", "attention-flow"])
def test_antipodal_blocks_are_derived(name):
    blocks = antipodal_blocks(system(name))
    step = alpha if name.endswith("map") else sp.Integer(1)
    assert all(verdict.is_holds for verdict in blocks.check(step, name.endswith("map")).values())
    assert not any(verdict.is_holds for verdict in blocks.check(2 * step, name.endswith("map")).values())


def test_the_signed_point_needs_an_eigenvector():
    _, response = signed_response(system("attention-map"), "anything")
    assert response.own == 1 / sp.Symbol("m_i", positive=True)


def test_the_consensus_set_only_knows_the_layer_matrix():
    for name in ("oja-map", "attention-map", "multihead-map"):
        assert consensus_set_identity(system(name)).is_holds
    derivative, rules = consensus_set_derivative(system("attention-map"))
    plain = vector("w", SLOT) / factor(Norm("r", (SLOT,)))
    assert not prove_equal(derivative, plain, rules).is_holds


def test_circle_of_a_complex_pair():
    """In frames that turn with the circle the Jacobian has the derived multipliers."""
    spectrum = circle_spectrum(system("attention-map"))
    assert spectrum.count_check().is_holds
    assert spectrum.tangent[0].value == 1
    real, imaginary, step, n = R(1), R(2), R(3, 10), 3
    others = [R(1, 2), R(-1, 3)]
    F = mp.matrix(4, 4)
    F[0, 0] = F[1, 1] = mp.mpf(1)
    F[1, 0], F[0, 1] = mp.mpf(2), -mp.mpf(2)
    F[2, 2], F[3, 3] = mp.mpf(1) / 2, -mp.mpf(1) / 3
    draw = random.Random(8)
    parameters = {"V": numeric.rows(F), "M": numeric.rows(numeric.random_matrix(4, draw)), "alpha": mp.mpf(3) / 10}
    tokens = [[mp.mpf(3) / 5, mp.mpf(4) / 5, mp.mpf(0), mp.mpf(0)]] * n
    full = numeric.jacobian("attention-map", parameters, tokens)
    angle = mp.atan2(mp.mpf(6) / 10, mp.mpf(13) / 10)
    assert abs(angle - mp.mpf("0.432407775571")) < mp.mpf("0.51e-12")

    def frame(turn):
        c, s = mp.cos(turn), mp.sin(turn)
        z = (c * tokens[0][0] - s * tokens[0][1], s * tokens[0][0] + c * tokens[0][1])
        columns = mp.matrix(4 * n, 3 * n)
        for i in range(n):
            columns[4 * i, 3 * i], columns[4 * i + 1, 3 * i] = -z[1], z[0]
            columns[4 * i + 2, 3 * i + 1] = columns[4 * i + 3, 3 * i + 2] = mp.mpf(1)
        return columns

    matrix = frame(angle).T * (full * frame(0))
    found = spectrum.at(
        {"alpha": step, "a": real, "b": imaginary, "n": n, "d": 4}, {"lambda_ell": others}, numeric.number
    )
    numeric.assert_spectrum(matrix, found)


# -- the test vectors of the papers ---------------------------------------------------------------------------------------


def digits(text):
    """The value of a printed decimal and half a unit of its last place."""
    mantissa = text.lstrip("-").replace(".", "").lstrip("0")
    places = len(text.split(".")[1]) if "." in text else 0
    assert mantissa
    return mp.mpf(text), mp.mpf(10) ** -places * mp.mpf("0.51")


def assert_printed(found, printed):
    values = sorted((mp.re(value) for value, count in found for _ in range(count)))
    expected = []
    for item in printed:
        text, count = item if isinstance(item, tuple) else (item, 1)
        pair = digits(text) if isinstance(text, str) else (numeric.number(sp.sympify(text)), mp.mpf(10) ** -50)
        expected += [pair] * count
    expected.sort(key=lambda pair: pair[0])
    assert len(values) == len(expected)
    for value, (target, slack) in zip(values, expected, strict=True):
        assert abs(value - target) <= slack, (value, target)


def test_TV1(derived):
    lam = [R(2), R(1, 2), R(-1)]
    for name in ("oja-map", "attention-map"):
        spectrum = derived(consensus_spectrum, name)
        printed = {
            0: [R(1, 2), R(3, 4), (R(2, 3), 4)],
            1: [R(2, 3), R(4, 3), (R(8, 9), 4)],
            2: [2, R(3, 2), (R(4, 3), 4)],
        }
        for k, expected in printed.items():
            others = [value for place, value in enumerate(lam) if place != k]
            found = spectrum.at(
                {"alpha": R(1, 4), "lambda_k": lam[k], "n": 3, "d": 3}, {"lambda_ell": others}, numeric.number
            )
            assert_printed(found, expected)


def test_TV2(derived):
    lam = [R(2), R(1, 2), R(-1)]
    spectrum = derived(bipartite_spectrum, "oja-map")
    printed = {
        0: ["0.680251711796163", (R(6, 7), 2), "0.917819944512031", "1.13403400248955", "1.26075148405940"],
        1: ["0.736705907860003", (R(24, 25), 2), "1.01072057762647", "1.01981583127043", "1.48667072672135"],
        2: ["0.946669152862065", "0.963089720162484", (R(12, 11), 2), "1.19668749049458", "1.56837881130605"],
    }
    for k, expected in printed.items():
        others = [value for place, value in enumerate(lam) if place != k]
        values = {"alpha": R(1, 4), "lambda_k": lam[k], "p": 2, "q": 1, "d": 3}
        assert_printed(spectrum.at(values, {"lambda_ell": others}, numeric.number), expected)
    block = spectrum.tangent[-1].block
    point = {"alpha": R(1, 4), "lambda_k": R(2), "lambda_ell": R(1, 2), "p": 2, "q": 1, "n": 3}
    exact = spectrum.expanded(block.trace()), spectrum.expanded(block.det())
    trace, det = (value.subs({sym: point[sym.name] for sym in value.free_symbols}) for value in exact)
    assert (trace, det, 1 - trace + det) == (R(61, 28), R(81, 70), R(-3, 140))


@pytest.mark.parametrize(
    ("lam", "k", "s", "p", "q", "step", "expected"),
    [
        pytest.param([1, R(1, 2)], 0, sp.log(3), 1, 1, R(1, 2), [R(6, 7), R(25, 28)], id="TV5"),
        pytest.param(
            [1, R(1, 4), R(1, 8)], 0, sp.log(3), 8, 2, R(1, 2),
            [(R(74, 109), 14), "0.720064103983665", "0.760975679800602", (R(26, 31), 2), "0.875119382254867",
             "0.911782532688300"],
            id="TV4",
        ),
        pytest.param(
            [1, R(-1, 2)], 0, sp.log(R(3, 2)) / 2, 2, 1, R(1, 2), ["0.627005809044468", R(4, 5), "0.984532652493994"], id="TV6"
        ),
        pytest.param([1, -2], 1, -sp.log(3), 2, 2, R(1, 4), [R(4, 7), (R(5, 7), 2), R(25, 28)], id="TV7a"),
        pytest.param(
            [1, -2], 1, -2, 2, 2, R(1, 4), ["0.512136331040234", ("0.674757554026823", 2), "0.843446942533528"], id="TV7b"
        ),
    ],
)  # fmt: skip
def test_attention_bipartite_vectors(derived, lam, k, s, p, q, step, expected):
    spectrum = derived(bipartite_spectrum, "attention-map")
    others = [value for place, value in enumerate(lam) if place != k]
    values = {"alpha": step, "lambda_k": lam[k], "p": p, "q": q, "s": s, "d": len(lam)}
    assert_printed(spectrum.at(values, {"lambda_ell": others}, numeric.number), expected)


def test_TV8_TV9(derived):
    spectrum = derived(polygonal_spectrum, "oja-map")
    found = spectrum.at({"alpha": R(1, 4), "n": 3, "d": 2}, {"nu": [R(1, 2), R(-1, 4)]}, numeric.number)
    assert_printed(found, [R(15, 16), 1, R(9, 8)])
    pair = derived(bipartite_spectrum, "oja-map")
    values = {"alpha": R(1, 4), "lambda_k": 1, "p": 1, "q": 1, "d": 2}
    assert_printed(pair.at(values, {"lambda_ell": [R(-1, 2)]}, numeric.number), [R(7, 8), 1])


def test_TV10(derived):
    spectrum = derived(antipodal_spectrum, "attention-map")
    # V = [[2,1],[1,2]], M = [[0,0],[-3,0]], z = e1: omega = 1, rho = -3, rho' = 0, and V + omega rho = 2 - 3
    base = {"alpha": R(1, 10), "d": 2, "rho_omega": -3, "rhoprime_omega": 0}
    assert_printed(spectrum.at({**base, "n": 2}, {"nu": [-1]}, numeric.number), [R(7, 10), R(9, 10)])
    assert_printed(spectrum.at({**base, "n": 4}, {"nu": [-1]}, numeric.number), [(R(7, 10), 3), R(9, 10)])
    both = {**base, "rhoprime_omega": -3, "n": 2}
    assert_printed(spectrum.at(both, {"nu": [-1]}, numeric.number), [R(4, 10), R(9, 10)])
    V, M = [[2, 1], [1, 2]], [[0, 0], [-3, 0]]
    parameters = {
        "V": [[mp.mpf(x) for x in row] for row in V],
        "M": [[mp.mpf(x) for x in row] for row in M],
        "alpha": mp.mpf(1) / 10,
    }
    tokens = [[mp.mpf(1), mp.mpf(0)], [mp.mpf(-1), mp.mpf(0)]] * 2
    matrix = numeric.tangent_restriction(numeric.jacobian("attention-map", parameters, tokens), tokens)
    numeric.assert_spectrum(matrix, spectrum.at({**base, "n": 4}, {"nu": [-1]}, numeric.number))


# -- the type -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SYSTEMS))
@pytest.mark.parametrize("mask", [None, "causal", "other"])
def test_multiplicities_add_up(derived, name, mask):
    spectrum = derived(consensus_spectrum, name, mask=mask)
    assert spectrum.count_check().is_holds
    wrong = type(spectrum)(
        spectrum.system,
        spectrum.point,
        (*spectrum.entries, Entry(sp.Integer(0), TOKENS)),
        spectrum.dimension,
        spectrum.flow,
    )
    assert wrong.count_check().is_fails


def test_extrinsic_directions_belong_to_an_extension(derived):
    homogeneous = derived(consensus_spectrum, "attention-map", fixed_point=False)
    assert [(entry.value, entry.multiplicity, entry.extension) for entry in homogeneous.extrinsic] == [
        (0, TOKENS, "homogeneous")
    ]
    unit = derived(consensus_spectrum, "attention-map", fixed_point=False, extension="unit")
    (entry,) = unit.extrinsic
    m = 1 + alpha * LAMBDA_K
    assert sp.simplify(entry.value - sp.sign(m) / m**2).subs({alpha: R(1, 3), LAMBDA_K: -7}) == 0
    assert (entry.multiplicity, entry.extension, entry.tangent) == (TOKENS, "unit", False)
    assert homogeneous.tangent == unit.tangent
    bipartite = derived(bipartite_spectrum, "attention-map", extension="unit")
    assert [str(entry.value) for entry in bipartite.extrinsic] == ["m_1**(-2)", "m_2**(-2)"]
    assert [str(entry.multiplicity) for entry in bipartite.extrinsic] == ["p", "q"]


def test_flows_are_the_limits_of_the_maps(derived):
    for name in ("oja", "attention"):
        step = derived(consensus_spectrum, f"{name}-map").tangent
        flow = derived(consensus_spectrum, f"{name}-flow").tangent
        for entry, limit in zip(step, flow, strict=True):
            assert sp.limit((entry.value - 1) / alpha, alpha, 0).equals(limit.value)
            assert entry.multiplicity == limit.multiplicity


def test_same_as_sees_differences(derived):
    oja, attention = derived(consensus_spectrum, "oja-map"), derived(consensus_spectrum, "attention-map")
    assert oja.same_as(attention)
    assert not oja.same_as(derived(consensus_spectrum, "attention-map", mask="causal"))
    assert not oja.same_as(derived(consensus_spectrum, "attention-map", fixed_point=False))


def test_missing_values_are_named(derived):
    spectrum = derived(consensus_spectrum, "oja-map")
    with pytest.raises(ValueError, match="lambda_ell"):
        spectrum.at({"alpha": 1, "lambda_k": 1, "n": 2, "d": 2}, {})
    with pytest.raises(ValueError, match="alpha"):
        spectrum.at({"lambda_k": 1, "n": 2, "d": 2}, {"lambda_ell": [1]})


def test_wrong_requests_are_refused():
    with pytest.raises(ValueError, match="heads"):
        bipartite_spectrum(system("multihead-map"))
    with pytest.raises(ValueError, match="does not contain 0"):
        zero_spectrum(system("oja-map"))
    with pytest.raises(ValueError, match="one head of full attention"):
        spectrum_at("multihead-map", at="polygon")
