"""Write docs/tables/statements.md, for each statement what was checked, cited, tested and confirmed, from the ledger;
docs/tables/dropped.md, for each condition what is known without it; docs/tables/textbook.md, the theorems of books that the
kernel uses; and proofs/contents.json, the stored list of them.

``python tools/tables.py`` writes them; ``--check`` exits with 1 where a page is not what would be written.  The numbers
are those that ``eigentoken verify --record`` stored for exactly the present text of each statement; a statement whose
text changed since then shows no numbers and the status ``stated``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from eigentoken.proofs import contents
from eigentoken.proofs.typeset.textbook_theorems import theorem_page
from eigentoken.proofs.verify import evidence_of, status_of
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.statements.registry import statements

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tables" / "statements.md"
CONTENTS = ROOT / "proofs" / "contents.json"
DROPPED = PAGE.with_name("dropped.md")
TEXTBOOK = PAGE.with_name("textbook.md")
COLUMNS = (
    "title",
    "id",
    "source",
    "steps checked",
    "cited",
    "argued",
    "second opinion",
    "instances tested",
    "claims not looked at",
    "vectors",
    "counterexamples",
    "sizes",
    "status",
)
NUMBERS = 8


def statements_table() -> str:
    """The page, made from the registry and the ledger."""
    lines = [
        "<!-- written by tools/tables.py: do not edit -->",
        "# The book of statements",
        "",
        "Steps are checked by a machine (here, or in a statement that is recalled), cited (a textbook theorem whose",
        "hypotheses earlier steps establish), or only argued in words; a statement that rests on an argued step is `argued`.",
        "`stepwise`: the steps are put together by the names of facts; `derived`: the kernel proves exactly the claims. A",
        "second opinion is an arithmetic that shares no code with the first; instances are random and satisfy the conditions.",
        "Claims not looked at are neither proved by the kernel nor met by any of these instances: they speak of limits, or",
        "behind guards that draws do not meet, and the statement has other tests, which say less.",
        "`eigentoken verify` runs all of it again.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        f"|{' --- |' * len(COLUMNS)}",
    ]
    totals = [0] * NUMBERS
    for told in statements():
        found = evidence_of(told)
        numbers = (
            []
            if found is None
            else [
                found.checked,
                found.cited,
                found.argued,
                found.second,
                found.tested,
                found.unseen,
                found.vectors,
                found.counterexamples,
            ]
        )
        totals = [old + new for old, new in zip(totals, numbers or [0] * NUMBERS, strict=True)]
        sizes = "" if found is None else "; ".join(found.scopes) or "all"
        cells = [plain_text(told.title), told.id, str(told.source), *(str(each) for each in numbers or [""] * NUMBERS)]
        lines.append(f"| {' | '.join([*(each.replace('|', '/') for each in cells), sizes, str(status_of(told))])} |")
    lines.append(f"| {len(statements())} statements | | | {' | '.join(map(str, totals))} | | |")
    return "\n".join(lines) + "\n"


def dropped_table() -> str:
    """What is known of each statement with one condition dropped, from the registered witnesses."""
    sys.path.insert(0, str(ROOT))
    from tests.tools.dropped_conditions import table

    lines = [
        "<!-- written by tools/tables.py: do not edit -->",
        "# Which conditions are needed",
        "",
        "For each condition of each statement: a failure that the audit knows when it is dropped, with the witness that",
        "`eigentoken verify` certifies and the search that finds one; that it is not needed; or that no failure is known,",
        "which does not say that there is none.",
        "",
        table(statements()).rstrip("\n"),
    ]
    return "\n".join(lines) + "\n"


def textbook_page() -> str:
    """What a reader must believe."""
    return "\n".join(("<!-- written by tools/tables.py: do not edit -->", *theorem_page())) + "\n"


def main(arguments: list[str]) -> int:
    pages = {PAGE: statements_table(), DROPPED: dropped_table(), TEXTBOOK: textbook_page(), CONTENTS: contents.text()}
    late = 0
    for page, text in pages.items():
        shown = "/".join(page.parts[-2:])
        if arguments[:1] == ["--check"]:
            fresh = page.exists() and page.read_text(encoding="utf-8") == text
            late += not fresh
            print(f"{shown} is " + ("up to date" if fresh else "stale: run python tools/tables.py"))
            continue
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
        print(f"wrote {shown}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
