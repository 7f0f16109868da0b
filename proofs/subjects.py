"""What the statements that name no system speak of, by id: heads, layers, norms, rows of weights, or no stored layer at all."""

from __future__ import annotations

from dataclasses import replace

from eigentoken.theory.statements.layer_systems import Difference
from eigentoken.theory.statements.subjects import Subject, declare

__all__ = ["SUBJECTS"]

_ROW = Subject("a row of attention weights", linear=False)
_HEAD = Subject("a head at given tokens")
_BILINEAR = replace(_HEAD, positions=("none",), bilinear=True)
_LAYER = Subject("an attention layer with its skip, at given tokens", added=True)
_NORM = Subject("a norm", rows=False, linear=False, normed=True)
_EQUIANGULAR = Subject("tokens with one cosine that move with the value matrix I", identity=True)
_MATRIX = Subject("the layer matrix F")
_ONE_COSINE = r"x_i^{\top}x_j = \rho \text{ for all } i \ne j"


def _other(what: str, part: Difference) -> Subject:
    return Subject(what, rows=False, linear=False, instead=(part,))


_NO_SKIP = Difference("map", "attention without a skip", "a residual layer")

SUBJECTS: dict[str, Subject] = {
    "BD-S1": _ROW,
    "BD-S2": _ROW,
    "BD-S3": _ROW,
    "BD-R3": _ROW,
    "BD-T3": replace(_ROW, tokens=(r"\max_j s_{ij} - \min_j s_{ij} \le w",)),
    "BD-J1": _BILINEAR,
    "BD-J2": _BILINEAR,
    "BD-J3": _HEAD,
    "BD-L1": replace(_BILINEAR, what="a head on a ball", tokens=(r"\lvert x_i\rvert \le R",)),
    "BD-K1": _other("one head", Difference("matrices", "d = 1 and P = U = 1", "matrices of its own")),
    "BD-N1": _NORM,
    "BD-N2": _NORM,
    "BD-N3": Subject("two vectors", rows=False, linear=False),
    "BD-D1": _HEAD,
    "BD-D2": _LAYER,
    "BD-D2b": _LAYER,
    "BD-D3": replace(_LAYER, what="heads with any weights that sum to 1, at given tokens"),
    "BD-H2": _LAYER,
    "BD-R1": replace(_BILINEAR, masks=("full",)),
    "BD-R1b": replace(_BILINEAR, masks=("full",)),
    "BD-R2": _other("a head without a skip, layer after layer", _NO_SKIP),
    "BD-R4": replace(_LAYER, masks=("full",), positions=("none",), bilinear=True, plain=True),
    "BD-M1": replace(_HEAD, masks=("causal",)),
    "BD-M2": Subject(
        "attention matrices of successive layers under any mask",
        linear=False,
        tokens=(r"a_{ij} \ge \epsilon \text{ or } a_{ij} = 0",),
    ),
    **{f"BD-P{number}": replace(_EQUIANGULAR, tokens=(_ONE_COSINE,)) for number in (1, 2, 4, 5, 6)},
    "BD-T1": _other("one layer on tokens with one cosine", _NO_SKIP),
    "BD-T2": _other("one layer on tokens with one cosine, as n grows", _NO_SKIP),
    "BD-E1": _MATRIX,
    "BD-E2": replace(_MATRIX, masks=("full",), positions=("none",), bilinear=True),
    "BD-H1": Subject("a normed layer of one head, with any weights", one_head=True, added=True),
    "CL-11": _other(
        "tokens on the circle",
        Difference("attention", "an interaction phi of the cosine alone, on the circle", "softmax attention"),
    ),
}

for _name, _subject in SUBJECTS.items():
    declare(_name, _subject)
