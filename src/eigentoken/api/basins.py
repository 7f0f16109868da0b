"""``et.basin``: certified regions of attraction of an exact equilibrium, or of the leading direction of a head."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from eigentoken.api.points import instance_of
from eigentoken.checking.heads import head_of, layer_of, states_read
from eigentoken.checking.run import open_model
from eigentoken.documents.basin_document import HeadSubject
from eigentoken.models.loading.model import Model
from eigentoken.numerics.basins.regions import Basin
from eigentoken.numerics.basins.search import basin_of_head, basin_of_instance, factor_digests
from eigentoken.numerics.deadline import OutOfTime, limited
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import System

__all__ = ["basin"]


def basin(
    subject: str | Path | System | Instance | Mapping[str, object] | Model,
    tokens: object = None,
    *,
    layer: int | None = None,
    head: int | None = None,
    alpha: str | float | Fraction | None = None,
    fold: bool = False,
    sequences: int = 8,
    length: int = 32,
    seed: int = 0,
    seconds: float = 600.0,
    **fields: object,
) -> Basin:
    """Certified regions of attraction with rates.

    ``subject``: a stable equilibrium as :func:`eigentoken.classify` takes a point; or, with ``layer`` and ``head``, a model as
    :func:`eigentoken.load` takes it: then the head alone, ``x_i + alpha U sum_j a_ij x_j`` normalised, for any attention, with
    where the states of ``sequences`` of ``length`` random tokens lie.

    >>> found = basin("oja-map", tokens=[[1, 0], [1, 0]], V=[[1, 0], [0, "1/2"]], alpha="1/4")
    >>> [each.kind for each in found.regions]
    ['half-space', 'ball', 'ellipsoid']
    >>> float(found.regions[0].rate(1.0)) < 1
    True
    """
    try:
        with limited(time.time() + seconds):
            if layer is None and head is None:
                if alpha is not None:
                    fields["alpha"] = alpha
                return basin_of_instance(instance_of(subject, tokens, fields))
            if layer is None or head is None or tokens is not None or fields:
                raise ValueError("layer and head name one head of a model together, without tokens or parameters")
            step = _step(alpha)
            return _of_head(open_model(subject), layer, head, step, fold, (sequences, length, seed))
    except OutOfTime:
        raise ValueError(f"no basin within {seconds:g} seconds: give more with seconds=") from None


def _step(alpha: str | float | Fraction | None) -> Fraction:
    try:
        step = Fraction("1" if alpha is None else str(alpha))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"alpha must be a positive number such as 1 or 1/2, got {alpha!r}") from None
    if step <= 0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    return step


def _of_head(model: Model, layer: int, head: int, step: Fraction, fold: bool, asked: tuple[int, int, int]) -> Basin:
    whole = layer_of(model, layer, fold)
    found = head_of(whole, head)
    subject: HeadSubject = {
        "model": model.source,
        "fingerprint": model.fingerprint(),
        "layer": layer,
        "head": head,
        "fold": fold,
        "alpha": str(step),
        "inputs": factor_digests(found.O, found.V),
    }
    return basin_of_head(found.O, found.V, subject, states_read(model, whole, *asked), asked[2])
