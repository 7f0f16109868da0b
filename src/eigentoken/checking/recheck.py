"""Re-verify every certificate of a document with the independent arithmetic, and the hashes of the weights."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Rechecked", "certificates_of_check", "recheck_document"]

EXPECTED = (
    "expected a check report (check -o), a refutation (refute -o), a classification (classify --json), "
    "a verdict (certify --json) or a certificate (certify --save)"
)


@dataclass(frozen=True)
class Rechecked:
    """One certificate: where it stands, what it asserts, and whether the second arithmetic agrees."""

    where: str
    condition: str
    verdict: str
    agrees: str
    reason: str

    def as_dict(self) -> dict[str, str]:
        return vars(self)


def recheck_document(
    path: Path,
    *,
    source: str | None = None,
    seconds: float = 60.0,
    done: Callable[[], None] = lambda: None,
    run_predicates: bool = False,
) -> list[Rechecked]:
    """A check report, a verdict of ``certify --json``, or a saved certificate; ``source`` replaces the model or matrix."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise ValueError(f"{path} is not a JSON document: {problem}") from None
    except RecursionError:
        raise ValueError(f"{path} is not a document of eigentoken: it is nested too deeply") from None
    if not isinstance(document, dict) or "schema" not in document:
        raise ValueError(f"{path} has no schema field: {EXPECTED}")
    kind = str(document["schema"]).split("/")[1:2]
    if kind == ["check"]:
        return list(_report(document, _stored(path), source, seconds, done))
    if kind in (["verdict"], ["certificate"]):
        return [_single(path, document, source, seconds)]
    if kind == ["classification"]:
        return list(_classification(document, seconds))
    if kind == ["refutation"]:
        return list(_refutation(document, run_predicates, path.parent))
    raise ValueError(f"{path} holds {document['schema']}: {EXPECTED}")


def _classification(document: dict[str, Any], seconds: float) -> Iterator[Rechecked]:
    from eigentoken.numerics.recheck import recheck

    for name in ("equilibrium", "stable"):
        verdict = document[name]
        if verdict["certificate"] is None:
            yield Rechecked(name, name, verdict["verdict"], "undecided", "no certificate is kept")
            continue
        answer = recheck(verdict, time_limit=seconds)
        condition = verdict["certificate"]["condition"]
        yield Rechecked(name, condition, verdict["verdict"], str(answer.word), answer.reason)


def _refutation(document: dict[str, Any], run_predicates: bool, beside: Path) -> Iterator[Rechecked]:
    from eigentoken.numerics.lab.recheck import recheck_report

    for where, verdict in recheck_report(document, run_predicates=run_predicates, beside=beside):
        yield Rechecked(where, "counterexample", "holds", str(verdict.word), verdict.reason)


def _single(path: Path, document: dict[str, Any], source: str | None, seconds: float) -> Rechecked:
    from eigentoken.numerics.recheck import recheck

    certificate = document if "kind" in document else document.get("certificate")
    if not isinstance(document.get("verdict"), str):
        raise ValueError(f"{path} states no verdict: {EXPECTED}")
    if certificate is not None and not _is_certificate(certificate):
        raise ValueError(f"{path} holds something else in the place of its certificate: {EXPECTED}")
    if certificate is None:
        return Rechecked(
            str(path), document.get("condition", ""), document["verdict"], "undecided", "no certificate is kept"
        )
    matrix = source or document.get("matrix")
    if matrix is None and certificate["inputs"] and certificate["kind"] != "time-formula":
        raise ValueError(f"{path} does not name its matrix: give it with --source MATRIX")
    subject: Any = str(path) if "kind" in document else document
    verdict = recheck(subject, matrix, time_limit=seconds)
    return Rechecked(str(path), certificate["condition"], certificate["verdict"], str(verdict.word), verdict.reason)


def certificates_of_check(path: Path) -> int:
    """How many certificates a report of ``check`` holds, each once; 0 for any other document."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
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


def _is_certificate(value: Any) -> bool:
    named = isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("kind", "condition", "verdict"))
    return named and isinstance(value.get("inputs"), dict)


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
    source: str | None,
    seconds: float,
    done: Callable[[], None],
) -> Iterator[Rechecked]:
    from eigentoken.checking.consistency import differences, rewritten
    from eigentoken.checking.layers import weights_of
    from eigentoken.checking.run import open_model
    from eigentoken.numerics.recheck import recheck

    model = open_model(source or document["model"]["source"])
    yield _hashes(document, model)
    yield from _compared("statements", rewritten(document, model), "put together again from the layers")
    ids = [each["id"] for each in document["statements"]]
    seen: set[int] = set()
    for record in document["layers"]:
        origin = record["weights_of"]
        if origin in seen:
            continue
        seen.add(origin)
        layer = model.layer(origin)
        layer = layer.fold_gains() if document["options"]["fold"] else layer
        inputs = weights_of(layer).inputs()
        again = differences(record, layer, ids)
        yield from _compared(f"layer {origin}", again, "what is displayed is what the weights give when examined again")
        for where, verdict in _certificates(record, f"layer {origin}"):
            answer = recheck(_whole(verdict, stored), inputs, time_limit=seconds)
            certificate = verdict["certificate"]
            yield Rechecked(where, certificate["condition"], certificate["verdict"], str(answer.word), answer.reason)
            done()


def _compared(where: str, found: Iterator[tuple[str, str, str]], agrees: str) -> Iterator[Rechecked]:
    """A line for each difference between what is displayed and what is found again, else one line that agrees."""
    listed = [Rechecked(place, "as displayed", "holds", word, why) for place, word, why in found]
    yield from listed or [Rechecked(where, "as displayed", "holds", "holds", agrees)]


def _hashes(document: Mapping[str, Any], model: Any) -> Rechecked:
    stated = document["model"]
    now = {
        "fingerprint": model.fingerprint(),
        "files": [{"name": f.path.name, "sha256": f.sha256} for f in model.files],
    }
    same = all(stated[key] == value for key, value in now.items())
    reason = "sha256 of every weight file" if same else "the weights are not those that were checked"
    return Rechecked("weights", "content hashes", "holds", "holds" if same else "fails", reason)


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
