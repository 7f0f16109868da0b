"""PM-F: the layer matrix F = sum_h U_h V_h = U V_cat.  Reference: Li-Altafini, section 2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.layer_systems import ANY, Covers
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Source, Statement
from eigentoken.theory.statements.steps import Derivation, Reduction


def _concatenated() -> Any:
    """The block product ``[U' U_H] [V'; V_H]`` for symbolic sizes: one more head beside any number of them."""
    d, e, f = sp.symbols("d d_1 d_2", integer=True, positive=True)
    left, right = sp.MatrixSymbol("U_1", d, e), sp.MatrixSymbol("U_2", d, f)
    upper, lower = sp.MatrixSymbol("V_1", e, d), sp.MatrixSymbol("V_2", f, d)
    return sp.block_collapse(sp.BlockMatrix([[left, right]]) * sp.BlockMatrix([[upper], [lower]]))


def _sum() -> Any:
    d, e, f = sp.symbols("d d_1 d_2", integer=True, positive=True)
    return sp.MatrixSymbol("U_1", d, e) * sp.MatrixSymbol("V_1", e, d) + sp.MatrixSymbol("U_2", d, f) * sp.MatrixSymbol(
        "V_2", f, d
    )


def _same(derived: Any, claimed: Any) -> Verdict:
    return holds("the block product is the sum") if derived == claimed else fails(f"{derived} is not {claimed}")


def derive() -> Derivation:
    """Adding one head to a concatenation adds its product; by induction F = sum_h U_h V_h."""
    return Derivation(
        (
            Reduction(
                name="one more head",
                says="Let $U_1$, $V_1$ be the concatenation of any number of heads and $U_2$, $V_2$ one more head, for "
                "any sizes: the block product adds $U_2V_2$. By induction $UV_{\\rm cat} = \\sum_hU_hV_h$.",
                derive=_concatenated,
                claimed=_sum(),
                agrees=_same,
                shows=lambda claimed: (
                    r"\begin{pmatrix}U_1 & U_2\end{pmatrix}\begin{pmatrix}V_1\\V_2\end{pmatrix} = " + sp.latex(claimed)
                ),
            ),
        )
    )


def against_torch(instances: int, seed: int) -> Verdict:
    """torch.nn.MultiheadAttention without biases: its output is ``sum_h U_h V_h sum_j a^h_ij x_j`` (float64, observed)."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    for case in range(instances):
        heads, size, tokens = 2, 4, 3
        torch.manual_seed(seed * 100003 + case)
        layer = torch.nn.MultiheadAttention(heads * size, heads, bias=False, batch_first=True, dtype=torch.float64)
        x = torch.randn(1, tokens, heads * size, generator=generator, dtype=torch.float64)
        with torch.no_grad():
            output = layer(x, x, x, need_weights=False)[0][0]
            q, k, v = layer.in_proj_weight.chunk(3)
            total = torch.zeros_like(output)
            for h in range(heads):
                rows = slice(h * size, (h + 1) * size)
                scores = (x[0] @ q[rows].T) @ (x[0] @ k[rows].T).T / size**0.5
                product = layer.out_proj.weight[:, rows] @ v[rows]
                total += torch.softmax(scores, dim=-1) @ x[0] @ product.T
        gap = float((output - total).abs().max())
        if gap > 1e-12:
            return fails(f"case {case}: the outputs differ by {gap:.3g}")
    return holds(f"{instances} random layers")


PM_F = register(
    Statement(
        id="PM-F",
        kind=Kind.DEFINITION,
        source=Source(LI_ALTAFINI, "section 2"),
        title="The layer matrix",
        systems=("multihead-map",),
        covers=Covers(masks=(ANY,), positions=(ANY,)),
        text=(
            r"$F = \sum_hU_hV_h = UV_{\rm cat}$ with $U = [U_1 \cdots U_H]$ and $V_{\rm cat} = [V_1; \dots; V_H]$. For "
            r"a PyTorch multi-head attention without biases $F$ is the output weight times the last third of the "
            r"input weight."
        ),
        depends=("PM-E1",),
        derive=derive,
        prose_from=("one more head",),
        property_tests=(against_torch,),
    )
)
