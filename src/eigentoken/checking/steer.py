"""``eigentoken steer``: edit the last layer, certify what the stored edit does, measure tokens before and after."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from eigentoken.checking.prompts import Prompts
    from eigentoken.checking.steer_effects import Effects
    from eigentoken.documents.certificate import Certificate
    from eigentoken.documents.steer_document import (
        Before,
        Guaranteed,
        LeadingEigenvalue,
        OutputEffect,
        SteerBody,
        SuggestedStrength,
    )
    from eigentoken.documents.steer_document import Certificate as CertificateOfAnEdit
    from eigentoken.documents.steer_document import Tokens as TokensDocument
    from eigentoken.documents.steer_document import Verdict as VerdictOfAnEdit
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.dynamics.charts import Chart
    from eigentoken.numerics.dynamics.drawing import Drawing
    from eigentoken.numerics.layers.certified_attention import Balls
    from eigentoken.numerics.layers.steering import Edit
    from eigentoken.theory.language.verdicts import Verdict

from eigentoken.display import html_table, listing
from eigentoken.files.arrays import ArrayFileError, read_npy

__all__ = [
    "GUARANTEE",
    "DirectionError",
    "SteerReport",
    "damage_text",
    "read_direction",
    "steer",
    "strength_for",
    "strength_text",
]

HEAD = ("Q", "K", "V", "scale", "q_bias", "k_bias", "v_bias")
#: The statement, as a reader meets it.
GUARANTEE = "A one-layer guarantee for steering (PM-S3)"
SCOPE = (
    f"{GUARANTEE}, certified: tokens as they enter the last layer, the attention update of the stored matrix with its biases, "
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
        words = (
            f"holds for {told['holds']} ({told['towards']} end on the side of +w, {told['away']} of -w), "
            f"fails for {told['fails']}, undecided for {told['undecided']}"
        )
        rows.append((f"{GUARANTEE} for {told['tokens']} tokens, certified", words))
        return [
            *rows,
            ("next token", damage_text(found["output"])),
            ("strength", strength_text(found["suggested"])),
        ]

    def plot(self) -> Drawing:
        """Damage by strength (a figure; ``.savefig(path)``)."""
        from eigentoken.numerics.dynamics.drawing import draw

        return draw(self.chart())

    def chart(self) -> Chart:
        """What :meth:`plot` draws."""
        from eigentoken.checking.steer_effects import curve_chart

        if not self.document["output"]["curve"]:
            raise ValueError(f"there is no curve to draw: {self.document['output']['why_not']}")
        return curve_chart(self.document["output"], self.document["model"])

    def __repr__(self) -> str:
        head = (
            f"<Edit of {self.document['model']}, strength {self.document['strength']:g}, in {self.document['folder']}>"
        )
        return listing(head, [f"{name}: {said}" for name, said in self._rows()])

    def _repr_html_(self) -> str:
        return html_table(("what", "answer"), self._rows(), str(self.document["model"]))


def damage_text(output: OutputEffect) -> str:
    """What the stored edit does to the distribution of the next token."""
    found = output["stored"]
    if found is None:
        return f"not measured: {output['why_not']}"
    return (
        f"measured, relative entropy {found['mean_kl']:.3g} nats on average, {found['largest_kl']:.3g} at most; the likeliest "
        f"token stays at {found['top1_kept']:.0%} of {found['positions']} positions"
    )


def strength_text(suggested: Sequence[SuggestedStrength]) -> str:
    """What shares of the tokens need."""
    told = [f"{each['share']:.0%}: {each['strength']:.3g}" for each in suggested if each["strength"] is not None]
    return (
        f"needed for the guarantee, in floats ({', '.join(told)} of these tokens)"
        if told
        else "none reaches these tokens"
    )


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
    strength: float | None = None,
    guarantee: float | None = None,
    prompts: object = None,
    states: object = None,
    sequences: int = 8,
    tokens: int = 32,
    seed: int = 0,
) -> SteerReport:
    """Give the output matrix of the last layer a new principal direction; write the edited checkpoint to a new folder.

    ``model``: whatever :func:`eigentoken.load` takes.  ``direction``: an array or tensor of d numbers, a ``.npy`` file,
    ``token:ID`` or ``random``.  ``strength``: mu of the edit (20 by default); or ``guarantee``, the share of tokens that the
    guarantee of PM-S3 should hold for, and the strength is chosen for it.  ``prompts``: a file or list of texts or token ids, in
    place of random tokens; ``states``: floats (n, d) that enter layer 0, an array or a ``.npy``.  The report
    says what is certified (PM-S3), and what was measured: where tokens go, and what the
    edit does to the distribution of the next token.
    """
    from eigentoken.checking.prompts import read_prompts
    from eigentoken.checking.run import open_model
    from eigentoken.checking.steer_effects import Effects
    from eigentoken.models.loading.write import new_folder

    if strength is not None and guarantee is not None:
        raise ValueError("strength and guarantee: the one chooses the other, leave one out")
    if guarantee is not None and not 0 < guarantee <= 1:
        raise ValueError(f"guarantee must be a share of the tokens, above 0 and at most 1, got {guarantee!r}")
    if prompts is not None and states is not None:
        raise ValueError("states and prompts are both tokens to run: give one of them")
    if prompts is None and states is None and (sequences < 1 or tokens < 1):
        raise ValueError(
            f"sequences and tokens must be at least 1, got {sequences} and {tokens}: the edit is measured on them"
        )
    target = new_folder(folder)
    loaded = open_model(model)
    if isinstance(direction, str | os.PathLike):
        vector = read_direction(os.fspath(direction), loaded, seed)
    else:
        vector = _given_direction(direction, loaded.d)
    read = None if prompts is None else read_prompts(prompts, loaded)
    _refuse_beyond(loaded)
    seen_by = Effects.of(loaded, read, sequences, tokens, seed, states)
    chosen = 20.0 if strength is None else float(strength)
    if guarantee is not None:
        chosen = strength_for(loaded, vector, guarantee, seen_by)
    return SteerReport(_steered(loaded, vector, chosen, target, seen_by, read))


def _given_direction(direction: object, d: int) -> np.ndarray:
    """d finite numbers, from an array, a tensor on any device, or a list."""
    import numpy as np

    plain = direction.detach().cpu() if hasattr(direction, "detach") else direction
    vector = np.asarray(plain)
    if vector.dtype.kind not in "fiu" or vector.shape != (d,):
        raise DirectionError(
            f"direction must be {d} real numbers, one for each coordinate, got {vector.dtype} {vector.shape}"
        )
    return vector.astype(np.float64)


def _refuse_beyond(model: Model) -> None:
    """Refuse a layer that PM-S3 does not speak of."""
    from eigentoken.checking.observe import whole_layers
    from eigentoken.models import ModelError

    if beyond := [*model.layer(-1).beyond(), *([] if whole_layers(model) else ["a feed-forward that is not read"])]:
        raise ModelError(
            f"{model.source}: steer has no guarantee for a layer with {', '.join(beyond)}: {GUARANTEE} is about "
            "softmax attention of a bilinear form whose update is added as it is"
        )


def _steered(
    model: Model, direction: np.ndarray, strength: float, folder: Path, seen_by: Effects, prompts: Prompts | None
) -> SteerBody:
    import numpy as np

    from eigentoken.checking.layers import weights_of
    from eigentoken.models import load, save_edited
    from eigentoken.models.loading.write import source_of_copy
    from eigentoken.numerics.layers.steering import certify_edit, cosine_below, edit_output

    layer = model.layer(-1)
    edit = edit_output(layer.output_matrix(), layer.value_matrix(), direction, strength)
    written = save_edited(model, folder, {layer.index: edit.output})
    edited = load(source_of_copy(model, folder))
    after = replace(edited.layer(-1), index=layer.index)
    verdicts = certify_edit(weights_of(after), edit.direction)
    leader = verdicts["leading eigenvector"].details.get("vector")
    aligned = None if leader is None else abs(float(np.dot(np.asarray(leader, dtype=float), edit.direction)))
    tokens, suggested = _before_and_after(seen_by, layer, after, edit)
    return {
        "model": model.source,
        "fingerprint": model.fingerprint(),
        "folder": str(folder),
        "folder_fingerprint": edited.fingerprint(),
        "edit": {"direction": edit.direction.tolist(), "row": edit.row.tolist()},
        "run": seen_by.run(),
        "states": seen_by.given,
        "layers_changed": list(written.layers),
        "strength": strength,
        "verdicts": {name: _of_an_edit(verdict) for name, verdict in verdicts.items()},
        "leading_eigenvalue": _leading(verdicts["leader by real part"]),
        "cosine_of_leading_eigenvector_with_direction": aligned,
        "cosine_at_least": cosine_below(verdicts["leading eigenvector"], edit.direction),
        "value_matrix_condition_number": edit.value_condition,
        "prompts": None if prompts is None else prompts.as_dict(),
        "tokens": tokens,
        "suggested": suggested,
        "output": seen_by.output(edit, np.asarray(after.output_matrix(), dtype=np.float64)),
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
    seen_by: Effects, layer: Layer, after: Layer, edit: Edit
) -> tuple[TokensDocument, list[SuggestedStrength]]:
    """Correlation of the tokens with the direction after the last layer, with the old and the new matrix, and PM-S3."""
    import numpy as np

    from eigentoken.checking.steer_effects import suggestions
    from eigentoken.models.forward import run_layer
    from eigentoken.numerics.layers.steering import needed_strengths, token_guarantees
    from eigentoken.theory.language.verdicts import VerdictAnswer

    entering = seen_by.entering_last
    x = np.concatenate([each[0] for each in entering])

    def cosines(which: Layer) -> Before:
        states = [run_layer(which, each, with_feed_forward=False).after_attention[0] for each in entering]
        state = np.concatenate(states).astype(np.float64)
        signed = state @ edit.direction / np.linalg.norm(state, axis=1)
        found = np.abs(signed)
        return {"mean": float(found.mean()), "smallest": float(found.min()), "signed_mean": float(signed.mean())}

    values = _mixed(layer, entering)
    guarantees = token_guarantees(x, values, after.output_matrix(), edit, after.output_bias)
    answers = [each.verdict.answer for each in guarantees]
    sides = [each.side for each in guarantees]
    bounds = [each.tangent_at_most for each in guarantees if each.tangent_at_most is not None]
    guaranteed: Guaranteed = {
        "tokens": len(guarantees),
        "holds": answers.count(VerdictAnswer.HOLDS),
        "fails": answers.count(VerdictAnswer.FAILS),
        "undecided": answers.count(VerdictAnswer.UNDECIDED),
        "towards": sides.count("+w"),
        "away": sides.count("-w"),
        "largest_tangent_bound": max(bounds) if bounds else None,
        "median_tangent_bound": float(np.median(bounds)) if bounds else None,
        "scope": SCOPE,
        "each": [each.as_dict() for each in guarantees],
    }
    needed = needed_strengths(x, values, layer.output_matrix(), edit, layer.output_bias)
    return {"before": cosines(layer), "after": cosines(after), "guaranteed": guaranteed}, list(suggestions(needed))


def _mixed(layer: Layer, entering: Sequence[np.ndarray]) -> Balls:
    """The mixed values (m, H d_head) of the tokens of all sequences, one below the other, in balls."""
    import numpy as np

    from eigentoken.checking.layers import rotary_pairs
    from eigentoken.numerics.layers.certified_attention import Balls, mixed_values

    heads = [{name: getattr(head, name) for name in HEAD} for head in layer.heads]
    found = []
    for x in entering:
        seen = layer.attention_norm.apply(x) if layer.placement == "pre" else x
        found.append(mixed_values(heads, seen, layer.mask.allowed(seen.shape[-2]), rotary_pairs(layer)))
    return Balls(*(np.concatenate([getattr(each, part)[0] for each in found]) for part in ("center", "radius")))


def strength_for(model: Model, direction: np.ndarray, share: float, seen_by: Effects) -> float:
    """The strength above which PM-S3 holds for that share of the tokens, a hundredth more (in floats)."""
    import numpy as np

    from eigentoken.checking.steer_effects import at_share
    from eigentoken.numerics.layers.steering import edit_output, needed_strengths

    layer = model.layer(-1)
    edit = edit_output(layer.output_matrix(), layer.value_matrix(), direction, 1.0)
    x = np.concatenate([each[0] for each in seen_by.entering_last])
    mixed = _mixed(layer, seen_by.entering_last)
    found = at_share(needed_strengths(x, mixed, layer.output_matrix(), edit, layer.output_bias), share)
    if found is None:
        raise ValueError(f"guarantee: no strength reaches {share:g} of the tokens, the edit does not move some of them")
    return 1.01 * found
