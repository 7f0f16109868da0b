"""Re-check of documents about whole models: ``compare``, ``nearest``, ``chance``.

Each number is found again from the weights by the second arithmetic.  What it has no table for (regimes, which statements apply,
sentences) is made again by the issuer's code, and a line says so; the rest is listed as not covered.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.rechecking.lines import AGAIN, HASHES, Recheck, Rechecked, lines_of, same_weights

if TYPE_CHECKING:
    from eigentoken.models.convention.head_and_layer import Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.models.loading.rows import Letter
    from eigentoken.numerics.recheck.documents.shown import Shown

__all__ = ["recheck_chance", "recheck_compare", "recheck_nearest", "recheck_steer"]

STORED = ("Q", "K", "V", "O", "scale")
ROWS: tuple[Letter, ...] = ("Q", "K", "V")


def _heads(layer: Layer) -> list[dict[str, Any]]:
    """The heads of a layer as the second arithmetic reads them."""
    return [{"kv": head.kv_index, **{name: getattr(head, name) for name in STORED}} for head in layer.heads]


def _own_layers(model: Model) -> list[int]:
    """The layers that have weights of their own."""
    return sorted({model.architecture.weights_of(index) for index in range(model.n_layers)})


def _again(shown: Shown, fresh: Mapping[str, Any], left_out: tuple[tuple[str | int, ...], ...]) -> Iterator[Rechecked]:
    """Every leaf against what the issuer's code makes of the weights now."""
    from eigentoken.rechecking.consistency import compare_leaves

    before = len(shown.found)
    compare_leaves(shown, json.loads(json.dumps(fresh)), (("version",), ("schema",), *left_out))
    differs = shown.found[before:]
    for each in differs:
        yield Rechecked(each.where, "as displayed", "holds", each.answer, each.why, AGAIN)
    if not differs:
        yield Rechecked("document", "as displayed", "holds", "holds", "made again from the weights", AGAIN)


def _both(again: Shown, second: Shown) -> list[str]:
    """What neither of the two covers."""
    again.cover(*(path for path in second.covered if path not in again.covered))
    return again.not_covered()


def recheck_compare(document: dict[str, Any], source: object, seconds: float, done: Callable[[], None]) -> Recheck:
    """Every interval, leader and direction of a comparison, from the weights of its models."""
    from eigentoken.comparing.compare import compare
    from eigentoken.models import load
    from eigentoken.numerics.recheck.documents.shown import Shown
    from eigentoken.numerics.recheck.layers.compare_documents import recheck_comparison

    if source is not None:
        raise ValueError("source replaces one model and a comparison names several: put them where the document says")
    sources = [each["source"] for each in document["models"]]
    models = [load(each) for each in sources]
    lines = [
        same_weights(f"models[{place}]", stated["fingerprint"], model.fingerprint())
        for place, (stated, model) in enumerate(zip(document["models"], models, strict=True))
    ]
    stated = [each["layer"] for each in document["layers"]]
    for model in models:
        if stated != _own_layers(model):
            why = f"layers {stated} are stated, {model.source} has {_own_layers(model)}"
            return Recheck([*lines, Rechecked("layers", "as displayed", "holds", "fails", why)], [])
    fold = document["options"]["fold"]

    def heads_of(model: int, layer: int) -> list[dict[str, Any]]:
        found = models[model].layer(layer)
        return _heads(found.fold_gains() if fold else found)

    second = recheck_comparison(document, heads_of, seconds, done)
    lines += lines_of(second, {})
    with tempfile.TemporaryDirectory() as work:  # nothing of a cache
        fresh = compare(sources, statements=document["options"]["statements"], fold=fold, work=work)
    again = Shown(document)
    lines += _again(again, {"schema": document["schema"], **fresh.as_dict()}, ())
    again.cover(("schema",))
    return Recheck(lines, _both(again, second))


def recheck_nearest(document: dict[str, Any], source: object, seconds: float, done: Callable[[], None]) -> Recheck:
    """Distances, norms and words of ``nearest``; what was written is read again if it is where the document says."""
    from eigentoken.checking.nearest import nearest
    from eigentoken.checking.run import check, open_model
    from eigentoken.models import load
    from eigentoken.models.loading.write import source_of_copy
    from eigentoken.numerics.recheck.documents.shown import Shown
    from eigentoken.numerics.recheck.layers.nearest_documents import recheck_nearest as by_second

    model = open_model(document["model"] if source is None else source)
    lines = [same_weights("weights", document["fingerprint"], model.fingerprint())]
    stated = [each["layer"] for each in document["layers"]]
    if stated != _own_layers(model):
        why = f"layers {stated} are stated, {model.source} has {_own_layers(model)}"
        return Recheck([*lines, Rechecked("layers", "as displayed", "holds", "fails", why)], [])
    told = document["written"]
    there_is = told is not None and Path(told["folder"]).is_dir()
    written = load(source_of_copy(model, told["folder"])) if there_is else None
    shape = written is None or (written.n_layers, written.d, written.n_heads) == (
        model.n_layers,
        model.d,
        model.n_heads,
    )
    if not shape:
        lines.append(Rechecked("written", "as displayed", "holds", "fails", "another shape than the model"))
        written = None
    there = None if written is None else lambda index: _heads(written.layer(index))
    second = by_second(document, lambda index: _heads(model.layer(index)), there, seconds)
    if written is not None:
        second.cover(("written", "folder"))
        changed = _changed(model, written)
        own = [index for index in changed if index in stated]
        second.same(("written", "layers_changed"), changed)
        second.same(("written", "changed"), ["".join(_letters(model, written, index)) for index in own])
        lines.append(_nothing_else("written", model, written, told["layers_changed"], told["changed"]))
    lines += lines_of(second, {})
    done()
    again = Shown(document)
    left_out: tuple[tuple[str | int, ...], ...] = (("written",), *((("model",),) if source is not None else ()))
    fresh = nearest(model if source is not None else document["model"], document["statement"]["id"])
    lines += _again(again, {"schema": document["schema"], **fresh.as_dict(), "written": told}, left_out)
    again.cover(("schema",), *((("written",),) if told is None else ()))
    if written is not None:  # its words about the copy, where the second arithmetic has no table for the statement
        held = check(written, statements=document["statement"]["id"], sequences=0)
        again.same(("written", "words"), held.statements[0]["layers"])
        lines += [
            Rechecked(each.where, "as displayed", "holds", each.answer, each.why, AGAIN)
            for each in again.found
            if each.where.startswith("written")
        ]
    return Recheck(lines, _both(again, second))


def _nothing_else(
    where: str, model: Model, written: Model, layers: list[int], letters: Sequence[str] = ()
) -> Rechecked:
    """That the copy has other numbers in the output matrices of these layers alone, and in the rows that are named."""
    from eigentoken.models.loading.rows import tensors_of_rows
    from eigentoken.models.loading.write import tensors_that_differ

    listed = [index for index in layers if index < model.n_layers]
    outputs = {model.layer(index).output_stored.name for index in listed}
    rows: dict[str, Any] = {}
    own = [index for index in listed if model.architecture.weights_of(index) == index]
    for index, named in zip(own, letters, strict=False):
        rows |= tensors_of_rows(model, index, [letter for letter in ROWS if letter in named])
    others = [
        name
        for name in tensors_that_differ(model, written)
        if name not in outputs and not (name in rows and _alike_elsewhere(model, written, name, rows[name]))
    ]
    allowed = "the output matrices" + (" and the rows that are named" if rows else "")
    why = f"tensors beside {allowed} differ: {', '.join(others)[:200]}" if others else f"but for {allowed}"
    return Rechecked(where, "the tensors of the model", "holds", "fails" if others else "holds", why, HASHES)


def _alike_elsewhere(model: Model, written: Model, name: str, places: Any) -> bool:
    """Do two tensors have the same numbers but at these places?"""
    from numpy import array_equal, zeros

    from eigentoken.models.loading.undone import as_stored

    if name not in written.store.infos:
        return False
    undo, array, after = as_stored(model), model.store.read(name), written.store.read(name)
    marks = zeros(array.shape)
    marks.reshape(-1)[places] = 1.0
    before, kept = undo(name, array), undo(name, marks) == 0
    return before.shape == after.shape and array_equal(before[kept], after[kept])


def _letters(model: Model, written: Model, index: int) -> list[str]:
    """The stored matrices of a layer that are others now."""
    from numpy import array_equal

    before, after = model.layer(index).heads, written.layer(index).heads
    return [
        letter
        for letter in ("O", *ROWS)
        if not all(array_equal(getattr(a, letter), getattr(b, letter)) for a, b in zip(before, after, strict=True))
    ]


def _changed(model: Model, written: Model) -> list[int]:
    """The layers whose matrices are others now."""
    return [index for index in range(model.n_layers) if _letters(model, written, index)]


def recheck_chance(
    document: dict[str, Any], source: object, seconds: float, done: Callable[[], None], states: object = None
) -> Recheck:
    """Statistics, draws, p-values and their correction, in floats by other formulas: measured, as the document is.

    ``states``: those that were given to ``chance``, if it had some.
    """
    from eigentoken.checking.run import open_model
    from eigentoken.nulls.against_chance import not_taken
    from eigentoken.numerics.layers.chance_statistics import STATISTICS
    from eigentoken.numerics.recheck.layers.chance_documents import recheck_chance as by_second
    from eigentoken.rechecking.tokens_of_chance import tokens_of_chance

    model = open_model(document["model"]["source"] if source is None else source)
    lines = [same_weights("weights", document["model"]["fingerprint"], model.fingerprint())]

    shapes: set[tuple[int, int, bool]] = set()

    def heads(index: int) -> list[dict[str, Any]]:
        layer = model.layer(index)
        groups = len({head.kv_index for head in layer.heads})
        for head in layer.heads:
            shapes.update((len(each), layer.d, False) for each in (head.Q, head.V))
        shapes.update((groups * len(each), layer.d, True) for each in (layer.heads[0].Q, layer.heads[0].V))
        turned = [
            None if head.rotary is None else (*head.rotary.pairs(), head.rotary.frequencies) for head in layer.heads
        ]
        return [{**head, "turned": each} for head, each in zip(_heads(layer), turned, strict=True)]

    shown = by_second(document, _own_layers(model), heads)
    again = tokens_of_chance(shown, document, model, states)
    lines += lines_of(shown, {})
    if again:
        why = f"what the second arithmetic has no formula for was made again: layers {', '.join(map(str, again))}"
        answer = "fails" if any(each.where.startswith("tokens") for each in shown.found) else "holds"
        lines.append(Rechecked("tokens", "as displayed", "holds", answer, why, AGAIN))
    done()
    before = len(shown.found)
    shown.same(("statistics",), STATISTICS)
    shown.same(("not_taken",), not_taken(shapes))
    if source is None:
        shown.same(("model", "source"), model.source)
        shown.same(("model", "description"), model.describe())
    shown.cover(("model", "fingerprint"))
    lines += [
        Rechecked(each.where, "as displayed", "holds", each.answer, each.why, AGAIN) for each in shown.found[before:]
    ]
    return Recheck(lines, shown.not_covered())


def recheck_steer(document: dict[str, Any], source: object, seconds: float, done: Callable[[], None]) -> Recheck:
    """The certificates of the stored edit and the guarantee of each token by the second arithmetic; the rest is made again."""
    from dataclasses import replace

    from numpy import asarray

    from eigentoken.checking.layers import weights_of
    from eigentoken.checking.run import open_model
    from eigentoken.checking.steer import steer
    from eigentoken.models import load
    from eigentoken.models.loading.write import source_of_copy
    from eigentoken.numerics.recheck import recheck
    from eigentoken.numerics.recheck.documents.shown import Shown

    model, folder = open_model(document["model"] if source is None else source), Path(document["folder"])
    lines = [same_weights("weights", document["fingerprint"], model.fingerprint())]
    if not folder.is_dir():
        why = f"the edited checkpoint is not at {folder}: nothing of it can be found again"
        return Recheck([*lines, Rechecked("folder", "as displayed", "holds", "undecided", why)], ["folder"])
    edited = load(source_of_copy(model, folder))
    lines.append(same_weights("folder", document["folder_fingerprint"], edited.fingerprint()))
    if (edited.n_layers, edited.d, edited.n_heads) != (model.n_layers, model.d, model.n_heads):
        return Recheck(
            [*lines, Rechecked("folder", "as displayed", "holds", "fails", "another shape than the model")], []
        )
    lines.append(_nothing_else("folder", model, edited, document["layers_changed"]))
    after = replace(edited.layer(-1), index=model.n_layers - 1)
    inputs = weights_of(after).inputs()
    for name, verdict in document["verdicts"].items():
        if verdict["certificate"] is None:
            lines.append(Rechecked(f"verdicts, {name}", name, verdict["verdict"], "undecided", "it has no certificate"))
            continue
        vector = verdict["details"].get("vector")
        kept = vector is not None and "vector" in verdict["certificate"]["arrays"]
        arrays = {"vector": asarray(vector, dtype=float)} if kept else {}
        answer = recheck({**verdict, "array_values": arrays}, inputs, time_limit=seconds)
        lines.append(Rechecked(f"verdicts, {name}", name, verdict["verdict"], str(answer.answer), answer.reason))
    done()
    ids, run = document["prompts"], document["run"]
    if document["states"] is not None:
        lines.append(Rechecked("tokens", "as displayed", "holds", "undecided", "given states are not in the document"))
        return Recheck(lines, ["tokens", "suggested", "output"])
    with tempfile.TemporaryDirectory() as place:
        options: dict[str, Any] = {"strength": document["strength"], "prompts": None if ids is None else ids["ids"]}
        options |= {"sequences": run["sequences"], "tokens": run["tokens"], "seed": run["seed"]} if ids is None else {}
        fresh = steer(model, asarray(document["edit"]["direction"]), Path(place) / "again", **options)
    again = Shown(document)
    named = ("model", "folder", "folder_fingerprint")
    left_out: tuple[tuple[str | int, ...], ...] = (
        *((name,) for name in named),
        ("run", "sha256"),
        ("prompts", "source"),
        ("prompts", "read_by"),
    )
    lines += _again(again, {"schema": document["schema"], **fresh.as_dict()}, left_out)
    second = _guarantees(document, model, edited, fresh.document["run"]["sha256"])
    lines += [] if second is None else list(lines_of(second, {}))
    again.cover(("schema",), ("fingerprint",), ("folder_fingerprint",), ("folder",))
    again.cover(*((("model",),) if source is None else ()), *((("run", "sha256"),) if second is not None else ()))
    return Recheck(lines, again.not_covered() if second is None else _both(again, second))


def _guarantees(document: dict[str, Any], model: Model, edited: Model, digest: str) -> Shown | None:
    """The guarantee of each token in balls, where the tokens that are run here are, to the last bit, those of the document."""
    from eigentoken.checking.layers import rotary_pairs
    from eigentoken.checking.prompts import read_prompts
    from eigentoken.checking.steer import HEAD
    from eigentoken.checking.steer_effects import Effects
    from eigentoken.numerics.recheck.layers.steer_documents import EditedLayer, recheck_guarantees
    from eigentoken.numerics.recheck.layers.token_bounds import GivenLayer

    run, told = document["run"], document["prompts"]
    if digest != run["sha256"]:
        return None  # another machine rounds otherwise: not covered
    read = None if told is None else read_prompts(told["ids"], model)
    seen = Effects.of(model, read, run["sequences"], run["tokens"], run["seed"]).entering_last
    before, after = model.layer(-1), edited.layer(-1)
    pairs = rotary_pairs(before)
    turned = None if pairs is None else (pairs.first, pairs.second, [float(each) for each in pairs.frequencies])
    heads = [{name: getattr(head, name) for name in HEAD} for head in before.heads]
    sequences = []
    for x in seen:
        read_as = before.attention_norm.apply(x) if before.placement == "pre" else x
        sequences.append(GivenLayer(heads, x[0], read_as[0], before.mask.allowed(x.shape[-2]), turned))
    return recheck_guarantees(document, EditedLayer(after.output_matrix(), after.output_bias, sequences))
