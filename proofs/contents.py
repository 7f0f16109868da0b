"""The contents of the book: a row for each statement, as ``eigentoken statements`` lists them.

Importing 103 statement files with sympy takes over a second, and a list needs none of what they carry.  So ``verify
--record`` leaves the rows in ``contents.json``, tied to the sha256 of every file that they are read from: the statement
files and what they import, the ledger, kernel and solvers, the definition of a status, and what statements speak of that is no
system.  Where one byte of those differs, or another package registers statements too, the rows are computed from the registry; a
stored row is never shown for another text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from eigentoken.documents.statements_document import Statement as Row
from eigentoken.files.documents import read_json
from eigentoken.files.writing import write_text
from eigentoken.proofs import CHAPTERS

__all__ = ["CONTENTS", "LEDGER", "computed_rows", "key", "matching", "rows", "text", "write"]

ROOM = Path(__file__).resolve().parent
CONTENTS = ROOM / "contents.json"
LEDGER = ROOM / "ledger.json"
GROUP = "eigentoken.statements"  # as in theory.registry, which would bring sympy


def _files() -> Iterator[Path]:
    """Every file that decides a row."""
    import eigentoken.theory

    for folder in (*CHAPTERS, "steps", "properties"):
        yield from sorted((ROOM / folder).glob("*.py"))
    yield from sorted(ROOM.glob("*.py"))
    yield LEDGER
    for name in ("statement", "subjects", "layer_systems"):  # a status, and what a statement speaks of, in words
        yield Path(eigentoken.theory.__path__[0]) / "statements" / f"{name}.py"
    for room in ("kernel", "proving"):
        yield from sorted((Path(eigentoken.theory.__path__[0]) / room).glob("*.py"))


def key() -> str:
    """sha256 of the names and contents of the files that the rows are read from."""
    digest = hashlib.sha256()
    for path in _files():
        text = path.read_bytes()
        digest.update(f"{path.parent.name}/{path.name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def computed_rows() -> list[Row]:
    """A row for each statement of the registry.

    ``listed_sizes`` says that some steps hold for listed sizes only, ``printed`` what is said of the form that the paper,
    or a summary of it, has (``None`` where the statement is compared with none).
    """
    from eigentoken.proofs.questions import about, needs, says
    from eigentoken.proofs.verify import evidence_of, status_of
    from eigentoken.theory.statements.registry import statements

    found: list[Row] = []
    for each in statements():
        evidence = evidence_of(each)
        found.append(
            {
                "id": each.id,
                "kind": str(each.kind),
                "source": str(each.source),
                "reading": str(each.source.reading),
                "title": each.title,
                "status": str(status_of(each)),
                "depends": list(each.depends),
                "systems": list(each.systems),
                "about": about(each),
                "needs": needs(each),
                "says": says(each),
                "listed_sizes": evidence is not None and bool(evidence.scopes),
                "printed": None if each.printed is None else each.printed.finding,
            }
        )
    return found


def _stored() -> list[Row] | None:
    """The stored rows, if they belong to exactly the files that are here and nobody else registers statements."""
    try:
        stored = read_json(CONTENTS)
        if stored["key"] != key():
            return None
        return list(stored["rows"])
    except (OSError, ValueError, KeyError, TypeError):  # absent or damaged: the registry has the answer
        return None


def rows() -> list[Row]:
    """The rows of the book, stored ones where they are current, computed ones elsewhere."""
    foreign = any(each.value != "eigentoken.proofs" for each in entry_points(group=GROUP))
    stored = None if foreign else _stored()
    return computed_rows() if stored is None else stored


#: What a word of a question may stand for in the words of the statements, beside itself; of several words, the longest first.
MEANINGS: dict[str, tuple[str, ...]] = {
    "rank collapse": ("contract", "diversity", "diameter", "nested hull", "collapse"),
    "oversmoothing": ("contract", "diversity", "consensus", "collapse"),
    "collapse": ("consensus", "contract", "convergence to zero"),
    "clustering": ("consensus", "cluster", "hull"),
    "clusters": ("consensus", "cluster", "hull", "hyperplane"),
    "temperature": ("context length", "beta", "scores are large", "hard attention"),
    "long context": ("context length", "as n grows"),
    "lipschitz": ("jacobian",),
    "jacobian": ("differential", "derivative"),
    "rotary": (
        "rope",
        "positions in the scores",
        "any attention",
        "whatever the attention weights",
        "whatever its attention",
    ),
    "rope": ("rotary", "any positions", "any attention", "whatever the attention weights"),
    "positions": ("rotary", "encodings"),
    "layer norm": ("norm puts out", "-norm", "derivative of a norm"),
    "layernorm": ("norm puts out", "-norm", "derivative of a norm"),
    "rmsnorm": ("norm puts out", "-norm", "derivative of a norm"),
    "post-norm": ("norm puts out", "derivative of a norm", "placements of the norm"),
    "pre-norm": ("norm puts out", "derivative of a norm", "placements of the norm"),
    "peri-norm": ("pre- and peri-norm", "placements of the norm"),
    "post-ln": ("post-norm",),
    "pre-ln": ("pre-norm",),
    "skip": ("residual",),
    "residual": ("with a skip",),
    "leader": ("leading", "dominant", "principal"),
    "dominant": ("principal", "leading"),
    "basin": (
        "attraction",
        "attracting",
        "attracted",
        "attractive",
        "open hemisphere",
        "half space",
        "almost every start",
    ),
    "half space": ("half-space", "hemisphere"),
    "hemisphere": ("half space", "half-space"),
    "synchronisation": ("consensus", "synchronise"),
    "autoregressive": ("causal",),
    "masked": ("causal", "mask"),
    "nonsymmetric": ("not symmetric", "any value matrix", "any layer matrix"),
    "eigengap": ("gap", "margin"),
    "metastable": ("slow",),
}


def _meant(question: str) -> list[tuple[str, ...]]:
    """The words of a question, each with what it may stand for: of one that is known, with several words taken together."""
    left, found = " ".join(question.lower().split()), []
    for known in sorted(MEANINGS, key=lambda each: -len(each.split())):
        if f" {known} " in f" {left} ":
            found.append((known, *MEANINGS[known]))
            left = f" {left} ".replace(f" {known} ", " ").strip()
    return [*found, *((each,) for each in left.split())]


def matching(rows: Sequence[Row], *, search: str = "", needed: str = "", system_of: str = "") -> list[Row]:
    """The rows that answer: ``search`` in any of their texts, ``needed`` in one condition, ``system_of`` in their systems.

    Words are compared without regard to case; a question of several words asks for all of them.  In ``search`` a word asks also
    for what it may stand for (:data:`MEANINGS`): those that have the words themselves come first.

    >>> row = {"id": "A-1", "title": "Consensus", "needs": ["symmetric: V = V^T"], "about": "oja-map", "says": "", "source": ""}
    >>> [len(matching([row], needed=each)) for each in ("symmetric", "definite")]
    [1, 0]
    """

    def has(text: str, question: str) -> bool:
        return all(word in text.lower() for word in question.lower().split())

    def everything(row: Row) -> str:
        return " ".join([row["id"], row["title"], row["source"], row["about"], row["says"], *row["needs"]])

    meant = _meant(search)

    def told(row: Row) -> bool:
        text = everything(row).lower() if search else ""
        return all(any(word in text for word in words) for words in meant)

    found = [
        row
        for row in rows
        if told(row)
        and (not needed or any(has(each, needed) for each in row["needs"]))
        and has(row["about"], system_of)
    ]
    return sorted(found, key=lambda row: not has(everything(row), search)) if search else found


def text() -> str:
    """What ``contents.json`` should hold: the rows of our own statements with the key of their files."""
    from eigentoken.theory.statements.registry import statements

    stated = [(each.id, statements().origin(each)) for each in statements()]
    own = {name for name, file in stated if file is not None and ROOM in file.resolve().parents}
    found = [each for each in computed_rows() if each["id"] in own]
    return json.dumps({"key": key(), "rows": found}, indent=1) + "\n"


def write() -> Path:
    """Store them."""
    write_text(CONTENTS, text())
    return CONTENTS
