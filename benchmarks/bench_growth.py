"""How the cost of the commands grows, in d, n, heads, layers and steps: fitted exponents beside the algorithm's own, and memory.

    python benchmarks/bench_growth.py [--only check]

Each measurement is a process of its own; what the same process costs at a tiny size is taken off (of layers, what it would cost
with none: twice one layer less two of the same width, for a tiny layer has work of its own).  The exponent is the slope of
processor time over three sizes, in logarithms; a slope below the algorithm's own means that smaller terms still weigh.  Steps,
layers of a map and instances of ``simulate`` are in bench_dynamics.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from ratios import Row, report, run, shown

CHECK = """
import tempfile, torch, eigentoken as et
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer({d}, {heads}, dim_feedforward=8, batch_first=True)
model = torch.nn.TransformerEncoder(layer, {layers}, enable_nested_tensor=False)
for each in model.parameters():
    torch.nn.init.normal_(each, std=0.1)
et.check(model, sequences=0, work=tempfile.mkdtemp(), jobs=1)
"""
CERTIFY = """
import numpy as np, eigentoken as et
a = np.random.default_rng(0).standard_normal(({d}, {d}))
matrix = a @ a.T / {d} + np.eye({d}) if {definite} else a
et.certify("{condition}", matrix)
"""
SIMULATE = """
import eigentoken as et
et.simulate("attention-map", n={n}, d={d}, end={steps}, seed=0)
"""


@dataclass(frozen=True)
class Case:
    """One command, what grows, the exponent that the algorithm has, the sizes and the text of the process."""

    command: str
    letter: str
    own: float
    sizes: tuple[int, int, int]
    text: str
    tiny: str
    twice: str = ""
    "The same as ``tiny`` with two of what grows: twice the one less the other is what none would cost."

    def filled(self, size: int) -> str:
        return self.text.replace("SIZE", str(size))


def check_case(letter: str, own: float, sizes: tuple[int, int, int], **given: str) -> Case:
    text = CHECK.format(**{"d": "64", "heads": "4", "layers": "1", **given})
    if letter == "layers":
        return Case("check", letter, own, sizes, text, text.replace("SIZE", "1"), text.replace("SIZE", "2"))
    return Case("check", letter, own, sizes, text, CHECK.format(d=8, heads=1, layers=1))


def certify_case(condition: str, definite: bool, sizes: tuple[int, int, int]) -> Case:
    text = CERTIFY.format(d="SIZE", definite=definite, condition=condition)
    return Case(f"certify {condition}", "d", 3.0, sizes, text, text.replace("SIZE", "8"))


def simulate_case(letter: str, own: float, sizes: tuple[int, int, int], **given: str) -> Case:
    text = SIMULATE.format(**{"n": "32", "d": "16", "steps": "400", **given})
    return Case("simulate", letter, own, sizes, text, SIMULATE.format(n=2, d=2, steps=1))


CASES = (
    certify_case("positive-definite", True, (1000, 2000, 4000)),
    certify_case("spectrum", False, (600, 1000, 1600)),
    certify_case("dominant-real-part", False, (600, 1000, 1600)),
    check_case("layers", 1.0, (8, 16, 32), layers="SIZE"),
    check_case("heads", 1.0, (32, 64, 128), heads="SIZE", d="256"),
    check_case("d", 3.0, (384, 768, 1536), d="SIZE"),
    simulate_case("n", 2.0, (256, 512, 1024), n="SIZE"),
    simulate_case("d", 2.0, (256, 512, 1024), d="SIZE"),
)


def grown(case: Case) -> Row:
    def spent(text: str) -> tuple[float, int]:
        found = run([sys.executable, "-c", text])
        if found.code:
            raise SystemExit(f"{case.command} in {case.letter} ended with {found.code}: {text}")
        return found.seconds, found.memory

    start = min(spent(case.tiny)[0] for _ in range(3))
    if case.twice:
        start = 2 * start - min(spent(case.twice)[0] for _ in range(3))
    measured = [spent(case.filled(size)) for size in case.sizes]
    seconds = [each - start for each, _ in measured]
    if not min(seconds) > 0.05:
        raise SystemExit(
            f"{case.command} in {case.letter}: {seconds} s are too short to fit an exponent: give larger sizes"
        )
    slope = float(np.polyfit(np.log(case.sizes), np.log(seconds), 1)[0])
    note = "; ".join(
        f"{size}: {shown(each)}, {memory / 2**20:.0f} MB"
        for size, each, (_, memory) in zip(case.sizes, seconds, measured, strict=True)
    )
    what = f"{case.command}: exponent in {case.letter}"
    return Row(what, "", None, None, slope, f"<= {case.own + 0.2:g}", slope <= case.own + 0.2, note)


def rows(only: str) -> Iterator[Row]:
    for case in CASES:
        if case.command.startswith(only):
            yield grown(case)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the commands that begin so")
    report(rows(parser.parse_args().only))
    return 0


if __name__ == "__main__":
    sys.exit(main())
