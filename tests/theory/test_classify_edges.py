"""Corners of ``classify``: small dimensions, ties, circles of multipliers, odd masks, and the way down to balls."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from eigentoken.theory.classification import classify as classify_module
from eigentoken.theory.classification import jacobian_spectrum as point_spectra
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobian_spectrum import symmetric_blocks
from eigentoken.theory.classification.jacobians import (
    exact_setting,
    grouped_blocks,
    intrinsic_jacobian,
    jacobian,
    tangent_pivots,
)
from eigentoken.theory.exactness import polynomials
from eigentoken.theory.exactness.fields import Field, in_smallest_field


def diagonal(*entries: Any) -> list[list[Any]]:
    return [[entry if i == j else 0 for j in range(len(entries))] for i, entry in enumerate(entries)]


def forms(found: Any) -> list[tuple[str, int]]:
    return [(str(entry.exact), entry.multiplicity) for entry in found.spectrum]


def test_one_dimension_has_no_tangent_directions() -> None:
    found = classify(Instance.of("oja-map", [[1], [1], [-1]], V=[[2]], alpha="1/4"))
    assert (found.kind, found.p, found.q, found.spectrum) == ("bipartite", 2, 1, ())
    assert found.stable.is_holds
    assert "discrete" in found.stable.reason


def test_one_token() -> None:
    found = classify(Instance.of("attention-map", [[1, 0]], V=diagonal(2, 1), M=diagonal(1, 1), alpha=1))
    assert (found.kind, forms(found)) == ("consensus", [("2/3", 1)])


def test_multipliers_exactly_on_the_unit_circle() -> None:
    """(1 + alpha lambda)/m = 3/5 ± 4i/5: marginal, decided exactly and not by a tolerance."""
    V = [["-2/5", "-4/5", 0], ["4/5", "-2/5", 0], [0, 0, 0]]
    found = classify(Instance.of("attention-map", [[0, 0, 1]], V=V, M=diagonal(1, 1, 1), alpha=1))
    assert found.linearization == "marginal"
    assert found.stable.is_fails
    for shift, word in (("1/10^40", "stable"), ("-1/10^40", "unstable")):
        V[2][2] = shift
        moved = classify(Instance.of("attention-map", [[0, 0, 1]], V=V, M=diagonal(1, 1, 1), alpha=1))
        assert moved.linearization == word


def test_quartic_on_the_circle() -> None:
    """Two pairs of multipliers on the circle from one irreducible factor: the mirror argument, not closed forms."""
    # z^4 + z^3/3 - z^2/2 + z/3 + 1 is irreducible, self-reciprocal, with all roots on the unit circle
    companion: list[list[Any]] = [[0, 0, 0, -1], [1, 0, 0, "-1/3"], [0, 1, 0, "1/2"], [0, 0, 1, "-1/3"]]
    V = [[*(f"{entry} - {int(i == j)}" for j, entry in enumerate(row)), 0] for i, row in enumerate(companion)]
    V.append([0, 0, 0, 0, 0])
    found = classify(Instance.of("oja-map", [[0, 0, 0, 0, 1]], V=V, alpha=1))
    z = sympy.Symbol("z")
    values = sympy.Poly(z**4 + z**3 / 3 - z**2 / 2 + z / 3 + 1).nroots(n=20)
    assert all(abs(abs(value) - 1) < 1e-15 for value in values)
    assert found.linearization == "marginal"
    assert sum(entry.multiplicity for entry in found.spectrum) == 4


def test_reciprocal_pairs_are_unstable() -> None:
    """z^4 - 3 z^3 + 3 z^2 - 3 z + 1 is self-reciprocal with a real pair z, 1/z off the circle."""
    companion: list[list[Any]] = [[0, 0, 0, -1], [1, 0, 0, 3], [0, 1, 0, -3], [0, 0, 1, 3]]
    V = [[*(f"{entry} - {int(i == j)}" for j, entry in enumerate(row)), 0] for i, row in enumerate(companion)]
    V.append([0, 0, 0, 0, 0])
    found = classify(Instance.of("oja-map", [[0, 0, 0, 0, 1]], V=V, alpha=1))
    assert found.linearization == "unstable"
    assert found.unstable_dimension == 1


def test_ties_of_eigenvalues_are_said() -> None:
    repeated = classify(Instance.of("oja-flow", [[1, 0, 0]] * 2, V=diagonal(1, 1, 0)))
    assert repeated.k == 1
    assert any("repeated 2 times" in note for note in repeated.notes)
    V = [[1, -1, 0], [1, 1, 0], [0, 0, 1]]
    tied = classify(Instance.of("attention-flow", [[0, 0, 1]] * 2, V=V, M=diagonal(1, 1, 1)))
    assert (tied.k, tied.linearization) == (1, "marginal")
    assert any("same real part" in note for note in tied.notes)


def test_a_defective_matrix() -> None:
    V = [[2, 0, 0], [0, 1, 1], [0, 0, 1]]
    found = classify(Instance.of("attention-map", [[1, 0, 0]] * 2, V=V, M=diagonal(1, 1, 1), alpha="1/3"))
    assert forms(found) == [("3/5", 2), ("4/5", 2)]


def test_a_mask_without_self_attention() -> None:
    """Two tokens that look only at each other: f(x) = -x for a large step."""
    found = classify(
        Instance.of(
            "attention-map",
            [[1, 0], [-1, 0]],
            [[0, 1], [1, 0]],
            V=diagonal(1, "1/2"),
            M=diagonal(1, 1),
            alpha=3,
        )
    )
    assert (found.kind, found.shape) == ("2-cycle", "bipartite")
    assert forms(found) == [("1/4", 1), ("5/4", 1)]


def test_a_two_cycle_that_is_not_a_sign_change() -> None:
    """Token 1 sits still, token 2 (which sees itself only, through a causal mask on v_2) flips: f o f has its squares."""
    found = classify(
        Instance.of(
            "attention-map", [[1, 0], [0, 1]], [[1, 0], [0, 1]], V=diagonal("1/2", -3), M=diagonal(1, 1), alpha=1
        )
    )
    assert found.kind == "2-cycle"
    # multipliers: (1 - 3)/(3/2) = -4/3 at token 1, (3/2)/|-2| = 3/4 at token 2
    assert forms(found) == [("3/4", 1), ("4/3", 1)]
    assert found.stable.is_fails


def test_two_heads_on_a_line_that_is_no_eigenvector_of_their_sum() -> None:
    """u_1 = b F_1 v + b' F_2 v may be parallel to v for one split although (F_1 + F_2) v is not."""
    heads = [
        {"F": [[1, 0], [1, 1]], "M": diagonal("ln(3)/2", 0)},
        {"F": [[1, 0], [-1, 1]], "M": diagonal("ln(3)/2", 0)},
    ]
    same = classify(Instance.of("multihead-flow", [[1, 0], [-1, 0]], heads=heads))
    assert same.kind == "bipartite"
    heads[1]["M"] = diagonal("ln(2)/2", 0)
    assert classify(Instance.of("multihead-flow", [[1, 0], [-1, 0]], heads=heads)).kind == "not-an-equilibrium"


@pytest.mark.parametrize(
    ("system", "parameters", "tokens"),
    [
        ("attention-map", {"V": diagonal(1, -2), "M": diagonal(1, -2), "alpha": "1/4"}, [[0, 1]] * 2 + [[0, -1]] * 2),
        ("attention-flow", {"V": [[2, 1], [1, 2]], "M": [[1, "sqrt(2)"], [0, 1]]}, [["sqrt(1/2)", "sqrt(1/2)"]] * 3),
        ("causal-flow", {"U": diagonal(1, 0), "P": diagonal(1, 1)}, [[1, 0], [-1, 0], [-1, 0]]),
        ("token-flow", {"B": diagonal(-1, 2), "W": diagonal("ln(3)", "sqrt(2)")}, [[0, 0]] * 2),
    ],
)
def test_balls_agree_with_the_exact_spectrum(
    monkeypatch: pytest.MonkeyPatch, system: str, parameters: dict[str, Any], tokens: Any
) -> None:
    """With exact blocks forbidden the same point is decided by balls: same words, enclosures around the same values."""
    instance = Instance.of(system, tokens, **parameters)
    exact = classify(instance)
    assert exact.arithmetic == "exact"
    monkeypatch.setattr(classify_module, "spectral_factors", _refuse)
    balls = classify(instance)
    assert balls.arithmetic == "exact, spectrum by balls"
    assert balls.kind == exact.kind
    if exact.linearization == "marginal":
        assert balls.stable.is_undecided
    else:
        assert balls.stable.answer == exact.stable.answer
    assert sum(e.multiplicity for e in balls.spectrum) == sum(e.multiplicity for e in exact.spectrum)
    for entry in balls.spectrum:
        assert min(abs(entry.value - other.value) for other in exact.spectrum) < 1e-15


def _refuse(*_: Any) -> Any:
    raise polynomials.ExactnessLimit("refused by the test")


def test_a_wrong_symmetry_is_noticed() -> None:
    """The group reduction checks the pattern entry by entry: a broken matrix is taken whole."""
    matrix = [[sympy.Rational(0)] * 3 for _ in range(3)]
    symmetric = [[2, 1, 5], [1, 2, 5], [3, 3, 7]]
    blocks = point_spectra.reduced_blocks(symmetric, [[0, 1], [2]], 1)
    assert sorted(len(block) for block, _ in blocks) == [1, 2]
    broken = [[2, 1, 5], [1, 2, 6], [3, 3, 7]]
    blocks = point_spectra.reduced_blocks(broken, [[0, 1], [2]], 1)
    assert sorted(len(block) for block, _ in blocks) == [3]
    assert len(matrix) == 3


def test_a_wrong_factorization_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Factors are multiplied out again: a factorization that lies sends the spectrum to balls, not to the answer."""
    instance = Instance.of(
        "attention-map", [[0, 1]] * 2 + [[0, -1]] * 2, V=diagonal(1, -2), M=[[1, 1], [0, -2]], alpha="1/4"
    )
    exact = classify(instance)
    honest = polynomials._transcendental_factors

    def lying(field: Any, polynomial: Any) -> Any:
        return [([factor[0] + 1, *factor[1:]], count) for factor, count in honest(field, polynomial)]

    monkeypatch.setattr(polynomials, "_transcendental_factors", lying)
    found = classify(instance)
    assert found.arithmetic == "exact, spectrum by balls"
    assert found.stable.answer == exact.stable.answer


def test_undecided_is_said_not_guessed() -> None:
    """An eigenvector relation that rests on an identity between logarithms which the field does not know."""
    hidden = "ln(1+sqrt(2)) + ln(sqrt(2)-1)"
    found = classify(Instance.of("oja-flow", [[1, 0], [1, 0]], V=[[1, 0], [hidden, "1/2"]]))
    assert found.kind == "undecided"
    assert found.equilibrium.is_undecided
    assert found.stable.is_undecided


@pytest.mark.parametrize("name", ["oja-map", "attention-map", "attention-flow", "multihead-flow", "token-flow"])
def test_repeated_tokens_are_counted_not_repeated(name: str) -> None:
    """The blocks from two representatives of each group have the spectrum of the whole Jacobian."""
    zero = name == "token-flow"
    values = [["0" if zero else "3/2", "1/3", "0"], ["0", "-1", "2/5"], ["0", "0", "1/4"]]
    scores = [["ln(2)", "1/2", "0"], ["1", "0", "1/3"], ["0", "1", "1"]]
    parameters: dict[str, Any] = {"V": values, "M": scores}
    if name == "oja-map":
        parameters = {"V": values}
    if name == "token-flow":
        parameters = {"B": values, "W": scores}
    if name.startswith("multihead"):
        parameters = {"heads": [{"F": values, "M": scores}, {"F": values, "M": values}]}
    if name.endswith("map"):
        parameters["alpha"] = "1/4"
    tokens = [[1, 0, 0]] * 5 + [[-1, 0, 0]] * 3 + [[1, 0, 0]]
    instance = Instance.of(name, tokens, **parameters)

    def both(field: Field) -> tuple[Any, Any]:
        setting = exact_setting(instance, field)
        pushes = setting.raw_step() if name.endswith("map") else ()
        norms = [setting.pair(x, y) for x, y in zip(setting.tokens, pushes, strict=True)] if pushes else ()
        groups = [[0, 1, 2, 3, 4, 8], [5, 6, 7]]
        few = grouped_blocks(setting, groups, norms)
        assert few is not None
        matrix, width = jacobian(setting, norms=norms), instance.d
        if not zero:
            pivots = tangent_pivots(setting)
            matrix, width = intrinsic_jacobian(setting, matrix, pivots, pivots), instance.d - 1
        whole = symmetric_blocks(matrix, groups, width)
        return [count for _, count in few], [
            (len(a), len(b), all(x == y for r, t in zip(a, b, strict=True) for x, y in zip(r, t, strict=True)))
            for (a, _), (b, _) in zip(few, whole, strict=True)
        ]

    counts, equal = in_smallest_field(both)
    assert counts == [5, 2, 1]
    assert all(small == large and same for small, large, same in equal)


def test_many_equal_tokens() -> None:
    V = diagonal(1, "1/2", 2, 3)
    tokens = [[1, 0, 0, 0]] * 32 + [[-1, 0, 0, 0]] * 28
    found = classify(Instance.of("attention-map", tokens, V=V, M=diagonal("ln(3)", 0, 0, 0), alpha=1))
    assert (found.kind, found.k, found.p, found.q, found.attention_rank) == ("bipartite", 3, 32, 28, (2,))
    assert [(str(entry.exact), entry.multiplicity) for entry in found.spectrum[:2]] == [("79/144", 93), ("71/126", 81)]
    cycle = classify(Instance.of("oja-map", [[0, 1]] * 60, V=diagonal("1/2", -1), alpha="4.1"))
    assert (cycle.kind, cycle.shape) == ("2-cycle", "consensus")
    assert [entry.multiplicity for entry in cycle.spectrum] == [59, 1]


def test_tokens_in_the_kernel() -> None:
    """``B x_i = 0``: the derivative is ``A (x) B``, whatever the scores."""
    tokens = [[1, 1], [2, 2], ["sqrt(2)", "sqrt(2)"]]
    found = classify(Instance.of("token-flow", tokens, B=[[1, -1], [-1, 1]], W=diagonal(1, 1)))
    assert (found.kind, found.linearization) == ("clustering", "unstable")
    assert [entry.multiplicity for entry in found.spectrum if entry.value == 0] == [3]
    assert found.spectrum[-1].value == 2  # 2 kappa with kappa = 1
    axes = [[1, 0, 0], [0, 1, 0], ["3/5", "4/5", 0]]
    rest = classify(Instance.of("attention-map", axes, V=diagonal(0, 0, -1), M=diagonal("ln(2)", 0, 1), alpha="1/2"))
    plain = classify(Instance.of("attention-flow", axes, V=diagonal(0, 0, -1), M=diagonal("ln(2)", 0, 1)))
    assert (rest.kind, rest.linearization) == ("polygonal", "marginal")
    assert sum(entry.multiplicity for entry in rest.spectrum) == 6
    assert [1 + entry.value / 2 for entry in plain.spectrum] == pytest.approx([e.value for e in rest.spectrum])


def test_positions_are_not_interchangeable() -> None:
    """Equal tokens of a rotary flow see each other by their distance: they are neither counted together nor swapped."""
    quarter = [[0, -1], [1, 0]]
    parameters = {"B": [[0, 0], [0, 1]], "Q": diagonal(1, 1), "K": diagonal(1, 1), "R": quarter}
    found = classify(Instance.of("rotary-flow", [[1, 0]] * 4, **parameters))
    assert (found.kind, found.attention_rank) == ("consensus", (4,))
    assert sum(entry.multiplicity for entry in found.spectrum) == 8
    # the second coordinate moves by the attention matrix, which has the eigenvalue 1 and others
    values = [entry.value for entry in found.spectrum if entry.value != 0]
    assert max(abs(value - 1) for value in values) > 0.1
    assert min(abs(value - 1) for value in values) < 1e-12
    turning = classify(
        Instance.of(
            "rotary-flow",
            [[1, 0], [0, 1], [-1, 0], [0, -1]],
            B=diagonal(-1, -1),
            Q=diagonal(1, 1),
            K=diagonal(1, 1),
            R=quarter,
        )
    )
    assert turning.equilibrium.is_holds  # PH-T7 (b)
