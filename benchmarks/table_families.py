"""Write docs/tables/families.md: every model type that is read, against what it was verified, how well, and when.

python benchmarks/table_families.py [--out FILE]

Each type is compared on tiny random models with moved gains and biases, those of ``tests/models``: scores where they are seen,
weights, the update of the attention, the state after every layer and the final state, from files and from memory.  The number is
the largest deviation, relative to the largest entry (or 1).  About a minute.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from eigentoken.models import load, run_layer, run_tokens, supported_families  # noqa: E402
from tests.models import conftest as first  # noqa: E402
from tests.models import reference_models as tiny  # noqa: E402
from tests.models.reference import Recording  # noqa: E402
from tests.models.test_families import PROJECTION  # noqa: E402

MARK = "<!-- written by benchmarks/table_families.py: do not edit -->"


def relative(ours: Any, theirs: Any) -> float:
    """The largest deviation, relative to the largest entry or 1."""
    return float(np.abs(ours - theirs).max() / max(1.0, float(np.abs(theirs).max())))


def deviations(model: Any, recording: Recording, given: Any, case: tiny.Case, reference: Any) -> Iterator[float]:
    """Of one model: attention and layers, each layer on the reference's state, then all layers in a row."""
    whole = not case.attention_only
    for index, layer in enumerate(model.layers()):
        state = run_layer(layer, recording.hidden[index], with_feed_forward=not layer.not_read)
        yield relative(state.attention_output, recording.attention_outputs[index])
        if case.implementation == "eager":
            yield relative(state.weights, recording.weights[index])
            allowed = layer.mask.allowed(state.scores.shape[-1])
            both = [state.scores, recording.scores[index][..., : state.scores.shape[-1]]]
            if case.up_to_rows:
                both = [each - np.diagonal(each, axis1=-2, axis2=-1)[..., None] for each in both]
            yield relative(*(each[..., allowed] for each in both))
        if index + 1 < model.n_layers and not layer.not_read:
            yield relative(state.output, recording.hidden[index + 1])
    if whole:
        *_, last = run_tokens(model, given if model.architecture.has_embedding else recording.hidden[0])
        final = model.final_norm()
        out = last.output if final is None else final.apply(last.output)
        if case.head:
            project = next(module for name, module in reference.named_modules() if name.endswith(case.head))
            out = out @ project.weight.detach().numpy().T
        yield relative(out, recording.last)


def measured(case: tiny.Case, reference: Any, given: Any) -> float:
    """The largest deviation of a case, read from a file and from memory."""
    recording = Recording(getattr(reference, case.part) if case.part else reference, given, case.projection)
    with tempfile.TemporaryDirectory() as folder:
        reference.save_pretrained(folder)
        sources = [load(f"{folder}#{case.part}" if case.part else folder), load(reference, part=case.part or None)]
        return max(worst for model in sources for worst in deviations(model, recording, given, case, reference))


def found() -> dict[str, list[tuple[float, bool, str]]]:
    """By model type: deviation, whether the attention alone was compared, and the part, of every case."""
    rows: dict[str, list[tuple[float, bool, str]]] = {}
    for key, (prefix, options) in first.FAMILIES.items():
        reference = first.make_reference(key)
        case = tiny.Case(prefix, options, PROJECTION.get(prefix, "o_proj"))
        worst = measured(case, reference, first.make_input(key))
        rows.setdefault(reference.config.model_type, []).append((worst, False, ""))
    for key, case in tiny.CASES.items():
        reference = tiny.make(key)
        worst = measured(case, reference, tiny.tokens(key))
        rows.setdefault(reference.config.model_type, []).append((worst, case.attention_only, case.part))
    return rows


#: Types that no tiny model of their own stands for: what they are compared with instead.
OTHERWISE = {
    "hooked-transformer": "HookedTransformer of TransformerLens 3.9, eleven configurations by hand; its formulas in "
    "tests/models/test_wrapped_models.py",
    "torch-encoder": "torch.nn.TransformerEncoder in memory, layer output to 1e-5 (tests/models/test_families.py)",
    "fairseq-roberta": "the same weights under the names of roberta (tests/models/test_families.py)",
    "clip": "its towers, clip_text_model and clip_vision_model, and both in one file (tests/models/test_parts.py)",
    "siglip": "its towers, siglip_text_model and siglip_vision_model",
    "camembert": "the class and reading of roberta",
    "xlm-roberta": "the class and reading of roberta",
}


def page() -> str:
    """The whole table."""
    import transformers

    measures, known = found(), supported_families()
    lines = [
        MARK,
        "# Model types that are read",
        "",
        f"{len(known)} types. Verified on {datetime.date.today()} against `transformers` {transformers.__version__} "
        "(`eager`), on tiny random models with moved gains and biases: scores, weights, attention update, layer output and final "
        "state deviate at most by the number, relative to the largest entry (or 1). Of mixtures the attention alone is read and "
        "compared. That every entry of Q, K, V and O is the stored one, the tests of `tests/models` hold (DeepSeek's are rounded "
        "products).",
        "",
        "| model type | what it is | compared | tiny models | largest deviation |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind, family in known.items():
        cases = measures.get(kind, [])
        if not cases:
            lines.append(f"| `{kind}` | {family.about} | {OTHERWISE[kind]} | 0 | |")
            continue
        alone = "attention alone" if any(only for _, only, _ in cases) else "whole layers"
        parts = sorted({part for _, _, part in cases if part})
        what = alone + (f" ({', '.join(parts)})" if parts else "")
        lines.append(
            f"| `{kind}` | {family.about} | {what} | {len(cases)} | {max(worst for worst, _, _ in cases):.0e} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "tables" / "families.md")
    out = parser.parse_args().out
    out.write_text(page(), encoding="utf-8")
    print(f"wrote {out.name}")


if __name__ == "__main__":
    main()
