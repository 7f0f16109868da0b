"""PM-S1 with z orthogonal to w: two eigenvalues of the order sqrt(mu), by Rouche's theorem.

``f_1 = z^T F w != 0``, ``N = |F|``, ``Z = |z|``, ``eta = sqrt(mu |f_1|) >= 6 Z N^2/|f_1|``, ``r^2 = mu f_1``.  The equation
``1 = mu z^T (zeta I - F)^(-1) w`` is ``zeta^2 - r^2 = mu z^T F^2 (zeta I - F)^(-1) w``, as ``z^T w = 0``.  New here.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.steps.textbook_maps import ROUCHE
from eigentoken.theory.statements.steps import Citation, Identity, Inequality, Step

__all__ = ["orthogonal_eigenvalues", "orthogonal_steps"]

MU, N, Z, F1, ETA, RADIUS = sp.symbols("mu N Z f eta rho", real=True)
#: mu > 0, f = |f_1| > 0, eta^2 = mu f, f <= Z N, eta f >= 6 Z N^2.
SETTING = (MU > 0, F1 > 0, ETA > 0, sp.Eq(ETA**2, MU * F1), N >= 0, Z >= 0, F1 <= Z * N, ETA * F1 >= 6 * Z * N**2)
NAMES = {"f": "zeta^2 - r^2", "g": "the right side for z orthogonal to w"}
ZEROS = "zeta^2 - r^2 and its difference with the right side for z orthogonal to w have equally many zeros in"


def _rouche(side: str, centre: str) -> Citation:
    return Citation(
        name=f"orthogonal z: Rouche at {side}",
        says=f"So the equation has as many zeros in the disc around ${centre}$ as $\\zeta^2 - r^2$: one, since the other root "
        "is at the distance $2\\eta$.",
        theorem=ROUCHE,
        letters={**NAMES, "disc": f"the disc around {side}"},
        formula=rf"\#\{{\zeta : 1 = \mu z^{{\top}}(\zeta I - F)^{{-1}}w,\ |\zeta - ({centre})| < \tfrac\eta2\}} = 1",
        uses=("orthogonal z: on the circles", "orthogonal z: right side"),
        establishes=(f"{ZEROS} the disc around {side}",),
    )


def orthogonal_steps() -> tuple[Step, ...]:
    """Exactly one eigenvalue near each square root of mu f_1, and no other of modulus eta/2 or more."""
    zeta, f = sp.symbols("zeta F")
    near, far, size, distance = sp.symbols("a b R delta", real=True)
    discs = ("the disc around r", "the disc around -r")
    analytic = tuple(f"{NAMES['f']} and {NAMES['g']} are analytic on {disc} and its circle" for disc in discs)
    smaller = tuple(f"{NAMES['g']} is smaller than {NAMES['f']} in modulus on the circle of {disc}" for disc in discs)
    return (
        Inequality(
            name="orthogonal z: sizes",
            says="Now $z^{\\top}w = 0$, $f = |z^{\\top}Fw| > 0$, $f \\leq ZN$, and $\\eta = \\sqrt{\\mu f}$ with "
            "$\\eta f \\geq 6ZN^2$. Then $N \\leq \\eta/6$, so that $|\\zeta| = \\rho \\geq \\eta/2$ gives $\\rho - N "
            "\\geq \\eta/3 > 0$: there the resolvent exists, is analytic and at most $3/\\eta$.",
            hypotheses=(*SETTING, RADIUS >= ETA / 2),
            conclusion=sp.And(N <= ETA / 6, RADIUS - N >= ETA / 3),
            uses=("secular equation",),
            establishes=analytic,
        ),
        Identity(
            name="orthogonal z: equation",
            says="In the algebra of $F$, as before; with $z^{\\top}w = 0$ the secular equation is $\\zeta^2 - \\mu "
            "z^{\\top}Fw = \\mu z^{\\top}F^2(\\zeta I - F)^{-1}w$.",
            left=1 / (zeta - f),
            right=1 / zeta + f / zeta**2 + f**2 / (zeta**2 * (zeta - f)),
            uses=("secular equation",),
        ),
        Inequality(
            name="orthogonal z: right side",
            says="Its right side has a modulus $R \\leq \\mu ZN^2/(\\rho - N)$, at most $3\\mu ZN^2/\\eta \\leq "
            "\\frac12\\eta^2$.",
            hypotheses=(*SETTING, RADIUS - N >= ETA / 3, size * (RADIUS - N) <= MU * Z * N**2),
            conclusion=sp.And(size * ETA <= 3 * MU * Z * N**2, size <= ETA**2 / 2),
            uses=("orthogonal z: sizes", "orthogonal z: equation"),
        ),
        Inequality(
            name="orthogonal z: on the circles",
            says="Let $r^2 = \\mu z^{\\top}Fw$, $|r| = \\eta$, $a = |\\zeta - r|$, $b = |\\zeta + r|$, $a + b \\geq "
            "2\\eta$. On the circle $a = \\frac\\eta2$ (or $b = \\frac\\eta2$), and wherever $a, b \\geq "
            "\\frac\\eta2$, the left side $ab$ is at least $\\frac34\\eta^2$, above the right side. In the discs, and "
            "on their circles, $\\rho \\geq \\frac\\eta2$.",
            hypotheses=(ETA > 0, near >= ETA / 2, far >= ETA / 2, near + far >= 2 * ETA, size <= ETA**2 / 2),
            conclusion=sp.And(near * far >= sp.Rational(3, 4) * ETA**2, near * far > size),
            uses=("orthogonal z: right side",),
            establishes=smaller,
        ),
        _rouche("r", "r"),
        _rouche("-r", "-r"),
        Inequality(
            name="orthogonal z: two roots",
            says="Elsewhere with $\\rho \\geq \\frac\\eta2$ there is none, because $ab > R$. In the disc around $r$, $b \\geq "
            "\\frac32\\eta$, so the root is at a distance $\\delta = a$ of at most $2ZN^2/f$ from $r$; likewise around $-r$. For "
            "$z^{\\top}Fw > 0$ the discs are symmetric to the real line, and the roots are real.",
            hypotheses=(
                *SETTING,
                far >= sp.Rational(3, 2) * ETA,
                distance >= 0,
                distance * far <= size,
                size * ETA <= 3 * MU * Z * N**2,
            ),
            conclusion=distance * F1 <= 2 * Z * N**2,
            uses=("orthogonal z: Rouche at r", "orthogonal z: Rouche at -r", "orthogonal z: on the circles"),
            needs=(f"{ZEROS} {discs[0]}", f"{ZEROS} {discs[1]}"),
        ),
    )


def orthogonal_eigenvalues(a: str, b: str, c: str, h: str, weight: int, part: Any = sp.re) -> list[Any]:
    """The eigenvalues of F + mu e_1 e_2^T, F = (a b; c h): real (or imaginary) parts in ascending order."""
    f = sp.Matrix([[sp.Rational(a), sp.Rational(b) + weight], [sp.Rational(c), sp.Rational(h)]])
    return sorted((part(each) for each, count in f.eigenvals().items() for _ in range(count)), key=float)
