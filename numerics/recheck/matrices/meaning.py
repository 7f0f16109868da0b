"""What facts mean: which answer, with which margin, they imply for a condition.  Written again from the definitions.

A sign fact says that at least p eigenvalues of sym(T) are above ``beyond``, q below minus it, z at zero; for a answer
with margin m about every matrix within the slack s it takes ``beyond >= s + m`` (Weyl), and facts about exact zeros
need ``s = m = 0``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from eigentoken.files.documents import Json
from eigentoken.numerics.recheck.documents.reading import CertificateDocument, fraction_of

__all__ = ["implied", "restated"]


def implied(document: CertificateDocument, n: int, slack: Fraction, margin: Fraction) -> str | None:
    """None if the facts imply the verdict and the margin of the certificate, else why not."""
    data = document.data
    facts, options = data["facts"], data.get("options", {})
    holds = document.verdict == "holds"
    if document.verdict not in ("holds", "fails"):
        return f"a certificate supports holds or fails, not {document.verdict!r}"
    rules = {"signs": _signs, "leader": _leader, "eigenvector": _leader, "equality": _equality, "norm": _norm}
    why = _names(document.kind, document.condition, facts, options)
    if why is not None:
        return why
    if document.kind in rules:
        return rules[document.kind](document.condition, facts, options, n, slack, margin, holds=holds)
    if document.kind == "rank":
        return _rank(document.condition, facts, options, data["shape"], slack, margin, holds=holds)
    if document.kind == "core-inertia":
        counts = [int(facts[name]) for name in ("positive", "negative", "zero")]
        fine = document.condition == "inertia" and holds and slack == margin == 0 and sum(counts) == n and not options
        return None if fine else "a core certifies the inertia of a head only, without slack and margin"
    if document.kind == "discs":
        fine = document.condition == "spectrum" and holds and margin == 0
        return None if fine else "discs support the condition spectrum only, without a margin"
    return f"unknown kind of certificate {document.kind!r}"


_FACTS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    # kind: the facts that there must be, and those that there may be
    "signs": (frozenset({"form", "positive", "negative", "zero", "beyond"}), frozenset()),
    "leader": (frozenset({"kind", "by", "size"}), frozenset({"alpha", "beta", "gap"})),
    "eigenvector": (frozenset({"kind", "by", "size", "sine"}), frozenset({"beta", "vector"})),
    "equality": (frozenset({"form", "equal"}), frozenset({"distance_above"})),
    "norm": (frozenset({"form"}), frozenset({"norm_at_most", "norm_above", "low", "high"})),
    "rank": (frozenset(), frozenset({"rank", "beyond", "rank_at_least"})),
    "core-inertia": (frozenset({"positive", "negative", "zero"}), frozenset()),
    "discs": (frozenset({"size"}), frozenset({"discs"})),
}
_OPTIONS: Mapping[str, frozenset[str]] = {
    "inertia": frozenset({"expected"}),
    "rank": frozenset({"expected"}),
    "norm-bound": frozenset({"bound"}),
    "symmetric": frozenset({"within"}),
    "identity": frozenset({"within"}),
    "principal-eigenvector": frozenset({"within"}),
    "dominant-step": frozenset({"alpha"}),
    "dominant-complex-pair": frozenset({"by", "alpha"}),
}


def _names(kind: str, condition: str, facts: Mapping[str, Any], options: Mapping[str, Any]) -> str | None:
    """Facts and options that nothing reads are refused: they would be shown, and mean nothing."""
    needed, further = _FACTS.get(kind, (frozenset(), frozenset(facts)))
    if not needed <= set(facts) <= needed | further:
        return f"the facts of a {kind} certificate are not {sorted(facts)}"
    if "gap" in facts and condition != "spectral-gap":
        return "a gap belongs to spectral-gap alone"
    if "alpha" in facts and facts.get("by") != "step":
        return "a step belongs to an order by step alone"
    if kind == "norm" and ("low" in facts or "high" in facts) and options:
        return "an interval answers where no bound is asked for"
    unread = set(options) - _OPTIONS.get(condition, frozenset())
    if "alpha" in options and facts.get("by") != "step":
        unread.add("alpha")
    return f"the options {sorted(unread)} mean nothing for {condition}" if unread else None


def restated(document: CertificateDocument, details: Json) -> str | None:
    """What a verdict document repeats beside its certificate must be what the certificate says."""
    facts = document.data.get("facts", {})
    if not isinstance(details, Mapping) or not isinstance(facts, Mapping):
        return None
    said: dict[str, Any] = {}
    if document.condition == "inertia" and "inertia" in details:
        said["inertia"] = [facts.get(name) for name in ("positive", "negative", "zero")]
    if isinstance(details.get("rank"), int) and "rank" in facts:
        said["rank"] = facts["rank"]
    if details.get("gap") is not None and "gap" in facts:
        said["gap"] = [None if end is None else float.fromhex(end) for end in facts["gap"]]
    if "sine_of_angle" in details and "sine" in facts:
        said["sine_of_angle"] = float.fromhex(facts["sine"])
    if "vector" in details and "vector" in facts:
        said["vector"] = [float.fromhex(entry) for entry in facts["vector"]]
    if "discs" in details and "discs" in facts:
        names = ("re", "im", "radius")
        said["discs"] = [dict(zip(names, map(float.fromhex, disc), strict=True)) for disc in facts["discs"]]
    if "kind" in details and "kind" in facts:
        said["kind"] = facts["kind"]
    for name, value in said.items():
        if details[name] != value:
            return f"{name} beside the certificate is not what the certificate says"
    return None


def _signs(
    condition: str,
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    n: int,
    slack: Fraction,
    margin: Fraction,
    *,
    holds: bool,
) -> str | None:
    p, q, z = (int(facts[name]) for name in ("positive", "negative", "zero"))
    if min(p, q, z) < 0 or p + q + z > n or facts.get("form") != "symmetric-part":
        return "the counts do not fit the matrix"
    if fraction_of(facts["beyond"]) < slack + margin:
        return "the bound of the facts is below slack and margin"
    if z and (slack or margin):
        return "an exact zero has neither slack nor margin"
    none_negative, none_positive = p + z == n, q + z == n
    truth: dict[str, tuple[bool, bool]] = {
        "positive-definite": (p == n, q >= 1 or z >= 1),
        "negative-definite": (q == n, p >= 1 or z >= 1),
        "positive-semidefinite": (none_negative, q >= 1),
        "negative-semidefinite": (none_positive, p >= 1),
        "indefinite": (p >= 1 and q >= 1, none_negative or none_positive),
    }
    if condition == "inertia":
        expected = options.get("expected")
        if expected is not None and sum(int(count) for count in expected) != n:
            return "the expected counts do not add up to the size"
        complete = p + q + z == n
        same = expected is None or list(expected) == [p, q, z]
        other = expected is not None and any(have > want for have, want in zip((p, q, z), expected, strict=True))
        truth["inertia"] = (complete and same, other)
    if condition not in truth:
        return f"sign facts say nothing about {condition!r}"
    if condition != "inertia" and (p, q, z) not in _needed_counts(condition, n, (p, q, z), holds=holds):
        return f"the counts are not those that {condition} {_verb(holds)} needs"
    return None if truth[condition][0 if holds else 1] else f"the facts do not imply that {condition} {_verb(holds)}"


def _needed_counts(
    condition: str, n: int, found: tuple[int, int, int], *, holds: bool
) -> tuple[tuple[int, int, int], ...]:
    """The counts that an answer needs, no more: others may be true, and say nothing about it."""
    z = found[2]
    if condition == "indefinite":
        return ((1, 1, 0),) if holds else ((n - z, 0, z), (0, n - z, z))
    positive = condition.startswith("positive")
    if holds:
        zero = z if condition.endswith("-semidefinite") else 0
        return ((n - zero, 0, zero),) if positive else ((0, n - zero, zero),)
    against = (0, 1, 0) if positive else (1, 0, 0)
    return (against,) if condition.endswith("-semidefinite") else (against, (0, 0, 1))


def _verb(holds: bool) -> str:
    return "holds" if holds else "fails"


_ORDERS = {
    "dominant-real-part": "real-part",
    "spectral-gap": "real-part",
    "principal-eigenvector": "real-part",
    "dominant-modulus": "modulus",
    "dominant-step": "step",
}


def _leader(
    condition: str,
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    n: int,
    slack: Fraction,
    margin: Fraction,
    *,
    holds: bool,
) -> str | None:
    kind, by = facts.get("kind"), facts.get("by")
    if by == "step" and fraction_of(facts.get("alpha")) != fraction_of(options.get("alpha")):
        return "the step of the facts is not the step of the question"
    if condition == "dominant-complex-pair":
        fits = by == options.get("by")
        right = (
            kind == "simple-pair" if holds else kind in ("simple-real", "multiple-real", "multiple-pair", "all-real")
        )
    else:
        fits = by == _ORDERS.get(condition)
        others = ("simple-pair", "multiple-pair", "non-real", "multiple-real", "tie")
        right = kind == "simple-real" if holds else kind in others
    if not fits:
        return f"an order by {by!r} says nothing about {condition!r}"
    return None if right else f"a leader of kind {kind!r} does not imply that {condition} {_verb(holds)}"


def _equality(
    condition: str,
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    n: int,
    slack: Fraction,
    margin: Fraction,
    *,
    holds: bool,
) -> str | None:
    if facts.get("form") != {"symmetric": "skew-part", "identity": "minus-identity"}.get(condition):
        return f"the form of the facts says nothing about {condition!r}"
    if "within" in options:
        return "an exact equality does not answer a question about a distance"
    if holds:
        return None if facts.get("equal") is True and slack == margin == 0 else "an equality has no slack and no margin"
    if facts.get("equal") is not False:
        return "the facts do not say that the matrices differ"
    return None if fraction_of(facts["distance_above"]) >= slack + margin else "the distance is below slack and margin"


def _norm(
    condition: str,
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    n: int,
    slack: Fraction,
    margin: Fraction,
    *,
    holds: bool,
) -> str | None:
    forms = {"norm-bound": "itself", "symmetric": "skew-part", "identity": "minus-identity"}
    if facts.get("form") != forms.get(condition):
        return f"the form of the facts says nothing about {condition!r}"
    asked = options.get("bound" if condition == "norm-bound" else "within")
    if asked is None:
        if condition != "norm-bound" or not holds or margin or "norm_at_most" not in facts:
            return "no bound was asked for"
        low, high = fraction_of(facts["low"]), fraction_of(facts["high"])
        fine = fraction_of(facts["norm_at_most"]) + slack <= high
        fine = fine and (low <= 0 or ("norm_above" in facts and fraction_of(facts["norm_above"]) - slack >= low))
        return None if fine else "the norms of the facts do not imply the interval"
    bound = fraction_of(asked)
    if holds:
        fine = "norm_at_most" in facts and fraction_of(facts["norm_at_most"]) <= bound - slack - margin
    else:
        fine = "norm_above" in facts and fraction_of(facts["norm_above"]) >= bound + slack + margin
    return None if fine else "the norm of the facts does not imply the verdict"


def _rank(
    condition: str,
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    shape: Any,
    slack: Fraction,
    margin: Fraction,
    *,
    holds: bool,
) -> str | None:
    full = min(int(size) for size in shape)
    if "rank_at_least" in facts:
        fine = condition == "rank" and not holds and "expected" in options and slack == margin == 0
        return (
            None if fine and int(facts["rank_at_least"]) > int(options["expected"]) else "the facts do not imply this"
        )
    rank = int(facts["rank"])
    if rank < full and (slack or margin):
        return "a deficient rank has neither slack nor margin"
    if rank == full and fraction_of(facts["beyond"]) < slack + margin:
        return "the bound of the facts is below slack and margin"
    if condition == "nonsingular":
        fine = (rank == full) == holds
    elif condition == "rank":
        fine = ("expected" not in options or int(options["expected"]) == rank) == holds
    else:
        return f"a rank says nothing about {condition!r}"
    return None if fine else f"rank {rank} does not imply that {condition} {_verb(holds)}"
