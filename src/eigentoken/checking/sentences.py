"""What a check found, statement by statement, in sentences: where a statement applies, and what is in the way elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eigentoken.checking.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eigentoken.checking.summary import Told
    from eigentoken.documents.verdict_object import Verdict

__all__ = [
    "InTheWay",
    "at_tokens",
    "away",
    "called",
    "ends_of",
    "in_the_way",
    "layers_text",
    "requirement",
    "says",
    "sentence",
    "sentences",
]


@dataclass(frozen=True)
class InTheWay:
    """A condition (LaTeX) that is not certified, the layers where it fails or is open, and why in the first of them.

    ``distance``: from the weights to where it holds, in the spectral norm, over these layers; empty where nothing is certified.
    """

    condition: str
    answer: str
    layers: tuple[int, ...]
    reason: str
    distance: str = ""


def called(told: Told) -> str:
    """``Consensus of any layer matrix (PM-N1)``."""
    return f"{told['title']} ({told['id']})"


def layers_text(numbers: Sequence[int], count: int) -> str:
    """``every layer``, ``layer 3``, ``layers 0-2, 5``."""
    from eigentoken.models.loading.left_out import runs

    if len(numbers) == count:
        return "every layer" if count > 1 else "the layer"
    return f"layer {numbers[0]}" if len(numbers) == 1 else f"layers {runs(numbers)}"


def in_the_way(report: Report, name: str) -> list[InTheWay]:
    """The conditions on weights that are not certified, most layers first; a condition that fails in some layers and is
    open in others is told twice."""
    found: dict[tuple[str, str], list[tuple[int, Verdict]]] = {}
    for layer in report.layers:
        reading = next(each for each in layer["hypotheses"] if each["statement"] == name)
        for text, verdict in reading["conditions"].items():
            if verdict["verdict"] != "holds":
                found.setdefault((text, verdict["verdict"]), []).append((layer["layer"], verdict))
    listed = [
        InTheWay(
            text,
            answer,
            tuple(number for number, _ in where),
            where[0][1]["reason"],
            _distance([verdict for _, verdict in where]) if answer == "fails" else "",
        )
        for (text, answer), where in found.items()
    ]
    return sorted(listed, key=lambda each: (-len(each.layers), each.condition, each.answer))


def _distance(verdicts: Sequence[Verdict]) -> str:
    """``3.15`` or ``between 0.2 and 0.31`` where the distance of every layer is enclosed, ``at least 0.2`` where only a bound
    is known."""
    from eigentoken.checking.intervals import at_least, interval_in_words

    ends = [ends_of(verdict) for verdict in verdicts]
    known = [each for each in ends if each is not None]
    if len(known) < len(ends):
        return ""
    low, highs = min(low for low, _ in known), [high for _, high in known if high is not None]
    return interval_in_words((low, max(highs))) if len(highs) == len(known) else f"at least {at_least(low)}"


def ends_of(verdict: Verdict) -> tuple[float, float | None] | None:
    """How far the weights are from where a condition holds, in the spectral norm: at least the first, at most the second if
    that is known; ``None`` where nothing of use is certified.

    A verdict about one of several heads bounds from below alone: the others are to be met too.
    """
    found = verdict["details"].get("distance")
    low = found[0] if found is not None and found[0] is not None else verdict["margin"]
    if not low or verdict["unit"] != "spectral norm":
        return None
    high = None if found is None or found[1] is None or verdict["reason"].startswith("head ") else float(found[1])
    return float(low), high


def away(report: Report, name: str) -> str:
    """``F is between 6.7e-05 and 0.0105 away``: how far the layers where a statement
    does not hold are from all its conditions together.

    Where no weights of their shapes meet them, that is said; empty where no upper end is known.
    """
    from eigentoken.checking.intervals import interval_in_words

    readings = [next(each for each in layer["hypotheses"] if each["statement"] == name) for layer in report.layers]
    open_ones = [each for each in readings if each["word"] in ("fails", "undecided")]
    ends = [(float(low), float(high)) for each in open_ones if each["distance"] for low, high in [each["distance"]]]
    if not ends or len(ends) < len(open_ones):
        return ""
    if max(high for _, high in ends) == math.inf:
        reasons = {each["distance_says"] for each in open_ones}
        return reasons.pop() if len(reasons) == 1 and "no weights of" in next(iter(reasons)) else ""
    of = open_ones[0]["distance_of"]
    shown = interval_in_words((min(low for low, _ in ends), max(high for _, high in ends)))
    return f"{of} {'are' if ' and ' in of else 'is'} {shown} away"


def says(each: InTheWay, count: int) -> str:
    """``fails in every layer, distance at least 2.33``: what is told of a condition after it, on the screen and the page."""
    verb = "fails" if each.answer == "fails" else "is undecided"
    away = f", distance {each.distance}" if each.distance else ""
    return f"{verb} in {layers_text(each.layers, count)}{away}"


#: Letters of a condition in a list of statements; `eigentoken show ID` has the whole.
LONGEST = 80


def _obstacle(each: InTheWay, count: int, longest: int | None = None) -> str:
    from eigentoken.theory.printing.plain_text import plain_text

    condition = plain_text(each.condition)
    if longest is not None and len(condition) > longest:
        condition = f"{condition[:longest].rstrip()} …"
    return f"{condition} {says(each, count)}"


def sentence(report: Report, told: Told) -> str:
    """Where a statement that is about layers of this model applies, what is in the way elsewhere, and what its tokens do."""
    return f"{called(told)} {_verb(told, 1)} {_answer(report, told)}"


def sentences(report: Report, listed: Sequence[Told]) -> list[str]:
    """A sentence for each statement; those of which the same is told for the same reason share one, where the first stands."""
    found: dict[tuple[str, str], list[Told]] = {}
    for told in listed:
        found.setdefault((_verb(told, 2), _answer(report, told)), []).append(told)
    made = []
    for (verb, answer), which in found.items():
        if len(which) == 1 or answer in EVERYWHERE:  # where nothing is in the way, there is nothing to share
            made += [sentence(report, each) for each in which]
        else:
            names = "; ".join(called(each) for each in which)
            made.append(f"{len(which)} statements {verb} {answer}. They are: {names}")
    return made


EVERYWHERE = ("every layer", "the layer")


def _verb(told: Told, count: int) -> str:
    """``applies to``; of what may yet apply in a layer that is undecided, ``is known to apply to``."""
    if "undecided" in told["layers"]:
        return f"{'is' if count == 1 else 'are'} known to apply to"
    return "applies to" if count == 1 else "apply to"


def _answer(report: Report, told: Told) -> str:
    """Where a statement applies, and all else that is told of it: nothing of its title."""
    return "; ".join([_of_weights(report, told), *step_bound(report, told), *at_tokens(report, told)])


def step_bound(report: Report, told: Told) -> list[str]:
    """Below which step the statement that has a threshold says that consensus is stable, over the layers where it applies."""
    from eigentoken.checking.intervals import at_least
    from eigentoken.checking.layers import THRESHOLD

    if told["id"] != THRESHOLD:
        return []
    held = [layer for layer, word in zip(report.layers, told["layers"], strict=True) if word == "holds"]
    lows = [float(layer["alpha_star"][0]) for layer in held if layer["alpha_star"] is not None]
    if not lows or len(lows) < len(held):
        return []
    bound = "for every step" if min(lows) == math.inf else f"for steps below {at_least(min(lows))}"
    return [f"where it applies, consensus is stable {bound} (certified)"]


def at_tokens(report: Report, told: Told) -> list[str]:
    """What is certified of its conditions on tokens at the states that were given."""
    from eigentoken.checking.own_states import tokens_are
    from eigentoken.theory.printing.plain_text import plain_text

    said = []
    for each in told["at_tokens"]:
        count = len(each["layers"])
        parts = [
            f"{word} in {layers_text(where, count)}"
            for word in ("holds", "fails", "undecided")
            if (where := [number for number, found in enumerate(each["layers"]) if found == word])
        ]
        said.append(f"of {tokens_are(report)}: {plain_text(each['condition'])} {', '.join(parts)} (certified)")
    return said


def _of_weights(report: Report, told: Told) -> str:
    """The layers where it applies, and what is in the way in the others."""
    count = len(told["layers"])
    held = [number for number, word in enumerate(told["layers"]) if word == "holds"]
    if len(held) == count:
        return EVERYWHERE[0] if count > 1 else EVERYWHERE[1]
    which = f"{len(held)} of {count} layers ({layers_text(held, count)})" if held else "no layer"
    far = away(report, told["id"])
    whole = far.endswith(" away")
    listed = in_the_way(report, told["id"])
    settled = {number for each in listed if each.answer == "fails" for number in each.layers}
    blocked = [
        _obstacle(replace(each, distance="") if whole else each, count, LONGEST)
        for each in listed
        if each.answer == "fails" or not settled.issuperset(each.layers)  # what fails is enough
    ]
    blocked += [far] if far else []
    differs = [number for number, word in enumerate(told["layers"]) if word == "not about this model"]
    blocked += [f"it is not about {layers_text(differs, count)}"] if differs else []
    return f"{which}: {'; '.join(blocked)}"


def requirement(report: Report, name: str) -> list[str]:
    """Why a required statement is not satisfied, a line a condition: what failed, in which layers, and why in the first."""
    from eigentoken.theory.printing.plain_text import plain_text

    (told,) = [each for each in report.statements if each["id"] == name]
    count = len(told["layers"])
    lines = [f"{_obstacle(each, count)} (layer {each.layers[0]}: {each.reason})" for each in in_the_way(report, name)]
    lines += [far] if (far := away(report, name)) else []
    for differing in told["differs"]:
        where = "" if differing["layers"] == count else f" ({differing['layers']} of {count} layers)"
        lines.append(f"it is about {differing['statement']}, and the layer has {differing['layer']}{where}")
    tokens = ", ".join(plain_text(text) for text in told["about_tokens"])
    unread = f"nothing of it can be decided from weights{f'; it asks of the tokens: {tokens}' if tokens else ''}"
    return [f"{called(told)}: {told['word']}", *(lines or [unread])]
