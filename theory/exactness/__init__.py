"""Exact real numbers: rationals, roots, logarithms, exponentials; zero and sign decisions that are proved or refused.

For: everything that must not round: exact points, spectra, the signs of eigenvalues.
Enters: numbers as text or fractions.  Leaves: elements of number fields, with balls around them.
Below it: nothing of the house.
"""

from eigentoken.theory.exactness.elements import Element, ExactnessLimit, MissingGenerator
from eigentoken.theory.exactness.fields import RATIONALS, Field, Generator, in_smallest_field
from eigentoken.theory.exactness.numbers import NumberError, ball, exact_number, is_zero, sign

__all__ = [
    "RATIONALS",
    "Element",
    "ExactnessLimit",
    "Field",
    "Generator",
    "MissingGenerator",
    "NumberError",
    "ball",
    "exact_number",
    "in_smallest_field",
    "is_zero",
    "sign",
]
