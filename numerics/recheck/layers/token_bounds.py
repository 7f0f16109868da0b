"""Bounds at given tokens, found again: attention weights and moments in balls (FLINT, 128 bits), norms by the float verifier.

Floats with bounds are quicker and are asked first (``sharp=False``, :mod:`.quick_bounds`), balls where these do not confirm.

:func:`bound_above` is at least the value of the statement's formula; what a report states must be at least that, and larger by
:data:`MARGIN` of it at most.  Norms of products go through Cholesky factors of Gram matrices: with ``R^T R = O^T O + delta I``
and ``S^T S = Q Q^T + delta I``, ``|O M Q| <= |R M S^T|``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
from flint import arb, arb_mat

from eigentoken.numerics.recheck.layers.ball_matrices import (
    centred_rows,
    factor_of,
    float_above,
    floats_of,
    gram_of,
    length_of,
    lengths_of_rows,
    norm_above,
    squared_rows,
)
from eigentoken.numerics.recheck.layers.quick_bounds import QuickLayer, variation_above
from eigentoken.numerics.recheck.matrices.floats import spectral_above

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["MARGIN", "QUICK", "GivenLayer", "bound_above", "judged"]

PRECISION = 128
#: How much larger than the value found here a stated bound may be: it was enlarged so that it can be confirmed.
MARGIN = 1e-5


@dataclass(frozen=True, eq=False)
class GivenLayer:
    """One layer and the floats at which its bounds are stated.

    ``heads``: ``Q, K, V, O, scale, q_bias, k_bias``; ``state`` and ``seen`` (n, d): what enters the layer, and its attention;
    ``turned``: the coordinate pairs of rotary positions and their frequencies; ``gain``, ``norm_bias``, ``centred``: the norm.
    """

    heads: Sequence[Mapping[str, ArrayLike | None]]
    state: ArrayLike
    seen: ArrayLike
    allowed: ArrayLike
    turned: tuple[Sequence[int], Sequence[int], Sequence[float]] | None = None
    gain: ArrayLike | None = None
    norm_bias: ArrayLike | None = None
    centred: bool = False

    @cached_property
    def _seen(self) -> Any:
        return _matrix(self.seen)

    @cached_property
    def _least(self) -> Any:
        """``|Pi X|_F``."""
        return length_of(centred_rows(_matrix(self.state)))

    @cached_property
    def _linear(self) -> dict[tuple[int, str], Any]:
        return {}

    def _mapped(self, head: int, name: str, bias: str | None = None) -> Any:
        """``W x_j`` of every token (``+ b``) for a stored matrix of a head, in balls."""
        given = self.heads[head]
        if (head, name) not in self._linear:
            self._linear[head, name] = self._seen * self._stored(head, name).transpose()
        found = self._linear[head, name]
        return found if bias is None or given.get(bias) is None else _shifted(found, given[bias])

    @cached_property
    def _rows(self) -> dict[int, tuple[Any, Any]]:
        return {}

    def _attention(self, head: int) -> tuple[Any, Any]:
        """The scores and the attention weights of a head, in balls."""
        if head not in self._rows:
            self._rows[head] = self._attended(head)
        return self._rows[head]

    def _attended(self, index: int) -> tuple[Any, Any]:
        head: Mapping[str, Any] = self.heads[index]
        q, k = (self._mapped(index, name, f"{name.lower()}_bias") for name in "QK")
        if self.turned is not None:
            q, k = _turned(q, *self.turned), _turned(k, *self.turned)
        scores = q * k.transpose() * (1 / arb(float(head["scale"])))
        allowed, n = np.asarray(self.allowed, dtype=bool), scores.nrows()
        weights = arb_mat(n, n)
        for i in range(n):
            seen = [j for j in range(n) if allowed[i, j]]
            top = max((scores[i, j].mid() for j in seen), key=float)
            sizes = [(scores[i, j] - top).exp() for j in seen]
            total = sum(sizes, arb(0))
            for j, size in zip(seen, sizes, strict=True):
                weights[i, j] = size / total
        return scores, weights

    def _values(self, head: int) -> Any:
        """``V x_j`` without a bias."""
        return self._mapped(head, "V")

    def mixed(self, head: int) -> arb_mat:
        """``sum_j a_ij (V x_j + b)`` (n, d_head), in balls."""
        return self._attention(head)[1] * self._mapped(head, "V", "v_bias")

    @cached_property
    def _kept(self) -> dict[tuple[int, str], Any]:
        return {}

    def _stored(self, head: int, name: str) -> Any:
        """A stored matrix of a head, exact."""
        if (head, name) not in self._kept:
            self._kept[head, name] = _matrix(self.heads[head][name])
        return self._kept[head, name]

    @cached_property
    def _sizes(self) -> dict[int, tuple[Any, Any]]:
        return {}

    def _norms(self, head: int) -> tuple[Any, Any]:
        """At least ``|U|`` and ``|P|`` of a head, for its own bound and for that of the layer."""
        if head not in self._sizes:
            self._sizes[head] = _norms(self, head)
        return self._sizes[head]

    @cached_property
    def _locals(self) -> dict[int, tuple[Any, Any]]:
        return {}

    def _local(self, head: int) -> tuple[Any, Any]:
        """The bounds of BD-J2 and BD-J3."""
        if head not in self._locals:
            self._locals[head] = _jacobian(self, head)
        return self._locals[head]

    @cached_property
    def _along(self) -> tuple[Any, Any]:
        """The sum z of what enters (d, 1), and the largest less the smallest ``z^T x_i``."""
        state = _matrix(self.state)
        z = state.transpose() * arb_mat(state.nrows(), 1, [1] * state.nrows())
        return z, _width(state * z)

    @cached_property
    def _radius(self) -> Any:
        """``max_i |x_i|`` of what attention reads."""
        return arb(max(float_above(each) for each in lengths_of_rows(self._seen)))

    @cached_property
    def _quick(self) -> QuickLayer:
        """The same in floats with bounds."""
        return QuickLayer(self.heads, self.seen, self.allowed, self.turned)

    @cached_property
    def _square(self) -> Any:
        """``max_ij |x_i - x_j|^2``."""
        return _square_of_diameter(self)


def bound_above(statement: str, layer: GivenLayer, head: int | None, *, sharp: bool = True) -> float | None:
    """At least the value of the formula of the statement; ``None`` where this arithmetic has none for it.

    Not ``sharp``: in floats with bounds where there is such a form, which may be a little more.
    """
    asked = (statement, head is not None)
    forms = [each for each in (None if sharp else QUICK.get(asked), FORMULAS.get(asked)) if each is not None]
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        values = (form(layer, -1 if head is None else head) for form in forms)
        return next((float_above(each) for each in values if each is not None), None)
    finally:
        flint.ctx.prec = old


def judged(stated: float | None, found: float | None) -> tuple[str, str]:
    """``holds``, ``fails`` or ``undecided`` of a stated bound beside the one found here, and why."""
    if found is None or not math.isfinite(found):
        return "undecided", "not covered: this arithmetic has no value for it"
    if stated is None:
        return "undecided", f"no bound is stated, {found:.9g} is found"
    if stated < found * (1 - MARGIN):
        return "fails", f"{stated!r} is stated, the formula gives {found:.12g}"
    if stated < found:
        return "undecided", f"{stated!r} is stated, at most {found:.12g} is shown here"
    if stated > found * (1 + MARGIN):
        return "fails", f"{stated!r} is stated, which is more than the formula gives, {found:.12g}"
    return "holds", f"at least {found:.12g}, found again with error bounds"


# -- the formulas ---------------------------------------------------------------------------------------------------------------


def _diversity(layer: GivenLayer, _: int) -> Any:
    """BD-D2 (a): ``|O| |[Pi A_h X V_h^T]_h|_F / |Pi X|_F``."""
    total = arb(0)
    for head in range(len(layer.heads)):
        total += length_of(centred_rows(layer._attention(head)[1] * layer._values(head))) ** 2
    whole = np.concatenate([np.asarray(each["O"], dtype=np.float64) for each in layer.heads], axis=1)
    return arb(spectral_above(whole)) * total.sqrt() / layer._least


def _diversity_from_norms(layer: GivenLayer, _: int) -> Any:
    """BD-D2b: ``|O| |V| max_h |Pi A_h| |Pi X_*|_F / |Pi X|_F``."""
    kept = max(norm_above(centred_rows(layer._attention(head)[1])) for head in range(len(layer.heads)))
    O, V = (
        np.concatenate([np.asarray(each[name], dtype=np.float64) for each in layer.heads], axis=axis)
        for name, axis in (("O", 1), ("V", 0))
    )
    size = arb(spectral_above(O)) * arb(spectral_above(V)) * arb(kept)
    return size * length_of(centred_rows(layer._seen)) / layer._least


def _any_weights(layer: GivenLayer, _: int) -> Any:
    """BD-D3 for each head, added: ``sum_h sqrt(n) max_j |O_h V_h (x_j - xbar)| / |Pi X|_F``."""
    total = arb(0)
    for head in range(len(layer.heads)):
        apart = centred_rows(layer._values(head))
        pulled = apart * gram_of(layer._stored(head, "O"))
        rows = range(apart.nrows())
        squares = [sum((apart[j, k] * pulled[j, k] for k in range(apart.ncols())), arb(0)) for j in rows]
        total += arb(max(float_above(each) for each in squares)).sqrt()
    return total * arb(layer._seen.nrows()).sqrt() / layer._least


def _tanh_of_oscillation(layer: GivenLayer, head: int) -> Any:
    """BD-R1: ``tanh(omega/4)``, ``omega = max_ij osc_l (s_il - s_jl)``."""
    scores, off = floats_of(layer._attention(head)[0])
    gaps = scores[:, None] - scores[None]
    width = float((gaps.max(-1) - gaps.min(-1)).max()) + 4 * float(off.max()) + 2.0**-48 * float(np.abs(scores).max())
    return arb(min(1.0, float_above((arb(width) / 4).tanh())))


def _norms(layer: GivenLayer, head: int) -> tuple[Any, Any]:
    """At least ``|U|`` and ``|P|`` of a head: ``|R V|^2`` is the norm of ``R V V^T R^T``, which has the size of a head."""
    R = factor_of(gram_of(layer._stored(head, "O")))
    S = factor_of(layer._stored(head, "Q") * layer._stored(head, "Q").transpose())
    scale = arb(float(layer.heads[head]["scale"]))  # type: ignore[arg-type]
    V, K = layer._stored(head, "V"), layer._stored(head, "K")
    values, keys = R * (V * V.transpose()) * R.transpose(), S * (K * K.transpose()) * S.transpose()
    return arb(norm_above(values)).sqrt(), arb(norm_above(keys)).sqrt() / scale


def _square_of_diameter(layer: GivenLayer) -> Any:
    """``max_ij |x_i - x_j|^2``, from the Gram matrix."""
    gram = layer._seen * layer._seen.transpose()
    n = gram.nrows()
    squares = [gram[i, i] + gram[j, j] - 2 * gram[i, j] for i in range(n) for j in range(i)]
    return arb(max(map(float_above, squares), default=0.0))


def _from_norms(layer: GivenLayer, head: int) -> Any:
    """BD-R1b: ``|U| tanh(|P| D^2/4)``."""
    U, P = layer._norms(head)
    return U * (P * layer._square / 4).tanh()


def _layer_from_norms(layer: GivenLayer, _: int) -> Any:
    """BD-R4: ``sum_h |U_h| tanh(|P_h| D^2/4)``."""
    return sum((_from_norms(layer, head) for head in range(len(layer.heads))), arb(0))


def _on_ball(layer: GivenLayer, head: int) -> Any:
    """BD-L1: ``|U| (sqrt(n (1 + 16/27 p_b^2)) + p)`` with the largest length of a token."""
    return _ball_of(layer, head, *layer._norms(head))


def _ball_of(layer: GivenLayer, head: int, U: Any, P: Any) -> Any:
    given, radius = layer.heads[head], layer._radius
    p = P * radius**2
    with_bias = p
    if given.get("q_bias") is not None:
        turned = _matrix(np.asarray(given["q_bias"], dtype=np.float64)[None]) * layer._stored(head, "K")
        with_bias = p + radius * length_of(turned) / arb(float(given["scale"]))  # type: ignore[arg-type]
    return U * ((layer._seen.nrows() * (1 + with_bias**2 * 16 / 27)).sqrt() + p)


def _diffuse(layer: GivenLayer, head: int) -> Any:
    """BD-T3: ``1/(1 + (m - 1) e^-w)`` with ``w = 2 max|q_i| max|k_j|/scale`` and the largest number m of keys of a row."""
    q, k = (max(map(float_above, lengths_of_rows(layer._mapped(head, name, f"{name.lower()}_bias")))) for name in "QK")
    return _diffuse_with(layer, head, q, k)


def _diffuse_with(layer: GivenLayer, head: int, q: float, k: float) -> Any:
    width = 2 * arb(q) * arb(k) / arb(float(layer.heads[head]["scale"]))  # type: ignore[arg-type]
    most = int(np.asarray(layer.allowed, dtype=bool).sum(axis=1).max())
    return arb(min(1.0, float_above(1 / (1 + (most - 1) * (-width).exp()))))


def _sink(layer: GivenLayer, head: int) -> Any:
    """BD-M1: ``1 - min_j a_j1``."""
    weights = layer._attention(head)[1]
    return arb(min(1.0, max(float_above(1 - weights[j, 0]) for j in range(weights.nrows()))))


def _radius(layer: GivenLayer, _: int) -> Any:
    """BD-N1: ``sqrt(d) |diag(g) Pi| + |b|``, without Pi where no mean is subtracted."""
    gain = np.asarray(layer.gain, dtype=np.float64)
    d, size = len(gain), float(np.abs(gain).max())
    if layer.centred:
        projected = np.diag(gain) - gain[:, None] / d
        size = min(size, spectral_above(projected) + 2.0**-50 * float(np.abs(gain).sum() + d * size))
    shift = arb(0) if layer.norm_bias is None else length_of(_matrix(np.asarray(layer.norm_bias)[None]))
    return arb(d).sqrt() * arb(size) + shift


def _variation(layer: GivenLayer, head: int) -> Any:
    """BD-D1: ``max_ij sum_l |a_il - a_jl|/2``."""
    return arb(min(1.0, variation_above(*floats_of(layer._attention(head)[1]))))


def _along_the_mean(layer: GivenLayer, _: int) -> Any:
    """BD-H2 along the sum z of the tokens: ``sum_h (max_j - min_j) z^T U_h x_j`` over the same of ``z^T x_j``."""
    z, before = layer._along
    total = arb(0)
    for head in range(len(layer.heads)):
        total += _width(layer._values(head) * (layer._stored(head, "O").transpose() * z))
    return total / before


def _along_the_mean_in_floats(layer: GivenLayer, _: int) -> Any:
    z, before = layer._along
    middles, off = floats_of(z)
    away = float(np.linalg.norm(off)) * (1 + 2.0**-30)
    return arb(layer._quick.along(middles[:, 0], away)) / before


def _width(column: Any) -> Any:
    """The largest entry less the smallest."""
    entries = column.entries()
    top, bottom = (each(entries, key=lambda entry: float(entry.mid())) for each in (max, min))
    for entry in entries:
        top, bottom = top.max(entry), bottom.min(entry)
    return top - bottom


def _row_operator(layer: GivenLayer, head: int) -> Any:
    return layer._local(head)[0]


def _block_norms(layer: GivenLayer, head: int) -> Any:
    return layer._local(head)[1]


def _jacobian(layer: GivenLayer, head: int) -> tuple[Any, Any]:
    """BD-J2 with ``t_i^2 <= |U|^2 + |q_i|^2 |U C_i U^T|``, and BD-J3 from ``a_il (|U| + |U (x_l - m_i)||q_i|)``."""
    given, weights = layer.heads[head], layer._attention(head)[1]
    scale, n = arb(float(given["scale"])), weights.nrows()  # type: ignore[arg-type]
    V, K = layer._values(head), layer._mapped(head, "K")
    R = factor_of(gram_of(layer._stored(head, "O")))
    S = factor_of(layer._stored(head, "Q") * layer._stored(head, "Q").transpose())
    asked = layer._mapped(head, "Q", "q_bias")
    pulled = asked * (layer._stored(head, "K") * layer._stored(head, "K").transpose())
    whole = arb(norm_above((R * layer._stored(head, "V")).transpose()))
    sharp, own, gradients = [], [], []
    for i in range(n):
        length = sum((asked[i, k] * pulled[i, k] for k in range(asked.ncols())), arb(0)) / (scale * scale)
        gradients.append(arb(float_above(length)).sqrt())
        row = arb_mat([[weights[i, j] for j in range(n)]])
        mean_v, mean_k = row * V, row * K
        weighted = arb_mat([[weights[i, j] * V[j, k] for j in range(n)] for k in range(V.ncols())])
        spread = weighted * V - mean_v.transpose() * mean_v
        mixed = weighted * K - mean_v.transpose() * mean_k
        sharp.append(whole * whole + length * arb(norm_above(R * spread * R.transpose())))
        own.append(norm_above(R * mixed * S.transpose()))
    columns = [float_above(sum((weights[i, j] * sharp[i] for i in range(n)), arb(0))) for j in range(n)]
    placed, middles = V * R.transpose(), weights * V * R.transpose()
    squares = placed * middles.transpose()
    lengths_v, lengths_m = (squared_rows(each) for each in (placed, middles))
    blocks = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            apart = arb(max(0.0, float_above(lengths_v[j] + lengths_m[i] - 2 * squares[j, i]))).sqrt()
            part = weights[i, j] * (whole + apart * gradients[i])
            blocks[i, j] = float_above(part + arb(own[i]) / scale if i == j else part)
    return arb(max(columns)).sqrt() + arb(max(own)) / scale, arb(spectral_above(blocks))


def _row_operator_in_floats(layer: GivenLayer, head: int) -> Any:
    found = layer._quick.jacobian(head)
    return None if found is None else arb(found[0])


def _block_norms_in_floats(layer: GivenLayer, head: int) -> Any:
    found = layer._quick.jacobian(head)
    return None if found is None else arb(found[1])


def _variation_in_floats(layer: GivenLayer, head: int) -> Any:
    found = layer._quick.variation(head)
    return None if found is None else arb(min(1.0, found))


def _diversity_in_floats(layer: GivenLayer, _: int) -> Any:
    found = layer._quick.diversity()
    return None if found is None else arb(found) / layer._least


def _any_weights_in_floats(layer: GivenLayer, _: int) -> Any:
    found = layer._quick.any_weights()
    return None if found is None else arb(found) / layer._least


def _from_norms_in_floats(layer: GivenLayer, head: int) -> Any:
    found = layer._quick.norms(head)
    return None if found is None else arb(found[0]) * (arb(found[1]) * layer._square / 4).tanh()


def _layer_from_norms_in_floats(layer: GivenLayer, _: int) -> Any:
    parts = [_from_norms_in_floats(layer, head) for head in range(len(layer.heads))]
    return None if any(each is None for each in parts) else sum(parts, arb(0))


def _diversity_from_norms_in_floats(layer: GivenLayer, _: int) -> Any:
    found = layer._quick.diversity_from_norms()
    return None if found is None else arb(found) / layer._least


def _on_ball_in_floats(layer: GivenLayer, head: int) -> Any:
    found = layer._quick.norms(head)
    return None if found is None else _ball_of(layer, head, arb(found[0]), arb(found[1]))


def _diffuse_in_floats(layer: GivenLayer, head: int) -> Any:
    return _diffuse_with(layer, head, *(layer._quick.longest(head, name) for name in "QK"))


def _tanh_in_floats(layer: GivenLayer, head: int) -> Any:
    width = layer._quick.oscillation(head)
    return None if width is None else arb(min(1.0, float_above((arb(width) / 4).tanh())))


def _sink_in_floats(layer: GivenLayer, head: int) -> Any:
    found = layer._quick.sink(head)
    return None if found is None else arb(min(1.0, found))


#: The quick forms, in floats with bounds (:mod:`.quick_bounds`), beside those in balls; ``None`` where floats show nothing.
QUICK = {
    ("BD-D2", False): _diversity_in_floats,
    ("BD-D3", False): _any_weights_in_floats,
    ("BD-R1", True): _tanh_in_floats,
    ("BD-R1b", True): _from_norms_in_floats,
    ("BD-R4", False): _layer_from_norms_in_floats,
    ("BD-M1", True): _sink_in_floats,
    ("BD-J2", True): _row_operator_in_floats,
    ("BD-D2b", False): _diversity_from_norms_in_floats,
    ("BD-L1", True): _on_ball_in_floats,
    ("BD-T3", True): _diffuse_in_floats,
    ("BD-J3", True): _block_norms_in_floats,
    ("BD-D1", True): _variation_in_floats,
    ("BD-H2", False): _along_the_mean_in_floats,
}
#: By statement, and whether it is about a head.
FORMULAS = {
    ("BD-D2", False): _diversity,
    ("BD-D3", False): _any_weights,
    ("BD-N1", False): _radius,
    ("BD-R1", True): _tanh_of_oscillation,
    ("BD-R1b", True): _from_norms,
    ("BD-R4", False): _layer_from_norms,
    ("BD-M1", True): _sink,
    ("BD-J2", True): _row_operator,
    ("BD-D2b", False): _diversity_from_norms,
    ("BD-L1", True): _on_ball,
    ("BD-T3", True): _diffuse,
    ("BD-J3", True): _block_norms,
    ("BD-D1", True): _variation,
    ("BD-H2", False): _along_the_mean,
}


# -- balls ----------------------------------------------------------------------------------------------------------------------


def _matrix(values: Any) -> Any:
    return arb_mat(np.asarray(values, dtype=np.float64).tolist())


def _shifted(rows: Any, bias: Any) -> Any:
    row = np.asarray(bias, dtype=np.float64)
    return rows + _matrix(np.broadcast_to(row, (rows.nrows(), len(row))))


def _turned(rows: Any, first: Sequence[int], second: Sequence[int], frequencies: Sequence[float]) -> Any:
    """The row at position p with its pairs of coordinates turned by ``p`` times their frequencies."""
    found = arb_mat(rows)
    for p in range(rows.nrows()):
        for a, b, frequency in zip(first, second, frequencies, strict=True):
            sine, cosine = (arb(p) * arb(float(frequency))).sin_cos()
            found[p, a] = cosine * rows[p, a] - sine * rows[p, b]
            found[p, b] = sine * rows[p, a] + cosine * rows[p, b]
    return found
