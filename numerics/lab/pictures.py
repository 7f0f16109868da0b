"""Pictures of a counterexample: its tokens in the plane with where they go, and the spectrum where it rests."""

from __future__ import annotations

import math

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.readings.batched_jacobians import spectrum
from eigentoken.numerics.readings.trajectories import problem_of, states_along
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space, Time

__all__ = ["spectrum_svg", "tokens_svg"]

SIZE, REACH, DOT = 180, 70.0, 4.0
#: Length of the arrow of the fastest token, in units of the picture's radius.
ARROW = 0.6
#: States along the trajectory that the dots are moved through, in so many seconds; less motion than this is not shown.
STATES, LASTS, MOVES = 48, 6, 0.02
#: The longest step of a flow between two of them.
LONGEST = 0.1
#: Tokens that move by less than this rest, and have a spectrum.
REST = 1e-9


def tokens_svg(instance: Instance) -> str:
    """An SVG of the first two coordinates: tokens as dots, arrows to the next state of a map or along the velocity of a flow.

    Where they move the dots follow their trajectory once, and again at each click.  Empty for one coordinate, or where the state
    has no image.
    """
    batch = batch_of(instance, 1, 0)
    moved = problem_of(batch).advance(batch.tokens, 0.0)
    flow = instance.system.time is Time.FLOW
    ends = (moved if flow else moved - batch.tokens)[0, :, :2].tolist()
    starts = batch.tokens[0, :, :2].tolist()
    if instance.d < 2 or not all(math.isfinite(entry) for row in ends for entry in row):
        return ""
    curved = instance.system.space is Space.SPHERE
    unit = 1.0 if curved else max((math.hypot(*each) for each in starts), default=0.0) or 1.0
    fastest = max((math.hypot(*each) for each in ends), default=0.0)
    length = ARROW * unit / fastest if flow and fastest > 0 else 1.0
    parts = [f'<circle r="{REACH:.0f}" fill="none" stroke="#bbb"/>'] if curved else []
    along = [starts, *(state[0, :, :2].tolist() for state in states_along(batch, STATES, LONGEST))]
    for token, ((x, y), (u, v)) in enumerate(zip(starts, ends, strict=True)):
        a, b = REACH * x / unit, -REACH * y / unit
        c, d = a + REACH * length * u / unit, b - REACH * length * v / unit
        if math.hypot(c - a, d - b) > 1:
            parts.append(
                f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="#c33" marker-end="url(#to)"/>'
            )
        path = [(REACH * state[token][0] / unit, -REACH * state[token][1] / unit) for state in along]
        parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{DOT:.0f}" fill="#246">{_moving(path)}</circle>')
    tip = '<marker id="to" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    tip += '<path d="M0,0L6,3L0,6z" fill="#c33"/></marker>'
    told = "first two coordinates of the tokens, with their " + ("velocities" if flow else "next places")
    half = SIZE // 2
    return (
        f'<svg width="{SIZE}" height="{SIZE}" viewBox="{-half} {-half} {SIZE} {SIZE}" role="img" aria-label="{told}">'
        f"<title>{told}</title><defs>{tip}</defs>{''.join(parts)}</svg>"
    )


def _moving(path: list[tuple[float, float]]) -> str:
    """The motion of a dot through these places; empty where it hardly moves, or leaves the picture for good."""
    if not all(math.isfinite(each) for place in path for each in place):
        return ""
    if max(math.dist(place, path[0]) for place in path) < MOVES * REACH:
        return ""
    found = ""
    for name, axis in (("cx", 0), ("cy", 1)):
        values = ";".join(f"{max(-SIZE, min(SIZE, place[axis])):.1f}" for place in path)
        found += f'<animate attributeName="{name}" values="{values}" dur="{LASTS}s" begin="0s;click"/>'
    return found


def spectrum_svg(instance: Instance) -> str:
    """An SVG of the eigenvalues of the linearization where the tokens rest, with the boundary of stability; else empty.

    They are floats, to look at.
    """
    batch = batch_of(instance, 1, 0)
    moved = problem_of(batch).advance(batch.tokens, 0.0)
    flow = instance.system.time is Time.FLOW
    still = moved if flow else moved - batch.tokens
    if any(callable(each) for each in batch.parameters.values()) or not float(still.abs().max()) < REST:
        return ""
    values = spectrum(batch).all()[0].tolist()
    if not values or not all(math.isfinite(abs(each)) for each in values):
        return ""
    reach = (
        max(1.0, *(abs(each) for each in values)) if not flow else max((abs(each) for each in values), default=0) or 1
    )
    unit, half = REACH / reach, SIZE // 2
    edge = f'<circle r="{unit:.1f}" fill="none" stroke="#bbb"/>'
    parts = [f'<path d="M0,-{half}V{half}" stroke="#bbb"/>' if flow else edge]
    for each in sorted(values, key=lambda each: (each.real, each.imag)):
        out = each.real > REST if flow else abs(each) > 1 + REST
        colour = "#c33" if out else "#246"
        parts.append(f'<circle cx="{unit * each.real:.1f}" cy="{-unit * each.imag:.1f}" r="3" fill="{colour}"/>')
    told = f"eigenvalues of the linearization, with the {'imaginary axis' if flow else 'unit circle'}"
    return (
        f'<svg width="{SIZE}" height="{SIZE}" viewBox="{-half} {-half} {SIZE} {SIZE}" role="img" aria-label="{told}">'
        f"<title>{told}</title>{''.join(parts)}</svg>"
    )
