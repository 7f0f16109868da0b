"""Write docs/tables/chance.md: every sample model against random weights, from one run of ``eigentoken chance`` each.

python benchmarks/table_chance.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eigentoken.documents.chance_document import ChanceTest, TokenTest
from eigentoken.models.loading.samples import SAMPLES
from eigentoken.nulls.against_chance import AgainstChance, against_chance
from eigentoken.nulls.on_tokens import HEAD_SHARE
from eigentoken.numerics.layers.heads_on_tokens import HEAD_QUANTITIES
from eigentoken.numerics.layers.layers_on_tokens import LAYER_QUANTITIES
from eigentoken.numerics.layers.rotary_scores import OFFSETS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tables" / "chance.md"
SAVED = {
    "byte_lm, step 3000": "examples/byte_lm/step03000.safetensors",
    "byte_lm_million, step 3000": "examples/byte_lm_million/step03000.safetensors",
}
ROWS = (
    ("gaussian factors", "scores", "stable rank"),
    ("gaussian factors", "values", "stable rank"),
    ("gaussian factors", "scores", "norm"),
    ("gaussian factors", "values", "norm"),
    ("gaussian factors", "values", "leader"),
    ("gaussian factors", "values", "gap"),
    ("gaussian factors", "values", "alpha*"),
    ("gaussian factors", "scores", "bottom of sym"),
    ("gaussian factors", "values", "top of sym"),
    ("gaussian factors", "values", "bottom of sym"),
    ("gaussian factors", "values", "distance to I"),
    ("gaussian factors", "values", "growth"),
    *(("gaussian factors", "scores", f"rotary change at {offset}") for offset in OFFSETS),
    ("random bases", "scores", "trace"),
    ("random bases", "scores", "asymmetry"),
    ("random bases", "values", "trace"),
    ("random bases", "values", "asymmetry"),
    ("random bases", "scores", "bottom of sym"),
    ("random bases", "values", "top of sym"),
    ("random bases", "values", "bottom of sym"),
    ("random bases", "values", "gap"),
    ("random bases", "values", "alpha*"),
    ("random bases", "values", "distance to I"),
    ("random bases", "values", "growth"),
)
OF_SHAPES = ("trace", "asymmetry", "positive share", "top of sym", "bottom of sym", "norm", "gap", "alpha*")
LAYERS = (*OF_SHAPES, "distance to I", "growth")
BASES = ("trace", "asymmetry", "top of sym", "bottom of sym", "gap", "alpha*", "distance to I", "growth")
SCORES = ("trace", "asymmetry", "positive share", "bottom of sym", "norm")
ON_TOKENS = [
    (null, quantity, True) for null in ("gaussian factors", "random bases") for quantity in HEAD_QUANTITIES
] + [(null, quantity, False) for null in ("gaussian factors", "random bases") for quantity in LAYER_QUANTITIES]
ORDERS = ("", " by modulus", " by |1 + lambda|")
SHARES = [f"{what} led by a real eigenvalue{order}" for what in ("heads", "layers") for order in ORDERS]


def told(of: Sequence[ChanceTest | TokenTest], apart: list[bool], draws: int) -> str:
    """The counts, the median, and how many draws there are where not every one is taken."""
    middle, few = sorted(each["z"] for each in of)[len(of) // 2], max(each["draws"] for each in of)
    more = f"; {few} draws" if few < draws else ""
    return f"{sum(apart)} above, {len(apart) - sum(apart)} below of {len(of)} (median z {middle:+.1f}{more})"


def cell(found: AgainstChance, null: str, part: str, statistic: str, heads: bool = True) -> str:
    """``7 above, 1 below of 8 (median z +14.0)``."""
    key = (null, part, statistic, heads)
    of = [t for t in found.tests if (t["null"], t["part"], t["statistic"], t["head"] is not None) == key]
    if not of:
        return "-"
    apart = [each["z"] > 0 for each in of if each["q"] <= found.document["options"]["level"]]
    return told(of, apart, found.document["options"]["draws" if heads else "layer_draws"])


def cell_on_tokens(found: AgainstChance, null: str, quantity: str, heads: bool) -> str:
    """The same of what is measured on tokens."""
    key = (null, quantity, heads)
    of = [t for t in found.token_tests if (t["null"], t["quantity"], t["head"] is not None) == key]
    if not of:
        return "-"
    apart = [each["z"] > 0 for each in of if each["q"] <= found.document["options"]["level"]]
    return told(
        of, apart, found.document["options"]["draws" if heads else "layer_draws"] // (HEAD_SHARE if heads else 1)
    )


def column(found: AgainstChance) -> list[str]:
    heads = {(each["layer"], each["head"]) for each in found.tests if each["head"] is not None}
    led = dict.fromkeys(SHARES, "-")
    for share in found.document["shares"]:
        led[share["what"]] = f"{share['met']} of {share['of']} ({share['met'] / share['of']:.2f})"
        led[share["what"]] += f", at random {share['chance']:.2f}, p = {share['p']:.1g}"
    told = [f"{len(found.not_random(null))} of {len(heads)}" for null in ("gaussian factors", "random bases")]
    cells = [cell(found, *row) for row in ROWS]
    layers = [cell(found, "gaussian factors", "values", name, heads=False) for name in LAYERS]
    scores = [cell(found, "gaussian factors", "scores", name, heads=False) for name in SCORES]
    bases = [cell(found, "random bases", "values", name, heads=False) for name in BASES]
    return [*told, *led.values(), *cells, *layers, *scores, *bases, *(cell_on_tokens(found, *row) for row in ON_TOKENS)]


def main() -> None:
    sources = {each.name: f"sample:{each.name}" for each in SAMPLES}
    sources |= {name: str(ROOT / path) for name, path in SAVED.items()}
    write({name: column(against_chance(source)) for name, source in sources.items()})


def write(columns: dict[str, list[str]]) -> None:
    names = [
        "heads that differ from Gaussian factors",
        "heads that differ from random bases (own singular values)",
        *SHARES,
        *(f"{statistic} of the {part}, against {null}" for null, part, statistic in ROWS),
        *(f"{statistic} of F, layers, against gaussian factors" for statistic in LAYERS),
        *(f"{statistic} of S, layers, against gaussian factors" for statistic in SCORES),
        *(f"{statistic} of F, layers, against random bases" for statistic in BASES),
        *(f"on tokens: {what}, {'heads' if heads else 'layers'}, against {null}" for null, what, heads in ON_TOKENS),
    ]
    lines = [
        "<!-- written by benchmarks/table_chance.py: do not edit -->",
        "# The sample models against chance",
        "",
        "One run of `eigentoken chance` each: 2,000 draws for heads, 200 for layers, seed 0, q at most 0.05 (Benjamini and",
        "Hochberg); on 32 random tokens 1,000 and 200; of wide matrices with random bases fewer, in brackets where they are.",
        "[What the statistics are](../training.md#against-chance). Measured in floats. A dash: not defined for these weights.",
        "",
        "| | " + " | ".join(columns) + " |",
        "| --- |" + " --- |" * len(columns),
    ]
    lines += [
        f"| {name.replace('|', chr(92) + '|')} | " + " | ".join(each[place] for each in columns.values()) + " |"
        for place, name in enumerate(names)
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
