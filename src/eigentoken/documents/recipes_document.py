"""``eigentoken/recipes/1``: reproduce --list --json."""

from typing import Any, Literal, TypedDict

from eigentoken.documents.schema_language import document, open_to_more


@open_to_more
class Recipe(TypedDict):
    claim: Any
    figure: Any
    name: Any
    paper: Any
    settings: Any
    title: Any


@document("eigentoken/recipes/1", "reproduce --list --json")
@open_to_more
class RecipesDocument(TypedDict):
    schema: Literal["eigentoken/recipes/1"]
    recipes: list[Recipe]
