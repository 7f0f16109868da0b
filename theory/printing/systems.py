"""The equations of a system as LaTeX, for amsmath alone."""

from __future__ import annotations

from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["system_latex"]


def system_latex(system: System, mask: str | None = None) -> str:
    """The equations of a system, with its state space and where it is defined, as an ``aligned`` block.

    ``mask`` is another than the system's own: ``causal``, or the name of one whose entries are ``m_ij``.
    """
    seen = mask or system.mask
    head = "^h" if system.multihead else ""
    lower = "_h" if system.multihead else ""
    value = f"{system.value}{lower}" if system.value else ""
    under = {"full": "", "causal": r"\le i"}.get(seen)
    entry = "" if under is not None else "m_{ij}"
    row = "" if under is not None else "m_{il}"
    under = under or ""
    root = r"\frac1{\sqrt d}" if system.over_root_d else ""
    weights = rf"a{head}_{{ij}}" if system.score or seen != "full" else r"\tfrac1n"
    total = r"\sum_{h=1}^{H}" if system.multihead else ""
    influence = rf"u_i={root}{total}{value}\sum_{{j{under}}}{weights}\,x_j"
    lines = []
    metric = system.metric or ""
    norm = rf"\lvert y_i\rvert_{{{metric}}}" if metric else r"\lVert y_i\rVert"
    if system.time is Time.MAP:
        lines.append(rf"x_i^+&=\frac{{y_i}}{{{norm}}},\qquad y_i=x_i+\alpha u_i,\qquad {influence},")
    elif system.space is Space.EUCLIDEAN:
        lines.append(rf"\dot x_i&=u_i,\qquad {influence},")
    else:
        lines.append(rf"\dot x_i&=u_i-(x_i^\top {metric}u_i)\,x_i,\qquad {influence},")
    if system.score:
        score = f"{system.score}{lower}"
        lines.append(
            rf"a{head}_{{ij}}&=\frac{{{entry}\exp(x_i^\top {score}x_j)}}{{\sum_{{l{under}}}{row}\exp(x_i^\top {score}x_l)}},"
        )
    elif seen == "causal":
        lines.append(r"a_{ij}&=\frac1i\quad(j\le i),")
    elif seen != "full":
        lines.append(r"a_{ij}&=\frac{m_{ij}}{\sum_{l}m_{il}},")
    spaces = {
        Space.SPHERE: r"x_i\in S^{d-1}=\{x\in\mathbf R^d:\ x^\top x=1\}",
        Space.ELLIPSOID: rf"x_i\in\{{x\in\mathbf R^d:\ x^\top {metric}x=1\}},\quad {metric}={metric}^\top\succ0",
        Space.EUCLIDEAN: r"x_i\in\mathbf R^d",
    }
    domain = r";\quad\text{defined where every }y_i\neq0" if system.time is Time.MAP else ""
    step = r",\quad\alpha>0" if system.time is Time.MAP else ""
    lines.append(rf"&{spaces[system.space]},\quad i=1,\dots,n{step}{domain}.")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"
