"""Attention heads through their low-rank core, batched over heads and layers.

*Inertia.*  ``W = Q^T K`` with Q, K of shape (d_h, d) has ``sym(W) = Z^T J Z / 2``, ``Z = [Q; K]``, ``J = [[0, I], [I, 0]]``.
If Z has full row rank 2 d_h, the inertia of sym(W) is exactly that of J, padded with zeros: ``(d_h, d_h, d - 2 d_h)``
(Sylvester; Z^T has independent columns).  Full row rank is certified by one Cholesky factorization of ``Z Z^T - c I`` of
order 2 d_h with Rump's shift plus the rounding of the product (:mod:`eigentoken.numerics.definiteness`), batched in torch.
Otherwise exactly: the nonzero eigenvalues of ``Z^T J Z`` are those of ``J Z Z^T``, an integer matrix of order 2 d_h; all are
real, so Descartes' rule counts them.

*Spectrum.*  The nonzero eigenvalues of ``U = O V`` (O: d x d_h, V: d_h x d) are those of the core ``V O``, with
multiplicities; the discs of the core are found in batch with complex eigenvectors ``X``, ``Y ~ X^-1`` kept as real and
imaginary parts so that only real products are used: row i of ``X^-1 C X - D`` is at most
``f_i + g_i max f / (1 - max g)`` as in :mod:`eigentoken.numerics.spectra`, and Gershgorin's theorem applies directly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.enclosures import Enclosure, MatrixError, product
from eigentoken.numerics.exact_matrices import Deadline, ExactMatrix, OutOfTime, sign_counts_of_polynomial
from eigentoken.numerics.matrices import as_enclosure
from eigentoken.numerics.probe import probe_torch
from eigentoken.numerics.rounding import TINY, UNIT, Array, gamma
from eigentoken.numerics.spectra import Discs, eigenvalue_discs
from eigentoken.theory.verdicts import Certificate, Verdict, VerdictWord, undecided

__all__ = ["CoreSpectrum", "HeadInertia", "batch_core_spectra", "batch_inertia", "certify_head_inertia"]


@dataclass(frozen=True)
class HeadInertia:
    """The exact inertia of sym(Q^T K) on R^d, or None where it was not decided, and how it was found."""

    inertia: tuple[int, int, int] | None
    rung: str
    margin: float = 0.0  # Frobenius distance by which [Q; K] may move before its rank could drop


@dataclass(frozen=True)
class CoreSpectrum:
    """Discs of the core V O: the spectrum of O V is this and ``zeros`` more eigenvalues that are exactly zero."""

    discs: Discs | None
    zeros: int
    rung: str = field(default="")


_CHUNK = 8  # heads at a time: their factors stay in cache


def _tensor(heads: Any, name: str) -> Any:
    import torch

    tensor = heads if isinstance(heads, torch.Tensor) else torch.as_tensor(heads)
    if tensor.ndim != 3:
        raise MatrixError(f"{name} must be a batch (heads, rows, columns), got shape {tuple(tensor.shape)}")
    if tensor.is_complex() or (not tensor.is_floating_point() and tensor.dtype == torch.int64):
        raise MatrixError(f"{name} must hold floats, got {tensor.dtype}")
    return tensor.detach()


def _exact_floats(chunk: Any, device: str) -> Any:
    """float64 on the device: exact for float16, bfloat16, float32."""
    import torch

    return chunk.to(device=device, dtype=torch.float64)


def _products(a: Any, b: Any) -> Any:
    """Products head by head; on a processor one by one, where the batched kernel is several times slower."""
    import torch

    if a.device.type == "cpu":
        return torch.stack([left @ right for left, right in zip(a, b, strict=True)])
    return a @ b


def _norms(batch: Any, name: str) -> Any:
    """Upper bounds on the Frobenius norms; NaN and Inf show in them."""
    import torch

    norms = torch.linalg.vector_norm(batch, dim=(1, 2)) * (1 + (batch.shape[1] * batch.shape[2] + 8) * UNIT) + 2.0**-500
    if not bool(torch.isfinite(norms).all()) and not bool(torch.isfinite(batch).all()):
        raise MatrixError(f"{name} has NaN or infinite entries: nothing can be certified about it")
    return norms


def batch_inertia(query: Any, key: Any, *, device: str = "cpu", time_limit: float = 10.0) -> list[HeadInertia]:
    """The exact inertia of sym(Q_h^T K_h) for each head; query and key have shape (heads, d_h, d)."""
    probe_torch(device).require()
    q, k = _tensor(query, "query"), _tensor(key, "key")
    if q.shape != k.shape:
        raise MatrixError(f"query and key must have one shape, got {tuple(q.shape)} and {tuple(k.shape)}")
    results: list[HeadInertia] = []
    for start in range(0, q.shape[0], _CHUNK):
        part = slice(start, start + _CHUNK)
        results += _chunk_inertia(_exact_floats(q[part], device), _exact_floats(k[part], device), time_limit)
    return results


def _chunk_inertia(q: Any, k: Any, time_limit: float) -> list[HeadInertia]:
    import torch

    heads, d_h, d = q.shape
    n = 2 * d_h
    sizes = _norms(q, "query").square() + _norms(k, "key").square()
    found: list[HeadInertia | None] = [None] * heads
    if n <= d:
        kt = k.transpose(1, 2)
        cross = _products(q, kt)
        upper = torch.cat([_products(q, q.transpose(1, 2)), cross], dim=2)
        gram = torch.cat([upper, torch.cat([cross.transpose(1, 2), _products(k, kt)], dim=2)], dim=1)
        gram = 0.5 * (gram + gram.transpose(1, 2))
        usable = (sizes > 2.0**-300) & (sizes < 2.0**400)
        g = gamma(n + 3)
        # backward error of the factorization and rounding of the product, each bounded by a multiple of ||Z||_F^2
        needed = (g / (1 - g) * 1.01 + gamma(d + 4)) * sizes * (1 + 64 * UNIT) + n * (6 * n + 8) * TINY
        shift = 2 * needed
        index = torch.arange(n, device=gram.device)
        diagonal = gram[:, index, index] - (shift * (1 + 4 * UNIT))[:, None]
        gram[:, index, index] = diagonal - (diagonal.abs() + shift[:, None]) * 2 * UNIT
        factor, info = torch.linalg.cholesky_ex(gram)
        pivots = factor.diagonal(dim1=1, dim2=2)
        ok = (info == 0) & usable & torch.isfinite(pivots).all(dim=1) & (pivots > 0).all(dim=1)
        for h in torch.nonzero(ok).flatten().tolist():
            margin = math.sqrt(float(needed[h])) * (1 - 2.0**-40)  # sigma_min(Z)^2 >= shift - needed
            found[h] = HeadInertia((d_h, d_h, d - n), "Cholesky of Z Z^T", margin)
    return [result or _exact_inertia(q[h], k[h], time_limit) for h, result in enumerate(found)]


def _exact_inertia(query: Any, key: Any, time_limit: float) -> HeadInertia:
    """The degenerate head: exact characteristic polynomial of ``J Z Z^T``."""
    q, k = (np.ascontiguousarray(m.to("cpu").numpy()) for m in (query, key))
    d_h, d = q.shape
    z = ExactMatrix.from_floats(np.vstack([q, k]))
    gram = z.numerators * z.numerators.transpose()
    rows = gram.tolist()
    swapped = ExactMatrix(flint.fmpz_mat(rows[d_h:] + rows[:d_h]), flint.fmpz(1))
    try:
        positive, negative, _ = sign_counts_of_polynomial(swapped.charpoly(Deadline.after(time_limit)))
    except OutOfTime as late:
        return HeadInertia(None, str(late))
    return HeadInertia((positive, negative, d - positive - negative), "exact characteristic polynomial of the core")


def batch_core_spectra(output: Any, value: Any, *, device: str = "cpu") -> list[CoreSpectrum]:
    """Discs of the core ``V_h O_h`` for each head; output has shape (heads, d, d_h) and value (heads, d_h, d)."""
    probe_torch(device).require()
    o, v = _tensor(output, "output"), _tensor(value, "value")
    if o.shape[0] != v.shape[0] or o.shape[1] != v.shape[2] or o.shape[2] != v.shape[1]:
        raise MatrixError(
            f"output (heads, d, d_h) and value (heads, d_h, d) do not fit: {tuple(o.shape)}, {tuple(v.shape)}"
        )
    results: list[CoreSpectrum] = []
    for start in range(0, o.shape[0], _CHUNK):
        part = slice(start, start + _CHUNK)
        results += _chunk_spectra(_exact_floats(o[part], device), _exact_floats(v[part], device))
    return results


def _chunk_spectra(o: Any, v: Any) -> list[CoreSpectrum]:
    d, d_h = int(o.shape[1]), int(o.shape[2])
    sizes = _norms(v, "value") * _norms(o, "output")
    core = _products(v, o)
    radius = (gamma(d + 2) * sizes + d * d_h * TINY) * (1 + 16 * UNIT)
    usable = ((sizes < 2.0**300) & (sizes > 2.0**-300)).cpu().numpy()
    batch = _batch_discs(core, radius) if bool(usable.all()) else [None] * core.shape[0]
    results = []
    for h, discs in enumerate(batch):
        if discs is None:  # one by one: products with exact factors, then the discs of a single matrix
            enclosure = product(*(Enclosure.from_floats(np.ascontiguousarray(m[h].cpu().numpy())) for m in (v, o)))
            if enclosure.exponent == 0 and math.isfinite(enclosure.radius):
                discs = eigenvalue_discs(enclosure.center, enclosure.radius, symmetric=False, sliced=True)
        results.append(CoreSpectrum(discs, d - d_h, "core discs" if discs is not None else "no discs"))
    return results


def _batch_discs(core: Any, radius: Any) -> list[Discs | None]:
    import torch

    heads, n, _ = core.shape
    try:
        values, vectors = torch.linalg.eig(core)
        inverse = torch.linalg.inv(vectors)
    except RuntimeError:  # one singular or non-convergent head spoils the batch: leave them to the single path
        return [None] * heads
    xr, xi = vectors.real.contiguous(), vectors.imag.contiguous()
    yr, yi = inverse.real.contiguous(), inverse.imag.contiguous()
    wr, wi = values.real[:, None, :], values.imag[:, None, :]
    eye = torch.eye(n, dtype=core.dtype, device=core.device)
    slop = gamma(2 * n + 12)
    size_x, size_y = xr.abs() + xi.abs(), yr.abs() + yi.abs()
    sums_x = size_x.sum(dim=2, keepdim=True)
    grow = 1 + (8 * n + 64) * UNIT  # roundings of the non-negative sums below
    g = ((yr @ xr - yi @ xi - eye).abs() + (yr @ xi + yi @ xr).abs()).sum(dim=2)
    g = (g + slop * ((size_y @ sums_x)[..., 0] + 1)) * grow + n * n * TINY
    rr = core @ xr - (xr * wr - xi * wi)
    ri = core @ xi - (xr * wi + xi * wr)
    weighted = size_x @ (values.real.abs() + values.imag.abs())[..., None]
    error = slop * (core.abs() @ sums_x + weighted) * grow + n * TINY
    size_r = (rr.abs() + ri.abs()).sum(dim=2, keepdim=True)
    f = ((yr @ rr - yi @ ri).abs() + (yr @ ri + yi @ rr).abs()).sum(dim=2, keepdim=True)
    f = ((f + size_y @ (error + slop * size_r)) * grow)[..., 0] + n * n * TINY
    norm_x = (xr.square() + xi.square()).sum(dim=(1, 2)).sqrt()[:, None] * grow
    spread = math.sqrt(n) * (yr.square() + yi.square()).sum(dim=2).sqrt() * norm_x * grow
    f = f + spread * radius[:, None]
    worst = g.amax(dim=1)
    room = (1 - worst * (1 + 8 * UNIT)).clamp_min(1e-300)[:, None]
    radii = ((f + g * f.amax(dim=1, keepdim=True) / room) * grow).cpu().numpy()
    growth = ((spread + g * spread.amax(dim=1, keepdim=True) / room) * grow).cpu().numpy()
    centers: NDArray[np.complex128] = values.cpu().numpy()
    fine = (worst < 0.9).cpu().numpy()
    results: list[Discs | None] = []
    for h in range(heads):
        usable = bool(fine[h]) and bool(np.isfinite(radii[h]).all())
        results.append(Discs(centers[h], radii[h], growth[h], "batched core discs") if usable else None)
    return results


def certify_head_inertia(query: Any, key: Any, *, time_limit: float = 10.0) -> Verdict:
    """``inertia`` of sym(Q^T K) for one head, with a certificate about the factors (Q, K of shape (d_h, d))."""
    q, k = as_enclosure(query, name="Q"), as_enclosure(key, name="K")
    if q.shape != k.shape:
        raise MatrixError(f"Q and K must have one shape, got {q.shape} and {k.shape}")
    if q.radius or k.radius or q.exponent or k.exponent:
        raise MatrixError("heads are given by float weights of moderate size, without a radius")
    found = batch_inertia(q.center[None], k.center[None], time_limit=time_limit)[0]
    if found.inertia is None:
        return undecided(f"inertia of the head: {found.rung}")
    data = {
        "shape": [q.shape[1], q.shape[1]],
        "terms": [[["Q", True], ["K", False]]],
        "slack": "0",
        "margin": (0.0).hex(),
        "unit": "spectral norm",
        "options": {},
        "facts": {"positive": found.inertia[0], "negative": found.inertia[1], "zero": found.inertia[2]},
    }
    certificate = Certificate("core-inertia", "inertia", VerdictWord.HOLDS, {**q.inputs, **k.inputs}, data)
    reason = "sym(Q^T K) has {} positive, {} negative, {} zero eigenvalues".format(*found.inertia)
    details = {"inertia": list(found.inertia), "rung": found.rung}
    return Verdict(VerdictWord.HOLDS, f"{reason} ({found.rung})", 0.0, "spectral norm", certificate, details)


def core_enclosure(output: Array, value: Array) -> Enclosure:
    """The core ``V O`` of one head as an enclosure that remembers its factors."""
    return product(as_enclosure(value, name="V"), as_enclosure(output, name="O"))
