"""Re-check of a report of ``check``: made again and compared, and each certificate and bound by the second arithmetic."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from eigentoken.rechecking.lines import AGAIN, HASHES, Recheck, Rechecked

if TYPE_CHECKING:
    from eigentoken.checking.own_states import OwnStates
    from eigentoken.models.convention.rotary import Array
    from eigentoken.models.loading.model import Model
    from eigentoken.numerics.layers.token_bounds import LayerAtTokens
    from eigentoken.numerics.recheck.documents.shown import Shown
    from eigentoken.numerics.recheck.layers.token_bounds import GivenLayer

__all__ = ["CheckWork", "recheck_report", "stored_arrays", "work_of_check"]


class CheckWork(NamedTuple):
    """What a re-check of a report has before it: layers with weights of their own, their width, and certificates, each once."""

    layers: int = 0
    d: int = 0
    certificates: int = 0

    @property
    def parts(self) -> int:
        """How often ``done`` is called: for each layer that is made again, for what follows from them, for each certificate."""
        return self.layers + MADE + self.certificates


#: Of a report that is made again, beside its layers: the bounds, what was observed, and the sentences.
MADE = 3


def work_of_check(path: Path) -> CheckWork | None:
    """What is to do for a report of ``check``; ``None`` for any other document, and for one without layers."""
    from eigentoken.files.documents import DocumentError, read_json

    try:
        document = read_json(path)
    except DocumentError:
        return None
    if not isinstance(document, dict) or not str(document.get("schema", "")).startswith("eigentoken/check/"):
        return None
    layers = document.get("layers")
    distinct = [
        each
        for each in (layers if isinstance(layers, list) else [])
        if isinstance(each, dict) and each.get("layer") == each.get("weights_of")
    ]
    if not distinct:
        return None  # no report, as its reader will say
    model = document.get("model")
    d = model.get("d") if isinstance(model, dict) else None
    certificates = sum(1 for each in distinct for _ in _certificates(each, ""))
    return CheckWork(len(distinct), d if isinstance(d, int) and d > 0 else 1, certificates)


def stored_arrays(path: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    from eigentoken.checking.formats import arrays_beside

    return dict(load_file(arrays_beside(path))) if arrays_beside(path).exists() else {}


def _whole(verdict: dict[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict document with the arrays of its certificate that were kept."""
    named = verdict["certificate"]["arrays"]
    return {**verdict, "array_values": {name: stored[digest] for name, digest in named.items() if digest in stored}}


def recheck_report(
    document: dict[str, Any],
    stored: Mapping[str, Any],
    source: object,
    seconds: float,
    done: Callable[[str], None],
    states: object = None,
) -> Recheck:
    """The whole report, made again from the weights by the issuer's code and compared leaf by leaf; and each certificate, by
    the second arithmetic."""
    from eigentoken.checking.layers import weights_of
    from eigentoken.checking.run import open_model
    from eigentoken.numerics.recheck import recheck
    from eigentoken.numerics.recheck.documents.reading import ExactInputs
    from eigentoken.numerics.recheck.documents.shown import Shown
    from eigentoken.rechecking.consistency import compare, made_again, other_tokens

    model = open_model(document["model"]["source"] if source is None else source)
    lines = [_hashes(document, model)]
    own = _own(document, model, states, lines)
    shown = Shown(document)
    shown.cover(("schema",))
    fresh = made_again(document, model, own, done)
    compare(shown, fresh, elsewhere=source is not None, states_known=own is not None)
    lines += [Rechecked(each.where, "as displayed", "holds", each.answer, each.why, AGAIN) for each in shown.found]
    if not shown.found:
        lines.append(Rechecked("report", "as displayed", "holds", "holds", "made again from the weights", AGAIN))
    for origin in sorted({model.architecture.weights_of(index) for index in range(model.n_layers)}):
        record = next((each for each in document["layers"] if each["layer"] == origin), None)
        if record is None:
            continue  # told above
        layer = model.layer(origin)
        inputs = ExactInputs(weights_of(layer.fold_gains() if document["options"]["fold"] else layer).inputs())
        for where, verdict in _certificates(record, f"layer {origin}"):
            answer = recheck(_whole(verdict, stored), inputs, time_limit=seconds)
            certificate = verdict["certificate"]
            lines.append(
                Rechecked(where, certificate["condition"], certificate["verdict"], str(answer.answer), answer.reason)
            )
            done(f"certificates of layer {origin}")
    lines += _states(document, shown, model, own, seconds)
    lines += _bounds(document, model, own, {path[1] for path in other_tokens(document, fresh)})
    lines += _margins(document, model, seconds)
    return Recheck(lines, shown.not_covered())


def _own(document: Mapping[str, Any], model: Model, states: object, lines: list[Rechecked]) -> OwnStates | None:
    """The states that the report is about: given again, or put together from the tokens that its certificates hold."""
    from numpy import stack

    from eigentoken.checking.own_states import OwnStates, own_states
    from eigentoken.theory.language.verdicts import array_digest

    told = document["states"]
    if told is None:
        if states is not None:
            raise ValueError("states were given, but the report is not about given states: leave them out")
        return None
    if states is not None:
        found = own_states(states, model)
        same = array_digest(found.array) == told["sha256"]
        why = "sha256 of the given states" if same else "the states are not those of the report"
        lines.append(Rechecked("states", "content hashes", "holds", "holds" if same else "fails", why, HASHES))
        return found if same else None
    if told["prompts"] is not None:
        return _of_prompts(told, model, lines)
    held = {layer: tokens for (_, layer), tokens in _held(told).items()}
    rows = [held.get(index) for index in range(model.n_layers)] if told["per_layer"] else [held.get(0)]
    known = [each for each in rows if each is not None]
    if len(known) < len(rows) or len({each.shape for each in known}) != 1:
        return None
    array = stack(known) if told["per_layer"] else known[0]
    return OwnStates(array, told["source"]) if array_digest(array) == told["sha256"] else None


def _of_prompts(told: Mapping[str, Any], model: Model, lines: list[Rechecked]) -> OwnStates | None:
    """The states of the prompts whose ids the report holds, if they are, to the last bit, those that it is about.

    Where they are not, the tokens that its certificates hold must be these but for rounding.
    """
    from dataclasses import replace

    from eigentoken.checking.own_states import states_entering, states_of_prompts
    from eigentoken.checking.prompts import PromptsError, read_prompts
    from eigentoken.theory.language.verdicts import array_digest

    where, held = "states, prompts", _held(told)
    try:
        read = replace(
            read_prompts(told["prompts"]["ids"], model), source=told["source"], read_by=told["prompts"]["read_by"]
        )
    except PromptsError as problem:
        lines.append(Rechecked(where, "token ids", "holds", "fails", str(problem)))
        return None
    found = states_of_prompts(read, model)
    if array_digest(found.whole) == told["sha256"]:
        return found
    first = {prompt: x for prompt, layer, x in states_entering(model, found) if layer == 0}
    known = {prompt: tokens for (prompt, layer), tokens in held.items() if layer == 0}
    if set(known) != set(first):
        why = "the states of these ids are not, to the last bit, those of the report, which does not hold its own"
        lines.append(Rechecked(where, "token ids", "holds", "undecided", why))
    elif not all(known[each].shape == x.shape and _rounded(known[each], x) for each, x in first.items()):
        lines.append(
            Rechecked(where, "token ids", "holds", "fails", "the states of the report are those of other tokens")
        )
    return None


def _rounded(stated: Array, here: Array) -> bool:
    """The same but for the rounding of an embedding."""
    from numpy import abs as size

    return bool(size(stated - here).max() <= 1e-4 * size(here).max())


def _held(told: Mapping[str, Any]) -> dict[tuple[int, int], Array]:
    """The tokens that the certificates hold, by prompt and layer, where they are those that the layer names by its digest."""
    from eigentoken.checking.own_states import tokens_of_rows
    from eigentoken.theory.language.verdicts import array_digest

    found = {}
    for each in told["conditions"]:
        certificate = each["hemisphere"]["certificate"]
        if certificate is not None:
            tokens = tokens_of_rows(certificate["data"]["tokens"], told["dtype"])
            if array_digest(tokens) == each["sha256"]:
                found[each["prompt"], each["layer"]] = tokens
    return found


def _states(
    document: Mapping[str, Any], shown: Shown, model: Model, own: OwnStates | None, seconds: float
) -> Iterator[Rechecked]:
    """What is stated of the tokens that enter each layer, by the second arithmetic, where they are known here."""
    from eigentoken.checking.own_states import states_entering
    from eigentoken.numerics.recheck import recheck
    from eigentoken.theory.language.verdicts import array_digest

    told = document["states"]
    if told is None:
        return
    held = _held(told)
    run = {} if own is None else {(prompt, layer): x for prompt, layer, x in states_entering(model, own)}
    for place, each in enumerate(told["conditions"]):
        verdict, index = each["hemisphere"], (each["prompt"], each["layer"])
        named = f"prompt {each['prompt']}, " if told["prompts"] is not None else ""
        where, certificate = f"states, {named}layer {each['layer']}", verdict["certificate"]
        if certificate is not None:
            answer = recheck(verdict, None, time_limit=seconds)
            found, why = str(answer.answer), answer.reason
            if index not in held:
                found, why = "fails", "the tokens of the certificate are not those of the layer"
            yield Rechecked(where, certificate["condition"], certificate["verdict"], found, why)
        tokens = held.get(index, run.get(index))
        if tokens is not None and array_digest(tokens) == each["sha256"]:
            yield from _lengths_and_angles(shown, each, ("states", "conditions", place), tokens, where)


def _lengths_and_angles(
    shown: Shown, stated: Mapping[str, Any], path: tuple[str | int, ...], tokens: Array, where: str
) -> Iterator[Rechecked]:
    from eigentoken.numerics.recheck.documents.reading import UNCONFIRMED
    from eigentoken.numerics.recheck.layers.token_conditions import conditions_differ

    agreed = True
    shown.cover((*path, "sha256"), (*path, "layer"))
    shown.same((*path, "tokens"), len(tokens))
    for name, why in conditions_differ(stated, tokens):
        shown.cover((*path, name))
        agreed = agreed and why is None
        if why is not None:
            answer = "undecided" if why.startswith(UNCONFIRMED) else "fails"
            yield Rechecked(f"{where}, {name}", "as displayed", "holds", answer, why.removeprefix(UNCONFIRMED))
    if agreed:
        yield Rechecked(where, "lengths and cosines", "holds", "holds", "found again in balls")


def _bounds(
    document: Mapping[str, Any], model: Model, own: OwnStates | None, other: set[str | int]
) -> Iterator[Rechecked]:
    """Each stated bound by the second arithmetic, where the tokens are those that it is about; one line a layer if all agree."""
    from eigentoken.checking.token_bounds import OF_WEIGHTS, layers_at_tokens
    from eigentoken.numerics.recheck.layers.token_bounds import bound_above, judged

    options = document["options"]
    known = document["bounds"] and (document["states"] is None or own is not None)  # else not covered
    run = layers_at_tokens(model, options["tokens"], options["seed"], own) if known else iter(())
    for index, (stated, (_, given)) in enumerate(zip(document["bounds"], run, strict=False)):
        if index in other:
            continue  # said to be not covered
        layer, agreed = _given(given), 0
        of_tokens = [each for each in stated["bounds"] if each["statement"] not in OF_WEIGHTS]
        for each in of_tokens:
            where = f"bounds, layer {stated['layer']}" + ("" if each["head"] is None else f", head {each['head']}")
            known = each["head"] is None or each["head"] < len(layer.heads)
            for sharp in (False, True):
                found = bound_above(each["statement"], layer, each["head"], sharp=sharp) if known else None
                answer, why = judged(each["bound"], found)
                if answer == "holds":
                    break
            agreed += answer == "holds"
            if answer != "holds":
                yield Rechecked(where, each["statement"], "holds", answer, why)
        if agreed and agreed == len(of_tokens):
            said = f"{agreed} bounds found again with error bounds"
            yield Rechecked(f"bounds, layer {stated['layer']}", "certified bounds", "holds", "holds", said)


def _margins(document: Mapping[str, Any], model: Model, seconds: float) -> Iterator[Rechecked]:
    """Each bound that is read from weights, by the second arithmetic; where none is stated there is nothing to confirm."""
    from eigentoken.checking.token_bounds import OF_WEIGHTS

    known: dict[tuple[Any, ...], Any] = {}
    for stated in document["bounds"]:
        said = [each for each in stated["bounds"] if each["statement"] in OF_WEIGHTS and each["bound"] is not None]
        if not (said and isinstance(stated["layer"], int) and 0 <= stated["layer"] < model.n_layers):
            continue  # a layer that is not there was told by the comparison
        origin, agreed = model.architecture.weights_of(stated["layer"]), 0
        layer = model.layer(origin)
        heads = (layer.fold_gains() if document["options"]["fold"] else layer).heads
        for each in said:
            head = each["head"]
            where = f"bounds, layer {stated['layer']}" + ("" if head is None else f", head {head}")
            asked = (origin, head, each["statement"], each["bound"])
            if asked not in known:
                chosen = heads if head is None else heads[head : head + 1]
                known[asked] = _judged(each["statement"], each["bound"], [(one.O, one.V) for one in chosen], seconds)
            answer, why = known[asked]
            agreed += answer == "holds"
            if answer != "holds":
                yield Rechecked(where, each["statement"], "holds", answer, why)
        if agreed and agreed == len(said):
            told = f"{agreed} margins found again with error bounds"
            yield Rechecked(f"bounds, layer {stated['layer']}", "certified margins", "holds", "holds", told)


def _judged(statement: str, stated: float, factors: Sequence[tuple[Array, Array]], seconds: float) -> tuple[str, str]:
    """The answer about one bound of ``sum_h O_h V_h``, and why; ``seconds``: for the finer discs of a spectrum."""
    from time import monotonic

    from eigentoken.numerics.recheck.layers.margins import factors_found, judged_margin, margin_found

    if not factors:
        return judged_margin(stated, None)
    if statement != "BD-H1":
        return judged_margin(stated, margin_found(statement, factors))
    answer = judged_margin(stated, None)
    for found in factors_found(factors, monotonic() + seconds):
        answer = judged_margin(stated, found)
        if answer[0] == "holds":
            break
    return answer


def _given(layer: LayerAtTokens) -> GivenLayer:
    """The same layer and tokens, as the second arithmetic reads them."""
    from eigentoken.numerics.recheck.layers.token_bounds import GivenLayer

    pairs, norm = layer.pairs, layer.norm
    return GivenLayer(
        layer.heads,
        layer.state,
        layer.seen,
        layer.allowed,
        None if pairs is None else (pairs.first, pairs.second, [float(each) for each in pairs.frequencies]),
        None if norm is None else norm.gain,
        None if norm is None else norm.bias,
        norm is not None and norm.centred,
    )


def _hashes(document: Mapping[str, Any], model: Model) -> Rechecked:
    stated = document["model"]
    now = {
        "fingerprint": model.fingerprint(),
        "files": [{"name": f.path.name, "sha256": f.sha256} for f in model.files],
    }
    same = all(stated[key] == value for key, value in now.items())
    reason = "sha256 of every weight file" if same else "the weights are not those that were checked"
    return Rechecked("weights", "content hashes", "holds", "holds" if same else "fails", reason, HASHES)


def _certificates(value: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every verdict with a certificate below ``value``, each distinct certificate once."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}

    def walk(node: Any, place: str) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("certificate"), dict) and "verdict" in node:
                found.setdefault(json.dumps(node["certificate"], sort_keys=True), (place, node))
                return
            for name, child in node.items():
                walk(child, f"{place}, {name}")
        elif isinstance(node, list):
            for index, child in enumerate(node):
                label = child.get("statement", child.get("head", index)) if isinstance(child, dict) else index
                walk(child, f"{place} {label}")

    walk(value, where)
    yield from found.values()
