"""Re-check of tokens in an open hemisphere, in exact rationals: a vector, or weights that combine the tokens to zero.

``v^T x_i > 0`` for all i puts the tokens into an open hemisphere, and each may move by ``min_i v^T x_i / ||v||``; weights
``w >= 0, w != 0`` with ``sum_i w_i x_i = 0`` exclude every such v (Gordan).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint

from eigentoken.numerics.recheck.documents.reading import CertificateDocument, exact_input, fraction_of

__all__ = ["confirm_hemisphere"]


def confirm_hemisphere(document: CertificateDocument, tokens: object, margin: float | None) -> str | None:
    """None if the vector or the weights of the certificate do what they should, else why not."""
    data = document.data
    x = exact_input(data["tokens"])
    if isinstance(tokens, Mapping):
        tokens = tokens.get("tokens")
    if tokens is not None and exact_input(tokens).digest != x.digest:
        return "the tokens are not those that were certified"
    count, size = x.shape
    if document.verdict == "holds":
        v = _column(data["vector"])
        if v is None or v[0].nrows() != size:
            return "the vector does not fit the tokens"
        heights = [flint.fmpq(h, v[1] * x.denominator) for h in (x.numerators * v[0]).entries()]
        least = min(heights)
        if not least > 0:
            return "a token is not on the positive side of the vector"
        if margin is not None:
            length = flint.fmpq((v[0].transpose() * v[0])[0, 0], v[1] * v[1])
            bound = Fraction(margin)
            if flint.fmpq(bound.numerator, bound.denominator) ** 2 * length > least * least:
                return "the margin is larger than the distance of a token to the plane"
        return None
    w = _column(data["weights"])
    if w is None or w[0].nrows() != count:
        return "the weights do not fit the tokens"
    entries = w[0].entries()
    if min(entries) < 0 or not any(entries):
        return "weights are not negative, and not all zero"
    total = w[0].transpose() * x.numerators
    return None if not any(total.entries()) else "the weights do not combine the tokens to zero"


def _column(entries: Any) -> tuple[flint.fmpz_mat, flint.fmpz] | None:
    values = [fraction_of(entry) for entry in entries]
    if not values:
        return None
    column = flint.fmpq_mat(len(values), 1, [flint.fmpq(v.numerator, v.denominator) for v in values])
    numerators, denominator = column.numer_denom()
    return numerators, denominator
