"""Colours and dashes of all figures."""

from __future__ import annotations

__all__ = ["COLOURS", "DASHES"]

#: Okabe and Ito's palette: told apart by all common kinds of colour vision; without colour, the dashes do it.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
