"""The front door of the spectra: every system answers or refuses in one line, and the criteria agree with numbers."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from eigentoken.theory.linearization.at_points import MASKS, PLACES, closed_forms, spectrum
from eigentoken.theory.linearization.criterion import Criterion, Equality
from eigentoken.theory.linearization.linearize import NoClosedForm, linearize
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.proving.real_arithmetic import Lemma
from eigentoken.theory.systems.catalogue import POSITIONAL, SYSTEMS, system
from eigentoken.theory.systems.system import Space, System, Time

from ..shares import others_slow

EVERY = [*SYSTEMS.values(), *POSITIONAL.values()]


def heads_of(chosen: System) -> int | None:
    return 2 if chosen.multihead else None


def closed() -> Iterator[tuple[str, str, str]]:
    for chosen in SYSTEMS.values():
        for at, masks in closed_forms(chosen).items():
            yield from ((chosen.name, at, mask) for mask in masks)


def of_one_head(case: tuple[str, str, str]) -> bool:
    """Two groups of several heads, or on an ellipsoid, are derived as two groups of one head on the sphere are, at length."""
    name, at, _ = case
    return at != "bipartite" or name in {"oja-map", "oja-flow", "attention-map", "attention-flow", "ellipsoid-flow"}


@pytest.mark.parametrize(("name", "at", "mask"), others_slow(closed(), of_one_head))
def test_every_closed_form_is_derived_counted_and_short_to_print(name: str, at: str, mask: str) -> None:
    found = spectrum(name, at=at, mask=mask, heads=heads_of(system(name)) if at == "bipartite" else None)
    assert found.count_check().is_holds
    assert found.system == name
    assert len(repr(found).splitlines()) <= 10
    assert found.latex.count("\\begin") == found.latex.count("\\end")
    for each in found.criteria:
        assert each.spectrum.flow == found.flow
        assert len(repr(each).splitlines()) <= 10


@pytest.mark.parametrize("chosen", EVERY, ids=lambda each: each.name)
def test_what_has_no_closed_form_is_refused_in_one_line_that_says_what_there_is(chosen: System) -> None:
    own = closed_forms(chosen)
    for at in PLACES:
        for mask in MASKS:
            if mask in own.get(at, ()):
                continue
            with pytest.raises(NoClosedForm) as caught:
                spectrum(chosen, at=at, mask=mask)
            said = str(caught.value)
            assert "\n" not in said
            assert said.startswith(f"{chosen.name} has no closed form at {at}")
            assert ("it has one" in said) == bool(own)
    if not own:
        assert "closed forms exist for oja-map" in said


def test_wrong_words_are_told_from_missing_closed_forms() -> None:
    for options, told in (
        ({"at": "consensu"}, "unknown place 'consensu': did you mean consensus"),
        ({"mask": "casual"}, "unknown mask 'casual': did you mean causal"),
        ({"heads": 2}, "heads of oja-map must be left out"),
        ({"signs": "+x"}, "signs must be"),
        ({"signs": "++", "at": "polygon"}, "signs belong to a bipartite point"),
        ({"mask": [[1]]}, "mask must be a name"),
    ):
        with pytest.raises(ValueError, match=told):
            spectrum("oja-map", **options)
    with pytest.raises(ValueError, match="unknown system 'oja-mop'"):
        spectrum("oja-mop")
    with pytest.raises(ValueError, match="heads must be given"):
        spectrum("multihead-map", at="bipartite")
    with pytest.raises(ValueError, match="from 1 to"):
        spectrum("multihead-map", at="bipartite", heads=99)
    with pytest.raises(NoClosedForm, match="positions"):
        linearize("rotary-flow")


def test_the_jacobian_of_a_name_reads_in_few_lines() -> None:
    for chosen in SYSTEMS.values():
        assert len(repr(linearize(chosen.name)).splitlines()) <= 10


def test_a_third_party_system_is_answered_or_refused() -> None:
    renamed = replace(system("attention-map"), name="mine", value="A", score="K")
    found = spectrum(renamed, at="antipodal")
    assert [entry.value for entry in found.tangent] == [
        entry.value for entry in spectrum("attention-map", at="antipodal").tangent
    ]
    assert spectrum(renamed).same_as(spectrum("attention-map"))

    class Odd(System):
        def influence(self, algebra: Any, parameters: Any, x: Any, mask: Any = None, t: Any = None) -> Any:
            return algebra.average(algebra.attention(x, None, mask, False), algebra.something_else(x))

    odd = Odd("odd", "odd", Space.SPHERE, Time.MAP, "V", None)
    with pytest.raises(NoClosedForm, match="odd has no closed form at consensus"):
        spectrum(odd)


# -- criteria against numbers -----------------------------------------------------------------------------------------


def criteria(name: str, at: str = "consensus", mask: str | None = None) -> tuple[Any, ...]:
    heads = 2 if system(name).multihead and at == "bipartite" else None
    return spectrum(name, at, mask=mask, heads=heads).criteria


def compiled(expression: sp.Basic) -> Callable[[dict[str, float]], Any]:
    """The expression as a function of its letters by name, in Python's own numbers."""
    symbols = sorted(expression.free_symbols, key=str)
    function = sp.lambdify(symbols, expression, [{"Abs": abs}, vars(cmath)])
    names = list(map(str, symbols))
    return lambda values: function(*(values[name] for name in names))


def eigenvalues(found: Spectrum) -> Callable[[dict[str, float], list[float]], list[complex]]:
    """The tangent eigenvalues as numbers; running symbols run over the other eigenvalues and the tokens."""
    parts = []
    for entry in found.tangent:
        values = [[entry.value]] if entry.block is None else entry.block.tolist()
        parts.append((compiled(entry.multiplicity), [[compiled(found.expanded(e)) for e in row] for row in values]))

    def numbers(values: dict[str, float], others: list[float]) -> list[complex]:
        listed: list[complex] = []
        for count, rows in parts:
            if count(values) == 0:
                continue
            for known in ({**values, "lambda_ell": o, "i": i} for o in others for i in range(1, values["n"] + 1)):
                matrix = [[complex(each(known)) for each in row] for row in rows]
                listed += [matrix[0][0]] if len(matrix) == 1 else list(np.linalg.eigvals(np.array(matrix)))
        return listed

    return numbers


CASES = [
    ("oja-map", "consensus", "full", 0),
    ("attention-flow", "consensus", "full", 0),
    ("ellipsoid-map", "consensus", "full", 0),
    ("ellipsoid-multihead-flow", "consensus", "full", 0),
    ("ellipsoid-map", "consensus", "causal", 0),
    ("attention-map", "consensus", "causal", 0),
    ("causal-flow", "consensus", "causal", 0),
    ("multihead-map", "two-cycle", "full", 0),
    ("ellipsoid-map", "two-cycle", "full", 0),
    ("attention-map", "bipartite", "full", 0),
    ("attention-flow", "bipartite", "full", 0),
    ("attention-map", "bipartite", "full", 1),
    ("attention-flow", "bipartite", "full", 1),
    ("attention-map", "bipartite", "full", 2),
    ("oja-map", "bipartite", "full", 0),
    ("oja-flow", "bipartite", "full", 0),
]


def agrees(criterion: Criterion, tries: int, seed: int) -> dict[bool, int]:
    """Random numbers that meet every hypothesis: the condition is true iff all eigenvalues are inside."""
    rng = np.random.default_rng(seed)
    found, seen = criterion.spectrum, {True: 0, False: 0}
    last, other_axis = "last" in criterion.name or "2-cycles" in criterion.name, "other" in criterion.name
    given = [compiled(found.expanded(each)) for each in (*criterion.hypotheses, *found.conditions)]
    condition, numbers = compiled(criterion.condition), eigenvalues(found)
    letters = {str(name): compiled(meaning) for name, meaning in criterion.letters}
    every_token = sp.Symbol("i", real=True) in criterion.condition.free_symbols
    for _ in range(tries):
        d, q = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        p = q + int(rng.integers(0, 3))
        lam = np.sort(rng.uniform(-2, 2, d))[::-1]
        k = d - 1 if last else int(rng.integers(1, d)) if other_axis else 0
        if other_axis and "bipartite" in criterion.name and k == d - 1:
            continue  # the assumption names another eigenvalue at or below that of the axis
        others = [float(each) for place, each in enumerate(lam) if place != k]
        values = {
            "alpha": float(10 ** rng.uniform(-1.5, 1.3)), "d": d, "n": p + q, "p": p, "q": q, "s": rng.normal() * 1.2,
            "t": math.log(p / q) / 2, "lambda_1": lam[0], "lambda_2": lam[1], "lambda_d": lam[-1], "lambda_k": lam[k],
            "lambda_ell": lam[-1],
        }  # fmt: skip
        values |= {name: complex(meaning(values)).real for name, meaning in letters.items()}
        over = (
            [{**values, "lambda_ell": o, "i": i} for o in others for i in range(1, p + q + 1)]
            if every_token
            else [values]
        )
        if not all(each(known) for each in given for known in over):
            continue
        size = max(each.real if found.flow else abs(each) - 1 for each in numbers(values, others))
        if abs(size) < 1e-9:
            continue
        said = all(condition(known) for known in over)
        assert said == (size < 0) or (not criterion.exact and not said), (criterion.name, values, size)
        assert size > 0 or not criterion.unstable
        seen[bool(said)] += 1
    return seen


@pytest.mark.parametrize(("name", "at", "mask", "place"), CASES)
def test_criteria_agree_with_the_spectrum_wherever_their_hypotheses_hold(
    name: str, at: str, mask: str, place: int
) -> None:
    criterion = criteria(name, at=at, mask=mask)[place]
    seen = agrees(criterion, 600, seed=place)
    assert seen[False] > 3
    assert seen[True] == 0 if criterion.condition is sp.false else seen[True] > 3


def test_a_criterion_without_one_of_its_hypotheses_is_caught() -> None:
    """The step below 1/|V| is needed: without it the numbers contradict the condition."""
    criterion = criteria("attention-map", at="bipartite")[0]
    bare = replace(criterion, hypotheses=tuple(each for each in criterion.hypotheses if "alpha" not in str(each)))
    assert len(bare.hypotheses) == len(criterion.hypotheses) - 2
    with pytest.raises(AssertionError):
        agrees(bare, 2000, seed=3)


def test_a_proof_needs_lemmas_and_lemmas_need_names_of_their_own() -> None:
    found = spectrum("oja-flow")
    x = sp.Symbol("x", real=True)
    right, wrong = Lemma("one", (), x**2 >= 0), Lemma("one", (), x > 0)
    with pytest.raises(ValueError, match="there is no lemma"):
        Criterion("name", found, (), sp.true, (), "words")
    with pytest.raises(ValueError, match="share a name"):
        Criterion("name", found, (), sp.true, (wrong, right), "words")
    assert Criterion("name", found, (), sp.true, (right, Equality("two", x, x)), "words").check().is_holds


def test_marginal_points_are_not_called_unstable() -> None:
    for name, at in (("attention-map", "polygon"), ("token-flow", "zero"), ("ellipsoid-flow", "consensus")):
        (criterion,) = criteria(name, at=at)
        assert criterion.sentences()[-1].endswith("the point is not asymptotically stable")
        assert "unstable" not in criterion.latex
    assert "the point is unstable" in criteria("oja-map")[1].latex
