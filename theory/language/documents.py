"""Words as JSON and back: a report can be re-checked without the file that stated the conjecture, and nothing is evaluated.

The document of a conjecture, which a report of ``refute`` carries and its certificates name: its parts and its digest.

Both sides of the wall use it: the issuer writes it, the re-check forms the digest again.  The sha256 shows that something was
changed; it is no signature.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, SupportsInt

import sympy as sp

from eigentoken.documents.refutation_document import Mask as MaskDocument
from eigentoken.theory.language import (  # noqa: F401 - some enter words
    matrix_words,
    observables,
    observables_attention,
    observables_of_spread,
    opposites_and_rates,
    proportion,
    regions,
    terms,
)
from eigentoken.theory.language import places as points
from eigentoken.theory.language.observables import Observable
from eigentoken.theory.language.places import Place
from eigentoken.theory.language.readings import WORDS
from eigentoken.theory.systems.algebra import causal_mask

__all__ = [
    "FREE",
    "GIVEN",
    "UnknownObservable",
    "WordDocumentError",
    "conjecture_digest",
    "decode",
    "encode",
    "mask_document",
]


class WordDocumentError(ValueError):
    """A document that does not say a word of the language."""


class UnknownObservable(WordDocumentError):
    """An observable that a conjecture file defined itself: it cannot be read from a report alone."""


_FUNCTIONS: dict[str, Any] = {
    each.__name__: each
    for each in (
        sp.Add, sp.Mul, sp.Pow, sp.Abs, sp.Max, sp.Min, sp.exp, sp.log, sp.sin, sp.cos, sp.sinh, sp.cosh, sp.tanh,
        sp.StrictLessThan, sp.LessThan, sp.StrictGreaterThan, sp.GreaterThan, sp.Equality, sp.Unequality,
        sp.And, sp.Or, sp.Not, sp.Implies, sp.MatAdd, sp.MatMul, sp.MatPow, sp.Transpose, sp.Inverse, sp.Identity,
    )
}  # fmt: skip
_SYMBOLS = {str(each): each for each in (terms.n, terms.d, terms.k, terms.ell, terms.p, terms.q, terms.alpha)}


def _numbers() -> dict[str, Any]:
    found = [terms.MatrixNumber]
    for each in found:
        found += each.__subclasses__()
    return {each.__name__: each for each in found}


def _observables() -> dict[str, Observable]:
    listed = {**vars(observables), **vars(observables_attention), **vars(observables_of_spread)}
    return {each.name: each for each in listed.values() if isinstance(each, Observable)}


def encode(thing: object) -> dict[str, object]:
    """The JSON of a word, a place, a term or a plain value."""
    if thing is None or isinstance(thing, bool | int | str):
        return {"value": thing}
    if isinstance(thing, tuple | list):
        return {"list": [encode(each) for each in thing]}
    if isinstance(thing, Observable):
        own = (
            _observables().get(thing.name) is not thing
        )  # of the author's file, even if it has the name of a known one
        return {"observable": thing.name, **({"own": True} if own else {})}
    if is_dataclass(thing) and not isinstance(thing, type):
        kind = "place" if isinstance(thing, Place) else "word"
        return {
            kind: type(thing).__name__,
            "fields": {each.name: encode(getattr(thing, each.name)) for each in fields(thing)},
        }
    if isinstance(thing, sp.MatrixSymbol):
        return {"matrix": thing.name}
    if isinstance(thing, sp.Symbol):
        own = thing.name not in _SYMBOLS and thing == terms.scalar(thing.name)
        return {"scalar": thing.name} if own else {"symbol": thing.name}
    if isinstance(thing, sp.Rational):
        return {"number": str(thing)}
    if thing in (sp.true, sp.false):
        return {"value": bool(thing)}
    if isinstance(thing, sp.Basic):
        return {"call": type(thing).__name__, "args": [encode(each) for each in thing.args]}
    raise WordDocumentError(f"{type(thing).__name__} has no JSON form")


def decode(document: object) -> object:
    """What :func:`encode` wrote; only words and functions of the language are made."""
    if not isinstance(document, dict):
        raise WordDocumentError(f"expected an object, got {document!r}")
    if "value" in document:
        return document["value"]
    if "list" in document:
        return tuple(decode(each) for each in document["list"])
    if "number" in document:
        return sp.Rational(str(document["number"]))
    if "symbol" in document:
        if document["symbol"] not in _SYMBOLS:
            raise WordDocumentError(f"unknown symbol {document['symbol']!r}")
        return _SYMBOLS[document["symbol"]]
    if "scalar" in document:
        return terms.scalar(str(document["scalar"]))
    if "matrix" in document:
        return terms.matrix(str(document["matrix"]))
    if "observable" in document:
        known = _observables()
        if document["observable"] not in known or document.get("own"):
            raise UnknownObservable(
                f"the observable {document['observable']!r} is not one of eigentoken.theory but code of the conjecture's file, "
                "and was not run again: ask for it with --run-predicates"
            )
        return known[document["observable"]]
    if "word" in document or "place" in document:
        return _made(document)
    return _called(document)


def _made(document: dict[str, Any]) -> Any:
    name = document.get("word", document.get("place"))
    table = WORDS if "word" in document else {each.__name__: each for each in _places()}
    if name not in table:
        raise WordDocumentError(f"{name!r} is not a word of the language")
    return table[name](**{key: decode(value) for key, value in document.get("fields", {}).items()})


def _places() -> list[type]:
    found: list[type] = [points.Place]
    for each in found:
        found += each.__subclasses__()
    return found


def _called(document: dict[str, Any]) -> Any:
    name, args = document.get("call"), [decode(each) for each in document.get("args", [])]
    numbers = _numbers()
    if name in numbers:
        return numbers[name](*args)
    if name not in _FUNCTIONS:
        raise WordDocumentError(f"{name!r} is not a function of the language")
    if name in {"StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan", "Equality", "Unequality"}:
        return _FUNCTIONS[name](*args, evaluate=False)
    return _FUNCTIONS[name](*args)


#: The text of a claim that is a free predicate, and of a condition that is one.
FREE, GIVEN = "holds_if", "given"


def mask_document(mask: str | Iterable[Iterable[SupportsInt]]) -> MaskDocument:
    """A mask as it is written: ``causal`` where it is."""
    if isinstance(mask, str):
        if mask not in ("full", "causal"):
            raise ValueError(f"mask must be full, causal or rows of 0 and 1, got {mask!r}")
        return "causal" if mask == "causal" else "full"
    rows: list[list[Literal[0, 1]]] = [[1 if int(entry) else 0 for entry in row] for row in mask]
    return "causal" if tuple(map(tuple, rows)) == causal_mask(len(rows)) else rows


def conjecture_digest(document: Mapping[str, object]) -> str:
    """sha256 of the document of a conjecture without its digest."""
    bare = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(json.dumps(bare, sort_keys=True).encode()).hexdigest()
