"""Quantities of the calculus and matrices as terms of Coq: sums over tokens and heads, inner products, exponentials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import sympy as sp

from eigentoken.proofs.coq.terms import NotExportable
from eigentoken.theory.calculus import Expression, Index
from eigentoken.theory.calculus.atoms import Base, Dot, Exp, Letter, Norm, SumExp
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.kernel.propositions import Atom, Proposition, children
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter, bases_of, is_defined, letters_in, norms_of
from eigentoken.theory.language.terms import matrix

__all__ = ["Arities", "Env", "Speaker", "arities_of", "matrix_text", "of_a_map", "tensor_text", "vector_text"]


@dataclass
class Arities:
    """Which vectors are families with a member for each token, and which matrices are families with one for each head."""

    vectors: dict[str, int] = field(default_factory=dict)
    families: set[str] = field(default_factory=set)


#: What letters are in Coq where they are not what their names say: the value of a letter that was replaced.
Env = Mapping[Any, str]


class Speaker(Protocol):
    """Who gives letters, scales and ranges their text."""

    arities: Arities
    raw: tuple[str, str] | None

    def shown(self, letter: Any, env: Env) -> str: ...
    def real(self, thing: Any, env: Env) -> str: ...
    def range(self, kind: str) -> str: ...


def arities_of(propositions: Iterable[Proposition]) -> Arities:
    """Read off from every quantity; a letter that is used in two ways is refused."""
    found = Arities()
    single: set[str] = set()
    for tensor in {each for said in propositions for each in _tensors(said)}:
        for base in bases_of(tensor.key):
            if found.vectors.setdefault(base.name, len(base.indices)) != len(base.indices):
                raise NotExportable(f"{base.name} is a vector and a family of vectors")
        for letter in letters_in(tensor.key):
            (found.families if letter.indices else single).add(letter.name)
    if found.families & single:
        raise NotExportable(f"{', '.join(found.families & single)} is a matrix and a family of matrices")
    return found


def _tensors(said: Proposition) -> set[Tensor]:
    here = _in_word(said.word) if isinstance(said, Atom) else set()
    return here.union(*map(_tensors, children(said)))


def _in_word(thing: Any) -> set[Tensor]:
    if isinstance(thing, sp.Basic):
        return set(thing.atoms(Tensor))
    fields = getattr(thing, "__dataclass_fields__", {})
    parts = thing if isinstance(thing, tuple) else [getattr(thing, each) for each in fields]
    return set().union(*map(_in_word, parts)) if parts else set()


def tensor_text(key: tuple[tuple[Monomial, sp.Expr], ...], speech: Speaker, env: Env) -> str:
    """``sum of c * (sum over its indices of its factors)``."""
    pieces = []
    for monomial, scale in key:
        text = _monomial(monomial, speech, env)
        pieces.append(
            text
            if scale == 1
            else f"({speech.real(scale, env)} * {text})"
            if text != "1"
            else _scale(scale, speech, env)
        )
    return "0" if not pieces else pieces[0] if len(pieces) == 1 else f"({' + '.join(pieces)})"


def _scale(scale: Any, speech: Speaker, env: Env) -> str:
    return f"({speech.real(scale, env)})"


def _monomial(monomial: Monomial, speech: Speaker, env: Env) -> str:
    if monomial.arrow is not None:
        raise NotExportable("a vector is no number")
    inner = dict(env)
    opening = ""
    for index in monomial.bound:
        name = _bound_name(inner)
        inner[index] = name
        opening += f"(total {speech.range(index.kind)} (fun {name} => "
    text = _product(monomial.factors, speech, inner)
    return opening + text + "))" * len(monomial.bound)


def _bound_name(env: Env) -> str:
    return f"s{sum(str(each).startswith('s') and str(each)[1:].isdigit() for each in env.values()) + 1}"


def _product(factors: Iterable[tuple[Any, int]], speech: Speaker, env: Env) -> str:
    parts = []
    for atom, power in factors:
        text = _atom(atom, speech, env)
        raised = text if abs(power) == 1 else f"({text} ^ {abs(power)})"
        parts.append(raised if power > 0 else f"(/ {raised})")
    return "1" if not parts else parts[0] if len(parts) == 1 else f"({' * '.join(parts)})"


def _atom(atom: Any, speech: Speaker, env: Env) -> str:
    if isinstance(atom, Dot):
        right = base_text(atom.right, speech, env)
        for letter in reversed(atom.letters):
            right = f"(image d {letter_text(letter, speech, env)} {right})"
        return f"(dot d {base_text(atom.left, speech, env)} {right})"
    if isinstance(atom, Exp):
        return f"(exp {tensor_text(atom.exponent, speech, env)})"
    if isinstance(atom, SumExp) and not atom.masks:
        name = _bound_name(env)
        inner = {**env, atom.bound: name}
        return (
            f"(total {speech.range(atom.bound.kind)} (fun {name} => exp {tensor_text(atom.exponent, speech, inner)}))"
        )
    if isinstance(atom, Norm) and atom.name == "r":
        return _of_the_map(1, atom.indices, speech, env)
    raise NotExportable(f"{type(atom).__name__} has no form in Coq here")


def base_text(base: Base, speech: Speaker, env: Env) -> str:
    if base.name == "y":
        return _of_the_map(0, base.indices, speech, env)
    if is_defined(base.name):
        raise NotExportable(f"{base.name} is defined by the equation of a map")
    here = speech.shown(VectorLetter(base.name), env)
    return f"({here} {_places(base.indices, speech, env)})" if base.indices else here


def _of_the_map(which: int, indices: tuple[Index, ...], speech: Speaker, env: Env) -> str:
    """``y_i``, what a map makes of a token before it is scaled to length 1, or its norm ``r_i``."""
    if speech.raw is None:
        raise NotExportable("the equation of the map, with y and r, has no form in Coq here")
    x = speech.shown(VectorLetter(STATE), env)
    return speech.raw[which].format(x=x, i=_places(indices, speech, env))


def of_a_map(propositions: Iterable[Proposition]) -> bool:
    """Is something said of ``y`` or ``r``?"""
    keys = [each.key for said in propositions for each in _tensors(said)]
    return any(norms_of(key) or any(is_defined(base.name) for base in bases_of(key)) for key in keys)


def _places(indices: tuple[Index, ...], speech: Speaker, env: Env) -> str:
    return " ".join(speech.shown(each, env) for each in indices)


def letter_text(letter: Letter, speech: Speaker, env: Env) -> str:
    here = speech.shown(matrix(letter.name), env)
    here = f"({here} {_places(letter.indices, speech, env)})" if letter.indices else here
    return f"(transposed {here})" if letter.transposed else here


def vector_text(value: Expression, speech: Speaker, env: Env) -> str:
    """A vector: a sum of scales times products of matrices and a vector, or sums of these."""
    terms = list(value.terms.items())
    if len(terms) == 1 and terms[0][1] == 1 and not terms[0][0].bound and not terms[0][0].factors:
        return _arrow(terms[0][0], speech, env)
    pieces = []
    for monomial, scale in terms:
        inner, opening = dict(env), ""
        for index in monomial.bound:
            name = _bound_name(inner)
            inner[index] = name
            opening += f"(total {speech.range(index.kind)} (fun {name} => "
        entry = f"{_arrow(monomial, speech, inner)} a"
        factors = _product(monomial.factors, speech, inner)
        entry = entry if factors == "1" else f"{factors} * {entry}"
        text = opening + entry + "))" * len(monomial.bound)
        pieces.append(text if scale == 1 else f"{speech.real(scale, env)} * {text}")
    return f"(fun a => {' + '.join(pieces) or '0'})"


def _arrow(monomial: Monomial, speech: Speaker, env: Env) -> str:
    if monomial.arrow is None:
        raise NotExportable("a number is no vector")
    letters, base = monomial.arrow
    right = base_text(base, speech, env)
    for letter in reversed(letters):
        right = f"(image d {letter_text(letter, speech, env)} {right})"
    return right


def matrix_text(thing: Any, speech: Speaker, env: Env) -> str:
    """A matrix expression."""
    if isinstance(thing, sp.MatrixSymbol):
        if thing.name in speech.arities.families:
            raise NotExportable(f"{thing.name} is a family of matrices, one for each head")
        return speech.shown(thing, env)
    if isinstance(thing, sp.Identity):
        return "mat_identity"
    if isinstance(thing, sp.ZeroMatrix):
        return "mat_zero"
    if isinstance(thing, sp.Transpose):
        return f"(transposed {matrix_text(thing.arg, speech, env)})"
    if isinstance(thing, sp.Inverse):
        return f"(inverse {matrix_text(thing.arg, speech, env)})"
    if isinstance(thing, sp.MatAdd):
        parts = [matrix_text(each, speech, env) for each in thing.args]
        text = parts[-1]
        for each in reversed(parts[:-1]):
            text = f"(mat_sum {each} {text})"
        return text
    if isinstance(thing, sp.MatMul):
        scales = [each for each in thing.args if not each.is_Matrix]
        parts = [matrix_text(each, speech, env) for each in thing.args if each.is_Matrix]
        text = parts[-1]
        for each in reversed(parts[:-1]):
            text = f"(mat_product d {each} {text})"
        return f"(mat_scaled {speech.real(sp.Mul(*scales), env)} {text})" if scales else text
    raise NotExportable(f"{type(thing).__name__} is no matrix here")
