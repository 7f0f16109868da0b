"""Inputs and documents of a re-check, read without any code of the issuer.

Every input becomes an exact integer matrix over one denominator.  The content hash is computed here again from the
definition: sha256 of dtype, shape and bytes of the float64 values in C order where every entry is a float, else of the
entries written as reduced fractions.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from eigentoken.files.arrays import read_npy
from eigentoken.files.documents import Json, read_json

__all__ = [
    "CertificateDocument",
    "Exact",
    "ExactInputs",
    "Near",
    "RecheckError",
    "exact_input",
    "fine_product",
    "form_terms",
    "fraction_of",
    "near_product",
    "near_sum",
    "read_document",
    "unconfirmed",
]

Floats = NDArray[np.float64]


class RecheckError(ValueError):
    """A certificate or an input that cannot be read: one line."""


UNCONFIRMED = "undecided: "
LARGEST_EXPONENT = 1000


def unconfirmed(*tried: str) -> str:
    """Why facts could not be confirmed, though nothing shows them false: what was tried."""
    return UNCONFIRMED + "tried " + "; ".join(tried)


#: Floats, and a bound on the Frobenius norm of what separates them from a matrix.
Near = tuple[Floats, float]
_U = 1.01 * 2.0**-53
_LARGE, _SMALL = 2.0**300, 2.0**-300


def _kept(values: Floats, distance: float) -> Near | None:
    """The pair, a little larger, where nothing over- or underflowed on the way."""
    size = float(np.abs(values).max(initial=0.0))
    usable = size == 0.0 or _SMALL < size < _LARGE
    return (values, distance * (1 + 2.0**-40) + values.size * 2.0**-1000) if usable and distance < _LARGE else None


@np.errstate(all="ignore")
def near_product(a: Near, b: Near) -> Near | None:
    """``A B`` in floats: ``k u |A|_F |B|_F`` of rounding in any order of summation (Higham, section 3.5), and the distances."""
    sizes = [float(np.linalg.norm(each[0])) * (1 + each[0].size * _U) for each in (a, b)]
    if not all(size < _LARGE for size in sizes):
        return None
    rounding = a[0].shape[1] * _U * sizes[0] * sizes[1]
    spread = sizes[0] * b[1] + a[1] * sizes[1] + a[1] * b[1]
    return _kept(a[0] @ b[0], rounding + spread)


@np.errstate(all="ignore")
def fine_product(a: Near, b: Near) -> Near | None:
    """``A B`` with the floats multiplied as if rounded once: ``A = A_1 + A_2``, ``B = B_1 + B_2``, ``A_1 B_1`` formed exactly.

    A_1 holds the leading bits of each row of A, B_1 those of each column of B: sums of k products of them are whole multiples
    of one power of two, at most 2^53 of them, in any order.  ``A_1 B_2 + A_2 B`` is small, and so is its rounding.
    """
    k = a[0].shape[1]
    bits = (53 - math.ceil(math.log2(k))) // 2
    first, second = _leading(a[0], bits, 1), _leading(b[0], bits, 0)
    if first is None or second is None:
        return None
    rests = a[0] - first, b[0] - second
    small = first @ rests[1] + rests[0] @ b[0]
    values = first @ second + small
    sizes = [
        float(np.linalg.norm(each)) * (1 + each.size * _U) for each in (*a[:1], *b[:1], first, *rests, small, values)
    ]
    if not all(size < _LARGE for size in sizes):
        return None
    left, right, of_first, of_left, of_right, of_small, whole = sizes
    rounding = k * _U * (of_first * of_right + of_left * right) + 2 * _U * (of_small + whole)
    spread = left * b[1] + a[1] * right + a[1] * b[1]
    return _kept(values, rounding + spread)


def _leading(matrix: Floats, bits: int, axis: int) -> Floats | None:
    """The leading ``bits`` bits below the largest entry of each row (axis 1) or column (axis 0), as floats; exact."""
    largest = np.abs(matrix).max(axis=axis, keepdims=True)
    if not bool(((largest == 0.0) | ((largest > _SMALL) & (largest < _LARGE))).all()):
        return None
    exponents = np.frexp(largest)[1]
    return np.asarray(np.ldexp(np.rint(np.ldexp(matrix, bits - exponents)), exponents - bits))


@np.errstate(all="ignore")
def near_sum(a: Near, b: Near, sign: float = 1.0, scale: float = 1.0) -> Near | None:
    """``scale (A + sign B)`` in floats, for a power of two ``scale`` and a sign."""
    values = scale * (a[0] + sign * b[0])
    size = float(np.linalg.norm(values)) * (1 + values.size * _U)
    return _kept(values, scale * (a[1] + b[1]) + 2 * _U * size) if size < _LARGE else None


@dataclass(frozen=True, eq=False)
class Exact:
    """``numerators / denominator`` (formed when asked for), the floats if all entries are floats, the content hash."""

    build: Callable[[], tuple[flint.fmpz_mat, flint.fmpz]]
    floats: Floats | None
    digest: str
    shape: tuple[int, int]
    near: Near | None = None  # where the entries are no floats
    finer: Callable[[], Near | None] | None = None  # the same, much nearer, formed when asked for
    guesses: dict[str, object] = field(
        default_factory=dict, repr=False
    )  # nothing is claimed of them: for other certificates

    @property
    def approximate(self) -> Near | None:
        """Floats that are the matrix, or near it."""
        return self.near if self.floats is None else (self.floats, 0.0)

    @cached_property
    def finely(self) -> Near | None:
        """Floats that are much nearer the matrix, if there are any."""
        return None if self.finer is None else self.finer()

    def ever_sharper(self) -> Iterator[Exact]:
        """The matrix to be rounded from what it holds; then, where that is floats near it, from nearer ones, and exactly."""
        yield self
        if self.near is None or self.floats is not None:
            return
        if self.finely is not None:
            yield Exact(lambda: self._pair, None, self.digest, self.shape, self.finely)
        yield Exact(lambda: self._pair, None, self.digest, self.shape)

    @cached_property
    def _pair(self) -> tuple[flint.fmpz_mat, flint.fmpz]:
        return self.build()

    @property
    def numerators(self) -> flint.fmpz_mat:
        return self._pair[0]

    @property
    def denominator(self) -> flint.fmpz:
        return self._pair[1]

    @cached_property
    def rounded(self) -> tuple[Floats, int, float]:
        """``(values, e, rho)``: the matrix is within ``rho 2^e`` of ``values 2^e`` (Frobenius); largest entry near 1."""
        if self.approximate is not None:
            held, distance = self.approximate
            largest = float(np.abs(held).max())
            e = math.frexp(largest)[1] if largest > 0 else 0
            return np.ldexp(held, -e), e, held.size * 2.0**-1000 + math.ldexp(distance, -e) * (1 + 2.0**-40)
        whole, below = [int(v) for v in self.numerators.entries()], int(self.denominator)
        top = max(max(whole), -min(whole)) or 1
        e = top.bit_length() - below.bit_length()
        if top.bit_length() < 1000 and below & (below - 1) == 0:  # each is rounded once, and the power of two is exact
            values = np.ldexp(np.array([float(v) for v in whole]), 1 - top.bit_length()).reshape(self.shape)
        else:
            factor = Fraction(2) ** -e / below
            p, q = factor.numerator, factor.denominator
            values = np.array([v * p / q for v in whole], dtype=np.float64).reshape(self.shape)
        return values, e, float(np.linalg.norm(values)) * 2.0**-52 + 2.0**-900


@dataclass(frozen=True)
class CertificateDocument:
    """A certificate as data."""

    kind: str
    condition: str
    verdict: str
    inputs: Mapping[str, str]
    data: Mapping[str, Json]
    arrays: Mapping[str, Floats]
    claimed_arrays: Mapping[str, str]


def _number(value: Any) -> Fraction:
    if isinstance(value, str):
        return Fraction(value)
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if hasattr(value, "as_integer_ratio"):
        return Fraction(*value.as_integer_ratio())
    if hasattr(value, "p") and hasattr(value, "q"):
        return Fraction(int(value.p), int(value.q))
    raise RecheckError(f"not an exact number: {value!r}")


def _rows(matrix: Any) -> list[list[Any]]:
    if type(matrix).__module__.partition(".")[0] == "torch":
        matrix = matrix.detach().cpu()
        matrix = matrix.double().numpy() if matrix.is_floating_point() else matrix.numpy()
    if isinstance(matrix, np.ndarray):
        if matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 8:
            return [[float(e) for e in row] for row in matrix]
        return [list(row) for row in matrix.tolist()]
    exact = getattr(matrix, "exact", None)
    if exact is not None and hasattr(exact, "fractions"):  # an enclosure: only its exact value is read
        return [list(row) for row in exact.fractions()]
    if hasattr(matrix, "fractions"):
        return [list(row) for row in matrix.fractions()]
    if hasattr(matrix, "tolist"):
        return [list(row) for row in matrix.tolist()]
    return [list(row) for row in matrix]


def exact_rows(matrix: Json) -> list[list[Fraction]]:
    """The entries of one input, exactly."""
    try:
        return [[_number(entry) for entry in row] for row in _rows(matrix)]
    except (OverflowError, ValueError, TypeError) as error:
        raise RecheckError(f"cannot read the input: {error}") from None


def exact_input(matrix: Json) -> Exact:
    """The exact value and content hash of one input."""
    if isinstance(matrix, Exact):
        return matrix
    if isinstance(matrix, str | Path):
        matrix = _from_file(str(matrix))
    if type(matrix).__module__.partition(".")[0] == "torch" and matrix.is_floating_point():
        matrix = matrix.detach().cpu().double().numpy()  # exact: every float type of torch is within float64
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 8:
        values = np.ascontiguousarray(matrix, dtype=np.float64)
        if values.ndim != 2 or not np.isfinite(values).all():
            raise RecheckError("an input must be a finite matrix")
        return Exact(lambda: _dyadic(values), values, _float_digest(values), (values.shape[0], values.shape[1]))
    rows = exact_rows(matrix)
    widths = {len(row) for row in rows}
    if len(widths) != 1 or widths == {0}:
        raise RecheckError("an input must be a matrix with rows of one length")
    shape = (len(rows), widths.pop())

    def build() -> tuple[flint.fmpz_mat, flint.fmpz]:
        entries = [flint.fmpq(e.numerator, e.denominator) for row in rows for e in row]
        numerators, denominator = flint.fmpq_mat(*shape, entries).numer_denom()
        return numerators, denominator

    floats = _floats_if_exact(rows)
    if floats is not None:
        return Exact(build, floats, _float_digest(floats), shape)
    text = f"rational{(len(rows), len(rows[0]))}" + ",".join(str(e) for row in rows for e in row)
    return Exact(build, None, hashlib.sha256(text.encode()).hexdigest(), shape)


def _floats_if_exact(rows: list[list[Fraction]]) -> Floats | None:
    try:
        values = np.array([[e.numerator / e.denominator for e in row] for row in rows], dtype=np.float64)
    except OverflowError:
        return None
    same = all(
        Fraction(float(v)) == e
        for found, row in zip(values, rows, strict=True)
        for v, e in zip(found, row, strict=True)
    )
    return values if same else None


def _float_digest(values: Floats) -> str:
    digest = hashlib.sha256(f"{values.dtype.str}{values.shape}".encode())
    digest.update(values.data)
    return digest.hexdigest()


def _dyadic(values: Floats) -> tuple[flint.fmpz_mat, flint.fmpz]:
    """Integers over one power of two."""
    mantissas, exponents = np.frexp(values[values != 0.0])
    if mantissas.size:
        digits = np.ldexp(mantissas, 53).astype(np.int64)
        lowest = exponents - 54 + np.frexp((digits & -digits).astype(np.float64))[1]  # of the last bit of each entry
        unit = min(int(lowest.min()), 0)
        if (
            int(exponents.max()) - unit <= 62
        ):  # whole numbers of at most 53 digits below 2^62: floats and integers hold them
            whole = np.ldexp(values, -unit).astype(np.int64)
            return flint.fmpz_mat(*values.shape, whole.ravel().tolist()), flint.fmpz(1) << -unit
    pairs = [float(v).as_integer_ratio() for v in values.ravel()]
    denominator = max((q for _, q in pairs), default=1)
    integers = [p * (denominator // q) for p, q in pairs]
    return flint.fmpz_mat(values.shape[0], values.shape[1], integers), flint.fmpz(denominator)


def _from_file(text: str) -> Any:
    path, _, tensor = text.partition("::")
    if path.endswith(".npy"):
        return read_npy(path)
    if path.endswith(".json"):
        document = read_json(path, parse_float=_decimal)
        return document["matrix"] if isinstance(document, dict) else document
    if path.endswith(".safetensors"):
        from safetensors import safe_open

        with safe_open(path, framework="pt") as handle:
            return handle.get_tensor(tensor or next(iter(handle.keys())))
    raise RecheckError(f"cannot read {path!r}: expected .npy, .json or .safetensors::name")


def _decimal(digits: str) -> Fraction:
    """The rational that a text writes; an exponent that would fill the memory is refused."""
    _, _, exponent = digits.strip().lower().partition("e")
    if len(exponent) > 5 or abs(int(exponent or 0)) > LARGEST_EXPONENT:
        raise RecheckError(f"a number with the exponent {exponent[:12]}: expected at most {LARGEST_EXPONENT}")
    return Fraction(digits)


def form_terms(terms: Json, inputs: Mapping[str, Exact]) -> Exact:
    """The sum of products of (transposed) inputs that the certificate is about."""
    if not terms or any(not term for term in terms):
        raise RecheckError("the certificate names no input")
    for name, _ in (factor for term in terms for factor in term):
        if name not in inputs:
            raise RecheckError(f"the certificate is about an input {name!r} that was not given")
    if len(terms) == 1 and len(terms[0]) == 1:
        name, turned = terms[0][0]
        given = inputs[name]
        if not turned:
            return given
        floats = None if given.floats is None else np.ascontiguousarray(given.floats.T)
        rows, columns = given.shape
        return Exact(lambda: (given.numerators.transpose(), given.denominator), floats, "", (columns, rows))
    shapes = {_term_shape(term, inputs) for term in terms}
    if len(shapes) != 1:
        raise RecheckError("the terms of the certificate do not fit together")
    near, finer = (partial(_near_terms, terms, inputs, product) for product in (near_product, fine_product))
    return Exact(lambda: _sum_of_products(terms, inputs), None, "", shapes.pop(), near(), finer)


class ExactInputs(dict[str, Exact]):
    """Inputs read once, for all certificates about them; what is formed of them is kept as well."""

    def __init__(self, matrices: Mapping[str, Json]) -> None:
        super().__init__({name: exact_input(matrix) for name, matrix in matrices.items()})
        self.formed: dict[str, Exact] = {}

    def form(self, terms: Json) -> Exact:
        """:func:`form_terms`, once for the same terms."""
        key = json.dumps(terms)
        if key not in self.formed:
            self.formed[key] = form_terms(terms, self)
        return self.formed[key]


def _near_terms(terms: Any, inputs: Mapping[str, Exact], product: Callable[[Near, Near], Near | None]) -> Near | None:
    """The sum of products in floats, with a bound, where all inputs are near floats."""
    total: Near | None = None
    for term in terms:
        part: Near | None = None
        for name, turned in term:
            given = inputs[name].approximate
            factor = None if given is None else (given[0].T, given[1]) if turned else given
            part = factor if part is None or factor is None else product(part, factor)
            if part is None:
                return None
        total = part if total is None or part is None else near_sum(total, part)
        if total is None:
            return None
    return total


def _term_shape(term: Any, inputs: Mapping[str, Exact]) -> tuple[int, int]:
    shapes = [inputs[name].shape[::-1] if turned else inputs[name].shape for name, turned in term]
    if any(left[1] != right[0] for left, right in pairwise(shapes)):
        raise RecheckError("the factors of the certificate do not fit together")
    return shapes[0][0], shapes[-1][1]


def _sum_of_products(terms: Any, inputs: Mapping[str, Exact]) -> tuple[flint.fmpz_mat, flint.fmpz]:
    total: tuple[flint.fmpz_mat, flint.fmpz] | None = None
    for term in terms:
        part: tuple[flint.fmpz_mat, flint.fmpz] | None = None
        for name, turned in term:
            matrix = inputs[name].numerators.transpose() if turned else inputs[name].numerators
            q = inputs[name].denominator
            part = (matrix, q) if part is None else (part[0] * matrix, part[1] * q)
        if part is not None:
            total = part if total is None else (total[0] * part[1] + part[0] * total[1], total[1] * part[1])
    if total is None:
        raise RecheckError("the certificate names no input")
    return total


def read_document(source: Json) -> CertificateDocument:
    """A certificate object, its JSON document, or the name of a file written by ``save``."""
    arrays: dict[str, Floats] = {}
    claimed: Mapping[str, str]
    if isinstance(source, str | Path):
        source, arrays = _read_file(Path(source))
    if isinstance(source, Mapping):
        document = source.get("certificate", source) if "kind" not in source else source
        if not isinstance(document, Mapping):
            raise RecheckError("there is no certificate in this document")
        claimed = dict(document.get("arrays", {}))
        arrays = arrays or {k: np.asarray(v) for k, v in dict(source.get("array_values", {})).items()}
    else:
        document = source.as_dict()
        arrays = {name: np.asarray(array) for name, array in source.arrays.items()}
        claimed = dict(document["arrays"])
    try:
        result = CertificateDocument(
            str(document["kind"]),
            str(document["condition"]),
            str(document["verdict"]),
            dict(document["inputs"]),
            dict(document["data"]),
            arrays,
            claimed,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RecheckError(f"not a certificate: {error!r}") from None
    if document.get("schema") != "eigentoken/certificate/1":
        raise RecheckError(f"unknown certificate schema {document.get('schema')!r}")
    fresh = not isinstance(source, Mapping)  # hashed just now, from the arrays themselves
    for name, array in ({} if fresh else arrays).items():
        if claimed.get(name) != _float_digest(np.ascontiguousarray(array)):
            raise RecheckError(f"array {name!r} does not match the hash in the certificate")
    digest = document.get("digest")
    if digest is not None:
        bare = {key: document[key] for key in ("schema", "kind", "condition", "verdict", "inputs", "data", "arrays")}
        text = json.dumps(bare, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            raise RecheckError("the document was changed: its digest does not match")
    return result


def _read_file(path: Path) -> tuple[Any, dict[str, Floats]]:
    document = read_json(path, error=RecheckError)
    beside = path.with_suffix(".safetensors")
    named = document.get("arrays", {}) if isinstance(document, dict) else {}
    if not named or not beside.is_file():
        return document, {}
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return document, {name: array for name, array in load_file(beside).items() if name in named}
    except (SafetensorError, OSError) as error:
        raise RecheckError(f"cannot read {beside}: {error}") from None


def fraction_of(text: Json) -> Fraction:
    """An exact number of a certificate: ``p/q`` or a hexadecimal float."""
    try:
        if isinstance(text, str) and "0x" in text:
            value = float.fromhex(text)
            if not math.isfinite(value):
                raise RecheckError(f"not a finite number: {text!r}")
            return Fraction(value)
        return _decimal(text) if isinstance(text, str) else Fraction(text)
    except (ValueError, TypeError, ZeroDivisionError):
        raise RecheckError(f"not an exact number in the certificate: {text!r}") from None
