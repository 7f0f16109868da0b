"""Re-check of a whole document of ``basin``: every region, rate and sentence, from the instance or the weights alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from mpmath import iv

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.basins.cones import Factors, confirm_cone
from eigentoken.numerics.recheck.basins.symmetric import OPEN, STATEMENTS, confirm_symmetric, number
from eigentoken.numerics.recheck.documents.reading import RecheckError, exact_input
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.matrices.rational import LateError
from eigentoken.numerics.recheck.points.attention import POINTS, not_written
from eigentoken.numerics.recheck.points.point import instance_digest
from eigentoken.numerics.recheck.refutations.independent_instance import IndependentInstance
from eigentoken.numerics.recheck.refutations.interval_recheck import interval
from eigentoken.numerics.recheck.refutations.regions import contracts
from eigentoken.theory.classification.instances import read_instance
from eigentoken.theory.language.reasons import RATE_UNITS, basin_reason
from eigentoken.theory.systems.system import Time

__all__ = ["recheck_basin"]

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]


def recheck_basin(document: Mapping[str, Json], weights: Mapping[str, Floats] | None, until: float) -> Shown:
    """What was found of every part of a basin document (already validated); ``weights``: O and V of its head."""
    shown = Shown(document)
    shown.cover(("schema",))
    if (document["instance"] is None) == (document["head"] is None):
        shown.fails(("instance",), "a basin is of an instance or of a head, of one of them")
        return shown
    if document["instance"] is not None:
        _of_instance(shown, document, until)
    else:
        _of_head(shown, document, weights or {}, until)
    if document["observed"] is None:
        shown.cover(("observed",))
    return shown


def _of_instance(shown: Shown, document: Mapping[str, Any], until: float) -> None:
    instance = document["instance"]
    shown.cover(("head",), ("instance",))
    shown.same(("instance_sha256",), instance_digest(instance), "the hash is not that of the instance")
    if instance["system"] not in POINTS:
        shown.undecided(("instance",), f"nothing is confirmed of {not_written(instance['system'], POINTS)}")
        return
    try:
        look = IndependentInstance(read_instance(instance), 1, 0)
        rest = look.at_rest()
    except (ValueError, ArithmeticError) as problem:
        shown.fails(("instance",), f"not an instance of {instance['system']}: {problem}")
        return
    if rest is not True:
        said = "the tokens are not an equilibrium" if rest is False else "the equilibrium was not confirmed exactly"
        (shown.undecided if rest is None else shown.fails)(("instance",), said)
        return
    discrete = look.instance.system.time is Time.MAP
    for index, region in enumerate(document["regions"]):
        _words(shown, index, region, discrete)
        if region["kind"] == "ellipsoid":
            why = _ellipsoid(look, region)
        elif region["kind"] == "cone":
            why = _cone(look, region, until)
        else:
            why = confirm_symmetric(look, region)
        _judge(shown, index, why)


def _of_head(shown: Shown, document: Mapping[str, Any], weights: Mapping[str, Floats], until: float) -> None:
    head = document["head"]
    shown.cover(("instance",))
    shown.same(("instance_sha256",), None)
    exact = {name: exact_input(weights[name]) for name in ("O", "V") if name in weights}
    shown.same(("head", "inputs"), {name: each.digest for name, each in exact.items()}, "the weights are others")
    shown.cover(("head", "alpha"))
    if len(exact) < 2:
        return
    for index, region in enumerate(document["regions"]):
        _words(shown, index, region, True)
        if region["kind"] != "cone":
            _judge(shown, index, f"{region['kind']} is no region of a head")
            continue
        try:
            why = confirm_cone(Factors.of(exact["O"], exact["V"]), region, Fraction(head["alpha"]), until)
        except LateError as late:
            why = f"{OPEN}{late}"
        _judge(shown, index, why)


def _words(shown: Shown, index: int, region: Mapping[str, Any], discrete: bool) -> None:
    at = ("regions", index)
    shown.same((*at, "says"), basin_reason(region["kind"]))
    shown.same((*at, "unit"), RATE_UNITS[discrete])
    shown.same((*at, "statement"), STATEMENTS.get((region["kind"], discrete)))


def _judge(shown: Shown, index: int, why: str | None) -> None:
    for name in ("kind", "rates", "facts"):
        shown.cover(("regions", index, name))
    shown.judge(("regions", index), why, OPEN)


def _ellipsoid(look: IndependentInstance, region: Mapping[str, Any]) -> str | None:
    """Every stated ellipsoid contracts at its rate, and the equilibrium is in the smallest."""
    facts, n, d = region["facts"], look.instance.n, look.instance.d
    if [len(token) for token in facts["centre"]] != [d] * n or [len(row) for row in facts["shape"]] != [n * d] * (
        n * d
    ):
        return "centre or shape are not of the size of the instance"
    if any(facts["shape"][i][j] != facts["shape"][j][i] for i in range(n * d) for j in range(i)):
        return "the shape is not symmetric"
    away = [
        interval(x) - number(c)
        for token, centre in zip(look.instance.tokens, facts["centre"], strict=True)
        for x, c in zip(token, centre, strict=True)
    ]
    square = sum(
        (away[i] * number(facts["shape"][i][j]) * away[j] for i in range(n * d) for j in range(n * d)), iv.mpf(0)
    )
    for stated in region["rates"]:
        eps = number(stated["radius"])
        if not eps.a > 0 or not number(stated["rate"]).a > 0:
            return f"radius {stated['radius']} and rate {stated['rate']} say nothing"
        if not square.b < (eps * eps).a * iv.mpf("1e-18"):
            return "the centre is not at the equilibrium"
        try:
            contracting = contracts(look, {**facts, "eps": stated["radius"], "rate": stated["rate"]})
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):  # a box on which the dynamics is not defined
            contracting = False
        if not contracting:
            return (
                f"the ellipsoid of radius {stated['radius']} is not confirmed to contract at the rate {stated['rate']}"
            )
    return None


def _cone(look: IndependentInstance, region: Mapping[str, Any], until: float) -> str | None:
    instance = look.instance
    if instance.system.name not in ("oja-map", "attention-map"):
        return f"a cone is a region of attention and Oja maps, not of {instance.system.name}"
    F, alpha, tokens = look.named(str(instance.system.value)), instance.parameters["alpha"], instance.tokens
    if len(set(tokens)) != 1 or not all(entry.is_Rational for entry in (*F, alpha, *tokens[0])):
        return "the cone is certified at a consensus, in rational numbers"
    w = sp.Matrix(list(tokens[0]))
    leader = (w.T * F * w)[0]
    low, high = (Fraction(each) for each in region["facts"]["leader"])
    if F * w != leader * w or not low <= Fraction(int(leader.p), int(leader.q)) <= high:
        return "the tokens do not belong to the leading eigenvalue"
    d = instance.d
    factors = [exact_input([[str(matrix[i, j]) for j in range(d)] for i in range(d)]) for matrix in (F, sp.eye(d))]
    try:
        return confirm_cone(Factors.of(*factors), region, Fraction(int(alpha.p), int(alpha.q)), until)
    except (LateError, RecheckError) as problem:
        return f"{OPEN}{problem}"
