"""``recheck`` confirms honest documents and no forged one: every field, every kind of document, digests made anew.

The gate tries a seeded share of the forgeries; the slow tests try all of them, and ``make soundness`` those of random documents.
A field may be changed unnoticed only if
the command lists it as not covered, and these lists are written down here: they can only become shorter.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent


def _loaded(name: str) -> Any:
    full = f"eigentoken_liars_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, HERE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return sys.modules[full]


forger, documents = _loaded("forger"), _loaded("documents")

#: What the re-check of each kind of document says that it does not cover.
NOT_COVERED: dict[str, set[str]] = {
    "verdict": {"details", "details.rung"},
    "times": {"reason"},
    "classification": {"arithmetic"},
    "refutation": {"file", "file_sha256", *(f"results[].{name}" for name in documents.MEASURED)},
}
SHARE = {"verdict": 8, "times": 20, "classification": 16, "refutation": 16}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


@pytest.fixture(scope="module")
def issued(folder: Path) -> dict[str, dict[str, Any]]:
    """All honest documents by kind and name."""
    return {kind: {name: issue(name, folder) for name in names} for kind, (issue, names) in documents.ISSUERS.items()}


KINDS = sorted(documents.ISSUERS)


@pytest.mark.parametrize("kind", KINDS)
def test_honest_documents_are_confirmed(kind: str, issued: dict[str, dict[str, Any]], folder: Path) -> None:
    for name, document in issued[kind].items():
        word, not_covered = documents.honest(document, folder / "honest.json")
        assert word == "holds", name
        assert set(not_covered) <= NOT_COVERED[kind], name


@pytest.mark.parametrize("kind", KINDS)
def test_sealing_an_honest_document_changes_nothing(kind: str, issued: dict[str, dict[str, Any]]) -> None:
    """So that what is refused is refused for what it says, not for the forger's own mistake with digests."""
    for name, document in issued[kind].items():
        assert forger.resealed(document) == document, name


def sampled(forgeries: Iterator[Any], count: int | None, seed: str) -> list[Any]:
    """A seeded choice of ``count`` forgeries, or all of them for None."""
    listed = list(forgeries)
    return listed if count is None else random.Random(seed).sample(listed, min(count, len(listed)))


#: a share of the forgeries of each kind of document, or all of them
SHARES = pytest.mark.parametrize("share", [SHARE, pytest.param({}, marks=pytest.mark.slow)], ids=["share", "all"])


@SHARES
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["changed_fields", "changed_shapes"])
def test_no_forged_document_is_confirmed(
    kind: str, way: str, share: dict[str, int], issued: dict[str, dict[str, Any]], folder: Path
) -> None:
    believed = []
    for name, document in issued[kind].items():
        for path, forged in sampled(getattr(forger, way)(document), share.get(kind), f"{kind}{name}{way}"):
            if not can_lie(kind, path) or not documents.confirmed(forged, folder / "forged.json", path):
                continue
            if is_a_lie(kind, forged):
                believed.append((name, path, forger.at(document, path) if way == "changed_fields" else way))
    assert not believed


@SHARES
@pytest.mark.parametrize("kind", KINDS)
def test_no_part_of_another_document_is_confirmed(
    kind: str, share: dict[str, int], issued: dict[str, dict[str, Any]], folder: Path
) -> None:
    believed = []
    names = list(issued[kind])
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        grafts = forger.grafted(issued[kind][name], issued[kind][other])
        for path, forged in sampled(grafts, share.get(kind), f"{kind}{name}{other}"):
            if not can_lie(kind, path) or not documents.confirmed(forged, folder / "forged.json", path):
                continue
            if is_a_lie(kind, forged):
                believed.append((name, other, path))
    assert not believed


def can_lie(kind: str, path: tuple[str | int, ...]) -> bool:
    """Another instance that is confirmed as a counterexample is one; a claim may be made twice; a whole result of another
    honest report is honest."""
    inside = path[2:4] == ("counterexample", "instance")
    return kind != "refutation" or not (inside or len(path) <= 2 or path[2:] == ("conjecture", "claims"))


def is_a_lie(kind: str, forged: Any) -> bool:
    """A classification of another instance is honest if it is what the issuer says of that instance."""
    if kind != "classification":
        return True
    from eigentoken.theory.classification.classify import classify
    from eigentoken.theory.classification.instances import InstanceError, read_instance

    try:
        fresh = classify(read_instance(forged["instance"])).as_dict()
    except (InstanceError, ValueError, KeyError, TypeError):
        return True
    return bool(json.loads(json.dumps(fresh)) != forged)


@pytest.mark.parametrize("name", ["definite", "leader", "norm", "rank", "spectrum"])
def test_a_slack_that_is_too_large_is_refused(name: str, issued: dict[str, dict[str, Any]], folder: Path) -> None:
    """A certificate may speak of all matrices within a slack, as long as it is true of them."""
    path = ("certificate", "data", "slack")
    forged = forger.resealed(forger.put(issued["verdict"][name], path, "1000"))
    assert not documents.confirmed(forged, folder / "forged.json", path)


# --- reports of check ------------------------------------------------------------------------------------------------

MEASURED = {"version", "options.sequences", "options.tokens", "options.seed", "observed"}


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    pytest.importorskip("transformers")
    found: dict[str, Any] = documents.report(documents.small_model(folder), folder / "report.json")
    return found


def test_an_honest_report_is_confirmed(report: dict[str, Any], folder: Path) -> None:
    word, not_covered = documents.honest(report, folder / "report.json")
    assert word == "holds"
    assert set(not_covered) <= MEASURED


@pytest.mark.parametrize("way", ["changed_fields", pytest.param("changed_shapes", marks=pytest.mark.slow)])
@pytest.mark.parametrize("count", [8, pytest.param(25, marks=pytest.mark.slow)])
def test_no_forged_report_is_confirmed(way: str, count: int, report: dict[str, Any], folder: Path) -> None:
    """The arrays of the certificates lie beside the forged report, as they do beside the honest one."""
    believed = []
    for path, forged in forger.drawn(report, way, count, seed=way):
        if documents.confirmed(forged, folder / "report.json", path):
            believed.append((path, way))
    assert not believed


# --- documents about models --------------------------------------------------------------------------------------------

OF_MODELS = {"compare": {"version"}, "chance": {"version", "options.level"}, "nearest": {"version"}}


@pytest.fixture(scope="module")
def of_models(folder: Path) -> dict[str, dict[str, Any]]:
    pytest.importorskip("transformers")
    return {kind: documents.of_models(kind, folder) for kind in OF_MODELS}


@pytest.mark.parametrize("kind", OF_MODELS)
@pytest.mark.parametrize("count", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_no_forged_document_about_models_is_confirmed(
    kind: str, count: int, of_models: dict[str, dict[str, Any]], folder: Path
) -> None:
    word, not_covered = documents.honest(of_models[kind], folder / "honest.json")
    assert (word, set(not_covered)) == ("holds", OF_MODELS[kind])
    believed = []
    for way in ("changed_fields", "changed_shapes"):
        for path, forged in forger.drawn(of_models[kind], way, count, seed=f"{kind}{way}"):
            if documents.confirmed(forged, folder / "forged.json", path):
                believed.append((path, way, forger.at(forged, path) if way == "changed_fields" else None))
    assert not believed
