"""A criterion of stability: what is assumed, the closed form, and the lemmas that prove it, each of which is checked.

``stable`` means linearly asymptotically stable: all tangent eigenvalues inside the open unit disc (map), or in the open left
half plane (flow).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from eigentoken.documents.spectrum_document import Criterion as CriterionDocument
from eigentoken.documents.spectrum_document import Proof
from eigentoken.theory.language.verdicts import Verdict, all_of
from eigentoken.theory.linearization.spectrum import Spectrum, shown
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.printing.scalars import formula, ordered
from eigentoken.theory.proving.normal_form import identity_verdict
from eigentoken.theory.proving.real_arithmetic import Lemma

__all__ = ["Criterion", "Equality", "criterion_latex", "proof_latex", "statement_latex"]


@dataclass(frozen=True)
class Equality:
    """A lemma that is an identity: ``left = right`` wherever both are defined."""

    name: str
    left: sp.Expr
    right: sp.Expr
    because: str = ""
    shown: str = ""
    "LaTeX name of the left side, where its formula is long"

    def check(self) -> Verdict:
        """By the normal form of rational, exponential and hyperbolic functions."""
        return identity_verdict(self.left, self.right)


@dataclass(frozen=True, repr=False)
class Criterion:
    """Under the assumptions and hypotheses, the point of the spectrum is stable iff ``condition``.

    ``assumes`` says in words what the letters mean (which eigenvalue is which, how many tokens); ``hypotheses`` are
    relations between them.  ``proof`` is checked step by step and ``words`` says how the lemmas make it.  Without ``exact``
    the condition is sufficient only.  A condition that is never met says that the point is not asymptotically stable, and with
    ``unstable`` that an eigenvalue is outside.  ``letters`` are abbreviations of the criterion.
    """

    name: str
    spectrum: Spectrum
    hypotheses: tuple[sp.Basic, ...]
    condition: sp.Basic
    proof: tuple[Lemma | Equality, ...]
    words: str
    exact: bool = True
    assumes: tuple[str, ...] = ()
    unstable: bool = False
    letters: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()

    def __post_init__(self) -> None:
        names = [each.name for each in self.proof]
        twice = sorted({name for name in names if names.count(name) > 1})
        if not names or twice:
            what = f"the lemmas {', '.join(twice)} share a name" if twice else "there is no lemma"
            raise ValueError(f"{self.name}: the proof must have lemmas with different names, but {what}")

    def check(self) -> Verdict:
        """All lemmas; ``holds`` only when each of them does."""
        return all_of(self.verdicts)

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict on each lemma."""
        return {lemma.name: lemma.check() for lemma in self.proof}

    @property
    def latex(self) -> str:
        """The criterion as one display, with what is assumed before it."""
        return criterion_latex(self)

    def sentences(self) -> list[str]:
        """The criterion in plain lines: let, if, then, where."""
        lines = [f"let    {plain_text(_words('; '.join(self.assumes)))}"] if self.assumes else []
        if self.hypotheses:
            lines.append(f"if     {', '.join(plain_text(formula(each)) for each in self.hypotheses)}")
        lines.append(f"then   {plain_text(_claim_latex(self))}")
        if self.letters:
            meanings = [f"{plain_text(formula(name))} = {plain_text(formula(value))}" for name, value in self.letters]
            lines.append(f"where  {', '.join(meanings)}")
        return lines

    def as_dict(self) -> CriterionDocument:
        """The part of a ``spectrum`` document: formulas as texts that sympy reads and as LaTeX, and the checked proof."""
        return {
            "name": self.name,
            "assumes": list(self.assumes),
            "hypotheses": [shown(each) for each in self.hypotheses],
            "condition": shown(self.condition),
            "letters": [{"letter": shown(name), "meaning": shown(meaning)} for name, meaning in self.letters],
            "exact": self.exact,
            "unstable": self.unstable,
            "proof": [_step(each, self.verdicts[each.name]) for each in self.proof],
            "words": self.words,
            "verdict": self.check().answer.text,
        }

    def __str__(self) -> str:
        known = f"checked: {self.check().answer}" if "verdicts" in self.__dict__ else "not yet checked here: .check()"
        proof = f"  proof  {len(self.proof)} steps, {known}"
        return "\n".join([self.name, *(f"  {line}" for line in self.sentences()), proof])

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return self.latex


def _step(lemma: Lemma | Equality, verdict: Verdict) -> Proof:
    """One lemma of a document: as it is printed, its verdict, and the question to a solver where there is one."""
    asked = None if verdict.certificate is None else verdict.certificate.data.get("smtlib")
    return {
        "name": lemma.name,
        "latex": lemma_latex(lemma),
        "verdict": verdict.answer.text,
        "reason": verdict.reason,
        "smtlib": None if asked is None else str(asked),
    }


# -- LaTeX ------------------------------------------------------------------------------------------------------------


def statement_latex(hypotheses: tuple[Any, ...], conclusion: Any) -> str:
    """``hypotheses => conclusion``, on several lines where it is long."""
    given = _lines([formula(each) for each in hypotheses], ",\\ ")
    if isinstance(conclusion, sp.Equivalent):
        sides = [formula(part) for part in ordered(conclusion)]
        claim = [sides[0], *(rf"\iff\ {side}" for side in sides[1:])]
    elif isinstance(conclusion, sp.And):
        sides = [formula(part) for part in ordered(conclusion)]
        claim = [sides[0], *(rf"\text{{and}}\ {side}" for side in sides[1:])]
    else:
        claim = [formula(conclusion)]
    if not given:
        return claim[0] if len(claim) == 1 else _aligned(claim)
    return _aligned([*given, rf"\Longrightarrow\ {claim[0]}", *claim[1:]])


def _lines(parts: Sequence[str], separator: str, width: int = 100) -> list[str]:
    """The parts joined, with a new line where one gets long."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) <= width:
            lines[-1] += separator + part
        else:
            if lines:
                lines[-1] += ","
            lines.append(part)
    return lines


def _aligned(lines: Sequence[str]) -> str:
    if len(lines) == 1:
        return lines[0]
    return "\\begin{aligned}\n" + " \\\\\n".join(f"&{line}" for line in lines) + "\n\\end{aligned}"


def _claim_latex(criterion: Criterion) -> str:
    if criterion.condition is sp.false:
        return rf"\text{{the point is {'unstable' if criterion.unstable else 'not asymptotically stable'}}}"
    if criterion.condition is sp.true:
        return r"\text{the point is stable}"
    arrow = r"\iff" if criterion.exact else r"\impliedby"
    return rf"\text{{the point is stable}}\ {arrow}\ {formula(criterion.condition)}"


def criterion_latex(criterion: Criterion) -> str:
    """What is assumed in words, then the criterion as one display."""
    given = ",\\ ".join(formula(each) for each in criterion.hypotheses)
    claim = _claim_latex(criterion)
    lines = [given, rf"\Longrightarrow\ {claim}"] if given else [claim]
    where = ",\\ ".join(f"{formula(name)}={formula(meaning)}" for name, meaning in criterion.letters)
    if where:
        lines.append(rf"\text{{where }}{where}")
    assumed = _words("; ".join(criterion.assumes))
    before = f"{assumed[:1].upper()}{assumed[1:]}:\n" if assumed else ""
    return f"{before}\\[\n{_aligned(lines)}.\n\\]"


def lemma_latex(lemma: Lemma | Equality) -> str:
    """A lemma as it is checked."""
    if isinstance(lemma, Equality):
        return f"{lemma.shown or formula(lemma.left)}={formula(lemma.right)}"
    return statement_latex(lemma.hypotheses, lemma.conclusion)


def proof_latex(criterion: Criterion) -> str:
    """The lemmas of the proof, one item each, as they are checked."""
    items = [f"\\item {_words(lemma.name)}:\n\\[\n{lemma_latex(lemma)}\n\\]" for lemma in criterion.proof]
    return "\\begin{enumerate}\n" + "\n".join(items) + "\n\\end{enumerate}\n" + _words(criterion.words)


#: Letters of formulas in plain words: greek ones, those with an index, and covectors such as ``v^T``.
_GREEK = re.compile(r"\b(lambda|kappa|mu|alpha|delta|rho)(_\{[^}]*\}|_\w+)?(?!\w)")
_INDEXED = re.compile(r"(?<![\w$])([bvmGTD]_\w+)")
_SINGLE = re.compile(r"(?<![\w$\\{])([pqstdvnziMJB])(?![\w$^'])")
_COVECTOR = re.compile(r"\b([a-z])\^T\b")
_SIGNS = {"<=": r"$\le$", ">=": r"$\ge$", "!=": r"$\ne$", "<": "$<$", ">": "$>$", "|": "$|$", "^": r"\^{}"}


def _words(text: str) -> str:
    """Plain words with the letters of the formulas in mathematics."""
    text = _GREEK.sub(lambda found: f"${_letter(found.group(0))}$", text)
    text = _COVECTOR.sub(r"$\1$\0T", _INDEXED.sub(r"$\1$", text))
    text = _SINGLE.sub(r"$\1$", text)
    for sign, shown_sign in _SIGNS.items():
        text = re.sub(rf"(?<!\$){re.escape(sign)}(?!\$)", shown_sign.replace("\\", "\\\\"), text)
    return text.replace("\0T", r"$^{\top}$")


def _letter(word: str) -> str:
    stem, _, index = word.partition("_")
    index = {"l": r"\ell", "ell": r"\ell"}.get(index, index)
    return f"\\{stem}" + (f"_{index}" if index else "")
