"""``eigentoken steer``: edit the last layer, certify what the stored edit does, measure tokens before and after."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from eigentoken.documents.certificate import Certificate
    from eigentoken.documents.steer_document import Before, Guaranteed, LeadingEigenvalue, SteerBody
    from eigentoken.documents.steer_document import Certificate as CertificateOfAnEdit
    from eigentoken.documents.steer_document import Tokens as TokensDocument
    from eigentoken.documents.steer_document import Verdict as VerdictOfAnEdit
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.steering import Edit
    from eigentoken.theory.language.verdicts import Verdict

from eigentoken.display import html_table, listing
from eigentoken.files.arrays import ArrayFileError, read_npy

__all__ = ["DirectionError", "SteerReport", "read_direction", "steer"]

HEAD = ("Q", "K", "V", "scale", "q_bias", "k_bias", "v_bias")
SCOPE = (
    "PM-S3, certified: tokens as they enter the last layer, the attention update of the stored matrix with its biases, "
    "before the normalization and feed-forward that follow"
)


class DirectionError(ValueError):
    """A direction that cannot be used: the message begins with the argument's name."""


@dataclass(frozen=True, repr=False)
class SteerReport:
    """What a rank-one edit of the last layer does: ``document`` is the JSON, the rest are views."""

    document: SteerBody

    def as_dict(self) -> SteerBody:
        return self.document.copy()

    @property
    def folder(self) -> Path:
        """The edited checkpoint."""
        return Path(self.document["folder"])

    @property
    def verdicts(self) -> dict[str, VerdictOfAnEdit]:
        """The certified answers about the edited layer, by name."""
        return dict(self.document["verdicts"])

    def _rows(self) -> list[tuple[str, str]]:
        found, seen = self.document, self.document["tokens"]
        told = seen["guaranteed"]
        bound = found["cosine_at_least"]
        rows = [(name, str(verdict["verdict"])) for name, verdict in found["verdicts"].items()]
        if bound is not None:
            rows.append(("|cos| of the leading eigenvector with the direction, certified", f"at least {bound:.6f}"))
        means = f"{seen['before']['mean']:.3f} before, {seen['after']['mean']:.3f} after"
        rows.append(("|cos| of tokens with the direction, measured", means))
        words = f"holds for {told['holds']}, fails for {told['fails']}, undecided for {told['undecided']}"
        return [*rows, (f"guarantee of PM-S3 for {told['tokens']} tokens, certified", words)]

    def __repr__(self) -> str:
        head = (
            f"<Edit of {self.document['model']}, strength {self.document['strength']:g}, in {self.document['folder']}>"
        )
        return listing(head, [f"{name}: {said}" for name, said in self._rows()])

    def _repr_html_(self) -> str:
        return html_table(("what", "answer"), self._rows(), str(self.document["model"]))


def read_direction(text: str, model: Model, seed: int = 0) -> np.ndarray:
    """A direction: a ``.npy`` file, ``token:ID`` (a row of the embedding) or ``random``."""
    import numpy as np

    if text == "random":
        return np.random.default_rng(seed).standard_normal(model.d)
    if text.startswith("token:"):
        table = getattr(model.embedding(), "token", None)
        number = text.removeprefix("token:")
        if table is None or not number.isdigit() or int(number) >= len(table):
            raise DirectionError(f"direction {text}: expected token:ID with an id of the model's vocabulary")
        row = np.asarray(table[int(number)], dtype=np.float64)
        if row.shape != (model.d,):
            raise DirectionError(
                f"direction {text}: embeddings have {row.size} entries and tokens {model.d}; give a .npy"
            )
        return row
    path = Path(text)
    if path.suffix != ".npy":
        raise DirectionError(f"direction must be a .npy file, token:ID or random, got {text!r}")
    try:
        vector = read_npy(path)
    except ArrayFileError as problem:
        raise DirectionError(
            f"direction: {problem}: give a plain .npy array of numbers (nothing was unpickled)"
        ) from None
    if vector.dtype.kind not in "fiu":
        raise DirectionError(f"direction {text}: expected an array of real numbers, one for each coordinate of a token")
    return vector


def steer(
    model: object,
    direction: object,
    folder: str | Path,
    *,
    strength: float = 20.0,
    sequences: int = 8,
    tokens: int = 32,
    seed: int = 0,
) -> SteerReport:
    """Give the output matrix of the last layer a new principal direction; write the edited checkpoint to a new folder.

    ``model``: whatever :func:`eigentoken.load` takes.  ``direction``: an array or tensor of d numbers, a ``.npy`` file,
    ``token:ID`` or ``random``.  The report says what is certified (PM-S3) and what was seen on random tokens.
    """
    from eigentoken.checking.run import open_model

    loaded = open_model(model)
    target = Path(folder)
    if isinstance(direction, str | os.PathLike):
        vector = read_direction(os.fspath(direction), loaded, seed)
    else:
        vector = _given_direction(direction, loaded.d)
    return SteerReport(_steered(loaded, vector, float(strength), target, sequences, tokens, seed))


def _given_direction(direction: Any, d: int) -> np.ndarray:
    """d finite numbers, from an array, a tensor on any device, or a list."""
    import numpy as np

    plain = direction.detach().cpu() if hasattr(direction, "detach") else direction
    vector = np.asarray(plain)
    if vector.dtype.kind not in "fiu" or vector.shape != (d,):
        raise DirectionError(
            f"direction must be {d} real numbers, one for each coordinate, got {vector.dtype} {vector.shape}"
        )
    return vector.astype(np.float64)


def _steered(
    model: Model, direction: np.ndarray, strength: float, folder: Path, sequences: int, tokens: int, seed: int
) -> SteerBody:
    import numpy as np

    from eigentoken.checking.layers import weights_of
    from eigentoken.checking.observe import whole_layers
    from eigentoken.models import ModelError, load, save_edited
    from eigentoken.numerics.layers.steering import certify_edit, cosine_below, edit_output

    layer = model.layer(-1)
    if beyond := [*layer.beyond(), *([] if whole_layers(model) else ["a feed-forward that is not read"])]:
        raise ModelError(
            f"{model.source}: steer has no guarantee for a layer with {', '.join(beyond)}: PM-S3 is about softmax attention of "
            "a bilinear form whose update is added as it is"
        )
    edit = edit_output(layer.output_matrix(), layer.value_matrix(), direction, strength)
    written = save_edited(model, folder, {layer.index: edit.output})
    edited = load(str(folder))
    after = edited.layer(-1)
    verdicts = certify_edit(weights_of(after), edit.direction)
    leader = verdicts["leading eigenvector"].details.get("vector")
    aligned = None if leader is None else abs(float(np.dot(np.asarray(leader, dtype=float), edit.direction)))
    return {
        "model": model.source,
        "folder": str(folder),
        "layers_changed": list(written.layers),
        "strength": strength,
        "verdicts": {name: _of_an_edit(verdict) for name, verdict in verdicts.items()},
        "leading_eigenvalue": _leading(verdicts["leader by real part"]),
        "cosine_of_leading_eigenvector_with_direction": aligned,
        "cosine_at_least": cosine_below(verdicts["leading eigenvector"], edit.direction),
        "value_matrix_condition_number": edit.value_condition,
        "tokens": _before_and_after(model, layer, replace(after, index=layer.index), edit, sequences, tokens, seed),
    }


def _of_an_edit(verdict: Verdict) -> VerdictOfAnEdit:
    whole = verdict.as_dict()
    return {
        "verdict": whole["verdict"],
        "margin": whole["margin"],
        "unit": whole["unit"],
        "reason": whole["reason"],
        "certificate": None if whole["certificate"] is None else _certificate(whole["certificate"]),
        "details": whole["details"],
    }


def _certificate(whole: Certificate) -> CertificateOfAnEdit:
    return {
        "schema": whole["schema"],
        "kind": whole["kind"],
        "condition": whole["condition"],
        "verdict": whole["verdict"],
        "inputs": whole["inputs"],
        "data": whole["data"],
        "arrays": whole["arrays"],
        "digest": whole["digest"],
    }


def _leading(leader: Verdict) -> LeadingEigenvalue | None:
    """The disc of the leading eigenvalue, where its centre is a number."""
    found = leader.details.get("eigenvalue")
    if found is None or found["re"] is None or found["im"] is None:
        return None
    return {"re": found["re"], "im": found["im"], "radius": found["radius"]}


def _before_and_after(
    model: Model, layer: Layer, after: Layer, edit: Edit, sequences: int, tokens: int, seed: int
) -> TokensDocument:
    """Correlation of the tokens with the direction after the last layer, with the old and the new matrix, and PM-S3."""
    import numpy as np

    from eigentoken.checking.layers import rotary_pairs
    from eigentoken.checking.observe import starting_tokens
    from eigentoken.models.forward import first_states, run_layer
    from eigentoken.numerics.layers.certified_attention import Balls, mixed_values
    from eigentoken.numerics.layers.steering import token_guarantees
    from eigentoken.theory.language.verdicts import VerdictAnswer

    x = first_states(model, starting_tokens(model, sequences, tokens, seed))
    for each in model.layers(0, model.n_layers - 1):
        x = run_layer(each, x).output

    def cosines(which: Layer) -> Before:
        state = run_layer(which, x, with_feed_forward=False).after_attention.reshape(-1, model.d).astype(np.float64)
        found = np.abs(state @ edit.direction) / np.linalg.norm(state, axis=1)
        return {"mean": float(found.mean()), "smallest": float(found.min())}

    seen = layer.attention_norm.apply(x) if layer.placement == "pre" else x
    heads = [{name: getattr(head, name) for name in HEAD} for head in layer.heads]
    mixed = mixed_values(heads, seen, layer.mask.allowed(seen.shape[-2]), rotary_pairs(layer))
    values = Balls(*(part.reshape(-1, part.shape[-1]) for part in (mixed.center, mixed.radius)))
    guarantees = token_guarantees(x.reshape(-1, model.d), values, after.output_matrix(), edit, after.output_bias)
    answers = [each.verdict.answer for each in guarantees]
    bounds = [each.tangent_at_most for each in guarantees if each.tangent_at_most is not None]
    guaranteed: Guaranteed = {
        "tokens": len(guarantees),
        "holds": answers.count(VerdictAnswer.HOLDS),
        "fails": answers.count(VerdictAnswer.FAILS),
        "undecided": answers.count(VerdictAnswer.UNDECIDED),
        "largest_tangent_bound": max(bounds) if bounds else None,
        "median_tangent_bound": float(np.median(bounds)) if bounds else None,
        "scope": SCOPE,
        "each": [each.as_dict() for each in guarantees],
    }
    return {"before": cosines(layer), "after": cosines(after), "guaranteed": guaranteed}
