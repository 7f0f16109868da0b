"""A spectrum with its criteria and their proofs as one LaTeX document, printed from the checked objects."""

from __future__ import annotations

from eigentoken.theory.linearization.criterion import Criterion, proof_latex
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.printing.systems import system_latex
from eigentoken.theory.systems.catalogue import system as system_named
from eigentoken.theory.systems.system import System

__all__ = ["spectrum_document"]

_HEAD = r"""\documentclass{article}
\usepackage{amsmath}
\usepackage[landscape,margin=18mm]{geometry}
\setlength{\parindent}{0pt}
\begin{document}
"""


def spectrum_document(found: Spectrum, system: System | str, mask: str | None = None) -> str:
    """The system (under the mask), its Jacobian, spectrum, and criteria with the lemmas of their proofs (amsmath, geometry)."""
    listed = system_named(system)
    mask = None if mask == listed.mask else mask
    parts = [rf"\section*{{{listed.name} at {found.point}}}", f"\\[\n{system_latex(listed, mask)}\n\\]"]
    parts += ["The Jacobian is", f"\\[\n{linearize(listed, mask=mask, tangent=False).latex}\n\\]"]
    parts += [r"\subsection*{Spectrum}", f"\\[\n{found.latex}\n\\]"]
    parts += [f"{note[:1].upper()}{note[1:]}." for note in found.notes]
    if not found.criteria:
        parts.append("No criterion of stability in closed form is known here.")
    parts += [_criterion(each) for each in found.criteria]
    return _HEAD + "\n\n".join(parts) + "\n\\end{document}\n"


def _criterion(criterion: Criterion) -> str:
    title = criterion.name.partition(": ")[2] or criterion.name
    checked = criterion.check()
    proof = f"\\textbf{{Proof}} (every step checked: {checked.answer}).\n{proof_latex(criterion)}"
    return f"\\subsection*{{Stability: {title}}}\n{criterion.latex}\n\n{proof}"
