"""AB-R4.2: Wendel's probability that random tokens lie in one open hemisphere.

``P = 2^{-(l-1)} sum_{k=0}^{n} C(l-1, k)`` for l uniform tokens on S^n: equal to 1 iff ``l <= n + 1``.
Reference: Abella-Silvestre-Tabuada, Remark 4.2.
"""

from __future__ import annotations

import random
from itertools import product
from math import comb

import sympy as sp

from eigentoken.proofs.bibliography import ABELLA
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import no_open_hemisphere
from eigentoken.proofs.steps.textbook import BINOMIAL, WENDEL
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Counterexample, Kind, Printed, Source, Statement, Variant, Vector
from eigentoken.theory.statements.steps import Citation, Computation, Derivation, Identity, Inequality


def probability(tokens: int, n: int) -> sp.Rational:
    """``2^{-(l-1)} sum_{k=0}^{n} C(l-1, k)``, exactly."""
    return sp.Rational(sum(comb(tokens - 1, k) for k in range(n + 1)), 2 ** (tokens - 1))


def _exact_threshold() -> Verdict:
    """For l <= 30, n <= 30 the probability is 1 exactly when l <= n + 1, and P_{n+2,n} = 1 - 2^{-(n+1)}."""
    for n in range(1, 31):
        for tokens in range(1, 31):
            if (probability(tokens, n) == 1) != (tokens <= n + 1):
                return fails(f"l = {tokens}, n = {n}: the threshold is wrong")
        if probability(n + 2, n) != 1 - sp.Rational(1, 2 ** (n + 1)):
            return fails(f"n = {n}: P_(n+2,n) is wrong")
    return holds("exact rational arithmetic for all l, n up to 30")


def _schlafli() -> Verdict:
    """The number of half-space patterns ``C(l, d) = 2^l P`` satisfies Schlafli's recursion C(l+1,d) = C(l,d) + C(l,d-1)."""
    for d in range(2, 20):
        for tokens in range(1, 25):
            now = probability(tokens, d - 1) * 2**tokens + probability(tokens, d - 2) * 2**tokens
            if probability(tokens + 1, d - 1) * 2 ** (tokens + 1) != now:
                return fails(f"l = {tokens}, d = {d}: the recursion fails")
    return holds("exact rational arithmetic for l up to 25, d up to 19")


def derive() -> Derivation:
    """Wendel's law, the full row of binomials, and what one missing term costs."""
    m = sp.Symbol("m", integer=True, positive=True)
    partial, whole, rest, power, chance = sp.symbols("S F R G P", real=True)
    k, tokens, n = sp.symbols("k ell n", real=True)
    return Derivation(
        (
            Citation(
                name="law",
                says="For independent uniform tokens on $S^n \\subset \\mathbb{R}^{n+1}$:",
                theorem=WENDEL,
                establishes=("the probability that all points lie in one open hemisphere is Wendel's sum",),
                formula="P_{\\ell,n} = 2^{-(\\ell-1)}\\sum_{k=0}^{n}\\binom{\\ell-1}{k}",
            ),
            Inequality(
                name="range of the sum",
                says="For $n \\ge \\ell - 1$ every $k \\le \\ell - 1$ is among $0, \\dots, n$: the sum runs over the "
                "whole row.",
                hypotheses=(k <= tokens - 1, tokens - 1 <= n),
                conclusion=k <= n,
                establishes=("all binomial coefficients of a row are summed",),
            ),
            Citation(
                name="full row",
                says="With $m = \\ell - 1$:",
                theorem=BINOMIAL,
                formula="\\sum_{k=0}^{m}\\binom{m}{k} = 2^{m}",
                uses=("range of the sum",),
                establishes=("the sum is a power of two",),
            ),
            Inequality(
                name="probability one",
                says="So the full row $F = 2^{\\ell-1} = G$ gives the probability $P = F/G = 1$.",
                hypotheses=(sp.Eq(whole, power), power > 0, sp.Eq(chance, whole / power)),
                conclusion=sp.Eq(chance, 1),
                uses=("law", "full row"),
                needs=(
                    "the probability that all points lie in one open hemisphere is Wendel's sum",
                    "the sum is a power of two",
                ),
                establishes=("the probability is 1 for l <= n + 1",),
            ),
            Inequality(
                name="a missing term",
                says="For $n < \\ell - 1$ the term $k = \\ell - 1$, equal to 1, is missing from the full row $F$; the "
                "others are nonnegative, so the partial sum $S$ is smaller and the probability below 1.",
                hypotheses=(sp.Eq(whole, partial + 1 + rest), rest >= 0),
                conclusion=partial < whole,
                uses=("full row",),
            ),
            Identity(
                name="sharpness",
                says="At $\\ell = n + 2$, with $m = n + 1$, exactly that term is missing.",
                left=(2**m - 1) / 2**m,
                right=1 - 2 ** (-m),
                uses=("a missing term",),
            ),
            Computation(
                name="threshold",
                says="The same, term by term in exact arithmetic.",
                scope="l, n <= 30",
                run=_exact_threshold,
                formula="P_{\\ell,n} = 1 \\iff \\ell \\le n + 1",
                uses=("law",),
            ),
            Computation(
                name="recursion",
                says="The counts $2^{\\ell}P_{\\ell,d-1}$ satisfy Schläfli's recursion for the regions of $\\ell$ "
                "hyperplanes in general position, from which Wendel's law follows.",
                scope="l <= 25, d <= 19",
                run=_schlafli,
                formula="C(\\ell + 1, d) = C(\\ell, d) + C(\\ell, d - 1)",
            ),
        )
    )


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
        text="The probability that $\\ell$ independent uniform tokens on $S^n$ lie in one open hemisphere is "
        "$P_{\\ell,n} = 2^{-(\\ell-1)}\\sum_{k=0}^{n}\\binom{\\ell-1}{k}$. It is 1 exactly when $\\ell \\le n + 1$; "
        "$P_{n+2,n} = 1 - 2^{-(n+1)}$.",
        facts=("the points are independent and uniform on the sphere",),
        derive=derive,
        prose_from=("probability one", "sharpness", "threshold", "recursion"),
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
