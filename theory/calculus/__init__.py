"""Dimension-free calculus: derivatives and identities for symbolic n and d.

For: the equations of the systems, differentiated once for all sizes.
Enters: vectors, matrices and sums over tokens with what is assumed of them.  Leaves: normal forms and verdicts on identities.
Below it: language (the verdicts), printing.
"""

from eigentoken.theory.calculus.atoms import Base, Index, Letter, MaskEntry, Named, Norm
from eigentoken.theory.calculus.derivative import (
    HEAD,
    SLOT,
    CalculusAlgebra,
    differentiate,
    direction,
    expand_definitions,
    instance,
    substitute,
)
from eigentoken.theory.calculus.expressions import (
    ALPHA,
    DIMENSION,
    HEADS,
    TOKENS,
    Assumptions,
    Expression,
    delta,
    dot,
    exponential,
    factor,
    matrix,
    one,
    row_sum,
    vector,
    zero,
)
from eigentoken.theory.calculus.identities import is_zero, prove_equal
from eigentoken.theory.calculus.normal_form import normal_form

__all__ = [
    "ALPHA",
    "DIMENSION",
    "HEAD",
    "HEADS",
    "SLOT",
    "TOKENS",
    "Assumptions",
    "Base",
    "CalculusAlgebra",
    "Expression",
    "Index",
    "Letter",
    "MaskEntry",
    "Named",
    "Norm",
    "delta",
    "differentiate",
    "direction",
    "dot",
    "expand_definitions",
    "exponential",
    "factor",
    "instance",
    "is_zero",
    "matrix",
    "normal_form",
    "one",
    "prove_equal",
    "row_sum",
    "substitute",
    "vector",
    "zero",
]
