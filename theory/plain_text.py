"""LaTeX of the book as one line of Unicode, for terminals: readable, not typeset."""

from __future__ import annotations

import re

__all__ = ["plain_text"]

_SYMBOLS = {
    r"\lambda": "λ", r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\delta": "δ", r"\Delta": "Δ", r"\epsilon": "ε",
    r"\varepsilon": "ε", r"\eta": "η", r"\theta": "θ", r"\Theta": "Θ", r"\kappa": "κ", r"\mu": "μ", r"\nu": "ν",
    r"\xi": "ξ", r"\pi": "π", r"\Pi": "Π", r"\rho": "ρ", r"\sigma": "σ", r"\Sigma": "Σ", r"\tau": "τ", r"\phi": "φ",
    r"\varphi": "φ", r"\omega": "ω", r"\Lambda": "Λ", r"\zeta": "ζ", r"\psi": "ψ", r"\ell": "ℓ", r"\leq": "≤",
    r"\le": "≤", r"\geq": "≥", r"\ge": "≥", r"\neq": "≠", r"\ne": "≠", r"\succeq": "⪰", r"\succ": "≻", r"\prec": "≺",
    r"\preceq": "⪯", r"\iff": "⇔", r"\implies": "⇒", r"\Rightarrow": "⇒", r"\to": "→", r"\mapsto": "↦", r"\infty": "∞",
    r"\sum": "Σ", r"\prod": "Π", r"\int": "∫", r"\in": "∈", r"\notin": "∉", r"\subset": "⊂", r"\cap": "∩", r"\cup": "∪",
    r"\setminus": "∖", r"\exists": "∃", r"\forall": "∀", r"\wedge": "and", r"\vee": "or", r"\lor": "or", r"\land": "and",
    r"\neg": "not", r"\pm": "±", r"\mp": "∓", r"\cdot": "·", r"\times": "×", r"\otimes": "⊗", r"\dots": "…",
    r"\ldots": "…", r"\cdots": "…", r"\top": "ᵀ", r"\perp": "⊥", r"\parallel": "∥", r"\lVert": "‖", r"\rVert": "‖",
    r"\|": "‖", r"\approx": "≈", r"\sim": "∼", r"\propto": "∝", r"\equiv": "≡", r"\angle": "∠", r"\partial": "∂",
    r"\nabla": "∇", r"\mathbb R": "ℝ", r"\mathbb{R}": "ℝ", r"\langle": "⟨", r"\rangle": "⟩", r"\dot": "d/dt ",
}  # fmt: skip
_SUBSCRIPTS = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
_SUPERSCRIPTS = str.maketrans("0123456789+-ᵀ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ")
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_WRAPPERS = re.compile(
    r"\\(?:text|mathrm|mathbf|textbf|operatorname\*?|mathcal|mathbb|emph|textit|boldsymbol|mathit)" + _GROUP
)
_FRACTION = re.compile(r"\\[td]?frac" + _GROUP + _GROUP)
_ROOT = re.compile(r"\\sqrt" + _GROUP)
_ACCENT = re.compile(r"\\(bar|hat|tilde|widehat|widetilde|overline)\s*(?:" + _GROUP + r"|(\w))")
_ACCENTS = {"bar": "\u0304", "hat": "\u0302", "tilde": "\u0303"}


def plain_text(latex: str) -> str:
    """One line of Unicode.

    >>> plain_text(r"\\alpha \\left(|\\lambda_{d}(V)| - \\lambda_{1}(V)\\right) < 2")
    'α (|λ_d(V)| - λ₁(V)) < 2'
    >>> plain_text(r"\\frac{1 + \\alpha \\lambda_{k}}{2}")
    '(1 + α λ_k)/(2)'
    """
    text = latex.replace("$", "").replace(r"\left", "").replace(r"\right", "").replace("\n", " ")
    text = re.sub(r"\\(?:big|Big|bigg|Bigg)[lr]?", "", text)
    for _ in range(8):
        before = text
        text = _WRAPPERS.sub(r"\1", text)
        text = _FRACTION.sub(r"(\1)/(\2)", text)
        text = _ROOT.sub(r"√(\1)", text)
        text = _ACCENT.sub(_accented, text)
        if text == before:
            break
    text = re.sub(r"\\(?:,|;|:|!|quad|qquad|displaystyle|textstyle|limits|ensuremath)(?![a-zA-Z])", " ", text)
    text = text.replace(r"\ ", " ").replace("~", " ").replace(r"\{", "\x01").replace(r"\}", "\x02")
    for name in sorted(_SYMBOLS, key=len, reverse=True):
        text = re.sub(re.escape(name) + r"(?![a-zA-Z])", _SYMBOLS[name], text)
    text = re.sub(r"\^" + _GROUP, lambda found: _script(found.group(1), "^", _SUPERSCRIPTS), text)
    text = re.sub(r"\^(\w|ᵀ|\+)", lambda found: _script(found.group(1), "^", _SUPERSCRIPTS), text)
    text = re.sub(r"_" + _GROUP, lambda found: _script(found.group(1), "_", _SUBSCRIPTS), text)
    text = re.sub(r"_(\w)", lambda found: _script(found.group(1), "_", _SUBSCRIPTS), text)
    text = re.sub(r"\\([a-zA-Z]+)", r"\1", text).replace("{", "").replace("}", "").replace("\\", "")
    text = text.replace("\x01", "{").replace("\x02", "}")
    return re.sub(r"\s+", " ", text).strip()


def _accented(found: re.Match[str]) -> str:
    inside = found.group(2) if found.group(2) is not None else found.group(3)
    mark = _ACCENTS.get(found.group(1).removeprefix("wide").replace("overline", "bar"), "")
    return f"{inside}{mark}" if len(inside) == 1 else f"{found.group(1)}({inside})"


def _script(inside: str, sign: str, digits: dict[int, int]) -> str:
    moved = inside.strip().translate(digits)
    if all(letter in "₀₁₂₃₄₅₆₇₈₉₊₋⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ" for letter in moved):
        return moved
    return f"{sign}{inside}" if len(inside) == 1 else f"{sign}({inside})"
