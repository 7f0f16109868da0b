r"""What the letters of a statement stand for: the parameters of its systems, numbers of eigenvalues, and signs of the language.

A page that is read without the book has no chapter on notation: this sentence stands in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import sympy as sp

from eigentoken.proofs.typeset.abbreviations import sort
from eigentoken.theory.kernel.propositions import free_letters, proposition
from eigentoken.theory.language.terms import alpha, k, p, q
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import System

__all__ = ["letters_of"]

#: A sign in a formula, and what it says.
_SIGNS = (
    (r"\\lambda_\{[^}]*\}\(", r"$\lambda_{\ell}(\cdot)$ is the eigenvalue number $\ell$ from the top, by real parts"),
    (r"(?<![A-Za-z])v_\{?[\w\\-]+\}?\(", r"$v_{\ell}(\cdot)$ a unit eigenvector of it"),
    (r"(?<![A-Za-z])u_\{?[\w\\-]+\}?\(", r"$u_{\ell}(\cdot)$ a unit left eigenvector of it"),
    (r"\\lVert", r"$\lVert \cdot \rVert$ the largest singular value"),
    (r"\\#", r"$\#\{\cdots\}$ counts eigenvalues, each as often as it is one"),
    (r"\\operatorname\{sym\}", r"$\operatorname{sym}(\cdot)$ the symmetric part of a matrix"),
)
_NUMBERS = {
    alpha: r"$\alpha > 0$ is the step",
    k: "$k$ is any number from $1$ to $d$",
    p: "$p$ tokens stand on one side and $q$ on the other, $p + q = n$",
}


def letters_of(told: Statement, text: str) -> str:
    """One sentence about the letters of the statement and of its text, which is in LaTeX; empty where there is nothing to say."""
    free = frozenset().union(*(free_letters(proposition(each)) for each in (*told.conditions, *told.claims)))
    steps = (
        {alpha} if any(each.kind == "step" for made in map(system, told.systems) for each in made.parameters) else set()
    )
    said = [*_parameters(told, free, text), *(words for letter, words in _NUMBERS.items() if letter in free | steps)]
    if q in free and p not in free:
        said.append(_NUMBERS[p])
    said += [words for sign, words in _SIGNS if re.search(sign, text)]
    return f"{'; '.join(said)}." if said else ""


def _parameters(told: Statement, free: Iterable[object], text: str) -> Iterator[str]:
    """The matrices of the systems, and others that stand free in the statement."""
    known: dict[str, str] = {}
    for made in map(system, told.systems):
        for name, meaning in _of_system(made):
            known.setdefault(name, meaning)
    matrices = {each.name for each in free if isinstance(each, sp.MatrixSymbol) and sort(each) == "matrix"}
    matrices = {each for each in matrices if re.search(rf"(?<![A-Za-z\\]){each}(?![A-Za-z_])", text)}
    several = [made for made in map(system, told.systems) if made.multihead]
    for made in several[:1]:
        single = sorted({f"${one.value}$" for one in map(system, told.systems) if not one.multihead and one.value})
        more = f" ({' or '.join(single)} where there is one)" if single else ""
        if made.value == "F" and "F" in matrices:
            known.setdefault("F", rf"the sum $\sum_h F_h$ over the heads{more}")
        for each in made.head_parameters:  # what is said of one letter is said of each head
            if each.name in matrices - {"F"}:
                known.setdefault(each.name, f"any of the ${each.name}_h$")
        if any(isinstance(each, sp.Symbol) and each.name == "H" and each.is_integer for each in free):
            known["H"] = "the number of heads"
    if not several and "F" in matrices and "F" not in known:
        values = sorted({f"${made.value}$" for made in map(system, told.systems) if made.value})
        known |= {"F": f"the value matrix {' or '.join(values)}"} if values else {}
    for name in sorted(matrices - {*known}):
        known[name] = "a unit vector" if name.islower() else "a real matrix"
    for name, meaning in known.items():
        yield f"${name}$ is {meaning}"


def _of_system(made: System) -> Iterator[tuple[str, str]]:
    for each in made.head_parameters if made.multihead else ():
        yield f"{each.name}_h", f"{_meaning(each.meaning)} of head $h$"
    for each in made.parameters:
        if each.kind == "matrix":
            yield each.name, _meaning(each.meaning)


def _meaning(told: str) -> str:
    """What a parameter is, without the formula that is printed beside it."""
    short = re.split("[:,]", told)[0]
    return short if short.startswith(("symmetric", "a ")) else f"the {short}"
