"""How often the certified answer is ``undecided``, by family of adversarial matrices, and how often it was false.

    python benchmarks/table_undecided.py [--count 600] [--write docs/tables/undecided.md]

Truth is exact (``tests/tools/adversarial_matrices.py``, ``named_matrices.py``); a false verdict makes the
exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from eigentoken.numerics.certified.certify import certify
from tests.tools.adversarial_matrices import sign_cases, spectral_cases
from tests.tools.named_matrices import named_sign_cases, named_spectral_cases

SIGNS = ("positive-definite", "negative-definite", "positive-semidefinite", "negative-semidefinite", "indefinite")
ORDERS = {"real-part": "dominant-real-part", "modulus": "dominant-modulus", "step": "dominant-step"}


def sign_truth(inertia: tuple[int, int, int]) -> dict[str, bool]:
    p, q, z = inertia
    n = p + q + z
    return dict(zip(SIGNS, (p == n, q == n, q == 0, p == 0, p > 0 and q > 0), strict=True))


def tally(count: int, seed: int) -> tuple[dict[tuple[str, str], Counter[str]], int]:
    """Counts of words (and of false ones) by family and question."""
    table: dict[tuple[str, str], Counter[str]] = {}
    matrices = 0

    def note(family: str, question: str, word: str, truth: bool | None) -> None:
        row = table.setdefault((family, question), Counter())
        row[word] += 1
        if truth is not None and word != "undecided" and (word == "holds") != truth:
            row["false"] += 1

    for case in chain(sign_cases(count, seed), named_sign_cases(count, seed)):
        matrices += 1
        for condition, truth in sign_truth(case.inertia).items():
            note(case.family, "definiteness (5 words)", str(certify(condition, case.matrix).answer), truth)
        found = certify("inertia", case.matrix)
        right = found.is_holds and tuple(found.details["inertia"]) == case.inertia
        note(case.family, "inertia", str(found.answer), right if found.is_holds else None)
    for spectral in chain(spectral_cases(count, seed), named_spectral_cases(count, seed)):
        matrices += 1
        for order, condition in ORDERS.items():
            kind = spectral.kinds[order]
            verdict = certify(condition, spectral.matrix, alpha=spectral.alpha)
            note(
                spectral.family,
                f"dominant by {order}",
                str(verdict.answer),
                None if kind is None else kind == "simple-real",
            )
            pair = certify("dominant-complex-pair", spectral.matrix, alpha=spectral.alpha, by=order)
            note(spectral.family, "complex pair", str(pair.answer), None if kind is None else kind == "simple-pair")
    return table, matrices


def main(arguments: list[str] | None = None) -> int:
    """Print the table; exit code 1 if a verdict was false."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=600, help="matrices of each of the four suites")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="write the table to this file")
    options = parser.parse_args(arguments)
    table, matrices = tally(options.count, options.seed)
    total = sum(sum(row.values()) - row["false"] for row in table.values())
    false = sum(row["false"] for row in table.values())
    lines = [
        "<!-- written by benchmarks/table_undecided.py: do not edit -->",
        f"{matrices} matrices, {total} verdicts, {false} false.",
        "",
        "| family | question | verdicts | holds | fails | undecided | false |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (family, question), row in sorted(table.items()):
        count = row["holds"] + row["fails"] + row["undecided"]
        share = f"{100 * row['undecided'] / count:.1f} %"
        lines.append(
            f"| {family} | {question} | {count} | {row['holds']} | {row['fails']} | {share} | {row['false']} |"
        )
    text = "\n".join(lines) + "\n"
    print(text)
    if options.write:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text(text, encoding="utf-8")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
