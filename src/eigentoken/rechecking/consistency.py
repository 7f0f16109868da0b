"""A check report made again from the weights, and compared with what is written, leaf by leaf.

This is the arithmetic of the issuer: it finds whatever was changed in a report, while the certificates in it are confirmed by the
other arithmetic (:mod:`eigentoken.rechecking.recheck`).  Words, counts and names must be the same.  Another machine rounds
differently, in the last digits: a number may differ by :data:`ROUNDING` of the largest number beside it, one in a sentence by
one unit of its last digit; an interval or a disc must contain the middle half of the fresh one.  Not made again, and so not
covered: the version; and what was observed, what that says of the idealisations, and the bounds of a layer, where the tokens that
are run here are not, to the last bit, those that they are stated for (another machine, other options, or a changed digest), or
where the user gave the states, the report does not hold them (too many) and they were not given again.  A number of other tokens
that these do not give even roughly (:data:`NEAR`) is undecided.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eigentoken.numerics.recheck.documents.shown import Shown

if TYPE_CHECKING:
    from eigentoken.checking.own_states import OwnStates
    from eigentoken.documents.check_document import LayerBounds, Observed
    from eigentoken.models.loading.model import Model

__all__ = ["ROUNDING", "compare", "compare_leaves", "made_again", "other_tokens"]

ROUNDING = 1e-6
#: How far apart numbers are that two machines measure at what are the same tokens but for rounding.
NEAR = 0.05
#: What is not made again.
UNCOVERED = (("version",),)
#: What hangs on the tokens that were run, beside the bounds.
OF_TOKENS = (("observed",), ("options", "sequences"), ("options", "tokens"), ("options", "seed"))
#: What a certificate is about; its facts are confirmed by the second arithmetic.
ABOUT = ("schema", "kind", "condition", "verdict", "inputs")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
Path = tuple[str | int, ...]


def made_again(
    document: Mapping[str, Any],
    model: Model,
    own: OwnStates | None = None,
    done: Callable[[str], None] = lambda _now: None,
) -> dict[str, Any]:
    """The report of these weights with the options of the document; ``own``: the states it is about.

    ``done`` is called after each layer, the bounds, what is observed, and the sentences, with its name."""
    from eigentoken.checking.layers import layer_record
    from eigentoken.checking.report import assemble
    from eigentoken.checking.token_bounds import with_margins
    from eigentoken.theory.statements.registry import statements

    ids = [each["id"] for each in document["statements"]]
    if len(set(ids)) != len(ids):
        raise ValueError("a check report lists a statement twice: expected what check -o wrote")
    statements().load()  # all are asked for: one by one each would be looked for in every file
    records = {}
    for index in sorted({model.architecture.weights_of(index) for index in range(model.n_layers)}):
        layer = model.layer(index)
        layer = layer.fold_gains() if document["options"]["fold"] else layer
        records[index], _ = layer_record(layer, ids, heads_only=document["options"].get("heads_only", False))
        done(f"layer {index} made again from the weights")
    bounds = with_margins(bounds_again(document, model, ids, own), records, model)
    done("bounds made again")
    options, states = document["options"], document["states"]
    principal = {index: record["principal"] for index, record in records.items()}
    if own is not None:
        weights = model.architecture.weights_of
        states = own.document(model, lambda index: principal[weights(index)], ids)
    observed = observed_again(document, model, principal, own)
    done("observations made again")
    report = assemble(model, records, observed, bounds, ids, options, states=states).as_dict()
    made: dict[str, Any] = json.loads(json.dumps({"schema": document["schema"], **report}))
    done("sentences made again")
    return made


def bounds_again(
    document: Mapping[str, Any], model: Model, ids: Sequence[str], own: OwnStates | None = None
) -> list[LayerBounds]:
    """The bounds of the sequence that the options name, or of the given states; none where none was run or they are not here."""
    from eigentoken.checking.token_bounds import bounds_at_tokens

    options = document["options"]
    known = options["sequences"] and (document["states"] is None or own is not None)
    return bounds_at_tokens(model, options["tokens"], options["seed"], ids, own) if known else []


def observed_again(
    document: Mapping[str, Any],
    model: Model,
    principal: Mapping[int, Sequence[Sequence[float]] | None],
    own: OwnStates | None,
) -> list[Observed]:
    """What the same tokens do in the layers; what is stated where they are not here."""
    from eigentoken.checking.observe import observe

    options = document["options"]
    if document["states"] is not None and own is None:
        stated: list[Observed] = document["observed"]
        return stated
    if not options["sequences"] or options.get("heads_only", False):
        return []
    return observe(model, options["sequences"], options["tokens"], options["seed"], principal, own)


def measured_of_tokens(document: Mapping[str, Any]) -> list[Path]:
    """Sizes of idealisations that were measured at the tokens."""
    rows = enumerate(document["idealisations"])
    return [("idealisations", place, "measured") for place, row in rows if isinstance(row["measured"], list)]


def other_tokens(document: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[Path]:
    """Where the stated bounds are about other tokens than those that are run here."""
    stated = [each["sha256"] for each in document["bounds"]]
    here = [each["sha256"] for each in fresh["bounds"]]
    if len(stated) != len(here):
        return []  # the comparison says so
    pairs = enumerate(zip(stated, here, strict=True))
    return [("bounds", index) for index, (a, b) in pairs if a != b and b]  # none were run here: the comparison says so


def other_states(document: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[Path]:
    """Where the stated conditions are about other tokens than those that are run here."""
    stated, here = document["states"]["conditions"], fresh["states"]["conditions"]
    if len(stated) != len(here):
        return []  # the comparison says so
    known = {each["sha256"] for each in here}
    pairs = enumerate(zip(stated, here, strict=True))
    return [
        ("states", "conditions", place)
        for place, (a, b) in pairs
        if a["sha256"] not in known
        and not b["given"]  # what was given is the same everywhere, and so is another row's digest
    ]


def compare(shown: Shown, fresh: Mapping[str, Any], *, elsewhere: bool, states_known: bool = False) -> None:
    """Every leaf of the report against the one that was made again.

    ``elsewhere``: the weights were read from another place; ``states_known``: it was made again from the given states too.
    """
    other = other_tokens(shown.document, fresh)
    left_out: tuple[Path, ...] = (*UNCOVERED, *other)
    given = isinstance(shown.document["states"], Mapping)  # anything else that stands there is compared, and differs
    if other or (given and not states_known):
        left_out = (*left_out, *OF_TOKENS, *measured_of_tokens(shown.document))
    if states_known:
        left_out = (*left_out, *OF_TOKENS[1:], ("states", "source"), *other_states(shown.document, fresh))
    elif given:
        left_out = (*left_out, ("states",), ("bounds",))
    if elsewhere:
        left_out = (*left_out, ("model", "source"))
    near = (*other, ("observed",), *measured_of_tokens(shown.document)) if other else ()
    compare_leaves(shown, fresh, left_out, near)


def compare_leaves(
    shown: Shown, fresh: Mapping[str, Any], left_out: tuple[Path, ...], near: tuple[Path, ...] = ()
) -> None:
    """Every leaf of a document against the same document made again, but for some parts; of these, ``near`` ones roughly."""
    _Comparison(shown, left_out, near).node((), shown.document, fresh, 0.0)


class _Comparison:
    def __init__(self, shown: Shown, left_out: tuple[Path, ...], near: tuple[Path, ...]) -> None:
        self.shown, self.left_out, self.near = shown, left_out, near

    def node(self, path: Path, stated: Any, fresh: Any, scale: float) -> None:
        """``scale``: the largest number in the list or object that this stands in."""
        if path in self.left_out:
            if path in self.near and not _near(stated, fresh):
                self.shown.undecided(
                    path, "stated for other tokens than those that are run here, which give another number"
                )
            return
        if _is_verdict(fresh) and _is_verdict(stated) and stated["verdict"] != fresh["verdict"]:
            self._word(path, stated["verdict"], fresh["verdict"])
        elif _is_certificate(fresh) and _is_certificate(stated):
            self._certificate(path, stated, fresh)
        elif isinstance(fresh, dict) and isinstance(stated, dict):
            if set(stated) != set(fresh):
                names = sorted(map(str, set(stated) ^ set(fresh)))
                self._differs(path, f"other fields than the weights give: {', '.join(names)[:200]}")
                return
            largest = _largest(fresh.values())
            for name in fresh:
                self.node((*path, name), stated[name], fresh[name], largest)
            if not fresh:
                self.shown.cover(path)
        elif isinstance(fresh, list) and isinstance(stated, list):
            if len(stated) != len(fresh):
                self._differs(path, f"{len(stated)} entries are stated, the weights give {len(fresh)}")
                return
            largest = _largest(fresh)
            for index, (mine, again) in enumerate(zip(stated, fresh, strict=True)):
                self.node((*path, index), mine, again, largest)
            self._enclosed(path, stated, fresh)
            if not fresh:
                self.shown.cover(path)
        else:
            self._leaf(path, stated, fresh, scale)

    def _leaf(self, path: Path, stated: Any, fresh: Any, scale: float) -> None:
        self.shown.cover(path)
        if isinstance(fresh, float) and isinstance(stated, int | float) and not isinstance(stated, bool):
            if not math.isclose(stated, fresh, rel_tol=ROUNDING, abs_tol=ROUNDING * scale):
                self._differs(path, f"{stated!r} is stated, the weights give {fresh!r}")
        elif isinstance(fresh, str) and isinstance(stated, str):
            if "undecided" in (stated, fresh) and stated != fresh:
                self._word(path, stated, fresh)
            elif not _same_sentence(stated, fresh):
                self._differs(path, f"{stated[:80]!r} is stated, the weights give {fresh[:80]!r}")
        elif type(stated) is not type(fresh) or stated != fresh:
            self._differs(path, f"{str(stated)[:80]!r} is stated, the weights give {str(fresh)[:80]!r}")

    def _enclosed(self, path: Path, stated: list[Any], fresh: list[Any]) -> None:
        """An interval or a disc must meet the fresh one, and must contain the middle half of it."""
        if not (_is_enclosure(fresh) and _is_enclosure(stated)):
            if _is_enclosure(fresh):
                self._differs(path, f"{stated!r} is stated: its ends are not in order, or its radius is negative")
            return
        off, room, needed = _apart(stated, fresh)
        if off > room + needed:
            self._differs(path, f"{stated!r} is stated, the weights give {fresh!r}: both cannot enclose the number")
        elif off + needed / 2 > room:
            self.shown.undecided(path, f"{stated!r} is stated, which is narrower than what the weights give, {fresh!r}")

    def _word(self, path: Path, stated: str, fresh: str) -> None:
        """Another answer: wrong, but for one that this machine, or that one, did not decide within its time."""
        self.shown.cover(path)
        why = f"{stated} is stated, the weights give {fresh}"
        if "undecided" in (stated, fresh):
            self.shown.undecided(path, why)
        else:
            self.shown.fails(path, why)

    def _certificate(self, path: Path, stated: Mapping[str, Any], fresh: Mapping[str, Any]) -> None:
        self.shown.cover(path)
        about = ("terms", "shape", "slack", "unit", "options")
        same = all(stated[name] == fresh[name] for name in ABOUT) and set(stated) == set(fresh)
        same = same and all(stated["data"].get(name) == fresh["data"].get(name) for name in about)
        if not same or set(stated["data"]) != set(fresh["data"]):
            self.shown.fails(path, "the certificate is about something else")

    def _differs(self, path: Path, why: str) -> None:
        self.shown.cover(path)
        self.shown.fails(path, why)


def _near(stated: Any, fresh: Any, scale: float = 0.0) -> bool:
    """The same words, and numbers that the rounding of another machine can explain; digests are not compared."""
    if isinstance(fresh, dict) and isinstance(stated, dict):
        largest = _largest(fresh.values())
        names = set(fresh) - {"sha256"}
        return names == set(stated) - {"sha256"} and all(_near(stated[name], fresh[name], largest) for name in names)
    if isinstance(fresh, list) and isinstance(stated, list):
        largest = max(_largest(fresh), scale)
        return len(stated) == len(fresh) and all(_near(*pair, largest) for pair in zip(stated, fresh, strict=True))
    if isinstance(fresh, float) and isinstance(stated, int | float) and not isinstance(stated, bool):
        return math.isclose(stated, fresh, rel_tol=NEAR, abs_tol=NEAR * scale)
    return type(stated) is type(fresh) and (isinstance(stated, str) or bool(stated == fresh))


def _is_enclosure(node: list[Any]) -> bool:
    """``[low, high]`` or ``[real, imaginary, radius]`` in floats."""
    if not all(isinstance(each, float) for each in node):
        return False
    return (len(node) == 2 and node[0] <= node[1]) or (len(node) == 3 and node[2] >= 0)


def _apart(stated: list[float], fresh: list[float]) -> tuple[float, float, float]:
    """How far the middles are apart, and both radii."""
    if len(stated) == 3:
        return math.hypot(stated[0] - fresh[0], stated[1] - fresh[1]), stated[2], fresh[2]
    middle = abs(sum(stated) - sum(fresh)) / 2
    return middle, (stated[1] - stated[0]) / 2, (fresh[1] - fresh[0]) / 2


def _is_verdict(node: Any) -> bool:
    return isinstance(node, dict) and {"verdict", "margin", "certificate"} <= set(node)


def _is_certificate(node: Any) -> bool:
    return isinstance(node, dict) and {"kind", "condition", "verdict", "inputs", "data"} <= set(node)


def _largest(values: Any) -> float:
    sizes = [abs(each) for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
    return float(max(sizes, default=0.0))


def _same_sentence(stated: str, fresh: str) -> bool:
    """The same words; numbers in them may differ by one unit of their last digit."""
    if stated == fresh:
        return True
    if _NUMBER.sub("#", stated) != _NUMBER.sub("#", fresh):
        return False
    pairs = zip(_NUMBER.findall(stated), _NUMBER.findall(fresh), strict=True)
    return all(a == b or ("." in a and "." in b and abs(float(a) - float(b)) <= 1.01 * _unit(b)) for a, b in pairs)


def _unit(text: str) -> float:
    """One unit of the last digit of a number as it is printed."""
    digits, _, exponent = text.partition("e")
    return float(10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))
