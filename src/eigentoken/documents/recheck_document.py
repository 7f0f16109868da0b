"""``eigentoken/recheck/2``: recheck --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Instead, Says, Text, document


class Certificate(TypedDict):
    where: str
    condition: str
    verdict: Annotated[str, Instead({"enum": ["holds", "fails", "undecided"]})]
    agrees: Annotated[str, Instead({"enum": ["holds", "fails", "undecided"]})]
    reason: Text
    by: Annotated[str, Instead({"enum": ["the second arithmetic", "the issuer's code again", "content hashes"]})]


@document("eigentoken/recheck/2", "recheck --json")
class RecheckDocument(TypedDict):
    schema: Literal["eigentoken/recheck/2"]
    verdict: Literal["holds", "fails", "undecided"]
    certificates: list[Certificate]
    not_covered: Annotated[
        list[Text],
        Says("what the document shows and the re-check does not cover, by field; entries of lists under one name"),
    ]
