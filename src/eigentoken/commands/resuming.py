"""``refute --resume``: which conjectures of a file an earlier report has done, if it is a report of this text of the file."""

from __future__ import annotations

from pathlib import Path

from eigentoken.documents.refutation_document import RefutationDocument, Result

__all__ = ["done_before", "with_earlier"]


def done_before(report: Path, file: Path, *, drop: bool) -> list[Result]:
    """The results of the report whose search came to its end; none where there is no report yet.

    A report of another text of the file, or of another version, is refused.  With ``drop`` a result that survived must have its
    lines without each condition.
    """
    from eigentoken.files.documents import read_json
    from eigentoken.numerics.lab.predicate_files import file_digest
    from eigentoken.numerics.recheck.documents.strict import broken_rule
    from eigentoken.schemas import schema

    if not report.exists():
        return []
    document, own = read_json(report), schema("refutation")
    found = document.get("schema") if isinstance(document, dict) else None
    if found != own["$id"]:
        raise ValueError(f"{report} holds {str(found)[:60]}, not {own['$id']}: give another -o, or leave --resume out")
    broken = broken_rule(document, own)
    if broken is not None:
        raise ValueError(f"{report} is not a document of {own['$id']}: {broken}")
    if document["file_sha256"] != file_digest(file):
        said = f"{report} is a report of another text than that of {file} (its sha256 differs)"
        raise ValueError(f"{said}: give another -o, or leave --resume out")
    results: list[Result] = document["results"]
    return [each for each in results if each["stopped"] != "interrupted" and not (drop and _without_lines(each))]


def _without_lines(result: Result) -> bool:
    return bool(result["conjecture"]["conditions"]) and not result["dropped"]


def with_earlier(document: RefutationDocument, earlier: list[Result]) -> RefutationDocument:
    """The report with the results of before, in the order of the file."""

    def line(result: Result) -> tuple[int, str]:
        place = result["place"].rpartition(":")[2]
        return int(place) if place.isdecimal() else 0, result["name"]

    return {**document, "results": sorted([*earlier, *document["results"]], key=line)}
