"""``refute``: true statements are never refuted, neither at an exact instance nor by a search of their own.

The statements are those of ``tests/liars/truths`` (plain numpy functions of one instance, true for every instance of their kind);
here they meet random exact instances: rational matrices of the kind and rational tokens, often where equality holds.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from eigentoken.numerics.instances.exact_values import Case as Instances
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.predicates import predicate_verdict
from eigentoken.theory.classification.instances import Instance

from . import exact
from .exact import Rows
from .judging import Case, Domain
from .points import _orthogonal
from .state import ROOT


@cache
def _plan() -> Any:
    """``tests/liars/truth_plan.py``: the list of true statements."""
    name = "eigentoken_truth_plan"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / "liars" / "truth_plan.py")
        if spec is None or spec.loader is None:
            raise FileNotFoundError("tests/liars/truth_plan.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@cache
def _truths() -> list[Any]:
    return list(_plan().truths())


def _texts(rows: Rows) -> list[list[str]]:
    return [[str(entry) for entry in row] for row in rows]


def _square(rng: Any, kind: str, d: int) -> list[list[str]]:
    """A random rational matrix of the kind: any, symmetric, definite, leading (diagonal, the first entry strictly ahead)."""
    if kind == "leading":
        rest = [Fraction(int(x), int(rng.integers(1, 4))) for x in rng.integers(-3, 3, d - 1)]
        top = max([Fraction(0), *(abs(x) for x in rest)]) + Fraction(1, int(rng.choice([1, 2, 10, 1000])))
        values = [top, *rest]
        return _texts([[values[i] if i == j else Fraction(0) for j in range(d)] for i in range(d)])
    made = exact.scaled(exact.fractions(rng.integers(-3, 4, (d, d))), Fraction(1, int(rng.choice([1, 2, 3, 10]))))
    if kind == "any":
        return _texts(made)
    if kind == "symmetric":
        return _texts(exact.symmetric_part(made))
    return _texts(
        exact.plus(exact.times(exact.transpose(made), made), exact.identity(d), Fraction(1, int(rng.choice([1, 3]))))
    )


def _tokens(rng: Any, truth: Any) -> Any:
    """A state of the plan, or (where every state is allowed) random rational unit tokens, some equal or opposite."""
    if truth.states is not _plan().STATES or rng.random() < 0.4:
        return truth.states[int(rng.integers(len(truth.states)))]
    d, n = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    tokens = [exact.transpose(_orthogonal(rng, d))[int(rng.integers(d))] for _ in range(n)]
    for i in range(1, n):
        if rng.random() < 0.3:
            tokens[i] = [int(rng.choice([-1, 1])) * x for x in tokens[0]]
    return _texts(tokens)


def _instance(rng: Any, truth: Any) -> Instance:
    tokens = _tokens(rng, truth)
    d = len(tokens[0])
    value, score, other = _square(rng, truth.kind, d), _square(rng, "any", d), _square(rng, "any", d)
    alpha = str(Fraction(int(rng.integers(1, 8)), int(rng.integers(1, 8))))
    unit = _texts(exact.identity(d))
    heads = [{"F": value, "M": score}, {"F": other, "M": value}]
    ellipsoid = [{"U": value, "P": score}, {"U": other, "P": value}]
    options: dict[str, dict[str, Any]] = {
        "oja-map": {"V": value, "alpha": alpha},
        "oja-flow": {"V": value},
        "attention-map": {"V": value, "M": score, "alpha": alpha},
        "attention-flow": {"V": value, "M": score},
        "multihead-map": {"heads": heads, "alpha": alpha},
        "multihead-flow": {"heads": heads},
        "ellipsoid-flow": {"P": unit},
        "ellipsoid-map": {"heads": ellipsoid, "W": unit, "alpha": alpha},
        "ellipsoid-multihead-flow": {"heads": ellipsoid[:1], "W": unit},
        "causal-flow": {"U": value, "P": score},
        "token-flow": {"B": value, "W": score},
        "rotary-flow": {"B": value, "Q": score, "K": other, "R": _plan().turned(d)},
    }
    return Instance.of(truth.system, tokens, truth.mask, **options[truth.system])


def at_instances(rng: Any) -> Iterator[Case]:
    """A few true statements, each at one random exact instance."""
    for _ in range(4):
        truth = _truths()[int(rng.integers(len(_truths())))]
        instance = _instance(rng, truth)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # floats outside the domain of a function, in the author's code
            verdict = predicate_verdict(truth.predicate, Instances(instance, p=(instance.n + 1) // 2))
        word = str(verdict.answer)
        yield Case(word, f"{truth.name} at {instance.as_dict()}: fails ({verdict.reason})" if word == "fails" else "")


def by_search(rng: Any) -> Iterator[Case]:
    """A true statement as a conjecture, searched for a moment; a candidate that does not certify is no refutation."""
    truth = _truths()[int(rng.integers(len(_truths())))]
    searchable = truth.states is _plan().STATES and truth.mask is None and truth.kind != "leading"
    if not searchable or truth.system not in ("oja-map", "oja-flow", "attention-map", "attention-flow"):
        return
    conjecture = Conjecture(truth.name, truth.system, truth.conditions(), holds_if=truth.predicate, n=[2, 3, 5, 6, 7])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (result,) = refute(conjecture, seconds=3, instances=200, seed=int(rng.integers(1 << 30))).results
    yield Case(result.answer, f"{truth.name}: refuted" if result.answer == "refuted" else "")


DOMAIN = Domain(
    "refute",
    "true statements at exact instances, and searched",
    20_000,
    {"at exact instances": at_instances, "by a short search": by_search},
    seeds_at_once=5,
    weights={"by a short search": 0.02},
)
