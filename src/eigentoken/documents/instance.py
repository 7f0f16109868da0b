"""A system with exact parameters and tokens, as classifications and counterexamples carry it."""

from typing import Annotated, Literal, NotRequired, TypedDict

from eigentoken.documents.schema_language import Limit, Text

__all__ = ["Empty", "HeadParameters", "Instance", "Matrix", "Sha256"]

Sha256 = Annotated[str, Limit(pattern="^[0-9a-f]{64}$")]
Matrix = Annotated[list[Annotated[list[Text], Limit(min_items=1)]], Limit(min_items=1)]


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


class Instance(TypedDict):
    """A system with exact parameters and tokens, numbers as texts."""

    system: Text
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
    heads: NotRequired[Annotated[list[HeadParameters], Limit(min_items=1)]]
    alpha: NotRequired[Text]
    tokens: Matrix
    mask: NotRequired[Literal["full", "causal"] | list[list[Literal[0, 1]]]]


class Empty(TypedDict):
    """Nothing: a part that this kind of document leaves empty."""
