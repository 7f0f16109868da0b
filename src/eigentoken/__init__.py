"""eigentoken: state a result about tokens once, derive it, attack it, and check it on real weights.

>>> import eigentoken
>>> eigentoken.statement("PM-L4").title
'Stability of consensus for the Oja map'
"""

from __future__ import annotations

import importlib
from typing import Any

#: the one version number: the metadata of the package and every document take it from here
__version__ = "0.2.0"

#: public name -> where it lives; imported when first asked for, so that ``import eigentoken`` is quick
_PUBLIC = {
    "Verdict": "eigentoken.theory.language.verdicts",
    "Certificate": "eigentoken.theory.language.verdicts",
    "System": "eigentoken.theory.systems.catalogue",
    "system": "eigentoken.theory.systems.catalogue",
    "Statement": "eigentoken.theory.statements.statement",
    "statements": "eigentoken.theory.statements.registry",
    "register": "eigentoken.theory.statements.registry",
    "verify": "eigentoken.proofs.verify",
    "check": "eigentoken.checking.run",
    "load": "eigentoken.models",
    "classify": "eigentoken.theory.classification.classify",
    "certify": "eigentoken.numerics.certified.certify",
}

__all__ = ["__version__", "statement", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'eigentoken' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def statement(name: str) -> Any:
    """The statement of that id."""
    from eigentoken.theory.statements.registry import statements

    return statements().get(name)
