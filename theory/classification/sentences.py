"""The sentences of a classification, each a function of what was found: the same for who finds it and for who checks it again.

No sentence holds more than its arguments, so that a reader of a document can be told which of its words were confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "BOUNDARY_NOTE",
    "CYCLE_NOTE",
    "NOT_STABLE",
    "NO_CYCLE_NOTE",
    "NO_VALUE",
    "PAIR_NOTE",
    "TIED_NOTE",
    "fixed_reason",
    "moduli_note",
    "moved_exactly_reason",
    "moved_reason",
    "off_the_lines_reason",
    "repeated_note",
    "residual_unit",
    "stability_reason",
    "stability_unit",
    "token_moves_reason",
    "undefined_reason",
]

NO_VALUE = "the equation is undefined here: it divides by exactly 0"
NOT_STABLE = "the point is not an equilibrium, so it is not a stable one"
NO_CYCLE_NOTE = "f(f(x)) != x as well, so the point is not on a 2-cycle"
CYCLE_NOTE = "the spectrum lists moduli of multipliers per step (two steps have their squares)"
PAIR_NOTE = "a complex eigenvalue has its float as a pair [re, im]"
TIED_NOTE = "other eigenvalues of F have the same real part: k is the first place"
BOUNDARY_NOTE = "of the eigenvalues are exactly on the boundary of the stability region"
residual_unit = "residual, largest entry"


def fixed_reason(is_map: bool) -> str:
    return f"{'f(x) = x' if is_map else 'the velocity is zero'}, exactly"


def moved_reason(is_map: bool, at_least: float, token: int) -> str:
    """``token`` counts from 1."""
    moved = "|f(x) - x|_max >=" if is_map else "the velocity has an entry of modulus >="
    return f"{moved} {at_least:.6g} at token {token}, certified by ball arithmetic"


def token_moves_reason(token: int) -> str:
    return f"token {token} moves: its velocity is exactly nonzero"


def undefined_reason(token: int) -> str:
    return f"the map is undefined here: x_{token} + alpha u_{token} = 0 exactly"


def off_the_lines_reason() -> str:
    return "f(x) != x exactly: some x_i + alpha u_i is not a positive multiple of x_i"


def moved_exactly_reason(tokens: Sequence[int], cycle: bool) -> str:
    reason = f"f(x) != x exactly: f moves token {', '.join(map(str, tokens))}"
    return f"{reason}, and f(f(x)) = x exactly" if cycle else reason


def stability_unit(is_map: bool) -> str:
    return "spectral radius" if is_map else "spectral abscissa"


def stability_reason(answer: str, is_map: bool, gap: float, how: str, empty: bool = False) -> str:
    """``answer``: stable, unstable, marginal, ``not inside`` (an eigenvalue is not inside, no more is known) or open."""
    bound, limit = stability_unit(is_map), "1" if is_map else "0"
    if empty:
        return "the state space is discrete: there are no tangent directions"
    if answer == "stable":
        return f"linearly asymptotically stable: {bound} below {limit} by at least {gap:.6g} ({how})"
    if answer == "unstable":
        return f"linearly unstable: {bound} above {limit} by at least {gap:.6g} ({how})"
    if answer == "marginal":
        return (
            f"not linearly asymptotically stable: {bound} exactly {limit} ({how}); the linearization is silent about "
            "Lyapunov stability and nonlinear instability"
        )
    if answer == "not inside":
        return (
            f"not linearly asymptotically stable: some eigenvalue is not inside, {bound} at least {limit} ({how}); "
            "whether it is above was not decided"
        )
    return f"the {bound} was not told apart from {limit} ({how})"


def repeated_note(times: int) -> str:
    return f"the eigenvalue is repeated {times} times in F: k is the first of its places"


def moduli_note(mirrored: bool) -> str:
    return f"{'f(x) = -x: ' if mirrored else ''}{CYCLE_NOTE}"
