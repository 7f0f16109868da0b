"""What the sphere of a statement plays: its counterexamples where they fit, random tokens, and heads of trained samples.

The heads are those of ``assets/heads.json`` (written by ``tools/heads.py``): each is a head of a sample restricted to the
invariant space of three leading eigenvalues of its values: that head itself, on tokens in that space.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from eigentoken.pages import asset

if TYPE_CHECKING:
    from eigentoken.theory.statements.statement import Counterexample, Statement
    from eigentoken.theory.systems.system import System

__all__ = ["numeric_instance", "playground"]

#: letters of value and score matrices, for the default instance
EXAMPLE_VALUE = ((1.0, 0.0, 0.0), (0.0, 0.25, 0.0), (0.0, 0.0, -0.5))
EXAMPLE_SCORE = ((2.0, 0.3, 0.0), (-0.3, 1.0, 0.0), (0.0, 0.0, 0.5))
EXAMPLE_METRIC = ((1.0, 0.0, 0.0), (0.0, 1.6, 0.0), (0.0, 0.0, 0.7))
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def playground(statement: Statement) -> list[dict[str, Any]] | None:
    """Instances for the script, the first one shown; ``None`` where the statement has no system on a sphere."""
    from eigentoken.theory.systems.catalogue import SYSTEMS
    from eigentoken.theory.systems.system import Space

    for name in statement.systems:
        listed = SYSTEMS.get(name)
        if listed is not None and listed.space is not Space.EUCLIDEAN:
            found = [each for each in map(_counterexample, _examples(statement)) if each is not None]
            found.append({"name": f"random tokens, {listed.title}", **_default(listed)})
            found += [_head(told, listed) for told in _heads() if _fits(told, listed)]
            found[0]["quantity"] = _quantity(statement)
            return found
    return None


def _quantity(statement: Statement) -> str:
    """What is plotted first: the height where the statement asks for a hemisphere, the potential where one decreases."""
    from eigentoken.theory.language.claims import Decreases
    from eigentoken.theory.language.conditions import InHemisphere

    if any(isinstance(each, InHemisphere) for each in statement.conditions):
        return "smallest height over v1"
    if any(isinstance(each, Decreases) for each in statement.claims):
        return "potential -1/2 mean F mean"
    return "diameter"


def _examples(statement: Statement) -> list[Counterexample]:
    return list(statement.printed.counterexamples) if statement.printed is not None else []


def _shape(listed: System) -> dict[str, Any]:
    """The fields of the system that the script needs; its formulas are tested against the loops in a browser."""
    return {
        "time": str(listed.time),
        "overRootD": listed.over_root_d,
        "causal": listed.mask == "causal",
        "uniform": listed.score is None,
    }


def _default(listed: System) -> dict[str, Any]:
    if listed.metric is not None and listed.metric == listed.score:
        metric, heads = EXAMPLE_METRIC, [{"F": IDENTITY, "M": EXAMPLE_METRIC}]
    else:
        metric = EXAMPLE_METRIC if listed.metric else IDENTITY
        heads = [{"F": EXAMPLE_VALUE if listed.value else IDENTITY, "M": EXAMPLE_SCORE}]
    return {**_shape(listed), "heads": heads, "metric": metric, "alpha": 0.25, "tokens": None, "n": 8}


def _counterexample(example: Counterexample) -> dict[str, Any] | None:
    from eigentoken.proofs.typeset.summary import without_code
    from eigentoken.theory.printing.plain_text import plain_words

    found = numeric_instance(example.instance)
    return (
        None
        if found is None
        else {
            "name": f"counterexample {without_code(example.name)}".rstrip(),
            "about": plain_words(example.says),
            **found,
        }
    )


@lru_cache
def _heads() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(asset("heads.json"))
    return found


def _fits(told: dict[str, Any], listed: System) -> bool:
    """One head with values of its own on a round sphere, under the mask with which it was trained."""
    return bool(listed.value and listed.metric is None and told["causal"] == (listed.mask == "causal"))


def _head(told: dict[str, Any], listed: System) -> dict[str, Any]:
    """The system with the matrices of a head, and what was left out of it."""
    where = f"head {told['head']} of layer {told['layer']} of sample:{told['sample']}"
    kind = "a real eigenvalue leads" if told["kind"] == "leads" else "a complex pair leads"
    values = ", ".join(_complex(re, im) for re, im in told["eigenvalues"] if im >= 0)
    scores = "" if listed.score is None else f" Scores are those of tokens of length √{told['d']}."
    square = f"{told['d']} x {told['d']}"
    about = (
        f"{where[0].upper()}{where[1:]} ({told['package']}), alone, on tokens in the space of three eigenvalues of its {square} "
        f"value matrix ({values}): that space is invariant, so nothing of the head is approximated but digits (residual "
        f"{told['residual']:.0e}).{scores} Biases, norm gains, the other heads and the feed-forward are left out."
    )
    shown = {"F": told["F"], "M": told["M"]}
    alpha = 0.25
    extra = {
        "heads": [shown],
        "metric": IDENTITY,
        "alpha": alpha,
        "tokens": None,
        "n": 8,
        "directions": told["directions"],
    }
    return {"name": f"{where}: {kind}", "about": about, **_shape(listed), **extra}


def _complex(re: float, im: float) -> str:
    return f"{re:.3g}" if im == 0 else f"{re:.3g} ± {im:.3g}i"


def numeric_instance(document: Mapping[str, object]) -> dict[str, Any] | None:
    """An exact instance document as floats in three dimensions, if it is one and fits."""
    from eigentoken.theory.classification.instances import InstanceError, read_instance
    from eigentoken.theory.systems.system import Space

    try:
        instance = read_instance(document)
    except (InstanceError, ValueError, TypeError):
        return None
    d = len(instance.tokens[0])
    if d not in (2, 3) or instance.system.space is Space.EUCLIDEAN:
        return None
    heads = instance.parameters["heads"] if instance.system.multihead else [instance.parameters]
    listed = instance.system

    def matrix(group: Any, letter: str | None, default: Any) -> Any:
        return default if letter is None or letter not in group else _padded(group[letter], d)

    metric = matrix(instance.parameters, listed.metric, IDENTITY)
    return {
        **_shape(listed),
        "causal": instance.mask is not None and not all(all(row) for row in instance.mask),
        "heads": [
            {"F": matrix(group, listed.value, IDENTITY), "M": matrix(group, listed.score, IDENTITY)} for group in heads
        ],
        "metric": [[*row[:2], 0.0 if i < 2 else row[2]] for i, row in enumerate(metric)] if d == 2 else metric,
        "alpha": float(instance.parameters["alpha"]) if "alpha" in instance.parameters else 0.25,
        "tokens": [[float(value) for value in token] + [0.0] * (3 - d) for token in instance.tokens],
        "n": len(instance.tokens),
        "d": d,
    }


def _padded(rows: Any, d: int) -> list[list[float]]:
    made = [[float(value) for value in row] + [0.0] * (3 - d) for row in rows]
    return made + [[0.0, 0.0, 0.0] for _ in range(3 - d)]
