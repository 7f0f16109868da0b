"""Scalar lemmas of the book as Coq files: stated over Coq's reals, proved by its tactics, kept only if coqc accepts."""

from eigentoken.proofs.coq.lemmas import CoqLemma, lemmas_of
from eigentoken.proofs.coq.run import Exported, accepts, export

__all__ = ["CoqLemma", "Exported", "accepts", "export", "lemmas_of"]
