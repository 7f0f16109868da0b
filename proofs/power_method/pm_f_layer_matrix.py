"""PM-F: the layer matrix F = sum_h U_h V_h = U V_cat.  Reference: Li-Altafini, section 2."""

from __future__ import annotations

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.pm_cm_consensus_manifold import B
from eigentoken.proofs.steps.equations import Z, at_every_token, for_every
from eigentoken.theory.calculus import HEAD, Letter, dot, matrix, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import Kind, Remark, RemarkKind, Source, Statement

_Z, _B = vector(Z.name), vector(B.name)
_WHOLE, _HEADS = dot(_Z, _B, matrix("F")), dot(_Z, _B, (Letter("F", False, (HEAD,)),)).summed(HEAD)
#: ``F b = sum_h F_h b`` for every vector b.
LAYER_MATRIX = for_every(sp.Eq(Tensor(_WHOLE), Tensor(_HEADS), evaluate=False), B, Z)


def proof(k: Kernel) -> Proved:
    """A matrix of heads without the index of a head is their sum."""
    return at_every_token(k, k.reduction(_WHOLE, _HEADS), B, Z)


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
        claims=(Formula(LAYER_MATRIX),),
        depends=("PM-E1",),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.CONVENTION,
                r"$F_h = U_hV_h$, and with $U = [U_1 \cdots U_H]$ and $V_{\mathrm{cat}} = [V_1; \dots; V_H]$ the block "
                r"product $UV_{\mathrm{cat}}$ stands for $\sum_hU_hV_h$.",
            ),
            Remark(
                RemarkKind.OPEN,
                r"that the output of `torch.nn.MultiheadAttention` without biases is that of these matrices, with "
                r"$U$ the output weight and $V_{\mathrm{cat}}$ the last third of the input weight; random layers are compared.",
            ),
        ),
        property_tests=(against_torch,),
    )
)
