"""Coq: scalar lemmas of the book, and whole derivations of the kernel as theorems, kept only if coqc accepts.

For: a third opinion on identities and inequalities, and the rung ``formal``, where coqc is installed.
Enters: steps; what the kernel proved.  Leaves: files that coqc accepted, what a theorem assumes, the axioms that it uses.
Below it: theory.kernel, theory.proving, theory.statements.
"""

from eigentoken.proofs.coq.lemmas import CoqLemma, lemmas_of
from eigentoken.proofs.coq.run import Exported, accepts, export

__all__ = ["CoqLemma", "Exported", "accepts", "export", "lemmas_of"]
