"""Systems that others add: what is refused at registration, and what classify says of those that are entered.

A system with an equation of its own goes the generic way (a Jacobian by differentiation, no formula of the papers): the papers'
own systems, written anew, must get the same answers on it.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from eigentoken.documents.instance import SYSTEMS as PAPERS
from eigentoken.numerics.dynamics.problem import problem
from eigentoken.numerics.dynamics.simulate import simulate
from eigentoken.numerics.recheck import recheck
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.equilibria import equilibria
from eigentoken.theory.classification.float_algebra import FloatSystem
from eigentoken.theory.classification.instances import Instance, InstanceError
from eigentoken.theory.linearization.at_points import spectrum
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.statements.layer_systems import Covers, LayerSystem, contains, idealisations
from eigentoken.theory.systems import catalogue
from eigentoken.theory.systems.algebra import Algebra, NoClosedForm
from eigentoken.theory.systems.catalogue import POSITIONAL, SYSTEMS, register_system, system, systems
from eigentoken.theory.systems.declarations import DeclarationError, check_declaration, check_equation
from eigentoken.theory.systems.system import Normalisation, Parameter, Space, System, Time

ZOO = Path(__file__).resolve().parents[1] / "third_party" / "zoo_systems.py"


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """What a test registers is forgotten after it; the zoo is there."""
    before = dict(catalogue._ADDED)
    spec = importlib.util.spec_from_file_location("zoo_systems", ZOO)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    yield
    catalogue._ADDED.clear()
    catalogue._ADDED.update(before)


# ---------------------------------------------------------------------- what is refused


def declared(**changed: Any) -> type[System]:
    """A subclass with a sublayer of its own, with these declarations changed (``None`` removes one)."""

    def sublayer(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
        return algebra.apply(parameters["V"], algebra.average(algebra.attention(x, None, mask, False), x))

    good = {
        "name": "mine",
        "title": "a system of mine",
        "space": Space.SPHERE,
        "time": Time.FLOW,
        "value": "V",
        "attention": "uniform",
        "sublayer": sublayer,
    }
    return type("Mine", (System,), {key: value for key, value in {**good, **changed}.items() if value is not None})


def asks_for_more(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    return algebra.apply(parameters["W"], x)


def vector_as_matrix(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    return algebra.apply(parameters["b"], x)


def drops_a_coordinate(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    return tuple(token[:1] for token in x)


def one_push_for_all(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    return algebra.average(algebra.attention(x, None, mask, False), x)[:1]


def sees_everything(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    return algebra.apply(parameters["V"], algebra.average(algebra.scores(x, None), x))


def knows_the_first(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    return tuple(x[0] for _ in x)


def not_the_papers(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
    return algebra.apply(parameters["V"], algebra.average(algebra.attention(x, None, mask, False), x))


def leaves_the_sphere(
    self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any = None, t: Any = None
) -> Any:
    return self.raw_step(algebra, parameters, x, mask, t)


def is_not_tangent(
    self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any = None, t: Any = None
) -> Any:
    return self.influence(algebra, parameters, x, mask, t)


def sees_lengths(
    self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any = None, t: Any = None
) -> Any:
    return self.sublayer(algebra, parameters, x, mask)


VECTOR = (Parameter("b", "vector", "a bias"),)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "oja-map"}, "'oja-map' is taken by a system of the papers"),
        ({"name": "rotary-flow"}, "'rotary-flow' is taken"),
        ({"name": "linear-flow"}, "'linear-flow' is taken by zoo_systems.LinearFlow"),
        ({"name": "My System"}, "lower case words"),
        ({"name": None}, "name is missing"),
        ({"title": ""}, "title is empty"),
        ({"space": "torus"}, "torus"),
        ({"time": "now"}, "now"),
        ({"normalization": "before"}, "unknown declaration normalization: did you mean normalisation"),
        ({"vlaue": "V"}, "unknown declaration vlaue: did you mean value"),
        ({"attention": None}, "declare attention"),
        ({"mask": "window"}, "mask must be one of full, causal"),
        ({"space": Space.ELLIPSOID}, "metric names W of an ellipsoid"),
        ({"metric": "W"}, "metric names W of an ellipsoid"),
        ({"normalisation": Normalisation.BEFORE}, "does not fit space sphere"),
        ({"space": Space.EUCLIDEAN, "normalisation": Normalisation.AFTER}, "does not fit space euclidean"),
        ({"further": ("b",)}, "further lists Parameter"),
        ({"further": (Parameter("b", "tensor", ""),)}, "must be of kind matrix, vector, scalar, step"),
        ({"further": (Parameter("V", "matrix", ""),)}, "V is declared twice"),
        ({"further": (Parameter("tokens", "matrix", ""),)}, "'tokens' cannot name a parameter"),
        ({"further": (Parameter("n", "scalar", ""),)}, "'n' is a size or an index"),
        ({"further": (Parameter("alpha", "matrix", ""),)}, "alpha is the step of a map"),
        ({"further": (Parameter("b", "vector", "", default="1"),)}, "default of b must be '0'"),
        ({"further": (Parameter("c", "scalar", "", default="one"),)}, "default of c must be a number as text"),
        ({"further": (Parameter("g", "scalar", "", per_head=True),)}, "multihead is not declared"),
        ({"sublayer": asks_for_more}, "asks for parameter 'W', which is not declared"),
        (
            {"sublayer": vector_as_matrix, "further": VECTOR, "attention": "none"},
            "its equation fails at 3 tokens in R^2",
        ),
        ({"sublayer": drops_a_coordinate, "space": Space.EUCLIDEAN}, "into 3 rows of 1"),
        ({"sublayer": one_push_for_all, "space": Space.EUCLIDEAN}, "into 1 rows of 2"),
        ({"sublayer": sees_everything, "attention": "linear"}, "sees what the mask hides"),
        ({"sublayer": knows_the_first}, "not interchangeable, and no positions are declared"),
        ({"sublayer": not_the_papers, "score": "M", "attention": "softmax"}, "its sublayer does something else"),
        ({"further": VECTOR}, "without parameter b: declare attention in a word of your own"),
        ({"advance": leaves_the_sphere, "time": Time.MAP}, "a step leaves the sphere"),
        ({"advance": is_not_tangent}, "the velocity is not tangent to the sphere"),
        (
            {"influence": sees_lengths, "space": Space.EUCLIDEAN, "normalisation": Normalisation.BEFORE},
            "the push depends on the lengths",
        ),
    ],
)
def test_a_wrong_declaration_is_refused_in_one_line(changed: dict[str, Any], said: str) -> None:
    before = dict(catalogue._ADDED)
    with pytest.raises(DeclarationError, match=re.escape(said)) as problem:
        register_system(declared(**changed))
    assert "\n" not in str(problem.value)
    assert before == catalogue._ADDED


def test_the_declaration_from_which_the_wrong_ones_are_made_is_right() -> None:
    register_system(declared())
    assert system("mine").writes_sublayer
    assert "mine" in systems()


@pytest.mark.parametrize("name", [*SYSTEMS, *POSITIONAL])
def test_the_systems_of_the_papers_pass_the_same_look(name: str) -> None:
    check_declaration(system(name))
    check_equation(system(name))
    assert system(name).standard


def test_what_is_no_system_is_refused() -> None:
    with pytest.raises(DeclarationError, match="needs a System or a subclass"):
        register_system(Instance)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"attention": "linear"}, "attention 'linear' is declared, and its equation has uniform weights"),
        ({"positions": "rotary"}, "positions 'rotary' are declared, and its equation knows none"),
        ({"rotary": ("Q", "K", "R"), "score": "M"}, "rotary names Q, K and R of one head"),
    ],
)
def test_a_composed_system_has_the_equation_that_it_says(changed: dict[str, Any], said: str) -> None:
    composed = System("another", "composed", Space.SPHERE, Time.FLOW, "V")
    with pytest.raises(DeclarationError, match=re.escape(said)):
        register_system(replace(composed, **changed))


def test_a_class_that_is_defined_again_takes_its_own_place() -> None:
    register_system(declared())
    register_system(declared(title="the cell was run twice"))
    assert system("mine").title == "the cell was run twice"
    composed = System("another", "composed", Space.SPHERE, Time.FLOW, "V", mask="causal")
    assert register_system(composed) is composed is register_system(composed)
    with pytest.raises(DeclarationError, match="'another' is taken"):
        register_system(replace(composed, mask="full"))


# ---------------------------------------------------------------------- classify

EYE = [[1, 0], [0, 1]]
NOUGHT = [[0, 0], [0, 0]]

POINTS: dict[str, tuple[dict[str, Any], str, dict[str, int], str]] = {
    "linear attention, consensus": (
        {"system": "linear-flow", "tokens": [[1, 0]] * 3, "V": [[2, 0], [0, 1]], "M": [[1, 0], [0, 3]]},
        "consensus",
        {"-6": 2, "-3": 1},
        "holds",
    ),
    "linear attention, two axes": (
        {"system": "linear-flow", "tokens": EYE, "V": [[2, 0], [0, 1]], "M": [[1, 0], [0, 3]]},
        "clustering",
        {"7/2 - sqrt(33)/2": 1, "sqrt(33)/2 + 7/2": 1},
        "fails",
    ),
    "sigmoid attention with a bias": (
        {"system": "sigmoid-map", "tokens": [[1, 0]] * 2, "V": [[2, 0], [0, 1]], "M": [["ln(3)", 0], [0, 0]]}
        | {"b": ["1/2", 0], "alpha": "1/2"},
        "consensus",
        {"4/11": 1, "7/11": 1},
        "holds",
    ),
    "pre-norm, opposite tokens": (
        {"system": "prenorm-map", "tokens": [[3, 4], [-6, -8]], "V": [[2, 0], [0, -1]], "M": NOUGHT, "alpha": "1/2"},
        "clustering",
        {"1": 3, "1069/1000": 1},
        "fails",
    ),
    "gates and a drive": (
        {"system": "gated-flow", "tokens": [[2, 0]] * 2, "b": [1, 0]}
        | {"heads": [{"F": [[2, 0], [0, 1]], "M": [[0, 0], [0, 1]], "g": "1/4"}]},
        "consensus",
        {"-1": 2, "-3/4": 1, "-1/2": 1},
        "holds",
    ),
}


@pytest.mark.parametrize("name", POINTS)
def test_an_equilibrium_is_classified_exactly(name: str) -> None:
    document, kind, spectrum, stable = POINTS[name]
    found = classify(document)
    assert (found.kind, str(found.equilibrium.answer), str(found.stable.answer)) == (kind, "holds", stable)
    assert {str(entry.exact): entry.multiplicity for entry in found.spectrum} == spectrum
    assert found.arithmetic == "exact"
    assert classify(found.instance.as_dict()).as_dict() == found.as_dict(), "defaults are written out"


@pytest.mark.parametrize("name", POINTS)
def test_the_exact_spectrum_is_that_of_the_torch_twin(name: str) -> None:
    """Eigenvalues of the Jacobian by automatic differentiation in torch, on the tangent spaces."""
    found = classify(POINTS[name][0])
    floats = FloatSystem.of(found.instance)
    task = problem(found.instance.system, floats.parameters)
    x = torch.tensor([[float(entry) for entry in token] for token in found.instance.tokens], dtype=torch.float64)
    size = x.numel()
    J = torch.func.jacrev(task.advance)(x).reshape(size, size)
    if found.instance.system.space is Space.SPHERE:
        normal = torch.block_diag(*(torch.outer(token, token) for token in x))
        tangent = torch.linalg.eigh(torch.eye(size, dtype=torch.float64) - normal).eigenvectors[:, len(x) :]
        J = tangent.mT @ J @ tangent
    own = sorted(value.real for entry in found.spectrum for value in [entry.value] * entry.multiplicity)
    assert np.allclose(sorted(torch.linalg.eigvals(J).tolist(), key=lambda z: z.real), own, atol=1e-12)


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"tokens": [["3/5", "4/5"], [1, 0]]}, "not-an-equilibrium"),
        ({"b": ["1/2", "1/1000000000"]}, "not-an-equilibrium"),
        ({"b": [-10, 0]}, "not-an-equilibrium"),
    ],
)
def test_a_point_that_moves_is_no_equilibrium(changed: dict[str, Any], kind: str) -> None:
    found = classify({**POINTS["sigmoid attention with a bias"][0], **changed})
    assert (found.kind, str(found.stable.answer)) == (kind, "fails")


def test_a_two_cycle_in_euclidean_space() -> None:
    found = classify({"system": "prenorm-map", "tokens": [["1/2"]] * 2, "V": [[-1]], "M": [[0]], "alpha": 1})
    assert (found.kind, str(found.equilibrium.answer)) == ("2-cycle", "fails")
    assert {str(entry.exact): entry.multiplicity for entry in found.spectrum} == {"1": 2}


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("pre-norm, opposite tokens", {"tokens": [[0, 0], [1, 0]]}, "token 1 is 0"),
        ("sigmoid attention with a bias", {"b": None}, "b must be a list of 2 numbers"),
        ("sigmoid attention with a bias", {"b": [1]}, "b must be a list of 2 numbers"),
        ("sigmoid attention with a bias", {"b": EYE}, "b[1] must be a number"),
        ("sigmoid attention with a bias", {"c": [1, 2]}, "c must be a number"),
        ("sigmoid attention with a bias", {"V": [1, 2]}, "V row 1 must be a non-empty list"),
        ("sigmoid attention with a bias", {"V": [[1, 2]]}, "V must be square"),
        ("sigmoid attention with a bias", {"e": 1}, "e is not a field of sigmoid-map"),
        ("gates and a drive", {"heads": [{"F": EYE, "M": EYE}]}, "heads[1] must have exactly F and M and g"),
        ("gates and a drive", {"D": [[1]]}, "D must be 2 x 2"),
    ],
)
def test_bad_values_of_its_parameters_are_refused(name: str, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InstanceError, match=re.escape(said)):
        classify({**POINTS[name][0], **changed})


# ---------------------------------------------------------------------- the generic way gives what the formulas give


def written_anew(listed: System) -> System:
    """The same system as a class with an equation of its own: no formula of the papers is used for it."""

    def sublayer(self: System, algebra: Algebra, parameters: Mapping[str, Any], x: Any, mask: Any) -> Any:
        return System.sublayer(self, algebra, parameters, x, mask)

    given = {each.name: getattr(listed, each.name) for each in fields(System)}
    kind = type("Anew", (System,), {**given, "name": f"{listed.name}-anew", "sublayer": sublayer})
    register_system(kind)
    return system(f"{listed.name}-anew")


V = [[2, 1], [1, 2]]
HALF = "sqrt(1/2)"
SAME: dict[str, dict[str, Any]] = {
    "oja-map": {"V": V, "alpha": "1/3", "tokens": [[HALF, HALF]] * 3},
    "oja-flow": {"V": V, "tokens": [[HALF, HALF], [f"-{HALF}", f"-{HALF}"], [HALF, HALF]]},
    "attention-map": {"V": V, "M": [["ln(2)", 0], [0, "ln(2)"]], "alpha": 1, "tokens": [[HALF, HALF]] * 2},
    "attention-flow": {"V": V, "M": NOUGHT, "tokens": [[1, 0], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]},
    "multihead-map": {"heads": [{"F": V, "M": EYE}] * 2, "alpha": 1, "tokens": [[HALF, f"-{HALF}"]] * 4},
    "multihead-flow": {"heads": [{"F": V, "M": NOUGHT}], "tokens": [[1, 0], [-1, 0]]},
    "ellipsoid-flow": {"P": [[4, 0], [0, 1]], "tokens": [["1/2", 0]] * 2},
    "causal-flow": {"U": V, "P": EYE, "tokens": [[HALF, HALF], [HALF, HALF]]},
    "token-flow": {"B": V, "W": EYE, "tokens": [[0, 0], [0, 0]]},
}


@pytest.mark.parametrize("name", SAME)
def test_the_papers_systems_written_anew_are_classified_alike(name: str) -> None:
    anew = written_anew(system(name))
    assert not anew.standard
    ours, theirs = (classify({"system": each, **SAME[name]}) for each in (name, anew.name))
    assert ours.equilibrium.is_holds
    assert theirs.equilibrium.is_holds
    assert theirs.linearization == ours.linearization
    assert theirs.unstable_dimension == ours.unstable_dimension
    assert [(each.exact, each.multiplicity) for each in theirs.spectrum] == [
        (each.exact, each.multiplicity) for each in ours.spectrum
    ]
    assert (theirs.clusters, theirs.p, theirs.q) == (ours.clusters, ours.p, ours.q)


def test_a_composed_system_uses_the_formulas_where_they_are_for_it() -> None:
    """Several heads in Euclidean space stand in no paper; the polygon formulas are for them, and agree with the Jacobian."""
    composed = register_system(
        System("heads-flow", "several heads in Euclidean space", Space.EUCLIDEAN, Time.FLOW, "B", "W", multihead=True)
    )
    assert composed.standard
    anew = written_anew(composed)
    for tokens in ([[0, 0]] * 3, [[1, 0], ["-1/2", "sqrt(3)/2"], ["-1/2", "-sqrt(3)/2"]]):
        document = {"heads": [{"B": V, "W": NOUGHT}, {"B": EYE, "W": NOUGHT}], "tokens": tokens}
        ours, theirs = (classify({"system": each, **document}) for each in (composed.name, anew.name))
        assert ours.equilibrium.is_holds
        assert [(each.exact, each.multiplicity) for each in theirs.spectrum] == [
            (each.exact, each.multiplicity) for each in ours.spectrum
        ]


def test_only_a_closed_form_would_do() -> None:
    with pytest.raises(ValueError, match=r"linear-flow: .*eigenvectors of the layer matrix.*starts"):
        equilibria("linear-flow", V=EYE, M=EYE, n=2)


# ---------------------------------------------------------------------- nothing of the papers' equation is said of another


def test_a_certified_box_of_another_system_is_not_confirmed() -> None:
    """``simulate --certify`` runs the equation of the author; the re-check has none for it."""
    run = simulate("linear-flow", n=3, d=2, seed=1, certify=True)
    assert run.equilibrium is not None
    for verdict in (run.equilibrium.exists, run.equilibrium.stable):
        assert verdict.is_holds
        assert verdict.certificate is not None
        again = recheck(verdict.certificate.as_document(), None)
        assert again.is_undecided
        assert "the re-checker has equations of its own" in again.reason


def test_the_papers_formulas_are_for_the_papers_equation() -> None:
    for name in ("linear-flow", "sigmoid-map", "prenorm-map"):
        with pytest.raises(NoClosedForm, match=f"{name} has no closed form at consensus: .*classify"):
            spectrum(name)
        with pytest.raises(NoClosedForm, match=f"{name} is not linearized in symbols"):
            linearize(name)


ONE = LayerSystem(heads=1, acting=1, placement="pre")


@pytest.mark.parametrize(
    ("name", "layer", "parts"),
    [
        ("prenorm-map", ONE, set()),
        ("prenorm-map", replace(ONE, placement="post"), {"normalisation"}),
        ("prenorm-map", replace(ONE, mask="causal"), {"mask"}),
        ("prenorm-map", replace(ONE, heads=2, acting=2), {"heads"}),
        ("prenorm-map", replace(ONE, positions="rotary"), {"positions"}),
        ("linear-flow", ONE, {"attention"}),
        ("sigmoid-map", ONE, {"attention", "parameters"}),
        ("gated-flow", ONE, {"attention", "parameters"}),
        ("prenorm-heads-map", replace(ONE, heads=2, acting=2, mask="causal"), set()),
    ],
)
def test_a_layer_is_contained_where_what_is_declared_is_its_own(name: str, layer: LayerSystem, parts: set[str]) -> None:
    assert {each.part for each in contains(system(name), Covers(), layer).differences} == parts


def test_what_a_pre_norm_system_leaves_out_of_a_pre_norm_layer() -> None:
    assert idealisations(system("prenorm-map"), ONE) == ("unit tokens", "centring", "gains", "biases", "feed-forward")


def test_the_schema_of_an_instance_knows_the_papers_systems() -> None:
    """Their instances are closed; those of other systems may have further numbers, vectors and matrices."""
    assert set(PAPERS) == {*SYSTEMS, *POSITIONAL}
