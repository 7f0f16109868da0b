"""The letters of an SVG figure: its text stays text, and is drawn by the fonts that placed it, wherever it is opened.

A viewer draws text with fonts of its own where it has not the one that is named, and the letters of a formula, each of which
has its place, then overlap.  So the few letters that a figure uses stand in the file: a subset of each font, as ``@font-face``.
"""

from __future__ import annotations

import base64
import io
import re
from html import unescape
from typing import Literal

__all__ = ["with_fonts"]

_SPAN = re.compile(r'<(?:text|tspan)\b[^>]*\bstyle="([^"]*)"[^>]*>([^<]*)')
_STYLE = '<style type="text/css">'


def with_fonts(svg: str) -> str:
    """The SVG that matplotlib wrote, with the letters that it uses of the fonts that it names."""
    letters: dict[tuple[str, str, str], set[str]] = {}
    for told, text in _SPAN.findall(svg):
        letters.setdefault(_named(unescape(told)), set()).update(unescape(text))
    faces = [_face(*kind, "".join(sorted(used))) for kind, used in sorted(letters.items()) if kind[0] and used]
    return svg.replace(_STYLE, _STYLE + "".join(faces), 1)


def _named(style: str) -> tuple[str, str, str]:
    """Family, style and weight of a font as it is told: each by itself, or (matplotlib before 3.10) all in one ``font``.

    >>> _named("font-style: italic; font-size: 8px; font-family: 'STIXGeneral', serif")
    ('STIXGeneral', 'italic', 'normal')
    >>> _named("font: italic 8px 'STIXGeneral'; text-anchor: middle")
    ('STIXGeneral', 'italic', 'normal')
    """
    found = dict(re.findall(r"(font[a-z-]*): *([^;]+)", style))
    before, _, family = re.sub(r"[\d.]+px", "|", found.get("font", ""), count=1).partition("|")
    words = before.split()
    leaning = next((each for each in words if each in ("italic", "oblique")), "normal")
    weight = next((each for each in words if each in ("bold", "bolder", "lighter") or each.isdigit()), "normal")
    named = found.get("font-family", family).split(",")[0].strip("' ")
    return named, found.get("font-style", leaning), found.get("font-weight", weight)


def _face(family: str, style: str, weight: str, text: str) -> str:
    """The rule of one font; empty where matplotlib itself has not the font and took another."""
    from fontTools import subset
    from matplotlib.font_manager import FontProperties, findfont

    try:
        leaning: Literal["normal", "italic"] = "italic" if style == "italic" else "normal"
        path = findfont(FontProperties(family=[family], style=leaning, weight=weight), fallback_to_default=False)
    except ValueError:
        return ""
    options = subset.Options(flavor="woff", hinting=False, layout_features=[], notdef_outline=True, name_IDs=[])
    options.drop_tables = [*options.drop_tables, "FFTM"]  # what FontForge notes for itself
    made = io.BytesIO()
    with subset.load_font(path, options) as font:
        chosen = subset.Subsetter(options)
        chosen.populate(text=text)
        chosen.subset(font)
        subset.save_font(font, made, options)
    source = f"url(data:font/woff;base64,{base64.b64encode(made.getvalue()).decode()})"
    return f"@font-face{{font-family:'{family}';font-style:{style};font-weight:{weight};src:{source}}}"
