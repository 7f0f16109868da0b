"""Re-verify a document: validate it, re-check every part of it with the independent arithmetic, and list what is not covered."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.display import frame, html_table, listing
from eigentoken.documents.recheck_document import Certificate as RecheckedDocument
from eigentoken.theory.language.verdicts import VerdictAnswer

if TYPE_CHECKING:
    from pandas import DataFrame

    from eigentoken.numerics.layers.token_bounds import LayerAtTokens
    from eigentoken.numerics.recheck.layers.token_bounds import GivenLayer

__all__ = ["Recheck", "Rechecked", "certificates_of_check", "recheck_document"]

EXPECTED = (
    "expected a check report (check -o), a refutation (refute -o), a classification (classify --json), a basin (basin -o), "
    "a verdict (certify --json) or a certificate (certify --save)"
)
SECOND, AGAIN, HASHES = "the second arithmetic", "the issuer's code again", "content hashes"


@dataclass(frozen=True)
class Rechecked:
    """One line: where it stands, what it asserts, whether it agrees, why, and by what that was found."""

    where: str
    condition: str
    verdict: str
    agrees: str
    reason: str
    by: str = SECOND

    def as_dict(self) -> RecheckedDocument:
        return {
            "where": self.where,
            "condition": self.condition,
            "verdict": self.verdict,
            "agrees": self.agrees,
            "reason": self.reason,
            "by": self.by,
        }


@dataclass(frozen=True, repr=False)
class Recheck(Sequence[Rechecked]):
    """The lines of a re-check, and the fields of the document that it does not cover."""

    lines: list[Rechecked]
    not_covered: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index: Any) -> Any:
        return self.lines[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.verdict == other
        if not isinstance(other, Recheck):
            return NotImplemented
        return (self.lines, self.not_covered) == (other.lines, other.not_covered)

    def __bool__(self) -> bool:
        raise TypeError("a re-check holds, fails or is undecided, it is not true or false: compare it with 'holds'")

    def __repr__(self) -> str:
        agree = sum(each.agrees == "holds" for each in self.lines)
        open_ones = [f"{each.where}: {each.agrees}: {each.reason}" for each in self.lines if each.agrees != "holds"]
        open_ones += [f"not covered: {', '.join(self.not_covered)}"] if self.not_covered else []
        return listing(f"<Re-check {self.verdict}: {agree} of {len(self.lines)} agree>", open_ones)

    def _repr_html_(self) -> str:
        rows = [(each.where, each.condition, each.agrees, each.reason) for each in self.lines]
        return html_table(("where", "condition", "agrees", "why"), rows, f"re-check: {self.verdict}")

    def to_frame(self) -> DataFrame:
        """One row a part that was re-checked (pandas)."""
        return frame(each.as_dict() for each in self.lines)

    @property
    def verdict(self) -> VerdictAnswer:
        """``fails`` if one line fails, ``undecided`` if one is or there is none, else ``holds``."""
        words = {each.agrees for each in self.lines}
        return VerdictAnswer(
            "fails" if "fails" in words else "undecided" if "undecided" in words or not words else "holds"
        )


def recheck_document(
    path: Path,
    *,
    source: object = None,
    seconds: float = 60.0,
    done: Callable[[], None] = lambda: None,
    run_predicates: bool = False,
) -> Recheck:
    """A document that a command wrote; ``source`` replaces the model or matrix.

    It is read strictly and validated against its published schema before anything in it is looked at.
    """
    document = _validated(path)
    kind = document["schema"].split("/")[1]
    if kind == "check":
        return _report(document, _stored(path), source, seconds, done)
    if kind == "certificate":
        return Recheck([_certificate(path, document, source, seconds)])
    if kind == "verdict":
        return _verdict(document, source, seconds)
    if kind == "classification":
        return _classification(document, seconds)
    if kind == "basin":
        return _basin(document, source, seconds)
    return _refutation(document, run_predicates, path.parent, seconds)


def _validated(path: Path) -> dict[str, Any]:
    from eigentoken.files.documents import read_json
    from eigentoken.numerics.certified.certificates import schema as certificate_schema
    from eigentoken.numerics.recheck.documents.strict import broken_rule
    from eigentoken.schemas import schema

    document = read_json(path)
    if not isinstance(document, dict) or "schema" not in document:
        raise ValueError(f"{path} has no schema field: {EXPECTED}")
    rules = [schema(name) for name in ("check", "refutation", "classification", "basin", "verdict")] + [
        certificate_schema()
    ]
    own = next((each for each in rules if each["$id"] == document["schema"]), None)
    if own is None:
        known = [str(each["$id"]) for each in rules]
        older = any(str(document["schema"]).rpartition("/")[0] == each.rpartition("/")[0] for each in known)
        why = f"this version re-checks {', '.join(known)}; write it anew" if older else EXPECTED
        raise ValueError(f"{path} holds {str(document['schema'])[:60]}: {why}")
    broken = broken_rule(document, own)
    if broken is not None:
        raise ValueError(f"{path} is not a document of {own['$id']}: {broken}")
    return document


def _lines(shown: Any, parts: Mapping[Any, tuple[str, str]]) -> Iterator[Rechecked]:
    """A line for each thing that was found wrong or open, and one for each part where nothing was."""
    for each in shown.found:
        yield Rechecked(each.where, "as displayed", "holds", each.answer, each.why)
    for path, (condition, verdict) in parts.items():
        named = ".".join(path)
        if not shown.covers(path):
            yield Rechecked(named, condition, verdict, "undecided", "not covered: nothing of it was found again")
        elif not any(each.where == named or each.where.startswith(f"{named}.") for each in shown.found):
            yield Rechecked(named, condition, verdict, "holds", "found again and compared")
    if not shown.found:
        yield Rechecked("document", "as displayed", "holds", "holds", "every other part that is covered")


def _classification(document: dict[str, Any], seconds: float) -> Recheck:
    from eigentoken.numerics.recheck.points.classification_documents import recheck_classification

    shown = recheck_classification(document, time.monotonic() + seconds)
    parts = {(name,): (name, document[name]["verdict"]) for name in ("equilibrium", "stable")}
    return Recheck(list(_lines(shown, parts)), shown.not_covered())


def _basin(document: dict[str, Any], source: object, seconds: float) -> Recheck:
    """Every region of a basin; those of a head from its weights, which are read again."""
    from eigentoken.checking.heads import head_of, layer_of
    from eigentoken.checking.run import open_model
    from eigentoken.numerics.recheck.basins.documents import recheck_basin

    subject, weights, lines = document["head"], None, []
    if subject is not None:
        model = open_model(source or subject["model"])
        head = head_of(layer_of(model, subject["layer"], subject["fold"]), subject["head"])
        weights = {"O": head.O, "V": head.V}
        same = model.fingerprint() == subject["fingerprint"]
        reason = "fingerprint of the weights" if same else "the weights are not those of the document"
        lines.append(Rechecked("weights", "content hashes", "holds", "holds" if same else "fails", reason, HASHES))
    shown = recheck_basin(document, weights, time.monotonic() + seconds)
    if subject is not None:
        shown.cover(*(("head", name) for name in ("fingerprint", "layer", "head", "fold")))
        if source is None:
            shown.cover(("head", "model"))  # it was read from there, and its weights have the hashes that are stated
    if not document["regions"]:
        shown.cover(("regions",))
        shown.undecided(("regions",), "no region is claimed, so there is nothing to confirm")
    for index, region in enumerate(document["regions"]):
        where = f"regions[{index}]"
        if not any(each.where.startswith(where) for each in shown.found):
            named = region["statement"] or "contraction principle"
            lines.append(
                Rechecked(where, f"{region['kind']} ({named})", "holds", "holds", "confirmed from the weights")
            )
    return Recheck([*lines, *_lines(shown, {})], shown.not_covered())


def _verdict(document: dict[str, Any], source: Any, seconds: float) -> Recheck:
    from eigentoken.numerics.recheck import recheck_verdict

    matrix = source or document["matrix"]
    shown = recheck_verdict(document, matrix, time_limit=seconds)
    if source is None and document["certificate"] is not None:
        shown.cover(("matrix",))  # it was read from there, and its content has the hash of the certificate
    parts = {("certificate",): (document["condition"], document["verdict"])}
    return Recheck(list(_lines(shown, parts)), shown.not_covered())


def _certificate(path: Path, document: dict[str, Any], source: Any, seconds: float) -> Rechecked:
    from eigentoken.files.documents import read_json
    from eigentoken.numerics.recheck import recheck

    if source is None and document["inputs"] and document["kind"] != "time-formula":
        raise ValueError(f"{path} does not name its input: give it with --source FILE")
    given: Any = read_json(Path(source)) if source is not None and document["kind"] == "classification" else source
    answer = recheck(str(path), given, time_limit=seconds)
    return Rechecked(str(path), document["condition"], document["verdict"], str(answer.answer), answer.reason)


def _refutation(document: dict[str, Any], run_predicates: bool, beside: Path, seconds: float) -> Recheck:
    from eigentoken.numerics.lab.rerun import Rerun
    from eigentoken.numerics.recheck.refutations.report import recheck_shown

    found = recheck_shown(document, authors_code=Rerun(beside) if run_predicates else None, seconds=seconds)
    lines = [
        Rechecked(where, "counterexample", "holds", str(verdict.answer), verdict.reason, AGAIN if free else SECOND)
        for where, verdict in found.lines
        for free in (where.endswith(": holds_if"),)
    ]
    differs = [Rechecked(each.where, "as displayed", "holds", each.answer, each.why) for each in found.shown.found]
    return Recheck(lines + differs, found.shown.not_covered())


def certificates_of_check(path: Path) -> int:
    """How many certificates a report of ``check`` holds, each once; 0 for any other document."""
    from eigentoken.files.documents import DocumentError, read_json

    try:
        document = read_json(path)
    except DocumentError:
        return 0
    if not isinstance(document, dict) or not str(document.get("schema", "")).startswith("eigentoken/check/"):
        return 0
    layers = document.get("layers")
    distinct = [
        each
        for each in (layers if isinstance(layers, list) else [])
        if isinstance(each, dict) and each.get("layer") == each.get("weights_of")
    ]
    return sum(1 for each in distinct for _ in _certificates(each, ""))


def _stored(path: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    from eigentoken.checking.formats import arrays_beside

    return dict(load_file(arrays_beside(path))) if arrays_beside(path).exists() else {}


def _whole(verdict: dict[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict document with the arrays of its certificate that were kept."""
    named = verdict["certificate"]["arrays"]
    return {**verdict, "array_values": {name: stored[digest] for name, digest in named.items() if digest in stored}}


def _report(
    document: dict[str, Any],
    stored: Mapping[str, Any],
    source: Any,
    seconds: float,
    done: Callable[[], None],
) -> Recheck:
    """The whole report, made again from the weights by the issuer's code and compared leaf by leaf; and each certificate, by
    the second arithmetic."""
    from eigentoken.checking.consistency import compare, made_again, other_tokens
    from eigentoken.checking.layers import weights_of
    from eigentoken.checking.run import open_model
    from eigentoken.numerics.recheck import recheck
    from eigentoken.numerics.recheck.documents.shown import Shown

    model = open_model(source or document["model"]["source"])
    lines = [_hashes(document, model)]
    shown = Shown(document)
    shown.cover(("schema",))
    fresh = made_again(document, model)
    compare(shown, fresh, elsewhere=source is not None)
    lines += [Rechecked(each.where, "as displayed", "holds", each.answer, each.why, AGAIN) for each in shown.found]
    if not shown.found:
        lines.append(Rechecked("report", "as displayed", "holds", "holds", "made again from the weights", AGAIN))
    for origin in sorted({model.architecture.weights_of(index) for index in range(model.n_layers)}):
        record = next((each for each in document["layers"] if each["layer"] == origin), None)
        if record is None:
            continue  # told above
        layer = model.layer(origin)
        inputs = weights_of(layer.fold_gains() if document["options"]["fold"] else layer).inputs()
        for where, verdict in _certificates(record, f"layer {origin}"):
            answer = recheck(_whole(verdict, stored), inputs, time_limit=seconds)
            certificate = verdict["certificate"]
            lines.append(
                Rechecked(where, certificate["condition"], certificate["verdict"], str(answer.answer), answer.reason)
            )
            done()
    lines += _states(document, seconds)
    lines += _bounds(document, model, {path[1] for path in other_tokens(document, fresh)})
    return Recheck(lines, shown.not_covered())


def _states(document: Mapping[str, Any], seconds: float) -> Iterator[Rechecked]:
    """The certificates about given states, each of the tokens that it holds; are these the ones that it is stated for?"""
    from eigentoken.checking.own_states import digest_of_rows
    from eigentoken.numerics.recheck import recheck

    states = document["states"]
    for each in states["conditions"] if states else ():
        verdict, where = each["hemisphere"], f"states, layer {each['layer']}"
        certificate = verdict["certificate"]
        if certificate is None:
            continue  # too many tokens to repeat: not covered
        answer = recheck(verdict, None, time_limit=seconds)
        found, why = str(answer.answer), answer.reason
        if digest_of_rows(certificate["data"]["tokens"], states["dtype"]) != each["sha256"]:
            found, why = "fails", "the tokens of the certificate are not those of the layer"
        yield Rechecked(where, certificate["condition"], certificate["verdict"], found, why)


def _bounds(document: Mapping[str, Any], model: Any, other: set[Any]) -> Iterator[Rechecked]:
    """Each stated bound by the second arithmetic, where the tokens are those that it is about; one line a layer if all agree."""
    from eigentoken.checking.token_bounds import layers_at_tokens
    from eigentoken.numerics.recheck.layers.token_bounds import bound_above, judged

    options = document["options"]
    drawn = document["bounds"] and document["states"] is None  # given states are not in the report: not covered
    run = layers_at_tokens(model, options["tokens"], options["seed"]) if drawn else iter(())
    for index, (stated, (_, given)) in enumerate(zip(document["bounds"], run, strict=False)):
        if index in other:
            continue  # said to be not covered
        layer, agreed = _given(given), 0
        for each in stated["bounds"]:
            where = f"bounds, layer {stated['layer']}" + ("" if each["head"] is None else f", head {each['head']}")
            known = each["head"] is None or each["head"] < len(layer.heads)
            found = bound_above(each["statement"], layer, each["head"]) if known else None
            answer, why = judged(each["bound"], found)
            agreed += answer == "holds"
            if answer != "holds":
                yield Rechecked(where, each["statement"], "holds", answer, why)
        if agreed and agreed == len(stated["bounds"]):
            said = f"{agreed} bounds found again in balls"
            yield Rechecked(f"bounds, layer {stated['layer']}", "certified bounds", "holds", "holds", said)


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


def _hashes(document: Mapping[str, Any], model: Any) -> Rechecked:
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
