"""The words of a check report, each with its definition: the legend of the HTML page and the table in ``docs/check.md``."""

from __future__ import annotations

import re
from html import escape

__all__ = ["GLOSSARY", "legend_html"]

#: Word and meaning; mathematics stands between ``\\(`` and ``\\)``.  Definitions are those of ``numerics/layers``.
GLOSSARY: tuple[tuple[str, str], ...] = (
    ("F, S", r"the matrices of a layer, all heads together: \(F=\sum_h O_hV_h\) and \(S=\sum_h Q_h^TK_h\)"),
    ("U, P", r"the matrices of one head: \(U_h=O_hV_h\) and \(P_h=Q_h^TK_h/\text{scale}\)"),
    ("sym(X)", r"\(\tfrac12(X+X^T)\); its *inertia* counts positive, negative and zero eigenvalues"),
    (
        "leader",
        r"the eigenvalue of \(F\) (or \(U_h\)) that comes first by real part (what a flow needs), by modulus, or by "
        r"\(\lvert1+\lambda\rvert\) (what a layer with step 1 needs), if it is certified to",
    ),
    (
        "case 1, 2, 3",
        "of Li and Altafini: 1, the leader is real and simple; 2, a simple complex pair; 3, neither "
        '("2 or 3": not real, simple or not is undecided); ?, undecided. '
        r"Three cases, one for each order: real part / modulus / \(\lvert1+\lambda\rvert\)",
    ),
    ("Re λ₁, gap", r"the largest real part of an eigenvalue of \(F\), and its distance to the next one (0 for a pair)"),
    (
        "α*",
        r"the step below which consensus on the leading eigenvector is stable (PM-N1): "
        r"\(\min_{\lvert\lambda_\ell\rvert>\lambda_1} 2(\lambda_1-\operatorname{Re}\lambda_\ell)/"
        r"(\lvert\lambda_\ell\rvert^2-\lambda_1^2)\), ∞ if there is no such eigenvalue; -, if PM-N1 is not about "
        "the layer (rotary positions, a window), or the leader by real part is not certified real, simple and positive",
    ),
    (
        "to sym., to I",
        r"distances in the spectral norm: \(\lVert\tfrac12(F-F^T)\rVert\), the distance to the symmetric matrices, and "
        r"\(\lVert F-I\rVert\)",
    ),
    (
        "regime",
        r"of Pham et al., for one head with full attention and no positions in the scores, \(B=F\), \(A=WB^{-1}\); of several "
        r"heads with \(W=S\) *as if one head*: convergence, \(A=A^T\prec0\) and "
        r"\(\operatorname{sym}(W)\succ0\) (PH-T2); divergence, \(A=A^T\succ0\) and \(\operatorname{sym}(W)\succ0\) (PH-T3); "
        r"intermediate, \(A=A^T\) indefinite (PH-T5); none, no such theorem applies; *not about this model*, the mask or the "
        "positions differ",
    ),
    (
        "core",
        r"of a head: the small matrix \(V_hO_h\), which has the nonzero eigenvalues of \(U_h\); *on the range of O* means "
        r"the head's system restricted to that invariant space, with \(V_hO_h\) and \((Q_hO_h)^TK_hO_h\)",
    ),
    ("E", r"\(1-\operatorname{mean}_i\cos(x_1,x_i)\), signed: 0 when every token points like the first (AB-E25)"),
    (
        "mean distance",
        "the mean distance between the directions of two tokens of one sequence, each scaled to length 1",
    ),
    (
        "correlation with the principal direction",
        r"\(\lvert\cos(x_i,v)\rvert\) with the leading eigenvector \(v\) of \(F\) by real part, or with the plane of a "
        "leading complex pair; *grows* means that the 95 % interval of the mean change is above 0",
    ),
    (
        "each layer",
        "the layer as a system: heads that act (heads with exactly equal scores count once, a head with \\(O_hV_h=0\\) exactly "
        "not at all), mask, positions inside the scores (those added once, before the layers, only choose the start)",
    ),
    (
        "not about this model",
        "no system that the statement names contains the layer: heads, mask, positions or shared matrices differ, and the "
        "part is said",
    ),
    (
        "as if one head",
        "conditions of a statement about one head, read on the sums \\(F\\) and \\(S\\) of several heads, or on a head alone: "
        "*met* or *not met*, no verdict on the layer",
    ),
    (
        "asks nothing, asks only invertibility",
        "the conditions are true of all finite weights, or of all with an invertible matrix (and it is): listed apart, not "
        "among the statements that hold",
    ),
    (
        "idealisations",
        "what may differ beside a verdict, with its size: a flow for a layer's one step, the place of the normalisation, "
        r"the mean that a LayerNorm subtracts, gains, biases, feed-forward, weights that sum to \(1/\sqrt d\)",
    ),
    (
        "holds, fails, undecided",
        "of a statement: it is about the layer, and its conditions on weights are all met, or not; of a condition: certified "
        "true, certified false, neither; a *margin* says how much the matrix may change, in the unit beside it, "
        "before the answer could flip",
    ),
)


def legend_html() -> str:
    """The table in a closed ``<details>``; a link to a word in it (``#word-case``) opens it."""
    rows = "".join(
        f'<tr id="word-{re.split("[ ,]", word)[0]}"><th scope="row">{escape(word)}</th><td>{_emphasis(text)}</td></tr>'
        for word, text in GLOSSARY
    )
    return f'<details id="words"><summary>What the words mean</summary><div class="display"><table>{rows}</table></div></details>'


def _emphasis(text: str) -> str:
    parts = escape(text, quote=False).split("*")
    return "".join(f"<em>{part}</em>" if place % 2 else part for place, part in enumerate(parts))
