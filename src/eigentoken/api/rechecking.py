"""``et.recheck``: confirm an answer with the independent arithmetic, from memory or from its file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eigentoken.checking.formats import write_report
from eigentoken.checking.nearest import NearestReport
from eigentoken.checking.report import Report
from eigentoken.checking.steer import SteerReport
from eigentoken.comparing.compare import Comparison
from eigentoken.files.given_arrays import dense_array
from eigentoken.nulls.against_chance import AgainstChance
from eigentoken.numerics.basins.regions import Basin
from eigentoken.numerics.lab.report import RefutationReport
from eigentoken.numerics.lab.strengthen_report import StrengthenReport
from eigentoken.numerics.recheck import recheck as recheck_certificate
from eigentoken.rechecking.recheck import Recheck, Rechecked, recheck_document
from eigentoken.schemas import schema
from eigentoken.theory.classification.classification import Classification
from eigentoken.theory.language.verdicts import Certificate, Verdict

__all__ = ["recheck"]

#: The schemas of documents whose objects hold no name of one.
_KINDS = {"Comparison": "compare", "AgainstChance": "chance", "NearestReport": "nearest", "SteerReport": "steer"}


def recheck(
    subject: str
    | os.PathLike[str]
    | Report
    | Comparison
    | AgainstChance
    | NearestReport
    | SteerReport
    | Verdict
    | Certificate
    | Classification
    | Basin
    | RefutationReport
    | StrengthenReport
    | Mapping[str, Any],
    source: object = None,
    *,
    seconds: float = 60.0,
    run_predicates: bool = False,
    done: Callable[[], None] = lambda: None,
    states: object = None,
) -> Recheck:
    """Re-verify an answer: a file that a command wrote, or what a function here gave.

    ``source``: the matrix of a verdict or certificate (or a mapping from names to matrices), or the model of a report
    where it is not where the report says.  ``states``: those of ``check(..., states=)``, where the report does not hold
    them.  ``seconds`` for each certificate.  ``run_predicates`` runs the free predicates
    of a refutation again, which runs their file.

    >>> import numpy as np
    >>> from eigentoken.api.certifying import certify
    >>> recheck(certify("positive-definite", np.eye(2)), np.eye(2)).verdict == "holds"
    True
    """
    if isinstance(subject, Verdict | Certificate):
        return _of_certificate(subject, source, seconds)
    options: dict[str, Any] = {
        "source": source,
        "seconds": seconds,
        "run_predicates": run_predicates,
        "done": done,
        "states": states,
    }
    if isinstance(subject, str | os.PathLike):
        return recheck_document(Path(subject), **options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document.json"
        if isinstance(subject, Report):
            write_report(subject, {"json": path}, arrays=True)
        elif isinstance(subject, Comparison | AgainstChance | NearestReport | SteerReport):
            named = {"schema": schema(_KINDS[type(subject).__name__])["$id"], **subject.as_dict()}
            path.write_text(json.dumps(named, allow_nan=False), encoding="utf-8")
        elif isinstance(subject, Classification | Basin | RefutationReport | StrengthenReport | Mapping):
            document = subject if isinstance(subject, Mapping) else subject.as_dict()
            path.write_text(json.dumps(document, default=str, allow_nan=False), encoding="utf-8")
        else:
            raise TypeError(
                "subject must be a file, a report, a comparison, what was held against chance, a distance, an edit, a verdict, "
                f"a certificate, a classification, a basin, a refutation or a table of strengthen, got {type(subject).__name__}"
            )
        return recheck_document(path, **options)


def _of_certificate(subject: Verdict | Certificate, source: object, seconds: float) -> Recheck:
    certificate = subject if isinstance(subject, Certificate) else subject.certificate
    if certificate is None:
        why = "the verdict has no certificate: its own arithmetic is all there is"
        given = str(subject.answer) if isinstance(subject, Verdict) else ""
        return Recheck([Rechecked("certificate", "certificate", given, "undecided", why)])
    if source is None and certificate.inputs and certificate.kind != "time-formula":
        raise ValueError(f"the {certificate.kind} certificate is about a matrix: give it, recheck(verdict, matrix)")
    whole = (
        {**subject.as_dict(), "array_values": dict(certificate.arrays)} if isinstance(subject, Verdict) else certificate
    )
    plain = source if isinstance(source, Mapping) else dense_array("source", source)
    again = recheck_certificate(whole, plain, time_limit=seconds)
    line = Rechecked("certificate", certificate.condition, str(certificate.verdict), str(again.answer), again.reason)
    return Recheck([line])
