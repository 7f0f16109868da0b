"""Attention heads through their low-rank core, batched over heads and layers.

*Inertia.*  ``W = Q^T K`` with Q, K of shape (d_h, d) has ``sym(W) = Z^T J Z / 2``, ``Z = [Q; K]``, ``J = [[0, I], [I, 0]]``.
If Z has full row rank 2 d_h, the inertia of sym(W) is exactly that of J, padded with zeros: ``(d_h, d_h, d - 2 d_h)``
(Sylvester; Z^T has independent columns).  Some columns of Z suffice: ``rank Z >= rank Z_m`` and ``sigma_min(Z) >=
sigma_min(Z_m)`` for the first m columns Z_m (``Z Z^T - Z_m Z_m^T`` is positive semidefinite), so m = 4 d_h columns are tried
before all.  Full row rank of Z_m is certified by one Cholesky factorization of ``fl(Z_m Z_m^T) - c I`` of order n = 2 d_h,
of which only the lower triangle is read: each of its entries is within ``gamma_m |Z_m| |Z_m|^T`` of the exact one, hence the
matrix within ``gamma_m ||Z_m||_F^2`` in the Frobenius norm, and the factorization has the backward error
``gamma_{n+3} / (1 - gamma_{n+3}) tr`` of Rump (:mod:`eigentoken.numerics.certified.definiteness`); c is twice their sum.
Otherwise exactly: the nonzero eigenvalues of ``Z^T J Z`` are those of ``J Z Z^T``, an integer matrix of order 2 d_h; all are
real, so Descartes' rule counts them.

*Spectrum.*  The nonzero eigenvalues of ``U = O V`` (O: d x d_h, V: d_h x d) are those of the core ``V O``, with
multiplicities.  Its discs are those of :mod:`eigentoken.numerics.certified.spectra`, all heads at once and with the
same bounds: X in real block form, ``Y ~ X^-1``, rows ``p_i = f_i + g_i max f / (1 - max g)`` of ``|X^-1 C X - D|``, radii
``sqrt 2 p_i`` for a real center and ``p_i + p_{i+1}`` for a pair.  X may be any nonsingular real matrix, so nothing is
assumed of the eigenvectors that a backend returns; that its eigenvalues stand in adjacent conjugate pairs is looked at.
The product ``V O`` is within ``rho = gamma_{d+2} ||V||_F ||O||_F`` of its float value.  What such an E adds to F, ``Y E
X``, is bounded in the complex basis at once: with T the unitary matrix of the pairs, row i of ``T^* Y E X T`` is at most
``rho sqrt n ||X||_2`` times the norm of row i of ``T^* Y``, which is ``||y_i||`` for a real row and at most
``sqrt((||y_i||^2 + ||y_{i+1}||^2) / 2)`` for a pair (its rows are ``(y_i -+ i y_{i+1}) / sqrt 2`` with real y); only the
part through G, ``g_i max / (1 - max g)``, pays the factors above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.numerics.certified.enclosures import Enclosure, MatrixError, product
from eigentoken.numerics.certified.exact_matrices import (
    Deadline,
    DeadlinePassed,
    ExactMatrix,
    sign_counts_of_polynomial,
)
from eigentoken.numerics.certified.matrices import as_enclosure
from eigentoken.numerics.certified.probe import probe_numpy, probe_torch
from eigentoken.numerics.certified.rounding import TINY, UNIT, Array, gamma, inflate
from eigentoken.numerics.certified.spectra import Discs, eigenvalue_discs
from eigentoken.theory.language.verdicts import Certificate, Verdict, VerdictWord, undecided

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


_CHUNK = 16  # heads at a time: their factors stay in cache
_WHOLE = 2**53  # integers up to here are floats


def _tensor(heads: Any, name: str) -> Any:
    import torch

    tensor = heads if isinstance(heads, torch.Tensor) else _shared(heads, name)
    if tensor.ndim != 3:
        raise MatrixError(f"{name} must be a batch (heads, rows, columns), got shape {tuple(tensor.shape)}")
    if 0 in tensor.shape[1:]:
        raise MatrixError(f"{name} holds empty matrices, shape {tuple(tensor.shape)}: a head needs rows and columns")
    if tensor.is_complex() or tensor.dtype == torch.uint64:
        raise MatrixError(f"{name} must hold floats, got {tensor.dtype}")
    if tensor.dtype == torch.int64 and tensor.numel() and not bool(((tensor <= _WHOLE) & (tensor >= -_WHOLE)).all()):
        raise MatrixError(f"{name} must hold floats: it has integers beyond 2^53, which are none")
    if tensor.is_floating_point() and tensor.dtype.itemsize < 2:  # eight-bit floats know no arithmetic of their own
        tensor = tensor.to(torch.float32)
    return tensor.detach()


def _shared(heads: Any, name: str) -> Any:
    """The tensor of an array, without a copy where torch allows that (it wants positive strides and a writable array)."""
    import torch

    try:
        array = np.asarray(heads)
    except ValueError as error:  # ragged lists
        raise MatrixError(f"{name} must be a batch (heads, rows, columns): {error}") from None
    if array.dtype.kind == "V" and array.dtype.name == "bfloat16":
        array = array.astype(np.float64)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise MatrixError(f"{name} must hold floats, got {array.dtype}")
    return torch.from_numpy(
        np.require(array.astype(array.dtype.newbyteorder("="), copy=False), requirements=["C", "W"])
    )


def _exact_floats(chunk: Any, device: str) -> Any:
    """float64 on the device: exact for float16, bfloat16, float32."""
    import torch

    return chunk.to(device=device, dtype=torch.float64)


def _products(a: Any, b: Any) -> Any:
    """Products head by head; on a processor by numpy, whose probe has passed too (there ``Z Z^T`` costs half)."""
    import torch

    if a.device.type == "cpu":
        with np.errstate(all="ignore"):  # what overflows is not used
            return torch.from_numpy(np.matmul(a.numpy(), b.numpy()))
    return a @ b


def _require(device: str) -> None:
    """The probes of every backend that a batch on this device is computed with."""
    probe_torch(device).require()
    if str(device).startswith("cpu"):
        probe_numpy().require()


def _look(batch: Any, name: str) -> None:
    """Refuse NaN and Inf, wherever they are: they show in a sum, which is finite otherwise (or looked at closely)."""
    import torch

    if not batch.is_floating_point() or bool(torch.isfinite(batch.sum())):
        return
    if not bool(torch.isfinite(batch).all()):
        raise MatrixError(f"{name} has NaN or infinite entries: nothing can be certified about it")


def _norms(batch: Any) -> Any:
    """Upper bounds on the Frobenius norms."""
    import torch

    return inflate(torch.linalg.vector_norm(batch, dim=(1, 2)), batch.shape[1] * batch.shape[2] + 4) + 2.0**-500


def batch_inertia(query: Any, key: Any, *, device: str = "cpu", time_limit: float = 10.0) -> list[HeadInertia]:
    """The exact inertia of sym(Q_h^T K_h) for each head; query and key have shape (heads, d_h, d)."""
    _require(device)
    q, k = _tensor(query, "query"), _tensor(key, "key")
    if q.shape != k.shape:
        raise MatrixError(f"query and key must have one shape, got {tuple(q.shape)} and {tuple(k.shape)}")
    results: list[HeadInertia] = []
    for start in range(0, q.shape[0], _CHUNK):
        part = slice(start, start + _CHUNK)
        _look(q[part], "query")
        _look(k[part], "key")
        results += _chunk_inertia(q[part], k[part], device, time_limit)
    return results


def _chunk_inertia(q: Any, k: Any, device: str, time_limit: float) -> list[HeadInertia]:
    heads, d_h, d = q.shape
    n = 2 * d_h
    found: list[HeadInertia | None] = [None] * heads
    for columns in dict.fromkeys((min(2 * n, d), d)) if 0 < n <= d else ():
        open_heads = [h for h in range(heads) if found[h] is None]
        if not open_heads:
            break
        chosen = slice(None) if len(open_heads) == heads else open_heads
        margins = _rank_margins(q[chosen], k[chosen], columns, device)
        rung = "Cholesky of Z Z^T" + ("" if columns == d else f" with {columns} columns")
        for h, margin in zip(open_heads, margins, strict=True):
            found[h] = None if margin is None else HeadInertia((d_h, d_h, d - n), rung, margin)
    return [result or _exact_inertia(q[h], k[h], time_limit) for h, result in enumerate(found)]


def _rank_margins(q: Any, k: Any, columns: int, device: str) -> list[float | None]:
    """For each head a certified lower bound on ``sigma_min([Q; K])``, from the first columns, or None."""
    import torch

    heads, d_h, _ = q.shape
    n = 2 * d_h
    z = torch.empty((heads, n, columns), dtype=torch.float64, device=device)
    z[:, :d_h], z[:, d_h:] = q[:, :, :columns], k[:, :, :columns]  # exact: the stored types are narrower
    gram = _products(z, z.transpose(1, 2))
    entries = gram.diagonal(dim1=1, dim2=2)
    sizes = inflate(entries.sum(dim=1), columns + n + 2)  # above ||Z||_F^2
    usable = (sizes > 2.0**-300) & (sizes < 2.0**400)
    g = gamma(n + 3)
    needed = inflate((g / (1 - g) * 1.01 + gamma(columns + 2)) * sizes, 8) + n * (6 * n + 8 + columns) * TINY
    shift = 2 * needed
    lowered = entries - (shift * (1 + 4 * UNIT))[:, None]
    entries.copy_(lowered - (lowered.abs() + shift[:, None]) * 2 * UNIT)  # below the exact difference
    factor, info = torch.linalg.cholesky_ex(gram)
    pivots = factor.diagonal(dim1=1, dim2=2)
    ok = (info == 0) & usable & torch.isfinite(pivots).all(dim=1) & (pivots > 0).all(dim=1)
    certain = needed.cpu().tolist()  # sigma_min(Z)^2 >= shift - needed
    return [
        math.sqrt(low) * (1 - 2.0**-40) if fine else None for low, fine in zip(certain, ok.cpu().tolist(), strict=True)
    ]


def _exact_inertia(query: Any, key: Any, time_limit: float) -> HeadInertia:
    """The degenerate head: exact characteristic polynomial of ``J Z Z^T``."""
    q, k = (np.ascontiguousarray(_exact_floats(m, "cpu").numpy()) for m in (query, key))
    d_h, d = q.shape
    z = ExactMatrix.from_floats(np.vstack([q, k]))
    gram = z.numerators * z.numerators.transpose()
    rows = gram.tolist()
    swapped = ExactMatrix(flint.fmpz_mat(rows[d_h:] + rows[:d_h]), flint.fmpz(1))
    try:
        positive, negative, _ = sign_counts_of_polynomial(swapped.charpoly(Deadline.after(time_limit)))
    except DeadlinePassed as late:
        return HeadInertia(None, str(late))
    return HeadInertia((positive, negative, d - positive - negative), "exact characteristic polynomial of the core")


def batch_core_spectra(output: Any, value: Any, *, device: str = "cpu") -> list[CoreSpectrum]:
    """Discs of the core ``V_h O_h`` for each head; output has shape (heads, d, d_h) and value (heads, d_h, d)."""
    _require(device)
    o, v = _tensor(output, "output"), _tensor(value, "value")
    if o.shape[0] != v.shape[0] or o.shape[1] != v.shape[2] or o.shape[2] != v.shape[1]:
        raise MatrixError(
            f"output (heads, d, d_h) and value (heads, d_h, d) do not fit: {tuple(o.shape)}, {tuple(v.shape)}"
        )
    results: list[CoreSpectrum] = []
    for start in range(0, o.shape[0], _CHUNK):
        part = slice(start, start + _CHUNK)
        _look(o[part], "output")
        _look(v[part], "value")
        results += _chunk_spectra(_exact_floats(o[part], device), _exact_floats(v[part], device))
    return results


def _chunk_spectra(o: Any, v: Any) -> list[CoreSpectrum]:
    d, d_h = int(o.shape[1]), int(o.shape[2])
    sizes = _norms(v) * _norms(o)
    core = _products(v, o)
    radius = inflate(gamma(d + 2) * sizes + d * d_h * TINY, 8)
    usable = (sizes < 2.0**300) & (sizes > 2.0**-300)
    core[~usable] = 0.0  # such heads do not disturb the others
    batch = _batch_discs(core, radius)
    results = []
    for h, (discs, moderate) in enumerate(zip(batch, usable.cpu().tolist(), strict=True)):
        if discs is None or not moderate:  # one by one: products with exact factors, then the discs of a single matrix
            enclosure = product(*(Enclosure.from_floats(np.ascontiguousarray(m[h].cpu().numpy())) for m in (v, o)))
            discs = None
            if enclosure.exponent == 0 and math.isfinite(enclosure.radius):
                discs = eigenvalue_discs(enclosure.center, enclosure.radius, symmetric=False, sliced=True)
        results.append(CoreSpectrum(discs, d - d_h, "core discs" if discs is not None else "no discs"))
    return results


def _batch_discs(core: Any, radius: Any) -> list[Discs | None]:
    import torch

    from eigentoken.numerics.certified.eigen import eig

    heads, n, _ = core.shape
    try:
        values, vectors = eig(core)
    except RuntimeError:  # one head that does not converge spoils the batch: leave them to the single path
        return [None] * heads
    wr, wi = values.real, values.imag
    first, second = wi > 0, wi < 0
    partner = (torch.arange(n, device=core.device) + first.long() - second.long()).clamp(0, n - 1)
    mirrored = (torch.gather(wr, 1, partner) == wr) & (
        torch.gather(wi, 1, partner) == torch.where(first | second, -wi, wi)
    )
    x = torch.where(second[:, None, :], -vectors.imag, vectors.real)
    y, info = torch.linalg.inv_ex(x)
    size_x, size_y = x.abs(), y.abs()
    sums_x = inflate(size_x.sum(dim=2, keepdim=True), n)
    defect = _products(y, x)
    defect.diagonal(dim1=1, dim2=2).sub_(1.0)
    rounding = inflate(size_y @ sums_x, n + 1)[..., 0] + 1.0
    g = inflate(inflate(defect.abs_().sum(dim=2), n) + gamma(n + 2) * rounding + n * n * TINY, 4)
    beside = torch.gather(x, 2, partner[:, None, :].expand(-1, n, -1))
    residual = _products(core, x) - (x * wr[:, None, :] - beside * wi[:, None, :])
    weighted = inflate(size_x @ inflate(wr.abs() + wi.abs(), 1)[..., None], n + 1)
    error = inflate(gamma(n + 4) * (inflate(core.abs() @ sums_x, n + 1) + weighted) + n * (n + 4) * TINY, 4)
    sums_r = inflate(residual.abs().sum(dim=2, keepdim=True), n)
    f = inflate(_products(y, residual).abs_().sum(dim=2), n)
    f = f + inflate(size_y @ inflate(error + gamma(n + 1) * sums_r, 4), n + 2)[..., 0] + n * n * TINY
    norms_x = inflate(x.square().sum(dim=(1, 2)).sqrt(), n * n + 4)[:, None]
    spread = inflate(y.square().sum(dim=2).sqrt() * norms_x * math.sqrt(n), n + 8)
    worst = g.amax(dim=1)
    room = (1 - worst * (1 + 8 * UNIT)).clamp_min(1e-300)[:, None]
    pairs = first | second
    widened = torch.where(pairs.any(dim=1, keepdim=True), math.sqrt(2.0) * (1 + 4 * UNIT), 1.0)

    def turned(rows: Any) -> Any:
        """Row sums in the complex basis, from row sums in the real one."""
        return inflate(torch.where(pairs, rows + torch.gather(rows, 1, partner), rows * widened), 2)

    halves = inflate((0.5 * (spread.square() + torch.gather(spread, 1, partner).square())).sqrt(), 4)
    growth = halves + turned(inflate(g * spread.amax(dim=1, keepdim=True) / room, 4))
    radii = turned(inflate(f + g * f.amax(dim=1, keepdim=True) / room, 6)) + growth * radius[:, None]
    radii, growth = (inflate(rows, 4).cpu().numpy() for rows in (radii, growth))
    centers: NDArray[np.complex128] = values.cpu().numpy()
    fine = ((worst < 0.9) & (info == 0) & mirrored.all(dim=1)).cpu().numpy() & np.isfinite(radii).all(axis=1)
    return [Discs(centers[h], radii[h], growth[h], "batched core discs") if fine[h] else None for h in range(heads)]


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
