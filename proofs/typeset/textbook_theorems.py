"""The list of textbook theorems that the kernel uses: what a reader must believe, printed from the schemas themselves.

A schema has letters of kinds; it is printed for letters that stand for anything of their kind (a vector ``z``, a quantity of each
token, a number), so that what is printed is what the kernel applies.  Where a kind asks for a shape (a form in a vector, a speed
along a ray) it is printed for an example.  A theorem that asks for less, says more, or is about more systems is another page.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections import Counter
from collections.abc import Iterator
from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from eigentoken.proofs import steps
from eigentoken.proofs.steps.saddle_theorems import FAMILY
from eigentoken.theory.calculus import SLOT, Expression, Index, MaskEntry, dot, factor, vector
from eigentoken.theory.calculus import matrix as product
from eigentoken.theory.kernel.books import Textbook
from eigentoken.theory.kernel.formulas import latex
from eigentoken.theory.kernel.propositions import TRUE, ForAll, Proposition, proposition
from eigentoken.theory.kernel.refused import Refused
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix

__all__ = ["all_theorems", "entry", "readings", "theorem_page"]


def all_theorems() -> list[Textbook]:
    """Every theorem that a module of the steps states, in the order of their names."""
    modules = [
        importlib.import_module(f"{steps.__name__}.{each.name}") for each in pkgutil.iter_modules(steps.__path__)
    ]
    found = {id(each): each for module in modules for each in vars(module).values() if isinstance(each, Textbook)}
    keys = Counter(each.key for each in found.values())
    if len(keys) < len(found):
        twice = ", ".join(sorted(key for key, times in keys.items() if times > 1))
        raise ValueError(f"two theorems have the key {twice}: give each its own")
    return sorted(found.values(), key=lambda each: (each.name.removeprefix("the ").lower(), each.key))


def _stand_ins(letter: str, kind: type) -> Iterator[Any]:
    """Objects that are nothing but of the kind."""
    if issubclass(kind, sp.MatrixExpr):
        yield matrix(letter)
    elif issubclass(kind, Expression):
        token = Index("token", "p")
        yield vector(letter)
        for place in (SLOT, token):
            yield dot(vector(STATE, place), vector(letter))
        yield dot(vector(STATE, token), vector(STATE, token)).summed(token)
        yield dot(vector(letter), vector(letter))
    elif issubclass(kind, Proposition):
        height = dot(vector(STATE, Index("token", "q")), vector(letter))
        yield ForAll(Index("token", "q"), TRUE, proposition(sp.Gt(Tensor(height), 0)))
    elif issubclass(kind, Index):
        yield Index("token", letter)
    elif issubclass(kind, VectorLetter):
        yield VectorLetter(letter)
    elif issubclass(kind, sp.Basic):
        yield sp.Symbol(letter, real=True)


def _ray(grows: bool) -> dict[str, Any]:
    size = sp.Symbol("r", positive=True)
    weights = tuple((Str(name), ((sp.Integer(1),),)) for name in ("Q", "K", "V"))
    speed = 2 * size if grows else -2 * size
    return {"weights": weights, "v": ((sp.Integer(1),),), "g": sp.Lambda(size, speed), "grows": grows}


def _examples() -> dict[str, tuple[dict[str, Any], ...]]:
    """Objects for theorems whose letters must have a shape."""
    i, j = Index("token", "p"), Index("token", "q")
    x, w, v, A = vector(STATE, i), vector("b"), VectorLetter("v"), product("A")
    seen = (factor(MaskEntry("causal", i, j)) * vector(STATE, j)).summed(j)
    above = ForAll(j, TRUE, proposition(sp.Ge(Tensor(dot(w, vector(STATE, j))), 0, evaluate=False)))
    return {
        "Cauchy-Schwarz-families": ({name: vector(name, Index("token", "i")) for name in ("y", "z")},),
        "ray": (_ray(True), _ray(False)),
        "mean-of-a-form": ({"q": dot(vector(v.name), w, A) ** 2, "A": matrix("A"), "v": v},),
        "Rayleigh-self-adjoint": ({"image": vector(FAMILY.name, i).applied(product("T")), "weight": dot(w, x)},),
        "Liouville-fibre": ({"f": seen - x * dot(x, seen), "i": i, "R": above, "m": sp.Symbol("m", real=True)},),
    }


def readings(theorem: Textbook) -> list[tuple[tuple[Proposition, ...], Proposition]]:
    """The schema, hypotheses and conclusion, for letters that stand for anything; or for examples."""
    given = _examples().get(theorem.key)
    if given is not None:
        return [theorem.of(**objects) for objects in given]
    kinds = [kind if isinstance(kind, tuple) else (kind,) for kind in theorem.letters.values()]
    choices = [
        [each for one in several for each in _stand_ins(letter, one)]
        for letter, several in zip(theorem.letters, kinds, strict=True)
    ]
    for objects in itertools.product(*choices):
        try:
            return [theorem.of(**dict(zip(theorem.letters, objects, strict=True)))]
        except (Refused, TypeError, ValueError):
            continue
    raise ValueError(f"{theorem.name} cannot be printed: give an example of its letters {', '.join(theorem.letters)}")


def _about(theorem: Textbook) -> str:
    """The systems that it can be applied to."""
    time = "any system" if theorem.time is None else f"a {theorem.time.value}"
    where = "" if theorem.space is None else f" on the {theorem.space.value}"
    fixed = " whose matrices do not depend on time" if theorem.autonomous else ""
    may = (
        f" Matrices in {', '.join(f'${each}$' for each in theorem.moves)} may depend on time." if theorem.moves else ""
    )
    return f"It is about {time}{where}{fixed}.{may}"


def entry(theorem: Textbook) -> Iterator[str]:
    """What is printed of one theorem."""
    yield f"## {theorem.name[0].upper()}{theorem.name[1:]}"
    yield ""
    yield f"`{theorem.key}`. {theorem.reference}."
    yield _about(theorem)
    for given, conclusion in readings(theorem):
        yield ""
        yield from (f"- if ${latex(each)}$" for each in given)
        yield f"- then ${latex(conclusion)}$"


def theorem_page() -> Iterator[str]:
    """The page in Markdown."""
    yield "# Textbook theorems"
    yield ""
    yield "What the kernel takes from books: besides its rules and the engines behind them, this is what a reader must believe."
    yield "Hypotheses and conclusion are printed from the schema that the kernel applies, for letters that stand for anything of"
    yield "their kind, or for an example; books are cited by author, title and chapter (numbers of theorems were not checked)."
    for theorem in all_theorems():
        yield ""
        yield from entry(theorem)
