"""LaTeX for Jacobian blocks, spectra and criteria of stability.

What is printed is what was checked: the structured form of a Jacobian is compared with the derived one by the normal
form before it is printed.
"""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    SLOT,
    CalculusAlgebra,
    Expression,
    Index,
    delta,
    differentiate,
    direction,
    dot,
    factor,
    normal_form,
    prove_equal,
    vector,
)
from eigentoken.theory.linearization.linearize import PERTURBATION, Linearization, jacobian_block, norm_name
from eigentoken.theory.linearization.spectrum import Entry, Spectrum
from eigentoken.theory.printing.expressions import expression_latex
from eigentoken.theory.printing.formulas import formula, ordered
from eigentoken.theory.systems.catalogue import Space, Time

__all__ = [
    "criterion_latex",
    "entry_latex",
    "influence_block",
    "jacobian_latex",
    "proof_latex",
    "spectrum_latex",
    "statement_latex",
]

# -- spectra ----------------------------------------------------------------------------------------------------------


def entry_latex(entry: Entry) -> tuple[str, str]:
    """The value and the multiplicity of an entry."""
    runs = ",\\ ".join(run.latex for run in entry.runs)
    value = formula(entry.value).replace(r"\frac", r"\dfrac", 1)
    return value + (rf"\quad({runs})" if runs else ""), formula(entry.multiplicity)


def spectrum_latex(spectrum: Spectrum) -> str:
    """The spectrum as a table: class, value, multiplicity, eigenvectors; then the block and the abbreviations."""
    rows = []
    blocks: list[sp.ImmutableMatrix] = []
    listed = dict.fromkeys(entry.block for entry in spectrum.entries if entry.block is not None)
    names = [r"B_\ell"] if len(listed) == 1 else [rf"B_\ell^{{({place})}}" for place in range(1, len(listed) + 1)]
    for entry in spectrum.entries:
        if entry.block is not None:
            if entry.block in blocks:
                continue
            blocks.append(entry.block)
            size = entry.block.rows
            runs = ",\\ ".join(run.latex for run in entry.runs if run.symbol != entry.value)
            which = "two" if size == 2 else str(size)
            value = rf"\text{{the {which} eigenvalues of }}{names[len(blocks) - 1]}" + (
                rf"\quad({runs})" if runs else ""
            )
            each = formula(entry.multiplicity)
            multiplicity = rf"{each}\text{{ each}}"
        else:
            value, multiplicity = entry_latex(entry)
        title = entry.title.replace("+v_k", "$+v_k$").replace("-v_k", "$-v_k$").replace(r"\rho", r"$\rho$")
        if not entry.tangent:
            title += f" ({entry.extension} extension)"
        rows.append(rf"\text{{{title}}} & {value} & {multiplicity} & {entry.eigenvectors}")
    header = r"\text{class} & \text{eigenvalue} & \text{multiplicity} & \text{eigenvectors} \\ \hline\rule{0pt}{16pt}"
    gap = " \\\\[7pt]\n"
    table = f"\\begin{{array}}{{llll}}\n{header}\n{gap.join(rows)}\n\\end{{array}}"
    after = []
    after += [rf"{name}&={_matrix(block)}" for name, block in zip(names, blocks, strict=True)]
    after += [rf"{formula(letter)}&={formula(meaning)}" for letter, meaning in spectrum.abbreviations]
    if spectrum.conditions:
        after.append(r"&\text{where }" + ",\\quad ".join(formula(condition) for condition in spectrum.conditions))
    if not after:
        return table
    return (
        "\\begin{gathered}\n"
        + table
        + " \\\\[6pt]\n\\begin{aligned}\n"
        + " \\\\\n".join(after)
        + "\n\\end{aligned}\n\\end{gathered}"
    )


def _matrix(block: sp.ImmutableMatrix) -> str:
    rows = [
        " & ".join(
            rf"\dfrac{{{formula(sp.numer(e))}}}{{{formula(sp.denom(e))}}}" if sp.denom(e) != 1 else formula(e)
            for e in row
        )
        for row in block.tolist()
    ]
    return "\\begin{pmatrix}\n" + " \\\\[8pt]\n".join(rows) + "\n\\end{pmatrix}"


# -- criteria ---------------------------------------------------------------------------------------------------------


def statement_latex(hypotheses: tuple[Any, ...], conclusion: Any) -> str:
    """``hypotheses => conclusion``, on several lines where it is long."""
    given = _lines([formula(each) for each in hypotheses], ",\\ ")
    if isinstance(conclusion, sp.Equivalent):
        sides = [formula(part) for part in ordered(conclusion)]
        claim = [sides[0], *(rf"\iff\ {side}" for side in sides[1:])]
    elif isinstance(conclusion, sp.And):
        sides = [formula(part) for part in ordered(conclusion)]
        claim = [sides[0], *(rf"\text{{and}}\ {side}" for side in sides[1:])]
    else:
        claim = [formula(conclusion)]
    if not given:
        return claim[0] if len(claim) == 1 else _aligned(claim)
    return _aligned([*given, rf"\Longrightarrow\ {claim[0]}", *claim[1:]])


def _lines(parts: list[str], separator: str, width: int = 100) -> list[str]:
    """The parts joined, with a new line where one gets long."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) <= width:
            lines[-1] += separator + part
        else:
            if lines:
                lines[-1] += ","
            lines.append(part)
    return lines


def _aligned(lines: list[str]) -> str:
    if len(lines) == 1:
        return lines[0]
    return "\\begin{aligned}\n" + " \\\\\n".join(f"&{line}" for line in lines) + "\n\\end{aligned}"


def criterion_latex(criterion: Any) -> str:
    """The criterion in words and one display."""
    given = ",\\ ".join(formula(each) for each in criterion.hypotheses)
    arrow = r"\iff" if criterion.exact else r"\impliedby"
    condition = (
        r"\text{the point is unstable}"
        if criterion.condition is sp.false
        else rf"\text{{the point is stable}}{arrow} {formula(criterion.condition)}"
    )
    if not given:
        return f"\\[\n{condition}.\n\\]"
    return f"\\[\n{given}\\ \\Longrightarrow\\ \\bigl({condition}\\bigr).\n\\]"


def proof_latex(criterion: Any) -> str:
    """The lemmas of the proof, one item each, as they are checked."""
    items = []
    for lemma in criterion.proof:
        if hasattr(lemma, "left"):
            shown = f"{lemma.shown or formula(lemma.left)}={formula(lemma.right)}"
        else:
            shown = statement_latex(lemma.hypotheses, lemma.conclusion)
        items.append(f"\\item {_words(lemma.name)}:\n\\[\n{shown}\n\\]")
    return "\\begin{enumerate}\n" + "\n".join(items) + "\n\\end{enumerate}\n" + _words(criterion.words)


def _words(text: str) -> str:
    """Plain words with the letters of the formulas in mathematics."""
    text = re.sub(r"\b(lambda|kappa|mu|alpha|delta)(_\w+)?\b", lambda m: f"${_letter(m.group(0))}$", text)
    text = re.sub(r"(?<![\w$])([bvmGTD]_\w+)", r"$\1$", text)
    return (
        text.replace("<=", r"$\le$")
        .replace(">=", r"$\ge$")
        .replace("!=", r"$\ne$")
        .replace("<", "$<$")
        .replace(">", "$>$")
        .replace("|", "$|$")
        .replace("^", r"\^{}")
    )


def _letter(word: str) -> str:
    stem, _, index = word.partition("_")
    index = {"l": r"\ell"}.get(index, index)
    return f"\\{stem}" + (f"_{index}" if index else "")


# -- Jacobian blocks --------------------------------------------------------------------------------------------------


def influence_block(found: Linearization) -> Expression:
    """``(du_i/dx_l) xi``, derived from the influence of the system."""
    algebra = CalculusAlgebra()
    push = found.system.influence(algebra, found.parameters, vector("x", SLOT), found.mask)
    return jacobian_block(differentiate(push, direction("x", PERTURBATION), algebra.assumptions), algebra.assumptions)


def jacobian_latex(found: Linearization) -> str:
    """The exact Jacobian block in the papers' form; it is compared with the derived block before it is printed."""
    system, rules = found.system, found.assumptions
    inner = influence_block(found)
    xi, x = vector("xi"), vector("x", SLOT)
    same = delta(SLOT, Index("token", "l"))
    metric = rules.unit.get("x", ())
    W = "".join(letter.name for letter in metric)
    name = r"\frac{\partial u_i}{\partial x_l}"
    if system.time is Time.MAP:
        norm = factor(norm_name(found))
        unit = vector("y", SLOT) / norm
        raw = same * xi + inner * found.parameters["alpha"]
        claimed = (raw - dot(unit, raw, metric) * unit) / norm
        shown = rf"\frac1{{r_i}}\bigl(I-\hat y_i\hat y_i^\top {W}\bigr)\Bigl(\delta_{{il}}I+\alpha {name}\Bigr)"
        shown += (
            rf",\qquad \hat y_i=\frac{{y_i}}{{r_i}},\quad r_i=\lvert y_i\rvert_{{{W}}}"
            if W
            else (r",\qquad \hat y_i=\frac{y_i}{r_i},\quad r_i=\lVert y_i\rVert")
        )
    elif system.space is Space.EUCLIDEAN:
        claimed, shown = inner, name
    else:
        push = system.influence(CalculusAlgebra(), found.parameters, x, found.mask)
        turning = dot(x, push, metric) * xi + dot(xi, push, metric) * x
        claimed = inner - dot(x, inner, metric) * x - same * turning
        shown = rf"\bigl(I-x_ix_i^\top {W}\bigr){name}-\delta_{{il}}\bigl((x_i^\top {W}u_i)I+x_iu_i^\top {W}\bigr)"
    plain = rules if found.extension == "homogeneous" else None
    if plain is None or not prove_equal(found.block(), claimed, rules).is_holds:
        raise ValueError(
            f"{system.name}: the structured Jacobian is not the derived one (extension {found.extension!r})"
        )
    influence = expression_latex(normal_form(inner, rules), operator="xi", line_width=130)
    lines = [rf"\frac{{\partial f_i}}{{\partial x_l}}&={shown}", rf"{name}&={influence}"]
    if r"\bar x" in influence:
        head = "^h" if system.multihead else ""
        lines.append(rf"\bar x{head}_i&=\sum_j a{head}_{{ij}}x_j")
    return "\\begin{aligned}\n" + ", \\\\\n".join(lines) + ".\n\\end{aligned}"
