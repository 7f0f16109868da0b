"""CL-16: hard attention: leaders are permanent.  In the kernel, for any score matrix and any gains up to one.

The Frank-Wolfe rate recorded for it is false; the corrected one is a remark.
Reference: Alcalde-et-al, from a formalisation.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from eigentoken.proofs.clusters.sources import FRANK_WOLFE, recorded
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.steps.inner_products import expanded
from eigentoken.proofs.steps.theorems import EUCLIDEAN
from eigentoken.theory.calculus import dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    TRUE,
    Conjunction,
    Disjunction,
    ForAll,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.claims import When
from eigentoken.theory.language.conditions import AllOf, PositiveDefinite, Symmetric
from eigentoken.theory.language.terms import matrix as letter
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    SourceKind,
    Statement,
    Variant,
    Vector,
)
from eigentoken.theory.systems.algebra import LoopAlgebra
from eigentoken.theory.systems.catalogue import system

GAIN = sp.Symbol("gamma", real=True)
A, B, C, Y, Z = (VectorLetter(name) for name in "abcwz")
_A, _B, _C, _Y, _Z = (vector(each.name) for each in (A, B, C, Y, Z))


def _score(other: Any) -> Tensor:
    """``a^T M y``."""
    return Tensor(dot(_A, other, matrix("M")))


def _same(one: Any, other: Any) -> Proposition:
    return ForAll(Z, TRUE, proposition(sp.Eq(Tensor(dot(_Z, one)), Tensor(dot(_Z, other)), evaluate=False)))


def _below(other: Any) -> Proposition:
    """The token is the leader a, or has a smaller score with it."""
    return Disjunction((_same(other, _A), proposition(sp.Lt(_score(other), _score(_A), evaluate=False))))


#: ``y = b + gamma (c - b)``.
MOVED = ForAll(
    Z,
    TRUE,
    proposition(
        sp.Eq(Tensor(dot(_Z, _Y)), (1 - GAIN) * Tensor(dot(_Z, _B)) + GAIN * Tensor(dot(_Z, _C)), evaluate=False)
    ),
)
UNIT_GAIN = Conjunction((proposition(sp.Ge(GAIN, 0, evaluate=False)), proposition(sp.Le(GAIN, 1, evaluate=False))))
STAYS = Implication(Conjunction((_below(_B), _below(_C), MOVED)), _below(_Y))
#: A leader stays one: where b and c are no better than the leader a, nor is what is between them.
PERMANENT = ForAll(GAIN, UNIT_GAIN, ForAll(A, TRUE, ForAll(B, TRUE, ForAll(C, TRUE, ForAll(Y, TRUE, STAYS)))))
#: A leader that looks for the best token finds itself.
OWN = ForAll(
    A,
    TRUE,
    ForAll(
        B,
        TRUE,
        Implication(
            Conjunction((_below(_B), proposition(sp.Ge(_score(_B), _score(_A), evaluate=False)))), _same(_B, _A)
        ),
    ),
)


def _moved(kernel: Kernel, known: Proved, first: bool, second: bool) -> Proved:
    """``_below(y)`` where b (``first``) and c (``second``) are the leader, or are below it."""
    gain = kernel.assume(UNIT_GAIN)
    low, high = (kernel.part(gain, each) for each in UNIT_GAIN.parts)
    moved = kernel.part(known, MOVED)
    along = _A.applied(matrix("M^T"))
    either = [kernel.assume(_below(each).parts[0 if leads else 1]) for each, leads in ((_B, first), (_C, second))]
    scores = [
        kernel.instantiate(each, along) if leads else each for each, leads in zip(either, (first, second), strict=True)
    ]
    there = kernel.instantiate(moved, along)
    smaller = _below(_Y).parts[1]
    if not (first or second):
        return kernel.tautology([kernel.arithmetic([low, high, there, *scores], smaller)], _below(_Y))
    lands = [each for each, leads in zip(either, (first, second), strict=True) if leads]
    at_z = [kernel.instantiate(each, Z) for each in (moved, *lands)]
    equal = _same(_Y, _A)
    if first and second:
        same = kernel.generalise(Z, kernel.arithmetic(at_z, equal.body))
        return kernel.tautology([same], _below(_Y))
    whole = sp.Integer(0) if first else sp.Integer(1)
    exact = proposition(sp.Eq(GAIN, whole))
    part = proposition(sp.Gt(GAIN, 0) if first else sp.Lt(GAIN, 1))
    cases = kernel.arithmetic([low, high], sp.Or(sp.Eq(GAIN, whole), sp.Gt(GAIN, 0) if first else sp.Lt(GAIN, 1)))
    same = kernel.generalise(Z, kernel.arithmetic([kernel.assume(exact), *at_z], equal.body))
    less = kernel.arithmetic([kernel.assume(part), low, high, there, *scores], smaller)
    return kernel.by_cases(
        cases, (exact, kernel.tautology([same], _below(_Y))), (part, kernel.tautology([less], _below(_Y)))
    )


def _permanent(kernel: Kernel) -> Proved:
    known = kernel.assume(STAYS.left)
    ways = []
    for first in (True, False):
        inner = [
            (_below(_C).parts[0 if second else 1], _moved(kernel, known, first, second)) for second in (True, False)
        ]
        ways.append((_below(_B).parts[0 if first else 1], kernel.by_cases(kernel.part(known, _below(_C)), *inner)))
    found = kernel.discharge(STAYS.left, kernel.by_cases(kernel.part(known, _below(_B)), *ways))
    for each in (Y, C, B, A):
        found = kernel.generalise(each, found)
    return kernel.generalise(GAIN, found, UNIT_GAIN)


def _own(kernel: Kernel) -> Proved:
    """A token that is as good as the leader is the leader."""
    known = kernel.assume(OWN.body.body.left)
    below, least = (kernel.part(known, each) for each in known.proposition.parts)
    smaller = _below(_B).parts[1]
    never = kernel.arithmetic([kernel.assume(smaller), least], sp.false)
    ways = (
        (_below(_B).parts[0], kernel.assume(_below(_B).parts[0])),
        (smaller, kernel.tautology([never], _same(_B, _A))),
    )
    found = kernel.discharge(known.proposition, kernel.by_cases(below, *ways))
    return kernel.generalise(A, kernel.generalise(B, found))


M = letter("M")
_DEFINITE = AllOf((Symmetric(M), PositiveDefinite(M)))


def _form(left: Any, right: Any) -> Tensor:
    return Tensor(dot(left, right, matrix("M")))


#: ``M = M^T > 0``: a token with the largest ``a^T M a`` is a leader.
LARGEST = ForAll(
    A,
    TRUE,
    ForAll(
        B,
        TRUE,
        Implication(proposition(sp.Le(_form(_B, _B), _form(_A, _A), evaluate=False)), _below(_B)),
    ),
)
_MOVING = Conjunction((UNIT_GAIN, MOVED, proposition(sp.Ge(_form(_B, _C), 0, evaluate=False))))
_ENERGIES = [-_form(each, each) / 2 for each in (_Y, _B, _C - _B)]
#: ``M = M^T = -B``, J = b^T B b/2, and a token c with ``b^T B c <= 0`` (the best one, where 0 is in the hull): one step of
#: Frank and Wolfe, ``J(b + gamma (c - b)) <= (1 - 2 gamma) J(b) + gamma^2 J(c - b)``.
STEP = ForAll(
    GAIN,
    TRUE,
    ForAll(
        B,
        TRUE,
        ForAll(
            C,
            TRUE,
            ForAll(
                Y,
                TRUE,
                Implication(
                    _MOVING,
                    proposition(
                        sp.Le(_ENERGIES[0], (1 - 2 * GAIN) * _ENERGIES[1] + GAIN**2 * _ENERGIES[2], evaluate=False)
                    ),
                ),
            ),
        ),
    ),
)
#: Claims under conditions of their own.
CONDITIONAL = (When(_DEFINITE, Formula(LARGEST)), When(Symmetric(M), Formula(STEP)))


def _largest(kernel: Kernel) -> Proved:
    """Where ``a^T M b >= a^T M a >= b^T M b``, ``(a - b)^T M (a - b) <= 0``, and so a = b."""
    symmetric, positive = kernel.assume(Symmetric(M)), kernel.assume(PositiveDefinite(M))
    apart, z = _A - _B, vector(Z.name)
    smaller, same = _below(_B).parts[1], _below(_B).parts[0]
    known = [
        kernel.assume(LARGEST.body.body.left),
        expanded(
            kernel,
            dot(apart, apart, matrix("M")),
            *((1, dot(_A, _A, matrix("M"))), (-2, dot(_A, _B, matrix("M"))), (1, dot(_B, _B, matrix("M")))),
            premises=(symmetric,),
        ),
    ]
    sign = kernel.modus_ponens(kernel.as_form(PositiveDefinite(M)), positive)
    size = proposition(sp.Gt(Tensor(dot(apart, apart)), 0, evaluate=False))
    far = kernel.arithmetic([*known, kernel.instantiate(sign, apart, kernel.assume(size))], smaller)
    near = proposition(sp.Le(Tensor(dot(apart, apart)), 0, evaluate=False))
    cauchy = kernel.textbook(EUCLIDEAN, y=z, z=apart)
    parts = [kernel.total(dot(z, _A), -dot(z, _B)), kernel.scaling(dot(z, _B), -1), kernel.square(z)]
    flat = kernel.arithmetic([cauchy, kernel.assume(near), kernel.square(apart), *parts], same.body)
    either = kernel.arithmetic([], Disjunction((size, near)))
    ways = (
        (size, kernel.tautology([far], _below(_B))),
        (near, kernel.tautology([kernel.generalise(Z, flat)], _below(_B))),
    )
    found = kernel.discharge(LARGEST.body.body.left, kernel.by_cases(either, *ways))
    return kernel.discharge(_DEFINITE, kernel.generalise(A, kernel.generalise(B, found)))


def _step(kernel: Kernel) -> Proved:
    """``y^T M y`` for ``y = b + gamma (c - b)``, multiplied out in two turns: y is what it is in every inner product."""
    symmetric, given = kernel.assume(Symmetric(M)), kernel.assume(_MOVING)
    moved, mass = kernel.part(given, MOVED), matrix("M")
    push = kernel.part(given, _MOVING.parts[2])
    values = {each: kernel.instantiate(moved, each.applied(mass)) for each in (_Y, _B, _C)}
    known = [push]
    for each, other in _pairs():
        known.append(kernel.reduction(dot(each.applied(mass), other), dot(other, each, mass)))
        known.append(kernel.reduction(dot(other, each, mass), dot(each, other, mass), symmetric))
    mixed = {each: (1 - GAIN) * _form(each, _B) + GAIN * _form(each, _C) for each in (_B, _C, _Y)}
    turned = [
        kernel.arithmetic([*known, values[each]], sp.Eq(_form(each, _Y), mixed[each], evaluate=False))
        for each in (_B, _C, _Y)
    ]
    apart = _C - _B
    pieces = (1, dot(_C, _C, mass)), (-2, dot(_B, _C, mass)), (1, dot(_B, _B, mass))
    known += [*turned, expanded(kernel, dot(apart, apart, mass), *pieces, premises=(symmetric,))]
    known += [kernel.part(kernel.part(given, UNIT_GAIN), each) for each in UNIT_GAIN.parts]
    said = STEP.body.body.body.body
    found = kernel.discharge(_MOVING, kernel.arithmetic(known, said.right))
    for each in (Y, C, B, GAIN):
        found = kernel.generalise(each, found)
    return kernel.discharge(Symmetric(M), found)


def _pairs() -> list[tuple[Any, Any]]:
    return [(each, other) for each in (_Y, _B, _C) for other in (_Y, _B, _C)]


def proof(kernel: Kernel) -> Proved:
    """Scores with the leader are linear in the token; the four cases of who has landed on it; and two forms multiplied out.

    The forms are those of any vectors: nothing of the system is used, whose equation has no normal form.
    """
    anywhere = Kernel(None, ())
    return kernel.conjunction(_permanent(kernel), _own(kernel), _largest(anywhere), _step(anywhere))


def _never(value: Any) -> Any:
    raise ValueError(f"hard attention asks for no exponential and no root, got {value}: compare scores")


#: The map has no exponentials and no roots: rational tokens stay rational.
_EXACT = LoopAlgebra(_never, _never, Fraction(1))


def _frank_wolfe(alpha: Fraction, beta: Fraction, steps: int) -> list[tuple[Fraction, Fraction]]:
    """Two scalar tokens under hard attention with M = -1 and the gains ``2/(t + 2)``: exactly."""
    x: Any = ((alpha,), (-beta,))
    found = []
    for t in range(steps):
        x = system("hard-attention-map").advance(_EXACT, {"M": ((Fraction(-1),),), "alpha": Fraction(2, t + 2)}, x)
        found.append((x[0][0], x[1][0]))
    return found


def frank_wolfe_example() -> list[Fraction]:
    """Tokens 3 and -1: the states at t = 2 to 6."""
    return [each for pair in _frank_wolfe(Fraction(3), Fraction(1), 6)[1:] for each in pair]


def rate_fails() -> Verdict:
    """Tokens 3, -1, ``B = 1``, exactly: the second token stays at 1/3, so ``J = 1/18`` exceeds ``32/(t + 1)`` from t = 576 on."""
    states = _frank_wolfe(Fraction(3), Fraction(1), 580)
    stays = all(pair[1] == Fraction(1, 3) for pair in states[1:])
    energy = Fraction(1, 18)
    first = next(t for t in range(1, 1000) if energy > Fraction(32, t + 1))
    if stays and first == 576 and states[first][1] ** 2 / 2 == energy:
        return holds("the smaller token stays at 1/3 for ever: J = 1/18 > 32/577 at t = 576")
    return fails(f"stays: {stays}, first violation {first}")


def self_score_is_not_enough() -> list[Fraction]:
    """``M = (1, 1; 0, 1)``, tokens (2, 0), (1, 6/5): both self scores, and ``x_1^T M x_2``."""
    score = ((1, 1), (0, 1))
    first, second = (Fraction(2), Fraction(0)), (Fraction(1), Fraction(6, 5))

    def form(x: Any, y: Any) -> Fraction:
        return sum((x[i] * score[i][j] * y[j] for i in range(2) for j in range(2)), Fraction(0))

    return [form(first, first), form(second, second), form(first, second)]


def largest_is_no_leader() -> Verdict:
    """``M = (1, 1; 0, 1)``: the larger self score is that of (2, 0), 4 > 3.64, which sees 4.4 at (1, 6/5)."""
    first, second, cross = self_score_is_not_enough()
    if first > second and cross > first:
        return holds(f"self scores {first} > {float(second)}, but the cross score is {float(cross)}")
    return fails(f"{first}, {second}, {cross}")


def diagonal_gains_leave_the_hull() -> Verdict:
    """The triangle 0, e_1, e_2 and the gain diag(0.6, 0.7): e_1 moves towards e_2 to (0.4, 0.7), beyond the line x + y = 1."""
    gains, one, other = (sp.Rational(3, 5), sp.Rational(7, 10)), (1, 0), (0, 1)
    moved = [a + g * (b - a) for g, a, b in zip(gains, one, other, strict=True)]
    return holds(f"the coordinates of {moved} sum to {sum(moved)}") if sum(moved) > 1 else fails(f"{moved}")


def three_without_a_leader() -> Verdict:
    """``M = (1, 2; -2, 1)``, whose symmetric part is I, tokens at 120 degrees: each scores the next one above itself."""
    score = sp.Matrix([[1, 2], [-2, 1]])
    tokens = [sp.Matrix([sp.cos(2 * sp.pi * k / 3), sp.sin(2 * sp.pi * k / 3)]) for k in range(3)]
    ahead = [sp.simplify((tokens[k].T * score * (tokens[(k + 1) % 3] - tokens[k]))[0]) for k in range(3)]
    if all(each > 0 for each in ahead):
        return holds(f"each sees the next one ahead by {ahead[0]}")
    return fails(f"{ahead}")


def one_of_two_leads(source: np.random.Generator) -> Mapping[str, float]:
    """Two distinct tokens, ``sym M > 0``: the two gaps ``x_i^T M (x_i - x_j)`` sum to a positive number, so one is positive."""
    d = int(source.integers(1, 5))
    root, turn, x = source.normal(size=(d, d)), source.normal(size=(d, d)), source.normal(size=(2, d))
    score = root @ root.T + 0.1 * np.eye(d) + 3 * (turn - turn.T)
    return {"nobody leads": -max(float(x[k] @ score @ (x[k] - x[1 - k])) for k in range(2))}


def leaders_stay(source: np.random.Generator) -> Mapping[str, float]:
    """Hard attention with gains from 0 to 1, repeated tokens among them: a leader rests, stays one, and hulls are nested."""
    n, d = int(source.integers(2, 7)), int(source.integers(1, 5))
    x, score = source.normal(size=(n, d)), source.normal(size=(d, d))
    if source.uniform() < 0.3:
        x[-1] = x[0]
    scores = x @ score @ x.T
    apart = np.array([[bool((x[i] != x[j]).any()) for j in range(n)] for i in range(n)])
    leaders = [i for i in range(n) if all(scores[i, i] > scores[i, j] for j in range(n) if apart[i, j])]
    gains = source.choice([0.0, 0.3, 1.0], size=n)[:, None] * source.choice([1.0, source.uniform()], size=n)[:, None]
    after = x + gains * (x[scores.argmax(axis=1)] - x)
    worst = -1.0
    for i in leaders:
        worst = max(worst, float(np.abs(after[i] - x[i]).max()) - 1e-15)
        kept = after @ score.T @ x[i]
        worst = max(worst, float((kept - x[i] @ score @ x[i]).max()) - 1e-12)
    along = source.normal(size=d)
    return {"a leader": worst, "the hull": float((after @ along).max() - (x @ along).max()) - 1e-15}


def frank_wolfe_steps(source: np.random.Generator) -> Mapping[str, float]:
    """One step towards the best token, the origin being in the hull; and the tokens of largest ``x^T M x`` for ``M > 0``."""
    n, d, t = int(source.integers(2, 6)), int(source.integers(1, 4)), int(source.integers(0, 9))
    root, x = source.normal(size=(d, d)), source.normal(size=(n, d))
    B, gain = root @ root.T, 2 / (t + 2)
    x -= source.dirichlet(np.ones(n)) @ x
    best = x[(x @ -B @ x.T).argmax(axis=1)]
    before, after, apart = (np.einsum("ij,jk,ik->i", y, B, y) / 2 for y in (x, x + gain * (best - x), best - x))
    positive = B + 0.1 * np.eye(d)
    scores = x @ positive @ x.T
    first = int(np.diag(scores).argmax())
    return {
        "one step": float((after - (1 - 2 * gain) * before - gain**2 * apart).max()) / (1 + float(before.max())),
        "the best token is not behind": -float(np.einsum("ij,jk,ik->i", x, -B, best).min()),
        "a leader": float((scores[first] - scores[first, first]).max()),
    }


CL_16 = register(
    Statement(
        id="CL-16",
        kind=Kind.THEOREM,
        source=recorded(FRANK_WOLFE, "hard attention, leaders"),
        title="Hard attention: leaders are permanent",
        systems=("hard-attention-map",),
        claims=(Formula(PERMANENT), Formula(OWN), *CONDITIONAL),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"A leader is a token $a$ with $a^{\top}Ma > a^{\top}Mb$ for every other token $b \neq a$; hard "
                r"attention (the limit of softmax attention with scores $\beta x_i^{\top}Mx_j$ as $\beta$ grows) moves "
                r"$b$ to $b + \gamma(c - b)$, $c$ the token of largest $b^{\top}Mc$, with gains that may depend on "
                r"token and time.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"With $0$ in the hull the best token $c$ of $b$ has $b^{\top}Mc \ge 0$, so by the last claim and induction "
                r"over the steps, for $M = -B$, $B \succeq 0$ and $\gamma_t = \frac2{t+2}$, the rate $J \le "
                r"\frac2{t+2}\lambda_{\max}(B)\operatorname{diam}^2$ holds as long as $0$ stays in the hull. That almost every "
                r"start has one best token for each token, for invertible $M$, is said in the source and not shown here; and "
                r"with a gain that is a diagonal matrix hulls are not nested. That piecewise affine maps keep null sets null, by "
                r"which the source argues, is false: $M = -1$, $\gamma = \frac12$ sends $x_1 > 0 > x_2$ both to the midpoint. If "
                r"only $\operatorname{sym}M \succ 0$, one of two distinct tokens is a leader, of three perhaps none.",
            ),
        ),
        printed=Printed(
            text=r"$M = -B$, $B \succeq 0$, $\gamma_t = \frac2{t+2}$: if $0$ is in the hull at the start, $J(x_i^{t+1}) \le "
            r"\frac2{t+1}\lambda_{\max}(B)\operatorname{diam}(K^0)^2$.",
            wrong=r"False: the origin may leave the hull. It must lie in the hull at every step until $t$.",
            kind=SourceKind.RECORDED,
            counterexamples=(
                Counterexample(
                    "tokens 3 and -1",
                    r"$d = 1$, $B = 1$: after two steps both tokens are positive and the smaller stays at $\frac13$ for ever.",
                    {"M": [["-1"]], "tokens": [["3"], ["-1"]]},
                    rate_fails,
                ),
            ),
        ),
        vectors=(
            Vector(
                "tokens 3, -1 at t = 2 to 6",
                frank_wolfe_example,
                (
                    *("1.66666666666666667", "0.33333333333333333", "1", "0.33333333333333333", "0.73333333333333333"),
                    *(
                        "0.33333333333333333",
                        "0.6",
                        "0.33333333333333333",
                        "0.52380952380952381",
                        "0.33333333333333333",
                    ),
                ),
            ),
            Vector("self scores and the cross score", self_score_is_not_enough, ("4", "3.64", "4.4")),
        ),
        variants=(
            Variant(
                "Symmetric(M)",
                r"$M = (1, 1; 0, 1)$, tokens $(2, 0)$ and $(1, \frac65)$: the token of the larger self score is no leader.",
                largest_is_no_leader,
            ),
            Variant(
                "two tokens, for a leader if only sym M > 0",
                r"$M = (1, 2; -2, 1)$, three tokens at $120^{\circ}$: none is a leader.",
                three_without_a_leader,
            ),
            Variant(
                "one gain for all coordinates",
                r"the gain $\operatorname{diag}(\frac35, \frac7{10})$ moves a corner of the triangle $0, e_1, e_2$ out of it.",
                diagonal_gains_leave_the_hull,
            ),
        ),
        property_tests=(OnInstances(leaders_stay), OnInstances(frank_wolfe_steps), OnInstances(one_of_two_leads)),
    )
)
