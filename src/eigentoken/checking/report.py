"""The report of a check: one object, from which the terminal, JSON, HTML, LaTeX and the other formats are made.

Before the verdicts it says what a reader should know: parts of the file that were not read, weights that are all zero.

What a verdict about a layer leaves out, each with its size: measured on random or given tokens, or certified.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from eigentoken.checking.rows import HeadRows, LayerRows, expanded
from eigentoken.display import frame, listing
from eigentoken.documents.check_document import IdealisationRow, Interval, Layer, Observed

if TYPE_CHECKING:
    import numpy as np
    from pandas import DataFrame

    from eigentoken.documents.check_document import (
        AsIfCounts,
        AsOneHead,
        AsOneHeadReading,
        AtTokens,
        CheckBody,
        Head,
        HeadReading,
        LayerBounds,
        LayerRecord,
        Observed,
        Obstacle,
        Options,
        OwnStates,
        StatementReading,
    )
    from eigentoken.documents.check_document import Layer as LayerDocument
    from eigentoken.documents.check_document import Statement as StatementOverLayers
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.dynamics.drawing import Drawing

    HeadSays = tuple[Head, HeadReading]

__all__ = [
    "NOT_MEASURED",
    "Report",
    "assemble",
    "idealisations",
    "rotary_shares",
    "size_text",
    "statements_over_layers",
    "warnings_of",
]

#: By the ending of a file, the format that :meth:`Report.save` writes.
FORMATS = {".json": "json", ".html": "html", ".tex": "latex", ".sarif": "sarif", ".md": "model-card"}


@dataclass(frozen=True, repr=False)
class Report:
    """``document`` is the whole JSON document, ``arrays`` reads what its certificates need; the rest are views."""

    document: CheckBody = field(repr=False)
    arrays: Callable[[], dict[str, np.ndarray]] = field(default=dict, compare=False, repr=False)

    def as_dict(self) -> CheckBody:
        return self.document.copy()

    @property
    def layers(self) -> LayerRows:
        """Every layer that a token passes: a list of records, and a table (``report.layers.to_frame()``)."""
        return expanded(self.document["layers"])

    @property
    def heads(self) -> HeadRows:
        """Every head with its layer, those of shared layers once; a table with ``report.heads.to_frame()``."""
        return HeadRows((layer, head) for layer in self.document["layers"] for head in layer["heads"])

    @property
    def statements(self) -> list[StatementOverLayers]:
        return list(self.document["statements"])

    @property
    def warnings(self) -> list[str]:
        """What a reader should know before the verdicts."""
        return list(self.document["warnings"])

    def save(self, path: str | Path, *, arrays: bool = False) -> Path:
        """Write .json (with ``arrays``, what its certificates need beside it), .html, .tex, .sarif or .md (a model card)."""
        from eigentoken.checking.formats import write_report

        target = Path(path)
        form = FORMATS.get(target.suffix.lower())
        if form is None:
            raise ValueError(f"a report is saved as {', '.join(FORMATS)}, got {target.name!r}")
        write_report(self, {form: target}, arrays)
        return target

    def to_frame(self) -> DataFrame:
        """One row a statement: its answer over all layers and the answer in each layer (pandas)."""
        return frame(
            (
                {"id": each["id"], "title": each["title"], "answer": each["word"]}
                | {f"layer {number}": answer for number, answer in enumerate(each["layers"])}
                for each in self.statements
            ),
            "id",
        )

    def plot(self) -> Drawing:
        """Layers and heads over depth: leading eigenvalues, norms, distances to symmetric (a figure; ``.savefig(path)``)."""
        from eigentoken.checking.plots import report_chart
        from eigentoken.numerics.dynamics.drawing import draw

        return draw(report_chart(self))

    def __repr__(self) -> str:
        words = Counter(each["word"] for each in self.statements)
        lines = [f"warning: {text}" for text in self.warnings[:2]]
        lines += [f"{word}: {count} of {len(self.statements)} statements" for word, count in words.most_common()]
        return listing(f"<Report on {self.document['model']['description']}>", lines)

    def __getitem__(self, name: str) -> StatementOverLayers:
        """``report["PM-L4"]``: what the document says of a statement."""
        return self._of(name)

    @property
    def html(self) -> str:
        """The page that ``save("report.html")`` writes."""
        from eigentoken.checking.formats import to_html

        return str(to_html(self))

    def answer(self, name: str) -> str:
        """The answer about a statement over all layers: see :class:`eigentoken.theory.statements.layer_systems.LayerAnswer`."""
        return str(self._of(name)["word"])

    def _of(self, name: str) -> StatementOverLayers:
        found = next((each for each in self.statements if each["id"].upper() == str(name).upper()), None)
        if found is None:
            known = ", ".join(each["id"] for each in self.statements[:8])
            raise KeyError(f"{name!r} was not checked: this report has {len(self.statements)} statements, {known} ...")
        return found

    def satisfies(self, name: str) -> bool:
        """Is the statement about every layer, with every condition on weights certified?  What asks nothing is satisfied."""
        return self.answer(name) in ("holds", "asks only invertibility", "asks nothing of the weights")

    def obstacles(self, name: str) -> list[str]:
        """What is in the way of a statement: the answer, then a line for each condition that is not certified, with the layers
        and the reason, or for each part that differs."""
        from eigentoken.checking.sentences import requirement

        return requirement(self, name)

    def _repr_html_(self) -> str:
        from eigentoken.checking.html import summary_html

        return summary_html(self)


def assemble(
    model: Model,
    records: Mapping[int, LayerRecord],
    observed: list[Observed],
    bounds: list[LayerBounds],
    ids: Sequence[str],
    options: Options,
    arrays: Callable[[], dict[str, np.ndarray]] = dict,
    states: OwnStates | None = None,
) -> Report:
    """The report from the layers' records, in the order of the layers; no clock, no path of the machine."""
    from eigentoken.version import __version__

    entries = [_layer(index, model, records[index]) for index in sorted(records)]
    layers = expanded(entries)
    document: CheckBody = {
        "version": __version__,
        "model": {
            "source": model.source,
            "family": model.family,
            "format": model.format,
            "layers": model.n_layers,
            "heads": model.n_heads,
            "key_value_heads": model.n_kv_heads,
            "d": model.d,
            "d_head": model.d_head,
            "description": model.describe(),
            "fingerprint": model.fingerprint(),
            "files": [{"name": file.path.name, "sha256": file.sha256} for file in model.files],
        },
        "options": options,
        "warnings": warnings_of(model, layers, 0 if states else options["sequences"]),
        "conventions": CONVENTIONS,
        "statements": statements_over_layers(ids, layers, states),
        "idealisations": idealisations(layers, observed),
        "layers": entries,
        "observed": observed,
        "bounds": bounds,
        "states": states,
    }
    return Report(document, arrays)


def _layer(index: int, model: Model, kept: LayerRecord) -> LayerDocument:
    """The record of some weights, under the number of the first layer that has them, with all that have them."""
    return {
        "layer": index,
        "weights_of": index,
        "used_by": [number for number in range(model.n_layers) if model.architecture.weights_of(number) == index],
        "d": kept["d"],
        "leaders": kept["leaders"],
        "cases": kept["cases"],
        "leading_eigenvalue": kept["leading_eigenvalue"],
        "gap": kept["gap"],
        "alpha_star": kept["alpha_star"],
        "norm": kept["norm"],
        "distance_to_symmetric": kept["distance_to_symmetric"],
        "distance_to_identity": kept["distance_to_identity"],
        "distance_to_positive_definite": kept["distance_to_positive_definite"],
        "score_distance_to_symmetric": kept["score_distance_to_symmetric"],
        "score_distance_to_positive_definite": kept["score_distance_to_positive_definite"],
        "score_inertia": kept["score_inertia"],
        "value_inertia": kept["value_inertia"],
        "discs": kept["discs"],
        "heads": kept["heads"],
        "system": kept["system"],
        "regime": kept["regime"],
        "hypotheses": kept["hypotheses"],
        "zero_weights": kept["zero_weights"],
        "convention": kept["convention"],
        "description": kept["description"],
    }


def rotary_shares(report: Report) -> dict[int, tuple[float, float]]:
    """By offset, the smallest and largest certified ``|Delta W(delta)| / |P(0)|`` over all heads; empty without rotary."""
    found: dict[int, list[tuple[float, float]]] = {}
    for layer in report.layers:
        for head in layer["heads"]:
            for each in head.get("rotary", []):
                if each["relative_change"] is not None:
                    low, high = (float(end) for end in each["relative_change"])
                    found.setdefault(each["offset"], []).append((low, high))
    return {offset: (min(low for low, _ in ends), max(high for _, high in ends)) for offset, ends in found.items()}


CONVENTIONS = (
    "Tokens are columns; a matrix acts from the left. "
    "F = sum_h O_h V_h, S = sum_h Q_h^T K_h, all heads of a layer together; U_h = O_h V_h and P_h = Q_h^T K_h / scale of one "
    "head. A statement is about a layer only where its system has the layer's heads, mask, positions and shared matrices. "
    "What is read on F and S, or on a head alone, as if the layer were one head, is no verdict about the layer. "
    "Weights count exactly as stored; products are enclosures. A map takes the step alpha = 1. "
    "What a verdict leaves out is listed beside it, with its size, under idealisations."
)


def _at_tokens(about: Sequence[str], states: OwnStates | None, count: int) -> list[AtTokens]:
    """Its conditions on tokens at the states that enter each layer, over all prompts."""
    found: list[AtTokens] = []
    for text in about:
        words: list[list[str]] = [[] for _ in range(count)]
        for each in states["conditions"] if states else ():
            if text in each["asked"]:
                words[each["layer"]].append(each["asked"][text])
        if any(words):
            found.append({"condition": text, "layers": [_of_all(each) for each in words]})
    return found


def _of_all(words: Sequence[str]) -> Literal["holds", "fails", "undecided"]:
    if "fails" in words:
        return "fails"
    return "holds" if words and set(words) == {"holds"} else "undecided"


def statements_over_layers(
    ids: Sequence[str], layers: Sequence[LayerDocument], states: OwnStates | None = None
) -> list[StatementOverLayers]:
    """Each statement over all layers."""
    read = [{each["statement"]: each for each in layer["hypotheses"]} for layer in layers]
    heads = _heads_by_statement(layers)
    return [_over_layers(name, [each[name] for each in read], layers, heads.get(name, ()), states) for name in ids]


def _over_layers(
    name: str,
    found: Sequence[StatementReading],
    layers: Sequence[LayerDocument],
    heads: Sequence[HeadSays],
    states: OwnStates | None,
) -> StatementOverLayers:
    """One statement over all layers: the answer, what differs, which conditions are in the way, what it leaves out."""
    from eigentoken.theory.statements.registry import statements

    told = statements().get(name)
    words = [each["word"] for each in found]
    differs = Counter((each["part"], each["statement"], each["layer"]) for one in found for each in one["differs"])
    idealised = dict.fromkeys(left for each in found for left in each["idealisations"])
    about = list(dict.fromkeys(text for each in found for text in each["about_tokens"]))
    return {
        "id": name,
        "title": told.title,
        "kind": str(told.kind),
        "asks": found[0]["asks"] if found else "nothing",
        "word": _together(words),
        "layers": words,
        "differs": [
            {"part": part, "statement": own, "layer": theirs, "layers": count}
            for (part, own, theirs), count in differs.items()
        ],
        "obstacles": _obstacles(found),
        "about_tokens": about,
        "at_tokens": _at_tokens(about, states, len(layers)),
        "idealisations": list(idealised),
        "as_one_head": _as_one_head(found, layers, heads),
    }


#: In this order the first answer that some layer has is the answer of the model; the others only where all layers have them.
FIRST = ("fails", "undecided", "not about this model", "no condition on weights", "holds", "asks only invertibility")


def _together(answers: Sequence[str]) -> str:
    return next((each for each in FIRST if each in answers), "asks nothing of the weights")


def _obstacles(found: Sequence[StatementReading | AsOneHeadReading]) -> list[Obstacle]:
    counted = Counter(
        text for each in found for text, verdict in each["conditions"].items() if verdict["verdict"] != "holds"
    )
    return [{"condition": text, "layers": count} for text, count in _most_often(counted)]


def _most_often(counted: Counter[str]) -> list[tuple[str, int]]:
    """By count, then by text: the order of a document's keys says nothing."""
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


def _heads_by_statement(layers: Sequence[LayerDocument]) -> dict[str, list[HeadSays]]:
    """The heads with what a statement says of each as if it were alone; those of layers that share them once."""
    found: dict[str, list[HeadSays]] = {}
    for layer in layers:
        for head in layer["heads"] if layer["layer"] == layer["weights_of"] else ():
            for each in head["hypotheses"]:
                found.setdefault(each["statement"], []).append((head, each))
    return found


def _as_one_head(
    found: Sequence[StatementReading], layers: Sequence[LayerDocument], heads: Sequence[HeadSays]
) -> AsOneHead | None:
    """What its conditions say as if there were one head: in how many layers (of F), in how many heads, what is in the way.

    Layers that share their weights share their heads: they are counted once.
    """
    own = [layer["layer"] == layer["weights_of"] for layer in layers]
    summed = [each["as_one_head"] for each, first in zip(found, own, strict=True) if first and each["as_one_head"]]
    if not summed and not heads:
        return None
    blocked: Counter[str] = Counter()
    for head, each in heads:
        blocked.update(text for text, key in each["conditions"].items() if head["verdicts"][key]["verdict"] != "holds")
    return {
        "layers": _counted([each["word"] for each in summed]),
        "obstacles": _obstacles(summed),
        "heads": _counted([each["word"] for _, each in heads]),
        "obstacles_in_heads": [{"condition": text, "heads": count} for text, count in _most_often(blocked)],
    }


def _counted(answers: Sequence[str]) -> AsIfCounts:
    return {
        "met as if one head": answers.count("met as if one head"),
        "not met as if one head": answers.count("not met as if one head"),
        "undecided as if one head": answers.count("undecided as if one head"),
    }


def warnings_of(model: Model, layers: Sequence[LayerDocument], sequences: int = 0) -> list[str]:
    """One line each: tensors of the file that no layer uses, then zero weights with the layers that have them.

    Where ``sequences`` were run that are no tokens of a vocabulary, that is said too.
    """
    from eigentoken.checking.observe import reads_ids, whole_layers
    from eigentoken.models.loading.left_out import runs

    said: list[str] = list(model.left_out.sentences(model.n_layers))
    zero: dict[tuple[str, ...], list[int]] = {}
    for layer in layers:
        if layer["zero_weights"]:
            zero.setdefault(tuple(layer["zero_weights"]), []).append(layer["layer"])
    for parts, numbers in zero.items():
        which = "layer" if len(numbers) == 1 else "layers"
        said.append(
            f"{which} {runs(numbers)}: every {_listed(parts)} weight is zero; what is said of them is not about trained "
            "weights"
        )
    if not whole_layers(model):
        kinds = sorted({model.architecture.not_read(index) for index in range(model.n_layers)} - {""})
        said.append(
            f"the feed-forward is {_listed(kinds)}, which is not read: the attention is checked, and no tokens are run through "
            "the layers"
        )
    elif sequences and not reads_ids(model):
        said.append(
            "the model has no embedding of token ids: what is observed starts from random hidden states of unit variance"
        )
    return said


def _listed(words: Sequence[str]) -> str:
    """``query, key and value``."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


NOT_MEASURED: Final = "not measured"

#: The measured quantity of :func:`eigentoken.checking.observe.observe` behind each idealisation.
MEASURED = {
    "step": "attention_to_state",
    "step of a map": "own_step",
    "normalisation": "length_spread",
    "centring": "centring",
    "no normalisation": "norm_change",
    "gains": "gains",
    "biases": "biases",
    "feed-forward": "feed_forward",
}


def idealisations(layers: Sequence[Layer], observed: Sequence[Observed]) -> list[IdealisationRow]:
    """Each idealisation that stands beside some verdict: what it says, its size in each layer, certified bounds.

    ``measured`` is a number a layer (``None`` where the tokens overflowed before), or ``not measured``.  ``certified`` is an
    interval a layer for the step (``alpha |F|`` with ``alpha = 1``) and for the factor ``sqrt(d)``, else ``None``.
    """
    from eigentoken.theory.statements.layer_systems import IDEALISATIONS

    used = {name for layer in layers for each in layer["hypotheses"] for name in each["idealisations"]}
    found: list[IdealisationRow] = []
    for name, says in IDEALISATIONS.items():
        if name in used:
            certified = [_certified(name, layer) for layer in layers]
            found.append(
                {
                    "name": name,
                    "says": says,
                    "measured": _measured(name, len(layers), observed),
                    "certified": certified if any(each is not None for each in certified) else None,
                }
            )
    return found


def _measured(name: str, count: int, observed: Sequence[Observed]) -> Literal["not measured"] | list[float | None]:
    key = MEASURED.get(name)
    if key is None or not observed:
        return NOT_MEASURED
    sizes = {each["layer"]: each["left_out"][key] for each in observed}
    return [sizes.get(index) for index in range(count)]


def _certified(name: str, layer: Layer) -> Interval:
    if name == "step":
        return layer["norm"]
    if name in {"weights over root d", "unit tokens"}:
        root = math.sqrt(layer["d"])
        exact = math.isqrt(layer["d"]) ** 2 == layer["d"]
        return [root, root] if exact else [math.nextafter(root, 0.0), math.nextafter(root, math.inf)]
    return None


def size_text(found: IdealisationRow) -> str:
    """The size over the layers as a reader sees it: a number, a range, or ``not measured``; certified bounds beside it."""
    from eigentoken.checking.intervals import interval

    parts: list[str] = []
    measured = found["measured"]
    if isinstance(measured, str):
        parts += [measured] if found["certified"] is None or found["name"] == "step" else []
    else:
        known = [value for value in measured if value is not None]
        parts.append(_range(min(known), max(known)) if known else NOT_MEASURED)
    if found["certified"] is not None:
        ends = [tuple(map(float, each)) for each in found["certified"] if each is not None]
        whole = interval((min(low for low, _ in ends), max(high for _, high in ends)), 3)
        parts.append(f"|F| {whole} (certified)" if found["name"] == "step" else f"a factor of {whole}")
    return ", ".join(parts)


def _range(low: float, high: float) -> str:
    return f"{low:.2g}" if f"{low:.2g}" == f"{high:.2g}" else f"{low:.2g} to {high:.2g}"
