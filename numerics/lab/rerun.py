"""The code of a conjecture's author, run again for a re-check that asks for it.

A free predicate, and an observable of the conjecture's own file, are code: no second arithmetic can read them from a report.  The
re-check (:mod:`eigentoken.numerics.recheck.refutations.report`) imports nothing of this; whoever calls it hands it a
:class:`Rerun` where the user allows that the file is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eigentoken.files.documents import Json
from eigentoken.numerics.instances.exact_values import Case
from eigentoken.numerics.lab.conjectures import load
from eigentoken.numerics.lab.predicate_files import file_digest, resolved
from eigentoken.numerics.lab.predicates import predicate_verdict, premise_verdict
from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.documents import encode
from eigentoken.theory.language.verdicts import Verdict, fails, holds, undecided

__all__ = ["Rerun"]


@dataclass(frozen=True)
class Rerun:
    """Runs the file that a certificate names (or one of that name in the folder ``beside``), where it is unchanged."""

    beside: Path | None = None

    def predicate(self, home: Mapping[str, str] | None, instance: Instance, k: int, p: int) -> Verdict:
        """The predicate of a certificate on its exact numbers: ``holds`` where it is false of them, as certified."""
        file = self._unchanged(home)
        if isinstance(file, Verdict):
            return file
        assert home is not None
        if "function" in home:
            predicate, _, _ = resolved(f"{file}:{home['function']}", str(file))
        else:
            listed = {each.name: each for each in load(file)}
            found = listed[home["conjecture"]].holds_if if home["conjecture"] in listed else None
            if not callable(found):
                return undecided(f"{file} states no conjecture {home['conjecture']!r} with a predicate")
            predicate = found
        verdict = predicate_verdict(predicate, Case(instance, k, p))
        if verdict.is_undecided:
            return verdict
        if verdict.is_holds:
            return fails(f"the predicate of {file.name}, run again, is true of the exact numbers")
        said = f"the predicate of {file.name} (sha256 agrees), run again, is false of the exact numbers"
        return holds(said, margin=verdict.margin, unit=verdict.unit)

    def premise(self, home: Mapping[str, str] | None, instance: Instance, k: int, p: int) -> Verdict:
        """The premise of a certificate on its exact numbers: ``holds`` where it is true of them, as certified."""
        file = self._unchanged(home)
        if isinstance(file, Verdict):
            return file
        assert home is not None
        found = next((each.given for each in load(file) if each.name == home["conjecture"]), None)
        if found is None:
            return undecided(f"{file} states no conjecture {home['conjecture']!r} with a premise")
        verdict = premise_verdict(found, Case(instance, k, p))
        if verdict.is_undecided:
            return verdict
        if verdict.is_fails:
            return fails(f"the premise of {file.name}, run again, is false of the exact numbers")
        return holds(f"the premise of {file.name} (sha256 agrees), run again, is true of the exact numbers")

    def claim(self, home: Mapping[str, str] | None, statement: Json) -> Claim | Verdict:
        """The claim of a certificate whose observable is code of the file, or a verdict that says why there is none."""
        file = self._unchanged(home)
        if isinstance(file, Verdict):
            return file
        assert home is not None
        listed = [each for each in load(file) if each.name == home["conjecture"]]
        found = next((claim for each in listed for claim in each.claims if encode(claim) == statement), None)
        return undecided(f"{file} makes no such claim in {home['conjecture']!r}") if found is None else found

    def _unchanged(self, home: Mapping[str, str] | None) -> Path | Verdict:
        """The file that a certificate names, where it is still the one that was run; otherwise why not."""
        if not home:
            return undecided("the predicate was not written in a file: it cannot be run again")
        file = Path(home["file"])
        if not file.is_file() and self.beside is not None:
            file = self.beside / file.name
        if not file.is_file():
            return undecided(f"the file of the predicate is not here: {home['file']}")
        if file_digest(file) != home["sha256"]:
            return undecided(f"{file} is not the file that was run: its sha256 differs")
        return file
