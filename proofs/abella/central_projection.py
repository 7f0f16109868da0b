"""Steps that two chapters share: tokens converge where their central projections do.

``y = w/|w|_W`` and ``y* = w*/|w*|_W``: ``|y - y*|_W^2 <= |w - w*|_W^2 / (|w|_W |w*|_W)``, and ``|w|_W >= 1/H``.
"""

from __future__ import annotations

import sympy as sp

from eigentoken.theory.statements.steps import Identity, Inequality, Step

__all__ = ["limit_of_tokens"]


def limit_of_tokens(
    height: str, concludes: str, *, uses: tuple[str, ...], needs: tuple[str, ...], establishes: str
) -> tuple[Step, ...]:
    """From ``w -> w*`` to ``y -> y*``; ``height`` says in words why ``|w|_W >= 1/H``, ``concludes`` what follows."""
    long, short, top = sp.symbols("n m H", positive=True)
    product, moved, gap = sp.symbols("c x g", real=True)
    return (
        Identity(
            name="distances on the ellipsoid",
            says="Let $w^*$ be the limit, $n = |w|_W$, $m = |w^*|_W$ and $c$ the $W$-product of $y = w/n$ and $y^* = "
            "w^*/m$. Then $|y - y^*|_W^2 = 2(1 - c)$, and",
            left=long**2 + short**2 - 2 * long * short * product,
            right=(long - short) ** 2 + long * short * (2 * (1 - product)),
        ),
        Inequality(
            name="limit of the tokens",
            says=f"So $g = |y - y^*|_W^2$ is at most $x/(nm)$ with $x = |w - w^*|_W^2$; and $n, m \\ge 1/H$, {height}: "
            f"$g \\le H^2x \\to 0$. {concludes}",
            hypotheses=(
                sp.Eq(moved, (long - short) ** 2 + long * short * gap),
                gap >= 0,
                long >= 1 / top,
                short >= 1 / top,
            ),
            conclusion=gap <= top**2 * moved,
            uses=("distances on the ellipsoid", *uses),
            needs=needs,
            establishes=(establishes,),
        ),
    )
