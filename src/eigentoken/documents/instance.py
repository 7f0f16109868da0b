"""A system with exact parameters and tokens, as classifications and counterexamples carry it."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Limit, Text, When, open_to, with_rules

__all__ = ["SYSTEMS", "Empty", "HeadParameters", "Instance", "Matrix", "Sha256", "Value"]

Sha256 = Annotated[str, Limit(pattern="^[0-9a-f]{64}$")]
Vector = Annotated[list[Text], Limit(min_items=1)]
Matrix = Annotated[list[Vector], Limit(min_items=1)]
#: A parameter of a system that another package registered: a number, a vector or a matrix.
Value = Text | Vector | Matrix

#: The systems of the papers: their instances have no other fields than those listed, and these are matrices.
SYSTEMS = (
    "oja-map",
    "oja-flow",
    "attention-map",
    "attention-flow",
    "multihead-map",
    "multihead-flow",
    "ellipsoid-flow",
    "ellipsoid-map",
    "ellipsoid-multihead-flow",
    "causal-flow",
    "token-flow",
    "rotary-flow",
)


class HeadParameters(TypedDict):
    """The matrices of one head."""

    V: NotRequired[Matrix]
    M: NotRequired[Matrix]
    F: NotRequired[Matrix]
    U: NotRequired[Matrix]
    P: NotRequired[Matrix]
    W: NotRequired[Matrix]
    B: NotRequired[Matrix]
    Q: NotRequired[Matrix]
    K: NotRequired[Matrix]
    R: NotRequired[Matrix]


_OWN_HEADS = Annotated[list[HeadParameters], Limit(min_items=1)]
_ANY_HEADS = Annotated[list[dict[str, Value]], Limit(min_items=1)]
_LETTERS = dict.fromkeys("VMFUPWBQKR", Matrix)


@open_to(Value)
@with_rules(When("system", SYSTEMS, {**_LETTERS, "heads": _OWN_HEADS}, closed=True))
class Instance(TypedDict):
    """A system with exact parameters and tokens, numbers as texts."""

    system: Text
    V: NotRequired[Value]
    M: NotRequired[Value]
    F: NotRequired[Value]
    U: NotRequired[Value]
    P: NotRequired[Value]
    W: NotRequired[Value]
    B: NotRequired[Value]
    Q: NotRequired[Value]
    K: NotRequired[Value]
    R: NotRequired[Value]
    heads: NotRequired[_ANY_HEADS]
    alpha: NotRequired[Text]
    tokens: Matrix
    mask: NotRequired[Literal["full", "causal"] | list[list[Literal[0, 1]]]]


class Empty(TypedDict):
    """Nothing: a part that this kind of document leaves empty."""
