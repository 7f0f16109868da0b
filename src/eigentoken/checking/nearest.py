"""``eigentoken nearest``: how far each layer is from a statement, and a checkpoint of the nearest weights that meet it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.display import frame, html_table, listing

if TYPE_CHECKING:
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
    from eigentoken.models.loading.rows import Letter
    from eigentoken.numerics.layers.layer_readings import StatementOnLayer
    from eigentoken.numerics.layers.reaching import Factors, StoredHeads
    from eigentoken.numerics.layers.symbol_values import Answers
    from eigentoken.numerics.layers.weights import LayerWeights
    from eigentoken.theory.statements.statement import Statement

__all__ = ["NearestReport", "nearest"]

#: Shifts of the leading eigenvalue, as shares of the norm: the first that survives the rounding to the stored dtype is taken.
SHIFTS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1)
ROWS: tuple[Letter, ...] = ("Q", "K", "V")


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
            said.append(_of_written(written))
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


def _of_written(written: NearestWritten) -> str:
    """Where the copy is, what of it is certified, how far it is, and by which of its matrices."""
    from eigentoken.checking.intervals import interval

    held = written["words"].count("holds")
    moved = ", ".join(interval(ends, 3) for ends in written["moved"])
    said = (
        f"wrote {written['folder']}: after rounding it holds in {held} of {len(written['words'])} layers, certified; "
        f"|F' - F| of the changed layers: {moved}"
    )
    scores = [interval(ends, 3) for ends in written["scores_moved"] if ends is not None]
    said += f"; |P' - P|: {', '.join(scores)}" if scores else ""
    letters = "".join(letter for letter in "OQKV" if any(letter in each for each in written["changed"]))
    words = {"O": "output matrices", "Q": "queries", "K": "keys", "V": "values"}
    *first, last = (words[letter] for letter in letters)
    said += f"; by other {', '.join(first)}{' and ' if first else ''}{last}"
    return said + (", which divide F' anew among the heads" if "V" in letters else "")


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
    from eigentoken.checking.intervals import interval_in_words

    verb = "are" if " and " in row["of"] else "is"
    return "" if row["distance"] is None else f"{row['of']} {verb} {interval_in_words(row['distance'])} away, "


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
    so that ``F = sum_h O_h V_h`` becomes the neighbour (and the keys of an only head, so that its scores do), rounded to the
    stored dtype; where rounding breaks it, as an equality is broken, the neighbour itself is stored
    (:mod:`eigentoken.numerics.layers.reaching`).  The conditions are certified of what is stored.  Refused where that cannot
    be: the statement is not about the model, no weights of these shapes meet it, or none that were found survive the rounding.
    ``watch`` is told what begins, ``done`` is called after each layer.
    """
    from eigentoken.checking.run import open_model
    from eigentoken.models.loading.write import new_folder
    from eigentoken.theory.statements.registry import statements
    from eigentoken.version import __version__

    asked = statements().get(statement)
    place = None if folder is None else new_folder(folder)
    loaded = open_model(model)
    rows: list[NearestLayer] = []
    failing: list[int] = []
    for index in sorted({loaded.architecture.weights_of(number) for number in range(loaded.n_layers)}):
        watch(f"layer {index}")
        row, reading = _row(loaded.layer(index), asked)
        done()
        rows.append(row)
        failing += [index] if str(reading.answer) in ("fails", "undecided") else []
    watch("the whole" if place is None else "the nearest weights")
    written = None if place is None else _written(loaded, asked, rows, failing, place)
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
    from eigentoken.models.loading.write import save_edited, source_of_copy

    away = [each for each in rows if each["word"] not in ("holds", "fails", "undecided")]
    if away:
        raise ValueError(
            f"{asked.called} cannot be met by changing layer {away[0]['layer']}: {away[0]['word']} ({away[0]['says']})"
        )
    if not failing:
        raise ValueError(f"{asked.called} holds in every layer already: there is nothing to write")
    edits = {index: _edited(loaded, asked, loaded.layer(index), rows) for index in failing}
    saved = save_edited(
        loaded,
        folder,
        {index: each.factors["O"] for index, each in edits.items() if "O" in each.factors},
        {
            index: {letter: each.factors[letter] for letter in ROWS if letter in each.factors}
            for index, each in edits.items()
            if set(each.factors) - {"O"}
        },
    )
    report = check(source_of_copy(loaded, folder), statements=asked.id, sequences=0)
    (told,) = report.statements
    return {
        "folder": str(folder),
        "layers_changed": list(saved.layers),
        "words": list(told["layers"]),
        "changed": ["".join(letter for letter in "OQKV" if letter in each.factors) for each in edits.values()],
        "moved": [each.moved for each in edits.values()],
        "scores_moved": [each.scores_moved for each in edits.values()],
    }


@dataclass(frozen=True, eq=False)
class _Edit:
    """Other stored matrices of a layer, rounded, and how far F and the scores of an only head moved by them."""

    factors: Factors
    moved: Interval
    scores_moved: Interval | None


def _edited(loaded: Model, asked: Statement, layer: Layer, rows: list[NearestLayer]) -> _Edit:
    """The stored matrices of a layer with the smallest shift that survives the rounding, its heads kept where that can be."""
    from eigentoken.checking.layers import weights_of
    from eigentoken.numerics.layers.quantities import as_json
    from eigentoken.numerics.layers.reaching import as_it_stands, moved_scores, moved_values, near
    from eigentoken.numerics.layers.statement_distances import nearest_values

    (row,) = [each for each in rows if each["layer"] == layer.weights_of]
    stored, reached = weights_of(layer), False
    shifts = () if "no weights of" in row["says"] else SHIFTS
    wanted = [found for shift in shifts if (found := nearest_values(asked, stored, shift)) is not None]
    for way, found in product((near, as_it_stands), wanted):
        made = way(found, _stored_heads(layer))
        rounded = None if made is None else _rounded(loaded, layer, made)
        reached = reached or made is not None
        if rounded is None:
            continue
        changed = _with_factors(layer, rounded)
        if str(_read(changed, asked).answer) == "holds":
            after = weights_of(changed)
            scores = moved_scores(stored, after) if {"Q", "K"} & set(rounded) else None
            return _Edit(rounded, as_json(moved_values(stored, after)), None if scores is None else as_json(scores))
    if row["distance"] is not None and row["distance"][1] != "inf" and not reached:
        why = "the values have too small a rank"
        if "S" in row["of"]:
            why += ", or the scores are those of several heads, of positions or of a narrow head"
        raise ValueError(f"layer {layer.index}: {row['of']} cannot be written by matrices of these shapes: {why}")
    what = "is known" if not wanted else f"survives the rounding to {layer.stored_dtype}"
    raise ValueError(f"layer {layer.index}: no neighbour that meets {asked.called} {what} ({row['says']})")


def _stored_heads(layer: Layer) -> StoredHeads:
    from eigentoken.models.loading.rows import stacked
    from eigentoken.numerics.layers.reaching import StoredHeads

    return StoredHeads(
        layer.output_matrix(),
        stacked(layer, "Q"),
        stacked(layer, "K"),
        stacked(layer, "V"),
        float(layer.heads[0].scale),
        [head.kv_index for head in layer.heads],
        layer.rotary is not None,
    )


def _rounded(loaded: Model, layer: Layer, made: Factors) -> Factors | None:
    """The matrices as the file will hold them; None where one of them overflows."""
    import numpy as np

    from eigentoken.models.loading.rows import rows_of
    from eigentoken.models.loading.write import round_to_stored

    found: Factors = {}
    for letter, matrix in made.items():
        if letter == "O":
            found[letter] = round_to_stored(matrix, loaded.store.infos[layer.output_stored.name].dtype)
        else:
            found[letter] = np.empty(matrix.shape)
            for name, (inside, _) in rows_of(loaded, layer.index, letter).items():
                found[letter][inside] = round_to_stored(matrix[inside], loaded.store.infos[name].dtype)
        if not np.isfinite(found[letter]).all():
            return None
    return found


def _with_factors(layer: Layer, made: Factors) -> Layer:
    """The layer with other stored matrices."""
    from dataclasses import replace

    from eigentoken.checking.steer_effects import with_output

    heads, starts = list(with_output(layer, made["O"]).heads if "O" in made else layer.heads), dict.fromkeys(ROWS, 0)
    for number, head in enumerate(heads):
        parts: dict[str, Any] = {}
        for letter in ROWS:
            rows = len(getattr(head, letter))
            if letter in made:
                parts[letter] = made[letter][starts[letter] : starts[letter] + rows]
            starts[letter] += rows
        heads[number] = replace(head, **parts)
    return replace(layer, heads=tuple(heads))
