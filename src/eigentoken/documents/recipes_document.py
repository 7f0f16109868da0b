"""``eigentoken/recipes/1``: reproduce --list --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, document, open_to_more

Anything = Instead({})


@open_to_more
class Recipe(TypedDict):
    claim: Annotated[str, Anything]
    figure: Annotated[str, Anything]
    name: Annotated[str, Anything]
    paper: Annotated[str, Anything]
    settings: Annotated[str, Anything]
    title: Annotated[str, Anything]


@document("eigentoken/recipes/1", "reproduce --list --json")
@open_to_more
class RecipesDocument(TypedDict):
    schema: Literal["eigentoken/recipes/1"]
    recipes: list[Recipe]
