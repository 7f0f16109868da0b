"""Whole derivations checked by Coq: coqc accepts the file, coqchk its compiled form, no axiom is used but those of the reals.

The file of a derivation is not believed to state what it should: the theorem is checked a second time, in a file that only
has the library and the statement as it was translated, so that a changed theorem, definition or notation is seen.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from eigentoken.files.documents import read_json
from eigentoken.files.writing import write_text
from eigentoken.proofs.coq.derivations import Assumed, WholeDerivation, derivation
from eigentoken.proofs.coq.library import LIBRARY
from eigentoken.proofs.coq.run import PRELUDE
from eigentoken.proofs.coq.scalar_steps import ScalarLemma
from eigentoken.proofs.coq.terms import NotExportable, theorem_name
from eigentoken.proofs.coq.whole import scalar_text, statement_text, whole_text
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.statements.statement import Statement

__all__ = ["ALLOWED", "FORMAL", "NO_COQ", "SCRIPTS", "Checked", "Formal", "check", "checked", "find_scripts", "toolbox"]


#: The statements of which a whole derivation is given to Coq.  Not yet: PM-N1, which coqc accepts without a causal mask only.
FORMAL = (
    *("PM-L4", "PM-L7", "PM-N3", "PM-R4", "PM-R10", "PM-T1", "PM-T3", "PM-A1", "PM-S2", "CT-2", "CT-3"),
    *("AB-L4.1", "AB-R5.1", "PH-T5", "PH-T8"),
)
#: The axioms of Coq's real numbers.
ALLOWED = frozenset(
    (
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
    )
)
#: Scripts that coqc accepted for scalar lemmas, by the digest of their statement.
SCRIPTS = Path(__file__).with_name("scripts.json")
NO_COQ = (
    "coqc and coqchk are needed to check derivations with Coq (Debian: coq): without them the recorded result is shown"
)
HEAD = """From Coq Require Import ZArith Lia Nsatz.
From Coq Require Import Reals Lra Psatz.
From Eigentoken Require Import Prelude Library.
Open Scope R_scope.
"""
_FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Conjectures?|Parameters?|Declare|Unset|Guard|bypass_check|Load|Redirect|Drop)\b"
)
SECONDS = 1200


@dataclass(frozen=True)
class Checked:
    """What coqc and coqchk said of a file: the axioms that the theorem uses, or why it is refused."""

    axioms: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Formal:
    """A statement, for one system: its theorem, what it assumes beyond the conditions, and what Coq said."""

    id: str
    system: str
    theorem: str
    proved: int = 0
    assumed: tuple[Assumed, ...] = ()
    claims: int = 0
    given: int = 0
    axioms: tuple[str, ...] = ()
    refused: str = ""

    @property
    def accepted(self) -> bool:
        return not self.refused


def digest_of(statement: str) -> str:
    return hashlib.sha256(statement.encode()).hexdigest()[:16]


@lru_cache
def stored_scripts() -> Mapping[str, str]:
    return dict(read_json(SCRIPTS)) if SCRIPTS.exists() else {}


@contextmanager
def toolbox() -> Iterator[Path]:
    """A folder with the compiled library; without Coq, one line that says so."""
    if shutil.which("coqc") is None or shutil.which("coqchk") is None:
        raise ValueError(NO_COQ)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for stem, text in (("Prelude", PRELUDE), ("Library", f"From Eigentoken Require Import Prelude.\n{LIBRARY}")):
            (folder / f"{stem}.v").write_text(text, encoding="utf-8")
            problem = _coqc(folder, stem)
            if problem:
                raise RuntimeError(f"coqc does not accept the library: {problem}")
        yield folder


def _run(command: list[str], folder: Path, seconds: int) -> tuple[int, str, str]:
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return 1, "", f"no answer within {seconds} s"
    return ran.returncode, ran.stdout, ran.stderr


def _coqc(folder: Path, stem: str, seconds: int = SECONDS) -> str:
    code, _, problem = _run(["coqc", "-q", "-Q", ".", "Eigentoken", f"{stem}.v"], folder, seconds)
    return "" if code == 0 else " ".join(problem.split())[-300:] or "coqc fails"


def _without_comments(text: str) -> str:
    while True:
        shorter = re.sub(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", " ", text, flags=re.DOTALL)
        if shorter == text:
            return text
        text = shorter


def checked(folder: Path, theorem: str, text: str, statement: str, seconds: int = SECONDS) -> Checked:
    """Does the file prove the theorem, as it is stated here, from the axioms of the reals alone?"""
    word = _FORBIDDEN.search(_without_comments(text))
    if word:
        return Checked(refused=f"the file says {word[0]}")
    module, again = f"File_{theorem}", f"Again_{theorem}"
    (folder / f"{module}.v").write_text(HEAD + text, encoding="utf-8")
    problem = _coqc(folder, module, seconds)
    if problem:
        return Checked(refused=f"coqc: {problem}")
    asked = (
        f"{HEAD}From Eigentoken Require {module}.\nDefinition same : {statement} := {module}.{theorem}.\n"
        f"Print Assumptions same.\n"
    )
    (folder / f"{again}.v").write_text(asked, encoding="utf-8")
    code, printed, problem = _run(["coqc", "-q", "-Q", ".", "Eigentoken", f"{again}.v"], folder, seconds)
    if code:
        return Checked(refused=f"the theorem is not the statement: {' '.join(problem.split())[-200:]}")
    axioms = axioms_of(printed)
    beyond = sorted(set(axioms) - ALLOWED)
    if beyond:
        return Checked(axioms, f"it uses {', '.join(beyond)}, no axiom of the reals")
    names = [f"Eigentoken.{each}" for each in ("Prelude", "Library", module, again)]
    command = ["coqchk", "-silent", "-Q", ".", "Eigentoken", *(part for each in names for part in ("-norec", each))]
    code, _, problem = _run(command, folder, seconds)
    if code:
        return Checked(axioms, f"coqchk: {' '.join(problem.split())[-200:]}")
    return Checked(axioms)


def axioms_of(printed: str) -> tuple[str, ...]:
    """The names that ``Print Assumptions`` lists."""
    if "Closed under the global context" in printed:
        return ()
    body = printed.split("Axioms:", 1)
    if len(body) != 2:
        return ("an answer that is not understood",)
    return tuple(sorted(re.findall(r"^([\w.']+)\s*(?::|$)", body[1], flags=re.MULTILINE)))


def scripts_for(made: WholeDerivation, folder: Path | None = None) -> tuple[dict[str, str], list[str]]:
    """A script for each scalar lemma: the stored one, else the first that coqc accepts; and the lemmas without one."""
    found, missing = {}, []
    for lemma in {each.statement: each for step in made.scalars for each in step.lemmas}.values():
        script = stored_scripts().get(digest_of(lemma.statement))
        script = script if script is not None or folder is None else find_script(lemma, folder)
        if script is None:
            missing.append(lemma.statement)
        else:
            found[lemma.statement] = script
    return found, missing


def find_script(lemma: ScalarLemma, folder: Path, seconds: int = 45) -> str | None:
    """The first of its scripts that coqc accepts."""
    stem = f"Scalar_{digest_of(lemma.statement)}"
    for make in lemma.scripts:
        script = make()
        (folder / f"{stem}.v").write_text(HEAD + scalar_text(lemma.name, lemma.statement, script), encoding="utf-8")
        if not _coqc(folder, stem, seconds):
            return script
    return None


def find_scripts(statements: Iterable[Statement], path: Path = SCRIPTS) -> list[str]:
    """Store a script for every scalar lemma of these statements (maintainers); returns the lemmas that have none."""
    known, missing = dict(stored_scripts()), []
    with toolbox() as folder:
        for told in statements:
            for name, proved in told.proofs.items():
                found, left = scripts_for(derivation(_theorem(told, name), proved), folder)
                known |= {digest_of(statement): script for statement, script in found.items()}
                missing += left
    write_text(path, json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    stored_scripts.cache_clear()
    return missing


def _theorem(told: Statement, system: str) -> str:
    """One theorem for each system; its name says which where there are several."""
    stem = theorem_name(told.id)
    return stem if len(told.systems) < 2 else f"{stem}_{theorem_name(system)}"


def check(told: Statement, folder: Path, keep: Callable[[str, str], None] = lambda name, text: None) -> list[Formal]:
    """The theorems of a statement, one for each of its systems, and what Coq says of them."""
    return [_check(told, system, proved, folder, keep) for system, proved in told.proofs.items()]


def _check(told: Statement, system: str, proved: Proved, folder: Path, keep: Callable[[str, str], None]) -> Formal:
    theorem = _theorem(told, system)
    try:
        made = derivation(theorem, proved)
    except NotExportable as problem:
        return Formal(told.id, system, theorem, refused=f"no form in Coq: {problem}")
    scripts, missing = scripts_for(made, folder)
    if missing:
        return _of(
            told, system, made, Checked(refused=f"{len(missing)} scalar lemmas have no proof: {missing[0]:.200}")
        )
    text = whole_text(made, scripts, f"{told.id}: {told.title}, for {system or 'no system'}")
    answer = checked(folder, theorem, text, statement_text(made))
    if not answer.refused:
        keep(theorem, f"{PRELUDE}\n{LIBRARY}\n{text}\nPrint Assumptions {theorem}.\n")
    return _of(told, system, made, answer)


def _of(told: Statement, system: str, made: WholeDerivation, answer: Checked) -> Formal:
    return Formal(
        told.id,
        system,
        made.theorem,
        made.proved,
        tuple(made.assumed),
        made.claims,
        made.given,
        answer.axioms,
        answer.refused,
    )
