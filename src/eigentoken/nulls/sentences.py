"""What was held against chance, in sentences, and on a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eigentoken.nulls.correction import families
from eigentoken.output import say, say_hanging, table

if TYPE_CHECKING:
    from eigentoken.documents.chance_document import ChanceTest, NullName, TokenTest
    from eigentoken.nulls.against_chance import AgainstChance

__all__ = ["chance_json", "sentences", "show_chance"]

NULLS: dict[NullName, str] = {
    "gaussian factors": "random Gaussian factors of the same shapes",
    "random bases": "matrices with the same singular values and random bases",
}
#: Of these the strongest are named.
MOST = 5


def sentences(found: AgainstChance) -> list[str]:
    """For each null the heads, then the layers, then the shares."""
    said = [_told(found, null, layers=False) for null in NULLS]
    said += [_told(found, null, layers=True) for null in NULLS]
    for share in found.document["shares"]:
        said.append(
            f"{share['what']}: {share['met']} of {share['of']} ({share['met'] / share['of']:.2f}), at random "
            f"{share['chance']:.2f} (two-sided p = {share['p']:.2g}, {share['what'].partition(' ')[0]} taken as independent)"
        )
    if found.document["tokens"] is not None and found.token_tests:
        said += [_told(found, null, layers=layers, tokens=True) for layers in (False, True) for null in NULLS]
    return said


def _told(found: AgainstChance, null: NullName, *, layers: bool, tokens: bool = False) -> str:
    what = "layers" if layers else "heads"
    given: Sequence[ChanceTest | TokenTest] = found.token_tests if tokens else found.tests
    tests = [each for each in given if each["null"] == null and (each["head"] is None) == layers]
    every = list(dict.fromkeys(_name(each) for each in tests))
    apart = found.not_random(null, layers=layers, tokens=tokens)
    against = f"on tokens, against {NULLS[null]}: " if tokens else f"against {NULLS[null]}: "
    if not every:
        return f"{against}no {what} to test"
    if not apart:
        return against + _none_differs(tests, len(every), what, found.document["options"]["level"])
    strongest = [_strongest(tests, name) for name in apart]
    named = sorted(strongest, key=lambda each: -abs(each["z"]))
    listed = ", ".join(f"{_name(each)} ({_way(each)})" for each in named[:MOST])
    rest = f", and {len(named) - MOST} more" if len(named) > MOST else ""
    if len(apart) < len(every) / 2:
        return f"{against}most {what} look random, these {len(apart)} of {len(every)} do not: {listed}{rest}"
    if len(apart) == len(every):
        all_of_them = (
            f"none of the {len(every)} {what} looks" if len(every) > 1 else f"the one {what[:-1]} does not look"
        )
        return f"{against}{all_of_them} random; strongest: {listed}{rest}"
    return f"{against}{len(apart)} of {len(every)} {what} do not look random: {listed}{rest}"


def _none_differs(tests: Sequence[ChanceTest | TokenTest], count: int, what: str, level: float) -> str:
    """No test is named: they look random, unless more lie beyond all their draws than would at random."""
    beyond = [each for each in tests if each["p"] <= _least(each) * (1 + 1e-9)]
    expected = sum(_least(each) for each in tests)
    if len(beyond) > expected:
        far = max(beyond, key=lambda each: abs(each["z"]))
        lie = f"{len(beyond)} of {len(tests)} tests {'lie' if len(beyond) > 1 else 'lies'}"
        return (
            f"none of the {count} {what} is named at this level, but {lie} beyond all draws, where {expected:.2g} would at "
            f"random; furthest: {_name(far)} ({_way(far)})"
        )
    untold = sum(len(each) for each in families(tests) if _fewest(each, level) > len(each))
    few = f" (in {untold} of {len(tests)} tests the draws are too few for any to differ)" if untold else ""
    return f"all {count} {what} look random{few}"


def _least(test: ChanceTest | TokenTest) -> float:
    """The smallest p-value of so many draws."""
    return 2 / (test["draws"] + 1)


def _fewest(tests: Sequence[ChanceTest | TokenTest], level: float) -> int:
    """How many tests must have the smallest p-value of their draws, 2 / (N + 1), for q to reach the level."""
    least = sorted(_least(each) for each in tests)
    reached = (place for place, p in enumerate(least, 1) if p * len(tests) <= place * level * (1 + 1e-9))
    return next(reached, len(tests) + 1)


def _name(test: ChanceTest | TokenTest) -> str:
    return str(test["layer"]) if test["head"] is None else f"{test['layer']}.{test['head']}"


def _strongest(tests: Sequence[ChanceTest | TokenTest], name: str) -> ChanceTest | TokenTest:
    """The test with the smallest q-value, then the largest deviation."""
    return min((each for each in tests if _name(each) == name), key=lambda each: (each["q"], -abs(each["z"])))


def _way(test: ChanceTest | TokenTest) -> str:
    told: Mapping[str, object] = test
    what = told["quantity"] if "quantity" in told else f"{told['statistic']} of the {told['part']}"
    return f"{what} {abs(test['z']):.1f} deviations {'above' if test['z'] > 0 else 'below'}"


def chance_json(found: AgainstChance) -> str:
    """The document with its schema."""
    return json.dumps({"schema": "eigentoken/chance/6", **found.as_dict()}, indent=1, allow_nan=False) + "\n"


def show_chance(found: AgainstChance) -> None:
    """A table by statistic, then the sentences."""
    options = found.document["options"]
    say(found.document["model"]["description"], "bold")
    rows = []
    for null, part in ((null, part) for null in NULLS for part in ("scores", "values", "S", "F")):
        for statistic in found.document["statistics"]:
            of = [
                each
                for each in found.tests
                if (each["null"], each["statistic"]) == (null, statistic)
                and part == (each["part"] if each["head"] is not None else "S" if each["part"] == "scores" else "F")
            ]
            if of:
                apart = [each for each in of if each["q"] <= options["level"]]
                above = sum(each["z"] > 0 for each in apart)
                middle = sorted(each["z"] for each in of)[len(of) // 2]
                draws = str(min(each["draws"] for each in of))
                told = f"{above} of {len(of)}", f"{len(apart) - above}", f"{middle:+.1f}", draws
                rows.append((null, part, statistic, *told))
    columns = ("against", "of the", "statistic", "above", "below", "z", "draws")
    says = f"q at most {options['level']:g}; z: the median; p is at least 2 / (draws + 1)"
    table(f"heads and layers that differ from chance ({says})", columns, rows)
    for each in found.document["not_taken"]:
        say_hanging(f"- not taken: {each['quantity']}: {each['why']}")
    _show_tokens(found)
    for text in found.sentences():
        say_hanging(f"- {text}")
    say(
        "measured in floats, not certified; the level is the expected share of false ones among those named (Benjamini and "
        "Hochberg: independent or positively dependent tests)",
        "dim",
    )


def _show_tokens(found: AgainstChance) -> None:
    """The table of what is measured on tokens, and what of it is not taken."""
    tokens = found.document["tokens"]
    if tokens is None:
        return
    rows = []
    for null, layers, quantity in ((n, w, q) for n in NULLS for w in (False, True) for q in tokens["quantities"]):
        of = [
            each
            for each in found.token_tests
            if (each["null"], each["quantity"], each["head"] is None) == (null, quantity, layers)
        ]
        if of:
            apart = [each for each in of if each["q"] <= found.document["options"]["level"]]
            above, middle = sum(each["z"] > 0 for each in apart), sorted(each["z"] for each in of)[len(of) // 2]
            what = "layers" if layers else "heads"
            draws = str(min(each["draws"] for each in of))
            told = f"{above} of {len(of)}", f"{len(apart) - above}", f"{middle:+.1f}", draws
            rows.append((null, what, quantity, *told))
    named = f"{tokens['tokens']} {'random tokens' if tokens['source'] == 'random tokens' else 'tokens of ' + tokens['source']}"
    if rows:
        columns = ("against", "of", "quantity", "above", "below", "z", "draws")
        table(f"what {named} do, against the same layers with other attention weights", columns, rows)
    for each in tokens["not_taken"]:
        say_hanging(f"- not taken on tokens: {each['quantity']}: {each['why']}")
