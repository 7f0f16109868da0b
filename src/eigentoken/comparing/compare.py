"""Several models of one shape, checked one after the other and put beside each other."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eigentoken.display import frame, html_table, listing

if TYPE_CHECKING:
    from pandas import DataFrame

    from eigentoken.checking.report import Report
    from eigentoken.documents.check_document import Head, Interval, Layer
    from eigentoken.documents.compare_document import (
        CompareBody,
        ComparedHead,
        ComparedLayer,
        ComparedNumber,
        ComparedStatement,
        ComparedWord,
        CompareOptions,
    )
    from eigentoken.numerics.dynamics.drawing import Drawing

__all__ = ["Comparison", "compare", "labels_of"]

#: What must be the same in all models.
SHAPE = ("layers", "heads", "key_value_heads", "d", "d_head")


@dataclass(frozen=True, repr=False)
class Comparison:
    """``document`` is the JSON, the rest are views."""

    document: CompareBody

    def as_dict(self) -> CompareBody:
        return self.document.copy()

    @property
    def labels(self) -> list[str]:
        """The models, each by what tells it from the others."""
        return [each["label"] for each in self.document["models"]]

    def sentences(self) -> list[str]:
        """What changed from the first model to the last, in sentences; only what is certified."""
        from eigentoken.comparing.sentences import sentences

        return sentences(self)

    def to_frame(self) -> DataFrame:
        """One row a model, layer, head (none for the layer itself) and quantity, with both ends of its interval (pandas)."""
        rows = []
        for layer in self.document["layers"]:
            whose: list[tuple[int | None, list[ComparedNumber]]] = [(None, layer["numbers"])]
            whose += [(head["head"], head["numbers"]) for head in layer["heads"]]
            for head, numbers in whose:
                for number in numbers:
                    for label, ends in zip(self.labels, number["values"], strict=True):
                        low, high = (None, None) if ends is None else (float(ends[0]), float(ends[1]))
                        where = {"model": label, "layer": layer["layer"], "head": head, "quantity": number["quantity"]}
                        rows.append({**where, "low": low, "high": high})
        return frame(rows)

    def plot(self) -> Drawing:
        """Lines over the models, a line a layer (a figure; ``.savefig(path)``)."""
        from eigentoken.comparing.page import comparison_chart
        from eigentoken.numerics.dynamics.drawing import draw

        return draw(comparison_chart(self))

    def save(self, path: str | Path) -> Path:
        """Write .json or .html."""
        from eigentoken.comparing.page import comparison_html, comparison_json
        from eigentoken.files.writing import write_text

        target = Path(path)
        makers = {".json": comparison_json, ".html": comparison_html}
        make = makers.get(target.suffix.lower())
        if make is None:
            raise ValueError(f"a comparison is saved as {', '.join(makers)}, got {target.name!r}")
        write_text(target, make(self))
        return target

    def __repr__(self) -> str:
        return listing(f"<Comparison of {len(self.labels)} models: {', '.join(self.labels)}>", self.sentences())

    def _repr_html_(self) -> str:
        return html_table(("what changed, certified",), [(each,) for each in self.sentences()], ", ".join(self.labels))


def compare(
    *models: object,
    statements: str | Sequence[str] = (),
    fold: bool = False,
    jobs: int = 1,
    work: str | Path | None = None,
    done: Callable[[], None] = lambda: None,
    watch: Callable[[str], None] = lambda _now: None,
) -> Comparison:
    """Compare models of one shape, in the order given: the saved steps of a training, or two versions.

    ``models``: two or more of what :func:`eigentoken.check` takes, or one list of them.  Each is checked (results are kept, so
    that a model that was checked before costs nothing), and each certified number is put beside that of the other models: it
    rises or falls where the intervals part, and nothing is said where they meet.  ``statements``, ``fold``, ``jobs``, ``work``
    as for ``check``; ``done`` is called after each model, ``watch`` with what begins.
    """
    from eigentoken.checking.run import check

    given = tuple(models[0]) if len(models) == 1 and isinstance(models[0], list | tuple) else models
    if len(given) < 2:
        shown = given[0] if given else "none"
        raise ValueError(f"models must be two or more models of one shape, got {shown!r}: give another beside it")
    reports: list[Report] = []
    for number, model in enumerate(given):
        named = model if isinstance(model, str | os.PathLike) else f"model {number}"
        reports.append(
            check(
                model,
                statements=statements,
                sequences=0,
                fold=fold,
                jobs=jobs,
                work=work,
                watch=lambda now, _found, named=named: watch(f"{named}: {now}"),  # type: ignore[misc]
            )
        )
        _same_shape(reports[0], reports[-1])
        done()
    asked = [statements] if isinstance(statements, str) else list(statements)
    return Comparison(_document(reports, {"fold": fold, "statements": asked}))


def _same_shape(first: Report, other: Report) -> None:
    one, two = first.document["model"], other.document["model"]
    apart = [f"{name} {one[name]} and {two[name]}" for name in SHAPE if one[name] != two[name]]  # type: ignore[literal-required]
    shared = [[entry["used_by"] for entry in each.document["layers"]] for each in (first, other)]
    apart += ["other layers share their weights"] if not apart and shared[0] != shared[1] else []
    if apart:
        raise ValueError(
            f"models: {two['source']} has another shape than {one['source']} ({', '.join(apart)}): compare models of one shape"
        )


def _document(reports: Sequence[Report], options: CompareOptions) -> CompareBody:
    from eigentoken.version import __version__

    sources = [each.document["model"]["source"] for each in reports]
    known = zip(labels_of(sources), reports, strict=True)
    return {
        "version": __version__,
        "options": options,
        "models": [
            {
                "label": label,
                "source": each.document["model"]["source"],
                "fingerprint": each.document["model"]["fingerprint"],
            }
            for label, each in known
        ],
        "layers": [_layer(entries) for entries in zip(*(each.document["layers"] for each in reports), strict=True)],
        "statements": _statements(reports),
    }


def labels_of(sources: Sequence[str]) -> list[str]:
    """What tells the sources from each other: the common beginning and the common ending, up to a separator, are left out.

    >>> labels_of(["run/step0.safetensors", "run/step10.safetensors"])
    ['step0', 'step10']
    >>> labels_of(["org/a@step1", "org/a@step2"]), labels_of(["sample:glassllm", "sample:minilm"]), labels_of(["a", "a"])
    (['step1', 'step2'], ['glassllm', 'minilm'], ['a', 'a (2)'])
    """
    bare = [each.rstrip("/") for each in sources]
    marks = (place + 1 for place, letter in enumerate(bare[0]) if letter in "/@:#")
    cut = max((end for end in marks if all(each[:end] == bare[0][:end] for each in bare)), default=0)
    bare = [each[cut:] for each in bare]
    endings = {Path(each).suffix for each in bare}
    if len(endings) == 1 and (ending := endings.pop()) in (".safetensors", ".bin", ".gguf", ".npz", ".pt"):
        bare = [each.removesuffix(ending) for each in bare]
    seen: Counter[str] = Counter()
    labels = []
    for each in bare:
        seen[each] += 1
        labels.append(each if seen[each] == 1 else f"{each} ({seen[each]})")
    return labels


def _numbers(found: Sequence[dict[str, Interval]]) -> list[ComparedNumber]:
    from eigentoken.numerics.layers.changes import directions, parted

    made: list[ComparedNumber] = []
    for name in found[0]:
        values = [each[name] for each in found]
        overall = parted(values[0], values[-1])
        made.append({"quantity": name, "values": values, "steps": directions(values), "overall": overall})
    return made


def _layer(entries: Sequence[Layer]) -> ComparedLayer:
    from eigentoken.numerics.layers.changes import layer_quantities

    words: list[ComparedWord] = [
        {"quantity": f"case by {order}", "values": [each["cases"][order] for each in entries]}
        for order in entries[0]["cases"]
    ]
    words.append({"quantity": "regime", "values": [each["regime"]["regime"] for each in entries]})
    return {
        "layer": entries[0]["layer"],
        "used_by": entries[0]["used_by"],
        "words": words,
        "numbers": _numbers([layer_quantities(each) for each in entries]),
        "heads": [_head(heads) for heads in zip(*(each["heads"] for each in entries), strict=True)],
    }


def _head(heads: Sequence[Head]) -> ComparedHead:
    from eigentoken.numerics.layers.changes import head_quantities

    return {
        "head": heads[0]["head"],
        "words": [
            {
                "quantity": "a real simple eigenvalue leads",
                "values": [each["value_leader"]["verdict"] for each in heads],
            },
            {"quantity": "regime", "values": [each["regime"]["regime"] for each in heads]},
        ],
        "numbers": _numbers([head_quantities(each) for each in heads]),
    }


def _statements(reports: Sequence[Report]) -> list[ComparedStatement]:
    """Those that hold somewhere; definitions claim nothing."""
    made: list[ComparedStatement] = []
    for told in zip(*(each.statements for each in reports), strict=True):
        where = [[number for number, word in enumerate(each["layers"]) if word == "holds"] for each in told]
        if any(where) and told[0]["kind"] != "definition":
            made.append({"id": told[0]["id"], "title": told[0]["title"], "applies_to": where})
    return made


def step_numbers(labels: Sequence[str]) -> list[int] | None:
    """The number at the end of each label where each has one and they ascend: training steps.

    >>> step_numbers(["step0", "step10"]), step_numbers(["a1", "b"]), step_numbers(["v2", "v1"])
    ([0, 10], None, None)
    """
    found = [re.search(r"(\d+)$", each) for each in labels]
    numbers = [int(each.group(1)) for each in found if each is not None]
    ascending = all(a < b for a, b in itertools.pairwise(numbers))
    return numbers if len(numbers) == len(labels) and ascending else None
