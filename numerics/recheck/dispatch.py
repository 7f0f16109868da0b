"""Which fact a certificate states, and which procedure of the re-check confirms it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import (
    UNCONFIRMED,
    CertificateDocument,
    Exact,
    ExactInputs,
    RecheckError,
    exact_input,
    form_terms,
    fraction_of,
    read_document,
)
from eigentoken.numerics.recheck.documents.shown import Shown
from eigentoken.numerics.recheck.matrices import floats, rational
from eigentoken.numerics.recheck.matrices.covering import confirm_discs
from eigentoken.numerics.recheck.matrices.gaps import confirm_gap
from eigentoken.numerics.recheck.matrices.leaders import confirm_leader
from eigentoken.numerics.recheck.matrices.meaning import implied, restated
from eigentoken.numerics.recheck.matrices.parts import gram_of, part_of, surely_nonzero
from eigentoken.numerics.recheck.matrices.signs import (
    FLOATS_FROM,
    PRIME,
    at_least,
    contradicted,
    direction_below,
    reaches_below,
    seen_kernel,
    symmetric_exact,
)
from eigentoken.numerics.recheck.matrices.times import KINDS, confirm_times, recheck_times_beside
from eigentoken.numerics.recheck.matrices.vectors import confirm_eigenvector
from eigentoken.numerics.recheck.matrices.verdict_documents import (
    VerdictParts,
    arrays_shown,
    recheck_answer,
    recheck_beside,
)
from eigentoken.numerics.recheck.points.classified import confirm_classification
from eigentoken.numerics.recheck.points.equilibria import confirm_equilibrium
from eigentoken.numerics.recheck.points.hemispheres import confirm_hemisphere
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["RecheckError", "recheck", "recheck_verdict"]

VERDICT = "eigentoken/verdict/"


def recheck(certificate: object, inputs: object = None, *, time_limit: float = 60.0) -> Verdict:
    """Does the certificate hold for these inputs?

    ``certificate``: a :class:`~eigentoken.theory.language.verdicts.Certificate`, its JSON document, a verdict document with one,
    or a file name.  ``inputs``: the matrix, or a mapping from input names to matrices (arrays, tensors, exact lists,
    file names); for samples in time the list of them; a formula, tokens and equilibria stand in their certificates, and
    are compared with what is given.
    """
    until = time.monotonic() + time_limit
    if isinstance(certificate, Mapping) and str(certificate.get("schema")).startswith(VERDICT):
        return _summed_up(recheck_verdict(certificate, inputs, time_limit=time_limit))
    try:
        document = read_document(certificate)
        why = _outer(certificate, document)
        if why is None:
            why = _confirm(document, inputs, until, _margin(certificate))
    except RecheckError as error:
        return fails(f"the re-check does not agree: {error}")
    except (rational.LateError, np.linalg.LinAlgError, MemoryError) as late:
        return undecided(f"neither confirmed nor shown false: {late}")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        return fails(f"the re-check does not agree: malformed certificate ({type(error).__name__}: {error})"[:300])
    if why is None:
        return holds(f"re-checked: {document.condition} {document.verdict}, from {document.kind} facts")
    if why.startswith(UNCONFIRMED):
        return undecided(f"neither confirmed nor shown false: {why.removeprefix(UNCONFIRMED)}")
    return fails(f"the re-check does not agree: {why}")


def _margin(source: Any) -> float | None:
    """The margin of a verdict document around the certificate."""
    stated = source.get("margin") if isinstance(source, Mapping) and "certificate" in source else None
    return None if stated is None else float(stated)


def _outer(source: Any, document: CertificateDocument) -> str | None:
    """A verdict around the certificate (inside a report) must give the same answer and margin."""
    if not (isinstance(source, Mapping) and "certificate" in source):
        return None
    if source.get("verdict") != document.verdict:
        return "the verdict is not the one that the certificate supports"
    if "margin" not in document.data:
        return None
    margin, stated = _margin(source), float.fromhex(str(document.data["margin"]))
    if margin is not None and margin != stated:
        return "the margin is not the one that the certificate supports"
    return restated(document, source.get("details"))


def recheck_verdict(source: Mapping[str, Json], inputs: object, *, time_limit: float = 60.0) -> Shown:
    """Every leaf of a ``certify --json`` document (already validated against its schema): see :mod:`.verdict_documents`."""
    until = time.monotonic() + time_limit
    shown = Shown(source)
    shown.cover(("schema",))
    if source["certificate"] is None:
        shown.cover(("certificate",), ("verdict",))
        if source["verdict"] == "undecided":
            shown.undecided(("certificate",), "nothing is claimed, so there is nothing to confirm")
        else:
            shown.fails(("verdict",), f"{source['verdict']} is stated without a certificate")
        return shown
    try:
        whole = {**source, "array_values": arrays_shown(source["certificate"], source["details"])}
        document = read_document(whole)
        why = _confirm(document, inputs, until, _margin(source))
        if document.kind in KINDS:
            shown.judge(("certificate",), why, UNCONFIRMED)
            recheck_answer(shown, document)
            recheck_times_beside(shown, document)
            return shown
        if len(document.inputs) != 1 or document.data["terms"] != [[[next(iter(document.inputs)), False]]]:
            why = "the certificate is not about the matrix itself"
        shown.judge(("certificate",), why, UNCONFIRMED)
        if why is None or why.startswith(UNCONFIRMED):
            named = inputs if isinstance(inputs, Mapping) else {next(iter(document.inputs)): inputs}
            exact = {name: exact_input(named[name]) for name in document.inputs}
            matrix = form_terms(document.data["terms"], exact)
            parts = VerdictParts(
                matrix, lambda form: part_of(matrix, form), lambda part: gram_of(part, Fraction(0), 1), until
            )
            recheck_beside(shown, document, parts)
    except RecheckError as error:
        shown.cover(("certificate",))
        shown.fails(("certificate",), str(error))
    except (rational.LateError, np.linalg.LinAlgError, MemoryError) as late:
        shown.undecided(("certificate",), f"neither confirmed nor shown false: {late}")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        shown.fails(("certificate",), f"malformed certificate ({type(error).__name__}: {error})"[:300])
    return shown


def _summed_up(shown: Shown) -> Verdict:
    """One answer for a whole document."""
    for answer, make in (("fails", fails), ("undecided", undecided)):
        found = [f"{each.where}: {each.why}" for each in shown.found if each.answer == answer]
        if found:
            start = "the re-check does not agree" if answer == "fails" else "neither confirmed nor shown false"
            return make(f"{start}: {'; '.join(found)}")
    return holds(
        f"re-checked: {shown.document['condition']} {shown.document['verdict']}, with all that is shown beside it"
    )


def _confirm(document: CertificateDocument, inputs: Any, until: float, margin: float | None) -> str | None:
    if document.kind in KINDS:
        return confirm_times(document, inputs, until, _confirm_matrix)
    if document.kind == "hemisphere":
        return confirm_hemisphere(document, inputs, margin)
    if document.kind in ("equilibrium-krawczyk", "equilibrium-lyapunov"):
        return confirm_equilibrium(document)
    if document.kind == "classification":
        return confirm_classification(document, inputs, until)
    if document.kind.startswith(("lab/", "limit/")):
        return f"{UNCONFIRMED}nothing: {document.kind} is re-checked within its report of a refutation"
    return _confirm_matrix(document, inputs, until)


def _confirm_matrix(document: CertificateDocument, inputs: Any, until: float) -> str | None:
    """Facts about one matrix, formed from the inputs."""
    data = document.data
    if not isinstance(inputs, Mapping):
        if len(document.inputs) != 1:
            return f"the certificate is about {len(document.inputs)} inputs: give them by name"
        inputs = {next(iter(document.inputs)): inputs}
    exact: dict[str, Exact] = inputs if isinstance(inputs, ExactInputs) else {}
    for name, digest in document.inputs.items():
        if name not in inputs:
            return f"input {name!r} was not given"
        if not isinstance(inputs, ExactInputs):
            exact[name] = exact_input(inputs[name])
        if exact[name].digest != digest:
            return f"the content of input {name!r} is not what was certified: its hash differs"
    for term in data["terms"]:
        if any(name not in document.inputs for name, _ in term):
            return "the certificate is about an input without a hash"
    matrix = exact.form(data["terms"]) if isinstance(exact, ExactInputs) else form_terms(data["terms"], exact)
    if list(matrix.shape) != list(data["shape"]):
        return "the shape of the matrix is not what was certified"
    slack = fraction_of(data["slack"])
    stated = float.fromhex(str(data["margin"]))
    unlimited = stated == float("inf") and document.kind == "leader" and matrix.shape == (1, 1)
    margin = Fraction(0) if unlimited else fraction_of(data["margin"])
    if slack < 0 or margin < 0 or data.get("unit") != "spectral norm":
        return "slack and margin are spectral norms, not negative"
    why = implied(document, matrix.shape[0], slack, margin)
    if why is not None:
        return why
    return _confirm_facts(document, matrix, exact, slack, margin, until)


def _confirm_facts(
    document: CertificateDocument,
    matrix: Exact,
    exact: Mapping[str, Exact],
    slack: Fraction,
    margin: Fraction,
    until: float,
) -> str | None:
    facts = document.data["facts"]
    square = matrix.shape[0] == matrix.shape[1]
    if document.kind not in ("norm", "rank") and not square:
        return f"{document.condition} needs a square matrix"
    if document.kind == "signs":
        return _confirm_signs(document, matrix, until)
    if document.kind == "leader":
        why = confirm_leader(document, matrix, slack + margin, until)
        return why if why is not None or "gap" not in facts else confirm_gap(facts, matrix, slack, until)
    if document.kind == "eigenvector":
        return confirm_eigenvector(document, matrix, slack + margin, until)
    if document.kind == "discs":
        return confirm_discs(document, matrix, slack, until)
    if document.kind == "rank":
        return _confirm_rank(facts, matrix, until)
    if document.kind == "core-inertia":
        return _confirm_core(facts, document.data["terms"], exact)
    part = part_of(matrix, str(facts["form"]))
    if document.kind == "equality":
        if facts["equal"]:
            return None if not any(part.numerators.entries()) else "the matrices are not equal"
        if not surely_nonzero(part) and not any(part.numerators.entries()):
            return "the matrices are equal"
        distance = fraction_of(facts["distance_above"])
        return None if distance == 0 else _norm_above(part, distance, until)
    why = None
    if "norm_at_most" in facts:
        why = _norm_at_most(part, fraction_of(facts["norm_at_most"]), until)
    if why is None and "norm_above" in facts:
        why = _norm_above(part, fraction_of(facts["norm_above"]), until)
    return why


def _confirm_signs(document: CertificateDocument, matrix: Exact, until: float) -> str | None:
    facts = document.data["facts"]
    p, q, z = (int(facts[name]) for name in ("positive", "negative", "zero"))
    beyond = fraction_of(facts["beyond"])
    part = symmetric_exact(matrix)
    direction = document.arrays.get("direction")
    if direction is not None and p + q + z == 1 and direction.shape == (matrix.shape[0],):
        if q == 1 and direction_below(part, direction, -beyond):
            return None
        if p == 1 and direction_below(part, direction, -beyond, flip=True):
            return None
    return at_least(part, Fraction(0), p, q, z, beyond, until, document.arrays.get("transform"))


def _norm_at_most(matrix: Exact, bound: Fraction, until: float) -> str | None:
    """``bound^2 I - M^T M`` has no negative eigenvalue."""
    if bound < 0:
        return "a norm is not below zero"
    gap = gram_of(matrix, bound * bound, -1)
    n = gap.shape[0]
    if n < FLOATS_FROM:
        negative = rational.counts(gap.numerators, until)[1]
        return None if negative == 0 else "the norm exceeds the stated bound"
    why = at_least(gap, Fraction(0), n, 0, 0, Fraction(0), until, None)
    if why is None or contradicted(gap, Fraction(0), n, 0, Fraction(0)):
        return why
    negative = rational.counts(gap.numerators, until)[1]  # the norm may be the bound: none is positive that has to be
    return None if negative == 0 else "the norm exceeds the stated bound"


def _norm_above(matrix: Exact, bound: Fraction, until: float) -> str | None:
    """``M^T M - bound^2 I`` has a positive eigenvalue, or a vector is stretched by more."""
    if bound < 0:
        return None
    gap = gram_of(matrix, -bound * bound, 1)
    if gap.shape[0] < FLOATS_FROM:
        positive = rational.counts(gap.numerators, until)[0]
        return None if positive >= 1 else "the norm does not exceed the stated bound"
    for each in gap.ever_sharper():
        if reaches_below(each, Fraction(0), flip=True):
            return None
    return at_least(gap, Fraction(0), 1, 0, 0, Fraction(0), until, None)


def _confirm_core(facts: Mapping[str, Any], terms: Any, exact: Mapping[str, Exact]) -> str | None:
    """Inertia of sym(Q^T K) = Z^T J Z / 2 from the rows of Z = [Q; K].

    With B a maximal set of independent rows and ``Z = T B`` the inertia is that of ``T^T J T``, padded with zeros.
    """
    if len(terms) != 1 or len(terms[0]) != 2 or [turned for _, turned in terms[0]] != [True, False]:
        return "a head is the product of one transposed and one plain factor"
    q, k = exact[terms[0][0][0]], exact[terms[0][1][0]]
    if q.shape != k.shape:
        return "the factors of a head have one shape"
    d_h, d = q.shape
    rows = (q.numerators * k.denominator).tolist() + (k.numerators * q.denominator).tolist()
    z = flint.fmpz_mat(rows)
    claimed = tuple(int(facts[name]) for name in ("positive", "negative", "zero"))
    if int(flint.nmod_mat(z, PRIME).rank()) == 2 * d_h:
        found: tuple[int, int, int] = (d_h, d_h, d - 2 * d_h)
    else:
        reduced = flint.fmpq_mat(z.transpose()).rref()[0]  # pivot columns of Z^T: independent rows of Z
        pivots = []
        for i in range(min(2 * d_h, d)):
            lead = next((j for j in range(2 * d_h) if reduced[i, j] != 0), None)
            if lead is None:
                break
            pivots.append(lead)
        r = len(pivots)
        # column j of the reduced matrix holds the coordinates of row j of Z in the pivot rows
        t = flint.fmpq_mat(2 * d_h, r, [reduced[i, j] for j in range(2 * d_h) for i in range(r)])
        swapped = flint.fmpq_mat(t.tolist()[d_h:] + t.tolist()[:d_h]) if r else t
        core = (t.transpose() * swapped).numer_denom()[0] if r else flint.fmpz_mat(0, 0)
        positive, negative, _ = rational.counts(core, time.monotonic() + 60)
        found = (positive, negative, d - positive - negative)
    return None if found == claimed else f"the inertia is {found}"


def _confirm_rank(facts: Mapping[str, Any], matrix: Exact, until: float) -> str | None:
    full = min(matrix.shape)
    if "rank_at_least" in facts:
        found = int(flint.nmod_mat(matrix.numerators, PRIME).rank())  # never above the rank
        if found < int(facts["rank_at_least"]):
            found = rational.rank(matrix.numerators, until)
        return None if found >= int(facts["rank_at_least"]) else f"the rank is {found}"
    rank, beyond = int(facts["rank"]), fraction_of(facts["beyond"])
    if rank < full and beyond != 0:
        return "a rank below the full one leaves nothing beyond zero"
    if rank == full and beyond > 0:
        if full < FLOATS_FROM:
            positive = rational.counts(gram_of(matrix, -beyond * beyond, 1).numerators, until)[0]
            return None if positive == full else "a singular value is not above the stated bound"
        if matrix.shape[0] == matrix.shape[1]:
            for each in matrix.ever_sharper():
                values, e, lost = each.rounded
                with np.errstate(all="ignore"):
                    reach = floats.inverse_reach(values) - lost * (1 + 2.0**-40)
                if Fraction(max(reach, 0.0)) >= beyond * Fraction(2) ** -e:
                    return None
        return at_least(gram_of(matrix, Fraction(0), 1), Fraction(0), full, 0, 0, beyond * beyond, until, None)
    if rank == full and int(flint.nmod_mat(matrix.numerators, PRIME).rank()) == full:
        return None
    if full >= FLOATS_FROM and matrix.shape[0] == matrix.shape[1]:
        least = int(flint.nmod_mat(matrix.numerators, PRIME).rank())
        if least == rank == full - seen_kernel(matrix, Fraction(0)):
            return None
    found = rational.rank(matrix.numerators, until)
    return None if found == rank else f"the rank is {found}"
