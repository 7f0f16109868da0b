"""``et.derive``: the checked derivation of a statement as LaTeX, Markdown, HTML or PDF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eigentoken.display import listing
from eigentoken.output import render, write
from eigentoken.proofs.typeset.document import PrintedDocument, of_statement
from eigentoken.proofs.verify import Line, Verified
from eigentoken.proofs.verify_many import verify_many
from eigentoken.theory.statements.registry import statements
from eigentoken.theory.statements.statement import Statement

__all__ = ["CheckedDerivation", "NotDerived", "derive"]


class NotDerived(ValueError):
    """A step of the derivation does not check, so it is not printed; the message names the first."""


@dataclass(frozen=True, repr=False)
class CheckedDerivation:
    """A derivation every step of which was checked before this object was made."""

    statement: Statement
    checked: Verified
    document: PrintedDocument

    @property
    def steps(self) -> tuple[Line, ...]:
        """What was checked, line by line."""
        return self.checked.lines

    @cached_property
    def latex(self) -> str:
        """A LaTeX file that compiles as it stands."""
        return render(self.document, "tex")

    @cached_property
    def markdown(self) -> str:
        """Markdown with mathematics between dollar signs."""
        return render(self.document, "md")

    @cached_property
    def html(self) -> str:
        """A whole page."""
        return render(self.document, "html")

    def pdf(self, path: str | Path) -> Path:
        """Compile to ``path`` with latexmk; without a LaTeX an error says what to install."""
        return self.save(Path(path).with_suffix(".pdf"))

    def save(self, path: str | Path) -> Path:
        """Write .tex, .md, .html or .pdf, as the name ends; the .tex and a .bib lie beside a .pdf."""
        target = Path(path)
        form = target.suffix.removeprefix(".").lower()
        if form not in ("tex", "md", "html", "pdf"):
            raise ValueError(f"a derivation is saved as .tex, .md, .html or .pdf, got {target.name!r}")
        done = write(self.document, [form], target)
        if done.missing:
            raise RuntimeError(done.missing[0])
        return target

    def __repr__(self) -> str:
        steps = [f"{line.what}: {line.name}: {line.answer}" for line in self.checked.lines]
        return listing(f"<Derivation of {self.statement.called}: {len(steps)} lines checked>", steps)

    def _repr_markdown_(self) -> str:
        return self.markdown


def derive(statement: str | Statement, *, done: Callable[[], None] = lambda: None) -> CheckedDerivation:
    """Check every step of the derivation of a statement and give it as a document; an unchecked step is an error.

    >>> derive("PM-L4").markdown.splitlines()[0]
    '# Stability of consensus for the Oja map (PM-L4)'
    """
    told = statement if isinstance(statement, Statement) else statements().get(statement)
    (checked,) = verify_many([told.id], instances=0, printed=True, done=done)
    bad = [line for line in checked.lines if not line.good]
    if bad:
        raise NotDerived(f"{told.called}: {bad[0].name}: {bad[0].reason}: nothing is printed until it checks")
    return CheckedDerivation(told, checked, of_statement(told))
