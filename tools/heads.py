"""Heads of trained samples for the playground of the atlas: ``python tools/heads.py`` writes ``assets/heads.json``.

Of a head with values U = O V and scores P three leading eigenvalues of U (by real part; a complex pair is not cut) span an
invariant space with orthonormal basis B, from an ordered real Schur form: U B = B F.  Tokens in that space stay in it, so F and
M = d B^T P B are the head itself there, not an approximation, up to rounding; the residual |U B - B F| / |U| is written beside.
The scores are those of tokens of length sqrt(d), as a norm without gains puts them out; biases, other heads and the feed-forward
are left out.  Of each sample the head with the clearest real leader is taken, and the one that turns fastest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "eigentoken" / "assets" / "heads.json"
#: Samples without positions inside the scores.
SAMPLES = ("rxnmapper", "minilm", "microformer")


def restricted(head: Any) -> dict[str, Any] | None:
    """F, M, the kept eigenvalues, real directions and the residual; ``None`` where the third eigenvalue would cut a pair."""
    outputs, inputs = head.O.astype(np.float64), head.V.astype(np.float64)
    core, whole = inputs @ outputs, outputs @ inputs  # the nonzero eigenvalues of U = O V are those of V O
    order = sorted(np.linalg.eigvals(core), key=lambda value: (-value.real, abs(value.imag)))
    kept = order[:3]
    if abs(sum(value.imag for value in kept)) > 1e-12 * abs(kept[0]):
        return None
    limit = (order[2].real + order[3].real) / 2
    _, basis, count = scipy.linalg.schur(core, output="real", sort=lambda re, im: re > limit)
    if count != 3 or kept[2].real <= 0:
        return None
    space, _ = np.linalg.qr(outputs @ basis[:, :3])
    space = space * np.sign(space[abs(space).argmax(axis=0), range(3)])  # the same signs on every machine
    values = space.T @ whole @ space
    scores = head.d * (space.T @ head.P @ space)
    residual = np.linalg.norm(whole @ space - space @ values, 2) / np.linalg.norm(whole, 2)
    found, vectors = np.linalg.eig(values)
    real = [k for k in np.argsort(-found.real) if abs(found[k].imag) <= 1e-12 * abs(found).max()]
    return {
        "F": _rounded(values),
        "M": _rounded(scores),
        "eigenvalues": [[_short(value.real), _short(value.imag)] for value in kept],
        "directions": [_rounded(np.real(vectors[:, k] / np.linalg.norm(vectors[:, k]))) for k in real],
        "residual": float(f"{residual:.1e}"),
    }


def chosen(name: str) -> list[dict[str, Any]]:
    """The head of a sample whose leader is clearest among the real ones, and the one whose leading pair turns fastest."""
    from eigentoken.models import load
    from eigentoken.models.loading.samples import find

    model, sample = load(f"sample:{name}"), find(name)
    best: dict[str, tuple[float, dict[str, Any]]] = {}
    for index in sorted({model.architecture.weights_of(k) for k in range(model.n_layers)}):
        for number, head in enumerate(model.layer(index).heads):
            made = restricted(head)
            if made is None:
                continue
            (first, turn), (second, _), _ = made["eigenvalues"]
            kind, score = ("turns", abs(turn) / first) if turn else ("leads", 1 - second / first)
            told = {
                "sample": name,
                "package": sample.requirement,
                "sha256": sorted(sample.members.values()),
                "layer": index,
                "head": number,
                "d": head.d,
                "causal": model.layer(index).mask.kind == "causal",
                "kind": kind,
            }
            if kind not in best or score > best[kind][0]:
                best[kind] = (score, told | made)
    return [told for _, told in (best[kind] for kind in sorted(best))]


def _short(value: float) -> float:
    """Six digits; what is rounding alone is zero."""
    return 0.0 if abs(value) < 1e-12 else float(f"{value:.6g}")


def _rounded(array: np.ndarray) -> Any:
    return [_rounded(each) if np.ndim(each) else _short(float(each)) for each in array]


def main() -> None:
    heads = [each for name in SAMPLES for each in chosen(name)]
    TARGET.write_text("[\n" + ",\n".join(json.dumps(each) for each in heads) + "\n]\n", encoding="utf-8")
    for each in heads:
        print(each["sample"], each["layer"], each["head"], each["kind"], each["eigenvalues"], each["residual"])


if __name__ == "__main__":
    main()
