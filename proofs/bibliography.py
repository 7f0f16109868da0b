"""The papers and textbooks that statements and citations refer to, as BibTeX."""

from __future__ import annotations

__all__ = ["ABELLA", "BIBLIOGRAPHY", "HERE", "LI_ALTAFINI", "PHAM", "bibtex"]

LI_ALTAFINI = "Li-Altafini"
ABELLA = "Abella-Silvestre-Tabuada"
PHAM = "Pham-et-al"
HERE = "eigentoken"

BIBLIOGRAPHY: dict[str, str] = {
    LI_ALTAFINI: """@misc{Li-Altafini,
  title  = {Analogies between Transformer Layers and Power Method},
  author = {Li and Altafini, Claudio},
  note   = {arXiv:2605.25619}
}""",
    ABELLA: """@misc{Abella-Silvestre-Tabuada,
  title  = {The Asymptotic Behavior of Attention in Transformers},
  author = {Rodr{\\'i}guez Abella, {\\'A}lvaro and Silvestre, Jo{\\~a}o Pedro and Tabuada, Paulo},
  note   = {arXiv:2412.02682}
}""",
    PHAM: """@misc{Pham-et-al,
  title  = {Dynamical Properties of Tokens in Self-Attention and Effects of Positional Encoding},
  author = {Pham, Duy-Tung and Nguyen, An The and Tran, Viet-Hoang and Chung, Nhan-Phu and Tong, Xin T.
            and Nguyen, Tan M. and Vo, Thieu N.},
  note   = {arXiv:2512.03058}
}""",
    HERE: """@software{eigentoken,
  title  = {eigentoken: verified symbolic-numeric toolkit for attention as a dynamical system},
  author = {{The eigentoken authors}},
  year   = {2026}
}""",
}


def bibtex(key: str) -> str:
    """The BibTeX entry of a key."""
    try:
        return BIBLIOGRAPHY[key]
    except KeyError:
        raise ValueError(f"no bibliography entry {key!r}: expected one of {', '.join(BIBLIOGRAPHY)}") from None
