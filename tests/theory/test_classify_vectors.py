"""``classify`` against the test vectors of the statement sheets, to all printed digits."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from eigentoken.theory.classification.classify import Classification, classify
from eigentoken.theory.classification.instances import Instance


def diagonal(*entries: Any) -> list[list[Any]]:
    return [[entry if i == j else 0 for j in range(len(entries))] for i, entry in enumerate(entries)]


def axis(k: int, d: int, sign: int = 1) -> list[int]:
    return [sign if i == k else 0 for i in range(d)]


def split(k: int, d: int, p: int, q: int) -> list[list[int]]:
    return [axis(k, d)] * p + [axis(k, d, -1)] * q


def agrees(value: float, printed: str) -> bool:
    """``value`` is the printed number, up to one unit of its last digit (and the rounding of a double)."""
    if "/" in printed:
        return value == float(Fraction(printed))
    last = Decimal(printed).as_tuple().exponent
    assert isinstance(last, int)
    return abs(Decimal(value) - Decimal(printed)) <= max(Decimal(10) ** last, abs(Decimal(value)) * Decimal(2) ** -52)


def matches(found: Classification, expected: Sequence[tuple[str, int]]) -> None:
    """The spectrum is the printed one: values in ascending order with their multiplicities."""
    listed = sorted(expected, key=lambda entry: float(Fraction(entry[0])))
    assert [entry.multiplicity for entry in found.spectrum] == [count for _, count in listed]
    for entry, (printed, _) in zip(found.spectrum, listed, strict=True):
        assert entry.value.imag == 0
        assert agrees(entry.value.real, printed), (entry, printed)
    instance = found.instance
    tangent = instance.d - (instance.system.space.value != "euclidean")
    assert sum(entry.multiplicity for entry in found.spectrum) == instance.n * tangent


V3 = diagonal(2, "1/2", -1)
TV1 = {
    0: [("1/2", 1), ("3/4", 1), ("2/3", 4)],
    1: [("2/3", 1), ("4/3", 1), ("8/9", 4)],
    2: [("2", 1), ("3/2", 1), ("4/3", 4)],
}
TV2 = {
    0: [
        ("0.680251711796163", 1),
        ("6/7", 2),
        ("0.917819944512031", 1),
        ("1.13403400248955", 1),
        ("1.26075148405940", 1),
    ],
    1: [
        ("0.736705907860003", 1),
        ("0.96", 2),
        ("1.01072057762647", 1),
        ("1.01981583127043", 1),
        ("1.48667072672135", 1),
    ],
    2: [
        ("0.946669152862065", 1),
        ("0.963089720162484", 1),
        ("12/11", 2),
        ("1.19668749049458", 1),
        ("1.56837881130605", 1),
    ],
}


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("system", ["oja-map", "attention-map", "multihead-map"])
def test_tv1_consensus(system: str, k: int) -> None:
    parameters: dict[str, Any] = {"V": V3, "alpha": "1/4"}
    scores = [["1/3", 2, -1], [0, "1/7", 1], [3, 1, 1]]
    if system == "attention-map":
        parameters["M"] = scores
    if system == "multihead-map":
        first = [[1, 1, 0], [-1, 1, 2], [0, 0, 0]]
        second = [[Fraction(V3[i][j]) - first[i][j] for j in range(3)] for i in range(3)]
        parameters = {"heads": [{"F": first, "M": scores}, {"F": second, "M": V3}], "alpha": "1/4"}
    found = classify(Instance.of(system, [axis(k, 3)] * 3, **parameters))
    assert (found.kind, found.k, found.clusters) == ("consensus", k + 1, 1)
    matches(found, TV1[k])
    assert found.stable.is_holds == (k == 0)
    assert found.stable.is_fails == (k > 0)


@pytest.mark.parametrize("k", range(3))
def test_tv2_bipartite_oja(k: int) -> None:
    found = classify(Instance.of("oja-map", split(k, 3, 2, 1), V=V3, alpha="1/4"))
    assert (found.kind, found.k, found.p, found.q) == ("bipartite", k + 1, 2, 1)
    matches(found, TV2[k])
    assert found.stable.is_fails
    assert found.linearization == "unstable"


def attention(tokens: Any, V: Any, M: Any, alpha: str) -> Classification:
    return classify(Instance.of("attention-map", tokens, V=V, M=M, alpha=alpha))


def test_tv4_eight_and_two() -> None:
    found = attention(split(0, 3, 8, 2), diagonal(1, "1/4", "1/8"), diagonal(*["ln(3)"] * 3), "1/2")
    assert (found.kind, found.k, found.p, found.q, found.attention_rank) == ("bipartite", 1, 8, 2, (2,))
    matches(
        found,
        [
            ("74/109", 14),
            ("0.720064103983665", 1),
            ("0.760975679800602", 1),
            ("26/31", 2),
            ("0.875119382254867", 1),
            ("0.911782532688300", 1),
        ],
    )
    assert found.stable.is_holds
    assert str(found.spectrum[0].exact) == "74/109"


def test_tv5_fully_rational() -> None:
    found = attention(split(0, 2, 1, 1), diagonal(1, "1/2"), diagonal("ln(3)", "ln(3)"), "1/2")
    assert [str(entry.exact) for entry in found.spectrum] == ["6/7", "25/28"]
    assert found.stable.is_holds


def test_tv6_singleton_side() -> None:
    found = attention(split(0, 2, 2, 1), diagonal(1, "-1/2"), diagonal("(1/2)*ln(3/2)", 0), "1/2")
    matches(found, [("0.627005809044468", 1), ("0.8", 1), ("0.984532652493994", 1)])
    assert str(found.spectrum[1].exact) == "4/5"
    assert found.stable.is_holds


def test_tv7_negative_eigenvalue() -> None:
    found = attention(split(1, 2, 2, 2), diagonal(1, -2), diagonal(0, "-ln(3)"), "1/4")
    assert (found.kind, found.k) == ("bipartite", 2)
    matches(found, [("4/7", 1), ("5/7", 2), ("25/28", 1)])
    assert found.stable.is_holds
    natural = attention(split(1, 2, 2, 2), diagonal(1, -2), diagonal(1, -2), "1/4")
    matches(natural, [("0.512136331040234", 1), ("0.674757554026823", 2), ("0.843446942533528", 1)])
    assert natural.stable.is_holds


TRIANGLE = [[1, 0], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]


def test_tv8_equilateral_triangle() -> None:
    found = classify(Instance.of("oja-map", TRIANGLE, V=diagonal(1, "-1/2"), alpha="1/4"))
    assert found.kind == "polygonal"
    assert [str(entry.exact) for entry in found.spectrum] == ["15/16", "1", "9/8"]
    assert found.stable.is_fails


def test_tv9_is_marginal_and_says_so() -> None:
    found = classify(Instance.of("oja-map", split(0, 2, 1, 1), V=diagonal(1, "-1/2"), alpha="1/4"))
    assert (found.kind, found.also, found.k, found.p, found.q) == ("bipartite", ("polygonal",), 1, 1, 1)
    assert [str(entry.exact) for entry in found.spectrum] == ["7/8", "1"]
    assert found.linearization == "marginal"
    assert found.stable.is_fails
    assert "exactly 1" in found.stable.reason
    assert "silent" in found.stable.reason


def test_antipodes_off_the_eigenvectors_are_polygonal() -> None:
    found = classify(Instance.of("oja-map", [["4/5", "3/5"], ["-4/5", "-3/5"]], V=diagonal(1, "-1/2"), alpha="1/4"))
    assert (found.kind, found.k, found.p, found.q) == ("polygonal", None, 1, 1)
    # on the complement of w the form w' V w' = 9/25 - 16/50 = 1/25: linearly unstable, tan^2 = 9/16 > 1/2
    assert [str(entry.exact) for entry in found.spectrum] == ["1", "101/100"]
    inner = classify(
        Instance.of("oja-map", [["12/13", "5/13"], ["-12/13", "-5/13"]], V=diagonal(1, "-1/2"), alpha="1/4")
    )
    assert inner.linearization == "marginal"


@pytest.mark.parametrize(
    ("M", "pairs", "expected"),
    [
        ([[0, 0], [-3, 0]], 1, [("7/10", 1), ("9/10", 1)]),
        ([[0, 0], [-3, 0]], 2, [("7/10", 3), ("9/10", 1)]),
        ([[0, -3], [-3, 0]], 1, [("2/5", 1), ("9/10", 1)]),
    ],
)
def test_tv10_stable_polygonal(M: Any, pairs: int, expected: list[tuple[str, int]]) -> None:
    tokens = split(0, 2, pairs, pairs)
    found = attention(tokens, [[2, 1], [1, 2]], M, "1/10")
    assert found.kind == "polygonal"
    matches(found, expected)
    assert found.stable.is_holds
    flow = classify(Instance.of("attention-flow", tokens, V=[[2, 1], [1, 2]], M=M))
    assert flow.kind == "polygonal"
    # multipliers 1 + alpha nu of the map at a polygonal point are those of the flow, nu
    assert [(1 + entry.exact / 10, entry.multiplicity) for entry in flow.spectrum if entry.exact is not None] == [
        (entry.exact, entry.multiplicity) for entry in found.spectrum
    ]
    assert flow.stable.is_holds


def test_tv10_gradient_structure() -> None:
    V = [[0, 1], [1, 1]]
    found = attention(split(0, 2, 1, 1), V, [[0, -2], [-2, -2]], "1/10")
    # M = -2 V: s = e1' M e1 = 0
    assert (found.kind, [str(entry.exact) for entry in found.spectrum]) == ("polygonal", ["3/5", "9/10"])


CLUSTERS = [[1, 0], ["1/2", "sqrt(3)/2"], ["1/2", "-sqrt(3)/2"]]


@pytest.mark.parametrize("copies", [1, 2])
def test_tv15_rank_deficient_clustering(copies: int) -> None:
    V = diagonal(1, "(1 + cosh(3/2)^2) / (sinh(3/2)*cosh(3/2))")
    found = attention(CLUSTERS * copies, V, diagonal("-4*ln(cosh(3/2))", 2), "1/10")
    assert (found.kind, found.clusters, found.attention_rank) == ("clustering", 3, (2,))
    assert found.equilibrium.is_holds
    if copies == 1:
        matches(found, [("1.01356599439203", 1), ("1.03973843594174", 1), ("1.10444814757400", 1)])


def test_tv15_with_rational_weights() -> None:
    """The same construction at cosh = 5/3: V = diag(1, 17/10), every weight rational."""
    found = attention(CLUSTERS, diagonal(1, "17/10"), diagonal("-4*ln(5/3)", "(4/3)*ln(3)"), "1/10")
    assert (found.kind, found.clusters, found.attention_rank) == ("clustering", 3, (2,))
    rounded = attention(CLUSTERS, diagonal(1, "1.30443453232016"), diagonal("-3.42176068405519", 2), "1/10")
    assert rounded.kind == "not-an-equilibrium"
    assert rounded.equilibrium.is_fails
    assert rounded.nearby is not None
    assert rounded.nearby["distance"] < 1e-13
    printed = ["1.01356599439", "1.03973843594", "1.10444814757"]
    for entry, digits in zip(rounded.nearby["spectrum"], printed, strict=True):
        assert agrees(entry["float"], digits)


def test_two_cycles() -> None:
    bipartite = attention(split(1, 2, 1, 1), diagonal("0.1", -1), diagonal(0, 3), "3")
    assert (bipartite.kind, bipartite.shape, bipartite.k) == ("2-cycle", "bipartite", 2)
    matches(bipartite, [("0.65411032", 1), ("0.65485765", 1)])
    assert bipartite.equilibrium.is_fails
    assert bipartite.stable.is_holds
    for alpha, kind, stable in [("3.9", "2-cycle", False), ("4.1", "2-cycle", True), ("1/2", "consensus", False)]:
        found = classify(Instance.of("oja-map", [axis(1, 2)] * 3, V=diagonal("1/2", -1), alpha=alpha))
        assert (found.kind, found.stable.is_holds) == (kind, stable), alpha
    threshold = classify(Instance.of("oja-map", [axis(0, 2)] * 3, V=diagonal("1/2", -1), alpha=4))
    assert threshold.linearization == "marginal"
    assert "-1" in [str(entry.exact) for entry in threshold.spectrum]


def test_one_group_flips() -> None:
    found = classify(Instance.of("oja-map", split(0, 3, 2, 1), V=V3, alpha=2))
    assert found.kind == "not-an-equilibrium"
    assert found.equilibrium.is_fails


def test_undefined_map() -> None:
    found = classify(Instance.of("oja-map", [axis(1, 2)] * 3, V=diagonal("1/2", -1), alpha=1))
    assert found.kind == "not-an-equilibrium"
    assert "undefined" in found.equilibrium.reason


def test_case_one_by_eigenvalues_behaves_as_case_two() -> None:
    F = [[1, 0, 0], [0, "0.9", -3], [0, 3, "0.9"]]
    found = attention([axis(0, 3)] * 2, F, diagonal(1, 2, 3), "1")
    assert found.k == 1
    assert found.stable.is_fails
    worst = max(abs(entry.value) for entry in found.spectrum)
    assert agrees(worst, "1.77553")
    assert attention([axis(0, 3)] * 2, F, diagonal(1, 2, 3), "0.0227014755958").stable.is_holds
    assert attention([axis(0, 3)] * 2, F, diagonal(1, 2, 3), "0.0227014755960").stable.is_fails


def test_causal_consensus_spectrum() -> None:
    """PM-N1: (1 + alpha lambda / i) / m for i = 1..n."""
    n, alpha = 5, Fraction(1, 3)
    found = classify(
        Instance.of(
            "attention-map", [axis(0, 3)] * n, mask="causal", V=V3, M=[[1, 2, 0], [0, 1, 1], [1, 0, 3]], alpha=alpha
        )
    )
    expected = sorted(
        (1 + alpha * value / i) / (1 + 2 * alpha) for i in range(1, n + 1) for value in (Fraction(1, 2), Fraction(-1))
    )
    assert [Fraction(str(entry.exact)) for entry in found.spectrum for _ in range(entry.multiplicity)] == expected


@pytest.mark.parametrize("k", range(3))
def test_flows_at_consensus(k: int) -> None:
    values = [Fraction(2), Fraction(1, 2), Fraction(-1)]
    found = classify(Instance.of("attention-flow", [axis(k, 3)] * 3, V=V3, M=[[1, 2, 0], [0, 1, 1], [1, 0, 3]]))
    expected = sorted([values[j] - values[k] for j in range(3) if j != k] + [-values[k]] * 4)
    assert [Fraction(str(entry.exact)) for entry in found.spectrum for _ in range(entry.multiplicity)] == expected
    assert found.stable.is_holds == (k == 0)


def test_abella_local_spectra() -> None:
    """AB-T6.1: (mu / i - lambda) / sqrt(d) at consensus, and the stable bipartite state outside a hemisphere."""
    found = classify(Instance.of("causal-flow", [axis(0, 2)] * 2, U=diagonal(-1, "-3/2"), P=diagonal(0, 0)))
    matches(found, [("-0.353553390593274", 1), ("0.176776695296637", 1)])
    assert [str(entry.exact) for entry in found.spectrum] == ["-sqrt(2)/4", "sqrt(2)/8"]
    assert found.stable.is_fails
    bipartite = classify(Instance.of("causal-flow", split(0, 2, 1, 1), U=diagonal(1, 0), P=diagonal(1, 1)))
    assert bipartite.kind == "bipartite"
    assert agrees(bipartite.spectrum[1].value.real, "-0.538528392188366")
    assert bipartite.stable.is_holds


def test_ellipsoid_points() -> None:
    """AB-X0: antipodal pair on the circle, Hessian eigenvalue of the potential -2/e; consensus points are marginal."""
    pair = classify(Instance.of("ellipsoid-flow", [["1/2", 0], ["-1/2", 0]], P=[[4, 1], [1, 2]]))
    assert pair.kind == "bipartite"
    assert pair.linearization == "unstable"
    point = classify(Instance.of("ellipsoid-flow", [["1/2", 0]] * 3, P=[[4, 1], [1, 2]]))
    assert (point.kind, point.linearization) == ("consensus", "marginal")
    assert point.k == 1
    assert any("repeated" in note for note in point.notes)
    zero = [entry for entry in point.spectrum if entry.value == 0]
    assert [entry.multiplicity for entry in zero] == [1]


def test_pham_necessity_vector() -> None:
    tokens = [[1, "-2+sqrt(3)"], [-1, "2-sqrt(3)"], [0, 0]]
    found = classify(Instance.of("token-flow", tokens, B=[[-1, -4], [0, -1]], W=[[1, 4], [0, 1]]))
    assert (found.kind, found.clusters, found.attention_rank) == ("polygonal", 3, (1,))
    assert found.equilibrium.is_holds
    kernel = classify(Instance.of("token-flow", [[1, 0], [2, 0]], B=diagonal(0, -1), W=diagonal(1, 1)))
    assert (kernel.kind, kernel.clusters, kernel.attention_rank) == ("clustering", 2, (2,))
    line = classify(Instance.of("token-flow", [[1, 0], [1, 0]], B=diagonal(0, -1), W=diagonal(1, 1)))
    assert (line.kind, line.also, line.k) == ("consensus", (), 1)
    origin = classify(Instance.of("token-flow", [[0, 0]] * 3, B=[[-1, -4], [0, -1]], W=[[1, 4], [0, 1]]))
    assert origin.kind == "consensus"
    # linearization at 0 is x_l' = B mean(x): B once, and zero
    assert [(str(entry.exact), entry.multiplicity) for entry in origin.spectrum] == [("-1", 2), ("0", 4)]
    assert origin.linearization == "marginal"
