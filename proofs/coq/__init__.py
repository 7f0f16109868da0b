"""Scalar lemmas of the book as Coq files: stated over Coq's reals, proved by its tactics, kept only if coqc accepts.

For: a third opinion on identities and inequalities, where coqc is installed.
Enters: steps.  Leaves: files that coqc accepted.
Below it: theory.proving, theory.statements.
"""

from eigentoken.proofs.coq.lemmas import CoqLemma, lemmas_of
from eigentoken.proofs.coq.run import Exported, accepts, export

__all__ = ["CoqLemma", "Exported", "accepts", "export", "lemmas_of"]
