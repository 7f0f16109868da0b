"""What ``classify`` answers: the class of a point, its spectrum with closed forms, its stability."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar, Literal, cast, get_args

import sympy
from flint import acb

from eigentoken.display import frame, listing
from eigentoken.documents.classification_document import Certificate as CertificateOfAPoint
from eigentoken.documents.classification_document import (
    ClassificationDocument,
    ClassifiedData,
    Nearby,
    PointArithmetic,
    PointClass,
    ShapeName,
    SpectrumEntry,
    Stability,
)
from eigentoken.documents.classification_document import Verdict as VerdictAtAPoint
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.verdicts import Certificate, Verdict

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Classification", "ExactEigenvalue"]


@dataclass(frozen=True)
class ExactEigenvalue:
    """One entry of a spectrum: a closed form where there is one, the nearest double, the multiplicity.

    ``ball`` certainly contains the eigenvalue, and all that is decided about it is decided with the ball (or the closed
    form); ``value`` and ``enclosure``, its midpoint and its text, are for display.
    """

    exact: sympy.Expr | None
    value: complex
    multiplicity: int
    description: str | None = None
    enclosure: str = ""
    ball: acb | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str | None:
        """The closed form, or what is known in its place."""
        return self.description if self.exact is None else str(self.exact)

    @property
    def number(self) -> float | list[float]:
        """The nearest double; of a complex eigenvalue the pair [re, im]."""
        return self.value.real if self.value.imag == 0 else [self.value.real, self.value.imag]

    def as_dict(self) -> SpectrumEntry:
        """``{"exact", "float", "multiplicity", "enclosure"}``."""
        return {
            "exact": self.text,
            "float": self.number,
            "multiplicity": self.multiplicity,
            "enclosure": self.enclosure,
        }

    @property
    def closed(self) -> sympy.Expr:
        """Closed form, or 15 digits."""
        if self.exact is not None:
            return self.exact
        real, imaginary = (sympy.Float(each, 15) for each in (self.value.real, self.value.imag))
        return real + imaginary * sympy.I if imaginary else real

    @property
    def latex(self) -> str:
        """Closed form, or 15 digits."""
        if self.exact is not None:
            return str(sympy.latex(self.exact))
        return str(sympy.latex(sympy.Float(self.value.real, 15) + sympy.Float(self.value.imag, 15) * sympy.I))


def verdict_at_a_point(verdict: Verdict) -> VerdictAtAPoint:
    """A verdict of a classification: its certificate is about the instance, and nothing stands beside the answer."""
    whole = verdict.as_dict()
    return {
        "verdict": whole["verdict"],
        "margin": whole["margin"],
        "unit": whole["unit"],
        "reason": whole["reason"],
        "certificate": None if verdict.certificate is None else _certificate(verdict.certificate),
        "details": {},
    }


def _certificate(certificate: Certificate) -> CertificateOfAPoint:
    whole = certificate.as_document()
    return {
        "schema": whole["schema"],
        "kind": "classification",
        "condition": whole["condition"],
        "verdict": whole["verdict"],
        "inputs": {"instance": certificate.inputs["instance"]},
        "data": cast(ClassifiedData, whole["data"]),  # as eigentoken.theory.classification.certificates wrote it
        "arrays": {},
        "digest": whole["digest"],
    }


@dataclass(frozen=True)
class Classification:
    """The class of a point (see :mod:`eigentoken.theory.classification.classify`), with what decides it."""

    instance: Instance
    kind: PointClass
    equilibrium: Verdict
    stable: Verdict
    also: tuple[ShapeName, ...] = ()
    shape: ShapeName | None = None
    k: int | None = None
    eigenvalue: ExactEigenvalue | None = None
    p: int | None = None
    q: int | None = None
    clusters: int | None = None
    attention_rank: tuple[int | None, ...] = ()
    spectrum: tuple[ExactEigenvalue, ...] = ()
    linearization: Stability | None = None
    unstable_dimension: int | None = None
    arithmetic: PointArithmetic = "exact"
    notes: tuple[str, ...] = field(default=())
    nearby: Nearby | None = None
    "for a point that is no equilibrium by less than 1e-6: the certified equilibrium beside it, if there is one"

    SCHEMA: ClassVar[Literal["eigentoken/classification/2"]] = "eigentoken/classification/2"

    def __eq__(self, other: object) -> bool:
        """Compared with a text: is this its class?  A text that is no class is an error."""
        if isinstance(other, str):
            if other not in get_args(PointClass):
                named = ", ".join(get_args(PointClass))
                raise ValueError(f"a point is one of {named}, got {other!r}: compare it with one of these")
            return self.kind == other
        if not isinstance(other, Classification):
            return NotImplemented
        return all(getattr(self, each.name) == getattr(other, each.name) for each in fields(self))

    def __hash__(self) -> int:
        return hash(self.kind)

    @property
    def eigenvalues(self) -> list[sympy.Expr]:
        """The spectrum as one list: closed forms where there are, else 15 digits; each as often as its multiplicity says."""
        return [each.closed for each in self.spectrum for _ in range(each.multiplicity)]

    def as_dict(self) -> ClassificationDocument:
        """The JSON document of DESIGN section 5."""
        rank = list(self.attention_rank)
        return {
            "schema": self.SCHEMA,
            "instance": self.instance.as_dict(),
            "instance_sha256": self.instance.digest(),
            "system": self.instance.system.name,
            "n": self.instance.n,
            "d": self.instance.d,
            "class": self.kind,
            "also": list(self.also),
            "shape": self.shape,
            "equilibrium": verdict_at_a_point(self.equilibrium),
            "k": self.k,
            "eigenvalue": None
            if self.eigenvalue is None
            else {"exact": self.eigenvalue.text, "float": self.eigenvalue.number},
            "p": self.p,
            "q": self.q,
            "clusters": self.clusters,
            "attention_rank": rank[0] if len(rank) == 1 else rank or None,
            "spectrum": [entry.as_dict() for entry in self.spectrum],
            "linearization": self.linearization,
            "unstable_dimension": self.unstable_dimension,
            "stable": verdict_at_a_point(self.stable),
            "arithmetic": self.arithmetic,
            "notes": list(self.notes),
            "nearby": None if self.nearby is None else self.nearby.copy(),
        }

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    @property
    def latex(self) -> str:
        """The class and the table of its spectrum; needs amsmath alone."""
        rows = [rf"{entry.latex} & {entry.multiplicity}" for entry in self.spectrum]
        table = (
            r"\begin{array}{lr} \text{eigenvalue} & \text{multiplicity} \\ \hline "
            + r" \\ ".join(rows)
            + r" \end{array}"
        )
        return rf"\text{{{self.kind}}}\qquad " + table

    def _repr_html_(self) -> str:
        from html import escape

        entries = [entry.as_dict() for entry in self.spectrum]
        rows = "".join(
            f"<tr><td>{escape(str(entry['exact'] or ''))}</td><td>{entry['float']}</td>"
            f"<td>{entry['multiplicity']}</td></tr>"
            for entry in entries
        )
        head = "<tr><th>exact</th><th>float</th><th>multiplicity</th></tr>"
        return (
            f"<p><b>{escape(self.kind)}</b>; equilibrium {self.equilibrium._repr_html_()}; "
            f"stable {self.stable._repr_html_()}</p><table>{head}{rows}</table>"
        )

    def __repr__(self) -> str:
        place = "".join(f", {name} = {value}" for name, value in (("k", self.k), ("p", self.p), ("q", self.q)) if value)
        lines = [f"equilibrium: {self.equilibrium!r}", f"stable: {self.stable!r}"]
        lines += [
            f"{entry.value if entry.exact is None else entry.exact} (multiplicity {entry.multiplicity})"
            for entry in self.spectrum
        ]
        return listing(f"<{self.instance.system.name}: {self.kind}{place}>", lines)

    def to_frame(self) -> DataFrame:
        """One row an eigenvalue of the tangent spectrum (pandas)."""
        return frame(entry.as_dict() for entry in self.spectrum)

    def __str__(self) -> str:
        parts = [f"{self.instance.system.name}: {self.kind}", f"stable: {self.stable.answer!s} ({self.stable.reason})"]
        return "; ".join(parts)
