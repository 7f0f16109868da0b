"""Speed and memory of the certified linear algebra, as ratios to a peer in one run, against the targets.

    python benchmarks/bench_certified.py [--slow] [--flint]

One BLAS thread.  Peer and certified code alternate, and the best of several rounds of each is compared: processor time
decides, so that a busy machine does not favour either side.  ``--slow`` adds d = 4096 (about
an hour on a slow machine), ``--only 4096`` runs one size, ``--flint`` adds the peer python-flint at d = 384 (a minute).
"""

# ruff: noqa: E402 - the number of threads must be set before numpy is loaded

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import contextlib
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
import scipy.linalg
from ratios import Row, alternate, at_least, at_most, report
from scipy.linalg.lapack import dgeev, dgeev_lwork, dpotrf

from eigentoken.numerics.certified.certify import certify
from eigentoken.numerics.certified.definiteness import cholesky_bound
from eigentoken.numerics.certified.enclosures import Enclosure
from eigentoken.numerics.certified.probe import probe_numpy
from eigentoken.numerics.certified.spectra import eigenvalue_discs
from eigentoken.numerics.layers.head_findings import examine_head, head_inertia
from eigentoken.numerics.layers.weights import LayerWeights
from eigentoken.numerics.recheck import recheck


def definiteness(d: int, rng: np.random.Generator) -> list[Row]:
    a = rng.standard_normal((d, d))
    s = a @ a.T / d + np.eye(d)
    s = 0.5 * (s + s.T)
    enclosure = Enclosure.from_floats(s)
    matrix, rho = enclosure.symmetric_part  # checked finite and symmetric once, when the weights are read

    def peer() -> None:
        dpotrf(s.copy().T, lower=1, clean=0, overwrite_a=1)

    def ours() -> None:
        if cholesky_bound(matrix, rho) is None:
            raise SystemExit("not decided")

    rounds = 60 if d <= 800 else 7
    rows = [at_most("definiteness / LAPACK Cholesky", f"d = {d}", alternate(peer, ours, rounds), 1.15)]
    if d <= 1600:
        answered = alternate(peer, lambda: certify("positive-definite", s), 9)
        rows.append(at_most("certify() as it returns: answer and reason / Cholesky", f"d = {d}", answered, 1.6))
        whole = alternate(peer, lambda: certify("positive-definite", s).as_dict(), 9)
        rows.append(
            at_most("certify() with hash, sharp margin, certificate, document / Cholesky", f"d = {d}", whole, None)
        )
    return rows


def spectrum(d: int, rng: np.random.Generator) -> list[Row]:
    a = rng.standard_normal((d, d))
    work = int(dgeev_lwork(d, compute_vl=0, compute_vr=1)[0])

    def peer() -> None:
        dgeev(np.array(a, order="F"), compute_vl=0, compute_vr=1, lwork=work, overwrite_a=1)

    def ours() -> None:
        if eigenvalue_discs(a, 0.0, symmetric=False) is None:
            raise SystemExit("no discs")

    peaks = []

    def measured() -> None:
        tracemalloc.start()  # counts the arrays of numpy; the cost of counting is not noticed
        ours()
        peaks.append(tracemalloc.get_traced_memory()[1] / (8 * d * d) + 1)  # and the matrix itself
        tracemalloc.stop()

    times = alternate(peer, measured, _rounds(d))
    memory = Row("memory of the discs, in d x d arrays", f"d = {d}", None, None, peaks[0], "<= 6", peaks[0] <= 6)
    return [at_most("all eigenvalue discs / geev", f"d = {d}", times, 1.15), memory]


def _rounds(d: int) -> int:
    return 5 if d < 1000 else 3 if d < 2000 else 1


def stored(d: int, rng: np.random.Generator) -> list[Row]:
    a = rng.standard_normal((d, d)) / np.sqrt(d) + 3.0 / d
    verdict = certify("dominant-real-part", a)
    if verdict.certificate is None or "lyapunov" not in verdict.certificate.arrays:
        raise SystemExit(f"no stored certificate at d = {d}: {verdict.reason}")

    def ours() -> None:
        if not recheck(verdict.certificate, a).is_holds:
            raise SystemExit("the re-check does not agree")

    times = alternate(lambda: np.linalg.eigvals(a), ours, _rounds(d))
    rows = [at_most("re-check of a stored dominance certificate / eigvals", f"d = {d}", times, 0.4)]
    if d <= 1600:
        rows += recomputed(d, a)
    return rows


def recomputed(d: int, a: np.ndarray) -> list[Row]:
    """Certificates without a stored matrix: the re-check finds an eigenbasis of its own."""
    turned = a.copy()
    turned[:2, :2] += np.array([[9.0, 2.0], [-2.0, 9.0]])
    rows = []
    asked = (("spectrum", a, 1.2), ("dominant-complex-pair", turned, None), ("principal-eigenvector", a, 1.5))
    for condition, matrix, limit in asked:
        verdict = certify(condition, matrix)
        if verdict.certificate is None or not verdict.is_holds:
            raise SystemExit(f"{condition} was not decided at d = {d}: {verdict.reason}")
        again = recheck(verdict.certificate, matrix)
        if not again.is_holds:
            raise SystemExit(f"the re-check of {condition} does not agree at d = {d}: {again.reason}")
        times = alternate(
            lambda matrix=matrix: np.linalg.eig(matrix),  # type: ignore[misc]
            lambda verdict=verdict, matrix=matrix: recheck(verdict.certificate, matrix),  # type: ignore[misc]
            2 if d < 1000 else 1,
        )
        rows.append(at_most(f"re-check of {condition} / eig", f"d = {d}", times, limit))
    return rows


def heads(rng: np.random.Generator) -> list[Row]:
    """What ``check`` finds of the heads of one layer, from their stored factors."""
    count, d, d_h = 12, 768, 64
    shapes = {"Q": (d_h, d), "K": (d_h, d), "V": (d_h, d), "O": (d, d_h)}
    stored = [
        {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()} for _ in range(count)
    ]
    s = rng.standard_normal((d, d))
    s = s + s.T

    def peer() -> None:
        for _ in range(count):
            np.linalg.eigvalsh(s)

    def layer() -> Any:
        return LayerWeights.from_arrays(0, [{**head, "scale": float(np.sqrt(d_h))} for head in stored]).heads

    def spectra() -> None:
        for head in layer():
            found = head_inertia(head.score_factors(), head.prefix)
            if not found.is_holds or head.low_rank("value").core_parts is None:
                raise SystemExit("not all heads were decided")

    def everything() -> None:
        for index, head in enumerate(layer()):
            if examine_head(index, head).score_inertia.is_undecided:
                raise SystemExit("not all heads were decided")

    size = "12 heads, d = 768, d_h = 64"
    return [
        at_most("inertia of the scores and core spectrum / one eigvalsh", size, alternate(peer, spectra, 3), None),
        at_most("all that check finds of a head / one eigvalsh", size, alternate(peer, everything, 3), None),
    ]


def hard(d: int, rng: np.random.Generator) -> list[Row]:
    """Matrices that were undecided at this size: the ratio is 1 where certify decides, 0 where it does not."""
    path = 2 * np.eye(d) - np.eye(d, k=1) - np.eye(d, k=-1)
    path[0, 0] = path[-1, -1] = 1
    lower = np.tril(rng.standard_normal((d, d)))
    v = rng.standard_normal(d)
    mirror = np.eye(d) - 2 * np.outer(v, v) / (v @ v)
    asked: list[tuple[str, str, np.ndarray, dict[str, object]]] = [
        ("path Laplacian", condition, path, {})
        for condition in ("positive-definite", "positive-semidefinite", "nonsingular")
    ]
    asked.append(("L L^T, L of random entries", "positive-definite", lower @ lower.T, {}))
    asked.append(("Householder reflection", "norm-bound", mirror, {"bound": 1}))
    rows = []
    for name, condition, matrix, options in asked:
        start = time.process_time()
        verdict = certify(condition, matrix, **options)  # type: ignore[arg-type]
        spent = time.process_time() - start
        decided = not verdict.is_undecided
        note = f"{verdict.answer}: {verdict.reason}"[:90].replace("|", "/")
        rows.append(Row(f"{name}: {condition}", f"d = {d}", None, spent, float(decided), "decided", decided, note))
    return rows


def wide(d: int, rng: np.random.Generator) -> list[Row]:
    """A layer matrix of a large model: who leads by real part, with a certificate that can be stored."""
    a = rng.standard_normal((d, d)) / np.sqrt(d) + 3.0 / d
    times = alternate(lambda: np.linalg.eigvals(a), lambda: certify("dominant-real-part", a, time_limit=60.0), 1)
    return [at_most("certify dominant-real-part / eigvals", f"d = {d}", times, None)]


def against_flint(d: int, rng: np.random.Generator) -> list[Row]:
    a = rng.standard_normal((d, d))
    exact = flint.acb_mat(flint.arb_mat(d, d, [float(v) for v in a.ravel()]))

    def peer() -> None:
        flint.ctx.prec = 53
        with contextlib.suppress(ValueError):  # 53 bits may not suffice: its time counts all the same
            exact.eig()

    times = alternate(peer, lambda: eigenvalue_discs(a, 0.0, symmetric=False), 1)
    return [at_least("python-flint eigenvalues / all discs", f"d = {d}", times, 400)]


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table, say which targets are missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slow", action="store_true", help="add d = 4096")
    parser.add_argument("--quick", action="store_true", help="d = 384 only")
    parser.add_argument("--only", type=int, help="one size only, without heads")
    parser.add_argument("--flint", action="store_true", help="add python-flint at d = 384 (about a minute)")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    probe_numpy().require()
    scipy.linalg.cholesky(np.eye(4))
    sizes = [384] if options.quick else [384, 768, 1600] + ([4096] if options.slow else [])
    sizes = [options.only] if options.only else sizes
    parts: list[Callable[[], list[Row]]] = [lambda d=d: definiteness(d, rng) for d in sizes]  # type: ignore[misc]
    for d in sizes:
        parts += [lambda d=d: spectrum(d, rng), lambda d=d: stored(d, rng)]  # type: ignore[misc]
    if not options.quick and not options.only:
        parts += [lambda: heads(rng), lambda: hard(768, rng), lambda: wide(2048, rng)]
    if options.flint:
        parts.append(lambda: against_flint(384, rng))
    report(row for part in parts for row in part())
    return 0


if __name__ == "__main__":
    sys.exit(main())
