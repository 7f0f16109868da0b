"""Styles of figures: how wide a page or column is, and its letters.

A style is what a venue prints on: the width of a column (or of the text) in inches, and the size and family of its fonts.
Every style writes fonts that can be searched and edited: TrueType in PDF (type 42), text in SVG.
"""

from __future__ import annotations

from dataclasses import dataclass

from eigentoken.theory.systems.suggestions import meant

__all__ = ["STYLES", "FigureStyle", "style_named"]

#: What all styles share.
COMMON: dict[str, object] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "figure.constrained_layout.w_pad": 0.07,  # inches: no label of an axis touches its neighbour
    "figure.constrained_layout.h_pad": 0.06,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "svg.hashsalt": "eigentoken",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}
#: The letters of formulas have the code points of Unicode in both: those of Computer Modern (``cm``) have not, and an SVG, whose
#: text the reader's own fonts draw, would show ``j`` for a bar and a cent sign for Delta.
SANS: dict[str, object] = {"font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans"}
#: The family is shipped with matplotlib, so that a figure is the same on every machine.
SERIF: dict[str, object] = {"font.family": "STIXGeneral", "mathtext.fontset": "stix"}


@dataclass(frozen=True)
class FigureStyle:
    """A width in inches, the size of its letters in points, whether they have serifs, and how many panels a row has."""

    name: str
    width: float
    points: float
    serif: bool
    most_columns: int
    title: bool = True
    "Papers put the title in the caption."

    def settings(self) -> dict[str, object]:
        """The settings of matplotlib that are this style."""
        sizes: dict[str, object] = {
            "font.size": self.points,
            "axes.titlesize": self.points + 0.5,
            "axes.labelsize": self.points,
            "legend.fontsize": max(6.0, self.points - 1),
            "xtick.labelsize": max(6.0, self.points - 1),
            "ytick.labelsize": max(6.0, self.points - 1),
        }
        return COMMON | (SERIF if self.serif else SANS) | sizes


#: "page": for the screen and the gallery.  The widths of the others are those of the venues' templates: the text of NeurIPS
#: (5.5 in), a column of ICML (3.25 in) and of IEEE (3.5 in), the text of a thesis on A4 or letter paper (6 in).
STYLES: dict[str, FigureStyle] = {
    style.name: style
    for style in (
        FigureStyle("page", 7.6, 9, False, 3),
        FigureStyle("neurips", 5.5, 8, True, 2, title=False),
        FigureStyle("icml", 3.25, 8, True, 1, title=False),
        FigureStyle("ieee", 3.5, 8, True, 1, title=False),
        FigureStyle("thesis", 6.0, 10, True, 2, title=False),
    )
}


def style_named(name: str) -> FigureStyle:
    """The style of this name, or an error that names the one that was meant."""
    if name not in STYLES:
        raise ValueError(f"style {name!r} is not known: {meant(name, STYLES)}")
    return STYLES[name]
