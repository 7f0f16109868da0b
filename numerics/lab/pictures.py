"""A picture of a counterexample: its tokens in the plane, and where they go."""

from __future__ import annotations

import math

from eigentoken.numerics.instances.exact import batch_of
from eigentoken.numerics.readings.trajectories import problem_of
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.systems.system import Space, Time

__all__ = ["tokens_svg"]

SIZE, REACH, DOT = 180, 70.0, 4.0
#: Length of the arrow of the fastest token, in units of the picture's radius.
ARROW = 0.6


def tokens_svg(instance: Instance) -> str:
    """An SVG of the first two coordinates: tokens as dots, arrows to the next state of a map or along the velocity of a flow.

    Empty for one coordinate, or where the state has no image.
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
    for (x, y), (u, v) in zip(starts, ends, strict=True):
        a, b = REACH * x / unit, -REACH * y / unit
        c, d = a + REACH * length * u / unit, b - REACH * length * v / unit
        if math.hypot(c - a, d - b) > 1:
            parts.append(
                f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="#c33" marker-end="url(#to)"/>'
            )
        parts.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{DOT:.0f}" fill="#246"/>')
    tip = '<marker id="to" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    tip += '<path d="M0,0L6,3L0,6z" fill="#c33"/></marker>'
    told = "first two coordinates of the tokens, with their " + ("velocities" if flow else "next places")
    half = SIZE // 2
    return (
        f'<svg width="{SIZE}" height="{SIZE}" viewBox="{-half} {-half} {SIZE} {SIZE}" role="img" aria-label="{told}">'
        f"<title>{told}</title><defs>{tip}</defs>{''.join(parts)}</svg>"
    )
