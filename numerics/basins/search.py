"""The basin of an exact equilibrium, and of the leading direction of one head."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import sympy as sp
from flint import arb, arb_mat

from eigentoken.documents.basin_document import HeadSubject, ObservedTokens
from eigentoken.numerics.basins.cones import BITS, Cone, cone_region, rate_at
from eigentoken.numerics.basins.ellipsoids import ellipsoid_region
from eigentoken.numerics.basins.regions import Basin, BasinRegion, Floats
from eigentoken.numerics.basins.symmetric_values import SYSTEMS, symmetric_regions
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.instances import Instance, read_instance
from eigentoken.theory.exactness.balls import expression_ball, precision
from eigentoken.theory.language.verdicts import array_digest
from eigentoken.theory.systems.system import Time

__all__ = ["basin_of_head", "basin_of_instance", "factor_digests"]

LARGEST_STATE = 24
"n d above which no ellipsoid is sought: its Jacobian is enclosed entry by entry"


def basin_of_instance(given: str | Path | Mapping[str, object] | Instance) -> Basin:
    """Every region that is certified around the tokens, which must be a stable equilibrium.

    A point that is none, or not a stable one, is a :class:`ValueError` that says why.
    """
    instance = given if isinstance(given, Instance) else read_instance(given)
    found = classify(instance)
    if found.equilibrium != "holds":
        raise ValueError(
            f"tokens must be an equilibrium of {instance.system.name}, and that {found.equilibrium.answer}: "
            f"{found.equilibrium.reason}; `eigentoken classify` says more"
        )
    if found.stable == "fails":
        raise ValueError(f"tokens must be a stable equilibrium: {found.stable.reason}")
    case = Case(instance)
    regions = symmetric_regions(case)
    if not regions:
        regions = [each for each in (_cone(case),) if each is not None]
    if instance.n * instance.d <= LARGEST_STATE and instance.system.rotary is None:
        ellipsoid = ellipsoid_region(case)
        regions += [] if ellipsoid is None else [ellipsoid]
    return Basin(tuple(regions), instance=instance)


def _cone(case: Case) -> BasinRegion | None:
    """BD-H1 for a rational map with any value matrix, at consensus."""
    instance = case.instance
    if instance.system.name not in SYSTEMS or instance.system.time is not Time.MAP or len(set(instance.tokens)) != 1:
        return None
    matrix, alpha = case.named(str(instance.system.value)), instance.parameters["alpha"]
    if not all(entry.is_Rational for entry in (*matrix, alpha, *instance.tokens[0])):
        return None
    floats = np.array(matrix.tolist(), dtype=np.float64)
    with precision(BITS):
        exact = arb_mat([[expression_ball(entry, BITS) for entry in matrix.row(i)] for i in range(case.d)])
        unit = arb_mat([[int(i == j) for j in range(case.d)] for i in range(case.d)])
    side = np.array([float(entry) for entry in instance.tokens[0]])
    made = cone_region(exact, unit, (floats, np.eye(case.d)), Fraction(int(alpha.p), int(alpha.q)), side)
    if made is None:
        return None
    along = matrix * _column(instance)
    leader = (_column(instance).T * along)[0]  # tokens are unit vectors: the eigenvalue that they belong to
    low, high = (Fraction(each) for each in made[0].facts["leader"])
    return made[0] if low <= Fraction(int(leader.p), int(leader.q)) <= high else None


def _column(instance: Instance) -> sp.Matrix:
    return sp.Matrix(list(instance.tokens[0]))


def basin_of_head(O: Floats, V: Floats, subject: HeadSubject, states: Floats | None = None, seed: int = 0) -> Basin:
    """The half space of the leading direction of ``O V``, the head alone on the unit sphere; ``states``: (sequences, n, d).

    The entries of O and V are exact numbers.  States are measured in floats, and a rate is stated for the radius of the
    nearest sequence that is whole on one side.
    """
    step = Fraction(subject["alpha"])
    wide, narrow = np.asarray(O, dtype=np.float64), np.asarray(V, dtype=np.float64)
    with precision(BITS):
        balls = [arb_mat(*each.shape, [arb(float(a)) for a in each.ravel()]) for each in (wide, narrow)]
    made = cone_region(balls[0], balls[1], (wide, narrow), step)
    if made is None:
        return Basin((), head=subject)
    region, cone = made
    observed = None if states is None else _observed(cone, states, seed)
    if observed is not None and observed["radius"] is not None:
        further = rate_at(region, step, observed["radius"])
        rates = sorted({*region.rates, further}, key=lambda each: each.radius)
        region = replace(region, rates=tuple(each for each in rates if each.rate < 1))
    return Basin((region,), head=subject, observed=observed)


def factor_digests(O: Floats, V: Floats) -> dict[str, str]:
    """sha256 of the content of the two factors."""
    return {name: array_digest(np.ascontiguousarray(each, dtype=np.float64)) for name, each in (("O", O), ("V", V))}


def _observed(cone: Cone, states: Floats, seed: int) -> ObservedTokens:
    """Sides and radii of the sequences; a sequence on the other side is that of the opposite direction (-u, -w)."""
    heights = states.astype(np.float64) @ cone.u
    up = (heights > 0).mean(axis=1)
    same = (up == 1) | (up == 0)
    errors = cone.errors(states.astype(np.float64)).max(axis=1)
    return {
        "sequences": int(states.shape[0]),
        "tokens": int(states.shape[1]),
        "seed": seed,
        "same_side": int(same.sum()),
        "share": float(np.maximum(up, 1 - up).mean()),
        "radius": float(errors[same].min()) if same.any() else None,
    }
