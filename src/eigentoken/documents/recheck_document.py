"""``eigentoken/recheck/2``: recheck --json."""

from typing import Annotated, Literal, TypedDict

from eigentoken.documents.schema_language import Says, Text, document


class Certificate(TypedDict):
    where: str
    condition: str
    verdict: Literal["holds", "fails", "undecided"]
    agrees: Literal["holds", "fails", "undecided"]
    reason: Text
    by: Literal["the second arithmetic", "the issuer's code again", "content hashes"]


@document("eigentoken/recheck/2", "recheck --json")
class RecheckDocument(TypedDict):
    schema: Literal["eigentoken/recheck/2"]
    verdict: Literal["holds", "fails", "undecided"]
    certificates: list[Certificate]
    not_covered: Annotated[
        list[Text],
        Says("what the document shows and the re-check does not cover, by field; entries of lists under one name"),
    ]
