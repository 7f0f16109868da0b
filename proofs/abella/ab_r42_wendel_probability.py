"""AB-R4.2: Wendel's probability that random tokens lie in one open hemisphere.

``P = 2^{-(l-1)} sum_{k=0}^{n} C(l-1, k)`` for l uniform tokens on S^n: equal to 1 iff ``l <= n + 1``.
In the claims ``P_{l, m}`` is that of l tokens in R^m, ``m = n + 1``.  Reference: Abella-Silvestre-Tabuada, Remark 4.2.
"""

from __future__ import annotations

import random
from itertools import product

import sympy as sp

from eigentoken.numerics.instances.hemisphere_shares import hemisphere_share
from eigentoken.proofs.abella.wendel import RECURSION, THRESHOLD, proof
from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import no_open_hemisphere
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector


def probability(tokens: int, n: int) -> sp.Rational:
    """``2^{-(l-1)} sum_{k=0}^{n} C(l-1, k)``, exactly."""
    return hemisphere_share(tokens, n + 1)


def more_tokens_than_printed() -> Verdict:
    """l = 3 tokens on S^2: the printed condition n >= l fails, and the probability is still 1."""
    if probability(3, 2) == 1:
        return holds("l = 3, n = 2: the probability is exactly 1 although n < l")
    return fails("the probability is not 1")


def sign_patterns_on_instances(instances: int, seed: int) -> Verdict:
    """The counting core of Wendel's theorem, exactly: of the 2^l sign choices for l points of the plane in general position,
    ``2^l P_{l,1} = 2 l`` put all points into one open half plane, whatever the points are."""
    source = random.Random(seed)
    for _ in range(instances):
        tokens = source.randint(2, 6)
        points: list[tuple[int, int]] = []
        while len(points) < tokens:
            new = (source.randint(-99, 99), source.randint(-99, 99))
            if new != (0, 0) and all(p[0] * new[1] != p[1] * new[0] for p in points):
                points.append(new)
        count = 0
        for signs in product((1, -1), repeat=tokens):
            signed = [(sign * x, sign * y) for sign, (x, y) in zip(signs, points, strict=True)]
            # in an open half plane iff some point has all the others strictly to its left
            count += any(all(p[0] * q[1] - p[1] * q[0] > 0 for q in signed if q != p) for p in signed)
        if count != probability(tokens, 1) * 2**tokens:
            return fails(f"{count} of {2**tokens} sign choices for {points}")
    return holds(f"{instances} exact instances have exactly the predicted number of sign choices")


AB_R42 = register(
    Statement(
        id="AB-R4.2",
        kind=Kind.REMARK,
        source=Source(ABELLA, "Remark 4.2"),
        title="Wendel's probability",
        systems=("ellipsoid-multihead-flow",),
        claims=(Formula(RECURSION), Formula(THRESHOLD)),
        proof=proof,
        printed=Printed(
            text="$P_{\\ell,n} = 1$ whenever $n \\ge \\ell$.",
            wrong="True, but $n \\ge \\ell - 1$ suffices, and that is sharp.",
            counterexamples=(
                Counterexample(
                    name="three tokens on the sphere",
                    says="$\\ell = 3$, $n = 2$: $P = 1$ although $n < \\ell$, so the printed condition is not sharp.",
                    instance={"tokens": 3, "n": 2},
                    check=more_tokens_than_printed,
                ),
            ),
            false=False,
        ),
        vectors=(
            Vector(
                "P_{5,2}, P_{8,3}, P_{10,2}",
                lambda: [probability(5, 2), probability(8, 3), probability(10, 2)],
                ("0.6875", "0.5", "0.08984375"),
            ),
        ),
        property_tests=(sign_patterns_on_instances,),
        variants=(
            Variant(
                "l <= n + 1",
                "n + 2 tokens with a positive relation lie in no open hemisphere",
                FirstFailure(no_open_hemisphere),
            ),
        ),
    )
)
