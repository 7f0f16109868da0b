"""Search for polygonal and clustering equilibria: Gauss-Newton from random starts, then identify or certify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from eigentoken.theory.classification.ball_spectra import ball_spectrum
from eigentoken.theory.classification.certified_zeros import certify_near
from eigentoken.theory.classification.classify import classify
from eigentoken.theory.classification.float_algebra import FloatSystem
from eigentoken.theory.classification.instances import Instance, InstanceError, check_on_manifold
from eigentoken.theory.classification.jacobian_spectrum import StabilityAnswer, interchangeable
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided
from eigentoken.theory.systems.system import Space, Time

__all__ = ["described", "search"]

Array = NDArray[Any]

NEWTON_STEPS = 60
CONVERGED = 1e-12
SAME = 1e-6
LARGEST_DENOMINATOR = 60
MOST_KEPT = 12


def search(base: Instance, starts: int, seed: int, build: Any) -> list[Any]:
    """Equilibria that are neither consensus nor on an eigenvector, at most a dozen, different up to permutation."""
    floats = FloatSystem.of(base)
    rng = np.random.default_rng(seed)
    seen: list[Array] = []
    listed = []
    for _ in range(starts):
        state = _newton(floats, floats.project(rng.standard_normal((base.n, base.d))))
        if state is None or _on_a_line(state):
            continue
        if base.system.time is Time.MAP and not _keeps_signs(floats, state):
            continue
        mark = signature(floats, state)
        if any(np.max(np.abs(mark - other)) < SAME for other in seen):
            continue
        seen.append(mark)
        kind = "polygonal" if np.max(np.abs(floats.influence(state))) < SAME else "clustering"
        found = described(base, tuple(tuple(float(a) for a in token) for token in state), kind, "found", build)
        if found is not None:
            listed.append(found)
        if len(listed) >= MOST_KEPT:
            break
    return sorted(listed, key=lambda each: (each.kind, each.unstable_dimension is None, each.unstable_dimension or 0))


def _newton(floats: FloatSystem, state: Array) -> Array | None:
    """Gauss-Newton with damping for the zeros of the tangential push; smallest steps where there are families."""
    for _ in range(NEWTON_STEPS):
        residual = floats.drift(state).ravel()
        size = float(np.linalg.norm(residual))
        if size < CONVERGED:
            return state
        slopes = floats.jacobian(state, lambda x: floats.drift(floats.project(x)))
        move = np.linalg.lstsq(slopes, -residual, rcond=1e-10)[0].reshape(state.shape)
        scale = min(1.0, 0.5 / max(float(np.max(np.abs(move))), 1e-300))
        for _ in range(8):
            trial = floats.project(state + scale * move)
            if np.linalg.norm(floats.drift(trial)) < size:
                break
            scale /= 2
        else:
            return None
        state = trial
    return None


def _on_a_line(state: Array) -> bool:
    """All tokens are ± the first (consensus, bipartite or antipodal)."""
    first = state[0]
    return all(min(np.max(np.abs(x - first)), np.max(np.abs(x + first))) < SAME for x in state)


def _keeps_signs(floats: FloatSystem, state: Array) -> bool:
    return bool(np.max(np.abs(floats.advance(state) - state)) < SAME)


def signature(floats: FloatSystem, state: Array) -> Array:
    """Numbers that do not change under permutations and the global sign: sorted Gram entries and Rayleigh quotients."""
    metric = floats.metric
    gram = state @ state.T if metric is None else state @ metric @ state.T
    push = floats.influence(state)
    heights = (state * (push if metric is None else push @ metric)).sum(axis=-1)
    return np.concatenate([np.sort(gram.ravel()), np.sort(heights)])


def described(base: Instance, tokens: Sequence[Sequence[float]], kind: str, origin: str, build: Any) -> Any:
    """A numerical equilibrium as an object of the list: identified exactly, certified, or said to be numerical."""
    exact = _identified(base, tokens)
    if exact is not None:
        found = classify(exact)
        if found.equilibrium.is_holds:
            return build(
                exact,
                found.kind,
                origin,
                tuple(tuple(token) for token in tokens),
                exact.tokens,
                found.equilibrium,
                found.stable,
                found.k,
                found.p,
                found.q,
                spectrum=found.spectrum,
                linearization=found.linearization,
                unstable_dimension=found.unstable_dimension,
                notes=(*found.notes, "found numerically, then identified and classified exactly"),
            )
    certified = certify_near(base, tokens)
    plain = tuple(tuple(float(a) for a in token) for token in tokens)
    if certified is None:
        reason = "found by Newton's method in doubles; not isolated or not certified by Krawczyk's test"
        count = _unstable_count(FloatSystem.of(base), np.array(plain))
        note = f"numerical: {count} eigenvalues outside the closed stability region in doubles"
        return build(base, kind, origin, plain, None, undecided(reason), undecided(reason), notes=(note,))
    verdict = holds(f"one equilibrium within {certified.radius:.2g} of these tokens (Krawczyk's test, balls)")
    clusters = [plain.index(token) for token in plain]
    groups = interchangeable(clusters, base.mask)
    spectrum = ball_spectrum(base, groups, certified.tokens)
    if spectrum is None:
        return build(base, kind, origin, plain, None, verdict, undecided("the spectrum was not enclosed"))
    entries, answer, gap = spectrum
    outside = None if answer is StabilityAnswer.UNDECIDED else _outside(entries, base.system.time)
    return build(
        base,
        kind,
        origin,
        plain,
        None,
        verdict,
        _stability(answer, gap),
        spectrum=entries,
        linearization=answer.text,
        unstable_dimension=outside,
    )


def _stability(answer: StabilityAnswer, gap: float) -> Verdict:
    if answer is StabilityAnswer.STABLE:
        return holds(f"all eigenvalues inside the stability region by at least {gap:.3g} (balls)", margin=gap)
    if answer is StabilityAnswer.UNSTABLE:
        return fails(f"an eigenvalue outside the stability region by at least {gap:.3g} (balls)", margin=gap)
    return undecided("an eigenvalue was not told from the boundary of the stability region (balls)")


def _outside(entries: Sequence[Any], time: Time) -> int | None:
    """How many enclosures are outside; ``None`` if one meets the boundary."""
    total = 0
    for entry in entries:
        excess = abs(entry.ball) - 1 if time is Time.MAP else entry.ball.real
        if not (excess > 0 or excess < 0):
            return None
        total += entry.multiplicity * (excess > 0)
    return total


def _unstable_count(floats: FloatSystem, state: Array) -> int:
    values = np.linalg.eigvals(floats.jacobian(state, lambda x: floats.advance(floats.project(x))))
    excess = np.abs(values) - 1 if floats.system.time is Time.MAP else values.real
    return int(np.sum(excess > SAME))


def _identified(base: Instance, tokens: Sequence[Sequence[float]]) -> Instance | None:
    """The instance with tokens whose squares are simple fractions, if these lie exactly on the manifold."""
    rows = []
    for token in tokens:
        row = []
        for entry in token:
            square = Fraction(entry * entry).limit_denominator(LARGEST_DENOMINATOR)
            if abs(float(square) - entry * entry) > 1e-11:
                return None
            row.append((-1 if entry < 0 else 1) * sympy.sqrt(sympy.Rational(square.numerator, square.denominator)))
        rows.append(tuple(row))
    instance = replace(base, tokens=tuple(rows))
    if base.system.space is not Space.EUCLIDEAN:
        try:
            check_on_manifold(instance)
        except InstanceError:
            return None
    return instance
