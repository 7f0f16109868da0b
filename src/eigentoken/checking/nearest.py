"""``eigentoken nearest``: how far each layer is from a statement, and a checkpoint of the nearest weights that meet it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eigentoken.display import frame, html_table, listing

if TYPE_CHECKING:
    import numpy as np
    from pandas import DataFrame

    from eigentoken.documents.check_document import Interval
    from eigentoken.documents.nearest_document import (
        NearestAsIf,
        NearestBody,
        NearestLayer,
        NearestOfHead,
        NearestWritten,
    )
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.layer_readings import StatementOnLayer
    from eigentoken.numerics.layers.symbol_values import Answers
    from eigentoken.numerics.layers.weights import LayerWeights
    from eigentoken.theory.statements.statement import Statement

__all__ = ["NearestReport", "nearest"]

#: Shifts of the leading eigenvalue, as shares of the norm: the first that survives the rounding to the stored dtype is taken.
SHIFTS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1)


@dataclass(frozen=True, repr=False)
class NearestReport:
    """``document`` is the JSON, the rest are views."""

    document: NearestBody

    def as_dict(self) -> NearestBody:
        return self.document.copy()

    @property
    def layers(self) -> list[NearestLayer]:
        return list(self.document["layers"])

    def sentences(self) -> list[str]:
        """A line a layer, then what was written."""
        from eigentoken.checking.intervals import interval

        said = []
        for each in self.layers:
            said.append(
                f"layer {each['layer']}: {each['word']}; {_away(each)}|F| = {interval(each['norm'], 3)}; {each['says']}"
            )
            as_if = each["as_one_head"]
            if as_if is not None:
                said.append(f"layer {each['layer']} as if one head: {as_if['word']}; {_away(as_if)}{as_if['says']}")
            said += _of_heads(each)
        written = self.document["written"]
        if written is not None:
            held = written["words"].count("holds")
            moved = ", ".join(interval(ends, 3) for ends in written["moved"])
            said.append(
                f"wrote {written['folder']}: after rounding it holds in {held} of {len(written['words'])} layers, certified; "
                f"|F' - F| of the changed layers: {moved}"
            )
        return said

    def to_frame(self) -> DataFrame:
        """One row a layer, then one a head where the statement is read on heads (pandas)."""
        rows: list[dict[str, object]] = []
        for each in self.layers:
            rows.append({name: value for name, value in each.items() if name not in ("as_one_head", "heads")})
            rows += [{"layer": each["layer"], **head} for head in each["heads"]]
        return frame(rows, "layer")

    def __repr__(self) -> str:
        told = self.document["statement"]
        return listing(f"<{self.document['model']} and {told['title']} ({told['id']})>", self.sentences())

    def _repr_html_(self) -> str:
        told = self.document["statement"]
        return html_table(
            ("layer by layer",), [(each,) for each in self.sentences()], f"{told['title']} ({told['id']})"
        )


def _of_heads(row: NearestLayer) -> list[str]:
    """One sentence for the single heads of a layer: how many meet it, and how far each of the others is."""
    heads = row["heads"]
    if not heads:
        return []
    met = [each for each in heads if each["word"] == "met as if one head"]
    never = [each for each in heads if each["distance"] is not None and each["distance"][1] == "inf"]
    others = [each for each in heads if each not in met and each not in never]
    told = [f"{_away(each).rstrip(', ')} in head {row['layer']}.{each['head']}" for each in others]
    told += [
        f"{says} (head {', '.join(str(each['head']) for each in never if each['says'] == says)})"
        for says in dict.fromkeys(each["says"] for each in never)
    ]
    return [
        f"layer {row['layer']}, single heads: met by {len(met)} of {len(heads)}{''.join(f'; {each}' for each in told)}"
    ]


def _away(row: NearestLayer | NearestAsIf | NearestOfHead) -> str:
    from eigentoken.checking.intervals import interval

    verb = "are" if " and " in row["of"] else "is"
    return "" if row["distance"] is None else f"{row['of']} {verb} {interval(row['distance'], 3)} away, "


def nearest(
    model: object,
    statement: str,
    folder: str | Path | None = None,
    *,
    done: Callable[[], None] = lambda: None,
    watch: Callable[[str], None] = lambda _now: None,
) -> NearestReport:
    """The certified distance of each layer to the weights that meet the conditions of a statement.

    With ``folder``, a checkpoint is written there whose layers meet them: the output matrices of the failing layers are changed
    so that ``F = sum_h O_h V_h`` becomes the neighbour, rounded to the stored dtype, and the conditions are certified of what
    is stored.  Refused where that cannot be: the statement is not about the model, no weights of these shapes meet it, it is an
    equality that rounding breaks, or the values cannot reach the neighbour.  ``watch`` is told what begins, ``done`` is called
    after each layer.
    """
    from eigentoken.checking.run import open_model
    from eigentoken.theory.statements.registry import statements
    from eigentoken.version import __version__

    asked = statements().get(statement)
    loaded = open_model(model)
    rows: list[NearestLayer] = []
    failing: list[int] = []
    for index in sorted({loaded.architecture.weights_of(number) for number in range(loaded.n_layers)}):
        watch(f"layer {index}")
        row, reading = _row(loaded.layer(index), asked)
        done()
        rows.append(row)
        failing += [index] if str(reading.answer) in ("fails", "undecided") else []
    watch("the whole" if folder is None else "the nearest weights")
    written = None if folder is None else _written(loaded, asked, rows, failing, Path(folder))
    return NearestReport(
        {
            "version": __version__,
            "model": loaded.source,
            "fingerprint": loaded.fingerprint(),
            "statement": {"id": asked.id, "title": asked.title},
            "layers": rows,
            "written": written,
        }
    )


def _read(layer: Layer, asked: Statement) -> StatementOnLayer:
    from eigentoken.checking.layers import weights_of
    from eigentoken.numerics.layers.layer_readings import read_layer
    from eigentoken.numerics.layers.symbol_values import Answers

    return read_layer(asked, weights_of(layer), Answers())


def _row(layer: Layer, asked: Statement) -> tuple[NearestLayer, StatementOnLayer]:
    from eigentoken.checking.layers import weights_of
    from eigentoken.numerics.layers.layer_readings import read_layer
    from eigentoken.numerics.layers.nearest import WIDEST_ALONE
    from eigentoken.numerics.layers.quantities import as_json, norm_of
    from eigentoken.numerics.layers.statement_distances import distance_of_layer
    from eigentoken.numerics.layers.symbol_values import Answers

    weights, answers = weights_of(layer), Answers()
    reading = read_layer(asked, weights, answers)
    about = str(reading.answer) != "not about this model"
    found = distance_of_layer(asked, weights, answers, widest=WIDEST_ALONE) if about else None
    as_if: NearestAsIf | None = None
    if reading.as_one_head is not None:
        near = distance_of_layer(asked, weights, answers, as_if=True, widest=WIDEST_ALONE)
        assert near is not None  # it was read on the same letters
        as_if = {
            "word": str(reading.as_one_head.answer),
            "distance": as_json(near.interval),
            "of": near.of,
            "says": near.says,
        }
    row: NearestLayer = {
        "layer": layer.weights_of,
        "word": str(reading.answer),
        "distance": None if found is None else as_json(found.interval),
        "of": "F" if found is None else found.of,
        "norm": as_json(norm_of(weights.value)),
        "says": _why_not(reading) if found is None else found.says,
        "as_one_head": as_if,
        "heads": _head_rows(asked, weights, answers),
    }
    return row, reading


def _why_not(reading: StatementOnLayer) -> str:
    """What a statement is about and the layer is not."""
    return "; ".join(f"it is about {each}" for each in reading.differs[:1]) or f"{reading.answer}: there is no distance"


def _head_rows(asked: Statement, weights: LayerWeights, answers: Answers) -> list[NearestOfHead]:
    from eigentoken.numerics.layers.layer_readings import read_head
    from eigentoken.numerics.layers.quantities import as_json, scaled_interval
    from eigentoken.numerics.layers.statement_distances import distance_of_head

    rows: list[NearestOfHead] = []
    for index, head in enumerate(weights.heads):
        of_head = answers.of_head(index)
        read = read_head(asked, weights, index, of_head)
        found = distance_of_head(asked, weights, index, of_head)
        if read is None or found is None:
            return []
        rows.append(
            {
                "head": index,
                "word": str(read.answer),
                "distance": as_json(found.interval),
                "of": found.of,
                "norm": as_json(head.low_rank("value").norm),
                "score_norm": as_json(scaled_interval(head.low_rank("score").norm, head.scale)),
                "says": found.says,
            }
        )
    return rows


def _written(
    loaded: Model, asked: Statement, rows: list[NearestLayer], failing: list[int], folder: Path
) -> NearestWritten:
    from eigentoken.checking.run import check
    from eigentoken.models.loading.write import save_edited

    away = [each for each in rows if each["word"] not in ("holds", "fails", "undecided")]
    if away:
        raise ValueError(
            f"{asked.called} cannot be met by changing layer {away[0]['layer']}: {away[0]['word']} ({away[0]['says']})"
        )
    if not failing:
        raise ValueError(f"{asked.called} holds in every layer already: there is nothing to write")
    outputs: dict[int, np.ndarray] = {}
    moved: list[Interval] = []
    for index in failing:
        outputs[index], distance = _edited(loaded, asked, loaded.layer(index), rows)
        moved.append(distance)
    saved = save_edited(loaded, folder, outputs)
    report = check(str(folder), statements=asked.id, sequences=0)
    (told,) = report.statements
    return {
        "folder": str(folder),
        "layers_changed": list(saved.layers),
        "words": list(told["layers"]),
        "moved": moved,
    }


def _edited(loaded: Model, asked: Statement, layer: Layer, rows: list[NearestLayer]) -> tuple[np.ndarray, Interval]:
    """The output matrix of a layer with the smallest shift that survives the rounding, and how far F moved."""
    import numpy as np

    from eigentoken.checking.layers import weights_of
    from eigentoken.checking.steer_effects import with_output
    from eigentoken.models.loading.write import round_to_stored
    from eigentoken.numerics.layers.nearest import moved_by, outputs_reaching
    from eigentoken.numerics.layers.statement_distances import nearest_values

    (row,) = [each for each in rows if each["layer"] == layer.weights_of]
    dtype = loaded.store.infos[layer.output_stored.name].dtype
    stored = weights_of(layer)
    for shift in () if "no weights of" in row["says"] else SHIFTS:
        found = nearest_values(asked, stored, shift)
        if found is None:
            continue
        if found.value is None or found.score is not None:
            raise ValueError(f"{asked.id} asks of the scores too: a copy is written by other output matrices alone")
        wanted = outputs_reaching(found.value, layer.output_matrix(), layer.value_matrix())
        if wanted is None:
            raise ValueError(
                f"layer {layer.index}: the values have too small a rank to reach the neighbour by another output matrix"
            )
        rounded = round_to_stored(wanted, dtype)
        if not np.isfinite(rounded).all():
            continue
        changed = with_output(layer, rounded)
        if str(_read(changed, asked).answer) == "holds":
            return rounded, moved_by(stored, weights_of(changed))
    raise ValueError(
        f"layer {layer.index}: no neighbour that meets {asked.called} survives the rounding to {dtype} ({row['says']}); "
        "an equality such as F = F^T is broken by any rounding"
    )
