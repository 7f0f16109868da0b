"""What is said of a change to a conjecture that was tried: the sentence follows from the trials alone.

The issuer prints it, the re-check forms it again.  It never says more than that so many instances survived, or that a certified
counterexample exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["TriedChange", "outcome_of", "sentence_of"]

_SO = {
    "drop": "without it",
    "weaken": "with the weaker one",
    "sharpen": "of the sharper claim",
    "converse": "of the equivalence",
}


@dataclass(frozen=True)
class TriedChange:
    """One trial: what stood there instead, the verdict (``not tried`` where it could not be), and how many instances."""

    to: str
    verdict: str
    instances: int = 0
    why_not: str = ""


def outcome_of(kind: str, constant: str | None, trials: Sequence[TriedChange]) -> str:
    """In a few words.

    >>> outcome_of("constant", "2", [TriedChange("4", "refuted"), TriedChange("3", "survived", 10)])
    'survives at 3, falls at 4'
    """
    if kind != "constant":
        return {"refuted": "falls", "survived": "survives"}.get(trials[-1].verdict, trials[-1].verdict)
    last, fallen = _last(constant, trials), _nearest(constant, trials)
    stays = "the original survives" if last is None else f"survives at {last.to}"
    return stays if fallen is None else f"falls at {fallen.to}" if last is None else f"{stays}, falls at {fallen.to}"


def sentence_of(kind: str, constant: str | None, trials: Sequence[TriedChange]) -> str:
    """What the trials show, and no more.

    >>> sentence_of("drop", None, [TriedChange("", "survived", 1200)])
    '1200 instances without it, none failed; this is no proof'
    """
    if kind == "constant":
        return _of_constant(constant, trials)
    found = trials[-1]
    if found.verdict == "refuted":
        return f"a certified counterexample exists {_SO[kind]}"
    if found.verdict == "survived":
        return f"{found.instances} instances {_SO[kind]}, none failed; this is no proof"
    return _open(found)


def _open(found: TriedChange) -> str:
    if found.verdict == "candidate":
        return "a violation was seen in floating point and not certified"
    return f"could not be judged: {found.why_not}"


def _of_constant(constant: str | None, trials: Sequence[TriedChange]) -> str:
    last, fallen = _last(constant, trials), _nearest(constant, trials)
    parts = []
    if last is not None:
        parts.append(f"at {last.to} {last.instances} instances, none failed; this is no proof")
    if fallen is not None:
        parts.append(f"a certified counterexample exists at {fallen.to}")
    else:
        parts.append("no value that was tried falls by a certified counterexample")
    parts += [f"at {each.to}: {_open(each)}" for each in trials if each.verdict not in ("refuted", "survived")]
    return "; ".join(parts)


def _distance(constant: str | None, each: TriedChange) -> Fraction:
    return abs(Fraction(each.to) - Fraction(constant or "0"))


def _nearest(constant: str | None, trials: Sequence[TriedChange]) -> TriedChange | None:
    """The value nearest to the constant at which it falls."""
    return min(
        (each for each in trials if each.verdict == "refuted"), key=lambda e: _distance(constant, e), default=None
    )


def _last(constant: str | None, trials: Sequence[TriedChange]) -> TriedChange | None:
    """The value farthest from the constant that survived, nearer than all that fall."""
    fallen = _nearest(constant, trials)
    alive = [each for each in trials if each.verdict == "survived"]
    if fallen is not None:
        alive = [each for each in alive if _distance(constant, each) < _distance(constant, fallen)]
    return max(alive, key=lambda each: _distance(constant, each), default=None)
