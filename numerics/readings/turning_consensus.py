"""Equal tokens on the circle that turn for ever and draw others to them: an open set of starts that never rests.

Let F be the sum of the value matrices, d = 2, its eigenvalues ``lambda`` not real, and attention full.  Equal tokens x
go in the direction of ``e^{tF} x`` (of ``(I + alpha F)^k x``), which turns for ever.  At equal tokens the weights are
equal, and what their change adds is a multiple of ``F x`` with the factor zero; so to first order a difference ``u_i``
from the mean token, across x, moves by

* ``u_i' = -(x^T F x) u_i`` in a flow, with ``x^T F x = (log |e^{tF} x|)'``: after a time t it is ``u_i / |e^{tF} x|``,
  at most ``C e^{-t Re lambda} |u_i|``,
* in a layer by a projection and the factor ``1/|(I + alpha F) x|``, in k layers at most
  ``C |1 + alpha lambda|^-k |u_i|``.

With ``Re lambda > 0`` (``|1 + alpha lambda| > 1``) the circle of equal tokens is invariant, its normal directions
contract uniformly, and a neighbourhood of it tends to it (Hirsch, Pugh and Shub, Invariant Manifolds, 1977).  A limit
of what tends to it would be equal tokens at rest, and there are none.
"""

from __future__ import annotations

from flint import fmpq

from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.readings.exact_places import same_tokens
from eigentoken.numerics.readings.silent_linearizations import exact_rows, values_together
from eigentoken.theory.systems.system import Space, Time

__all__ = ["turning_consensus"]


def turning_consensus(case: Case) -> str | None:
    """Why an open set of starts near the equal tokens of the case turns for ever, or ``None``."""
    instance, system = case.instance, case.instance.system
    plain = system.standard and system.rotary is None and not system.over_root_d
    plain = plain and instance.mask is None and system.mask == "full"
    if not plain or system.space is not Space.SPHERE or case.d != 2:
        return None
    if any(same_tokens(token, instance.tokens[0]) is not True for token in instance.tokens):
        return None
    F = values_together(case)
    if F is None:
        return None
    trace, area = F[0, 0] + F[1, 1], F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0]
    if not trace * trace < 4 * area:
        return None
    if system.time is Time.FLOW:
        attracts, said = trace > 0, f"their trace {trace} is positive"
    else:
        step = _step(case)
        if step is None:
            return None
        size = 1 + step * trace + step * step * area
        attracts, said = size > 1, f"the square of the modulus of 1 + alpha lambda is {size} > 1"
    if not attracts:
        return None
    return (
        "equal tokens turn for ever, since the values have no real eigenvalue, and draw to them all starts near by, since "
        f"{said}: an open set of starts comes to no rest (exact)"
    )


def _step(case: Case) -> fmpq | None:
    rows = exact_rows([[case.instance.parameters["alpha"]]])
    return None if rows is None else rows[0][0]
